/*
 * in_place.h
 *		Rows in order that stay where they are in their table: keys and places are
 *		sorted, and each row is fetched when it is returned.
 *
 * This is for a child that scans a heap and whose rows are all it returns, with a filter
 * or not, and for keys that are columns which the column reader can read.  What the
 * child would have computed of a row is computed when the row is returned.
 *
 * It pays where the table is in the buffer pool, which shows while it is read: if more
 * pages come from disk than a few, or if keys and places do not fit into work_mem,
 * the rows are copied into a RowSort, those read so far and the others.
 */
#ifndef HPSORT_PG_NODES_SORT_IN_PLACE_H
#define HPSORT_PG_NODES_SORT_IN_PLACE_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "pg/column/row_fetch.h"
#include "pg/nodes/sort/row_sort.h"

typedef struct InPlace
{
	const RowSortSpec *spec;
	RowSortStats *stats;
	ScanState  *child;
	TupleTableSlot *slot;		/* a row as it is in the table */
	RowStore   *store;			/* keys, and places as references */
	RowFetch   *fetch;
	uint64		count;			/* rows that can be read */
	RowSortPosition position;
	RowSortPosition mark;
} InPlace;

/*
 * Whether the rows of a child that has been initialized may stay where they are in
 * some executions of the node; and whether they may in this one, of which only bound
 * rows will be read, or all if it is 0.  *where is set if it is buffers that are missing.
 */
extern bool in_place_is_possible(const RowSortSpec *spec, PlanState *child);
extern bool in_place_is_allowed(const RowSortSpec *spec, PlanState *child, uint64 bound,
								RowsWhere *where);

/*
 * Reads all rows of the child, and sorts them.  slot is for rows of the table, of the kind
 * TTSOpsHeapTuple.  NULL if the rows are in sort now, for the caller to finish;
 * otherwise sort has none, and sort->stats are set.
 */
extern InPlace *in_place_sort(RowSort *sort, PlanState *child, TupleTableSlot *slot, uint64 bound);

extern void in_place_rewind(InPlace *rows);
extern void in_place_mark(InPlace *rows);
extern void in_place_restore(InPlace *rows);

/* Gives back what is not memory of the sort. */
extern void in_place_end(InPlace *rows);

/* All rows have been returned. */
extern void in_place_at_end(InPlace *rows);

/* The row in the slot as the child would have returned it. */
static inline TupleTableSlot *
in_place_project(ScanState *child, TupleTableSlot *slot)
{
	ProjectionInfo *projection = child->ps.ps_ProjInfo;

	if (projection == NULL)
		return slot;
	ResetExprContext(projection->pi_exprContext);
	projection->pi_exprContext->ecxt_scantuple = slot;
	return ExecProject(projection);
}

/*
 * ExecStoreHeapTuple of rows of one table: they all come in the same tuple, so that of the slot only
 * what has been read from the last one must be forgotten.
 */
static inline void
in_place_show(InPlace *rows, HeapTuple tuple)
{
	HeapTupleTableSlot *slot = (HeapTupleTableSlot *) rows->slot;

	if (likely(slot->tuple == tuple && !TTS_EMPTY(&slot->base) && !TTS_SHOULDFREE(&slot->base)))
	{
		slot->base.tts_nvalid = 0;
		slot->base.tts_tid = tuple->t_self;
		slot->off = 0;
	}
	else
		ExecStoreHeapTuple(tuple, rows->slot, false);
}

/* Fetches row i in order, i < count. */
static inline TupleTableSlot *
in_place_fetch(InPlace *rows, uint64 i)
{
	const RowStore *store = rows->store;

	if (likely(i + ROW_FETCH_LINES_AHEAD < rows->count))
	{
		row_fetch_prefetch_line(rows->fetch, row_store_ref(store, i + ROW_FETCH_LINES_AHEAD));
		row_fetch_prefetch_row(rows->fetch, row_store_ref(store, i + ROW_FETCH_ROWS_AHEAD));
	}
	in_place_show(rows, row_fetch(rows->fetch, row_store_ref(store, i)));
	return in_place_project(rows->child, rows->slot);
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

#endif							/* HPSORT_PG_NODES_SORT_IN_PLACE_H */
