/*
 * upper.h
 *		Custom Scan (HpSort) in the place of a Sort below windows, DISTINCT and
 *		groups.
 */
#ifndef HPSORT_PG_NODES_SORT_PLAN_UPPER_H
#define HPSORT_PG_NODES_SORT_PLAN_UPPER_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/*
 * Offers, for each path of an upper relation that has a Sort below it, a copy with HpSort in its
 * place.  For each path that keeps only the first rows of each group it also offers a copy over a
 * HpSort that returns only these rows.  input_rel is the relation that rel is computed from.
 */
extern void sort_path_replace_sorts(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *rel);

#endif							/* HPSORT_PG_NODES_SORT_PLAN_UPPER_H */
