/*
 * published_test.c
 *		The algorithms of the papers on the CPU: against the reference sort, and whether they
 *		went the way that their papers describe.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sort/algorithms.h"
#include "sort/float_image.h"
#include "sort/plan.h"
#include "sort/published/published.h"

#define ZERO SORT_ALGORITHM_ZERO_COMPRESSED_PUBLISHED
#define HP SORT_ALGORITHM_HP
#define ONE_HP SORT_ALGORITHM_ONE_HP
#define RADIX SORT_ALGORITHM_BUCKET_RADIX
#define FREE SORT_ALGORITHM_COMPARISON_FREE
#define ONEHOT SORT_ALGORITHM_COMPARISON_FREE_ONEHOT
#define BITONIC SORT_ALGORITHM_BUCKET_BITONIC

static const SortAlgorithm algorithms[] = {ZERO, HP, ONE_HP, RADIX, FREE, ONEHOT, BITONIC};

/* Memory that a test may take. */
#define MEMORY (UINT64_C(1) << 26)

static bool
affordable(SortAlgorithm algorithm, uint64_t n, int32_t lo, int32_t hi)
{
	return algorithm_cpu_need(algorithm, n > 0 ? n : 1, plan_range(lo, hi), SORT_WANT_KEYS) <= MEMORY;
}

static void
find_bounds(const int32_t *keys, size_t n, int32_t *lo, int32_t *hi)
{
	*lo = n > 0 ? keys[0] : 0;
	*hi = *lo;
	for (size_t i = 0; i < n; i++)
	{
		*lo = keys[i] < *lo ? keys[i] : *lo;
		*hi = keys[i] > *hi ? keys[i] : *hi;
	}
}

static bool
has_duplicates(const int32_t *sorted, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (sorted[i - 1] == sorted[i])
			return true;
	return false;
}

/*
 * Sorts a copy of n keys as sort says, whose keys and n it sets, and compares with
 * the reference sort: the keys, or the permutation, the memory, what is left of it.
 */
static void
check(PublishedSort *sort, const int32_t *keys, size_t n, int threads)
{
	int32_t    *work = unit_alloc(n, sizeof(int32_t));
	int32_t    *expected = unit_alloc(n, sizeof(int32_t));
	SortWant	want = sort->positions ? SORT_WANT_PERMUTATION : SORT_WANT_KEYS;
	SortStatus	status;
	SortError	err;
	Unit		u;

	unit_init(&u);
	u.context.threads = threads;
	if (n > 0)
	{
		memcpy(work, keys, n * sizeof(int32_t));
		memcpy(expected, keys, n * sizeof(int32_t));
	}
	unit_sort(expected, n, sort->descending);
	sort->keys = work;
	sort->n = n;
	status = published_sort(sort, &u.context, &err);
	unit_assert_no_leak(&u);
	if ((sort->algorithm == ONE_HP || sort->options.distinct) && has_duplicates(expected, n))
	{
		assert_int_equal(status, SORT_UNSUPPORTED);
		assert_non_null(strstr(err.message, "occurs more than once"));
	}
	else
	{
		if (status != SORT_OK)
			fail_msg("%s: %s", sort_algorithm_name(sort->algorithm), err.message);
		if (sort->positions)
		{
			uint32_t   *rows = unit_alloc(n, sizeof(uint32_t));

			unit_permutation(keys, n, sort->descending, sort->first, rows);
			unit_assert_keys((int32_t *) sort->positions, (int32_t *) rows, n,
							 sort_algorithm_name(sort->algorithm));
			unit_assert_keys(work, keys, n, "keys of a permutation");
			free(rows);
		}
		else
			unit_assert_keys(work, expected, n, sort_algorithm_name(sort->algorithm));
		assert_in_range(sort->report.threads, 1, threads > sort->options.threads ? threads : sort->options.threads);
		if (n > 0 && sort->algorithm != FREE)
			assert_true(sort->report.memory <= u.peak);
		if (n > 0 && sort->options.threads == 0 && sort->options.radix == 0 && sort->options.rows == 0 &&
			sort->options.slice_keys == 0 && sort->options.bucket_keys == 0 && threads == 1 &&
			!sort->options.distinct && sort->report.memory >
			algorithm_cpu_need(sort->algorithm, n, plan_range(sort->lo, sort->hi), want))
			fail_msg("%s: %llu bytes for %zu keys", sort_algorithm_name(sort->algorithm),
					 (unsigned long long) sort->report.memory, n);
	}
	free(work);
	free(expected);
}

