/*
 * rows_layout.c
 *		One key for each row of several columns (see rows_layout.h).
 */
#include "sort/rows_layout.h"

_Static_assert(sizeof(RowsColumn) == 32 && sizeof(RowsLayout) == 16 + ROWS_MAX_COLUMNS * 32,
			   "no padding");

static bool
column_is_sound(const RowsColumn *column, const ValueRange *ranges, uint32_t nranges)
{
	uint32_t	r;

	if (column->flags > 15 || column->zero != 0 || column->first_range > nranges ||
		column->nranges > nranges - column->first_range)
		return false;
	for (r = column->first_range; r < column->first_range + column->nranges; r++)
		if (ranges[r].lo > ranges[r].hi || (r > column->first_range &&
											ranges[r].lo <= ranges[r - 1].hi))
			return false;
	return true;
}

bool
rows_layout_is_sound(const RowsLayout *layout, const ValueRange *ranges)
{
	bool		filtered = false;
	uint32_t	c;

	if (layout->ncolumns == 0 || layout->ncolumns > ROWS_MAX_COLUMNS ||
		layout->nranges > ROWS_MAX_RANGES)
		return false;
	for (c = 0; c < layout->ncolumns; c++)
	{
		if (!column_is_sound(&layout->columns[c], ranges, layout->nranges))
			return false;
		filtered = filtered || (layout->columns[c].flags & ROWS_FILTERED);
	}
	return layout->filtered == (uint32_t) filtered;
}

/* Whether a value is in one of n ranges, which ascend. */
static bool
is_in_ranges(const ValueRange *ranges, uint32_t n, int32_t value)
{
	uint32_t	from = 0;
	uint32_t	to = n;

	/* The first range that does not end before it. */
	while (from < to)
	{
		uint32_t	middle = (from + to) / 2;

		if (ranges[middle].hi < value)
			from = middle + 1;
		else
			to = middle;
	}
	return from < n && ranges[from].lo <= value;
}

bool
rows_layout_keys(const RowsLayout *layout, const ValueRange *ranges, const RowsPart *parts,
				 uint32_t n,
				 int32_t *out, uint32_t *nkeys, int32_t *value)
{
	uint32_t	count = 0;
	bool		sound = true;
	uint32_t	i;
	uint32_t	c;

	for (i = 0; i < n; i++)
	{
		uint32_t	key = layout->base;
		bool		passes = true;
		bool		outside = false;
		int32_t		odd = 0;

		for (c = 0; c < layout->ncolumns && passes; c++)
		{
			const RowsColumn *column = &layout->columns[c];
			const RowsPart *part = &parts[c];
			uint32_t	row = part->first + i;
			bool		isnull = part->nulls && (part->nulls[row / 8] >> row % 8 & 1);
			int32_t		v = (int32_t) ((uint32_t) part->values.base +
									   packed_keys_distance(&part->values, i));
			uint32_t	place = (uint32_t) v - (uint32_t) column->lo;

			if (column->flags & ROWS_FILTERED)
				passes = isnull ? (column->flags & ROWS_NULLS_PASS) != 0
					: is_in_ranges(ranges + column->first_range, column->nranges, v);
			if (!(column->flags & ROWS_IN_KEY))
				continue;
			if (isnull ? !(column->flags & ROWS_NULL_IN_KEY) : place > column->last)
			{
				outside = true;
				odd = v;
			}
			key += isnull ? column->null_adds : place * column->stride;
		}
		if (!passes)
			continue;
		if (outside)
		{
			sound = false;
			*value = odd;
		}
		out[count++] = (int32_t) key;
	}
	*nkeys = count;
	return sound;
}
