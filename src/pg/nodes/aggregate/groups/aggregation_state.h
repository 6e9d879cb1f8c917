/*
 * aggregation_state.h
 *		What aggregation_add.c and aggregation_read.c share; no other
 *		file includes it.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_GROUPS_AGGREGATION_STATE_H
#define HPSORT_PG_NODES_AGGREGATE_GROUPS_AGGREGATION_STATE_H

#include "postgres.h"

#include "pg/nodes/aggregate/groups/aggregation.h"
#include "pg/nodes/aggregate/groups/group_table.h"

/*
 * What is known of the values of a group in the window, for sources without runs.  NULLs and
 * refused values are not among them.
 */
typedef struct Totals
{
	ValueSum	sum;			/* as batches hold the values: less the bias of their kind */
	int64		min;			/* as batches hold it; larger than max: there are no values */
	int64		max;
} Totals;

/* Rows of a group in the window that have no value. */
typedef struct Misses
{
	int64		nulls;			/* the value is NULL, and passes the filter */
	int64		refused;		/* the filter does not let the row pass */
} Misses;

/* What is kept of the values of a source. */
typedef struct SourceValues
{
	Totals	   *totals;			/* by group number; NULL if the source has runs, or no column */
	ValueMoments *moments;		/* by group number, where totals are if an aggregate wants them;
								 * else NULL */
	FloatTotals *floats;		/* by group number; NULL if none are wanted */
	Misses	   *misses;			/* by group number; NULL until there are some */

	/*
	 * Values of all groups if the source has runs; and all rows outside of the window, of which
	 * one without a value is a marker.  NULL until needed.
	 */
	PairSorter *pairs;
	bool		leaves;			/* negative numbers are left out: their values come late */
	PairCursor *cursor;			/* of pairs, when the aggregation has been opened */

	/* Where totals of floats are wanted, the values of groups outside of the window, numbered. */
	PairRows   *outside;		/* NULL until needed */
	int64		noutside;		/* values in it */
	const GroupValues *outside_group;	/* the group at which it is read; NULL: at its end */
	FloatTotals outside_totals; /* of the group being read */
} SourceValues;

/* The group being read, or added to a coarser aggregation, and the next one of the window. */
typedef struct AggregationPosition
{
	PairCursor *presence;		/* of the sorter of that name */
	uint64		next_number;	/* groups of the window below it have been returned */
	GroupValues next_group;		/* the values of the group with that number */
	GroupValues group;			/* the group being read */
	bool		inside;			/* that group is in the window */
	uint64		number;			/* its number, if it is inside */
	int64		group_rows;		/* how many rows it has */
} AggregationPosition;

struct Aggregation
{
	GroupReader reader;			/* first, because a reader is cast to its aggregation */
	MemoryContext memory;		/* of all that is kept; the caller's */
	const SortContext *context; /* for the sorters; it allocates in memory */
	int			ncolumns;		/* grouping columns; 0: all rows are one group */
	const GroupColumn *columns;
	int			nsources;
	const ValueSource *sources; /* the caller's, as columns and context are */
	SourceValues *values;		/* by source */
	size_t		memory_limit;	/* bytes of arrays and sorters together */
	size_t		group_size;		/* bytes of a group in the arrays, if all of them are made */
	size_t		sorter_limit;	/* bytes of memory for each sorter */

	GroupCode	window;			/* numbers the groups of the arrays */
	uint64		max_groups;		/* for how many groups there is memory for arrays */
	double		expected_rows;	/* as the planner estimates them */
	int64		nrows;			/* rows that have been added */
	double		row_bytes;		/* bytes of arrays that a row is worth */
	bool		frozen;			/* a row has stayed outside: the window must not grow any more */
	GroupTable *table;			/* numbers the groups in place of the window; NULL: the window
								 * does */
	uint64		room;			/* groups for which the arrays are made */
	int64	   *rows;			/* by group number: how many rows a group has */
	GroupCode	layout;			/* the groups of all pairs, by which these are coded */
	PairSorter *presence;		/* without sources: a marker for each row outside of the window;
								 * else NULL */

	AggregationPosition at;

	/* by row of a batch; NULL without grouping columns */
	uint32	   *groups;			/* the number of its group, if it is in the window */
	uint8	   *outside;		/* whether its group has no number */
	bool		located;		/* these are of the batch that is added next ... */
	int			noutside;		/* ... in which as many rows' groups have no number */
	uint64	   *codes;			/* of its group by layout; NULL until needed */

	const int  *of_finer;		/* of a coarser aggregation: by grouping column, its index among
								 * the columns of the finer one; else NULL */
};

/*
 * --- totals of floats (aggregation_floats.c), of sources that want them
 *
 * Adds values of a batch's rows, in their order: of nrows rows in the window, the first ones if
 * rows is NULL; and of nrows rows outside of it.
 */
extern void aggregation_add_floats(Aggregation *aggregation, int s, const ColumnBatch *batch,
								   const uint16 *rows, int nrows);
extern void aggregation_add_outside_floats(Aggregation *aggregation, int s,
										   const ColumnBatch *batches, const uint16 *rows,
										   int nrows);

/* Prepares the reading, before the first group. */
extern void aggregation_open_floats(Aggregation *aggregation);

/* Returns the totals of the group that is read, once for each group; valid until the next one. */
extern const FloatTotals *aggregation_float_totals(Aggregation *aggregation, int s);

/* --- aggregation_add.c, for aggregation_coarser.c */

/* Grows the window, and the layout, over ranges of the columns; false if memory is too small. */
extern bool aggregation_grow_window(Aggregation *aggregation, const KeyRange *ranges);

/* Widens the layout so that ranges are inside.  Pairs that are there get new codes. */
extern void aggregation_widen_layout(Aggregation *aggregation, const KeyRange *ranges);

/*
 * Divides the memory that the arrays of ngroups groups leave equally among the sorters.  A sorter
 * that holds more than its share writes it to its file.
 */
extern void aggregation_share_memory(Aggregation *aggregation, uint64 ngroups);

/* Returns the misses of a source by group number, which the first miss makes. */
extern Misses *aggregation_misses(Aggregation *aggregation, int s);

#endif							/* HPSORT_PG_NODES_AGGREGATE_GROUPS_AGGREGATION_STATE_H */
