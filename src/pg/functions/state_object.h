/*
 * state_object.h
 *		An AggregateState as an SQL value: what hpsort_support_keys_agg() returns.
 *
 * The column functions and hpsort_query() run a query that returns this value, and
 * make arrays, sets or multisets of its keys when the query has ended.  The value is
 * an expanded object in a memory context of its own, which the function takes over
 * from the query: keys are neither copied nor limited to the size of an SQL value.
 * Where PostgreSQL copies the value instead, the copy is the serialized state.
 */
#ifndef HPSORT_PG_FUNCTIONS_STATE_OBJECT_H
#define HPSORT_PG_FUNCTIONS_STATE_OBJECT_H

#include "postgres.h"

#include "pg/functions/aggregate_state.h"

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

#endif							/* HPSORT_PG_FUNCTIONS_STATE_OBJECT_H */
