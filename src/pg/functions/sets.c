/*
 * sets.c
 *		Keys in order as sets, and a column's as an array: hpsort_set(), hpsort_runs(),
 *		hpsort_query(), hpsort_column(), hpsort_column_runs() and hpsort_column_array().
 *
 * In a select list the set is returned a row at a time, so that a LIMIT ends it
 * early.  In FROM PostgreSQL stores a set before it reads the first row; there the
 * set is written straight into a tuplestore (in work_mem, beyond that in a temporary
 * file), which saves for each row a call, a composite value and two copies of it:
 * 8,000,000 runs take 1.5 times as long as their keys in a select list, instead of
 * 2.9 times (PostgreSQL 17, work_mem 2 GB).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "pg/compat.h"
#include "pg/functions/functions.h"
#include "pg/int4_array.h"
#include "pg/last_sort.h"
#include "pg/sort_context.h"

PG_FUNCTION_INFO_V1(hpsort_set);
PG_FUNCTION_INFO_V1(hpsort_runs);
PG_FUNCTION_INFO_V1(hpsort_query);
PG_FUNCTION_INFO_V1(hpsort_column);
PG_FUNCTION_INFO_V1(hpsort_column_array);
PG_FUNCTION_INFO_V1(hpsort_column_runs);
PG_FUNCTION_INFO_V1(hpsort_support_set);
PG_FUNCTION_INFO_V1(hpsort_support_column);

/* How many rows are read from the sorter at once. */
#define SET_BATCH 1024

/*
 * A set that is being returned.  The set and its sorter's memory are in a memory context that
 * is deleted however the query ends.
 */
typedef struct SetState
{
	AggregateState *all;		/* all keys, unordered */
	SortWant	want;			/* SORT_WANT_KEYS or SORT_WANT_RUNS */
	SorterCursor cursor;		/* over the keys in order */
	int64		nulls;			/* still to be returned ... */
	bool		nulls_first;	/* ... before or after the keys */
	size_t		at;				/* next one of the batch */
	size_t		got;			/* of the batch; 0 before the first one and behind the last key */
	int32		keys[SET_BATCH];
	uint64		counts[SET_BATCH];	/* of runs; of keys zeros */
} SetState;

/*
 * A function that finds the keys which the arguments of an SQL function ask for, and their order.
 * Returns a state of all keys, unordered, in memory or a context below it; or NULL for no rows.
 * *order is ascending, NULLs last, on entry.  The current memory context is a short-lived one.
 */
typedef AggregateState *(*SetKeys) (FunctionCallInfo fcinfo, MemoryContext memory,
									SortOrder *order);

/* A row of a set: a key, or a run. */
typedef struct SetRow
{
	bool		isnull;
	int32		key;			/* if it is not NULL */
	int64		count;			/* of a run */
} SetRow;

/* Returns the keys of a function in order, as a set in memory; NULL if it has no rows. */
static SetState *
start_set(FunctionCallInfo fcinfo, MemoryContext memory, SetKeys keys, const char *function,
		  SortWant want)
{
	SortOrder	order = {false, false};
	AggregateState *all = keys(fcinfo, memory, &order);
	SetState   *state;
	SortError	err;

	if (all == NULL)
		return NULL;
	state = (SetState *) MemoryContextAllocZero(memory, sizeof(SetState));
	state->all = all;
	state->want = want;
	state->nulls = all->nulls;
	state->nulls_first = order.nulls_first;
	pg_sort_check(sorter_finish(&all->sorter, want, &err), &err);
	pg_sort_check(sorter_open_cursor(&all->sorter, order.descending, &state->cursor, &err), &err);
	last_sort_record(function, &all->sorter, NULL, all->nulls);
	return state;
}

