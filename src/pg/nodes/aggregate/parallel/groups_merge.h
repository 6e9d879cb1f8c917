/*
 * groups_merge.h
 *		The groups that all processes of a parallel HpSort Aggregate have found, put
 *		together.
 *
 * Each process that has one gets groups that no other process gets, in the order of
 * the groups, and all that any process knows of them.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PARALLEL_GROUPS_MERGE_H
#define HPSORT_PG_NODES_AGGREGATE_PARALLEL_GROUPS_MERGE_H

#include "postgres.h"

#include "pg/nodes/aggregate/parallel/groups_exchange.h"

/*
 * Begins in front of the first group, in the current memory context.  All processes must have
 * written what they know.
 */
extern GroupReader *groups_merge_open(GroupsExchange *exchange);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PARALLEL_GROUPS_MERGE_H */
