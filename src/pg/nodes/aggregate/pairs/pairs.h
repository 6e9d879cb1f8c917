/*
 * pairs.h
 *		PairSorter: a bag of (group, value) pairs, read group by group, the values of
 *		each group as runs in order.
 *
 * A pair is one integer (pair_coding.h), and the integers are a LongSorter's.  When a
 * value outside of the ranges comes, the ranges become wider and what is there is
 * coded anew.  What does not fit into the memory limit is written to a temporary file,
 * in order (pair_file.h).  Pairs that need more than 64 bits are rows of a core
 * tuplesort (pair_rows.h).
 *
 * Other rooms include this header, and no other of this room; with it comes segments.h, sorted runs
 * of codes in blocks, and their merge.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIRS_H
#define HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIRS_H

#include "postgres.h"

#include "pg/nodes/aggregate/pairs/pair_coding.h"
#include "pg/nodes/aggregate/pairs/segments.h"
#include "pg/nodes/aggregate/read/read.h"
#include "pg/sort_context.h"
#include "sort/sorter/long_sorter.h"

typedef struct PairSorter PairSorter;

/*
 * Makes an empty sorter in the current memory context, which must be that of
 * context, too.  groups is shared by all sorters of a node, and changes only by
 * pairs_regroup.  kind: of the values; COLUMN_KIND_NONE: markers only.
 */
extern PairSorter *pairs_make(const SortContext *context, const GroupCode *groups,
							  ColumnKind kind, size_t memory_limit);

/* Sets another memory limit: what is in memory beyond it goes to the file. */
extern void pairs_limit_memory(PairSorter *pairs, size_t memory_limit);

/* The sorter's groups have become wider; before is a copy of what they were. */
extern void pairs_regroup(PairSorter *pairs, const GroupCode *before);

/*
 * Adds values of a batch, none of them NULL: those of nrows rows, or of the first
 * nrows if rows is NULL.  codes: of the groups of all rows of the batch; NULL without
 * grouping columns, and where the groups have more than 64 bits, whose values then
 * are in batches.
 */
extern void pairs_add(PairSorter *pairs, const ColumnBatch *batches, int column,
					  const uint64 *codes, const uint16 *rows, int nrows);

/*
 * The same of packed values of a narrow kind, without grouping columns; false, and nothing done,
 * if the values are not only counted.
 */
extern bool pairs_count_packed(PairSorter *pairs, const PackedKeys *packed);

/* The same of runs, at least one, of values of any kind. */
extern bool pairs_add_runs(PairSorter *pairs, const Runs *runs);

/* Adds a marker for each of nrows rows. */
extern void pairs_add_markers(PairSorter *pairs, PairMarker marker, const ColumnBatch *batches,
							  const uint64 *codes, const uint16 *rows, int nrows);

/* Bytes written to the temporary file. */
extern uint64 pairs_disk(const PairSorter *pairs);

/* How values were put in order; false if a tuplesort did it. */
extern bool pairs_stats(PairSorter *pairs, SorterStats *stats);

/* Values and markers added. */
extern uint64 pairs_count(const PairSorter *pairs);

/* Gives memory and file back. */
extern void pairs_free(PairSorter *pairs);

/* --- reading */

typedef struct PairCursor PairCursor;

/* Starts at the first group.  Nothing may be added to the sorter any more. */
extern PairCursor *pairs_open(PairSorter *pairs);

/* The group at the cursor, valid until the cursor moves to the next one; NULL at the end. */
extern const GroupValues *pairs_group(const PairCursor *cursor);

/* How many values and markers the group has; before any of them are taken. */
extern int64 pairs_group_count(PairCursor *cursor);

/* How many markers of each kind the group has; before its first runs are taken. */
extern void pairs_markers(PairCursor *cursor, int64 markers[PAIR_MARKERS]);

/*
 * The next runs of the group, values ascending; 0 at its end, and the cursor is at
 * the next group then.  Values are those of pg/values/value.h.
 */
extern size_t pairs_runs(PairCursor *cursor, const int64 **values, const int64 **counts);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIRS_H */
