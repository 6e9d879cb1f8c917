/*
 * cutoff.c
 *		The cutoff of a bounded sort's first key, for the column reader (see cutoff.h).
 */
#include "postgres.h"

#include "pg/nodes/sort/exec/cutoff.h"

bool
sort_cutoff_init(ColumnCutoff *cutoff, const KeyColumn *key)
{
	cutoff->lo = PG_INT32_MIN;
	cutoff->hi = PG_INT32_MAX;
	cutoff->descending = key->descending;
	cutoff->skipped = 0;
	return key->kind == COLUMN_KIND_INT2 || key->kind == COLUMN_KIND_INT4 ||
		key->kind == COLUMN_KIND_INT8;
}

void
sort_cutoff_move(ColumnCutoff *cutoff, const RowStore *store)
{
	const KeyColumns *keys = store->keys;
	const KeyColumn *key = &keys->keys[0];
	uint64		largest = row_store_largest_wanted(store);
	int64		value;

	if (largest == PG_UINT64_MAX || largest > column_kind_mask(key->kind))
		return;
	/* Where no other key decides, a key equal to the last wanted one comes after it. */
	if (keys->nkeys == 1 && keys->nrest == 0 && largest > 0)
		largest--;
	largest ^= key->flip;
	value = column_kind_is_wide(key->kind) ? (int64) largest : (int32) largest;
	if (value < PG_INT32_MIN || value > PG_INT32_MAX)
		return;
	if (key->descending)
		cutoff->lo = (int32) value;
	else
		cutoff->hi = (int32) value;
}
