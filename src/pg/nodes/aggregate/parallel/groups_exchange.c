/*
 * groups_exchange.c
 *		What the processes of a parallel HpSort Aggregate know of their groups, exchanged and put
 *		together (see parallel.h).
 *
 * A barrier has the phases of the exchange: reading, writing, merging.  A process attaches to it
 * when it is first called, and processes that are not attached are not waited for.  One that comes
 * too late to read has nothing to write, and takes part in the merging.
 *
 * Each process writes a stream of records, one for each of its groups, in order.  Whoever merges
 * reads the streams of all processes side by side.  The next group is the first of the groups that
 * the streams are at; its rows and summaries are sums over the streams that have it, and the
 * values of a source are a merge of the slices that their records name (segments.h).
 *
 * Where only some rows of a group are wanted, a median's for example, the outlines of its blocks
 * say between which values these rows are.  Other blocks are not read.
 */
#include "postgres.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/parallel/groups_shared.h"
#include "pg/nodes/aggregate/parallel/parallel.h"

/* The phases of the barrier, in their order. */
typedef enum ExchangePhase
{
	PHASE_READ,					/* processes read rows */
	PHASE_WRITE,				/* they write their groups */
	PHASE_MERGE					/* all groups are there to be read */
} ExchangePhase;

/* What a record says of a source. */
typedef struct SourceRecord
{
	int64		nulls;			/* as SourceCounts has them */
	int64		refused;		/* as SourceCounts has them */
	union
	{
		struct
		{
			uint64		first;	/* with runs: the number of the first in the segment of values */
			uint64		nruns;	/* how many runs the group has */
		};
		struct
		{
			int64		min;	/* without runs: serialized; PG_INT64_MAX, and max PG_INT64_MIN:
								 * there are no values */
			int64		max;	/* serialized, too */
		};
	};
	int64		sum[sizeof(ValueSum) / sizeof(int64)];	/* a ValueSum */
} SourceRecord;

/*
 * What a process knows of a group.  Behind the sources are the values of the group, its NULLs,
 * a byte each, and where a source has moments the ValueMoments of all sources.
 */
typedef struct GroupRecord
{
	int64		rows;			/* of the group in the process that writes the record */
	SourceRecord sources[FLEXIBLE_ARRAY_MEMBER];
} GroupRecord;

/* The groups that a process has written, as another one reads them. */
typedef struct GroupsStream
{
	uint64		ngroups;		/* all of the process */
	uint64		number;			/* of the group that the stream is at; ngroups: at its end */
	GroupRecord *record;		/* of the group that the stream is at */
	GroupValues group;			/* that group, whose values are in the record */
	bool		merged;			/* the group is the one that is being returned */
	BlockStore *store;			/* NULL: the process has written nothing */
	SegmentReader *records;		/* of the segment of records, word by word */
	SegmentReader **values;		/* by source; NULL: it has no runs */
} GroupsStream;

struct GroupsExchange
{
	GroupReader reader;			/* of the groups of all processes */
	MemoryContext memory;		/* in which it was made */
	GroupsShared *shared;
	const GroupsDescription *description;
	dsa_area   *area;			/* of the blocks in shared memory */
	size_t		memory_limit;	/* bytes of this process's blocks there */
	size_t		in_memory;		/* bytes that it has written there */
	int			process;		/* the number of this one: 0 is the leader */

	/* the groups of all processes, when all have written */
	int			nwords;			/* words of 64 bits of a record */
	int			nstreams;		/* one for each process */
	GroupsStream *streams;		/* by process */

	/* the parts of the groups */
	uint32		nbounds;		/* one less than the parts */
	GroupValues *bounds;		/* part p is from group bounds[p - 1] to before bounds[p] */
	bool		in_part;		/* a part is being read */
	uint32		part;			/* its number */

	SourceCounts *counts;		/* by source, of the group that is being returned */
	int			source;			/* whose runs are being merged; -1: none */
	uint64		rows_left;		/* rows of it that are wanted and have not been returned */
	SegmentMerge *runs;			/* the merge of its runs */
	size_t		room;			/* in values */
	int64	   *values;			/* of the runs that were returned last */
};

/* --- a process, and the phases */

