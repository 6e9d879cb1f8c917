/*
 * row.c
 *		The mapped keys of a row (see store.h), from a slot or from its tuple,
 *		and the order of two rows by them.
 */
#include "postgres.h"

#include "pg/compat.h"
#include "pg/nodes/sort/store/store.h"

void
row_key(KeyColumns *keys, TupleTableSlot *slot, RowKey *key)
{
	int			i;

	key->nulls = 0;
	for (i = 0; i < keys->nmapped; i++)
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

void
row_tuple_key(RowStore *store, MinimalTuple tuple, RowKey *key)
{
	KeyColumn   *first = &store->keys->keys[0];
	HeapTupleData heap;
	bool		isnull;
	Datum		value;

	if (store->keys->nmapped > 1)
	{
		ExecStoreMinimalTuple(tuple, store->slot, false);
		row_key(store->keys, store->slot, key);
		ExecClearTuple(store->slot);
		return;
	}

	/* A slot would take all columns before it, too. */
	heap.t_len = tuple->t_len + MINIMAL_TUPLE_OFFSET;
	heap.t_data = (HeapTupleHeader) ((char *) tuple - MINIMAL_TUPLE_OFFSET);
	value = heap_getattr(&heap, first->attno, store->tupdesc, &isnull);
	key->nulls = isnull ? 1 : 0;
	key->images[0] = isnull ? 0 : key_image(first, value);
}

int
row_key_compare(const KeyColumns *keys, const RowKey *a, const RowKey *b)
{
	int			i;

	for (i = 0; i < keys->nmapped; i++)
	{
		bool		null_a = (a->nulls >> i) & 1;
		bool		null_b = (b->nulls >> i) & 1;

		if (unlikely(null_a || null_b))
		{
			if (null_a && null_b)
				continue;
			return null_a == keys->keys[i].nulls_first ? -1 : 1;
		}
		if (a->images[i] != b->images[i])
			return a->images[i] < b->images[i] ? -1 : 1;
	}
	return 0;
}
