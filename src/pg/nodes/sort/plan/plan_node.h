/*
 * plan_node.h
 *		From the path of Custom Scan (HpSort) to its plan node.
 */
#ifndef HPSORT_PG_NODES_SORT_PLAN_PLAN_NODE_H
#define HPSORT_PG_NODES_SORT_PLAN_PLAN_NODE_H

#include "postgres.h"

#include "nodes/extensible.h"
#include "nodes/plannodes.h"

/* The methods of the path. */
extern const CustomPathMethods sort_path_methods;

/*
 * How many HpSort plan nodes this process has made.  nodes/hooks.c calls sort_node_finish_plan()
 * if the number has grown while a query was planned.  A function that is planned meanwhile, or an
 * error, lets it grow as well; sort_node_finish_plan() then finds no node to change.
 */
extern uint64 sort_node_plans_made;

/* Changes the lists of HpSort nodes in a plan that core has finished (see plan_node.c). */
extern void sort_node_finish_plan(PlannedStmt *stmt);

#endif							/* HPSORT_PG_NODES_SORT_PLAN_PLAN_NODE_H */
