/*
 * key_code_test.c
 *		Key codes: in the order of their columns, different for different rows, taken apart
 *		again, no more of them than promised; and how ranges grow.
 */
#include "unit.h"

#include <string.h>

#include "sort/key_code.h"

#define MOST_COLUMNS 5
#define ROWS 200

typedef struct Row
{
	uint64_t	images[MOST_COLUMNS];
	bool		nulls[MOST_COLUMNS];
} Row;

/* Random columns whose images differ in up to most_bits; and random rows, which they get their ranges of. */
typedef struct Sample
{
	KeyCodeColumn columns[MOST_COLUMNS];
	KeyCode		code;
	Row			rows[ROWS];
} Sample;

static uint64_t
random_image(uint64_t start, int bits)
{
	return start + (bits == 0 ? 0 : unit_random() >> (64 - bits));
}

static void
make_sample(Sample *sample, int ncolumns, int most_bits)
{
	memset(sample, 0, sizeof(*sample));
	sample->code.ncolumns = ncolumns;
	sample->code.columns = sample->columns;
	for (int c = 0; c < ncolumns; c++)
	{
		KeyCodeColumn *column = &sample->columns[c];
		int			bits = (int) unit_below((uint64_t) most_bits + 1);
		uint64_t	start = bits == 64 ? 0 : unit_random() >> bits << bits;
		int			nulls = (int) unit_below(4);	/* 0: none, 3: all */

		column->range = EMPTY_KEY_RANGE;
		column->descending = unit_below(2);
		column->nulls_first = unit_below(2);
		for (int i = 0; i < ROWS; i++)
		{
			Row		   *row = &sample->rows[i];
			KeyRange	one;

			row->nulls[c] = nulls == 3 || (nulls > 0 && unit_below(3) == 0);
			row->images[c] = row->nulls[c] ? 0 : unit_below(8) == 0 && bits == 64 ? 0 - unit_below(2) : random_image(start, bits);
			one = row->nulls[c] ? (KeyRange) {UINT64_MAX, 0, true} : (KeyRange) {row->images[c], row->images[c], false};
			key_range_add(&column->range, &one);
		}
	}
}

/* Rows by the columns themselves, of which so many are compared. */
static int
compare_rows(const Sample *sample, const Row *a, const Row *b, int ncolumns)
{
	for (int c = 0; c < ncolumns; c++)
	{
		const KeyCodeColumn *column = &sample->columns[c];

		if (a->nulls[c] != b->nulls[c])
			return a->nulls[c] == column->nulls_first ? -1 : 1;
		if (a->images[c] != b->images[c])
			return (a->images[c] < b->images[c]) != column->descending ? -1 : 1;
	}
	return 0;
}

static uint64_t
code_of(const Sample *sample, const Row *row, int ncolumns)
{
	uint64_t	code = 0;

	for (int c = 0; c < ncolumns; c++)
	{
		const KeyCodeColumn *column = &sample->columns[c];

		code += (key_code_place(column, row->images[c], row->nulls[c]) >> column->cut) * column->stride;
	}
	return code;
}

/* Whether the codes of all columns are in their order, and each is taken apart into what it was made of. */
static void
check_codes(const Sample *sample)
{
	for (int i = 0; i < ROWS; i++)
	{
		const Row  *row = &sample->rows[i];
		const Row  *other = &sample->rows[unit_below(ROWS)];
		uint64_t	code = code_of(sample, row, sample->code.ncolumns);
		uint64_t	left = code;
		int			order = compare_rows(sample, row, other, sample->code.ncolumns);
		uint64_t	other_code = code_of(sample, other, sample->code.ncolumns);

		assert_int_equal((code > other_code) - (code < other_code), order);
		for (int c = 0; c < sample->code.ncolumns; c++)
		{
			uint64_t	image;

			assert_int_equal(key_code_take(&sample->code, &sample->columns[c], &left, &image), row->nulls[c]);
			assert_true(image == row->images[c]);
		}
		assert_true(left == 0);
	}
}

static void
test_number(void **state)
{
	static Sample sample;

	(void) state;
	for (int trial = 0; trial < 500; trial++)
	{
		uint64_t	product = 1;
		uint64_t	last;

		make_sample(&sample, 1 + (int) unit_below(MOST_COLUMNS), 10);
		for (int c = 0; c < sample.code.ncolumns; c++)
			product *= key_range_images(&sample.columns[c].range) + sample.columns[c].range.nulls;
		assert_false(key_code_number(&sample.code, product - 1));
		assert_true(key_code_number(&sample.code, product));
		assert_true(sample.code.ncodes == product);
		check_codes(&sample);
		for (int i = 0; i < ROWS; i++)
			assert_true(code_of(&sample, &sample.rows[i], sample.code.ncolumns) < product);

		/* What is inside the ranges. */
		for (int c = 0; c < sample.code.ncolumns; c++)
		{
			const KeyRange *range = &sample.columns[c].range;

			last = range->hi;
			assert_int_equal(key_code_holds(&sample.columns[c], 0, true), range->nulls);
			if (key_range_is_empty(range))
				assert_false(key_code_holds(&sample.columns[c], unit_random(), false));
			else
			{
				assert_true(key_code_holds(&sample.columns[c], range->lo, false));
				assert_true(key_code_holds(&sample.columns[c], last, false));
				assert_false(key_code_holds(&sample.columns[c], range->lo - 1, false));
				assert_false(key_code_holds(&sample.columns[c], last + 1, false));
			}
		}
	}
}

