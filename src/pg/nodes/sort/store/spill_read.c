/*
 * spill_read.c
 *		Rows partitioned by key in a temporary file (see spill.h): reading them, as
 *		spill_write.c has written them.
 */
#include "postgres.h"

#include "pg/nodes/sort/store/spill_state.h"

/* Rows read at once, on the stack. */
#define PAIRS_AT_ONCE 1024

void
spill_forget_divided(Spill *spill)
{
	if (spill->divided == NULL)
		return;
	Assert(spill->rows_left == 0);
	spill->divided->sequence.n = 0; /* given back by the reader */
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

/* Reads a row that lies elsewhere: its keys, and its reference into spill->ref. */
static void
read_ref(Spill *spill, RowKey *key)
{
	const KeyColumns *keys = spill->keys;
	int			i;

	key->nulls = spill->nulls_apart ? spill->reading->lo.nulls : 0;
	if (spill->narrow)
	{
		uint64		pair;

		spill_reader_get(&spill->reader, &pair, sizeof(pair));
		spill->ref = ROWS_PAIR_REF(pair);
		key->images[0] = ROWS_PAIR_KEY(pair);
		return;
	}
	spill_reader_get(&spill->reader, &spill->ref, sizeof(spill->ref));
	if (!spill->nulls_apart)
		spill_reader_get(&spill->reader, &key->nulls, sizeof(key->nulls));
	for (i = 0; i < keys->nmapped; i++)
	{
		uint32		image;

		if (!column_kind_is_wide(keys->keys[i].kind))
		{
			spill_reader_get(&spill->reader, &image, sizeof(image));
			key->images[i] = image;
		}
		else
			spill_reader_get(&spill->reader, &key->images[i], sizeof(uint64));
	}
}

uint32
spill_ref(const Spill *spill)
{
	return spill->ref;
}

Size
spill_next_refs(Spill *spill, uint32 *images, uint32 *refs, Size most, bool *nulls)
{
	uint64		pairs[PAIRS_AT_ONCE];
	Size		n = Min(Min(most, PAIRS_AT_ONCE), spill->rows_left);
	Size		i;

	if (n == 0)
		return 0;
	*nulls = spill->reading->lo.nulls != 0;
	spill_reader_get(&spill->reader, pairs, n * sizeof(uint64));
	for (i = 0; i < n; i++)
	{
		images[i] = ROWS_PAIR_KEY(pairs[i]);
		refs[i] = ROWS_PAIR_REF(pairs[i]);
	}
	spill->rows_left -= n;
	return n;
}

bool
spill_next_row(Spill *spill, RowKey *key, Size *len)
{
	uint32		head;

	if (spill->rows_left == 0)
		return false;
	spill->rows_left--;
	if (spill->elsewhere)
	{
		*len = 0;
		read_ref(spill, key);
		return true;
	}
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
