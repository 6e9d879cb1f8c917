/*
 * extent_filter_test.c
 *		Sets of values against plain tests of single values, and which values of extents are in
 *		them: all widths, few and many ranges, with NULLs among the values.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "sort/extents/extent_filter.h"

#define MOST_VALUES 100
#define MOST_ROWS 3000

static bool
contains(const LongRange *ranges, size_t n, int64_t value)
{
	for (size_t i = 0; i < n; i++)
		if (value >= ranges[i].lo && value <= ranges[i].hi)
			return true;
	return false;
}

static bool
contains_narrow(const ValueRange *ranges, size_t n, int64_t value)
{
	for (size_t i = 0; i < n; i++)
		if (value >= ranges[i].lo && value <= ranges[i].hi)
			return true;
	return false;
}

/* Ranges are in order, and none touches another. */
static void
check_order(const LongRange *ranges, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		assert_true(ranges[i].lo <= ranges[i].hi);
		if (i > 0)
			assert_true(ranges[i].lo > ranges[i - 1].hi && ranges[i].lo - 1 > ranges[i - 1].hi);
	}
}

/* A value near the middle of a small domain, or near either end of int4 or int8. */
static int64_t
random_value(void)
{
	switch (unit_below(8))
	{
		case 0:
			return INT64_MIN + (int64_t) unit_below(5);
		case 1:
			return INT64_MAX - (int64_t) unit_below(5);
		case 2:
			return (int64_t) INT32_MIN - 2 + (int64_t) unit_below(5);
		case 3:
			return (int64_t) INT32_MAX - 2 + (int64_t) unit_below(5);
		default:
			return (int64_t) unit_below(150) - 75;
	}
}

/* A random set of at most MOST_VALUES + 1 ranges. */
static size_t
random_set(LongRange *out)
{
	int64_t		values[MOST_VALUES];
	LongRange	ranges[MOST_VALUES];
	size_t		n = unit_below(MOST_VALUES);
	size_t		nranges;

	for (size_t i = 0; i < n; i++)
		values[i] = random_value();
	nranges = long_ranges_of_values(values, n, ranges);
	check_order(ranges, nranges);
	for (size_t i = 0; i < n; i++)
		assert_true(contains(ranges, nranges, values[i]));
	if (unit_below(2) == 0)
		return long_ranges_complement(ranges, nranges, out);
	memcpy(out, ranges, nranges * sizeof(LongRange));
	return nranges;
}

static void
test_sets(void **state)
{
	LongRange	a[MOST_VALUES + 1];
	LongRange	b[MOST_VALUES + 1];
	LongRange	not_a[MOST_VALUES + 2];
	LongRange	both[2 * MOST_VALUES + 2];
	ValueRange	narrow[MOST_VALUES + 1];

	(void) state;
	for (int trial = 0; trial < 500; trial++)
	{
		size_t		na = random_set(a);
		size_t		nb = random_set(b);
		size_t		nnot = long_ranges_complement(a, na, not_a);
		size_t		nboth = long_ranges_intersect(a, na, b, nb, both);
		int64_t		bias = unit_below(2) == 0 ? 0 : INT64_C(0x80000000);
		size_t		nnarrow = long_ranges_narrow(a, na, bias, narrow);

		assert_true(nnot <= na + 1 && nboth <= na + nb && nnarrow <= na);
		check_order(a, na);
		check_order(not_a, nnot);
		check_order(both, nboth);
		for (int i = 0; i < 300; i++)
		{
			int64_t		value = random_value();

			assert_true(contains(not_a, nnot, value) != contains(a, na, value));
			assert_true(contains(both, nboth, value) ==
						(contains(a, na, value) && contains(b, nb, value)));
			if (value >= INT32_MIN + bias && value <= INT32_MAX + bias)
				assert_true(contains_narrow(narrow, nnarrow, value - bias) == contains(a, na, value));
		}
	}
}

