/*
 * set_state.h
 *		SetState: keys or runs returned in order.
 *
 * Shared by the set-returning functions (sets.c, columns.c):
 * each is set_return_keys or set_return_runs, told how to begin.
 *
 * In a select list a set is returned a row at a time, so that a LIMIT ends it.
 * In FROM PostgreSQL stores it before it looks at the first row: there the
 * tuplestore, in work_mem and then in a temporary file, is filled here.  One by
 * one, each row would cost a call, a composite value and two copies of that:
 * 8,000,000 runs take 1.5 times what a select list with the keys takes, and
 * 2.9 times one by one (PostgreSQL 17, work_mem 2 GB).
 */
#ifndef HPSORT_PG_FUNCTIONS_SET_STATE_H
#define HPSORT_PG_FUNCTIONS_SET_STATE_H

#include "postgres.h"

#include "funcapi.h"

#include "pg/sort_context.h"

/* Rows read from the sorter at once. */
#define SET_BATCH 1024

/*
 * A set being returned.  Lives in a memory context that goes, with all of the
 * sorter's memory, however the query ends.
 */
typedef struct SetState
{
	SortContext context;
	Sorter		sorter;
	SorterCursor cursor;
	int64		nulls;			/* still to be returned ... */
	bool		nulls_first;	/* ... before or after the keys */
	size_t		at;				/* next one of the batch */
	size_t		got;
	int32		keys[SET_BATCH];
	uint64		counts[SET_BATCH];	/* of runs only */
} SetState;

/*
 * Makes a set of a function's arguments, in memory, with set_state_make and
 * set_state_start; NULL: no rows.  Called in a context that lives no longer
 * than this call.
 */
typedef SetState *(*SetStart) (FunctionCallInfo fcinfo, MemoryContext memory);

/* What a function that returns SETOF int4, or SETOF hpsort_run, returns. */
extern Datum set_return_keys(FunctionCallInfo fcinfo, SetStart start);
extern Datum set_return_runs(FunctionCallInfo fcinfo, SetStart start);

/* An empty set, whose sorter and nulls are the caller's to fill. */
extern SetState *set_state_make(MemoryContext memory, int32 lo, int32 hi);

/* All keys are in: puts them in order.  function is a literal, for hpsort_last(). */
extern void set_state_start(SetState *state, const char *function, SortWant want, SortOrder order);

/* An error unless hpsort_run still has the two attributes it was made with. */
extern void run_type_check(TupleDesc tupdesc);

#endif							/* HPSORT_PG_FUNCTIONS_SET_STATE_H */
