/*
 * row_spill.c
 *		Rows for whose group there is no memory (see row_spill.h).
 *
 * The rows of a partition gather in arrays by column.  Full ones become a block, in which a column
 * takes as many bytes a value as the block's range of values needs.  Blocks stay in memory as long
 * as there is some, and all blocks go to the files of their partitions then.
 *
 * A value that is kept in place of a number, or of a Datum, is behind the columns of the block, and
 * the column has the complement of its offset in multiples of MAXIMUM_ALIGNOF.
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/read/row_spill.h"

/*
 * Partitions of a pass, a power of two.  A partition has the buffer of its file, of 8 kB, and
 * arrays of LEAST_ARRAYS bytes or more, of MOST_ROWS rows at most.  All of them are within the
 * memory limit, unless LEAST_PARTITIONS take more.
 */
#define LEAST_PARTITIONS 4
#define LEAST_ROWS 64
#define MOST_ROWS 1024

/* Bytes of a partition's arrays, or as much of all memory as they can use. */
#define LEAST_ARRAYS (BLCKSZ / 2)
#define ARRAYS_PART 8

/* Bytes of values with which a block ends, and for which a partition has room from the first on. */
#define MOST_VALUES (BLCKSZ / 4)
#define VALUES_ROOM (BLCKSZ / 2)

/* Some rows.  Each column, and then the values, begins at a multiple of MAXIMUM_ALIGNOF. */
typedef struct SpillBlock
{
	struct SpillBlock *next;	/* of the partition */
	size_t		size;			/* bytes of data */
	size_t		values;			/* offset of the values in data */
	size_t		nrows;
	char		data[FLEXIBLE_ARRAY_MEMBER];
} SpillBlock;

/* The values of a column in a block, followed by marks for NULLs if there are some. */
typedef struct SpillColumn
{
	int64		base;			/* the least value */
	uint8		width;			/* bytes of a value's distance from it: 0, 1, 2, 4 or 8 */
	bool		has_nulls;
} SpillColumn;

typedef struct Partition
{
	BufFile    *file;			/* NULL: there is none */
	uint64		nfile;			/* blocks in it that have not been read */
	SpillBlock *first;			/* blocks behind these, in memory */
	SpillBlock *last;
	int			number;			/* among the partitions of rows that were refused */
	uint64		nrows;			/* that have not been read, without those of gathered */
	ColumnBatch *gathered;		/* arrays for rows that are in no block; NULL: none */
	char	   *values;			/* their values */
	size_t		nvalues;		/* bytes of them ... */
	size_t		values_room;	/* ... and for how many there is room */
	int			level;			/* how often they have been refused before */
} Partition;

struct RowSpill
{
	MemoryContext memory;		/* of files and arrays */
	int			nbatches;
	Dictionary **dictionaries;	/* by batch, of the numbers that it has; or NULL */
	bool		keeps_numbers;	/* numbers are written, and values only where they have none */
	bool		by_number;		/* hashes are the numbers of partitions */
	DatumBuffer **buffers;		/* by batch, of the Datums that it has; or NULL */
	ColumnBatch *batches;		/* what the caller is given */
	size_t		most_rows;		/* of a block */
	size_t		held_limit;		/* bytes of blocks in memory */
	size_t		held;
	SpillBlock *block;			/* room for a block that is made, or read of a file */
	size_t		block_room;		/* bytes of its data */
	uint64		disk;			/* bytes written */

	int			npartitions;
	Partition  *partitions;		/* of the rows that are refused now */
	int			level;			/* of these partitions: refused rows get another hash at each
								 * level */

	int			nwaiting;
	int			room;			/* in waiting */
	Partition  *waiting;		/* to be read, the last one first */
	Partition	reading;		/* the one that is read */

	/* by row of the batch that is divided next */
	bool		refused[COLUMN_BATCH_KEYS]; /* whether the row is refused */
	uint32		hashes[COLUMN_BATCH_KEYS];	/* of the value that is refused */

	/* rows of that batch that are written together: where each of them goes */
	uint16		rows[COLUMN_BATCH_KEYS];
	uint8		partition_of[COLUMN_BATCH_KEYS];
	uint16		place[COLUMN_BATCH_KEYS];	/* in the partition's arrays */
};

