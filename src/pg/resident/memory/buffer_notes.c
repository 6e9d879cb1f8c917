/*
 * buffer_notes.c
 *		Where blocks were found (see buffer_notes.h).
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "pg/resident/memory/buffer_notes.h"
#include "pg/shared_memory.h"

/* The most notes of a process of its own: for 8 GB of tables, 4 MB. */
#define MOST_OWN_NOTES (1 << 20)

/* How many notes there are in shared memory; 0: none. */
static uint32 nshared = 0;

/* The notes that this process uses, once it has asked; what is of a file is not set. */
static BufferNotes notes;

void
buffer_notes_preload(void)
{
	/* No more blocks than that are in buffers, and four bytes are little beside a buffer. */
	nshared = pg_nextpower2_32((uint32) NBuffers);
	shared_memory_request(nshared * sizeof(pg_atomic_uint32));
}

static void
init_shared(void *data)
{
	memset(data, 0, nshared * sizeof(pg_atomic_uint32));
}

BufferNotes
buffer_notes_of(uint32 file)
{
	BufferNotes result;

	if (notes.notes == NULL)
	{
		uint32		n = nshared;

		if (n > 0)
			notes.notes = shared_memory_attach("hpsort buffer notes",
											   n * sizeof(pg_atomic_uint32), init_shared);
		if (notes.notes == NULL)
		{
			n = pg_nextpower2_32((uint32) Min(NBuffers, MOST_OWN_NOTES));
			notes.notes = MemoryContextAllocZero(TopMemoryContext, n * sizeof(pg_atomic_uint32));
		}
		notes.mask = n - 1;
	}
	result = notes;
	result.start = murmurhash32(file);
	return result;
}
