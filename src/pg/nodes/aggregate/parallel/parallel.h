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
 * No process waits for another one once it has returned a group.
 *
 * All processes must have one order of groups.  Numbers of values are given by all processes
 * together (shared_dictionary.h).  Where there is no memory for them, or a process has outsized
 * values, one process reads all rows alone, as if the plan were not parallel.
 *
 * A process calls the functions below in their order: groups_exchange_make, _reads, then after its
 * rows _wait, _write, _open, and at last _end.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PARALLEL_PARALLEL_H
#define HPSORT_PG_NODES_AGGREGATE_PARALLEL_PARALLEL_H

#include "access/parallel.h"
#include "utils/dsa.h"

#include "pg/nodes/aggregate/groups/groups.h"
#include "pg/nodes/aggregate/pairs/pairs.h"
#include "pg/nodes/aggregate/read/read.h"

/* What groups and sources are.  It is equal in all processes, but for its pointers. */
typedef struct GroupsDescription
{
	int			ngroups;		/* grouping columns */
	const GroupColumn *groups;	/* by grouping column */
	DerivedColumn *const *group_derived;	/* by grouping column; NULL: not derived */
	int			nsources;
	const ValueSource *sources;
	DerivedColumn *const *source_derived;	/* by source; NULL: not derived */
	int			ndictionaries;
	Dictionary **dictionaries;	/* of groups and sources: numbers that are exchanged */
} GroupsDescription;

/* --- in dynamic shared memory */

typedef struct GroupsShared GroupsShared;

/*
 * Returns the bytes of a GroupsShared for a leader and nworkers workers that have so many lookups
 * and dictionaries together.
 */
extern Size groups_shared_size(int nworkers, int nlookups, int ndictionaries);

extern void groups_shared_init(GroupsShared *shared, ParallelContext *pcxt, int nlookups,
							   int ndictionaries);

/*
 * Makes it ready for another execution, in the leader before workers are started again: what was
 * written is freed, but no lookup.  area is that of the parallel query.
 */
extern void groups_shared_reset(GroupsShared *shared, dsa_area *area);

/* Called in a worker before anything else. */
extern void groups_shared_attach(GroupsShared *shared);

/*
 * Lookups of a star join (lookup_share).  Each is made by one process: a process first claims those
 * that no other one makes, and puts their blocks here; then it gets the block of each, for which it
 * may have to wait.
 */
extern bool groups_shared_claim_lookup(GroupsShared *shared, int l);
extern void groups_shared_put_lookup(GroupsShared *shared, int l, dsa_pointer block, int64 rows,
									 int64 keys);
extern dsa_pointer groups_shared_get_lookup(GroupsShared *shared, int l);

/* Frees a lookup that is to be made anew, in the leader before workers are started again. */
extern void groups_shared_drop_lookup(GroupsShared *shared, int l, dsa_area *area);

/* Returns how many rows it has; 0 if it has not been made. */
extern int64 groups_shared_lookup_rows(GroupsShared *shared, int l, int64 *keys);

/* For EXPLAIN: sums over all processes, and the most memory that one of them held. */
typedef struct GroupsTotals
{
	int64		rows;			/* of the groups that were returned */
	int64		groups;			/* with the groups that HAVING refuses */
	uint64		unmatched;		/* rows that have no place in a lookup */
	uint64		filtered;		/* joined rows that conditions refuse */
	uint64		disk;			/* bytes written to temporary files */
	size_t		memory;			/* bytes held */
} GroupsTotals;

/* Adds what this process has done; returns what all have done so far. */
extern void groups_shared_add_totals(GroupsShared *shared, const GroupsTotals *totals);
extern void groups_shared_get_totals(GroupsShared *shared, GroupsTotals *totals);

/* --- of a process */

typedef struct GroupsExchange GroupsExchange;

/*
 * Makes this process's part of an exchange, in the current memory context.  shared and description
 * must outlive it; area is that of the parallel query.  memory_limit is bytes of shared memory for
 * this process's blocks.  The description's dictionaries, which have begun, give the same numbers
 * in all processes from now on.
 */
extern GroupsExchange *groups_exchange_make(GroupsShared *shared,
											const GroupsDescription *description,
											dsa_area *area, size_t memory_limit);

/* Whether this process comes early enough to read rows; called once. */
extern bool groups_exchange_reads(GroupsExchange *exchange);

/* Says that this process knows something of its groups that is not exchanged. */
extern void groups_exchange_give_up(GroupsExchange *exchange);

/*
 * Whether a process has said so, or there is no memory for a value of one of the dictionaries.
 * Then no process needs to read any further.
 */
extern bool groups_exchange_is_given_up(const GroupsExchange *exchange);

/*
 * Returns the bytes of shared memory that this process has written, and of the values that the
 * processes number together.
 */
extern size_t groups_exchange_memory(const GroupsExchange *exchange);

/* What a process does when all rows have been read. */
typedef enum ExchangeStep
{
	EXCHANGE_WRITE,				/* it calls groups_exchange_write */
	EXCHANGE_KEEP,				/* only one process has read, and has all groups */
	EXCHANGE_READ_ALONE,		/* given up: it reads all rows, and has all groups */
	EXCHANGE_LEAVE				/* another process does this */
} ExchangeStep;

/* Waits for all processes that read. */
extern ExchangeStep groups_exchange_wait(GroupsExchange *exchange);

/*
 * Writes the groups of a reader, or none if it is NULL, and waits for the others to write theirs.
 * The reader is not needed afterwards.  Returns the bytes written to the temporary file.
 */
extern uint64 groups_exchange_write(GroupsExchange *exchange, GroupReader *reader);

/*
 * Returns a reader of the groups of all processes, in front of the first one, in the current
 * memory context; all processes have written.  A process gets groups that no other process gets,
 * in the order of the groups, and of each all that any process knows.
 */
extern GroupReader *groups_exchange_open(GroupsExchange *exchange);

/* Closes files; what was allocated goes with its memory context. */
extern void groups_exchange_end(GroupsExchange *exchange);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PARALLEL_PARALLEL_H */
