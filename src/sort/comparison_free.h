/*
 * comparison_free.h
 *		The comparison-free sort of Abdel-hafeez, Gordon-Ross and Abubaker, on
 *		one CPU thread (their Fig. 2) or several (their Fig. 3).
 */
#ifndef HPSORT_COMPARISON_FREE_H
#define HPSORT_COMPARISON_FREE_H

#include "sort_types.h"

#ifdef __cplusplus
extern "C"
{
#endif

/*
 * Sorts n keys, all between lo and hi, in place, with up to context->threads
 * threads.  Allocates 4 bytes a value of the range for each thread, of which it
 * uses at most 4 n / range; n < 2^32.  Bytes moved per key: one key read, one
 * counter read and written, one key written.
 */
extern SortStatus comparison_free_sort(int32_t *keys, size_t n, int32_t lo, int32_t hi,
									   bool descending, const SortContext *context,
									   SortError *err);

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_COMPARISON_FREE_H */
