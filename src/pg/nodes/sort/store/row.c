/*
 * row.c
 *		One row to be sorted (see row.h).
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/nodes/sort/store/row.h"

void
row_tuple_key(KeyColumns *keys, TupleTableSlot *slot, MinimalTuple tuple, RowKey *key)
{
	KeyColumn  *first = &keys->keys[0];
	bool		isnull;
	Datum		value;

	if (keys->nmapped > 1)
	{
		ExecStoreMinimalTuple(tuple, slot, false);
		row_slot_key(keys, slot, key);
		ExecClearTuple(slot);
		return;
	}
	value = row_tuple_value(tuple, slot->tts_tupleDescriptor, first->attno, &isnull);
	key->nulls = isnull ? 1 : 0;
	key->images[0] = isnull ? 0 : key_image(first, value);
}

void
row_key_translate(const KeyColumns *keys, RowKey *key, bool to_ranks)
{
	for (int k = 0; k < keys->nmapped; k++)
		if (key_is_numbered(&keys->keys[k]) && !(key->nulls & (1 << k)))
			key->images[k] = to_ranks ? key_rank_of_number(&keys->keys[k], key->images[k]) :
				key_number_of_rank(&keys->keys[k], key->images[k]);
}

int
row_tuple_compare(const KeyColumns *keys, TupleDesc tupdesc, MinimalTuple a, MinimalTuple b)
{
	int			result = 0;

	for (int i = 0; result == 0 && i < keys->nrest; i++)
	{
		SortSupport ssup = &keys->rest[i];
		bool		null_a;
		bool		null_b;
		Datum		value_a = row_tuple_value(a, tupdesc, ssup->ssup_attno, &null_a);
		Datum		value_b = row_tuple_value(b, tupdesc, ssup->ssup_attno, &null_b);

		result = ApplySortComparator(value_a, null_a, value_b, null_b, ssup);
	}
	return result;
}

/*
 * The bytes of the heap or minimal tuple that a slot holds, from where a minimal
 * tuple begins, and their number; NULL if the slot holds none.
 */
static inline const char *
slot_tuple_bytes(TupleTableSlot *slot, Size *len)
{
	if (slot->tts_ops == &TTSOpsBufferHeapTuple || slot->tts_ops == &TTSOpsHeapTuple)
	{
		HeapTuple	tuple = ((HeapTupleTableSlot *) slot)->tuple;

		if (tuple)
		{
			*len = tuple->t_len - MINIMAL_TUPLE_OFFSET;
			return (const char *) tuple->t_data + MINIMAL_TUPLE_OFFSET;
		}
	}
	else if (slot->tts_ops == &TTSOpsMinimalTuple)
	{
		MinimalTuple tuple = ((MinimalTupleTableSlot *) slot)->mintuple;

		if (tuple)
		{
			*len = tuple->t_len;
			return (const char *) tuple;
		}
	}
	return NULL;
}

/* Bytes before the data of a minimal tuple made from a slot's values. */
static inline Size
form_header_size(TupleTableSlot *slot, bool *hasnull)
{
	int			natts = slot->tts_tupleDescriptor->natts;
	Size		len = SizeofMinimalTupleHeader;

	*hasnull = false;
	for (int i = 0; i < natts && !*hasnull; i++)
		*hasnull = slot->tts_isnull[i];
	if (*hasnull)
		len += BITMAPLEN(natts);
	return MAXALIGN(len);
}

Size
row_tuple_size(TupleTableSlot *slot)
{
	Size		len;
	bool		hasnull;

	if (slot_tuple_bytes(slot, &len))
		return len;
	slot_getallattrs(slot);
	len = form_header_size(slot, &hasnull) +
		heap_compute_data_size(slot->tts_tupleDescriptor, slot->tts_values, slot->tts_isnull);

	/* As core says it, of a tuple that it cannot allocate. */
	if (unlikely(!AllocSizeIsValid(len)))
		elog(ERROR, "invalid memory alloc request size %zu", len);
	return len;
}

void
row_tuple_form(TupleTableSlot *slot, MinimalTuple place, Size size)
{
	Size		len;
	const char *bytes = slot_tuple_bytes(slot, &len);
	bool		hasnull;
	Size		header;

	if (bytes)
	{
		memcpy(place, bytes, len);
		place->t_len = len;
		return;
	}

	/* As heap_form_minimal_tuple, but to memory that is there. */
	header = form_header_size(slot, &hasnull);
	memset(place, 0, size);
	place->t_len = size;
	HeapTupleHeaderSetNatts(place, slot->tts_tupleDescriptor->natts);
	place->t_hoff = header + MINIMAL_TUPLE_OFFSET;
	heap_fill_tuple(slot->tts_tupleDescriptor, slot->tts_values, slot->tts_isnull,
					(char *) place + header, size - header,
					&place->t_infomask, hasnull ? place->t_bits : NULL);
}

MinimalTuple
row_buffer_reserve(RowBuffer *buffer, Size len)
{
	if (len > buffer->room)
	{
		if (buffer->tuple)
			pfree(buffer->tuple);
		buffer->room = Max(len, 1024);
		buffer->tuple = (MinimalTuple) MemoryContextAllocHuge(buffer->memory, buffer->room);
	}
	return buffer->tuple;
}
