/*
 * set_state.h
 *		SetState: keys or runs returned in order, a row at a time, never all
 *		of them in a tuplestore of ours.
 *
 * Shared by the set-returning functions (set_functions.c, column_functions.c).
 * They make one at the first call, put keys into its sorter, start it, and
 * then return set_state_next_key or set_state_next_run from every call.
 */
#ifndef HPSORT_SET_STATE_H
#define HPSORT_SET_STATE_H

#include "postgres.h"

#include "funcapi.h"

#include "pg_sorter.h"

/* Rows read from the sorter at once. */
#define SET_BATCH 1024

/*
 * A set being returned.  Lives in the function's multi-call context, which the
 * executor drops, with all of the sorter's memory, however the query ends.
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

extern SetState *set_state_make(MemoryContext memory, int32 lo, int32 hi);

/* All keys are in: puts them in order.  function is a literal, for hpsort_last(). */
extern void set_state_start(SetState *state, const char *function, SortWant want, SortOrder order);

/* Returns the next key of the set in funcctx->user_fctx (NULL: none), or ends it. */
extern Datum set_state_next_key(FunctionCallInfo fcinfo, FuncCallContext *funcctx);

/* An error unless hpsort_run still has the two attributes it was made with. */
extern void run_type_check(TupleDesc tupdesc);

/*
 * The same for runs: a row of the function's type, which the first call has
 * set_state_run_type look up.  The run of NULLs comes where NULLs come.
 */
extern void set_state_run_type(FunctionCallInfo fcinfo, FuncCallContext *funcctx);
extern Datum set_state_next_run(FunctionCallInfo fcinfo, FuncCallContext *funcctx);

#endif							/* HPSORT_SET_STATE_H */
