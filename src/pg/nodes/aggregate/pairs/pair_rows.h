/*
 * pair_rows.h
 *		(group, value) pairs that do not fit 64 bits, as rows of a core tuplesort.
 *
 * pairs.c uses it where a pair cannot be coded.  A tuplesort obeys its memory limit
 * by itself.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_ROWS_H
#define HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_ROWS_H

#include "postgres.h"

#include "pg/nodes/aggregate/read/read.h"

typedef struct PairRows PairRows;
typedef struct PairRowsCursor PairRowsCursor;

/* Makes an empty one in the current memory context; memory_limit is bytes. */
extern PairRows *pair_rows_make(const GroupColumn *columns, int ncolumns, size_t memory_limit);

/*
 * Adds count pairs of a group; marker: a PairMarker, or PAIR_MARKERS for a value.
 * Values are as batches hold them.
 */
extern void pair_rows_add(PairRows *rows, const GroupValues *group, int marker, int64 value,
						  int64 count);
extern void pair_rows_free(PairRows *rows);

/* The functions of pairs.h with similar names; bias is added to values. */
extern PairRowsCursor *pair_rows_open(PairRows *rows);
extern const GroupValues *pair_rows_group(const PairRowsCursor *cursor);
extern int64 pair_rows_group_count(PairRowsCursor *cursor);
extern void pair_rows_markers(const PairRowsCursor *cursor, int64 *markers);
extern size_t pair_rows_runs(PairRowsCursor *cursor, int64 bias, const int64 **values,
							 const int64 **counts);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_ROWS_H */
