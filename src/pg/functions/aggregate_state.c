/*
 * aggregate_state.c
 *		The state of one group of hpsort's aggregates (see aggregate_state.h).
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "pg/functions/aggregate_state.h"
#include "pg/functions/run_array.h"
#include "pg/int4_array.h"
#include "pg/last_sort.h"
#include "pg/sort_context.h"
#include "pg/values/value.h"

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

	if (!column_type_is_key(element))
		elog(ERROR, "unexpected result type %u", result_type);
	return element;
}

/* Runs read from a sorter at once. */
#define RUN_BATCH 1024

Datum
aggregate_state_runs(AggregateState *state, TupleDesc tupdesc)
{
	RunArray	runs;
	uint64		expected = sorter_count(&state->sorter);
	SorterCursor cursor;
	SortError	err;
	int32		keys[RUN_BATCH];
	uint64		counts[RUN_BATCH];
	size_t		got;

	pg_sort_check(sorter_finish(&state->sorter, SORT_WANT_RUNS, &err), &err);
	if (expected > RUN_BATCH)
	{
		SorterStats stats;

		pg_sort_stats(&state->sorter, NULL, &stats);
		expected = Max(stats.distinct, RUN_BATCH);
	}
	run_array_begin(&runs, tupdesc, expected);
	pg_sort_check(sorter_open_cursor(&state->sorter, state->descending, &cursor, &err), &err);

	if (state->nulls > 0 && state->nulls_first)
		run_array_add_nulls(&runs, tupdesc, state->nulls);
	do
	{
		pg_sort_check(sorter_cursor_runs(&cursor, keys, counts, RUN_BATCH, &got, &err), &err);
		CHECK_FOR_INTERRUPTS();
		run_array_add(&runs, keys, counts, got);
	} while (got == RUN_BATCH);
	if (state->nulls > 0 && !state->nulls_first)
		run_array_add_nulls(&runs, tupdesc, state->nulls);
	last_sort_record("hpsort_runs_agg", &state->sorter, NULL, state->nulls);

	return run_array_end(&runs);
}