/* One sort of keys with tight bounds, or of a range that is wider by some. */
static void
check_keys(SortAlgorithm algorithm, const int32_t *keys, size_t n, bool descending, bool wider)
{
	PublishedSort sort = {.algorithm = algorithm, .descending = descending};

	find_bounds(keys, n, &sort.lo, &sort.hi);
	if (wider)
	{
		sort.lo -= sort.lo > INT32_MIN + 3 ? 3 : 0;
		sort.hi += sort.hi < INT32_MAX - 5 ? 5 : 0;
	}
	if (affordable(algorithm, n, sort.lo, sort.hi))
		check(&sort, keys, n, 1);
}

/* All shapes, small and large; the larger ones where the memory of the test allows. */
static void
test_shapes(void **state)
{
	static const size_t sizes[] = {0, 1, 2, 3, 79, 80, 81, 511, 512, 513, 1000, 5000, 70000};

	(void) state;
	for (size_t a = 0; a < lengthof(algorithms); a++)
		for (size_t i = 0; i < lengthof(sizes); i++)
			for (int shape = 0; shape < SHAPE_COUNT; shape++)
			{
				int32_t    *keys = unit_alloc(sizes[i], sizeof(int32_t));

				unit_fill((UnitShape) shape, keys, sizes[i]);
				check_keys(algorithms[a], keys, sizes[i], false, false);
				check_keys(algorithms[a], keys, sizes[i], true, unit_below(2));
				free(keys);
			}
}

/* Ranges of all widths, at both ends of int4 and around 0, filled or not, one value dominating or not. */
static void
test_ranges(void **state)
{
	static const uint64_t ranges[] = {1, 2, 3, 16, 255, 1000, 65535, 65536, 65537, 1000000, UINT64_C(1) << 32};

	(void) state;
	for (size_t a = 0; a < lengthof(algorithms); a++)
		for (size_t r = 0; r < lengthof(ranges); r++)
			for (int place = 0; place < 3; place++)
				for (int trial = 0; trial < 3; trial++)
				{
					size_t		n = algorithms[a] == ONEHOT ? 1 + (size_t) unit_below(60)
						: 1 + (size_t) unit_below(20000);
					int64_t		lo = place == 0 ? INT32_MIN : place == 1 ? INT32_MAX - (int64_t) ranges[r] + 1
						: -(int64_t) (ranges[r] / 2);
					int64_t		hi = lo + (int64_t) ranges[r] - 1;
					int32_t    *keys = unit_alloc(n, sizeof(int32_t));

					if (algorithms[a] == ONE_HP && n > ranges[r])
						n = (size_t) ranges[r];
					for (size_t i = 0; i < n; i++)
						keys[i] = algorithms[a] == ONE_HP ? (int32_t) (hi - (int64_t) (ranges[r] / n * i))
							: trial == 1 && unit_below(10) ? (int32_t) ((lo + hi) / 2)
							: unit_key((int32_t) lo, (int32_t) hi);
					for (size_t i = n; i > 1; i--)
					{
						size_t		j = (size_t) unit_below(i);
						int32_t		key = keys[i - 1];

						keys[i - 1] = keys[j];
						keys[j] = key;
					}
					check_keys(algorithms[a], keys, n, unit_below(2), trial == 2);
					free(keys);
				}
}

/* Equal keys in the order of the input: the two that have a permutation. */
static void
test_permutations(void **state)
{
	static const SortAlgorithm stable[] = {ONEHOT, BITONIC};

	(void) state;
	for (size_t a = 0; a < lengthof(stable); a++)
		for (int trial = 0; trial < 200; trial++)
		{
			size_t		n = (size_t) unit_below(stable[a] == ONEHOT ? 500 : trial % 10 ? 2000 : 60000);
			int32_t    *keys = unit_alloc(n, sizeof(int32_t));
			uint32_t   *positions = unit_alloc(n, sizeof(uint32_t));
			PublishedSort sort = {
				.algorithm = stable[a],
				.descending = trial & 1,
				.positions = positions,
				.first = unit_below(2) ? 1 : (uint32_t) (UINT32_MAX - n)
			};

			unit_fill((UnitShape) (trial % SHAPE_COUNT), keys, n);
			sort.options.nearly_sorted = stable[a] == BITONIC ? (int) unit_below(3) - 1 : 0;
			find_bounds(keys, n, &sort.lo, &sort.hi);
			if (n > 0 && affordable(stable[a], n, sort.lo, sort.hi))
				check(&sort, keys, n, 1);
			free(keys);
			free(positions);
		}
}

