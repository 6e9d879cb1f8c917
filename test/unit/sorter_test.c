/*
 * sorter_test.c
 *		The sorter at the edges of its states, with promised bounds, and as a
 *		source of permutations.
 */
#include "ways.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sort/sorter/sorter_parts.h"

static void
test_size(void **state)
{
	(void) state;
	/* A million small groups are a million of these. */
	assert_true(sizeof(Sorter) <= 112);
}

static void
test_sizes(void **state)
{
	static const size_t sizes[] = {
		0, 1, 2, 15, 16, 17, 31, 32, 33, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097,
		6143, 6144, 6145, 8191, 8192, 8193, 16384, 65535, 65536, 65537, 131073
	};

	(void) state;
	for (size_t i = 0; i < lengthof(sizes); i++)
		for (int shape = 0; shape < SHAPE_COUNT; shape++)
		{
			int32_t    *keys = unit_alloc(sizes[i], sizeof(int32_t));

			unit_fill((UnitShape) shape, keys, sizes[i]);
			for (int way = 0; way < WAY_COUNT; way++)
				if (sizes[i] < 10000 || (way + shape + (int) i) % 3 == 0)
					way_check_sort((Way) way, keys, sizes[i], SORT_ALGORITHM_AUTO, 1);
			free(keys);
		}
}

/* An empty, or tiny, sorter takes no memory at all. */
static void
test_tiny_is_free(void **state)
{
	Unit		u;
	Sorter		s;
	SortError	err;
	SorterCursor cursor;
	int32_t		out[SORTER_INLINE_KEYS];
	size_t		got;

	(void) state;
	unit_init(&u);
	for (size_t n = 0; n <= SORTER_INLINE_KEYS; n++)
	{
		sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
		for (size_t i = 0; i < n; i++)
			assert_sort_ok(sorter_add_key(&s, -(int32_t) i, &err), err);
		assert_sort_ok(sorter_finish(&s, SORT_WANT_KEYS, &err), err);
		assert_sort_ok(sorter_open_cursor(&s, true, &cursor, &err), err);
		assert_sort_ok(sorter_cursor_keys(&cursor, out, SORTER_INLINE_KEYS, &got, &err), err);
		assert_int_equal(got, n);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(out[i], -(int32_t) i);
		assert_int_equal(u.allocations, 0);
		sorter_reset(&s);
	}
}

/*
 * The states themselves: that a case meant to reach one does reach it, or the
 * tests above would be about something else.
 */
static void
test_states(void **state)
{
	size_t		n = 200000;
	int32_t    *keys = unit_alloc(n, sizeof(int32_t));

	(void) state;
	for (int shape = 0; shape < SHAPE_COUNT; shape++)
	{
		Unit		u;
		Sorter		s;
		SortError	err;
		SorterStats stats;

		unit_init(&u);
		sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
		unit_fill((UnitShape) shape, keys, n);
		assert_sort_ok(sorter_add(&s, keys, n, &err), err);
		assert_sort_ok(sorter_finish(&s, SORT_WANT_KEYS, &err), err);
		assert_non_null(s.big);
		sorter_stats(&s, NULL, &stats);
		switch ((UnitShape) shape)
		{
			case SHAPE_WIDE:
				assert_int_equal(s.nbuf, n);
				assert_int_equal(stats.plan.algorithm, SORT_ALGORITHM_RADIX);
				break;
			case SHAPE_OUTLIERS:
			case SHAPE_SENTINELS:
				/* The core is counted, the rest beside it. */
				assert_true(s.big->dense.n > n / 2);
				assert_true(s.nbuf + s.big->sparse_n > 0);
				assert_int_equal(s.nbuf + s.big->sparse_n + s.big->dense.n, n);
				assert_true(u.bytes < n * sizeof(int32_t));
				assert_int_equal(stats.plan.reason, PLAN_COUNTED);
				break;
			case SHAPE_FEW_DISTINCT:
				/* At most 64 values: a buffer, and next to nothing else. */
				assert_true(s.big->sparse.len <= 64);
				assert_true(s.big->sparse_n + s.big->dense.n > 0);
				assert_true(u.bytes <= (size_t) 1 << 20);
				assert_int_equal(stats.plan.algorithm, SORT_ALGORITHM_ZERO_COMPRESSED);
				break;
			case SHAPE_CONSTANT:
			case SHAPE_NARROW:
				assert_int_equal(s.big->dense.n, n);
				assert_true(u.bytes < 65536);
				break;
			case SHAPE_MIDDLE:
				assert_int_equal(s.big->dense.n, n);
				assert_int_equal(s.nbuf, 0);
				break;
			default:
				break;
		}
		sorter_reset(&s);
		unit_assert_no_leak(&u);
	}
	free(keys);
}

