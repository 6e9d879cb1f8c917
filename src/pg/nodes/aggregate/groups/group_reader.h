/*
 * group_reader.h
 *		GroupReader: groups and what is known of each, whoever knows it.
 *
 * A HpSort Aggregate node returns the groups of a reader, which are of its own process
 * (aggregation.h), of all processes of a parallel plan (parallel.h), or looked up on the GPU
 * (groups_lookup.c).  Each implementation has a GroupReader as its first member.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_GROUPS_GROUP_READER_H
#define HPSORT_PG_NODES_AGGREGATE_GROUPS_GROUP_READER_H

#include "pg/nodes/aggregate/read/read.h"
#include "pg/nodes/aggregate/results/results.h"

/* What is known of a group's values of one source. */
typedef struct SourceCounts
{
	int64		nulls;			/* rows that pass the filter, and whose value is NULL */
	int64		refused;		/* rows that the filter does not let pass */
	ValueSummary summary;		/* of the other rows; of a source with runs only n is known before
								 * they are read */
} SourceCounts;

typedef struct GroupReader GroupReader;

typedef struct GroupReaderMethods
{
	/*
	 * Moves to the next group, and sets *group to its values and *rows to the number of its rows;
	 * false at the end.  Without grouping columns there is one group, also of no rows.  The
	 * values are the reader's, and valid until the next call.
	 */
	bool		(*next) (GroupReader *reader, const GroupValues **group, int64 *rows);

	/*
	 * Sets *value to that of a grouping column in the n-th group behind the one that next
	 * returned; false if it is not known yet.  NULL: it never is.
	 */
	bool		(*ahead) (GroupReader *reader, int column, int n, int64 *value);

	/*
	 * Sets *counts to what is known of the group's values of a source.  It is called once for
	 * each source of a group, in the order of the sources.
	 */
	void		(*count) (GroupReader *reader, int source, SourceCounts *counts);

	/*
	 * Between count and runs of a source: only the runs are wanted that have one of the group's
	 * rows from number first to number last, in the order of values and counted from 0, of the
	 * rows that are not NULL.  Others may be left out: returns how many rows are before the first
	 * run that runs will return.  NULL: runs returns all.
	 */
	int64		(*want) (GroupReader *reader, int source, int64 first, int64 last);

	/*
	 * The next runs of a source with runs, values ascending, a block at a time; 0 at their end.
	 * All are read before the next source and the next group.
	 */
	size_t		(*runs) (GroupReader *reader, int source, const int64 **values,
						 const int64 **run_counts);

	/* Returns how many values of a source are different.  NULL: runs say so. */
	int64		(*distinct) (GroupReader *reader, int source);
} GroupReaderMethods;

struct GroupReader
{
	const GroupReaderMethods *methods;
};

#endif							/* HPSORT_PG_NODES_AGGREGATE_GROUPS_GROUP_READER_H */
