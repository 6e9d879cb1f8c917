/*
 * groups_merge.h
 *		GroupsMerge: the groups that all processes of a parallel HpSort Aggregate have
 *		found, put together.
 *
 * Each process that has one gets groups that no other process gets, in the order of
 * the groups, and all that any process knows of them.  The functions are those by which
 * an Aggregation is read (aggregation.h).
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PARALLEL_GROUPS_MERGE_H
#define HPSORT_PG_NODES_AGGREGATE_PARALLEL_GROUPS_MERGE_H

#include "postgres.h"

#include "pg/nodes/aggregate/parallel/groups_exchange.h"

typedef struct GroupsMerge GroupsMerge;

/*
 * Begins in front of the first group, in the current memory context.  All processes must have
 * written what they know.
 */
extern GroupsMerge *groups_merge_open(GroupsExchange *exchange);

extern bool groups_merge_next(GroupsMerge *merge, const GroupValues **group);
extern int64 groups_merge_rows(const GroupsMerge *merge);
extern void groups_merge_count(GroupsMerge *merge, int source, SourceCounts *counts);

/*
 * Of a source that is read next only the runs are wanted that have one of the group's rows
 * from number first to number last, in the order of values and counted from 0, of those that
 * are not NULL.  Others may be left out: returns how many rows before the first run that
 * groups_merge_runs will return.
 */
extern int64 groups_merge_want(GroupsMerge *merge, int source, int64 first, int64 last);

/* Sources must be read in their order. */
extern size_t groups_merge_runs(GroupsMerge *merge, int source, const int64 **values,
								const int64 **run_counts);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PARALLEL_GROUPS_MERGE_H */
