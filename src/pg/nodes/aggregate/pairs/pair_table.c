/*
 * pair_table.c
 *		(group, value) pairs in memory (see pair_table.h).
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/pairs/pair_coding.h"
#include "pg/nodes/aggregate/pairs/pair_table.h"
#include "pg/nodes/aggregate/pairs/segments.h"
#include "sort/kernels/wide.h"

/* The part of the memory that an array of groups by their codes may take, and its first codes. */
#define CODES_PART 16
#define FIRST_CODES 4096

/* Groups that there is room for at first. */
#define FIRST_GROUPS 64

/* Pairs that are allocated together. */
#define CHUNK_PAIRS 16384

/* The fewest pairs that are written at once: with less memory beside the groups none are. */
#define LEAST_WRITTEN (2 * CHUNK_PAIRS)

/* Segments that are read at once however little memory there is. */
#define LEAST_SEGMENTS 16

/* Runs that are written at once. */
#define WRITE_RUNS 256

typedef struct PairChunk
{
	struct PairChunk *next;		/* that was filled before */
	size_t		n;
	uint32		groups[CHUNK_PAIRS];	/* their numbers */
	uint64		images[CHUNK_PAIRS];	/* of the values, in their order as unsigned integers */
} PairChunk;

/* A group, whose number is its place among the groups as they appeared. */
typedef struct PairGroup
{
	uint64		n;				/* values in memory */
	uint64		written;		/* values in segments */
	uint64		end;			/* while values are distributed: where the next one goes; then the
								 * end of the group's values; while they are written: its runs */
	int64		markers[PAIR_MARKERS];
} PairGroup;

/*
 * Values that have been written.  Numbers of groups stay what they are, and so does the order of
 * groups that there are.
 */
typedef struct TableSegment
{
	Segment		images;			/* of all groups, one group behind the other, ascending in each */
	Segment		groups;			/* the number of each of its groups, in their order, and how many
								 * runs it has */

	/* Reading. */
	SegmentReader *image_reader;
	SegmentReader *group_reader;
	uint64		next;			/* the first run of the groups behind the one being read */
} TableSegment;

struct PairTable
{
	const SortContext *context;
	const GroupColumn *columns;
	int			ncolumns;
	size_t		limit;			/* bytes */
	MemoryContext memory;

	GroupTable *numbering;		/* of the groups */
	PairGroup  *groups;			/* by number */
	uint32		ngroups;
	uint32		room;			/* groups that there is room for */
	uint32		last;			/* the group of the last pair */
	PairChunk  *chunks;			/* the last one first */
	uint64		n;				/* values */
	uint64		most;			/* values that there is memory for, beside the groups */
	uint32	   *numbers;		/* of groups, and 1, by code; 0: not known; NULL until needed */
	uint64		ncodes;			/* for which there is room in numbers */

	BlockStore *store;			/* of the segments; NULL: there are none */
	uint64		disk;			/* bytes of earlier stores, whose segments have become one */
	int			nsegments;
	TableSegment *segments;

	/* Reading. */
	uint32	   *order;			/* numbers of groups in their order */
	uint32		at;				/* how many groups have been read, or are read */
	uint64		left;			/* values of the group being read that have not been taken */
	uint64	   *images;			/* of all groups in memory */
	uint64		next;			/* the next one of the group being read */
	SegmentMerge *merge;		/* of the group's images in segments; NULL: there are none */
	size_t		nruns;			/* runs that it has given last, ... */
	size_t		run_at;			/* ... and the first that has not been taken */
	const uint64 *run_images;
	const uint64 *run_counts;
	GroupValues group;			/* being read */
};

/* Bytes of a group in the array, which doubles, and in order. */
#define GROUP_BYTES (2 * sizeof(PairGroup) + sizeof(uint32))

/* Bytes of a pair in a chunk, and once more when values are distributed. */
#define PAIR_BYTES (sizeof(uint32) + 2 * sizeof(uint64))

/* --- groups */

/* Sets for how many values there is memory beside the groups, and a group more. */
static void
set_most(PairTable *table)
{
	size_t		groups = ((size_t) table->ngroups + 1) *
	(GROUP_BYTES + group_table_group_size(table->numbering));
	size_t		taken = groups + table->ncodes * sizeof(uint32);
	size_t		left = table->limit - Min(taken, table->limit);

	table->most = left / PAIR_BYTES;
	table->most -= Min(CHUNK_PAIRS, table->most);
	if (table->ngroups >= PG_UINT32_MAX / 4)
		table->most = 0;
}

