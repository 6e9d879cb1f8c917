/*
 * group_table.c
 *		Numbers of groups by a hash table (see group_table.h).
 *
 * The key of a group is words of 32 bits: one or two for each column, as its values are narrow or
 * wide, and behind them a bit for each column, which says that it is NULL.  Keys of the groups are
 * in the order of their numbers; the slots of the table refer to them.
 */
#include "postgres.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/read/group_table.h"

/* Slots of an empty table, a power of two.  At most three quarters of the slots are taken. */
#define LEAST_SLOTS 1024

/* How many rows ahead slots are brought into the CPU's caches. */
#define ROWS_AHEAD 8

typedef struct GroupSlot
{
	uint32		hash;
	uint32		number;			/* NO_GROUP: the slot is free */
} GroupSlot;

struct GroupTable
{
	const GroupColumn *columns;
	int			ncolumns;
	int			nwords;			/* of a key */
	int			null_word;		/* the first word that has bits of NULLs */
	int		   *words;			/* by column: the first word of its value */

	uint32		ngroups;
	uint32		room;			/* groups for which keys has room */
	uint32	   *keys;			/* by group */
	uint32		nslots;
	GroupSlot  *slots;

	uint32	   *key;			/* of a group that is looked for */
	size_t		nrows;			/* that have been loaded */
	uint32	   *row_keys;		/* by row; NULL until needed */
	uint32	   *row_hashes;
};

static GroupSlot *
make_slots(uint32 nslots)
{
	GroupSlot  *slots = palloc_extended(nslots * sizeof(GroupSlot), MCXT_ALLOC_HUGE);

	/* Each number is NO_GROUP. */
	memset(slots, 0xff, nslots * sizeof(GroupSlot));
	return slots;
}

GroupTable *
group_table_make(const GroupColumn *columns, int ncolumns)
{
	GroupTable *table = palloc0_object(GroupTable);

	table->columns = columns;
	table->ncolumns = ncolumns;
	table->words = palloc_array(int, ncolumns);
	for (int c = 0; c < ncolumns; c++)
	{
		table->words[c] = table->null_word;
		table->null_word += column_kind_is_wide(columns[c].kind) ? 2 : 1;
	}
	table->nwords = table->null_word + (ncolumns + 31) / 32;
	table->room = LEAST_SLOTS / 2;
	table->keys = palloc_array(uint32, (size_t) table->room * table->nwords);
	table->nslots = LEAST_SLOTS;
	table->slots = make_slots(table->nslots);
	table->key = palloc_array(uint32, table->nwords);
	return table;
}

/* Keys and slots double: while they do, there are as many again. */
size_t
group_table_group_size(const GroupTable *table)
{
	return 2 * (table->nwords * sizeof(uint32) + 2 * sizeof(GroupSlot));
}

uint32
group_table_count(const GroupTable *table)
{
	return table->ngroups;
}

/* --- keys */

static inline void
put_value(const GroupTable *table, int c, uint32 *word, int64 value)
{
	word[0] = (uint32) value;
	if (column_kind_is_wide(table->columns[c].kind))
		word[1] = (uint32) ((uint64) value >> 32);
}

static inline uint32
hash_key(const GroupTable *table, const uint32 *key)
{
	uint64		hash = 0;

	for (int w = 0; w < table->nwords; w++)
	{
		hash = (hash ^ key[w]) * UINT64CONST(0x9E3779B97F4A7C15);
		hash ^= hash >> 32;
	}
	return (uint32) hash;
}

void
group_table_load(GroupTable *table, const ColumnBatch *batches)
{
	size_t		n = batches[table->columns[0].column].n;
	int			stride = table->nwords;
	int			nnulls = stride - table->null_word;
	uint32	   *word;

	if (table->row_keys == NULL)
	{
		MemoryContext memory = GetMemoryChunkContext(table->key);

		table->row_keys = MemoryContextAlloc(memory, (size_t) COLUMN_BATCH_KEYS * stride *
											 sizeof(uint32));
		table->row_hashes = MemoryContextAlloc(memory, COLUMN_BATCH_KEYS * sizeof(uint32));
	}
	word = table->row_keys;
	for (size_t i = 0; i < n; i++)
		memset(table->row_keys + i * stride + table->null_word, 0, nnulls * sizeof(uint32));
	for (int c = 0; c < table->ncolumns; c++)
	{
		const ColumnBatch *batch = &batches[table->columns[c].column];
		bool		wide = column_kind_is_wide(table->columns[c].kind);

		if (batch->nnulls > 0)
		{
			uint32	   *nulls = table->row_keys + table->null_word + c / 32;

			for (size_t i = 0; i < n; i++)
			{
				bool		isnull = batch->nulls[i] != 0;

				put_value(table, c, word + i * stride, isnull ? 0 : column_batch_value(batch, i));
				nulls[i * stride] |= (uint32) isnull << c % 32;
			}
		}
		else if (wide)
			for (size_t i = 0; i < n; i++)
				put_value(table, c, word + i * stride, column_batch_value(batch, i));
		else
			for (size_t i = 0; i < n; i++)
				word[i * stride] = (uint32) column_batch_value(batch, i);
		word += wide ? 2 : 1;
	}
	for (size_t i = 0; i < n; i++)
		table->row_hashes[i] = hash_key(table, table->row_keys + i * stride);
	table->nrows = n;
}