/* Everything, nothing, and what is left of either. */
static void
test_whole_sets(void **state)
{
	static const LongRange everything = {INT64_MIN, INT64_MAX};
	LongRange	out[3];

	(void) state;
	assert_int_equal(long_ranges_complement(&everything, 1, out), 0);
	assert_int_equal(long_ranges_complement(NULL, 0, out), 1);
	assert_memory_equal(&out[0], &everything, sizeof(everything));
	assert_int_equal(long_ranges_intersect(&everything, 1, out, 1, out + 1), 1);
	assert_int_equal(long_ranges_intersect(&everything, 1, NULL, 0, out + 1), 0);
	assert_int_equal(long_ranges_of_values(NULL, 0, out), 0);
}

/* An extent of rows of one block; span: the largest distance. */
static Extent *
make_extent(uint32_t nrows, int64_t base, uint64_t span, int64_t *values, uint8_t *nulls)
{
	uint64_t	stamp = 1;
	ExtentRows	rows = {.nblocks = 1, .stamps = &stamp, .counts = &nrows, .values = values, .nulls = nulls};
	Extent		header;
	Extent	   *extent;

	for (uint32_t i = 0; i < nrows; i++)
	{
		values[i] = (int64_t) ((uint64_t) base + unit_below(span + 1));
		nulls[i] = unit_below(10) == 0;
	}
	extent_plan(&rows, &header);
	extent = unit_alloc(header.size, 1);
	extent_write(&rows, &header, extent);
	return extent;
}

/* The set is that of every step-th value of so many from first on, so that there are many ranges or few. */
static void
check_extent(const Extent *extent, const int64_t *values, const uint8_t *nulls, int64_t first,
			 uint64_t step, size_t nranges)
{
	LongRange  *ranges = unit_alloc(nranges + 1, sizeof(LongRange));
	DistanceRange *distances = unit_alloc(nranges + 1, sizeof(DistanceRange));
	uint64_t   *table = unit_alloc(EXTENT_FILTER_TABLE_WORDS, sizeof(uint64_t));
	uint8_t    *marks = unit_alloc((size_t) extent->nrows + 1, 1);
	ExtentFilter filter = {.ranges = ranges, .distances = distances, .table = table};
	PackedKeys	packed = extent_values(extent, extent, 0, extent->nrows);
	ExtentMatch match;

	for (uint32_t i = 0; i < nranges; i++)
	{
		int64_t		lo = first + (int64_t) (i * step);

		ranges[filter.nranges++] = (LongRange) {lo, lo + (int64_t) (step > 2 ? step - 2 : 0)};
	}
	match = extent_filter_begin(&filter, extent);
	if (match == EXTENT_SOME)
		extent_filter_mark(&filter, &packed, marks);
	else
		memset(marks, match == EXTENT_ALL, extent->nrows);
	for (uint32_t i = 0; i < extent->nrows; i++)
		if (!nulls[i])
			assert_int_equal(marks[i], contains(ranges, filter.nranges, values[i]));
	free(ranges);
	free(distances);
	free(table);
	free(marks);
}

/* The set is that of nkeys values near the extent's, bias above them; or of all but these. */
static void
check_keys(const Extent *extent, const int64_t *values, const uint8_t *nulls, uint32_t nkeys,
		   int64_t bias, bool excluded)
{
	int64_t    *keys = unit_alloc(nkeys + 1, sizeof(int64_t));
	uint8_t    *marks = unit_alloc((size_t) extent->nrows + 1, 1);
	PackedKeys	packed = extent_values(extent, extent, 0, extent->nrows);
	KeySet		header;
	KeySet	   *set;
	ExtentFilter filter = {.bias = bias, .excluded = excluded};
	ExtentMatch match;

	for (uint32_t i = 0; i < nkeys; i++)
		keys[i] = bias + extent->base - 2 + (int64_t) unit_below((uint64_t) extent->top + 5);
	key_set_plan(keys, nkeys, &header);
	set = unit_alloc(header.size, 1);
	key_set_write(&header, keys, nkeys, set);
	filter.keys = set;
	match = extent_filter_begin(&filter, extent);
	if (match == EXTENT_SOME)
		extent_filter_mark(&filter, &packed, marks);
	else
		memset(marks, match == EXTENT_ALL, extent->nrows);
	for (uint32_t i = 0; i < extent->nrows; i++)
		if (!nulls[i])
			assert_int_equal(marks[i], key_set_has(set, values[i] + bias) != excluded);
	assert_true(nkeys > 0 || match != EXTENT_SOME);
	free(keys);
	free(marks);
	free(set);
}

