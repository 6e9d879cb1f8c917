/*
 * histogram_test.c
 *		Histograms against a naive table of counts: folding into 64 bits,
 *		widening, walking, and expanding from any position.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "sort/runs/histogram.h"

static const uint64_t ranges[] = {1, 2, 3, 4, 5, 17, 256, 2047, 2048, 2049, 5000};

/* Keys from around lo .. lo + range - 1, a few of them outside. */
static void
fill_around(int32_t *keys, size_t n, int32_t lo, uint64_t range, uint64_t outside_every)
{
	for (size_t i = 0; i < n; i++)
		keys[i] = unit_below(outside_every) == 0 ? unit_key(INT32_MIN, INT32_MAX)
			: (int32_t) (lo + (int64_t) unit_below(range));
}

/* Counts, nonzero bins up and down, and their number. */
static void
check_bins(const Histogram *h, const uint64_t *expected)
{
	uint64_t	n = 0;
	uint64_t	distinct = 0;
	uint64_t	v;
	uint64_t	next = h->range;
	uint64_t	previous = 0;

	for (v = 0; v < h->range; v++)
	{
		if (histogram_count(h, v) != expected[v])
			fail_msg("bin %llu of %llu is %llu, not %llu", (unsigned long long) v,
					 (unsigned long long) h->range, (unsigned long long) histogram_count(h, v),
					 (unsigned long long) expected[v]);
		n += expected[v];
		distinct += expected[v] != 0;
		assert_int_equal(histogram_previous(h, v), previous);
		if (expected[v] != 0)
			previous = v + 1;
	}
	assert_int_equal(histogram_previous(h, h->range), previous);
	for (v = h->range; v-- > 0;)
	{
		assert_int_equal(histogram_next(h, v + 1), next);
		if (expected[v] != 0)
			next = v;
	}
	assert_int_equal(histogram_next(h, 0), next);
	assert_int_equal(histogram_distinct(h), distinct);
	assert_int_equal(h->n, n);

	/* What decides when to fold next is what the 32-bit counters hold. */
	for (v = 0, n = 0; v < h->range; v++)
		n += h->bins[v];
	assert_int_equal(h->unfolded, n);
	assert_true(n <= h->fold_at);
}

static bool
add_run(Histogram *h, int32_t key, uint64_t count, const SortAllocator *a)
{
	return histogram_add_runs(h, &key, &count, 1, a);
}

static void
test_add(void **state)
{
	(void) state;
	for (int trial = 0; trial < 400; trial++)
	{
		Unit		u;
		SortError	err;
		Histogram	h;
		uint64_t	range = ranges[unit_below(lengthof(ranges))];
		int32_t		lo = unit_below(2) ? INT32_MIN : (int32_t) (INT32_MAX - (int64_t) range + 1);
		uint64_t   *expected = calloc((size_t) range, sizeof(uint64_t));
		const SortAllocator *a = &u.context.allocator;
		int			rounds = 1 + (int) unit_below(6);
		bool		folds = unit_below(2);

		assert_non_null(expected);
		unit_init(&u);
		assert_sort_ok(histogram_init(&h, lo, (int32_t) (lo + (int64_t) range - 1), &u.context, &err), err);
		assert_int_equal(h.range, range);
		/* What takes 2^32 keys in earnest takes a few dozen here. */
		if (folds)
			h.fold_at = 1 + unit_below(100);
		while (rounds-- > 0)
		{
			size_t		n = (size_t) unit_below(500);
			int32_t    *keys = unit_alloc(n, sizeof(int32_t));
			int32_t    *outside = unit_alloc(n, sizeof(int32_t));
			int32_t    *expected_outside = unit_alloc(n, sizeof(int32_t));
			size_t		nexpected = 0;
			size_t		noutside;
			bool		in_place = unit_below(2);

			fill_around(keys, n, lo, range, 1 + unit_below(100));
			for (size_t i = 0; i < n; i++)
			{
				int64_t		v = (int64_t) keys[i] - lo;

				if (v < 0 || v >= (int64_t) range)
					expected_outside[nexpected++] = keys[i];
				else
					expected[v]++;
			}
			assert_true(histogram_add(&h, keys, n, in_place ? keys : outside, &noutside, a));
			assert_int_equal(noutside, nexpected);
			unit_assert_keys(in_place ? keys : outside, expected_outside, nexpected, "outside");
			if (unit_below(2))
			{
				uint64_t	v = unit_below(range);
				uint64_t	count = unit_below(4) ? 1 + unit_below(20) : UINT64_C(5000000000);

				assert_true(add_run(&h, (int32_t) (lo + (int64_t) v), count, a));
				expected[v] += count;
			}
			if (unit_below(3) == 0)
				histogram_sum_tables(&h);
			assert_int_equal(histogram_memory(&h), u.bytes);
			free(keys);
			free(outside);
			free(expected_outside);
		}
		histogram_sum_tables(&h);
		check_bins(&h, expected);
		histogram_release(&h, a);
		assert_int_equal(h.range, 0);
		unit_assert_no_leak(&u);
		free(expected);
	}
}

