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
#include "pg/nodes/aggregate/parallel/groups_merge.h"

/* Parts for each process: they may take different times. */
#define PARTS_PER_PROCESS 8

/* Groups that are looked at for each part to find where it begins. */
#define SAMPLES_PER_PART 2

/* Of so many runs, those that are wanted are looked for by the outlines of blocks. */
#define OUTLINED_RUNS (8 * SEGMENT_BLOCK)

/* The groups of a process. */
typedef struct GroupsStream
{
	uint64		ngroups;
	uint64		number;			/* of the group that the stream is at; ngroups: at its end */
	GroupValues group;			/* that group, and ... */
	GroupRecord *record;		/* ... its record */
	bool		merged;			/* it is the group that is being returned */
	SegmentReader *records;
	SegmentReader **values;		/* by source; NULL: it has no runs */
} GroupsStream;

typedef struct GroupsMerge
{
	GroupReader reader;
	MemoryContext memory;
	GroupsExchange *exchange;
	const GroupsDescription *description;
	int			nwords;			/* of a record */
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
	uint64		rows_left;		/* that are wanted of it */
	SegmentMerge *segments;
	size_t		room;
	int64	   *values;			/* of runs that are returned */
} GroupsMerge;

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
	uint64	   *to = (uint64 *) stream->record;

	stream->number = number;
	if (number >= stream->ngroups)
		return;
	segment_reader_seek(reader, number * merge->nwords, merge->nwords, 0);
	while (segment_reader_fill(reader))
		while (reader->at < reader->end)
			*to++ = reader->codes[reader->at++];
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

/* A SegmentMap: serialized values of another process become their images. */
static void
hear_values(void *arg, uint64 *codes, size_t n)
{
	size_t		i;

	for (i = 0; i < n; i++)
		codes[i] = field_image(derived_deserialize((DerivedColumn *) arg, (int64) codes[i]));
}

static void
open_stream(const GroupsMerge *merge, int process)
{
	const GroupsDescription *description = merge->description;
	const GroupsWritten *written = groups_exchange_written(merge->exchange, process);
	GroupsStream *stream = &merge->streams[process];
	int			s;

	if (written->store == NULL)
		return;
	stream->ngroups = written->segments[0].n / merge->nwords;
	stream->group = group_values_make(description->ngroups);
	stream->record = palloc(merge->nwords * sizeof(uint64));
	stream->records = segment_reader_make(written->store, &written->segments[0], NULL, NULL);
	stream->values = palloc0_array(SegmentReader *, Max(description->nsources, 1));
	for (s = 0; s < description->nsources; s++)
	{
		DerivedColumn *derived = description->source_derived[s];

		if (description->sources[s].runs)
			stream->values[s] = segment_reader_make(written->store, &written->segments[1 + s],
													derived ? hear_values : NULL, derived);
	}
}

/*
 * Begins to read the runs from code lo on that a stream has of a source of the group that is
 * being returned; NULL if it does not have the group.
 */
