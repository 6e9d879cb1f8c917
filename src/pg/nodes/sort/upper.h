/*
 * upper.h
 *		Custom Scan (HpSort) in the place of a Sort below windows, DISTINCT and
 *		groups.
 */
#ifndef HPSORT_PG_NODES_SORT_UPPER_H
#define HPSORT_PG_NODES_SORT_UPPER_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/* Offers, for each path of an upper relation that sorts first, one in which HpSort does. */
extern void sort_path_replace_sorts(PlannerInfo *root, RelOptInfo *rel);

#endif							/* HPSORT_PG_NODES_SORT_UPPER_H */
