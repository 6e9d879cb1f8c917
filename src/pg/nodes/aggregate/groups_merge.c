/*
 * groups_merge.c
 *		Merging the groups that several processes have found (see groups_merge.h).
 *
 * A part begins in the middle of a block as a rule: a stream is read from the last block on
 * that begins before the part's first group.
 *
 * The runs of a group are put in order by a sorter as far as there is memory for them.  What
 * there is no memory for is merged with them while they are read.
 *
 * Where only some rows of a group are wanted, a median's for example, the outlines of the
 * runs tell between which values these rows are, and other runs are not even read.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/groups_merge.h"
#include "pg/nodes/aggregate/groups_stream.h"
#include "sort/long_sorter.h"

/* Runs that are merged at once. */
#define MERGED_RUNS 1024

/* Parts for each process: they may take different times. */
#define PARTS_PER_PROCESS 8

/* A sorter is worth its while from so many values of a group on. */
#define SORTED_VALUES 64

/* Of so many values, some are looked for by outlines of the runs: 8 items of them. */
#define OUTLINED_VALUES (8 * ITEM_RUNS_MAX)

/* It takes keys, not runs, while they repeat no more often than this. */
#define SORTED_REPEATS 4

/* Turns an int64 into an unsigned key in the same order. */
#define SIGN_BIT (UINT64CONST(1) << 63)

/* A stream that has runs of the source being merged. */
typedef struct MergeInput
{
	int64		value;			/* the next one */
	GroupsStream *stream;
} MergeInput;

struct GroupsMerge
{
	MemoryContext memory;
	const SortContext *context;
	size_t		memory_limit;
	GroupsExchange *exchange;
	const GroupsDescription *description;
	int			nstreams;
	GroupsStream *streams;		/* of the processes, and one of the sorter */

	/* the first groups of all parts but the first one, in order */
	uint32		nbounds;
	GroupValues *bounds;
	bool		in_part;
	uint32		part;			/* the part being read, if in_part */

	GroupValues group;			/* being returned */
	int64		rows;
	SourceCounts *counts;		/* by source */

	int			source;			/* being merged; -1: none */
	WantedValues wanted;		/* of it */
	size_t		noutlines;		/* of its runs */
	size_t		outlines_room;
	RunsOutline *outlines;
	bool		sorting;		/* there is a sorter */
	LongSorter	sorter;
	LongSorterCursor cursor;
	uint64		keys[SORTED_REPEATS * ITEM_RUNS_MAX];	/* of the sorter */
	uint32		narrow[SORTED_REPEATS * ITEM_RUNS_MAX];
	int			ninputs;
	MergeInput *inputs;			/* a binary heap, the smallest value first */
	int64		values[MERGED_RUNS];
	int64		run_counts[MERGED_RUNS];
};

static int
compare_groups(const GroupsDescription *description, const GroupValues *a, const GroupValues *b)
{
	return group_values_compare(description->groups, description->ngroups, a, b);
}

/* --- parts */

static int
compare_bounds(const void *a, const void *b, void *arg)
{
	CHECK_FOR_INTERRUPTS();
	return compare_groups((const GroupsDescription *) arg, (const GroupValues *) a,
						  (const GroupValues *) b);
}

/*
 * Divides the groups into parts of about as many blocks.  All processes do so from the
 * same blocks, and with the same result.
 */
