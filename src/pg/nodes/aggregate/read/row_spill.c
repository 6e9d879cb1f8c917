/*
 * row_spill.c
 *		Rows for whose group there is no memory (see row_spill.h).
 *
 * A row in a file is the values of all batches, each with its mark for NULL, one after
 * the other.  In place of a number it has the complement of the value's length, unless numbers are
 * kept, and in place of a Datum the length.  The values follow, in the order of the batches, each
 * in a multiple of MAXIMUM_ALIGNOF bytes.
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/buffile.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/read/row_spill.h"

/*
 * Partitions of a pass, a power of two.  A file has a buffer of 8 kB.  All buffers of a pass are
 * within the memory limit, unless LEAST_PARTITIONS take more.
 */
#define LEAST_PARTITIONS 4
#define MOST_PARTITIONS 32

typedef struct Partition
{
	BufFile    *file;			/* NULL: there are none */
	uint64		nrows;			/* that have not been read */
	int			level;			/* how often they have been refused before */
} Partition;

struct RowSpill
{
	MemoryContext memory;		/* of files and arrays */
	int			nbatches;
	Dictionary **dictionaries;	/* by batch, of the numbers that it has; or NULL */
	bool		keeps_numbers;	/* numbers are written, and values only where they have none */
	DatumBuffer **buffers;		/* by batch, of the Datums that it has; or NULL */
	size_t		row_size;		/* bytes of a row in a file, without values behind it */
	char	   *row;			/* one, to be written or read */
	char	   *values;			/* the values behind it */
	size_t		values_size;	/* bytes for which there is room in values */
	ColumnBatch *batches;		/* what the caller is given */
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
};

RowSpill *
row_spill_make(const ColumnBatch *like, int nbatches, const ColumnImage *images, int ncolumns,
			   bool keeps_numbers, size_t memory_limit)
{
	RowSpill   *spill = palloc0_object(RowSpill);
	size_t		most = Min(memory_limit / BLCKSZ, MOST_PARTITIONS);
	int			b;

	spill->memory = CurrentMemoryContext;
	spill->nbatches = nbatches;
	spill->keeps_numbers = keeps_numbers;
	spill->batches = palloc0_array(ColumnBatch, nbatches);
	for (b = 0; b < nbatches; b++)
	{
		/* A filter's batch has neither keys nor wide. */
		column_batch_make(&spill->batches[b], BATCH_NULLS |
						  (like[b].keys ? BATCH_KEYS : like[b].wide ? BATCH_WIDE : 0),
						  COLUMN_BATCH_KEYS);
		spill->row_size += sizeof(uint8) + (like[b].keys ? sizeof(int32) : like[b].wide ?
											sizeof(int64) : 0);
	}
	spill->dictionaries = palloc0_array(Dictionary *, nbatches);
	spill->buffers = palloc0_array(DatumBuffer *, nbatches);
	for (b = 0; b < ncolumns && images; b++)
	{
		spill->dictionaries[b] = images[b].dictionary;
		spill->buffers[b] = images[b].make ? images[b].arg : NULL;
	}
	spill->row = palloc(spill->row_size);
	for (spill->npartitions = LEAST_PARTITIONS; 2 * spill->npartitions <= (int) most;)
		spill->npartitions *= 2;
	spill->partitions = palloc0_array(Partition, spill->npartitions);
	spill->room = spill->npartitions;
	spill->waiting = palloc_array(Partition, spill->room);
	return spill;
}

/* Closes the file of a partition, if it has one; the rows are gone. */
static void
close_file(Partition *partition)
{
	if (partition->file)
		BufFileClose(partition->file);
	partition->file = NULL;
}

