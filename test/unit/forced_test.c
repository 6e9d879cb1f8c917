/*
 * forced_test.c
 *		An algorithm or a device that the caller has named: used, and reported,
 *		or refused with the reason, however few the keys.
 */
#include "ways.h"

#include <stdlib.h>
#include <string.h>

/* Distinct keys, of twice as many values, in any order. */
static void
fill_distinct(int32_t *keys, size_t n)
{
	for (size_t i = 0; i < n; i++)
		keys[i] = (int32_t) (2 * i + unit_below(2));
	for (size_t i = n; i > 1; i--)
	{
		size_t		j = (size_t) unit_below(i);
		int32_t		key = keys[i - 1];

		keys[i - 1] = keys[j];
		keys[j] = key;
	}
}

/* Every algorithm of the CPU, forced. */
static void
test_forced(void **state)
{
	static const SortAlgorithm algorithms[] = {
		SORT_ALGORITHM_RADIX, SORT_ALGORITHM_ZERO_COMPRESSED, SORT_ALGORITHM_COMPARISON_FREE, SORT_ALGORITHM_HP,
		SORT_ALGORITHM_ONE_HP, SORT_ALGORITHM_ZERO_COMPRESSED_PUBLISHED, SORT_ALGORITHM_BUCKET_RADIX,
		SORT_ALGORITHM_COMPARISON_FREE_ONEHOT, SORT_ALGORITHM_BUCKET_BITONIC
	};
	static const size_t sizes[] = {0, 1, 16, 17, 4096, 5000, 300000};

	(void) state;
	for (size_t a = 0; a < lengthof(algorithms); a++)
		for (size_t i = 0; i < lengthof(sizes); i++)
		{
			for (int way = 0; way < WAY_COUNT; way++)
			{
				int			shape = (int) unit_below(SHAPE_COUNT);
				int32_t    *keys = unit_alloc(sizes[i], sizeof(int32_t));

				if (sizes[i] > (algorithms[a] == SORT_ALGORITHM_COMPARISON_FREE_ONEHOT ? 1000 : 10000) &&
					way != WAY_ADD && way != WAY_ARRAY)
				{
					free(keys);
					continue;
				}
				/* What is counted has to be in a range that can be. */
				if (algorithms[a] == SORT_ALGORITHM_COMPARISON_FREE_ONEHOT)
					shape = sizes[i] > 1000 ? SHAPE_CONSTANT : SHAPE_NARROW;
				else if (algorithms[a] != SORT_ALGORITHM_RADIX && algorithms[a] != SORT_ALGORITHM_BUCKET_BITONIC &&
						 algorithms[a] != SORT_ALGORITHM_BUCKET_RADIX)
					shape = unit_below(2) ? SHAPE_NARROW : SHAPE_ORGAN_PIPE;
				if (algorithms[a] == SORT_ALGORITHM_ONE_HP)
					fill_distinct(keys, sizes[i]);
				else
					unit_fill((UnitShape) shape, keys, sizes[i]);
				way_check_sort((Way) way, keys, sizes[i], algorithms[a], 1 + (int) unit_below(4));
				free(keys);
			}
		}
}

static void
test_forced_reported(void **state)
{
	static const SortAlgorithm algorithms[] = {
		SORT_ALGORITHM_RADIX, SORT_ALGORITHM_ZERO_COMPRESSED, SORT_ALGORITHM_COMPARISON_FREE, SORT_ALGORITHM_HP,
		SORT_ALGORITHM_ZERO_COMPRESSED_PUBLISHED, SORT_ALGORITHM_BUCKET_RADIX,
		SORT_ALGORITHM_COMPARISON_FREE_ONEHOT, SORT_ALGORITHM_BUCKET_BITONIC
	};

	(void) state;
	for (size_t a = 0; a < lengthof(algorithms); a++)
		for (size_t n = 0; n < 10000; n = n * 10 + 5)
		{
			Unit		u;
			Sorter		s;
			SortError	err;
			SorterStats stats;

			unit_init(&u);
			u.context.algorithm = algorithms[a];
			sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
			for (size_t i = 0; i < n; i++)
				assert_sort_ok(sorter_add_key(&s, (int32_t) (i % 77), &err), err);
			assert_sort_ok(sorter_finish(&s, SORT_WANT_KEYS, &err), err);
			sorter_stats(&s, NULL, &stats);
			assert_int_equal(stats.plan.algorithm, algorithms[a]);
			assert_int_equal(stats.plan.device, SORT_DEVICE_CPU);
			sorter_reset(&s);
		}
}

typedef struct Refusal
{
	SortAlgorithm algorithm;
	SortDeviceKind device;
	SortWant	want;
	bool		wide;
	SortStatus	status;
	const char *message;		/* its beginning */
} Refusal;

