/*
 * state_object.c
 *		An AggregateState as an SQL value (see state_object.h).
 */
#include "postgres.h"

#include "utils/expandeddatum.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/functions/state_object.h"

/* An expanded object with a state, alone in its memory context. */
typedef struct StateObject
{
	ExpandedObjectHeader header;
	SortContext context;
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
	aggregate_state_init(&object->state, &object->context, lo, hi, false);
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

/* Makes a state, in a context below parent, of the serialized form. */
static AggregateState *
expand(Datum value, MemoryContext parent)
{
	bytea	   *flat = DatumGetByteaPP(value);
	AggregateState *from = aggregate_state_deserialize(VARDATA_ANY(flat), VARSIZE_ANY_EXHDR(flat));
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
