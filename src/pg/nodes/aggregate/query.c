/*
 * query.c
 *		HpSort Aggregate in the query that hpsort_query runs (see query.h).
 *
 * SELECT x FROM t [WHERE ...] needs no rows if all that becomes of them is
 * keys in a sorter.  column/query.c offers the sorter while it plans and runs
 * its query; the planner may then take a node that fills it, and returns no
 * rows.  Such a plan is good for that one execution: it is never kept, because
 * column/query.c does not keep its plans.
 *
 * What the hooks see may be another query, planned by a function that is
 * evaluated at plan time: ours is told by its string, then by its tree.
 */
#include "postgres.h"

#include "commands/explain.h"
#include "executor/executor.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "optimizer/cost.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "utils/ruleutils.h"

#include "pg/compat.h"
#include "pg/guc.h"
#include "pg/nodes/aggregate/node.h"
#include "pg/nodes/aggregate/query.h"
#include "pg/nodes/aggregate/sources.h"
#include "pg/sort_context.h"

static planner_hook_type previous_planner_hook = NULL;

static const AggregateSink *offered_sink = NULL;
static const Query *offered_query = NULL;	/* being planned, for offered_sink */

const AggregateSink *
aggregate_query_offer(const AggregateSink *sink)
{
	const AggregateSink *previous = offered_sink;

	offered_sink = sink;
	return previous;
}

/* --- planning */

static PlannedStmt *
call_planner(Query *parse, const char *query_string, int options, ParamListInfo params
				  COMPAT_PLANNER_EXPLAIN_PARAMETER)
{
	return previous_planner_hook ? previous_planner_hook(parse, query_string, options, params COMPAT_PLANNER_EXPLAIN_ARGUMENT)
		: standard_planner(parse, query_string, options, params COMPAT_PLANNER_EXPLAIN_ARGUMENT);
}

static pg_noinline PlannedStmt *
plan_offered(Query *parse, const char *query_string, int options, ParamListInfo params
				  COMPAT_PLANNER_EXPLAIN_PARAMETER)
{
	const Query *previous = offered_query;
	PlannedStmt *result;

	offered_query = offered_sink && offered_sink->query_string == query_string ? parse : NULL;
	PG_TRY();
	{
		result = call_planner(parse, query_string, options, params COMPAT_PLANNER_EXPLAIN_ARGUMENT);
	}
	PG_FINALLY();
	{
		offered_query = previous;
	}
	PG_END_TRY();
	return result;
}

/* Every query comes by. */
static PlannedStmt *
aggregate_query_planner(Query *parse, const char *query_string, int options, ParamListInfo params
				  COMPAT_PLANNER_EXPLAIN_PARAMETER)
{
	if (likely(offered_sink == NULL && offered_query == NULL))
		return call_planner(parse, query_string, options, params COMPAT_PLANNER_EXPLAIN_ARGUMENT);
	return plan_offered(parse, query_string, options, params COMPAT_PLANNER_EXPLAIN_ARGUMENT);
}

static Plan *
plan_aggregate_query(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist,
				  List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);

	scan->scan.plan.targetlist = tlist;
	scan->custom_scan_tlist = make_tlist_from_pathtarget(path->path.pathtarget);
	if (list_length(custom_plans) == 1)
		scan->scan.scanrelid = ((Scan *) linitial(custom_plans))->scanrelid;
	scan->flags = path->flags;
	scan->custom_plans = custom_plans;
	scan->custom_private = path->custom_private;
	scan->methods = &aggregate_node_scan_methods;
	return (Plan *) scan;
}

static const CustomPathMethods aggregate_query_path_methods = {
	.CustomName = "HpSort Aggregate",
	.PlanCustomPath = plan_aggregate_query,
};

