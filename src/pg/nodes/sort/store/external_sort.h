/*
 * external_sort.h
 *		Rows that do not fit into memory, in order.
 *
 * Whenever the store is full its owner calls external_sort_flush, which writes its rows, in
 * order, as a segment of a temporary file; external_sort_finish ends that, and the segments are
 * merged while rows are returned.  Equal rows stay in the order in which they came.
 *
 * As many segments are merged at once as the memory of the store has buffers for.  Where there are
 * more, neighbours are merged to a segment before; also while rows come, so that the number of
 * segments grows as the logarithm of the rows.
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_EXTERNAL_SORT_H
#define HPSORT_PG_NODES_SORT_STORE_EXTERNAL_SORT_H

#include "pg/nodes/sort/store/row_store.h"
#include "pg/nodes/sort/store/tape.h"

typedef struct ExternalSort ExternalSort;

/* What an external sort did. */
typedef struct ExternalSortStats
{
	int			segments;		/* that were written of the store; of rows in order: one */
	SortPlan	plan;			/* of the last time that the store was sorted */
	bool		compared;		/* core compared rows within equal keys */
	uint64		bytes;			/* of the file */
} ExternalSortStats;

/*
 * Makes an external sort, with an empty file, for the rows of a store, which has a row at least.
 * All memory is below memory; what merging takes is limit bytes.  store and context must outlive
 * it.
 */
extern ExternalSort *external_sort_create(MemoryContext memory, RowStore *store, Size limit,
										  const SortContext *context);

/* Writes the rows of the store to the file, and clears the store.  Its bound is not kept to. */
extern void external_sort_flush(ExternalSort *sort);

/* All rows are there.  to_tape: external_sort_write_tape is called next. */
extern void external_sort_finish(ExternalSort *sort, bool to_tape);

/* Returns the next row in order in slot; empty at the end. */
extern TupleTableSlot *external_sort_next(ExternalSort *sort, TupleTableSlot *slot);

/*
 * Of rows that lie elsewhere: sets *refs to the references of the next n rows in order,
 * which are valid until the next call, and returns n; 0 at the end.
 */
extern uint64 external_sort_next_refs(ExternalSort *sort, const uint32 **refs);

/*
 * Before external_sort_finish: sets *refs to the references of the next n rows that have been
 * flushed, and returns n; 0 at the end.  The rows come in an order in which only rows of equal
 * keys are as they came, and only once.
 */
extern uint64 external_sort_take_back(ExternalSort *sort, const uint32 **refs);

/*
 * Writes all rows, instead of returning them, to a tape, of which they are read as often as they
 * are wanted: the bytes of tuples behind their length and padding, keys alone as Datums, of
 * which NULL is one byte, and references as items.  The tape is the sort's.
 */
extern Tape *external_sort_write_tape(ExternalSort *sort);

extern ExternalSortStats external_sort_stats(const ExternalSort *sort);

/* Removes the file, and frees its memory. */
extern void external_sort_destroy(ExternalSort *sort);

#endif							/* HPSORT_PG_NODES_SORT_STORE_EXTERNAL_SORT_H */
