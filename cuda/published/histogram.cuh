/*-------------------------------------------------------------------------
 *
 * histogram.cuh
 *	  Subroutine Histogram of the H-P papers (Algorithm 1, Fig. 3 of 2021, Fig. 1 of 2022).
 *
 * For hp.cu, one_hp.cu and zero_compressed.cu.
 *
 * One thread for each datum, and one atomic addition in global memory each.  A barrier keeps load
 * and atomic apart, which the authors measured to help on a Tesla K40c.  Two things are ours:
 *
 * - A functor finds the bin, so that keys are checked against the bounds on the way.
 * - Blocks that reach over the end keep all threads until the barrier.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_PUBLISHED_HISTOGRAM_CUH
#define HPSORT_PUBLISHED_HISTOGRAM_CUH

#include "common/device.cuh"
#include "published/published.cuh"

namespace hpsort
{
namespace published
{

/* The most threads of a block; as published it has 256. */
static constexpr unsigned hp_most_threads = 1024;

/* One thread for each thing, in blocks of the task's size. */
struct HpGrid
{
	HpGrid(const Task &task, uint64_t things)
		: threads(option_or(task.spec->options.block_threads, 256)),
		  blocks(blocks_for_each(things, threads)) {}

	unsigned	threads;
	unsigned	blocks;
};

/*
 * The bin of key i: x[i] - minVal, in the order asked for.  Keys outside the bounds are reported.
 */
struct KeyBin
{
	const uint32_t *keys;
	KeyMap		map;
	HpsortPublishedVerdict *verdict;

	__device__ __forceinline__ bool
	operator()(uint64_t i, uint32_t *bin) const
	{
		const int32_t key = static_cast<int32_t>(keys[i]);

		*bin = to_bin(map, key);
		if (*bin <= map.last)
			return true;
		report_outside(&verdict->keys, key);
		return false;
	}
};

/* The bin of a datum that is a bin already, as the values of A_p in Algorithm 2 are. */
struct PlainBin
{
	const uint32_t *data;

	__device__ __forceinline__ bool
	operator()(uint64_t i, uint32_t *bin) const
	{
		*bin = data[i];
		return true;
	}
};

/* Adds `each` to the bins of data first to n - 1. */
template <typename BinOf>
__global__ void __launch_bounds__(hp_most_threads)
count_kernel(uint64_t first, uint64_t n, BinOf bin_of, uint32_t *hist,
			 uint32_t each)
{
	const uint64_t i = first + static_cast<uint64_t>(blockIdx.x) * blockDim.x +
		threadIdx.x;
	uint32_t	bin = 0;
	const bool	counts = i < n && bin_of(i, &bin);

	__syncthreads();
	if (counts)
		atomicAdd(&hist[bin], each);
}

/* Counts n data into hist, which is zeroed first.  `each` is what one occurrence adds: 1, or -1
 * where values descend. */
template <typename BinOf>
void
histogram(const Task &task, const BinOf &bin_of, uint64_t n, uint32_t *hist,
		  uint64_t bins, uint32_t each = 1)
{
	zero(task.stream, hist, bins * sizeof(uint32_t));
	in_steps(task, n, [&](uint64_t first, uint64_t count) {
		const HpGrid grid(task, count);

		count_kernel<<<grid.blocks, grid.threads, 0, task.stream>>>
			(first, first + count, bin_of, hist, each);
		check_launch("count");
	});
	step(task);
}

} /* namespace published */
} /* namespace hpsort */

#endif							/* HPSORT_PUBLISHED_HISTOGRAM_CUH */
