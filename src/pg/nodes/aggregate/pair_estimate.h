/*
 * pair_estimate.h
 *		What pairs of group and value need, as the planner half estimates it: bits, by the
 *		columns' statistics, and the cost of the pairs that do not fit into 64 of them.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PAIR_ESTIMATE_H
#define HPSORT_PG_NODES_AGGREGATE_PAIR_ESTIMATE_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "pg/nodes/aggregate/node.h"

/*
 * Integers from the smallest to the largest value of a column that the column reader reads, or of an
 * expression of it that is a group in this form: at least 1, at most 2^64.
 */
extern double pair_estimate_range(PlannerInfo *root, Var *column, Node *expression, DerivedForm form);

/* Bits that so many integers take. */
extern int	pair_estimate_bits(double range);

/* The cost of keeping so many pairs as rows of core's tuplesort (pair_rows.c), for groups of so many columns. */
extern Cost pair_estimate_rows_cost(PlannerInfo *root, double pairs, int ncolumns, double memory_limit);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PAIR_ESTIMATE_H */
