/*
 * row_segment.c
 *		Segments: rows in order on a tape (see row_segment.h).
 *
 * A row on the tape is its tuple, as core's tuplesort writes it: the length, and the bytes of the
 * minimal tuple behind its own length and padding.  The length's highest bit is set if the row
 * repeats the keys of the one before it.  Keys are taken from the tuple again when it is read.
 *
 * A row without a tuple is its images, in four or eight bytes each; in front of them are the
 * reference of a row that lies elsewhere, and of several keys a byte that says which are NULL.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/datum.h"

#include "pg/compat.h"
#include "pg/nodes/sort/store/row_segment.h"

/* Bytes of rows without tuples that are written or read at once, more than one row has. */
#define BUFFER_BYTES 1024

/* Of the length of a tuple on a tape: the row repeats the keys of the row before it. */
#define ROW_REPEATS ((uint32) 1 << 31)

static inline void
put_bytes(RowSegment *segment, const void *data, Size len)
{
	LogicalTapeWrite(segment->tape, (void *) data, len);
	segment->bytes += len;
}

/* Reads the next bytes of the tape, which must have them. */
static inline void
get_bytes(RowSegment *segment, void *data, Size len)
{
	if (LogicalTapeRead(segment->tape, data, len) != len)
		elog(ERROR, "unexpected end of a segment");
}

/* Bytes of the image of a key. */
static inline Size
image_bytes(const RowStore *store, int key)
{
	return column_kind_is_wide(store->keys->keys[key].kind) ? sizeof(uint64) : sizeof(uint32);
}

/* Appends a row without a tuple to the buffer, which has room for it. */
static inline void
encode_row(RowSegment *segment, const RowStore *store, const SegmentRow *row)
{
	char	   *to = segment->buffer + segment->at;

	if (store->elsewhere)
	{
		memcpy(to, &row->ref, sizeof(uint32));
		to += sizeof(uint32);
	}
	if (segment->nulls_apart)
		segment->nulls += row->key.nulls;
	else
		*to++ = (char) row->key.nulls;
	for (int i = 0; i < store->keys->nmapped; i++)
	{
		uint32		image = (uint32) row->key.images[i];

		if (image_bytes(store, i) == sizeof(uint32))
		{
			memcpy(to, &image, sizeof(uint32));
			to += sizeof(uint32);
		}
		else
		{
			memcpy(to, &row->key.images[i], sizeof(uint64));
			to += sizeof(uint64);
		}
	}
}

/* Whether the next row is one of the NULLs that are counted, of which it is taken. */
static inline bool
take_null(RowSegment *segment, const RowStore *store)
{
	if (likely(segment->nulls == 0))
		return false;
	if (!store->keys->keys[0].nulls_first)
		return segment->rows <= segment->nulls;
	segment->nulls--;
	return true;
}

/* Takes a row without a tuple out of the buffer, which has it. */
static inline void
decode_row(RowSegment *segment, const RowStore *store, SegmentRow *row)
{
	const char *from = segment->buffer + segment->at;

	if (store->elsewhere)
	{
		memcpy(&row->ref, from, sizeof(uint32));
		from += sizeof(uint32);
	}
	if (segment->nulls_apart)
		row->key.nulls = take_null(segment, store);
	else
		row->key.nulls = (uint8) *from++;
	for (int i = 0; i < store->keys->nmapped; i++)
	{
		uint32		image;

		if (image_bytes(store, i) == sizeof(uint32))
		{
			memcpy(&image, from, sizeof(uint32));
			row->key.images[i] = image;
			from += sizeof(uint32);
		}
		else
		{
			memcpy(&row->key.images[i], from, sizeof(uint64));
			from += sizeof(uint64);
		}
	}
}

void
row_segment_begin(RowSegment *segment, LogicalTapeSet *tapes, const RowStore *store, int level)
{
	memset(segment, 0, sizeof(*segment));
	segment->tape = LogicalTapeCreate(tapes);
	segment->level = level;
	if (store->tuples && !store->elsewhere)
		return;
	segment->nulls_apart = store->keys->nmapped == 1;
	segment->row_bytes = (segment->nulls_apart ? 0 : sizeof(uint8)) +
		(store->elsewhere ? sizeof(uint32) : 0);
	for (int i = 0; i < store->keys->nmapped; i++)
		segment->row_bytes += image_bytes(store, i);
	segment->buffer = palloc(BUFFER_BYTES);
}

/* Writes the buffer to the tape, and empties it. */
static void
put_buffer(RowSegment *segment)
{
	CHECK_FOR_INTERRUPTS();
	put_bytes(segment, segment->buffer, segment->at);
	segment->at = 0;
}

void
row_segment_put(RowSegment *segment, const RowStore *store, const SegmentRow *row)
{
	segment->rows++;
	if (row->tuple)
	{
		uint32		len = row->tuple->t_len | (row->repeats ? ROW_REPEATS : 0);

		CHECK_FOR_INTERRUPTS();
		put_bytes(segment, &len, sizeof(len));
		put_bytes(segment, (const char *) row->tuple + MINIMAL_TUPLE_DATA_OFFSET,
				  row->tuple->t_len - MINIMAL_TUPLE_DATA_OFFSET);
	}
	else
	{
		if (store->keys->numbered)
		{
			SegmentRow	numbered = *row;

			row_key_translate(store->keys, &numbered.key, false);
			encode_row(segment, store, &numbered);
		}
		else
			encode_row(segment, store, row);
		segment->at += segment->row_bytes;
		if (segment->at + segment->row_bytes > BUFFER_BYTES)
			put_buffer(segment);
	}
}

