/*
 * cpu_sort.h
 *		Sorting on the CPU by an algorithm of the plan: keys that no histogram counts, and
 *		permutations.
 *
 * Keys that are counted are a sorter's (sorter_parts.h).
 */
#ifndef HPSORT_CPU_SORT_H
#define HPSORT_CPU_SORT_H

#include "sort/device/job.h"

/*
 * Sorts spec->n keys by spec->algorithm: keys by any but zero_compressed, positions by any that
 * has a permutation.  output->runs must be NULL; output->keys may be the keys' own array.  Sets
 * *threads to the number of threads that sorted, the calling one included.
 */
extern SortStatus cpu_sort(const SortContext *context, const SortJobSpec *spec,
						   const int32_t *keys, const SortOutput *output, int *threads,
						   SortError *err);

#endif							/* HPSORT_CPU_SORT_H */
