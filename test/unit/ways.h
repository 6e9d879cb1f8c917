/*
 * ways.h
 *		Every way in which keys come into a sorter, for tests that must hold
 *		for all of them.
 */
#ifndef HPSORT_WAYS_H
#define HPSORT_WAYS_H

#include "unit.h"

/* The ways in which keys come in. */
typedef enum Way
{
	WAY_KEY,					/* one at a time */
	WAY_ADD,					/* all at once */
	WAY_PARTS,					/* in parts of any size */
	WAY_ARRAY,					/* left where they are */
	WAY_RUNS,					/* as runs of their own */
	WAY_MERGE,					/* by way of another sorter */
	WAY_BYTES					/* by way of its bytes */
} Way;

#define WAY_COUNT (WAY_BYTES + 1)

/*
 * Adds n keys in one of the ways; stops at the first error, and returns it.
 * With WAY_ARRAY the keys belong to the sorter until its reset.
 */
extern SortStatus way_add(Sorter *s, Way way, const int32_t *keys, size_t n, SortError *err);

/*
 * Sorts n keys that come in one way, with the algorithm and threads given, and
 * fails the test unless all of them come out right by every way of reading.
 */
extern void way_check_sort(Way way, const int32_t *keys, size_t n, SortAlgorithm algorithm,
						   int threads);

#endif							/* HPSORT_WAYS_H */
