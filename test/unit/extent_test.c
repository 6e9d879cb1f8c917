/*
 * extent_test.c
 *		Extents against the values that they were made of: all widths, with and without NULLs,
 *		blocks without rows, and packed keys into histograms and sorters.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "sort/extents/extent.h"
#include "sort/runs/histogram.h"
#include "sort/sorter/sorter.h"

#define BLOCKS 128
#define MOST_ROWS 40

/* Values of an extent, and the extent. */
typedef struct Sample
{
	uint32_t	nblocks;
	uint32_t	nrows;
	uint64_t	stamps[BLOCKS];
	uint32_t	counts[BLOCKS];
	int64_t		values[BLOCKS * MOST_ROWS];
	uint8_t		nulls[BLOCKS * MOST_ROWS];
	Extent	   *extent;
} Sample;

/* span: the largest distance; nulls_in: one row of so many is NULL, 0: none. */
static void
make_sample(Sample *sample, int64_t base, uint64_t span, int nulls_in)
{
	ExtentRows	rows = {
		.stamps = sample->stamps,
		.counts = sample->counts,
		.values = sample->values,
		.nulls = sample->nulls
	};
	Extent		header;

	sample->nblocks = 1 + unit_random() % BLOCKS;
	sample->nrows = 0;
	for (uint32_t b = 0; b < sample->nblocks; b++)
	{
		sample->stamps[b] = unit_random();
		sample->counts[b] = unit_random() % 4 == 0 ? 0 : unit_random() % MOST_ROWS;
		for (uint32_t i = 0; i < sample->counts[b]; i++, sample->nrows++)
		{
			uint64_t	distance = unit_random();

			distance = span == UINT64_MAX ? distance : distance % (span + 1);
			sample->values[sample->nrows] = (int64_t) ((uint64_t) base + distance);
			sample->nulls[sample->nrows] = nulls_in > 0 && unit_random() % (uint64_t) nulls_in == 0;
		}
	}
	rows.nblocks = sample->nblocks;
	extent_plan(&rows, &header);
	sample->extent = unit_alloc(header.size, 1);
	extent_write(&rows, &header, sample->extent);
	assert_int_equal(sample->extent->size, header.size);
}

/* Selects some of the values, which are all in out; marks and marked have room for as many. */
static void
check_select(const PackedKeys *values, const int64_t *out, uint8_t *marks, int64_t *marked)
{
	size_t		count = 0;
	size_t		n;

	for (size_t i = 0; i < values->n; i++)
		marks[i] = unit_random() % 2;
	n = packed_keys_select_wide(values, marks, marked);
	for (size_t i = 0; i < values->n; i++)
		if (marks[i])
			assert_true(marked[count++] == out[i]);
	assert_int_equal(n, count);
}

static void
check_sample(const Sample *sample, uint64_t span)
{
	const Extent *extent = sample->extent;
	const uint32_t *starts = extent_starts(extent);
	int32_t    *narrow = unit_alloc((size_t) sample->nrows + 1, sizeof(int32_t));
	int64_t    *out = unit_alloc((size_t) sample->nrows + 1, sizeof(int64_t));
	int64_t    *marked = unit_alloc((size_t) sample->nrows + 1, sizeof(int64_t));
	uint8_t    *marks = unit_alloc((size_t) sample->nrows + 1, 1);
	bool		is_narrow = extent_bounds_are_narrow(extent->base, extent->top);
	uint8_t    *nulls = unit_alloc((size_t) sample->nrows + 1, 1);
	uint32_t	row = 0;

	assert_int_equal(extent->nblocks, sample->nblocks);
	assert_int_equal(extent->nrows, sample->nrows);
	assert_true(extent->top <= span);
	assert_int_equal(extent->width, extent->top <= UINT8_MAX ? 1 : extent->top <= UINT16_MAX ? 2 :
					 extent->top <= UINT32_MAX ? 4 : 8);
	for (uint32_t b = 0; b < sample->nblocks; b++)
	{
		PackedKeys	values = extent_values(extent, extent, starts[b], sample->counts[b]);
		size_t		nnulls = 0;

		assert_int_equal(starts[b], row);
		assert_int_equal(starts[b + 1] - starts[b], sample->counts[b]);
		assert_true(extent->stamps[b] == sample->stamps[b]);
		packed_keys_unpack_wide(&values, out);
		if (is_narrow)
			packed_keys_unpack(&values, narrow);
		check_select(&values, out, marks, marked);
		memset(nulls, 0, sample->counts[b]);
		if (extent->nulls_at > 0)
			nnulls = extent_mark_nulls((const uint8_t *) extent + extent->nulls_at, starts[b],
									   sample->counts[b], 1, nulls);
		assert_int_equal(extent_null_counts(extent)[b], nnulls);
		for (uint32_t i = 0; i < sample->counts[b]; i++, row++)
		{
			assert_int_equal(nulls[i], sample->nulls[row]);
			if (nulls[i])
				assert_int_equal(packed_keys_distance(&values, i), 0);
			else
				assert_true(out[i] == sample->values[row] && (!is_narrow || narrow[i] == out[i]));
		}
	}
	free(narrow);
	free(out);
	free(marked);
	free(marks);
	free(nulls);
}

