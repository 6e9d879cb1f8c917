/*
 * groups_stream.h
 *		GroupsStream: the groups that one process of a parallel HpSort Aggregate has
 *		written, in order, one after the other with their runs.
 *
 * The blocks of a process (groups_exchange.h), one behind the other, are its stream.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_GROUPS_STREAM_H
#define HPSORT_PG_NODES_AGGREGATE_GROUPS_STREAM_H

#include "postgres.h"

#include "pg/nodes/aggregate/groups_exchange.h"

/* The values that are wanted of a group's source: runs of others may be left out. */
typedef struct WantedValues
{
	int64		lo;
	int64		hi;
} WantedValues;

#define ALL_VALUES ((WantedValues) {PG_INT64_MIN, PG_INT64_MAX})

typedef struct GroupsStream
{
	GroupsExchange *exchange;
	const GroupsDescription *description;
	MemoryContext memory;
	int			process;
	uint64		block;			/* whose items are being read */
	const int64 *at;			/* the next item */
	const int64 *end;			/* of the block; NULL: none has been loaded */
	GroupsBuffer buffer;
	bool		ended;			/* there is no group at the stream */
	GroupValues group;			/* else this one, whose ... */
	const int64 *known;			/* ... rows and counts are here */
	bool		merged;			/* it is the group that is being returned */

	/* runs that have not been taken, while the group is being returned */
	int			source;
	size_t		n;
	size_t		first;			/* they are from here on: */
	int64	   *values;			/* ITEM_RUNS_MAX */
	int64	   *counts;
} GroupsStream;

/* What is known of some runs of a source without reading them. */
typedef struct RunsOutline
{
	int64		first;			/* smallest value */
	int64		last;			/* largest */
	int64		rows;
} RunsOutline;

/* Begins a process's stream, which has no group yet, in the current memory context. */
extern void groups_stream_init(GroupsStream *stream, GroupsExchange *exchange, int process);

/*
 * Moves to the first group from a group on; NULL: to the first one.  Never backward: the stream
 * stays where it is if it is at a later group.
 */
extern void groups_stream_seek(GroupsStream *stream, const GroupValues *first);

/* Moves to the next group, over what is left of this one. */
extern void groups_stream_next(GroupsStream *stream);

/*
 * Sees to it that the stream has runs of the source that have not been taken; false if
 * there are no more in the group.  Sources must be read in their order.
 */
extern bool groups_stream_has_runs(GroupsStream *stream, int source, WantedValues wanted);

/* Forgets runs of the source that have been read, and not taken, if none is wanted. */
extern void groups_stream_drop(GroupsStream *stream, int source, WantedValues wanted);

/*
 * Calls take for all runs of the source, which has no derived column, that are still
 * to come in the group.  The stream stays where it is.
 */
extern void groups_stream_outline(GroupsStream *stream, int source,
								  void (*take) (void *arg, const RunsOutline *outline), void *arg);

#endif							/* HPSORT_PG_NODES_AGGREGATE_GROUPS_STREAM_H */