/* Algorithm 5 compresses to the values that occur. */
static void
test_zero_compressed_len(void **state)
{
	int32_t		keys[] = {7, 100, 7, 7, -3, 100};
	PublishedSort sort = {.algorithm = ZERO, .lo = -5, .hi = 100};

	(void) state;
	check(&sort, keys, lengthof(keys), 1);
	assert_int_equal(sort.report.distinct, 3);
	assert_int_equal(sort.report.phases, 5);
	assert_string_equal(sort.report.phase[2], "compression");
	/* A, A01 and A01_p; C, iC and C_p of len + 1; B */
	assert_int_equal(sort.report.memory, 4 * (3 * 106 + 3 * 4 + 6));
}

/* One pass up to r values, else one a digit; the insertion sort finds nothing to move. */
static void
test_bucket_radix_passes(void **state)
{
	static const struct
	{
		uint64_t	range;
		uint32_t	radix;
		uint32_t	rows;
		uint32_t	passes;
	}			cases[] = {
		{1, 0, 0, 1},
		{65536, 0, 0, 1},
		{65537, 0, 0, 2},
		{UINT64_C(1) << 32, 0, 0, 2},
		{UINT64_C(1) << 32, 0, 65536, 2},
		{UINT64_C(1) << 32, 256, 0, 4},
		{UINT64_C(1) << 32, 2, 1, 32},
		{1 << 24, 4096, 7, 2},
		{(1 << 24) + 1, 4096, 7, 3},
	};
	size_t		n = 30000;
	int32_t    *keys = unit_alloc(n, sizeof(int32_t));

	(void) state;
	for (size_t c = 0; c < lengthof(cases); c++)
	{
		PublishedSort sort = {
			.algorithm = RADIX,
			.lo = INT32_MIN,
			.hi = (int32_t) (INT32_MIN + (int64_t) cases[c].range - 1),
			.descending = c & 1,
			.options = {.radix = cases[c].radix, .rows = cases[c].rows}
		};
		uint32_t	rows = cases[c].rows ? cases[c].rows : 1024;

		for (size_t i = 0; i < n; i++)
			keys[i] = unit_key(sort.lo, sort.hi);
		check(&sort, keys, n, 1);
		assert_int_equal(sort.report.rounds, cases[c].passes);
		assert_int_equal(sort.report.moved, 0);
		assert_int_equal(sort.report.phases, cases[c].passes > 1 ? 3 : 2);
		/* the longest rows have as many keys as the average at least, and one row has them all */
		assert_in_range(sort.report.columns, cases[c].passes * (uint64_t) ((n + rows - 1) / rows),
						cases[c].passes * (uint64_t) n);
		if (cases[c].range == 1 || rows == 1)
			assert_int_equal(sort.report.columns, cases[c].passes * (uint64_t) n);
	}
	/* One value in nine keys of ten: the row that has it is as long. */
	{
		PublishedSort sort = {.algorithm = RADIX, .lo = 0, .hi = 65535};

		for (size_t i = 0; i < n; i++)
			keys[i] = i % 10 ? 12345 : unit_key(0, 65535);
		check(&sort, keys, n, 1);
		assert_in_range(sort.report.columns, n / 10 * 9, n);
	}
	free(keys);
}

