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

#include "sort/kernels/row_pairs.h"
#include "sort/sort_types.h"

/* Sorts n keys in place; false if interrupted, in any order then. */
extern bool wide_sort_keys(int32_t *keys, size_t n, bool descending, const SortContext *context);

/* Sorts n pairs upwards in place, as unsigned integers; false as above. */
extern bool wide_sort_pairs(uint64_t *pairs, size_t n, const SortContext *context);

/* The bounds of any number of keys, at least one; false if interrupted. */
extern bool wide_min_max(const int32_t *keys, size_t n, int32_t *lo, int32_t *hi,
						 const SortContext *context);

#endif							/* HPSORT_WIDE_H */
