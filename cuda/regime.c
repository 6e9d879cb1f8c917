/*-------------------------------------------------------------------------
 *
 * regime.c
 *	  Which way an input is sorted.
 *
 * regime_choose() alone chooses a regime and the kernels of RADIX.  How much memory each takes is
 * in regime_memory.c; how many blocks and threads a kernel has is decided where it is launched.
 * Compiles without CUDA and is tested as a table on the host (test/cuda/test_regime.c).
 *
 *-------------------------------------------------------------------------
 */
#include "regime.h"
#include "regime_tuning.h"

#include <stdio.h>
#include <string.h>

/* Bytes of shared memory that the kernels use beside the bins or slots. */
#define SHARED_RESERVED		2048

/* Permutations carry a bin in 16 bits; no device's shared memory has room for more bins. */
#define MOST_BINS			65536

/* Return whether the shape forbids a regime, or kernels of RADIX. */
static int
is_without(const RegimeShape *shape, HpsortCudaRegime regime)
{
	return (shape->without & HPSORT_CUDA_WITHOUT(regime)) != 0;
}

static int
is_without_kernels(const RegimeShape *shape, HpsortCudaKernels kernels)
{
	return (shape->without & HPSORT_CUDA_WITHOUT_KERNELS(kernels)) != 0;
}

uint32_t
regime_bits(uint64_t x)
{
	uint32_t	bits = 0;

	for (; x != 0; x >>= 1)
		bits++;
	return bits;
}

uint64_t
regime_range(const RegimeShape *shape)
{
	return (uint64_t) ((int64_t) shape->hi - (int64_t) shape->lo) + 1;
}

uint32_t
regime_shared_bins(const HpsortCudaLimits *limits)
{
	uint32_t	bins = limits->shared_bytes <= SHARED_RESERVED ? 0 :
		(limits->shared_bytes - SHARED_RESERVED) / sizeof(uint32_t);

	return bins < MOST_BINS ? bins : MOST_BINS;
}

uint32_t
regime_few_distinct_slots(const HpsortCudaLimits *limits)
{
	/* a slot is a key and a count */
	return regime_shared_bins(limits) / 2;
}

uint32_t
regime_few_distinct_capacity(const HpsortCudaLimits *limits)
{
	/* beyond 5/8 full, probes grow long; the free slots also absorb late inserts */
	uint32_t	capacity = regime_few_distinct_slots(limits) / 8 * 5;

	return capacity < FEW_DISTINCT_CAPACITY ? capacity :
		FEW_DISTINCT_CAPACITY;
}

/* Returns how many bins for each key a range may have that PARTITION takes. */
static uint32_t
bins_per_key(uint64_t n)
{
	return n < SPARSE_MAX_N ? PARTITION_BINS_PER_KEY :
		PARTITION_BINS_PER_KEY / 2;
}

/* Returns whether PARTITION may be chosen if the device has room for its buckets. */
static int
may_be_partitioned(const HpsortCudaLimits *limits, const RegimeShape *shape)
{
	uint64_t	range = regime_range(shape);
	uint64_t	n = shape->n;

	return n >= PARTITION_MIN_N &&
		n <= PARTITION_MAX_N && range > regime_shared_bins(limits) &&
		range / bins_per_key(n) <= n && !(shape->wanted & HPSORT_CUDA_PERMUTATION) &&
		!is_without(shape, HPSORT_CUDA_PARTITION);
}

uint64_t
regime_few_distinct_most(const HpsortCudaLimits *limits, const RegimeShape *shape)
{
	/* the estimate may be too low by 3/8 of the table before the table overflows */
	uint64_t	most = regime_few_distinct_capacity(limits) / 8 * 5;
	uint64_t	keys_per_value = FEW_DISTINCT_KEYS_PER_VALUE;

	if (shape->n < FEW_DISTINCT_MIN_N ||
		is_without(shape, HPSORT_CUDA_FEW_DISTINCT) ||
		regime_range(shape) <= regime_shared_bins(limits))
		return 0;
	if (may_be_partitioned(limits, shape))
	{
		if (shape->n < FEW_BESIDE_PARTITION_N)
			return 0;
		keys_per_value = FEW_BESIDE_PARTITION_KEYS;
	}
	else if (shape->wanted & HPSORT_CUDA_PERMUTATION &&
			 regime_range(shape) <= (uint64_t) 1 << REGIME_FEWER_PASSES_BITS)
		keys_per_value = FEW_BESIDE_PASSES_KEYS;
	return min64(shape->n / keys_per_value, most);
}

uint32_t
regime_partition_words(uint32_t tile, uint32_t buckets)
{
	/* each bucket takes three words; two more are for the bucket of places without a key */
	return tile + 3 * buckets + 2;
}

uint32_t
regime_partition_max_buckets(const HpsortCudaLimits *limits)
{
	uint32_t	words = regime_shared_bins(limits);
	uint32_t	others = regime_partition_words(REGIME_PARTITION_SMALL_TILE, 0);
	uint32_t	room = words <= others ? 0 : (words - others) / 3;

	return room < PARTITION_MAX_BUCKETS ?
		room : PARTITION_MAX_BUCKETS;
}