GroupsExchange *
groups_exchange_make(GroupsShared *shared, const GroupsDescription *description, dsa_area *area,
					 size_t memory_limit)
{
	GroupsExchange *exchange = palloc0_object(GroupsExchange);

	for (int d = 0; d < description->ndictionaries; d++)
		dictionary_share(description->dictionaries[d], &groups_shared_dictionaries(shared)[d],
						 area);
	exchange->memory = CurrentMemoryContext;
	exchange->shared = shared;
	exchange->description = description;
	exchange->area = area;
	exchange->memory_limit = memory_limit;
	exchange->process = ParallelWorkerNumber + 1;
	return exchange;
}

bool
groups_exchange_reads(GroupsExchange *exchange)
{
	GroupsShared *shared = exchange->shared;

	if (BarrierAttach(&shared->barrier) != PHASE_READ)
		return false;
	pg_atomic_fetch_add_u32(&shared->nreaders, 1);
	return true;
}

/* Waits until all attached processes have ended a phase, unless it is over. */
static void
finish_phase(GroupsExchange *exchange, ExchangePhase phase)
{
	Barrier    *barrier = &exchange->shared->barrier;

	if (BarrierPhase(barrier) == (int) phase)
		BarrierArriveAndWait(barrier, WaitEventExtensionNew("HpSortAggregate"));
}

void
groups_exchange_give_up(GroupsExchange *exchange)
{
	exchange->shared->give_up = true;
}

bool
groups_exchange_is_given_up(const GroupsExchange *exchange)
{
	if (*(const volatile bool *) &exchange->shared->give_up)
		return true;
	for (int d = 0; d < exchange->shared->ndictionaries; d++)
		if (shared_dictionary_is_full(&groups_shared_dictionaries(exchange->shared)[d]))
			return true;
	return false;
}

size_t
groups_exchange_memory(const GroupsExchange *exchange)
{
	size_t		bytes = exchange->in_memory;

	for (int d = 0; d < exchange->shared->ndictionaries; d++)
		bytes += groups_shared_dictionaries(exchange->shared)[d].bytes;
	return bytes;
}

ExchangeStep
groups_exchange_wait(GroupsExchange *exchange)
{
	GroupsShared *shared = exchange->shared;
	ExchangeStep step = EXCHANGE_KEEP;

	finish_phase(exchange, PHASE_READ);
	if (groups_exchange_is_given_up(exchange))
		step = pg_atomic_test_set_flag(&shared->read_alone) ? EXCHANGE_READ_ALONE : EXCHANGE_LEAVE;
	else if (pg_atomic_read_u32(&shared->nreaders) > 1)
		return EXCHANGE_WRITE;
	BarrierDetach(&shared->barrier);
	return step;
}

void
groups_exchange_end(GroupsExchange *exchange)
{
	for (int p = 0; p < exchange->nstreams; p++)
		if (exchange->streams[p].store)
			block_store_close(exchange->streams[p].store);
}

/* --- records */

#define MOMENTS_WORDS ((int) (sizeof(ValueMoments) / sizeof(int64)))

static bool
has_moments(const GroupsDescription *description)
{
	for (int s = 0; s < description->nsources; s++)
		if (description->sources[s].moments)
			return true;
	return false;
}

static int
record_words(const GroupsDescription *description)
{
	return 1 + description->nsources * (int) (sizeof(SourceRecord) / sizeof(int64)) +
		description->ngroups + (description->ngroups + 7) / 8 +
		(has_moments(description) ? description->nsources * MOMENTS_WORDS : 0);
}

/* Returns the group in a record, whose arrays are the record's. */
static GroupValues
group_of_record(const GroupsDescription *description, GroupRecord *record)
{
	int64	   *values = (int64 *) &record->sources[description->nsources];

	return (GroupValues)
	{
		values, (bool *) (values + description->ngroups)
	};
}

/* Returns the moments of a source in a record, whose sources have some. */
static ValueMoments *
moments_of_record(const GroupsDescription *description, GroupRecord *record, int s)
{
	int64	   *end = (int64 *) record + record_words(description);

	return (ValueMoments *) (end - (description->nsources - s) * MOMENTS_WORDS);
}

/* Sets the group in a record, whose derived values are serialized. */
static void
set_group(const GroupsDescription *description, const GroupValues *group, GroupRecord *record)
{
	GroupValues written = group_of_record(description, record);

	for (int g = 0; g < description->ngroups; g++)
	{
		const DerivedColumn *derived = description->group_derived[g];

		written.nulls[g] = group->nulls[g];
		written.values[g] = derived && !group->nulls[g] ?
			derived_serialize(derived, group->values[g]) : group->values[g];
	}
}

/*
 * Sets what is known of source s without its runs.  Of a derived column the smallest and the
 * largest value are serialized where aggregates want them and there are no runs, of which they are
 * found: elsewhere they may be no values, or values of no rows.
 */
