/*
 * scan.c
 *		The one loop around a ColumnReader (see scan.h).
 */
#include "postgres.h"

#include "executor/instrument.h"

#include "pg/column/scan.h"
#include "pg/compat.h"
#include "pg/sort_context.h"

uint64
column_scan_read(const ColumnScan *scan, PlanState *instrumented, ColumnConsume consume, void *arg)
{
	ColumnReader *reader = column_reader_open(scan);
	ColumnBatch *batches = palloc_array(ColumnBatch, scan->ncolumns);
	bool		instrument = instrumented && instrumented->instrument;
	uint64		filtered;
	bool		more;
	int			c;

	for (c = 0; c < scan->ncolumns; c++)
		batches[c].keys = palloc_array(int32, COLUMN_BATCH_KEYS);
	do
	{
		if (instrument)
			InstrStartNode(instrumented->instrument);
		more = column_reader_next(reader, batches);
		if (instrument)
			InstrStopNode(instrumented->instrument,
						  (double) batches[0].n + (double) batches[0].nulls);
		consume(arg, batches);
	} while (more);

	filtered = column_reader_filtered(reader);
	column_reader_close(reader);
	for (c = 0; c < scan->ncolumns; c++)
		pfree(batches[c].keys);
	pfree(batches);
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
	scan->for_change = compat_scan_is_for_change(node);
}

void
column_consume_keys(void *arg, const ColumnBatch *batches)
{
	const KeySink *sink = (const KeySink *) arg;
	SortError	err;

	*sink->nulls += batches[0].nulls;
	pg_sort_check(sorter_add(sink->sorter, batches[0].keys, batches[0].n, &err), &err);
}
