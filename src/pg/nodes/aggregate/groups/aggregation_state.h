/*
 * aggregation_state.h
 *		What aggregation_add.c and aggregation_read.c share; no other
 *		file includes it.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_GROUPS_AGGREGATION_STATE_H
#define HPSORT_PG_NODES_AGGREGATE_GROUPS_AGGREGATION_STATE_H

#include "postgres.h"

#include "pg/nodes/aggregate/groups/aggregation.h"

/* Of the values of a group in the window, which are not NULL and not refused. */
typedef struct Totals
{
	ValueSum	sum;			/* as batches hold the values */
	int64		min;
	int64		max;
} Totals;

/* Rows of a group in the window that have no value. */
typedef struct Misses
{
	int64		nulls;
	int64		refused;
} Misses;

/* What is kept of the values of a source. */
typedef struct SourceValues
{
	Totals	   *totals;			/* by group number; NULL if the source has runs, or no column */
	Misses	   *misses;			/* by group number; NULL until there are some */

	/*
	 * Values of all groups if the source has runs; and all rows outside of the window, those
	 * without a value by a marker.  NULL until needed.
	 */
	PairSorter *pairs;
	PairCursor *cursor;
} SourceValues;

/* The group being read, and the next one of the window. */
typedef struct AggregationPosition
{
	PairCursor *presence;
	uint64		next_number;
	GroupValues next_group;		/* of next_number */
	GroupValues group;			/* the group being read ... */
	bool		inside;			/* ... has a number, this one */
	uint64		number;
	int64		group_rows;
} AggregationPosition;

struct Aggregation
{
	GroupReader reader;
	MemoryContext memory;
	const SortContext *context;
	int			ncolumns;
	const GroupColumn *columns;
	int			nsources;
	const ValueSource *sources;
	SourceValues *values;		/* by source */
	size_t		memory_limit;	/* bytes */
	size_t		most_memory;	/* bytes that were held, as far as it was looked at */
	size_t		group_size;		/* bytes that a group takes in the arrays, at most */
	size_t		sorter_limit;	/* bytes of memory for each sorter */

	GroupCode	window;
	uint64		max_groups;		/* that there is memory for */
	bool		frozen;			/* the window must not grow any more */
	int64	   *rows;			/* by group number */
	GroupCode	layout;
	PairSorter *presence;		/* rows outside of the window, if there are no sources */

	AggregationPosition at;

	/* of a batch's rows, if there are columns of groups */
	uint32	   *groups;
	uint8	   *outside;
	uint64	   *codes;			/* NULL until needed */
};

#endif							/* HPSORT_PG_NODES_AGGREGATE_GROUPS_AGGREGATION_STATE_H */
