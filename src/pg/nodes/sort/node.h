/*
 * node.h
 *		What the planner half and the executor half of Custom Scan (HpSort)
 *		agree on: the lists of the plan node.
 *
 * custom_private holds a list for each property of the keys, with an element
 * for each key, and a list of integers about the node.  custom_exprs are the
 * expressions of LIMIT and of OFFSET, if they end the reading of the node.
 */
#ifndef HPSORT_PG_NODES_SORT_NODE_H
#define HPSORT_PG_NODES_SORT_NODE_H

/* The lists of custom_private. */
typedef enum HpSortPlanList
{
	HPSORT_PLAN_ATTNOS,
	HPSORT_PLAN_SORTOPS,
	HPSORT_PLAN_COLLATIONS,
	HPSORT_PLAN_NULLS_FIRST,
	HPSORT_PLAN_NUMBERS,
	HPSORT_PLAN_BOUND			/* LIMIT and OFFSET, of the path only: the plan
								 * has them in custom_exprs */
} HpSortPlanList;

/* The elements of HPSORT_PLAN_NUMBERS. */
typedef enum HpSortPlanInt
{
	HPSORT_PLAN_NMAPPED,		/* leading keys that are mapped */
	HPSORT_PLAN_KEY_ONLY		/* whether the only column is the only key */
} HpSortPlanInt;

#endif							/* HPSORT_PG_NODES_SORT_NODE_H */