/* A counter beyond 32 bits, reached in every way there is. */
static void
test_counts_beyond_32_bits(void **state)
{
	const int32_t keys[] = {7, 7, 9, 7};
	const uint64_t expected[] = {0, 0, UINT64_C(3) + UINT32_MAX + UINT32_MAX + 5, 0,
		UINT64_C(1) + (UINT64_C(1) << 60)};
	Unit		u;
	SortError	err;
	Histogram	h;
	const SortAllocator *a = &u.context.allocator;
	int32_t		outside[4];
	size_t		noutside;

	(void) state;
	unit_init(&u);
	assert_sort_ok(histogram_init(&h, 5, 9, &u.context, &err), err);
	assert_true(add_run(&h, 7, UINT32_MAX, a));
	assert_null(h.folded);
	assert_true(histogram_add(&h, keys, 4, outside, &noutside, a));
	assert_non_null(h.folded);
	assert_true(add_run(&h, 7, UINT32_MAX, a));
	assert_true(add_run(&h, 7, 5, a));
	assert_true(add_run(&h, 9, UINT64_C(1) << 60, a));
	histogram_sum_tables(&h);
	check_bins(&h, expected);
	histogram_release(&h, a);
	unit_assert_no_leak(&u);
}

static void
test_widen(void **state)
{
	(void) state;
	for (int trial = 0; trial < 600; trial++)
	{
		Unit		u;
		SortError	err;
		Histogram	h;
		const SortAllocator *a = &u.context.allocator;
		uint64_t	range = ranges[unit_below(lengthof(ranges))];
		uint64_t	below = unit_below(3) ? unit_below(3000) : 0;
		uint64_t	above = unit_below(3) ? unit_below(3000) : 0;
		int32_t		lo = unit_key(-10000, 10000);
		uint64_t	wide = below + range + above;
		uint64_t   *expected = calloc((size_t) wide, sizeof(uint64_t));
		int32_t		keys[200];
		int32_t		outside[200];
		size_t		noutside;

		assert_non_null(expected);
		unit_init(&u);
		assert_sort_ok(histogram_init(&h, lo, (int32_t) (lo + (int64_t) range - 1), &u.context, &err), err);
		if (unit_below(2))
			h.fold_at = 1 + unit_below(250);
		for (int round = 0; round < 2; round++)
		{
			uint64_t	now = round == 0 ? range : wide;
			int32_t		from = round == 0 ? lo : (int32_t) (lo - (int64_t) below);

			for (size_t i = 0; i < lengthof(keys); i++)
			{
				keys[i] = (int32_t) (from + (int64_t) unit_below(now));
				expected[(int64_t) keys[i] - lo + (int64_t) below]++;
			}
			assert_true(histogram_add(&h, keys, lengthof(keys), outside, &noutside, a));
			assert_int_equal(noutside, 0);
			if (round == 0)
			{
				bool		fails = unit_below(4) == 0;

				/* With no memory for the wider one, the old one stays. */
				if (fails)
				{
					uint64_t	before = h.n;

					u.fail_at = u.allocations + (h.folded ? 1 + unit_below(2) : 1);
					assert_int_equal(histogram_widen(&h, (int32_t) (lo - (int64_t) below),
													 (int32_t) (lo + (int64_t) (range + above) - 1),
													 &u.context, &err), SORT_OUT_OF_MEMORY);
					assert_int_equal(h.range, range);
					assert_int_equal(h.n, before);
					u.fail_at = 0;
				}
				assert_sort_ok(histogram_widen(&h, (int32_t) (lo - (int64_t) below),
											   (int32_t) (lo + (int64_t) (range + above) - 1),
											   &u.context, &err), err);
				assert_int_equal(h.range, wide);
				assert_int_equal(h.lo, lo - (int64_t) below);
			}
		}
		histogram_sum_tables(&h);
		check_bins(&h, expected);
		assert_int_equal(histogram_memory(&h), u.bytes);
		histogram_release(&h, a);
		unit_assert_no_leak(&u);
		free(expected);
	}
}

/* Reads all keys in pieces; max is the size of each, 0: random. */
static void
check_expand(const Histogram *h, const int32_t *ordered, size_t n, bool descending, size_t max)
{
	uint64_t	at = descending ? h->range : 0;
	uint64_t	used = 0;
	size_t		done = 0;
	size_t		got;

	do
	{
		size_t		room = max > 0 ? max : 1 + (size_t) unit_below(60);
		int32_t    *out = unit_alloc(room, sizeof(int32_t));

		got = histogram_expand(h, descending, &at, &used, out, room);
		assert_true(got <= room && got <= n - done);
		assert_true(got == room || got == n - done);
		unit_assert_keys(out, ordered + done, got, descending ? "expand down" : "expand up");
		done += got;
		free(out);
	} while (got > 0);
	assert_int_equal(done, n);
}

