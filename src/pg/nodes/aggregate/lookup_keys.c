/*
 * lookup_keys.c
 *		Keys of rows by group and value (see lookup_keys.h).
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/lookup_keys.h"

/*
 * Gives NULLs of the value, if there are some, a bit of their own above the places of all values,
 * and sets keys->grain to the bits of these, or to 0 where NULLs have another place.
 */
static void
pack_grains(LookupKeys *keys, bool nulls)
{
	KeyCodeColumn *value = &keys->layout.code.columns[keys->nfields - 1];

	keys->grain = Min(key_range_bits(&value->range, 0), ROWS_MAX_GRAIN + 1);
	value->range.nulls = nulls;
	key_code_pack(&keys->layout.code);
	if (keys->grain > ROWS_MAX_GRAIN || (nulls && value->null != UINT64CONST(1) << keys->grain))
		keys->grain = 0;
}

/*
 * Makes the layout of all rows, of resident and of noted ones, with grains if summed; false if keys
 * take more than 32 bits, or groups more than LOOKUP_GROUP_BITS.
 */
static bool
make_layout(LookupKeys *keys, const LookupNotes *notes, const ResidentRows *rows, bool summed)
{
	KeyRange   *ranges = palloc_array(KeyRange, Max(keys->nfields, 1));
	KeyRange   *values = keys->has_value ? &ranges[keys->nfields - 1] : NULL;
	bool		null_values;

	for (int f = 0; f < keys->nfields; f++)
	{
		int			c = keys->fields[f].column;
		int32		lo;
		int32		hi;
		bool		nulls;

		if (groups_maps_have(keys->maps, f))
		{
			ranges[f] = groups_maps_range(keys->maps, f);
			continue;
		}
		resident_rows_bounds(rows, c, &lo, &hi, &nulls);
		if (keys->fields[f].kind == COLUMN_KIND_PRESENCE && lo <= hi)
			lo = hi = 0;
		ranges[f] = EMPTY_KEY_RANGE;
		if (lo <= hi)
			ranges[f] = (KeyRange)
		{
			field_image(lo), field_image(hi), false
		};
		ranges[f].nulls = nulls;
		if (notes->n > 0)
			field_range_add_batch(&ranges[f], &notes->columns[c]);
	}
	null_values = values && values->nulls;
	if (values && summed)
		values->nulls = false;
	group_code_init(&keys->layout, keys->fields, keys->nfields);
	group_layout_widen(&keys->layout, ranges);
	keys->grain = 0;
	if (values && summed)
		pack_grains(keys, null_values);
	pfree(ranges);
	if (keys->layout.code.bits > 32)
		return false;
	keys->value_bits = keys->layout.code.bits;
	if (keys->nfields > keys->has_value)
		keys->value_bits = keys->has_value ?
			keys->layout.code.columns[keys->nfields - 2].shift : 0;
	if (keys->has_value)
		keys->origin = column_kind_bias(keys->fields[keys->nfields - 1].kind) +
			resident_rows_origin(rows, keys->fields[keys->nfields - 1].column);
	keys->nulls = keys->has_value && keys->layout.code.columns[keys->nfields - 1].range.nulls;
	keys->offset = keys->layout.code.bits == 32 ? UINT32_C(1) << 31 : 0;
	return keys->layout.code.bits - keys->value_bits <= LOOKUP_GROUP_BITS;
}

/* Returns the key of a code.  Keys are signed, and in the order of the codes. */
static int32
key_of_code(const LookupKeys *keys, uint64 code)
{
	return (int32) ((uint32) code + keys->offset);
}

/*
 * How the GPU makes keys of rows: to the key of each column's smallest value, or of NULL where
 * there is none, it adds what the row's values differ from these.
 */
static void
describe_rows(const LookupKeys *keys, RowsLayout *layout)
{
	uint64		base = 0;

	memset(layout, 0, sizeof(*layout));
	for (int f = 0; f < keys->nfields; f++)
	{
		const KeyCodeColumn *field = &keys->layout.code.columns[f];
		const KeyRange *range = &field->range;
		bool		empty = key_range_is_empty(range);
		uint64		least = key_code_place(field, range->lo, empty);
		RowsColumn *column;

		if (groups_maps_have(keys->maps, f))
			continue;
		column = &layout->columns[keys->fields[f].column];
		base += least * field->stride;
		column->flags = ROWS_IN_KEY;
		if (range->nulls)
		{
			column->flags |= ROWS_NULL_IN_KEY;
			column->null_adds = (uint32) ((field->null - least) * field->stride);
		}
		/* Of a column that is always NULL nothing else is expected. */
		if (empty)
			continue;
		/* Any value adds nothing. */
		if (keys->fields[f].kind == COLUMN_KIND_PRESENCE)
		{
			column->lo = PG_INT32_MIN;
			column->last = PG_UINT32_MAX;
			continue;
		}
		column->lo = (int32) field_value(range->lo);
		column->last = (uint32) (range->hi - range->lo);
		column->stride = (uint32) (field->descending ? 0 - field->stride : field->stride);
	}
	layout->base = (uint32) key_of_code(keys, base);
	layout->grain = (uint32) keys->grain;
}