/* Uniform keys are one level, an outlier makes a second one, each of them the paper's way. */
static void
test_bucket_bitonic_levels(void **state)
{
	size_t		n = 50000;
	int32_t    *keys = unit_alloc(n, sizeof(int32_t));
	PublishedSort sort = {.algorithm = BITONIC, .lo = INT32_MIN, .hi = INT32_MAX};

	(void) state;
	for (size_t i = 0; i < n; i++)
		keys[i] = (int32_t) (INT32_MIN + (int64_t) (i * UINT64_C(85899)));
	for (size_t i = n - 1; i > 0; i--)
	{
		size_t		j = (size_t) unit_below(i + 1);
		int32_t		key = keys[i];

		keys[i] = keys[j];
		keys[j] = key;
	}
	check(&sort, keys, n, 1);
	assert_int_equal(sort.report.rounds, 1);
	assert_int_equal(sort.report.lists, 1);
	assert_int_equal(sort.report.nearly_sorted, 0);
	assert_in_range(sort.report.buckets, n / 512 + 1, n / 400);

	/* 1000 values, and one far away: all but that are one slice */
	for (size_t i = 0; i < n; i++)
		keys[i] = (int32_t) (i % 1000);
	keys[n / 2] = INT32_MAX;
	check(&sort, keys, n, 1);
	assert_int_equal(sort.report.rounds, 2);
	assert_int_equal(sort.report.lists, 2);

	/* one value: flat at once; nine of ten keys: at the second level */
	for (size_t i = 0; i < n; i++)
		keys[i] = 5;
	check(&sort, keys, n, 1);
	assert_int_equal(sort.report.rounds, 1);
	assert_int_equal(sort.report.flat, 1);
	assert_int_equal(sort.report.lists, 0);
	assert_int_equal(sort.report.buckets, 0);
	for (size_t i = 0; i < n; i++)
		keys[i] = i % 10 ? 5 : unit_key(INT32_MIN, INT32_MAX);
	check(&sort, keys, n, 1);
	assert_in_range(sort.report.rounds, 2, 4);
	assert_int_equal(sort.report.flat, 1);

	/* geometric: each level divides by n / E */
	for (size_t i = 0; i < n; i++)
		keys[i] = (int32_t) (INT32_MAX >> (i % 31));
	check(&sort, keys, n, 1);
	assert_in_range(sort.report.rounds, 3, 5);

	/* other sizes of slices and buckets */
	sort.options.slice_keys = 1;
	sort.options.bucket_keys = 2;
	for (size_t i = 0; i < n; i++)
		keys[i] = unit_key(INT32_MIN, INT32_MAX);
	check(&sort, keys, n, 1);
	assert_in_range(sort.report.buckets, n / 2, n);
	free(keys);
}

/* Nearly sorted by Eq. 2 and C = 10: every key at most 8 places off. */
static void
test_bucket_bitonic_nearly_sorted(void **state)
{
	size_t		n = 20000;
	int32_t    *keys = unit_alloc(n, sizeof(int32_t));

	(void) state;
	for (int way = -1; way <= 1; way++)
	{
		PublishedSort sort = {
			.algorithm = BITONIC, .lo = 0, .hi = 10000000, .options = {.nearly_sorted = way}
		};

		for (size_t i = 0; i < n; i++)
			keys[i] = (int32_t) (i * 500);
		for (size_t i = 8; i < n; i += 8)
		{
			size_t		j = i - (size_t) unit_below(8);
			int32_t		key = keys[i];

			keys[i] = keys[j];
			keys[j] = key;
		}
		check(&sort, keys, n, 1);
		assert_int_equal(sort.report.nearly_sorted, way >= 0);
		/* C is what decides */
		sort.options.disorder = 0.5;
		check(&sort, keys, n, 1);
		assert_int_equal(sort.report.nearly_sorted, way > 0);
	}
	free(keys);
}

/* Images of floats, cut by the numbers: uniform ones are one level, whose images are not. */
static void
test_floats_by_value(void **state)
{
	static const uint32_t special[] = {
		0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7FFFFFFF, 0, 0x80000000, 1, 0x80000001,
		0x7F7FFFFF, 0xFF7FFFFF
	};
	size_t		n = 100000;
	int32_t    *keys = unit_alloc(n, sizeof(int32_t));
	PublishedSort sort = {.algorithm = BITONIC, .lo = INT32_MIN, .hi = INT32_MAX, .floats = true};
	uint64_t	lists;

	(void) state;
	for (size_t i = 0; i < n; i++)
	{
		float		x = (float) unit_below(1 << 24) / (1 << 24);
		uint32_t	bits;

		memcpy(&bits, &x, sizeof(bits));
		keys[i] = float4_key(bits);
	}
	check(&sort, keys, n, 1);
	assert_int_equal(sort.report.rounds, 1);
	assert_int_equal(sort.report.lists, 1);
	lists = sort.report.buckets;
	sort.floats = false;
	check(&sort, keys, n, 1);
	assert_true(sort.report.rounds > 1);
	assert_true(sort.report.buckets != lists);

	/* anything, and both directions; what is not finite, alone or beside one number */
	for (int trial = 0; trial < 60; trial++)
	{
		size_t		some = 1 + (size_t) unit_below(trial % 5 ? 3000 : n);

		sort.floats = true;
		sort.descending = trial & 1;
		sort.options.nearly_sorted = trial % 3 - 1;
		for (size_t i = 0; i < some; i++)
		{
			uint32_t	bits = (uint32_t) unit_random();

			if (trial % 4 == 0 || (trial % 4 == 1 && unit_below(3) == 0))
				bits = special[unit_below(trial % 8 ? lengthof(special) : 5)];
			keys[i] = float4_key(bits);
			assert_int_equal(float4_key_bits(keys[i]), bits);
		}
		check(&sort, keys, some, 1);
	}
	free(keys);
}

