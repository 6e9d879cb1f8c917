/*
 * wide.h
 *		Sorting keys whose range is too wide to count, in place.
 *
 * Highway's VQSort does the work.  It cannot be interrupted, so that an array
 * which would take it longer than a few tens of milliseconds is first
 * partitioned, as VQSort itself would do, until each part is small enough.
 */
#ifndef HPSORT_WIDE_H
#define HPSORT_WIDE_H

#include "sort/sort_types.h"

/*
 * Pairs: a key and a reference to its row as one integer, the key above.  Sorting these integers
 * is a stable sort of rows whose references ascend.
 */

/* A 32-bit key above a 32-bit reference. */
#define ROWS_PAIR(key, ref) ((uint64_t) (key) << 32 | (uint32_t) (ref))
#define ROWS_PAIR_KEY(pair) ((uint32_t) ((pair) >> 32))
#define ROWS_PAIR_REF(pair) ((uint32_t) (pair))

/* Sorts n keys in place; false if interrupted, in any order then. */
extern bool wide_sort_keys(int32_t *keys, size_t n, bool descending, const SortContext *context);

/* Sorts n pairs upwards in place, as unsigned integers; false as above. */
extern bool wide_sort_pairs(uint64_t *pairs, size_t n, const SortContext *context);

/* The bounds of any number of keys, at least one; false if interrupted. */
extern bool wide_min_max(const int32_t *keys, size_t n, int32_t *lo, int32_t *hi,
						 const SortContext *context);

#endif							/* HPSORT_WIDE_H */
