/*
 * equal_runs.h
 *		Runs of floats that are equal, though they are different integers, as one run.
 *
 * 0 and -0, and all NaNs, are neighbours in the order of values.  Functions that take each value
 * once, or look for values that are equal, are given them as one.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_RESULTS_EQUAL_RUNS_H
#define HPSORT_PG_NODES_AGGREGATE_RESULTS_EQUAL_RUNS_H

#include "postgres.h"

#include "pg/values/values.h"

/* The last run, to which the next one may be equal; zeros at first. */
typedef struct EqualRun
{
	int64		value;			/* the first of its values, or what stands for all of them */
	int64		count;			/* how often they are there; 0: there is no run */
} EqualRun;

/*
 * Merges runs of a float's kind, the next ones of a group: writes the runs that are complete to
 * merged and merged_counts, at most nruns, and returns how many; *run is the one that is not.
 * stand_in: runs get the value that stands for all equal ones, otherwise the first of these.
 */
extern size_t equal_runs_merge(EqualRun *run, ColumnKind kind, bool stand_in, const int64 *values,
							   const int64 *counts, size_t nruns, int64 *merged,
							   int64 *merged_counts);

/*
 * Writes what an array has as elements in place of integers: labels for their ranks, and the bits
 * of floats.  Returns false, and writes nothing, if it has the integers themselves.
 */
extern bool array_elements_of(const ColumnDomain *domain, const int64 *values, size_t n,
							  int64 *elements);

#endif							/* HPSORT_PG_NODES_AGGREGATE_RESULTS_EQUAL_RUNS_H */
