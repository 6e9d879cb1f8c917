/*
 * computed.h
 *		Which target lists must be computed for all rows that are sorted, also for rows that are
 *		never returned.
 *
 * PostgreSQL computes a target list below a Sort, for all rows, so that an error in any of them
 * ends the query.  HpSort, which may compute it above the sort, must raise the same error.
 */
#ifndef HPSORT_PG_NODES_SORT_PLAN_COMPUTED_H
#define HPSORT_PG_NODES_SORT_PLAN_COMPUTED_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/*
 * Returns true if expressions may end in an error for some rows, or have side effects.  Aggregates
 * and window functions do not count, because nodes below compute them.
 */
extern bool sort_path_may_fail(List *expressions);

/*
 * Returns true if expressions must be computed for each row of a relation that is sorted: they may
 * fail, and as far as the planner knows not all rows will be returned.
 */
extern bool sort_path_must_compute(PlannerInfo *root, const RelOptInfo *rel, List *expressions);

#endif							/* HPSORT_PG_NODES_SORT_PLAN_COMPUTED_H */
