/*
 * star.h
 *		Star joins: a relation, the fact, with others that are looked up by columns of it.
 *
 * Each row of the fact has one row of a join at most: the planner proves the joined columns unique,
 * or only asks whether there is a match (semi and anti joins).  So a column of a joined relation is
 * a function of columns of the fact.  What is joined to the fact is divided into dimensions.  A
 * dimension is a relation, or several that are joined with each other; it is read by core's own
 * plan of it.  One of them need not be unique: a row of the fact is repeated for each row that it
 * has there.  Other conditions on several relations are evaluated for rows that are joined.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PLAN_STAR_H
#define HPSORT_PG_NODES_AGGREGATE_PLAN_STAR_H

#include "nodes/pathnodes.h"

#include "pg/nodes/aggregate/plan/groups_query.h"

typedef struct Star
{
	RelOptInfo *fact;
	List	   *lookups;		/* StarLookups */
	const StarLookup *many;		/* the one that may have several rows for one; NULL: none */
	List	   *conditions;		/* RestrictInfos that joined rows must pass, in core's order */
} Star;

/* Fills in *star from a join relation; false if it is not a star join. */
extern bool star_find(Star *star, PlannerInfo *root, RelOptInfo *joinrel);

/* Returns what the executor half has to know of a lookup: its element of GROUPS_PLAN_LOOKUPS. */
extern List *star_describe(const GroupsQuery *query, const StarLookup *lookup);

/* Returns the expressions of a lookup in the node's scan tuple: its clauses, then its columns. */
extern List *star_expressions(const GroupsQuery *query, const StarLookup *lookup);

/*
 * Whether rows of the dimension that no row of the fact has can be added, if the join wants these:
 * as rows of the fact whose key is the dimension's, and whose other columns are NULL.
 */
extern bool star_adds_rows(const GroupsQuery *query);

/* Whether the lookups may be part of a parallel plan. */
extern bool star_is_parallel(const GroupsQuery *query);

/* Returns the bytes that all lookups are likely to take at once, after star_fits. */
extern double star_bytes(const GroupsQuery *query);

/*
 * Whether the rows of each dimension are likely to fit into the memory that core's hash join may
 * take for them, divided into parts if need be.
 */
extern bool star_fits(GroupsQuery *query);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PLAN_STAR_H */