static const Refusal refusals[] = {
	{SORT_ALGORITHM_AUTO, SORT_DEVICE_GPU, SORT_WANT_KEYS, false, SORT_DEVICE_UNAVAILABLE,
	"device \"gpu\" is not available"},
	{SORT_ALGORITHM_RADIX, SORT_DEVICE_GPU, SORT_WANT_PERMUTATION, true, SORT_DEVICE_UNAVAILABLE,
	"device \"gpu\" is not available"},
	{SORT_ALGORITHM_HP, SORT_DEVICE_GPU, SORT_WANT_KEYS, false, SORT_DEVICE_UNAVAILABLE,
	"device \"gpu\" is not available"},
	{SORT_ALGORITHM_HP, SORT_DEVICE_AUTO, SORT_WANT_PERMUTATION, false, SORT_UNSUPPORTED,
	"algorithm \"hp\" cannot return a permutation"},
	{SORT_ALGORITHM_ONE_HP, SORT_DEVICE_CPU, SORT_WANT_KEYS, true, SORT_MEMORY_LIMIT,
	"algorithm \"one_hp\" needs 34359738368 bytes of memory for "},
	{SORT_ALGORITHM_BUCKET_RADIX, SORT_DEVICE_CPU, SORT_WANT_PERMUTATION, true, SORT_UNSUPPORTED,
	"algorithm \"bucket_radix\" cannot return a permutation"},
	{SORT_ALGORITHM_COMPARISON_FREE_ONEHOT, SORT_DEVICE_AUTO, SORT_WANT_PERMUTATION, true, SORT_MEMORY_LIMIT,
	"algorithm \"comparison_free_onehot\" needs "},
	{SORT_ALGORITHM_ZERO_COMPRESSED, SORT_DEVICE_AUTO, SORT_WANT_KEYS, true, SORT_UNSUPPORTED,
	"algorithm \"zero_compressed\" cannot sort keys from -2147483648 to 2147483647"},
	{SORT_ALGORITHM_COMPARISON_FREE, SORT_DEVICE_CPU, SORT_WANT_KEYS, true, SORT_MEMORY_LIMIT,
	"algorithm \"comparison_free\" needs 17179869184 bytes of memory for "},
	{SORT_ALGORITHM_COMPARISON_FREE, SORT_DEVICE_AUTO, SORT_WANT_PERMUTATION, false, SORT_UNSUPPORTED,
	"algorithm \"comparison_free\" cannot return a permutation"},
};

/* However few the keys: a forced choice is not silently ignored. */
static void
test_refusals(void **state)
{
	static const size_t sizes[] = {2, 16, 100, 5000};

	(void) state;
	for (size_t i = 0; i < lengthof(refusals); i++)
		for (size_t j = 0; j < lengthof(sizes); j++)
		{
			const Refusal *r = &refusals[i];

			for (int way = WAY_KEY; way <= WAY_ARRAY; way++)
			{
				int32_t    *keys = unit_alloc(sizes[j], sizeof(int32_t));
				Unit		u;
				Sorter		s;
				SortError	err;

				if (r->want == SORT_WANT_PERMUTATION && way != WAY_ARRAY)
				{
					free(keys);
					continue;
				}
				unit_fill(SHAPE_NARROW, keys, sizes[j]);
				if (r->wide)
				{
					keys[0] = INT32_MIN;
					keys[sizes[j] - 1] = INT32_MAX;
				}
				unit_init(&u);
				u.context.algorithm = r->algorithm;
				u.context.device = r->device;
				u.context.algorithm_memory = (size_t) 1 << 28;
				sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
				assert_sort_ok(way_add(&s, (Way) way, keys, sizes[j], &err), err);
				memset(&err, 0xEE, sizeof(err));
				assert_int_equal(sorter_finish(&s, r->want, &err), r->status);
				assert_int_equal(err.status, r->status);
				assert_memory_equal(err.message, r->message, strlen(r->message));
				sorter_reset(&s);
				unit_assert_no_leak(&u);
				free(keys);
			}
		}
}

/* one_hp refuses duplicates however they come: as keys, or as runs that were counted elsewhere. */
static void
test_duplicates(void **state)
{
	(void) state;
	for (int way = 0; way < WAY_COUNT; way++)
	{
		int32_t    *keys = unit_alloc(100, sizeof(int32_t));
		Unit		u;
		Sorter		s;
		SortError	err;
		int32_t		out[100];
		SortStatus	status;

		fill_distinct(keys, 100);
		keys[70] = keys[3];
		unit_init(&u);
		u.context.algorithm = SORT_ALGORITHM_ONE_HP;
		sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
		assert_sort_ok(way_add(&s, (Way) way, keys, 100, &err), err);
		status = sorter_finish(&s, SORT_WANT_KEYS, &err);
		if (status == SORT_OK)
			status = sorter_read_keys(&s, false, out, &err);
		assert_int_equal(status, SORT_UNSUPPORTED);
		assert_non_null(strstr(err.message, "occurs more than once, and one_hp sorts distinct keys only"));
		sorter_reset(&s);
		unit_assert_no_leak(&u);
		free(keys);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forced),
		cmocka_unit_test(test_forced_reported),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_duplicates),
	};

	unit_seed("forced_test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
