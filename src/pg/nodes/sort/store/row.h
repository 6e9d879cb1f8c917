/*
 * row.h
 *		One row to be sorted: its mapped keys, from a slot or from its minimal
 *		tuple, the order of two rows by them, and the tuple itself.
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_ROW_H
#define HPSORT_PG_NODES_SORT_STORE_ROW_H

#include "access/htup_details.h"
#include "executor/tuptable.h"

#include "pg/nodes/sort/store/keys.h"

/* The mapped keys of one row. */
typedef struct RowKey
{
	uint8		nulls;			/* bit i: key i is NULL, and its image 0 */
	uint64		images[KEY_COLUMNS_MAX_MAPPED];
} RowKey;

/* The mapped keys of the row in slot. */
static inline void
row_slot_key(KeyColumns *keys, TupleTableSlot *slot, RowKey *key)
{
	key->nulls = 0;
	for (int i = 0; i < keys->nmapped; i++)
	{
		bool		isnull;
		Datum		value = slot_getattr(slot, keys->keys[i].attno, &isnull);

		if (isnull)
		{
			key->nulls |= 1 << i;
			key->images[i] = 0;
		}
		else
			key->images[i] = key_image(&keys->keys[i], value);
	}
}

/*
 * The mapped keys of a minimal tuple.  slot has the tuple's descriptor, and is
 * empty afterwards if there are several keys.
 */
extern void row_tuple_key(KeyColumns *keys, TupleTableSlot *slot, MinimalTuple tuple, RowKey *key);

/* Makes the ranks of keys that are numbered numbers, which stay what they are, or back to ranks. */
extern void row_key_translate(const KeyColumns *keys, RowKey *key, bool to_ranks);

/* The order of two rows by their mapped keys: < 0, 0 or > 0. */
static inline int
row_key_compare(const KeyColumns *keys, const RowKey *a, const RowKey *b)
{
	int			result = 0;

	for (int i = 0; result == 0 && i < keys->nmapped; i++)
		result = key_compare(&keys->keys[i], (a->nulls >> i) & 1, a->images[i],
							 (b->nulls >> i) & 1, b->images[i]);
	return result;
}

/* The order of two tuples of equal mapped keys by the keys left to core. */
extern int	row_tuple_compare(const KeyColumns *keys, TupleDesc tupdesc, MinimalTuple a,
							  MinimalTuple b);

/*
 * Bytes of the minimal tuple of the row in slot; an error if PostgreSQL could
 * not allocate them.  row_tuple_form writes the tuple to place, which has room
 * for those bytes.
 */
extern Size row_tuple_size(TupleTableSlot *slot);
extern void row_tuple_form(TupleTableSlot *slot, MinimalTuple place, Size size);

/* One column of a minimal tuple; a slot would take apart all columns before it, too. */
static inline Datum
row_tuple_value(MinimalTuple tuple, TupleDesc tupdesc, AttrNumber attno, bool *isnull)
{
	HeapTupleData heap;

	heap.t_len = tuple->t_len + MINIMAL_TUPLE_OFFSET;
	heap.t_data = (HeapTupleHeader) ((char *) tuple - MINIMAL_TUPLE_OFFSET);
	return heap_getattr(&heap, attno, tupdesc, isnull);
}

/* Room for one minimal tuple at a time. */
typedef struct RowBuffer
{
	MemoryContext memory;
	Size		room;
	MinimalTuple tuple;
} RowBuffer;

/* Makes a buffer that has no room yet.  Its tuple will be in a memory context. */
static inline void
row_buffer_init(RowBuffer *buffer, MemoryContext memory)
{
	buffer->memory = memory;
	buffer->room = 0;
	buffer->tuple = NULL;
}

/* Makes room for a tuple of len bytes, in the place of the one before. */
extern MinimalTuple row_buffer_reserve(RowBuffer *buffer, Size len);

#endif							/* HPSORT_PG_NODES_SORT_STORE_ROW_H */