/* A column without images and NULLs has no place; and products are not taken modulo 2^64. */
static void
test_number_limits(void **state)
{
	KeyCodeColumn columns[3];
	KeyCode		code = {.ncolumns = 3, .columns = columns};

	(void) state;
	memset(columns, 0, sizeof(columns));
	for (int c = 0; c < 3; c++)
		columns[c].range = (KeyRange) {0, UINT32_MAX, false};
	assert_false(key_code_number(&code, UINT64_MAX));
	columns[2].range.hi = 0;
	assert_false(key_code_number(&code, UINT64_MAX));
	columns[1].range.hi--;
	assert_true(key_code_number(&code, UINT64_MAX));
	columns[2].range = EMPTY_KEY_RANGE;
	assert_false(key_code_number(&code, UINT64_MAX));
	columns[2].range = (KeyRange) {0, UINT64_MAX, true};
	assert_false(key_code_number(&code, UINT64_MAX));
}

static void
test_pack(void **state)
{
	static Sample sample;
	int			packed = 0;

	(void) state;
	for (int trial = 0; trial < 1000; trial++)
	{
		make_sample(&sample, 1 + (int) unit_below(MOST_COLUMNS), trial % 2 ? 64 : 14);
		key_code_pack(&sample.code);
		if (sample.code.bits > 64)
			continue;
		packed++;
		check_codes(&sample);
	}
	assert_true(packed > 500);
}

/* Codes are in order; whole columns are equal where codes are. */
static void
test_fit(void **state)
{
	static Sample sample;
	int			parts = 0;

	(void) state;
	for (int trial = 0; trial < 1000; trial++)
	{
		int			nwhole;
		int			n;

		make_sample(&sample, 1 + (int) unit_below(MOST_COLUMNS), trial % 2 ? 64 : 20);
		n = key_code_fit(&sample.code, &nwhole);
		assert_true(n >= 1 && n <= sample.code.ncolumns);
		assert_true(nwhole == n || nwhole == n - 1);
		parts += nwhole < n;
		for (int i = 0; i < ROWS; i++)
		{
			const Row  *row = &sample.rows[i];
			const Row  *other = &sample.rows[unit_below(ROWS)];
			uint64_t	a = code_of(&sample, row, n);
			uint64_t	b = code_of(&sample, other, n);
			int			order = compare_rows(&sample, row, other, n);

			assert_true(sample.code.ncodes == 0 || a < sample.code.ncodes);
			if (a != b)
				assert_int_equal(order, a < b ? -1 : 1);
			else
				assert_int_equal(compare_rows(&sample, row, other, nwhole), 0);
		}
	}
	assert_true(parts > 50);
}

static void
test_ranges(void **state)
{
	const KeyRange narrow = {100, 100 + 0xFFFF, false};

	(void) state;
	for (int trial = 0; trial < 10000; trial++)
	{
		KeyRange	range = EMPTY_KEY_RANGE;
		unsigned	others = (unsigned) unit_below(3);
		int			bits = -1;

		for (int i = 0; i < 6; i++)
		{
			uint64_t	lo = narrow.lo + unit_below(0x10000);
			uint64_t	hi = lo + unit_below(narrow.hi - lo + 1) / (1 + unit_below(1000));
			KeyRange	other = {lo, hi, false};
			KeyRange	before = range;
			bool		inside = !key_range_is_empty(&range) && lo >= range.lo && hi <= range.hi;

			assert_int_equal(key_range_widen(&range, &other, &narrow, others), !inside);
			if (inside)
				continue;
			assert_true(range.lo <= lo && range.hi >= hi && range.lo >= narrow.lo && range.hi <= narrow.hi);
			assert_true(range.lo <= before.lo && range.hi >= before.hi);

			/* It takes the room of its bits, as far as there is any. */
			bits = key_range_bits(&range, others);
			assert_true(key_range_images(&range) + others <= UINT64_C(1) << bits);
			if (range.lo > narrow.lo && range.hi < narrow.hi)
				assert_true(key_range_images(&range) + others == UINT64_C(1) << bits);
		}
	}
	assert_int_equal(key_range_bits(&EMPTY_KEY_RANGE, 0), 0);
	assert_int_equal(key_range_bits(&EMPTY_KEY_RANGE, 1), 0);
	assert_int_equal(key_range_bits(&EMPTY_KEY_RANGE, 2), 1);
	assert_int_equal(key_range_bits(&(KeyRange) {7, 7, false}, 0), 0);
	assert_int_equal(key_range_bits(&(KeyRange) {7, 8, false}, 1), 2);
	assert_int_equal(key_range_bits(&(KeyRange) {0, UINT64_MAX, false}, 0), 64);
	assert_int_equal(key_range_bits(&(KeyRange) {0, UINT64_MAX - 1, false}, 1), 64);
	assert_int_equal(key_range_bits(&(KeyRange) {0, UINT64_MAX, false}, 1), 65);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_number),
		cmocka_unit_test(test_number_limits),
		cmocka_unit_test(test_pack),
		cmocka_unit_test(test_fit),
		cmocka_unit_test(test_ranges),
	};

	unit_seed("key_code_test");
	return cmocka_run_group_tests_name("key_code", tests, NULL, NULL);
}
