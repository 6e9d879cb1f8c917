/*
 * query_exec.c
 *		HpSort Aggregate in the query that hpsort_query runs, the executor half
 *		(see query_planner.c).
 */
#include "postgres.h"

#include "commands/explain.h"
#include "executor/executor.h"
#include "nodes/extensible.h"
#include "utils/ruleutils.h"

#include "pg/column/query.h"
#include "pg/compat.h"
#include "pg/nodes/aggregate/query_exec.h"
#include "pg/nodes/aggregate/sources.h"

typedef struct QueryScanState
{
	CustomScanState css;
	AggregateSources sources;
	KeySink    *keys;			/* NULL once it has been filled */
} QueryScanState;

static const CustomExecMethods query_exec_methods;

Node *
query_exec_create_state(CustomScan *scan)
{
	QueryScanState *state = palloc0_object(QueryScanState);

	NodeSetTag(state, T_CustomScanState);
	state->css.methods = &query_exec_methods;
	return (Node *) state;
}

static void
begin_query(CustomScanState *css, EState *estate, int eflags)
{
	QueryScanState *state = (QueryScanState *) css;

	QuerySink  *sink = query_sink(estate->es_param_list_info);

	if (sink == NULL)
		elog(ERROR, "HpSort Aggregate has nowhere to put its keys");
	state->keys = &sink->keys;
	aggregate_sources_begin(&state->sources, css, eflags, true, 0);
}

static TupleTableSlot *
exec_query(CustomScanState *css)
{
	QueryScanState *state = (QueryScanState *) css;

	if (state->keys)
		aggregate_sources_read(&state->sources, column_consume_keys, state->keys);
	state->keys = NULL;
	return NULL;
}

static void
end_query(CustomScanState *css)
{
	aggregate_sources_end(&((QueryScanState *) css)->sources);
}

static void
rescan_query(CustomScanState *css)
{
	elog(ERROR, "HpSort Aggregate of a query cannot be rescanned");
}

/* Only auto_explain calls this: SQL's EXPLAIN cannot reach the query. */
static void
explain_query(CustomScanState *css, List *ancestors, ExplainState *es)
{
	QueryScanState *state = (QueryScanState *) css;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, css->ss.ps.plan, ancestors);
	Expr	   *column = linitial_node(TargetEntry,
									   ((CustomScan *) css->ss.ps.plan)->custom_scan_tlist)->expr;

	ExplainPropertyText("Sort Key",
						deparse_expression((Node *) column, context, es->verbose, false), es);
	aggregate_sources_explain(&state->sources, ancestors, es);
}

static const CustomExecMethods query_exec_methods = {
	.CustomName = "HpSort Aggregate",
	.BeginCustomScan = begin_query,
	.ExecCustomScan = exec_query,
	.EndCustomScan = end_query,
	.ReScanCustomScan = rescan_query,
	.ExplainCustomScan = explain_query,
};