/* Returns the number of a group, which is new where there is none of these values. */
static uint32
find_group(PairTable *table, const GroupValues *values)
{
	table->last = group_table_find_values(table->numbering, values, true);
	if (table->last < table->ngroups)
		return table->last;
	if (table->ngroups == table->room)
	{
		table->room *= 2;
		table->groups = repalloc_huge(table->groups, table->room * sizeof(PairGroup));
	}
	memset(&table->groups[table->ngroups++], 0, sizeof(PairGroup));
	set_most(table);
	return table->last;
}

/* --- reading groups */

typedef struct GroupOrder
{
	const PairTable *table;
	GroupValues a;
	GroupValues b;
} GroupOrder;

static int
compare_numbers(const void *a, const void *b, void *arg)
{
	GroupOrder *order = (GroupOrder *) arg;

	group_table_values(order->table->numbering, *(const uint32 *) a, &order->a);
	group_table_values(order->table->numbering, *(const uint32 *) b, &order->b);
	return group_values_compare(order->table->columns, order->table->ncolumns, &order->a,
								&order->b);
}

/* Moves the values of all chunks to their groups, and gives the chunks back. */
static void
distribute(PairTable *table)
{
	PairChunk  *chunk;

	while ((chunk = table->chunks) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < chunk->n; i++)
			table->images[table->groups[chunk->groups[i]].end++] = chunk->images[i];
		table->chunks = chunk->next;
		pfree(chunk);
	}
}

/* Puts the groups in order, and goes in front of the first one. */
static void
order_groups(PairTable *table)
{
	GroupOrder	order = {.table = table};

	table->at = 0;
	table->order = MemoryContextAllocHuge(table->memory,
										  Max(table->ngroups, 1) * sizeof(uint32));
	for (uint32 i = 0; i < table->ngroups; i++)
		table->order[i] = i;
	order.a = group_values_make(table->ncolumns);
	order.b = group_values_make(table->ncolumns);
	qsort_arg(table->order, table->ngroups, sizeof(uint32), compare_numbers, &order);
	group_values_free(&order.a);
	group_values_free(&order.b);
}

/* Prepares reading the values in memory, of groups that are in order. */
static void
gather_values(PairTable *table)
{
	uint64		end = 0;

	for (uint32 i = 0; i < table->ngroups; i++)
	{
		PairGroup  *group = &table->groups[table->order[i]];

		group->end = end;
		end += group->n;
	}
	table->images = MemoryContextAllocHuge(table->memory, Max(table->n, 1) * sizeof(uint64));
	distribute(table);
}

/* Prepares reading the values in segments, of groups that are in order. */
static void
open_segments(PairTable *table)
{
	MemoryContext old = MemoryContextSwitchTo(table->memory);

	table->merge = segment_merge_make(table->nsegments);
	for (int s = 0; s < table->nsegments; s++)
	{
		TableSegment *segment = &table->segments[s];

		segment->image_reader = segment_reader_make(table->store, &segment->images, NULL, NULL);
		segment->group_reader = segment_reader_make(table->store, &segment->groups, NULL, NULL);
		segment->next = 0;
	}
	MemoryContextSwitchTo(old);
}

static void
close_segments(PairTable *table)
{
	segment_merge_reset(table->merge);
	segment_merge_free(table->merge);
	table->merge = NULL;
	for (int s = 0; s < table->nsegments; s++)
	{
		pfree(table->segments[s].image_reader);
		pfree(table->segments[s].group_reader);
	}
	block_store_close(table->store);
	table->store = NULL;
	table->nsegments = 0;
}

/* Has the values of a group be merged, which are the next ones of each segment that has some. */
static void
merge_group(PairTable *table, uint32 number)
{
	segment_merge_reset(table->merge);
	table->nruns = table->run_at = 0;
	for (int s = 0; s < table->nsegments; s++)
	{
		TableSegment *segment = &table->segments[s];
		SegmentReader *groups = segment->group_reader;

		if (!segment_reader_fill(groups) || groups->codes[groups->at] != number)
			continue;
		segment_reader_seek(segment->image_reader, segment->next, groups->counts[groups->at], 0);
		segment->next += groups->counts[groups->at++];
		segment_merge_add(table->merge, segment->image_reader);
	}
}

/* Goes to the next group, whose values before have been read; returns NULL at the end. */
static PairGroup *
next_group(PairTable *table)
{
	PairGroup  *group;

	if (table->at == table->ngroups)
		return NULL;
	group = &table->groups[table->order[table->at]];
	if (table->merge)
	{
		table->left = group->written;
		merge_group(table, table->order[table->at]);
	}
	else
	{
		table->left = group->n;
		table->next = group->end - group->n;
		if (!wide_sort_pairs(table->images + table->next, group->n, table->context))
			CHECK_FOR_INTERRUPTS();
	}
	table->at++;
	return group;
}

