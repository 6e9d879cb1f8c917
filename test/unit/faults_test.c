/*
 * faults_test.c
 *		Each allocation fails in turn, and a cancel comes at each check for one:
 *		the call in which it happens reports it, nothing leaks, and the sorter can
 *		be reset and used again.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "sort/runs/histogram.h"

#define N 40000

/* What a scenario sorts, and with what. */
typedef struct Scenario
{
	const char *name;
	UnitShape	shape;
	SortAlgorithm algorithm;
	SortStatus	(*run) (Unit *u, Sorter *s, SortError *err);
} Scenario;

static int32_t keys[N];
static int32_t ordered[N];
/* A cursor may scribble over all the room it is given. */
static int32_t out[N + 7000];
static uint32_t expected_order[N];
static uint32_t order[N];

static SortStatus
run_read(Sorter *s, SortError *err)
{
	SortStatus	status = sorter_read_keys(s, false, out, err);

	if (status == SORT_OK)
		unit_assert_keys(out, ordered, N, "keys");
	return status;
}

static SortStatus
run_add_key(Unit *u, Sorter *s, SortError *err)
{
	SortStatus	status = SORT_OK;

	(void) u;
	for (size_t i = 0; i < N && status == SORT_OK; i++)
		status = sorter_add_key(s, keys[i], err);
	if (status == SORT_OK)
		status = sorter_finish(s, SORT_WANT_KEYS, err);
	return status == SORT_OK ? run_read(s, err) : status;
}

static SortStatus
run_add(Unit *u, Sorter *s, SortError *err)
{
	SorterCursor cursor;
	SortStatus	status = sorter_add(s, keys, N, err);
	size_t		at = 0;

	(void) u;
	if (status == SORT_OK)
		status = sorter_finish(s, SORT_WANT_KEYS, err);
	if (status == SORT_OK)
		status = sorter_open_cursor(s, false, &cursor, err);
	while (status == SORT_OK && at < N)
	{
		size_t		got = 0;

		status = sorter_cursor_keys(&cursor, out + at, 7000, &got, err);
		at += got;
		if (status == SORT_OK && got == 0)
			fail_msg("a cursor ended early");
	}
	if (status == SORT_OK)
		unit_assert_keys(out, ordered, N, "cursor");
	return status;
}

static SortStatus
run_array(Unit *u, Sorter *s, SortError *err)
{
	SorterCursor cursor;
	SortStatus	status = sorter_add_array(s, keys, N, err);
	uint64_t	n = 0;

	(void) u;
	if (status == SORT_OK)
		status = sorter_finish(s, SORT_WANT_RUNS, err);
	if (status == SORT_OK)
		status = run_read(s, err);
	if (status == SORT_OK)
		status = sorter_open_cursor(s, true, &cursor, err);
	while (status == SORT_OK && n < N)
	{
		int32_t		run_keys[100];
		uint64_t	counts[100];
		size_t		got = 0;

		status = sorter_cursor_runs(&cursor, run_keys, counts, 100, &got, err);
		for (size_t i = 0; i < got; i++)
			n += counts[i];
		if (status == SORT_OK && got == 0)
			fail_msg("a cursor ended early");
	}
	return status;
}

static SortStatus
run_permutation(Unit *u, Sorter *s, SortError *err)
{
	SortStatus	status = sorter_add_array(s, keys, N, err);

	(void) u;
	if (status == SORT_OK)
		status = sorter_finish(s, SORT_WANT_PERMUTATION, err);
	if (status == SORT_OK)
		status = sorter_read_permutation(s, false, 1, order, err);
	if (status == SORT_OK)
		unit_assert_keys((int32_t *) order, (int32_t *) expected_order, N, "permutation");
	return status;
}

