/*
 * in_place_read.c
 *		Rows in order that stay where they are (see in_place.h): returning them.
 */
#include "postgres.h"

#include "executor/executor.h"

#include "pg/nodes/sort/exec/in_place.h"

void
in_place_end_sort(InPlace *rows)
{
	if (!rows->copied)
		return;
	row_fetch_unpin(rows->fetch);
	rows->fetch->by_row = !rows->until_end;
}

void
in_place_read(InPlace *rows, uint64 i)
{
	if (rows->tape)
	{
		rows->first = i - i % IN_PLACE_TAPE_PLACES;
		rows->nplaces = Min(rows->count - rows->first, IN_PLACE_TAPE_PLACES);
		rows->places = rows->buffer;
		tape_get_items(rows->tape, rows->first * sizeof(uint32), rows->buffer,
					   rows->nplaces * sizeof(uint32));
		return;
	}
	Assert(i == rows->first + rows->nplaces);
	rows->first = i;
	rows->fetch->by_row = false;
	rows->nplaces = external_sort_next_refs(rows->external, &rows->places);
	in_place_end_sort(rows);
	if (rows->nplaces == 0)
		elog(ERROR, "no more places in a temporary file");
}

/* A WholeRunEnd: the call that asked for many rows ends. */
static void
unpin_at_end(void *arg)
{
	InPlace    *rows = (InPlace *) arg;

	rows->until_end = false;
	in_place_end_sort(rows);
}

TupleTableSlot *
in_place_copy(InPlace *rows, uint32 place)
{
	if (!rows->until_end)
	{
		rows->end = (WholeRunEnd)
		{
			.function = unpin_at_end,.arg = rows
		};
		rows->until_end = whole_run_until_end(&rows->end);
		rows->fetch->by_row = !rows->until_end;
	}
	ExecStoreHeapTuple(row_fetch(rows->fetch, place), rows->slot, false);
	ExecMaterializeSlot(rows->slot);
	if (!rows->until_end)
		row_fetch_unpin(rows->fetch);
	return place_rows_project(rows->child, rows->slot);
}

void
in_place_prefetch(InPlace *rows, uint64 i)
{
	uint64		end = rows->first + rows->nplaces;
	bool		begins = i == rows->first;
	uint64		j;

	if (row_fetch_is_waited_for(rows->fetch))
	{
		row_fetch_unpin(rows->fetch);
		in_place_unpin(rows);
	}
	if (rows->store->sorted_notes && rows->store->nnull == 0)
	{
		for (j = begins ? i : i + ROW_FETCH_AT_ONCE; j < Min(i + 2 * ROW_FETCH_AT_ONCE, end); j++)
			row_fetch_prefetch_item(rows->fetch, in_place_of(rows, j),
									row_store_note(rows->store, j));
		return;
	}

	/* The line pointers of the rows after those whose line pointers were prefetched before. */
	for (j = begins ? i : i + 2 * ROW_FETCH_AT_ONCE; j < Min(i + 3 * ROW_FETCH_AT_ONCE, end); j++)
		row_fetch_prefetch_line(rows->fetch, in_place_of(rows, j));
	for (j = begins ? i : i + ROW_FETCH_AT_ONCE; j < Min(i + 2 * ROW_FETCH_AT_ONCE, end); j++)
		row_fetch_prefetch_row(rows->fetch, in_place_of(rows, j));
}

void
in_place_rewind(InPlace *rows)
{
	rows->position.at = 0;
	rows->position.at_end = false;
}

void
in_place_mark(InPlace *rows)
{
	rows->mark = rows->position;
}

void
in_place_restore(InPlace *rows)
{
	rows->position = rows->mark;
}

void
in_place_unpin(InPlace *rows)
{
	if (rows->copied)
		return;
	ExecClearTuple(rows->slot);
	row_fetch_unpin(rows->fetch);

	/* Rows may move within their pages from now on. */
	rows->store->sorted_notes = NULL;
}

void
in_place_at_end(InPlace *rows)
{
	ExecClearTuple(rows->slot);
	if (!rows->spec->random && !rows->spec->rewind)
		in_place_unpin(rows);
}

void
in_place_end(InPlace *rows)
{
	ExecClearTuple(rows->slot);
	row_fetch_unpin(rows->fetch);
	if (rows->until_end)
		whole_run_forget_end(&rows->end);
	if (rows->external)
		external_sort_destroy(rows->external);
	row_store_destroy(rows->store);
}