/* Sets *row to the next row of a set.  Returns false at the end. */
static inline bool
next_row(SetState *state, SetRow *row)
{
	bool		runs = state->want == SORT_WANT_RUNS;

	if (state->at == state->got)
	{
		SortError	err;
		SortStatus	status;

		if (runs)
			status = sorter_cursor_runs(&state->cursor, state->keys, state->counts, SET_BATCH,
										&state->got, &err);
		else
			status = sorter_cursor_keys(&state->cursor, state->keys, SET_BATCH, &state->got, &err);
		pg_sort_check(status, &err);
		state->at = 0;
	}
	row->isnull = state->nulls > 0 && (state->nulls_first || state->got == 0);
	if (row->isnull)
	{
		/* All NULLs are one run, as in GROUP BY x ORDER BY x. */
		row->count = runs ? state->nulls : 1;
		state->nulls -= row->count;
		return true;
	}
	if (state->at == state->got)
		return false;
	row->key = state->keys[state->at];
	row->count = (int64) state->counts[state->at++];
	return true;
}

/*
 * Returns the descriptor of a row: of an int4, or of the function's result, hpsort_run.  An error
 * if that type has been altered.
 */
static TupleDesc
row_type(FunctionCallInfo fcinfo, SortWant want)
{
	TupleDesc	tupdesc;

	if (want == SORT_WANT_RUNS)
	{
		if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
			elog(ERROR, "return type must be a row type");
		run_type_check(tupdesc);
		return tupdesc;
	}
	tupdesc = CreateTemplateTupleDesc(1);
	TupleDescInitEntry(tupdesc, 1, NULL, INT4OID, -1, 0);
	TupleDescFinalize(tupdesc);
	return tupdesc;
}

/* --- a set into a tuplestore */

/* Whether the caller can take the set in a tuplestore, and prefers it: a function in FROM. */
static bool
is_stored(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	return rsinfo != NULL && IsA(rsinfo, ReturnSetInfo) &&
		(rsinfo->allowedModes & SFRM_Materialize) != 0 &&
		(rsinfo->allowedModes & SFRM_Materialize_Preferred) != 0;
}

/*
 * Puts the rows of a set into a tuplestore.  One row is formed; for each row of the set its
 * numbers are overwritten, and the tuplestore copies it.
 */
static void
store_rows(SetState *state, Tuplestorestate *store, TupleDesc tupdesc)
{
	Datum		zeros[2] = {Int32GetDatum(0), Int64GetDatum(0)};
	bool		no_nulls[2] = {false, false};
	HeapTuple	tuple = heap_form_tuple(tupdesc, zeros, no_nulls);
	char	   *key = (char *) tuple->t_data + tuple->t_data->t_hoff;
	char	   *count = key + DOUBLEALIGN(sizeof(int32));
	SetRow		row;

	while (next_row(state, &row))
	{
		CHECK_FOR_INTERRUPTS();
		if (unlikely(row.isnull))
		{
			Datum		values[2] = {(Datum) 0, Int64GetDatum(row.count)};
			bool		nulls[2] = {true, false};

			tuplestore_putvalues(store, tupdesc, values, nulls);
			continue;
		}
		memcpy(key, &row.key, sizeof(row.key));
		if (state->want == SORT_WANT_RUNS)
			memcpy(count, &row.count, sizeof(row.count));
		tuplestore_puttuple(store, tuple);
	}
	heap_freetuple(tuple);
}

/* Returns a set in a tuplestore, empty if the function has no rows; frees the set itself. */
static Datum
return_stored(FunctionCallInfo fcinfo, SetKeys keys, const char *function, SortWant want)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext memory = AllocSetContextCreate(CurrentMemoryContext, "hpsort set",
												 ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(rsinfo->econtext->ecxt_per_query_memory);
	SetState   *state;

	rsinfo->setDesc = row_type(fcinfo, want);
	MemoryContextSwitchTo(old);
	state = start_set(fcinfo, memory, keys, function, want);

	MemoryContextSwitchTo(rsinfo->econtext->ecxt_per_query_memory);
	rsinfo->setResult = tuplestore_begin_heap((rsinfo->allowedModes & SFRM_Materialize_Random) != 0,
											  false, work_mem);
	MemoryContextSwitchTo(old);
	rsinfo->returnMode = SFRM_Materialize;
	if (state != NULL)
	{
		store_rows(state, rsinfo->setResult, rsinfo->setDesc);
		sorter_reset(&state->all->sorter);
	}
	MemoryContextDelete(memory);
	return (Datum) 0;
}

/* --- a set, returned at once or a row at a time */