void
aggregate_query_path(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *final_rel)
{
	Query	   *parse = root->parse;
	CustomPath *path;
	List	   *tables;
	List	   *columns;
	Var		   *column;

	/* One column of all rows, in no order. */
	if (parse != offered_query || root->parent_root != NULL || parse->commandType != CMD_SELECT ||
		parse->hasAggs || parse->hasWindowFuncs || parse->hasTargetSRFs ||
		parse->havingQual != NULL || parse->distinctClause != NIL || parse->sortClause != NIL ||
		parse->limitCount != NULL || parse->limitOffset != NULL ||
		parse->setOperations != NULL || parse->rowMarks != NIL ||
		list_length(root->processed_tlist) != 1 ||
		list_length(input_rel->reltarget->exprs) != 1)
		return;
	column = aggregate_column((Node *) linitial(input_rel->reltarget->exprs));
	if (column == NULL || column->varno != input_rel->relid || column->varattno <= 0 ||
		!column_type_is_key(column->vartype))
		return;

	/* Core puts the table's paths into final_rel as they are, and frees some. */
	tables = aggregate_node_find_tables(root, input_rel, final_rel->pathlist);
	if (tables == NIL)
		return;
	columns = aggregate_node_list_columns(root, input_rel, tables, list_make1_int(column->varattno));
	if (columns == NIL)
		return;

	path = makeNode(CustomPath);
	path->path.pathtype = T_CustomScan;
	path->path.parent = final_rel;
	path->path.pathtarget = input_rel->reltarget;
	path->path.rows = input_rel->rows;
	path->path.total_cost = aggregate_node_scan_tables(root, path, tables, 0);
	path->path.startup_cost = path->path.total_cost;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_private = columns;
	path->methods = &aggregate_query_path_methods;
	if (hpsort_debug_aggregate == NODE_FORCE)
		final_rel->pathlist = NIL;
	add_path(final_rel, (Path *) path);
}

void
aggregate_query_install(void)
{
	previous_planner_hook = planner_hook;
	planner_hook = aggregate_query_planner;
}

/* --- execution */

typedef struct AggregateQueryState
{
	CustomScanState css;
	AggregateSources sources;
	const AggregateSink *sink;
} AggregateQueryState;

static const CustomExecMethods aggregate_query_exec_methods;

Node *
aggregate_query_create_state(CustomScan *scan)
{
	AggregateQueryState *state = palloc0_object(AggregateQueryState);

	NodeSetTag(state, T_CustomScanState);
	state->css.methods = &aggregate_query_exec_methods;
	return (Node *) state;
}

static void
begin_query(CustomScanState *css, EState *estate, int eflags)
{
	AggregateQueryState *state = (AggregateQueryState *) css;

	/* The plan was made for it, and is run once, by who offers it. */
	state->sink = offered_sink;
	if (state->sink == NULL)
		elog(ERROR, "HpSort Aggregate has nowhere to put its keys");
	aggregate_sources_begin(&state->sources, css, eflags);
}

static void
consume_batch(void *arg, const ColumnBatch *batches)
{
	const AggregateSink *sink = (const AggregateSink *) arg;
	SortError	err;

	*sink->nulls += batches[0].nulls;
	pg_sort_check(sorter_add(sink->sorter, batches[0].keys, batches[0].n, &err), &err);
}

static TupleTableSlot *
exec_query(CustomScanState *css)
{
	AggregateQueryState *state = (AggregateQueryState *) css;

	if (state->sink)
		aggregate_sources_read(&state->sources, consume_batch, unconstify(AggregateSink *, state->sink));
	state->sink = NULL;
	return NULL;
}

static void
end_query(CustomScanState *css)
{
	aggregate_sources_end(&((AggregateQueryState *) css)->sources);
}

static void
rescan_query(CustomScanState *css)
{
	elog(ERROR, "HpSort Aggregate of a query cannot be rescanned");
}

/* For auto_explain: the query is no one's to EXPLAIN. */
static void
explain_query(CustomScanState *css, List *ancestors, ExplainState *es)
{
	AggregateQueryState *state = (AggregateQueryState *) css;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, css->ss.ps.plan, ancestors);
	Expr	   *column = linitial_node(TargetEntry,
									   ((CustomScan *) css->ss.ps.plan)->custom_scan_tlist)->expr;

	ExplainPropertyText("Sort Key",
						deparse_expression((Node *) column, context, es->verbose, false), es);
	aggregate_sources_explain(&state->sources, ancestors, es);
}

static const CustomExecMethods aggregate_query_exec_methods = {
	.CustomName = "HpSort Aggregate",
	.BeginCustomScan = begin_query,
	.ExecCustomScan = exec_query,
	.EndCustomScan = end_query,
	.ReScanCustomScan = rescan_query,
	.ExplainCustomScan = explain_query,
};
