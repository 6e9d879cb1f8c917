/*
 * aggregates.c
 *		hpsort_agg() and hpsort_runs_agg(): transition, combine, serialize,
 *		deserialize and final functions over one state.
 *
 * The state is a Sorter and a count of NULLs.  It lives in the aggregate
 * context and is never in order itself, so the final functions only read it:
 * aggregates over the same input share one state, and window aggregates go on
 * adding to it.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "pg/column/reader.h"
#include "pg/functions/aggregates.h"
#include "pg/functions/set_state.h"
#include "pg/sort_context.h"

PG_FUNCTION_INFO_V1(hpsort_agg_transfn);
PG_FUNCTION_INFO_V1(hpsort_agg_transfn_int2);
PG_FUNCTION_INFO_V1(hpsort_agg_transfn_int8);
PG_FUNCTION_INFO_V1(hpsort_agg_combine);
PG_FUNCTION_INFO_V1(hpsort_agg_serialize);
PG_FUNCTION_INFO_V1(hpsort_agg_deserialize);
PG_FUNCTION_INFO_V1(hpsort_agg_finalfn);
PG_FUNCTION_INFO_V1(hpsort_runs_agg_finalfn);

/*
 * What all groups have in common whose states live in one memory context; there
 * is one such context a grouping set.  Kept in fn_extra.
 */
typedef struct GroupContext
{
	struct GroupContext *next;
	SortContext context;
	bool		ordered;		/* the call has an ORDER BY: */
	SortOrder	order;
} GroupContext;

/*
 * The ORDER BY of the call, if it has one: by the aggregated argument, in
 * either direction.  Another could not be obeyed, for keys are all that is
 * kept; rows with the same key differ in nothing that the result shows, so that
 * further columns make no difference.
 */
static bool
call_order(FunctionCallInfo fcinfo, SortOrder *order)
{
	Aggref	   *aggref = AggGetAggref(fcinfo);
	SortGroupClause *clause;
	TargetEntry *argument;
	HeapTuple	tuple;
	Oid			opfamily = InvalidOid;
	Oid			opcintype;
	bool		ours;

	if (aggref == NULL || aggref->aggorder == NIL)
		return false;
	/* An aggregate that runs another one's functions shows its own call. */
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
	ours = HeapTupleIsValid(tuple) &&
		((Form_pg_aggregate) GETSTRUCT(tuple))->aggtransfn == fcinfo->flinfo->fn_oid;
	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	if (!ours)
		return false;

	clause = linitial_node(SortGroupClause, aggref->aggorder);
	argument = get_sortgroupclause_tle(clause, aggref->args);
	if (argument->resno != 1 ||
		!compat_ordering_op(clause->sortop, &opfamily, &opcintype, &order->descending) ||
		opfamily != lookup_type_cache(exprType((Node *) argument->expr),
									  TYPECACHE_BTREE_OPFAMILY)->btree_opf)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("aggregate %s can be ordered by its first argument only",
						get_func_name(aggref->aggfnoid)),
				 errhint("Leave ORDER BY out, or write %s(x ORDER BY x) or %s(x ORDER BY x DESC).",
						 get_func_name(aggref->aggfnoid), get_func_name(aggref->aggfnoid))));
	order->nulls_first = clause->nulls_first;
	return true;
}

/* Whether memory in context is there for as long as memory in other. */
static bool
lives_as_long(MemoryContext context, MemoryContext other)
{
	while (other != NULL && other != context)
		other = MemoryContextGetParent(other);
	return other != NULL;
}

/*
 * Who runs the functions of an aggregate by their OIDs may look them up anew
 * for every row; then each state has a GroupContext of its own.
 */
