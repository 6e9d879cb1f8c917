/*
 * scan.c
 *		The one loop around a ColumnReader (see scan.h).
 */
#include "postgres.h"

#include "executor/instrument.h"

#include "pg/column/scan.h"
#include "pg/compat.h"
#include "pg/sort_context.h"

ColumnBatch *
column_batches_make(const ColumnScan *scan, const ColumnReader *reader)
{
	ColumnBatch *batches = palloc0_array(ColumnBatch, column_scan_nbatches(scan));
	size_t		room = column_reader_room(reader);
	int			b;

	Assert(room <= COLUMN_BATCH_KEYS);
	for (b = 0; b < column_scan_nbatches(scan); b++)
	{
		int			arrays = 0;

		if (b < scan->ncolumns)
		{
			AttrNumber	attnum = scan->attnums[b];
			Oid			type = TupleDescAttr(RelationGetDescr(scan->rel), attnum - 1)->atttypid;
			bool		wide = (scan->images && scan->images[b].make) ||
			column_kind_is_wide(column_read_kind(type));

			arrays = wide && !scan->keys ? BATCH_WIDE : BATCH_KEYS;
		}
		if (b >= scan->ncolumns + scan->nfilters)
			arrays = scan->tids ? BATCH_WIDE : 0;
		else
			arrays |= BATCH_NULLS;
		column_batch_make(&batches[b], arrays, room);
	}
	return batches;
}

void
column_batches_free(const ColumnScan *scan, ColumnBatch *batches)
{
	int			b;

	for (b = 0; b < column_scan_nbatches(scan); b++)
		column_batch_free(&batches[b]);
	pfree(batches);
}

uint64
column_scan_read(const ColumnScan *scan, PlanState *instrumented, ColumnConsume consume, void *arg)
{
	ColumnReader *reader = column_reader_open(scan);
	ColumnBatch *batches = column_batches_make(scan, reader);
	bool		instrument = instrumented && instrumented->instrument;
	uint64		skipped = 0;
	uint64		filtered;
	bool		more;

	do
	{
		if (instrument)
			InstrStartNode(instrumented->instrument);
		more = column_reader_next(reader, batches);
		if (scan->cutoff)
			skipped = scan->cutoff->skipped - skipped;
		if (instrument)
			InstrStopNode(instrumented->instrument,
						  (double) (batches[0].n + skipped) +
						  (batches[0].runs ? (double) batches[0].nnulls : 0));
		if (scan->cutoff)
			skipped = scan->cutoff->skipped;
		consume(arg, batches);
	} while (more);

	filtered = column_reader_filtered(reader);
	column_reader_close(reader);
	column_batches_free(scan, batches);
	return filtered;
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
