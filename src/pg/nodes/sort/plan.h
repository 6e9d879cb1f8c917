/*
 * plan.h
 *		From the path of Custom Scan (HpSort) to its plan node.
 */
#ifndef HPSORT_PG_NODES_SORT_PLAN_H
#define HPSORT_PG_NODES_SORT_PLAN_H

#include "postgres.h"

#include "nodes/extensible.h"

/* The methods of the path. */
extern const CustomPathMethods sort_path_methods;

/* At module load: the planner hook, and the methods for plans sent to workers. */
extern void sort_node_plan_init(void);

#endif							/* HPSORT_PG_NODES_SORT_PLAN_H */
