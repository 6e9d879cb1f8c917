/*
 * wide_test.c
 *		The sorts that work on keys where they are: wide sorts, split or not,
 *		the comparison-free sort, and the two ways to a permutation.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "sort/kernels/permutation.h"
#include "sort/kernels/wide.h"
#include "sort/published/parts.h"
#include "sort/published/published.h"

/* The most keys that wide.c hands to VQSort at once. */
#define SPLIT ((size_t) 8 << 20)

/* The comparison-free sort by name. */
static SortStatus
sort_free(int32_t *keys, size_t n, int32_t lo, int32_t hi, bool descending,
		  const SortContext *context, int *threads, SortError *err)
{
	PublishedSort sort = {
		.algorithm = SORT_ALGORITHM_COMPARISON_FREE, .keys = keys, .n = n, .lo = lo, .hi = hi, .descending = descending
	};
	SortStatus	status = published_sort(&sort, context, err);

	*threads = sort.report.threads;
	return status;
}

static void
check_wide(int32_t *keys, size_t n, bool descending)
{
	int32_t    *expected = unit_alloc(n, sizeof(int32_t));
	Unit		u;

	unit_init(&u);
	if (n > 0)
		memcpy(expected, keys, n * sizeof(int32_t));
	unit_sort(expected, n, descending);
	assert_true(wide_sort_keys(keys, n, descending, &u.context));
	unit_assert_keys(keys, expected, n, "wide sort");
	unit_assert_no_leak(&u);
	free(expected);
}

static void
test_small(void **state)
{
	(void) state;
	for (size_t n = 0; n < 100; n++)
		for (int shape = 0; shape < SHAPE_COUNT; shape++)
		{
			int32_t    *keys = unit_alloc(n, sizeof(int32_t));

			unit_fill((UnitShape) shape, keys, n);
			check_wide(keys, n, (n + (size_t) shape) % 2 == 1);
			free(keys);
		}
}

static void
test_middle(void **state)
{
	(void) state;
	for (int trial = 0; trial < 60; trial++)
	{
		size_t		n = 1000 + (size_t) unit_below(50000);
		int32_t    *keys = unit_alloc(n, sizeof(int32_t));

		unit_fill((UnitShape) (trial % SHAPE_COUNT), keys, n);
		check_wide(keys, n, unit_below(2));
		free(keys);
	}
}

/*
 * Splitting, checked without another sort of so many keys: a key's place is
 * known from how it was made.  Key i is i * step + first; the array holds them
 * shuffled.
 */
static void
check_split(size_t n, int64_t first, int64_t step, bool descending)
{
	int32_t    *keys = unit_alloc(n, sizeof(int32_t));
	Unit		u;

	unit_init(&u);
	for (size_t i = 0; i < n; i++)
		keys[i] = (int32_t) (first + (int64_t) i * step);
	for (size_t i = n; i > 1; i--)
	{
		size_t		j = (size_t) unit_below(i);
		int32_t		key = keys[i - 1];

		keys[i - 1] = keys[j];
		keys[j] = key;
	}
	assert_true(wide_sort_keys(keys, n, descending, &u.context));
	for (size_t i = 0; i < n; i++)
		if (keys[i] != first + (int64_t) (descending ? n - 1 - i : i) * step)
			fail_msg("key %zu of %zu is %d", i, n, (int) keys[i]);
	assert_true(u.asked > 1);
	free(keys);
}

static void
test_split(void **state)
{
	(void) state;
	check_split(SPLIT + 1, INT32_MIN, 511, false);
	check_split(SPLIT + 12345, INT32_MAX - (int64_t) (SPLIT + 12344), 1, true);
}

/*
 * Half of all keys equal and the rest spread ever thinner: the first split
 * leaves nearly everything in one bucket.
 */
static void
test_split_skewed(void **state)
{
	size_t		n = SPLIT + 1000;
	int32_t    *keys = unit_alloc(n, sizeof(int32_t));
	size_t	   *counts = calloc(1 << 16, sizeof(size_t));

	(void) state;
	assert_non_null(counts);
	for (int descending = 0; descending < 2; descending++)
	{
		Unit		u;
		size_t		at = 0;
		int			v;

		unit_init(&u);
		memset(counts, 0, (1 << 16) * sizeof(size_t));
		for (size_t i = 0; i < n; i++)
		{
			v = (int) (unit_random() >> 48 >> unit_below(40) % 17);
			/* One key far away from all others. */
			if (i == n / 3)
				v = (1 << 16) - 1;
			counts[v]++;
			keys[i] = v == (1 << 16) - 1 ? INT32_MAX : INT32_MIN + v;
		}
		assert_true(wide_sort_keys(keys, n, descending, &u.context));
		for (size_t i = 0; i < 1 << 16; i++)
		{
			v = descending ? (1 << 16) - 1 - (int) i : (int) i;
			for (size_t c = 0; c < counts[v]; c++)
				if (keys[at++] != (v == (1 << 16) - 1 ? INT32_MAX : INT32_MIN + v))
					fail_msg("key %zu is %d", at - 1, (int) keys[at - 1]);
		}
	}
	free(keys);
	free(counts);
}

