/*
 * sources.c
 *		The tables that a HpSort Aggregate node reads (see sources.h).
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/tableam.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/plan/plan.h"
#include "pg/nodes/aggregate/read/sources.h"

void
aggregate_sources_begin(AggregateSources *sources, CustomScanState *css, int eflags, bool keys,
						int nfilters)
{
	CustomScan *scan = (CustomScan *) css->ss.ps.plan;
	List	   *table_columns = list_nth(scan->custom_private, GROUPS_PLAN_TABLE_COLUMNS);

	/*
	 * The node returns none of the table's rows.  Without a relation of its own, WHERE CURRENT OF
	 * does not look for the cursor's row here, as it does not in an Agg.
	 */
	css->ss.ss_currentRelation = NULL;
	sources->css = css;
	sources->ncolumns = list_length(list_nth(scan->custom_private, GROUPS_PLAN_COLUMNS));
	sources->nsources = list_length(table_columns);
	sources->sources = palloc0_array(AggregateSource, sources->nsources);
	sources->keys = keys;
	sources->nfilters = nfilters;
	for (int i = 0; i < sources->nsources; i++)
	{
		AggregateSource *source = &sources->sources[i];
		List	   *attnums = list_nth(table_columns, i);

		source->scan = (ScanState *) ExecInitNode(list_nth(scan->custom_plans, i),
												  css->ss.ps.state, eflags);
		source->attnums = palloc_array(AttrNumber, sources->ncolumns);
		for (int c = 0; c < sources->ncolumns; c++)
			source->attnums[c] = list_nth_int(attnums, c);
		source->filters = palloc_array(ExprState *, Max(nfilters, 1));
		for (int c = 0; c < nfilters; c++)
		{
			Expr	   *filter = list_nth_node(TargetEntry, source->scan->ps.plan->targetlist,
											   c)->expr;

			source->filters[c] = ExecInitQual(list_make1(filter), &source->scan->ps);
		}
	}
}

/* Returns the conditions of the rows of a table. */
static List *
conditions_of_source(const AggregateSources *sources, const AggregateSource *source)
{
	List	   *conditions = NIL;

	foreach_ptr(const FilterCondition, other, sources->conditions)
	{
		FilterCondition *condition = palloc_object(FilterCondition);

		*condition = *other;
		condition->attnum = source->attnums[condition->attnum - 1];
		conditions = lappend(conditions, condition);
	}
	return conditions;
}

uint64
aggregate_sources_read(AggregateSources *sources, ColumnConsume consume, void *arg)
{
	ColumnScan *scans = palloc_array(ColumnScan, sources->nsources);
	ColumnBlocks blocks = {0};
	uint64		filtered;

	sources->stop = false;
	sources->unmatched = 0;
	for (int i = 0; i < sources->nsources; i++)
	{
		const AggregateSource *source = &sources->sources[i];

		scans[i] = (ColumnScan)
		{
			.ncolumns = sources->ncolumns,
				.attnums = source->attnums,
				.images = sources->images,
				.keys = sources->keys,
				.conditions = conditions_of_source(sources, source),
				.unmatched = &sources->unmatched,
				.nfilters = sources->nfilters,
				.filters = source->filters,
				.ordered = sources->ordered,
				.parallel = sources->alone ? NULL : source->parallel,
				.packed = sources->ncolumns == 1,
				.runs = sources->ncolumns == 1 && sources->runs,
				.handler = sources->shared ? NULL : sources->handler,
				.stop = &sources->stop,
				.blocks = &blocks
		};
		column_scan_from_node(&scans[i], source->scan);
	}
	filtered = column_scans_read(scans, sources->nsources, consume, arg);
	pfree(scans);
	if (sources->shared == NULL)
		sources->blocks = blocks;
	else
		column_blocks_share(sources->shared, &blocks);
	return filtered;
}

/* The SeqScans are no children that core knows of: parameters are handed on here. */
void
aggregate_sources_rescan(AggregateSources *sources)
{
	Bitmapset  *changed = sources->css->ss.ps.chgParam;

	for (int i = 0; i < sources->nsources; i++)
	{
		if (changed != NULL)
			UpdateChangedParamSet(&sources->sources[i].scan->ps, changed);
		ExecReScan(&sources->sources[i].scan->ps);
	}
}

void
aggregate_sources_end(AggregateSources *sources)
{
	for (int i = 0; i < sources->nsources; i++)
		ExecEndNode(&sources->sources[i].scan->ps);
}

static Size
scan_size(AggregateSources *sources, int i)
{
	return MAXALIGN(table_parallelscan_estimate(sources->sources[i].scan->ss_currentRelation,
												sources->css->ss.ps.state->es_snapshot));
}

Size
aggregate_sources_estimate_dsm(AggregateSources *sources)
{
	Size		size = MAXALIGN(sizeof(SharedColumnBlocks));

	for (int i = 0; i < sources->nsources; i++)
		size = add_size(size, scan_size(sources, i));
	return size;
}

/*
 * The scans lie one after the other behind the counts; their sizes are equal in all processes.
 */
void
aggregate_sources_initialize_worker(AggregateSources *sources, char *coordinate)
{
	sources->shared = (SharedColumnBlocks *) coordinate;
	coordinate += MAXALIGN(sizeof(SharedColumnBlocks));
	for (int i = 0; i < sources->nsources; i++)
	{
		sources->sources[i].parallel = (ParallelTableScanDesc) coordinate;
		coordinate += scan_size(sources, i);
	}
}

void
aggregate_sources_initialize_dsm(AggregateSources *sources, char *coordinate)
{
	aggregate_sources_initialize_worker(sources, coordinate);
	SpinLockInit(&sources->shared->mutex);
	memset(&sources->shared->blocks, 0, sizeof(ColumnBlocks));
	for (int i = 0; i < sources->nsources; i++)
		table_parallelscan_initialize(sources->sources[i].scan->ss_currentRelation,
									  sources->sources[i].parallel,
									  sources->css->ss.ps.state->es_snapshot);
}

void
aggregate_sources_reinitialize_dsm(AggregateSources *sources)
{
	memset(&sources->shared->blocks, 0, sizeof(ColumnBlocks));
	for (int i = 0; i < sources->nsources; i++)
		table_parallelscan_reinitialize(sources->sources[i].scan->ss_currentRelation,
										sources->sources[i].parallel);
}

/* Takes the counts of all processes, because shared memory is gone at EXPLAIN. */
void
aggregate_sources_shutdown(AggregateSources *sources)
{
	if (sources->shared == NULL || IsParallelWorker())
		return;
	SpinLockAcquire(&sources->shared->mutex);
	sources->blocks = sources->shared->blocks;
	SpinLockRelease(&sources->shared->mutex);
}

/*
 * Shows the filter of the rows read, as core shows that of a scan.  If there is a HAVING, core
 * shows it as "Filter", because it is the node's qual, and the filter of the rows gets another
 * name.
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
	/* In the node's context, where parameters from a nested loop around it are found. */
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
	/* In a tree of tables all have one filter. */
	explain_filter(sources->css, sources->sources[0].scan, ancestors, es);
	if (es->analyze)
		column_blocks_explain(&sources->blocks, es);
}
