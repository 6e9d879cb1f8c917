/*
 * star_cost.h
 *		What star joins cost, for the planner.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PLAN_STAR_COST_H
#define HPSORT_PG_NODES_AGGREGATE_PLAN_STAR_COST_H

#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

#include "pg/nodes/aggregate/plan/groups_query.h"

/*
 * Returns what looking up rows of the fact costs, with the plan of the dimension, beside evaluating
 * keys that are expressions.
 */
extern Cost star_lookup_cost(PlannerInfo *root, const StarLookup *lookup, const Path *plan,
							 double rows);

/*
 * Returns what part of the fact's rows is likely to be left when the scan has tested keys that are
 * integers, which it does before its filter.
 */
extern double star_part_left(const GroupsQuery *query);

/*
 * Gives path the plans of the lookups; returns what these cost, and looking up the part that is
 * left of so many rows of the fact.  One process of a parallel plan runs a lookup's plan, while the
 * others wait.
 */
extern Cost star_cost(const GroupsQuery *query, CustomPath *path, double rows, double part);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PLAN_STAR_COST_H */