/*
 * Sparse runs first, then so many keys around them that a histogram grows over
 * them, from below, from above and from between.
 */
static void
test_sparse_absorbed(void **state)
{
	(void) state;
	for (int side = 0; side < 3; side++)
	{
		Unit		u;
		Sorter		s;
		SortError	err;
		Bag			bag = {0};
		int32_t		run_keys[5];
		uint64_t	counts[5];
		int32_t    *keys = unit_alloc(20000, sizeof(int32_t));

		unit_init(&u);
		sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
		for (size_t i = 0; i < 5; i++)
		{
			run_keys[i] = ((int32_t) i - 2) * 100000;
			counts[i] = 1 + unit_below(3);
			bag_add(&bag, run_keys[i], counts[i]);
		}
		assert_sort_ok(sorter_add_runs(&s, run_keys, counts, 5, &err), err);
		assert_int_equal(s.big->dense.range, 0);
		assert_int_equal(s.big->sparse.len, 5);
		for (int round = 1; round <= 60; round++)
		{
			for (size_t i = 0; i < 20000; i++)
			{
				int32_t		reach = round * 5000;

				keys[i] = side == 0 ? -250000 + unit_key(0, 2 * reach)
					: side == 1 ? 250000 - unit_key(0, 2 * reach) : unit_key(-reach, reach);
			}
			bag_add_keys(&bag, keys, 20000);
			assert_sort_ok(sorter_add(&s, keys, 20000, &err), err);
		}
		assert_sort_ok(sorter_finish(&s, SORT_WANT_RUNS, &err), err);
		/* All of them in the histogram now. */
		assert_int_equal(s.big->sparse.len, 0);
		assert_int_equal(s.big->sparse_n, 0);
		unit_check_sorter(&u, &s, &bag, NULL);
		sorter_reset(&s);
		unit_assert_no_leak(&u);
		bag_clear(&bag);
		free(keys);
	}
}

/* Low runs, a histogram, high runs, and keys on either side of it. */
static void
test_all_parts(void **state)
{
	(void) state;
	for (int trial = 0; trial < 30; trial++)
	{
		Unit		u;
		Sorter		s;
		SortError	err;
		Bag			bag = {0};
		int32_t		run_keys[4] = {INT32_MIN, -2000000000, 2000000000, INT32_MAX};
		uint64_t	counts[4] = {3, 1, 2, 40};
		int32_t		keys[30000];

		unit_init(&u);
		sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
		for (size_t i = 0; i < lengthof(keys); i++)
			keys[i] = unit_below(1000) == 0 ? unit_key(INT32_MIN, INT32_MAX) : unit_key(-100, 100);
		bag_add_keys(&bag, keys, lengthof(keys));
		assert_sort_ok(sorter_add(&s, keys, lengthof(keys), &err), err);
		for (size_t i = 0; i < 4; i++)
			bag_add(&bag, run_keys[i], counts[i]);
		if (trial % 3 > 0)
			assert_sort_ok(sorter_add_runs(&s, run_keys, counts, 4, &err), err);
		else
			for (size_t i = 0; i < 4; i++)
				while (counts[i]-- > 0)
					assert_sort_ok(sorter_add_key(&s, run_keys[i], &err), err);
		assert_sort_ok(sorter_finish(&s, SORT_WANT_KEYS, &err), err);
		assert_true(s.big->dense.n > 20000);
		assert_true(trial % 3 == 0 || (s.big->sparse.len > 4 && s.nbuf == 0));
		unit_check_sorter(&u, &s, &bag, NULL);
		sorter_reset(&s);
		bag_clear(&bag);
	}
}

