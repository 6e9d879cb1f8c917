/*
 * pair_values.h
 *		(group, value) pairs of values that are no integers, in core tuplesorts.
 *
 * Values are sorted as PostgreSQL's own aggregates sort them: rows by group, and then the values of
 * one group after the other, abbreviated where the type has abbreviations.  Without grouping
 * columns there is only the second sort.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_VALUES_H
#define HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_VALUES_H

#include "postgres.h"

#include "pg/nodes/aggregate/pairs/pair_coding.h"
#include "pg/nodes/aggregate/read/read.h"

typedef struct PairValues PairValues;

/* Makes an empty bag in the current memory context; memory_limit is bytes, of either sort. */
extern PairValues *pair_values_make(const GroupColumn *columns, int ncolumns, const PairType *type,
									size_t memory_limit);

/* These do what the functions of pair_rows.h do. */
extern void pair_values_add(PairValues *values, const GroupValues *group, int marker, Datum value,
							int64 count);
extern void pair_values_finish(PairValues *values);
extern const GroupValues *pair_values_next_group(PairValues *values, int64 *markers);
extern size_t pair_values_runs(PairValues *values, uint64 *datums, uint64 *counts, size_t room);
extern void pair_values_want(PairValues *values, int64 first, int64 last);
extern void pair_values_forget(PairValues *values);
extern int64 pair_values_count(const PairValues *values);
extern void pair_values_free(PairValues *values);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_VALUES_H */
