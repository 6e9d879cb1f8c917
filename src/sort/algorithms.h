/*
 * algorithms.h
 *		The algorithms by name, with the paper and the limits of each.  All of them run on
 *		the CPU and on a GPU.
 */
#ifndef HPSORT_ALGORITHMS_H
#define HPSORT_ALGORITHMS_H

#include "sort/sort_types.h"

typedef struct AlgorithmInfo
{
	const char *name;			/* as in SQL */
	const char *paper;			/* authors, year, algorithm number */
	bool		published;		/* src/sort/published runs it on the CPU; of the others
								 * hpsort.algorithm = auto chooses one */
	const char *no_permutation; /* why it cannot return the stable permutation, a sentence; NULL:
								 * it can */
	bool		floats;			/* sorts float4, mapped to integers of the same order */
	const char *limits;			/* of the keys that it sorts, a phrase */
	const char *memory;			/* that it needs besides keys and result, a phrase */
} AlgorithmInfo;

/* Of any value of SortAlgorithm but SORT_ALGORITHM_AUTO. */
extern const AlgorithmInfo *algorithm_info(SortAlgorithm algorithm);

/* Names as in SQL ("zero_compressed", "cpu"); never NULL. */
extern const char *sort_algorithm_name(SortAlgorithm algorithm);
extern const char *sort_device_name(SortDeviceKind device);

/* Whether the algorithm can give that result. */
extern bool algorithm_gives(SortAlgorithm algorithm, SortWant want);

/* Whether src/sort/published runs the algorithm on the CPU; of any value but AUTO. */
extern bool algorithm_is_published(SortAlgorithm algorithm);

/*
 * The most bytes that a published algorithm needs on the CPU for n > 0 keys of range values
 * besides themselves and the result, whatever they are, with the default options; UINT64_MAX for
 * more.  0 of other algorithms.
 */
extern uint64_t algorithm_cpu_need(SortAlgorithm algorithm, uint64_t n, uint64_t range,
								   SortWant want);

#endif							/* HPSORT_ALGORITHMS_H */