/* Makes a batch like another one. */
static void
make_like(ColumnBatch *batch, const ColumnBatch *like, size_t room)
{
	/* A filter's batch has neither keys nor wide. */
	column_batch_make(batch, BATCH_NULLS | (like->keys ? BATCH_KEYS : like->wide ? BATCH_WIDE : 0),
					  room);
}

/* Returns the bytes of a row in arrays. */
static size_t
row_size(const ColumnBatch *like, int nbatches)
{
	size_t		size = 0;

	for (int b = 0; b < nbatches; b++)
		size += sizeof(uint8) + (like[b].keys ? sizeof(int32) : like[b].wide ? sizeof(int64) : 0);
	return size;
}

RowSpill *
row_spill_make(const ColumnBatch *like, int nbatches, const ColumnImage *images, int ncolumns,
			   bool keeps_numbers, int npartitions, size_t memory_limit)
{
	RowSpill   *spill = palloc0_object(RowSpill);
	size_t		buffers = BLCKSZ;	/* of a partition */
	size_t		most;
	size_t		arrays;

	spill->memory = CurrentMemoryContext;
	spill->nbatches = nbatches;
	spill->keeps_numbers = keeps_numbers;
	spill->batches = palloc0_array(ColumnBatch, nbatches);
	for (int b = 0; b < nbatches; b++)
		make_like(&spill->batches[b], &like[b], COLUMN_BATCH_KEYS);
	spill->dictionaries = palloc0_array(Dictionary *, nbatches);
	spill->buffers = palloc0_array(DatumBuffer *, nbatches);
	for (int b = 0; b < ncolumns && images; b++)
	{
		spill->dictionaries[b] = images[b].dictionary;
		spill->buffers[b] = images[b].make ? images[b].arg : NULL;
		if (images[b].make || (images[b].dictionary && !keeps_numbers))
			buffers = BLCKSZ + VALUES_ROOM;
	}
	most = Min(memory_limit / (buffers + LEAST_ARRAYS), ROW_SPILL_MOST_PARTITIONS);
	for (spill->npartitions = LEAST_PARTITIONS; 2 * spill->npartitions <= (int) most;)
		spill->npartitions *= 2;
	spill->by_number = npartitions > 0;
	if (spill->by_number)
		spill->npartitions = npartitions;
	Assert(spill->npartitions <= ROW_SPILL_MOST_PARTITIONS);
	arrays = Max(memory_limit / ARRAYS_PART / spill->npartitions, LEAST_ARRAYS);
	spill->most_rows = Min(Max(arrays / row_size(like, nbatches), LEAST_ROWS), MOST_ROWS);
	arrays = spill->npartitions * (buffers + spill->most_rows * row_size(like, nbatches));
	spill->held_limit = memory_limit - Min(arrays, memory_limit);
	spill->partitions = palloc0_array(Partition, spill->npartitions);
	spill->room = spill->npartitions;
	spill->waiting = palloc_array(Partition, spill->room);
	return spill;
}

/* Gives back what a partition has; the rows are gone. */
static void
free_partition(RowSpill *spill, Partition *partition)
{
	SpillBlock *block;

	if (partition->file)
		BufFileClose(partition->file);
	while ((block = partition->first) != NULL)
	{
		partition->first = block->next;
		spill->held -= GetMemoryChunkSpace(block);
		pfree(block);
	}
	for (int b = 0; b < spill->nbatches && partition->gathered; b++)
		column_batch_free(&partition->gathered[b]);
	if (partition->gathered)
		pfree(partition->gathered);
	if (partition->values)
		pfree(partition->values);
	memset(partition, 0, sizeof(Partition));
}

void
row_spill_free(RowSpill *spill)
{
	for (int i = 0; i < spill->npartitions; i++)
		free_partition(spill, &spill->partitions[i]);
	for (int i = 0; i < spill->nwaiting; i++)
		free_partition(spill, &spill->waiting[i]);
	free_partition(spill, &spill->reading);
	for (int i = 0; i < spill->nbatches; i++)
		column_batch_free(&spill->batches[i]);
	pfree(spill->batches);
	pfree(spill->dictionaries);
	pfree(spill->buffers);
	if (spill->block)
		pfree(spill->block);
	pfree(spill->partitions);
	pfree(spill->waiting);
	pfree(spill);
}

uint64
row_spill_disk(const RowSpill *spill)
{
	return spill->disk;
}

/* --- blocks */

