/*
 * path_bound.h
 *		What bounds the rows that a sort has to return: LIMIT, and what a WindowAgg
 *		or a Unique above it keeps of each group.
 */
#ifndef HPSORT_PG_NODES_SORT_PLAN_PATH_BOUND_H
#define HPSORT_PG_NODES_SORT_PLAN_PATH_BOUND_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "pg/nodes/sort/plan/path.h"

/*
 * Returns the bound that LIMIT and OFFSET of a query are: no bound (exprs is NIL) unless they
 * count the rows that are sorted, and their values do not change during one execution.
 */
extern HpSortBound sort_path_limit(PlannerInfo *root, PathTarget *target);

/*
 * Returns true if a parallel worker can evaluate the bound: a worker gets the statement's
 * parameters and no others.
 */
extern bool sort_path_workers_know(const HpSortBound *bound);

/*
 * Sets *bound to the first rows that path keeps of each group of its input: path is a WindowAgg
 * with a run condition, or a Unique.  Returns false if it keeps other rows as well, or if what it
 * computes of the first rows depends on later ones.
 */
extern bool sort_path_group_bound(PlannerInfo *root, const Path *path, HpSortBound *bound);

/*
 * Returns true if a sort of subpath by columns can obey a group bound, and gains by it.  Before
 * the call bound->rows is the number of rows of one group; the call makes it that of all groups,
 * and sets bound->groups.
 */
extern bool sort_path_fit_group_bound(PlannerInfo *root, Path *subpath,
									  const HpSortColumns *columns,
									  HpSortBound *bound);

#endif							/* HPSORT_PG_NODES_SORT_PLAN_PATH_BOUND_H */