uint32
group_table_hash(const GroupTable *table, size_t row)
{
	return table->row_hashes[row];
}

int64
group_table_value(const GroupTable *table, uint32 number, int c)
{
	const uint32 *word = table->keys + (size_t) number * table->nwords + table->words[c];

	return column_kind_is_wide(table->columns[c].kind) ?
		(int64) ((uint64) word[1] << 32 | word[0]) : (int32) word[0];
}

void
group_table_values(const GroupTable *table, uint32 number, GroupValues *group)
{
	const uint32 *key = table->keys + (size_t) number * table->nwords;

	for (int c = 0; c < table->ncolumns; c++)
	{
		group->nulls[c] = (key[table->null_word + c / 32] >> c % 32 & 1) != 0;
		group->values[c] = group_table_value(table, number, c);
	}
}

/* --- groups */

/* Returns the slot of a key, or the free one where it belongs. */
static inline GroupSlot *
find_slot(const GroupTable *table, const uint32 *key, uint32 hash)
{
	uint32		at = hash & (table->nslots - 1);
	size_t		size = table->nwords * sizeof(uint32);

	while (table->slots[at].number != NO_GROUP &&
		   (table->slots[at].hash != hash ||
			memcmp(table->keys + (size_t) table->slots[at].number * table->nwords, key, size) != 0))
		at = (at + 1) & (table->nslots - 1);
	return &table->slots[at];
}

/* Doubles the slots, in the memory context that they are in. */
static void
enlarge_slots(GroupTable *table)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(table->slots));
	GroupSlot  *before = table->slots;
	uint32		nbefore = table->nslots;

	table->nslots *= 2;
	table->slots = make_slots(table->nslots);
	for (uint32 i = 0; i < nbefore; i++)
	{
		uint32		at = before[i].hash & (table->nslots - 1);

		if (before[i].number == NO_GROUP)
			continue;
		while (table->slots[at].number != NO_GROUP)
			at = (at + 1) & (table->nslots - 1);
		table->slots[at] = before[i];
	}
	pfree(before);
	MemoryContextSwitchTo(old);
}

/* Adds the group of a key that is not in the table.  Returns its number. */
static uint32
add_group(GroupTable *table, const uint32 *key, uint32 hash)
{
	GroupSlot  *slot;

	if (table->ngroups >= table->nslots / 4 * 3)
		enlarge_slots(table);
	if (table->ngroups == table->room)
	{
		table->room *= 2;
		table->keys = repalloc_huge(table->keys,
									(size_t) table->room * table->nwords * sizeof(uint32));
	}
	memcpy(table->keys + (size_t) table->ngroups * table->nwords, key,
		   table->nwords * sizeof(uint32));
	slot = find_slot(table, key, hash);
	slot->hash = hash;
	slot->number = table->ngroups;
	return table->ngroups++;
}

uint32
group_table_find(GroupTable *table, size_t row, bool add)
{
	const uint32 *key = table->row_keys + row * table->nwords;
	const uint32 *hashes = table->row_hashes + row;
	uint32		number;

	if (row + ROWS_AHEAD < table->nrows)
		__builtin_prefetch(&table->slots[hashes[ROWS_AHEAD] & (table->nslots - 1)]);
	number = find_slot(table, key, hashes[0])->number;
	return number == NO_GROUP && add ? add_group(table, key, hashes[0]) : number;
}

uint32
group_table_find_values(GroupTable *table, const GroupValues *group, bool add)
{
	uint32	   *key = table->key;
	uint32	   *word = key;
	uint32		hash;
	uint32		number;

	memset(key, 0, table->nwords * sizeof(uint32));
	for (int c = 0; c < table->ncolumns; c++)
	{
		put_value(table, c, word, group->nulls[c] ? 0 : group->values[c]);
		key[table->null_word + c / 32] |= (uint32) group->nulls[c] << c % 32;
		word += column_kind_is_wide(table->columns[c].kind) ? 2 : 1;
	}
	hash = hash_key(table, key);
	number = find_slot(table, key, hash)->number;
	return number == NO_GROUP && add ? add_group(table, key, hash) : number;
}