/* Adding after a finish and after reads, as window aggregates do. */
static void
test_add_after_finish(void **state)
{
	(void) state;
	for (int shape = 0; shape < SHAPE_COUNT; shape++)
	{
		Unit		u;
		Sorter		s;
		SortError	err;
		Bag			bag = {0};

		unit_init(&u);
		sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
		for (int round = 0; round < 12; round++)
		{
			size_t		n = (size_t) unit_below(unit_below(2) ? 20 : 9000);
			int32_t    *keys = unit_alloc(n, sizeof(int32_t));
			Way			way = (Way) unit_below(WAY_COUNT);

			unit_fill(unit_below(4) ? (UnitShape) shape : (UnitShape) unit_below(SHAPE_COUNT), keys, n);
			bag_add_keys(&bag, keys, n);
			assert_sort_ok(way_add(&s, way == WAY_ARRAY ? WAY_ADD : way, keys, n, &err), err);
			assert_sort_ok(sorter_finish(&s, (SortWant) unit_below(2), &err), err);
			unit_check_sorter(&u, &s, &bag, NULL);
			free(keys);
			/* Nothing of the past may shine through a reset. */
			if (unit_below(6) == 0)
			{
				sorter_reset(&s);
				unit_assert_no_leak(&u);
				bag_clear(&bag);
			}
		}
		sorter_reset(&s);
		unit_assert_no_leak(&u);
		bag_clear(&bag);
	}
}

static void
test_array_in_place(void **state)
{
	static const SortAlgorithm algorithms[] = {
		SORT_ALGORITHM_AUTO, SORT_ALGORITHM_RADIX, SORT_ALGORITHM_ZERO_COMPRESSED,
		SORT_ALGORITHM_COMPARISON_FREE
	};

	(void) state;
	for (int trial = 0; trial < 300; trial++)
	{
		size_t		n = (size_t) unit_below(trial % 4 ? 200 : 30000);
		int32_t    *keys = unit_alloc(n, sizeof(int32_t));
		UnitShape	shape = (UnitShape) unit_below(SHAPE_COUNT);
		SortAlgorithm algorithm = algorithms[unit_below(lengthof(algorithms))];
		Unit		u;
		Sorter		s;
		SortError	err;
		Bag			bag = {0};

		if (algorithm == SORT_ALGORITHM_ZERO_COMPRESSED || algorithm == SORT_ALGORITHM_COMPARISON_FREE)
			shape = unit_below(2) ? SHAPE_NARROW : SHAPE_MIDDLE;
		unit_init(&u);
		u.context.algorithm = algorithm;
		sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
		unit_fill(shape, keys, n);
		bag_add_keys(&bag, keys, n);
		assert_sort_ok(sorter_add_array(&s, keys, n, &err), err);
		assert_sort_ok(sorter_finish(&s, SORT_WANT_KEYS, &err), err);
		unit_check_sorter(&u, &s, &bag, keys);
		sorter_reset(&s);
		unit_assert_no_leak(&u);
		bag_clear(&bag);
		free(keys);
	}
}

/*
 * An array in order already, and one that is but for a single key: at the
 * start, at the end, anywhere.
 */
static void
test_ordered_array(void **state)
{
	static const size_t sizes[] = {2, 100, 4095, 4096, 5000, 1048576, 1048577};

	(void) state;
	for (size_t i = 0; i < lengthof(sizes); i++)
		for (int trial = 0; trial < (sizes[i] > 100000 ? 6 : 24); trial++)
		{
			size_t		n = sizes[i];
			int32_t    *keys = unit_alloc(n, sizeof(int32_t));
			int32_t    *expected = unit_alloc(n, sizeof(int32_t));
			int32_t    *out = trial & 1 ? keys : unit_alloc(n, sizeof(int32_t));
			int32_t		step = trial % 6 == 5 ? 0 : 1 + trial % 3;
			bool		descending = trial % 4 > 1;
			Unit		u;
			Sorter		s;
			SortError	err;

			for (size_t j = 0; j < n; j++)
				keys[j] = -5 + (int32_t) (j / 2) * step;
			if (trial % 3 > 0)
				keys[trial % 3 == 1 ? (size_t) unit_below(n) : unit_below(2) ? 0 : n - 1] =
					unit_key(-9, (int32_t) n);
			memcpy(expected, keys, n * sizeof(int32_t));
			unit_sort(expected, n, descending);
			unit_init(&u);
			sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
			assert_sort_ok(sorter_add_array(&s, keys, n, &err), err);
			assert_sort_ok(sorter_finish(&s, SORT_WANT_KEYS, &err), err);
			assert_sort_ok(sorter_read_keys(&s, descending, out, &err), err);
			unit_assert_keys(out, expected, n, "ordered array");
			sorter_reset(&s);
			unit_assert_no_leak(&u);
			if (out != keys)
				free(out);
			free(keys);
			free(expected);
		}
}

