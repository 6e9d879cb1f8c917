/*
 * serialize_test.c
 *		Sorters as bytes: round trips from every state, and bytes that no
 *		sorter wrote.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "sort/sorter/sorter_parts.h"

/* The layout as documented in sorter_serialize.c, written down once more. */
#define MAGIC UINT32_C(0x31735048)
#define HEADER_SIZE 24

static void
put_header(char *bytes, uint32_t magic, uint32_t width, uint64_t nruns, uint64_t nkeys)
{
	memcpy(bytes, &magic, 4);
	memcpy(bytes + 4, &width, 4);
	memcpy(bytes + 8, &nruns, 8);
	memcpy(bytes + 16, &nkeys, 8);
}

/* A sorter of keys of some shape, which the bag gets too. */
static void
make_sorter(Unit *u, Sorter *s, Bag *bag, UnitShape shape, size_t n, bool array, int32_t **kept)
{
	int32_t    *keys = unit_alloc(n, sizeof(int32_t));
	SortError	err;

	unit_init(u);
	sorter_init(s, &u->context, INT32_MIN, INT32_MAX);
	unit_fill(shape, keys, n);
	bag_add_keys(bag, keys, n);
	if (array)
		assert_sort_ok(sorter_add_array(s, keys, n, &err), err);
	else
		assert_sort_ok(sorter_add(s, keys, n, &err), err);
	*kept = keys;
}

/* An exact block with the bytes of the sorter; its size goes to *size. */
static char *
bytes_of(Sorter *s, size_t *size)
{
	SortError	err;
	char	   *bytes;

	assert_sort_ok(sorter_serialize_size(s, size, &err), err);
	bytes = unit_alloc(*size, 1);
	memset(bytes, 0xEE, *size);
	sorter_serialize(s, bytes);
	return bytes;
}

static void
test_round_trip(void **state)
{
	static const size_t sizes[] = {0, 1, 16, 17, 4095, 4096, 4097, 10000, 150000};

	(void) state;
	for (size_t i = 0; i < lengthof(sizes); i++)
		for (int shape = 0; shape < SHAPE_COUNT; shape++)
		{
			Unit		u;
			Unit		u2;
			Sorter		s;
			Sorter		copy;
			Bag			bag = {0};
			Bag			bag2 = {0};
			SortError	err;
			char	   *bytes;
			char	   *again;
			char	   *moved;
			size_t		size;
			size_t		size2;
			int32_t    *kept;
			int32_t    *kept2;

			make_sorter(&u, &s, &bag, (UnitShape) shape, sizes[i], unit_below(3) == 0, &kept);
			if (unit_below(2))
				assert_sort_ok(sorter_finish(&s, (SortWant) unit_below(2), &err), err);
			bytes = bytes_of(&s, &size);
			/* Twice the same: writing changes nothing. */
			again = bytes_of(&s, &size2);
			assert_int_equal(size, size2);
			assert_memory_equal(bytes, again, size);
			/* Never more than the keys themselves by much. */
			assert_true(size <= HEADER_SIZE + 12 * sizes[i]);

			/* Into an empty sorter, from an odd address. */
			unit_init(&u2);
			sorter_init(&copy, &u2.context, INT32_MIN, INT32_MAX);
			moved = unit_alloc(size + 1, 1);
			memcpy(moved + 1, bytes, size);
			assert_sort_ok(sorter_deserialize(&copy, moved + 1, size, &err), err);
			assert_sort_ok(sorter_finish(&copy, SORT_WANT_KEYS, &err), err);
			unit_check_sorter(&u2, &copy, &bag, NULL);
			sorter_reset(&copy);
			unit_assert_no_leak(&u2);

			/* Into one with other keys. */
			make_sorter(&u2, &copy, &bag2, (UnitShape) unit_below(SHAPE_COUNT),
						(size_t) unit_below(9000), false, &kept2);
			assert_sort_ok(sorter_deserialize(&copy, bytes, size, &err), err);
			bag_add_bag(&bag2, &bag);
			assert_sort_ok(sorter_finish(&copy, SORT_WANT_KEYS, &err), err);
			unit_check_sorter(&u2, &copy, &bag2, NULL);
			sorter_reset(&copy);
			unit_assert_no_leak(&u2);

			/* The first one still has all it had. */
			assert_sort_ok(sorter_finish(&s, SORT_WANT_KEYS, &err), err);
			unit_check_sorter(&u, &s, &bag, NULL);
			sorter_reset(&s);
			unit_assert_no_leak(&u);
			bag_clear(&bag);
			bag_clear(&bag2);
			free(bytes);
			free(again);
			free(moved);
			free(kept);
			free(kept2);
		}
}

