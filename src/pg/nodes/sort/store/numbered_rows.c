/*
 * numbered_rows.c
 *		The rows of a store whose keys are numbered (see numbered_rows.h).
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pg/nodes/sort/store/numbered_rows.h"

/* Rows handled between two looks at interrupts. */
#define CHECK_EVERY 4096

/* Replaces numbers by ranks in the images of key k. */
static void
rank_images(RowStore *store, int k)
{
	const KeyColumn *key = &store->keys->keys[k];
	uint64	   *images = store->arrays.images[k];
	bool		nulls = store->ranges[k].nulls;
	KeyRange	range = EMPTY_KEY_RANGE;
	Size		i;

	for (i = 0; i < store->n; i++)
	{
		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
		if (nulls && row_store_is_null(store, i, k))
			continue;
		images[i] = key_rank_of_number(key, images[i] ^ key->flip);
		key_range_put(&range, images[i]);
	}
	range.nulls = nulls;
	store->ranges[k] = range;
}

void
numbered_rows_rank(RowStore *store)
{
	KeyColumns *keys = store->keys;
	int			k;

	key_columns_rank(keys);
	for (k = 0; k < keys->nmapped; k++)
		if (key_is_numbered(&keys->keys[k]) && store->n > 0)
			rank_images(store, k);
}

/* Makes the images of key k again, from the tuples. */
static void
make_images(RowStore *store, int k)
{
	KeyColumn  *key = &store->keys->keys[k];
	KeyRange	range = EMPTY_KEY_RANGE;
	Size		i;

	for (i = 0; i < store->n; i++)
	{
		MinimalTuple tuple = row_store_tuple(store, store->arrays.refs[i]);
		bool		isnull;
		Datum		value = row_tuple_value(tuple, store->tupdesc, key->attno, &isnull);

		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
		range.nulls |= isnull;
		if (isnull)
			continue;
		store->arrays.images[k][i] = key_image(key, value);
		key_range_put(&range, store->arrays.images[k][i]);
	}
	store->ranges[k] = range;
}

void
numbered_rows_give_up(RowStore *store, int k)
{
	Size		width = row_store_ref_bytes(store->keys);

	Assert(store->tuples && !store->elsewhere && !store->narrow);
	key_columns_give_up(store->keys, k);
	width = Max(row_store_ref_bytes(store->keys), width) - width;
	store->used += store->arrays.room * width;
	row_store_abbreviate(store);
	make_images(store, k);
}

void
numbered_rows_key_to_numbers(const KeyColumns *keys, RowKey *key)
{
	int			k;

	for (k = 0; k < keys->nmapped; k++)
		if (key_is_numbered(&keys->keys[k]) && !(key->nulls & (1 << k)))
			key->images[k] = key_number_of_rank(&keys->keys[k], key->images[k]);
}

void
numbered_rows_key_to_ranks(const KeyColumns *keys, RowKey *key)
{
	int			k;

	for (k = 0; k < keys->nmapped; k++)
		if (key_is_numbered(&keys->keys[k]) && !(key->nulls & (1 << k)))
			key->images[k] = key_rank_of_number(&keys->keys[k], key->images[k]);
}
