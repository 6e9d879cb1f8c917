/*
 * pair_table.c
 *		(group, value) pairs in memory (see pair_table.h).
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/pairs/pair_coding.h"
#include "pg/nodes/aggregate/pairs/pair_table.h"
#include "sort/kernels/wide.h"

/* Codes of groups that have a place in an array. */
#define MOST_CODES 65536

/* Pairs that are allocated together. */
#define CHUNK_PAIRS 16384

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
	uint64		n;				/* values */
	uint64		end;			/* while values are distributed: where the next one goes; then the
								 * end of the group's values */
	int64		markers[PAIR_MARKERS];
	int64	   *values;			/* of the grouping columns, and behind them whether they are NULL */
} PairGroup;

/* Finds a group by its values. */
typedef struct GroupEntry
{
	uint32		number;			/* of the group, which the key is of, too */
	uint32		hash;
	char		status;			/* simplehash's */
} GroupEntry;

struct PairTable
{
	const SortContext *context;
	const GroupColumn *columns;
	int			ncolumns;
	size_t		limit;			/* bytes */
	MemoryContext memory;

	struct pair_groups_hash *hash;
	PairGroup  *groups;			/* by number; behind the last one, the one looked for */
	uint32		ngroups;
	uint32		room;			/* groups that there is room for, one of them to look for */
	uint32		last;			/* the group of the last pair */
	PairChunk  *chunks;			/* the last one first */
	uint64		n;				/* values */
	uint64		most;			/* values that there is memory for, beside the groups */
	uint32	   *numbers;		/* of groups, and 1, by code; 0: not known; NULL until needed */

	/* Reading. */
	uint32	   *order;			/* numbers of groups in their order */
	uint32		at;				/* how many groups have been read, or are read */
	uint64	   *images;			/* of all groups */
	uint64		next;			/* the next one of the group being read, ... */
	uint64		end;			/* ... and their end */
	GroupValues group;			/* being read */
};

/* Bytes of a group, beside its columns', in the array and in the hash table, which double. */
#define GROUP_BYTES (2 * sizeof(PairGroup) + 4 * sizeof(GroupEntry) + sizeof(uint32))

/* Bytes of a pair in a chunk, and once more when values are distributed. */
#define PAIR_BYTES (sizeof(uint32) + 2 * sizeof(uint64))

/* --- groups */

/* Returns the bytes of a group's columns. */
static size_t
columns_size(const PairTable *table)
{
	return Max(table->ncolumns, 1) * 2 * sizeof(int64);
}

static inline bool
is_same_group(const PairTable *table, uint32 a, uint32 b)
{
	const int64 *left = table->groups[a].values;
	const int64 *right = table->groups[b].values;
	int			c;

	for (c = 0; c < 2 * table->ncolumns; c++)
		if (left[c] != right[c])
			return false;
	return true;
}

static inline uint32
hash_group(const PairTable *table, uint32 number)
{
	const int64 *values = table->groups[number].values;
	uint64		hash = 0;
	int			c;

	for (c = 0; c < 2 * table->ncolumns; c++)
	{
		hash = (hash ^ (uint64) values[c]) * UINT64CONST(0x9E3779B97F4A7C15);
		hash ^= hash >> 32;
	}
	return (uint32) hash;
}

#define SH_PREFIX pair_groups
#define SH_ELEMENT_TYPE GroupEntry
#define SH_KEY_TYPE uint32
#define SH_KEY number
#define SH_HASH_KEY(tb, key) hash_group((PairTable *) (tb)->private_data, key)
#define SH_EQUAL(tb, a, b) is_same_group((PairTable *) (tb)->private_data, a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, entry) (entry)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* Sets for how many values there is memory beside the groups, and a group more. */
static void
set_most(PairTable *table)
{
	size_t		groups = ((size_t) table->ngroups + 1) * (GROUP_BYTES + columns_size(table));
	size_t		left = table->limit - Min(groups, table->limit);

	table->most = left / PAIR_BYTES;
	table->most -= Min(CHUNK_PAIRS, table->most);
	if (table->ngroups >= PG_UINT32_MAX / 4)
		table->most = 0;
}

/* Makes room for one more group, and for the one that is looked for. */
static void
enlarge_groups(PairTable *table)
{
	uint32		room = Max(2 * table->room, 64);
	uint32		i;

	if (table->ngroups + 1 < table->room)
		return;
	if (table->groups == NULL)
		table->groups = MemoryContextAlloc(table->memory, room * sizeof(PairGroup));
	else
		table->groups = repalloc_huge(table->groups, room * sizeof(PairGroup));
	for (i = table->room; i < room; i++)
		table->groups[i].values = NULL;
	table->room = room;
}

