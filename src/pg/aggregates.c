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
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "nodes/execnodes.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "aggregates.h"
#include "pg_sorter.h"
#include "set_state.h"

PG_FUNCTION_INFO_V1(hpsort_agg_transfn);
PG_FUNCTION_INFO_V1(hpsort_agg_combine);
PG_FUNCTION_INFO_V1(hpsort_agg_serialize);
PG_FUNCTION_INFO_V1(hpsort_agg_deserialize);
PG_FUNCTION_INFO_V1(hpsort_agg_finalfn);
PG_FUNCTION_INFO_V1(hpsort_runs_agg_finalfn);

/*
 * SortContexts are shared by all groups whose states live in one memory
 * context; there is one such context a grouping set.  Kept in fn_extra.
 */
typedef struct ContextCache
{
	struct ContextCache *next;
	SortContext context;
} ContextCache;

static const SortContext *
shared_context(FunctionCallInfo fcinfo, MemoryContext aggcontext)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	ContextCache *c;

	for (c = (ContextCache *) flinfo->fn_extra; c != NULL; c = c->next)
		if (c->context.allocator.arena == aggcontext)
			return &c->context;

	c = (ContextCache *) MemoryContextAlloc(flinfo->fn_mcxt, sizeof(ContextCache));

	/* A partial state goes to the leader as it is; nothing is sorted here. */
	if (IsA(fcinfo->context, AggState) &&
		DO_AGGSPLIT_SKIPFINAL(((AggState *) fcinfo->context)->aggsplit))
		pg_sort_context_partial(&c->context, aggcontext);
	else
		pg_sort_context(&c->context, aggcontext);
	c->next = (ContextCache *) flinfo->fn_extra;
	flinfo->fn_extra = c;
	return &c->context;
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
	return state;
}

/* Bounds and direction from the arguments of a row, if it has them. */
static void
row_options(FunctionCallInfo fcinfo, int32 *lo, int32 *hi, bool *descending)
{
	*lo = PG_INT32_MIN;
	*hi = PG_INT32_MAX;
	if (PG_NARGS() > 2)
		sort_bounds_from_args(fcinfo, 2, lo, hi);
	*descending = PG_NARGS() > 4 && !PG_ARGISNULL(4) && PG_GETARG_BOOL(4);
}

static AggregateState *
first_row(FunctionCallInfo fcinfo)
{
	MemoryContext aggcontext;
	int32		lo;
	int32		hi;
	bool		descending;

	if (!AggCheckCallContext(fcinfo, &aggcontext))
		elog(ERROR, "aggregate function called in non-aggregate context");
	row_options(fcinfo, &lo, &hi, &descending);
	return aggregate_state_make(shared_context(fcinfo, aggcontext), lo, hi, descending);
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
	bool		descending;

	row_options(fcinfo, &lo, &hi, &descending);
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

/* (internal, int4 [, lo int4, hi int4 [, descending bool]]) returns internal */
Datum
hpsort_agg_transfn(PG_FUNCTION_ARGS)
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
		sorter_put_key(sorter, PG_GETARG_INT32(1));
	}
	PG_RETURN_POINTER(state);
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
		state = aggregate_state_make(shared_context(fcinfo, aggcontext),
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

Datum
aggregate_state_array(AggregateState *state)
{
	ArrayType  *result;
	SortError	err;
	int32	   *out;

	/* NULLs where ORDER BY puts them: first if descending. */
	result = int4_array_make((int64) sorter_count(&state->sorter), state->nulls, 1,
							 state->descending, &out);
	pg_sort_check(sorter_finish(&state->sorter, SORT_WANT_KEYS, &err), &err);
	pg_sort_check(sorter_read_keys(&state->sorter, state->descending, out, &err), &err);
	last_sort_record("hpsort_agg", &state->sorter, out, state->nulls);
	return PointerGetDatum(result);
}

/* (internal) returns int4[] */
Datum
hpsort_agg_finalfn(PG_FUNCTION_ARGS)
{
	if (!AggCheckCallContext(fcinfo, NULL))
		elog(ERROR, "aggregate function called in non-aggregate context");
	/* No rows: NULL, as array_agg. */
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	return aggregate_state_array((AggregateState *) PG_GETARG_POINTER(0));
}

/* Runs read from a sorter at once. */
#define RUN_BATCH 1024

/* The type may be in any schema: it is what the aggregate is declared to return. */
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

Datum
aggregate_state_runs(AggregateState *state, TupleDesc tupdesc)
{
	SorterCursor cursor;
	SortError	err;
	Datum	   *elements;
	int64		capacity = RUN_BATCH;
	int64		n = 0;
	Size		bytes = 0;
	size_t		got;

	pg_sort_check(sorter_finish(&state->sorter, SORT_WANT_RUNS, &err), &err);
	pg_sort_check(sorter_open_cursor(&state->sorter, false, &cursor, &err), &err);
	elements = (Datum *) palloc(capacity * sizeof(Datum));
	do
	{
		int32		keys[RUN_BATCH];
		uint64		counts[RUN_BATCH];
		size_t		i;

		pg_sort_check(sorter_cursor_runs(&cursor, keys, counts, RUN_BATCH, &got, &err), &err);
		if (n + (int64) got + 1 > capacity)
		{
			capacity *= 2;
			elements = (Datum *) repalloc_huge(elements, capacity * sizeof(Datum));
		}
		/* The run of NULLs comes last, as in GROUP BY x ORDER BY x. */
		for (i = 0; i < got || (i == got && got < RUN_BATCH && state->nulls > 0); i++)
		{
			Datum		values[2];
			bool		isnull[2] = {i == got, false};
			HeapTuple	tuple;

			values[0] = i == got ? (Datum) 0 : Int32GetDatum(keys[i]);
			values[1] = Int64GetDatum(i == got ? state->nulls : (int64) counts[i]);
			tuple = heap_form_tuple(tupdesc, values, isnull);
			elements[n++] = HeapTupleGetDatum(tuple);
			bytes += MAXALIGN(tuple->t_len);
		}
		if (bytes > MaxAllocSize - ARR_OVERHEAD_NONULLS(1))
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("array of more than %lld runs exceeds the maximum size", (long long) n),
					 errhint("Use hpsort_query, which returns a set.")));
	} while (got == RUN_BATCH);
	last_sort_record("hpsort_runs_agg", &state->sorter, NULL, state->nulls);

	return PointerGetDatum(construct_array(elements, (int) n, tupdesc->tdtypeid, -1, false,
										   TYPALIGN_DOUBLE));
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

		fcinfo->flinfo->fn_extra = aggregate_run_type(get_fn_expr_rettype(fcinfo->flinfo));
		MemoryContextSwitchTo(old);
	}
	return aggregate_state_runs((AggregateState *) PG_GETARG_POINTER(0),
								(TupleDesc) fcinfo->flinfo->fn_extra);
}
