/*
 * groups_merge.c
 *		Merging the groups that several processes have found (see groups_merge.h).
 *
 * Each process's groups are a stream of records, in order; the first of the groups that
 * the streams are at is returned, and the values of a source are a merge of the
 * slices that the records name (segments.h).
 *
 * Where only some rows of a group are wanted, a median's for example, the outlines of its
 * blocks tell between which values these rows are, and other blocks are not even read.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/groups_merge.h"

/* Parts for each process: they may take different times. */
#define PARTS_PER_PROCESS 8

/* Groups that are looked at for each part to find where it begins. */
#define SAMPLES_PER_PART 2

/* Of so many values, some are looked for by the outlines of blocks. */
#define OUTLINED_VALUES (4 * SEGMENT_BLOCK)

/* The groups of a process. */
typedef struct GroupsStream
{
	uint64		ngroups;
	uint64		number;			/* of the group that the stream is at; ngroups: at its end */
	GroupValues group;			/* that group, and ... */
	int64	   *record;			/* ... its record */
	bool		merged;			/* it is the group that is being returned */
	SegmentReader *records;
	SegmentReader **values;		/* by source; NULL: it has no runs */
} GroupsStream;

struct GroupsMerge
{
	MemoryContext memory;
	GroupsExchange *exchange;
	const GroupsDescription *description;
	int			nwords;			/* of a record */
	int		   *words;			/* by source: where in the record it is */
	int			nstreams;
	GroupsStream *streams;		/* of the processes */

	/* the first groups of all parts but the first one, in order */
	uint32		nbounds;
	GroupValues *bounds;
	bool		in_part;
	uint32		part;			/* the part being read, if in_part */

	GroupValues group;			/* being returned */
	int64		rows;
	SourceCounts *counts;		/* by source */

	int			source;			/* being merged; -1: none */
	SegmentMerge *segments;
	size_t		room;
	int64	   *values;			/* of runs that are returned */
	size_t		noutlines;
	size_t		outlines_room;
	RunsOutline *outlines;
};

static int
compare_groups(const GroupsDescription *description, const GroupValues *a, const GroupValues *b)
{
	return group_values_compare(description->groups, description->ngroups, a, b);
}

/* --- streams */

/* Moves to a group by its number. */
static void
move_to(const GroupsMerge *merge, GroupsStream *stream, uint64 number)
{
	SegmentReader *reader = stream->records;
	int			got = 0;

	stream->number = number;
	if (number >= stream->ngroups)
		return;
	segment_reader_seek(reader, number * merge->nwords, merge->nwords);
	while (got < merge->nwords && segment_reader_fill(reader))
	{
		size_t		n = reader->end - reader->at;

		memcpy(stream->record + got, reader->codes + reader->at, n * sizeof(int64));
		reader->at = reader->end;
		got += (int) n;
	}
	groups_record_group(merge->description, stream->record, &stream->group);
}

/* Moves to the first group from a group on; NULL: to the first one. */
static void
seek(const GroupsMerge *merge, GroupsStream *stream, const GroupValues *first)
{
	uint64		lo = 0;
	uint64		hi = first ? stream->ngroups : 0;

	while (lo < hi)
	{
		uint64		middle = lo + (hi - lo) / 2;

		move_to(merge, stream, middle);
		if (compare_groups(merge->description, &stream->group, first) < 0)
			lo = middle + 1;
		else
			hi = middle;
	}
	move_to(merge, stream, lo);
}

static bool
has_ended(const GroupsStream *stream)
{
	return stream->number >= stream->ngroups;
}

static void
open_stream(const GroupsMerge *merge, int process)
{
	const GroupsDescription *description = merge->description;
	GroupsStream *stream = &merge->streams[process];
	int			s;

	stream->ngroups = groups_exchange_ngroups(merge->exchange, process);
	if (stream->ngroups == 0)
		return;
	stream->group = group_values_make(description->ngroups);
	stream->record = palloc_array(int64, merge->nwords);
	stream->records = groups_exchange_records(merge->exchange, process);
	stream->values = palloc0_array(SegmentReader *, Max(description->nsources, 1));
	for (s = 0; s < description->nsources; s++)
		if (description->sources[s].runs)
			stream->values[s] = groups_exchange_values(merge->exchange, process, s);
}

/*
 * A reader of the runs that a stream has of the group that is being returned; NULL if it has
 * none.
 */