/*
 * The body of an SQL function that returns keys in order as SETOF int4 (SORT_WANT_KEYS), or their
 * runs as SETOF hpsort_run (SORT_WANT_RUNS). function is its name, a literal, for hpsort_last().
 */
static Datum
set_return(FunctionCallInfo fcinfo, SetKeys keys, const char *function, SortWant want)
{
	FuncCallContext *funcctx;
	SetState   *state;
	SetRow		row;

	if (is_stored(fcinfo))
		return return_stored(fcinfo, keys, function, want);
	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext old;

		funcctx = SRF_FIRSTCALL_INIT();
		old = MemoryContextSwitchTo(funcctx->multi_call_memory_ctx);
		if (want == SORT_WANT_RUNS)
			funcctx->tuple_desc = BlessTupleDesc(row_type(fcinfo, want));
		MemoryContextSwitchTo(old);
		funcctx->user_fctx = start_set(fcinfo, funcctx->multi_call_memory_ctx, keys, function,
									   want);
	}
	funcctx = SRF_PERCALL_SETUP();
	state = (SetState *) funcctx->user_fctx;
	if (state == NULL || !next_row(state, &row))
	{
		if (state)
			sorter_reset(&state->all->sorter);
		SRF_RETURN_DONE(funcctx);
	}
	if (want == SORT_WANT_RUNS)
	{
		Datum		values[2] = {Int32GetDatum(row.isnull ? 0 : row.key), Int64GetDatum(row.count)};
		bool		isnull[2] = {row.isnull, false};

		SRF_RETURN_NEXT(funcctx, HeapTupleGetDatum(heap_form_tuple(funcctx->tuple_desc, values,
																   isnull)));
	}
	if (row.isnull)
		SRF_RETURN_NEXT_NULL(funcctx);
	SRF_RETURN_NEXT(funcctx, Int32GetDatum(row.key));
}

/* --- the set of an array */

/* The SetKeys of hpsort_set(), and of hpsort_runs(), which is strict and has no order. */
static AggregateState *
keys_of_array(FunctionCallInfo fcinfo, MemoryContext memory, SortOrder *order)
{
	AggregateState *keys;
	ArrayType  *array;
	MemoryContext old;
	SortError	err;
	int			n;
	int			nulls;
	const int32 *elements;

	if (PG_NARGS() > 1)
	{
		if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
			return NULL;
		*order = sort_order_from_args(fcinfo, 1);
	}
	old = MemoryContextSwitchTo(memory);
	keys = state_object_make(memory, PG_INT32_MIN, PG_INT32_MAX);
	/* The executor keeps the argument until the set has ended; a detoasted copy is in memory. */
	array = PG_GETARG_ARRAYTYPE_P(0);
	elements = array_keys(array, &n, &nulls);
	MemoryContextSwitchTo(old);
	keys->nulls = nulls;
	pg_sort_check(sorter_add_array(&keys->sorter, elements, n, &err), &err);
	return keys;
}

/* hpsort_set(keys int4[], descending bool, nulls_first bool) returns SETOF int4: in order */
Datum
hpsort_set(PG_FUNCTION_ARGS)
{
	return set_return(fcinfo, keys_of_array, "hpsort_set", SORT_WANT_KEYS);
}

/*
 * hpsort_runs(keys int4[]) returns SETOF hpsort_run: the different elements of an array,
 * ascending, with their counts; that of NULLs last
 */
Datum
hpsort_runs(PG_FUNCTION_ARGS)
{
	return set_return(fcinfo, keys_of_array, "hpsort_runs", SORT_WANT_RUNS);
}

/* --- the set of a query */

/* The SetKeys of hpsort_query(): NULL where the query or the direction is NULL. */
static AggregateState *
query_keys(FunctionCallInfo fcinfo, MemoryContext memory, SortOrder *order)
{
	int32		lo;
	int32		hi;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(3))
		return NULL;
	*order = sort_order_from_args(fcinfo, 3);
	sort_bounds_from_args(fcinfo, 1, &lo, &hi);
	return keys_of_query(fcinfo, text_to_cstring(PG_GETARG_TEXT_PP(0)), lo, hi, memory);
}

