/*
 * published.h
 *		The sorting algorithms of the papers on the CPU, each as its authors describe it.
 *
 * cpu_sort.c calls them if hpsort.algorithm names one, and tests compare the GPU's
 * (cuda/published) with them.  Each has one thread, except the comparison-free sort, whose paper
 * is about threads (comparison_free.c).  Where a paper lets threads of a GPU work side by side,
 * the form here does their work in the order of their numbers.  No file here knows when an
 * algorithm is worth choosing.
 */
#ifndef HPSORT_PUBLISHED_SORT_H
#define HPSORT_PUBLISHED_SORT_H

#include "sort/published/types.h"

#ifdef __cplusplus
extern "C"
{
#endif

/*
 * Sorts sort->keys in place, or makes sort->positions, and fills sort->report.  Returns SORT_OK,
 * or one of these, and then the content of keys is undefined:
 *
 * - SORT_KEY_OUT_OF_BOUNDS, SORT_OUT_OF_MEMORY, SORT_CANCELLED, SORT_LIMIT_EXCEEDED
 * - SORT_UNSUPPORTED: a key that occurs twice where keys must be distinct, an option out of its
 *   range, an algorithm that is not a published one or has no permutation
 */
extern SortStatus published_sort(PublishedSort *sort, const SortContext *context, SortError *err);

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_PUBLISHED_SORT_H */