static SegmentReader *
open_runs(const GroupsMerge *merge, int process, int source, uint64 lo)
{
	const GroupsStream *stream = &merge->streams[process];
	const SourceRecord *record;

	if (!stream->merged)
		return NULL;
	record = &stream->record->sources[source];
	segment_reader_seek(stream->values[source], record->first, record->nruns, lo);
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

/* Adds what a stream knows of a source of the group. */
static void
add_source(GroupsMerge *merge, const SourceRecord *record, int s)
{
	DerivedColumn *derived = merge->description->source_derived[s];
	SourceCounts *counts = &merge->counts[s];
	ValueSummary *summary = &counts->summary;
	ValueSum	sum;

	counts->nulls += record->nulls;
	counts->refused += record->refused;
	/* Labels are told as OIDs: the first label's may be the larger one. */
	if (merge->description->sources[s].runs ||
		(record->min == PG_INT64_MAX && record->max == PG_INT64_MIN))
		return;
	summary->min = Min(summary->min,
					   derived ? derived_deserialize(derived, record->min) : record->min);
	summary->max = Max(summary->max,
					   derived ? derived_deserialize(derived, record->max) : record->max);
	memcpy(&sum, record->sum, sizeof(sum));
	summary->sum += sum;
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

static bool
next_group(GroupReader *reader, const GroupValues **group, int64 *rows)
{
	GroupsMerge *merge = (GroupsMerge *) reader;
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
		merge->rows += stream->record->rows;
		for (s = 0; s < description->nsources; s++)
			add_source(merge, &stream->record->sources[s], s);
	}
	for (s = 0; s < description->nsources; s++)
		merge->counts[s].summary.n = merge->rows - merge->counts[s].nulls -
			merge->counts[s].refused;
	*group = &merge->group;
	*rows = merge->rows;
	return true;
}

static void
count_values(GroupReader *reader, int source, SourceCounts *counts)
{
	*counts = ((GroupsMerge *) reader)->counts[source];
}

/* --- runs */

/* Begins to merge the runs of a source, of which nrows rows from code lo on are wanted. */
static void
start_source(GroupsMerge *merge, int source, uint64 lo, uint64 nrows)
{
	int			p;

	segment_merge_reset(merge->segments);
	merge->source = source;
	merge->rows_left = nrows;
	for (p = 0; p < merge->nstreams; p++)
	{
		SegmentReader *reader = open_runs(merge, p, source, lo);

		if (reader)
			segment_merge_add(merge->segments, reader);
	}
}

static size_t
next_runs(GroupReader *reader, int source, const int64 **values, const int64 **run_counts)
{
	GroupsMerge *merge = (GroupsMerge *) reader;
	const uint64 *codes;
	const uint64 *counts;
	size_t		n;
	size_t		i;

	if (merge->source != source)
		start_source(merge, source, 0, PG_UINT64_MAX);
	if (merge->rows_left == 0)
		return 0;
	n = segment_merge_next(merge->segments, &codes, &counts);
	if (n > merge->room)
	{
		if (merge->values)
			pfree(merge->values);
		merge->room = Max(n, SEGMENT_BLOCK);
		merge->values = MemoryContextAlloc(merge->memory, merge->room * sizeof(int64));
	}
	for (i = 0; i < n && merge->rows_left > 0; i++)
	{
		merge->values[i] = field_value(codes[i]);
		merge->rows_left -= Min(merge->rows_left, counts[i]);
	}
	*values = merge->values;
	*run_counts = (const int64 *) counts;
	return i;
}

/* --- some rows of a source */

static int
compare_first(const void *a, const void *b)
{
	uint64		first_a = ((const RunsOutline *) a)->first;
	uint64		first_b = ((const RunsOutline *) b)->first;

	return (first_a > first_b) - (first_a < first_b);
}

static int64
want_rows(GroupReader *reader, int source, int64 first, int64 last)
{
	GroupsMerge *merge = (GroupsMerge *) reader;
	uint64		rows = 0;
	uint64		skipped = 0;
	uint64		lo = 0;
	uint64		nruns = 0;
	size_t		n = 0;
	size_t		i;
	RunsOutline *outlines;
	int			p;

	for (p = 0; p < merge->nstreams; p++)
		if (merge->streams[p].merged)
			nruns += merge->streams[p].record->sources[source].nruns;
	if (merge->description->source_derived[source] || nruns < OUTLINED_RUNS)
		return 0;
	outlines = palloc_extended((nruns / SEGMENT_BLOCK + 2 * merge->nstreams) *
							   sizeof(RunsOutline), MCXT_ALLOC_HUGE);
	for (p = 0; p < merge->nstreams; p++)
	{
		SegmentReader *reader = open_runs(merge, p, source, 0);

		while (reader && segment_reader_outline(reader, &outlines[n]))
			n++;
	}
	/* No more than first rows are below lo. */
	qsort(outlines, n, sizeof(RunsOutline), compare_first);
	for (i = 0; i < n && rows <= (uint64) first; rows += outlines[i++].rows)
		lo = outlines[i].first;
	for (i = 0; i < n; i++)
		if (outlines[i].last < lo)
			skipped += outlines[i].rows;
	pfree(outlines);
	start_source(merge, source, lo, (uint64) (last + 1) - skipped);
	return (int64) skipped;
}

static const GroupReaderMethods merge_reader_methods = {
	.next = next_group,
	.count = count_values,
	.want = want_rows,
	.runs = next_runs,
};

GroupReader *
groups_merge_open(GroupsExchange *exchange)
{
	GroupsMerge *merge = palloc0_object(GroupsMerge);
	const GroupsDescription *description = groups_exchange_description(exchange);
	int			p;

	merge->reader.methods = &merge_reader_methods;
	merge->memory = CurrentMemoryContext;
	merge->exchange = exchange;
	merge->description = description;
	merge->nwords = groups_record_words(description);
	merge->nstreams = groups_exchange_nprocesses(exchange);
	merge->streams = palloc0_array(GroupsStream, merge->nstreams);
	for (p = 0; p < merge->nstreams; p++)
		open_stream(merge, p);
	merge->source = -1;
	merge->segments = segment_merge_make(merge->nstreams);
	merge->group = group_values_make(description->ngroups);
	merge->counts = palloc_array(SourceCounts, Max(description->nsources, 1));
	find_bounds(merge);
	return &merge->reader;
}
