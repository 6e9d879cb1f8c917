/*-------------------------------------------------------------------------
 *
 * tuning.cuh
 *	  Launch shapes of every kernel, in one place, with what was measured.
 *
 * For the kernel families.  Thresholds between regimes are in regime.c.
 *
 * All scores: NVIDIA H100 80GB HBM3 (132 SMs), driver 580, CUDA 13.0; ms of the whole sort,
 * median of 11, cold L2; n = 1e8 uniform keys unless the score says otherwise.  "a / b / c" are
 * the scores of the values in the same order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_TUNING_CUH
#define HPSORT_CUDA_TUNING_CUH

#include <cstdint>

namespace hpsort
{

/* Counting in shared memory: one block per SM, which owns all bins. */
struct HistogramTuning
{
	static constexpr int threads = 1024;
	static constexpr int vectors = 4;	/* 16-byte loads in flight per thread */
	static constexpr int batch = 4096;	/* bins scanned at a time: 4 a thread */

};

/* Runs to keys: 0.136 ms for 4e8 bytes, 2.94 TB/s. */
struct ExpandTuning
{
	static constexpr int threads = 512;
	static constexpr int tile = 65536;	/* keys written by one block */
	static constexpr int batch = 2048;	/* runs held in shared memory */
	static constexpr int warp_tile = 512;	/* keys between two searches */
};

/* Regime FEW_DISTINCT and the sample: distinct values hashed in shared memory. */
struct FewDistinctTuning
{
	static constexpr int threads = 1024;
	static constexpr int vectors = 2;	/* a batch is the first probes of eight keys */
	/* keys of the sample; 8,192 cost 10 us more and say no more */
	static constexpr int sample = 4096;
	static constexpr int rank_threads = 1024;
};

/*
 * PARTITION: keys to buckets, then bins per bucket.  Scatter at range 2e6, threads x items
 * (blocks an SM):
 *	512 x 32 (2)	0.777
 *	512 x 24 (2)	0.791
 *	1024 x 32 (1)	0.801
 *	1024 x 16 (1)	0.836
 *	256 x 32 (4)	0.876
 */
struct PartitionTuning
{
	static constexpr int threads = 512;
	static constexpr int blocks = 2;
	static constexpr int items = 32;
	static constexpr int small_items = 16;	/* REGIME_PARTITION_SMALL_TILE */
	static constexpr int bucket_threads = 512;
	/* Runs of this many keys are expanded without a search.  Shorter runs are too often more than
	 * a warp has lanes for.  n 1e8 with / without the search: range 1.6e7 0.747 / 0.686, range
	 * 2e6 0.642 / 0.601. */
	static constexpr uint32_t short_least = 5;
	static constexpr uint32_t short_most = 512;
	/* threads where the bins leave room for one block an SM; range 1e8: 1.156 with 512, 0.753 */
	static constexpr int wide_threads = 1024;
	static constexpr uint32_t block_reserve = 1024 + 128;	/* bytes of shared memory beside the
															 * bins */
};

/* A sort of few keys in one kernel (small_sort.cu). */
struct SmallTuning
{
	static constexpr int threads = 1024;
	static constexpr int most_items = 8;	/* keys per thread: tiles of 8,192 */
	/* Least number of blocks: more blocks take fewer keys a thread and read more counts.  n 1e5,
	 * 32 bits, 16 / 32 / 64 / 132 blocks: 0.0408 / 0.0352 / 0.0357 / 0.0435. */
	static constexpr uint32_t few_blocks = 64;
};

/*
 * The passes of sweep.cuh.  `blocks` is the least number of blocks per SM.  Larger tiles write
 * longer stretches per digit, until their registers spill; then a pass writes up to twice its
 * bytes.  Keys, whole sort of 32 bits, threads x items:
 *	512 x 22	2.002
 *	512 x 20	2.030
 *	512 x 16	2.141
 *	384 x 20	2.254
 *	256 x 32	2.362
 *	1024 x 10	2.655
 * Three blocks an SM spill (384 x 20, pairs: 5.43 instead of 3.39).
 */
template <int ITEMS>
struct SweepTuning
{
	static constexpr int threads = 512;
	static constexpr int items = ITEMS;
	static constexpr int blocks = 2;
};

using KeysTuning = SweepTuning<22>;

/*
 * Largest tiles of keys, where an SM has more than 100 kB of shared memory for two blocks.  Keys
 * of 32 bits, 22 / 24 / 26 a thread:
 *	n 1e8	1.890 / 1.844 / 1.814
 *	n 5e7	0.983 / 0.962 / 0.952
 *	n 1e7	0.257 / 0.255 / 0.272
 * 26 items spill four registers, more items spill many.
 */
using WideKeysTuning = SweepTuning<26>;

/* Keys and rows.  More than 22 items spill.  16 items are a multiple of 8 for each digit, so keys
 * in order have up to 32 lanes in one bank of shared memory: ascending keys of range n took
 * 4.385, and 3.276 with every 33rd word of the tile left out. */
using PairsTuning = SweepTuning<22>;

/* The two passes of a permutation.  Range 5e4, second pass 512 x 18 / 20 / 22: 1.138 / 1.134 /
 * 1.136; but 20 are a multiple of 8 for each digit, and keys in a cycle meet in one bank. */
using FirstRowsTuning = SweepTuning<20>;
using SecondRowsTuning = SweepTuning<18>;

/* Keys to ranks (permutation.cu). */
struct RankTuning
{
	static constexpr int threads = 1024;
	static constexpr int vectors = 2;
};

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_TUNING_CUH */
