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

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/barrier.h"
#include "storage/buffile.h"
#include "storage/dsm.h"
#include "storage/sharedfileset.h"
#include "storage/spin.h"
#include "utils/guc.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/groups_exchange.h"

typedef enum ExchangePhase
{
	PHASE_READ,
	PHASE_WRITE,
	PHASE_MERGE
} ExchangePhase;

/* A block is full from this size on, in bytes. */
#define FULL_BYTES (128 * 1024)

/* Where a block is, and its first group. */
typedef struct BlockEntry
{
	dsa_pointer pointer;		/* InvalidDsaPointer: in the process's file, at ... */
	off_t		offset;
	int			fileno;
	uint32		size;			/* bytes */
	int64		first[FLEXIBLE_ARRAY_MEMBER];
} BlockEntry;

/* What a process has written. */
typedef struct SharedBlocks
{
	uint64		nblocks;
	dsa_pointer directory;		/* their BlockEntries */
} SharedBlocks;

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
	SharedBlocks blocks[FLEXIBLE_ARRAY_MEMBER]; /* by process: the leader, then workers */
};

struct GroupsExchange
{
	MemoryContext memory;
	GroupsShared *shared;
	const GroupsDescription *description;
	dsa_area   *area;
	size_t		memory_limit;
	int			process;		/* this one's number */
	Size		entry_size;

	/* writing */
	Aggregation *aggregation;
	size_t		memory_used;
	uint64		disk;
	BufFile    *file;			/* NULL: none yet */
	StringInfoData items;		/* of the block that is being filled */
	StringInfoData directory;
	int64	   *first;			/* the first group of that block */

	/* merging */
	const char **directories;	/* by process */
	BufFile   **files;			/* by process; NULL: not opened */
};

/* --- shared memory */

