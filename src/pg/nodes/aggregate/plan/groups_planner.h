/*
 * groups_planner.h
 *		HpSort Aggregate for PostgreSQL's own aggregates, groups and DISTINCT, the
 *		planner half.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PLAN_GROUPS_PLANNER_H
#define HPSORT_PG_NODES_AGGREGATE_PLAN_GROUPS_PLANNER_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/*
 * Offers the node for the groups (UPPERREL_GROUP_AGG, having being the condition of the
 * groups) or the different rows (UPPERREL_DISTINCT) of input_rel, a base relation, if
 * it answers all that is asked of them.
 */
extern void groups_planner_add_paths(PlannerInfo *root, UpperRelationKind stage,
									 RelOptInfo *input_rel, RelOptInfo *output_rel, Node *having);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PLAN_GROUPS_PLANNER_H */