static void
test_extents(void **state)
{
	static const uint64_t spans[] = {0, 1, 200, 255, 256, 5000, 65535, 65536, 1000000, UINT32_MAX,
	INT64_C(1) << 40};
	int64_t    *values = unit_alloc(MOST_ROWS, sizeof(int64_t));
	uint8_t    *nulls = unit_alloc(MOST_ROWS, 1);

	(void) state;
	for (size_t s = 0; s < lengthof(spans); s++)
		for (int trial = 0; trial < 20; trial++)
		{
			uint32_t	nrows = (uint32_t) unit_below(MOST_ROWS + 1);
			int64_t		base = trial % 3 == 0 || spans[s] > INT32_MAX ? INT32_MIN : trial % 3 == 1 ?
				INT64_C(1) << 50 : -100;
			Extent	   *extent = make_extent(nrows, base, spans[s], values, nulls);

			check_extent(extent, values, nulls, base, 2, 1 + unit_below(10));
			check_extent(extent, values, nulls, base, 2, 2000);
			check_extent(extent, values, nulls, base, 1 + spans[s] / 20, 1 + unit_below(30));
			check_extent(extent, values, nulls, INT32_MIN, UINT32_MAX, 1);
			check_extent(extent, values, nulls, INT32_MAX - 50, 3, 10);
			check_extent(extent, values, nulls, 0, 2, 0);
			check_keys(extent, values, nulls, (uint32_t) unit_below(1000), 0, trial % 3 == 0);
			check_keys(extent, values, nulls, (uint32_t) unit_below(3), INT64_C(0x80000000),
					   trial % 3 == 0);
			free(extent);
		}
	free(values);
	free(nulls);
}

/* What the bounds say already. */
static void
test_bounds(void **state)
{
	int64_t		values[] = {5, 9, 7};
	uint8_t		nulls[] = {0, 0, 0};
	uint32_t	count = 3;
	uint64_t	stamp = 1;
	ExtentRows	rows = {.nblocks = 1, .stamps = &stamp, .counts = &count, .values = values, .nulls = nulls};
	static const struct
	{
		LongRange	range;
		ExtentMatch match;
	}			cases[] = {
		{{5, 9}, EXTENT_ALL}, {{INT64_MIN, INT64_MAX}, EXTENT_ALL}, {{6, 9}, EXTENT_SOME}, {{5, 8}, EXTENT_SOME},
		{{9, 100}, EXTENT_SOME}, {{10, 100}, EXTENT_NONE}, {{INT64_MIN, 4}, EXTENT_NONE}, {{INT64_MIN, 5}, EXTENT_SOME}
	};
	Extent		header;
	DistanceRange distance;

	(void) state;
	extent_plan(&rows, &header);
	for (size_t i = 0; i < lengthof(cases); i++)
	{
		ExtentFilter filter = {.ranges = &cases[i].range, .nranges = 1, .distances = &distance};

		assert_int_equal(extent_filter_begin(&filter, &header), cases[i].match);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_whole_sets),
		cmocka_unit_test(test_extents),
		cmocka_unit_test(test_bounds)
	};

	unit_seed("extent_filter_test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