Size
groups_shared_size(int nworkers)
{
	return add_size(offsetof(GroupsShared, blocks), mul_size(nworkers + 1, sizeof(SharedBlocks)));
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
	{
		shared->blocks[p].nblocks = 0;
		shared->blocks[p].directory = InvalidDsaPointer;
	}
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
	Size		entry_size;
	int			p;

	for (p = 0; p < shared->nprocesses; p++)
	{
		SharedBlocks *blocks = &shared->blocks[p];
		const char *directory;
		uint64		b;

		if (!DsaPointerIsValid(blocks->directory))
			continue;
		directory = dsa_get_address(area, blocks->directory);
		memcpy(&entry_size, directory, sizeof(entry_size));
		for (b = 0; b < blocks->nblocks; b++)
		{
			const BlockEntry *entry = (const BlockEntry *) (directory + sizeof(int64) +
															b * entry_size);

			if (DsaPointerIsValid(entry->pointer))
				dsa_free(area, entry->pointer);
		}
		dsa_free(area, blocks->directory);
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
	exchange->entry_size = offsetof(BlockEntry, first) +
		(description->ngroups + groups_null_words(description)) * sizeof(int64);
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

	for (p = 0; exchange->files && p < exchange->shared->nprocesses; p++)
		if (exchange->files[p])
			BufFileClose(exchange->files[p]);
}

uint64
groups_exchange_disk(const GroupsExchange *exchange)
{
	return exchange->disk;
}

/* --- groups as words */

void
groups_tell(const GroupsDescription *description, const GroupValues *group, int64 *words)
{
	int64	   *bits = words + description->ngroups;
	int			g;

	memset(bits, 0, groups_null_words(description) * sizeof(int64));
	for (g = 0; g < description->ngroups; g++)
	{
		words[g] = group->values[g];
		if (group->nulls[g])
			bits[g / 64] |= INT64CONST(1) << (g % 64);
		else if (description->group_derived[g])
			words[g] = derived_tell(description->group_derived[g], words[g]);
	}
}

void
groups_hear(const GroupsDescription *description, const int64 *words, GroupValues *group)
{
	const int64 *bits = words + description->ngroups;
	int			g;

	for (g = 0; g < description->ngroups; g++)
	{
		group->values[g] = words[g];
		group->nulls[g] = (bits[g / 64] >> (g % 64) & 1) != 0;
		if (!group->nulls[g] && description->group_derived[g])
			group->values[g] = derived_hear(description->group_derived[g], words[g]);
	}
}

/* --- writing */

static void
put(GroupsExchange *exchange, const void *data, size_t size)
{
	appendBinaryStringInfo(&exchange->items, data, (int) size);
}

static void
put_int64(GroupsExchange *exchange, int64 value)
{
	put(exchange, &value, sizeof(value));
}

/* The name of a process's file. */
static void
name_file(int process, char *name, size_t size)
{
	snprintf(name, size, "groups.%d", process);
}

static void
write_to_file(GroupsExchange *exchange, BlockEntry *entry)
{
	if (exchange->file == NULL)
	{
		char		name[MAXPGPATH];

		name_file(exchange->process, name, sizeof(name));
		exchange->file = BufFileCreateFileSet(&exchange->shared->files.fs, name);
	}
	BufFileTell(exchange->file, &entry->fileno, &entry->offset);
	BufFileWrite(exchange->file, exchange->items.data, exchange->items.len);
	exchange->disk += exchange->items.len;
}

/*
 * Bytes of shared memory for the blocks.  More than a little is better off in a
 * file, which the kernel keeps in memory as well: it gives each process its pages at once, where
 * dynamic shared memory is made larger under a lock.  Not where files are limited.
 */
static size_t
memory_share(const GroupsExchange *exchange)
{
	return temp_file_limit < 0 ? Min(exchange->memory_limit, 1024 * 1024) : exchange->memory_limit;
}

/* Puts the block away, and begins another one. */
static void
end_block(GroupsExchange *exchange)
{
	Size		size = exchange->items.len;
	BlockEntry *entry;

	CHECK_FOR_INTERRUPTS();
	if (size == 0)
		return;
	enlargeStringInfo(&exchange->directory, (int) exchange->entry_size);
	entry = (BlockEntry *) (exchange->directory.data + exchange->directory.len);
	memset(entry, 0, exchange->entry_size);
	entry->size = (uint32) size;
	entry->pointer = InvalidDsaPointer;
	memcpy(entry->first, exchange->first, exchange->entry_size - offsetof(BlockEntry, first));
	exchange->directory.len += exchange->entry_size;
	if (exchange->memory_used + size <= memory_share(exchange))
		entry->pointer = dsa_allocate_extended(exchange->area, size, DSA_ALLOC_NO_OOM);
	if (DsaPointerIsValid(entry->pointer))
	{
		memcpy(dsa_get_address(exchange->area, entry->pointer), exchange->items.data, size);
		exchange->memory_used += size;
	}
	else
		write_to_file(exchange, entry);
	resetStringInfo(&exchange->items);
}

/* An item of a group; counts is NULL if it begins again. */
static void
put_group(GroupsExchange *exchange, const int64 *words, int64 rows, const SourceCounts *counts)
{
	const GroupsDescription *description = exchange->description;
	int			nwords = description->ngroups + groups_null_words(description);
	int			s;

	if (exchange->items.len == 0)
		memcpy(exchange->first, words, nwords * sizeof(int64));
	put_int64(exchange, ITEM_GROUP);
	put(exchange, words, nwords * sizeof(int64));
	put_int64(exchange, rows);
	for (s = 0; s < description->nsources; s++)
	{
		const ValueSource *source = &description->sources[s];
		ValueSummary summary = {.min = PG_INT64_MAX,.max = PG_INT64_MIN};

		put_int64(exchange, counts ? counts[s].nulls : 0);
		put_int64(exchange, counts ? counts[s].refused : 0);
		if (source->runs || source->column < 0)
			continue;
		if (counts && counts[s].summary.n > 0)
		{
			summary = counts[s].summary;
			if (description->source_derived[s])
			{
				summary.min = derived_tell(description->source_derived[s], summary.min);
				summary.max = derived_tell(description->source_derived[s], summary.max);
			}
		}
		put_int64(exchange, summary.min);
		put_int64(exchange, summary.max);
		put(exchange, &summary.sum, sizeof(summary.sum));
	}
}

/* Numbers of up to max, less base each, in as few bytes as hold them. */
static void
put_numbers(GroupsExchange *exchange, const int64 *numbers, size_t n, int64 base, uint64 max)
{
	int			width = max <= PG_UINT16_MAX ? 2 : max <= PG_UINT32_MAX ? 4 : 8;
	Size		size = n * width;
	char	   *to;
	size_t		i;

	put_int64(exchange, width);
	enlargeStringInfo(&exchange->items, (int) (MAXALIGN(size)));
	to = exchange->items.data + exchange->items.len;
	if (width == 2)
		for (i = 0; i < n; i++)
			((uint16 *) to)[i] = (uint16) (numbers[i] - base);
	else if (width == 4)
		for (i = 0; i < n; i++)
			((uint32 *) to)[i] = (uint32) (numbers[i] - base);
	else
		for (i = 0; i < n; i++)
			((uint64 *) to)[i] = (uint64) numbers[i] - (uint64) base;
	memset(to + size, 0, MAXALIGN(size) - size);
	exchange->items.len += (int) MAXALIGN(size);
}

/* Some runs of a source, at most ITEM_RUNS_MAX. */
static void
put_runs(GroupsExchange *exchange, int s, const int64 *values, const int64 *counts, size_t n)
{
	const DerivedColumn *derived = exchange->description->source_derived[s];
	int64		told[ITEM_RUNS_MAX];
	int64		rows = 0;
	int64		most = 1;
	size_t		i;

	for (i = 0; i < n; i++)
	{
		rows += counts[i];
		most = Max(most, counts[i]);
	}
	put_int64(exchange, ITEM_RUNS);
	put_int64(exchange, s);
	put_int64(exchange, (int64) n);
	put_int64(exchange, rows);
	put_int64(exchange, values[n - 1]);
	if (derived)
	{
		for (i = 0; i < n; i++)
			told[i] = derived_tell(derived, values[i]);
		put_int64(exchange, 0);
		put_numbers(exchange, told, n, 0, PG_UINT64_MAX);
	}
	else
	{
		put_int64(exchange, values[0]);
		put_numbers(exchange, values, n, values[0], (uint64) values[n - 1] - (uint64) values[0]);
	}
	if (most == 1)
		put_int64(exchange, 0);
	else
		put_numbers(exchange, counts, n, 0, (uint64) most);
}

static void
write_group(GroupsExchange *exchange, const GroupValues *group, int64 *words, SourceCounts *counts)
{
	const GroupsDescription *description = exchange->description;
	int			s;

	groups_tell(description, group, words);
	for (s = 0; s < description->nsources; s++)
		aggregation_count(exchange->aggregation, s, &counts[s]);
	put_group(exchange, words, aggregation_rows(exchange->aggregation), counts);
	for (s = 0; s < description->nsources; s++)
	{
		const int64 *values;
		const int64 *run_counts;
		size_t		n;
		size_t		at;

		if (!description->sources[s].runs)
			continue;
		while ((n = aggregation_runs(exchange->aggregation, s, &values, &run_counts)) > 0)
			for (at = 0; at < n; at += ITEM_RUNS_MAX)
			{
				if (exchange->items.len >= FULL_BYTES)
				{
					end_block(exchange);
					put_group(exchange, words, 0, NULL);
				}
				put_runs(exchange, s, values + at, run_counts + at, Min(n - at, ITEM_RUNS_MAX));
			}
	}
	if (exchange->items.len >= FULL_BYTES)
		end_block(exchange);
}

/* Lets the others see the blocks: the size of their entries, and the entries. */
static void
publish_blocks(GroupsExchange *exchange)
{
	SharedBlocks *blocks = &exchange->shared->blocks[exchange->process];
	Size		size = exchange->directory.len;
	char	   *directory;

	if (exchange->file)
		BufFileClose(exchange->file);
	exchange->file = NULL;
	if (size == 0)
		return;
	blocks->directory = dsa_allocate_extended(exchange->area, sizeof(int64) + size, DSA_ALLOC_HUGE);
	directory = dsa_get_address(exchange->area, blocks->directory);
	memcpy(directory, &exchange->entry_size, sizeof(exchange->entry_size));
	memcpy(directory + sizeof(int64), exchange->directory.data, size);
	blocks->nblocks = size / exchange->entry_size;
}

/* Finds what the processes have written. */
static void
find_blocks(GroupsExchange *exchange)
{
	int			n = exchange->shared->nprocesses;
	int			p;

	exchange->directories = palloc0_array(const char *, n);
	exchange->files = palloc0_array(BufFile *, n);
	for (p = 0; p < n; p++)
		if (exchange->shared->blocks[p].nblocks > 0)
			exchange->directories[p] = (const char *)
				dsa_get_address(exchange->area, exchange->shared->blocks[p].directory) +
				sizeof(int64);
}

void
groups_exchange_write(GroupsExchange *exchange, Aggregation *aggregation)
{
	const GroupsDescription *description = exchange->description;
	MemoryContext old = MemoryContextSwitchTo(exchange->memory);

	if (aggregation)
	{
		SourceCounts *counts = palloc_array(SourceCounts, Max(description->nsources, 1));
		int			nwords = description->ngroups + groups_null_words(description);
		int64	   *words = palloc_array(int64, Max(nwords, 1));
		const GroupValues *group;

		exchange->aggregation = aggregation;
		exchange->first = palloc_array(int64, Max(nwords, 1));
		initStringInfo(&exchange->items);
		enlargeStringInfo(&exchange->items, FULL_BYTES + FULL_BYTES / 2);
		initStringInfo(&exchange->directory);
		while (aggregation_next(aggregation, &group))
			write_group(exchange, group, words, counts);
		end_block(exchange);
		publish_blocks(exchange);
		pfree(exchange->items.data);
		pfree(exchange->directory.data);
		exchange->aggregation = NULL;
	}
	finish_phase(exchange, PHASE_WRITE);
	BarrierDetach(&exchange->shared->barrier);
	find_blocks(exchange);
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
groups_exchange_nblocks(const GroupsExchange *exchange, int process)
{
	return exchange->directories[process] ? exchange->shared->blocks[process].nblocks : 0;
}

static const BlockEntry *
get_entry(const GroupsExchange *exchange, int process, uint64 block)
{
	return (const BlockEntry *) (exchange->directories[process] + block * exchange->entry_size);
}

const int64 *
groups_exchange_first(const GroupsExchange *exchange, int process, uint64 block)
{
	return get_entry(exchange, process, block)->first;
}

static void
read_from_file(GroupsExchange *exchange, int process, const BlockEntry *entry,
			   GroupsBuffer *buffer)
{
	MemoryContext old = MemoryContextSwitchTo(exchange->memory);

	if (exchange->files[process] == NULL)
	{
		char		name[MAXPGPATH];

		name_file(process, name, sizeof(name));
		exchange->files[process] = BufFileOpenFileSet(&exchange->shared->files.fs, name, O_RDONLY,
													  false);
	}
	if (buffer->size < entry->size)
	{
		if (buffer->words)
			pfree(buffer->words);
		buffer->size = entry->size;
		buffer->words = palloc(buffer->size);
	}
	MemoryContextSwitchTo(old);
	if (BufFileSeek(exchange->files[process], entry->fileno, entry->offset, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file of HpSort Aggregate")));
	compat_buffile_read(exchange->files[process], buffer->words, entry->size);
}

const int64 *
groups_exchange_block(GroupsExchange *exchange, int process, uint64 block, GroupsBuffer *buffer,
					  const int64 **end)
{
	const BlockEntry *entry = get_entry(exchange, process, block);
	const int64 *items;

	CHECK_FOR_INTERRUPTS();
	if (DsaPointerIsValid(entry->pointer))
		items = dsa_get_address(exchange->area, entry->pointer);
	else
	{
		read_from_file(exchange, process, entry, buffer);
		items = buffer->words;
	}
	*end = items + entry->size / sizeof(int64);
	return items;
}

uint32
groups_exchange_take_part(GroupsExchange *exchange)
{
	return pg_atomic_fetch_add_u32(&exchange->shared->next_part, 1);
}
