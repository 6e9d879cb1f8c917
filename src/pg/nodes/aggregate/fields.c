/*
 * fields.c
 *		Grouping columns as numbers (see fields.h).
 *
 * The place of value v is v - lo, or hi - v if the column is descending, one more if
 * NULL has the place before: ((v ^ flip) - base) + first in unsigned arithmetic, as
 * hi - v is ~v - ~hi.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "pg/nodes/aggregate/fields.h"

/* How values of a range become places. */
typedef struct FieldPlaces
{
	uint64		flip;			/* all bits, if descending */
	uint64		base;
	uint64		nvalues;		/* places of values; 0: 2^64 */
	uint64		first;			/* the place of the first value: 1 after NULL */
	uint64		null;			/* the place of NULL */
	bool		empty;			/* no value has a place */
} FieldPlaces;

static FieldPlaces
field_places(const GroupColumn *column, const FieldRange *range)
{
	FieldPlaces places;

	places.flip = column->descending ? PG_UINT64_MAX : 0;
	places.base = (uint64) (column->descending ? range->hi : range->lo) ^ places.flip;
	places.nvalues = field_range_values(range);
	places.first = range->nulls && column->nulls_first ? 1 : 0;
	places.null = column->nulls_first ? 0 : places.nvalues;
	places.empty = field_range_is_empty(range);
	return places;
}

/* The values of a range with NULL: as many places. */
static inline uint64
range_places(const FieldRange *range)
{
	return field_range_values(range) + (range->nulls ? 1 : 0);
}

static inline uint64
place_of(const FieldPlaces *places, int64 value, bool isnull)
{
	return isnull ? places->null : (((uint64) value ^ places->flip) - places->base) + places->first;
}

static inline void
value_at(const FieldPlaces *places, const FieldRange *range, uint64 place, int64 *value,
		 bool *isnull)
{
	*isnull = range->nulls && place == places->null;
	*value = *isnull ? 0 : (int64) (((place - places->first) + places->base) ^ places->flip);
}

/* --- ranges */

static inline int64
batch_value(const ColumnBatch *batch, size_t i)
{
	return batch->keys ? batch->keys[i] : batch->wide[i];
}

void
field_range_add_batch(FieldRange *range, const ColumnBatch *batch)
{
	size_t		i;

	if (batch->nnulls > 0)
	{
		int64		lo = range->lo;
		int64		hi = range->hi;

		for (i = 0; i < batch->n; i++)
		{
			int64		value = batch_value(batch, i);

			if (batch->nulls[i])
				continue;
			lo = Min(lo, value);
			hi = Max(hi, value);
		}
		range->lo = lo;
		range->hi = hi;
		range->nulls = true;
	}
	else if (batch->keys && batch->n > 0)
	{
		/* Loops that compilers vectorise. */
		const int32 *keys = batch->keys;
		int32		lo = keys[0];
		int32		hi = keys[0];

		for (i = 1; i < batch->n; i++)
		{
			lo = Min(lo, keys[i]);
			hi = Max(hi, keys[i]);
		}
		range->lo = Min(range->lo, lo);
		range->hi = Max(range->hi, hi);
	}
	else if (batch->n > 0)
	{
		const int64 *wide = batch->wide;
		int64		lo = range->lo;
		int64		hi = range->hi;

		for (i = 0; i < batch->n; i++)
		{
			lo = Min(lo, wide[i]);
			hi = Max(hi, wide[i]);
		}
		range->lo = lo;
		range->hi = hi;
	}
}

bool
field_range_add(FieldRange *range, const FieldRange *other)
{
	FieldRange	old = *range;

	range->nulls |= other->nulls;
	if (!field_range_is_empty(other))
	{
		range->lo = Min(range->lo, other->lo);
		range->hi = Max(range->hi, other->hi);
	}
	return range->lo != old.lo || range->hi != old.hi || range->nulls != old.nulls;
}