static SegmentReader *
open_runs(const GroupsMerge *merge, int process, int source)
{
	const GroupsStream *stream = &merge->streams[process];
	const int64 *words = stream->record + merge->words[source];

	if (!stream->merged || words[3] == 0)
		return NULL;
	segment_reader_seek(stream->values[source], words[2], words[3]);
	return stream->values[source];
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
 * Divides the groups into parts, each of which has some of the groups of all processes.  All
 * processes do so from the same samples, and with the same result.
 */
static void
find_bounds(GroupsMerge *merge)
{
	const GroupsDescription *description = merge->description;
	uint64		ngroups = 0;
	uint64		nparts = (uint64) merge->nstreams * PARTS_PER_PROCESS;
	uint64		nsamples = 0;
	uint64		step;
	uint64		i;
	int			p;
	GroupValues *samples;

	for (p = 0; p < merge->nstreams; p++)
		ngroups += merge->streams[p].ngroups;
	nparts = Min(nparts, ngroups);
	if (nparts <= 1 || description->ngroups == 0)
		return;
	step = Max(ngroups / (nparts * SAMPLES_PER_PART), 1);
	samples = palloc_array(GroupValues, ngroups / step + merge->nstreams);
	for (p = 0; p < merge->nstreams; p++)
		for (i = 0; i < merge->streams[p].ngroups; i += step)
		{
			GroupsStream *stream = &merge->streams[p];

			move_to(merge, stream, i);
			samples[nsamples++] = stream->group;
			stream->group = group_values_make(description->ngroups);
		}
	qsort_arg(samples, nsamples, sizeof(GroupValues), compare_bounds, (void *) description);
	merge->bounds = palloc_array(GroupValues, nparts);
	for (i = 1; i < nparts; i++)
	{
		const GroupValues *bound = &samples[nsamples * i / nparts];

		if (compare_groups(description, bound, &samples[0]) != 0 &&
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
		seek(merge, &merge->streams[p], first);
}

/* --- groups */

GroupsMerge *
groups_merge_open(GroupsExchange *exchange, const SortContext *context, size_t memory_limit)
{
	GroupsMerge *merge = palloc0_object(GroupsMerge);
	const GroupsDescription *description = groups_exchange_description(exchange);
	int			nsources = Max(description->nsources, 1);
	int			word = groups_record_group_words(description);
	int			p;
	int			s;

	merge->memory = CurrentMemoryContext;
	merge->exchange = exchange;
	merge->description = description;
	merge->nwords = groups_record_words(description);
	merge->words = palloc_array(int, nsources);
	for (s = 0; s < description->nsources; s++)
	{
		merge->words[s] = word;
		word += groups_record_source_words(description, s);
	}
	merge->nstreams = groups_exchange_nprocesses(exchange);
	merge->streams = palloc0_array(GroupsStream, merge->nstreams);
	for (p = 0; p < merge->nstreams; p++)
		open_stream(merge, p);
	merge->source = -1;
	merge->segments = segment_merge_make();
	merge->group = group_values_make(description->ngroups);
	merge->counts = palloc_array(SourceCounts, nsources);
	find_bounds(merge);
	return merge;
}

/* Adds what a stream knows of a source of the group. */
static void
add_source(GroupsMerge *merge, const GroupsStream *stream, int s)
{
	const GroupsDescription *description = merge->description;
	DerivedColumn *derived = description->source_derived[s];
	SourceCounts *counts = &merge->counts[s];
	const int64 *words = stream->record + merge->words[s];
	ValueSum	sum;

	counts->nulls += words[0];
	counts->refused += words[1];
	if (description->sources[s].runs || description->sources[s].column < 0)
		return;

	/*
	 * No values.  (Those of labels are told as OIDs: the first label's may be the larger
	 * one.)
	 */
	if (words[2] == PG_INT64_MAX && words[3] == PG_INT64_MIN)
		return;
	counts->summary.min = Min(counts->summary.min,
							  derived ? derived_hear(derived, words[2]) : words[2]);
	counts->summary.max = Max(counts->summary.max,
							  derived ? derived_hear(derived, words[3]) : words[3]);
	memcpy(&sum, &words[4], sizeof(sum));
	counts->summary.sum += sum;
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

		if (!has_ended(stream) &&
			(first == NULL || compare_groups(description, &stream->group, first) < 0))
			first = &stream->group;
	}
	if (first && end && compare_groups(description, first, end) >= 0)
		first = NULL;
	return first;
}

/* Moves streams on from the group that has been returned, and finds the next one. */
static const GroupValues *
find_next(GroupsMerge *merge)
{
	const GroupValues *first;
	int			p;

	for (p = 0; p < merge->nstreams; p++)
		if (merge->streams[p].merged)
		{
			merge->streams[p].merged = false;
			move_to(merge, &merge->streams[p], merge->streams[p].number + 1);
		}
	while (!merge->in_part || (first = first_group(merge)) == NULL)
	{
		merge->part = groups_exchange_take_part(merge->exchange);
		merge->in_part = merge->part <= merge->nbounds;
		if (!merge->in_part)
			return NULL;
		start_part(merge);
	}
	return first;
}

bool
groups_merge_next(GroupsMerge *merge, const GroupValues **group)
{
	const GroupsDescription *description = merge->description;
	const GroupValues *first = find_next(merge);
	int			p;
	int			s;

	if (first == NULL)
		return false;
	memcpy(merge->group.values, first->values, description->ngroups * sizeof(int64));
	memcpy(merge->group.nulls, first->nulls, description->ngroups * sizeof(bool));
	merge->rows = 0;
	merge->source = -1;
	memset(merge->counts, 0, description->nsources * sizeof(SourceCounts));
	for (s = 0; s < description->nsources; s++)
	{
		merge->counts[s].summary.min = PG_INT64_MAX;
		merge->counts[s].summary.max = PG_INT64_MIN;
	}
	for (p = 0; p < merge->nstreams; p++)
	{
		GroupsStream *stream = &merge->streams[p];

		if (has_ended(stream) ||
			compare_groups(description, &stream->group, &merge->group) != 0)
			continue;
		stream->merged = true;
		merge->rows += stream->record[groups_record_group_words(description) - 1];
		for (s = 0; s < description->nsources; s++)
			add_source(merge, stream, s);
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

/* Begins to merge the runs of a source that have codes from lo to hi; others may be left out. */
static void
start_source(GroupsMerge *merge, int source, uint64 lo, uint64 hi)
{
	int			p;

	segment_merge_reset(merge->segments);
	merge->source = source;
	for (p = 0; p < merge->nstreams; p++)
	{
		SegmentReader *reader = open_runs(merge, p, source);

		if (reader == NULL)
			continue;
		segment_reader_want(reader, lo, hi);
		segment_merge_add(merge->segments, reader);
	}
}

size_t
groups_merge_runs(GroupsMerge *merge, int source, const int64 **values, const int64 **run_counts)
{
	const uint64 *codes;
	const uint64 *counts;
	size_t		n;
	size_t		i;

	if (merge->source != source)
		start_source(merge, source, 0, PG_UINT64_MAX);
	n = segment_merge_next(merge->segments, &codes, &counts);
	if (n > merge->room)
	{
		if (merge->values)
			pfree(merge->values);
		merge->room = Max(n, SEGMENT_BLOCK);
		merge->values = MemoryContextAlloc(merge->memory, merge->room * sizeof(int64));
	}
	for (i = 0; i < n; i++)
		merge->values[i] = field_value(codes[i]);
	*values = merge->values;
	*run_counts = (const int64 *) counts;
	return n;
}

/* --- some rows of a source */

static void
add_outline(GroupsMerge *merge, const RunsOutline *outline)
{
	if (merge->outlines == NULL)
	{
		merge->outlines_room = 64;
		merge->outlines = MemoryContextAlloc(merge->memory,
											 merge->outlines_room * sizeof(RunsOutline));
	}
	else if (merge->noutlines == merge->outlines_room)
	{
		merge->outlines_room *= 2;
		merge->outlines = repalloc_huge(merge->outlines,
										merge->outlines_room * sizeof(RunsOutline));
	}
	merge->outlines[merge->noutlines++] = *outline;
}

static int
compare_first(const void *a, const void *b)
{
	uint64		first_a = ((const RunsOutline *) a)->first;
	uint64		first_b = ((const RunsOutline *) b)->first;

	return (first_a > first_b) - (first_a < first_b);
}

static int
compare_last(const void *a, const void *b)
{
	uint64		last_a = ((const RunsOutline *) a)->last;
	uint64		last_b = ((const RunsOutline *) b)->last;

	return (last_a > last_b) - (last_a < last_b);
}

/*
 * Codes between which the rows from number first to number last are, as far as outlines
 * tell: no more than first rows can be below lo, and more than last rows are not above hi.
 */
static void
codes_of_rows(RunsOutline *outlines, size_t n, uint64 first, uint64 last, uint64 *lo, uint64 *hi)
{
	uint64		rows = 0;
	size_t		i;

	*lo = 0;
	*hi = PG_UINT64_MAX;
	qsort(outlines, n, sizeof(RunsOutline), compare_first);
	for (i = 0; i < n && rows <= first; rows += outlines[i++].rows)
		*lo = outlines[i].first;
	rows = 0;
	qsort(outlines, n, sizeof(RunsOutline), compare_last);
	for (i = 0; i < n && rows <= last; rows += outlines[i++].rows)
		*hi = outlines[i].last;
}

int64
groups_merge_want(GroupsMerge *merge, int source, int64 first, int64 last)
{
	uint64		lo;
	uint64		hi;
	int64		skipped = 0;
	size_t		i;
	int			p;

	if (merge->description->source_derived[source] ||
		merge->counts[source].summary.n < OUTLINED_VALUES)
		return 0;
	merge->noutlines = 0;
	for (p = 0; p < merge->nstreams; p++)
	{
		SegmentReader *reader = open_runs(merge, p, source);
		RunsOutline outline;

		while (reader && segment_reader_outline(reader, &outline))
			add_outline(merge, &outline);
	}
	codes_of_rows(merge->outlines, merge->noutlines, first, last, &lo, &hi);
	for (i = 0; i < merge->noutlines; i++)
		if (merge->outlines[i].last < lo)
			skipped += (int64) merge->outlines[i].rows;
	start_source(merge, source, lo, hi);
	return skipped;
}
