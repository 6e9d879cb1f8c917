/*
 * groups_planner.h
 *		The paths of HpSort Aggregate, and what values, and pairs of group and value, need, as the
 *		columns' statistics say: bits, and the cost of pairs that do not fit into 64.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PLAN_GROUPS_PLANNER_H
#define HPSORT_PG_NODES_AGGREGATE_PLAN_GROUPS_PLANNER_H

#include "postgres.h"

#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

#include "pg/nodes/aggregate/plan/node.h"

/* The methods of the node's paths (planner.c). */
extern const CustomPathMethods groups_path_methods;

/*
 * Offers the node for the groups (UPPERREL_GROUP_AGG) or the different rows (UPPERREL_DISTINCT) of
 * input_rel, a base relation, if it answers all that is asked of them: adds paths to output_rel
 * beside core's.  extra is what core knows of groups; NULL for different rows.
 */
extern void groups_planner_add_paths(PlannerInfo *root, UpperRelationKind stage,
									 RelOptInfo *input_rel, RelOptInfo *output_rel,
									 const GroupPathExtraData *extra);

/* --- pair_estimate.c */

/* The groups; to begin with, places is 1, and all else is 0. */
typedef struct PairEstimate
{
	int			ncolumns;		/* grouping columns */
	int			bits;			/* of a group's code */
	double		places;			/* combinations of values in the columns' ranges */
} PairEstimate;

/* Adds a grouping column, or an expression, which is a group in this form. */
extern void pair_estimate_add_group(PairEstimate *groups, PlannerInfo *root, Expr *expression,
									DerivedForm form);

/*
 * Returns the cost of pairs of more than 64 bits, of this number of rows, that aggregates with
 * these AggregateAnswers need; 0 if all pairs are narrower.  filters has for each of them the
 * index of its filter, or -1.
 */
extern Cost pair_estimate_wide_cost(const PairEstimate *groups, PlannerInfo *root,
									const List *answers, const List *filters, double rows);

/* --- value_numbers.c */

/* Bytes that a value takes in a dictionary, beside itself. */
#define DICTIONARY_VALUE_BYTES 40.0

/* Returns how many bytes a column's values have on average. */
extern double column_width(PlannerInfo *root, const Var *column);

/*
 * Returns what numbers of the values of aggregates with these AggregateAnswers cost beside the
 * numbering: their order, and values for which there is no memory.  filters is that of
 * pair_estimate_wide_cost.  One process reads all rows.
 */
extern Cost value_numbers_cost(PlannerInfo *root, const List *answers, const List *filters,
							   double ngroups, double rows);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PLAN_GROUPS_PLANNER_H */
