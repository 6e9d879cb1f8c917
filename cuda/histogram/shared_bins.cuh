/*-------------------------------------------------------------------------
 *
 * shared_bins.cuh
 *	  The steps of the shared-memory histogram: count, flush, compact.
 *
 * Device functions that all threads of a block call together, and how their kernels are launched.
 * For the kernels of shared_histogram.cu, packed_values.cu and packed_rows.cu.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_SHARED_BINS_CUH
#define HPSORT_CUDA_SHARED_BINS_CUH

#include "common/device.cuh"

namespace hpsort
{

using Count64 = unsigned long long;

static constexpr int histogram_threads = HistogramTuning::threads;
static constexpr int batch_bins = HistogramTuning::batch;
static constexpr int slice_bins = REGIME_SLICE_BINS;
static constexpr int batch_slices = batch_bins / slice_bins;

static_assert(batch_bins == histogram_threads * 4, "a thread scans four bins of a batch");

/* scan_slices() has a thread for each slice.  regime.c allows at most 65,536 bins, which are 256
 * slices. */
static constexpr int max_slices = histogram_threads;

/* What a block needs after counting, in the memory that held its bins. */
struct OutputState
{
	uint64_t	slice_starts[max_slices + 1];
	uint64_t	sums[histogram_threads / 32];
};

/* Clears bins, 16 bytes at a time.  It may clear up to three words behind the last bin;
 * shared_need() has room for them. */
__device__ __forceinline__ void
clear_bins(uint32_t *bins, uint32_t count)
{
	uint4	   *fours = reinterpret_cast<uint4 *>(bins);

	for (uint32_t i = threadIdx.x; i < (count + 3) / 4; i += blockDim.x)
		fours[i] = make_uint4(0, 0, 0, 0);
}

/* Counts a key.  A key outside the bounds is remembered instead. */
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

/* Adds a block's bins and their slice sums to the common ones.  Blocks start at different slices:
 * 132 blocks that all began with slice 0 would add to the same 256 words. */
__device__ __forceinline__ void
flush_bins(const uint32_t *bins, uint32_t count, Count64 *all_bins, Count64 *all_slices)
{
	const uint32_t slices = (count + slice_bins - 1) / slice_bins;
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t turn = static_cast<uint32_t>(
		static_cast<uint64_t>(blockIdx.x) * slices / gridDim.x);

	/* A warp per slice: a lane loads eight words before it adds any, and the slice's sum needs no
	 * other warp. */
	for (uint32_t i = threadIdx.x / 32; i < slices; i += blockDim.x / 32)
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
#pragma unroll
		for (uint32_t j = 0; j < slice_bins / 32; j++)
		{
			/* An atomic without a result is a RED, for which the SM does not wait.  Most bins of
			 * a wide range are empty in a block that has seen few keys. */
			if (value[j] != 0)
				atomicAdd(&all_bins[slice * slice_bins + j * 32 + lane],
						  static_cast<Count64>(value[j]));
			sum += value[j];
		}
		sum = warp_sum(sum);
		if (lane == 0 && sum != 0)
			atomicAdd(&all_slices[slice], static_cast<Count64>(sum));
	}
}

/* Writes the exclusive prefix sums of the slices, and their total, to *state. */
__device__ __forceinline__ void
scan_slices(const Count64 *all_slices, uint32_t slices, OutputState *state)
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

/* Loads four bins of a batch.  Bins from padded on count as 0. */
__device__ __forceinline__ void
load_four(const Count64 *all_bins, uint32_t bin, uint32_t padded, Count64 four[4])
{
	ulonglong2	v = {0, 0};
	ulonglong2	w = {0, 0};

	/* bins are padded to whole slices, so a thread's four are all there or all missing */
	if (bin < padded)
	{
		v = __ldcg(reinterpret_cast<const ulonglong2 *>(all_bins + bin));
		w = __ldcg(reinterpret_cast<const ulonglong2 *>(all_bins + bin) + 1);
	}
	four[0] = v.x;
	four[1] = v.y;
	four[2] = w.x;
	four[3] = w.y;
}

/* Makes runs of one batch of bins: the paper's C and iC.  Every block counts the runs before its
 * batch again; this costs less than waiting for other blocks, since all bins are in L2 and few. */
__device__ __forceinline__ void
compact_batch(const Count64 *all_bins, const Count64 *all_slices, uint32_t count,
			  const KeyMap &map, uint32_t batch, int32_t *run_keys,
			  uint64_t *starts, HpsortCudaVerdict *verdict, OutputState *state)
{
	const uint32_t slices = (count + slice_bins - 1) / slice_bins;
	const uint32_t padded = slices * slice_bins;
	const uint32_t bin = batch * batch_bins + threadIdx.x * 4;
	uint32_t	occurs = 0;
	uint32_t	runs_before;
	uint32_t	runs_here;
	Count64		keys_here;
	Count64		four[4];

	/* all threads take part in this sum, and all need it */
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
									 reinterpret_cast<Count64 *>(state->sums),
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
	/* the block of the last batch knows the number of all runs */
	if (bin < padded && bin + batch_bins >= padded && threadIdx.x == 0)
	{
		const uint64_t distinct = runs_before + runs_here;

		verdict->distinct = distinct;
		starts[distinct] = state->slice_starts[slices];
	}
}

/* Returns the number of blocks for n keys: at most one per SM, and fewer if a block would spend
 * more time on its bins than on its keys. */
inline uint32_t
histogram_blocks(const HpsortCuda *context, uint64_t n, uint32_t bins)
{
	return grid_blocks(context, n, histogram_threads * 4 + bins / 8, 1);
}

/* Returns the bytes that kernels may have for their bins: not all that the device has, because
 * static shared memory takes part of it. */
inline uint64_t
bins_allowance(const HpsortCudaLimits &limits)
{
	return regime_shared_bins(&limits) * sizeof(uint32_t) + 1024;
}

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_SHARED_BINS_CUH */
