/*-------------------------------------------------------------------------
 *
 * prefix_sums.cu
 *	  Subroutine Prefix-Sums of the H-P papers, used by the others as well: all
 *	  of CUB's scans are compiled here and nowhere else.
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

/* As in the 2022 paper: a kernel for one element, since data may be changed. */
__global__ void
add_first_kernel(uint32_t *data, uint32_t init)
{
	data[0] += init;
}

/* 64-bit offsets only where they must be: they make CUB slower. */
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

/* CUB keeps 16 bytes at most for a tile of 1,000 elements at least. */
uint64_t
prefix_sums_need(uint64_t n)
{
	return n / 32 + 65536;
}

} /* namespace published */
} /* namespace hpsort */