/* Returns spill->block, with room for size bytes of data. */
static SpillBlock *
get_block(RowSpill *spill, size_t size)
{
	if (spill->block == NULL || size > spill->block_room)
	{
		if (spill->block)
			pfree(spill->block);
		spill->block = NULL;
		spill->block = MemoryContextAllocHuge(spill->memory, offsetof(SpillBlock, data) + size);
		spill->block_room = size;
	}
	return spill->block;
}

/* Writes the distances of n values from base as integers of a type, or reads them. */
#define PACK(type, from) \
	do { \
		for (size_t i = 0; i < n; i++) \
			((type *) to)[i] = (type) ((from)[i] - column.base); \
	} while (0)
#define UNPACK(type, to) \
	do { \
		for (size_t i = 0; i < n; i++) \
			(to)[i] = ((const type *) from)[i] + column.base; \
	} while (0)

/* Calls PACK or UNPACK as the width of a column says. */
#define OF_WIDTH(what, values) \
	do { \
		if (column.width == 1) \
			what(uint8, values); \
		else if (column.width == 2) \
			what(uint16, values); \
		else if (column.width == 4) \
			what(uint32, values); \
		else if (column.width == 8) \
			what(uint64, values); \
	} while (0)

/* Sets *base to the least value of a batch; returns the bytes that distances from it need. */
static uint8
find_width(const ColumnBatch *batch, int64 *base)
{
	int64		lo = batch->n > 0 ? column_batch_value(batch, 0) : 0;
	int64		hi = lo;
	uint64		range;

	for (size_t i = 0; i < batch->n && batch->keys; i++)
	{
		lo = Min(lo, batch->keys[i]);
		hi = Max(hi, batch->keys[i]);
	}
	for (size_t i = 0; i < batch->n && batch->wide; i++)
	{
		lo = Min(lo, batch->wide[i]);
		hi = Max(hi, batch->wide[i]);
	}
	*base = lo;
	range = (uint64) hi - (uint64) lo;
	return range == 0 ? 0 : range <= PG_UINT8_MAX ? 1 : range <= PG_UINT16_MAX ? 2 :
		range <= PG_UINT32_MAX ? 4 : 8;
}

/* Writes a batch to a block; returns where the next one begins. */
static char *
pack_column(char *to, const ColumnBatch *batch)
{
	SpillColumn column = {.has_nulls = batch->nnulls > 0};
	size_t		n = batch->n;

	if (batch->keys || batch->wide)
		column.width = find_width(batch, &column.base);
	memcpy(to, &column, sizeof(column));
	to += MAXALIGN(sizeof(column));
	if (batch->keys)
		OF_WIDTH(PACK, batch->keys);
	else if (batch->wide)
		OF_WIDTH(PACK, batch->wide);
	to += MAXALIGN(n * column.width);
	if (column.has_nulls)
	{
		memcpy(to, batch->nulls, n);
		to += MAXALIGN(n);
	}
	return to;
}

/* Appends a column of n rows of a block to a batch; returns where the next one begins. */
static const char *
unpack_column(const char *from, ColumnBatch *batch, size_t n)
{
	BatchSpace	space = column_batch_space(batch, n);
	SpillColumn column;
	size_t		nnulls = 0;

	memcpy(&column, from, sizeof(column));
	from += MAXALIGN(sizeof(column));
	for (size_t i = 0; i < n && column.width == 0; i++)
		if (space.keys)
			space.keys[i] = (int32) column.base;
		else if (space.wide)
			space.wide[i] = column.base;
	if (space.keys)
		OF_WIDTH(UNPACK, space.keys);
	else if (space.wide)
		OF_WIDTH(UNPACK, space.wide);
	from += MAXALIGN(n * column.width);
	if (column.has_nulls)
	{
		memcpy(space.nulls, from, n);
		for (size_t i = 0; i < n; i++)
			nnulls += space.nulls[i] != 0;
		from += MAXALIGN(n);
	}
	else
		memset(space.nulls, 0, n);
	column_batch_add(batch, n, nnulls);
	return from;
}

/* --- writing */

void
row_spill_refuse(RowSpill *spill, size_t row, uint32 hash)
{
	if (spill->refused[row])
		return;
	spill->refused[row] = true;
	spill->hashes[row] = hash;
}