/* Low-cardinality keys travel as runs: that is what makes workers cheap. */
static void
test_runs_are_small(void **state)
{
	Unit		u;
	Sorter		s;
	Bag			bag = {0};
	int32_t    *kept;
	size_t		size;
	char	   *bytes;

	(void) state;
	make_sorter(&u, &s, &bag, SHAPE_NARROW, 1000000, false, &kept);
	bytes = bytes_of(&s, &size);
	assert_true(size <= HEADER_SIZE + 301 * 8);
	sorter_reset(&s);
	bag_clear(&bag);
	free(kept);
	free(bytes);
}

/*
 * Bytes that may be anything: the answer is an error or a sorter that can be
 * finished and read, never more.  Returns what the reader said.
 */
static SortStatus
read_hostile(const char *bytes, size_t size)
{
	char	   *exact = unit_alloc(size, 1);
	Unit		u;
	Sorter		s;
	SortError	err;
	SortStatus	status;

	unit_init(&u);
	memset(&err, 0, sizeof(err));
	if (size > 0)
		memcpy(exact, bytes, size);
	sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
	status = sorter_deserialize(&s, exact, size, &err);
	assert_int_equal(status, err.status);
	if (status == SORT_OK)
	{
		SorterCursor cursor;
		int32_t		keys[500];
		uint64_t	counts[500];
		uint64_t	n = 0;
		int64_t		last = INT64_MIN;
		size_t		got;

		assert_true(sorter_count(&s) <= INT64_MAX);
		assert_sort_ok(sorter_finish(&s, SORT_WANT_RUNS, &err), err);
		assert_sort_ok(sorter_open_cursor(&s, false, &cursor, &err), err);
		do
		{
			assert_sort_ok(sorter_cursor_runs(&cursor, keys, counts, lengthof(keys), &got, &err), err);
			for (size_t i = 0; i < got; i++)
			{
				assert_true(keys[i] > last && counts[i] > 0);
				last = keys[i];
				n += counts[i];
			}
		} while (got == lengthof(keys));
		assert_int_equal(n, sorter_count(&s));
	}
	else
	{
		if (status != SORT_CORRUPT)
			fail_msg("status %d: %s", (int) status, err.message);
		assert_memory_equal(err.message, "serialized keys are corrupt: ", 29);
	}
	sorter_reset(&s);
	unit_assert_no_leak(&u);
	/* A reset sorter is as good as a new one. */
	assert_sort_ok(sorter_add_key(&s, 1, &err), err);
	assert_int_equal(sorter_count(&s), 1);
	sorter_reset(&s);
	free(exact);
	return status;
}

/* One sorter of each kind whose bytes are then damaged; small, for speed. */
static char *
sample_bytes(int kind, size_t *size)
{
	const int32_t far[] = {INT32_MIN, -7, 1000000, INT32_MAX};
	const uint64_t huge[] = {1, UINT64_C(1) << 40, 2, UINT32_MAX};
	const uint64_t small[] = {1, 2, 3, 4};
	int32_t		keys[60];
	Unit		u;
	Sorter		s;
	SortError	err;
	char	   *bytes;

	unit_init(&u);
	if (kind == 3)
		u.context.algorithm = SORT_ALGORITHM_ZERO_COMPRESSED;
	sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
	unit_fill(kind == 3 ? SHAPE_NARROW : SHAPE_WIDE, keys, lengthof(keys));
	if (kind != 1)
		assert_sort_ok(sorter_add(&s, keys, lengthof(keys), &err), err);
	if (kind == 1 || kind == 2)
		assert_sort_ok(sorter_add_runs(&s, far, kind == 1 ? huge : small, 4, &err), err);
	if (kind == 3)
		assert_sort_ok(sorter_finish(&s, SORT_WANT_KEYS, &err), err);
	bytes = bytes_of(&s, size);
	sorter_reset(&s);
	return bytes;
}

