/*
 * planner.c
 *		Custom Scan (HpSort Aggregate), the planner half (see node.h): where it
 *		can be used, and what it costs.
 *
 * Its paths compete with core's for the same aggregation, so that a selective
 * WHERE is still answered by an index scan.
 */
#include "postgres.h"

#include "nodes/extensible.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/prep.h"
#include "optimizer/tlist.h"

#include "pg/column/column.h"
#include "pg/nodes/aggregate/plan/aggrefs.h"
#include "pg/nodes/aggregate/plan/groups_planner.h"
#include "pg/nodes/aggregate/plan/input.h"
#include "pg/nodes/aggregate/plan/node.h"
#include "pg/nodes/aggregate/plan/planner.h"
#include "pg/values/values.h"

/* --- the aggregates */

/*
 * Whether the node answers an aggregate: one of hpsort's, over a column of
 * relation rti, of all rows, with bounds and direction that do not depend on
 * the row.
 */
static bool
is_answered(const Aggref *aggref, Index rti)
{
	ListCell   *lc;
	Var		   *column;

	if (aggref_kind(aggref) == AGGREGATE_NONE || aggref->aggorder != NIL ||
		aggref->aggdistinct != NIL || aggref->aggfilter != NULL || aggref->agglevelsup != 0)
		return false;
	column = aggref_column(aggref);
	if (column == NULL || column->varno != rti || column->varlevelsup != 0 || column->varattno <= 0)
		return false;
	/* Below a relabel the column may be of a type in another order, such as oid. */
	if (!column_type_is_key(column->vartype))
		return false;
	for_each_from(lc, aggref->args, 1)
	{
		Node	   *arg = (Node *) lfirst_node(TargetEntry, lc)->expr;

		if (!IsA(arg, Const) &&
			!(IsA(arg, Param) && ((Param *) arg)->paramkind == PARAM_EXTERN))
			return false;
	}
	return true;
}

/* All aggregates of the target and HAVING, if the node answers each; else NIL. */
static List *
answered_aggregates(PathTarget *target, Node *having, Index rti)
{
	List	   *nodes;
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, target->exprs)
	{
		if (IsA(lfirst(lc), Aggref) && aggref_kind(lfirst_node(Aggref, lc)) == AGGREGATE_NONE)
			return NIL;
	}
	nodes = list_concat(pull_var_clause((Node *) target->exprs,
										PVC_INCLUDE_AGGREGATES | PVC_INCLUDE_PLACEHOLDERS),
						pull_var_clause(having,
										PVC_INCLUDE_AGGREGATES | PVC_INCLUDE_PLACEHOLDERS));
	foreach(lc, nodes)
	{
		Node	   *node = lfirst(lc);

		if (!IsA(node, Aggref) || !is_answered((Aggref *) node, rti))
			return NIL;
		result = list_append_unique(result, node);
	}
	return result;
}

/* --- the plan */

static Plan *
plan_aggregate(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
			   List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	List	   *having = list_nth(path->custom_private, AGGREGATE_PATH_HAVING);
	List	   *aggregates;
	ListCell   *lc;

	aggregates = list_concat(pull_var_clause((Node *) path->path.pathtarget->exprs,
											 PVC_INCLUDE_AGGREGATES),
							 pull_var_clause((Node *) having, PVC_INCLUDE_AGGREGATES));
	foreach(lc, aggregates)
		scan->custom_scan_tlist = add_to_flat_tlist(scan->custom_scan_tlist,
													list_make1(lfirst(lc)));
	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = having;
	/* EXPLAIN names a table of its own, but not a tree of tables. */
	if (list_length(custom_plans) == 1)
		scan->scan.scanrelid = ((Scan *) linitial(custom_plans))->scanrelid;
	scan->flags = path->flags;
	scan->custom_plans = custom_plans;
	scan->custom_private = list_copy_head(path->custom_private, AGGREGATE_PLAN_Count);
	scan->methods = &aggregate_scan_methods;
	return (Plan *) scan;
}

static const CustomPathMethods aggregate_path_methods = {
	.CustomName = "HpSort Aggregate",
	.PlanCustomPath = plan_aggregate,
};

/* --- the paths */

/*
 * A path that reads the input with that many workers (0: none) into target.
 * costs are those of the aggregates.
 */
static Path *
make_path(PlannerInfo *root, RelOptInfo *parent, PathTarget *target, const AggregateInput *input,
		  List *having, int workers, const AggClauseCosts *costs)
{
	CustomPath *path = makeNode(CustomPath);
	Cost		total = aggregate_input_scan(input, root, path, workers);

	path->path.pathtype = T_CustomScan;
	path->path.parent = parent;
	path->path.pathtarget = target;
	path->path.parallel_aware = workers > 0;
	path->path.parallel_safe = parent->consider_parallel;
	path->path.parallel_workers = workers;
	path->path.rows = 1;

	/* Transitions are a count each, far below what a function call costs. */
	total += costs->finalCost.startup + costs->finalCost.per_tuple + target->cost.startup;
	path->path.startup_cost = total;
	path->path.total_cost = total + target->cost.per_tuple + cpu_tuple_cost;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_private = list_make3(input->columns, input->table_columns, having);
	path->methods = &aggregate_path_methods;
	return &path->path;
}

