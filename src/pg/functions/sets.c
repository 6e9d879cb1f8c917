/*
 * sets.c
 *		Keys in order as sets (set_state.h), and a column's as an array: hpsort_set(),
 *		hpsort_runs(), hpsort_query(), hpsort_column(), hpsort_column_runs() and
 *		hpsort_column_array().
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

#include "pg/compat.h"
#include "pg/functions/keys_query.h"
#include "pg/functions/set_state.h"
#include "pg/functions/state_object.h"
#include "pg/int4_array.h"
#include "pg/sort_context.h"

PG_FUNCTION_INFO_V1(hpsort_set);
PG_FUNCTION_INFO_V1(hpsort_runs);
PG_FUNCTION_INFO_V1(hpsort_query);
PG_FUNCTION_INFO_V1(hpsort_column);
PG_FUNCTION_INFO_V1(hpsort_column_array);
PG_FUNCTION_INFO_V1(hpsort_column_runs);
PG_FUNCTION_INFO_V1(hpsort_support_set);
PG_FUNCTION_INFO_V1(hpsort_support_column);

/* --- of an array */

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

/* hpsort_set(keys int4[], descending bool, nulls_first bool) returns SETOF int4 */
Datum
hpsort_set(PG_FUNCTION_ARGS)
{
	return set_return(fcinfo, keys_of_array, "hpsort_set", SORT_WANT_KEYS);
}

/* hpsort_runs(keys int4[]) returns SETOF hpsort_run */
Datum
hpsort_runs(PG_FUNCTION_ARGS)
{
	return set_return(fcinfo, keys_of_array, "hpsort_runs", SORT_WANT_RUNS);
}

/* --- of a query */

/* The SetKeys of hpsort_query(). */
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
 * --- of a column
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

/* returns SETOF int4 */
Datum
hpsort_column(PG_FUNCTION_ARGS)
{
	return set_return(fcinfo, column_keys, "hpsort_column", SORT_WANT_KEYS);
}

/* returns SETOF hpsort_run */
Datum
hpsort_column_runs(PG_FUNCTION_ARGS)
{
	return set_return(fcinfo, column_keys, "hpsort_column_runs", SORT_WANT_RUNS);
}

/* returns int4[], NULL for no rows as array_agg */
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

/* As many rows as the array has elements, at most. */
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

/* The rows that the column's table is known to have. */
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