/* Bits that the places of a range need. */
static int
field_range_bits(const FieldRange *range)
{
	uint64		values = field_range_values(range);
	uint64		last;

	if (field_range_is_empty(range))
		return 0;
	if (values == 0)
		return range->nulls ? 65 : 64;
	last = values - 1 + (range->nulls ? 1 : 0);
	return last == 0 ? 0 : pg_leftmost_one_pos64(last) + 1;
}

void
field_range_extend(FieldRange *range, const FieldRange *old, ColumnKind kind, uint64 room)
{
	int64		least = column_kind_is_wide(kind) ? PG_INT64_MIN : PG_INT32_MIN;
	int64		most = column_kind_is_wide(kind) ? PG_INT64_MAX : PG_INT32_MAX;
	uint64		below;
	uint64		above;

	if (field_range_is_empty(range))
		return;
	if (field_range_is_empty(old) || (range->lo < old->lo && range->hi > old->hi))
		below = room / 2;
	else
		below = range->lo < old->lo ? room : 0;
	below = Min(below, (uint64) range->lo - (uint64) least);
	above = Min(room - below, (uint64) most - (uint64) range->hi);
	range->lo = (int64) ((uint64) range->lo - below);
	range->hi = (int64) ((uint64) range->hi + above);
}

/* The places that bits have more than a range, whose places fit them. */
static uint64
room_of_bits(const FieldRange *range, int bits)
{
	return (bits >= 64 ? 0 : UINT64CONST(1) << bits) - range_places(range);
}

/* --- groups */

GroupValues
group_values_make(int ncolumns)
{
	GroupValues values;

	values.values = palloc0_array(int64, Max(ncolumns, 1));
	values.nulls = palloc0_array(bool, Max(ncolumns, 1));
	return values;
}

void
group_values_free(GroupValues *values)
{
	pfree(values->values);
	pfree(values->nulls);
}

int
group_values_compare(const GroupColumn *columns, int ncolumns, const GroupValues *a,
					 const GroupValues *b)
{
	int			c;

	for (c = 0; c < ncolumns; c++)
	{
		if (a->nulls[c] != b->nulls[c])
			return a->nulls[c] == columns[c].nulls_first ? -1 : 1;
		if (!a->nulls[c] && a->values[c] != b->values[c])
			return (a->values[c] < b->values[c]) != columns[c].descending ? -1 : 1;
	}
	return 0;
}

static bool
ranges_hold(const FieldRange *ranges, int ncolumns, const GroupValues *values)
{
	int			c;

	for (c = 0; c < ncolumns; c++)
		if (values->nulls[c] ? !ranges[c].nulls :
			values->values[c] < ranges[c].lo || values->values[c] > ranges[c].hi)
			return false;
	return true;
}

/* --- narrow ranges */

void
group_window_init(GroupWindow *window, const GroupColumn *columns, int ncolumns)
{
	int			c;

	window->ncolumns = ncolumns;
	window->columns = columns;
	window->ranges = palloc_array(FieldRange, Max(ncolumns, 1));
	window->strides = palloc0_array(uint32, Max(ncolumns, 1));
	window->grown = palloc0_array(bool, Max(ncolumns, 1));
	for (c = 0; c < ncolumns; c++)
		window->ranges[c] = EMPTY_FIELD_RANGE;
	window->ngroups = ncolumns == 0 ? 1 : 0;
}

void
group_window_free(GroupWindow *window)
{
	pfree(window->ranges);
	pfree(window->strides);
	pfree(window->grown);
}

/* Numbers the groups of the window's ranges; false if there are more than max_groups. */
static bool
number_groups(GroupWindow *window, uint64 max_groups)
{
	uint64		ngroups = 1;
	int			c;

	for (c = window->ncolumns - 1; c >= 0; c--)
	{
		uint64		values = field_range_values(&window->ranges[c]);
		uint64		places = range_places(&window->ranges[c]);

		/* All 2^64 values, which would be counted as none. */
		if (values == 0 && !field_range_is_empty(&window->ranges[c]))
			return false;
		/* The product stays far below 2^64, because max_groups is below 2^32. */
		if (values > max_groups || places > max_groups || places == 0)
			return false;
		window->strides[c] = (uint32) ngroups;
		ngroups *= places;
		if (ngroups > max_groups)
			return false;
	}
	window->ngroups = ngroups;
	return true;
}