/* A promise kept, to the very edge, and broken by one, in each way. */
static void
test_bounds(void **state)
{
	static const size_t sizes[] = {1, 16, 17, 100, 4096, 4097, 20000};

	(void) state;
	for (size_t i = 0; i < lengthof(sizes); i++)
		for (int way = 0; way < WAY_COUNT; way++)
			for (int kind = 0; kind < 8; kind++)
			{
				size_t		n = sizes[i];
				int32_t    *keys = unit_alloc(n, sizeof(int32_t));
				int32_t		lo = kind & 1 ? -1000 : -2000000000;
				int32_t		hi = kind & 1 ? 1000 : 2000000000;
				int32_t		wrong = 0;
				bool		broken = kind >= 4;
				SortStatus	status;
				SortError	err;
				Unit		u;
				Sorter		s;
				size_t		j;

				for (j = 0; j < n; j++)
					keys[j] = unit_key(lo, hi);
				keys[unit_below(n)] = lo;
				keys[unit_below(n)] = hi;
				if (broken)
				{
					size_t		places = 1 + (size_t) unit_below(3);

					while (places-- > 0)
						keys[unit_below(n)] = unit_below(2) ? lo - 1 - unit_key(0, 1) * 100000
							: hi + 1 + unit_key(0, 1) * 100000;
				}
				unit_init(&u);
				sorter_init(&s, &u.context, lo, hi);
				status = way_add(&s, (Way) way, keys, n, &err);
				if (status == SORT_OK)
					status = sorter_finish(&s, SORT_WANT_KEYS, &err);
				if (!broken)
				{
					Bag			bag = {0};

					assert_sort_ok(status, err);
					bag_add_keys(&bag, keys, n);
					unit_check_sorter(&u, &s, &bag, NULL);
					bag_clear(&bag);
				}
				else
				{
					char		message[100];

					/* Runs have only an order of their own: their first is the smallest. */
					if (way == WAY_RUNS)
						unit_sort(keys, n, false);
					for (j = 0; keys[j] >= lo && keys[j] <= hi; j++)
						;
					wrong = keys[j];
					assert_int_equal(status, SORT_KEY_OUT_OF_BOUNDS);
					assert_int_equal(err.status, SORT_KEY_OUT_OF_BOUNDS);
					/* What was sorted on the way no longer has a first one. */
					if (way != WAY_MERGE && way != WAY_BYTES)
						assert_int_equal(err.key, wrong);
					else
						assert_true(err.key < lo || err.key > hi);
					assert_int_equal(err.lo, lo);
					assert_int_equal(err.hi, hi);
					snprintf(message, sizeof(message), "key %d is out of bounds", (int) err.key);
					assert_string_equal(err.message, message);
				}
				sorter_reset(&s);
				unit_assert_no_leak(&u);
				/* After a reset the promise still holds. */
				assert_sort_ok(sorter_add_key(&s, broken ? wrong : lo, &err), err);
				assert_int_equal(sorter_finish(&s, SORT_WANT_KEYS, &err),
								 broken ? SORT_KEY_OUT_OF_BOUNDS : SORT_OK);
				sorter_reset(&s);
				free(keys);
			}
}

/*
 * The histogram of another sorter reaches beyond its keys; merging it must not
 * widen what this one promised.
 */
static void
test_bounds_after_merge(void **state)
{
	static int32_t keys[4097];

	(void) state;
	/* Among them some that the plan takes with the other's slack, but without more. */
	for (int32_t range = 500; range < 50000; range += range / 50)
		for (int low = 0; low < 2; low++)
		{
			Unit		u;
			Sorter		s;
			Sorter		other;
			SortError	err;
			SortStatus	status;

			for (size_t i = 0; i < lengthof(keys); i++)
				keys[i] = unit_key(0, range - 1);
			unit_init(&u);
			sorter_init(&other, &u.context, INT32_MIN, INT32_MAX);
			sorter_init(&s, &u.context, 0, range - 1);
			assert_sort_ok(sorter_add(&other, keys, lengthof(keys), &err), err);
			assert_sort_ok(sorter_merge(&s, &other, &err), err);
			status = sorter_add_key(&s, low ? -1 : range, &err);
			if (status == SORT_OK)
				status = sorter_finish(&s, SORT_WANT_KEYS, &err);
			assert_int_equal(status, SORT_KEY_OUT_OF_BOUNDS);
			assert_int_equal(err.key, low ? -1 : range);
			sorter_reset(&s);
			sorter_reset(&other);
			unit_assert_no_leak(&u);
		}
}