static void
find_bounds(GroupsMerge *merge)
{
	const GroupsDescription *description = merge->description;
	uint64		nblocks = 0;
	uint64		nparts = (uint64) merge->nstreams * PARTS_PER_PROCESS;
	uint64		b;
	int			p;
	GroupValues *firsts;
	uint64		i = 0;

	for (p = 0; p < merge->nstreams; p++)
		nblocks += groups_exchange_nblocks(merge->exchange, p);
	nparts = Min(nparts, nblocks);
	if (nparts <= 1 || description->ngroups == 0)
		return;
	firsts = MemoryContextAllocHuge(merge->memory, nblocks * sizeof(GroupValues));
	for (p = 0; p < merge->nstreams; p++)
		for (b = 0; b < groups_exchange_nblocks(merge->exchange, p); b++)
		{
			firsts[i] = group_values_make(description->ngroups);
			groups_hear(description, groups_exchange_first(merge->exchange, p, b), &firsts[i++]);
		}
	qsort_arg(firsts, nblocks, sizeof(GroupValues), compare_bounds, (void *) description);
	merge->bounds = palloc_array(GroupValues, nparts);
	for (i = 1; i < nparts; i++)
	{
		const GroupValues *bound = &firsts[nblocks * i / nparts];

		/* A large group begins many blocks. */
		if (compare_groups(description, bound, &firsts[0]) != 0 &&
			(merge->nbounds == 0 ||
			 compare_groups(description, bound, &merge->bounds[merge->nbounds - 1]) != 0))
			merge->bounds[merge->nbounds++] = *bound;
	}
}

/* The first group of the next part; NULL: there is none. */
static const GroupValues *
end_of_part(const GroupsMerge *merge)
{
	return merge->part < merge->nbounds ? &merge->bounds[merge->part] : NULL;
}

/* Moves all streams to the first group of the part; parts are taken in their order. */
static void
start_part(GroupsMerge *merge)
{
	const GroupValues *first = merge->part > 0 ? &merge->bounds[merge->part - 1] : NULL;
	int			p;

	for (p = 0; p < merge->nstreams; p++)
		groups_stream_seek(&merge->streams[p], first);
}

/* --- groups */

/* Forgets the runs of a source. */
static void
end_source(GroupsMerge *merge)
{
	if (merge->sorting)
		long_sorter_reset(&merge->sorter);
	merge->sorting = false;
	merge->streams[merge->nstreams].merged = false;
	merge->source = -1;
}

GroupsMerge *
groups_merge_open(GroupsExchange *exchange, const SortContext *context, size_t memory_limit)
{
	GroupsMerge *merge = palloc0_object(GroupsMerge);
	const GroupsDescription *description = groups_exchange_description(exchange);
	int			s;

	merge->memory = CurrentMemoryContext;
	merge->context = context;
	merge->memory_limit = memory_limit;
	merge->exchange = exchange;
	merge->description = description;
	merge->nstreams = groups_exchange_nprocesses(exchange);
	merge->streams = palloc0_array(GroupsStream, merge->nstreams + 1);
	for (s = 0; s < merge->nstreams; s++)
		groups_stream_init(&merge->streams[s], exchange, s);
	merge->streams[s].process = merge->nstreams;
	merge->streams[s].values = palloc_array(int64, ITEM_RUNS_MAX);
	merge->streams[s].counts = palloc_array(int64, ITEM_RUNS_MAX);
	merge->inputs = palloc_array(MergeInput, merge->nstreams + 1);
	merge->source = -1;
	merge->group = group_values_make(description->ngroups);
	merge->counts = palloc_array(SourceCounts, Max(description->nsources, 1));
	find_bounds(merge);
	return merge;
}

/* Adds what a stream knows of the group. */
static void
add_known(GroupsMerge *merge, const GroupsStream *stream)
{
	const GroupsDescription *description = merge->description;
	const int64 *words = stream->known;
	int			s;

	merge->rows += *words++;
	for (s = 0; s < description->nsources; s++)
	{
		DerivedColumn *derived = description->source_derived[s];
		SourceCounts *counts = &merge->counts[s];
		int64		min;
		int64		max;
		ValueSum	sum;

		counts->nulls += *words++;
		counts->refused += *words++;
		if (description->sources[s].runs || description->sources[s].column < 0)
			continue;
		min = *words++;
		max = *words++;
		memcpy(&sum, words, sizeof(sum));
		words += sizeof(sum) / sizeof(int64);

		/*
		 * No values.  (Those of labels are told as OIDs: the first label's may be the larger
		 * one.)
		 */
		if (min == PG_INT64_MAX && max == PG_INT64_MIN)
			continue;
		counts->summary.min = Min(counts->summary.min, derived ? derived_hear(derived, min) : min);
		counts->summary.max = Max(counts->summary.max, derived ? derived_hear(derived, max) : max);
		counts->summary.sum += sum;
	}
}

