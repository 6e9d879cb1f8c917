/*
 * percentiles.h
 *		percentile_disc and percentile_cont of one group after the other.
 *
 * Of a group's runs only the rows that the fractions ask for are kept.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_RESULTS_PERCENTILES_H
#define HPSORT_PG_NODES_AGGREGATE_RESULTS_PERCENTILES_H

#include "postgres.h"

#include "nodes/primnodes.h"

#include "pg/nodes/aggregate/plan/plan.h"

typedef struct Percentiles Percentiles;

/* In the current memory context.  aggref_answer() has accepted the call. */
extern Percentiles *percentiles_make(const Aggref *aggref, const AggregateAnswer *answer);

/* The fraction, or the array of fractions, of an execution; copied as long as memory lives. */
extern void percentiles_prepare(Percentiles *percentiles, Datum fractions, bool isnull,
								MemoryContext memory);

/* As the functions of results.h; n is the number of values that are not NULL. */
extern void percentiles_begin(Percentiles *percentiles, int64 n);
extern void percentiles_take(Percentiles *percentiles, const int64 *values, const int64 *counts,
							 size_t nruns);
extern bool percentiles_want_rows(const Percentiles *percentiles, int64 *first, int64 *last);

/*
 * Of an execution, how many rows of a group are wanted at most; of a group begun, these,
 * ascending; returns how many.
 */
extern int	percentiles_most_rows(const Percentiles *percentiles);
extern int	percentiles_list_rows(const Percentiles *percentiles, int64 *rows);

extern void percentiles_skip(Percentiles *percentiles, int64 rows);
extern Datum percentiles_end(Percentiles *percentiles, bool *isnull);

#endif							/* HPSORT_PG_NODES_AGGREGATE_RESULTS_PERCENTILES_H */
