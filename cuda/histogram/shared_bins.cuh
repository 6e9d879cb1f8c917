/*-------------------------------------------------------------------------
 *
 * shared_bins.cuh
 *	  The steps of the shared-memory histogram: count, flush, compact.
 *
 * Device functions that a whole block calls together, of which shared_histogram.cu and
 * packed_histogram.cu make kernels; and how these are launched.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_SHARED_BINS_CUH
#define HPSORT_CUDA_SHARED_BINS_CUH

#include <cooperative_groups.h>

#include "common/device.cuh"

namespace hpsort
{

namespace cg = cooperative_groups;

using Count64 = unsigned long long;

static constexpr int histogram_threads = HistogramTuning::threads;
static constexpr int batch_bins = HistogramTuning::batch;
static constexpr int slice_bins = REGIME_SLICE_BINS;
static constexpr int batch_slices = batch_bins / slice_bins;

static_assert(batch_bins == histogram_threads * 4, "a thread scans four bins of a batch");

/* scan_slices() has a thread for each slice; 65,536 bins, the most that regime.c allows,
 * are 256 slices. */
static constexpr int max_slices = histogram_threads;

/* What a block needs after counting, in the memory that held its bins. */
struct OutputState
{
	uint64_t	slice_starts[max_slices + 1];
	uint64_t	sums[histogram_threads / 32];
};

/* Clears 16 bytes at a time, up to three words over the end, for which shared_need() has
 * room. */
__device__ __forceinline__ void
clear_bins(uint32_t *bins, uint32_t count)
{
	uint4	   *fours = reinterpret_cast<uint4 *>(bins);

	for (uint32_t i = threadIdx.x; i < (count + 3) / 4; i += blockDim.x)
		fours[i] = make_uint4(0, 0, 0, 0);
}

/* Counts a key, or remembers it if it is outside the bounds. */
struct CountKey
{
	const KeyMap &map;
	uint32_t   *bins;
	bool	   &bad;
	int32_t	   &outside;

	__device__ __forceinline__ void
	operator()(int32_t key) const
	{
		const uint32_t bin = to_bin(map, key);

		if (bin <= map.last)
			atomicAdd(&bins[bin], 1u);
		else
		{
			bad = true;
			outside = key;
		}
	}
};

/*
 * Tiles drawn from a common counter, one by one, whoever is free first: SMs do
 * not read or write at the same speed, and with equal shares the slowest is
 * 4 % behind when reading, 10 % when writing (H100).  The next tile is asked for
 * while one is being worked on: it goes to the other of two words, so that a barrier
 * a tile is enough.
 */
template <typename Work>
__device__ __forceinline__ void
draw_tiles(uint32_t *next_tile, uint32_t tiles, Work work)
{
	__shared__ uint32_t drawn[2];
	int			turn = 0;

	__syncthreads();
	if (threadIdx.x == 0)
		drawn[0] = atomicAdd(next_tile, 1u);
	__syncthreads();
	while (drawn[turn] < tiles)
	{
		if (threadIdx.x == 0)
			drawn[1 - turn] = atomicAdd(next_tile, 1u);
		work(drawn[turn]);
		turn = 1 - turn;
		__syncthreads();
	}
}

/*
 * Adds the bins and slice sums to the common ones.  Blocks start at different
 * slices, so that they do not queue for the same words.
 *
 * Blocks of a cluster (sm_90 on) add their bins up among themselves first, each
 * for its share of the slices: atomics on L2 are what limits this step, and
 * reading a neighbour's shared memory is cheaper.
 */
template <typename Count>
__device__ __forceinline__ void
flush_bins(uint32_t *bins, uint32_t count, Count *all_bins, Count *all_slices)
{
	const uint32_t slices = (count + slice_bins - 1) / slice_bins;
	const uint32_t lane = threadIdx.x % 32;
	uint32_t	crew = 1;
	uint32_t	rank = 0;

#if __CUDA_ARCH__ >= 900
	cg::cluster_group cluster = cg::this_cluster();

	crew = cluster.num_blocks();
	rank = cluster.block_rank();
	/* the blocks of a cluster read each other's bins, which must be complete.  There is no
	 * barrier at the end, because the grid's comes before bins are overwritten */
	if (crew > 1)
		cluster.sync();
#endif

	/* 132 blocks that all began with slice 0 would add to the same 256 words */
	const uint32_t turn = static_cast<uint32_t>(
		static_cast<uint64_t>(blockIdx.x / crew * crew) * slices / gridDim.x);

	/* a warp per slice: eight words a lane are all loaded before any is added, and
	 * the slice's sum needs no other warp */
	for (uint32_t i = threadIdx.x / 32 * crew + rank; i < slices;
		 i += blockDim.x / 32 * crew)
	{
		const uint32_t slice = i + turn < slices ? i + turn : i + turn - slices;
		uint32_t	value[slice_bins / 32];
		uint32_t	sum = 0;

#pragma unroll
		for (uint32_t j = 0; j < slice_bins / 32; j++)
		{
			const uint32_t bin = slice * slice_bins + j * 32 + lane;

			value[j] = bin < count ? bins[bin] : 0;
		}
#if __CUDA_ARCH__ >= 900
		for (uint32_t r = 1; r < crew; r++)
		{
			const uint32_t *other =
				cluster.map_shared_rank(bins, (rank + r) % crew);

#pragma unroll
			for (uint32_t j = 0; j < slice_bins / 32; j++)
			{
				const uint32_t bin = slice * slice_bins + j * 32 + lane;

				value[j] += bin < count ? other[bin] : 0;
			}
		}
#endif
#pragma unroll
		for (uint32_t j = 0; j < slice_bins / 32; j++)
		{
			/* without a result: RED, which the SM does not wait for; most bins of a
			 * wide range are empty in a block that has seen few keys */
			if (value[j] != 0)
				atomicAdd(&all_bins[slice * slice_bins + j * 32 + lane],
						  static_cast<Count>(value[j]));
			sum += value[j];
		}
		sum = warp_sum(sum);
		if (lane == 0 && sum != 0)
			atomicAdd(&all_slices[slice], static_cast<Count>(sum));
	}
}