/* Does what pair_table_runs does for a group with values in segments. */
static size_t
merged_runs(PairTable *table, uint64 *images, uint64 *counts, size_t room)
{
	size_t		n;

	if (table->run_at == table->nruns)
	{
		table->nruns = segment_merge_next(table->merge, &table->run_images, &table->run_counts);
		table->run_at = 0;
	}
	n = Min(room, table->nruns - table->run_at);
	memcpy(images, table->run_images + table->run_at, n * sizeof(uint64));
	memcpy(counts, table->run_counts + table->run_at, n * sizeof(uint64));
	table->run_at += n;
	return n;
}

/* Sets the next runs of the group being read, of images, at most room; returns how many. */
static size_t
next_images(PairTable *table, uint64 *images, uint64 *counts, size_t room)
{
	size_t		n = 0;

	if (table->left == 0)
		return 0;
	if (table->merge)
	{
		n = merged_runs(table, images, counts, room);
		for (size_t i = 0; i < n; i++)
			table->left -= counts[i];
		return n;
	}
	for (; table->left > 0 && n < room; n++)
	{
		uint64		first = table->next;
		uint64		end = first + table->left;

		images[n] = table->images[first];
		do
			table->next++;
		while (table->next < end && table->images[table->next] == images[n]);
		counts[n] = table->next - first;
		table->left -= counts[n];
	}
	return n;
}

/* --- writing */

/* Writes what is read of all groups to a store. */
static TableSegment
write_groups(PairTable *table, BlockStore *store)
{
	TableSegment segment = {0};
	SegmentWriter *writer = segment_write_begin(store, false);
	uint64		images[WRITE_RUNS];
	uint64		counts[WRITE_RUNS];
	PairGroup  *group;
	size_t		n;

	while ((group = next_group(table)) != NULL)
		for (group->end = 0; (n = next_images(table, images, counts, WRITE_RUNS)) > 0;
			 group->end += n)
			segment_write(writer, images, counts, n);
	segment.images = segment_write_end(writer);
	writer = segment_write_begin(store, false);
	for (uint32 i = 0; i < table->ngroups; i++)
	{
		uint64		number = table->order[i];

		if (table->groups[number].end > 0)
			segment_write(writer, &number, &table->groups[number].end, 1);
	}
	segment.groups = segment_write_end(writer);
	pfree(table->order);
	return segment;
}

/* Makes one segment of all. */
static void
merge_segments(PairTable *table)
{
	BlockStore *store = block_store_make();
	TableSegment segment;

	table->disk += block_store_disk(table->store);
	order_groups(table);
	open_segments(table);
	segment = write_groups(table, store);
	close_segments(table);
	table->store = store;
	table->segments[table->nsegments++] = segment;
}

/* Writes the values in memory as a segment. */
static void
write_values(PairTable *table)
{
	MemoryContext old = MemoryContextSwitchTo(table->memory);
	size_t		most = Max(table->limit / (4 * sizeof(SegmentReader)), LEAST_SEGMENTS);
	size_t		size = (table->nsegments + 1) * sizeof(TableSegment);

	table->segments = table->segments ? repalloc(table->segments, size) : palloc(size);
	if (table->store == NULL)
		table->store = block_store_make();
	order_groups(table);
	gather_values(table);
	table->segments[table->nsegments] = write_groups(table, table->store);
	table->nsegments++;
	pfree(table->images);
	for (uint32 i = 0; i < table->ngroups; i++)
	{
		table->groups[i].written += table->groups[i].n;
		table->groups[i].n = 0;
	}
	table->n = 0;
	/* Each has two readers; groups may have the other half of the memory. */
	if ((size_t) table->nsegments >= most)
		merge_segments(table);
	MemoryContextSwitchTo(old);
}

/*
 * Makes room for values by writing those that there are; false where there is little memory beside
 * the groups.
 */
static bool
make_room(PairTable *table, uint64 n)
{
	if (table->most < LEAST_WRITTEN + n || table->most < table->limit / PAIR_BYTES / 2)
		return false;
	write_values(table);
	return true;
}

/* --- adding */

