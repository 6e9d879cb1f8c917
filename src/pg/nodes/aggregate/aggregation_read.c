/*
 * aggregation_read.c
 *		Reading what a HpSort Aggregate node has kept, group by group (see
 *		aggregation.h).
 *
 * Groups come from up to four places, each in the order of the groups: the window,
 * the groups that other processes know, and the cursors of pairs.  The next group is
 * the first of those that they are at.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/aggregation_state.h"

static int
compare_groups(const Aggregation *aggregation, const GroupValues *a, const GroupValues *b)
{
	return group_values_compare(aggregation->columns, aggregation->ncolumns, a, b);
}

static int
compare_others(const void *a, const void *b, void *arg)
{
	/* Sorting them may take long, and qsort_arg does not ask. */
	CHECK_FOR_INTERRUPTS();
	return compare_groups((const Aggregation *) arg, &((const OtherGroup *) a)->group,
						  &((const OtherGroup *) b)->group);
}

void
aggregation_open(Aggregation *aggregation)
{
	int			s;

	for (s = 0; s < aggregation->nsources; s++)
		if (aggregation->values[s].pairs)
			aggregation->values[s].cursor = pairs_open(aggregation->values[s].pairs);
	if (aggregation->presence)
		aggregation->presence_cursor = pairs_open(aggregation->presence);
	if (aggregation->nothers > 1)
		qsort_arg(aggregation->others, aggregation->nothers, sizeof(OtherGroup), compare_others,
				  aggregation);
}

/* Makes group the first so far; *first is NULL while there is none. */
static void
consider(const Aggregation *aggregation, const GroupValues *group, const GroupValues **first)
{
	if (group && (*first == NULL || compare_groups(aggregation, group, *first) < 0))
		*first = group;
}

static bool
is_at(const Aggregation *aggregation, const GroupValues *group)
{
	return group && compare_groups(aggregation, group, &aggregation->group) == 0;
}

