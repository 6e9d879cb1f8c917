/*
 * query_planner.h
 *		HpSort Aggregate in the query that hpsort_query runs, the planner half.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_QUERY_PLANNER_H
#define HPSORT_PG_NODES_AGGREGATE_QUERY_PLANNER_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/*
 * Offers the node for the final rows of a query that has a QuerySink, if they are
 * that sink's and are one column of all rows of a table.  input_rel is the table,
 * final_rel the upper relation UPPERREL_FINAL.
 */
extern void query_planner_add_path(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *final_rel);

#endif							/* HPSORT_PG_NODES_AGGREGATE_QUERY_PLANNER_H */
