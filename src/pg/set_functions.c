/*
 * set_functions.c
 *		hpsort_set(), hpsort_runs() and hpsort_query(): keys in order, a row at
 *		a time (set_state.h).
 */
#include "postgres.h"

#include "funcapi.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "compat.h"
#include "pg_sorter.h"
#include "query_gather.h"
#include "set_state.h"

PG_FUNCTION_INFO_V1(hpsort_set);
PG_FUNCTION_INFO_V1(hpsort_runs);
PG_FUNCTION_INFO_V1(hpsort_query);
PG_FUNCTION_INFO_V1(hpsort_set_support);

/* hpsort_set(keys int4[], descending bool, nulls_first bool) returns SETOF int4 */
Datum
hpsort_set(PG_FUNCTION_ARGS)
{
	FuncCallContext *funcctx;

	if (SRF_IS_FIRSTCALL())
	{
		funcctx = SRF_FIRSTCALL_INIT();
		if (!PG_ARGISNULL(0) && !PG_ARGISNULL(1))
		{
			MemoryContext old = MemoryContextSwitchTo(funcctx->multi_call_memory_ctx);
			SetState   *state = set_state_make(CurrentMemoryContext, PG_INT32_MIN, PG_INT32_MAX);

			/* The executor keeps the argument until the set has ended. */
			ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
			SortError	err;
			int			n;
			int			nulls;
			const int32 *keys = int4_array_keys(array, &n, &nulls);

			state->nulls = nulls;
			pg_sort_check(sorter_add_array(&state->sorter, keys, n, &err), &err);
			set_state_start(state, "hpsort_set", SORT_WANT_KEYS, sort_order_from_args(fcinfo, 1));
			funcctx->user_fctx = state;
			MemoryContextSwitchTo(old);
		}
	}
	funcctx = SRF_PERCALL_SETUP();
	return set_state_next_key(fcinfo, funcctx);
}

/* hpsort_runs(keys int4[]) returns SETOF hpsort_run */
Datum
hpsort_runs(PG_FUNCTION_ARGS)
{
	FuncCallContext *funcctx;

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext old;
		SetState   *state;
		ArrayType  *array;
		const int32 *keys;
		SortError	err;
		int			n;
		int			nulls;
		SortOrder	order = {false, false};

		funcctx = SRF_FIRSTCALL_INIT();
		old = MemoryContextSwitchTo(funcctx->multi_call_memory_ctx);
		set_state_run_type(fcinfo, funcctx);
		array = PG_GETARG_ARRAYTYPE_P(0);
		keys = int4_array_keys(array, &n, &nulls);
		state = set_state_make(CurrentMemoryContext, PG_INT32_MIN, PG_INT32_MAX);
		state->nulls = nulls;
		pg_sort_check(sorter_add_array(&state->sorter, keys, n, &err), &err);
		set_state_start(state, "hpsort_runs", SORT_WANT_RUNS, order);
		funcctx->user_fctx = state;
		MemoryContextSwitchTo(old);
	}
	funcctx = SRF_PERCALL_SETUP();
	return set_state_next_run(fcinfo, funcctx);
}

/*
 * hpsort_query(query text, lo int4, hi int4, descending bool, nulls_first bool)
 * returns SETOF int4
 */
Datum
hpsort_query(PG_FUNCTION_ARGS)
{
	FuncCallContext *funcctx;

	if (SRF_IS_FIRSTCALL())
	{
		funcctx = SRF_FIRSTCALL_INIT();
		if (!PG_ARGISNULL(0) && !PG_ARGISNULL(3))
		{
			SetState   *state;
			int32		lo;
			int32		hi;
			MemoryContext old;

			sort_bounds_from_args(fcinfo, 1, &lo, &hi);
			state = set_state_make(funcctx->multi_call_memory_ctx, lo, hi);
			query_gather(text_to_cstring(PG_GETARG_TEXT_PP(0)), false, InvalidOid,
						 &state->sorter, &state->nulls);
			old = MemoryContextSwitchTo(funcctx->multi_call_memory_ctx);
			set_state_start(state, "hpsort_query", SORT_WANT_KEYS, sort_order_from_args(fcinfo, 3));
			MemoryContextSwitchTo(old);
			funcctx->user_fctx = state;
		}
	}
	funcctx = SRF_PERCALL_SETUP();
	return set_state_next_key(fcinfo, funcctx);
}

/* Planner support: as many rows as the array has elements, at most. */
Datum
hpsort_set_support(PG_FUNCTION_ARGS)
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
