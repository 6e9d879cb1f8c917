/*
 * groups_planner.h
 *		The paths of HpSort Aggregate.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PLAN_GROUPS_PLANNER_H
#define HPSORT_PG_NODES_AGGREGATE_PLAN_GROUPS_PLANNER_H

#include "postgres.h"

#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

/* The methods of the node's paths (planner.c). */
extern const CustomPathMethods groups_path_methods;

/*
 * Offers the node for the groups (UPPERREL_GROUP_AGG) or the different rows (UPPERREL_DISTINCT) of
 * input_rel, a base relation or a star join, if it answers all that is asked of them: adds paths to
 * output_rel beside core's.  extra is what core knows of groups; NULL for different rows.
 */
extern void groups_planner_add_paths(PlannerInfo *root, UpperRelationKind stage,
									 RelOptInfo *input_rel, RelOptInfo *output_rel,
									 const GroupPathExtraData *extra);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PLAN_GROUPS_PLANNER_H */
