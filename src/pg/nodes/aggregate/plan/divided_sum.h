/*
 * divided_sum.h
 *		Sums that are computed of other aggregates.
 *
 * sum(CASE WHEN a THEN x * y ELSE 0 END) is the sum of x * y of the rows for which a is true, and
 * 0 if there are others: a sum with FILTER, of which batches are computed, and a count.  sum(x + 1)
 * is sum(x) + count(x).
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PLAN_DIVIDED_SUM_H
#define HPSORT_PG_NODES_AGGREGATE_PLAN_DIVIDED_SUM_H

#include "nodes/primnodes.h"

/*
 * Returns the expression that a sum is: of numerics of sums and counts with FILTER, one for each
 * branch of the CASE that is added up; of a column plus or minus a constant, of the column's sum
 * and count.  NULL if it is another aggregate, or one of relation rti and its lookups of which a
 * branch is not added up by the node itself.  grouped: there are several groups.
 */
extern Expr *divided_sum(const Aggref *aggref, Index rti, bool grouped);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PLAN_DIVIDED_SUM_H */
