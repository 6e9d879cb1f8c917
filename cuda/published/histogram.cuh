/*-------------------------------------------------------------------------
 *
 * histogram.cuh
 *	  Subroutine Histogram of the H-P papers (Algorithm 1, Fig. 3 of 2021,
 *	  Fig. 1 of 2022), for hp.cu, one_hp.cu and zero_compressed.cu.
 *
 * One thread a datum, one atomic addition in global memory each; load and
 * atomic are kept apart by a barrier, which the authors measured to help on a
 * Tesla K40c.  What is ours: the bin is found by a functor, so that keys are
 * checked against the bounds on the way, and blocks that reach over the end
 * keep all threads until the barrier.
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

/* The most that a block may have; as published it has 256. */
static constexpr unsigned hp_most_threads = 1024;

/* One thread for each thing, in blocks as the task has them. */
struct HpGrid
{
	HpGrid(const Task &task, uint64_t things)
		: threads(option_or(task.spec->options.block_threads, 256)),
		  blocks(blocks_for_each(things, threads)) {}

	unsigned	threads;
	unsigned	blocks;
};

/* x[i] - minVal, in the order asked for; keys outside are reported. */
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

/* A datum that is a bin already, such as A_p of Algorithm 2. */
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

/* each is what one occurrence adds: 1, or -1 where values fall. */
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