/* Writes the blocks of a partition that are in memory to its file. */
static void
write_blocks(RowSpill *spill, Partition *partition)
{
	MemoryContext old = MemoryContextSwitchTo(spill->memory);
	SpillBlock *block;

	if (partition->file == NULL && partition->first)
	{
		PrepareTempTablespaces();
		partition->file = BufFileCreateTemp(false);
	}
	while ((block = partition->first) != NULL)
	{
		size_t		size = offsetof(SpillBlock, data) + block->size;

		BufFileWrite(partition->file, block, size);
		partition->nfile++;
		partition->first = block->next;
		spill->disk += size;
		spill->held -= GetMemoryChunkSpace(block);
		pfree(block);
	}
	MemoryContextSwitchTo(old);
}

/* Makes a block of the rows that a partition has gathered, if there are some. */
static void
make_block(RowSpill *spill, Partition *partition)
{
	size_t		n = partition->gathered ? partition->gathered[0].n : 0;
	size_t		most = MAXALIGN(partition->nvalues);
	SpillBlock *block;
	size_t		size;
	char	   *to;

	if (n == 0)
		return;
	most += spill->nbatches * (MAXALIGN(sizeof(SpillColumn)) +
							   MAXALIGN(n * sizeof(int64)) + MAXALIGN(n));
	block = get_block(spill, most);
	block->next = NULL;
	block->nrows = n;
	to = block->data;
	for (int b = 0; b < spill->nbatches; b++)
	{
		to = pack_column(to, &partition->gathered[b]);
		column_batch_clear(&partition->gathered[b]);
	}
	block->values = to - block->data;
	if (partition->nvalues > 0)
		memcpy(to, partition->values, partition->nvalues);
	block->size = block->values + partition->nvalues;
	partition->nvalues = 0;
	partition->nrows += n;
	/* So many bytes that the memory context gives them back when they are freed. */
	size = offsetof(SpillBlock, data) + block->size;
	block = memcpy(MemoryContextAllocHuge(spill->memory,
										  Max(size, ALLOCSET_SEPARATE_THRESHOLD + 1)),
				   block, size);
	if (partition->first == NULL)
		partition->first = block;
	else
		partition->last->next = block;
	partition->last = block;
	spill->held += GetMemoryChunkSpace(block);
	if (spill->held > spill->held_limit)
		for (int p = 0; p < spill->npartitions; p++)
			write_blocks(spill, &spill->partitions[p]);
}

/* Keeps a value of length bytes; returns what the column has in its place. */
static int64
keep_value(RowSpill *spill, Partition *partition, const char *bytes, size_t length)
{
	size_t		at = partition->nvalues;
	size_t		end = at + MAXALIGN(length);

	if (end > partition->values_room)
	{
		partition->values_room = Max(Max(end, VALUES_ROOM), 2 * partition->values_room);
		partition->values = partition->values ?
			repalloc_huge(partition->values, partition->values_room) :
			MemoryContextAllocHuge(spill->memory, partition->values_room);
	}
	memcpy(partition->values + at, bytes, length);
	memset(partition->values + at + length, 0, MAXALIGN(length) - length);
	partition->nvalues = end;
	return ~(int64) (at / MAXIMUM_ALIGNOF);
}

/* Returns what a block has of the row of a batch whose value may have to be kept. */
static int64
kept_of(RowSpill *spill, Partition *partition, int b, const ColumnBatch *batch, size_t row)
{
	const char *bytes;
	size_t		length;

	if (batch->nulls[row])
		return 0;
	if (spill->buffers[b])
		bytes = datum_buffer_bytes(spill->buffers[b], &batch->wide[row], &length);
	else if (batch->keys[row] < 0 || !spill->keeps_numbers)
		bytes = dictionary_bytes(spill->dictionaries[b], batch->keys[row], &length);
	else
		return batch->keys[row];
	return keep_value(spill, partition, bytes, length);
}

/*
 * Copies the n rows that are written together to the arrays of their partitions, which have
 * nrows[p] rows then.
 */