static void
test_round_trip(void **state)
{
	static const uint64_t spans[] = {0, 1, 255, 256, 65535, 65536, INT32_MAX, UINT32_MAX,
	UINT32_MAX + UINT64_C(1), INT64_MAX, UINT64_MAX};
	Sample	   *sample = unit_alloc(1, sizeof(Sample));

	(void) state;
	for (size_t s = 0; s < lengthof(spans); s++)
		for (int trial = 0; trial < 30; trial++)
		{
			/* From the smallest int4 or int8 on, in the middle, and up to the largest int4. */
			int64_t		base = trial % 4 == 0 || spans[s] > UINT32_MAX ? INT64_MIN :
				trial % 4 == 1 || spans[s] > INT32_MAX ? INT32_MIN :
				trial % 4 == 2 ? INT32_MAX - (int64_t) spans[s] : -7;

			make_sample(sample, base, spans[s], trial % 4);
			check_sample(sample, spans[s]);
			free(sample->extent);
		}
	free(sample);
}

static void
test_no_rows(void **state)
{
	uint64_t	stamps[2] = {1, 2};
	uint32_t	counts[2] = {0, 0};
	ExtentRows	rows = {.nblocks = 2, .stamps = stamps, .counts = counts};
	Extent		header;
	Extent	   *extent;

	(void) state;
	extent_plan(&rows, &header);
	extent = unit_alloc(header.size, 1);
	extent_write(&rows, &header, extent);
	assert_int_equal(extent->nrows, 0);
	assert_int_equal(extent_starts(extent)[2], 0);
	free(extent);
}

/* Random packed keys, and the same keys unpacked; both are freed by free_packed. */
static PackedKeys
make_packed(int width, int32_t base, uint32_t top, size_t n, int32_t **keys)
{
	void	   *memory = unit_alloc(n + 1, (size_t) width);
	PackedKeys	packed = {.values = memory,.n = n,.width = width,.base = base,.top = top};

	*keys = unit_alloc(n + 1, sizeof(int32_t));
	for (size_t i = 0; i < n; i++)
	{
		uint32_t	distance = (uint32_t) unit_below((uint64_t) top + 1);

		if (width == 1)
			((uint8_t *) memory)[i] = (uint8_t) distance;
		else if (width == 2)
			((uint16_t *) memory)[i] = (uint16_t) distance;
		else
			((uint32_t *) memory)[i] = distance;
		(*keys)[i] = (int32_t) ((uint32_t) base + distance);
	}
	return packed;
}

static void
free_packed(PackedKeys *packed, int32_t *keys)
{
	free((void *) (uintptr_t) packed->values);
	free(keys);
}

/* Packed keys are counted as the same keys are; those that may lie outside are not touched. */
static void
check_histogram(uint32_t range, int width)
{
	uint32_t	widest = width == 1 ? UINT8_MAX : width == 2 ? UINT16_MAX : UINT32_MAX;
	uint32_t	top = range - 1 < widest ? range - 1 : widest;
	int32_t		hi = -1000 + (int32_t) range - 1;
	int32_t    *keys;
	PackedKeys	packed = make_packed(width, -1000, top, unit_below(5000), &keys);
	Unit		u;
	Histogram	a;
	Histogram	b;
	SortError	err;
	size_t		outside;

	unit_init(&u);
	assert_sort_ok(histogram_init(&a, -1000, hi, &u.context, &err), err);
	assert_sort_ok(histogram_init(&b, -1000, hi, &u.context, &err), err);
	assert_true(histogram_add_packed(&a, &packed));
	assert_true(histogram_add(&b, keys, packed.n, keys, &outside, &u.context.allocator));
	assert_int_equal(outside, 0);
	histogram_sum_tables(&a);
	histogram_sum_tables(&b);
	assert_true(a.n == b.n);
	for (uint64_t v = 0; v < range; v++)
		assert_true(histogram_count(&a, v) == histogram_count(&b, v));

	/* One place too low or too high, or more keys than the counters hold. */
	packed.base = -1001;
	assert_false(histogram_add_packed(&a, &packed));
	packed.base = -1000 + (int32_t) (range - top);
	assert_false(histogram_add_packed(&a, &packed));
	packed.base = -1000;
	a.fold_at = a.unfolded;
	assert_int_equal(histogram_add_packed(&a, &packed), packed.n == 0);
	assert_true(a.n == b.n);
	histogram_release(&a, &u.context.allocator);
	histogram_release(&b, &u.context.allocator);
	free_packed(&packed, keys);
	unit_assert_no_leak(&u);
}

