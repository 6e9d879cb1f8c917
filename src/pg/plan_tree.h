/*
 * plan_tree.h
 *		Going through finished plans.  Core has walkers for expressions and plan states, none for
 *		plans.
 */
#ifndef HPSORT_PG_PLAN_TREE_H
#define HPSORT_PG_PLAN_TREE_H

#include "nodes/plannodes.h"

/*
 * Is given the place where a plan hangs, so that it may put another plan there; never an empty
 * one.
 */
typedef void (*PlanVisit) (Plan **plan, void *arg);

/* Visits each child of a plan, but not the children of these. */
extern void plan_visit_children(Plan *plan, PlanVisit visit, void *arg);

/* Visits the uppermost plan of a statement, and of each of its subplans. */
extern void plan_visit_roots(PlannedStmt *stmt, PlanVisit visit, void *arg);

/*
 * Has custom_scan_tlist refer to columns of the outer child for all that is not a column of a
 * table.  A record is replaced, too: EXPLAIN looks for the names of its fields where the record was
 * made, in a subquery.
 */
extern void plan_refer_to_child(CustomScan *scan);

#endif							/* HPSORT_PG_PLAN_TREE_H */
