/*
 * pairs.h
 *		PairSorter: a bag of (group, value) pairs, read group by group, the values of
 *		each group as runs in order.
 *
 * A pair is one integer (pair_coding.h), and the integers are a LongSorter's.  When a
 * value outside of the ranges comes, the ranges become wider and what is there is
 * coded anew.  What does not fit into the memory limit is written to a temporary file,
 * in order (pair_file.h).  Pairs that need more than 64 bits are rows of a core
 * tuplesort (pair_rows.h); values for whose numbers there is no memory have two.
 *
 * Other rooms include this header, and no other of this room; with it come segments.h, sorted runs
 * of codes in blocks, and their merge, and pair_rows.h.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIRS_H
#define HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIRS_H

#include "pg/nodes/aggregate/pairs/pair_coding.h"
#include "pg/nodes/aggregate/pairs/pair_rows.h"
#include "pg/nodes/aggregate/pairs/segments.h"
#include "pg/nodes/aggregate/read/read.h"
#include "pg/sort_context.h"
#include "sort/sorter/long_sorter.h"

typedef struct PairSorter PairSorter;

/*
 * Makes an empty sorter in the current memory context, from which context must allocate, too.  All
 * sorters of a node share groups; whoever changes these calls pairs_regroup of each sorter.  kind
 * is that of the values; COLUMN_KIND_NONE: there are markers only.  memory_limit is bytes.
 */
extern PairSorter *pairs_make(const SortContext *context, const GroupCode *groups,
							  ColumnKind kind, size_t memory_limit);

/*
 * Makes a counted sorter, which takes runs of groups (pairs_add_group) and no rows.  All groups
 * must be in the layout, and all values, images, in a range: neither may become wider.
 */
extern PairSorter *pairs_make_counted(const SortContext *context, const GroupCode *groups,
									  ColumnKind kind, const KeyRange *values,
									  size_t memory_limit);

/* Returns a range in which all values are that have been added, as images. */
extern KeyRange pairs_values(const PairSorter *pairs);

/* Sets another memory limit, in bytes.  What is in memory beyond it is written to the file. */
extern void pairs_limit_memory(PairSorter *pairs, size_t memory_limit);

/*
 * Has rows have the values themselves in place of a dictionary's numbers, from now on: all numbers
 * that have been added must have values.  type must outlive the sorter, and is that of all calls.
 */
extern void pairs_keep_values(PairSorter *pairs, const PairType *type);

/* Codes the pairs anew after the groups have become wider; before is a copy of the old ones. */
extern void pairs_regroup(PairSorter *pairs, const GroupCode *before);

/*
 * Adds values of a batch, batches[column], none of them NULL: of nrows rows, or of the first nrows
 * if rows is NULL.  codes are the groups' codes by row of the batch.  They are NULL without
 * grouping columns, and where groups have more than 64 bits: then batches have the groups' values.
 */
extern void pairs_add(PairSorter *pairs, const ColumnBatch *batches, int column,
					  const uint64 *codes, const uint16 *rows, int nrows);

/*
 * Adds packed values of a narrow kind, without grouping columns.  Returns false, and adds nothing,
 * if the sorter does more with its values than to count them.
 */
extern bool pairs_count_packed(PairSorter *pairs, const PackedKeys *packed);

/*
 * Adds runs, at least one, of values of any kind.  Returns false, and adds nothing, if there are
 * grouping columns, or if pairs are rows.
 */
extern bool pairs_add_runs(PairSorter *pairs, const Runs *runs);

/* Adds a marker for each of nrows rows; arguments are as in pairs_add. */
extern void pairs_add_markers(PairSorter *pairs, PairMarker marker, const ColumnBatch *batches,
							  const uint64 *codes, const uint16 *rows, int nrows);

/*
 * Adds to a counted sorter n runs of a group, in any order, of values as pairs_runs returns them;
 * marker is PAIR_MARKERS then.  Without values they are of a PairMarker.  Each count is > 0.
 */
extern void pairs_add_group(PairSorter *pairs, const GroupValues *group, int marker,
							const int64 *values, const int64 *counts, size_t n);

extern uint64 pairs_disk(const PairSorter *pairs);

typedef enum PairsSorted
{
	PAIRS_NOT_SORTED,			/* there are none */
	PAIRS_SORTED,
	PAIRS_SORTED_BY_GROUP,		/* pairs of more than 64 bits, in memory */
	PAIRS_SORTED_BY_CORE		/* pairs of more than 64 bits, in a tuplesort */
} PairsSorted;

/* Returns how the values were put in order; *stats is unchanged unless it is PAIRS_SORTED. */
extern PairsSorted pairs_stats(PairSorter *pairs, SorterStats *stats);

extern void pairs_free(PairSorter *pairs);

/* --- reading */

typedef struct PairCursor PairCursor;

/*
 * Returns a cursor at the first group, in the current memory context.  Nothing may be added to the
 * sorter any more, which must outlive the cursor.
 */
extern PairCursor *pairs_open(PairSorter *pairs);

/*
 * Returns the group at the cursor, valid until the cursor moves to the next one; NULL at the end.
 */
extern const GroupValues *pairs_group(const PairCursor *cursor);

/* Returns how many values and markers the group has.  Called before any of them is taken. */
extern int64 pairs_group_count(PairCursor *cursor);

/*
 * Takes the markers of the group, and sets how many of each kind it has.  Called before its first
 * runs are taken.
 */
extern void pairs_markers(PairCursor *cursor, int64 markers[PAIR_MARKERS]);

/*
 * Before the first runs of the group are taken: only values from number first to number last are
 * wanted, counted from 0 in order.  Returns how many are left out before the first run.
 */
extern int64 pairs_want(PairCursor *cursor, int64 first, int64 last);

/*
 * Takes the next runs of the group, values ascending, and returns how many: 0 at its end, and the
 * cursor is at the next group then.  Values, those of pg/values/value.h, and counts are valid
 * until the next call.  After pairs_keep_values values are Datums, and so is what they point to.
 */
extern size_t pairs_runs(PairCursor *cursor, const int64 **values, const int64 **counts);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIRS_H */