static void
scatter_column(RowSpill *spill, int b, const ColumnBatch *batch, size_t n, const uint16 *nrows)
{
	bool		kept = spill->buffers[b] || spill->dictionaries[b];
	BatchSpace	spaces[ROW_SPILL_MOST_PARTITIONS];
	uint16		nnulls[ROW_SPILL_MOST_PARTITIONS] = {0};
	const uint8 *of = spill->partition_of;
	const uint16 *place = spill->place;
	const uint16 *rows = spill->rows;

	for (int p = 0; p < spill->npartitions; p++)
		if (spill->partitions[p].gathered)
			spaces[p] = column_batch_arrays(&spill->partitions[p].gathered[b], 0);
	for (size_t i = 0; i < n && kept; i++)
	{
		int64		value = kept_of(spill, &spill->partitions[of[i]], b, batch, rows[i]);

		if (batch->keys)
			spaces[of[i]].keys[place[i]] = (int32) value;
		else
			spaces[of[i]].wide[place[i]] = value;
	}
	if (batch->keys && !kept)
		for (size_t i = 0; i < n; i++)
			spaces[of[i]].keys[place[i]] = batch->keys[rows[i]];
	else if (batch->wide && !kept)
		for (size_t i = 0; i < n; i++)
			spaces[of[i]].wide[place[i]] = batch->wide[rows[i]];
	for (size_t i = 0; i < n && batch->nnulls > 0; i++)
	{
		spaces[of[i]].nulls[place[i]] = batch->nulls[rows[i]];
		nnulls[of[i]] += batch->nulls[rows[i]] != 0;
	}
	for (int p = 0; p < spill->npartitions; p++)
		if (spill->partitions[p].gathered)
			column_batch_add(&spill->partitions[p].gathered[b],
							 nrows[p] - spill->partitions[p].gathered[b].n, nnulls[p]);
}

/* Makes the arrays of a partition. */
static void
begin_partition(RowSpill *spill, Partition *partition)
{
	MemoryContext old = MemoryContextSwitchTo(spill->memory);

	partition->gathered = palloc0_array(ColumnBatch, spill->nbatches);
	for (int b = 0; b < spill->nbatches; b++)
	{
		make_like(&partition->gathered[b], &spill->batches[b], spill->most_rows);
		column_batch_clear(&partition->gathered[b]);
	}
	partition->level = spill->level;
	MemoryContextSwitchTo(old);
}

/*
 * Writes the refused rows of a batch, together as many as the arrays of all partitions have room
 * for.
 */
void
row_spill_write(RowSpill *spill, const ColumnBatch *batches)
{
	size_t		nrows = batches[0].n;
	size_t		from = 0;

	CHECK_FOR_INTERRUPTS();
	while (from < nrows)
	{
		Partition  *full = NULL;
		uint16		place[ROW_SPILL_MOST_PARTITIONS];
		size_t		n = 0;
		int			p;

		for (p = 0; p < spill->npartitions; p++)
			place[p] = spill->partitions[p].gathered ? spill->partitions[p].gathered[0].n : 0;
		for (; from < nrows && full == NULL; from++)
		{
			uint32		hash = spill->hashes[from];

			if (!spill->refused[from])
				continue;
			if (!spill->by_number)
				hash = murmurhash32(hash + (uint32) spill->level * 0x9E3779B9);
			p = hash & (spill->npartitions - 1);
			if (spill->partitions[p].gathered == NULL)
				begin_partition(spill, &spill->partitions[p]);
			spill->rows[n] = (uint16) from;
			spill->partition_of[n] = (uint8) p;
			spill->place[n++] = place[p]++;
			if (place[p] == spill->most_rows)
				full = &spill->partitions[p];
		}
		for (int b = 0; b < spill->nbatches; b++)
			scatter_column(spill, b, &batches[b], n, place);
		if (full)
			make_block(spill, full);
		for (p = 0; p < spill->npartitions; p++)
			if (spill->partitions[p].nvalues > MOST_VALUES)
				make_block(spill, &spill->partitions[p]);
	}
	memset(spill->refused, 0, nrows * sizeof(bool));
}

const ColumnBatch *
row_spill_divide(RowSpill *spill, const ColumnBatch *batches)
{
	size_t		nrows = batches[0].n;
	uint16		kept[COLUMN_BATCH_KEYS];
	size_t		n = 0;

	for (size_t i = 0; i < nrows; i++)
		if (!spill->refused[i])
			kept[n++] = (uint16) i;
	row_spill_write(spill, batches);
	/* The batch may be the spill's own, whose rows move towards its beginning. */
	for (int b = 0; b < spill->nbatches; b++)
		column_batch_gather(&spill->batches[b], &batches[b], kept, n, false);
	return spill->batches;
}

/* --- reading */

