/*
 * pair_rows.h
 *		(group, value) pairs that do not fit 64 bits as rows of a core tuplesort, and those whose
 *		values have no numbers.
 *
 * PairSorter uses it where a pair cannot be coded.  A tuplesort obeys its memory limit by itself,
 * and so does not need a PairFile.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_ROWS_H
#define HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_ROWS_H

#include "pg/nodes/aggregate/pairs/pair_coding.h"
#include "pg/nodes/aggregate/pairs/pair_table.h"
#include "pg/nodes/aggregate/read/read.h"
#include "pg/sort_context.h"

typedef struct PairRows PairRows;

/*
 * Makes an empty one in the current memory context; memory_limit is bytes.  values is the type of
 * the values; NULL: they are integers.  With a context, which must outlive the rows, integers are
 * kept in a table (pair_table.h) while its groups fit; without, a count may be any integer.
 */
extern PairRows *pair_rows_make(const SortContext *context, const GroupColumn *columns,
								int ncolumns, const PairType *values, size_t memory_limit);

/*
 * Adds count pairs of a group.  marker is a PairMarker, or PAIR_MARKERS for a value, so that
 * markers come first.  group is as batches hold it; value is a Datum of the type of the values, or
 * of int8, which is copied.
 */
extern void pair_rows_add(PairRows *rows, const GroupValues *group, int marker, Datum value,
						  int64 count);

/* Returns the table that has all pairs, valid until the next pair is added; NULL: they are rows. */
extern PairTable *pair_rows_table(const PairRows *rows);

/* Sets another memory limit, which a tuplesort that has begun does not know. */
extern void pair_rows_limit_memory(PairRows *rows, size_t memory_limit);

/* Frees the rows, and closes the temporary files of the tuplesort. */
extern void pair_rows_free(PairRows *rows);

/* Sorts the rows, and goes in front of the first group.  Nothing may be added any more. */
extern void pair_rows_finish(PairRows *rows);

/*
 * Goes to the next group, when all runs of the one before have been read, and sets how many markers
 * of each kind it has.  Returns the group, valid until the next call; NULL at the end.
 */
extern const GroupValues *pair_rows_next_group(PairRows *rows, int64 *markers);

/*
 * Sets the next runs of the group, ascending, at most room; returns 0 at its end.  values are
 * integers, or Datums, which are valid until pair_rows_forget.
 */
extern size_t pair_rows_runs(PairRows *rows, uint64 *values, uint64 *counts, size_t room);

/*
 * Before the first runs of the group, whose values are Datums: leaves out all but those from number
 * first to number last, counted from 0 in order.
 */
extern void pair_rows_want(PairRows *rows, int64 first, int64 last);

/* Gives back the memory of the Datums that have been read. */
extern void pair_rows_forget(PairRows *rows);

/* Returns how many pairs are in the runs of the group that have not been read. */
extern int64 pair_rows_count(PairRows *rows);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_ROWS_H */
