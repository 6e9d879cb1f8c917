/*
 * sources.c
 *		The tables that a HpSort Aggregate node reads (see sources.h).
 */
#include "postgres.h"

#include "access/tableam.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/sources.h"

void
aggregate_sources_begin(AggregateSources *sources, CustomScanState *css, int eflags)
{
	CustomScan *scan = (CustomScan *) css->ss.ps.plan;
	int			i;

	sources->css = css;
	sources->ncolumns = list_length(linitial(scan->custom_private));
	sources->nsources = list_length(scan->custom_plans);
	sources->scans = palloc_array(ScanState *, sources->nsources);
	sources->attnums = palloc_array(AttrNumber *, sources->nsources);
	for (i = 0; i < sources->nsources; i++)
	{
		List	   *attnums = list_nth(scan->custom_private, i + 1);
		int			c;

		sources->scans[i] = (ScanState *) ExecInitNode(list_nth(scan->custom_plans, i),
													   css->ss.ps.state, eflags);
		sources->attnums[i] = palloc_array(AttrNumber, sources->ncolumns);
		for (c = 0; c < sources->ncolumns; c++)
			sources->attnums[i][c] = list_nth_int(attnums, c);
	}
}

void
aggregate_sources_read(AggregateSources *sources, AggregateConsume consume, void *arg)
{
	ColumnBatch *batches = palloc_array(ColumnBatch, sources->ncolumns);
	Snapshot	snapshot = sources->css->ss.ps.state->es_snapshot;
	bool		more;
	int			c;
	int			i;

	for (c = 0; c < sources->ncolumns; c++)
		batches[c].keys = palloc_array(int32, COLUMN_BATCH_KEYS);
	for (i = 0; i < sources->nsources; i++)
	{
		ScanState  *scan = sources->scans[i];
		ColumnReader *reader;

		reader = column_reader_open(scan->ss_currentRelation, sources->ncolumns,
									sources->attnums[i], snapshot,
									sources->parallel ? sources->parallel[i] : NULL);
		if (scan->ps.qual)
			column_reader_filter(reader, scan->ps.qual, scan->ps.ps_ExprContext,
								 scan->ss_ScanTupleSlot);
		do
		{
			for (c = 0; c < sources->ncolumns; c++)
				batches[c].nulls = 0;
			more = column_reader_next(reader, batches);
			consume(arg, batches);
		} while (more);
		/* The first kind of filtered rows is HAVING's. */
		InstrCountFiltered2(&sources->css->ss, column_reader_filtered(reader));
		column_reader_close(reader);
	}
	for (c = 0; c < sources->ncolumns; c++)
		pfree(batches[c].keys);
	pfree(batches);
}

void
aggregate_sources_rescan(AggregateSources *sources)
{
	Bitmapset  *changed = sources->css->ss.ps.chgParam;
	int			i;

	for (i = 0; i < sources->nsources; i++)
	{
		if (changed != NULL)
			UpdateChangedParamSet(&sources->scans[i]->ps, changed);
		ExecReScan(&sources->scans[i]->ps);
	}
}

void
aggregate_sources_end(AggregateSources *sources)
{
	int			i;

	for (i = 0; i < sources->nsources; i++)
		ExecEndNode(&sources->scans[i]->ps);
}

static Size
scan_size(AggregateSources *sources, int i)
{
	return MAXALIGN(table_parallelscan_estimate(sources->scans[i]->ss_currentRelation,
												sources->css->ss.ps.state->es_snapshot));
}

Size
aggregate_sources_estimate(AggregateSources *sources)
{
	Size		size = 0;
	int			i;

	for (i = 0; i < sources->nsources; i++)
		size = add_size(size, scan_size(sources, i));
	return size;
}

/* Where each table's scan is; sizes are the same in all processes. */
void
aggregate_sources_attach(AggregateSources *sources, char *coordinate)
{
	int			i;

	sources->parallel = MemoryContextAlloc(sources->css->ss.ps.state->es_query_cxt,
										   sources->nsources * sizeof(ParallelTableScanDesc));
	for (i = 0; i < sources->nsources; i++)
	{
		sources->parallel[i] = (ParallelTableScanDesc) coordinate;
		coordinate += scan_size(sources, i);
	}
}

void
aggregate_sources_share(AggregateSources *sources, char *coordinate)
{
	int			i;

	aggregate_sources_attach(sources, coordinate);
	for (i = 0; i < sources->nsources; i++)
		table_parallelscan_initialize(sources->scans[i]->ss_currentRelation,
									  sources->parallel[i],
									  sources->css->ss.ps.state->es_snapshot);
}

void
aggregate_sources_reshare(AggregateSources *sources)
{
	int			i;

	for (i = 0; i < sources->nsources; i++)
		table_parallelscan_reinitialize(sources->scans[i]->ss_currentRelation,
										sources->parallel[i]);
}

/*
 * The filter of the rows read, as core shows one.  Core itself shows HAVING as
 * this node's filter; then ours has another name.
 */
static void
explain_filter(CustomScanState *css, const ScanState *scan, List *ancestors, ExplainState *es)
{
	bool		having = css->ss.ps.plan->qual != NIL;
	bool		prefix = compat_explain_prefix(es);
	NodeInstrumentation *instrument = css->ss.ps.instrument;
	List	   *context;

	if (scan->ps.plan->qual == NIL)
		return;
	/* Under this node's plan parameters of a nested loop around it are found. */
	context = set_deparse_context_plan(es->deparse_cxt, css->ss.ps.plan, ancestors);
	ExplainPropertyText(having ? "Scan Filter" : "Filter",
						deparse_expression((Node *) make_ands_explicit(scan->ps.plan->qual),
										   context, prefix, false), es);
	if (es->analyze && instrument && instrument->nloops > 0 &&
		(instrument->nfiltered2 > 0 || es->format != EXPLAIN_FORMAT_TEXT))
		ExplainPropertyFloat(having ? "Rows Removed by Scan Filter" : "Rows Removed by Filter",
							 NULL, instrument->nfiltered2 / instrument->nloops, 0, es);
}

void
aggregate_sources_explain(AggregateSources *sources, List *ancestors, ExplainState *es)
{
	if (sources->nsources > 1 || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyInteger("Tables", NULL, sources->nsources, es);
	/* Those of a tree of tables say the same of each. */
	explain_filter(sources->css, sources->scans[0], ancestors, es);
}