static void
test_expand(void **state)
{
	(void) state;
	for (int trial = 0; trial < 500; trial++)
	{
		Unit		u;
		SortError	err;
		Histogram	h;
		const SortAllocator *a = &u.context.allocator;
		uint64_t	range = ranges[unit_below(lengthof(ranges))];
		int32_t		lo = unit_below(2) ? INT32_MIN : (int32_t) (INT32_MAX - (int64_t) range + 1);
		size_t		n = (size_t) unit_below(unit_below(3) ? 100 : 3000);
		int32_t    *keys = unit_alloc(n, sizeof(int32_t));
		int32_t    *outside = unit_alloc(n, sizeof(int32_t));
		uint64_t	used_range = unit_below(2) ? range : 1 + unit_below(range);
		size_t		noutside;

		unit_init(&u);
		assert_sort_ok(histogram_init(&h, lo, (int32_t) (lo + (int64_t) range - 1), &u.context, &err), err);
		if (unit_below(3) == 0)
			h.fold_at = 1 + unit_below(n + 1);
		fill_around(keys, n, lo, used_range, UINT64_MAX);
		assert_true(histogram_add(&h, keys, n, outside, &noutside, a));
		assert_int_equal(noutside, 0);
		histogram_sum_tables(&h);
		for (int descending = 0; descending < 2; descending++)
		{
			unit_sort(keys, n, descending);
			check_expand(&h, keys, n, descending, 0);
			check_expand(&h, keys, n, descending, 1);
			check_expand(&h, keys, n, descending, n + 1);
			/* Two pieces, the border at every position. */
			for (size_t first = 1; first < n && n <= 100; first++)
			{
				int32_t    *out = unit_alloc(n, sizeof(int32_t));
				uint64_t	at = descending ? h.range : 0;
				uint64_t	used = 0;

				assert_int_equal(histogram_expand(&h, descending, &at, &used, out, first), first);
				assert_int_equal(histogram_expand(&h, descending, &at, &used, out + first,
												  n - first), n - first);
				unit_assert_keys(out, keys, n, "expand in two");
				free(out);
			}
		}
		histogram_release(&h, a);
		unit_assert_no_leak(&u);
		free(keys);
		free(outside);
	}
}

/* A large one is interrupted before it is there, or wider; the old one stays. */
static void
test_interrupted(void **state)
{
	const int32_t hi = 5000000;
	const int32_t keys[2] = {10, 15};
	int32_t		outside[2];
	size_t		noutside;
	uint64_t	k;

	(void) state;
	for (k = 1;; k++)
	{
		Unit		u;
		SortError	err;
		Histogram	h;
		SortStatus	status;

		unit_init(&u);
		assert_sort_ok(histogram_init(&h, 10, 20, &u.context, &err), err);
		assert_true(histogram_add(&h, keys, 2, outside, &noutside, &u.context.allocator));
		u.interrupt_at = k;
		status = histogram_widen(&h, 0, hi, &u.context, &err);
		assert_int_equal(status, u.asked < k ? SORT_OK : SORT_CANCELLED);
		assert_int_equal(h.range, status == SORT_OK ? (uint64_t) hi + 1 : 11);
		assert_int_equal(h.n, 2);
		histogram_release(&h, &u.context.allocator);
		if (status == SORT_OK)
			break;
		status = histogram_init(&h, 0, hi, &u.context, &err);
		assert_int_equal(status, SORT_CANCELLED);
		assert_int_equal(h.range, 0);
		unit_assert_no_leak(&u);
	}
	assert_true(k > 4);
}

static void
test_no_memory(void **state)
{
	const int32_t key = 1;
	int32_t		outside;
	size_t		noutside;
	Unit		u;
	SortError	err;
	Histogram	h;

	(void) state;
	unit_init(&u);
	u.fail_at = 1;
	assert_int_equal(histogram_init(&h, 0, 100, &u.context, &err), SORT_OUT_OF_MEMORY);
	assert_int_equal(h.range, 0);
	histogram_release(&h, &u.context.allocator);

	unit_init(&u);
	assert_sort_ok(histogram_init(&h, 0, 100, &u.context, &err), err);
	h.fold_at = 1;
	assert_true(histogram_add(&h, &key, 1, &outside, &noutside, &u.context.allocator));
	u.fail_at = u.allocations + 1;
	assert_false(histogram_add(&h, &key, 1, &outside, &noutside, &u.context.allocator));
	assert_false(add_run(&h, 1, 5, &u.context.allocator));
	histogram_release(&h, &u.context.allocator);
	unit_assert_no_leak(&u);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_counts_beyond_32_bits),
		cmocka_unit_test(test_widen),
		cmocka_unit_test(test_expand),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_no_memory),
	};

	unit_seed("histogram_test");
	return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
