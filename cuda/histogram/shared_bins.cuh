/*-------------------------------------------------------------------------
 *
 * shared_bins.cuh
 *	  The steps of the shared-memory histogram: count, flush, expand, compact.
 *
 * Device functions that a whole block calls together, of which shared_histogram.cu and
 * packed_histogram.cu make kernels; and how these are launched.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_SHARED_BINS_CUH
#define HPSORT_CUDA_SHARED_BINS_CUH

#include <cooperative_groups.h>
#include <type_traits>

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

/*
 * Where a block has several parts of the output, up to so many bins are scanned once for
 * all of them.  n 1e8, range 5,000: 0.277 -> 0.268 ms, 1e4: 0.280 -> 0.271; with a single
 * part it does not pay (n 1e6, range 1e4: 0.0184 -> 0.0191).
 */
static constexpr uint32_t single_vectors = 3;	/* of four bins, a thread */
static constexpr uint32_t single_bins = batch_bins * single_vectors;

/* Whether all bins may be scanned at once: positions must have 32 bits, and the output be
 * drawn tile by tile. */
template <typename Count>
__host__ __device__ constexpr bool
scans_at_once(uint64_t n)
{
	return sizeof(Count) == 4 && n >= HistogramTuning::dynamic_min_n;
}

/* What a block needs after counting, in the memory that held its bins.  starts has the
 * starts of a batch's bins or of all bins, and the end of the last; its size is a whole
 * number of 16-byte vectors. */