/* All equal: the split has nothing to split. */
static void
test_split_equal(void **state)
{
	size_t		n = SPLIT + 1;
	int32_t    *keys = unit_alloc(n, sizeof(int32_t));
	Unit		u;

	(void) state;
	unit_init(&u);
	for (size_t i = 0; i < n; i++)
		keys[i] = -5;
	assert_true(wide_sort_keys(keys, n, false, &u.context));
	for (size_t i = 0; i < n; i++)
		assert_true(keys[i] == -5);
	free(keys);
}

/* Pairs are split from half as many on. */
static void
test_split_pairs(void **state)
{
	size_t		n = SPLIT / 2 + 1;
	uint64_t   *pairs = unit_alloc(n, sizeof(uint64_t));
	uint64_t	sum = 0;
	Unit		u;

	(void) state;
	unit_init(&u);
	for (size_t i = 0; i < n; i++)
	{
		pairs[i] = unit_random() >> (i % 3 * 20);
		sum += pairs[i] * pairs[i];
	}
	assert_true(wide_sort_pairs(pairs, n, &u.context));
	for (size_t i = 0; i < n; i++)
	{
		sum -= pairs[i] * pairs[i];
		if (i > 0 && pairs[i - 1] > pairs[i])
			fail_msg("pair %zu is out of order", i);
	}
	assert_int_equal(sum, 0);
	free(pairs);
}

/* Interrupted at any look: nothing of the caller's is lost or doubled. */
static void
test_split_interrupted(void **state)
{
	size_t		n = SPLIT + 5;
	int32_t    *keys = unit_alloc(n, sizeof(int32_t));
	uint64_t	k;
	uint64_t	looks;
	uint64_t	sum = 0;
	uint64_t	squares = 0;

	(void) state;
	for (size_t i = 0; i < n; i++)
	{
		keys[i] = unit_key(INT32_MIN, INT32_MAX);
		sum += (uint64_t) (int64_t) keys[i];
		squares += (uint64_t) ((int64_t) keys[i] * keys[i]);
	}
	for (k = 1, looks = 100; k <= looks; k += k < 30 ? 1 + unit_below(3) : 20)
	{
		Unit		u;
		uint64_t	sum_now = 0;
		uint64_t	squares_now = 0;
		bool		done;

		unit_init(&u);
		u.interrupt_at = k;
		done = wide_sort_keys(keys, n, k & 1, &u.context);
		assert_true(done == (u.asked < k));
		if (!done)
			assert_int_equal(u.asked, k);
		for (size_t i = 0; i < n; i++)
		{
			sum_now += (uint64_t) (int64_t) keys[i];
			squares_now += (uint64_t) ((int64_t) keys[i] * keys[i]);
		}
		assert_int_equal(sum_now, sum);
		assert_int_equal(squares_now, squares);
		if (done)
			break;
	}
	free(keys);
}

/*
 * Of the comparison-free sort's threads, each writes its own part of the
 * range: parts that do not divide it evenly are where an error would be.
 */
static void
test_comparison_free(void **state)
{
	static const uint64_t ranges[] = {1, 2, 3, 4, 5, 7, 10, 255, 1000, 100003};

	(void) state;
	for (int threads = 1; threads <= 5; threads++)
		for (size_t r = 0; r < lengthof(ranges); r++)
		{
			/* That many threads are not worth it with fewer keys. */
			size_t		n = unit_below(4) == 0 ? (size_t) unit_below(10)
				: (size_t) threads * (size_t) threads * 65536 + (size_t) unit_below(1000);
			int32_t		lo = unit_below(2) ? INT32_MIN : (int32_t) (INT32_MAX - (int64_t) ranges[r] + 1);
			int32_t		hi = (int32_t) (lo + (int64_t) ranges[r] - 1);
			bool		descending = unit_below(2);
			int32_t    *keys;
			int32_t    *expected;
			int			used;
			SortError	err;
			Unit		u;

			if (threads > 3 && r % 3 != 1)
				continue;		/* they take their time under a sanitizer */
			keys = unit_alloc(n, sizeof(int32_t));
			expected = unit_alloc(n, sizeof(int32_t));
			unit_init(&u);
			u.context.threads = threads;
			for (size_t i = 0; i < n; i++)
				expected[i] = keys[i] = unit_key(lo, hi);
			unit_sort(expected, n, descending);
			assert_sort_ok(sort_free(keys, n, lo, hi, descending, &u.context, &used, &err), err);
			assert_int_equal(used, n < 10 ? 1 : threads);
			unit_assert_keys(keys, expected, n, "comparison-free");
			unit_assert_no_leak(&u);
			free(keys);
			free(expected);
		}
}

