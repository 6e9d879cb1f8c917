/*
 * aggregation_coarser.c
 *		An aggregation of some of the grouping columns of another one, made of its groups (see
 *		aggregation.h).
 *
 * The finer aggregation has all its rows, so that ranges of columns and values are known.  Either
 * all groups are in the window of the coarser one, or none: nothing is coded anew.
 */
#include "postgres.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/groups/aggregation_state.h"

/* Whether the groups are in the window, which without grouping columns has the only group. */
static bool
has_window(const Aggregation *aggregation)
{
	return !aggregation->frozen;
}

/*
 * Makes window or layout hold all groups of the finer aggregation.  Where that has none, nothing is
 * added, and there is nothing to hold.
 */
static void
cover_groups(Aggregation *coarser, const Aggregation *finer)
{
	KeyRange   *ranges = palloc_array(KeyRange, Max(coarser->ncolumns, 1));
	bool		any = false;

	for (int c = 0; c < coarser->ncolumns; c++)
	{
		ranges[c] = finer->layout.code.columns[coarser->of_finer[c]].range;
		any |= ranges[c].nulls || !key_range_is_empty(&ranges[c]);
	}
	if (any && !aggregation_grow_window(coarser, ranges))
	{
		coarser->frozen = true;
		aggregation_widen_layout(coarser, ranges);
	}
	pfree(ranges);
}

/* Returns the range of a source's values in the finer aggregation. */
static KeyRange
range_of_values(const Aggregation *finer, int s)
{
	const SourceValues *values = &finer->values[s];
	int64		bias = column_kind_bias(finer->sources[s].kind);
	KeyRange	range = EMPTY_KEY_RANGE;

	if (values->pairs)
		range = pairs_values(values->pairs);
	for (uint64 g = 0; g < finer->room && !finer->sources[s].runs; g++)
	{
		SourceCounts counts = {.summary.min = PG_INT64_MAX,.summary.max = PG_INT64_MIN};

		aggregation_get_counts(finer, s, g, &counts);
		if (counts.summary.min <= counts.summary.max)
		{
			key_range_put(&range, field_image(counts.summary.min - bias));
			key_range_put(&range, field_image(counts.summary.max - bias));
		}
	}
	return range;
}

Aggregation *
aggregation_make_coarser(const Aggregation *finer, const SortContext *context,
						 const GroupColumn *columns, const int *of_finer, int ncolumns,
						 size_t memory_limit)
{
	Aggregation *coarser = aggregation_make(context, columns, ncolumns, finer->sources,
											finer->nsources, memory_limit, (double) finer->nrows);
	const KeyRange none = EMPTY_KEY_RANGE;

	coarser->of_finer = of_finer;
	cover_groups(coarser, finer);
	for (int s = 0; s < coarser->nsources; s++)
	{
		SourceValues *values = &coarser->values[s];
		KeyRange	range;

		if (values->pairs)
			pairs_free(values->pairs);
		values->pairs = NULL;
		if (has_window(coarser) && !coarser->sources[s].runs)
			continue;
		range = range_of_values(finer, s);
		values->pairs = pairs_make_counted(context, &coarser->layout, coarser->sources[s].kind,
										   &range, coarser->sorter_limit);
	}
	if (coarser->nsources == 0 && !has_window(coarser))
		coarser->presence = pairs_make_counted(context, &coarser->layout, COLUMN_KIND_NONE, &none,
											   coarser->sorter_limit);
	aggregation_share_memory(coarser, coarser->window.code.ncodes);
	return coarser;
}

void
aggregation_add_group(Aggregation *coarser, const GroupValues *group, int64 rows)
{
	AggregationPosition *at = &coarser->at;

	for (int c = 0; c < coarser->ncolumns; c++)
	{
		at->group.values[c] = group->values[coarser->of_finer[c]];
		at->group.nulls[c] = group->nulls[coarser->of_finer[c]];
	}
	at->inside = has_window(coarser);
	if (at->inside)
	{
		at->number = coarser->ncolumns > 0 ? group_code_of(&coarser->window, &at->group) : 0;
		coarser->rows[at->number] += rows;
	}
	else if (coarser->presence)
		pairs_add_group(coarser->presence, &at->group, PAIR_NULL, NULL, &rows, 1);
}

/*
 * Sets up to four runs whose number, sum, smallest and largest value are those of a summary.
 * Beside the smallest and the largest they are of the values next to the mean of the others.
 * Returns how many there are.
 */
static size_t
runs_of_summary(const ValueSummary *summary, int64 *values, int64 *counts)
{
	int64		others = summary->n - 2;
	ValueSum	sum = summary->sum - summary->min - summary->max;
	ValueSum	mean;
	size_t		n = 0;

	if (summary->n <= 0)
		return 0;
	values[n] = summary->min;
	counts[n++] = 1;
	if (summary->n == 1)
		return n;
	values[n] = summary->max;
	counts[n++] = 1;
	if (others == 0)
		return n;
	mean = sum / others - (sum % others < 0 ? 1 : 0);
	sum -= mean * others;
	values[n] = (int64) mean;
	counts[n++] = others - (int64) sum;
	if (sum > 0)
	{
		values[n] = (int64) mean + 1;
		counts[n++] = (int64) sum;
	}
	return n;
}

static void
add_markers(PairSorter *pairs, const GroupValues *group, PairMarker marker, int64 count)
{
	if (count > 0)
		pairs_add_group(pairs, group, marker, NULL, &count, 1);
}

/* Adds the counts of a group that is outside of the window: each row becomes a pair. */
static void
add_counts_outside(Aggregation *coarser, int s, const SourceCounts *counts)
{
	const ValueSource *source = &coarser->sources[s];
	PairSorter *pairs = coarser->values[s].pairs;
	const GroupValues *group = &coarser->at.group;
	int64		values[4];
	int64		run_counts[4];

	add_markers(pairs, group, PAIR_NULL, source->column < 0 ? counts->summary.n : counts->nulls);
	add_markers(pairs, group, PAIR_REFUSED, counts->refused);
	if (source->column >= 0 && !source->runs)
		pairs_add_group(pairs, group, PAIR_MARKERS, values, run_counts,
						runs_of_summary(&counts->summary, values, run_counts));
}

void
aggregation_add_counts(Aggregation *coarser, int s, const SourceCounts *counts)
{
	int64		bias = column_kind_bias(coarser->sources[s].kind);
	const ValueSummary *summary = &counts->summary;

	if (!coarser->at.inside)
	{
		add_counts_outside(coarser, s, counts);
		return;
	}
	if (counts->nulls > 0)
		aggregation_misses(coarser, s, PART_NULLS)[coarser->at.number] += counts->nulls;
	if (counts->refused > 0)
		aggregation_misses(coarser, s, PART_REFUSED)[coarser->at.number] += counts->refused;
	if (summary->n > 0)
		aggregation_add_total(coarser, s, coarser->at.number,
							  summary->sum - (ValueSum) bias * summary->n, summary->min - bias,
							  summary->max - bias);
}

void
aggregation_add_group_runs(Aggregation *coarser, int s, const int64 *values, const int64 *counts,
						   size_t n)
{
	pairs_add_group(coarser->values[s].pairs, &coarser->at.group, PAIR_MARKERS, values, counts, n);
}
