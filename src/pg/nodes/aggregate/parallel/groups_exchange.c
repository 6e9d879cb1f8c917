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
#include "pg/nodes/aggregate/parallel/groups_exchange.h"

typedef enum ExchangePhase
{
	PHASE_READ,
	PHASE_WRITE,
	PHASE_MERGE
} ExchangePhase;

/* What a process has written. */
typedef struct SharedWritten
{
	bool		done;			/* something */
	BlockPlace	segments;		/* the block of its segments, in the store ... */
	dsa_pointer blocks;			/* ... whose blocks in shared memory these are */
} SharedWritten;

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
	SharedWritten written[FLEXIBLE_ARRAY_MEMBER];	/* by process: the leader, then workers */
};

struct GroupsExchange
{
	MemoryContext memory;
	GroupsShared *shared;
	const GroupsDescription *description;
	dsa_area   *area;
	size_t		memory_limit;
	int			process;		/* this one's number */
	uint64		disk;
	GroupsWritten *written;		/* by process; NULL: not all have written */
};

/* --- shared memory */

Size
groups_shared_size(int nworkers)
{
	return add_size(offsetof(GroupsShared, written), mul_size(nworkers + 1, sizeof(SharedWritten)));
}

static void
start_phases(GroupsShared *shared)
{
	BarrierInit(&shared->barrier, 0);
	pg_atomic_init_u32(&shared->nreaders, 0);
	pg_atomic_init_u32(&shared->next_part, 0);
	memset(&shared->totals, 0, sizeof(shared->totals));
	memset(shared->written, 0, shared->nprocesses * sizeof(SharedWritten));
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

void
groups_shared_reset(GroupsShared *shared, dsa_area *area)
{
	int			p;

	for (p = 0; p < shared->nprocesses; p++)
		block_store_free_shared(area, shared->written[p].blocks);
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
		BarrierArriveAndWait(barrier, WaitEventExtensionNew("HpSortAggregate"));
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
groups_record_words(const GroupsDescription *description)
{
	return 1 + description->nsources * (int) (sizeof(SourceRecord) / sizeof(int64)) +
		description->ngroups + (description->ngroups + 63) / 64;
}

static void
set_group(const GroupsDescription *description, const GroupValues *group, GroupRecord *record)
{
	int64	   *values = (int64 *) &record->sources[description->nsources];
	int64	   *bits = values + description->ngroups;
	int			g;

	for (g = 0; g < description->ngroups; g++)
	{
		values[g] = group->values[g];
		if (g % 64 == 0)
			bits[g / 64] = 0;
		if (group->nulls[g])
			bits[g / 64] |= INT64CONST(1) << (g % 64);
		else if (description->group_derived[g])
			values[g] = derived_tell(description->group_derived[g], values[g]);
	}
}

void
groups_record_group(const GroupsDescription *description, const GroupRecord *record,
					GroupValues *group)
{
	const int64 *values = (const int64 *) &record->sources[description->nsources];
	const int64 *bits = values + description->ngroups;
	int			g;

	for (g = 0; g < description->ngroups; g++)
	{
		group->values[g] = values[g];
		group->nulls[g] = (bits[g / 64] >> (g % 64) & 1) != 0;
		if (!group->nulls[g] && description->group_derived[g])
			group->values[g] = derived_hear(description->group_derived[g], values[g]);
	}
}

/* Sets what is known of a source without its runs. */
static void
set_source(const DerivedColumn *derived, const SourceCounts *counts, SourceRecord *record)
{
	const ValueSummary *summary = &counts->summary;
	bool		told = derived && summary->n > 0;

	record->nulls = counts->nulls;
	record->refused = counts->refused;
	record->min = told ? derived_tell(derived, summary->min) : summary->min;
	record->max = told ? derived_tell(derived, summary->max) : summary->max;
	memcpy(record->sum, &summary->sum, sizeof(record->sum));
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
	GroupRecord *record = palloc0(nwords * sizeof(int64));
	const GroupValues *group;
	int			s;

	while (aggregation_next(aggregation, &group))
	{
		set_group(description, group, record);
		record->rows = aggregation_rows(aggregation);
		for (s = 0; s < description->nsources; s++)
		{
			SourceRecord *source = &record->sources[s];
			SegmentWriter *values = writers[1 + s];
			SourceCounts counts;

			aggregation_count(aggregation, s, &counts);
			set_source(description->source_derived[s], &counts, source);
			if (!description->sources[s].runs)
				continue;
			source->first = segment_written(values);
			write_runs(description, aggregation, s, values);
			source->nruns = segment_written(values) - source->first;
		}
		segment_write(writers[0], (const uint64 *) record, NULL, nwords);
	}
	pfree(record);
}

/* Writes the segments of this process, and a block of them. */
static void
write_segments(GroupsExchange *exchange, Aggregation *aggregation)
{
	SharedWritten *written = &exchange->shared->written[exchange->process];
	BlockStore *store = block_store_make_shared(&exchange->shared->files, exchange->process,
												exchange->area, exchange->memory_limit);
	int			n = 1 + exchange->description->nsources;
	SegmentWriter **writers = palloc_array(SegmentWriter *, n);
	Segment    *segments = palloc_array(Segment, n);
	int			s;

	for (s = 0; s < n; s++)
		writers[s] = segment_write_begin(store, true);
	write_groups(exchange->description, aggregation, writers);
	for (s = 0; s < n; s++)
		segments[s] = segment_write_end(writers[s]);
	block_store_put(store, segments, n * sizeof(Segment), &written->segments);
	written->blocks = block_store_shared(store);
	written->done = true;
	exchange->disk = block_store_disk(store);
	block_store_close(store);
	pfree(writers);
	pfree(segments);
}

/* Finds what the processes have written. */
static void
find_segments(GroupsExchange *exchange)
{
	GroupsShared *shared = exchange->shared;
	size_t		size = (1 + exchange->description->nsources) * sizeof(Segment);
	int			p;

	exchange->written = palloc0_array(GroupsWritten, shared->nprocesses);
	for (p = 0; p < shared->nprocesses; p++)
	{
		BlockPlace	place = shared->written[p].segments;
		GroupsWritten *written = &exchange->written[p];

		if (!shared->written[p].done)
			continue;
		written->store = block_store_make_shared(&shared->files, p, exchange->area, 0);
		written->segments = memcpy(palloc(size), block_store_get(written->store, &place), size);
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

const GroupsWritten *
groups_exchange_written(const GroupsExchange *exchange, int process)
{
	return &exchange->written[process];
}

uint32
groups_exchange_take_part(GroupsExchange *exchange)
{
	return pg_atomic_fetch_add_u32(&exchange->shared->next_part, 1);
}