/* How many threads: by the keys, by what is allowed, and by the range. */
static void
test_comparison_free_threads(void **state)
{
	static const struct
	{
		uint64_t	n;
		uint64_t	range;
		int			allowed;
		int			threads;
	}			cases[] = {
		{0, 1, 8, 1},
		{1, UINT64_C(1) << 32, 8, 1},
		{(1 << 18) - 1, 10, 8, 1},
		{1 << 18, 10, 8, 2},
		{1 << 18, 10, 1, 1},
		{1 << 18, 10, 0, 1},
		{250000, 1000, 3, 1},
		{589823, 1000, 3, 2},
		{589824, 1000, 3, 3},
		{1 << 24, 1000, 1024, 16},
		/* 4 n / range, not 4 (n / range) */
		{1 << 24, (1 << 24), 16, 4},
		{1 << 24, (1 << 24) + 1, 16, 3},
		{16000000, 30000000, 3, 2},
		{16000000, 32000000, 3, 2},
		{16000000, 32000001, 3, 1},
		{UINT32_MAX, UINT64_C(1) << 32, 1024, 3},
		{UINT32_MAX, 1, 1024, 255},
		{UINT64_MAX, 1, 1024, 1024},
	};

	(void) state;
	for (size_t i = 0; i < lengthof(cases); i++)
		if (comparison_free_threads(cases[i].n, cases[i].range, cases[i].allowed) != cases[i].threads)
			fail_msg("case %zu: %d threads", i,
					 comparison_free_threads(cases[i].n, cases[i].range, cases[i].allowed));
}

/* The callback of a sort of keys that must not have anything else at work on them. */
typedef struct Touched
{
	int32_t    *keys;
	size_t		n;
	int			asked;
	int			stop_at;		/* 0: never */
} Touched;

static bool
touching_interrupted(void *arg)
{
	Touched    *touched = arg;

	/* The thread sanitizer reports this if there is another thread. */
	for (size_t i = 0; i < touched->n; i += 1000)
		((volatile int32_t *) touched->keys)[i] = touched->keys[i];
	return ++touched->asked == touched->stop_at;
}

/*
 * So many keys that phases are left and taken up again, in the middle of a
 * value as well; the callback is asked meanwhile, without threads at work.
 */
static void
test_comparison_free_long(void **state)
{
	static const int32_t last[] = {0, 2, 9999999};
	size_t		n = 9500000;
	int32_t    *keys = unit_alloc(n, sizeof(int32_t));
	int32_t    *expected = unit_alloc(n, sizeof(int32_t));

	(void) state;
	for (size_t c = 0; c < lengthof(last); c++)
	{
		int			threads = 1 + (int) (c + unit_below(2)) % 2;
		bool		descending = unit_below(2);
		Touched		touched = {.keys = keys, .n = n};
		int			asked;
		int			used;
		SortError	err;
		Unit		u;

		unit_init(&u);
		u.context.threads = threads;
		u.context.interrupted = touching_interrupted;
		u.context.interrupted_arg = &touched;
		/* Most keys are one value, which is any of them. */
		for (size_t i = 0; i < n; i++)
			expected[i] = unit_below(10) ? last[c] / 2 : unit_key(0, last[c]);
		memcpy(keys, expected, n * sizeof(int32_t));
		unit_sort(expected, n, descending);
		assert_sort_ok(sort_free(keys, n, 0, last[c], descending, &u.context, &used, &err), err);
		assert_int_equal(used, threads);
		unit_assert_keys(keys, expected, n, "comparison-free, long");
		asked = touched.asked;
		/* A look every SORT_CHECK_EVERY keys at the bounds, and some in the phases. */
		assert_in_range(asked, 40, 55);

		/* Interrupted at the first, the last, and one between: no OK, no leak. */
		for (size_t i = 0; i < 3; i++)
		{
			touched.asked = 0;
			touched.stop_at = i == 0 ? 1 : i == 1 ? asked : 2 + (int) unit_below((uint64_t) asked - 2);
			assert_int_equal(sort_free(keys, n, 0, last[c], descending, &u.context, &used, &err),
							 SORT_CANCELLED);
			assert_int_equal(touched.asked, touched.stop_at);
			/* keys that were sorted in part are keys of the same range */
		}
		unit_assert_no_leak(&u);
	}
	free(keys);
	free(expected);
}