/* Returns the number of a group, which is new where there is none of these values. */
static uint32
find_group(PairTable *table, const GroupValues *values)
{
	PairGroup  *wanted;
	GroupEntry *entry;
	bool		found;
	int			c;

	enlarge_groups(table);
	wanted = &table->groups[table->ngroups];
	if (wanted->values == NULL)
		wanted->values = MemoryContextAllocZero(table->memory, columns_size(table));
	for (c = 0; c < table->ncolumns; c++)
	{
		wanted->values[c] = values->nulls[c] ? 0 : values->values[c];
		wanted->values[table->ncolumns + c] = values->nulls[c];
	}
	/* Rows that came together often are of one group. */
	if (table->ngroups > 0 && is_same_group(table, table->last, table->ngroups))
		return table->last;
	entry = pair_groups_insert(table->hash, table->ngroups, &found);
	if (!found)
	{
		wanted->n = 0;
		memset(wanted->markers, 0, sizeof(wanted->markers));
		table->ngroups++;
		set_most(table);
	}
	table->last = entry->number;
	return entry->number;
}

/* --- adding */

PairTable *
pair_table_make(const SortContext *context, const GroupColumn *columns, int ncolumns,
				size_t memory_limit)
{
	PairTable  *table = palloc0_object(PairTable);

	table->context = context;
	table->columns = columns;
	table->ncolumns = ncolumns;
	table->limit = memory_limit;
	table->memory = AllocSetContextCreate(CurrentMemoryContext, "hpsort pair table",
										  ALLOCSET_DEFAULT_SIZES);
	table->hash = pair_groups_create(table->memory, 64, table);
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
	uint32		number;

	if (table->n + (uint64) (is_value ? count : 1) > table->most)
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
	uint32		number = table->numbers && code < MOST_CODES ? table->numbers[code] : 0;

	if (number == 0 || table->n >= table->most)
		return false;
	add_value(table, number - 1, value);
	return true;
}

void
pair_table_note_code(PairTable *table, uint64 code)
{
	if (code >= MOST_CODES)
		return;
	if (table->numbers == NULL)
		table->numbers = MemoryContextAllocZero(table->memory, MOST_CODES * sizeof(uint32));
	table->numbers[code] = table->last + 1;
}

void
pair_table_forget_codes(PairTable *table)
{
	if (table->numbers)
		memset(table->numbers, 0, MOST_CODES * sizeof(uint32));
}

void
pair_table_free(PairTable *table)
{
	group_values_free(&table->group);
	MemoryContextDelete(table->memory);
	pfree(table);
}

/* --- reading */

static void
get_group(const PairTable *table, uint32 number, GroupValues *group)
{
	const int64 *values = table->groups[number].values;
	int			c;

	for (c = 0; c < table->ncolumns; c++)
	{
		group->values[c] = values[c];
		group->nulls[c] = values[table->ncolumns + c] != 0;
	}
}

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

	get_group(order->table, *(const uint32 *) a, &order->a);
	get_group(order->table, *(const uint32 *) b, &order->b);
	return group_values_compare(order->table->columns, order->table->ncolumns, &order->a,
								&order->b);
}

/* Moves the values of all chunks to their groups, and gives the chunks back. */
static void
distribute(PairTable *table)
{
	PairChunk  *chunk;
	size_t		i;

	while ((chunk = table->chunks) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		for (i = 0; i < chunk->n; i++)
			table->images[table->groups[chunk->groups[i]].end++] = chunk->images[i];
		table->chunks = chunk->next;
		pfree(chunk);
	}
}

void
pair_table_finish(PairTable *table)
{
	GroupOrder	order = {.table = table};
	uint64		end = 0;
	uint32		i;

	table->order = MemoryContextAllocHuge(table->memory,
										  Max(table->ngroups, 1) * sizeof(uint32));
	for (i = 0; i < table->ngroups; i++)
		table->order[i] = i;
	order.a = group_values_make(table->ncolumns);
	order.b = group_values_make(table->ncolumns);
	qsort_arg(table->order, table->ngroups, sizeof(uint32), compare_numbers, &order);
	group_values_free(&order.a);
	group_values_free(&order.b);
	for (i = 0; i < table->ngroups; i++)
	{
		PairGroup  *group = &table->groups[table->order[i]];

		group->end = end;
		end += group->n;
	}
	table->images = MemoryContextAllocHuge(table->memory, Max(table->n, 1) * sizeof(uint64));
	distribute(table);
}

const GroupValues *
pair_table_next_group(PairTable *table, int64 *markers)
{
	const PairGroup *group;

	if (table->at == table->ngroups)
		return NULL;
	group = &table->groups[table->order[table->at]];
	get_group(table, table->order[table->at++], &table->group);
	memcpy(markers, group->markers, sizeof(group->markers));
	table->next = group->end - group->n;
	table->end = group->end;
	if (!wide_sort_pairs(table->images + table->next, group->n, table->context))
		CHECK_FOR_INTERRUPTS();
	return &table->group;
}

size_t
pair_table_runs(PairTable *table, uint64 *values, uint64 *counts, size_t room)
{
	size_t		n = 0;

	while (table->next < table->end && n < room)
	{
		uint64		image = table->images[table->next];
		uint64		first = table->next;

		do
			table->next++;
		while (table->next < table->end && table->images[table->next] == image);
		values[n] = (uint64) field_value(image);
		counts[n++] = table->next - first;
	}
	return n;
}

int64
pair_table_count(const PairTable *table)
{
	return (int64) (table->end - table->next);
}