/*
 * An extent is a sixteenth more than a bucket's share, which is six to eight standard deviations
 * of what random keys put there.  It is never less than a tile, so that a tile's keys of one
 * bucket fit into two extents.
 */
static uint64_t
extent_of(uint64_t n, uint32_t buckets, uint32_t tile)
{
	uint64_t	share = n / buckets + 1;

	return max64(round_up(share + share / 16, 64), tile);
}

uint32_t
regime_partition_tile(const HpsortCudaLimits *limits, uint64_t n, uint32_t buckets)
{
	uint32_t	tile = REGIME_PARTITION_TILE;

	/* extents of many small buckets would be large beside the keys */
	if (n <= REGIME_PARTITION_FEW_KEYS ||
		buckets * extent_of(n, buckets, tile) > 2 * n + EXTENTS_MORE ||
		regime_partition_words(tile, buckets) > regime_shared_bins(limits))
		tile = REGIME_PARTITION_SMALL_TILE;
	return tile;
}

uint64_t
regime_partition_extent(const HpsortCudaLimits *limits, uint64_t n, uint32_t buckets)
{
	return extent_of(n, buckets, regime_partition_tile(limits, n, buckets));
}

/* A bucket takes a further extent only when its last one is full.  The bucket's first extent is
 * not among the further ones, so there are at least as many full extents as further ones. */
uint64_t
regime_partition_further(uint64_t n, uint64_t extent)
{
	return n / extent;
}

/* At least half of the slots stay free, so that a search is short and ends. */
uint64_t
regime_partition_slots(uint64_t n, uint64_t extent)
{
	return (uint64_t) 1 << regime_bits(2 * regime_partition_further(n, extent));
}

/*
 * A crowded bucket has more than twice a fair share, which random keys do not come near, and more
 * keys than bins in memory are worth.  H200, n 1.5e6, range 4 n, crowded from 20,480 / 32,768
 * keys on: two humps 0.079 / 0.055, Zipf's law of exponents 1.05 and 1.2 0.069 / 0.078 and 0.064
 * / 0.077.
 */
uint64_t
regime_partition_crowd(uint64_t n, uint32_t buckets)
{
	return round_up(max64(n / buckets * 2, 24576), 4096);
}

/*
 * A segment is a fair share of the keys, so that half of the keys in one bucket are half as many
 * segments as there are buckets.  A segment's bins are added to common ones, so it gets as many
 * keys as bins if this stays below what crowds a bucket.
 */
uint64_t
regime_partition_segment(uint64_t n, uint32_t buckets, uint32_t shift)
{
	uint64_t	crowd = regime_partition_crowd(n, buckets);

	return min64(crowd, max64(max64(n / buckets, 8192), (uint64_t) 1 << shift));
}

/* Most work items of plan_kernel: one for each bucket, and one for every full segment of keys. */
uint64_t
regime_partition_items(uint64_t n, uint32_t buckets)
{
	return buckets + n / regime_partition_segment(n, buckets, 0);
}

uint64_t
regime_partition_crowded(uint64_t n, uint32_t buckets)
{
	uint64_t	crowded = n / regime_partition_crowd(n, buckets);

	return crowded < buckets ? crowded : buckets;
}

/* Keys that are counted in bins and keys that are too few for a table of values are not sampled. */
int
regime_wants_sample(const HpsortCudaLimits *limits, const RegimeShape *shape)
{
	return shape->n >= SAMPLE_MIN_N && shape->distinct == 0 &&
		regime_few_distinct_most(limits, shape) > 0;
}

/*
 * Sets shift and buckets of *choice.  Buckets have equal widths, a power of two.  There are about
 * PARTITION_BUCKETS of them: enough that the blocks of a large GPU are evenly
 * loaded, few enough that a tile writes a sector per bucket.  Wider ranges take more bins per
 * bucket, then more buckets, as far as shared memory goes.  Returns 0 if the range is too wide
 * for one pass on this device.
 */
static int
choose_buckets(const HpsortCudaLimits *limits, uint64_t range,
			   RegimeChoice *choice)
{
	uint32_t	room = regime_shared_bins(limits);
	uint32_t	most = regime_partition_max_buckets(limits);
	uint32_t	shift = 0;

	while (shift < PARTITION_MAX_SHIFT && (2u << shift) <= room &&
		   (range >> shift) > (shift < PARTITION_SHIFT ?
							   PARTITION_BUCKETS :
							   4 * PARTITION_BUCKETS))
		shift++;
	if (((range - 1) >> shift) >= most)
		return 0;
	choice->shift = shift;
	choice->buckets = (uint32_t) (((range - 1) >> shift) + 1);
	return 1;
}

/*
 * Returns whether passes make rows alone faster than bins that would fit.  A stable order needs
 * passes as well as the bins.  From the bins the passes get ranks, which save a pass where values
 * are few; but then the host must wait for their number.
 */
