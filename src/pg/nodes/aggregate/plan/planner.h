/*
 * planner.h
 *		The planner half of Custom Scan (HpSort Aggregate), for nodes/hooks.c.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PLAN_PLANNER_H
#define HPSORT_PG_NODES_AGGREGATE_PLAN_PLANNER_H

#include "nodes/pathnodes.h"

#include "pg/guc.h"

/*
 * The quick way out, for every query and stage: whether aggregate_node_upper_paths
 * has anything to look at.  From one table or tree of tables, or a join: groups, aggregates or
 * different rows.
 */
static inline bool
aggregate_node_wants_upper(const PlannerInfo *root, UpperRelationKind stage,
						   const RelOptInfo *input_rel)
{
	const Query *parse = root->parse;

	return (stage == UPPERREL_GROUP_AGG ||
			(stage == UPPERREL_DISTINCT && !parse->hasDistinctOn)) &&
		(input_rel->reloptkind == RELOPT_JOINREL ||
		 (input_rel->rtekind == RTE_RELATION && input_rel->reloptkind == RELOPT_BASEREL)) &&
		hpsort_enable_aggregate &&
		hpsort_debug_aggregate != NODE_FORBID;
}

/*
 * For create_upper_paths_hook: offers the node beside core's paths.  extra is core's
 * GroupPathExtraData, or NULL; it is not looked at for UPPERREL_DISTINCT.
 */
extern void aggregate_node_upper_paths(PlannerInfo *root, UpperRelationKind stage,
									   RelOptInfo *input_rel, RelOptInfo *output_rel, void *extra);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PLAN_PLANNER_H */
