/*
 * case_sum.h
 *		Sums of a CASE as sums of its branches.
 *
 * sum(CASE WHEN a THEN x * y ELSE 0 END) is the sum of x * y of the rows for which a is true, and
 * 0 if there are others: a sum with FILTER, of which batches are computed, and a count.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PLAN_CASE_SUM_H
#define HPSORT_PG_NODES_AGGREGATE_PLAN_CASE_SUM_H

#include "postgres.h"

#include "nodes/primnodes.h"

/*
 * Returns the expression that a sum of numerics is, of sums and counts with FILTER, one for each
 * branch of the CASE that is added up; NULL if it is another aggregate, or one of relation rti and
 * its lookups of which a branch is not added up by the node itself.
 */
extern Expr *case_sum_divide(const Aggref *aggref, Index rti);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PLAN_CASE_SUM_H */
