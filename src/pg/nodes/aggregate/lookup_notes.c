/*
 * lookup_notes.c
 *		Rows of blocks that are not resident (see lookup_notes.h).
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pg/nodes/aggregate/lookup_notes.h"

void
lookup_notes_begin(LookupNotes *notes, MemoryContext memory, int ncolumns, size_t limit)
{
	memset(notes, 0, sizeof(*notes));
	notes->memory = memory;
	notes->ncolumns = ncolumns;
	notes->limit = limit;
	notes->columns = MemoryContextAllocZero(memory, Max(ncolumns, 1) * sizeof(ColumnBatch));
}

/* Room for n more; false if they would take too much memory. */
static bool
make_room(LookupNotes *notes, size_t n)
{
	size_t		size = notes->ncolumns * (sizeof(int32) + sizeof(uint8)) + sizeof(int32);
	size_t		room = Max(notes->room * 2, COLUMN_BATCH_KEYS);
	int			c;

	if (notes->n + n <= notes->room)
		return true;
	/* The old block is there until it has been copied. */
	if ((notes->room + room) * size > notes->limit)
		return false;
	for (c = 0; c < notes->ncolumns; c++)
	{
		ColumnBatch *noted = &notes->columns[c];

		if (notes->room == 0)
		{
			noted->keys = MemoryContextAllocHuge(notes->memory, room * sizeof(int32));
			noted->nulls = MemoryContextAllocHuge(notes->memory, room);
		}
		else
		{
			noted->keys = repalloc_huge(noted->keys, room * sizeof(int32));
			noted->nulls = repalloc_huge(noted->nulls, room);
		}
	}
	notes->room = room;
	return true;
}

/* Notes a column's values; false if one is no int4. */
static bool
note_column(ColumnBatch *noted, const ColumnBatch *batch)
{
	size_t		i;

	if (batch->keys)
		memcpy(noted->keys + noted->n, batch->keys, batch->n * sizeof(int32));
	else
		for (i = 0; i < batch->n; i++)
		{
			if (batch->wide[i] != (int32) batch->wide[i])
				return false;
			noted->keys[noted->n + i] = (int32) batch->wide[i];
		}
	memcpy(noted->nulls + noted->n, batch->nulls, batch->n);
	noted->n += batch->n;
	noted->nnulls += batch->nnulls;
	return true;
}

void
lookup_notes_end(LookupNotes *notes)
{
	int			c;

	notes->closed = true;
	for (c = 0; c < notes->ncolumns && notes->room > 0; c++)
	{
		pfree(notes->columns[c].keys);
		pfree(notes->columns[c].nulls);
	}
	notes->room = 0;
}

void
lookup_notes_add(LookupNotes *notes, const ColumnBatch *batches)
{
	bool		fits;
	int			c;

	if (notes->closed || batches[0].n == 0)
		return;
	Assert(batches[0].packed.n == 0 && batches[0].runs == NULL);
	fits = make_room(notes, batches[0].n);
	for (c = 0; c < notes->ncolumns && fits; c++)
		fits = note_column(&notes->columns[c], &batches[c]);
	notes->n += batches[0].n;
	if (!fits)
		lookup_notes_end(notes);
}
