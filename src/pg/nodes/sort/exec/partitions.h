/*
 * partitions.h
 *		Rows that do not fit into memory, sorted partition by partition.
 *
 * The rows are in a store and in a temporary file (store/spill.h).  When the
 * store is full its owner calls partitions_flush, puts the next row into the
 * store, and so on; partitions_finish ends that, and partitions_next returns
 * the rows in order.
 */
#ifndef HPSORT_PG_NODES_SORT_EXEC_PARTITIONS_H
#define HPSORT_PG_NODES_SORT_EXEC_PARTITIONS_H

#include "postgres.h"

#include "pg/nodes/sort/exec/key_runs.h"
#include "pg/nodes/sort/exec/stats.h"
#include "pg/nodes/sort/store/store.h"

typedef struct Partitions Partitions;

/*
 * Makes partitions, with an empty file, for the rows of a store.  Either
 * partitions_start_store or partitions_start_runs must be called next.
 *
 * keep: the rows may be returned again from the first; otherwise the bytes of a
 * partition in the file are given back once it has been read.  All memory is below
 * memory.  store, context and stats must outlive the partitions, which keep stats
 * up to date.
 */
extern Partitions *partitions_create(MemoryContext memory, RowStore *store,
									 const SortContext *context, bool keep, RowSortStats *stats);

/* The store is full: partitions its rows.  The store's bound is no longer kept to. */
extern void partitions_start_store(Partitions *partitions, double expected_rows);

/*
 * The keys of runs are too many: makes partitions for them, into which the
 * caller then puts these keys through the store.
 */
extern void partitions_start_runs(Partitions *partitions, KeyRuns *runs, double expected_rows);

/* Writes the rows of the store to the file, and clears the store. */
extern void partitions_flush(Partitions *partitions);

/* All rows are there. */
extern void partitions_finish(Partitions *partitions);

/* Returns the next row in order in slot; empty at the end. */
extern TupleTableSlot *partitions_next(Partitions *partitions, TupleTableSlot *slot);

/*
 * Of rows that lie elsewhere: sets *refs to the references of the next n rows in order,
 * which are valid until the next call, and returns n; 0 at the end.
 */
extern uint64 partitions_next_refs(Partitions *partitions, const uint32 **refs);

/*
 * The same of all rows that have been flushed, before partitions_finish: they come in an
 * order in which only rows of equal keys are as they came, and only once.
 */
extern uint64 partitions_take_back(Partitions *partitions, const uint32 **refs);

/* Starts again with the first row, of partitions that are kept.  slot must be empty. */
extern void partitions_rewind(Partitions *partitions);

/* The file, which the partitions close. */
extern SpillFile *partitions_file(Partitions *partitions);

/* Removes the file, and frees its memory. */
extern void partitions_destroy(Partitions *partitions);

#endif							/* HPSORT_PG_NODES_SORT_EXEC_PARTITIONS_H */
