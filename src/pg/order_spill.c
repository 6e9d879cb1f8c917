/*
 * order_spill.c
 *		Rows partitioned by key in a temporary file (see order_spill.h).
 *
 * A row in the file is a head of four bytes (the length of its tuple, and
 * whether a key is NULL), the images of its keys, a mask of NULLs where there
 * are some, and its tuple but for what a minimal tuple begins with, its length
 * and padding.  The image of a narrow key takes four bytes.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "order_file.h"
#include "order_spill.h"

/*
 * With fewer partitions than this a spill has not gained enough.  With more
 * than that the chunks become so small that reading them takes longer than
 * another pass over the few partitions that turn out too large.
 */
#define MIN_PARTITIONS 4
#define MAX_PARTITIONS 512
#define MIN_CHUNK ((Size) 4096)

/* Samples for each boundary: a partition's size then varies by a quarter. */
#define SAMPLES_PER_PARTITION 16

/* Partitions are planned to be so much of the limit: estimates are wrong. */
#define PARTITION_FILL 0.6

/* Reading in larger blocks is no faster. */
#define READ_BUFFER ((Size) 64 * 1024)

/* Chunks begin where such a unit does, so that 32 bits say where in a round. */
#define UNIT 8

/* Rows handled between two looks at interrupts. */
#define CHECK_EVERY 4096

/* Rows whose tuples are fetched ahead while writing. */
#define PREFETCH 8

/* A row's head: the length of its tuple below. */
#define HEAD_NULL (UINT32_C(1) << 31)

/* Where the chunks of one round are. */
typedef struct Round
{
	uint64		start;			/* of the first, in the file */
	int			first;			/* partitions put in front until then */
	int			low;			/* first partition with a chunk ... */
	int			count;			/* ... and how many there are from there on */
	uint32	   *ends;			/* of each chunk, in units from start */
} Round;

struct OrderSpill
{
	MemoryContext memory;
	OrderKeys  *keys;
	bool		tuples;
	bool		narrow;			/* images of four bytes */
	bool		finished;
	OrderFile  *file;
	int			npartitions;
	int			room;			/* for partitions, and bounds */
	int			first;			/* partitions put in front of the others */
	OrderPartition *partitions;
	OrderRowKey *bounds;		/* partition i + 1 starts at bounds[i] */
	OrderRowKey lo;				/* of all rows written, once there are rounds */
	OrderRowKey hi;
	int			nrounds;
	int			rounds_room;
	Round	   *rounds;

	/* Reading. */
	int			reading;
	uint64		rows_left;
	int			round;			/* next to be read */
	uint64		chunk_at;		/* where the rest of a chunk begins ... */
	Size		chunk_left;		/* ... and how long it is */
	Size		at;				/* next byte in the buffer ... */
	Size		end;			/* ... which holds so many */
	Size		buffer_size;
	char	   *buffer;
};

static int
compare_samples(const void *a, const void *b, void *arg)
{
	return order_row_key_compare((const OrderKeys *) arg, (const OrderRowKey *) a,
								 (const OrderRowKey *) b);
}

/* The usual case first: one key. */
static inline int
compare_keys(const OrderSpill *spill, const OrderRowKey *a, const OrderRowKey *b)
{
	if (spill->keys->nmapped == 1 && (a->nulls | b->nulls) == 0)
		return a->images[0] < b->images[0] ? -1 : a->images[0] > b->images[0];
	return order_row_key_compare(spill->keys, a, b);
}

/*
 * The next larger key, which need not be any row's; false if there is none.
 * What is largest in a column, NULL or the last image, carries to the one
 * before it.
 */
static bool
make_successor(const OrderKeys *keys, OrderRowKey *key)
{
	int			i;

	for (i = keys->nmapped - 1; i >= 0; i--)
	{
		bool		nulls_first = keys->keys[i].nulls_first;
		bool		isnull = (key->nulls >> i) & 1;

		if (isnull && nulls_first)
		{
			key->nulls &= ~(1 << i);	/* before all images, of which 0 is the first */
			return true;
		}
		if (!isnull && key->images[i] < PG_UINT64_MAX)
		{
			key->images[i]++;
			return true;
		}
		if (!isnull && !nulls_first)
		{
			key->nulls |= 1 << i;
			key->images[i] = 0;
			return true;
		}
		key->nulls ^= 1 << i;	/* the smallest: an image after NULLs last, else NULL */
		key->images[i] = 0;
	}
	return false;
}

