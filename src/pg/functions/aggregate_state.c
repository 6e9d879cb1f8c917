/*
 * aggregate_state.c
 *		The state of one group of hpsort's aggregates (see functions.h).
 */
#include "postgres.h"

#include "access/parallel.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/expandeddatum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/functions/functions.h"
#include "pg/int4_array.h"
#include "pg/last_sort.h"
#include "pg/sort_context.h"
#include "pg/values/values.h"

/* Makes *state a state without rows; its keys are in the memory of context, which outlives it. */
static void
init(AggregateState *state, const SortContext *context, int32 lo, int32 hi, bool descending)
{
	sorter_init(&state->sorter, context, lo, hi);
	state->nulls = 0;
	state->descending = state->nulls_first = descending;
	state->ordered = state->object = state->received = false;
}

AggregateState *
aggregate_state_make(const SortContext *context, int32 lo, int32 hi, bool descending)
{
	AggregateState *state;

	state = (AggregateState *) MemoryContextAlloc((MemoryContext) context->allocator.arena,
												  sizeof(AggregateState));
	init(state, context, lo, hi, descending);
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

/*
 * What aggregate_state_share() returns in place of a serialized state: the state itself, if the
 * same process will take it; else where its serialized form is in the area.
 */
typedef struct SharedState
{
	int64		mark;			/* SHARED_STATE, where a SerializedState has nulls */
	AggregateState *state;		/* NULL: in the area */
	dsa_pointer data;
	Size		size;
} SharedState;

#define SHARED_STATE (-1)

/* A state whose keys are still in the area, until aggregate_state_add() reads them. */
typedef struct ReceivedState
{
	AggregateState state;		/* without the keys */
	dsa_area   *area;			/* which data is in */
	dsa_pointer data;
	Size		size;
} ReceivedState;

/* How many bytes serialize() will write. */
static Size
serialized_size(AggregateState *state)
{
	SortError	err;
	size_t		size;

	pg_sort_check(sorter_serialize_size(&state->sorter, &size, &err), &err);
	return sizeof(SerializedState) + size;
}

/* Writes a state to data, which has room for serialized_size(state) bytes. */
static void
serialize(AggregateState *state, char *data)
{
	SerializedState header;

	memset(&header, 0, sizeof(header));
	header.nulls = state->nulls;
	header.lo = state->sorter.lo;
	header.hi = state->sorter.hi;
	header.descending = state->descending;
	memcpy(data, &header, sizeof(header));
	sorter_serialize(&state->sorter, data + sizeof(header));
}

Datum
aggregate_state_serialize(AggregateState *state)
{
	Size		size = serialized_size(state);
	bytea	   *result;

	if (size > MaxAllocSize - VARHDRSZ)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many different keys for one parallel worker"),
				 errdetail("Its partial result would take %zu bytes.", size),
				 errhint("Set max_parallel_workers_per_gather to 0.")));
	result = (bytea *) palloc(VARHDRSZ + size);
	SET_VARSIZE(result, VARHDRSZ + size);
	serialize(state, VARDATA(result));
	return PointerGetDatum(result);
}

/* DSA_ALLOC_HUGE: the keys of a state may take more than an SQL value can hold. */
Datum
aggregate_state_share(AggregateState *state, dsa_area *area)
{
	SharedState shared = {.mark = SHARED_STATE};
	bytea	   *result;

	if (area == NULL)
		return aggregate_state_serialize(state);
	if (!IsParallelWorker())
		shared.state = state;
	else
	{
		shared.size = serialized_size(state);
		shared.data = dsa_allocate_extended(area, shared.size, DSA_ALLOC_HUGE);
		serialize(state, (char *) dsa_get_address(area, shared.data));
	}
	result = (bytea *) palloc(VARHDRSZ + sizeof(shared));
	SET_VARSIZE(result, VARHDRSZ + sizeof(shared));
	memcpy(VARDATA(result), &shared, sizeof(shared));
	return PointerGetDatum(result);
}

/*
 * Makes *state a state without keys, but with the NULLs, bounds and direction of the header of a
 * serialized one. context may be NULL for a state that gets no keys.  A header that no state has
 * is an error.
 */
static void
read_header(AggregateState *state, const SortContext *context, const char *data, Size size)
{
	SerializedState header;

	if (size < sizeof(header))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("serialized keys are corrupt: too short")));
	memcpy(&header, data, sizeof(header));
	if (header.nulls < 0 || header.lo > header.hi)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("serialized keys are corrupt: impossible header")));
	init(state, context, header.lo, header.hi, header.descending != 0);
	state->nulls = header.nulls;
}

/* Adds the keys of a serialized state, whose header has been read, to the state made of it. */
static void
read_keys(AggregateState *state, const char *data, Size size)
{
	SortError	err;

	pg_sort_check(sorter_deserialize(&state->sorter, data + sizeof(SerializedState),
									 size - sizeof(SerializedState), &err), &err);
}

/*
 * Returns a state made of a serialized one, in the current memory context, to be added to another
 * one: it uses no GPU.  Bytes that no state serializes to are an error.
 */
static AggregateState *
deserialize(const char *data, Size size)
{
	SortContext *context = (SortContext *) palloc(sizeof(SortContext));
	AggregateState *state = (AggregateState *) palloc(sizeof(AggregateState));

	pg_sort_context_partial(context, CurrentMemoryContext);
	read_header(state, context, data, size);
	read_keys(state, data, size);
	return state;
}