/* Eq. 10: distinct keys, the smallest of which may be 0. */
static void
test_onehot_distinct(void **state)
{
	(void) state;
	for (int trial = 0; trial < 100; trial++)
	{
		int32_t		keys[300];
		size_t		n = 1 + (size_t) unit_below(lengthof(keys));
		PublishedSort sort = {.algorithm = ONEHOT, .descending = trial & 1, .options = {.distinct = true}};

		for (size_t i = 0; i < n; i++)
			keys[i] = (int32_t) (i * (1 + (size_t) trial % 3)) - trial;
		for (size_t i = n; i > 1; i--)
		{
			size_t		j = (size_t) unit_below(i);
			int32_t		key = keys[i - 1];

			keys[i - 1] = keys[j];
			keys[j] = key;
		}
		if (trial % 10 == 9)
			keys[0] = keys[n - 1];
		find_bounds(keys, n, &sort.lo, &sort.hi);
		check(&sort, keys, n, 1);
	}
}

/* The threads that ran, in both forms; what their counters take, and the paper's phases. */
static void
test_comparison_free_forms(void **state)
{
	static const uint64_t ranges[] = {1, 2, 7, 1000, 100003, 300000};

	(void) state;
	for (int threads = 1; threads <= 9; threads += threads < 3 ? 1 : 3)
		for (int form = COMPARISON_FREE_PRIVATE; form <= COMPARISON_FREE_SHARED; form++)
			for (size_t r = 0; r < lengthof(ranges); r++)
			{
				size_t		n = (size_t) unit_below(r % 2 ? 30 : 30000) + 1;
				int32_t    *keys = unit_alloc(n, sizeof(int32_t));
				PublishedSort sort = {
					.algorithm = FREE,
					.lo = INT32_MIN,
					.hi = (int32_t) (INT32_MIN + (int64_t) ranges[r] - 1),
					.descending = unit_below(2),
					.options = {.threads = threads, .counters = (ComparisonFreeForm) form}
				};
				uint64_t	stride = ((uint64_t) threads + 15) / 16 * 16;

				for (size_t i = 0; i < n; i++)
					keys[i] = unit_key(sort.lo, sort.hi);
				/* not by what the context allows: exactly so many */
				check(&sort, keys, n, 1);
				assert_int_equal(sort.report.threads, threads);
				assert_int_equal(sort.report.memory, form == COMPARISON_FREE_PRIVATE
								 ? 4 * ranges[r] * (uint64_t) threads
								 : 4 * ranges[r] + 4 * stride * (uint64_t) threads);
				assert_int_equal(sort.report.phases, 3);
				assert_string_equal(sort.report.phase[0], "count");
				free(keys);
			}
}

/* Fewer threads where their counters would take more than is allowed. */
static void
test_comparison_free_memory(void **state)
{
	size_t		n = 16 * 65536;
	int32_t    *keys = unit_alloc(n, sizeof(int32_t));

	(void) state;
	memset(keys, 0, n * sizeof(int32_t));
	for (int threads = 1; threads <= 5; threads++)
	{
		PublishedSort sort = {.algorithm = FREE, .keys = keys, .n = n, .lo = 0, .hi = 999};
		SortError	err;
		Unit		u;

		unit_init(&u);
		u.context.threads = 4;
		u.context.algorithm_memory = 4000 * (size_t) threads + 3999;
		assert_sort_ok(published_sort(&sort, &u.context, &err), err);
		assert_int_equal(sort.report.threads, threads < 4 ? threads : 4);
		assert_int_equal(sort.report.memory, 4000 * sort.report.threads);
		unit_assert_no_leak(&u);
	}
	free(keys);
}

