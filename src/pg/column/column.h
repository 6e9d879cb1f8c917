/*
 * column.h
 *		Integer columns of a table, in batches: from its pages and from resident extents.
 *
 * column_scan_read() is the loop around a ColumnReader: open, read batch after batch, close.  Both
 * custom scan nodes read tables through it.  HpSort calls the reader itself only where rows stay
 * in their pages.
 *
 * A reader returns exactly the rows that a sequential scan under the same snapshot would return,
 * without a tuple slot or the executor: keys of a page's visible rows go from the buffer into
 * batches.  All that a row's visibility needs (all-visible pages, pruning, hint bits, predicate
 * locks, serializable conflicts, hot standby) is done as heapam.c does it.  Blocks come from
 * core's own scan descriptor, so that synchronized scans, the ring of buffers, read streams,
 * parallel block allocation and statistics are core's.
 *
 * Columns that are resident are read from memory instead of pages, block by block, as far as they
 * are valid there (resident_source.h).
 *
 * The reader knows nothing of sorting or of aggregates.
 *
 * Duties of the caller:
 *
 * - The relation is open and locked (AccessShareLock), and stays so until column_reader_close.
 * - The right to read the columns and row security have been checked.
 * - The snapshot is an MVCC snapshot, active or registered, for as long as the reader is open.
 *
 * Between two calls a reader holds pins on two buffers at most, and no lock on either.  The pins
 * belong to the current resource owner, so that an error needs no clean-up.
 *
 * In a parallel scan each process opens a reader of its own with the same ParallelTableScanDesc
 * (table_parallelscan_initialize); a block goes to the process that asks next.  The snapshot of a
 * parallel scan is the descriptor's.
 */
#ifndef HPSORT_PG_COLUMN_COLUMN_H
#define HPSORT_PG_COLUMN_COLUMN_H

#include "commands/explain.h"
#include "executor/executor.h"
#include "nodes/execnodes.h"
#include "storage/spin.h"

#include "pg/values/values.h"

/* --- the loop */

/*
 * Takes the rows of batches: an element for each column of the scan, then one for each filter,
 * then one for TIDs (column_scan_nbatches).  The rows may be changed in place
 * (column_batch_arrays).  The next rows overwrite them.
 */
typedef void (*ColumnConsume) (void *arg, const ColumnBatch *batches);

/*
 * Reads all rows of a scan, or this process's share of a parallel scan, and calls consume for each
 * batch.  Returns how many rows the qual has refused.  Looks for interrupts at every page.  EXPLAIN
 * ANALYZE shows time and rows at the plan node instrumented, as if that node had returned the
 * rows; NULL: nowhere.  Exported for test/modules/hpsort_columns.
 */
extern PGDLLEXPORT uint64 column_scan_read(const ColumnScan *scan, PlanState *instrumented,
										   ColumnConsume consume, void *arg);

/*
 * Reads n scans, one at least, which are of the same columns and have one handler and one stop; a
 * handler answers the resident rows of all together, if that pays.  Otherwise as column_scan_read
 * does one after the other.  May change scans.
 */
extern uint64 column_scans_read(ColumnScan *scans, int n, ColumnConsume consume, void *arg);

/*
 * Gives a scan the relation, snapshot and filter of a SeqScan node, which has been initialized and
 * has not run.  Columns and the parallel scan are the caller's to set.
 */
extern void column_scan_from_node(ColumnScan *scan, ScanState *node);

/*
 * The same of a node that has been called so far as core's ExecProcNode would call it, with its
 * share of a parallel scan.
 */
extern void column_scan_from_child(ColumnScan *scan, ScanState *node);

/* Returns true if a reader can read what a node scans, as far as node and query go. */
extern bool column_scan_is_readable(PlanState *node);

/* Returns the row in the slot as the node would have returned it. */
static inline TupleTableSlot *
column_scan_project(ScanState *node, TupleTableSlot *slot)
{
	ProjectionInfo *projection = node->ps.ps_ProjInfo;

	if (projection == NULL)
		return slot;
	ResetExprContext(projection->pi_exprContext);
	projection->pi_exprContext->ecxt_scantuple = slot;
	return ExecProject(projection);
}

/* In dynamic shared memory: the blocks that all processes have read. */
typedef struct SharedColumnBlocks
{
	slock_t		mutex;			/* for blocks */
	ColumnBlocks blocks;
} SharedColumnBlocks;

/* Adds blocks that a process has read. */
extern void column_blocks_share(SharedColumnBlocks *shared, const ColumnBlocks *blocks);

/* Has EXPLAIN show the blocks read, unless no columns are resident. */
extern void column_blocks_explain(const ColumnBlocks *blocks, ExplainState *es);

/* --- the reader */

typedef struct ColumnReader ColumnReader;

/*
 * Opens a reader in the current memory context, and sets *batches to its batches
 * (column_scan_nbatches).  It keeps no pointer to scan, but pointers to what the filters need.
 */
extern ColumnReader *column_reader_open(const ColumnScan *scan, ColumnBatch **batches);

/*
 * Reads the next rows into the batches, in place of the rows before.  Returns false at the end of
 * the table; this last call may have read rows as well.
 */
extern bool column_reader_next(ColumnReader *reader);

/*
 * Whether column_reader_next has returned false for the time that the scan's handler waits, and is
 * to be called again afterwards.
 */
extern bool column_reader_waits(const ColumnReader *reader);

/*
 * Returns the pages that have rows in the batches, in the order of their rows; of a scan with
 * TIDs.
 */
extern const PageBuffer *column_reader_pages(const ColumnReader *reader);

/*
 * From now on batches of a heap have the rows of one page each, perhaps none. column_reader_buffer
 * returns that page, which it reads if the rows were resident.  The page stays pinned until the
 * next call of column_reader_next.
 */
extern void column_reader_by_page(ColumnReader *reader);
extern Buffer column_reader_buffer(ColumnReader *reader);

/*
 * Does so if all rows of the batch will be looked at: where they were resident, the processor
 * fetches them together, instead of one after the other as they are looked at.
 */
extern Buffer column_reader_rows_buffer(ColumnReader *reader);

/* Returns how many rows the qual has refused so far. */
extern uint64 column_reader_refused(const ColumnReader *reader);

/* Adds the blocks read so far. */
extern void column_reader_blocks(const ColumnReader *reader, ColumnBlocks *blocks);

/* Returns how many blocks have not been read so far because their columns are resident. */
extern int64 column_reader_resident(const ColumnReader *reader);

/*
 * Gives back pins, the scan descriptor, and the memory of the reader and its batches.  Returns how
 * many rows the qual has refused.
 */
extern uint64 column_reader_close(ColumnReader *reader);

#endif							/* HPSORT_PG_COLUMN_COLUMN_H */
