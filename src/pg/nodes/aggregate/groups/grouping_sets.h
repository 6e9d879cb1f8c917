/*
 * grouping_sets.h
 *		GroupingSets: the groups of ROLLUP, CUBE and GROUPING SETS, set by set.
 *
 * Rows are aggregated by all grouping columns.  The groups of each set are made of those of a finer
 * set, whose counts and runs are added up while they are read and returned.  Or rows are aggregated
 * for each set by itself.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_GROUPS_GROUPING_SETS_H
#define HPSORT_PG_NODES_AGGREGATE_GROUPS_GROUPING_SETS_H

#include "nodes/pg_list.h"

#include "pg/nodes/aggregate/groups/aggregation.h"

typedef struct GroupingSets GroupingSets;

typedef struct GroupingSetsTotals
{
	int64		rows;			/* of all groups of one set */
	size_t		memory;			/* the most bytes that all aggregations have held */
	uint64		disk;			/* bytes of the files of aggregations that are made of others */
} GroupingSetsTotals;

/*
 * Makes the sets of a node in the current memory context.  sets has for each set a list of the
 * indexes of its columns; a set may be there several times.  columns, sources and sets must outlive
 * the result.
 */
extern GroupingSets *grouping_sets_make(const GroupColumn *columns, int ncolumns,
										const ValueSource *sources, int nsources,
										const List *sets);

/* Begins an execution. */
extern void grouping_sets_begin(GroupingSets *sets);

/*
 * Returns a reader of the groups of all sets, in front of the first one: groups have NULLs in place
 * of columns that their set does not have.  aggregation has all rows by all columns, and must stay
 * until grouping_sets_close.  What else is kept is in memory, up to memory_limit bytes, and in
 * temporary files.  Or set is the number of the only set, whose columns aggregation has, unless it
 * is -1.
 */
extern GroupReader *grouping_sets_open(GroupingSets *sets, int set, Aggregation *aggregation,
									   MemoryContext memory, size_t memory_limit);

/* Returns the number of the set that comes next, of the first one where set is -1; -1: none. */
extern int	grouping_sets_next(const GroupingSets *sets, int set);

/* Returns the columns of a set, by its number. */
extern const GroupColumn *grouping_sets_columns(const GroupingSets *sets, int set, int *n);

/* Whether a set has a column, by its index among all grouping columns. */
extern bool grouping_sets_has(const GroupingSets *sets, int set, int column);

/* Returns the group being read as its set has it, without the columns of other sets. */
extern const GroupValues *grouping_sets_group(const GroupingSets *sets);

/* Closes the files of the other aggregations, also where not all groups have been read. */
extern void grouping_sets_close(GroupingSets *sets);

/* Returns what GROUPING() of some columns, a list of their indexes, is in the group being read. */
extern int32 grouping_sets_grouping(const GroupingSets *sets, const List *columns);

/* Returns what there was of all sets in the execution so far. */
extern const GroupingSetsTotals *grouping_sets_totals(const GroupingSets *sets);

#endif							/* HPSORT_PG_NODES_AGGREGATE_GROUPS_GROUPING_SETS_H */
