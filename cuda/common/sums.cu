/*-------------------------------------------------------------------------
 *
 * sums.cu
 *	  Sums of sorted keys (see sums.cuh).
 *
 *-------------------------------------------------------------------------
 */
#include <algorithm>

#include <cub/device/device_scan.cuh>

#include "common/device.cuh"
#include "common/sums.cuh"

namespace hpsort
{

namespace
{

constexpr int threads = 256;
constexpr uint64_t warps = threads / 32;

/* Elements that a warp adds up, 16 loads of each lane in flight.  A position takes half of it on
 * average: 1 kB. */
constexpr int lane_elements = 16;
constexpr uint64_t stretch = 32 * lane_elements;

/* Returns the sum of elements from .. to - 1, at most a stretch, to all lanes of a warp. */
__device__ __forceinline__ uint64_t
sum_elements(const SummedKeys &keys, uint64_t from, uint64_t to)
{
	uint64_t	sum = 0;

#pragma unroll
	for (int j = 0; j < lane_elements; j++)
	{
		const uint64_t i = from + j * 32 + threadIdx.x % 32;

		if (i < to)
			sum += static_cast<uint64_t>(static_cast<int64_t>(keys.keys[i])) *
				(keys.starts ? keys.starts[i + 1] - keys.starts[i] : 1);
	}
	return warp_sum(sum);
}

/* Returns the element that a position lies in, and n for the one behind all keys. */
__device__ __forceinline__ uint64_t
element_at(const SummedKeys &keys, uint64_t position)
{
	uint64_t	lo = 0;
	uint64_t	hi = keys.n;

	if (keys.starts == nullptr)
		return position;
	while (lo < hi)
	{
		const uint64_t middle = lo + (hi - lo + 1) / 2;

		if (keys.starts[middle] <= position)
			lo = middle;
		else
			hi = middle - 1;
	}
	return lo;
}

/* Writes the sum of each stretch, by a warp each. */
__global__ void __launch_bounds__(threads)
sum_stretches_kernel(SummedKeys keys, uint64_t *sums)
{
	const uint64_t at = blockIdx.x * warps + threadIdx.x / 32;
	const uint64_t from = at * stretch;

	if (from >= keys.n)
		return;

	const uint64_t sum = sum_elements(keys, from, min(from + stretch, keys.n));

	if (threadIdx.x % 32 == 0)
		sums[at] = sum;
}

/* Answers a position by each warp, of which there are fewer than positions. */
__global__ void __launch_bounds__(threads)
sums_before_kernel(SummedKeys keys, const uint64_t *before, const uint64_t *positions,
				   uint64_t count, uint64_t *out)
{
	for (uint64_t i = blockIdx.x * warps + threadIdx.x / 32; i < count; i += gridDim.x * warps)
	{
		const uint64_t position = positions[i];
		const uint64_t element = element_at(keys, position);
		const uint64_t first = element / stretch * stretch;
		uint64_t	sum = before[element / stretch] + sum_elements(keys, first, element);

		/* a part of the run that the position lies in */
		if (keys.starts && position > keys.starts[element])
			sum += static_cast<uint64_t>(static_cast<int64_t>(keys.keys[element])) *
				(position - keys.starts[element]);
		if (threadIdx.x % 32 == 0)
			out[i] = sum;
	}
}

uint32_t
blocks_of(uint64_t items)
{
	return static_cast<uint32_t>((items + warps - 1) / warps);
}

/* Returns the sums before all stretches, and of all keys behind them. */
DeviceBuffer
sum_up(HpsortCuda *context, cudaStream_t stream, const SummedKeys &keys)
{
	const uint64_t n = (keys.n + stretch - 1) / stretch;
	size_t		scan_bytes = 0;

	check(cub::DeviceScan::ExclusiveSum(nullptr, scan_bytes, static_cast<uint64_t *>(nullptr),
										static_cast<uint64_t *>(nullptr),
										static_cast<int64_t>(n + 1), stream),
		  "size a prefix sum");

	DeviceBuffer sums(context, stream, (n + 1) * sizeof(uint64_t), "sums of keys");
	DeviceBuffer scan(context, stream, scan_bytes, "sums of keys");

	check(cudaMemsetAsync(sums.as<uint64_t>() + n, 0, sizeof(uint64_t), stream), "clear a sum");
	sum_stretches_kernel<<<blocks_of(n), threads, 0, stream>>>(keys, sums.as<uint64_t>());
	check_launch("add up keys");
	check(cub::DeviceScan::ExclusiveSum(scan.as<void>(), scan_bytes, sums.as<uint64_t>(),
										sums.as<uint64_t>(), static_cast<int64_t>(n + 1), stream),
		  "add up sums of keys");
	return sums;
}

} /* namespace */

void
KeySums::read(HpsortCuda *context, cudaStream_t stream, const SummedKeys &keys,
			  const uint64_t *positions, uint64_t count, uint64_t *out)
{
	if (before_.bytes() == 0)
		before_ = sum_up(context, stream, keys);
	sums_before_kernel<<<std::min(blocks_of(count), 65535u), threads, 0, stream>>>
		(keys, before_.as<uint64_t>(), positions, count, out);
	check_launch("add up keys before positions");
}

} /* namespace hpsort */
