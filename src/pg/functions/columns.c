/*
 * columns.c
 *		hpsort_column(), hpsort_column_array() and hpsort_column_runs(): a
 *		table's column in order, without the executor.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "fmgr.h"
#include "funcapi.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

#include "pg/column/fill.h"
#include "pg/functions/set_state.h"
#include "pg/int4_array.h"
#include "pg/last_sort.h"
#include "pg/sort_context.h"

PG_FUNCTION_INFO_V1(hpsort_column);
PG_FUNCTION_INFO_V1(hpsort_column_array);
PG_FUNCTION_INFO_V1(hpsort_column_runs);
PG_FUNCTION_INFO_V1(hpsort_support_column);

/* The arguments of each of the three functions: (rel regclass, attribute name, lo int4, hi int4, descending bool, nulls_first bool) */
#define ARG_REL			0
#define ARG_ATTRIBUTE	1
#define ARG_LO			2
#define ARG_DESCENDING	4

static bool
is_null_call(FunctionCallInfo fcinfo)
{
	return PG_ARGISNULL(ARG_REL) || PG_ARGISNULL(ARG_ATTRIBUTE) || PG_ARGISNULL(ARG_DESCENDING);
}

/* Reads the column into a new set. */
static SetState *
start_column_set(FunctionCallInfo fcinfo, MemoryContext memory, const char *function,
				 SortWant want)
{
	SetState   *state;
	int32		lo;
	int32		hi;
	MemoryContext old;

	if (is_null_call(fcinfo))
		return NULL;
	sort_bounds_from_args(fcinfo, ARG_LO, &lo, &hi);
	state = set_state_make(memory, lo, hi);
	column_fill_sorter(PG_GETARG_OID(ARG_REL), NameStr(*PG_GETARG_NAME(ARG_ATTRIBUTE)),
					   &state->sorter, &state->nulls);
	old = MemoryContextSwitchTo(memory);
	set_state_start(state, function, want, sort_order_from_args(fcinfo, ARG_DESCENDING));
	MemoryContextSwitchTo(old);
	return state;
}

static SetState *
start_column(FunctionCallInfo fcinfo, MemoryContext memory)
{
	return start_column_set(fcinfo, memory, "hpsort_column", SORT_WANT_KEYS);
}

/* returns SETOF int4 */
Datum
hpsort_column(PG_FUNCTION_ARGS)
{
	return set_return_keys(fcinfo, start_column);
}

static SetState *
start_column_runs(FunctionCallInfo fcinfo, MemoryContext memory)
{
	return start_column_set(fcinfo, memory, "hpsort_column_runs", SORT_WANT_RUNS);
}

/* returns SETOF hpsort_run */
Datum
hpsort_column_runs(PG_FUNCTION_ARGS)
{
	return set_return_runs(fcinfo, start_column_runs);
}

/* returns int4[], NULL for no rows as array_agg */
Datum
hpsort_column_array(PG_FUNCTION_ARGS)
{
	SortContext context;
	Sorter		sorter;
	SortError	err;
	SortOrder	order;
	ArrayType  *result;
	int64		nulls = 0;
	int32		lo;
	int32		hi;
	int32	   *out;

	if (is_null_call(fcinfo))
		PG_RETURN_NULL();
	sort_bounds_from_args(fcinfo, ARG_LO, &lo, &hi);
	order = sort_order_from_args(fcinfo, ARG_DESCENDING);
	pg_sort_context(&context, CurrentMemoryContext);
	sorter_init(&sorter, &context, lo, hi);
	column_fill_sorter(PG_GETARG_OID(ARG_REL), NameStr(*PG_GETARG_NAME(ARG_ATTRIBUTE)),
					   &sorter, &nulls);
	pg_sort_check(sorter_finish(&sorter, SORT_WANT_KEYS, &err), &err);
	if (sorter_count(&sorter) + nulls == 0)
	{
		last_sort_record("hpsort_column_array", &sorter, NULL, nulls);
		PG_RETURN_NULL();
	}
	result = int4_array_make((int64) sorter_count(&sorter), nulls, 1, order.nulls_first, &out);
	pg_sort_check(sorter_read_keys(&sorter, order.descending, out, &err), &err);
	last_sort_record("hpsort_column_array", &sorter, out, nulls);
	sorter_reset(&sorter);
	PG_RETURN_ARRAYTYPE_P(result);
}

/* Planner support of hpsort_column: the rows that the table is known to have. */
Datum
hpsort_support_column(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	Node	   *answer = NULL;

	if (IsA(request, SupportRequestRows))
	{
		SupportRequestRows *rows = (SupportRequestRows *) request;

		if (is_funcclause(rows->node))
		{
			Node	   *arg = estimate_expression_value(rows->root,
														linitial(((FuncExpr *) rows->node)->args));

			if (IsA(arg, Const) && !((Const *) arg)->constisnull)
			{
				Oid			relid = DatumGetObjectId(((Const *) arg)->constvalue);
				HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));

				if (HeapTupleIsValid(tuple))
				{
					/* It is -1 for a table that was never vacuumed or analyzed. */
					rows->rows = ((Form_pg_class) GETSTRUCT(tuple))->reltuples;
					if (rows->rows >= 0)
						answer = request;
					ReleaseSysCache(tuple);
				}
			}
		}
	}
	PG_RETURN_POINTER(answer);
}
