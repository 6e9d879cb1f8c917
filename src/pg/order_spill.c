/*
 * order_spill.c
 *		Rows partitioned by key in a temporary file (see order_spill.h).
 *
 * The file is a BufFile, so that temp_file_limit, log_temp_files,
 * temp_tablespaces and removal at the end of the transaction are PostgreSQL's
 * own.  One file for all partitions, in blocks, rather than a file each: some
 * hundred partitions would be as many files to open, and lines in the log.
 */
#include "postgres.h"

#include "storage/buffile.h"
#include "utils/memutils.h"

#include "compat.h"
#include "order_spill.h"

/*
 * With fewer partitions than this a spill has not gained enough; with more,
 * finding a row's partition and the small blocks cost more than another pass
 * over the few partitions that turn out too large.
 */
#define MIN_PARTITIONS 4
#define MAX_PARTITIONS 384

/* Partitions are planned to be so much of the limit: estimates are wrong. */
#define PARTITION_FILL 0.6

#define MIN_BLOCK ((Size) BLCKSZ)
#define MAX_BLOCK ((Size) 256 * 1024)

/* What precedes a row in the file, followed by its images and its tuple. */
typedef struct RowHeader
{
	uint32		len;			/* of its tuple */
	uint32		nulls;
} RowHeader;

struct OrderSpill
{
	MemoryContext memory;
	OrderKeys  *keys;
	bool		tuples;
	BufFile    *file;
	Size		block;			/* bytes in a block */
	uint32		nblocks;		/* written so far */
	int			npartitions;
	OrderPartition *partitions;
	OrderRowKey *bounds;		/* partition i + 1 starts at bounds[i] */
	uint64	   *narrow_bounds;	/* the images of bounds, if one key */

	/* Reading. */
	OrderPartition *reading;
	uint64		rows_left;
	uint32		chain_at;		/* next block of the chain */
	Size		at;				/* next byte in the buffer ... */
	Size		end;			/* ... which holds so many */
	char	   *buffer;
};

static int
compare_samples(const void *a, const void *b, void *arg)
{
	return order_row_key_compare((const OrderKeys *) arg, (const OrderRowKey *) a,
								 (const OrderRowKey *) b);
}

/* The next larger key, which need not be any row's; false if not easily made. */
static bool
make_successor(const OrderKeys *keys, OrderRowKey *key)
{
	int			last = keys->nmapped - 1;

	if ((key->nulls >> last) & 1 || key->images[last] == PG_UINT64_MAX)
		return false;
	key->images[last]++;
	return true;
}