void
row_spill_free(RowSpill *spill)
{
	int			i;

	for (i = 0; i < spill->npartitions; i++)
		close_file(&spill->partitions[i]);
	for (i = 0; i < spill->nwaiting; i++)
		close_file(&spill->waiting[i]);
	close_file(&spill->reading);
	for (i = 0; i < spill->nbatches; i++)
		column_batch_free(&spill->batches[i]);
	pfree(spill->batches);
	pfree(spill->dictionaries);
	pfree(spill->buffers);
	pfree(spill->row);
	if (spill->values)
		pfree(spill->values);
	pfree(spill->partitions);
	pfree(spill->waiting);
	pfree(spill);
}

uint64
row_spill_disk(const RowSpill *spill)
{
	return spill->disk;
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

/* Has values hold size bytes; what they are before is kept. */
static void
make_room(RowSpill *spill, size_t size)
{
	if (size <= spill->values_size)
		return;
	spill->values_size = Max(size, 2 * spill->values_size);
	spill->values = spill->values ? repalloc_huge(spill->values, spill->values_size) :
		MemoryContextAllocHuge(spill->memory, spill->values_size);
}

/* Adds a value of length bytes behind used bytes of values. */
static void
add_value(RowSpill *spill, const char *bytes, size_t length, size_t *used)
{
	make_room(spill, *used + MAXALIGN(length));
	memcpy(spill->values + *used, bytes, length);
	memset(spill->values + *used + length, 0, MAXALIGN(length) - length);
	*used += MAXALIGN(length);
}

static void
write_row(RowSpill *spill, const ColumnBatch *batches, size_t i)
{
	uint32		hash = murmurhash32(spill->hashes[i] + (uint32) spill->level * 0x9E3779B9);
	Partition  *partition = &spill->partitions[hash & (spill->npartitions - 1)];
	char	   *at = spill->row;
	const char *bytes;
	size_t		length;
	size_t		used = 0;
	int			b;

	if (partition->file == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(spill->memory);

		PrepareTempTablespaces();
		partition->file = BufFileCreateTemp(false);
		partition->nrows = 0;
		partition->level = spill->level;
		MemoryContextSwitchTo(old);
	}
	for (b = 0; b < spill->nbatches; b++)
	{
		if (batches[b].keys)
		{
			int32		key = batches[b].keys[i];

			if (spill->dictionaries[b] && !batches[b].nulls[i] &&
				(key < 0 || !spill->keeps_numbers))
			{
				bytes = dictionary_bytes(spill->dictionaries[b], key, &length);
				add_value(spill, bytes, length, &used);
				key = ~(int32) length;
			}
			memcpy(at, &key, sizeof(int32));
			at += sizeof(int32);
		}
		else if (batches[b].wide)
		{
			int64		value = batches[b].wide[i];

			if (spill->buffers[b] && !batches[b].nulls[i])
			{
				bytes = datum_buffer_bytes(spill->buffers[b], &batches[b].wide[i], &length);
				add_value(spill, bytes, length, &used);
				value = (int64) length;
			}
			memcpy(at, &value, sizeof(int64));
			at += sizeof(int64);
		}
		*at++ = (char) batches[b].nulls[i];
	}
	BufFileWrite(partition->file, spill->row, spill->row_size);
	if (used > 0)
		BufFileWrite(partition->file, spill->values, used);
	partition->nrows++;
	spill->disk += spill->row_size + used;
}

/*
 * Takes the rows out of what the caller is given; they stay in the arrays until others are
 * appended.
 */
static void
take_out_rows(RowSpill *spill)
{
	int			b;

	for (b = 0; b < spill->nbatches; b++)
		column_batch_empty(&spill->batches[b]);
}

void
row_spill_write(RowSpill *spill, const ColumnBatch *batches)
{
	size_t		nrows = batches[0].n;
	size_t		i;

	CHECK_FOR_INTERRUPTS();
	for (i = 0; i < nrows; i++)
		if (spill->refused[i])
			write_row(spill, batches, i);
	memset(spill->refused, 0, nrows * sizeof(bool));
}

const ColumnBatch *
row_spill_divide(RowSpill *spill, const ColumnBatch *batches)
{
	size_t		nrows = batches[0].n;
	uint16		kept[COLUMN_BATCH_KEYS];
	size_t		n = 0;
	size_t		i;
	int			b;

	CHECK_FOR_INTERRUPTS();
	for (i = 0; i < nrows; i++)
	{
		if (spill->refused[i])
			write_row(spill, batches, i);
		else
			kept[n++] = (uint16) i;
	}
	memset(spill->refused, 0, nrows * sizeof(bool));
	/* The batch may be the spill's own, whose rows move towards its beginning. */
	for (b = 0; b < spill->nbatches; b++)
		column_batch_gather(&spill->batches[b], &batches[b], kept, n);
	return spill->batches;
}

/* --- reading */

/* What has been refused of the partition before waits as well, one level further. */
bool
row_spill_next(RowSpill *spill)
{
	int			p;

	close_file(&spill->reading);
	for (p = 0; p < spill->npartitions; p++)
	{
		if (spill->partitions[p].file == NULL)
			continue;
		if (spill->nwaiting == spill->room)
		{
			spill->room *= 2;
			spill->waiting = repalloc(spill->waiting, spill->room * sizeof(Partition));
		}
		spill->waiting[spill->nwaiting++] = spill->partitions[p];
		spill->partitions[p].file = NULL;
	}
	if (spill->nwaiting == 0)
		return false;
	/* The partitions that have been divided most come first, so that few files are open. */
	spill->reading = spill->waiting[--spill->nwaiting];
	spill->level = spill->reading.level + 1;
	if (BufFileSeek(spill->reading.file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not rewind temporary file of HpSort Aggregate")));
	return true;
}

/* Returns the next value in the file, of length bytes, valid until the next call. */
static const char *
read_value(RowSpill *spill, size_t length)
{
	make_room(spill, MAXALIGN(length));
	BufFileReadExact(spill->reading.file, spill->values, MAXALIGN(length));
	return spill->values;
}

/* Whether a dictionary, or a buffer, wants no more rows in a batch. */
static bool
ends_batch(const RowSpill *spill)
{
	int			b;

	for (b = 0; b < spill->nbatches; b++)
		if ((spill->dictionaries[b] && dictionary_ends_batch(spill->dictionaries[b])) ||
			(spill->buffers[b] && datum_buffer_is_full(spill->buffers[b])))
			return true;
	return false;
}

/* Appends the next row in the file to what the caller is given. */
static void
read_row(RowSpill *spill)
{
	const char *at = spill->row;
	int			b;

	BufFileReadExact(spill->reading.file, spill->row, spill->row_size);
	for (b = 0; b < spill->nbatches; b++)
	{
		ColumnBatch *batch = &spill->batches[b];
		const char *bytes;
		int32		key = 0;
		int64		value = 0;

		if (batch->keys)
		{
			memcpy(&key, at, sizeof(int32));
			at += sizeof(int32);
			if (spill->dictionaries[b] && *at == 0 && key < 0)
			{
				bytes = read_value(spill, (uint32) ~key);
				key = dictionary_number(spill->dictionaries[b],
										dictionary_restore(spill->dictionaries[b], bytes));
			}
		}
		else if (batch->wide)
		{
			memcpy(&value, at, sizeof(int64));
			at += sizeof(int64);
			if (spill->buffers[b] && *at == 0)
			{
				bytes = read_value(spill, (size_t) value);
				value = datum_buffer_put(spill->buffers[b],
										 datum_buffer_restore(spill->buffers[b], bytes));
			}
		}
		column_batch_put(batch, batch->keys ? key : value, *at++);
	}
}

const ColumnBatch *
row_spill_read(RowSpill *spill)
{
	size_t		n = Min(spill->reading.nrows, COLUMN_BATCH_KEYS);
	size_t		i;

	CHECK_FOR_INTERRUPTS();
	if (n == 0)
		return NULL;
	take_out_rows(spill);
	for (i = 0; i < n && !ends_batch(spill); i++)
		read_row(spill);
	spill->reading.nrows -= i;
	return spill->batches;
}
