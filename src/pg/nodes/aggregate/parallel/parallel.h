/*
 * parallel.h
 *		What the processes of a parallel HpSort Aggregate exchange.
 *
 * Other rooms include this header, and no other of this room:
 *
 *	groups_exchange.h       what a process knows of its groups, for the others
 *	groups_merge.h          groups of all processes, merged
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PARALLEL_PARALLEL_H
#define HPSORT_PG_NODES_AGGREGATE_PARALLEL_PARALLEL_H

#include "postgres.h"

#include "pg/nodes/aggregate/parallel/groups_exchange.h"
#include "pg/nodes/aggregate/parallel/groups_merge.h"

#endif							/* HPSORT_PG_NODES_AGGREGATE_PARALLEL_PARALLEL_H */
