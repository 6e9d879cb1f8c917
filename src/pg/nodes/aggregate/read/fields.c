/*
 * fields.c
 *		Grouping columns as key codes (see fields.h).
 *
 * Batches of narrow columns without NULLs are the usual case: their loops are made so that
 * compilers vectorise them.
 */
#include "postgres.h"

#include "pg/nodes/aggregate/read/fields.h"

/* --- ranges */

const KeyRange *
field_limits(ColumnKind kind)
{
	static const KeyRange narrow = {
		FIELD_SIGN - (UINT64CONST(1) << 31), FIELD_SIGN + ((UINT64CONST(1) << 31) - 1), false
	};
	static const KeyRange wide = {0, PG_UINT64_MAX, false};

	return column_kind_is_wide(kind) ? &wide : &narrow;
}

void
field_range_add_batch(KeyRange *range, const ColumnBatch *batch)
{
	int64		lo = PG_INT64_MAX;
	int64		hi = PG_INT64_MIN;

	if (batch->nnulls > 0)
	{
		for (size_t i = 0; i < batch->n; i++)
		{
			int64		value = column_batch_value(batch, i);

			if (batch->nulls[i])
				continue;
			lo = Min(lo, value);
			hi = Max(hi, value);
		}
		range->nulls = true;
	}
	else if (batch->keys && batch->n > 0)
	{
		/* A loop that compilers vectorise. */
		const int32 *keys = batch->keys;
		int32		least = keys[0];
		int32		most = keys[0];

		for (size_t i = 1; i < batch->n; i++)
		{
			least = Min(least, keys[i]);
			most = Max(most, keys[i]);
		}
		lo = least;
		hi = most;
	}
	else
	{
		const int64 *wide = batch->wide;

		for (size_t i = 0; i < batch->n; i++)
		{
			lo = Min(lo, wide[i]);
			hi = Max(hi, wide[i]);
		}
	}
	if (lo <= hi)
	{
		key_range_put(range, field_image(lo));
		key_range_put(range, field_image(hi));
	}
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

void
group_values_of_row(const GroupColumn *columns, int ncolumns, const ColumnBatch *batches,
					size_t row, GroupValues *values)
{
	for (int c = 0; c < ncolumns; c++)
	{
		const ColumnBatch *batch = &batches[columns[c].column];

		values->nulls[c] = batch->nnulls > 0 && batch->nulls[row];
		values->values[c] = values->nulls[c] ? 0 : column_batch_value(batch, row);
	}
}

int
group_values_compare(const GroupColumn *columns, int ncolumns, const GroupValues *a,
					 const GroupValues *b)
{
	for (int c = 0; c < ncolumns; c++)
	{
		if (a->nulls[c] != b->nulls[c])
			return a->nulls[c] == columns[c].nulls_first ? -1 : 1;
		if (!a->nulls[c] && a->values[c] != b->values[c])
			return (a->values[c] < b->values[c]) != columns[c].descending ? -1 : 1;
	}
	return 0;
}

/* --- codes */

void
group_code_init(GroupCode *group, const GroupColumn *columns, int ncolumns)
{
	memset(&group->code, 0, sizeof(KeyCode));
	group->code.ncolumns = ncolumns;
	group->code.columns = palloc0_array(KeyCodeColumn, Max(ncolumns, 1));
	group->columns = columns;
	group->grown = palloc0_array(bool, Max(ncolumns, 1));
	for (int c = 0; c < ncolumns; c++)
	{
		group->code.columns[c].range = EMPTY_KEY_RANGE;
		group->code.columns[c].descending = columns[c].descending;
		group->code.columns[c].nulls_first = columns[c].nulls_first;
	}
	group->code.ncodes = ncolumns == 0 ? 1 : 0;
}

GroupCode *
group_code_copy(const GroupCode *group)
{
	GroupCode  *copy = palloc_object(GroupCode);
	KeyCodeColumn *columns;

	group_code_init(copy, group->columns, group->code.ncolumns);
	columns = copy->code.columns;
	memcpy(columns, group->code.columns, group->code.ncolumns * sizeof(KeyCodeColumn));
	copy->code = group->code;
	copy->code.columns = columns;
	return copy;
}

void
group_code_free(GroupCode *group)
{
	pfree(group->code.columns);
	pfree(group->grown);
}

bool
group_codes_equal(const GroupCode *a, const GroupCode *b)
{
	for (int c = 0; c < a->code.ncolumns; c++)
	{
		const KeyRange *left = &a->code.columns[c].range;
		const KeyRange *right = &b->code.columns[c].range;

		if (left->lo != right->lo || left->hi != right->hi || left->nulls != right->nulls)
			return false;
	}
	return true;
}

void
group_code_values(const GroupCode *group, uint64 code, GroupValues *values)
{
	for (int c = 0; c < group->code.ncolumns; c++)
	{
		uint64		image;

		values->nulls[c] = key_code_take(&group->code, &group->code.columns[c], &code, &image);
		values->values[c] = values->nulls[c] ? 0 : field_value(image);
	}
}

uint64
group_code_of(const GroupCode *group, const GroupValues *values)
{
	uint64		code = 0;

	for (int c = 0; c < group->code.ncolumns; c++)
	{
		const KeyCodeColumn *column = &group->code.columns[c];

		code += column->stride *
			key_code_place(column, field_image(values->values[c]), values->nulls[c]);
	}
	return code;
}

bool
group_code_continues(const GroupCode *after, const GroupCode *before)
{
	for (int c = 0; c < before->code.ncolumns; c++)
	{
		const KeyCodeColumn *a = &after->code.columns[c];
		const KeyCodeColumn *b = &before->code.columns[c];

		if (a->base != b->base || a->first != b->first || a->stride != b->stride ||
			(b->range.nulls && a->null != b->null))
			return false;
	}
	return true;
}

/* --- windows */

/* How far the ranges of columns that have grown are extended. */
typedef enum WindowRoom
{
	ROOM_GROWING,				/* as far as they may go on growing */
	ROOM_MARGIN,				/* by an eighth */
	ROOM_NONE
} WindowRoom;

/*
 * Sets the range of a column of a window that grows, and notes whether it is wider than old's.
 *
 * Where rows come in no order the first of them do not show the smallest and the largest value, but
 * nearly, so that a column that grows for the first time gets a margin on either side.  Otherwise
 * each larger value would make new arrays: of 500,000 rows by an int4 of 1,000,000 values that took
 * half of the time.  A column that grows again has rows in its order, and doubles on the side where
 * it grows.
 */
static void
grow_range(GroupCode *window, const GroupCode *old, int c, const KeyRange *range, WindowRoom room)
{
	const KeyRange *before = &old->code.columns[c].range;
	const KeyRange *limits = field_limits(old->columns[c].kind);
	KeyRange   *after = &window->code.columns[c].range;
	uint64		images;
	bool		grows;

	*after = *before;
	key_range_add(after, range);
	grows = !key_range_is_empty(before) && (after->lo != before->lo || after->hi != before->hi);
	window->grown[c] = old->grown[c] || grows;
	if (!grows || room == ROOM_NONE)
		return;
	images = key_range_images(after);
	if (room == ROOM_GROWING && old->grown[c])
		key_range_extend(after, before, limits, images);
	else
		key_range_extend(after, &EMPTY_KEY_RANGE, limits, images / 8);
}

/* Sets the ranges of a window that grows, and numbers its groups; false if there are too many. */
static bool
grow_ranges(GroupCode *window, const GroupCode *old, const KeyRange *ranges, WindowRoom room,
			uint64 max_groups)
{
	for (int c = 0; c < old->code.ncolumns; c++)
		grow_range(window, old, c, &ranges[c], room);
	return key_code_number(&window->code, Min(max_groups, PG_UINT32_MAX));
}

/*
 * Tries room for columns that go on growing first, then a margin, then neither.  Whether the window
 * is worth it does not depend on the room, without which it would grow again and again.
 */
bool
group_window_grow(GroupCode *window, const GroupCode *old, const KeyRange *ranges,
				  uint64 max_groups, uint64 worth_groups)
{
	group_code_init(window, old->columns, old->code.ncolumns);
	return grow_ranges(window, old, ranges, ROOM_NONE, Min(max_groups, worth_groups)) &&
		(grow_ranges(window, old, ranges, ROOM_GROWING, max_groups) ||
		 grow_ranges(window, old, ranges, ROOM_MARGIN, max_groups) ||
		 grow_ranges(window, old, ranges, ROOM_NONE, max_groups));
}

/*
 * Adds the distance of each row's place to groups; returns whether a row is outside.  No row is
 * NULL.  narrow is a constant, so that the compiler makes a loop of 32 bits, which it vectorises,
 * and one of 64.
 */
static pg_attribute_always_inline bool
locate(const ColumnBatch *batch, int n, const KeyCodeColumn *column, uint32 *groups, bool narrow)
{
	uint64		flip = column->flip;
	uint64		base = column->base ^ FIELD_SIGN;	/* instead of each value */
	uint64		nvalues = column->images;
	uint32		stride = (uint32) column->stride;
	uint32		first = (uint32) column->first * stride;
	uint32		outside = 0;

	for (int i = 0; i < n; i++)
		if (narrow)
		{
			uint32		distance = ((uint32) batch->keys[i] ^ (uint32) flip) - (uint32) base;

			outside |= distance >= (uint32) nvalues;
			groups[i] += distance * stride + first;
		}
		else
		{
			uint64		distance = ((uint64) batch->wide[i] ^ flip) - base;

			outside |= distance >= nvalues;
			groups[i] += (uint32) distance * stride + first;
		}
	return outside != 0;
}

/*
 * Adds the places of any batch, a row at a time, and notes which rows are outside.  Returns how
 * many of these were not outside before.
 */
static int
locate_each(const ColumnBatch *batch, int n, const KeyCodeColumn *column, uint32 *groups,
			uint8 *outside)
{
	int			noutside = 0;

	for (int i = 0; i < n; i++)
	{
		bool		isnull = batch->nnulls > 0 && batch->nulls[i];
		uint64		image = field_image(column_batch_value(batch, i));

		if (!key_code_holds(column, image, isnull))
		{
			noutside += !outside[i];
			outside[i] = 1;
		}
		else
			groups[i] += (uint32) key_code_place(column, image, isnull) * (uint32) column->stride;
	}
	return noutside;
}

/*
 * The usual case, no NULLs and no row outside, has loops that do not say which row is outside.
 * For any other batch all begins anew, a row at a time.
 */
int
group_window_locate(const GroupCode *window, const ColumnBatch *batches, int n, uint32 *groups,
					uint8 *outside)
{
	const KeyCodeColumn *columns = window->code.columns;
	bool		certain = true;
	int			noutside = 0;

	memset(groups, 0, n * sizeof(uint32));
	memset(outside, 0, n);
	for (int c = 0; c < window->code.ncolumns && certain; c++)
	{
		const ColumnBatch *batch = &batches[window->columns[c].column];

		if (batch->nnulls > 0)
			certain = false;
		else if (batch->keys)
			certain = !locate(batch, n, &columns[c], groups, true);
		else
			certain = !locate(batch, n, &columns[c], groups, false);
	}
	if (certain)
		return 0;

	/* Some row is outside, or may be: each is looked at. */
	memset(groups, 0, n * sizeof(uint32));
	for (int c = 0; c < window->code.ncolumns; c++)
		noutside += locate_each(&batches[window->columns[c].column], n, &columns[c], groups,
								outside);
	return noutside;
}

bool
group_window_locate_range(const GroupCode *window, int64 lo, int64 hi, uint64 *number, bool *down)
{
	const KeyCodeColumn *column = &window->code.columns[0];

	if (window->code.ncolumns != 1 || window->code.ncodes == 0 ||
		field_image(lo) < column->range.lo || field_image(hi) > column->range.hi)
		return false;
	*number = key_code_place(column, field_image(lo), false);
	*down = column->descending;
	return true;
}

/* --- layouts */

bool
group_layout_widen(GroupCode *layout, const KeyRange *ranges)
{
	bool		widened = false;

	for (int c = 0; c < layout->code.ncolumns; c++)
	{
		KeyRange   *range = &layout->code.columns[c].range;

		widened |= key_range_widen(range, &ranges[c], field_limits(layout->columns[c].kind),
								   range->nulls || ranges[c].nulls ? 1 : 0);
	}
	if (widened)
		key_code_pack(&layout->code);
	return widened;
}

void
group_layout_codes(const GroupCode *layout, const ColumnBatch *batches, int n, uint64 *codes)
{
	memset(codes, 0, n * sizeof(uint64));
	for (int c = 0; c < layout->code.ncolumns; c++)
	{
		const ColumnBatch *batch = &batches[layout->columns[c].column];
		KeyCodeColumn column = layout->code.columns[c];
		int			shift = column.shift;

		/* It has one place, which takes no bits. */
		if (column.stride == 0)
			continue;
		column.base ^= FIELD_SIGN;	/* instead of each value */
		if (batch->nnulls > 0)
			for (int i = 0; i < n; i++)
				codes[i] |= key_code_place(&column, (uint64) column_batch_value(batch, i),
										   batch->nulls[i]) << shift;
		else if (batch->keys)
			for (int i = 0; i < n; i++)
				codes[i] |= key_code_place(&column, (uint64) (int64) batch->keys[i],
										   false) << shift;
		else
			for (int i = 0; i < n; i++)
				codes[i] |= key_code_place(&column, (uint64) batch->wide[i], false) << shift;
	}
}
