/*
 * plan_node.c
 *		From the path of Custom Scan (HpSort) to its plan node (see plan.h).
 *
 * The node needs one custom_scan_tlist while core finishes the plan, and another one afterwards:
 *
 * - setrefs.c finds the columns of a custom scan without a table in custom_scan_tlist, by
 *   comparing expressions.  It needs the child's expressions in the list.
 * - EXPLAIN prints a column of this node, and of nodes above it, by the expression in
 *   custom_scan_tlist.  It cannot print the child's expressions: one that a window computes refers
 *   to columns that this node does not have, and a column of a set operation to a table that does
 *   not exist.  It needs references to the child's columns, as in a Sort's target list.
 *
 * Core has no hook between the two steps, so that a planner hook changes the lists in plans that
 * core has just finished.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"

#include "pg/compat.h"
#include "pg/nodes/sort/plan/node.h"
#include "pg/nodes/sort/plan/plan_node.h"

uint64		sort_node_plans_made = 0;

/*
 * Returns HPSORT_PLAN_NUMBERS of a plan whose child returns ncolumns columns.  These may be more
 * than its path's target has: up to PostgreSQL 18, core adds the columns that a semijoin's Unique
 * compares when it makes the plan.
 */
static List *
numbers_of_plan(const List *of_path, int ncolumns)
{
	List	   *numbers = list_copy(of_path);

	if (ncolumns > 1)
		lfirst_int(list_nth_cell(numbers, HPSORT_PLAN_KEY_ONLY)) = false;
	return numbers;
}

/* PlanCustomPath: makes the plan node of a path. */
static Plan *
sort_node_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
			   List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	Plan	   *child = (Plan *) linitial(custom_plans);
	List	   *target = path->path.pathtarget->exprs;
	List	   *private = path->custom_private;
	ListCell   *lc;

	/* The child's list begins with the path's target, column by column. */
	foreach(lc, (List *) list_nth(private, HPSORT_PLAN_ATTNOS))
	{
		int			attno = lfirst_int(lc);

		if (attno > list_length(child->targetlist) ||
			!equal(list_nth(target, attno - 1), list_nth_node(TargetEntry, child->targetlist,
															  attno - 1)->expr))
			elog(ERROR, "could not find sort key %d in the input", attno);
	}

	/* The node returns all columns of the child's rows, like a Sort. */
	scan->scan.plan.targetlist = (List *) copyObject(child->targetlist);
	scan->custom_scan_tlist = (List *) copyObject(child->targetlist);
	scan->scan.plan.lefttree = child;
	scan->scan.scanrelid = 0;
	scan->flags = path->flags;
	scan->custom_exprs = (List *) copyObject(list_nth(private, HPSORT_PLAN_BOUND));
	scan->custom_private = list_copy_head(private, HPSORT_PLAN_BOUND);
	lfirst(list_nth_cell(scan->custom_private, HPSORT_PLAN_NUMBERS)) =
		numbers_of_plan((List *) list_nth(private, HPSORT_PLAN_NUMBERS),
						list_length(child->targetlist));
	scan->methods = &sort_node_scan_methods;
	sort_node_plans_made++;
	return &scan->scan.plan;
}

const CustomPathMethods sort_path_methods = {
	.CustomName = "HpSort",
	.PlanCustomPath = sort_node_plan,
};

/*
 * Replaces each expression in custom_scan_tlist that is not a table's column by a reference to the
 * child's column.  A record is replaced, too: EXPLAIN looks for the names of its fields where the
 * record was made, in a subquery.
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

/*
 * Changes the lists of all HpSort nodes in a plan tree.  Core has walkers for expressions and for
 * plan states, but none for plans.
 */
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

void
sort_node_finish_plan(PlannedStmt *stmt)
{
	finish_plan(stmt->planTree);
	finish_plans(stmt->subplans);
}
