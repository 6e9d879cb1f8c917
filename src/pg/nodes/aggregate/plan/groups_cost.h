/*
 * groups_cost.h
 *		What groups, aggregates and different rows cost the node, by the columns' statistics.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PLAN_GROUPS_COST_H
#define HPSORT_PG_NODES_AGGREGATE_PLAN_GROUPS_COST_H

#include "nodes/extensible.h"

#include "pg/nodes/aggregate/plan/groups_query.h"
#include "pg/nodes/aggregate/plan/input.h"
#include "pg/nodes/aggregate/plan/memory_budget.h"

/* --- pair_estimate.c */

/* The groups; to begin with, places is 1, and all else is 0. */
typedef struct PairEstimate
{
	int			ncolumns;		/* grouping columns */
	int			bits;			/* of a group's code */
	double		places;			/* combinations of values in the columns' ranges */
	double		ngroups;		/* of these, how many occur; for pair_estimate_wide_cost */
} PairEstimate;

/* Adds a grouping column, or an expression, which is a group in this form. */
extern void pair_estimate_add_group(PairEstimate *groups, PlannerInfo *root, Expr *expression,
									DerivedForm form);

/* Whether pairs of the groups and a column's values need more than 64 bits. */
extern bool pair_estimate_is_wide(const PairEstimate *groups, PlannerInfo *root, Var *column);

/* Whether all possible groups have a place in arrays by group, of aggregates with these answers. */
extern bool pair_estimate_has_window(const PairEstimate *groups, const List *answers,
									 const MemoryBudget *budget);

/*
 * Returns the cost of pairs of more than 64 bits, of this number of rows, that aggregates with
 * these AggregateAnswers need; 0 if all pairs are narrower.  filters has for each of them the
 * index of its filter, or -1.  Pairs have the aggregation's share of the budget.
 */
extern Cost pair_estimate_wide_cost(const PairEstimate *groups, PlannerInfo *root,
									const List *answers, const List *filters, double rows,
									const MemoryBudget *budget);

/* --- value_numbers.c */

/* Bytes that a value takes in a dictionary, beside itself. */
#define DICTIONARY_VALUE_BYTES 40.0

/*
 * Returns what numbers of the values of aggregates with these AggregateAnswers cost: the numbering,
 * their order, and values for which there is no memory.  filters is that of
 * pair_estimate_wide_cost.  One process reads all rows.
 */
extern Cost value_numbers_cost(PlannerInfo *root, const List *answers, const List *filters,
							   double ngroups, double rows, const MemoryBudget *budget);

/* --- groups_cost.c */

/* Divides the memory of a node as the executor will; exchange: it gives groups to others. */
extern MemoryBudget groups_budget(const GroupsQuery *query, bool exchange);

/*
 * Whether states of core's functions surely fit into memory, for which they have a half.  Otherwise
 * rows would be written to files, and read again.
 */
extern bool groups_core_states_fit(const GroupsQuery *query, double ngroups);

/*
 * Whether there is memory for the numbers of all values of groups and aggregates, which processes
 * give together.  Otherwise one of them would read all rows alone.
 */
extern bool groups_numbers_fit(PlannerInfo *root, const GroupsQuery *query, double rows);

/*
 * Whether groups and numbers are likely to fit where lookups are divided: each part of the rows
 * that are refused would need all parts of the lookups again.
 */
extern bool groups_fit_beside_parts(PlannerInfo *root, const GroupsQuery *query, double ngroups,
									double rows);

/* Whether groups are of expressions or numbers. */
extern bool groups_are_derived(const GroupsQuery *query);

/*
 * How many groups there are before HAVING, where core's estimate is core_groups: no more than the
 * bounds of expressions allow.  Of grouping sets, which core's estimate adds up, how many groups
 * there are of all columns.
 */
extern double groups_count(PlannerInfo *root, const GroupsQuery *query, double core_groups,
						   double rows);

/* Estimates what the groups need in pairs of group and value. */
extern PairEstimate groups_pair_estimate(PlannerInfo *root, const GroupsQuery *query);

/* Sets in a path the cost of reading and keeping the rows that one process reads. */
extern void groups_cost_reading(PlannerInfo *root, const GroupsQuery *query,
								const AggregateInput *input, CustomPath *path, double ngroups,
								int workers);

/*
 * The cost of the grouping sets but for the finest one, if each were made of groups of all columns:
 * there are no more groups in any set.
 */
extern Cost groups_sets_cost(PlannerInfo *root, const GroupsQuery *query, double ngroups,
							 double rows);

/* Adds to a path the cost of returning the groups. */
extern void groups_cost(CustomPath *path, const GroupsQuery *query, double ngroups, double rows);

/* What each of several processes does for the others, until all groups have been returned. */
extern Cost groups_exchange_cost(PlannerInfo *root, const GroupsQuery *query, double ngroups,
								 double rows, int workers);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PLAN_GROUPS_COST_H */
