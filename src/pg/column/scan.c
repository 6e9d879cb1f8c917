/*
 * scan.c
 *		The one loop around a ColumnReader (see column.h).
 */
#include "postgres.h"

#include "executor/instrument.h"

#include "pg/column/column.h"
#include "pg/compat.h"
#include "pg/sort_context.h"

uint64
column_scan_read(const ColumnScan *scan, PlanState *instrumented, ColumnConsume consume, void *arg)
{
	ColumnBatch *batches;
	ColumnReader *reader = column_reader_open(scan, &batches);
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
	return column_reader_close(reader);
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