static void
test_histogram(void **state)
{
	static const uint32_t ranges[] = {1, 2, 4, 200, 2048, 2049, 70000};

	(void) state;
	for (size_t r = 0; r < lengthof(ranges); r++)
		for (int trial = 0; trial < 12; trial++)
			check_histogram(ranges[r], 1 << trial % 3);
}

/* A sorter that is given packed keys, before and while it counts, has the same keys in order. */
static void
check_sorter(int width, uint32_t top)
{
	Unit		u;
	Sorter		s;
	Bag			bag = {0};
	SortError	err;

	unit_init(&u);
	sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
	for (int part = 0; part < 12; part++)
	{
		int32_t		base = top > INT32_MAX ? INT32_MIN : (int32_t) unit_below(3) * 50;
		int32_t    *keys;
		PackedKeys	packed = make_packed(width, base, top, unit_below(9000), &keys);

		assert_sort_ok(sorter_add_packed(&s, &packed, &err), err);
		bag_add_keys(&bag, keys, packed.n);
		free_packed(&packed, keys);
	}
	assert_sort_ok(sorter_finish(&s, SORT_WANT_KEYS, &err), err);
	unit_check_sorter(&u, &s, &bag, NULL);
	sorter_reset(&s);
	bag_clear(&bag);
	unit_assert_no_leak(&u);
}

static void
test_sorter(void **state)
{
	(void) state;
	for (int trial = 0; trial < 20; trial++)
	{
		check_sorter(1, UINT8_MAX);
		check_sorter(2, 60000);
		check_sorter(4, 70000);
		check_sorter(4, 4000000000u);
	}
}

/* Copies of extents with one number changed: refused, or nothing that is followed leads outside. */
static void
test_sound(void **state)
{
	Sample		sample;

	(void) state;
	for (int round = 0; round < 300; round++)
	{
		Extent	   *copy;
		uint32_t	size;

		make_sample(&sample, -1000, round % 3 == 0 ? 200 : 100000, round % 4);
		size = sample.extent->size;
		assert_true(extent_is_sound(sample.extent, size));
		assert_false(extent_is_sound(sample.extent, size - 8));
		assert_false(extent_is_sound(sample.extent, size + 8));
		assert_false(extent_is_sound(sample.extent, 0));

		/* Values, and whatever lies behind the start, are not looked at: the copy ends there. */
		copy = unit_alloc(sample.extent->values_at, 1);
		memcpy(copy, sample.extent, sample.extent->values_at);
		assert_true(extent_is_sound(copy, size));
		for (uint32_t at = 0; at < copy->values_at / sizeof(uint32_t); at++)
		{
			uint32_t   *number = (uint32_t *) (void *) copy + at;
			uint32_t	before = *number;
			bool		sound;

			*number = unit_random() % 2 ? before + 1 : (uint32_t) unit_random();
			sound = extent_is_sound(copy, size);
			if (at * sizeof(uint32_t) >= offsetof(Extent, stamps) &&
				at * sizeof(uint32_t) < sample.extent->starts_at)
				assert_true(sound);		/* a stamp, or the padding behind them */
			if (sound)
			{
				const uint32_t *starts = extent_starts(copy);

				assert_int_equal(copy->values_at, sample.extent->values_at);
				assert_true(copy->values_at + (uint64_t) copy->nrows * copy->width <= size);
				assert_true(copy->top <= (uint64_t) INT64_MAX - (uint64_t) copy->base);
				for (uint32_t b = 0; b < copy->nblocks; b++)
					assert_true(starts[b] <= starts[b + 1] && starts[b + 1] <= copy->nrows);
			}
			*number = before;
		}
		free(copy);
		free(sample.extent);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_no_rows),
		cmocka_unit_test(test_histogram),
		cmocka_unit_test(test_sorter),
		cmocka_unit_test(test_sound),
	};

	unit_seed("extent_test");
	return cmocka_run_group_tests_name("extent", tests, NULL, NULL);
}
