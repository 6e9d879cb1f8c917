/*
 * upper.h
 *		Custom Scan (HpSort) in the place of a Sort below windows, DISTINCT and
 *		groups.
 */
#ifndef HPSORT_PG_NODES_SORT_UPPER_H
#define HPSORT_PG_NODES_SORT_UPPER_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/*
 * Offers, for each path of an upper relation that sorts first, one in which HpSort
 * does; and for those that keep only the first rows of each group, one in which HpSort
 * returns no others.  input_rel: whose rows the relation is made of.
 */
extern void sort_path_replace_sorts(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *rel);

#endif							/* HPSORT_PG_NODES_SORT_UPPER_H */
