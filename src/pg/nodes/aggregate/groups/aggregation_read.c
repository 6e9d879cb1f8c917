/*
 * aggregation_read.c
 *		Reading what a HpSort Aggregate node has kept, group by group (see
 *		aggregation.h).
 *
 * The window and each cursor of pairs are at a group, and all of them move in the order of the
 * groups.  The next group is the first of the groups that they are at.  One that is in the window
 * may be at cursors as well, which then have its values in order.
 *
 * A cursor moves on when the last run of its group has been read.  So each source must be read to
 * its end before the next group, as the interface demands (group_reader.h).
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/groups/aggregation_state.h"

/* Returns < 0, 0 or > 0: a is before b, is b, or is behind b. */
static int
compare_groups(const Aggregation *aggregation, const GroupValues *a, const GroupValues *b)
{
	return group_values_compare(aggregation->columns, aggregation->ncolumns, a, b);
}

/* Sets *first to group, if group is before it or *first is NULL; a NULL group is none. */
static void
consider(const Aggregation *aggregation, const GroupValues *group, const GroupValues **first)
{
	if (group && (*first == NULL || compare_groups(aggregation, group, *first) < 0))
		*first = group;
}

/* Whether group, which is NULL at the end of a cursor, is the group being read. */
static bool
is_at(const Aggregation *aggregation, const GroupValues *group)
{
	return group && compare_groups(aggregation, group, &aggregation->at.group) == 0;
}

/*
 * Moves next_number to the next group of the window that has rows; false at the end of the window.
 */
