/*
 * ways.c
 *		The ways in which keys come into a sorter, declared in ways.h.
 */
#include "ways.h"

#include <stdlib.h>

#include "sort/published/parts.h"

SortStatus
way_add(Sorter *s, Way way, const int32_t *keys, size_t n, SortError *err)
{
	SortStatus	status = SORT_OK;

	switch (way)
	{
		case WAY_KEY:
			for (size_t i = 0; i < n && status == SORT_OK; i++)
				status = sorter_add_key(s, keys[i], err);
			return status;
		case WAY_ADD:
			return sorter_add(s, keys, n, err);
		case WAY_ARRAY:
			return sorter_add_array(s, keys, n, err);
		case WAY_PARTS:
			for (size_t i = 0; i < n && status == SORT_OK;)
			{
				size_t		part = 1 + (size_t) unit_below(unit_below(3) ? 100 : 10000);

				part = part < n - i ? part : n - i;
				status = sorter_add(s, keys + i, part, err);
				i += part;
			}
			return status;
		case WAY_RUNS:
			{
				Bag			bag = {0};
				int32_t    *run_keys = unit_alloc(n, sizeof(int32_t));
				uint64_t   *counts = unit_alloc(n, sizeof(uint64_t));

				bag_add_keys(&bag, keys, n);
				bag_normalize(&bag);
				for (size_t i = 0; i < bag.len; i++)
				{
					run_keys[i] = bag.items[i].key;
					counts[i] = bag.items[i].count;
				}
				status = sorter_add_runs(s, run_keys, counts, bag.len, err);
				bag_clear(&bag);
				free(run_keys);
				free(counts);
				return status;
			}
		case WAY_MERGE:
		case WAY_BYTES:
			{
				Unit		u;
				Sorter		other;
				Way			first = (Way) unit_below(WAY_RUNS + 1);
				void	   *bytes;
				size_t		size;

				unit_init(&u);
				sorter_init(&other, &u.context, INT32_MIN, INT32_MAX);
				status = way_add(&other, first, keys, n, err);
				assert_int_equal(status, SORT_OK);
				if (unit_below(3) == 0)
					assert_sort_ok(sorter_finish(&other, SORT_WANT_KEYS, err), *err);
				if (way == WAY_MERGE)
				{
					status = sorter_merge(s, &other, err);
					assert_int_equal(sorter_count(&other), n);
				}
				else
				{
					assert_sort_ok(sorter_serialize_size(&other, &size, err), *err);
					bytes = unit_alloc(size, 1);
					sorter_serialize(&other, bytes);
					status = sorter_deserialize(s, bytes, size, err);
					free(bytes);
				}
				sorter_reset(&other);
				unit_assert_no_leak(&u);
				return status;
			}
	}
	return SORT_OK;
}

void
way_check_sort(Way way, const int32_t *keys, size_t n, SortAlgorithm algorithm, int threads)
{
	Unit		u;
	Sorter		s;
	SortError	err;
	Bag			bag = {0};
	SorterStats stats;

	unit_init(&u);
	u.context.algorithm = algorithm;
	u.context.threads = threads;
	bag_add_keys(&bag, keys, n);
	sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
	assert_sort_ok(way_add(&s, way, keys, n, &err), err);
	assert_int_equal(sorter_count(&s), n);
	assert_sort_ok(sorter_finish(&s, SORT_WANT_KEYS, &err), err);
	unit_check_sorter(&u, &s, &bag, NULL);
	sorter_stats(&s, NULL, &stats);
	/* As many as pay; runs that were added elsewhere need none. */
	if (algorithm == SORT_ALGORITHM_COMPARISON_FREE && way <= WAY_ARRAY && n > 0)
		assert_int_equal(stats.threads, comparison_free_threads(n, stats.plan.range, threads));
	else
		assert_in_range(stats.threads, 1,
						stats.plan.algorithm == SORT_ALGORITHM_COMPARISON_FREE ? threads : 1);
	sorter_reset(&s);
	unit_assert_no_leak(&u);
	assert_int_equal(sorter_count(&s), 0);
	bag_clear(&bag);
}
