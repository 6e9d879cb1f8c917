/*
 * query_planner.c
 *		HpSort Aggregate in the query that hpsort_query runs, the planner half
 *		(see query_planner.h).
 *
 * SELECT x FROM t [WHERE ...] needs no rows if all that becomes of them is keys
 * in a sorter.  column/query.c gives the sorter with the query's parameters
 * (QuerySink); the node fills it and returns no rows.  Such a plan is good only for
 * an execution with these parameters, which is how PostgreSQL's plan cache treats
 * a plan made with parameters: it is never kept.
 */
#include "postgres.h"

#include "nodes/extensible.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"

#include "pg/column/query.h"
#include "pg/column/reader.h"
#include "pg/guc.h"
#include "pg/nodes/aggregate/aggrefs.h"
#include "pg/nodes/aggregate/exec.h"
#include "pg/nodes/aggregate/input.h"
#include "pg/nodes/aggregate/node.h"
#include "pg/nodes/aggregate/query_planner.h"

static Plan *
plan_query(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
		   List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);

	scan->scan.plan.targetlist = tlist;
	scan->custom_scan_tlist = make_tlist_from_pathtarget(path->path.pathtarget);
	if (list_length(custom_plans) == 1)
		scan->scan.scanrelid = ((Scan *) linitial(custom_plans))->scanrelid;
	scan->flags = path->flags;
	scan->custom_plans = custom_plans;
	scan->custom_private = path->custom_private;
	scan->methods = &aggregate_scan_methods;
	return (Plan *) scan;
}

static const CustomPathMethods query_path_methods = {
	.CustomName = "HpSort Aggregate",
	.PlanCustomPath = plan_query,
};

void
query_planner_add_path(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *final_rel)
{
	Query	   *parse = root->parse;
	AggregateInput input;
	CustomPath *path;
	Var		   *column;

	/* One column of all rows, in no order. */
	if (parse != query_sink(root->glob->boundParams)->query || parse->commandType != CMD_SELECT ||
		parse->hasAggs || parse->hasWindowFuncs || parse->hasTargetSRFs ||
		parse->havingQual != NULL || parse->distinctClause != NIL || parse->sortClause != NIL ||
		parse->limitCount != NULL || parse->limitOffset != NULL ||
		parse->setOperations != NULL || parse->rowMarks != NIL ||
		list_length(root->processed_tlist) != 1 ||
		list_length(input_rel->reltarget->exprs) != 1)
		return;
	column = aggref_expression_column((Node *) linitial(input_rel->reltarget->exprs));
	if (column == NULL || column->varno != input_rel->relid || column->varattno <= 0 ||
		!column_type_is_key(column->vartype))
		return;

	/*
	 * Core has put the table's paths into final_rel as they are, and freed some
	 * there that are still in input_rel's list.
	 */
	if (!aggregate_input_find(&input, root, input_rel, final_rel->pathlist,
							  list_make1_int(column->varattno), NIL, false))
		return;

	path = makeNode(CustomPath);
	path->path.pathtype = T_CustomScan;
	path->path.parent = final_rel;
	path->path.pathtarget = input_rel->reltarget;
	path->path.rows = input_rel->rows;
	path->path.total_cost = aggregate_input_scan(&input, root, path, 0);
	path->path.startup_cost = path->path.total_cost;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_private = list_make2(input.columns, input.table_columns);
	path->methods = &query_path_methods;
	if (hpsort_debug_aggregate == NODE_FORCE)
		final_rel->pathlist = NIL;
	add_path(final_rel, (Path *) path);
}
