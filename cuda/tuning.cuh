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
	 * From this n on, part of the keys and of the output is drawn tile by tile
	 * instead of dealt out.  Range 1,000: nothing drawn, 1/8 of the keys only,
	 * 1/8 of both, 2/8 of both: 0.277 / 0.270 / 0.267 / 0.265.
	 */
	static constexpr uint64_t dynamic_min_n = 30000000;
	static constexpr int eighths = 6;	/* dealt out beforehand */
	static constexpr uint32_t expand_tile = 65536;	/* keys, when drawn */
	/* what reading, summing up and searching a slice of bins takes, in keys written */
	static constexpr uint64_t slice_work = 4096;

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
 * Tiles of few keys.  What counts is that the last round of blocks is a full one:
 * keys of 32 bits, 8 / 12 / 16 / 20 a thread, n 1,048,577: 0.0631 / 0.0601 / 0.0595
 * / 0.0680; 1,500,000: 0.0817 / 0.0684 / 0.0693 / 0.0746; 2,097,152: 0.0991 / 0.0902
 * / 0.0784 / 0.0824; 4,194,303: 0.162 / 0.144 / 0.134 / 0.145.  Pairs, 8 / 12 / 16:
 * 0.0718 / 0.0725 / 0.0730; 0.0961 / 0.0818 / 0.0860; 0.115 / 0.116 / 0.101; 0.211 /
 * 0.199 / 0.206.
 */
struct FewKeysTuning8
{
	static constexpr int threads = 512;
	static constexpr int items = 8;
	static constexpr int blocks = 2;
	static constexpr bool padded = true;
};

struct FewKeysTuning12
{
	static constexpr int threads = 512;
	static constexpr int items = 12;
	static constexpr int blocks = 2;
	static constexpr bool padded = true;
};

struct FewKeysTuning16
{
	static constexpr int threads = 512;
	static constexpr int items = 16;
	static constexpr int blocks = 2;
	static constexpr bool padded = true;
};

/*
 * The passes of sweep.cuh; blocks: an SM, at least.  Larger tiles write longer
 * stretches per digit, until their registers spill: then a pass writes up to
 * twice its bytes.  Keys, whole sort of 32 bits, threads x items: 384 x 20 /
 * 512 x 16 / 512 x 20 / 512 x 22 / 1024 x 10 / 256 x 32: 2.254 / 2.141 / 2.030 /
 * 2.002 / 2.655 / 2.362; three blocks an SM spill (384 x 20, pairs: 5.43 instead of 3.39).
 * padded: see SweepTile; where registers are short it would make them spill.
 */
struct KeysTuning
{
	static constexpr int threads = 512;
	static constexpr int items = 22;
	static constexpr int blocks = 2;
	static constexpr bool padded = false;
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
	static constexpr bool padded = false;
};

/* Pairs, rows alone, 32 bits: 512 x 16 / 18 / 20 / 22: 2.968 / 2.901 / 2.832 / 2.736; more
 * items spill.  16 and 20 need padding: over range n, ascending, 16 of them took 4.385
 * without and 3.276 with it. */
struct PairsTuning
{
	static constexpr int threads = 512;
	static constexpr int items = 22;
	static constexpr int blocks = 2;
	static constexpr bool padded = false;
};

/* Permutation of range 5e4, second pass 512 x 18 / 20 / 22: 1.138 / 1.134 / 1.136; 20 would
 * want padding for keys in a cycle. */
struct FirstRowsTuning
{
	static constexpr int threads = 512;
	static constexpr int items = 20;
	static constexpr int blocks = 2;
	static constexpr bool padded = false;
};

struct SecondRowsTuning
{
	static constexpr int threads = 512;
	static constexpr int items = 18;
	static constexpr int blocks = 2;
	static constexpr bool padded = false;
};

/* A pass with a table of ranks beside its tile; 256 anywhere, 512 x 16 / 18:
 * 0.793 / 0.770. */
struct SmallRowsTuning
{
	static constexpr int threads = 512;
	static constexpr int items = 18;
	static constexpr int blocks = 2;
	static constexpr bool padded = false;
};

/* Keys to ranks. */
struct RankTuning
{
	static constexpr int threads = 1024;
	static constexpr int vectors = 2;
};

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_TUNING_CUH */
