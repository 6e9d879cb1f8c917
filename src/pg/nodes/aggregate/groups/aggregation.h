/*
 * aggregation.h
 *		Aggregation: what a HpSort Aggregate node keeps of the rows that it reads,
 *		group by group.
 *
 * Groups in a window of narrow ranges have numbers, and what is known of each is in arrays: its
 * rows and, of each value source, a summary.  Two things go to PairSorters: rows of groups outside
 * of the window, and values that are wanted in order.  Arrays and sorters are read together, in the
 * order of the groups.
 *
 * Where rows may be refused, groups that are not in a window get numbers by a hash table
 * (group_table.h), and their arrays grow with them.  Rows of groups for which there is no memory
 * are refused.
 *
 * The window grows as long as its arrays take no more than half of the memory limit, and no more
 * bytes than the rows are worth: to sort few rows of wide ranges is faster than to clear and search
 * large arrays.  From the first row on that stays outside, the window does not grow any more, so
 * that either all rows of a group are inside or none.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_GROUPS_AGGREGATION_H
#define HPSORT_PG_NODES_AGGREGATE_GROUPS_AGGREGATION_H

#include "pg/nodes/aggregate/groups/core_aggregates.h"
#include "pg/nodes/aggregate/groups/group_reader.h"
#include "pg/nodes/aggregate/pairs/pairs.h"
#include "pg/nodes/aggregate/read/read.h"
#include "pg/nodes/aggregate/results/results.h"

/* Values that aggregates are of: a column, of all rows or of rows that pass a filter. */
#define SUMMARY_SUM	1
#define SUMMARY_MIN	2
#define SUMMARY_MAX	4
#define SUMMARY_ALL	(SUMMARY_SUM | SUMMARY_MIN | SUMMARY_MAX)

typedef struct ValueSource
{
	int			column;			/* index of its batch; -1: only rows are counted */
	int			filter;			/* index of the filter's batch; -1: none */
	ColumnKind	kind;			/* of the column; COLUMN_KIND_NONE without one */
	bool		runs;			/* an aggregate wants the values in order */
	int			parts;			/* what aggregates want of the ValueSummary beside n; of what they
								 * do not the summary may have anything */
	int			float_parts;	/* what aggregates want of the totals of floats; 0: nothing */
	int			with;			/* index of another batch: rows in which either is NULL have no
								 * value, as of corr(Y, X), for which the column is Y and this is
								 * X; -1: none */
	const ColumnDomain *domains;	/* of column and with, numbers, where there is with */
	bool		moments;		/* an aggregate is made of ValueMoments */
} ValueSource;

typedef struct Aggregation Aggregation;

/*
 * Makes an empty aggregation in the current memory context, from which context must allocate, too.
 * Context, columns and sources must outlive it.  memory_limit is bytes; what does not fit is
 * written to temporary files.  expected_rows is an estimate.
 */
extern Aggregation *aggregation_make(const SortContext *context, const GroupColumn *columns,
									 int ncolumns, const ValueSource *sources, int nsources,
									 size_t memory_limit, double expected_rows);

/*
 * Changes the limit, between batches.  What sorters have too much of is written to their files, and
 * arrays by group stay as large as they are.
 */
extern void aggregation_limit_memory(Aggregation *aggregation, size_t memory_limit);

/*
 * Finds the groups of the rows of a batch, neither packed nor runs.  Called before aggregation_add,
 * where rows may be refused: groups for which the window is too narrow are found in a hash table
 * then, and come in no order.  Returns how many rows are refused, because there is no memory for
 * their groups; they must be taken out of the batch, of which aggregation_leave_refused is told,
 * with its rows before.  No source may have runs.
 */
extern int	aggregation_find(Aggregation *aggregation, const ColumnBatch *batches);
extern void aggregation_leave_refused(Aggregation *aggregation, size_t nrows);

/*
 * Has rows of new groups refused, too, from the time on when there are more and more of them; and
 * whether they are.
 */
extern void aggregation_divide_groups(Aggregation *aggregation);
extern bool aggregation_divides_groups(const Aggregation *aggregation);

/* Whether a row of that batch is refused; then *hash is its group's. */
extern bool aggregation_refuses(const Aggregation *aggregation, size_t row, uint32 *hash);

/* Whether groups are in a hash table, so that runs and packed values must become rows. */
extern bool aggregation_has_table(const Aggregation *aggregation);

/*
 * Adds the rows of a batch, neither packed nor runs.  Columns and sources name elements of
 * batches by their index.
 */
extern void aggregation_add(Aggregation *aggregation, const ColumnBatch *batches);

/*
 * Has a source with runs keep its values themselves in place of numbers, as pairs_keep_values does:
 * its runs have Datums.  Called between batches; type must outlive the aggregation.
 */
extern void aggregation_keep_values(Aggregation *aggregation, int source, const PairType *type);

/*
 * From now on rows with a negative number in the column of a source with runs are added without
 * their value, which aggregation_add_late adds before the aggregation is opened.
 */
extern void aggregation_leave_values(Aggregation *aggregation, int source);

/*
 * Adds values of a source that have been left out: batches has them, none of them NULL, and the
 * grouping columns of their rows.
 */
extern void aggregation_add_late(Aggregation *aggregation, int source, const ColumnBatch *batches);

/* Adds to the number of rows of an aggregation without grouping columns and sources. */
extern void aggregation_count(Aggregation *aggregation, int64 rows);

/*
 * Adds the packed values or the runs, at least one, of the only column that is read; none of them
 * is NULL.  Returns false, and adds nothing, unless counting and adding up is all that they need.
 */
extern bool aggregation_add_counted(Aggregation *aggregation, const ColumnBatch *batch);

/* Adds a batch of runs, whatever their groups.  The arrays of the batch are overwritten. */
extern void aggregation_add_batch_of_runs(Aggregation *aggregation, const ColumnBatch *batch);

/*
 * Makes an aggregation of ncolumns of the grouping columns of a finer one, to which all rows have
 * been added, in the current memory context, from which context must allocate, too.  Column c is
 * the finer one's of_finer[c]; both arrays must outlive it.  A source with moments must have
 * runs.
 */
extern Aggregation *aggregation_make_coarser(const Aggregation *finer, const SortContext *context,
											 const GroupColumn *columns, const int *of_finer,
											 int ncolumns, size_t memory_limit);

/*
 * Adds a group of the finer aggregation, as a reader has it: its values and rows, then of each
 * source the counts, and of one with runs all its runs.
 */
extern void aggregation_add_group(Aggregation *coarser, const GroupValues *group, int64 rows);
extern void aggregation_add_counts(Aggregation *coarser, int s, const SourceCounts *counts);
extern void aggregation_add_group_runs(Aggregation *coarser, int s, const int64 *values,
									   const int64 *counts, size_t n);

/* Closes files and frees sorters; the rest goes with its memory context. */
extern void aggregation_free(Aggregation *aggregation);

/* --- for EXPLAIN */

/* Returns the bytes that have been written to temporary files. */
extern uint64 aggregation_disk(const Aggregation *aggregation);

/* Returns how the values of a source were put in order; *stats is 0 unless it is PAIRS_SORTED. */
extern PairsSorted aggregation_source_stats(Aggregation *aggregation, int source,
											SorterStats *stats);

/* --- reading */

/* Returns the groups, in front of the first one.  Nothing may be added any more. */
extern GroupReader *aggregation_open(Aggregation *aggregation);

#endif							/* HPSORT_PG_NODES_AGGREGATE_GROUPS_AGGREGATION_H */
