/*
 * comparison_free.h
 *		The comparison-free sort of Abdel-hafeez, Gordon-Ross and Abubaker, on
 *		one CPU thread (their Fig. 2) or several (their Fig. 3).
 */
#ifndef HPSORT_COMPARISON_FREE_H
#define HPSORT_COMPARISON_FREE_H

#include "sort/sort_types.h"

#ifdef __cplusplus
extern "C"
{
#endif

/*
 * The number of threads that pay for n keys of a range of that many values, if
 * so many are allowed; at least one, and beyond that at most 4 n / range.
 */
extern int	comparison_free_threads(uint64_t n, uint64_t range, int allowed);

/*
 * Sorts n keys, all between lo and hi, in place; *threads is set to the number
 * of threads that did, at most comparison_free_threads() of context->threads.
 * Allocates 4 bytes a value of the range for each thread; n < 2^32.  Bytes
 * moved per key: one key read, one counter read and written, one key written.
 *
 * The interrupt callback is asked by the calling thread, while there is no
 * other.
 */
extern SortStatus comparison_free_sort(int32_t *keys, size_t n, int32_t lo, int32_t hi,
									   bool descending, const SortContext *context,
									   int *threads, SortError *err);

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_COMPARISON_FREE_H */