static void
set_source(const GroupsDescription *description, int s, const SourceCounts *counts,
		   SourceRecord *record)
{
	const DerivedColumn *derived = description->source_derived[s];
	const ValueSummary *summary = &counts->summary;
	const bool	serialized = derived && summary->n > 0 && !description->sources[s].runs;
	const int	parts = serialized ? description->sources[s].parts : 0;

	record->nulls = counts->nulls;
	record->refused = counts->refused;
	record->min = parts & SUMMARY_MIN ? derived_serialize(derived, summary->min) : summary->min;
	record->max = parts & SUMMARY_MAX ? derived_serialize(derived, summary->max) : summary->max;
	memcpy(record->sum, &summary->sum, sizeof(record->sum));
}

/* --- writing */

/* Writes the runs of a source of the group that the reader is at. */
static void
write_runs(const GroupsDescription *description, GroupReader *reader, int s,
		   SegmentWriter *writer)
{
	const DerivedColumn *derived = description->source_derived[s];
	const int64 *values;
	const int64 *counts;
	uint64		codes[SEGMENT_BLOCK];
	size_t		n;

	while ((n = reader->methods->runs(reader, s, &values, &counts)) > 0)
		for (size_t at = 0; at < n; at += SEGMENT_BLOCK)
		{
			size_t		some = Min(n - at, SEGMENT_BLOCK);

			for (size_t i = 0; i < some; i++)
				codes[i] = derived ? (uint64) derived_serialize(derived, values[at + i]) :
					field_image(values[at + i]);
			segment_write(writer, codes, (const uint64 *) counts + at, some);
		}
}

/* Writes all groups of a reader: records to the first writer, runs to the others. */
static void
write_groups(const GroupsDescription *description, GroupReader *reader,
			 SegmentWriter **writers)
{
	int			nwords = record_words(description);
	GroupRecord *record = palloc0(nwords * sizeof(int64));
	const GroupValues *group;

	while (reader->methods->next(reader, &group, &record->rows))
	{
		set_group(description, group, record);
		for (int s = 0; s < description->nsources; s++)
		{
			SourceRecord *source = &record->sources[s];
			SegmentWriter *values = writers[1 + s];
			SourceCounts counts;

			reader->methods->count(reader, s, &counts);
			set_source(description, s, &counts, source);
			if (description->sources[s].moments)
				*moments_of_record(description, record, s) = counts.summary.moments;
			if (!description->sources[s].runs)
				continue;
			source->first = segment_written(values);
			write_runs(description, reader, s, values);
			source->nruns = segment_written(values) - source->first;
		}
		segment_write(writers[0], (const uint64 *) record, NULL, nwords);
	}
	pfree(record);
}

/*
 * Writes the segments of this process, and a block of them: a segment of its groups, whose codes
 * are the words of the records, and for each source with runs one of its values, group by group.
 * Codes of values are images, or of a derived column what derived_serialize makes of them.
 * Returns the bytes written to the temporary file.
 */
static uint64
write_segments(GroupsExchange *exchange, GroupReader *reader)
{
	SharedWritten *written = &exchange->shared->written[exchange->process];
	BlockStore *store = block_store_make_shared(&exchange->shared->files, exchange->process,
												exchange->area, exchange->memory_limit);
	int			n = 1 + exchange->description->nsources;
	SegmentWriter **writers = palloc_array(SegmentWriter *, n);
	Segment    *segments = palloc_array(Segment, n);
	uint64		disk;

	for (int s = 0; s < n; s++)
		writers[s] = segment_write_begin(store, true);
	write_groups(exchange->description, reader, writers);
	for (int s = 0; s < n; s++)
		segments[s] = segment_write_end(writers[s]);
	block_store_put(store, segments, n * sizeof(Segment), &written->segments);
	written->blocks = block_store_shared(store);
	written->done = true;
	disk = block_store_disk(store);
	exchange->in_memory = block_store_memory(store);
	block_store_close(store);
	return disk;
}

uint64
groups_exchange_write(GroupsExchange *exchange, GroupReader *reader)
{
	uint64		disk = reader ? write_segments(exchange, reader) : 0;

	finish_phase(exchange, PHASE_WRITE);
	BarrierDetach(&exchange->shared->barrier);
	return disk;
}

/* --- the groups of all processes */

/* Parts for each process: they may take different times. */
#define PARTS_PER_PROCESS 8

