/*
 * node.h
 *		Custom Scan (HpSort Aggregate): hpsort's aggregates over a table's
 *		columns, straight from the column reader.  What its planner half and
 *		executor half agree on.
 *
 * The node stands in the place of an Agg without GROUP BY over a sequential
 * scan.  Its scan tuple (custom_scan_tlist) is the aggregates themselves; its
 * target list and HAVING (plan.qual) are computed from these, as an Agg's.  In a
 * parallel plan it returns serialized states under Gather, for core's Finalize
 * Aggregate.
 *
 * In the query that hpsort_query runs, the node stands in the place of the scan
 * (query_planner.c, query_exec.c).  There its scan tuple is the one column, and
 * it returns no rows: the keys go into the sorter of hpsort_query.
 *
 * custom_plans are a SeqScan of each table to be read (see sources.h).
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_NODE_H
#define HPSORT_PG_NODES_AGGREGATE_NODE_H

/* The lists of custom_private. */
typedef enum AggregatePlanList
{
	AGGREGATE_PLAN_COLUMNS,		/* attribute numbers of the columns to read, as
								 * the aggregates name them */
	AGGREGATE_PLAN_TABLE_COLUMNS,	/* for each of custom_plans, a list of what
									 * they are in that table */
	AGGREGATE_PLAN_Count,
	AGGREGATE_PATH_HAVING = AGGREGATE_PLAN_Count	/* of the path only: the plan
													 * has it as its qual */
} AggregatePlanList;

#endif							/* HPSORT_PG_NODES_AGGREGATE_NODE_H */
