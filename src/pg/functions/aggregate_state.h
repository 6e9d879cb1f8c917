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
#include "utils/dsa.h"

#include "pg/sort_context.h"

/* 128 bytes: a query may have millions of groups. */
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
 * Makes *state a state without rows, whose keys are in the memory of context, which
 * must live as long as the state.  NULLs are to come last, or first if descending.
 */
extern void aggregate_state_init(AggregateState *state, const SortContext *context,
								 int32 lo, int32 hi, bool descending);

/* A new state without rows that is itself in the memory of context. */
extern AggregateState *aggregate_state_make(const SortContext *context, int32 lo, int32 hi,
											bool descending);

/* A state as a bytea in the current memory context; too large a one is an error. */
extern Datum aggregate_state_serialize(AggregateState *state);

/*
 * A state from the size bytes of a serialized one, in the current memory context.
 * It is good for being merged into another.  Bytes that no state serializes to are
 * an error.
 */
extern AggregateState *aggregate_state_deserialize(const char *data, Size size);

/*
 * How a state goes to the leader of a parallel query: copied once, and of any size.
 *
 * aggregate_state_share() leaves the serialized state in area and returns a short bytea that
 * says where; in the leader itself the bytea says where the state is, which must stay until
 * it has been added.  aggregate_state_receive() returns a state for one call of
 * aggregate_state_add().  If area is NULL, the bytea is a serialized state.
 */
extern Datum aggregate_state_share(AggregateState *state, dsa_area *area);
extern AggregateState *aggregate_state_receive(const char *data, Size size, dsa_area *area);

/* Adds the keys and NULLs of another state with the same bounds. */
extern void aggregate_state_add(AggregateState *state, AggregateState *other);

/*
 * The keys of a state in order, as an array in the current memory context.  type is
 * the type of its elements, which aggregate_array_type() tells from the result
 * type of the aggregate function.  function is a literal, for hpsort_last().
 */
extern Datum aggregate_state_array(AggregateState *state, Oid type, const char *function);
extern Oid	aggregate_array_type(Oid result_type);

/*
 * The runs of a state in order, as an array in the current memory context.  tupdesc
 * is that of hpsort_run, which run_array_type() looks up from the result type of the
 * aggregate function.
 */
extern Datum aggregate_state_runs(AggregateState *state, TupleDesc tupdesc);

#endif							/* HPSORT_PG_FUNCTIONS_AGGREGATE_STATE_H */
