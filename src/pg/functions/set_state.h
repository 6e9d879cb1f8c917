/*
 * set_state.h
 *		SetState: keys or runs returned in order by a set-returning function.
 *
 * A set-returning function (sets.c, columns.c) is one call of set_return_keys() or
 * set_return_runs(), which is given a function that fills the set's sorter.
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

/* How many rows are read from the sorter at once. */
#define SET_BATCH 1024

/*
 * A set that is being returned.  The set and its sorter's memory are in a memory context that
 * is deleted however the query ends.
 */
typedef struct SetState
{
	AggregateState *all;
	SorterCursor cursor;
	int64		nulls;			/* still to be returned ... */
	bool		nulls_first;	/* ... before or after the keys */
	size_t		at;				/* next one of the batch */
	size_t		got;
	int32		keys[SET_BATCH];
	uint64		counts[SET_BATCH];	/* of runs only */
} SetState;

/*
 * A function that makes the set which the arguments of an SQL function ask for, in memory, by
 * set_state_start().  It returns NULL for no rows.  The current memory context is a short-lived
 * one.
 */
typedef SetState *(*SetStart) (FunctionCallInfo fcinfo, MemoryContext memory);

/*
 * The body of an SQL function that returns SETOF int4, or SETOF hpsort_run: makes the set by
 * start, and returns it.
 */
extern Datum set_return_keys(FunctionCallInfo fcinfo, SetStart start);
extern Datum set_return_runs(FunctionCallInfo fcinfo, SetStart start);

/*
 * Puts keys in order, and returns them as a set in memory: keys or runs (want).  All keys must
 * have been added, and be in memory or a context below it. function is a literal, for
 * hpsort_last().
 */
extern SetState *set_state_start(MemoryContext memory, AggregateState *keys, const char *function,
								 SortWant want, SortOrder order);

#endif							/* HPSORT_PG_FUNCTIONS_SET_STATE_H */