int
order_spill_samples(Size limit)
{
	Size		samples = limit / 8 / sizeof(OrderRowKey);

	return (int) Min(Max(samples, 64), MAX_PARTITIONS * SAMPLES_PER_PARTITION);
}

OrderSpill *
order_spill_create(MemoryContext parent, OrderKeys *keys, bool tuples, OrderRowKey *samples,
				   int nsamples, double expected, Size limit)
{
	MemoryContext memory = AllocSetContextCreate(parent, "hpsort partitions", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(memory);
	OrderSpill *spill = (OrderSpill *) palloc0(sizeof(OrderSpill));
	double		wanted = expected / (PARTITION_FILL * (double) limit);
	double		most = Min(MAX_PARTITIONS, (double) (limit / MIN_CHUNK));
	int			nbounds = 0;
	int			i;

	spill->memory = memory;
	spill->keys = keys;
	spill->tuples = tuples;
	spill->narrow = keys->nmapped == 1 && order_key_is_narrow(keys->keys[0].kind);

	/* Small beside the store, whose limit it is not part of. */
	spill->buffer_size = Max(Min(READ_BUFFER, limit / 16), BLCKSZ);

	spill->npartitions = (int) Max(MIN_PARTITIONS, Min(wanted, most));
	spill->room = spill->npartitions;
	qsort_interruptible(samples, nsamples, sizeof(OrderRowKey), compare_samples, keys);
	spill->bounds = (OrderRowKey *) palloc(spill->room * sizeof(OrderRowKey));
	for (i = 1; i < spill->npartitions; i++)
	{
		OrderRowKey key = samples[(int64) i * nsamples / spill->npartitions];
		const OrderRowKey *last = nbounds == 0 ? &samples[0] : &spill->bounds[nbounds - 1];

		/*
		 * A key so frequent that it is met again has a partition of its own:
		 * it may be too large for memory, and should then be of no other key.
		 */
		if (order_row_key_compare(keys, &key, last) == 0 && !make_successor(keys, &key))
			continue;
		if (order_row_key_compare(keys, &key, last) > 0)
			spill->bounds[nbounds++] = key;
	}
	if (nbounds == 0)
		spill->bounds[nbounds++] = samples[nsamples - 1];
	spill->npartitions = nbounds + 1;
	spill->partitions = (OrderPartition *) palloc0(spill->room * sizeof(OrderPartition));
	spill->rounds_room = 64;
	spill->rounds = (Round *) palloc(spill->rounds_room * sizeof(Round));
	spill->file = order_file_create();
	MemoryContextSwitchTo(old);
	return spill;
}

/* The partition of a row: the number of bounds at or before its key. */
static int
find_partition(const OrderSpill *spill, const OrderRowKey *key)
{
	int			low = 0;
	int			high = spill->npartitions - 1;

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (compare_keys(spill, &spill->bounds[middle], key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Makes two more partitions, in front of the others or after them. */
static void
add_partitions(OrderSpill *spill, bool in_front, const OrderRowKey *bound1,
			   const OrderRowKey *bound2)
{
	int			n = spill->npartitions;
	int			at = in_front ? 0 : n;

	if (n + 2 > spill->room)
	{
		spill->room *= 2;
		spill->partitions = (OrderPartition *) repalloc_huge(spill->partitions, spill->room * sizeof(OrderPartition));
		spill->bounds = (OrderRowKey *) repalloc_huge(spill->bounds, spill->room * sizeof(OrderRowKey));
	}
	if (in_front)
	{
		memmove(spill->partitions + 2, spill->partitions, n * sizeof(OrderPartition));
		memmove(spill->bounds + 2, spill->bounds, (n - 1) * sizeof(OrderRowKey));
		spill->first += 2;
	}
	memset(spill->partitions + at, 0, 2 * sizeof(OrderPartition));
	spill->bounds[in_front ? 0 : n - 1] = *bound1;
	spill->bounds[in_front ? 1 : n] = *bound2;
	spill->npartitions += 2;
}

/*
 * If all rows of the store are beyond those of earlier rounds, they get two
 * partitions of their own: half a store each, so that they will fit.  All that
 * this costs other input is a look at its first row.
 */
static void
extend_bounds(OrderSpill *spill, const OrderStore *store)
{
	const OrderRowKey *lo = &spill->lo;
	const OrderRowKey *hi = &spill->hi;
	OrderRowKey middle;
	OrderRowKey key;
	OrderRowKey edge;
	bool		in_front;
	uint64		i;

	if (spill->nrounds == 0)
		return;
	(void) order_store_row(store, 0, &edge);
	in_front = compare_keys(spill, &edge, lo) < 0;
	if (!in_front && compare_keys(spill, &edge, hi) <= 0)
		return;

	/* Boundaries may be known out there, of rows to come: samples of a partition. */
	if (spill->partitions[in_front ? 0 : spill->npartitions - 1].rows == 0)
		return;
	for (i = 1; i < store->rows; i++)
	{
		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
		(void) order_store_row(store, i, &key);
		if (in_front ? compare_keys(spill, &key, lo) >= 0 : compare_keys(spill, &key, hi) <= 0)
			return;
		if (!in_front && compare_keys(spill, &key, &edge) < 0)
			edge = key;
	}

	/* The new bounds: the middle of these rows, and where the others begin. */
	(void) order_store_row(store, store->rows / 2, &middle);
	if (in_front)
	{
		edge = *lo;
		add_partitions(spill, true, &middle, &edge);
	}
	else if (compare_keys(spill, &middle, &edge) > 0)
		add_partitions(spill, false, &edge, &middle);
}

/* Rows by partition, each in input order: their numbers. */
static uint32 *
index_rows(OrderSpill *spill, const OrderStore *store)
{
	uint32	   *numbers = (uint32 *) MemoryContextAllocHuge(spill->memory, store->n * sizeof(uint32));
	uint32	   *index = (uint32 *) MemoryContextAllocHuge(spill->memory, store->n * sizeof(uint32));
	uint32	   *offsets = (uint32 *) MemoryContextAllocZero(spill->memory, spill->npartitions * sizeof(uint32));
	uint32		sum = 0;
	int			p;
	Size		i;

	for (i = 0; i < store->n; i++)
	{
		OrderRowKey key;

		(void) order_store_row(store, i, &key);
		numbers[i] = (uint32) find_partition(spill, &key);
		offsets[numbers[i]]++;
		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
	for (p = 0; p < spill->npartitions; p++)
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

/*
 * Another round, of which nothing is written yet, for partitions low to high.
 * Input in order makes many partitions, of which each round has few.
 */
static Round *
add_round(OrderSpill *spill, int low, int high)
{
	Round	   *round;

	if (spill->nrounds == spill->rounds_room)
	{
		spill->rounds_room *= 2;
		spill->rounds = (Round *) repalloc_huge(spill->rounds, spill->rounds_room * sizeof(Round));
	}
	round = &spill->rounds[spill->nrounds++];
	round->start = order_file_at(spill->file);
	round->first = spill->first;
	round->low = low;
	round->count = high - low + 1;
	round->ends = (uint32 *) MemoryContextAlloc(spill->memory, round->count * sizeof(uint32));
	return round;
}

/* A chunk ends here. */
static void
end_chunk(OrderSpill *spill, Round *round, int partition)
{
	static const char zeros[UNIT] = {0};
	uint64		at = order_file_at(spill->file);

	if (at % UNIT != 0)
		order_file_put(spill->file, zeros, UNIT - at % UNIT);
	round->ends[partition - round->low] = (uint32) ((order_file_at(spill->file) - round->start) / UNIT);
}

static inline void
write_row(OrderSpill *spill, const OrderRowKey *key, MinimalTuple tuple)
{
	uint32		head = tuple ? tuple->t_len : 0;
	bool		isnull = key->nulls != 0;

	if (isnull)
		head |= HEAD_NULL;
	if (spill->narrow)
	{
		uint32		both[2];

		both[0] = head;
		both[1] = (uint32) key->images[0];
		order_file_put(spill->file, both, sizeof(both));
	}
	else
	{
		order_file_put(spill->file, &head, sizeof(head));
		order_file_put(spill->file, key->images, spill->keys->nmapped * sizeof(uint64));
		if (isnull)
			order_file_put(spill->file, &key->nulls, sizeof(key->nulls));
	}
	if (tuple)
		order_file_put(spill->file, (char *) tuple + MINIMAL_TUPLE_DATA_OFFSET,
					   tuple->t_len - MINIMAL_TUPLE_DATA_OFFSET);
}

static inline void
copy_key(const OrderSpill *spill, OrderRowKey *to, const OrderRowKey *from)
{
	int			i;

	to->nulls = from->nulls;
	for (i = 0; i < spill->keys->nmapped; i++)
		to->images[i] = from->images[i];
}

/* Widens what is known of a partition's keys. */
static inline void
note_key(OrderSpill *spill, OrderPartition *partition, const OrderRowKey *key)
{
	if (partition->rows == 0)
	{
		copy_key(spill, &partition->lo, key);
		copy_key(spill, &partition->hi, key);
	}
	else if (compare_keys(spill, key, &partition->hi) > 0)
		copy_key(spill, &partition->hi, key);
	else if (compare_keys(spill, key, &partition->lo) < 0)
		copy_key(spill, &partition->lo, key);
}

/* The row to be written as the i-th: by index, or in order with the NULLs at one end. */
static inline uint64
row_number(const OrderStore *store, const uint32 *index, uint64 nulls_before, uint64 i)
{
	if (index)
		return index[i];
	return i < nulls_before ? store->n + i : i - nulls_before;
}

void
order_spill_flush(OrderSpill *spill, OrderStore *store, const SortContext *context)
{
	uint64		rows = store->rows;
	uint64		nulls_before = spill->keys->keys[0].nulls_first ? store->nnull : 0;
	uint32	   *index = NULL;
	Round	   *round;
	OrderRowKey key;
	int			low;
	int			high;
	int			number;
	uint64		i;

	if (rows == 0)
		return;
	extend_bounds(spill, store);
	if (store->tuples && !store->narrow)
		index = index_rows(spill, store);
	else
		order_store_sort_keys(store, context);	/* faster than looking for partitions */
	(void) order_store_row(store, row_number(store, index, nulls_before, 0), &key);
	low = number = find_partition(spill, &key);
	(void) order_store_row(store, row_number(store, index, nulls_before, rows - 1), &key);
	high = find_partition(spill, &key);
	round = add_round(spill, low, high);
	for (i = 0; i < rows; i++)
	{
		OrderPartition *partition;
		MinimalTuple tuple;
		uint64		row = row_number(store, index, nulls_before, i);

		if (index && i + PREFETCH < rows)
			__builtin_prefetch(order_store_tuple(store, store->refs[index[i + PREFETCH]]));
		else if (index == NULL && store->tuples && row + PREFETCH < store->n)
			__builtin_prefetch(order_store_tuple(store, ROWS_PAIR_REF(store->pairs[row + PREFETCH])));
		tuple = order_store_row(store, row, &key);
		while (number < spill->npartitions - 1 && compare_keys(spill, &spill->bounds[number], &key) <= 0)
			end_chunk(spill, round, number++);
		partition = &spill->partitions[number];
		note_key(spill, partition, &key);
		partition->rows++;
		if (tuple)
			partition->tuple_bytes += MAXALIGN(tuple->t_len);
		write_row(spill, &key, tuple);
		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
	while (number <= high)
		end_chunk(spill, round, number++);
	if (spill->nrounds == 1 || compare_keys(spill, &spill->partitions[low].lo, &spill->lo) < 0)
		copy_key(spill, &spill->lo, &spill->partitions[low].lo);
	if (spill->nrounds == 1 || compare_keys(spill, &spill->partitions[high].hi, &spill->hi) > 0)
		copy_key(spill, &spill->hi, &spill->partitions[high].hi);
	if (index)
		pfree(index);
	order_store_clear(store);
}

void
order_spill_finish(OrderSpill *spill)
{
	if (spill->finished)
		return;
	spill->finished = true;
	order_file_finish(spill->file);
	spill->buffer = (char *) MemoryContextAlloc(spill->memory, spill->buffer_size);
}

int
order_spill_partitions(const OrderSpill *spill)
{
	return spill->npartitions;
}

const OrderPartition *
order_spill_partition(const OrderSpill *spill, int number)
{
	return &spill->partitions[number];
}

bool
order_spill_is_single(const OrderSpill *spill, int number)
{
	const OrderPartition *partition = &spill->partitions[number];

	return order_row_key_compare(spill->keys, &partition->lo, &partition->hi) == 0;
}

uint64
order_spill_bytes(const OrderSpill *spill)
{
	return order_file_at(spill->file);
}

void
order_spill_open(OrderSpill *spill, int number)
{
	spill->reading = number;
	spill->rows_left = spill->partitions[number].rows;
	spill->round = 0;
	spill->chunk_left = 0;
	spill->at = spill->end = 0;
}

/* Finds the partition's next chunk that is not empty; there is one. */
static void
next_chunk(OrderSpill *spill)
{
	do
	{
		const Round *round = &spill->rounds[spill->round++];
		int			number = spill->reading - (spill->first - round->first) - round->low;

		if (number >= 0 && number < round->count)
		{
			uint64		from = number == 0 ? 0 : round->ends[number - 1];

			spill->chunk_at = round->start + from * UNIT;
			spill->chunk_left = (round->ends[number] - from) * UNIT;
		}
	} while (spill->chunk_left == 0);
}

static void
fill_buffer(OrderSpill *spill)
{
	Size		part;

	if (spill->chunk_left == 0)
		next_chunk(spill);
	part = Min(spill->chunk_left, spill->buffer_size);
	order_file_read(spill->file, spill->chunk_at, spill->buffer, part);
	spill->chunk_at += part;
	spill->chunk_left -= part;
	spill->at = 0;
	spill->end = part;
}

static inline void
get_bytes(OrderSpill *spill, void *data, Size len)
{
	char	   *to = (char *) data;

	if (likely(len <= spill->end - spill->at))
	{
		memcpy(to, spill->buffer + spill->at, len);
		spill->at += len;
		return;
	}
	while (len > 0)
	{
		Size		part;

		if (spill->at == spill->end)
			fill_buffer(spill);
		part = Min(len, spill->end - spill->at);
		memcpy(to, spill->buffer + spill->at, part);
		spill->at += part;
		to += part;
		len -= part;
	}
}

bool
order_spill_next(OrderSpill *spill, OrderRowKey *key, Size *len)
{
	uint32		head;

	if (spill->rows_left == 0)
		return false;
	spill->rows_left--;

	/* No row is as short as what fills up the last unit of a chunk. */
	if (spill->chunk_left == 0 && spill->end - spill->at < UNIT)
		spill->at = spill->end;
	if (spill->narrow)
	{
		uint32		both[2];

		get_bytes(spill, both, sizeof(both));
		head = both[0];
		key->images[0] = both[1];
		key->nulls = (head & HEAD_NULL) != 0;
	}
	else
	{
		get_bytes(spill, &head, sizeof(head));
		get_bytes(spill, key->images, spill->keys->nmapped * sizeof(uint64));
		key->nulls = 0;
		if (head & HEAD_NULL)
			get_bytes(spill, &key->nulls, sizeof(key->nulls));
	}
	*len = head & ~HEAD_NULL;
	return true;
}

void
order_spill_tuple(OrderSpill *spill, MinimalTuple tuple, Size len)
{
	memset(tuple, 0, MINIMAL_TUPLE_DATA_OFFSET);
	tuple->t_len = (uint32) len;
	get_bytes(spill, (char *) tuple + MINIMAL_TUPLE_DATA_OFFSET, len - MINIMAL_TUPLE_DATA_OFFSET);
}

void
order_spill_destroy(OrderSpill *spill)
{
	order_file_close(spill->file);
	MemoryContextDelete(spill->memory);
}