/* From this number of runs on, the wanted ones are looked for by the outlines of blocks. */
#define OUTLINED_RUNS (8 * SEGMENT_BLOCK)

static int
compare_groups(const GroupsDescription *description, const GroupValues *a, const GroupValues *b)
{
	return group_values_compare(description->groups, description->ngroups, a, b);
}

/* --- streams */

/* Makes room for the record of the next group, which a stream has to itself. */
static void
make_record(const GroupsExchange *exchange, GroupsStream *stream)
{
	stream->record = palloc(exchange->nwords * sizeof(int64));
	stream->group = group_of_record(exchange->description, stream->record);
}

/* Moves a stream to a group by its number, and reads the record. */
static void
move_to(const GroupsExchange *exchange, GroupsStream *stream, uint64 number)
{
	const GroupsDescription *description = exchange->description;
	SegmentReader *reader = stream->records;
	uint64	   *to = (uint64 *) stream->record;

	stream->number = number;
	if (number >= stream->ngroups)
		return;
	segment_reader_seek(reader, number * exchange->nwords, exchange->nwords, 0);
	while (segment_reader_fill(reader))
		while (reader->at < reader->end)
			*to++ = reader->codes[reader->at++];
	for (int g = 0; g < description->ngroups; g++)
		if (description->group_derived[g] && !stream->group.nulls[g])
			stream->group.values[g] = derived_deserialize(description->group_derived[g],
														  stream->group.values[g]);
}

/* Moves a stream to its first group that is not before first; NULL: to the first one. */
static void
seek(const GroupsExchange *exchange, GroupsStream *stream, const GroupValues *first)
{
	uint64		lo = 0;
	uint64		hi = first ? stream->ngroups : 0;

	while (lo < hi)
	{
		uint64		middle = lo + (hi - lo) / 2;

		move_to(exchange, stream, middle);
		if (compare_groups(exchange->description, &stream->group, first) < 0)
			lo = middle + 1;
		else
			hi = middle;
	}
	move_to(exchange, stream, lo);
}

static bool
has_ended(const GroupsStream *stream)
{
	return stream->number >= stream->ngroups;
}

/* A SegmentMap: serialized values of another process become their images. */
static void
deserialize_values(void *arg, uint64 *codes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		codes[i] = field_image(derived_deserialize((DerivedColumn *) arg, (int64) codes[i]));
}

/* Opens what a process has written, if it has written anything. */
static void
open_stream(GroupsExchange *exchange, int process)
{
	const GroupsDescription *description = exchange->description;
	SharedWritten written = exchange->shared->written[process];
	GroupsStream *stream = &exchange->streams[process];
	size_t		size = (1 + description->nsources) * sizeof(Segment);
	Segment    *segments = palloc(size);

	if (!written.done)
		return;
	stream->store = block_store_make_shared(&exchange->shared->files, process, exchange->area, 0);
	memcpy(segments, block_store_get(stream->store, &written.segments), size);
	stream->ngroups = segments[0].n / exchange->nwords;
	make_record(exchange, stream);
	stream->records = segment_reader_make(stream->store, &segments[0], NULL, NULL);
	stream->values = palloc0_array(SegmentReader *, Max(description->nsources, 1));
	for (int s = 0; s < description->nsources; s++)
	{
		DerivedColumn *derived = description->source_derived[s];

		if (description->sources[s].runs)
			stream->values[s] = segment_reader_make(stream->store, &segments[1 + s],
													derived ? deserialize_values : NULL, derived);
	}
}

/*
 * Begins to read the runs from code lo on that a stream has of a source of the group that is being
 * returned.  Returns NULL if the stream does not have the group.
 */
static SegmentReader *
open_runs(const GroupsExchange *exchange, int process, int source, uint64 lo)
{
	const GroupsStream *stream = &exchange->streams[process];
	const SourceRecord *record;

	if (!stream->merged)
		return NULL;
	record = &stream->record->sources[source];
	segment_reader_seek(stream->values[source], record->first, record->nruns, lo);
	return stream->values[source];
}

/* --- parts */

/*
 * Divides the groups into parts, each of which has some of the groups of all processes: parts are
 * equal shares of the groups of the process that has most.  All processes find equal parts.
 */