/* Half of the keys by way of another sorter, merged or as bytes. */
static SortStatus
run_merge(Unit *u, Sorter *s, SortError *err)
{
	Unit		u2;
	Sorter		other;
	SortError	err2;
	SortStatus	status;
	void	   *bytes;
	size_t		size;

	(void) u;
	unit_init(&u2);
	sorter_init(&other, &u2.context, INT32_MIN, INT32_MAX);
	assert_sort_ok(sorter_add(&other, keys, N / 4, &err2), err2);
	status = sorter_add(s, keys + N / 2, N / 4, err);
	if (status == SORT_OK)
		status = sorter_merge(s, &other, err);
	sorter_reset(&other);
	assert_sort_ok(sorter_add(&other, keys + N / 4, N / 4, &err2), err2);
	assert_sort_ok(sorter_serialize_size(&other, &size, &err2), err2);
	bytes = unit_alloc(size, 1);
	sorter_serialize(&other, bytes);
	if (status == SORT_OK)
		status = sorter_deserialize(s, bytes, size, err);
	free(bytes);
	sorter_reset(&other);
	if (status == SORT_OK)
		status = sorter_add(s, keys + 3 * (N / 4), N - 3 * (N / 4), err);
	if (status == SORT_OK)
		status = sorter_finish(s, SORT_WANT_KEYS, err);
	return status == SORT_OK ? run_read(s, err) : status;
}

/* Counts that make the histogram fold, and runs beside it. */
static SortStatus
run_huge(Unit *u, Sorter *s, SortError *err)
{
	const int32_t some[] = {INT32_MIN, keys[0], INT32_MAX};
	const uint64_t counts[] = {1, UINT64_C(1) << 34, UINT64_C(1) << 34};
	SortStatus	status = sorter_add(s, keys, N, err);
	size_t		size;

	(void) u;
	if (status == SORT_OK)
		status = sorter_add_runs(s, some, counts, 3, err);
	if (status == SORT_OK)
		status = sorter_add(s, keys, N, err);
	if (status == SORT_OK)
		status = sorter_serialize_size(s, &size, err);
	if (status == SORT_OK)
		status = sorter_finish(s, SORT_WANT_RUNS, err);
	if (status == SORT_OK)
		assert_int_equal(sorter_count(s), 2 * N + (UINT64_C(1) << 35) + 1);
	return status;
}

#define AUTO SORT_ALGORITHM_AUTO
#define ZERO SORT_ALGORITHM_ZERO_COMPRESSED
#define FREE SORT_ALGORITHM_COMPARISON_FREE
#define RADIX SORT_ALGORITHM_RADIX

static const Scenario scenarios[] = {
	{"narrow keys", SHAPE_NARROW, AUTO, run_add_key},
	{"wide keys", SHAPE_WIDE, AUTO, run_add_key},
	{"ascending keys", SHAPE_ASCENDING, AUTO, run_add_key},
	{"descending keys", SHAPE_DESCENDING, AUTO, run_add_key},
	{"few distinct keys", SHAPE_FEW_DISTINCT, AUTO, run_add_key},
	{"outliers", SHAPE_OUTLIERS, AUTO, run_add},
	{"sentinels", SHAPE_SENTINELS, AUTO, run_add},
	{"skewed keys", SHAPE_SKEWED, AUTO, run_add},
	{"zero_compressed", SHAPE_MIDDLE, ZERO, run_add},
	{"comparison_free", SHAPE_MIDDLE, FREE, run_add},
	{"radix", SHAPE_NARROW, RADIX, run_add},
	{"narrow array", SHAPE_NARROW, AUTO, run_array},
	{"wide array", SHAPE_WIDE, AUTO, run_array},
	{"array with outliers", SHAPE_SENTINELS, AUTO, run_array},
	{"zero_compressed array", SHAPE_MIDDLE, ZERO, run_array},
	{"comparison_free array", SHAPE_MIDDLE, FREE, run_array},
	{"counted permutation", SHAPE_NARROW, AUTO, run_permutation},
	{"wide permutation", SHAPE_WIDE, AUTO, run_permutation},
	{"narrow merge", SHAPE_NARROW, AUTO, run_merge},
	{"wide merge", SHAPE_WIDE, AUTO, run_merge},
	{"merge with outliers", SHAPE_OUTLIERS, AUTO, run_merge},
	{"merge of few distinct", SHAPE_FEW_DISTINCT, AUTO, run_merge},
	{"huge counts", SHAPE_NARROW, AUTO, run_huge},
	{"huge counts, sparse", SHAPE_FEW_DISTINCT, AUTO, run_huge},
};

static void
prepare(const Scenario *c)
{
	unit_fill(c->shape, keys, N);
	memcpy(ordered, keys, sizeof(keys));
	unit_sort(ordered, N, false);
	unit_permutation(keys, N, false, 1, expected_order);
}

/*
 * Runs a scenario with the k-th chance to fail taken, for all k, until it ends
 * without; returns how many there were.
 */
