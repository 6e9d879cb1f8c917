/*
 * sets.c
 *		hpsort_set(), hpsort_runs() and hpsort_query(): keys in order
 *		(set_state.h).
 */
#include "postgres.h"

#include "funcapi.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "pg/compat.h"
#include "pg/functions/keys_query.h"
#include "pg/functions/set_state.h"
#include "pg/functions/state_object.h"
#include "pg/int4_array.h"
#include "pg/sort_context.h"

PG_FUNCTION_INFO_V1(hpsort_set);
PG_FUNCTION_INFO_V1(hpsort_runs);
PG_FUNCTION_INFO_V1(hpsort_query);
PG_FUNCTION_INFO_V1(hpsort_support_set);

/* Makes the set of an array's keys or runs (want) in memory. */
static SetState *
start_array(Datum keys_arg, MemoryContext memory, const char *function, SortWant want,
			SortOrder order)
{
	MemoryContext old = MemoryContextSwitchTo(memory);
	AggregateState *keys = state_object_make(memory, PG_INT32_MIN, PG_INT32_MAX);

	/* The executor keeps the argument until the set has ended; a detoasted copy is in memory. */
	ArrayType  *array = DatumGetArrayTypeP(keys_arg);
	SortError	err;
	int			n;
	int			nulls;
	const int32 *elements = int4_array_keys(array, &n, &nulls);

	MemoryContextSwitchTo(old);
	keys->nulls = nulls;
	pg_sort_check(sorter_add_array(&keys->sorter, elements, n, &err), &err);
	return set_state_start(memory, keys, function, want, order);
}

/* The SetStart of hpsort_set(). */
static SetState *
start_set(FunctionCallInfo fcinfo, MemoryContext memory)
{
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return NULL;
	return start_array(PG_GETARG_DATUM(0), memory, "hpsort_set", SORT_WANT_KEYS,
					   sort_order_from_args(fcinfo, 1));
}

/* hpsort_set(keys int4[], descending bool, nulls_first bool) returns SETOF int4 */
Datum
hpsort_set(PG_FUNCTION_ARGS)
{
	return set_return_keys(fcinfo, start_set);
}

/* The SetStart of hpsort_runs(), which is strict. */
static SetState *
start_runs(FunctionCallInfo fcinfo, MemoryContext memory)
{
	SortOrder	order = {false, false};

	return start_array(PG_GETARG_DATUM(0), memory, "hpsort_runs", SORT_WANT_RUNS, order);
}

/* hpsort_runs(keys int4[]) returns SETOF hpsort_run */
Datum
hpsort_runs(PG_FUNCTION_ARGS)
{
	return set_return_runs(fcinfo, start_runs);
}

/* The SetStart of hpsort_query(). */
static SetState *
start_query(FunctionCallInfo fcinfo, MemoryContext memory)
{
	AggregateState *keys;
	int32		lo;
	int32		hi;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(3))
		return NULL;
	sort_bounds_from_args(fcinfo, 1, &lo, &hi);
	keys = keys_of_query(fcinfo, text_to_cstring(PG_GETARG_TEXT_PP(0)), lo, hi, memory);
	return set_state_start(memory, keys, "hpsort_query", SORT_WANT_KEYS,
						   sort_order_from_args(fcinfo, 3));
}

/*
 * hpsort_query(query text, lo int4, hi int4, descending bool, nulls_first bool)
 * returns SETOF int4
 */
Datum
hpsort_query(PG_FUNCTION_ARGS)
{
	return set_return_keys(fcinfo, start_query);
}

/* Planner support: as many rows as the array has elements, at most. */
Datum
hpsort_support_set(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	Node	   *answer = NULL;

	if (IsA(request, SupportRequestRows))
	{
		SupportRequestRows *rows = (SupportRequestRows *) request;

		if (is_funcclause(rows->node))
		{
			List	   *args = ((FuncExpr *) rows->node)->args;

			rows->rows = compat_estimate_array_length(rows->root, linitial(args));
			answer = request;
		}
	}
	PG_RETURN_POINTER(answer);
}
