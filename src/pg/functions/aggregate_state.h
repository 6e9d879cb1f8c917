/*
 * aggregate_state.h
 *		The state of one group of hpsort_agg() or hpsort_runs_agg().
 *
 * The support functions in aggregates.c fill a state row by row, below the
 * executor's Agg node.  Custom Scan (HpSort Aggregate) fills one from a table's
 * columns, and uses the same functions to turn it into a result.
 */
#ifndef HPSORT_PG_FUNCTIONS_AGGREGATE_STATE_H
#define HPSORT_PG_FUNCTIONS_AGGREGATE_STATE_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "fmgr.h"
#include "utils/dsa.h"

#include "pg/sort_context.h"

/*
 * A group's keys and NULLs, before they are put in order, and the order that the call asks for.
 * It has 128 bytes, because a query may have millions of groups.
 */
typedef struct AggregateState
{
	Sorter		sorter;
	int64		nulls;
	bool		descending;
	bool		nulls_first;
	bool		ordered;		/* descending and nulls_first are from an ORDER BY in the call */
	bool		object;			/* state_object_make() has made it */
	bool		received;		/* its keys are in shared memory: for aggregate_state_add() only */
} AggregateState;

/*
 * Makes *state a state without rows.  Its keys must be between lo and hi.  NULLs will come
 * last, or first if descending.
 *
 * The keys are in the memory of context, which must live as long as the state.
 */
extern void aggregate_state_init(AggregateState *state, const SortContext *context,
								 int32 lo, int32 hi, bool descending);

/*
 * Returns a new state without rows, as aggregate_state_init(), which is itself in the memory of
 * context.
 */
extern AggregateState *aggregate_state_make(const SortContext *context, int32 lo, int32 hi,
											bool descending);

/*
 * Serializes a state into a bytea in the current memory context.  An error if it is too large
 * for one.
 */
extern Datum aggregate_state_serialize(AggregateState *state);

/*
 * Makes a state, in the current memory context, from the size bytes of a serialized one.  It
 * can be added to another state by aggregate_state_add(), and is good for nothing else.  Bytes
 * that no state serializes to are an error.
 */
extern AggregateState *aggregate_state_deserialize(const char *data, Size size);

/*
 * How a state goes to the leader of a parallel query: copied once, and of any size.
 *
 * In a worker aggregate_state_share() leaves the serialized state in area, and returns a short
 * bytea that says where.  In the leader itself the bytea says where the state is, which must
 * stay until it has been added. aggregate_state_receive() makes a state of the bytea, for one
 * call of aggregate_state_add().
 *
 * If area is NULL, the bytea is a serialized state.
 */
extern Datum aggregate_state_share(AggregateState *state, dsa_area *area);
extern AggregateState *aggregate_state_receive(const char *data, Size size, dsa_area *area);

/* Adds the keys and NULLs of other to state.  Both must have the same bounds. */
extern void aggregate_state_add(AggregateState *state, AggregateState *other);

/*
 * Returns the keys of a state in order, as an array in the current memory context. type is the
 * type of its elements; aggregate_array_type() finds it from the result type of the aggregate
 * function. function is a literal, for hpsort_last().
 */
extern Datum aggregate_state_array(AggregateState *state, Oid type, const char *function);
extern Oid	aggregate_array_type(Oid result_type);

/*
 * Returns the runs of a state in order, as an array in the current memory context. tupdesc is
 * that of hpsort_run; run_array_type() finds it from the result type of the aggregate function.
 */
extern Datum aggregate_state_runs(AggregateState *state, TupleDesc tupdesc);

/*
 * --- a state as an SQL value: what hpsort_support_keys_agg() returns
 *
 * The column functions and hpsort_query() run a query that returns this value, and
 * make arrays, sets or multisets of its keys when the query has ended.  The value is
 * an expanded object in a memory context of its own, which the function takes over
 * from the query: keys are neither copied nor limited to the size of an SQL value.
 * Where PostgreSQL copies the value instead, the copy is the serialized state.
 */

/*
 * Returns a new state without rows, for keys between lo and hi, in a new memory context below
 * parent.
 */
extern AggregateState *state_object_make(MemoryContext parent, int32 lo, int32 hi);

/*
 * Returns the value of a state that state_object_make() has made, in the current memory
 * context.
 */
extern Datum state_object_datum(AggregateState *state);

/*
 * Takes over the state of a value of hpsort_support_keys_agg(), which nothing else may use.
 * From then on the state's memory is below parent.
 */
extern AggregateState *state_object_take(Datum value, MemoryContext parent);

/*
 * --- the aggregates' support functions, by whose addresses the planner half of Custom Scan
 * (HpSort Aggregate) recognises the aggregates
 */

extern Datum hpsort_support_agg_transfn(PG_FUNCTION_ARGS);
extern Datum hpsort_support_agg_transfn_int2(PG_FUNCTION_ARGS);
extern Datum hpsort_support_agg_transfn_int8(PG_FUNCTION_ARGS);
extern Datum hpsort_support_agg_finalfn(PG_FUNCTION_ARGS);
extern Datum hpsort_support_runs_agg_finalfn(PG_FUNCTION_ARGS);
extern Datum hpsort_support_keys_agg_finalfn(PG_FUNCTION_ARGS);

#endif							/* HPSORT_PG_FUNCTIONS_AGGREGATE_STATE_H */
