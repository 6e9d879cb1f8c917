/*
 * histogram.h
 *		Histogram: dense counters for one contiguous range of keys.
 *
 * bins[k - lo] counts key k (the papers' A[v]).  Counters are 32 bits wide so
 * that a range of a million keys stays in the second-level cache.  Before one
 * of them could exceed that, all are folded into a second array of 64-bit
 * counters, which exists only from then on.
 *
 * A narrow histogram has HISTOGRAM_TABLES tables, so that equal keys in a row
 * do not wait for each other's store; histogram_sum_tables() sums them up
 * before anything is read.
 */
#ifndef HPSORT_HISTOGRAM_H
#define HPSORT_HISTOGRAM_H

#include "sort/extents/extent.h"
#include "sort/runs/runs.h"
#include "sort/sort_types.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* Counters of the keys lo .. lo + range - 1. */
typedef struct Histogram
{
	uint32_t   *bins;			/* tables * stride counters */
	uint64_t   *folded;			/* range counters, or NULL */
	int32_t		lo;				/* the key of bin 0 */
	uint64_t	range;			/* bins in use; 0: no histogram */
	size_t		stride;			/* counters from one table to the next */
	int			tables;			/* 1 or HISTOGRAM_TABLES */
	uint64_t	n;				/* keys counted */
	uint64_t	unfolded;		/* keys counted since the last fold */
	uint64_t	fold_at;		/* fold before unfolded exceeds this; smaller in tests */
} Histogram;

/*
 * Makes an empty histogram of keys lo .. hi; on failure h->range is 0 and
 * nothing is allocated.  Looks at the interrupt callback every 4 MiB while
 * counters are set to zero, which is the first touch of their memory.
 */
extern SortStatus histogram_init(Histogram *h, int32_t lo, int32_t hi, const SortContext *context,
								 SortError *err);

/* Frees the counters; h->range becomes 0. */
extern void histogram_release(Histogram *h, const SortAllocator *allocator);

/* Widens to lo .. hi, which include the present bounds; on failure h is unchanged. */
extern SortStatus histogram_widen(Histogram *h, int32_t lo, int32_t hi, const SortContext *context,
								  SortError *err);

/*
 * Counts n keys.  Keys outside the bounds are written to outside, which has room
 * for n and may be keys itself; *noutside is how many.  False when there is no
 * memory to fold.
 */
extern bool histogram_add(Histogram *h, const int32_t *keys, size_t n, int32_t *outside,
						  size_t *noutside, const SortAllocator *allocator);

/*
 * Counts any number of keys, with looks at the interrupt callback; SORT_KEY_OUT_OF_BOUNDS if one
 * of them is outside the bounds.
 */
extern SortStatus histogram_add_all(Histogram *h, const int32_t *keys, size_t n,
									const SortContext *context, SortError *err);

/*
 * Counts packed keys, all inside the bounds, NULLs not among them; false, and nothing done,
 * where one of them may lie outside, or counters have to be folded before.
 */
extern bool histogram_add_packed(Histogram *h, const PackedKeys *packed);

/* Adds len runs, keys inside the bounds; false when there is no memory to fold. */
extern bool histogram_add_runs(Histogram *h, const int32_t *keys, const uint64_t *counts,
							   size_t len, const SortAllocator *allocator);

/* Sums the tables into the first one; cheap when there is only one. */
extern void histogram_sum_tables(Histogram *h);

/* Count of bin v (0 .. range - 1), after histogram_sum_tables. */
static inline uint64_t
histogram_count(const Histogram *h, uint64_t v)
{
	return h->folded ? h->folded[v] + h->bins[v] : h->bins[v];
}

/* The key that bin v counts, 0 <= v < range. */
static inline int32_t
histogram_key(const Histogram *h, uint64_t v)
{
	return (int32_t) (h->lo + (int64_t) v);
}

/* The bin that counts a key inside the bounds; at least range for any other key. */
static inline uint64_t
histogram_bin(const Histogram *h, int32_t key)
{
	return (uint64_t) ((int64_t) key - h->lo);
}

/* First non-empty bin at or above v (range if none); after histogram_sum_tables. */
extern uint64_t histogram_next(const Histogram *h, uint64_t v);

/* Last non-empty bin below v, plus one (0 if none); after histogram_sum_tables. */
extern uint64_t histogram_previous(const Histogram *h, uint64_t v);

/* Smallest and largest key counted, h->n > 0; after histogram_sum_tables. */
extern void histogram_find_bounds(const Histogram *h, int32_t *lo, int32_t *hi);

/* Number of non-empty bins; after histogram_sum_tables. */
extern uint64_t histogram_distinct(const Histogram *h);

/*
 * Writes up to max keys in order to out, from bin *at on, of which *used keys
 * were already taken; moves *at and *used on and returns the number written.
 * Descending, *at is one above the bin to read.  After histogram_sum_tables.
 */
extern size_t histogram_expand(const Histogram *h, bool descending, uint64_t *at,
							   uint64_t *used, int32_t *out, size_t max);

/* Bytes allocated. */
extern size_t histogram_memory(const Histogram *h);

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_HISTOGRAM_H */