OrderSpill *
order_spill_create(MemoryContext parent, OrderKeys *keys, bool tuples, OrderRowKey *samples,
				   int nsamples, double expected, Size limit)
{
	MemoryContext memory = AllocSetContextCreate(parent, "hpsort partitions", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(memory);
	OrderSpill *spill = (OrderSpill *) palloc0(sizeof(OrderSpill));
	double		wanted = expected / (PARTITION_FILL * (double) limit);
	int			most;
	int			nbounds = 0;
	int			i;

	spill->memory = memory;
	spill->keys = keys;
	spill->tuples = tuples;
	spill->block = MIN_BLOCK;
	while (spill->block < MAX_BLOCK && spill->block * 2 * MAX_PARTITIONS <= limit)
		spill->block *= 2;

	/* Their buffers together may take as much as the rows did until now. */
	most = (int) Min(MAX_PARTITIONS, limit / spill->block);
	most = Max(most, MIN_PARTITIONS);
	spill->npartitions = (int) Max(MIN_PARTITIONS, Min(wanted, most));

	qsort_interruptible(samples, nsamples, sizeof(OrderRowKey), compare_samples, keys);
	spill->bounds = (OrderRowKey *) palloc(2 * spill->npartitions * sizeof(OrderRowKey));
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
	if (keys->nmapped == 1)
	{
		spill->narrow_bounds = (uint64 *) palloc(spill->npartitions * sizeof(uint64));
		for (i = 0; i < nbounds; i++)
			spill->narrow_bounds[i] = spill->bounds[i].images[0];
	}
	spill->partitions = (OrderPartition *) palloc0(spill->npartitions * sizeof(OrderPartition));
	spill->file = BufFileCreateTemp(false);
	MemoryContextSwitchTo(old);
	return spill;
}

/* The partition of a row: the number of bounds at or before its key. */
static int
find_partition(const OrderSpill *spill, const OrderRowKey *key)
{
	int			low = 0;
	int			high = spill->npartitions - 1;

	if (spill->narrow_bounds && !(key->nulls & 1) && spill->bounds[0].nulls == 0 &&
		(high == 0 || spill->bounds[high - 1].nulls == 0))
	{
		const uint64 *bounds = spill->narrow_bounds;
		uint64		image = key->images[0];

		while (low < high)
		{
			int			middle = (low + high) / 2;

			if (bounds[middle] <= image)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}
	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (order_row_key_compare(spill->keys, &spill->bounds[middle], key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Writes a partition's block to the end of the file. */
static void
write_block(OrderSpill *spill, OrderPartition *partition)
{
	if (partition->nchain == partition->chain_room)
	{
		if (partition->chain == NULL)
		{
			partition->chain_room = 16;
			partition->chain = (uint32 *) MemoryContextAlloc(spill->memory, 16 * sizeof(uint32));
		}
		else
		{
			partition->chain_room *= 2;
			partition->chain = (uint32 *) repalloc_huge(partition->chain, partition->chain_room * sizeof(uint32));
		}
	}
	if (spill->nblocks == PG_UINT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("temporary file of a sort is too large")));

	/* A last block is written whole, too, so that all have their place. */
	BufFileWrite(spill->file, partition->buffer, spill->block);
	partition->chain[partition->nchain++] = spill->nblocks++;
	partition->used = 0;
}

static inline void
put_bytes(OrderSpill *spill, OrderPartition *partition, const void *data, Size len)
{
	const char *from = (const char *) data;

	while (len > 0)
	{
		Size		part = Min(len, spill->block - partition->used);

		memcpy(partition->buffer + partition->used, from, part);
		partition->used += part;
		from += part;
		len -= part;
		if (partition->used == spill->block)
			write_block(spill, partition);
	}
}

void
order_spill_put(OrderSpill *spill, const OrderRowKey *key, MinimalTuple tuple, Size len)
{
	OrderPartition *partition = &spill->partitions[find_partition(spill, key)];
	RowHeader	header;

	if (unlikely(partition->rows == 0))
	{
		partition->buffer = (char *) MemoryContextAlloc(spill->memory, spill->block);
		partition->lo = partition->hi = *key;
	}
	else if (order_row_key_compare(spill->keys, key, &partition->lo) < 0)
		partition->lo = *key;
	else if (order_row_key_compare(spill->keys, key, &partition->hi) > 0)
		partition->hi = *key;
	partition->rows++;
	partition->tuple_bytes += MAXALIGN(len);
	header.len = (uint32) len;
	header.nulls = key->nulls;
	put_bytes(spill, partition, &header, sizeof(header));
	put_bytes(spill, partition, key->images, spill->keys->nmapped * sizeof(uint64));
	put_bytes(spill, partition, tuple, len);
}

void
order_spill_finish(OrderSpill *spill)
{
	int			i;

	for (i = 0; i < spill->npartitions; i++)
	{
		OrderPartition *partition = &spill->partitions[i];

		if (partition->buffer == NULL)
			continue;
		if (partition->used > 0)
		{
			memset(partition->buffer + partition->used, 0, spill->block - partition->used);
			write_block(spill, partition);
		}
		pfree(partition->buffer);
		partition->buffer = NULL;
	}
	spill->buffer = (char *) MemoryContextAlloc(spill->memory, spill->block);
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
	return (uint64) spill->nblocks * spill->block;
}

void
order_spill_open(OrderSpill *spill, int number)
{
	spill->reading = &spill->partitions[number];
	spill->rows_left = spill->reading->rows;
	spill->chain_at = 0;
	spill->at = spill->end = 0;
}

static void
next_block(OrderSpill *spill)
{
	uint64		offset = (uint64) spill->reading->chain[spill->chain_at++] * spill->block;

	/* BLCKSZ divides a block. */
	if (BufFileSeekBlock(spill->file, (long) (offset / BLCKSZ)) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file: %m")));
	compat_buffile_read(spill->file, spill->buffer, spill->block);
	spill->at = 0;
	spill->end = spill->block;
}

static inline void
get_bytes(OrderSpill *spill, void *data, Size len)
{
	char	   *to = (char *) data;

	while (len > 0)
	{
		Size		part;

		if (spill->at == spill->end)
			next_block(spill);
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
	RowHeader	header;

	if (spill->rows_left == 0)
		return false;
	spill->rows_left--;
	get_bytes(spill, &header, sizeof(header));
	get_bytes(spill, key->images, spill->keys->nmapped * sizeof(uint64));
	key->nulls = (uint8) header.nulls;
	*len = header.len;
	return true;
}

void
order_spill_tuple(OrderSpill *spill, MinimalTuple tuple, Size len)
{
	get_bytes(spill, tuple, len);
}

void
order_spill_destroy(OrderSpill *spill)
{
	BufFileClose(spill->file);
	MemoryContextDelete(spill->memory);
}