/* What has been refused of the partition before waits as well, one level further. */
bool
row_spill_next(RowSpill *spill)
{
	free_partition(spill, &spill->reading);
	for (int p = 0; p < spill->npartitions; p++)
	{
		Partition  *partition = &spill->partitions[p];

		make_block(spill, partition);
		if (partition->nrows == 0)
			continue;
		if (spill->nwaiting == spill->room)
		{
			spill->room *= 2;
			spill->waiting = repalloc(spill->waiting, spill->room * sizeof(Partition));
		}
		partition->number = p;
		spill->waiting[spill->nwaiting] = *partition;
		memset(partition, 0, sizeof(Partition));
		/* Its arrays serve the rows that are refused next. */
		partition->gathered = spill->waiting[spill->nwaiting].gathered;
		spill->waiting[spill->nwaiting++].gathered = NULL;
	}
	if (spill->nwaiting == 0)
		return false;
	/* The partitions that have been divided most come first, so that few files are open. */
	spill->reading = spill->waiting[--spill->nwaiting];
	spill->level = spill->reading.level + 1;
	for (int p = 0; p < spill->npartitions; p++)
		spill->partitions[p].level = spill->level;
	if (spill->reading.file && BufFileSeek(spill->reading.file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not rewind temporary file of HpSort Aggregate")));
	return true;
}

int
row_spill_partition(const RowSpill *spill)
{
	return spill->reading.number;
}

/* Returns the next block of the partition that is read, valid until the next call. */
static const SpillBlock *
next_block(RowSpill *spill)
{
	Partition  *reading = &spill->reading;
	SpillBlock	header;
	SpillBlock *block;

	if (reading->nfile == 0)
	{
		block = reading->first;
		reading->first = block->next;
		spill->held -= GetMemoryChunkSpace(block);
		if (spill->block)
			pfree(spill->block);
		spill->block = block;
		spill->block_room = block->size;
		return block;
	}
	BufFileReadExact(reading->file, &header, offsetof(SpillBlock, data));
	block = get_block(spill, header.size);
	memcpy(block, &header, offsetof(SpillBlock, data));
	BufFileReadExact(reading->file, block->data, block->size);
	reading->nfile--;
	return block;
}

/* Whether a dictionary, or a buffer, wants no more rows in a batch. */
static bool
ends_batch(const RowSpill *spill)
{
	for (int b = 0; b < spill->nbatches; b++)
		if ((spill->dictionaries[b] && dictionary_ends_batch(spill->dictionaries[b])) ||
			(spill->buffers[b] && datum_buffer_is_full(spill->buffers[b])))
			return true;
	return false;
}

/* Puts numbers, or Datums, in the place of offsets of values in the last n rows of a batch. */
static void
restore_values(RowSpill *spill, int b, const SpillBlock *block)
{
	ColumnBatch *batch = &spill->batches[b];
	BatchSpace	space = column_batch_arrays(batch, batch->n - block->nrows);

	for (size_t i = 0; i < block->nrows; i++)
	{
		int64		kept = space.keys ? space.keys[i] : space.wide[i];
		const char *bytes = block->data + block->values + ~kept * MAXIMUM_ALIGNOF;

		if (space.nulls[i] || kept >= 0)
			continue;
		if (spill->buffers[b])
			space.wide[i] = datum_buffer_put(spill->buffers[b],
											 datum_buffer_restore(spill->buffers[b], bytes));
		else
			space.keys[i] = dictionary_number(spill->dictionaries[b],
											  dictionary_restore(spill->dictionaries[b], bytes));
	}
}

const ColumnBatch *
row_spill_read(RowSpill *spill)
{
	size_t		n = 0;

	CHECK_FOR_INTERRUPTS();
	if (spill->reading.nrows == 0)
		return NULL;
	/* The rows stay in the arrays until others are appended. */
	for (int b = 0; b < spill->nbatches; b++)
		column_batch_empty(&spill->batches[b]);
	while (spill->reading.nrows > 0 && n + spill->most_rows <= COLUMN_BATCH_KEYS &&
		   !ends_batch(spill))
	{
		const SpillBlock *block = next_block(spill);
		const char *from = block->data;

		for (int b = 0; b < spill->nbatches; b++)
		{
			from = unpack_column(from, &spill->batches[b], block->nrows);
			if (spill->buffers[b] || spill->dictionaries[b])
				restore_values(spill, b, block);
		}
		n += block->nrows;
		spill->reading.nrows -= block->nrows;
	}
	return spill->batches;
}
