/*
 * plan_tree.c
 *		Going through finished plans (see plan_tree.h).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/makefuncs.h"

#include "pg/compat.h"
#include "pg/plan_tree.h"

static void
visit_plan(Plan **plan, PlanVisit visit, void *arg)
{
	if (*plan)
		visit(plan, arg);
}

static void
visit_list(List *plans, PlanVisit visit, void *arg)
{
	ListCell   *cell;

	foreach(cell, plans)
		visit_plan((Plan **) &lfirst(cell), visit, arg);
}

void
plan_visit_children(Plan *plan, PlanVisit visit, void *arg)
{
	check_stack_depth();
	switch (nodeTag(plan))
	{
		case T_Append:
			visit_list(((Append *) plan)->appendplans, visit, arg);
			break;
		case T_MergeAppend:
			visit_list(((MergeAppend *) plan)->mergeplans, visit, arg);
			break;
		case T_BitmapAnd:
			visit_list(((BitmapAnd *) plan)->bitmapplans, visit, arg);
			break;
		case T_BitmapOr:
			visit_list(((BitmapOr *) plan)->bitmapplans, visit, arg);
			break;
		case T_SubqueryScan:
			visit_plan(&((SubqueryScan *) plan)->subplan, visit, arg);
			break;
		case T_CustomScan:
			visit_list(((CustomScan *) plan)->custom_plans, visit, arg);
			break;
		default:
			break;
	}
	visit_plan(&plan->lefttree, visit, arg);
	visit_plan(&plan->righttree, visit, arg);
}

void
plan_visit_roots(PlannedStmt *stmt, PlanVisit visit, void *arg)
{
	visit_plan(&stmt->planTree, visit, arg);
	visit_list(stmt->subplans, visit, arg);
}

void
plan_refer_to_child(CustomScan *scan)
{
	foreach_node(TargetEntry, target, scan->custom_scan_tlist)
	{
		if (!IsA(target->expr, Var) || ((Var *) target->expr)->varno == 0 ||
			((Var *) target->expr)->vartype == RECORDOID)
			target->expr = (Expr *) makeVarFromTargetEntry(OUTER_VAR, target);
	}
}