/* How far the ranges of columns that have grown are extended. */
typedef enum WindowRoom
{
	ROOM_GROWING,				/* as far as they may go on growing */
	ROOM_MARGIN,				/* by an eighth */
	ROOM_NONE
} WindowRoom;

/*
 * Extends the range of a column that has grown beyond old.  Where rows come in no order the first of them do not show the smallest and the
 * largest value, but nearly, so that a column that grows for the first time gets a margin on either side.  Otherwise each
 * larger value would make new arrays: of 500,000 rows by an int4 of 1,000,000 values that took half of the time.  A column that grows again has rows
 * in its order, and doubles on the side where it grows.
 */
static void
extend_range(GroupWindow *window, const GroupWindow *old, int c, WindowRoom room)
{
	FieldRange *range = &window->ranges[c];
	uint64		values = field_range_values(range);

	if (room == ROOM_NONE)
		return;
	if (room == ROOM_GROWING && old->grown[c])
		field_range_extend(range, &old->ranges[c], old->columns[c].kind, values);
	else
		field_range_extend(range, &EMPTY_FIELD_RANGE, old->columns[c].kind, values / 8);
}

bool
group_window_grow(GroupWindow *window, const GroupWindow *old, const FieldRange *ranges,
				  uint64 max_groups)
{
	FieldRange *exact;
	bool	   *grown;
	bool		fits = false;
	WindowRoom	room;
	int			c;

	max_groups = Min(max_groups, PG_UINT32_MAX);
	group_window_init(window, old->columns, old->ncolumns);
	exact = palloc_array(FieldRange, Max(old->ncolumns, 1));
	grown = palloc_array(bool, Max(old->ncolumns, 1));
	for (c = 0; c < old->ncolumns; c++)
	{
		exact[c] = old->ranges[c];
		field_range_add(&exact[c], &ranges[c]);
		grown[c] = !field_range_is_empty(&old->ranges[c]) &&
			(exact[c].lo != old->ranges[c].lo || exact[c].hi != old->ranges[c].hi);
		window->grown[c] = old->grown[c] || grown[c];
	}
	for (room = ROOM_GROWING; room <= ROOM_NONE && !fits; room++)
	{
		memcpy(window->ranges, exact, old->ncolumns * sizeof(FieldRange));
		for (c = 0; c < old->ncolumns; c++)
			if (grown[c])
				extend_range(window, old, c, room);
		fits = number_groups(window, max_groups);
	}
	pfree(exact);
	pfree(grown);
	return fits;
}

/*
 * Adds the distance of each row's place to groups; returns whether a row is outside.
 * Vectorised by the compiler.
 */
static bool
locate_narrow(const int32 *keys, int n, const FieldPlaces *places, uint32 stride, uint32 *groups)
{
	uint32		flip = (uint32) places->flip;
	uint32		base = (uint32) places->base;
	uint32		nvalues = (uint32) places->nvalues;
	uint32		first = (uint32) places->first * stride;
	uint32		outside = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		uint32		distance = ((uint32) keys[i] ^ flip) - base;

		outside |= distance >= nvalues;
		groups[i] += distance * stride + first;
	}
	return outside != 0;
}

static bool
locate_wide(const int64 *wide, int n, const FieldPlaces *places, uint32 stride, uint32 *groups)
{
	uint32		first = (uint32) places->first * stride;
	bool		outside = false;
	int			i;

	for (i = 0; i < n; i++)
	{
		uint64		distance = ((uint64) wide[i] ^ places->flip) - places->base;

		outside |= distance >= places->nvalues;
		groups[i] += (uint32) distance * stride + first;
	}
	return outside;
}

