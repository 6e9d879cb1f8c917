/*
 * planner.h
 *		The planner half of Custom Scan (HpSort), for nodes/hooks.c.
 */
#ifndef HPSORT_PG_NODES_SORT_PLAN_PLANNER_H
#define HPSORT_PG_NODES_SORT_PLAN_PLANNER_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "pg/guc.h"

/* Returns true if plans may have the node at all: the quick way out of the hooks. */
static inline bool
sort_node_enabled(void)
{
	return hpsort_enable_sort && hpsort_debug_sort != NODE_FORBID;
}

/* Returns true if sort_node_upper_paths has to be called: the final rows are never sorted. */
static inline bool
sort_node_wants_upper(UpperRelationKind stage)
{
	return stage != UPPERREL_FINAL && sort_node_enabled();
}

/*
 * Each of these offers the node beside core's paths.  They are for create_upper_paths_hook,
 * set_rel_pathlist_hook (if the query wants its rows in some order) and set_join_pathlist_hook.
 */
extern void sort_node_upper_paths(PlannerInfo *root, UpperRelationKind stage,
								  RelOptInfo *input_rel, RelOptInfo *output_rel);
extern void sort_node_scan_paths(PlannerInfo *root, RelOptInfo *rel);
extern void sort_node_join_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
								 RelOptInfo *innerrel, JoinPathExtraData *extra);

#endif							/* HPSORT_PG_NODES_SORT_PLAN_PLANNER_H */
