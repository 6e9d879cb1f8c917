/*
 * groups_exchange.c
 *		What the processes of a parallel HpSort Aggregate tell each other (see
 *		groups_exchange.h).
 *
 * A barrier has the phases of the exchange: reading, writing, merging.  A process
 * attaches to it when it is first called, and those that are not attached are not
 * waited for.  One that comes too late to read takes part in the merging only.
 */
#include "postgres.h"

#include "port/atomics.h"
#include "storage/barrier.h"
#include "storage/dsm.h"
#include "storage/sharedfileset.h"
#include "storage/spin.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/groups_exchange.h"

typedef enum ExchangePhase
{
	PHASE_READ,
	PHASE_WRITE,
	PHASE_MERGE
} ExchangePhase;

/* A segment that others read. */
typedef struct SharedSegment
{
	uint64		n;				/* runs */
	dsa_pointer blocks;			/* its directory */
} SharedSegment;

struct GroupsShared
{
	dsm_handle	segment;
	SharedFileSet files;
	Barrier		barrier;
	pg_atomic_uint32 nreaders;	/* processes that read rows */
	pg_atomic_uint32 next_part;
	slock_t		mutex;			/* for totals */
	GroupsTotals totals;
	int			nprocesses;
	int			nsegments;		/* of a process that has written */
	dsa_pointer segments[FLEXIBLE_ARRAY_MEMBER];	/* by process: the leader, then workers */
};

/* What a process has written. */
typedef struct ProcessSegments
{
	BlockStore *store;			/* NULL: nothing */
	Segment    *segments;		/* of its groups, and behind it of values, by source */
} ProcessSegments;

struct GroupsExchange
{
	MemoryContext memory;
	GroupsShared *shared;
	const GroupsDescription *description;
	dsa_area   *area;
	size_t		memory_limit;
	int			process;		/* this one's number */
	int			nsegments;
	uint64		disk;
	ProcessSegments *written;	/* by process; NULL: not all have written */
};

/* --- shared memory */

Size
groups_shared_size(int nworkers)
{
	return add_size(offsetof(GroupsShared, segments), mul_size(nworkers + 1, sizeof(dsa_pointer)));
}

static void
start_phases(GroupsShared *shared)
{
	int			p;

	BarrierInit(&shared->barrier, 0);
	pg_atomic_init_u32(&shared->nreaders, 0);
	pg_atomic_init_u32(&shared->next_part, 0);
	memset(&shared->totals, 0, sizeof(shared->totals));
	for (p = 0; p < shared->nprocesses; p++)
		shared->segments[p] = InvalidDsaPointer;
}

void
groups_shared_init(GroupsShared *shared, ParallelContext *pcxt)
{
	shared->nprocesses = pcxt->nworkers + 1;
	shared->segment = dsm_segment_handle(pcxt->seg);
	SharedFileSetInit(&shared->files, pcxt->seg);
	SpinLockInit(&shared->mutex);
	start_phases(shared);
}

/* Frees what other processes have read of a segment. */
static void
free_segment(dsa_area *area, const SharedSegment *segment)
{
	const SegmentBlock *blocks;
	uint64		b;

	if (segment->n == 0)
		return;
	blocks = dsa_get_address(area, segment->blocks);
	for (b = 0; b < segment_nblocks(segment->n); b++)
		if (DsaPointerIsValid(blocks[b].place.pointer))
			dsa_free(area, blocks[b].place.pointer);
	dsa_free(area, segment->blocks);
}

void
groups_shared_reset(GroupsShared *shared, dsa_area *area)
{
	int			p;
	int			s;

	for (p = 0; p < shared->nprocesses; p++)
	{
		const SharedSegment *segments;

		if (!DsaPointerIsValid(shared->segments[p]))
			continue;
		segments = dsa_get_address(area, shared->segments[p]);
		for (s = 0; s < shared->nsegments; s++)
			free_segment(area, &segments[s]);
		dsa_free(area, shared->segments[p]);
	}
	SharedFileSetDeleteAll(&shared->files);
	start_phases(shared);
}