static void
test_permutation(void **state)
{
	static const SortAlgorithm algorithms[] = {
		SORT_ALGORITHM_AUTO, SORT_ALGORITHM_RADIX, SORT_ALGORITHM_ZERO_COMPRESSED
	};
	/* The last one is more than one piece between two looks for a cancel. */
	static const size_t sizes[] = {0, 1, 2, 17, 1000, 4095, 4096, 4097, 50000, 1100000};

	(void) state;
	for (size_t i = 0; i < lengthof(sizes); i++)
		for (size_t a = 0; a < lengthof(algorithms); a++)
			for (int shape = 0; shape < SHAPE_COUNT; shape++)
			{
				size_t		n = sizes[i];
				int32_t    *keys = unit_alloc(n, sizeof(int32_t));
				uint32_t   *out = unit_alloc(n, sizeof(uint32_t));
				uint32_t   *expected = unit_alloc(n, sizeof(uint32_t));
				uint32_t	base = (uint32_t) unit_below(3);
				Unit		u;
				Sorter		s;
				SortError	err;
				SorterStats stats;

				if (n > 1000000 && (a > 0 || (shape != SHAPE_NARROW && shape != SHAPE_WIDE)))
				{
					free(keys);
					free(out);
					free(expected);
					continue;
				}
				unit_init(&u);
				u.context.algorithm = algorithms[a];
				unit_fill(algorithms[a] == SORT_ALGORITHM_ZERO_COMPRESSED ? SHAPE_NARROW
						  : (UnitShape) shape, keys, n);
				sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
				assert_sort_ok(sorter_add_array(&s, keys, n, &err), err);
				assert_sort_ok(sorter_finish(&s, SORT_WANT_PERMUTATION, &err), err);
				for (int descending = 0; descending < 2; descending++)
				{
					if (n > 0)
						memset(out, 0xEE, n * sizeof(uint32_t));
					unit_permutation(keys, n, descending, base, expected);
					assert_sort_ok(sorter_read_permutation(&s, descending, base, out, &err), err);
					unit_assert_keys((int32_t *) out, (int32_t *) expected, n,
									 descending ? "permutation down" : "permutation up");
				}
				sorter_stats(&s, NULL, &stats);
				assert_int_equal(stats.n, n);
				if (n == 50000 && algorithms[a] == SORT_ALGORITHM_AUTO && shape == SHAPE_NARROW)
					assert_int_equal(stats.plan.algorithm, SORT_ALGORITHM_ZERO_COMPRESSED);
				sorter_reset(&s);
				unit_assert_no_leak(&u);
				free(keys);
				free(out);
				free(expected);
			}
}

/* Of keys that were not kept in one piece, no permutation is made up. */
static void
test_permutation_of_nothing(void **state)
{
	int32_t		keys[5000] = {0};
	uint32_t	out[5000];
	Unit		u;
	Sorter		s;
	SortError	err;

	(void) state;
	for (size_t n = 1; n <= lengthof(keys); n += 1 + n)
	{
		unit_init(&u);
		sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
		assert_sort_ok(sorter_add(&s, keys, n, &err), err);
		if (sorter_finish(&s, SORT_WANT_PERMUTATION, &err) == SORT_OK)
			assert_int_equal(sorter_read_permutation(&s, false, 0, out, &err), SORT_UNSUPPORTED);
		assert_int_equal(err.status, SORT_UNSUPPORTED);
		sorter_reset(&s);
		unit_assert_no_leak(&u);
	}
}