/* Sets row i of a store that row_store_sort_with_keys has sorted. */
static inline void
row_elsewhere(const RowStore *store, uint64 i, SegmentRow *row)
{
	uint64		at = i - store->nulls_before;	/* a NULL in front: beyond all others */

	if (!store->narrow)
	{
		row_store_wide_key(store, store->order[i], &row->key);
		row->ref = store->arrays.refs[store->order[i]];
	}
	else if (at < store->n)
	{
		row->key.nulls = 0;
		row->key.images[0] = ROWS_PAIR_KEY(store->arrays.pairs[at]);
		row->ref = store->order ? store->order[at] : ROWS_PAIR_REF(store->arrays.pairs[at]);
	}
	else
	{
		row->key.nulls = 1;
		row->key.images[0] = 0;
		row->ref = store->arrays.null_refs[i < store->nulls_before ? i : at - store->n];
	}
}

/* Sets row i in order of a sorted store. */
static inline void
row_of_store(const RowStore *store, uint64 i, SegmentRow *row)
{
	if (store->elsewhere)
		row_elsewhere(store, i, row);
	else if (store->tuples)
		row->tuple = row_store_fetch(store, i);
	else
	{
		row->key.images[0] = 0;
		row->key.nulls = !row_store_key(store, i, &row->key.images[0]);
	}
}

/* The mapped keys of row i in order of a sorted store. */
static RowKey
key_of_store(const RowStore *store, uint64 i)
{
	SegmentRow	row = {.tuple = NULL};

	row_of_store(store, i, &row);
	if (row.tuple)
		row_tuple_key(store->keys, store->slot, row.tuple, &row.key);
	return row.key;
}

bool
row_segment_precedes(const RowSegment *segment, const RowStore *store)
{
	RowKey		first = key_of_store(store, 0);
	RowKey		last = segment->last;
	int			result;

	if (segment->given_up != store->keys->given_up)
		return false;
	row_key_translate(store->keys, &last, true);
	result = row_key_compare(store->keys, &last, &first);
	return result < 0 || (result == 0 && store->keys->nrest == 0);
}

/*
 * Returns the only key of a store's rows, if all of them are tuples and the key is numbered, or
 * core compares what its image leaves open; else NULL.  It is worth noticing where a value of this
 * key repeats: that saves looking up numbers, or core's comparisons.
 */
static const KeyColumn *
key_that_repeats(const RowStore *store)
{
	const KeyColumns *keys = store->keys;

	return store->tuples && !store->elsewhere && keys->nkeys == 1 &&
		(keys->nrest == 1 || key_is_numbered(&keys->keys[0])) ? &keys->keys[0] : NULL;
}

void
row_segment_put_store(RowSegment *segment, const RowStore *store)
{
	const KeyColumn *key = key_that_repeats(store);
	SegmentRow	row = {.tuple = NULL};
	Datum		last = 0;
	bool		last_isnull = true;

	for (uint64 i = 0; i < store->rows; i++)
	{
		row_of_store(store, i, &row);
		if (key)
		{
			Form_pg_attribute att = TupleDescAttr(store->tupdesc, key->attno - 1);
			bool		isnull;
			Datum		value = row_tuple_value(row.tuple, store->tupdesc, key->attno,
												&isnull);

			row.repeats = !isnull && !last_isnull &&
				datumIsEqual(value, last, att->attbyval, att->attlen);
			last = value;
			last_isnull = isnull;
		}
		row_segment_put(segment, store, &row);
	}
	segment->last = key_of_store(store, store->rows - 1);
	row_key_translate(store->keys, &segment->last, false);
	segment->given_up = store->keys->given_up;
}

void
row_segment_end(RowSegment *segment, Size buffer)
{
	if (segment->at > 0)
		put_buffer(segment);
	if (segment->buffer)
		pfree(segment->buffer);
	segment->buffer = NULL;
	LogicalTapeRewindForRead(segment->tape, buffer);
}

/* Fills the buffer with the next rows without tuples, of which there is one at least. */
static void
get_buffer(RowSegment *segment)
{
	uint64		rows = Min(segment->rows, BUFFER_BYTES / segment->row_bytes);

	CHECK_FOR_INTERRUPTS();
	if (segment->buffer == NULL)
		segment->buffer = palloc(BUFFER_BYTES);
	segment->at = 0;
	segment->end = rows * segment->row_bytes;
	get_bytes(segment, segment->buffer, segment->end);
}

bool
row_segment_get(RowSegment *segment, const RowStore *store, SegmentRow *row, RowBuffer *buffer)
{
	if (segment->rows == 0)
		return false;
	if (segment->row_bytes == 0)
	{
		uint32		len;

		CHECK_FOR_INTERRUPTS();
		get_bytes(segment, &len, sizeof(len));
		row->repeats = (len & ROW_REPEATS) != 0;
		len &= ~ROW_REPEATS;
		row->tuple = row_buffer_reserve(buffer, len);
		memset(row->tuple, 0, MINIMAL_TUPLE_DATA_OFFSET);
		row->tuple->t_len = len;
		get_bytes(segment, (char *) row->tuple + MINIMAL_TUPLE_DATA_OFFSET,
				  len - MINIMAL_TUPLE_DATA_OFFSET);
		if (!row->repeats)
			row_tuple_key(store->keys, store->slot, row->tuple, &row->key);
	}
	else
	{
		if (segment->at == segment->end)
			get_buffer(segment);
		row->tuple = NULL;
		decode_row(segment, store, row);
		segment->at += segment->row_bytes;
	}
	segment->rows--;
	return true;
}

void
row_segment_close(RowSegment *segment)
{
	LogicalTapeClose(segment->tape);
	segment->tape = NULL;
	if (segment->buffer)
		pfree(segment->buffer);
}
