/*
 * plan.c
 *		From the path of Custom Scan (HpSort) to its plan node.
 *
 * In setrefs.c a custom scan without a table finds its columns in its own
 * list, custom_scan_tlist, by comparing expressions: until then that list has
 * to be the child's.  Afterwards only its types are asked for, and by EXPLAIN,
 * of this node and of those above, what a column is: it would then look for
 * what computed columns are computed from, a window for instance, and for the
 * table of what a set operation returns, neither of which is here.  As for
 * Sort, it has to ask the child.  Core has no hook between the two, and a plan
 * must not be changed once it is made, so a planner hook looks through
 * finished plans that have such a node.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/planner.h"

#include "pg/compat.h"
#include "pg/nodes/sort/exec.h"
#include "pg/nodes/sort/planner.h"

static planner_hook_type prev_planner_hook = NULL;

/*
 * Nodes ever made.  A planner that calls itself, for a function evaluated at
 * plan time, or ends in an error, may make the outer one look in vain, no more.
 */
static uint64 plans_made = 0;

/* The plan of such a path. */
static Plan *
sort_node_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
		   List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	Plan	   *child = (Plan *) linitial(custom_plans);
	List	   *target = path->path.pathtarget->exprs;
	List	   *private = path->custom_private;
	ListCell   *lc;

	/* The child's list is the path's target, column by column. */
	foreach(lc, (List *) list_nth(private, HPSORT_PLAN_ATTNOS))
	{
		int			attno = lfirst_int(lc);

		if (attno > list_length(child->targetlist) ||
			!equal(list_nth(target, attno - 1), list_nth_node(TargetEntry, child->targetlist, attno - 1)->expr))
			elog(ERROR, "could not find sort key %d in the input", attno);
	}

	/* Like Sort, we return the child's rows, all of their columns. */
	scan->scan.plan.targetlist = (List *) copyObject(child->targetlist);
	scan->custom_scan_tlist = (List *) copyObject(child->targetlist);
	scan->scan.plan.lefttree = child;
	scan->scan.scanrelid = 0;
	scan->flags = path->flags;
	scan->custom_exprs = (List *) copyObject(list_nth(private, HPSORT_PLAN_BOUND));
	scan->custom_private = list_copy_head(private, HPSORT_PLAN_BOUND);
	scan->methods = &sort_node_scan_methods;
	plans_made++;
	return &scan->scan.plan;
}

const CustomPathMethods sort_path_methods = {
	.CustomName = "HpSort",
	.PlanCustomPath = sort_node_plan,
};

/*
 * Of our node: whatever is not a table's column is the child's, and so are
 * records, whose fields EXPLAIN looks for where they were made, in a subquery.
 */
static void
refer_to_child(CustomScan *scan)
{
	ListCell   *lc;

	foreach(lc, scan->custom_scan_tlist)
	{
		TargetEntry *target = lfirst_node(TargetEntry, lc);

		if (!IsA(target->expr, Var) || ((Var *) target->expr)->varno == 0 ||
			((Var *) target->expr)->vartype == RECORDOID)
			target->expr = (Expr *) makeVarFromTargetEntry(OUTER_VAR, target);
	}
}

static void finish_plan(Plan *plan);

static void
finish_plans(List *plans)
{
	ListCell   *lc;

	foreach(lc, plans)
		finish_plan((Plan *) lfirst(lc));
}

/* Our nodes of a plan tree; core has walkers for expressions and states only. */
static void
finish_plan(Plan *plan)
{
	if (plan == NULL)
		return;
	check_stack_depth();
	switch (nodeTag(plan))
	{
		case T_Append:
			finish_plans(((Append *) plan)->appendplans);
			break;
		case T_MergeAppend:
			finish_plans(((MergeAppend *) plan)->mergeplans);
			break;
		case T_SubqueryScan:
			finish_plan(((SubqueryScan *) plan)->subplan);
			break;
		case T_CustomScan:
			finish_plans(((CustomScan *) plan)->custom_plans);
			if (((CustomScan *) plan)->methods == &sort_node_scan_methods)
				refer_to_child((CustomScan *) plan);
			break;
		default:
			break;
	}
	finish_plan(plan->lefttree);
	finish_plan(plan->righttree);
}

static PlannedStmt *
order_planner(Query *parse, const char *query_string, int options, ParamListInfo params
				  COMPAT_PLANNER_EXPLAIN_PARAMETER)
{
	uint64		before = plans_made;
	PlannedStmt *result;

	result = prev_planner_hook ? prev_planner_hook(parse, query_string, options, params COMPAT_PLANNER_EXPLAIN_ARGUMENT)
		: standard_planner(parse, query_string, options, params COMPAT_PLANNER_EXPLAIN_ARGUMENT);
	if (unlikely(plans_made != before))
	{
		finish_plan(result->planTree);
		finish_plans(result->subplans);
	}
	return result;
}

void
sort_node_plan_init(void)
{
	RegisterCustomScanMethods(&sort_node_scan_methods);
	prev_planner_hook = planner_hook;
	planner_hook = order_planner;
}
