/*
 * pair_rows.h
 *		(group, value) pairs that do not fit 64 bits, as rows of a core tuplesort.
 *
 * PairSorter uses it where a pair cannot be coded.  A tuplesort obeys its memory limit by itself,
 * and so does not need a PairFile.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_ROWS_H
#define HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_ROWS_H

#include "postgres.h"

#include "pg/nodes/aggregate/read/read.h"

typedef struct PairRows PairRows;

/* Makes an empty one in the current memory context; memory_limit is bytes. */
extern PairRows *pair_rows_make(const GroupColumn *columns, int ncolumns, size_t memory_limit);

/*
 * Adds count pairs of a group.  marker is a PairMarker, or PAIR_MARKERS for a value, so that
 * markers come first.  group and value are as batches hold them.
 */
extern void pair_rows_add(PairRows *rows, const GroupValues *group, int marker, int64 value,
						  int64 count);

/* Frees the rows, and closes the temporary files of the tuplesort. */
extern void pair_rows_free(PairRows *rows);

/* Sorts the rows, and goes in front of the first group.  Nothing may be added any more. */
extern void pair_rows_finish(PairRows *rows);

/*
 * Goes to the next group, when all runs of the one before have been read, and sets how many markers
 * of each kind it has.  Returns the group, valid until the next call; NULL at the end.
 */
extern const GroupValues *pair_rows_next_group(PairRows *rows, int64 *markers);

/* Sets the next runs of the group, ascending, at most room; returns 0 at its end. */
extern size_t pair_rows_runs(PairRows *rows, uint64 *values, uint64 *counts, size_t room);

/*
 * Remembers a place in front of runs of the group; goes back to it.  There is room for one place.
 */
extern void pair_rows_mark(PairRows *rows);
extern void pair_rows_restore(PairRows *rows);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_ROWS_H */
