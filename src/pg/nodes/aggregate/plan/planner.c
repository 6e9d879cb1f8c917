/*
 * planner.c
 *		Custom Scan (HpSort Aggregate), the planner half (see node.h): which queries are looked
 *		at, and what becomes of a path that core takes.
 *
 * The paths (groups_planner.c) compete with core's for the same aggregation, so that a selective
 * WHERE is still answered by an index scan.
 */
#include "postgres.h"

#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "pg/nodes/aggregate/plan/aggrefs.h"
#include "pg/nodes/aggregate/plan/groups_planner.h"
#include "pg/nodes/aggregate/plan/node.h"
#include "pg/nodes/aggregate/plan/planner.h"
#include "pg/values/values.h"

/* --- the plan */

/* Adds to *list the parameters of an expression that another node of the plan sets. */
static bool
note_params(Node *node, void *list)
{
	List	  **params = (List **) list;

	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		*params = list_append_unique(*params, node);
	return expression_tree_walker(node, note_params, list);
}

/*
 * Makes the plan node of a path that core has chosen.  tlist is what the node returns, and
 * custom_plans the plans of the path's scans.  clauses is empty: an upper relation has none.
 */
static Plan *
plan_groups(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
			List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	ListCell   *lc;

	foreach(lc, list_nth(path->custom_private, GROUPS_PATH_EXPRESSIONS))
		scan->custom_scan_tlist = lappend(scan->custom_scan_tlist,
										  makeTargetEntry(copyObject((Expr *) lfirst(lc)),
														  list_length(scan->custom_scan_tlist) + 1,
														  NULL, false));
	scan->scan.plan.qual = list_nth(path->custom_private, GROUPS_PATH_HAVING);
	scan->custom_exprs = list_copy(list_nth(path->custom_private, GROUPS_PATH_DIVIDED));
	/* Core looks for the parameters on which a node depends here, not in its scan tuple. */
	note_params(list_nth(path->custom_private, GROUPS_PATH_EXPRESSIONS), &scan->custom_exprs);
	scan->scan.plan.targetlist = tlist;
	/* EXPLAIN names a table of its own, but not a tree of tables. */
	if (list_length(list_nth(path->custom_private, GROUPS_PLAN_TABLE_COLUMNS)) == 1)
		scan->scan.scanrelid = ((Scan *) linitial(custom_plans))->scanrelid;
	scan->flags = path->flags;
	scan->custom_plans = custom_plans;
	scan->custom_private = list_copy_head(path->custom_private, GROUPS_PLAN_Count);
	scan->methods = &aggregate_scan_methods;
	return (Plan *) scan;
}

const CustomPathMethods groups_path_methods = {
	.CustomName = "HpSort Aggregate",
	.PlanCustomPath = plan_groups,
};

/* --- the hook */

/*
 * The quick way out, without an allocation: false if an aggregate of a target is of a function that
 * is not answered.
 */
static bool
may_be_answered(const PathTarget *target)
{
	ListCell   *lc;

	foreach(lc, target->exprs)
	{
		const Node *node = (const Node *) lfirst(lc);

		if (IsA(node, Aggref) && !aggref_may_be_answered((const Aggref *) node))
			return false;
	}
	return true;
}

void
aggregate_node_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
						   RelOptInfo *output_rel, void *extra)
{
	if (may_be_answered(stage == UPPERREL_DISTINCT ? root->upper_targets[stage]
						: output_rel->reltarget) &&
		!IS_DUMMY_REL(input_rel) && (stage == UPPERREL_DISTINCT || extra != NULL))
		groups_planner_add_paths(root, stage, input_rel, output_rel,
								 stage == UPPERREL_DISTINCT ? NULL : (GroupPathExtraData *) extra);
}