static const GroupContext *
group_context(FunctionCallInfo fcinfo, MemoryContext aggcontext)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	bool		shared = lives_as_long(flinfo->fn_mcxt, aggcontext);
	GroupContext *c;

	if (shared)
		for (c = (GroupContext *) flinfo->fn_extra; c != NULL; c = c->next)
			if (c->context.allocator.arena == aggcontext)
				return c;

	c = (GroupContext *) MemoryContextAllocZero(shared ? flinfo->fn_mcxt : aggcontext,
												sizeof(GroupContext));

	/* A partial state goes to the leader as it is; nothing is sorted here. */
	if (IsA(fcinfo->context, AggState) &&
		DO_AGGSPLIT_SKIPFINAL(((AggState *) fcinfo->context)->aggsplit))
		pg_sort_context_partial(&c->context, aggcontext);
	else
		pg_sort_context(&c->context, aggcontext);
	c->ordered = call_order(fcinfo, &c->order);
	if (shared)
	{
		c->next = (GroupContext *) flinfo->fn_extra;
		flinfo->fn_extra = c;
	}
	return c;
}

AggregateState *
aggregate_state_make(const SortContext *context, int32 lo, int32 hi, bool descending)
{
	AggregateState *state;

	state = (AggregateState *) MemoryContextAlloc((MemoryContext) context->allocator.arena,
												  sizeof(AggregateState));
	sorter_init(&state->sorter, context, lo, hi);
	state->nulls = 0;
	state->descending = descending;
	state->nulls_first = descending;
	state->ordered = false;
	return state;
}

/*
 * Bounds and direction from the arguments of a row, if it has them.  *descending
 * is what ORDER BY says, if the call is ordered.
 */
static void
row_options(FunctionCallInfo fcinfo, bool ordered, int32 *lo, int32 *hi, bool *descending)
{
	*lo = PG_INT32_MIN;
	*hi = PG_INT32_MAX;
	if (PG_NARGS() > 2)
		sort_bounds_from_args(fcinfo, 2, lo, hi);
	if (PG_NARGS() > 4 && !PG_ARGISNULL(4))
	{
		if (ordered && PG_GETARG_BOOL(4) != *descending)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("argument descending contradicts ORDER BY")));
		*descending = PG_GETARG_BOOL(4);
	}
	else if (!ordered)
		*descending = false;
}

static AggregateState *
first_row(FunctionCallInfo fcinfo)
{
	MemoryContext aggcontext;
	const GroupContext *group;
	AggregateState *state;
	int32		lo;
	int32		hi;
	bool		descending;

	if (!AggCheckCallContext(fcinfo, &aggcontext))
		elog(ERROR, "aggregate function called in non-aggregate context");
	group = group_context(fcinfo, aggcontext);
	descending = group->order.descending;
	row_options(fcinfo, group->ordered, &lo, &hi, &descending);
	state = aggregate_state_make(&group->context, lo, hi, descending);
	if (group->ordered)
	{
		state->ordered = true;
		state->nulls_first = group->order.nulls_first;
	}
	return state;
}

/* Whether a row repeats what the state has: the usual case, decided in line. */
static inline bool
same_row_options(FunctionCallInfo fcinfo, const AggregateState *state)
{
	return !PG_ARGISNULL(2) && PG_GETARG_INT32(2) == state->sorter.lo &&
		!PG_ARGISNULL(3) && PG_GETARG_INT32(3) == state->sorter.hi &&
		(PG_NARGS() == 4 || (!PG_ARGISNULL(4) && PG_GETARG_BOOL(4) == state->descending));
}

/* The bounds are one promise for the whole group. */
static pg_noinline void
check_row_options(FunctionCallInfo fcinfo, const AggregateState *state)
{
	int32		lo;
	int32		hi;
	bool		descending = state->descending;

	row_options(fcinfo, state->ordered, &lo, &hi, &descending);
	if (lo != state->sorter.lo || hi != state->sorter.hi || descending != state->descending)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bounds and direction must be the same for all rows of a group")));
}

/* Out of line, so that adding a key needs no room for an error. */
static pg_noinline void
flush_sorter(Sorter *sorter)
{
	SortError	err;

	pg_sort_check(sorter_flush(sorter, &err), &err);
}