PairTable *
pair_table_make(const SortContext *context, const GroupColumn *columns, int ncolumns,
				size_t memory_limit)
{
	PairTable  *table = palloc0_object(PairTable);
	MemoryContext old;

	table->context = context;
	table->columns = columns;
	table->ncolumns = ncolumns;
	table->limit = memory_limit;
	table->memory = AllocSetContextCreate(CurrentMemoryContext, "hpsort pair table",
										  ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(table->memory);
	table->numbering = group_table_make(columns, ncolumns);
	table->room = FIRST_GROUPS;
	table->groups = palloc_array(PairGroup, table->room);
	MemoryContextSwitchTo(old);
	set_most(table);
	table->group = group_values_make(ncolumns);
	return table;
}

static pg_noinline PairChunk *
add_chunk(PairTable *table)
{
	PairChunk  *chunk = MemoryContextAlloc(table->memory, sizeof(PairChunk));

	chunk->next = table->chunks;
	chunk->n = 0;
	table->chunks = chunk;
	return chunk;
}

/* Adds a value of the group with a number. */
static inline void
add_value(PairTable *table, uint32 number, int64 value)
{
	PairChunk  *chunk = table->chunks;

	if (unlikely(chunk == NULL || chunk->n == CHUNK_PAIRS))
		chunk = add_chunk(table);
	chunk->groups[chunk->n] = number;
	chunk->images[chunk->n++] = field_image(value);
	table->groups[number].n++;
	table->n++;
}

bool
pair_table_add(PairTable *table, const GroupValues *group, int marker, int64 value, int64 count)
{
	bool		is_value = marker == PAIR_MARKERS;
	uint64		needed = is_value ? (uint64) count : 1;
	uint32		number;

	if (table->n + needed > table->most && !make_room(table, needed))
		return false;
	number = find_group(table, group);
	if (!is_value)
	{
		table->groups[number].markers[marker] += count;
		return true;
	}
	for (; count > 0; count--)
		add_value(table, number, value);
	return true;
}

bool
pair_table_add_coded(PairTable *table, uint64 code, int64 value)
{
	uint32		number = code < table->ncodes ? table->numbers[code] : 0;

	if (number == 0 || table->n >= table->most)
		return false;
	add_value(table, number - 1, value);
	return true;
}

/* Makes room for a code in the array of numbers, if there is memory for it. */
static void
enlarge_codes(PairTable *table, uint64 code)
{
	uint64		ncodes = Max(table->ncodes, FIRST_CODES);

	if (code >= table->limit / CODES_PART / sizeof(uint32))
		return;
	while (ncodes <= code)
		ncodes *= 2;
	table->numbers = table->numbers ? repalloc_huge(table->numbers, ncodes * sizeof(uint32)) :
		MemoryContextAllocHuge(table->memory, ncodes * sizeof(uint32));
	memset(table->numbers + table->ncodes, 0, (ncodes - table->ncodes) * sizeof(uint32));
	table->ncodes = ncodes;
	set_most(table);
}

void
pair_table_note_code(PairTable *table, uint64 code)
{
	if (code >= table->ncodes)
		enlarge_codes(table, code);
	if (code < table->ncodes)
		table->numbers[code] = table->last + 1;
}

void
pair_table_forget_codes(PairTable *table)
{
	if (table->numbers)
		memset(table->numbers, 0, table->ncodes * sizeof(uint32));
}

void
pair_table_limit_memory(PairTable *table, size_t memory_limit)
{
	table->limit = memory_limit;
	set_most(table);
}

uint64
pair_table_disk(const PairTable *table)
{
	return table->disk + (table->store ? block_store_disk(table->store) : 0);
}

void
pair_table_free(PairTable *table)
{
	group_values_free(&table->group);
	if (table->store)
		block_store_close(table->store);
	MemoryContextDelete(table->memory);
	pfree(table);
}

/* --- reading */

void
pair_table_finish(PairTable *table)
{
	if (table->nsegments > 0 && table->n > 0)
		write_values(table);
	order_groups(table);
	if (table->nsegments > 0)
		open_segments(table);
	else
		gather_values(table);
}

const GroupValues *
pair_table_next_group(PairTable *table, int64 *markers)
{
	const PairGroup *group = next_group(table);

	if (group == NULL)
		return NULL;
	group_table_values(table->numbering, table->order[table->at - 1], &table->group);
	memcpy(markers, group->markers, sizeof(group->markers));
	return &table->group;
}

size_t
pair_table_runs(PairTable *table, uint64 *values, uint64 *counts, size_t room)
{
	size_t		n = next_images(table, values, counts, room);

	for (size_t i = 0; i < n; i++)
		values[i] = (uint64) field_value(values[i]);
	return n;
}

int64
pair_table_count(const PairTable *table)
{
	return (int64) table->left;
}
