/*-------------------------------------------------------------------------
 *
 * prefix_sums.cu
 *	  Subroutine Prefix-Sums of the H-P papers.
 *
 * Other algorithms use it, too: all of CUB's scans of cuda/published are compiled here.
 *
 *-------------------------------------------------------------------------
 */
#include <cub/device/device_scan.cuh>

#include <climits>

#include "published/published.cuh"

namespace hpsort
{
namespace published
{

/* Adds the lower bound to the first element: as in the 2022 paper, a kernel for one element,
 * which may change data. */
__global__ void
add_first_kernel(uint32_t *data, uint32_t init)
{
	data[0] += init;
}

/* 64-bit offsets only where they are needed: they make CUB slower. */
template <typename Offset>
static void
cub_sums(HpsortCuda *context, cudaStream_t stream, const uint32_t *data,
		 uint32_t *sums, Offset n)
{
	size_t		bytes = 0;

	check(cub::DeviceScan::InclusiveSum(nullptr, bytes, data, sums, n, stream),
		  "size prefix sums");

	DeviceBuffer workspace(context, stream, bytes, "prefix sums");

	check(cub::DeviceScan::InclusiveSum(workspace.as<void>(), bytes, data, sums, n,
										stream), "make prefix sums");
}

void
prefix_sums(HpsortCuda *context, cudaStream_t stream, uint32_t *data,
			uint32_t *sums, uint64_t n, uint32_t init)
{
	if (n == 0)
		return;
	if (init != 0)
	{
		add_first_kernel<<<1, 1, 0, stream>>>(data, init);
		check_launch("add the first value");
	}
	if (n <= INT_MAX)
		cub_sums(context, stream, data, sums, static_cast<int>(n));
	else
		cub_sums(context, stream, data, sums, static_cast<int64_t>(n));
}

/* CUB keeps at most 16 bytes for a tile of at least 1,000 elements. */
uint64_t
prefix_sums_need(uint64_t n)
{
	return n / 32 + 65536;
}

} /* namespace published */
} /* namespace hpsort */
