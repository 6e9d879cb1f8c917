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

	for (b = 0; b < column_scan_nbatches(scan); b++)
		batches[b].room = room;
	for (b = 0; b < scan->ncolumns + scan->nfilters; b++)
	{
		if (b < scan->ncolumns)
		{
			AttrNumber	attnum = scan->attnums[b];
			Oid			type = TupleDescAttr(RelationGetDescr(scan->rel), attnum - 1)->atttypid;

			if (scan->aligned && ((scan->images && scan->images[b].make) ||
								  column_kind_is_wide(column_read_kind(type))))
				batches[b].wide = palloc_array(int64, room);
			else
				batches[b].keys = palloc_array(int32, room);
		}
		if (scan->aligned)
			batches[b].nulls = palloc_array(uint8, room);
	}
	if (scan->tids)
		batches[b].wide = palloc_array(int64, room);
	return batches;
}

void
column_batches_free(const ColumnScan *scan, ColumnBatch *batches)
{
	int			b;

	for (b = 0; b < column_scan_nbatches(scan); b++)
	{
		if (batches[b].wide)
			pfree(batches[b].wide);
		if (batches[b].keys)
			pfree(batches[b].keys);
		if (batches[b].nulls)
			pfree(batches[b].nulls);
	}
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
						  (double) (batches[0].n + skipped) + (scan->aligned ? 0 : (double) batches[0].nnulls));
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
	scan->for_change = compat_scan_is_for_change(node);
}

ColumnBatch
column_batch_unpack(const ColumnBatch *batch, size_t *at)
{
	ColumnBatch part = *batch;
	PackedKeys	packed = batch->packed;
	size_t		i;

	packed.values = (const char *) packed.values + *at * packed.width;
	packed.n = Min(packed.n - *at, batch->room);
	part.n = packed.n;
	part.packed.n = 0;
	if (part.keys)
		packed_keys_unpack(&packed, part.keys);
	else
		for (i = 0; i < packed.n; i++)
			part.wide[i] = (int64) packed.base + packed_keys_distance(&packed, i);
	*at += packed.n;
	return part;
}

ColumnBatch
column_batch_of_runs(const ColumnBatch *batch, size_t *at)
{
	const Runs *runs = batch->runs;
	ColumnBatch part = *batch;
	size_t		i;

	part.n = Min(runs->len - *at, batch->room);
	part.runs = NULL;
	part.nnulls = 0;
	if (part.keys)
		memcpy(part.keys, runs->keys + *at, part.n * sizeof(int32));
	else
		for (i = 0; i < part.n; i++)
			part.wide[i] = runs->keys[*at + i];
	*at += part.n;
	return part;
}

void
column_blocks_explain(const ColumnBlocks *blocks, ExplainState *es)
{
	if (blocks->all == 0)
		return;
	if (es->format == EXPLAIN_FORMAT_TEXT)
		ExplainPropertyText("Resident Blocks",
							psprintf(INT64_FORMAT " of " INT64_FORMAT "%s", blocks->resident, blocks->all,
									 blocks->gpu > 0 ? psprintf(", " INT64_FORMAT " on the GPU", blocks->gpu) : ""),
							es);
	else
	{
		ExplainPropertyInteger("Resident Blocks", NULL, blocks->resident, es);
		ExplainPropertyInteger("Resident GPU Blocks", NULL, blocks->gpu, es);
		ExplainPropertyInteger("Blocks", NULL, blocks->all, es);
	}
}

void
column_consume_keys(void *arg, const ColumnBatch *batches)
{
	const KeySink *sink = (const KeySink *) arg;
	const Runs *runs = batches[0].runs;
	SortError	err;

	*sink->nulls += batches[0].nnulls;
	if (runs)
	{
		pg_sort_check(sorter_add_runs(sink->sorter, runs->keys, runs->counts, runs->len, &err), &err);
		return;
	}
	if (batches[0].packed.n > 0)
	{
		pg_sort_check(sorter_add_packed(sink->sorter, &batches[0].packed, &err), &err);
		return;
	}
	pg_sort_check(sorter_add(sink->sorter, batches[0].keys, batches[0].n, &err), &err);
}
