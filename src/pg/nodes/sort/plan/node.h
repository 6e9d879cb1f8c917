/*
 * node.h
 *		What the planner half and the executor half of Custom Scan (HpSort)
 *		agree on: the lists of the plan node.
 *
 * custom_private holds a list for each property of the keys, with an element
 * for each key, and a list of integers about the node.  custom_exprs are the
 * expressions of LIMIT and of OFFSET, if they end the reading of the node; or the
 * one value with which a window function is compared, if that bounds the rows of
 * each group.
 */
#ifndef HPSORT_PG_NODES_SORT_PLAN_NODE_H
#define HPSORT_PG_NODES_SORT_PLAN_NODE_H

#include "postgres.h"

#include "nodes/extensible.h"

/* The methods of the plan node: its executor half (exec.c) has them. */
extern const CustomScanMethods sort_node_scan_methods;

/* The lists of custom_private. */
typedef enum HpSortPlanList
{
	HPSORT_PLAN_ATTNOS,
	HPSORT_PLAN_SORTOPS,
	HPSORT_PLAN_COLLATIONS,
	HPSORT_PLAN_NULLS_FIRST,
	HPSORT_PLAN_NUMBERS,
	HPSORT_PLAN_BOUND			/* what bounds the rows, of the path only: the plan has it in
								 * custom_exprs */
} HpSortPlanList;

/* The elements of HPSORT_PLAN_NUMBERS. */
typedef enum HpSortPlanInt
{
	HPSORT_PLAN_NMAPPED,		/* leading keys that are mapped */
	HPSORT_PLAN_KEY_ONLY,		/* whether the only column is the only key */
	HPSORT_PLAN_COPIED,			/* rows must not stay where they are */
	HPSORT_PLAN_GROUP_KIND,		/* GroupBoundKind; if there is one, also ... */
	HPSORT_PLAN_GROUP_EXCLUSIVE,	/* fewer than the value, rather than as many */
	HPSORT_PLAN_GROUP_NEXT,		/* and the row after these */
	HPSORT_PLAN_GROUP_KEYS,		/* leading keys that are the group */
	HPSORT_PLAN_GROUPS			/* an estimate */
} HpSortPlanInt;

#endif							/* HPSORT_PG_NODES_SORT_PLAN_NODE_H */