static SortStatus
try(SortAlgorithm algorithm, PublishedOptions options, const int32_t *keys, size_t n, int32_t lo,
	int32_t hi, bool permutation, Unit *u, SortError *err)
{
	int32_t    *work = unit_alloc(n, sizeof(int32_t));
	uint32_t   *positions = permutation ? unit_alloc(n, sizeof(uint32_t)) : NULL;
	PublishedSort sort = {
		.algorithm = algorithm, .keys = work, .n = n, .lo = lo, .hi = hi, .positions = positions, .options = options
	};
	SortStatus	status;

	memcpy(work, keys, n * sizeof(int32_t));
	memset(err, 0xEE, sizeof(*err));
	status = published_sort(&sort, &u->context, err);
	assert_true(status == SORT_OK || status == err->status);
	unit_assert_no_leak(u);
	free(work);
	free(positions);
	return status;
}

/* Bounds, duplicates, options, permutations that there are not, more keys than counters count. */
static void
test_errors(void **state)
{
	static const PublishedOptions wrong[] = {
		{.radix = 3}, {.radix = 1 << 17}, {.radix = 1}, {.rows = 65537},
		{.bucket_keys = 100}, {.bucket_keys = 1}, {.bucket_keys = 1 << 17},
		{.slice_keys = 257}, {.slice_keys = 80, .bucket_keys = 128}
	};
	int32_t		keys[] = {5, 9, 5, 1, 9};
	PublishedOptions none = {0};
	PublishedOptions distinct = {.distinct = true};
	SortError	err;
	Unit		u;

	(void) state;
	unit_init(&u);
	for (size_t a = 0; a < lengthof(algorithms); a++)
	{
		PublishedSort many = {.algorithm = algorithms[a], .keys = keys, .n = (size_t) UINT32_MAX + 1};

		assert_int_equal(try(algorithms[a], none, keys, 5, 2, 9, false, &u, &err), SORT_KEY_OUT_OF_BOUNDS);
		assert_int_equal(err.key, 1);
		assert_int_equal(try(algorithms[a], none, keys, 5, 1, 8, false, &u, &err), SORT_KEY_OUT_OF_BOUNDS);
		assert_int_equal(err.key, 9);
		assert_int_equal(published_sort(&many, &u.context, &err), SORT_LIMIT_EXCEEDED);
		if (algorithm_info(algorithms[a])->no_permutation == NULL)
			continue;
		assert_int_equal(try(algorithms[a], none, keys, 5, 1, 9, true, &u, &err), SORT_UNSUPPORTED);
		assert_non_null(strstr(err.message, "cannot return a permutation"));
	}
	assert_int_equal(try(ONE_HP, none, keys, 5, 1, 9, false, &u, &err), SORT_UNSUPPORTED);
	assert_string_equal(err.message, "key 5 occurs more than once, and one_hp sorts distinct keys only");
	assert_int_equal(try(ONEHOT, distinct, keys, 5, 1, 9, false, &u, &err), SORT_UNSUPPORTED);
	assert_string_equal(err.message, "key 5 occurs more than once, and Eq. 10 sorts distinct keys only");
	/* the smallest key, whose product is the smallest */
	assert_int_equal(try(ONEHOT, distinct, keys + 1, 3, 1, 9, false, &u, &err), SORT_OK);
	keys[1] = 1;
	assert_int_equal(try(ONEHOT, distinct, keys + 1, 3, 1, 9, false, &u, &err), SORT_UNSUPPORTED);
	assert_string_equal(err.message, "key 1 occurs more than once, and Eq. 10 sorts distinct keys only");
	keys[1] = 9;
	assert_int_equal(try(SORT_ALGORITHM_RADIX, none, keys, 5, 1, 9, false, &u, &err), SORT_UNSUPPORTED);
	for (size_t a = 0; a < lengthof(wrong); a++)
		assert_int_equal(try(a < 4 ? RADIX : BITONIC, wrong[a], keys, 5, 1, 9, false, &u, &err), SORT_UNSUPPORTED);
}

