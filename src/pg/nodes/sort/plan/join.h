/*
 * join.h
 *		Custom Scan (HpSort) in the place of a Sort below merge joins.
 */
#ifndef HPSORT_PG_NODES_SORT_PLAN_JOIN_H
#define HPSORT_PG_NODES_SORT_PLAN_JOIN_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/*
 * Offers, for each merge join of outerrel and innerrel in joinrel that sorts an input, a copy in
 * which HpSort sorts this input.
 */
extern void sort_path_replace_merge_sorts(PlannerInfo *root, RelOptInfo *joinrel,
										  RelOptInfo *outerrel,
										  RelOptInfo *innerrel, JoinPathExtraData *extra);

#endif							/* HPSORT_PG_NODES_SORT_PLAN_JOIN_H */