/* The first of the groups that streams are at, in the part; NULL at its end. */
static const GroupValues *
first_group(const GroupsMerge *merge)
{
	const GroupsDescription *description = merge->description;
	const GroupValues *end = end_of_part(merge);
	const GroupValues *first = NULL;
	int			p;

	for (p = 0; p < merge->nstreams; p++)
	{
		const GroupsStream *stream = &merge->streams[p];

		if (!stream->ended &&
			(first == NULL || compare_groups(description, &stream->group, first) < 0))
			first = &stream->group;
	}
	if (first && end && compare_groups(description, first, end) >= 0)
		first = NULL;
	return first;
}

bool
groups_merge_next(GroupsMerge *merge, const GroupValues **group)
{
	const GroupsDescription *description = merge->description;
	const GroupValues *first;
	int			p;
	int			s;

	for (p = 0; p < merge->nstreams; p++)
		if (merge->streams[p].merged)
		{
			merge->streams[p].merged = false;
			groups_stream_next(&merge->streams[p]);
		}
	while (!merge->in_part || (first = first_group(merge)) == NULL)
	{
		merge->part = groups_exchange_take_part(merge->exchange);
		merge->in_part = merge->part <= merge->nbounds;
		if (!merge->in_part)
			return false;
		start_part(merge);
	}

	memcpy(merge->group.values, first->values, description->ngroups * sizeof(int64));
	memcpy(merge->group.nulls, first->nulls, description->ngroups * sizeof(bool));
	merge->rows = 0;
	end_source(merge);
	memset(merge->counts, 0, description->nsources * sizeof(SourceCounts));
	for (s = 0; s < description->nsources; s++)
	{
		merge->counts[s].summary.min = PG_INT64_MAX;
		merge->counts[s].summary.max = PG_INT64_MIN;
	}
	for (p = 0; p < merge->nstreams; p++)
	{
		GroupsStream *stream = &merge->streams[p];

		if (stream->ended || compare_groups(description, &stream->group, &merge->group) != 0)
			continue;
		stream->merged = true;
		add_known(merge, stream);
	}
	for (s = 0; s < description->nsources; s++)
		merge->counts[s].summary.n = merge->rows - merge->counts[s].nulls -
			merge->counts[s].refused;
	*group = &merge->group;
	return true;
}

int64
groups_merge_rows(const GroupsMerge *merge)
{
	return merge->rows;
}

void
groups_merge_count(GroupsMerge *merge, int source, SourceCounts *counts)
{
	*counts = merge->counts[source];
}

/* --- runs */

/* Reads runs from the sorter; false at their end. */
static bool
read_sorter(GroupsMerge *merge, GroupsStream *stream)
{
	int64		bias = column_kind_bias(merge->description->sources[merge->source].kind);
	bool		wide = column_kind_is_wide(merge->description->sources[merge->source].kind);
	SortError	err;
	size_t		i;

	CHECK_FOR_INTERRUPTS();
	pg_sort_check(long_sorter_cursor_runs(&merge->cursor, merge->keys, (uint64 *) stream->counts,
										  ITEM_RUNS_MAX, &stream->n, &err), &err);
	stream->first = 0;
	stream->source = merge->source;
	if (wide)
		for (i = 0; i < stream->n; i++)
			stream->values[i] = (int64) (merge->keys[i] ^ SIGN_BIT);
	else
		for (i = 0; i < stream->n; i++)
			stream->values[i] = (int64) merge->keys[i] + PG_INT32_MIN + bias;
	return stream->n > 0;
}

/* groups_stream_has_runs, of the sorter as well, and of the values that are wanted. */
static bool
has_runs(GroupsMerge *merge, GroupsStream *stream, int source)
{
	if (stream->n == 0 && stream->process == merge->nstreams)
		return read_sorter(merge, stream);
	return groups_stream_has_runs(stream, source, merge->wanted);
}

