/*
 * groups_shared.h
 *		GroupsShared: what the processes of a parallel HpSort Aggregate have in dynamic shared
 *		memory (see parallel.h).  No other room includes it.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PARALLEL_GROUPS_SHARED_H
#define HPSORT_PG_NODES_AGGREGATE_PARALLEL_GROUPS_SHARED_H

#include "port/atomics.h"
#include "storage/barrier.h"
#include "storage/condition_variable.h"
#include "storage/dsm.h"
#include "storage/sharedfileset.h"
#include "storage/spin.h"

#include "pg/nodes/aggregate/parallel/parallel.h"

/* What a process has written, for the others to read. */
typedef struct SharedWritten
{
	bool		done;			/* it has written something */
	BlockPlace	segments;		/* of the block that has its Segments, in its store */
	dsa_pointer blocks;			/* the blocks of that store in shared memory, to be freed */
} SharedWritten;

/* Who makes a lookup, and where it is. */
typedef enum SharedLookupState
{
	SHARED_LOOKUP_WANTED,
	SHARED_LOOKUP_CLAIMED,		/* a process makes it */
	SHARED_LOOKUP_MADE
} SharedLookupState;

typedef struct SharedLookup
{
	pg_atomic_uint32 state;		/* a SharedLookupState */
	ConditionVariable made;
	dsa_pointer block;			/* when it has been made */
	int64		rows;			/* of it, and its keys */
	int64		keys;
} SharedLookup;

struct GroupsShared
{
	dsm_handle	segment;		/* of the parallel query, to which files belong */
	SharedFileSet files;		/* blocks that are not in shared memory */
	Barrier		barrier;		/* has the ExchangePhases */
	pg_atomic_uint32 nreaders;	/* processes that read rows */
	pg_atomic_uint32 next_part; /* the part of the groups that is taken next */
	slock_t		mutex;			/* for totals */
	GroupsTotals totals;
	int			nprocesses;		/* the leader and all workers that may be started */
	int			nlookups;		/* SharedLookups, behind what is written */
	int			ndictionaries;	/* SharedDictionaries, behind these */
	bool		give_up;		/* groups_exchange_give_up() was called */
	pg_atomic_flag read_alone;	/* a process reads all rows alone */
	SharedWritten written[FLEXIBLE_ARRAY_MEMBER];	/* by process: the leader, then workers */
};

/* Returns the dictionaries in which processes number values together. */
extern SharedDictionary *groups_shared_dictionaries(GroupsShared *shared);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PARALLEL_GROUPS_SHARED_H */
