/*-------------------------------------------------------------------------
 *
 * tuning.cuh
 *	  Launch shapes of every kernel, in one place, with what was measured.
 *
 * All scores: NVIDIA H100 80GB HBM3 (132 SMs), driver 580, CUDA 13.0, n = 1e8
 * uniform unless said otherwise; ms for the whole sort, median of 11, cold L2.
 * "a / b / c" are the scores of the values named in the same order.
 * Thresholds between regimes are in regime.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_TUNING_CUH
#define HPSORT_CUDA_TUNING_CUH

#include <cstdint>

namespace hpsort
{

/* Counting in shared memory, one block per SM so that it owns all bins. */
struct HistogramTuning
{
	static constexpr int threads = 1024;
	static constexpr int vectors = 4;	/* 16-byte loads in flight per thread */
	static constexpr int batch = 4096;	/* bins scanned at a time: 4 a thread */

	/*
	 * From this n on, part of the keys is drawn tile by tile instead of dealt out.
	 * Range 1,000, counted and expanded: nothing drawn 0.277, 1/8 of the keys 0.270.
	 */
	static constexpr uint64_t dynamic_min_n = 30000000;
	static constexpr int eighths = 6;	/* dealt out beforehand */

	/*
	 * Blocks of a cluster add their bins up before the atomics.  Range 5e4,
	 * clusters of 1 / 2 / 4 / 8: n 1e8 0.303 / 0.295 / 0.291 / 0.292; n 1e7
	 * 0.060 / 0.052 / 0.055 / 0.056.  Range 1e4, n 1e8: none is best, 0.279.
	 */
	static constexpr uint32_t crew = 2;
	/* n 3e5 / 1e6, alone or in pairs: range 5e4 0.0223 and 0.0242 / 0.0300 and
	 * 0.0250; range 1e4 0.0167 and 0.0172 / 0.0196 and 0.0186 */
	static constexpr uint64_t crew_min_n = 600000;
	static constexpr uint32_t crew_min_bins = 6000;
	static constexpr uint32_t large_crew = 4;	/* from dynamic_min_n on */
	static constexpr uint32_t large_crew_min_bins = 20000;
};

/* Runs to keys: 0.136 ms for 4e8 bytes, 2.94 TB/s. */
struct ExpandTuning
{
	static constexpr int threads = 512;
	static constexpr int tile = 65536;	/* keys written by one block */
	static constexpr int batch = 2048;	/* runs held in shared memory */
	static constexpr int warp_tile = 512;	/* keys between two searches */
};

/* Regime FEW_DISTINCT, and the sample: distinct values hashed in shared memory. */
struct FewDistinctTuning
{
	static constexpr int threads = 1024;
	static constexpr int vectors = 2;	/* a batch of eight first looks */
	/* 8,192 keys cost 10 us more than 4,096 and tell no more */
	static constexpr int sample = 4096;
	static constexpr int rank_threads = 1024;
};

/*
 * Keys to buckets, then bins per bucket.  Scatter, threads x items (blocks an
 * SM): range 2e6, 512 x 32 (2) / 512 x 24 (2) / 256 x 32 (4) / 1024 x 32 (1) /
 * 1024 x 16 (1): 0.777 / 0.791 / 0.876 / 0.801 / 0.836.
 */
struct PartitionTuning
{
	static constexpr int threads = 512;
	static constexpr int blocks = 2;
	static constexpr int items = 32;
	static constexpr int small_items = 8;	/* with little shared memory */
	static constexpr int few_keys_items = 16;	/* so that few keys keep all SMs busy */
	static constexpr int bucket_threads = 512;
	/* runs of so many keys are expanded without a search: fewer are too often more than
	 * a warp has lanes for; n 1e8, range 1.6e7 / 2e6: 0.747 -> 0.686, 0.642 -> 0.601 */
	static constexpr uint32_t short_least = 5;
	static constexpr uint32_t short_most = 512;
	/* where bins leave room for one block an SM; range 1e8: 1.156 -> 0.753 */
	static constexpr int wide_threads = 1024;
	static constexpr uint32_t block_reserve = 1024 + 128;	/* beside its bins */
};

/* A sort of few keys in one kernel (small_sort.cu). */
struct SmallTuning
{
	static constexpr int threads = 1024;
	static constexpr int most_items = 8;	/* keys per thread: tiles of 8,192 */
	/* more blocks take fewer keys a thread, and read more counts; 16 / 32 / 64 /
	 * 132 of them at n 1e5, 32 bits: 0.0408 / 0.0352 / 0.0357 / 0.0435 */
	static constexpr uint32_t few_blocks = 64;
};

/*
 * The passes of sweep.cuh; blocks: an SM, at least.  Larger tiles write longer
 * stretches per digit, until their registers spill: then a pass writes up to
 * twice its bytes.  Keys, whole sort of 32 bits, threads x items: 384 x 20 /
 * 512 x 16 / 512 x 20 / 512 x 22 / 1024 x 10 / 256 x 32: 2.254 / 2.141 / 2.030 /
 * 2.002 / 2.655 / 2.362; three blocks an SM spill (384 x 20, pairs: 5.43 instead of 3.39).
 */
struct KeysTuning
{
	static constexpr int threads = 512;
	static constexpr int items = 22;
	static constexpr int blocks = 2;
};

/*
 * Two blocks of these tiles need more than 100 kB of an SM.  Keys of 32 bits, 22 / 24 / 26
 * a thread: n 1e8 1.890 / 1.844 / 1.814, n 5e7 0.983 / 0.962 / 0.952, n 1e7 0.257 / 0.255 /
 * 0.272; 26 spill four registers, and more of them many.
 */
struct WideKeysTuning
{
	static constexpr int threads = 512;
	static constexpr int items = 26;
	static constexpr int blocks = 2;
};

/* Keys and rows: more than 22 items spill.  16 items are a multiple of 8 for each digit,
 * and keys in order then have up to 32 lanes in one bank of shared memory: ascending keys
 * of range n took 4.385, and 3.276 with every 33rd word of the tile left out. */
struct PairsTuning
{
	static constexpr int threads = 512;
	static constexpr int items = 22;
	static constexpr int blocks = 2;
};

/* Permutation of range 5e4, second pass 512 x 18 / 20 / 22: 1.138 / 1.134 / 1.136; 20
 * are a multiple of 8 for each digit, and keys in a cycle meet in one bank. */
struct FirstRowsTuning
{
	static constexpr int threads = 512;
	static constexpr int items = 20;
	static constexpr int blocks = 2;
};

struct SecondRowsTuning
{
	static constexpr int threads = 512;
	static constexpr int items = 18;
	static constexpr int blocks = 2;
};

/* A pass with a table of ranks beside its tile; 256 anywhere, 512 x 16 / 18:
 * 0.793 / 0.770. */
struct SmallRowsTuning
{
	static constexpr int threads = 512;
	static constexpr int items = 18;
	static constexpr int blocks = 2;
};

/* Keys to ranks. */
struct RankTuning
{
	static constexpr int threads = 1024;
	static constexpr int vectors = 2;
};

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_TUNING_CUH */
