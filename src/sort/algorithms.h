/*
 * algorithms.h
 *		The algorithms by name: the paper of each, and the devices it runs on.
 */
#ifndef HPSORT_ALGORITHMS_H
#define HPSORT_ALGORITHMS_H

#include "sort/sort_types.h"

#ifdef __cplusplus
extern "C"
{
#endif

typedef struct AlgorithmInfo
{
	const char *name;			/* as in SQL */
	const char *paper;			/* authors, year, algorithm number */
	bool		cpu;			/* this build runs it on the CPU */
	bool		gpu;			/* ... on a GPU */
	bool		automatic;		/* hpsort.algorithm = auto considers it */
	const char *no_permutation; /* why it cannot return the stable permutation, a sentence; NULL:
								 * it can */
	bool		floats;			/* sorts float4, mapped to integers of the same order */
	const char *limits;			/* of the keys that it sorts, a phrase */
	const char *memory;			/* that it needs besides keys and result, a phrase */

	/*
	 * Of what src/sort/published runs: the most bytes that n > 0 keys of so many values need
	 * besides themselves and the result, whatever they are, with the default options; UINT64_MAX
	 * for more.  NULL of all others.
	 */
	uint64_t	(*cpu_need) (uint64_t n, uint64_t range, SortWant want);
} AlgorithmInfo;

/* Of any value of SortAlgorithm but SORT_ALGORITHM_AUTO. */
extern const AlgorithmInfo *algorithm_info(SortAlgorithm algorithm);

/* Names as in SQL ("zero_compressed", "cpu"); never NULL. */
extern const char *sort_algorithm_name(SortAlgorithm algorithm);
extern const char *sort_device_name(SortDeviceKind device);

/* Whether this build runs the algorithm on the device, for that result. */
extern bool algorithm_runs_on(SortAlgorithm algorithm, SortDeviceKind device, SortWant want);

/* Whether src/sort/published runs the algorithm on the CPU; of any value but AUTO. */
extern bool algorithm_is_published(SortAlgorithm algorithm);

/* Whether hpsort.algorithm = auto considers the algorithm. */
extern bool algorithm_is_automatic(SortAlgorithm algorithm);

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_ALGORITHMS_H */
