/*
 * runs_test.c
 *		Lists of runs against a naive table of counts.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "sort/runs/runs.h"

/* Keys of the random tests are 0 .. KEYS - 1, shifted by one of these. */
#define KEYS 300

static const int32_t shifts[] = {INT32_MIN, -150, 0, INT32_MAX - KEYS + 1};

/* Makes ascending runs of some of table's entries; returns their number. */
static size_t
random_runs(int32_t shift, int32_t *keys, uint64_t *counts, uint64_t *table)
{
	uint64_t	often = 1 + unit_below(40);
	uint64_t	most = unit_below(3) ? 5 : UINT64_C(1) << 40;
	size_t		len = 0;

	for (int k = 0; k < KEYS; k++)
	{
		if (unit_below(often) != 0)
			continue;
		keys[len] = (int32_t) (shift + (int64_t) k);
		counts[len] = 1 + unit_below(most);
		table[k] += counts[len++];
	}
	return len;
}

static void
check_runs(const Runs *runs, int32_t shift, const uint64_t *table)
{
	size_t		at = 0;

	assert_true(runs->len <= runs->capacity);
	for (int k = 0; k < KEYS; k++)
	{
		if (table[k] == 0)
			continue;
		assert_true(at < runs->len);
		assert_int_equal(runs->keys[at], (int32_t) (shift + (int64_t) k));
		assert_int_equal(runs->counts[at], table[k]);
		at++;
	}
	assert_int_equal(at, runs->len);
}

static void
test_merge(void **state)
{
	(void) state;
	for (int trial = 0; trial < 5000; trial++)
	{
		Unit		u;
		Runs		runs = {0};
		uint64_t	table[KEYS] = {0};
		int32_t		keys[KEYS];
		uint64_t	counts[KEYS];
		int32_t		shift = shifts[unit_below(lengthof(shifts))];
		int			merges = (int) unit_below(12);

		unit_init(&u);
		for (int m = 0; m < merges; m++)
		{
			size_t		len = random_runs(shift, keys, counts, table);

			assert_true(runs_merge(&runs, keys, counts, len, &u.context.allocator));
			check_runs(&runs, shift, table);
		}
		runs_release(&runs, &u.context.allocator);
		assert_int_equal(runs.len, 0);
		unit_assert_no_leak(&u);
	}
}

static void
test_merge_edges(void **state)
{
	const int32_t keys[] = {INT32_MIN, -1, 0, INT32_MAX};
	const uint64_t counts[] = {1, UINT64_C(1) << 33, 3, UINT64_C(1) << 62};
	const int32_t between[] = {-2, 1};
	const uint64_t ones[] = {1, 1};
	Unit		u;
	Runs		runs = {0};

	(void) state;
	unit_init(&u);
	/* Nothing into nothing takes no memory. */
	assert_true(runs_merge(&runs, keys, counts, 0, &u.context.allocator));
	assert_int_equal(u.blocks, 0);
	assert_true(runs_merge(&runs, keys, counts, 4, &u.context.allocator));
	assert_true(runs_merge(&runs, keys, counts, 0, &u.context.allocator));
	assert_int_equal(runs.len, 4);
	/* The same keys again: no room needed, counts doubled. */
	u.fail_at = u.allocations + 1;
	assert_true(runs_merge(&runs, keys, counts, 4, &u.context.allocator));
	assert_int_equal(runs.len, 4);
	for (size_t i = 0; i < 4; i++)
	{
		assert_int_equal(runs.keys[i], keys[i]);
		assert_int_equal(runs.counts[i], 2 * counts[i]);
	}
	u.fail_at = 0;
	assert_true(runs_merge(&runs, between, ones, 2, &u.context.allocator));
	assert_int_equal(runs.len, 6);
	assert_int_equal(runs.keys[1], -2);
	assert_int_equal(runs.keys[4], 1);
	assert_int_equal(runs.keys[5], INT32_MAX);
	runs_release(&runs, &u.context.allocator);
	unit_assert_no_leak(&u);
}

