/*
 * set_state.h
 *		SetState: keys or runs returned in order by a set-returning function.
 *
 * A set-returning function (sets.c) is one call of set_return(), which is given a function
 * that finds the keys.
 *
 * In a select list the set is returned a row at a time, so that a LIMIT ends it
 * early.  In FROM PostgreSQL stores a set before it reads the first row; there the
 * set is written straight into a tuplestore (in work_mem, beyond that in a temporary
 * file), which saves for each row a call, a composite value and two copies of it:
 * 8,000,000 runs take 1.5 times as long as their keys in a select list, instead of
 * 2.9 times (PostgreSQL 17, work_mem 2 GB).
 */
#ifndef HPSORT_PG_FUNCTIONS_SET_STATE_H
#define HPSORT_PG_FUNCTIONS_SET_STATE_H

#include "postgres.h"

#include "funcapi.h"

#include "pg/functions/aggregate_state.h"
#include "pg/functions/arguments.h"

/*
 * A function that finds the keys which the arguments of an SQL function ask for, and their order.
 * Returns a state of all keys, unordered, in memory or a context below it; or NULL for no rows.
 * *order is ascending, NULLs last, on entry.  The current memory context is a short-lived one.
 */
typedef AggregateState *(*SetKeys) (FunctionCallInfo fcinfo, MemoryContext memory,
									SortOrder *order);

/*
 * The body of an SQL function that returns keys in order as SETOF int4 (SORT_WANT_KEYS), or their
 * runs as SETOF hpsort_run (SORT_WANT_RUNS). function is its name, a literal, for hpsort_last().
 */
extern Datum set_return(FunctionCallInfo fcinfo, SetKeys keys, const char *function,
						SortWant want);

#endif							/* HPSORT_PG_FUNCTIONS_SET_STATE_H */
