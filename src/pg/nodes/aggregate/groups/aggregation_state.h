/*
 * aggregation_state.h
 *		What aggregation_add.c and aggregation_read.c share; no other
 *		file includes it.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_GROUPS_AGGREGATION_STATE_H
#define HPSORT_PG_NODES_AGGREGATE_GROUPS_AGGREGATION_STATE_H

#include "pg/nodes/aggregate/groups/aggregation.h"

/*
 * What is known of the values of a group that has a number, for sources without runs.  Each part
 * has an array by number, if an aggregate wants it.
 */
typedef enum GroupPart
{
	/* of values as batches hold them, less the bias of their kind */
	PART_SUM,					/* int64, or ValueSum of wide values and beside moments */
	PART_MIN,					/* int64, or int32 of narrow values; larger than the largest:
								 * there are no values */
	PART_MAX,
	PART_MOMENTS,				/* ValueMoments */
	PART_FLOATS,				/* FloatTotals, as many bytes of each as float_totals_size says */

	/* int64, rows of all sources without a value; no array until there is one */
	PART_NULLS,					/* the value is NULL, and passes the filter */
	PART_REFUSED				/* the filter does not let the row pass */
} GroupPart;

#define GROUP_PARTS (PART_REFUSED + 1)

/* What is kept of the values of a source. */
typedef struct SourceValues
{
	void	   *parts[GROUP_PARTS]; /* by group number; NULL if a part is not wanted */

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
	FloatTotals group_totals;	/* of the group being read */
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

/* Whether the rows that come are of groups that the table has. */
typedef struct TableTrial
{
	bool		may_end;		/* rows of new groups may be refused, ... */
	bool		ended;			/* ... and are */
	uint32		groups;			/* the trial ends at as many */
	uint32		before;			/* as many were there when it began */
	uint64		rows;			/* that have come since then */
} TableTrial;

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
	size_t		sorter_limit;	/* bytes of memory for each sorter */

	GroupCode	window;			/* numbers the groups of the arrays */
	uint64		max_groups;		/* for how many groups there is memory for arrays */
	double		expected_rows;	/* as the planner estimates them */
	int64		nrows;			/* rows that have been added */
	double		row_bytes;		/* bytes of arrays that a row is worth */
	bool		frozen;			/* a row has stayed outside: the window must not grow any more */
	GroupTable *table;			/* numbers the groups if the window has none, else hashes those
								 * that are refused; NULL: none is needed */
	TableTrial	trial;			/* of the table */
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

/* Whether the table numbers the groups, in place of the window. */
static inline bool
aggregation_numbers_by_table(const Aggregation *aggregation)
{
	return aggregation->table && aggregation->window.code.ncodes == 0;
}

/* --- arrays by group (aggregation_parts.c) */

/* Returns the bytes that a group takes, in the arrays and in the table. */
extern size_t aggregation_group_size(const Aggregation *aggregation);

/*
 * Makes the arrays for room groups, and moves what is known of each group to its new number; NULL:
 * numbers stay what they are.
 */
extern void aggregation_move_parts(Aggregation *aggregation, const uint32 *numbers, uint64 room);

/* Returns the array of a part for ngroups groups, without values. */
extern void *aggregation_make_part(const Aggregation *aggregation, int s, GroupPart part,
								   uint64 ngroups);

/* Adds the values of nrows rows, the first ones if rows is NULL, to their groups. */
extern void aggregation_add_values(Aggregation *aggregation, int s, const ColumnBatch *batches,
								   const uint16 *rows, int nrows);

/* Adds values, as batches hold them, of which only this is known, to a group. */
extern void aggregation_add_total(Aggregation *aggregation, int s, uint64 number, ValueSum sum,
								  int64 min, int64 max);

/* Adds what is known of a group to counts, but for totals of floats, and sets n of the summary. */
extern void aggregation_get_counts(const Aggregation *aggregation, int s, uint64 number,
								   SourceCounts *counts);

/*
 * --- totals of floats (aggregation_floats.c), of sources that want them
 *
 * Adds values of a batch's rows, in their order: of nrows rows in the window, the first ones if
 * rows is NULL; and of nrows rows outside of it, for which room must have been made.
 */
extern void aggregation_add_floats(Aggregation *aggregation, int s, const ColumnBatch *batches,
								   const uint16 *rows, int nrows);
extern void aggregation_add_outside_floats(Aggregation *aggregation, int s,
										   const ColumnBatch *batches, const uint16 *rows,
										   int nrows);

extern void aggregation_make_outside_floats(Aggregation *aggregation, int s);

/* Prepares the reading, before the first group. */
extern void aggregation_open_floats(Aggregation *aggregation);

/*
 * Returns the totals of the group that is read, which has n values, once for each group; valid
 * until the next one.
 */
extern const FloatTotals *aggregation_float_totals(Aggregation *aggregation, int s, int64 n);

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

/* Returns the array of PART_NULLS or PART_REFUSED, which the first such row makes. */
extern int64 *aggregation_misses(Aggregation *aggregation, int s, GroupPart part);

#endif							/* HPSORT_PG_NODES_AGGREGATE_GROUPS_AGGREGATION_STATE_H */