/* Without memory the list is what it was. */
static void
test_merge_no_memory(void **state)
{
	const int32_t keys[] = {1, 3, 5};
	const int32_t more[] = {0, 3, 4, 5, 6, 7, 8, 9, 10};
	const uint64_t counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

	(void) state;
	for (int k = 1; k <= 2; k++)
	{
		Unit		u;
		Runs		runs = {0};

		unit_init(&u);
		assert_true(runs_merge(&runs, keys, counts, 3, &u.context.allocator));
		u.fail_at = u.allocations + (uint64_t) k;
		assert_false(runs_merge(&runs, more, counts, 9, &u.context.allocator));
		assert_int_equal(runs.len, 3);
		for (size_t i = 0; i < 3; i++)
		{
			assert_int_equal(runs.keys[i], keys[i]);
			assert_int_equal(runs.counts[i], counts[i]);
		}
		runs_release(&runs, &u.context.allocator);
		unit_assert_no_leak(&u);
	}
}

static void
test_lower_bound_and_delete(void **state)
{
	(void) state;
	for (int trial = 0; trial < 2000; trial++)
	{
		Unit		u;
		Runs		runs = {0};
		uint64_t	table[KEYS] = {0};
		int32_t		keys[KEYS];
		uint64_t	counts[KEYS];
		int32_t		shift = shifts[unit_below(lengthof(shifts))];
		size_t		len = random_runs(shift, keys, counts, table);
		size_t		from = (size_t) unit_below(len + 1);
		size_t		to = from + (size_t) unit_below(len + 1 - from);
		size_t		i;

		unit_init(&u);
		assert_true(runs_merge(&runs, keys, counts, len, &u.context.allocator));
		for (int64_t key = (int64_t) shift - 1; key <= (int64_t) shift + KEYS; key++)
		{
			if (key < INT32_MIN || key > INT32_MAX)
				continue;
			for (i = 0; i < len && keys[i] < key; i++)
				;
			assert_int_equal(runs_lower_bound(&runs, (int32_t) key), i);
		}
		runs_delete(&runs, from, to);
		for (i = from; i < to; i++)
			table[(int64_t) keys[i] - shift] = 0;
		check_runs(&runs, shift, table);
		runs_release(&runs, &u.context.allocator);
		unit_assert_no_leak(&u);
	}
}

static void
test_of_ordered(void **state)
{
	(void) state;
	for (size_t n = 0; n < 300; n++)
	{
		Unit		u;
		Runs		runs = {0};
		uint64_t	table[KEYS] = {0};
		int32_t		shift = shifts[unit_below(lengthof(shifts))];
		int32_t    *keys = unit_alloc(n, sizeof(int32_t));
		int32_t		most = 1 + (int32_t) unit_below(KEYS - 1);
		uint64_t	distinct = 0;
		SortError	err;

		unit_init(&u);
		for (size_t i = 0; i < n; i++)
		{
			keys[i] = (int32_t) (shift + (int64_t) unit_below((uint64_t) most + 1));
			distinct += table[(int64_t) keys[i] - shift]++ == 0;
		}
		unit_sort(keys, n, false);
		assert_int_equal(runs_of_all(&runs, keys, n, &u.context, &err), SORT_OK);
		check_runs(&runs, shift, table);
		assert_int_equal(runs_count_distinct(keys, n), distinct);
		unit_sort(keys, n, true);
		assert_int_equal(runs_count_distinct(keys, n), distinct);
		runs_release(&runs, &u.context.allocator);
		unit_assert_no_leak(&u);
		free(keys);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_merge_edges),
		cmocka_unit_test(test_merge_no_memory),
		cmocka_unit_test(test_lower_bound_and_delete),
		cmocka_unit_test(test_of_ordered),
	};

	unit_seed("runs_test");
	return cmocka_run_group_tests_name("runs", tests, NULL, NULL);
}