/* How the GPU makes of a column the part of keys that a map says, which has nothing in the base. */
static void
describe_map(const LookupKeys *keys, const GroupsMap *map, ResidentRows *rows, RowsLayout *layout)
{
	RowsColumn *column = &layout->columns[map->column];
	uint32	   *adds = palloc_array(uint32, map->n + 1);

	for (size_t i = 0; i <= map->n; i++)
	{
		adds[i] = 0;
		for (int f = 0; f < keys->nfields; f++)
		{
			const KeyCodeColumn *field = &keys->layout.code.columns[f];
			int32		place;

			if (!groups_maps_have(keys->maps, f) || !map->joined[i] ||
				keys->maps->fields[f].map != map)
				continue;
			place = keys->maps->fields[f].places[i];
			adds[i] += (uint32) (key_code_place(field, field_image(place), place < 0) *
								 field->stride);
		}
	}
	column->flags = ROWS_IN_KEY;
	if (map->joined[map->n])
		column->flags |= ROWS_NULL_IN_KEY | ROWS_NULLS_PASS;
	column->null_adds = adds[map->n];
	for (size_t i = 0; i < Max(map->n, 1); i++)
		if (i == map->n || !map->joined[i])
			adds[i] = ROWS_NO_MATCH;
	column->lo = map->lo;
	column->last = (uint32) (Max(map->n, 1) - 1);
	resident_rows_map(rows, map->column, adds);
}

/*
 * Returns the keys of the rows that have been noted and that the filter accepts, in their order,
 * and how many they are.  The caller frees them.
 */
static int32 *
make_keys(const LookupKeys *keys, const LookupNotes *notes, size_t *n)
{
	int32	   *result = MemoryContextAllocHuge(CurrentMemoryContext,
												Max(notes->n, 1) * sizeof(int32));
	const uint8 *refused = NULL;
	uint64	   *codes = palloc_array(uint64, COLUMN_BATCH_KEYS);
	ColumnBatch *part = palloc_array(ColumnBatch, notes->ncolumns + keys->nfields + 1);
	uint8	   *joined = palloc_array(uint8, COLUMN_BATCH_KEYS);

	*n = 0;
	if (keys->filter >= 0)
		refused = notes->columns[notes->ncolumns + keys->filter].nulls;
	for (size_t at = 0; at < notes->n; at += COLUMN_BATCH_KEYS)
	{
		size_t		m = Min(notes->n - at, COLUMN_BATCH_KEYS);

		CHECK_FOR_INTERRUPTS();
		for (int c = 0; c < notes->ncolumns; c++)
		{
			part[c] = notes->columns[c];
			part[c].n = m;
			part[c].keys += at;
			part[c].nulls += at;
		}
		memset(joined, 1, m);
		if (keys->maps)
			groups_maps_fill(keys->maps, keys->nfields - keys->has_value, part,
							 part + notes->ncolumns, joined);
		group_layout_codes(&keys->layout, part, (int) m, codes);
		for (int c = 0; c < keys->nfields; c++)
			if (groups_maps_have(keys->maps, c))
				column_batch_free(&part[notes->ncolumns + c]);
		for (size_t i = 0; i < m; i++)
			if (joined[i] && (refused == NULL || !refused[at + i]))
				result[(*n)++] = key_of_code(keys, codes[i]);
	}
	pfree(codes);
	pfree(part);
	pfree(joined);
	return result;
}

bool
lookup_keys_sort(LookupKeys *keys, const LookupNotes *notes, ResidentRows *rows)
{
	RowsLayout	layout;
	int32	   *others;
	size_t		n;
	bool		sorted;

	if (!(keys->summed && make_layout(keys, notes, rows, true)) &&
		!make_layout(keys, notes, rows, false))
		return false;
	describe_rows(keys, &layout);
	for (int i = 0; keys->maps && i < keys->maps->nmaps; i++)
		describe_map(keys, &keys->maps->maps[i], rows, &layout);
	others = make_keys(keys, notes, &n);
	sorted = resident_rows_sort(rows, keys->filter, &layout, key_of_code(keys, 0),
								key_of_code(keys, (UINT64CONST(1) << keys->layout.code.bits) - 1),
								others, n);
	pfree(others);
	return sorted;
}

bool
lookup_keys_below(const LookupKeys *keys, ResidentRows *rows, const uint32 *codes, size_t n,
				  int32 *asked, uint64 *below)
{
	uint64		null_place = keys->nulls ? keys->layout.code.columns[keys->nfields - 1].null : 0;

	for (size_t i = 0; i < n; i++)
	{
		uint64		code = (uint64) codes[i] << keys->value_bits;

		asked[i] = key_of_code(keys, code);
		asked[n + i] = key_of_code(keys, code + null_place);
	}
	return resident_rows_look(rows, SORT_LOOK_BELOW, asked, keys->nulls ? 2 * n : n, below);
}

/* Returns the value that has the first place, as its distance from the origin. */
static int64
least_value(const LookupKeys *keys)
{
	return field_value(keys->layout.code.columns[keys->nfields - 1].range.lo);
}

/* Returns how many places values have. */
static uint64
count_places(const LookupKeys *keys)
{
	return key_range_images(&keys->layout.code.columns[keys->nfields - 1].range);
}

bool
lookup_keys_value(const LookupKeys *keys, int32 key, uint32 code, int64 *value)
{
	uint64		found = (uint32) key - keys->offset;
	uint64		place = found - ((uint64) code << keys->value_bits);

	*value = keys->origin + least_value(keys) + (int64) place;
	return found >> keys->value_bits == code && place < count_places(keys);
}

bool
lookup_keys_sum(const LookupKeys *keys, uint64 sum_of_keys, uint32 code, int64 n, int64 *sum)
{
	int32		least = key_of_code(keys, (uint64) code << keys->value_bits);
	uint64		places = sum_of_keys - (uint64) least * (uint64) n;

	Assert(keys->has_value);
	*sum = least_value(keys) * n + (int64) places;
	return places / (uint64) n < count_places(keys);
}
