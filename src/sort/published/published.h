/*
 * published.h
 *		The sorting algorithms of the papers on the CPU, each as its authors
 *		describe it: what cpu_device.c runs when hpsort.algorithm names one of
 *		them, and the reference for the GPU's (cuda/published).
 *
 * One thread each, but for the comparison-free sort, whose paper is about
 * threads (comparison_free.h).  Where a paper lets threads of a GPU work side by
 * side, the form here does their work in the order of their numbers.  No file
 * here knows when an algorithm is worth choosing.
 */
#ifndef HPSORT_PUBLISHED_H
#define HPSORT_PUBLISHED_H

#include "sort/published/types.h"

#ifdef __cplusplus
extern "C"
{
#endif

/*
 * Sorts.  Fails with SORT_KEY_OUT_OF_BOUNDS, SORT_OUT_OF_MEMORY, SORT_CANCELLED,
 * SORT_LIMIT_EXCEEDED, or SORT_UNSUPPORTED: a key that occurs twice where they have
 * to be distinct, an option out of its range, an algorithm that is not one of
 * these or has no permutation.  What keys holds then is undefined.
 */
extern SortStatus published_sort(PublishedSort *sort, const SortContext *context, SortError *err);

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_PUBLISHED_H */