/* The same for any batch, a row at a time, noting which rows are outside. */
static int
locate_each(const ColumnBatch *batch, int n, const FieldPlaces *places, bool has_null,
			uint32 stride, uint32 *groups, uint8 *outside)
{
	int			noutside = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		bool		isnull = batch->nnulls > 0 && batch->nulls[i];
		uint64		place = place_of(places, batch_value(batch, i), isnull);

		if (isnull ? !has_null : places->empty || place - places->first >= places->nvalues)
		{
			noutside += !outside[i];
			outside[i] = 1;
		}
		else
			groups[i] += (uint32) place * stride;
	}
	return noutside;
}

int
group_window_locate(const GroupWindow *window, const ColumnBatch *batches, int n, uint32 *groups,
					uint8 *outside)
{
	bool		certain = true;
	int			noutside = 0;
	int			c;

	memset(groups, 0, n * sizeof(uint32));
	memset(outside, 0, n);
	for (c = 0; c < window->ncolumns && certain; c++)
	{
		const ColumnBatch *batch = &batches[window->columns[c].column];
		FieldPlaces places = field_places(&window->columns[c], &window->ranges[c]);

		if (batch->nnulls > 0)
			certain = false;
		else if (batch->keys)
			certain = !locate_narrow(batch->keys, n, &places, window->strides[c], groups);
		else
			certain = !locate_wide(batch->wide, n, &places, window->strides[c], groups);
	}
	if (certain)
		return 0;

	memset(groups, 0, n * sizeof(uint32));
	for (c = 0; c < window->ncolumns; c++)
	{
		FieldPlaces places = field_places(&window->columns[c], &window->ranges[c]);

		noutside += locate_each(&batches[window->columns[c].column], n, &places,
								window->ranges[c].nulls, window->strides[c], groups, outside);
	}
	return noutside;
}

bool
group_window_locate_range(const GroupWindow *window, int64 lo, int64 hi, uint64 *number, bool *down)
{
	const FieldRange *range = &window->ranges[0];
	FieldPlaces places;

	if (window->ncolumns != 1 || window->ngroups == 0 || lo < range->lo || hi > range->hi)
		return false;
	places = field_places(&window->columns[0], range);
	*number = place_of(&places, lo, false) * window->strides[0];
	*down = window->columns[0].descending;
	return window->strides[0] == 1;
}

bool
group_window_holds(const GroupWindow *window, const GroupValues *values)
{
	return window->ngroups > 0 && ranges_hold(window->ranges, window->ncolumns, values);
}

void
group_window_values(const GroupWindow *window, uint64 group, GroupValues *values)
{
	int			c;

	for (c = 0; c < window->ncolumns; c++)
	{
		FieldPlaces places = field_places(&window->columns[c], &window->ranges[c]);

		value_at(&places, &window->ranges[c], group / window->strides[c], &values->values[c],
				 &values->nulls[c]);
		group %= window->strides[c];
	}
}

uint64
group_window_number(const GroupWindow *window, const GroupValues *values)
{
	uint64		number = 0;
	int			c;

	for (c = 0; c < window->ncolumns; c++)
	{
		FieldPlaces places = field_places(&window->columns[c], &window->ranges[c]);

		number += place_of(&places, values->values[c], values->nulls[c]) * window->strides[c];
	}
	return number;
}

/* --- ranges of any width */

void
group_layout_init(GroupLayout *layout, const GroupColumn *columns, int ncolumns)
{
	int			c;

	layout->ncolumns = ncolumns;
	layout->columns = columns;
	layout->ranges = palloc_array(FieldRange, Max(ncolumns, 1));
	layout->shifts = palloc0_array(int, Max(ncolumns, 1));
	layout->bits = 0;
	for (c = 0; c < ncolumns; c++)
		layout->ranges[c] = EMPTY_FIELD_RANGE;
}

