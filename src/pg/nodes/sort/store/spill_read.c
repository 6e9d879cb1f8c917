/*
 * spill_read.c
 *		Rows partitioned by key in a temporary file (see spill.h): reading them, as
 *		spill_write.c has written them.
 */
#include "postgres.h"

#include "pg/nodes/sort/store/spill_state.h"

void
spill_forget_divided(Spill *spill)
{
	if (spill->divided == NULL)
		return;
	Assert(spill->rows_left == 0);
	spill->divided->sequence.n = 0;	/* given back by the reader */
	spill_file_give_back(spill->file, &spill->divided->sequence);
	pfree(spill->divided);
	spill->divided = NULL;
}

void
spill_start_reading(Spill *spill, int number, bool consume)
{
	spill_forget_divided(spill);
	spill->reading = spill->partitions[number];
	spill->rows_left = spill->reading->rows;
	spill_reader_start(&spill->reader, &spill->reading->sequence, consume);
}

bool
spill_next_row(Spill *spill, RowKey *key, Size *len)
{
	uint32		head;

	if (spill->rows_left == 0)
		return false;
	spill->rows_left--;
	spill_reader_get(&spill->reader, &head, sizeof(head));
	*len = head;
	if (spill->tuples)
		return true;
	*len = 0;
	key->nulls = (uint8) head;
	if (spill->narrow)
	{
		uint32		image;

		spill_reader_get(&spill->reader, &image, sizeof(image));
		key->images[0] = image;
	}
	else
		spill_reader_get(&spill->reader, key->images, sizeof(uint64));
	return true;
}

void
spill_read_tuple(Spill *spill, MinimalTuple tuple, Size len)
{
	memset(tuple, 0, MINIMAL_TUPLE_DATA_OFFSET);
	tuple->t_len = (uint32) len;
	spill_reader_get(&spill->reader, (char *) tuple + MINIMAL_TUPLE_DATA_OFFSET,
					 len - MINIMAL_TUPLE_DATA_OFFSET);
}

void
spill_forget_partition(Spill *spill, int number)
{
	SpillPartition *partition = spill->partitions[number];

	/* A reader that consumes has given back all bytes already. */
	if (spill->reading == partition && spill->reader.consume)
	{
		Assert(spill->rows_left == 0);
		partition->sequence.n = 0;
	}
	spill_file_give_back(spill->file, &partition->sequence);
	spill->reading = NULL;
	partition->rows = 0;
}
