/*-------------------------------------------------------------------------
 *
 * bounds.cu
 *	  Smallest and largest key, where the caller does not state them.
 *
 * A job finds the bounds chunk by chunk while keys arrive, hidden behind the transfer.  For keys
 * that are on the device already, find_bounds() costs one read of the keys.
 *
 *-------------------------------------------------------------------------
 */
#include <climits>

#include "common/device.cuh"

namespace hpsort
{

static constexpr int threads = 512;

/* A kernel and no copy from the host: the two words on the host would have to outlive the call. */
__global__ void
reset_kernel(Bounds *bounds)
{
	bounds->lo = INT_MAX;
	bounds->hi = INT_MIN;
}

/* Widens *bounds by n keys.  The kernel adds to *bounds, so that the chunks of a job add up
 * without a wait. */
__global__ void __launch_bounds__(threads)
bounds_kernel(const int32_t *keys, uint64_t n, Bounds *bounds)
{
	int32_t		lo = INT_MAX;
	int32_t		hi = INT_MIN;

	for_each_key<4>(keys, n, [&](int32_t key) {
		lo = min(lo, key);
		hi = max(hi, key);
	});
	widen_bounds<threads>(lo, hi, bounds);
}

/* Blocks that read n keys at full speed: four per SM, or fewer if a thread would get less than 16
 * keys. */
static uint32_t
reading_blocks(const HpsortCuda *context, uint64_t n)
{
	return grid_blocks(context, n, threads * 16, 4);
}

void
bounds_reset(cudaStream_t stream, Bounds *device)
{
	reset_kernel<<<1, 1, 0, stream>>>(device);
	check_launch("reset the bounds");
}

void
bounds_add(HpsortCuda *context, cudaStream_t stream, const int32_t *keys,
		   uint64_t n, Bounds *device)
{
	if (n == 0)
		return;
	bounds_kernel<<<reading_blocks(context, n), threads, 0, stream>>>(keys, n, device);
	check_launch("find the bounds");
}

Bounds
find_bounds(HpsortCuda *context, cudaStream_t stream, const int32_t *keys,
			uint64_t n)
{
	DeviceBuffer device(context, stream, sizeof(Bounds), "the bounds");
	Bounds		bounds;

	bounds_reset(stream, device.as<Bounds>());
	bounds_add(context, stream, keys, n, device.as<Bounds>());
	check(cudaMemcpyAsync(&bounds, device.as<Bounds>(), sizeof(bounds),
						  cudaMemcpyDeviceToHost, stream), "read the bounds");
	check(cudaStreamSynchronize(stream), "find the bounds");
	return bounds;
}

} /* namespace hpsort */
