/*-------------------------------------------------------------------------
 *
 * regime_tuning.h
 *	  The thresholds of the choice, for regime.c, which has their values, and
 *	  regime_memory.c, whose sums they bound.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_REGIME_TUNING_H
#define HPSORT_CUDA_REGIME_TUNING_H

#include <stdint.h>

/*
 * Where one regime stops being the best, measured on an H100 80GB HBM3 with CUDA 13.0
 * unless said otherwise.  "gpubench --grid" measures both sides of each border
 * (docs/internals/gpu-engine.md, "Never slower").
 */
typedef struct RegimeTuning
{
	uint64_t	few_distinct_min_n; /* below, hashing costs more than it saves */
	uint64_t	few_distinct_keys_per_value;	/* fewer do not pay for merging the tables, */
	uint64_t	few_beside_partition_n; /* where PARTITION can be chosen, nor do fewer keys, */
	uint64_t	few_beside_partition_keys;	/* nor fewer for each value, */
	uint64_t	few_beside_passes_keys; /* nor beside three passes that make rows */
	uint64_t	sample_min_n;	/* below, the wait for a sample's answer does */
	uint64_t	partition_min_n;	/* below, one launch does: small_sort.cu */
	uint32_t	partition_max_buckets;	/* more leave too little per write */
	uint32_t	partition_bins_per_key; /* sparser than this: sort instead */
	uint64_t	sparse_max_n;	/* from here on, sparser than half of it */
	uint32_t	partition_buckets;	/* aimed at: balance against write size */
	uint32_t	partition_shift;	/* bins of a bucket: three blocks an SM */
	uint32_t	partition_max_shift;	/* one block an SM, residues in 16 bits */
	uint64_t	extents_max_n;	/* twice as many places and more, in 31 bits */
	uint64_t	extents_more;	/* places that few keys may have beside 2 n */
	uint32_t	few_distinct_capacity;	/* distinct values hashed at most */
	uint64_t	ranks_min_n;	/* below, ranks cost more than passes they save */
	uint64_t	one_launch_most;	/* above, passes of their own are better */
	uint64_t	wide_keys_n;	/* from there on, tiles as large as they can be */
} RegimeTuning;

extern const RegimeTuning regime_tuning;

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