static inline Datum
add_row(FunctionCallInfo fcinfo, Oid type)
{
	AggregateState *state;

	if (unlikely(PG_ARGISNULL(0)))
		state = first_row(fcinfo);
	else
	{
		/* A state can only come from us: SQL has no values of type internal. */
		state = (AggregateState *) PG_GETARG_POINTER(0);
		if (PG_NARGS() > 2 && !same_row_options(fcinfo, state))
			check_row_options(fcinfo, state);
	}

	if (PG_ARGISNULL(1))
		state->nulls++;
	else
	{
		Sorter	   *sorter = &state->sorter;

		if (sorter_is_full(sorter))
			flush_sorter(sorter);
		sorter_put_key(sorter, type == INT4OID ? PG_GETARG_INT32(1) : column_key(type, PG_GETARG_DATUM(1)));
	}
	PG_RETURN_POINTER(state);
}

/*
 * (internal, int4 [, lo int4, hi int4 [, descending bool]]) returns internal, and
 * the same of dates with bounds that are dates: a date is an int4 inside.
 */
Datum
hpsort_agg_transfn(PG_FUNCTION_ARGS)
{
	return add_row(fcinfo, INT4OID);
}

/* (internal, int2 [, lo int4, hi int4 [, descending bool]]) returns internal */
Datum
hpsort_agg_transfn_int2(PG_FUNCTION_ARGS)
{
	return add_row(fcinfo, INT2OID);
}

/* (internal, int8 [, lo int4, hi int4 [, descending bool]]) returns internal */
Datum
hpsort_agg_transfn_int8(PG_FUNCTION_ARGS)
{
	return add_row(fcinfo, INT8OID);
}

/* (internal, internal) returns internal: adds the second to the first */
Datum
hpsort_agg_combine(PG_FUNCTION_ARGS)
{
	AggregateState *state;
	AggregateState *other;
	MemoryContext aggcontext;
	SortError	err;

	if (!AggCheckCallContext(fcinfo, &aggcontext))
		elog(ERROR, "aggregate function called in non-aggregate context");
	state = PG_ARGISNULL(0) ? NULL : (AggregateState *) PG_GETARG_POINTER(0);
	other = PG_ARGISNULL(1) ? NULL : (AggregateState *) PG_GETARG_POINTER(1);
	if (other == NULL)
	{
		if (state == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(state);
	}
	if (state == NULL)
		state = aggregate_state_make(&group_context(fcinfo, aggcontext)->context,
									 other->sorter.lo, other->sorter.hi, other->descending);
	else if (state->sorter.lo != other->sorter.lo || state->sorter.hi != other->sorter.hi ||
			 state->descending != other->descending)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bounds and direction must be the same for all rows of a group")));
	state->nulls += other->nulls;
	pg_sort_check(sorter_merge(&state->sorter, &other->sorter, &err), &err);
	PG_RETURN_POINTER(state);
}

/* What precedes the sorter in a serialized state. */
typedef struct SerializedState
{
	int64		nulls;
	int32		lo;
	int32		hi;
	int32		descending;
} SerializedState;

Datum
aggregate_state_serialize(AggregateState *state)
{
	SerializedState header;
	SortError	err;
	size_t		size;
	bytea	   *result;

	pg_sort_check(sorter_serialize_size(&state->sorter, &size, &err), &err);
	if (size > MaxAllocSize - VARHDRSZ - sizeof(header))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many different keys for one parallel worker"),
				 errdetail("Its partial result would take %zu bytes.", size),
				 errhint("Set max_parallel_workers_per_gather to 0, or use hpsort_query.")));

	memset(&header, 0, sizeof(header));
	header.nulls = state->nulls;
	header.lo = state->sorter.lo;
	header.hi = state->sorter.hi;
	header.descending = state->descending;
	result = (bytea *) palloc(VARHDRSZ + sizeof(header) + size);
	SET_VARSIZE(result, VARHDRSZ + sizeof(header) + size);
	memcpy(VARDATA(result), &header, sizeof(header));
	sorter_serialize(&state->sorter, VARDATA(result) + sizeof(header));
	return PointerGetDatum(result);
}

/* (internal) returns bytea */
Datum
hpsort_agg_serialize(PG_FUNCTION_ARGS)
{
	if (!AggCheckCallContext(fcinfo, NULL))
		elog(ERROR, "aggregate function called in non-aggregate context");
	return aggregate_state_serialize((AggregateState *) PG_GETARG_POINTER(0));
}