/*
 * hpsort_query(query text, lo int4, hi int4, descending bool, nulls_first bool)
 * returns SETOF int4
 */
Datum
hpsort_query(PG_FUNCTION_ARGS)
{
	return set_return(fcinfo, query_keys, "hpsort_query", SORT_WANT_KEYS);
}

/*
 * --- the sets of a column
 *
 * The arguments of each of the three functions are (rel regclass, attribute name, lo int4, hi
 * int4, descending bool, nulls_first bool).
 */

/* Reads the column: the SetKeys of the three functions. */
static AggregateState *
column_keys(FunctionCallInfo fcinfo, MemoryContext memory, SortOrder *order)
{
	int32		lo;
	int32		hi;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(4))
		return NULL;
	*order = sort_order_from_args(fcinfo, 4);
	sort_bounds_from_args(fcinfo, 2, &lo, &hi);
	return keys_of_column(fcinfo, PG_GETARG_OID(0), NameStr(*PG_GETARG_NAME(1)), lo, hi, memory);
}

/* hpsort_column(...) returns SETOF int4: the values of the column in order */
Datum
hpsort_column(PG_FUNCTION_ARGS)
{
	return set_return(fcinfo, column_keys, "hpsort_column", SORT_WANT_KEYS);
}

/* hpsort_column_runs(...) returns SETOF hpsort_run: the different values, with their counts */
Datum
hpsort_column_runs(PG_FUNCTION_ARGS)
{
	return set_return(fcinfo, column_keys, "hpsort_column_runs", SORT_WANT_RUNS);
}

/* hpsort_column_array(...) returns int4[]: NULL for no rows, as of array_agg */
Datum
hpsort_column_array(PG_FUNCTION_ARGS)
{
	SortOrder	order;
	AggregateState *keys = column_keys(fcinfo, CurrentMemoryContext, &order);
	Datum		result;

	if (keys == NULL)
		PG_RETURN_NULL();
	keys->descending = order.descending;
	keys->nulls_first = order.nulls_first;
	result = aggregate_state_array(keys, INT4OID, "hpsort_column_array");
	if (sorter_count(&keys->sorter) + keys->nulls == 0)
		PG_RETURN_NULL();
	sorter_reset(&keys->sorter);
	PG_RETURN_DATUM(result);
}

/* --- planner support */

/*
 * Returns the first argument of the function whose rows the planner asks for; NULL if it asks for
 * anything else.
 */
static Node *
first_argument(const SupportRequestRows *rows)
{
	if (!IsA(rows, SupportRequestRows) || !is_funcclause(rows->node))
		return NULL;
	return linitial(((FuncExpr *) rows->node)->args);
}

/* Planner support of hpsort_set() and hpsort_runs(): at most a row for each element. */
Datum
hpsort_support_set(PG_FUNCTION_ARGS)
{
	SupportRequestRows *rows = (SupportRequestRows *) PG_GETARG_POINTER(0);
	Node	   *array = first_argument(rows);

	if (array == NULL)
		PG_RETURN_POINTER(NULL);
	rows->rows = estimate_array_length(rows->root, array);
	PG_RETURN_POINTER(rows);
}

/* Planner support of the column functions: the rows that the table is known to have. */
Datum
hpsort_support_column(PG_FUNCTION_ARGS)
{
	SupportRequestRows *rows = (SupportRequestRows *) PG_GETARG_POINTER(0);
	Node	   *argument = first_argument(rows);
	const Const *rel;
	HeapTuple	tuple;

	if (argument == NULL)
		PG_RETURN_POINTER(NULL);
	rel = (const Const *) estimate_expression_value(rows->root, argument);
	if (!IsA(rel, Const) || rel->constisnull)
		PG_RETURN_POINTER(NULL);
	tuple = SearchSysCache1(RELOID, rel->constvalue);
	if (!HeapTupleIsValid(tuple))
		PG_RETURN_POINTER(NULL);
	/* It is -1 for a table that was never vacuumed or analyzed. */
	rows->rows = ((Form_pg_class) GETSTRUCT(tuple))->reltuples;
	ReleaseSysCache(tuple);
	PG_RETURN_POINTER(rows->rows >= 0 ? rows : NULL);
}