static void
find_bounds(GroupsExchange *exchange)
{
	GroupsStream *most = &exchange->streams[0];
	uint64		nparts = (uint64) exchange->nstreams * PARTS_PER_PROCESS;

	for (int p = 1; p < exchange->nstreams; p++)
		if (exchange->streams[p].ngroups > most->ngroups)
			most = &exchange->streams[p];
	nparts = Min(nparts, most->ngroups);
	exchange->bounds = palloc_array(GroupValues, Max(nparts, 1));
	while (exchange->nbounds + 1 < nparts)
	{
		move_to(exchange, most, most->ngroups * (exchange->nbounds + 1) / nparts);
		exchange->bounds[exchange->nbounds++] = most->group;
		make_record(exchange, most);
	}
}

/* --- groups */

/* Adds what a stream knows of a source of the group to counts. */
static void
add_source(GroupsExchange *exchange, GroupRecord *group, int s)
{
	const SourceRecord *record = &group->sources[s];
	DerivedColumn *derived = exchange->description->source_derived[s];
	const int	parts = derived ? exchange->description->sources[s].parts : 0;
	SourceCounts *counts = &exchange->counts[s];
	ValueSummary *summary = &counts->summary;
	ValueSum	sum;

	counts->nulls += record->nulls;
	counts->refused += record->refused;
	/* Not min > max: the OID of the first label, as which it is serialized, may be larger. */
	if (exchange->description->sources[s].runs ||
		(record->min == PG_INT64_MAX && record->max == PG_INT64_MIN))
		return;
	summary->min = Min(summary->min, parts & SUMMARY_MIN ?
					   derived_deserialize(derived, record->min) : record->min);
	summary->max = Max(summary->max, parts & SUMMARY_MAX ?
					   derived_deserialize(derived, record->max) : record->max);
	memcpy(&sum, record->sum, sizeof(sum));
	summary->sum += sum;
	if (exchange->description->sources[s].moments)
		value_moments_combine(&summary->moments,
							  moments_of_record(exchange->description, group, s));
}

/* The first of the groups that streams are at, in the part; NULL at its end. */
static const GroupValues *
first_group(const GroupsExchange *exchange)
{
	const GroupsDescription *description = exchange->description;
	const GroupValues *end = NULL;
	const GroupValues *first = NULL;

	for (int p = 0; p < exchange->nstreams; p++)
	{
		const GroupsStream *stream = &exchange->streams[p];

		if (!has_ended(stream) &&
			(first == NULL || compare_groups(description, &stream->group, first) < 0))
			first = &stream->group;
	}
	if (exchange->part < exchange->nbounds)
		end = &exchange->bounds[exchange->part];
	return first && end && compare_groups(description, first, end) >= 0 ? NULL : first;
}

/*
 * Moves streams on from the group that has been returned.  Returns the next group of the part, or
 * of the next part that is free; NULL if all parts have been taken.
 */
static const GroupValues *
find_next(GroupsExchange *exchange)
{
	const GroupValues *first;

	for (int p = 0; p < exchange->nstreams; p++)
		if (exchange->streams[p].merged)
		{
			exchange->streams[p].merged = false;
			move_to(exchange, &exchange->streams[p], exchange->streams[p].number + 1);
		}
	while (!exchange->in_part || (first = first_group(exchange)) == NULL)
	{
		exchange->part = pg_atomic_fetch_add_u32(&exchange->shared->next_part, 1);
		exchange->in_part = exchange->part <= exchange->nbounds;
		if (!exchange->in_part)
			return NULL;
		for (int p = 0; p < exchange->nstreams; p++)
			seek(exchange, &exchange->streams[p],
				 exchange->part > 0 ? &exchange->bounds[exchange->part - 1] : NULL);
	}
	return first;
}

/* Merges what the streams know of the next group, but for its runs. */
static bool
next_group(GroupReader *reader, const GroupValues **group, int64 *rows)
{
	GroupsExchange *exchange = (GroupsExchange *) reader;
	const GroupsDescription *description = exchange->description;
	const SourceCounts none = {.summary = {.min = PG_INT64_MAX,.max = PG_INT64_MIN}};

	*group = find_next(exchange);
	*rows = 0;
	if (*group == NULL)
		return false;
	exchange->source = -1;
	for (int s = 0; s < description->nsources; s++)
		exchange->counts[s] = none;
	for (int p = 0; p < exchange->nstreams; p++)
	{
		GroupsStream *stream = &exchange->streams[p];

		if (has_ended(stream) || compare_groups(description, &stream->group, *group) != 0)
			continue;
		stream->merged = true;
		*rows += stream->record->rows;
		for (int s = 0; s < description->nsources; s++)
			add_source(exchange, stream->record, s);
	}
	for (int s = 0; s < description->nsources; s++)
		exchange->counts[s].summary.n = *rows - exchange->counts[s].nulls -
			exchange->counts[s].refused;
	return true;
}