/*
 * Exclusive prefix sums of the slices, and their total, in shared memory.  64-bit,
 * whatever the bins are: there are few, and positions in the output are 64-bit.
 */
template <typename Count>
__device__ __forceinline__ void
scan_slices(const Count *all_slices, uint32_t slices, OutputState *state)
{
	uint64_t	value = threadIdx.x < slices ?
		static_cast<uint64_t>(__ldcg(&all_slices[threadIdx.x])) : 0;
	uint64_t	total;

	value = block_exclusive_sum<histogram_threads>(value, state->sums, &total);
	if (threadIdx.x < slices)
		state->slice_starts[threadIdx.x] = value;
	if (threadIdx.x == 0)
		state->slice_starts[slices] = total;
	__syncthreads();
}

/* Four bins of a batch, straight from L2: other SMs wrote them. */
template <typename Count>
__device__ __forceinline__ void
load_four(const Count *all_bins, uint32_t bin, uint32_t padded, Count four[4])
{
	/* bins are padded to whole slices, and so is this thread's load */
#pragma unroll
	for (int i = 0; i < 4; i++)
		four[i] = 0;
	if (bin >= padded)
		return;
	if (sizeof(Count) == 4)
	{
		const uint4 v = __ldcg(reinterpret_cast<const uint4 *>(all_bins + bin));

		four[0] = v.x;
		four[1] = v.y;
		four[2] = v.z;
		four[3] = v.w;
	}
	else
	{
		const ulonglong2 v =
			__ldcg(reinterpret_cast<const ulonglong2 *>(all_bins + bin));
		const ulonglong2 w =
			__ldcg(reinterpret_cast<const ulonglong2 *>(all_bins + bin) + 1);

		four[0] = v.x;
		four[1] = v.y;
		four[2] = w.x;
		four[3] = w.y;
	}
}

/*
 * One batch of bins to runs: the paper's C and iC.  The number of runs before
 * it is counted again by every block; that is cheaper than waiting for others,
 * since all bins are in L2 and few.
 */
template <typename Count>
__device__ __forceinline__ void
compact_batch(const Count *all_bins, const Count *all_slices, uint32_t count,
			  const KeyMap &map, uint32_t batch, int32_t *run_keys,
			  uint64_t *starts, HpsortCudaVerdict *verdict, OutputState *state)
{
	const uint32_t slices = (count + slice_bins - 1) / slice_bins;
	const uint32_t padded = slices * slice_bins;
	const uint32_t bin = batch * batch_bins + threadIdx.x * 4;
	uint32_t	occurs = 0;
	uint32_t	runs_before;
	uint32_t	runs_here;
	Count		keys_here;
	Count		four[4];

	/* this sum is wanted by all threads, and of all threads */
	for (uint32_t b = 0; b < batch; b++)
	{
		load_four(all_bins, b * batch_bins + threadIdx.x * 4, padded, four);
		occurs += (four[0] != 0) + (four[1] != 0) + (four[2] != 0) + (four[3] != 0);
	}
	(void) block_exclusive_sum<histogram_threads>(
		occurs, reinterpret_cast<uint32_t *>(state->sums), &runs_before);
	scan_slices(all_slices, slices, state);

	load_four(all_bins, bin, padded, four);
	occurs = (four[0] != 0) + (four[1] != 0) + (four[2] != 0) + (four[3] != 0);

	uint32_t	at = runs_before + block_exclusive_sum<histogram_threads>(
		occurs, reinterpret_cast<uint32_t *>(state->sums), &runs_here);
	uint64_t	position = state->slice_starts[batch * batch_slices] +
		block_exclusive_sum<histogram_threads>(four[0] + four[1] + four[2] + four[3],
									 reinterpret_cast<Count *>(state->sums),
									 &keys_here);

#pragma unroll
	for (int i = 0; i < 4; i++)
		if (four[i] != 0)
		{
			run_keys[at] = to_key(map, bin + i);
			starts[at] = position;
			position += four[i];
			at++;
		}
	/* the last batch, whose block knows how many runs there are in all */
	if (bin < padded && bin + batch_bins >= padded && threadIdx.x == 0)
	{
		const uint64_t distinct = runs_before + runs_here;

		verdict->distinct = distinct;
		starts[distinct] = state->slice_starts[slices];
	}
}

/*
 * Blocks for n keys: no more than one per SM, and fewer when a block would
 * spend more time on its bins than on its keys.
 */
inline uint32_t
histogram_blocks(const HpsortCuda *context, uint64_t n, uint32_t bins)
{
	return grid_blocks(context, n, histogram_threads * 4 + bins / 8, 1);
}

template <typename Kernel>
void
allow_shared(Kernel kernel, const HpsortCudaLimits &limits)
{
	/* kernels with static shared memory have less room for the dynamic one */
	check(cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
							   cudaFuncAttributeMaxDynamicSharedMemorySize,
							   regime_shared_bins(&limits) * sizeof(uint32_t) + 1024),
		  "set up a kernel");
}

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_SHARED_BINS_CUH */
