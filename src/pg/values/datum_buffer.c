/*
 * datum_buffer.c
 *		Copies of the values of a batch (see datum_buffer.h).
 */
#include "postgres.h"

#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "pg/values/datum_buffer.h"

/* Bytes of the block with which a buffer begins. */
#define FIRST_BLOCK (64 * 1024)

struct DatumBuffer
{
	MemoryContext memory;		/* of all blocks but the first */
	int16		length;			/* of the type: typlen ... */
	bool		byval;			/* ... and typbyval */
	char	   *first;			/* the block that is kept */
	size_t		first_size;
	char	   *next;			/* free bytes of the newest block */
	size_t		room;			/* how many */
	size_t		used;			/* bytes of all values */
	size_t		limit;			/* from which on the batch has rows enough */
};

DatumBuffer *
datum_buffer_make(Oid type)
{
	DatumBuffer *buffer = palloc0_object(DatumBuffer);

	buffer->memory = AllocSetContextCreate(CurrentMemoryContext, "HpSort values of a batch",
										   ALLOCSET_DEFAULT_SIZES);
	get_typlenbyval(type, &buffer->length, &buffer->byval);
	return buffer;
}

void
datum_buffer_limit(DatumBuffer *buffer, size_t limit)
{
	buffer->limit = Max(limit, FIRST_BLOCK);
}

bool
datum_buffer_is_full(const void *buffer)
{
	const DatumBuffer *of = (const DatumBuffer *) buffer;

	return of->used >= of->limit;
}

size_t
datum_buffer_memory(const DatumBuffer *buffer)
{
	return buffer->first_size + MemoryContextMemAllocated(buffer->memory, true);
}

/* Makes a block of at least size bytes the newest one. */
static void
add_block(DatumBuffer *buffer, size_t size)
{
	size_t		block = Max(size, FIRST_BLOCK);

	if (buffer->first == NULL)
	{
		buffer->first = MemoryContextAlloc(GetMemoryChunkContext(buffer), block);
		buffer->first_size = block;
		buffer->next = buffer->first;
	}
	else
		buffer->next = MemoryContextAlloc(buffer->memory, block);
	buffer->room = block;
}

int64
datum_buffer_put(void *arg, Datum value)
{
	DatumBuffer *buffer = (DatumBuffer *) arg;
	size_t		length;
	char	   *copy;

	if (buffer->byval)
		return (int64) value;
	length = datumGetSize(value, false, buffer->length);
	if (MAXALIGN(length) > buffer->room)
		add_block(buffer, MAXALIGN(length));
	copy = buffer->next;
	memcpy(copy, DatumGetPointer(value), length);
	buffer->next += MAXALIGN(length);
	buffer->room -= MAXALIGN(length);
	buffer->used += MAXALIGN(length);
	return (int64) PointerGetDatum(copy);
}

void
datum_buffer_empty(DatumBuffer *buffer)
{
	MemoryContextReset(buffer->memory);
	/* One block for all, if the next batch is like this one. */
	if (buffer->used > buffer->first_size && buffer->first_size < buffer->limit)
	{
		pfree(buffer->first);
		buffer->first_size = Min(buffer->used + buffer->used / 8, buffer->limit);
		buffer->first = MemoryContextAlloc(GetMemoryChunkContext(buffer), buffer->first_size);
	}
	buffer->next = buffer->first;
	buffer->room = buffer->first_size;
	buffer->used = 0;
}

const char *
datum_buffer_bytes(const DatumBuffer *buffer, const int64 *value, size_t *length)
{
	if (buffer->byval)
	{
		*length = sizeof(int64);
		return (const char *) value;
	}
	*length = datumGetSize((Datum) *value, false, buffer->length);
	return DatumGetPointer((Datum) *value);
}

Datum
datum_buffer_restore(const DatumBuffer *buffer, const char *bytes)
{
	return buffer->byval ? *(const Datum *) bytes : PointerGetDatum(bytes);
}