static void
test_comparison_free_errors(void **state)
{
	size_t		n = 300000;
	int32_t    *keys = unit_alloc(n, sizeof(int32_t));
	int			used;
	SortError	err;
	Unit		u;
	uint64_t	k;

	(void) state;
	/* refused before a key is looked at */
	unit_init(&u);
	assert_int_equal(sort_free(keys, (size_t) UINT32_MAX + 1, 0, 0, false, &u.context, &used, &err),
					 SORT_LIMIT_EXCEEDED);
	assert_string_equal(err.message, "cannot count more than 4294967295 keys");
	for (k = 1; k <= 2; k++)
	{
		unit_init(&u);
		unit_fill(SHAPE_CONSTANT, keys, n);
		u.fail_at = k;
		assert_int_equal(sort_free(keys, n, keys[0], keys[0], false, &u.context, &used, &err),
						 SORT_OUT_OF_MEMORY);
		assert_int_equal(err.status, SORT_OUT_OF_MEMORY);
		unit_assert_no_leak(&u);
	}
	for (k = 1;; k++)
	{
		unit_init(&u);
		u.context.threads = 1 + (int) (k & 3);
		for (size_t i = 0; i < n; i++)
			keys[i] = (int32_t) (i % 1000);
		u.interrupt_at = k;
		if (sort_free(keys, n, 0, 999, false, &u.context, &used, &err) == SORT_OK)
			break;
		assert_int_equal(err.status, SORT_CANCELLED);
		assert_true(u.asked >= k);
		unit_assert_no_leak(&u);
	}
	assert_true(k > 2);
	free(keys);
}

/* Both ways to a permutation, straight. */
static void
test_permutation(void **state)
{
	(void) state;
	for (int trial = 0; trial < 300; trial++)
	{
		size_t		n = (size_t) unit_below(trial % 10 ? 300 : 20000);
		int32_t    *keys = unit_alloc(n, sizeof(int32_t));
		uint32_t   *expected = unit_alloc(n, sizeof(uint32_t));
		uint32_t   *out = unit_alloc(n, sizeof(uint32_t));
		uint64_t   *pairs = unit_alloc(n, sizeof(uint64_t));
		uint32_t	base = unit_below(2) ? (uint32_t) unit_below(5) : (uint32_t) (UINT32_MAX - n);
		bool		descending = trial & 1;
		int32_t		lo = INT32_MIN;
		uint32_t   *bins = calloc(1001, sizeof(uint32_t));
		uint64_t	used = 0;
		uint64_t	distinct;
		Unit		u;

		assert_non_null(bins);
		unit_init(&u);
		unit_fill((UnitShape) unit_below(SHAPE_COUNT), keys, n);
		unit_permutation(keys, n, descending, base, expected);
		assert_true(permutation_pack(keys, n, descending, base, pairs, &u.context));
		assert_true(wide_sort_pairs(pairs, n, &u.context));
		assert_true(permutation_unpack(pairs, n, out, &u.context));
		unit_assert_keys((int32_t *) out, (int32_t *) expected, n, "permutation by pairs");

		for (size_t i = 0; i < n; i++)
		{
			keys[i] = lo + unit_key(0, 1000);
			used += bins[keys[i] - (int64_t) lo]++ == 0;
		}
		unit_permutation(keys, n, descending, base, expected);
		assert_true(permutation_offsets(bins, 1001, descending, &distinct, &u.context));
		assert_int_equal(distinct, used);
		assert_true(permutation_scatter(bins, lo, keys, n, base, out, &u.context));
		unit_assert_keys((int32_t *) out, (int32_t *) expected, n, "permutation by counting");
		free(keys);
		free(expected);
		free(out);
		free(pairs);
		free(bins);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_middle),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_split_skewed),
		cmocka_unit_test(test_split_equal),
		cmocka_unit_test(test_split_pairs),
		cmocka_unit_test(test_split_interrupted),
		cmocka_unit_test(test_comparison_free),
		cmocka_unit_test(test_comparison_free_threads),
		cmocka_unit_test(test_comparison_free_long),
		cmocka_unit_test(test_comparison_free_errors),
		cmocka_unit_test(test_permutation),
	};

	unit_seed("wide_test");
	return cmocka_run_group_tests_name("wide", tests, NULL, NULL);
}
