/*
 * row_sort.h
 *		A sort of rows, for an executor node: rows in, rows out in order.
 *
 * What tuplesort is to nodeSort.c: row_sort_begin, row_sort_put for each row,
 * row_sort_finish, row_sort_next for each row, row_sort_end.  Rows are in one of
 * five places, which callers need not know:
 *
 *	runs		keys alone, where the only column is the only key (key_runs.h)
 *	store		rows in memory (store/store.h)
 *	external	rows beyond work_mem (store/external_sort.h)
 *	tape		rows beyond work_mem that may be read backward, or again
 *				(store/tape.h)
 *	table		rows that stay where they are (place_rows.h): the store, an external
 *				sort or a tape has their places
 *
 * Keys go from runs to the store when they do not suit runs, rows from the store to
 * the external sort when they do not fit into memory.
 */
#ifndef HPSORT_PG_NODES_SORT_EXEC_ROW_SORT_H
#define HPSORT_PG_NODES_SORT_EXEC_ROW_SORT_H

#include "executor/tuptable.h"

#include "pg/column/column.h"
#include "pg/nodes/sort/exec/key_runs.h"
#include "pg/nodes/sort/exec/place_rows.h"
#include "pg/nodes/sort/store/store.h"
#include "sort/plan.h"

/* Where the rows were while their keys were sorted. */
typedef enum RowsWhere
{
	ROWS_COPIED,				/* into memory, or a file */
	ROWS_IN_PLACE,				/* where they are in the table */
	ROWS_COPIED_NOT_CACHED,		/* copied, because the table came from disk */
	ROWS_COPIED_PINS,			/* copied, because too few of the table's pages may be pinned */
	ROWS_COPIED_WORK_MEM		/* copied, because keys and places did not fit into work_mem */
} RowsWhere;

/* What a sort of rows did, for EXPLAIN; copied from workers as it is. */
typedef struct RowSortStats
{
	bool		valid;			/* all that follows */
	bool		from_column;	/* rows were read by the column reader */
	RowStoreStats sorted;		/* of the last sort, if there were several; 0: not known */
	bool		bounded;		/* only the first rows were wanted */
	RowsWhere	rows;			/* if there are any beside their keys */
	bool		on_disk;
	int			segments;		/* of a file; 0: in memory */
	uint64		space;			/* bytes, in memory or on disk */
	uint64		keys;			/* rows taken, NULLs included */
	bool		by_group;		/* only the first rows of each group were wanted */
	uint64		groups;			/* 0: not known, or all rows were kept */
	uint64		kept;			/* rows in memory */
	ColumnBlocks blocks;		/* of the table, where keys were read by pages and from memory */
} RowSortStats;

/* What is to be sorted: all sorts that a node does, one after the other, share it. */
typedef struct RowSortSpec
{
	MemoryContext memory;		/* of one sort, reset by row_sort_end */
	KeyColumns *keys;
	TupleDesc	tupdesc;
	bool		key_only;		/* the only column is the only key: slots are virtual */
	bool		copied;			/* rows must not stay where they are */
	bool		random;			/* rows are read backward, or from a mark */
	bool		rewind;			/* rows are read again from the first */
	double		expected_rows;
	SortContext context;		/* of rows */
	SortContext key_context;	/* of keys alone */
} RowSortSpec;

/* The five places of rows: see above. */
typedef enum RowSortPlace
{
	ROW_SORT_RUNS,
	ROW_SORT_STORE,
	ROW_SORT_EXTERNAL,
	ROW_SORT_TAPE,
	ROW_SORT_TABLE
} RowSortPlace;

/*
 * One sort.  Its place says which of runs, store, external, tape and in_place the rows are read
 * from; the pointers of the others may be NULL.
 */
typedef struct RowSort
{
	const RowSortSpec *spec;
	RowSortStats *stats;
	RowSortPlace place;			/* where the rows are now */
	KeyRuns		runs;
	RowStore   *store;
	GroupBound *by_group;		/* NULL: no bound by group */
	uint64		count;			/* rows of the store, or of the table, that can be read */
	ReadPosition position;		/* of these, or of the tape */
	ReadPosition mark;
	ExternalSort *external;		/* NULL as long as the rows fit into memory */
	Tape	   *tape;
	RowBuffer	row;			/* a row of the tape */
	PlaceRows  *in_place;		/* NULL: rows are copied; else the store is of their places */
	uint32	   *tape_places;	/* the TAPE_PLACES places read from the tape last */
} RowSort;

/*
 * Starts a sort in work_mem.  bound: only so many rows will be read; 0: all.
 * by_group: only the first rows of each group are wanted, but more may be read; NULL: all.
 * A sort has at most one of the two, and one of keys alone has no by_group.  stats are
 * set by row_sort_finish, and kept up to date while rows are read; they must live as
 * long as the sort.
 */
extern RowSort *row_sort_begin(const RowSortSpec *spec, uint64 bound,
							   const GroupBoundSpec *by_group, RowSortStats *stats);

/* Ends the sort, and frees all memory.  Slots with rows must have been cleared. */
extern void row_sort_end(RowSort *sort);

/* The slow step of row_sort_put: takes a row that the runs, or the store, have refused. */
extern void row_sort_put_refused(RowSort *sort, TupleTableSlot *slot);

/* Whether a row is not among the first of its group; makes place for it if it may be. */
static inline bool
row_sort_refuses(RowSort *sort, TupleTableSlot *slot)
{
	if (group_bound_refuses(sort->by_group, slot))
		return true;
	if (unlikely(group_bound_is_full(sort->by_group)))
		group_bound_cut(sort->by_group, false);
	return false;
}