static uint64_t
fail_everywhere(const Scenario *c, bool memory)
{
	for (uint64_t k = 1;; k++)
	{
		Unit		u;
		Sorter		s;
		SortError	err;
		SortStatus	status;
		bool		hit;

		unit_init(&u);
		u.context.algorithm = c->algorithm;
		if (memory)
			u.fail_at = k;
		else
			u.interrupt_at = k;
		sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
		memset(&err, 0, sizeof(err));
		status = c->run(&u, &s, &err);
		hit = memory ? u.allocations >= k : u.asked >= k;
		if (hit)
		{
			/* Some calls may look for a cancel with nothing left to cancel. */
			if (status != (memory ? SORT_OUT_OF_MEMORY : SORT_CANCELLED))
				fail_msg("%s, %llu: status %d: %s", c->name, (unsigned long long) k, (int) status,
						 err.message);
			assert_int_equal(err.status, status);
			assert_string_equal(err.message, memory ? "out of memory" : "sort was cancelled");
		}
		else
			assert_sort_ok(status, err);
		sorter_reset(&s);
		unit_assert_no_leak(&u);
		if (!hit)
			return k - 1;

		/* And again, with nothing in the way. */
		if (k % 8 == 1)
		{
			u.fail_at = 0;
			u.interrupt_at = 0;
			assert_sort_ok(c->run(&u, &s, &err), err);
			sorter_reset(&s);
			unit_assert_no_leak(&u);
		}
	}
}

static void
test_no_memory(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(scenarios); i++)
	{
		prepare(&scenarios[i]);
		assert_true(fail_everywhere(&scenarios[i], true) >= 2);
	}
}

static void
test_cancelled(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(scenarios); i++)
	{
		prepare(&scenarios[i]);
		assert_true(fail_everywhere(&scenarios[i], false) >= 1);
	}
}

/*
 * With many keys a cancel must be looked for often: never more than a few
 * million of them between two looks, whatever is being done.
 */
static void
test_looks_often(void **state)
{
	static const UnitShape shapes[] = {SHAPE_NARROW, SHAPE_WIDE, SHAPE_FEW_DISTINCT};
	size_t		n = 6000000;
	int32_t    *many = unit_alloc(n, sizeof(int32_t));
	uint32_t   *places = unit_alloc(n, sizeof(uint32_t));

	(void) state;
	for (size_t i = 0; i < lengthof(shapes); i++)
	{
		Unit		u;
		Sorter		s;
		SorterStats stats;
		SortError	err;
		uint64_t	before;

		unit_fill(shapes[i], many, n);
		unit_init(&u);
		sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
		assert_sort_ok(sorter_add(&s, many, n, &err), err);
		assert_true(u.asked >= 3);
		assert_sort_ok(sorter_finish(&s, SORT_WANT_KEYS, &err), err);
		before = u.asked;
		assert_sort_ok(sorter_read_keys(&s, false, many, &err), err);
		assert_true(u.asked > before);
		sorter_reset(&s);
		assert_sort_ok(sorter_add_array(&s, many, n, &err), err);
		assert_sort_ok(sorter_finish(&s, SORT_WANT_PERMUTATION, &err), err);
		before = u.asked;
		assert_sort_ok(sorter_read_permutation(&s, true, 0, places, &err), err);
		assert_true(u.asked >= before + 5);
		sorter_reset(&s);

		/* bounds checked, bounds found, sorted, made runs: each a pass over all */
		u.context.algorithm = SORT_ALGORITHM_RADIX;
		sorter_init(&s, &u.context, INT32_MIN, INT32_MAX - 1);
		assert_sort_ok(sorter_add_array(&s, many, n, &err), err);
		before = u.asked;
		assert_sort_ok(sorter_finish(&s, SORT_WANT_RUNS, &err), err);
		assert_true(u.asked >= before + 10);
		before = u.asked;
		assert_sort_ok(sorter_read_keys(&s, false, many, &err), err);
		before = u.asked;
		sorter_stats(&s, many, &stats);
		assert_true(u.asked >= before + 5);
		sorter_reset(&s);
		unit_assert_no_leak(&u);
	}
	free(many);
	free(places);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_cancelled),
		cmocka_unit_test(test_looks_often),
	};

	unit_seed("faults_test");
	return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
