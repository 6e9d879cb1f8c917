/*
 * path_bound.h
 *		What bounds the rows that a sort has to return: LIMIT, and what a WindowAgg
 *		or a Unique above it keeps of each group.
 */
#ifndef HPSORT_PG_NODES_SORT_PATH_BOUND_H
#define HPSORT_PG_NODES_SORT_PATH_BOUND_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "pg/nodes/sort/path.h"

/*
 * The LIMIT and OFFSET of a query, if they count the very rows that are sorted, and
 * their values do not change during one execution; otherwise no bound.
 */
extern HpSortBound sort_path_limit(PlannerInfo *root, PathTarget *target);

/*
 * Whether a worker can evaluate what bounds a sort: it gets no parameters but the statement's own.
 */
extern bool sort_path_workers_know(const HpSortBound *bound);

/*
 * What this path keeps of each group of the rows below it: a WindowAgg that
 * returns only the first rows, by a run condition, or a Unique.  False if it keeps
 * others, or if what it computes of these depends on the rest.
 */
extern bool sort_path_group_bound(PlannerInfo *root, const Path *path, HpSortBound *bound);

/*
 * Whether the bound is one for a sort of subpath, and worth it.  Sets its estimates, until
 * when rows are those of one group.
 */
extern bool sort_path_fit_group_bound(PlannerInfo *root, Path *subpath,
									  const HpSortColumns *columns,
									  HpSortBound *bound);

#endif							/* HPSORT_PG_NODES_SORT_PATH_BOUND_H */
