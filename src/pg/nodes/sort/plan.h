/*
 * plan.h
 *		From the path of Custom Scan (HpSort) to its plan node.
 */
#ifndef HPSORT_PG_NODES_SORT_PLAN_H
#define HPSORT_PG_NODES_SORT_PLAN_H

#include "postgres.h"

#include "nodes/extensible.h"
#include "nodes/plannodes.h"

/* The methods of the path. */
extern const CustomPathMethods sort_path_methods;

/*
 * Plan nodes made by this process.  nodes/hooks.c has a plan finished if the
 * number has grown while it was made.  Where it has grown for another reason, a
 * function planned at plan time or an error, there is nothing to finish.
 */
extern uint64 sort_node_plans_made;

/* Finishes a plan with such nodes, after all of it has been made. */
extern void sort_node_finish_plan(PlannedStmt *stmt);

#endif							/* HPSORT_PG_NODES_SORT_PLAN_H */