/* (bytea, internal) returns internal, in the calling context */
Datum
hpsort_agg_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *data;
	SerializedState header;
	SortContext *context;
	AggregateState *state;
	SortError	err;

	if (!AggCheckCallContext(fcinfo, NULL))
		elog(ERROR, "aggregate function called in non-aggregate context");
	data = PG_GETARG_BYTEA_PP(0);
	if (VARSIZE_ANY_EXHDR(data) < sizeof(header))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("serialized keys are corrupt: too short")));
	memcpy(&header, VARDATA_ANY(data), sizeof(header));
	if (header.nulls < 0 || header.lo > header.hi)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("serialized keys are corrupt: impossible header")));

	context = (SortContext *) palloc(sizeof(SortContext));
	pg_sort_context_partial(context, CurrentMemoryContext);
	state = aggregate_state_make(context, header.lo, header.hi, header.descending != 0);
	state->nulls = header.nulls;
	pg_sort_check(sorter_deserialize(&state->sorter, VARDATA_ANY(data) + sizeof(header),
									 VARSIZE_ANY_EXHDR(data) - sizeof(header), &err), &err);
	PG_RETURN_POINTER(state);
}

/* An array of keys as one of int2 or int8. */
static ArrayType *
array_of_type(ArrayType *keys, Oid type)
{
	bool		wide = type == INT8OID;
	int			items = ARR_DIMS(keys)[0];
	Size		overhead = ARR_HASNULL(keys) ? ARR_OVERHEAD_WITHNULLS(1, items) : ARR_OVERHEAD_NONULLS(1);
	Size		n = (VARSIZE(keys) - overhead) / sizeof(int32);
	Size		size = overhead + n * (wide ? sizeof(int64) : sizeof(int16));
	const int32 *from = (const int32 *) ARR_DATA_PTR(keys);
	ArrayType  *result;
	Size		i;

	if (!AllocSizeIsValid(size))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("array of %d elements exceeds the maximum size", items),
				 errhint("Use hpsort_query, which returns a set, or hpsort_runs_agg.")));
	result = (ArrayType *) palloc(size);
	memcpy(result, keys, overhead);
	SET_VARSIZE(result, size);
	result->elemtype = type;
	if (wide)
		for (i = 0; i < n; i++)
			((int64 *) ARR_DATA_PTR(result))[i] = from[i];
	else
		for (i = 0; i < n; i++)
			((int16 *) ARR_DATA_PTR(result))[i] = (int16) from[i];
	pfree(keys);
	return result;
}

Datum
aggregate_state_array(AggregateState *state, Oid type)
{
	ArrayType  *result;
	SortError	err;
	int32	   *out;

	result = int4_array_make((int64) sorter_count(&state->sorter), state->nulls, 1,
							 state->nulls_first, &out);
	pg_sort_check(sorter_finish(&state->sorter, SORT_WANT_KEYS, &err), &err);
	pg_sort_check(sorter_read_keys(&state->sorter, state->descending, out, &err), &err);
	last_sort_record("hpsort_agg", &state->sorter, out, state->nulls);
	result->elemtype = type;
	if (type == INT2OID || type == INT8OID)
		result = array_of_type(result, type);
	return PointerGetDatum(result);
}

Oid
aggregate_array_type(Oid result_type)
{
	Oid			element = get_element_type(result_type);

	if (element != INT2OID && element != INT4OID && element != INT8OID && element != DATEOID)
		elog(ERROR, "unexpected result type %u", result_type);
	return element;
}

/* (internal) returns int4[], int2[], int8[] or date[] */
Datum
hpsort_agg_finalfn(PG_FUNCTION_ARGS)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;

	if (!AggCheckCallContext(fcinfo, NULL))
		elog(ERROR, "aggregate function called in non-aggregate context");
	/* No rows: NULL, as array_agg. */
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	/* Not from the call's expression: who runs us by our OID may have none. */
	if (flinfo->fn_extra == NULL)
	{
		Oid			type = aggregate_array_type(get_func_rettype(flinfo->fn_oid));

		flinfo->fn_extra = MemoryContextAlloc(flinfo->fn_mcxt, sizeof(Oid));
		*(Oid *) flinfo->fn_extra = type;
	}
	return aggregate_state_array((AggregateState *) PG_GETARG_POINTER(0),
								 *(Oid *) flinfo->fn_extra);
}