/* No memory at any allocation, a cancel at any look: an error, and nothing left behind. */
static void
test_failures(void **state)
{
	size_t		n = 3000;
	int32_t    *keys = unit_alloc(n, sizeof(int32_t));

	(void) state;
	for (size_t i = 0; i < n; i++)
		keys[i] = (int32_t) (n - i);
	for (size_t a = 0; a < lengthof(algorithms); a++)
		for (int permutation = 0; permutation < 2; permutation++)
		{
			PublishedOptions none = {0};
			uint64_t	k;
			SortError	err;
			Unit		u;

			if (permutation && algorithm_info(algorithms[a])->no_permutation != NULL)
				continue;
			for (k = 1;; k++)
			{
				unit_init(&u);
				u.fail_at = k;
				if (try(algorithms[a], none, keys, n, 1, (int32_t) n, permutation, &u, &err) == SORT_OK)
					break;
				assert_int_equal(err.status, SORT_OUT_OF_MEMORY);
			}
			assert_true(k > 1);
			for (k = 1;; k++)
			{
				unit_init(&u);
				u.interrupt_at = k;
				if (try(algorithms[a], none, keys, n, 1, (int32_t) n, permutation, &u, &err) == SORT_OK)
					break;
				assert_int_equal(err.status, SORT_CANCELLED);
				assert_int_equal(u.asked, k);
			}
			assert_true(k > 3);
		}
	free(keys);
}

/* A look at least every million keys and values in each step of those that take long. */
static void
test_looks(void **state)
{
	size_t		n = 6000000;
	int32_t    *keys = unit_alloc(n, sizeof(int32_t));

	(void) state;
	for (size_t i = 0; i < n; i++)
		keys[i] = (int32_t) (i * 7919 % n);
	for (size_t a = 0; a < lengthof(algorithms); a++)
	{
		PublishedOptions none = {0};
		SortError	err;
		Unit		u;

		if (algorithms[a] == ONEHOT)
			continue;
		unit_init(&u);
		assert_sort_ok(try(algorithms[a], none, keys, n, 0, (int32_t) n - 1, false, &u, &err), err);
		/* the comparison-free sort has 2^22 a step */
		assert_true(u.asked >= (algorithms[a] == FREE ? 6 : 24));
	}
	free(keys);
}

/* The plan refuses what would take more memory than is allowed, with the numbers. */
static void
test_memory_limit(void **state)
{
	(void) state;
	for (size_t a = 0; a < lengthof(algorithms); a++)
	{
		SortPlanInput in = {
			.n = 1000, .lo = 0, .hi = 9999, .algorithm = algorithms[a], .device = SORT_DEVICE_CPU
		};
		uint64_t	need = algorithm_cpu_need(algorithms[a], in.n, 10000, SORT_WANT_KEYS);
		char		message[160];
		SortPlan	plan;
		SortError	err;

		in.algorithm_memory = (size_t) need;
		assert_sort_ok(plan_choose(&in, &plan, &err), err);
		assert_int_equal(plan.algorithm, algorithms[a]);
		in.algorithm_memory--;
		assert_int_equal(plan_choose(&in, &plan, &err), SORT_MEMORY_LIMIT);
		assert_int_equal(err.status, SORT_MEMORY_LIMIT);
		snprintf(message, sizeof(message),
				 "algorithm \"%s\" needs %llu bytes of memory for 1000 keys from 0 to 9999",
				 sort_algorithm_name(algorithms[a]), (unsigned long long) need);
		assert_string_equal(err.message, message);
		in.algorithm_memory = 0;
		assert_sort_ok(plan_choose(&in, &plan, &err), err);
		in.n = 0;
		assert_sort_ok(plan_choose(&in, &plan, &err), err);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_permutations),
		cmocka_unit_test(test_zero_compressed_len),
		cmocka_unit_test(test_bucket_radix_passes),
		cmocka_unit_test(test_bucket_bitonic_levels),
		cmocka_unit_test(test_bucket_bitonic_nearly_sorted),
		cmocka_unit_test(test_floats_by_value),
		cmocka_unit_test(test_onehot_distinct),
		cmocka_unit_test(test_comparison_free_forms),
		cmocka_unit_test(test_comparison_free_memory),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_looks),
		cmocka_unit_test(test_memory_limit),
	};

	unit_seed("published_test");
	return cmocka_run_group_tests_name("published", tests, NULL, NULL);
}
