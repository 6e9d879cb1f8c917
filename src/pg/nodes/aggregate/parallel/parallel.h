/*
 * parallel.h
 *		GroupsExchange: how the processes of a parallel HpSort Aggregate give each
 *		other what they have found of their groups.
 *
 * Each process reads a share of the rows.  Then each writes what it knows of its groups, in
 * the order of the groups, as segments (segments.h) in a shared store.  When all have written, the
 * groups are divided into parts, ranges of groups, which the processes take one after the
 * other; a part's groups are merged from the segments of all.
 *
 * All processes must have the same order of groups.  No process waits for another
 * one once it has returned a group.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PARALLEL_PARALLEL_H
#define HPSORT_PG_NODES_AGGREGATE_PARALLEL_PARALLEL_H

#include "postgres.h"

#include "access/parallel.h"
#include "utils/dsa.h"

#include "pg/nodes/aggregate/groups/aggregation.h"
#include "pg/nodes/aggregate/pairs/pairs.h"
#include "pg/nodes/aggregate/read/read.h"

/* What groups and sources are, the same in all processes. */
typedef struct GroupsDescription
{
	int			ngroups;		/* grouping columns */
	const GroupColumn *groups;
	DerivedColumn *const *group_derived;	/* by grouping column; NULL: not derived */
	int			nsources;
	const ValueSource *sources;
	DerivedColumn *const *source_derived;	/* by source; NULL: not derived */
} GroupsDescription;

/* --- in dynamic shared memory */

typedef struct GroupsShared GroupsShared;

extern Size groups_shared_size(int nworkers);
extern void groups_shared_init(GroupsShared *shared, ParallelContext *pcxt);

/* Before workers are started again. */
extern void groups_shared_reset(GroupsShared *shared, dsa_area *area);

/* In a worker, before anything else. */
extern void groups_shared_attach(GroupsShared *shared);

/* For EXPLAIN: the sums of what the processes have done, and the most memory that one held. */
typedef struct GroupsTotals
{
	int64		rows;
	int64		groups;
	uint64		disk;			/* bytes */
	size_t		memory;			/* bytes */
} GroupsTotals;

extern void groups_shared_add_totals(GroupsShared *shared, const GroupsTotals *totals);
extern void groups_shared_get_totals(GroupsShared *shared, GroupsTotals *totals);

/* --- of a process */

typedef struct GroupsExchange GroupsExchange;

/*
 * Takes part in an exchange, in the current memory context.  description must outlive the
 * exchange; area is that of the parallel query.  memory_limit: bytes of shared memory for
 * this process's blocks, at most.
 */
extern GroupsExchange *groups_exchange_make(GroupsShared *shared,
											const GroupsDescription *description,
											dsa_area *area, size_t memory_limit);

/* Whether this process comes early enough to read rows; called once. */
extern bool groups_exchange_reads(GroupsExchange *exchange);

/*
 * Waits for all processes that read.  True if there are several: then each of them calls
 * groups_exchange_write.  Else the only one that read has all groups, and the others none.
 */
extern bool groups_exchange_is_shared(GroupsExchange *exchange);

/*
 * Writes the groups of a reader, or none if it is NULL, and waits for the others to do so.
 * The reader is not needed afterwards.  Returns the bytes written to the temporary file.
 */
extern uint64 groups_exchange_write(GroupsExchange *exchange, GroupReader *reader);

/*
 * The groups of all processes, when all have written what they know: before the first group, in the
 * current memory context.  Each process gets groups that no other process gets, in the order of the
 * groups, and all that any process knows of them.
 */
extern GroupReader *groups_exchange_open(GroupsExchange *exchange);

/* Closes files; what was allocated goes with its memory context. */
extern void groups_exchange_end(GroupsExchange *exchange);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PARALLEL_PARALLEL_H */
