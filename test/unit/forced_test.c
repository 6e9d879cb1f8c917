/*
 * forced_test.c
 *		An algorithm or a device that the caller has named: used, and reported,
 *		or refused with the reason, however few the keys.
 */
#include "ways.h"

#include <stdlib.h>
#include <string.h>

/* Every algorithm of the CPU, forced. */
static void
test_forced(void **state)
{
	static const SortAlgorithm algorithms[] = {
		SORT_ALGORITHM_RADIX, SORT_ALGORITHM_ZERO_COMPRESSED, SORT_ALGORITHM_COMPARISON_FREE
	};
	static const size_t sizes[] = {0, 1, 16, 17, 4096, 5000, 300000};
	size_t		a;
	size_t		i;

	(void) state;
	for (a = 0; a < lengthof(algorithms); a++)
		for (i = 0; i < lengthof(sizes); i++)
		{
			int			way;

			for (way = 0; way < WAY_COUNT; way++)
			{
				int			shape = (int) unit_below(SHAPE_COUNT);
				int32_t    *keys = unit_alloc(sizes[i], sizeof(int32_t));

				if (sizes[i] > 10000 && way != WAY_ADD && way != WAY_ARRAY)
				{
					free(keys);
					continue;
				}
				/* What is counted has to be in a range that can be. */
				if (algorithms[a] != SORT_ALGORITHM_RADIX)
					shape = unit_below(2) ? SHAPE_NARROW : SHAPE_ORGAN_PIPE;
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
		SORT_ALGORITHM_RADIX, SORT_ALGORITHM_ZERO_COMPRESSED, SORT_ALGORITHM_COMPARISON_FREE
	};
	size_t		a;
	size_t		n;

	(void) state;
	for (a = 0; a < lengthof(algorithms); a++)
		for (n = 0; n < 10000; n = n * 10 + 5)
		{
			Unit		u;
			Sorter		s;
			SortError	err;
			SorterStats stats;
			size_t		i;

			unit_init(&u);
			u.context.algorithm = algorithms[a];
			sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
			for (i = 0; i < n; i++)
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
	{SORT_ALGORITHM_HP, SORT_DEVICE_AUTO, SORT_WANT_KEYS, false, SORT_UNSUPPORTED,
	"algorithm \"hp\" is not available on device \"cpu\""},
	{SORT_ALGORITHM_ONE_HP, SORT_DEVICE_CPU, SORT_WANT_RUNS, false, SORT_UNSUPPORTED,
	"algorithm \"one_hp\" is not available on device \"cpu\""},
	{SORT_ALGORITHM_BUCKET_RADIX, SORT_DEVICE_CPU, SORT_WANT_KEYS, true, SORT_UNSUPPORTED,
	"algorithm \"bucket_radix\" is not available on device \"cpu\""},
	{SORT_ALGORITHM_COMPARISON_FREE_ONEHOT, SORT_DEVICE_AUTO, SORT_WANT_KEYS, false, SORT_UNSUPPORTED,
	"algorithm \"comparison_free_onehot\" is not available on device \"cpu\""},
	{SORT_ALGORITHM_BUCKET_BITONIC, SORT_DEVICE_AUTO, SORT_WANT_KEYS, false, SORT_UNSUPPORTED,
	"algorithm \"bucket_bitonic\" is not available on device \"cpu\""},
	{SORT_ALGORITHM_ZERO_COMPRESSED, SORT_DEVICE_AUTO, SORT_WANT_KEYS, true, SORT_UNSUPPORTED,
	"algorithm \"zero_compressed\" cannot sort keys from -2147483648 to 2147483647"},
	{SORT_ALGORITHM_COMPARISON_FREE, SORT_DEVICE_CPU, SORT_WANT_KEYS, true, SORT_UNSUPPORTED,
	"algorithm \"comparison_free\" cannot sort keys from -2147483648 to 2147483647"},
	{SORT_ALGORITHM_COMPARISON_FREE, SORT_DEVICE_AUTO, SORT_WANT_PERMUTATION, false, SORT_UNSUPPORTED,
	"algorithm \"comparison_free\" cannot return a permutation"},
};

/* However few the keys: a forced choice is not silently ignored. */
static void
test_refusals(void **state)
{
	static const size_t sizes[] = {2, 16, 100, 5000};
	size_t		i;
	size_t		j;

	(void) state;
	for (i = 0; i < lengthof(refusals); i++)
		for (j = 0; j < lengthof(sizes); j++)
		{
			const Refusal *r = &refusals[i];
			int			way;

			for (way = WAY_KEY; way <= WAY_ARRAY; way++)
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
				sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
				assert_sort_ok(way_add(&s, (Way) way, keys, sizes[j], &err), err);
				memset(&err, 0xEE, sizeof(err));
				assert_int_equal(sorter_finish(&s, r->want, &err), r->status);
				assert_int_equal(err.status, r->status);
				assert_string_equal(err.message, r->message);
				sorter_reset(&s);
				unit_assert_no_leak(&u);
				free(keys);
			}
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forced),
		cmocka_unit_test(test_forced_reported),
		cmocka_unit_test(test_refusals),
	};

	unit_seed("forced_test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
