/*
 * computed.h
 *		What is computed of rows that are sorted: whether it has to be computed of rows, too, that
 *		are never returned, because it may end in an error.
 *
 * PostgreSQL computes the target list below a Sort, of all rows.
 */
#ifndef HPSORT_PG_NODES_SORT_COMPUTED_H
#define HPSORT_PG_NODES_SORT_COMPUTED_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/*
 * Whether expressions may end in an error for some rows, or do something that can be noticed.
 * Aggregates and window functions are not looked at, because nodes below compute them.
 */
extern bool sort_path_may_fail(List *expressions);

/*
 * Whether expressions of the rows of a relation, which are sorted, must be computed of each row:
 * they may fail, and as far as the planner knows not all rows will be returned.
 */
extern bool sort_path_must_compute(PlannerInfo *root, const RelOptInfo *rel, List *expressions);

#endif							/* HPSORT_PG_NODES_SORT_COMPUTED_H */
