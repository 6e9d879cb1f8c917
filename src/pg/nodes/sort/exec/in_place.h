/*
 * in_place.h
 *		Rows in order that stay where they are in their table: keys and places are
 *		sorted, and each row is fetched when it is returned.
 *
 * This is for a child that scans a heap and whose rows are all it returns, with a filter
 * or not, and for keys that are columns.  What the
 * child would have computed of a row is computed when the row is returned.  Rows are also fetched,
 * to be compared, where mapped keys are equal and others are left to core.
 *
 * Keys and places that do not fit into work_mem are sorted externally, as copied rows are
 * (store/external_sort.h).  Where rows may be read backward, from a mark, or again, their places
 * are written once more, in order, to a tape.
 *
 * Pages stay pinned while the executor runs a query to its end, unless somebody waits for one of
 * them: then all are unpinned, and pinned again as rows are wanted.  A query that stops in the
 * middle (whole_run.h) returns each row as a copy, and pins its page while it is copied, or until
 * the end of a call that asks for many rows: so an idle cursor keeps none.
 *
 * It pays where the table is in the buffer pool, which shows while it is read: if more
 * pages come from disk than a few, if not even the list of pages fits into work_mem, or if
 * abbreviations are of no use, the rows are copied into a RowSort, those read so far and the
 * others.
 */
#ifndef HPSORT_PG_NODES_SORT_EXEC_IN_PLACE_H
#define HPSORT_PG_NODES_SORT_EXEC_IN_PLACE_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "pg/nodes/sort/exec/place_rows.h"
#include "pg/nodes/sort/exec/row_sort.h"
#include "pg/nodes/sort/exec/whole_run.h"
#include "pg/pages/pages.h"

/* Places of a tape that are in memory at once. */
#define IN_PLACE_TAPE_PLACES 2048

typedef struct InPlace
{
	const RowSortSpec *spec;
	RowSortStats *stats;
	ScanState  *child;
	TupleTableSlot *slot;		/* a row as it is in the table */
	RowStore   *store;			/* keys, and places as references */
	RowFetch   *fetch;
	uint64		count;			/* rows that can be read */
	bool		copied;			/* each row is returned as a copy, and no page stays pinned ... */
	bool		until_end;		/* ... longer than the current call of the executor */
	WholeRunEnd end;			/* of that call */
	RowSortPosition position;
	RowSortPosition mark;

	/* Beyond work_mem. */
	ExternalSort *external;		/* NULL: the store has all rows */
	Tape	   *tape;			/* of places in order, unless NULL */
	uint32	   *buffer;			/* for those read from the tape */

	/* The places that are in memory: of nplaces rows from row first on. */
	const uint32 *places;		/* NULL: in the store */
	uint64		first;
	uint64		nplaces;
} InPlace;

/*
 * Reads all rows of the child, and sorts them.  slot is for rows of the table, of the kind
 * TTSOpsHeapTuple.  NULL if the rows are in sort now, for the caller to finish;
 * otherwise sort has none, and sort->stats are set.
 */
extern InPlace *in_place_sort(RowSort *sort, PlanState *child, TupleTableSlot *slot, uint64 bound);

/*
 * Ends a sort, during which pages stay pinned as rows are fetched to be compared: unpins them
 * where rows are returned as copies.
 */
extern void in_place_end_sort(InPlace *rows);

extern void in_place_rewind(InPlace *rows);
extern void in_place_mark(InPlace *rows);
extern void in_place_restore(InPlace *rows);

/*
 * Unpins all pages, of which the row returned last is no longer valid unless it is a copy.  More
 * rows can be read.
 */
extern void in_place_unpin(InPlace *rows);

/* Gives back what is not memory of the sort. */
extern void in_place_end(InPlace *rows);

/* All rows have been returned. */
extern void in_place_at_end(InPlace *rows);

/* Has the place of row i < count in memory, which is the next or, of a tape, any. */
extern void in_place_read(InPlace *rows, uint64 i);

/*
 * ExecStoreHeapTuple of rows of one table: they all come in the same tuple, so that of the slot
 * only what has been read from the last one must be forgotten.
 */
static inline void
in_place_show(InPlace *rows, HeapTuple tuple, uint32 place)
{
	if (likely(heap_format_store_again(rows->slot, tuple)))
		row_fetch_set_tid(rows->fetch, place, &rows->slot->tts_tid);
	else
		ExecStoreHeapTuple(tuple, rows->slot, false);
}

/* The place of row i in order, which is in memory. */
static inline uint32
in_place_of(const InPlace *rows, uint64 i)
{
	return rows->places ? rows->places[i - rows->first] : row_store_ref(rows->store, i);
}

/*
 * Prefetches rows from row i on, whose place is in memory, where rows are fetched one after the
 * other; before that all pages are unpinned if somebody waits for one of them.
 */
extern void in_place_prefetch(InPlace *rows, uint64 i);

/* Returns a copy of the row at a place, and leaves no page pinned, unless until_end. */
extern TupleTableSlot *in_place_copy(InPlace *rows, uint32 place);

/* Fetches row i in order, i < count. */
static inline TupleTableSlot *
in_place_fetch(InPlace *rows, uint64 i)
{
	uint32		item;
	uint32		place;
	HeapTuple	tuple;

	/* Also if i is before first. */
	if (unlikely(i - rows->first >= rows->nplaces))
		in_place_read(rows, i);
	if ((i - rows->first) % ROW_FETCH_AT_ONCE == 0)
		in_place_prefetch(rows, i);
	place = in_place_of(rows, i);
	if (unlikely(rows->copied))
		return in_place_copy(rows, place);
	item = row_store_note(rows->store, i);
	tuple = likely(item != 0) ? row_fetch_item(rows->fetch, place, item) :
		row_fetch(rows->fetch, place);
	in_place_show(rows, tuple, place);
	return place_rows_project(rows->child, rows->slot);
}

/*
 * Returns the next row in either direction, empty at the end.  It is valid until the next
 * call.  forward must be true unless spec->random.
 */
static inline TupleTableSlot *
in_place_next(InPlace *rows, bool forward)
{
	uint64		row;

	if (likely(row_sort_step(&rows->position, rows->count, forward, &row)))
		return in_place_fetch(rows, row);
	in_place_at_end(rows);
	return ExecClearTuple(rows->slot);
}

#endif							/* HPSORT_PG_NODES_SORT_EXEC_IN_PLACE_H */