static void
count_values(GroupReader *reader, int source, SourceCounts *counts)
{
	*counts = ((GroupsExchange *) reader)->counts[source];
}

/* --- runs */

/* Begins to merge the runs of a source, of which nrows rows from code lo on are wanted. */
static void
start_source(GroupsExchange *exchange, int source, uint64 lo, uint64 nrows)
{
	segment_merge_reset(exchange->runs);
	exchange->source = source;
	exchange->rows_left = nrows;
	for (int p = 0; p < exchange->nstreams; p++)
	{
		SegmentReader *reader = open_runs(exchange, p, source, lo);

		if (reader)
			segment_merge_add(exchange->runs, reader);
	}
}

/* Returns the next runs of the merge, without runs behind the last row that is wanted. */
static size_t
next_runs(GroupReader *reader, int source, const int64 **values, const int64 **run_counts)
{
	GroupsExchange *exchange = (GroupsExchange *) reader;
	const uint64 *codes;
	const uint64 *counts;
	size_t		n;
	size_t		i;

	if (exchange->source != source)
		start_source(exchange, source, 0, PG_UINT64_MAX);
	if (exchange->rows_left == 0)
		return 0;
	n = segment_merge_next(exchange->runs, &codes, &counts);
	if (n > exchange->room)
	{
		if (exchange->values)
			pfree(exchange->values);
		exchange->room = Max(n, SEGMENT_BLOCK);
		exchange->values = MemoryContextAlloc(exchange->memory, exchange->room * sizeof(int64));
	}
	for (i = 0; i < n && exchange->rows_left > 0; i++)
	{
		exchange->values[i] = field_value(codes[i]);
		exchange->rows_left -= Min(exchange->rows_left, counts[i]);
	}
	*values = exchange->values;
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

/*
 * Finds a code below which no more than first rows are, by the outlines of blocks, and begins the
 * merge with it.  Small groups are read in full; derived values as well, of which outlines have
 * the serialized codes.
 */
static int64
want_rows(GroupReader *reader, int source, int64 first, int64 last)
{
	GroupsExchange *exchange = (GroupsExchange *) reader;
	uint64		rows = 0;
	uint64		skipped = 0;
	uint64		lo = 0;
	uint64		nruns = 0;
	size_t		n = 0;
	RunsOutline *outlines;

	for (int p = 0; p < exchange->nstreams; p++)
		if (exchange->streams[p].merged)
			nruns += exchange->streams[p].record->sources[source].nruns;
	if (exchange->description->source_derived[source] || nruns < OUTLINED_RUNS)
		return 0;
	outlines = palloc_extended((nruns / SEGMENT_BLOCK + 2 * exchange->nstreams) *
							   sizeof(RunsOutline), MCXT_ALLOC_HUGE);
	for (int p = 0; p < exchange->nstreams; p++)
	{
		SegmentReader *runs = open_runs(exchange, p, source, 0);

		while (runs && segment_reader_outline(runs, &outlines[n]))
			n++;
	}
	/* No more than first rows are below lo. */
	qsort(outlines, n, sizeof(RunsOutline), compare_first);
	for (size_t i = 0; i < n && rows <= (uint64) first; rows += outlines[i++].rows)
		lo = outlines[i].first;
	for (size_t i = 0; i < n; i++)
		if (outlines[i].last < lo)
			skipped += outlines[i].rows;
	pfree(outlines);
	start_source(exchange, source, lo, (uint64) (last + 1) - skipped);
	return (int64) skipped;
}

static const GroupReaderMethods exchange_reader_methods = {
	.next = next_group,
	.count = count_values,
	.want = want_rows,
	.runs = next_runs,
};

GroupReader *
groups_exchange_open(GroupsExchange *exchange)
{
	exchange->reader.methods = &exchange_reader_methods;
	exchange->nwords = record_words(exchange->description);
	exchange->nstreams = exchange->shared->nprocesses;
	exchange->streams = palloc0_array(GroupsStream, exchange->nstreams);
	for (int p = 0; p < exchange->nstreams; p++)
		open_stream(exchange, p);
	exchange->source = -1;
	exchange->runs = segment_merge_make(exchange->nstreams);
	exchange->counts = palloc_array(SourceCounts, Max(exchange->description->nsources, 1));
	find_bounds(exchange);
	return &exchange->reader;
}
