/*
 * scan.h
 *		The one loop around a ColumnReader: open, read batch after batch, close.
 *
 * Both custom scan nodes read through it, but for rows that HpSort leaves where they
 * are.
 */
#ifndef HPSORT_PG_COLUMN_SCAN_H
#define HPSORT_PG_COLUMN_SCAN_H

#include "postgres.h"

#include "commands/explain.h"
#include "nodes/execnodes.h"

#include "pg/column/reader.h"
#include "sort/sorter/sorter.h"

/*
 * The batches of a scan (column_scan_nbatches), with their arrays, for those who call
 * the reader themselves.
 */
extern ColumnBatch *column_batches_make(const ColumnScan *scan, const ColumnReader *reader);
extern void column_batches_free(const ColumnScan *scan, ColumnBatch *batches);

/*
 * Takes a batch: an element for each column of the scan, then one for each filter,
 * then one for TIDs (column_scan_nbatches).  The rows may be changed in place (column_batch_rows),
 * and are overwritten by the next batch.
 */
typedef void (*ColumnConsume) (void *arg, const ColumnBatch *batches);

/*
 * Reads all rows of scan, or this process's share of a parallel scan, calling
 * consume for each batch; interrupts are checked at every page.  Returns the
 * number of rows that the filter refused.  Exported for test/modules/hpsort_columns.
 *
 * instrumented: a plan node whose EXPLAIN ANALYZE shows the time and rows of
 * reading as if the node had returned them; or NULL.
 */
extern PGDLLEXPORT uint64 column_scan_read(const ColumnScan *scan, PlanState *instrumented,
										   ColumnConsume consume, void *arg);

/*
 * Describes in scan what a SeqScan node, initialized but never run, would read:
 * its relation, snapshot and filter.  Columns and parallel scan are left alone.
 */
extern void column_scan_from_node(ColumnScan *scan, ScanState *node);

/* What EXPLAIN says of the blocks read; nothing if no columns are resident. */
extern void column_blocks_explain(const ColumnBlocks *blocks, ExplainState *es);

#endif							/* HPSORT_PG_COLUMN_SCAN_H */
