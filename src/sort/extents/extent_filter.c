/*
 * extent_filter.c
 *		Which values of an extent are in a set (see extent_filter.h).
 */
#include "sort/extents/extent_filter.h"

#include <string.h>

#include "sort/kernels/kernels.h"

/* Sets the bits of the distances in the ranges. */
static void
fill_table(ExtentFilter *filter)
{
	memset(filter->table, 0, EXTENT_FILTER_TABLE_WORDS * sizeof(uint64_t));
	for (size_t r = 0; r < filter->ndistances; r++)
		for (uint64_t v = filter->distances[r].lo; v <= filter->distances[r].hi; v++)
			filter->table[v / 64] |= UINT64_C(1) << v % 64;
}

/* Says which of an extent's values are members, if there are fewer of these than rows. */
static ExtentMatch
match_members(const uint8_t *members, const Extent *extent)
{
	size_t		n = (size_t) extent->top + 1;

	if (n >= extent->nrows)
		return EXTENT_SOME;
	if (memchr(members, !members[0], n))
		return EXTENT_SOME;
	return members[0] ? EXTENT_ALL : EXTENT_NONE;
}

ExtentMatch
extent_filter_begin(ExtentFilter *filter, const Extent *extent)
{
	int64_t		base = extent->base + filter->bias;
	int64_t		last = (int64_t) ((uint64_t) base + extent->top);

	if (filter->members)
		return match_members(filter->members + extent->base, extent);
	if (filter->keys)
	{
		if (key_set_may_have(filter->keys, base, last))
			return EXTENT_SOME;
		return filter->excluded ? EXTENT_ALL : EXTENT_NONE;
	}
	filter->ndistances = 0;
	for (size_t r = 0; r < filter->nranges; r++)
	{
		const LongRange *range = &filter->ranges[r];
		DistanceRange *distance = &filter->distances[filter->ndistances];

		if (range->hi < base)
			continue;
		if (range->lo > last)
			break;
		distance->lo = range->lo > base ? (uint64_t) range->lo - (uint64_t) base : 0;
		distance->hi = range->hi < last ? (uint64_t) range->hi - (uint64_t) base : extent->top;
		filter->ndistances++;
	}
	filter->use_table = filter->ndistances > EXTENT_FILTER_FEW && extent->width <= 2;
	if (filter->ndistances == 0)
		return EXTENT_NONE;
	if (filter->distances[0].lo == 0 && filter->distances[0].hi == extent->top)
		return EXTENT_ALL;
	if (filter->use_table)
		fill_table(filter);
	return EXTENT_SOME;
}

/* Whether a distance is in one of the ranges. */
static bool
is_in_ranges(const ExtentFilter *filter, uint64_t distance)
{
	size_t		from = 0;
	size_t		to = filter->ndistances;

	/* The first range that does not end before it. */
	while (from < to)
	{
		size_t		middle = (from + to) / 2;

		if (filter->distances[middle].hi < distance)
			from = middle + 1;
		else
			to = middle;
	}
	return from < filter->ndistances && filter->distances[from].lo <= distance;
}

/* Values are looked up in a set of keys so many at a time: 4 kB. */
#define KEYS_AT_ONCE 512

/* Marks the values that are keys, or are none. */
static void
mark_keys(const ExtentFilter *filter, const PackedKeys *values, uint8_t *marks)
{
	int64_t		base = values->base + filter->bias;
	int64_t		keys[KEYS_AT_ONCE];

	for (size_t from = 0; from < values->n; from += KEYS_AT_ONCE)
	{
		size_t		n = values->n - from < KEYS_AT_ONCE ? values->n - from : KEYS_AT_ONCE;

		for (size_t i = 0; i < n; i++)
			keys[i] = (int64_t) ((uint64_t) base + packed_keys_distance(values, from + i));
		key_set_mark(filter->keys, keys, n, marks + from);
	}
	if (filter->excluded)
		for (size_t i = 0; i < values->n; i++)
			marks[i] ^= 1;
}

/* Values that are no longer the extent's may be beyond its last one. */
#define MARK_MEMBERS(type) \
	do { \
		const type *distances = (const type *) values->values; \
		\
		for (size_t i = 0; i < n; i++) \
			marks[i] = members[distances[i] < top ? distances[i] : top]; \
	} while (0)

/* Marks the values that are members. */
static void
mark_members(const uint8_t *members, const PackedKeys *values, uint8_t *restrict marks)
{
	uint64_t	top = values->top;
	size_t		n = values->n;

	members += values->base;
	switch (values->width)
	{
		case 1:
			MARK_MEMBERS(uint8_t);
			break;
		case 2:
			MARK_MEMBERS(uint16_t);
			break;
		case 4:
			MARK_MEMBERS(uint32_t);
			break;
		default:
			MARK_MEMBERS(uint64_t);
	}
}

void
extent_filter_mark(const ExtentFilter *filter, const PackedKeys *values, uint8_t *marks)
{
	if (filter->members)
	{
		mark_members(filter->members, values, marks);
		return;
	}
	if (filter->keys)
	{
		mark_keys(filter, values, marks);
		return;
	}
	if (filter->use_table)
	{
		for (size_t i = 0; i < values->n; i++)
		{
			uint64_t	distance = packed_keys_distance(values, i);

			marks[i] = filter->table[distance / 64] >> distance % 64 & 1;
		}
		return;
	}
	if (filter->ndistances > EXTENT_FILTER_FEW)
	{
		for (size_t i = 0; i < values->n; i++)
			marks[i] = is_in_ranges(filter, packed_keys_distance(values, i));
		return;
	}
	memset(marks, 0, values->n);
	for (size_t i = 0; i < filter->ndistances; i++)
		kernel_mark_range(values->values, values->width, values->n, filter->distances[i].lo,
						  filter->distances[i].hi, marks);
}
