/*
 * columns.c
 *		hpsort_column(), hpsort_column_array() and hpsort_column_runs(): a
 *		table's column in order.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/syscache.h"

#include "pg/functions/keys_query.h"
#include "pg/functions/set_state.h"

PG_FUNCTION_INFO_V1(hpsort_column);
PG_FUNCTION_INFO_V1(hpsort_column_array);
PG_FUNCTION_INFO_V1(hpsort_column_runs);
PG_FUNCTION_INFO_V1(hpsort_support_column);

/*
 * The arguments of each of the three functions: (rel regclass, attribute name, lo int4, hi int4,
 * descending bool, nulls_first bool)
 */
#define ARG_REL			0
#define ARG_ATTRIBUTE	1
#define ARG_LO			2
#define ARG_DESCENDING	4

/* Whether an argument is NULL that must not be, so that the result is NULL or no rows. */
static bool
is_null_call(FunctionCallInfo fcinfo)
{
	return PG_ARGISNULL(ARG_REL) || PG_ARGISNULL(ARG_ATTRIBUTE) || PG_ARGISNULL(ARG_DESCENDING);
}

/* Reads the column that the arguments name.  The keys are in memory, unordered. */
static AggregateState *
column_keys(FunctionCallInfo fcinfo, MemoryContext memory)
{
	int32		lo;
	int32		hi;

	sort_bounds_from_args(fcinfo, ARG_LO, &lo, &hi);
	return keys_of_column(fcinfo, PG_GETARG_OID(ARG_REL), NameStr(*PG_GETARG_NAME(ARG_ATTRIBUTE)),
						  lo, hi, memory);
}

/* Makes the set of the column's keys or runs (want) in memory, or returns NULL for no rows. */
static SetState *
start_column_set(FunctionCallInfo fcinfo, MemoryContext memory, const char *function,
				 SortWant want)
{
	if (is_null_call(fcinfo))
		return NULL;
	return set_state_start(memory, column_keys(fcinfo, memory), function, want,
						   sort_order_from_args(fcinfo, ARG_DESCENDING));
}

/* The SetStart of hpsort_column(). */
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

/* The SetStart of hpsort_column_runs(). */
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
	AggregateState *keys;
	SortOrder	order;
	Datum		result;

	if (is_null_call(fcinfo))
		PG_RETURN_NULL();
	order = sort_order_from_args(fcinfo, ARG_DESCENDING);
	keys = column_keys(fcinfo, CurrentMemoryContext);
	keys->descending = order.descending;
	keys->nulls_first = order.nulls_first;
	result = aggregate_state_array(keys, INT4OID, "hpsort_column_array");
	if (sorter_count(&keys->sorter) + keys->nulls == 0)
		PG_RETURN_NULL();
	sorter_reset(&keys->sorter);
	PG_RETURN_DATUM(result);
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
