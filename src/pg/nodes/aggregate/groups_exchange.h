/*
 * groups_exchange.h
 *		GroupsExchange: how the processes of a parallel HpSort Aggregate give each
 *		other what they have found of their groups.
 *
 * Each process reads a share of the rows.  Then each writes what it knows of its groups, in
 * the order of the groups, in blocks: some into dynamic shared memory, the others into a
 * shared temporary file.  When all have written, the groups are divided into parts,
 * ranges of groups, which the processes take one after the other; a part's groups are
 * merged from the blocks of all (groups_merge.h).
 *
 * All processes must have the same order of groups.  No process waits for another
 * one once it has returned a group.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_GROUPS_EXCHANGE_H
#define HPSORT_PG_NODES_AGGREGATE_GROUPS_EXCHANGE_H

#include "postgres.h"

#include "access/parallel.h"
#include "utils/dsa.h"

#include "pg/nodes/aggregate/aggregation.h"
#include "pg/nodes/aggregate/derived.h"

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
 * Writes the groups of an aggregation that has been opened, or none if it is NULL, and
 * waits for the others to do so.  The aggregation is not needed afterwards.
 */
extern void groups_exchange_write(GroupsExchange *exchange, Aggregation *aggregation);

/* Closes files; what was allocated goes with its memory context. */
extern void groups_exchange_end(GroupsExchange *exchange);

/* Bytes written to the temporary file. */
extern uint64 groups_exchange_disk(const GroupsExchange *exchange);

/* --- for groups_merge.c */

/*
 * A block is a sequence of items.  Each begins with its kind, and all are made of
 * int64 in native byte order.
 *
 * ITEM_GROUP: the group's values as told by groups_tell, its NULLs as bits, its rows; for
 * each source NULLs and refused rows, and of a source without runs, unless it only
 * counts rows, also the smallest value, the largest, and their sum (16 bytes).
 *
 * ITEM_RUNS: a source and a number of runs, at most ITEM_RUNS_MAX; their rows, and the
 * largest value; what to add to all of the values that follow, which is the smallest value, bytes
 * for each of them, the values; bytes for each count, 0 if all are 1, and the counts.  The runs
 * are of the last group before them, in the order of sources and values.  (Of a derived column
 * values are told in another way: nothing is added, and the largest has no meaning.)
 *
 * A group that one block has no room for begins again in the next one, without rows.
 */
typedef enum ItemKind
{
	ITEM_GROUP,
	ITEM_RUNS
} ItemKind;

/* Runs of many values that lie close together take two bytes a value, those of more runs four. */
#define ITEM_RUNS_MAX 512

static inline int
groups_null_words(const GroupsDescription *description)
{
	return (description->ngroups + 63) / 64;
}

/* Values and bits of a group, and back. */
extern void groups_tell(const GroupsDescription *description, const GroupValues *group,
						int64 *words);
extern void groups_hear(const GroupsDescription *description, const int64 *words,
						GroupValues *group);

extern const GroupsDescription *groups_exchange_description(const GroupsExchange *exchange);
extern int	groups_exchange_nprocesses(const GroupsExchange *exchange);
extern uint64 groups_exchange_nblocks(const GroupsExchange *exchange, int process);

/* The first group of a block, as groups_tell told it. */
extern const int64 *groups_exchange_first(const GroupsExchange *exchange, int process,
										  uint64 block);

/*
 * A block's items.  What is in a file is read into *buffer, which is made larger if need be.
 */
typedef struct GroupsBuffer
{
	int64	   *words;
	Size		size;			/* bytes */
} GroupsBuffer;

extern const int64 *groups_exchange_block(GroupsExchange *exchange, int process, uint64 block,
										  GroupsBuffer *buffer, const int64 **end);

/* The number of the next part that no process has taken. */
extern uint32 groups_exchange_take_part(GroupsExchange *exchange);

#endif							/* HPSORT_PG_NODES_AGGREGATE_GROUPS_EXCHANGE_H */