/* Runs read from a sorter at once. */
#define RUN_BATCH 1024

/* The type may be in any schema: it is what the function is declared to return. */
TupleDesc
aggregate_run_type(Oid result_type)
{
	Oid			element = get_element_type(result_type);
	TupleDesc	tupdesc;

	if (!OidIsValid(element))
		elog(ERROR, "could not determine the element type of the result");
	tupdesc = BlessTupleDesc(lookup_rowtype_tupdesc_copy(element, -1));
	run_type_check(tupdesc);
	return tupdesc;
}

/* The elements of an array of runs, as they come. */
typedef struct RunArray
{
	TupleDesc	tupdesc;
	Datum	   *elements;
	int64		n;
	int64		capacity;
	Size		bytes;
} RunArray;

static void
add_run(RunArray *runs, int32 key, bool isnull, int64 count)
{
	Datum		values[2] = {Int32GetDatum(key), Int64GetDatum(count)};
	bool		nulls[2] = {isnull, false};
	HeapTuple	tuple = heap_form_tuple(runs->tupdesc, values, nulls);

	if (runs->n == runs->capacity)
	{
		runs->capacity *= 2;
		runs->elements = (Datum *) repalloc_huge(runs->elements, runs->capacity * sizeof(Datum));
	}
	runs->elements[runs->n++] = HeapTupleGetDatum(tuple);
	runs->bytes += MAXALIGN(tuple->t_len);
	if (runs->bytes > MaxAllocSize - ARR_OVERHEAD_NONULLS(1))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("array of more than %lld runs exceeds the maximum size",
						(long long) runs->n),
				 errhint("Use hpsort_query, which returns a set.")));
}

Datum
aggregate_state_runs(AggregateState *state, TupleDesc tupdesc)
{
	RunArray	runs = {.tupdesc = tupdesc, .capacity = RUN_BATCH};
	SorterCursor cursor;
	SortError	err;
	int32		keys[RUN_BATCH];
	uint64		counts[RUN_BATCH];
	size_t		got;
	size_t		i;

	pg_sort_check(sorter_finish(&state->sorter, SORT_WANT_RUNS, &err), &err);
	pg_sort_check(sorter_open_cursor(&state->sorter, state->descending, &cursor, &err), &err);
	runs.elements = (Datum *) palloc(runs.capacity * sizeof(Datum));

	/* All NULLs are one run, as in GROUP BY x ORDER BY x. */
	if (state->nulls > 0 && state->nulls_first)
		add_run(&runs, 0, true, state->nulls);
	do
	{
		pg_sort_check(sorter_cursor_runs(&cursor, keys, counts, RUN_BATCH, &got, &err), &err);
		for (i = 0; i < got; i++)
			add_run(&runs, keys[i], false, (int64) counts[i]);
	} while (got == RUN_BATCH);
	if (state->nulls > 0 && !state->nulls_first)
		add_run(&runs, 0, true, state->nulls);
	last_sort_record("hpsort_runs_agg", &state->sorter, NULL, state->nulls);

	return PointerGetDatum(construct_array(runs.elements, (int) runs.n, tupdesc->tdtypeid, -1,
										   false, TYPALIGN_DOUBLE));
}

/* (internal) returns hpsort_run[] */
Datum
hpsort_runs_agg_finalfn(PG_FUNCTION_ARGS)
{
	if (!AggCheckCallContext(fcinfo, NULL))
		elog(ERROR, "aggregate function called in non-aggregate context");
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (fcinfo->flinfo->fn_extra == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);

		fcinfo->flinfo->fn_extra = aggregate_run_type(get_func_rettype(fcinfo->flinfo->fn_oid));
		MemoryContextSwitchTo(old);
	}
	return aggregate_state_runs((AggregateState *) PG_GETARG_POINTER(0),
								(TupleDesc) fcinfo->flinfo->fn_extra);
}
