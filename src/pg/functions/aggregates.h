/*
 * aggregates.h
 *		The state of hpsort's aggregates, for who fills it without the
 *		executor's Agg node (nodes/aggregate/exec.c).
 */
#ifndef HPSORT_PG_FUNCTIONS_AGGREGATES_H
#define HPSORT_PG_FUNCTIONS_AGGREGATES_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "fmgr.h"

#include "pg/sort_context.h"

/* One group; 128 bytes, so that millions of them cost what they must. */
typedef struct AggregateState
{
	Sorter		sorter;
	int64		nulls;
	bool		descending;
	bool		nulls_first;
	bool		ordered;		/* both of them by ORDER BY in the call */
} AggregateState;

/* A new state in context's memory, NULLs last, or first if descending.  context must outlive it. */
extern AggregateState *aggregate_state_make(const SortContext *context, int32 lo, int32 hi,
											bool descending);

/*
 * What the final and serialize functions return.  type, of an array's elements,
 * is from aggregate_array_type(the aggregate's result type); tupdesc is
 * hpsort_run's, from aggregate_run_type(the same), in the current context.
 */
extern Datum aggregate_state_array(AggregateState *state, Oid type);
extern Datum aggregate_state_runs(AggregateState *state, TupleDesc tupdesc);
extern Datum aggregate_state_serialize(AggregateState *state);
extern Oid	aggregate_array_type(Oid result_type);
extern TupleDesc aggregate_run_type(Oid result_type);

/* By whose addresses one of our aggregates is known. */
extern Datum hpsort_agg_transfn(PG_FUNCTION_ARGS);
extern Datum hpsort_agg_transfn_int2(PG_FUNCTION_ARGS);
extern Datum hpsort_agg_transfn_int8(PG_FUNCTION_ARGS);
extern Datum hpsort_agg_finalfn(PG_FUNCTION_ARGS);
extern Datum hpsort_runs_agg_finalfn(PG_FUNCTION_ARGS);

#endif							/* HPSORT_PG_FUNCTIONS_AGGREGATES_H */
