/*
 * percentiles.h
 *		percentile_disc and percentile_cont of one group after the other.
 *
 * A call has a fraction, or an array of them, for a whole execution.  In each group it asks for the
 * values of some rows by their number, and keeps of the group's runs nothing but these values.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_RESULTS_PERCENTILES_H
#define HPSORT_PG_NODES_AGGREGATE_RESULTS_PERCENTILES_H

#include "nodes/primnodes.h"

#include "pg/nodes/aggregate/plan/plan.h"
#include "pg/values/values.h"

typedef struct Percentiles Percentiles;

/* Makes what computes a call that aggref_answer() has accepted, in the current memory context. */
extern Percentiles *percentiles_make(const Aggref *aggref, const AggregateAnswer *answer);

/*
 * Sets the fraction, or the array of fractions, of an execution.  All that is kept of it is
 * allocated in memory, which must live as long as the execution.
 */
extern void percentiles_prepare(Percentiles *percentiles, Datum fractions, bool isnull,
								MemoryContext memory);

/*
 * These do what the functions of results.h do that have their names.  n is the number of values
 * that are not NULL.  percentiles_begin raises an error if a fraction is not between 0 and 1, and
 * allocates nothing.
 */
extern void percentiles_begin(Percentiles *percentiles, int64 n);
extern void percentiles_take(Percentiles *percentiles, const ColumnDomain *domain,
							 const int64 *values, const int64 *counts, size_t nruns);
extern bool percentiles_want_rows(const Percentiles *percentiles, int64 *first, int64 *last);

/* Returns how many rows of a group are wanted at most in this execution. */
extern int	percentiles_most_rows(const Percentiles *percentiles);

/*
 * Sets rows, which has room, to the numbers of the rows of the group that are wanted, ascending;
 * returns how many.  A row of two fractions is there twice.
 */
extern int	percentiles_list_rows(const Percentiles *percentiles, int64 *rows);

extern void percentiles_skip(Percentiles *percentiles, int64 rows);

/*
 * Returns the value, or an array in the shape of the fractions, in the current memory context.
 * All wanted rows must have been in the runs, whose values were of the domain.
 */
extern Datum percentiles_end(Percentiles *percentiles, const ColumnDomain *domain, bool *isnull);

#endif							/* HPSORT_PG_NODES_AGGREGATE_RESULTS_PERCENTILES_H */
