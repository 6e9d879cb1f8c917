/*
 * spill_write.c
 *		Rows partitioned by key in a temporary file (see spill.h): writing them.
 *
 * A row in the file is its tuple, as core's tuplesort writes it: the length, and
 * the bytes of the minimal tuple behind its own length and padding.  Keys are
 * taken from the tuple again when it is read.  Without tuples a row is four bytes
 * that say whether the key is NULL, and the key's image in four or eight bytes.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pg/compat.h"
#include "pg/nodes/sort/store/sort.h"
#include "pg/nodes/sort/store/spill_state.h"

/*
 * The least bytes that a store should write to each partition on average.  A piece
 * takes 16 bytes of memory, and as much room to grow; with shorter pieces that
 * memory would count, and so would the time to read them.
 */
#define FEW_BYTES ((Size) 1024)

/* Rows handled between two looks at interrupts. */
#define CHECK_EVERY 4096

/* Rows whose tuples are fetched ahead. */
#define PREFETCH 8

/* The numbers of all rows in the store, by partition, and in input order within each. */
static uint32 *
index_rows(Spill *spill, const RowStore *store)
{
	int			npartitions = spill->nboundaries + 1;
	uint32	   *numbers = (uint32 *) MemoryContextAllocHuge(spill->memory, store->n * sizeof(uint32));
	uint32	   *index = (uint32 *) MemoryContextAllocHuge(spill->memory, store->n * sizeof(uint32));
	uint32	   *offsets = (uint32 *) MemoryContextAllocZero(spill->memory, npartitions * sizeof(uint32));
	uint32		sum = 0;
	int			number = 0;
	int			p;
	Size		i;

	for (i = 0; i < store->n; i++)
	{
		RowKey key;

		(void) row_store_row(store, i, &key);
		number = spill_find_partition(spill, &key, number);
		numbers[i] = (uint32) number;
		offsets[number]++;
		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
	for (p = 0; p < npartitions; p++)
	{
		uint32		count = offsets[p];

		offsets[p] = sum;
		sum += count;
	}
	for (i = 0; i < store->n; i++)
	{
		index[offsets[numbers[i]]++] = (uint32) i;
		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
	pfree(numbers);
	pfree(offsets);
	return index;
}

/* Appends a tuple: its length, and the bytes after the padding. */
static inline void
write_tuple(Spill *spill, MinimalTuple tuple)
{
	spill_file_put(spill->file, &tuple->t_len, sizeof(uint32));
	spill_file_put(spill->file, (char *) tuple + MINIMAL_TUPLE_DATA_OFFSET,
				   tuple->t_len - MINIMAL_TUPLE_DATA_OFFSET);
}

static inline void
write_key(Spill *spill, const RowKey *key)
{
	uint32		both[2];

	both[0] = key->nulls;
	both[1] = (uint32) key->images[0];
	if (spill->narrow)
		spill_file_put(spill->file, both, sizeof(both));
	else
	{
		spill_file_put(spill->file, both, sizeof(both[0]));
		spill_file_put(spill->file, key->images, sizeof(uint64));
	}
}

/* Widens what is known of a partition's keys. */
static inline void
note_key(Spill *spill, SpillPartition *partition, const RowKey *key)
{
	if (partition->rows == 0)
	{
		spill_copy_key(spill, &partition->lo, key);
		spill_copy_key(spill, &partition->hi, key);
	}
	else if (spill_compare_keys(spill, key, &partition->hi) > 0)
		spill_copy_key(spill, &partition->hi, key);
	else if (spill_compare_keys(spill, key, &partition->lo) < 0)
		spill_copy_key(spill, &partition->lo, key);
}

/* The order in which the rows of a store are written. */
typedef struct Writing
{
	Spill *spill;
	RowStore *store;
	uint32	   *index;			/* numbers of rows; NULL: the store is in order ... */
	uint64		nulls_before;	/* ... behind so many NULLs */
} Writing;

/* The i-th row to be written: its key, and its tuple, or NULL. */
static inline MinimalTuple
row_to_write(const Writing *w, uint64 i, RowKey *key)
{
	const RowStore *store = w->store;
	uint64		row;

	if (w->spill->by_rest)
	{
		*key = w->spill->single;
		return row_store_fetch(store, i);
	}
	if (w->index)
	{
		if (i + PREFETCH < store->rows)
			__builtin_prefetch(row_store_tuple(store, store->refs[w->index[i + PREFETCH]]));
		row = w->index[i];
	}
	else
	{
		row = i < w->nulls_before ? store->n + i : i - w->nulls_before;
		if (store->tuples && row + PREFETCH < store->n)
			__builtin_prefetch(row_store_tuple(store, ROWS_PAIR_REF(store->pairs[row + PREFETCH])));
	}
	return row_store_row(store, row, key);
}

void
spill_flush(Spill *spill, RowStore *store, const SortContext *context)
{
	Writing		w = {.spill = spill,.store = store};
	uint64		rows = store->rows;
	SpillPartition *partition;
	int			number = 0;
	Size		written_to = 1;
	uint64		i;

	if (rows == 0)
		return;
	if (spill->extends)
		spill_extend_boundaries(spill, store);
	if (spill->by_rest)
		row_store_sort(store, context);
	else if (store->tuples && !store->narrow)
		w.index = index_rows(spill, store);
	else
	{
		row_store_sort_keys(store, context);	/* faster than looking for partitions */
		w.nulls_before = spill->keys->keys[0].nulls_first ? store->nnull : 0;
	}
	partition = spill->partitions[spill->base];
	spill_file_write_to(spill->file, &partition->sequence);
	for (i = 0; i < rows; i++)
	{
		RowKey key;
		MinimalTuple tuple = row_to_write(&w, i, &key);

		if (number < spill->nboundaries && spill_is_beyond(spill, &spill->boundaries[number], &key, tuple))
		{
			do
				number++;
			while (number < spill->nboundaries && spill_is_beyond(spill, &spill->boundaries[number], &key, tuple));
			partition = spill->partitions[spill->base + number];
			spill_file_write_to(spill->file, &partition->sequence);
			written_to++;
		}
		note_key(spill, partition, &key);
		partition->rows++;
		if (tuple)
		{
			partition->tuple_bytes += MAXALIGN(tuple->t_len);
			write_tuple(spill, tuple);
		}
		else
			write_key(spill, &key);
		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
	spill_file_write_to(spill->file, NULL);
	if (w.index)
		pfree(w.index);
	row_store_clear(store);
	if (spill->extends && written_to > spill->limit / FEW_BYTES)
		spill_join_partitions(spill);
}