/*
 * Takes the keys of a batch as distances from KEY_RUNS_MIDDLE, as key_runs_add() does.  Only of a
 * key of 32 bits at most, for a sort that row_sort_takes_keys.
 */
extern void row_sort_put_batch(RowSort *sort, const ColumnBatch *batch);

/* All rows are there: puts them in order. */
extern void row_sort_finish(RowSort *sort);

/* Writes the rows of the store, which is full, to the external sort. */
extern void row_sort_flush(RowSort *sort);

/* Gives the store what pages, the bytes of the list of pages, leave of work_mem. */
extern void row_sort_spare_pages(RowSort *sort, Size pages);

/*
 * row_sort_rewind starts again with the first row: only with random or rewind.  row_sort_mark
 * remembers the place of the row returned last, and row_sort_restore goes back there: only with
 * random.
 */
extern void row_sort_rewind(RowSort *sort);
extern void row_sort_mark(RowSort *sort);
extern void row_sort_restore(RowSort *sort);

/*
 * Unpins all pages of rows that stay in the table, of which the row returned last is no longer
 * valid unless it is a copy.  More rows can be read.
 */
extern void row_sort_unpin(RowSort *sort);

/* The next row of the tape in either direction. */
extern TupleTableSlot *row_sort_next_of_tape(RowSort *sort, bool forward, TupleTableSlot *slot);

/*
 * Makes sure that the place of row i < count is in memory.  The row is the next one or, of a tape,
 * any.
 */
extern void row_sort_read_places(RowSort *sort, uint64 i);

/*
 * Called when all rows of the table have been returned: empties their slot, and unpins their pages
 * unless rows may be read backward or again.
 */
extern void row_sort_at_end_of_table(RowSort *sort);

/* Whether keys alone may be put, before any row has been. */
static inline bool
row_sort_takes_keys(const RowSort *sort)
{
	return sort->spec->key_only && !sort->spec->random;
}

/* Takes the row in slot. */
static inline void
row_sort_put(RowSort *sort, TupleTableSlot *slot)
{
	if (sort->by_group && row_sort_refuses(sort, slot))
		sort->stats->keys++;
	else if (sort->place == ROW_SORT_RUNS ? key_runs_put(&sort->runs, slot) :
			 row_store_take(sort->store, slot))
		sort->stats->keys++;
	else
		row_sort_put_refused(sort, slot);
}

/*
 * Sets rows to the numbers, in ascending order, of those of keys->n rows that may be among the
 * first of their group, and returns how many they are: these have to be put.  The others have been
 * counted as taken.  Needs a sort by group.
 */
static inline int
row_sort_candidates(RowSort *sort, const GroupBoundKeys *keys, uint16 *rows)
{
	int			n = group_bound_candidates(sort->by_group, keys, rows);

	sort->stats->keys += keys->n - n;
	return n;
}

/*
 * Moves to the next of count rows in either direction, as tuplesort counts, and sets *row; false
 * at the end.
 */
static inline bool
row_sort_step(ReadPosition *position, uint64 count, bool forward, uint64 *row)
{
	if (likely(forward))
	{
		if (likely(position->at < count))
		{
			*row = position->at++;
			return true;
		}
		position->at_end = true;
	}
	else if (position->at > 0)
	{
		/* After the end the last row comes, else the one before the last returned. */
		if (position->at_end)
			position->at_end = false;
		else
			position->at--;
		if (position->at > 0)
		{
			*row = position->at - 1;
			return true;
		}
	}
	return false;
}

/* The next row of the store in either direction. */
static inline TupleTableSlot *
row_sort_next_of_store(RowSort *sort, bool forward, TupleTableSlot *slot)
{
	uint64		row;

	if (likely(row_sort_step(&sort->position, sort->count, forward, &row)))
		return row_store_emit(sort->store, row, slot);
	return ExecClearTuple(slot);
}

/* The next row of the table in either direction, in a slot of the table's. */
static inline TupleTableSlot *
row_sort_next_of_table(RowSort *sort, bool forward)
{
	PlaceRows  *rows = sort->in_place;
	uint64		row;

	if (unlikely(!row_sort_step(&sort->position, sort->count, forward, &row)))
	{
		row_sort_at_end_of_table(sort);
		return ExecClearTuple(rows->slot);
	}

	/* Also if row is before first. */
	if (unlikely(row - rows->first >= rows->nplaces))
		row_sort_read_places(sort, row);
	return place_rows_fetch(rows, sort->store, row);
}

/*
 * Returns the next row, in slot unless rows stay in the table; empty at the end.  The row stays
 * the sort's, and is valid until the next call.  forward must be true without random.
 */
static inline TupleTableSlot *
row_sort_next(RowSort *sort, bool forward, TupleTableSlot *slot)
{
	switch (sort->place)
	{
		case ROW_SORT_STORE:
			return row_sort_next_of_store(sort, forward, slot);
		case ROW_SORT_RUNS:
			Assert(forward);
			return key_runs_next(&sort->runs, slot);
		case ROW_SORT_EXTERNAL:
			Assert(forward);
			return external_sort_next(sort->external, slot);
		case ROW_SORT_TAPE:
			return row_sort_next_of_tape(sort, forward, slot);
		case ROW_SORT_TABLE:
			return row_sort_next_of_table(sort, forward);
	}
	pg_unreachable();
}

#endif							/* HPSORT_PG_NODES_SORT_EXEC_ROW_SORT_H */