static bool
find_number(Aggregation *aggregation)
{
	uint64		ngroups = aggregation->room;

	/* Without grouping columns there is a group without rows as well. */
	if (aggregation->ncolumns == 0)
		return aggregation->at.next_number == 0;
	while (aggregation->at.next_number < ngroups &&
		   aggregation->rows[aggregation->at.next_number] == 0)
	{
		if ((++aggregation->at.next_number & 0xffff) == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return aggregation->at.next_number < ngroups;
}

/*
 * Returns the rows of a group outside of the window.  Each source has a pair for each of these
 * rows, so that the first source is asked; without sources each row is a marker of presence.
 */
static int64
count_outside(Aggregation *aggregation)
{
	PairCursor *cursor = aggregation->at.presence;
	int64		markers[PAIR_MARKERS];
	const int64 *values;
	const int64 *counts;

	if (aggregation->nsources > 0)
		return pairs_group_count(aggregation->values[0].cursor);
	pairs_markers(cursor, markers);
	/* There are no runs: this moves the cursor to its next group. */
	pairs_runs(cursor, &values, &counts);
	return markers[PAIR_NULL];
}

/*
 * Moves to the next group, of the window or of pairs, whose values are copied because the cursors
 * move on while it is read.
 */
static bool
next_group(GroupReader *reader, const GroupValues **group, int64 *rows)
{
	Aggregation *aggregation = (Aggregation *) reader;
	GroupValues *next = &aggregation->at.next_group;
	const GroupValues *first = NULL;
	bool		numbered = find_number(aggregation);

	if (numbered)
	{
		if (aggregation_numbers_by_table(aggregation))
			group_table_values(aggregation->table, aggregation->at.next_number, next);
		else
			group_code_values(&aggregation->window, aggregation->at.next_number, next);
		first = next;
	}
	if (aggregation->ncolumns > 0)
		for (int s = 0; s < aggregation->nsources; s++)
			if (aggregation->values[s].cursor)
				consider(aggregation, pairs_group(aggregation->values[s].cursor), &first);
	if (aggregation->at.presence)
		consider(aggregation, pairs_group(aggregation->at.presence), &first);
	if (first == NULL)
		return false;

	aggregation->at.inside = numbered &&
		(first == next || compare_groups(aggregation, next, first) == 0);
	if (aggregation->at.inside)
	{
		GroupValues before = aggregation->at.group;

		aggregation->at.group = *next;
		*next = before;
	}
	else
		for (int c = 0; c < aggregation->ncolumns; c++)
		{
			aggregation->at.group.values[c] = first->values[c];
			aggregation->at.group.nulls[c] = first->nulls[c];
		}
	*group = &aggregation->at.group;
	aggregation->at.number = aggregation->at.next_number;
	if (aggregation->at.inside)
	{
		aggregation->at.group_rows = aggregation->rows[aggregation->at.number];
		aggregation->at.next_number++;
	}
	else
		aggregation->at.group_rows = count_outside(aggregation);
	*rows = aggregation->at.group_rows;
	return true;
}

static bool
value_ahead(GroupReader *reader, int column, int n, int64 *value)
{
	const Aggregation *aggregation = (const Aggregation *) reader;
	uint64		number = aggregation->at.number + n;

	if (!aggregation_numbers_by_table(aggregation) ||
		number >= group_table_count(aggregation->table))
		return false;
	*value = group_table_value(aggregation->table, (uint32) number, column);
	return true;
}

/* --- a source */

/*
 * Counts the rows of a source: markers of its pairs, which come before the values, and what the
 * window knows.  The runs of a source that has only to be added up are read here.
 */
static void
count_values(GroupReader *reader, int source, SourceCounts *counts)
{
	Aggregation *aggregation = (Aggregation *) reader;
	PairCursor *cursor = aggregation->values[source].cursor;
	int64		markers[PAIR_MARKERS];
	const int64 *values;
	const int64 *run_counts;
	size_t		n;

	memset(counts, 0, sizeof(*counts));
	counts->summary.min = PG_INT64_MAX;
	counts->summary.max = PG_INT64_MIN;
	if (cursor && is_at(aggregation, pairs_group(cursor)))
	{
		pairs_markers(cursor, markers);
		/* Without a column all rows that pass are markers, and none of them is a NULL. */
		if (aggregation->sources[source].column >= 0)
			counts->nulls += markers[PAIR_NULL];
		counts->refused += markers[PAIR_REFUSED];
		while (!aggregation->sources[source].runs &&
			   (n = pairs_runs(cursor, &values, &run_counts)) > 0)
		{
			value_summary_add(&counts->summary, values, run_counts, n);
			if (aggregation->sources[source].moments)
				value_moments_add(&counts->summary.moments, values, run_counts, n);
		}
	}
	if (aggregation->at.inside)
		aggregation_get_counts(aggregation, source, aggregation->at.number, counts);
	counts->summary.n = aggregation->at.group_rows - counts->nulls - counts->refused;
	if (aggregation->sources[source].float_parts != 0 && counts->summary.n > 0)
	{
		counts->summary.floats = aggregation_float_totals(aggregation, source, counts->summary.n);
		counts->summary.min = counts->summary.floats->of.one.min;
		counts->summary.max = counts->summary.floats->of.one.max;
	}
}

/* Returns the runs of the source's cursor; 0 if it has none of this group. */
static size_t
next_runs(GroupReader *reader, int source, const int64 **values, const int64 **run_counts)
{
	Aggregation *aggregation = (Aggregation *) reader;
	PairCursor *cursor = aggregation->values[source].cursor;

	if (cursor == NULL || !is_at(aggregation, pairs_group(cursor)))
		return 0;
	return pairs_runs(cursor, values, run_counts);
}

static int64
want_rows(GroupReader *reader, int source, int64 first, int64 last)
{
	Aggregation *aggregation = (Aggregation *) reader;
	PairCursor *cursor = aggregation->values[source].cursor;

	return cursor && is_at(aggregation, pairs_group(cursor)) ? pairs_want(cursor, first, last) : 0;
}

static const GroupReaderMethods aggregation_reader_methods = {
	.next = next_group,
	.ahead = value_ahead,
	.count = count_values,
	.want = want_rows,
	.runs = next_runs,
};

GroupReader *
aggregation_open(Aggregation *aggregation)
{
	for (int s = 0; s < aggregation->nsources; s++)
		if (aggregation->values[s].pairs)
			aggregation->values[s].cursor = pairs_open(aggregation->values[s].pairs);
	if (aggregation->presence)
		aggregation->at.presence = pairs_open(aggregation->presence);
	aggregation_open_floats(aggregation);
	aggregation->reader.methods = &aggregation_reader_methods;
	return &aggregation->reader;
}
