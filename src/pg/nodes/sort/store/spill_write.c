/*
 * spill_write.c
 *		Rows partitioned by key in a temporary file (see spill.h): writing them.
 *
 * A row in the file is its tuple, as core's tuplesort writes it: the length, and
 * the bytes of the minimal tuple behind its own length and padding.  Keys are
 * taken from the tuple again when it is read.  Without tuples a row is four bytes
 * that say whether the key is NULL, and the key's image in four or eight bytes.
 *
 * A row that lies elsewhere is its reference, in four bytes, and its images in four or eight
 * bytes each; of several keys with a byte between that says which of them are NULL.  One
 * narrow key and its reference are the store's pair, so that many are written at once.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "pg/compat.h"
#include "pg/nodes/sort/store/sort.h"
#include "pg/nodes/sort/store/spill_state.h"
#include "sort/kernels/wide.h"

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

/* NULLs turned into pairs at once, on the stack. */
#define NULLS_AT_ONCE 512

/*
 * The numbers of all rows in the store, with the leading bits of their first key above them,
 * in the order of both.  One row after the other is then in the same partition, or in the
 * next, which is found in less time than the sort takes.  Equal rows stay in order.
 */
static uint64 *
order_roughly(Spill *spill, const RowStore *store, const SortContext *context)
{
	uint64	   *pairs = (uint64 *) MemoryContextAllocHuge(spill->memory, store->n * sizeof(uint64));
	uint64		lo = store->ranges[0].lo;
	uint64		width = store->ranges[0].hi > lo ? store->ranges[0].hi - lo : 0;
	int			shift = width > PG_UINT32_MAX ? pg_leftmost_one_pos64(width) - 31 : 0;
	Size		i;

	for (i = 0; i < store->n; i++)
	{
		bool		isnull = store->nulls && (store->nulls[i] & 1) != 0;

		pairs[i] = ROWS_PAIR(isnull ? 0 : (store->images[0][i] - lo) >> shift, (uint32) i);
		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
	if (!wide_sort_pairs(pairs, store->n, context))
		row_store_cancelled();
	return pairs;
}

/* The numbers of all rows in the store, by partition, and equal rows in input order within each. */
static uint32 *
index_rows(Spill *spill, const RowStore *store, const SortContext *context)
{
	uint64	   *rough = order_roughly(spill, store, context);
	int			npartitions = spill->nboundaries + 1;
	uint32	   *numbers = (uint32 *) MemoryContextAllocHuge(spill->memory,
															store->n * sizeof(uint32));
	uint32	   *index = (uint32 *) MemoryContextAllocHuge(spill->memory, store->n * sizeof(uint32));
	uint32	   *offsets = (uint32 *) MemoryContextAllocZero(spill->memory,
															npartitions * sizeof(uint32));
	uint32		sum = 0;
	int			number = 0;
	int			p;
	Size		i;

	for (i = 0; i < store->n; i++)
	{
		RowKey		key;

		(void) row_store_row(store, ROWS_PAIR_REF(rough[i]), &key);
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
		index[offsets[numbers[i]]++] = ROWS_PAIR_REF(rough[i]);
		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
	pfree(rough);
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

/* A row that lies elsewhere. */
static inline void
write_ref(Spill *spill, const RowKey *key, uint32 ref)
{
	const KeyColumns *keys = spill->keys;
	char		row[sizeof(uint32) + sizeof(uint8) + sizeof(key->images)];
	char	   *to = row;
	int			i;

	if (spill->narrow)
	{
		uint64		pair = ROWS_PAIR(key->images[0], ref);

		spill_file_put(spill->file, &pair, sizeof(pair));
		return;
	}
	memcpy(to, &ref, sizeof(ref));
	to += sizeof(ref);
	if (!spill->nulls_apart)
		*to++ = (char) key->nulls;
	for (i = 0; i < keys->nmapped; i++)
	{
		Size		len = !column_kind_is_wide(keys->keys[i].kind) ? sizeof(uint32) :
		sizeof(uint64);
		uint32		image = (uint32) key->images[i];

		if (len == sizeof(image))
			memcpy(to, &image, sizeof(image));
		else
			memcpy(to, &key->images[i], sizeof(uint64));
		to += len;
	}
	spill_file_put(spill->file, row, to - row);
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
	Spill	   *spill;
	RowStore   *store;
	uint32	   *index;			/* numbers of rows; NULL: the store is in order ... */
	uint64		nulls_before;	/* ... behind so many NULLs */
} Writing;

/* The i-th row to be written by keys left to core: the same, as for row_to_write. */
static MinimalTuple
row_by_rest(const Writing *w, uint64 i, RowKey *key, uint32 *ref)
{
	const RowStore *store = w->store;

	*key = w->spill->single;
	if (store->elsewhere == NULL)
		return row_store_fetch(store, i);
	*ref = row_store_ref(store, i);
	return store->elsewhere->tuple(store->elsewhere->arg, *ref);
}

/*
 * The i-th row to be written: its key, its reference if it lies elsewhere, and its tuple, or
 * NULL.
 */
static inline MinimalTuple
row_to_write(const Writing *w, uint64 i, RowKey *key, uint32 *ref)
{
	const RowStore *store = w->store;
	uint64		row;

	if (w->spill->by_rest)
		return row_by_rest(w, i, key, ref);
	if (w->index)
	{
		if (w->spill->tuples && i + PREFETCH < store->rows)
			__builtin_prefetch(row_store_tuple(store, store->refs[w->index[i + PREFETCH]]));
		row = w->index[i];
		if (w->spill->elsewhere)
			*ref = store->refs[row];
	}
	else
	{
		row = i < w->nulls_before ? store->n + i : i - w->nulls_before;
		if (store->tuples && row + PREFETCH < store->n)
			__builtin_prefetch(row_store_tuple(store, ROWS_PAIR_REF(store->pairs[row + PREFETCH])));
	}
	return row_store_row(store, row, key);
}

/* Writes the rows of a store, one by one; returns to how many partitions. */
static Size
write_rows(const Writing *w)
{
	Spill	   *spill = w->spill;
	uint64		rows = w->store->rows;
	SpillPartition *partition = spill->partitions[spill->base];
	int			number = 0;
	Size		written_to = 1;
	uint64		i;

	spill_file_write_to(spill->file, &partition->sequence);
	for (i = 0; i < rows; i++)
	{
		RowKey		key;
		uint32		ref = 0;
		MinimalTuple tuple = row_to_write(w, i, &key, &ref);

		if (number < spill->nboundaries && spill_is_beyond(spill, &spill->boundaries[number], &key,
														   tuple))
		{
			do
				number++;
			while (number < spill->nboundaries && spill_is_beyond(spill,
																  &spill->boundaries[number], &key,
																  tuple));
			partition = spill->partitions[spill->base + number];
			spill_file_write_to(spill->file, &partition->sequence);
			written_to++;
		}
		note_key(spill, partition, &key);
		partition->rows++;
		if (spill->elsewhere)
		{
			write_ref(spill, &key, ref);
			if (tuple)
				pfree(tuple);
		}
		else if (tuple)
		{
			partition->tuple_bytes += MAXALIGN(tuple->t_len);
			write_tuple(spill, tuple);
		}
		else
			write_key(spill, &key);
		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return written_to;
}

/* The first of n pairs in order, from start on, that belongs behind a boundary; n if none does. */
static Size
first_beyond(const Spill *spill, const Boundary *boundary, const uint64 *pairs, Size start, Size n)
{
	while (start < n)
	{
		Size		middle = start + (n - start) / 2;
		RowKey		key = {0};

		key.images[0] = ROWS_PAIR_KEY(pairs[middle]);
		if (spill_is_beyond(spill, boundary, &key, NULL))
			n = middle;
		else
			start = middle + 1;
	}
	return n;
}

/* Appends n > 0 pairs in order to a partition. */
static void
append_pairs(Spill *spill, SpillPartition *partition, const uint64 *pairs, Size n, bool nulls)
{
	RowKey		key = {.nulls = nulls};

	key.images[0] = ROWS_PAIR_KEY(pairs[0]);
	note_key(spill, partition, &key);
	partition->rows += n;
	key.images[0] = ROWS_PAIR_KEY(pairs[n - 1]);
	note_key(spill, partition, &key);
	spill_file_write_to(spill->file, &partition->sequence);
	spill_file_put(spill->file, pairs, n * sizeof(uint64));
}

/* The rows of a store that are NULL, as pairs without an image. */
static void
append_nulls(Spill *spill, const RowStore *store)
{
	int			number = spill->keys->keys[0].nulls_first ? 0 : spill->nboundaries;
	uint64		pairs[NULLS_AT_ONCE];
	Size		at;

	for (at = 0; at < store->nnull; at += NULLS_AT_ONCE)
	{
		Size		n = Min(store->nnull - at, NULLS_AT_ONCE);
		Size		i;

		for (i = 0; i < n; i++)
			pairs[i] = ROWS_PAIR(0, store->null_refs[at + i]);
		append_pairs(spill, spill->partitions[spill->base + number], pairs, n, true);
	}
}

/* The same as write_rows, of a store of pairs that are in order, and of NULLs. */
static Size
write_pairs(Spill *spill, const RowStore *store)
{
	Size		written_to = store->nnull > 0;
	Size		start = 0;
	int			number;

	append_nulls(spill, store);
	for (number = 0; start < store->n; number++)
	{
		Size		end = store->n;

		if (number < spill->nboundaries)
			end = first_beyond(spill, &spill->boundaries[number], store->pairs, start, end);
		if (end > start)
		{
			append_pairs(spill, spill->partitions[spill->base + number], store->pairs + start,
						 end - start, false);
			written_to++;
		}
		start = end;
	}
	return written_to;
}

void
spill_flush(Spill *spill, RowStore *store, const SortContext *context)
{
	Writing		w = {.spill = spill,.store = store};
	Size		written_to;

	if (store->rows == 0)
		return;
	if (spill->extends)
		spill_extend_boundaries(spill, store);
	if (spill->by_rest)
		row_store_sort(store, context);
	else if (store->tuples && !store->narrow)
		w.index = index_rows(spill, store, context);
	else
	{
		row_store_sort_keys(store, context);	/* faster than looking for partitions */
		w.nulls_before = spill->keys->keys[0].nulls_first ? store->nnull : 0;
	}
	written_to = spill->elsewhere && spill->narrow && !spill->by_rest ? write_pairs(spill, store)
		: write_rows(&w);
	spill_file_write_to(spill->file, NULL);
	if (w.index)
		pfree(w.index);
	row_store_clear(store);
	if (spill->extends && written_to > spill->limit / FEW_BYTES)
		spill_join_partitions(spill);
}