static void
test_truncated(void **state)
{
	(void) state;
	for (int kind = 0; kind < 4; kind++)
	{
		size_t		size;
		char	   *bytes = sample_bytes(kind, &size);
		char	   *longer = unit_alloc(size + 8, 1);

		assert_int_equal(read_hostile(bytes, size), SORT_OK);
		for (size_t n = 0; n < size; n++)
			assert_int_equal(read_hostile(bytes, n), SORT_CORRUPT);
		memset(longer, 0, size + 8);
		memcpy(longer, bytes, size);
		for (size_t n = size + 1; n <= size + 8; n++)
			assert_int_equal(read_hostile(longer, n), SORT_CORRUPT);
		free(bytes);
		free(longer);
	}
}

static void
test_flipped(void **state)
{
	(void) state;
	for (int kind = 0; kind < 4; kind++)
	{
		size_t		size;
		char	   *bytes = sample_bytes(kind, &size);

		for (size_t i = 0; i < size; i++)
			for (int bit = 0; bit < 9; bit++)
			{
				char		before = bytes[i];
				SortStatus	status;

				bytes[i] = (char) (bit < 8 ? before ^ (1 << bit) : ~before);
				status = read_hostile(bytes, size);
				/* In the header nothing may go unnoticed. */
				if (i < HEADER_SIZE)
					assert_int_equal(status, SORT_CORRUPT);
				bytes[i] = before;
			}
		free(bytes);
	}
}

static void
test_garbage(void **state)
{
	char		bytes[400];
	int			accepted = 0;

	(void) state;
	for (int trial = 0; trial < 120000; trial++)
	{
		size_t		size = (size_t) unit_below(sizeof(bytes) + 1);
		uint64_t	nruns = unit_below(12);
		uint64_t	nkeys = unit_below(12);
		uint32_t	width = unit_below(2) ? 4 : 8;

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (char) (unit_below(2) ? unit_random() : 0);
		if (trial % 4 > 0)
		{
			/* Believable headers, and often a length to match. */
			if (unit_below(20) == 0)
				nruns = unit_random() >> unit_below(64);
			if (unit_below(20) == 0)
				nkeys = unit_random() >> unit_below(64);
			put_header(bytes, MAGIC, width, nruns, nkeys);
			if (nruns < 12 && nkeys < 12 && unit_below(10))
				size = HEADER_SIZE + (size_t) (nruns * (width + 4) + nkeys * 4);
		}
		if (trial % 4 > 1 && nruns < 12)
		{
			/* Keys in order, so that the counts decide. */
			int32_t		key = unit_key(INT32_MIN, 0);

			for (size_t i = 0; i < nruns; i++)
			{
				memcpy(bytes + HEADER_SIZE + nruns * width + i * 4, &key, 4);
				key += 1 + unit_key(0, 1000);
			}
		}
		accepted += read_hostile(bytes, size) == SORT_OK;
	}
	/* Else it was all refused by the first look, and nothing was tested. */
	assert_true(accepted > 1000 && accepted < 119000);
}

static void
test_hostile_headers(void **state)
{
	static const uint64_t lengths[] = {
		1, 2, UINT64_C(1) << 29, UINT64_C(1) << 30, UINT64_C(1) << 32, UINT64_C(1) << 60,
		(UINT64_C(1) << 60) + 1, UINT64_C(1) << 61, (UINT64_C(1) << 61) + 1, UINT64_C(1) << 62,
		(UINT64_C(1) << 62) + 1, UINT64_C(1) << 63, UINT64_MAX / 12 + 1, UINT64_MAX / 8 + 1,
		UINT64_MAX / 4 + 1, UINT64_MAX - 1, UINT64_MAX
	};
	char		bytes[HEADER_SIZE + 48];

	(void) state;
	memset(bytes, 0, sizeof(bytes));
	for (size_t i = 0; i < lengthof(lengths); i++)
		for (size_t j = 0; j < lengthof(lengths); j++)
			for (uint32_t width = 4; width <= 8; width += 4)
				for (size_t size = HEADER_SIZE; size <= sizeof(bytes); size += 4)
				{
					put_header(bytes, MAGIC, width, lengths[i], lengths[j]);
					assert_int_equal(read_hostile(bytes, size), SORT_CORRUPT);
				}
	for (uint32_t width = 0; width < 100; width++)
	{
		put_header(bytes, MAGIC, width, 0, 0);
		assert_int_equal(read_hostile(bytes, HEADER_SIZE),
						 width == 4 || width == 8 ? SORT_OK : SORT_CORRUPT);
	}
	put_header(bytes, MAGIC + 1, 4, 0, 0);
	assert_int_equal(read_hostile(bytes, HEADER_SIZE), SORT_CORRUPT);
}

