/*
 * algorithms.h
 *		The algorithms by name: where each comes from, where it runs.
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
	const char *no_permutation; /* why it cannot return the stable one, a sentence; NULL: it can */
	bool		floats;			/* sorts numbers that only their order makes integers */
	const char *limits;			/* of keys, a phrase */
	const char *memory;			/* it needs besides keys and result, a phrase */
} AlgorithmInfo;

/* Of any value of SortAlgorithm but SORT_ALGORITHM_AUTO. */
extern const AlgorithmInfo *algorithm_info(SortAlgorithm algorithm);

/* Names as in SQL ("zero_compressed", "cpu"); never NULL. */
extern const char *sort_algorithm_name(SortAlgorithm algorithm);
extern const char *sort_device_name(SortDeviceKind device);

extern bool algorithm_runs_on(SortAlgorithm algorithm, SortDeviceKind device, SortWant want);
extern bool algorithm_is_automatic(SortAlgorithm algorithm);

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_ALGORITHMS_H */
