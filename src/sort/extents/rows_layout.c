/*
 * rows_layout.c
 *		One key for each row of several columns (see rows_layout.h).
 */
#include "sort/extents/rows_layout.h"

_Static_assert(sizeof(RowsColumn) == 40 && sizeof(RowsLayout) == 24 + ROWS_MAX_COLUMNS * 40,
			   "no padding");

/* Whether n ranges ascend and do not overlap. */
static bool
ranges_ascend(const ValueRange *ranges, uint32_t n)
{
	for (uint32_t r = 0; r < n; r++)
		if (ranges[r].lo > ranges[r].hi || (r > 0 && ranges[r].lo <= ranges[r - 1].hi))
			return false;
	return true;
}

/*
 * Whether a column has only known flags, which go together, and its ranges are among all nranges,
 * and are a mask, a map that has all values, or ascend and do not overlap.
 */
static bool
column_is_sound(const RowsColumn *column, const ValueRange *ranges, uint32_t nranges)
{
	const uint32_t mapped = ROWS_MAPPED | ROWS_IN_KEY | ROWS_FILTERED;

	if (column->flags > 63 || column->zero != 0 || column->first_range > nranges ||
		column->nranges > nranges - column->first_range)
		return false;
	if (column->flags & ROWS_MAPPED)
		return (column->flags & (mapped | ROWS_MASKED)) == mapped &&
			column->last < (uint64_t) column->nranges * ROWS_MAP_VALUES;
	return (column->flags & ROWS_MASKED) ||
		ranges_ascend(ranges + column->first_range, column->nranges);
}

bool
rows_layout_is_sound(const RowsLayout *layout, const ValueRange *ranges)
{
	bool		filtered = layout->key_ranges > 0;

	if (layout->ncolumns == 0 || layout->ncolumns > ROWS_MAX_COLUMNS ||
		layout->nranges > ROWS_MAX_RANGES || layout->grain > ROWS_MAX_GRAIN ||
		layout->key_ranges > layout->nranges || (layout->key_ranges > 0 && layout->grain > 0) ||
		!ranges_ascend(ranges + layout->nranges - layout->key_ranges, layout->key_ranges))
		return false;
	for (uint32_t c = 0; c < layout->ncolumns; c++)
	{
		if (!column_is_sound(&layout->columns[c], ranges, layout->nranges))
			return false;
		filtered = filtered || (layout->columns[c].flags & ROWS_FILTERED);
	}
	return layout->filtered == (uint32_t) filtered;
}