struct OutputState
{
	uint64_t	slice_starts[max_slices + 1];
	uint64_t	sums[histogram_threads / 32];
	__align__(16) uint32_t starts[single_bins + 4];
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
 * Positions [begin, end) of the output, by way of the batches of bins that they
 * come from.  Empty bins stay in the way of the search, which costs less than
 * compacting them; whole empty slices are skipped.
 */
template <typename Count>
__device__ __forceinline__ void
expand_part(const Count *all_bins, uint32_t slices, const KeyMap &map,
			int32_t *out, uint64_t begin, uint64_t end, OutputState *state)
{
	/* positions below count from this 16-byte boundary, in 32 bits: one part is
	 * never too long for that, the output may be */
	const uint32_t phase = static_cast<uint32_t>(
		reinterpret_cast<uintptr_t>(out + begin) % 16 / 4);
	const uint64_t base = begin - phase;
	const uint32_t limit = static_cast<uint32_t>(end - base);
	/* what lies outside this part becomes empty */
	auto		cut = [&](uint64_t position) {
		return position <= begin ? phase : position >= end ? limit :
			static_cast<uint32_t>(position - base);
	};
	uint32_t	slice = last_at_or_before<uint64_t>(state->slice_starts, 0u,
													slices - 1, begin);

	/* a batch at a time: 4,096 starts fit in the place of the bins, and a part of
	 * the output seldom comes from more than a few of them */
	for (;;)
	{
		const uint64_t batch_start = state->slice_starts[slice];
		const uint32_t first_bin = slice * slice_bins;
		Count		four[4];
		Count		batch_total;

		load_four(all_bins, first_bin + threadIdx.x * 4, slices * slice_bins, four);

		const uint64_t position = batch_start + block_exclusive_sum<histogram_threads>(
			four[0] + four[1] + four[2] + four[3],
			reinterpret_cast<Count *>(state->sums), &batch_total);
		uint4		cuts;

		cuts.x = cut(position);
		cuts.y = cut(position + four[0]);
		cuts.z = cut(position + four[0] + four[1]);
		cuts.w = cut(position + four[0] + four[1] + four[2]);
		reinterpret_cast<uint4 *>(state->starts)[threadIdx.x] = cuts;
		if (threadIdx.x == 0)
			state->starts[batch_bins] = cut(batch_start + batch_total);
		__syncthreads();
		/* cut at both ends, so that expand_block need not know of parts */
		expand_block(out + begin - phase, state->starts[0],
					 state->starts[batch_bins], state->starts, batch_bins,
					 [&](uint32_t j) { return to_key(map, first_bin + j); });
		/* the next batch's starts take the place of these */
		__syncthreads();
		if (batch_start + batch_total >= end)
			break;

		/* go on behind this batch, past slices without keys */
		slice += batch_slices;
		while (slice < slices &&
			   state->slice_starts[slice + 1] == state->slice_starts[slice])
			slice++;
	}
}

/*
 * The place of the output that is reached when so much work has been done, from the
 * first slice on: a slice costs its keys and slice_work more, whatever it holds, and
 * both are spread evenly over it.
 */
__device__ __forceinline__ uint64_t
place_of_work(const uint64_t *slice_starts, uint32_t slices, uint64_t work)
{
	constexpr uint64_t each = HistogramTuning::slice_work;
	uint32_t	lo = 0;
	uint32_t	hi = slices - 1;

	while (lo < hi)
	{
		const uint32_t middle = (lo + hi + 1) / 2;

		if (slice_starts[middle] + middle * each <= work)
			lo = middle;
		else
			hi = middle - 1;
	}

	const uint64_t start = slice_starts[lo];
	const uint64_t count = slice_starts[lo + 1] - start;

	return start + (work - start - lo * each) * count / (count + each);
}

/*
 * This block's parts of the output: an equal share of its 16-byte vectors, or
 * of most of them, and then tiles.  Where it takes several batches of bins, the share
 * is one of the work: a few keys may come from nearly all of the bins.
 */
template <typename Count>
__device__ __forceinline__ void
expand_bins(const Count *all_bins, const Count *all_slices, uint32_t count,
			const KeyMap &map, uint64_t n, int32_t *out, uint32_t *next_tile,
			OutputState *state)
{
	constexpr uint32_t tile = HistogramTuning::expand_tile;
	const uint32_t slices = (count + slice_bins - 1) / slice_bins;
	/* bins that are scanned at once, and starts that are searched, if that is all of them:
	 * then, and with 32-bit positions, these prefix sums serve all parts */
	const uint32_t scanned = slices <= batch_slices ? batch_bins : single_bins;
	const bool	one_scan = sizeof(Count) == 4 &&
		(slices <= batch_slices ||
		 (scans_at_once<Count>(n) && slices <= single_bins / slice_bins));
	const uint32_t phase =
		static_cast<uint32_t>(reinterpret_cast<uintptr_t>(out) % 16 / 4);
	/* not n: keys outside the bounds are in no bin */
	uint64_t	total;

	auto		scan_all = [&](auto vectors) {
		constexpr uint32_t each = decltype(vectors)::value;
		Count		four[each][4];
		Count		sum = 0;
		Count		all;

#pragma unroll
		for (uint32_t v = 0; v < each; v++)
			load_four(all_bins, (threadIdx.x * each + v) * 4, slices * slice_bins, four[v]);
#pragma unroll
		for (uint32_t v = 0; v < each; v++)
			sum += four[v][0] + four[v][1] + four[v][2] + four[v][3];

		uint32_t	start = phase + static_cast<uint32_t>(
			block_exclusive_sum<histogram_threads>(
				sum, reinterpret_cast<Count *>(state->sums), &all));

#pragma unroll
		for (uint32_t v = 0; v < each; v++)
		{
			const uint32_t second = start + static_cast<uint32_t>(four[v][0]);
			const uint32_t third = second + static_cast<uint32_t>(four[v][1]);
			const uint32_t fourth = third + static_cast<uint32_t>(four[v][2]);

			reinterpret_cast<uint4 *>(state->starts)[threadIdx.x * each + v] =
				make_uint4(start, second, third, fourth);
			start = fourth + static_cast<uint32_t>(four[v][3]);
		}
		if (threadIdx.x == 0)
			state->starts[scanned] = phase + static_cast<uint32_t>(all);
		__syncthreads();
		total = all;
	};

	if (one_scan && scanned == batch_bins)
		scan_all(std::integral_constant<uint32_t, 1>());
	else if (one_scan)
		scan_all(std::integral_constant<uint32_t, single_vectors>());
	else
	{
		scan_slices(all_slices, slices, state);
		total = state->slice_starts[slices];
	}

	auto		part = [&](uint64_t begin, uint64_t end) {
		if (begin >= end)
			return;
		if (one_scan)
			expand_block(out - phase, static_cast<uint32_t>(begin) + phase,
						 static_cast<uint32_t>(end) + phase, state->starts,
						 scanned, [&](uint32_t j) { return to_key(map, j); });
		else
			expand_part(all_bins, slices, map, out, begin, end, state);
	};
	/*
	 * Most of the output is dealt to the blocks in equal parts beforehand: one search
	 * for the place to begin, then all bins in a row.  What is left is drawn tile by
	 * tile by the blocks that are ready, because SMs do not write equally fast; small outputs
	 * end before that would pay.
	 */
	const uint64_t head = min(static_cast<uint64_t>(misaligned(out)), total);
	const uint64_t vectors = (total - head) / 4;
	const uint64_t dealt = n < HistogramTuning::dynamic_min_n ? vectors :
		vectors / 8 * HistogramTuning::eighths;
	uint64_t	begin;
	uint64_t	end;

	/* by whole 16-byte vectors, so that no two blocks write to one sector; what is
	 * before the first goes to the first block, behind the last to the last */
	block_span(dealt, &begin, &end);
	if (!one_scan && dealt == vectors)
	{
		const uint64_t work = total + slices * HistogramTuning::slice_work;
		auto		vectors_before = [&](uint32_t block) {
			const uint64_t place = block == gridDim.x ? total :
				place_of_work(state->slice_starts, slices, work * block / gridDim.x);

			return place <= head ? 0 : min((place - head) / 4, vectors);
		};

		begin = vectors_before(blockIdx.x);
		end = vectors_before(blockIdx.x + 1);
	}
	part(blockIdx.x == 0 ? 0 : head + begin * 4, head + end * 4);
	if (blockIdx.x == gridDim.x - 1 && dealt == vectors)
		part(head + vectors * 4, total);
	if (dealt < vectors)
	{
		const uint64_t first = head + dealt * 4;
		const uint32_t tiles = static_cast<uint32_t>((total - first - 1) / tile) + 1;

		draw_tiles(next_tile, tiles, [&](uint32_t drawn) {
			const uint64_t at = first + static_cast<uint64_t>(drawn) * tile;

			part(at, min(at + tile, total));
		});
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
			  uint64_t *counts, uint64_t *starts, HpsortCudaVerdict *verdict,
			  OutputState *state)
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
			if (counts != nullptr)
				counts[at] = four[i];
			if (starts != nullptr)
				starts[at] = position;
			position += four[i];
			at++;
		}
	/* the last batch, whose block knows how many runs there are in all */
	if (bin < padded && bin + batch_bins >= padded && threadIdx.x == 0)
	{
		const uint64_t distinct = runs_before + runs_here;

		verdict->distinct = distinct;
		if (starts != nullptr)
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