void
groups_shared_attach(GroupsShared *shared)
{
	dsm_segment *segment = dsm_find_mapping(shared->segment);

	if (segment == NULL)
		elog(ERROR, "a parallel worker has not got its leader's shared memory");
	SharedFileSetAttach(&shared->files, segment);
}

void
groups_shared_add_totals(GroupsShared *shared, const GroupsTotals *totals)
{
	SpinLockAcquire(&shared->mutex);
	shared->totals.rows += totals->rows;
	shared->totals.groups += totals->groups;
	shared->totals.disk += totals->disk;
	shared->totals.memory = Max(shared->totals.memory, totals->memory);
	SpinLockRelease(&shared->mutex);
}

void
groups_shared_get_totals(GroupsShared *shared, GroupsTotals *totals)
{
	SpinLockAcquire(&shared->mutex);
	*totals = shared->totals;
	SpinLockRelease(&shared->mutex);
}

/* --- a process, and the phases */

GroupsExchange *
groups_exchange_make(GroupsShared *shared, const GroupsDescription *description, dsa_area *area,
					 size_t memory_limit)
{
	GroupsExchange *exchange = palloc0_object(GroupsExchange);

	exchange->memory = CurrentMemoryContext;
	exchange->shared = shared;
	exchange->description = description;
	exchange->area = area;
	exchange->memory_limit = memory_limit;
	exchange->process = ParallelWorkerNumber + 1;
	exchange->nsegments = 1 + description->nsources;
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

/* Waits for the end of a phase, unless it is over. */
static void
finish_phase(GroupsExchange *exchange, ExchangePhase phase)
{
	Barrier    *barrier = &exchange->shared->barrier;

	if (BarrierPhase(barrier) == (int) phase)
		BarrierArriveAndWait(barrier, compat_wait_event_extension("HpSortAggregate"));
}

bool
groups_exchange_is_shared(GroupsExchange *exchange)
{
	GroupsShared *shared = exchange->shared;

	finish_phase(exchange, PHASE_READ);
	if (pg_atomic_read_u32(&shared->nreaders) > 1)
		return true;
	BarrierDetach(&shared->barrier);
	return false;
}

void
groups_exchange_end(GroupsExchange *exchange)
{
	int			p;

	for (p = 0; exchange->written && p < exchange->shared->nprocesses; p++)
		if (exchange->written[p].store)
			block_store_close(exchange->written[p].store);
}

uint64
groups_exchange_disk(const GroupsExchange *exchange)
{
	return exchange->disk;
}

/* --- records */

int
groups_record_group_words(const GroupsDescription *description)
{
	return description->ngroups + (description->ngroups + 63) / 64 + 1;
}

int
groups_record_source_words(const GroupsDescription *description, int source)
{
	if (description->sources[source].runs)
		return 4;
	return description->sources[source].column < 0 ? 2 : 4 + sizeof(ValueSum) / sizeof(int64);
}

int
groups_record_words(const GroupsDescription *description)
{
	int			n = groups_record_group_words(description);
	int			s;

	for (s = 0; s < description->nsources; s++)
		n += groups_record_source_words(description, s);
	return n;
}

/* Writes the values and NULLs of a group; returns the place behind them. */
static int64 *
put_group(const GroupsDescription *description, const GroupValues *group, int64 *record)
{
	int64	   *bits = record + description->ngroups;
	int			nwords = groups_record_group_words(description) - 1;
	int			g;

	memset(bits, 0, (nwords - description->ngroups) * sizeof(int64));
	for (g = 0; g < description->ngroups; g++)
	{
		record[g] = group->values[g];
		if (group->nulls[g])
			bits[g / 64] |= INT64CONST(1) << (g % 64);
		else if (description->group_derived[g])
			record[g] = derived_tell(description->group_derived[g], record[g]);
	}
	return record + nwords;
}

void
groups_record_group(const GroupsDescription *description, const int64 *record, GroupValues *group)
{
	const int64 *bits = record + description->ngroups;
	int			g;

	for (g = 0; g < description->ngroups; g++)
	{
		group->values[g] = record[g];
		group->nulls[g] = (bits[g / 64] >> (g % 64) & 1) != 0;
		if (!group->nulls[g] && description->group_derived[g])
			group->values[g] = derived_hear(description->group_derived[g], record[g]);
	}
}

/* Writes the summary of a source's values. */
static void
put_summary(const DerivedColumn *derived, const ValueSummary *summary, int64 *record)
{
	record[0] = PG_INT64_MAX;
	record[1] = PG_INT64_MIN;
	memcpy(&record[2], &summary->sum, sizeof(summary->sum));
	if (summary->n > 0)
	{
		record[0] = derived ? derived_tell(derived, summary->min) : summary->min;
		record[1] = derived ? derived_tell(derived, summary->max) : summary->max;
	}
}

/* --- writing */

/* Writes the runs of a source of the group that the aggregation is at. */
static void
write_runs(const GroupsDescription *description, Aggregation *aggregation, int s,
		   SegmentWriter *writer)
{
	const DerivedColumn *derived = description->source_derived[s];
	const int64 *values;
	const int64 *counts;
	uint64		codes[SEGMENT_BLOCK];
	size_t		n;
	size_t		at;

	while ((n = aggregation_runs(aggregation, s, &values, &counts)) > 0)
		for (at = 0; at < n; at += SEGMENT_BLOCK)
		{
			size_t		some = Min(n - at, SEGMENT_BLOCK);
			size_t		i;

			for (i = 0; i < some; i++)
				codes[i] = derived ? (uint64) derived_tell(derived, values[at + i]) :
					field_image(values[at + i]);
			segment_write(writer, codes, (const uint64 *) counts + at, some);
		}
}

/* Writes all groups of an aggregation: a record of each, and its runs. */
static void
write_groups(const GroupsDescription *description, Aggregation *aggregation,
			 SegmentWriter **writers)
{
	int			nwords = groups_record_words(description);
	int64	   *record = palloc_array(int64, nwords);
	const GroupValues *group;
	int			s;

	while (aggregation_next(aggregation, &group))
	{
		int64	   *words = put_group(description, group, record);

		*words++ = aggregation_rows(aggregation);
		for (s = 0; s < description->nsources; s++)
		{
			SourceCounts counts;

			aggregation_count(aggregation, s, &counts);
			words[0] = counts.nulls;
			words[1] = counts.refused;
			if (description->sources[s].runs)
			{
				words[2] = (int64) segment_written(writers[1 + s]);
				write_runs(description, aggregation, s, writers[1 + s]);
				words[3] = (int64) segment_written(writers[1 + s]) - words[2];
			}
			else if (description->sources[s].column >= 0)
				put_summary(description->source_derived[s], &counts.summary, words + 2);
			words += groups_record_source_words(description, s);
		}
		segment_write_codes(writers[0], (const uint64 *) record, nwords);
	}
	pfree(record);
}

/* Ends a segment, and puts its directory where the others see it. */
static void
share_segment(dsa_area *area, SegmentWriter *writer, SharedSegment *shared)
{
	Segment		segment;
	Size		size;

	segment_write_end(writer, &segment);
	shared->n = segment.n;
	shared->blocks = InvalidDsaPointer;
	if (segment.n == 0)
		return;
	size = segment_nblocks(segment.n) * sizeof(SegmentBlock);
	shared->blocks = dsa_allocate_extended(area, size, DSA_ALLOC_HUGE);
	memcpy(dsa_get_address(area, shared->blocks), segment.blocks, size);
	pfree(segment.blocks);
}

/* Writes the segments of this process. */
static void
write_segments(GroupsExchange *exchange, Aggregation *aggregation)
{
	GroupsShared *shared = exchange->shared;
	int			n = exchange->nsegments;
	BlockStore *store = block_store_make_shared(&shared->files, exchange->process, exchange->area,
												exchange->memory_limit);
	SegmentWriter **writers = palloc_array(SegmentWriter *, n);
	SharedSegment *segments;
	int			s;

	for (s = 0; s < n; s++)
		writers[s] = segment_write_begin(store, true);
	write_groups(exchange->description, aggregation, writers);
	shared->nsegments = n;
	shared->segments[exchange->process] = dsa_allocate0(exchange->area, n * sizeof(SharedSegment));
	segments = dsa_get_address(exchange->area, shared->segments[exchange->process]);
	for (s = 0; s < n; s++)
		share_segment(exchange->area, writers[s], &segments[s]);
	exchange->disk = block_store_disk(store);
	block_store_close(store);
	pfree(writers);
}

/* Finds what the processes have written. */
static void
find_segments(GroupsExchange *exchange)
{
	GroupsShared *shared = exchange->shared;
	int			p;
	int			s;

	exchange->written = palloc0_array(ProcessSegments, shared->nprocesses);
	for (p = 0; p < shared->nprocesses; p++)
	{
		ProcessSegments *written = &exchange->written[p];
		const SharedSegment *segments;

		if (!DsaPointerIsValid(shared->segments[p]))
			continue;
		segments = dsa_get_address(exchange->area, shared->segments[p]);
		written->store = block_store_make_shared(&shared->files, p, exchange->area, 0);
		written->segments = palloc0_array(Segment, exchange->nsegments);
		for (s = 0; s < exchange->nsegments; s++)
		{
			written->segments[s].n = segments[s].n;
			if (segments[s].n > 0)
				written->segments[s].blocks = dsa_get_address(exchange->area, segments[s].blocks);
		}
	}
}

void
groups_exchange_write(GroupsExchange *exchange, Aggregation *aggregation)
{
	MemoryContext old = MemoryContextSwitchTo(exchange->memory);

	if (aggregation)
		write_segments(exchange, aggregation);
	finish_phase(exchange, PHASE_WRITE);
	BarrierDetach(&exchange->shared->barrier);
	find_segments(exchange);
	MemoryContextSwitchTo(old);
}

/* --- what has been written */

const GroupsDescription *
groups_exchange_description(const GroupsExchange *exchange)
{
	return exchange->description;
}

int
groups_exchange_nprocesses(const GroupsExchange *exchange)
{
	return exchange->shared->nprocesses;
}

uint64
groups_exchange_ngroups(const GroupsExchange *exchange, int process)
{
	const ProcessSegments *written = &exchange->written[process];

	return written->store ? written->segments[0].n / groups_record_words(exchange->description) : 0;
}

SegmentReader *
groups_exchange_records(const GroupsExchange *exchange, int process)
{
	const ProcessSegments *written = &exchange->written[process];

	return segment_reader_make(written->store, &written->segments[0], NULL, NULL);
}

/* A SegmentMap: what another process was told of values becomes their images. */
static void
hear_values(void *arg, uint64 *codes, size_t n)
{
	size_t		i;

	for (i = 0; i < n; i++)
		codes[i] = field_image(derived_hear((DerivedColumn *) arg, (int64) codes[i]));
}

SegmentReader *
groups_exchange_values(const GroupsExchange *exchange, int process, int source)
{
	const ProcessSegments *written = &exchange->written[process];
	DerivedColumn *derived = exchange->description->source_derived[source];

	return segment_reader_make(written->store, &written->segments[1 + source],
							   derived ? hear_values : NULL, derived);
}

uint32
groups_exchange_take_part(GroupsExchange *exchange)
{
	return pg_atomic_fetch_add_u32(&exchange->shared->next_part, 1);
}
