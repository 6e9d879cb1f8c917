/*
 * query_exec.h
 *		HpSort Aggregate in the query that hpsort_query runs, the executor half.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_QUERY_EXEC_H
#define HPSORT_PG_NODES_AGGREGATE_QUERY_EXEC_H

#include "postgres.h"

#include "nodes/plannodes.h"

/* A new state of the node, for CreateCustomScanState. */
extern Node *query_exec_create_state(CustomScan *scan);

#endif							/* HPSORT_PG_NODES_AGGREGATE_QUERY_EXEC_H */
