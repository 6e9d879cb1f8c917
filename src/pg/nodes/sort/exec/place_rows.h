/*
 * place_rows.h
 *		Rows that stay where they are in their table, fetched by their places: as the node
 *		that scans the table would have returned them, and their values for keys that are left
 *		to core's comparison.
 *
 * Pages stay pinned while the executor runs a query to its end, unless somebody waits for one of
 * them: then all are unpinned, and pinned again as rows are wanted.  A query that stops in the
 * middle (place_rows.c) returns each row as a copy, and pins its page while it is copied, or until
 * the end of a call that asks for many rows: so an idle cursor keeps none.
 */
#ifndef HPSORT_PG_NODES_SORT_EXEC_PLACE_ROWS_H
#define HPSORT_PG_NODES_SORT_EXEC_PLACE_ROWS_H

#include "executor/executor.h"
#include "nodes/execnodes.h"

#include "pg/column/column.h"
#include "pg/nodes/sort/plan/plan.h"
#include "pg/nodes/sort/store/store.h"
#include "pg/pages/pages.h"

/* The rows of one table, by their places, and how they are returned. */
typedef struct PlaceRows
{
	RowElsewhere elsewhere;		/* for a RowStore, and an external sort of one */
	RowFetch   *fetch;
	ScanState  *child;
	TupleTableSlot *slot;		/* a row as it is in the table */
	const KeyColumns *keys;
	AttrNumber *attnums;		/* the table's columns that keys are */
	MemoryContext copies;		/* values from pages that do not stay pinned, of the first of
								 * these keys ... */
	MemoryContext recent[2];	/* ... and of others, in turn */
	int			turn;

	/* Returning rows in order. */
	bool		copied;			/* each row is returned as a copy, and no page stays pinned ... */
	bool		until_end;		/* ... longer than the current call of the executor */
	struct PlaceRows *next;		/* other rows that are unpinned at the end of that call */
	const uint32 *places;		/* of nplaces rows from row first on; NULL: in the store */
	uint64		first;
	uint64		nplaces;
} PlaceRows;

/* At module load: sets ExecutorRun_hook, by which pages are unpinned. */
extern void place_rows_init(void);

/*
 * Makes the rows of a table that child scans, in a memory context.  slot is for rows of the table,
 * of the kind TTSOpsHeapTuple.  Keys that are left to core are read from the rows.
 */
extern PlaceRows *place_rows_create(ScanState *child, TupleTableSlot *slot, const KeyColumns *keys,
									MemoryContext memory);

/* Unpins all pages, and gives back what is not memory of the context. */
extern void place_rows_end(PlaceRows *rows);

/*
 * Ends a sort, during which pages stay pinned as rows are fetched to be compared: unpins them
 * where rows are returned as copies.
 */
extern void place_rows_end_sort(PlaceRows *rows);

/*
 * Unpins all pages, of which the row returned last is no longer valid unless it is a copy.  More
 * rows of the store can be read.
 */
extern void place_rows_unpin(PlaceRows *rows);

/*
 * Prefetches rows from row i on, whose place is in memory, where rows are fetched one after the
 * other; before that all pages are unpinned if somebody waits for one of them.
 */
extern void place_rows_prefetch(PlaceRows *rows, RowStore *store, uint64 i);

/* Returns a copy of the row at a place, and leaves no page pinned, unless until_end. */
extern TupleTableSlot *place_rows_copy(PlaceRows *rows, uint32 place);

/* Returns the column of the table that a key of a child's rows is, as in_place_column() does. */
static inline AttrNumber
place_rows_key_column(const KeyColumn *key, const Plan *plan)
{
	return in_place_column(list_nth_node(TargetEntry, plan->targetlist, key->attno - 1)->expr,
						   key->kind == COLUMN_KIND_NONE || !key_is_exact(key->kind));
}

/* The place of row i in order, which is in memory. */
static inline uint32
place_rows_place(const PlaceRows *rows, const RowStore *store, uint64 i)
{
	return rows->places ? rows->places[i - rows->first] : row_store_ref(store, i);
}

/* Fetches row i in order, whose place is in memory. */
static inline TupleTableSlot *
place_rows_fetch(PlaceRows *rows, RowStore *store, uint64 i)
{
	uint32		place;
	HeapTuple	tuple;

	if ((i - rows->first) % ROW_FETCH_AT_ONCE == 0)
		place_rows_prefetch(rows, store, i);
	place = place_rows_place(rows, store, i);
	if (unlikely(rows->copied))
		return place_rows_copy(rows, place);
	tuple = row_fetch(rows->fetch, place);

	/*
	 * Rows of one table all come in the same tuple, so that of the slot only what has been read
	 * from the last one must be forgotten.
	 */
	if (likely(heap_format_store_again(rows->slot, tuple)))
		row_fetch_set_tid(rows->fetch, place, &rows->slot->tts_tid);
	else
		ExecStoreHeapTuple(tuple, rows->slot, false);
	return column_scan_project(rows->child, rows->slot);
}

#endif							/* HPSORT_PG_NODES_SORT_EXEC_PLACE_ROWS_H */