/* Counts that no memory would hold as keys. */
static void
test_huge_counts(void **state)
{
	const int32_t keys[] = {INT32_MIN, -1, 0, 1, INT32_MAX};
	const uint64_t counts[] = {UINT64_C(1) << 40, 1, UINT64_C(1) << 33, UINT32_MAX, 7};
	const int32_t narrow[] = {10, 11, 12};
	const uint64_t narrow_counts[] = {UINT32_MAX, UINT64_C(1) << 50, 1};

	(void) state;
	for (int round = 0; round < 2; round++)
	{
		Unit		u;
		Unit		u2;
		Sorter		s;
		Sorter		copy;
		SortError	err;
		SorterCursor cursor;
		Bag			bag = {0};
		int32_t    *out = unit_alloc(1000, sizeof(int32_t));
		void	   *bytes;
		size_t		size;
		size_t		got;

		unit_init(&u);
		unit_init(&u2);
		sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
		sorter_init(&copy, &u2.context, INT32_MIN, INT32_MAX);
		for (size_t i = 0; i < 3; i++)
		{
			for (int j = 0; j < (round == 0 ? 5 : 3); j++)
				bag_add(&bag, round == 0 ? keys[j] : narrow[j], round == 0 ? counts[j] : narrow_counts[j]);
			if (round == 0)
				assert_sort_ok(sorter_add_runs(&s, keys, counts, 5, &err), err);
			else
				assert_sort_ok(sorter_add_runs(&s, narrow, narrow_counts, 3, &err), err);
		}
		assert_sort_ok(sorter_add_key(&s, 0, &err), err);
		bag_add(&bag, 0, 1);
		assert_sort_ok(sorter_finish(&s, SORT_WANT_RUNS, &err), err);
		unit_check_sorter(&u, &s, &bag, NULL);
		/* Keys can still be read, a batch at a time. */
		assert_sort_ok(sorter_open_cursor(&s, true, &cursor, &err), err);
		assert_sort_ok(sorter_cursor_keys(&cursor, out, 1000, &got, &err), err);
		assert_int_equal(got, 1000);
		assert_int_equal(out[0], bag.items[bag.len - 1].key);
		assert_sort_ok(sorter_serialize_size(&s, &size, &err), err);
		bytes = unit_alloc(size, 1);
		sorter_serialize(&s, bytes);
		assert_sort_ok(sorter_deserialize(&copy, bytes, size, &err), err);
		assert_sort_ok(sorter_finish(&copy, SORT_WANT_RUNS, &err), err);
		unit_check_sorter(&u2, &copy, &bag, NULL);
		sorter_reset(&s);
		sorter_reset(&copy);
		unit_assert_no_leak(&u);
		unit_assert_no_leak(&u2);
		bag_clear(&bag);
		free(out);
		free(bytes);
	}
}

/*
 * Keys that arrive in order widen the histogram again and again: the work per
 * key must not grow with their number, whatever the distance between them.
 */
static void
test_widening_is_linear(void **state)
{
	(void) state;
	for (int stride = 1; stride <= 12; stride++)
	{
		size_t		n = 1500000;
		Unit		u;
		Sorter		s;
		SortError	err;
		SorterStats stats;

		unit_init(&u);
		sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
		for (size_t i = 0; i < n; i++)
			assert_sort_ok(sorter_add_key(&s, (int32_t) i * stride, &err), err);
		assert_sort_ok(sorter_finish(&s, SORT_WANT_RUNS, &err), err);
		sorter_stats(&s, NULL, &stats);
		if (stats.bytes_moved > n * 200)
			fail_msg("stride %d: %llu bytes moved for %zu keys", stride,
					 (unsigned long long) stats.bytes_moved, n);
		sorter_reset(&s);
		unit_assert_no_leak(&u);
	}
}

/* A histogram takes no more memory than the caller allows, whatever the plan prefers. */
static void
test_memory_limit(void **state)
{
	static const size_t sizes[] = {50000, 300000};

	(void) state;
	for (size_t i = 0; i < lengthof(sizes); i++)
		for (int allowed = 0; allowed < 2; allowed++)
		{
			int32_t    *keys = unit_alloc(sizes[i], sizeof(int32_t));
			Bag			bag = {0};
			Unit		u;
			Sorter		s;
			SortError	err;

			for (size_t k = 0; k < sizes[i]; k++)
				keys[k] = unit_key(-5000, 4999);
			unit_init(&u);
			u.context.memory_limit = allowed ? 16 << 20 : 30000;
			sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
			assert_sort_ok(sorter_add(&s, keys, sizes[i], &err), err);
			assert_sort_ok(sorter_finish(&s, SORT_WANT_RUNS, &err), err);
			assert_int_equal(s.big->dense.range > 0, allowed);
			bag_add_keys(&bag, keys, sizes[i]);
			unit_check_sorter(&u, &s, &bag, NULL);
			sorter_reset(&s);
			unit_assert_no_leak(&u);
			bag_clear(&bag);
			free(keys);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_tiny_is_free),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_sparse_absorbed),
		cmocka_unit_test(test_all_parts),
		cmocka_unit_test(test_add_after_finish),
		cmocka_unit_test(test_array_in_place),
		cmocka_unit_test(test_ordered_array),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_bounds_after_merge),
		cmocka_unit_test(test_permutation),
		cmocka_unit_test(test_permutation_of_nothing),
		cmocka_unit_test(test_huge_counts),
		cmocka_unit_test(test_widening_is_linear),
		cmocka_unit_test(test_memory_limit),
	};

	unit_seed("sorter_test");
	return cmocka_run_group_tests_name("sorter", tests, NULL, NULL);
}