/* Moves the window's position to a group that has rows; false at the end. */
static bool
find_number(Aggregation *aggregation)
{
	uint64		ngroups = aggregation->window.ngroups;

	/* Without grouping columns there is a group without rows as well. */
	if (aggregation->ncolumns == 0)
		return aggregation->next_number == 0;
	while (aggregation->next_number < ngroups && aggregation->rows[aggregation->next_number] == 0)
	{
		if ((++aggregation->next_number & 0xffff) == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return aggregation->next_number < ngroups;
}

bool
aggregation_next(Aggregation *aggregation, const GroupValues **group)
{
	const GroupValues *first = NULL;
	bool		numbered = find_number(aggregation);
	int			c;
	int			s;

	if (numbered)
	{
		group_window_values(&aggregation->window, aggregation->next_number,
							&aggregation->next_group);
		first = &aggregation->next_group;
	}
	if (aggregation->next_other < aggregation->nothers)
		consider(aggregation, &aggregation->others[aggregation->next_other].group, &first);
	if (aggregation->ncolumns > 0)
		for (s = 0; s < aggregation->nsources; s++)
			if (aggregation->values[s].cursor)
				consider(aggregation, pairs_group(aggregation->values[s].cursor), &first);
	if (aggregation->presence_cursor)
		consider(aggregation, pairs_group(aggregation->presence_cursor), &first);
	if (first == NULL)
		return false;

	for (c = 0; c < aggregation->ncolumns; c++)
	{
		aggregation->group.values[c] = first->values[c];
		aggregation->group.nulls[c] = first->nulls[c];
	}
	*group = &aggregation->group;
	aggregation->inside = numbered && is_at(aggregation, &aggregation->next_group);
	aggregation->number = aggregation->next_number;
	aggregation->group_rows = aggregation->inside ? aggregation->rows[aggregation->number] : 0;
	if (aggregation->inside)
		aggregation->next_number++;
	aggregation->first_other = aggregation->next_other;
	while (aggregation->next_other < aggregation->nothers &&
		   is_at(aggregation, &aggregation->others[aggregation->next_other].group))
		aggregation->group_rows += aggregation->others[aggregation->next_other++].rows;
	aggregation->rows_known = aggregation->inside || aggregation->merged;
	if (aggregation->presence_cursor && is_at(aggregation, pairs_group(aggregation->presence_cursor)))
	{
		int64		markers[PAIR_MARKERS];
		const int64 *values;
		const int64 *counts;

		pairs_markers(aggregation->presence_cursor, markers);
		pairs_runs(aggregation->presence_cursor, &values, &counts);
		aggregation->group_rows += markers[PAIR_NULL];
	}
	return true;
}

/* --- a source */

static void
add_to_summary(ValueSummary *summary, const int64 *values, const int64 *counts, size_t nruns)
{
	size_t		i;

	if (nruns == 0)
		return;
	summary->min = Min(summary->min, values[0]);
	summary->max = Max(summary->max, values[nruns - 1]);
	for (i = 0; i < nruns; i++)
		summary->sum += (ValueSum) values[i] * counts[i];
}

static int64
sum_of(const int64 *counts, size_t n)
{
	int64		sum = 0;
	size_t		i;

	for (i = 0; i < n; i++)
		sum += counts[i];
	return sum;
}

/* What the window and other processes know. */
static void
count_known(const Aggregation *aggregation, int s, SourceCounts *counts)
{
	const SourceValues *values = &aggregation->values[s];
	int64		bias = column_kind_bias(aggregation->sources[s].kind);
	size_t		o;

	if (aggregation->inside && values->misses)
	{
		counts->nulls += values->misses[aggregation->number].nulls;
		counts->refused += values->misses[aggregation->number].refused;
	}
	if (aggregation->inside && values->totals)
	{
		const Totals *totals = &values->totals[aggregation->number];
		int64		n = aggregation->rows[aggregation->number] - counts->nulls - counts->refused;

		counts->summary.sum += totals->sum + (ValueSum) bias * n;
		counts->summary.min = Min(counts->summary.min, totals->min);
		counts->summary.max = Max(counts->summary.max, totals->max);
		/* The bias must not overflow where there are no values. */
		if (n > 0)
		{
			counts->summary.min += bias;
			counts->summary.max += bias;
		}
	}
	for (o = aggregation->first_other; o < aggregation->next_other; o++)
	{
		const SourceCounts *other = &aggregation->others[o].counts[s];

		counts->nulls += other->nulls;
		counts->refused += other->refused;
		if (other->summary.n > 0)
		{
			counts->summary.sum += other->summary.sum;
			counts->summary.min = Min(counts->summary.min, other->summary.min);
			counts->summary.max = Max(counts->summary.max, other->summary.max);
		}
	}
	if (aggregation->rows_known)
		counts->summary.n = aggregation->group_rows - counts->nulls - counts->refused;
}

/* Runs of a group whose number of values is known only when all of them have been read. */
typedef struct HeldRuns
{
	int64	   *values;
	int64	   *counts;
	size_t		n;
	size_t		room;
} HeldRuns;

static void
hold(HeldRuns *held, const int64 *values, const int64 *counts, size_t n)
{
	if (held->n + n > held->room)
	{
		size_t		room = Max(held->n + n, 2 * held->room);
		int64	   *new_values = MemoryContextAllocHuge(CurrentMemoryContext, room * sizeof(int64));
		int64	   *new_counts = MemoryContextAllocHuge(CurrentMemoryContext, room * sizeof(int64));

		if (held->n > 0)
		{
			memcpy(new_values, held->values, held->n * sizeof(int64));
			memcpy(new_counts, held->counts, held->n * sizeof(int64));
		}
		if (held->room > 0)
		{
			pfree(held->values);
			pfree(held->counts);
		}
		held->values = new_values;
		held->counts = new_counts;
		held->room = room;
	}
	memcpy(held->values + held->n, values, n * sizeof(int64));
	memcpy(held->counts + held->n, counts, n * sizeof(int64));
	held->n += n;
}

/* Reads the pairs of the group, which the cursor is at. */
static void
read_pairs(Aggregation *aggregation, int s, SourceCounts *counts, TakeRuns take, void *arg)
{
	const ValueSource *source = &aggregation->sources[s];
	PairCursor *cursor = aggregation->values[s].cursor;
	bool		known = aggregation->rows_known;
	int64		markers[PAIR_MARKERS];
	HeldRuns	held = {0};
	const int64 *values;
	const int64 *run_counts;
	size_t		n;

	pairs_markers(cursor, markers);
	if (source->column >= 0)
		counts->nulls += markers[PAIR_NULL];
	else
		counts->summary.n += markers[PAIR_NULL];
	counts->refused += markers[PAIR_REFUSED];
	if (known && take)
		take(arg, s, counts, NULL, NULL, 0);
	while ((n = pairs_runs(cursor, &values, &run_counts)) > 0)
	{
		add_to_summary(&counts->summary, values, run_counts, n);
		if (!known)
			counts->summary.n += sum_of(run_counts, n);
		if (take && known)
			take(arg, s, counts, values, run_counts, n);
		else if (take)
			hold(&held, values, run_counts, n);
	}
	if (take && !known)
	{
		take(arg, s, counts, NULL, NULL, 0);
		if (held.n > 0)
			take(arg, s, counts, held.values, held.counts, held.n);
	}
	if (held.room > 0)
	{
		pfree(held.values);
		pfree(held.counts);
	}
}

void
aggregation_read(Aggregation *aggregation, int source, SourceCounts *counts, TakeRuns take,
				 void *arg)
{
	PairCursor *cursor = aggregation->values[source].cursor;

	memset(counts, 0, sizeof(*counts));
	counts->summary.min = PG_INT64_MAX;
	counts->summary.max = PG_INT64_MIN;
	count_known(aggregation, source, counts);
	if (cursor && is_at(aggregation, pairs_group(cursor)))
		read_pairs(aggregation, source, counts, take, arg);
	else if (take)
		take(arg, source, counts, NULL, NULL, 0);
	/* Each source knows all rows outside of the window. */
	if (!aggregation->rows_known)
		aggregation->group_rows = counts->summary.n + counts->nulls + counts->refused;
}

void
aggregation_start_runs(Aggregation *aggregation, int source, SourceCounts *counts)
{
	PairCursor *cursor = aggregation->values[source].cursor;
	int64		markers[PAIR_MARKERS];

	memset(counts, 0, sizeof(*counts));
	count_known(aggregation, source, counts);
	if (cursor && is_at(aggregation, pairs_group(cursor)))
	{
		pairs_markers(cursor, markers);
		counts->nulls += markers[PAIR_NULL];
		counts->refused += markers[PAIR_REFUSED];
	}
	if (!aggregation->rows_known)
		aggregation->group_rows = counts->nulls + counts->refused;
}

size_t
aggregation_next_runs(Aggregation *aggregation, int source, const int64 **values,
					  const int64 **run_counts)
{
	PairCursor *cursor = aggregation->values[source].cursor;

	if (cursor == NULL || !is_at(aggregation, pairs_group(cursor)))
		return 0;
	return pairs_runs(cursor, values, run_counts);
}

bool
aggregation_rows_known(const Aggregation *aggregation)
{
	return aggregation->rows_known;
}

int64
aggregation_rows(const Aggregation *aggregation)
{
	return aggregation->group_rows;
}
