/*
 * lookup_notes.c
 *		Rows of blocks that are not resident (see lookup_notes.h).
 */
#include "postgres.h"

#include "pg/nodes/aggregate/read/lookup_notes.h"

static int
count_batches(const LookupNotes *notes)
{
	return notes->ncolumns + notes->nfilters;
}

void
lookup_notes_begin(LookupNotes *notes, MemoryContext memory, int ncolumns, int nfilters,
				   size_t limit)
{
	memset(notes, 0, sizeof(*notes));
	notes->memory = memory;
	notes->ncolumns = ncolumns;
	notes->nfilters = nfilters;
	notes->limit = limit;
	notes->columns = MemoryContextAllocZero(memory,
											Max(count_batches(notes), 1) * sizeof(ColumnBatch));
}

/* Makes room for n more rows; false if they would take more than limit. */
static bool
make_notes_room(LookupNotes *notes, size_t n)
{
	size_t		size = count_batches(notes) * (sizeof(int32) + sizeof(uint8)) + sizeof(int32);
	size_t		room = Max(notes->room * 2, COLUMN_BATCH_KEYS);
	MemoryContext old;

	if (notes->n + n <= notes->room)
		return true;
	/* The old block is there until it has been copied. */
	if ((notes->room + room) * size > notes->limit)
		return false;
	old = MemoryContextSwitchTo(notes->memory);
	for (int c = 0; c < count_batches(notes); c++)
	{
		if (notes->room == 0)
			column_batch_make(&notes->columns[c], BATCH_KEYS | BATCH_NULLS, room);
		else
			column_batch_enlarge(&notes->columns[c], room);
	}
	MemoryContextSwitchTo(old);
	notes->room = room;
	return true;
}

void
lookup_notes_end(LookupNotes *notes)
{
	notes->closed = true;
	for (int c = 0; c < count_batches(notes) && notes->room > 0; c++)
		column_batch_free(&notes->columns[c]);
	notes->room = 0;
}

void
lookup_notes_add(LookupNotes *notes, const ColumnBatch *batches)
{
	bool		fits;

	if (notes->closed || batches[0].n == 0)
		return;
	Assert(batches[0].packed.n == 0 && batches[0].runs == NULL);
	fits = make_notes_room(notes, batches[0].n);
	for (int c = 0; c < count_batches(notes) && fits; c++)
		fits = column_batch_append_narrow(&notes->columns[c], &batches[c],
										  c < notes->ncolumns ? notes->origins[c] : 0);
	notes->n += batches[0].n;
	if (!fits)
		lookup_notes_end(notes);
}
