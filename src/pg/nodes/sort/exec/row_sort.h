/*
 * row_sort.h
 *		A sort of rows, for an executor node: rows in, rows out in order.
 *
 * What tuplesort is to nodeSort.c: row_sort_begin, row_sort_put for each row,
 * row_sort_finish, row_sort_next for each row, row_sort_end.  Rows are in one of
 * four places, which callers need not know:
 *
 *	runs		keys alone, where the only column is the only key (key_runs.h)
 *	store		rows in memory (store/store.h)
 *	external	rows beyond work_mem (store/external_sort.h)
 *	tape		rows beyond work_mem that may be read backward, or again
 *				(store/tape.h)
 *
 * Keys go from runs to the store when they do not suit runs, rows from the store to
 * the external sort when they do not fit into memory.
 */
#ifndef HPSORT_PG_NODES_SORT_EXEC_ROW_SORT_H
#define HPSORT_PG_NODES_SORT_EXEC_ROW_SORT_H

#include "postgres.h"

#include "executor/tuptable.h"

#include "pg/nodes/sort/exec/key_runs.h"
#include "pg/nodes/sort/exec/stats.h"
#include "pg/nodes/sort/store/store.h"

/* What is to be sorted, the same for every sort that a node does. */
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

typedef enum RowSortPlace
{
	ROW_SORT_RUNS,
	ROW_SORT_STORE,
	ROW_SORT_EXTERNAL,
	ROW_SORT_TAPE
} RowSortPlace;

/* Where a store is being read: just after the row returned last. */
typedef struct RowSortPosition
{
	uint64		at;
	bool		at_end;			/* the end has been read */
} RowSortPosition;

typedef struct RowSort
{
	const RowSortSpec *spec;
	RowSortStats *stats;
	RowSortPlace place;			/* where the rows are now */
	KeyRuns		runs;
	RowStore   *store;
	GroupBound *by_group;		/* NULL: no bound by group */
	uint64		count;			/* rows of the store that can be read */
	RowSortPosition position;	/* in the store */
	RowSortPosition mark;
	ExternalSort *external;		/* NULL as long as the rows fit into memory */
	Tape	   *tape;
	RowBuffer	row;			/* a row of the tape */
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
 * Takes n keys as distances from KEY_RUNS_MIDDLE, and NULLs.  Only of a key of 32
 * bits at most, for a sort that row_sort_takes_keys.
 */
extern void row_sort_put_keys(RowSort *sort, const int32 *distances, size_t n, uint64 nulls);

/*
 * The same of packed distances, and of runs of distances; false, and nothing done, once keys are
 * not kept as runs.
 */
extern bool row_sort_put_packed(RowSort *sort, const PackedKeys *packed);
extern bool row_sort_put_runs(RowSort *sort, const Runs *runs);

/* All rows are there: puts them in order. */
extern void row_sort_finish(RowSort *sort);

/* Sets the statistics of rows that did not fit into memory. */
extern void row_sort_external_stats(const ExternalSort *external, RowSortStats *stats);

/*
 * Starts again with the first row, of a sort with random or rewind; remembers
 * the place of the row returned last, and goes back there, of one with random.
 */
extern void row_sort_rewind(RowSort *sort);
extern void row_sort_mark(RowSort *sort);
extern void row_sort_restore(RowSort *sort);

/* The next row of the tape in either direction. */
extern TupleTableSlot *row_sort_next_of_tape(RowSort *sort, bool forward, TupleTableSlot *slot);

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
 * Sets rows to those of keys->n rows that are to be put, by their keys, into a sort by
 * group; returns their number.  The others have been counted.
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
row_sort_step(RowSortPosition *position, uint64 count, bool forward, uint64 *row)
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

/*
 * Returns the next row in slot, empty at the end.  The row stays the sort's, and
 * is valid until the next call.  forward must be true without random.
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
	}
	pg_unreachable();
}

#endif							/* HPSORT_PG_NODES_SORT_EXEC_ROW_SORT_H */