AggregateState *
aggregate_state_receive(const char *data, Size size, dsa_area *area)
{
	SharedState shared;
	ReceivedState *received;

	if (area == NULL || size != sizeof(shared))
		return deserialize(data, size);
	memcpy(&shared, data, sizeof(shared));
	if (shared.mark != SHARED_STATE)
		return deserialize(data, size);
	if (shared.state != NULL)
		return shared.state;
	received = (ReceivedState *) palloc(sizeof(ReceivedState));
	read_header(&received->state, NULL, (char *) dsa_get_address(area, shared.data), shared.size);
	received->state.received = true;
	received->area = area;
	received->data = shared.data;
	received->size = shared.size;
	return &received->state;
}

void
aggregate_state_add(AggregateState *state, AggregateState *other)
{
	SortError	err;

	state->nulls += other->nulls;
	if (other->received)
	{
		ReceivedState *received = (ReceivedState *) other;

		read_keys(state, (char *) dsa_get_address(received->area, received->data), received->size);
		dsa_free(received->area, received->data);
		return;
	}
	pg_sort_check(sorter_merge(&state->sorter, &other->sorter, &err), &err);
}

/* Returns the array of a state whose n keys are in order, of type int2 or int8. */
static ArrayType *
array_of_type(const AggregateState *state, Oid type, const int32 *keys, int64 n)
{
	bool		wide = type == INT8OID;
	char	   *elements;
	ArrayType  *result = flat_array_make(type, wide ? sizeof(int64) : sizeof(int16), n,
										 state->nulls, state->nulls_first, &elements);

	if (result == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("array of %d elements exceeds the maximum size", (int) (n + state->nulls)),
				 errhint("Use hpsort_query, which returns a set, or hpsort_runs_agg.")));
	if (wide)
		for (int64 i = 0; i < n; i++)
			((int64 *) elements)[i] = keys[i];
	else
		for (int64 i = 0; i < n; i++)
			((int16 *) elements)[i] = (int16) keys[i];
	return result;
}

/* The sorter knows int4 alone: keys of int2 and int8 are copied into a second array. */
Datum
aggregate_state_array(AggregateState *state, Oid type, const char *function)
{
	int64		n = (int64) sorter_count(&state->sorter);
	SortError	err;
	int32	   *keys;
	ArrayType  *result = int4_array_make(n, state->nulls, 1, state->nulls_first, &keys);

	pg_sort_check(sorter_finish(&state->sorter, SORT_WANT_KEYS, &err), &err);
	pg_sort_check(sorter_read_keys(&state->sorter, state->descending, keys, &err), &err);
	last_sort_record(function, &state->sorter, keys, state->nulls);
	result->elemtype = type;
	if (type == INT2OID || type == INT8OID)
	{
		ArrayType  *of_int4 = result;

		result = array_of_type(state, type, keys, n);
		pfree(of_int4);
	}
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

/* --- a state as an SQL value */

/* An expanded object with a state, alone in its memory context. */
typedef struct StateObject
{
	ExpandedObjectHeader header;
	SortContext context;		/* of the state's sorter */
	AggregateState state;
	bytea	   *flat;			/* between get_flat_size and flatten_into */
} StateObject;

/* EOM_get_flat_size: serializes the state, since nothing else says how large it will be. */
static Size
get_flat_size(ExpandedObjectHeader *header)
{
	StateObject *object = (StateObject *) header;

	if (object->flat == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(header->eoh_context);

		object->flat = DatumGetByteaPP(aggregate_state_serialize(&object->state));
		MemoryContextSwitchTo(old);
	}
	return VARSIZE(object->flat);
}

/* EOM_flatten_into: copies what get_flat_size, which PostgreSQL always calls first, has made. */
static void
flatten_into(ExpandedObjectHeader *header, void *result, Size allocated_size)
{
	StateObject *object = (StateObject *) header;

	memcpy(result, object->flat, allocated_size);
	pfree(object->flat);
	object->flat = NULL;
}

static const ExpandedObjectMethods methods = {get_flat_size, flatten_into};

AggregateState *
state_object_make(MemoryContext parent, int32 lo, int32 hi)
{
	MemoryContext memory = AllocSetContextCreate(parent, "hpsort keys", ALLOCSET_DEFAULT_SIZES);
	StateObject *object = (StateObject *) MemoryContextAlloc(memory, sizeof(StateObject));

	EOH_init_header(&object->header, &methods, memory);
	pg_sort_context(&object->context, memory);
	init(&object->state, &object->context, lo, hi, false);
	object->state.object = true;
	object->flat = NULL;
	return &object->state;
}

Datum
state_object_datum(AggregateState *state)
{
	StateObject *object = (StateObject *) ((char *) state - offsetof(StateObject, state));
	void	   *pointer = palloc(EXPANDED_POINTER_SIZE);

	/*
	 * PostgreSQL 15's Agg copies a result that is not in the current memory context: it would
	 * serialize the state.
	 */
	memcpy(pointer, object->header.eoh_ro_ptr, EXPANDED_POINTER_SIZE);
	return PointerGetDatum(pointer);
}

/* Returns a new state below parent with the keys, NULLs and bounds of a serialized one. */
static AggregateState *
expand(Datum value, MemoryContext parent)
{
	bytea	   *flat = DatumGetByteaPP(value);
	AggregateState *from = deserialize(VARDATA_ANY(flat), VARSIZE_ANY_EXHDR(flat));
	AggregateState *state = state_object_make(parent, from->sorter.lo, from->sorter.hi);

	aggregate_state_add(state, from);
	sorter_reset(&from->sorter);
	return state;
}

AggregateState *
state_object_take(Datum value, MemoryContext parent)
{
	StateObject *object;

	if (!VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(value)))
		return expand(value, parent);
	object = (StateObject *) DatumGetEOHP(value);
	if (object->header.eoh_methods != &methods)
		elog(ERROR, "value is no state of hpsort_support_keys_agg");
	MemoryContextSetParent(object->header.eoh_context, parent);
	return &object->state;
}
