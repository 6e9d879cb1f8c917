/*
 * aggregation.h
 *		Aggregation: what a HpSort Aggregate node keeps of the rows that it reads,
 *		group by group.
 *
 * Groups in a window of narrow ranges have numbers, and what is known of each is in
 * arrays: its rows and, of each value source, a summary.  Rows of other groups, and
 * all values that are wanted in order, go to PairSorters.  Both are read together,
 * in the order of the groups.
 *
 * It grows the window while that is within the memory limit.  From the first row on
 * that has to stay outside, the window stays as it is, so that all rows of a group
 * are on one side.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_GROUPS_AGGREGATION_H
#define HPSORT_PG_NODES_AGGREGATE_GROUPS_AGGREGATION_H

#include "postgres.h"

#include "pg/nodes/aggregate/groups/group_reader.h"
#include "pg/nodes/aggregate/pairs/pairs.h"
#include "pg/nodes/aggregate/read/read.h"
#include "pg/nodes/aggregate/results/results.h"

/* Values that aggregates are of: a column, of all rows or of those that pass a filter. */
typedef struct ValueSource
{
	int			column;			/* index of its batch; -1: rows are counted only */
	int			filter;			/* index of the filter's batch; -1: none */
	ColumnKind	kind;
	bool		runs;			/* values are wanted in order */
} ValueSource;

typedef struct Aggregation Aggregation;

/*
 * Makes an empty aggregation in the current memory context, which must be that of
 * context, too.  It keeps the arrays of columns and sources.
 */
extern Aggregation *aggregation_make(const SortContext *context, const GroupColumn *columns,
									 int ncolumns, const ValueSource *sources, int nsources,
									 size_t memory_limit);

/* Adds the rows of a batch. */
extern void aggregation_add(Aggregation *aggregation, const ColumnBatch *batches);

/* Counts rows of an aggregation without grouping columns and sources. */
extern void aggregation_count(Aggregation *aggregation, int64 rows);

/*
 * Adds the packed values or the runs, at least one, of the only column there is, none NULL; false,
 * and nothing done, if that takes more than counting and adding up.
 */
extern bool aggregation_add_counted(Aggregation *aggregation, const ColumnBatch *batch);

/*
 * Adds a batch of runs, whatever their groups; its arrays are overwritten.
 */
extern void aggregation_add_batch_of_runs(Aggregation *aggregation, const ColumnBatch *batch);

extern void aggregation_free(Aggregation *aggregation);

/* --- for EXPLAIN */

typedef struct AggregationStats
{
	size_t		memory;			/* bytes held, at most so far as it was looked at */
	uint64		disk;			/* bytes written */
} AggregationStats;

extern void aggregation_stats(Aggregation *aggregation, AggregationStats *stats);

/* How the values of a source were put in order; SOURCE_SORTED has statistics. */
typedef enum SourceSorted
{
	SOURCE_NOT_SORTED,
	SOURCE_SORTED,
	SOURCE_SORTED_BY_CORE		/* pairs of more than 64 bits */
} SourceSorted;

extern SourceSorted aggregation_source_stats(Aggregation *aggregation, int source,
											 SorterStats *stats);

/* --- reading */

/* The groups, from in front of the first one.  Nothing may be added any more. */
extern GroupReader *aggregation_open(Aggregation *aggregation);

#endif							/* HPSORT_PG_NODES_AGGREGATE_GROUPS_AGGREGATION_H */
