/*
 * hypothetical.h
 *		rank, dense_rank, percent_rank and cume_dist of a row that is not there, from the runs of a
 *		group.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_RESULTS_HYPOTHETICAL_H
#define HPSORT_PG_NODES_AGGREGATE_RESULTS_HYPOTHETICAL_H

#include "utils/sortsupport.h"

#include "pg/nodes/aggregate/plan/plan.h"

/* How many values a group has, which an aggregate must know before the first run. */
typedef struct GroupCounts
{
	int64		values;			/* that are not NULL, repetitions counted */
	int64		nulls;			/* rows whose value is NULL */
} GroupCounts;

/*
 * Of hypothetical-set functions: the argument, which all groups share, and what a group
 * has before it and equal to it.
 */
typedef struct HypotheticalRow
{
	bool		isnull;			/* of the argument */
	int64		value;			/* the argument, unless it is NULL */
	bool		no_peers;		/* no row has it: a label that was added to the enum later, or a
								 * numeric between two of the column's type */
	bool		equality_checked;	/* the right to call the type's equality has been checked */
	int64		below;			/* values of the group less than it */
	int64		distinct_below; /* different ones of them */
	int64		peers;			/* values equal to it */
	int64		distinct;		/* different values of the group */
} HypotheticalRow;

/*
 * Sets the argument, a value of this type that is not NULL, as it is compared with integers of the
 * domain: of equal floats, with the integer that stands for them.
 */
extern void hypothetical_row_set(HypotheticalRow *row, const ColumnDomain *domain, Oid type,
								 Datum value);

/*
 * Takes runs of the group, before the first of which the counts are 0; all calls together get all
 * runs, values ascending.  With compare they are Datums in its order, and so is the argument.
 */
extern void hypothetical_row_take(HypotheticalRow *row, Datum argument, SortSupport compare,
								  const int64 *values, const int64 *counts, size_t nruns);

/*
 * Returns the value of a call for the group.  For dense_rank it checks the right to the type's
 * equality.
 */
extern Datum hypothetical_row_value(HypotheticalRow *row, const Aggref *aggref,
									const AggregateAnswer *answer, const GroupCounts *counts);

#endif							/* HPSORT_PG_NODES_AGGREGATE_RESULTS_HYPOTHETICAL_H */
