/*-------------------------------------------------------------------------
 *
 * regime_tuning.h
 *	  The thresholds of the choice of a regime.
 *
 * For regime.c, which has the values, and for regime_memory.c, whose sums they bound.  Nobody
 * else includes it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_REGIME_TUNING_H
#define HPSORT_CUDA_REGIME_TUNING_H

#include <stdint.h>

/*
 * Where one regime stops being the best.  Measured on an H100 80GB HBM3 with CUDA 13.0 unless the
 * score says otherwise.  "gpubench --grid" measures both sides of each border
 * (docs/internals/gpu-engine.md, "Never slower").  A threshold in n counts keys.
 */
typedef struct RegimeTuning
{
	uint64_t	few_distinct_min_n; /* FEW_DISTINCT: below, hashing costs more than it saves */
	uint64_t	few_distinct_keys_per_value;	/* FEW_DISTINCT: fewer keys per value do not pay
												 * for merging the tables */
	uint64_t	few_beside_partition_n; /* least n where PARTITION can be chosen instead */
	uint64_t	few_beside_partition_keys;	/* keys per value where PARTITION can be chosen
											 * instead */
	uint64_t	few_beside_passes_keys; /* keys per value where three passes can make rows */
	uint64_t	sample_min_n;	/* below, the wait for a sample costs more than it saves */
	uint64_t	partition_min_n;	/* below, one launch is faster: small_sort.cu */
	uint32_t	partition_max_buckets;	/* more buckets leave too few bytes per write */
	uint32_t	partition_bins_per_key; /* sparser than this: sort instead */
	uint64_t	sparse_max_n;	/* from this n on, half of partition_bins_per_key */
	uint32_t	partition_buckets;	/* number aimed at: balance against size of a write */
	uint32_t	partition_shift;	/* log2 of a bucket's bins: three blocks an SM */
	uint32_t	partition_max_shift;	/* log2 of most bins: one block an SM, 16-bit residues */
	uint64_t	extents_max_n;	/* most n for extents: 2 n places and more, in 31 bits */
	uint64_t	extents_more;	/* places that few keys may have beside 2 n */
	uint32_t	few_distinct_capacity;	/* most distinct values that are hashed */
	uint64_t	ranks_min_n;	/* below, ranks cost more than the passes that they save */
	uint64_t	one_launch_most;	/* above, separate passes are better */
	uint64_t	wide_keys_n;	/* from this n on, tiles as large as they can be */
} RegimeTuning;

extern const RegimeTuning regime_tuning;

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