static int
passes_beat_bins(const RegimeShape *shape, uint64_t range)
{
	return shape->wanted == HPSORT_CUDA_PERMUTATION && !shape->counted &&
		(shape->n < RANKS_MIN_N || range <= 256);
}

uint64_t
regime_one_launch_most(const HpsortCudaLimits *limits)
{
	return min64((uint64_t) limits->sms * REGIME_ONE_LAUNCH_TILE, ONE_LAUNCH_MOST);
}

void
regime_choose_kernels(const HpsortCudaLimits *limits, const RegimeShape *shape,
					  RegimeChoice *choice)
{
	uint64_t	n = shape->n;
	uint32_t	bits = regime_bits(regime_range(shape) - 1);
	int			permute = (shape->wanted & HPSORT_CUDA_PERMUTATION) != 0;
	int			rows_alone = permute &&
		!(shape->wanted & (HPSORT_CUDA_KEYS | HPSORT_CUDA_RUNS));

	choice->bits = bits;
	/* Keys of a range of one value still have to be copied.  Bits are dealt evenly to the passes,
	 * because fewer digits make longer stretches. */
	bits = bits > 0 ? bits : 1;
	choice->passes = (bits + REGIME_DIGIT_BITS - 1) / REGIME_DIGIT_BITS;
	choice->digit_bits = (bits + choice->passes - 1) / choice->passes;

	if (n > UINT32_MAX)
		choice->kernels = HPSORT_CUDA_LIBRARY;
	else if (n <= regime_one_launch_most(limits) &&
			 !is_without_kernels(shape, HPSORT_CUDA_ONE_LAUNCH))
		choice->kernels = HPSORT_CUDA_ONE_LAUNCH;
	else if (rows_alone && choice->passes <= 2 &&
			 !is_without_kernels(shape, HPSORT_CUDA_BIN_ROWS))
		choice->kernels = HPSORT_CUDA_BIN_ROWS;
	else
	{
		choice->kernels = HPSORT_CUDA_MANY_KEYS;
		choice->items = !permute && n >= WIDE_KEYS_N &&
			limits->shared_bytes >= REGIME_WIDE_SHARED ?
			REGIME_WIDE_ITEMS : REGIME_MANY_KEYS_ITEMS;
	}
}

/* Returns why RADIX was chosen, for the reason's text. */
static const char *
why_radix(const HpsortCudaLimits *limits, const RegimeShape *shape)
{
	uint64_t	n = shape->n;

	if (regime_range(shape) <= regime_shared_bins(limits))
		return "passes are faster for rows alone";
	if (shape->wanted & HPSORT_CUDA_PERMUTATION)
		return n < FEW_DISTINCT_MIN_N ? "too few keys for dense ranks" :
			shape->distinct == 0 ? "distinct values not known" :
			"too many distinct values for dense ranks";
	if (n < PARTITION_MIN_N)
		return "too few keys to partition";
	if (n > PARTITION_MAX_N)
		return "too many keys to partition";
	if (regime_range(shape) / bins_per_key(n) > n)
		return "range too wide for the number of keys";
	return "range too wide for one pass on this device";
}

void
regime_choose(const HpsortCudaLimits *limits, const RegimeShape *shape, RegimeChoice *choice)
{
	uint64_t	range = regime_range(shape);
	uint64_t	n = shape->n;
	uint32_t	bins = regime_shared_bins(limits);
	uint32_t	capacity = regime_few_distinct_capacity(limits);

	memset(choice, 0, sizeof(*choice));
	if (n == 0)
	{
		choice->regime = HPSORT_CUDA_NOTHING;
		snprintf(choice->reason, sizeof(choice->reason), "no keys");
	}
	else if (range <= bins && !passes_beat_bins(shape, range) &&
			 !is_without(shape, HPSORT_CUDA_SHARED_HISTOGRAM))
	{
		choice->regime = HPSORT_CUDA_SHARED_HISTOGRAM;
		snprintf(choice->reason, sizeof(choice->reason),
				 "range %llu fits in the %u bins of shared memory",
				 (unsigned long long) range, bins);
	}
	else if (shape->distinct != 0 && shape->distinct <= regime_few_distinct_most(limits, shape))
	{
		choice->regime = HPSORT_CUDA_FEW_DISTINCT;
		snprintf(choice->reason, sizeof(choice->reason),
				 "about %llu distinct values, a hash table in shared memory holds %u",
				 (unsigned long long) shape->distinct, capacity);
	}
	else if (may_be_partitioned(limits, shape) && choose_buckets(limits, range, choice))
	{
		choice->regime = HPSORT_CUDA_PARTITION;
		snprintf(choice->reason, sizeof(choice->reason),
				 "range %llu in %u buckets of %u bins, n / range %.3g",
				 (unsigned long long) range, choice->buckets,
				 1u << choice->shift, (double) n / (double) range);
	}
	else
	{
		choice->regime = HPSORT_CUDA_RADIX;
		regime_choose_kernels(limits, shape, choice);
		snprintf(choice->reason, sizeof(choice->reason), "%s, %u bits differ",
				 why_radix(limits, shape), choice->bits);
	}
}
