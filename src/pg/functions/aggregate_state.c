/*
 * aggregate_state.c
 *		The state of one group of hpsort's aggregates (see aggregate_state.h).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "pg/functions/aggregate_state.h"
#include "pg/functions/set_state.h"
#include "pg/int4_array.h"
#include "pg/last_sort.h"
#include "pg/sort_context.h"

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

AggregateState *
aggregate_state_deserialize(const char *data, Size size)
{
	SerializedState header;
	SortContext *context;
	AggregateState *state;
	SortError	err;

	if (size < sizeof(header))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("serialized keys are corrupt: too short")));
	memcpy(&header, data, sizeof(header));
	if (header.nulls < 0 || header.lo > header.hi)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("serialized keys are corrupt: impossible header")));

	context = (SortContext *) palloc(sizeof(SortContext));
	pg_sort_context_partial(context, CurrentMemoryContext);
	state = aggregate_state_make(context, header.lo, header.hi, header.descending != 0);
	state->nulls = header.nulls;
	pg_sort_check(sorter_deserialize(&state->sorter, data + sizeof(header), size - sizeof(header),
									 &err), &err);
	return state;
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

/* Runs read from a sorter at once. */
#define RUN_BATCH 1024

/* hpsort_run may be in any schema: it is found as the element of the result type. */
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

/*
 * An array of runs that is being built: the array's bytes, which grow.  The runs are
 * not datums of their own, which would take twice the array's memory beside it.
 */
typedef struct RunArray
{
	ArrayType  *array;
	Size		used;
	Size		capacity;
	int			n;
	HeapTupleHeader image;		/* a run without NULLs, which is copied for each */
	Size		image_size;
	Size		key_offset;		/* where its numbers are */
	Size		count_offset;
} RunArray;

/* Room for size bytes more. */
static void
reserve(RunArray *runs, Size size)
{
	if (runs->used + size <= runs->capacity)
		return;
	if (runs->used + size > MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("array of more than %d runs exceeds the maximum size",
						(int) ((MaxAllocSize - ARR_OVERHEAD_NONULLS(1)) / runs->image_size)),
				 errhint("Use hpsort_query, which returns a set.")));
	runs->capacity = Min(Max(runs->capacity * 2, runs->used + size), MaxAllocSize);
	runs->array = (ArrayType *) repalloc(runs->array, runs->capacity);
}

static HeapTupleHeader
form_run(TupleDesc tupdesc, bool isnull, int64 count)
{
	Datum		values[2] = {Int32GetDatum(0), Int64GetDatum(count)};
	bool		nulls[2] = {isnull, false};

	return DatumGetHeapTupleHeader(HeapTupleGetDatum(heap_form_tuple(tupdesc, values, nulls)));
}

/* An empty array with room for the runs of sorter, if it knows how many there are. */
static void
init_runs(RunArray *runs, TupleDesc tupdesc, Sorter *sorter)
{
	uint64		expected = sorter_count(sorter);

	if (expected > RUN_BATCH)
	{
		SorterStats stats;

		pg_sort_stats(sorter, NULL, &stats);
		expected = Max(stats.distinct, RUN_BATCH);
	}
	runs->image = form_run(tupdesc, false, 0);
	runs->image_size = MAXALIGN(HeapTupleHeaderGetDatumLength(runs->image));
	runs->key_offset = runs->image->t_hoff;
	runs->count_offset = runs->key_offset + DOUBLEALIGN(sizeof(int32));
	runs->n = 0;
	runs->used = ARR_OVERHEAD_NONULLS(1);
	/* One more for the run of NULLs. */
	runs->capacity = runs->used + runs->image_size * (expected + 1);
	runs->capacity = Min(runs->capacity, MaxAllocSize);
	runs->array = (ArrayType *) palloc(runs->capacity);
}

static void
add_runs(RunArray *runs, const int32 *keys, const uint64 *counts, size_t n)
{
	char	   *at;
	size_t		i;

	reserve(runs, n * runs->image_size);
	at = (char *) runs->array + runs->used;
	for (i = 0; i < n; i++, at += runs->image_size)
	{
		memcpy(at, runs->image, runs->image_size);
		memcpy(at + runs->key_offset, &keys[i], sizeof(keys[i]));
		memcpy(at + runs->count_offset, &counts[i], sizeof(counts[i]));
	}
	runs->used += n * runs->image_size;
	runs->n += (int) n;
}

/* All NULLs are one run, as in GROUP BY x ORDER BY x. */
static void
add_null_run(RunArray *runs, TupleDesc tupdesc, int64 nulls)
{
	HeapTupleHeader run = form_run(tupdesc, true, nulls);
	Size		size = HeapTupleHeaderGetDatumLength(run);

	reserve(runs, MAXALIGN(size));
	memset((char *) runs->array + runs->used, 0, MAXALIGN(size));
	memcpy((char *) runs->array + runs->used, run, size);
	runs->used += MAXALIGN(size);
	runs->n++;
}

Datum
aggregate_state_runs(AggregateState *state, TupleDesc tupdesc)
{
	RunArray	runs;
	SorterCursor cursor;
	SortError	err;
	int32		keys[RUN_BATCH];
	uint64		counts[RUN_BATCH];
	size_t		got;

	pg_sort_check(sorter_finish(&state->sorter, SORT_WANT_RUNS, &err), &err);
	init_runs(&runs, tupdesc, &state->sorter);
	pg_sort_check(sorter_open_cursor(&state->sorter, state->descending, &cursor, &err), &err);

	if (state->nulls > 0 && state->nulls_first)
		add_null_run(&runs, tupdesc, state->nulls);
	do
	{
		pg_sort_check(sorter_cursor_runs(&cursor, keys, counts, RUN_BATCH, &got, &err), &err);
		CHECK_FOR_INTERRUPTS();
		add_runs(&runs, keys, counts, got);
	} while (got == RUN_BATCH);
	if (state->nulls > 0 && !state->nulls_first)
		add_null_run(&runs, tupdesc, state->nulls);
	last_sort_record("hpsort_runs_agg", &state->sorter, NULL, state->nulls);

	SET_VARSIZE(runs.array, runs.used);
	runs.array->ndim = 1;
	runs.array->dataoffset = 0;
	runs.array->elemtype = tupdesc->tdtypeid;
	ARR_DIMS(runs.array)[0] = runs.n;
	ARR_LBOUND(runs.array)[0] = 1;
	return PointerGetDatum(runs.array);
}
