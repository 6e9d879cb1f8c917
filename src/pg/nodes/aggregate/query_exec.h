/*
 * query_exec.h
 *		HpSort Aggregate in the query that hpsort_query runs: keys go from the
 *		column reader into its sorter, and no row to anybody.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_QUERY_EXEC_H
#define HPSORT_PG_NODES_AGGREGATE_QUERY_EXEC_H

#include "postgres.h"

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

#include "sort/sorter.h"

/* Where the keys of a query go that is not read row by row. */
typedef struct AggregateSink
{
	const char *query_string;	/* by its address: nobody else's query has it */
	Sorter	   *sorter;
	int64	   *nulls;
} AggregateSink;

/*
 * Offers a sink to the query that is planned and run next with this very
 * query_string; returns the one before, to be put back, also after an error.
 * If the plan does not take it, the rows come as ever.
 */
extern const AggregateSink *aggregate_query_offer(const AggregateSink *sink);

/* Of planner.c: adds a path to the final relation of such a query. */
extern void aggregate_query_path(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *final_rel);
extern void aggregate_query_install(void);

/* Of exec.c: the executor's node of such a query. */
extern Node *aggregate_query_create_state(CustomScan *scan);

#endif							/* HPSORT_PG_NODES_AGGREGATE_QUERY_EXEC_H */
