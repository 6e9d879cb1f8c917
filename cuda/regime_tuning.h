/*-------------------------------------------------------------------------
 *
 * regime_tuning.h
 *	  The thresholds of the choice of a regime.
 *
 * For regime.c, and for regime_memory.c, whose sums they bound.  Nobody else includes it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_REGIME_TUNING_H
#define HPSORT_CUDA_REGIME_TUNING_H

#include <stdint.h>

/*
 * Where one regime stops being the best.  Measured on an H100 80GB HBM3 with CUDA 13.0 unless the
 * score says otherwise; times are ms.  "gpubench --grid" measures both sides of each border
 * (docs/internals/gpu-engine.md, "Never slower").  A threshold in N counts keys.
 */

/* FEW_DISTINCT: below, hashing costs more than it saves. */
#define FEW_DISTINCT_MIN_N		((uint64_t) 1 << 20)

/* FEW_DISTINCT: fewer keys per value do not pay for merging the tables.  1e4 values, n 4,194,304 /
 * 6e6: hashing 0.152 / 0.149, CUB on 24 bits 0.117 / 0.142. */
#define FEW_DISTINCT_KEYS_PER_VALUE	1024

/* FEW_DISTINCT: most distinct values that are hashed. */
#define FEW_DISTINCT_CAPACITY	16384

/*
 * FEW_DISTINCT where PARTITION can be chosen instead: least n, and keys per value.  H200, bounds
 * known, hashing and PARTITION:
 *	100 values in equal steps, range 1e6, n 1e7 / 2e7	0.102 and 0.089 / 0.128 and 0.133
 *	8,192 values, n 2e7, range 1e6 / 2e7	0.202 and 0.138 / 0.197 and 0.179
 *	8,192 values, n 3e7, range 1e6 / 3e7	0.227 and 0.184 / 0.227 and 0.25
 */
#define FEW_BESIDE_PARTITION_N	((uint64_t) 1 << 24)
#define FEW_BESIDE_PARTITION_KEYS	3000

/* FEW_DISTINCT: keys per value where three passes can make rows.  Rows, range 1e6, 8,192 values, n
 * 1e7 / 2e7: hashing 0.298 / 0.424, passes 0.222 / 0.379. */
#define FEW_BESIDE_PASSES_KEYS	4096

/*
 * Below, the wait for a sample costs more than it saves.  Nothing known, 1,000 values / 1e7 values
 * / all different:
 *	n 2e6	with a sample 0.093 / 0.132 / 0.129, CUB on 32 bits 0.089 / 0.096 / 0.103
 *	n 5e6	with a sample 0.098 / 0.145 / 0.174, CUB on 32 bits 0.152 / 0.167 / 0.184
 */
#define SAMPLE_MIN_N			((uint64_t) 1 << 22)

/*
 * PARTITION:
 *
 * - MIN_N: below, one launch is faster (small_sort.cu).
 * - MAX_N: extents have up to 2 n places, which 31 bits number.
 * - BUCKETS: the number aimed at, balance against the size of a write.
 * - MAX_BUCKETS: more buckets leave too few bytes per write.
 * - SHIFT, MAX_SHIFT: log2 of the bins of a bucket, for three blocks an SM and for one; residues
 *   have 16 bits.
 * - BINS_PER_KEY: what is sparser is sorted instead; half of it from SPARSE_MAX_N keys on.
 */
#define PARTITION_MIN_N			((uint64_t) 1 << 19)
#define PARTITION_MAX_N			1000000000
#define PARTITION_BUCKETS		512
#define PARTITION_MAX_BUCKETS	4096
#define PARTITION_SHIFT			14
#define PARTITION_MAX_SHIFT		15
#define PARTITION_BINS_PER_KEY	4
#define SPARSE_MAX_N			((uint64_t) 1 << 22)

/* PARTITION: the places that extents of large tiles may have beside 2 n. */
#define EXTENTS_MORE			((uint64_t) 1 << 22)

/* Permutations: below, ranks cost more than the passes that they save. */
#define RANKS_MIN_N				((uint64_t) 1 << 22)

/* RADIX: above, separate passes are better.  One launch and separate passes: n 600,000, 32 bits
 * 0.0530 and 0.0508, range 1,000 0.0292 and 0.0327; n 1e6, 32 bits 0.0654 and 0.0595. */
#define ONE_LAUNCH_MOST			((uint64_t) 1 << 19)

/* RADIX: from this n on, tiles as large as they can be. */
#define WIDE_KEYS_N				50000000

/* Returns x rounded up to a multiple of unit. */
static inline uint64_t
round_up(uint64_t x, uint64_t unit)
{
	return (x + unit - 1) / unit * unit;
}

static inline uint64_t
max64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t
min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

#endif							/* HPSORT_CUDA_REGIME_TUNING_H */