#define HEAP_ELEMENT MergeInput
#define HEAP_SIFT_DOWN sift_input_down
#define HEAP_BEFORE(a, b) ((a)->value < (b)->value)
#include "sort/heap_template.h"

/*
 * Adds a stream's runs to the sorter, as keys; false if they repeat so often that merging
 * them takes less.
 */
static bool
add_to_sorter(GroupsMerge *merge, GroupsStream *stream)
{
	const ValueSource *source = &merge->description->sources[merge->source];
	const int64 *values = stream->values + stream->first;
	const int64 *counts = stream->counts + stream->first;
	int64		bias = column_kind_bias(source->kind);
	bool		wide = column_kind_is_wide(source->kind);
	int64		n = 0;
	int64		c;
	SortError	err;
	size_t		i;

	for (i = 0; i < stream->n; i++)
		if (counts[i] > SORTED_REPEATS * ITEM_RUNS_MAX)
			return false;
		else
			n += counts[i];
	if (n > (int64) (SORTED_REPEATS * stream->n))
		return false;
	n = 0;
	if (wide)
	{
		for (i = 0; i < stream->n; i++)
			for (c = 0; c < counts[i]; c++)
				merge->keys[n++] = (uint64) values[i] ^ SIGN_BIT;
		pg_sort_check(long_sorter_add(&merge->sorter, merge->keys, n, &err), &err);
	}
	else
	{
		for (i = 0; i < stream->n; i++)
			for (c = 0; c < counts[i]; c++)
				merge->narrow[n++] = (uint32) (values[i] - bias - PG_INT32_MIN);
		pg_sort_check(long_sorter_add_narrow(&merge->sorter, merge->narrow, n, &err), &err);
	}
	stream->n = 0;
	return true;
}

/* Gives the runs of the source to the sorter, while it has room for them. */
static void
fill_sorter(GroupsMerge *merge)
{
	bool		wide = column_kind_is_wide(merge->description->sources[merge->source].kind);
	SortError	err;
	int			p;

	long_sorter_init(&merge->sorter, merge->context, wide ? 64 : 32, merge->memory_limit);
	merge->sorting = true;
	for (p = 0; p < merge->nstreams; p++)
	{
		GroupsStream *stream = &merge->streams[p];

		while (!long_sorter_is_full(&merge->sorter) && stream->merged &&
			   has_runs(merge, stream, merge->source) && add_to_sorter(merge, stream))
			;
	}
	pg_sort_check(long_sorter_finish(&merge->sorter, &err), &err);
	pg_sort_check(long_sorter_open_cursor(&merge->sorter, &merge->cursor, &err), &err);
	merge->streams[merge->nstreams].merged = true;
	merge->streams[merge->nstreams].n = 0;
}

static void
start_source(GroupsMerge *merge, int source, WantedValues wanted)
{
	int			nwith = 0;
	int			p;
	int			i;

	end_source(merge);
	merge->source = source;
	merge->wanted = wanted;
	merge->ninputs = 0;
	for (p = 0; p < merge->nstreams; p++)
		if (merge->streams[p].merged && has_runs(merge, &merge->streams[p], source))
			nwith++;
	if (nwith > 1 && merge->counts[source].summary.n >= SORTED_VALUES)
		fill_sorter(merge);
	for (p = 0; p <= merge->nstreams; p++)
	{
		GroupsStream *stream = &merge->streams[p];

		if (stream->merged && has_runs(merge, stream, source))
		{
			merge->inputs[merge->ninputs].stream = stream;
			merge->inputs[merge->ninputs++].value = stream->values[stream->first];
		}
	}
	for (i = merge->ninputs / 2 - 1; i >= 0; i--)
		sift_input_down(merge->inputs, merge->ninputs, i);
}

/* --- some rows of a source */

/* For groups_stream_outline. */
static void
add_outline(void *arg, const RunsOutline *outline)
{
	GroupsMerge *merge = (GroupsMerge *) arg;

	if (merge->noutlines == merge->outlines_room)
	{
		merge->outlines_room = Max(64, merge->outlines_room * 2);
		if (merge->outlines == NULL)
			merge->outlines = MemoryContextAllocHuge(merge->memory,
													 merge->outlines_room * sizeof(RunsOutline));
		else
			merge->outlines = repalloc_huge(merge->outlines,
											merge->outlines_room * sizeof(RunsOutline));
	}
	merge->outlines[merge->noutlines++] = *outline;
}

