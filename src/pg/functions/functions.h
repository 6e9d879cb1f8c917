/*
 * functions.h
 *		What hpsort's functions and aggregates share, and what other rooms use of them.
 */
#ifndef HPSORT_PG_FUNCTIONS_FUNCTIONS_H
#define HPSORT_PG_FUNCTIONS_FUNCTIONS_H

#include "access/htup.h"
#include "access/tupdesc.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/dsa.h"

#include "pg/sort_context.h"

/* --- arguments that several functions have: direction, place of NULLs, bounds */

/* The order of a result: its direction, and where NULLs are. */
typedef struct SortOrder
{
	bool		descending;
	bool		nulls_first;
} SortOrder;

/*
 * Returns the order that two arguments ask for: number arg is descending, and not NULL; number
 * arg + 1 is nulls_first, and NULL where ORDER BY would put NULLs in that direction.
 */
static inline SortOrder
sort_order_from_args(FunctionCallInfo fcinfo, int arg)
{
	SortOrder	order;

	order.descending = PG_GETARG_BOOL(arg);
	order.nulls_first = PG_ARGISNULL(arg + 1) ? order.descending : PG_GETARG_BOOL(arg + 1);
	return order;
}

/* Raises an error if there is no key between lo and hi. */
static inline void
sort_bounds_check(int32 lo, int32 hi)
{
	if (lo > hi)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("lower bound %d is greater than upper bound %d", lo, hi)));
}

/*
 * Takes the inclusive bounds from arguments number arg and arg + 1.  A NULL is no bound on its
 * side.  Bounds that leave no key are an error.
 */
static inline void
sort_bounds_from_args(FunctionCallInfo fcinfo, int arg, int32 *lo, int32 *hi)
{
	*lo = PG_ARGISNULL(arg) ? PG_INT32_MIN : PG_GETARG_INT32(arg);
	*hi = PG_ARGISNULL(arg + 1) ? PG_INT32_MAX : PG_GETARG_INT32(arg + 1);
	sort_bounds_check(*lo, *hi);
}

/* --- hpsort_run[] (run_array.c) */

/*
 * An array of runs that is being built: the array's bytes, which grow.  Runs are written into
 * it directly, since datums of their own would take twice the array's memory beside it.
 */
typedef struct RunArray
{
	Oid			type;			/* of a run */
	ArrayType  *array;			/* its bytes; the header is filled in at the end */
	Size		used;			/* bytes of array that have been written */
	Size		capacity;		/* bytes that are allocated */
	int			n;				/* runs */
	HeapTupleHeader image;		/* a run without NULLs, which is copied for each */
	Size		image_size;		/* aligned, as runs in an array are */
	Size		key_offset;		/* where its numbers are */
	Size		count_offset;
} RunArray;

/* Raises an error unless hpsort_run still has the two attributes that it was made with. */
extern void run_type_check(TupleDesc tupdesc);

/*
 * Returns the descriptor of hpsort_run in the current memory context. array_type is the array
 * type of hpsort_run, which may be in any schema.
 */
extern TupleDesc run_array_type(Oid array_type);

/*
 * Makes *runs an empty array in the current memory context, with room for the expected number
 * of runs and one of NULLs.
 */
extern void run_array_begin(RunArray *runs, TupleDesc tupdesc, uint64 expected);

/* Appends n runs, of keys[i] and counts[i].  An array over the size limit is an error. */
extern void run_array_add(RunArray *runs, const int32 *keys, const uint64 *counts, size_t n);

/* Appends the one run of all NULLs, which GROUP BY x ORDER BY x has as well. */
extern void run_array_add_nulls(RunArray *runs, TupleDesc tupdesc, int64 nulls);

/* Returns the array.  Nothing may be added after it. */
extern Datum run_array_end(RunArray *runs);

/*
 * --- the state of one group of hpsort_agg() or hpsort_runs_agg() (aggregate_state.c)
 *
 * The support functions in aggregates.c fill a state row by row, below the executor's Agg node.
 * Custom Scan (HpSort Aggregate) fills one from a table's columns, and uses the same functions to
 * turn it into a result.
 */

/*
 * A group's keys and NULLs, before they are put in order, and the order that the call asks for.
 * The state has 128 bytes, because a query may have millions of groups.
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
 * Returns a new state without rows, for keys between lo and hi.  NULLs will come last, or first if
 * descending.  The state and its keys are in the memory of context, which must live as long.
 */
extern AggregateState *aggregate_state_make(const SortContext *context, int32 lo, int32 hi,
											bool descending);

/*
 * Serializes a state into a bytea in the current memory context.  An error if it is too large
 * for one.
 */
extern Datum aggregate_state_serialize(AggregateState *state);

/*
 * How a state goes to the leader of a parallel query: copied once, and of any size.
 *
 * In a worker aggregate_state_share() leaves the serialized state in area, and returns a short
 * bytea that says where.  In the leader itself the bytea says where the state is, which must
 * stay until it has been added. aggregate_state_receive() makes a state of the bytea, for one
 * call of aggregate_state_add().
 *
 * If area is NULL, the bytea is a serialized state.  Bytes that no state serializes to are an
 * error.
 */
extern Datum aggregate_state_share(AggregateState *state, dsa_area *area);
extern AggregateState *aggregate_state_receive(const char *data, Size size, dsa_area *area);

/* Adds the keys and NULLs of other to state; both states must have the same bounds. */
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
 * --- a state as an SQL value (aggregate_state.c): what hpsort_support_keys_agg() returns
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

/*
 * --- the keys of a query or of a table's column (keys_query.c)
 *
 * hpsort_query() and the column functions run SELECT hpsort_support_keys_agg(x, lo, hi) FROM ...
 * through SPI, so that PostgreSQL plans it, checks rights and row security, and starts workers as
 * for any query, and Custom Scan (HpSort Aggregate) reads the tables.
 */

/*
 * Runs a query, and returns its keys and the number of its NULLs.  A key that is not between lo
 * and hi is an error, and so is a query unless it is one statement that only reads and returns
 * one column of an integer type.  The query has the caller's rights, and a new snapshot.
 *
 * The state is in memory; sorter_reset() and the end of memory free it. fcinfo is the call of
 * the SQL function, whose extension has the aggregate.
 */
extern AggregateState *keys_of_query(FunctionCallInfo fcinfo, const char *query,
									 int32 lo, int32 hi, MemoryContext memory);

/*
 * Does what keys_of_query() does for SELECT attribute FROM relid, under the active snapshot.  A
 * column whose values cannot be keys is an error as well.  The table's lock stays until the end
 * of the transaction.
 */
extern AggregateState *keys_of_column(FunctionCallInfo fcinfo, Oid relid, const char *attribute,
									  int32 lo, int32 hi, MemoryContext memory);

/*
 * --- whether the library is there when a session's first query is planned (preload.c)
 *
 * Three settings list libraries that are loaded before that: shared_preload_libraries with the
 * server, session_preload_libraries and local_preload_libraries with the session.  Otherwise the
 * first call of one of hpsort's functions loads the library, after the query with that call has
 * been planned.
 */

/* Called once, when the library is loaded. */
extern void preload_init(void);

#endif							/* HPSORT_PG_FUNCTIONS_FUNCTIONS_H */
