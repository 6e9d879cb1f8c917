/*
 * scan.h
 *		The loop around a ColumnReader: open, read batch after batch, close.
 *
 * Both custom scan nodes read tables through it.  HpSort calls the reader itself only where rows
 * stay in their pages.
 */
#ifndef HPSORT_PG_COLUMN_SCAN_H
#define HPSORT_PG_COLUMN_SCAN_H

#include "postgres.h"

#include "commands/explain.h"
#include "nodes/execnodes.h"

#include "pg/column/reader.h"
#include "sort/sorter.h"

/*
 * Takes the rows of batches: an element for each column of the scan, then one for each filter,
 * then one for TIDs (column_scan_nbatches).  The rows may be changed in place (column_batch_rows).
 * The next rows overwrite them.
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
 * Sets the relation, snapshot and filter of a scan to those of a SeqScan node, which has been
 * initialized and has not run.  Columns and the parallel scan are the caller's to set.
 */
extern void column_scan_from_node(ColumnScan *scan, ScanState *node);

/* Has EXPLAIN show the blocks read, unless no columns are resident. */
extern void column_blocks_explain(const ColumnBlocks *blocks, ExplainState *es);

#endif							/* HPSORT_PG_COLUMN_SCAN_H */