GroupLayout *
group_layout_copy(const GroupLayout *layout)
{
	GroupLayout *copy = palloc_object(GroupLayout);

	group_layout_init(copy, layout->columns, layout->ncolumns);
	memcpy(copy->ranges, layout->ranges, layout->ncolumns * sizeof(FieldRange));
	memcpy(copy->shifts, layout->shifts, layout->ncolumns * sizeof(int));
	copy->bits = layout->bits;
	return copy;
}

bool
group_layouts_equal(const GroupLayout *a, const GroupLayout *b)
{
	int			c;

	for (c = 0; c < a->ncolumns; c++)
		if (a->ranges[c].lo != b->ranges[c].lo || a->ranges[c].hi != b->ranges[c].hi ||
			a->ranges[c].nulls != b->ranges[c].nulls)
			return false;
	return true;
}

void
group_layout_free(GroupLayout *layout)
{
	pfree(layout->ranges);
	pfree(layout->shifts);
	pfree(layout);
}

bool
group_layout_widen(GroupLayout *layout, const FieldRange *ranges)
{
	bool		widened = false;
	int			c;

	for (c = 0; c < layout->ncolumns; c++)
	{
		FieldRange	old = layout->ranges[c];
		FieldRange *range = &layout->ranges[c];

		if (!field_range_add(range, &ranges[c]))
			continue;
		widened = true;
		if (field_range_bits(range) <= 64)
			field_range_extend(range, &old, layout->columns[c].kind,
							   room_of_bits(range, field_range_bits(range)));
	}
	if (!widened)
		return false;
	layout->bits = 0;
	for (c = layout->ncolumns - 1; c >= 0; c--)
	{
		layout->shifts[c] = layout->bits;
		layout->bits += field_range_bits(&layout->ranges[c]);
	}
	return true;
}

bool
group_layout_holds(const GroupLayout *layout, const GroupValues *values)
{
	return ranges_hold(layout->ranges, layout->ncolumns, values);
}

void
group_layout_codes(const GroupLayout *layout, const ColumnBatch *batches, int n, uint64 *codes)
{
	int			c;
	int			i;

	memset(codes, 0, n * sizeof(uint64));
	for (c = 0; c < layout->ncolumns; c++)
	{
		const ColumnBatch *batch = &batches[layout->columns[c].column];
		FieldPlaces places = field_places(&layout->columns[c], &layout->ranges[c]);
		int			shift = layout->shifts[c];

		if (field_range_bits(&layout->ranges[c]) == 0)
			continue;
		if (batch->nnulls > 0)
			for (i = 0; i < n; i++)
				codes[i] |= place_of(&places, batch_value(batch, i), batch->nulls[i]) << shift;
		else if (batch->keys)
			for (i = 0; i < n; i++)
				codes[i] |= place_of(&places, batch->keys[i], false) << shift;
		else
			for (i = 0; i < n; i++)
				codes[i] |= place_of(&places, batch->wide[i], false) << shift;
	}
}

void
group_layout_values(const GroupLayout *layout, uint64 code, GroupValues *values)
{
	int			c;

	for (c = 0; c < layout->ncolumns; c++)
	{
		const FieldRange *range = &layout->ranges[c];
		FieldPlaces places = field_places(&layout->columns[c], range);
		int			bits = field_range_bits(range);
		uint64		place = 0;

		if (bits > 0)
			place = (code >> layout->shifts[c]) & (PG_UINT64_MAX >> (64 - bits));
		value_at(&places, range, place, &values->values[c], &values->nulls[c]);
	}
}

uint64
group_layout_code(const GroupLayout *layout, const GroupValues *values)
{
	uint64		code = 0;
	int			c;

	for (c = 0; c < layout->ncolumns; c++)
	{
		FieldPlaces places = field_places(&layout->columns[c], &layout->ranges[c]);

		if (field_range_bits(&layout->ranges[c]) > 0)
			code |= place_of(&places, values->values[c], values->nulls[c]) << layout->shifts[c];
	}
	return code;
}
