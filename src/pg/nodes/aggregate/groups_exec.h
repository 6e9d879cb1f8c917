/*
 * groups_exec.h
 *		HpSort Aggregate for PostgreSQL's own aggregates, groups and DISTINCT, the
 *		executor half (see groups_planner.h).
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_GROUPS_EXEC_H
#define HPSORT_PG_NODES_AGGREGATE_GROUPS_EXEC_H

#include "postgres.h"

#include "nodes/extensible.h"

/* A new state of the node, for CreateCustomScanState. */
extern Node *groups_exec_create_state(CustomScan *scan);

#endif							/* HPSORT_PG_NODES_AGGREGATE_GROUPS_EXEC_H */