static int
compare_first(const void *a, const void *b)
{
	int64		first_a = ((const RunsOutline *) a)->first;
	int64		first_b = ((const RunsOutline *) b)->first;

	return (first_a > first_b) - (first_a < first_b);
}

static int
compare_last(const void *a, const void *b)
{
	int64		last_a = ((const RunsOutline *) a)->last;
	int64		last_b = ((const RunsOutline *) b)->last;

	return (last_a > last_b) - (last_a < last_b);
}

/*
 * Values between which the rows from number first to number last are, as far as outlines
 * tell: no more than first rows can be below lo, and more than last rows are not above hi.
 */
static WantedValues
values_of_rows(RunsOutline *outlines, size_t n, int64 first, int64 last)
{
	WantedValues wanted = ALL_VALUES;
	int64		rows = 0;
	size_t		i;

	qsort(outlines, n, sizeof(RunsOutline), compare_first);
	for (i = 0; i < n && rows <= first; rows += outlines[i++].rows)
		wanted.lo = outlines[i].first;
	rows = 0;
	qsort(outlines, n, sizeof(RunsOutline), compare_last);
	for (i = 0; i < n && rows <= last; rows += outlines[i++].rows)
		wanted.hi = outlines[i].last;
	return wanted;
}

int64
groups_merge_want(GroupsMerge *merge, int source, int64 first, int64 last)
{
	WantedValues wanted;
	int64		skipped = 0;
	size_t		i;
	int			p;

	if (merge->description->source_derived[source] ||
		merge->counts[source].summary.n < OUTLINED_VALUES)
		return 0;
	merge->noutlines = 0;
	for (p = 0; p < merge->nstreams; p++)
		if (merge->streams[p].merged)
			groups_stream_outline(&merge->streams[p], source, add_outline, merge);
	wanted = values_of_rows(merge->outlines, merge->noutlines, first, last);
	for (i = 0; i < merge->noutlines; i++)
		if (merge->outlines[i].last < wanted.lo)
			skipped += merge->outlines[i].rows;
	for (p = 0; p < merge->nstreams; p++)
		groups_stream_drop(&merge->streams[p], source, wanted);
	start_source(merge, source, wanted);
	return skipped;
}

/* The runs of the only input that is left, as they lie there. */
static size_t
take_all(GroupsMerge *merge, const int64 **values, const int64 **run_counts)
{
	GroupsStream *stream = merge->inputs[0].stream;
	size_t		n;

	if (!has_runs(merge, stream, merge->source))
		return 0;
	n = stream->n;
	*values = stream->values + stream->first;
	*run_counts = stream->counts + stream->first;
	stream->n = 0;
	return n;
}

size_t
groups_merge_runs(GroupsMerge *merge, int source, const int64 **values, const int64 **run_counts)
{
	size_t		n = 0;

	if (merge->source != source)
		start_source(merge, source, ALL_VALUES);
	while (merge->ninputs > 0)
	{
		MergeInput *first = &merge->inputs[0];
		GroupsStream *stream = first->stream;

		if (merge->ninputs == 1 && n == 0)
			return take_all(merge, values, run_counts);
		if (n > 0 && merge->values[n - 1] == first->value)
			merge->run_counts[n - 1] += stream->counts[stream->first];
		else if (n == MERGED_RUNS)
			break;
		else
		{
			merge->values[n] = first->value;
			merge->run_counts[n++] = stream->counts[stream->first];
		}
		stream->first++;
		stream->n--;
		if (stream->n > 0 || has_runs(merge, stream, source))
			first->value = stream->values[stream->first];
		else
			*first = merge->inputs[--merge->ninputs];
		sift_input_down(merge->inputs, merge->ninputs, 0);
	}
	*values = merge->values;
	*run_counts = merge->run_counts;
	return n;
}