/*
 * Core's Finalize Aggregate over Gather over a partial HpSort Aggregate; NULL
 * unless core itself has made partial paths of these rows.
 */
static Path *
make_parallel_path(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
				   const AggregateInput *input, GroupPathExtraData *extra)
{
	RelOptInfo *partial_rel;
	Path	   *path;
	double		rows;
	int			workers;

	if (!grouped_rel->consider_parallel || input_rel->partial_pathlist == NIL ||
		(extra->flags & GROUPING_CAN_PARTIAL_AGG) == 0 || !extra->partial_costs_set)
		return NULL;
	partial_rel = fetch_upper_rel(root, UPPERREL_PARTIAL_GROUP_AGG, grouped_rel->relids);
	if (partial_rel->reltarget->exprs == NIL)
		return NULL;
	workers = aggregate_input_workers(input, input_rel);
	if (workers <= 0)
		return NULL;

	path = make_path(root, partial_rel, partial_rel->reltarget, input, NIL, workers,
					 &extra->agg_partial_costs);
	rows = workers;
	path = (Path *) create_gather_path(root, partial_rel, path, partial_rel->reltarget, NULL,
									   &rows);
	return (Path *) create_agg_path(root, grouped_rel, path, grouped_rel->reltarget, AGG_PLAIN,
									AGGSPLIT_FINAL_DESERIAL, NIL, (List *) extra->havingQual,
									&extra->agg_final_costs, 1);
}

/* Of hpsort's own aggregates without groups; false if the node does not answer them so. */
static bool
add_aggregate_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
					GroupPathExtraData *extra)
{
	AggregateInput input;
	List	   *aggregates;
	List	   *columns = NIL;
	ListCell   *lc;
	AggClauseCosts costs;
	Path	   *serial;
	Path	   *parallel;
	bool		whole;

	/* The aggregates first: most queries have others. */
	aggregates = answered_aggregates(grouped_rel->reltarget, extra->havingQual, input_rel->relid);
	if (aggregates == NIL)
		return false;
	foreach(lc, aggregates)
		columns = list_append_unique_int(columns,
										 aggref_column(lfirst_node(Aggref, lc))->varattno);
	if (!aggregate_input_find(&input, root, input_rel, input_rel->pathlist, columns, NIL, false))
		return false;

	MemSet(&costs, 0, sizeof(costs));
	get_agg_clause_costs(root, AGGSPLIT_SIMPLE, &costs);
	serial = make_path(root, grouped_rel, grouped_rel->reltarget, &input,
					   (List *) extra->havingQual, 0, &costs);
	parallel = make_parallel_path(root, input_rel, grouped_rel, &input, extra);

	/*
	 * The column functions read all pages of a table, with workers where it is large enough. In
	 * costs, which are those of pages on disk, an index-only scan is less than the pages of a
	 * wide table, and workers do not share them.
	 */
	whole = input_rel->baserestrictinfo == NIL &&
		aggref_kind(linitial_node(Aggref, aggregates)) == AGGREGATE_KEYS;
	if (hpsort_debug_aggregate == NODE_FORCE || whole)
		grouped_rel->pathlist = NIL;
	if (parallel == NULL || !whole)
		add_path(grouped_rel, serial);
	if (parallel)
		add_path(grouped_rel, parallel);
	return true;
}

/*
 * The quick way out, without an allocation: whether the plain columns and the
 * aggregates of a target are of types and functions that may be answered.
 */
static bool
may_be_answered(const PathTarget *target)
{
	ListCell   *lc;

	foreach(lc, target->exprs)
	{
		const Node *node = (const Node *) lfirst(lc);

		if (IsA(node, Aggref))
		{
			const Aggref *aggref = (const Aggref *) node;

			if (!aggref_may_be_answered(aggref))
				return false;
			if (aggref->args == NIL)
				continue;
			node = (const Node *) linitial_node(TargetEntry, aggref->args)->expr;
		}
		if (IsA(node, Var) && column_kind(((const Var *) node)->vartype) == COLUMN_KIND_NONE)
			return false;
	}
	return true;
}

void
aggregate_node_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
						   RelOptInfo *output_rel, void *extra)
{
	const Query *parse = root->parse;

	if (!may_be_answered(stage == UPPERREL_DISTINCT ? root->upper_targets[stage]
						 : output_rel->reltarget) ||
		IS_DUMMY_REL(input_rel))
		return;
	if (stage == UPPERREL_DISTINCT)
		groups_planner_add_paths(root, stage, input_rel, output_rel, NULL);
	else if (extra != NULL && (parse->groupClause != NIL || !parse->hasAggs ||
							   !add_aggregate_paths(root, input_rel, output_rel,
													(GroupPathExtraData *) extra)))
		groups_planner_add_paths(root, stage, input_rel, output_rel,
								 ((GroupPathExtraData *) extra)->havingQual);
}
