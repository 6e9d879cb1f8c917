/*
 * scan.c
 *		The one loop around a ColumnReader (see column.h).
 */
#include "postgres.h"

#include "executor/instrument.h"

#include "pg/column/column.h"
#include "pg/compat.h"
#include "pg/resident/source/source.h"
#include "pg/sort_context.h"

/* Reads rows until there are no more, the scan waits, or no more are wanted. */
static void
read_rows(const ColumnScan *scan, ColumnReader *reader, const ColumnBatch *batches,
		  PlanState *instrumented, ColumnConsume consume, void *arg)
{
	bool		instrument = instrumented && instrumented->instrument;
	uint64		skipped = 0;	/* by the cutoff: in all batches before, or in this one */
	bool		more;

	do
	{
		if (instrument)
			InstrStartNode(instrumented->instrument);
		more = column_reader_next(reader);
		if (scan->cutoff)
			skipped = scan->cutoff->skipped - skipped;

		/*
		 * The rows that core's scan would have returned: rows that the cutoff has skipped among
		 * them, and NULLs that the GPU has counted beside its runs.
		 */
		if (instrument)
			InstrStopNode(instrumented->instrument,
						  (double) (batches[0].n + skipped) +
						  (batches[0].runs ? (double) batches[0].nnulls : 0));
		if (scan->cutoff)
			skipped = scan->cutoff->skipped;
		consume(arg, batches);
	} while (more && !(scan->stop && *scan->stop));
}

uint64
column_scan_read(const ColumnScan *scan, PlanState *instrumented, ColumnConsume consume, void *arg)
{
	ColumnBatch *batches;
	ColumnReader *reader = column_reader_open(scan, &batches);

	read_rows(scan, reader, batches, instrumented, consume, arg);
	return column_reader_close(reader);
}

uint64
column_scans_read(ColumnScan *scans, int n, ColumnConsume consume, void *arg)
{
	ResidentRowsHandler *handler = n > 1 ? scans[0].handler : NULL;
	ColumnReader **readers = palloc_array(ColumnReader *, n);	/* of scans that wait */
	ColumnBatch **batches = palloc_array(ColumnBatch *, n);
	int		   *waiting = palloc_array(int, n); /* and their indexes */
	int			nwaiting = 0;
	uint64		refused = 0;

	if (handler)
	{
		handler->rows = resident_scans_rows(scans, n, handler);
		handler->waits = handler->rows != NULL;
	}
	for (int i = 0; i < n && !*scans->stop; i++)
	{
		if (handler && !handler->waits)
			scans[i].handler = NULL;
		readers[nwaiting] = column_reader_open(&scans[i], &batches[nwaiting]);
		read_rows(&scans[i], readers[nwaiting], batches[nwaiting], NULL, consume, arg);
		if (column_reader_waits(readers[nwaiting]))
			waiting[nwaiting++] = i;
		else
			refused += column_reader_close(readers[nwaiting]);
	}
	if (handler)
		handler->waits = false;
	for (int i = 0; i < nwaiting; i++)
	{
		if (!*scans->stop)
			read_rows(&scans[waiting[i]], readers[i], batches[i], NULL, consume, arg);
		refused += column_reader_close(readers[i]);
	}
	pfree(readers);
	pfree(batches);
	pfree(waiting);
	return refused;
}

void
column_scan_from_node(ColumnScan *scan, ScanState *node)
{
	scan->rel = node->ss_currentRelation;
	scan->snapshot = node->ps.state->es_snapshot;
	scan->qual = node->ps.qual;
	scan->econtext = node->ps.ps_ExprContext;
	scan->slot = node->ss_ScanTupleSlot;
	scan->for_change = !ScanRelIsReadOnly(node);
}

void
column_scan_from_child(ColumnScan *scan, ScanState *node)
{
	if (node->ps.chgParam != NULL)
		ExecReScan(&node->ps);
	column_scan_from_node(scan, node);
	if (node->ss_currentScanDesc)
		scan->parallel = node->ss_currentScanDesc->rs_parallel;
}

bool
column_scan_is_readable(PlanState *node)
{
	EState	   *estate = node->state;
	Relation	relation;

	if (!IsA(node, SeqScanState))
		return false;

	/* EvalPlanQual checks single rows again; other snapshots see rows that the reader does not. */
	if (estate->es_epq_active != NULL || estate->es_snapshot->snapshot_type != SNAPSHOT_MVCC)
		return false;
	relation = ((ScanState *) node)->ss_currentRelation;
	return relation->rd_rel->relkind == RELKIND_RELATION ||
		relation->rd_rel->relkind == RELKIND_MATVIEW;
}

void
column_blocks_share(SharedColumnBlocks *shared, const ColumnBlocks *blocks)
{
	SpinLockAcquire(&shared->mutex);
	shared->blocks.resident += blocks->resident;
	shared->blocks.gpu += blocks->gpu;
	shared->blocks.all += blocks->all;
	SpinLockRelease(&shared->mutex);
}

void
column_blocks_explain(const ColumnBlocks *blocks, ExplainState *es)
{
	/* Nothing was read by way of resident columns. */
	if (blocks->all == 0)
		return;
	if (es->format == EXPLAIN_FORMAT_TEXT)
		ExplainPropertyText("Resident Blocks",
							psprintf(INT64_FORMAT " of " INT64_FORMAT "%s", blocks->resident,
									 blocks->all,
									 blocks->gpu > 0 ?
									 psprintf(", " INT64_FORMAT " on the GPU", blocks->gpu) :
									 ""),
							es);
	else
	{
		ExplainPropertyInteger("Resident Blocks", NULL, blocks->resident, es);
		ExplainPropertyInteger("Resident GPU Blocks", NULL, blocks->gpu, es);
		ExplainPropertyInteger("Blocks", NULL, blocks->all, es);
	}
}