/* Counts whose sum is more than an int8 of SQL holds, in one piece or many. */
static void
test_too_many_keys(void **state)
{
	char		bytes[HEADER_SIZE + 24 + 4];
	const uint64_t half = UINT64_C(1) << 62;
	const uint64_t rest = INT64_MAX - (UINT64_C(1) << 62);
	const int32_t keys[] = {5, 6};
	uint64_t	counts[2];
	Unit		u;
	Sorter		s;
	SortError	err;

	(void) state;
	for (int more = 0; more < 2; more++)
	{
		counts[0] = half;
		counts[1] = rest + (uint64_t) more;
		put_header(bytes, MAGIC, 8, 2, 0);
		memcpy(bytes + HEADER_SIZE, counts, 16);
		memcpy(bytes + HEADER_SIZE + 16, keys, 8);
		assert_int_equal(read_hostile(bytes, HEADER_SIZE + 24), more ? SORT_CORRUPT : SORT_OK);
	}
	/* As many as there can be, and one loose key. */
	counts[1] = rest;
	memcpy(bytes + HEADER_SIZE, counts, 16);
	put_header(bytes, MAGIC, 8, 2, 1);
	memcpy(bytes + HEADER_SIZE + 24, keys, 4);
	assert_int_equal(read_hostile(bytes, HEADER_SIZE + 28), SORT_CORRUPT);

	/* Half and half again, the second time too many. */
	unit_init(&u);
	sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
	counts[0] = half;
	put_header(bytes, MAGIC, 8, 1, 0);
	memcpy(bytes + HEADER_SIZE, counts, 8);
	memcpy(bytes + HEADER_SIZE + 8, keys, 4);
	assert_sort_ok(sorter_deserialize(&s, bytes, HEADER_SIZE + 12, &err), err);
	assert_int_equal(sorter_deserialize(&s, bytes, HEADER_SIZE + 12, &err), SORT_CORRUPT);
	sorter_reset(&s);
	unit_assert_no_leak(&u);

	/* Nor into one that is beyond the limit already. */
	counts[0] = INT64_MAX;
	memcpy(bytes + HEADER_SIZE, counts, 8);
	assert_sort_ok(sorter_deserialize(&s, bytes, HEADER_SIZE + 12, &err), err);
	assert_sort_ok(sorter_add_key(&s, 5, &err), err);
	counts[0] = 1;
	memcpy(bytes + HEADER_SIZE, counts, 8);
	assert_int_equal(sorter_deserialize(&s, bytes, HEADER_SIZE + 12, &err), SORT_CORRUPT);
	sorter_reset(&s);
	unit_assert_no_leak(&u);
}

/* The bounds of the reader hold for what it reads. */
static void
test_bounds(void **state)
{
	(void) state;
	for (int kind = 0; kind < 4; kind++)
	{
		size_t		size;
		char	   *bytes = sample_bytes(kind, &size);
		Unit		u;
		Sorter		s;
		SortError	err;
		SortStatus	status;

		unit_init(&u);
		sorter_init(&s, &u.context, 1999999999, 2000000000);
		status = sorter_deserialize(&s, bytes, size, &err);
		if (status == SORT_OK)
			status = sorter_finish(&s, SORT_WANT_KEYS, &err);
		assert_int_equal(status, SORT_KEY_OUT_OF_BOUNDS);
		assert_int_equal(err.lo, 1999999999);
		assert_int_equal(err.hi, 2000000000);
		sorter_reset(&s);
		unit_assert_no_leak(&u);
		free(bytes);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_runs_are_small),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_hostile_headers),
		cmocka_unit_test(test_too_many_keys),
		cmocka_unit_test(test_bounds),
	};

	unit_seed("serialize_test");
	return cmocka_run_group_tests_name("serialize", tests, NULL, NULL);
}
