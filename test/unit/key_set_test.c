/*
 * key_set_test.c
 *		Sets of keys against a search for single values: near each other and far apart, few and
 *		many, at both ends of 64 bits, with equal ones among them.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "sort/extents/key_set.h"

#define MOST_KEYS 20000
#define VALUES 3000
#define FEW 5

static int
compare(const void *a, const void *b)
{
	int64_t		left = *(const int64_t *) a;
	int64_t		right = *(const int64_t *) b;

	return (left > right) - (left < right);
}

/* A key of one of several kinds of sets. */
static int64_t
random_key(int kind)
{
	switch (kind)
	{
		case 0:
			return (int64_t) unit_below(30000);
		case 1:					/* few runs */
			return (int64_t) (unit_below(3) * 1000 + unit_below(500)) - 1000;
		case 2:
			return (int64_t) unit_random();
		case 3:					/* multiples, as some generators of numbers make them */
			return (int64_t) (unit_below(20000) << 20);
		case 4:					/* both ends, and near 0 */
			return unit_below(3) == 0 ? INT64_MAX - (int64_t) unit_below(3) :
				unit_below(2) == 0 ? INT64_MIN + (int64_t) unit_below(3) : (int64_t) unit_below(5000);
		case 5:
			return INT64_MAX - (int64_t) unit_below(70000);
		default:
			return (int32_t) unit_random();
	}
}

static KeySet *
make_set(const int64_t *keys, size_t n)
{
	KeySet		header;
	KeySet	   *set;

	key_set_plan(keys, n, &header);
	set = unit_alloc(header.size, 1);
	key_set_write(&header, keys, n, set);
	return set;
}

/* Whether a sorted key is in lo .. hi. */
static bool
any_between(const int64_t *sorted, size_t n, int64_t lo, int64_t hi)
{
	size_t		i;

	for (i = 0; i < n && sorted[i] < lo; i++)
		;
	return i < n && sorted[i] <= hi;
}

static void
check_ranges(const KeySet *set, const int64_t *sorted, size_t n)
{
	LongRange	ranges[FEW];
	LongRange  *expected = unit_alloc(n + 1, sizeof(LongRange));
	int64_t    *values = unit_alloc(n + 1, sizeof(int64_t));
	size_t		nranges = key_set_ranges(set, ranges, FEW);
	size_t		count;

	if (n > 0)
		memcpy(values, sorted, n * sizeof(int64_t));
	count = long_ranges_of_values(values, n, expected);
	if (count > FEW || set->is_table)
		assert_true(nranges == SIZE_MAX);
	else
	{
		assert_int_equal(nranges, count);
		assert_memory_equal(ranges, expected, count * sizeof(LongRange));
	}
	free(expected);
	free(values);
}

static void
check_set(const int64_t *keys, size_t n, int kind)
{
	KeySet	   *set = make_set(keys, n);
	int64_t    *sorted = unit_alloc(n + 1, sizeof(int64_t));
	int64_t    *values = unit_alloc(VALUES, sizeof(int64_t));
	uint8_t    *marks = unit_alloc(VALUES, 1);
	size_t		different = 0;

	if (n > 0)
		memcpy(sorted, keys, n * sizeof(int64_t));
	qsort(sorted, n, sizeof(int64_t), compare);
	for (size_t i = 0; i < n; i++)
	{
		different += i == 0 || sorted[i] != sorted[i - 1];
		assert_true(key_set_has(set, keys[i]));
	}
	assert_int_equal(set->nkeys, different);
	for (size_t i = 0; i < VALUES; i++)
	{
		/* Keys, neighbours of keys, what the table has in its free places, others. */
		values[i] = n > 0 && i % 2 == 0 ? keys[unit_below(n)] : random_key(kind);
		values[i] = (int64_t) ((uint64_t) values[i] + unit_below(3) - 1);
		if (i == 0)
			values[i] = (int64_t) set->free;
	}
	key_set_mark(set, values, VALUES, marks);
	for (size_t i = 0; i < VALUES; i++)
	{
		int64_t		other = values[unit_below(VALUES)];
		int64_t		hi = unit_below(2) == 0 || values[i] > INT64_MAX - 100 ? INT64_MAX :
			values[i] + (int64_t) unit_below(100);
		bool		any = any_between(sorted, n, values[i], values[i]);

		assert_int_equal(marks[i], any);
		assert_true(key_set_has(set, values[i]) == any);
		if (i % 30 != 0)
			continue;
		if (any_between(sorted, n, values[i], hi))
			assert_true(key_set_may_have(set, values[i], hi));
		else if (!set->is_table || (uint64_t) hi - (uint64_t) values[i] < 64)
			assert_false(key_set_may_have(set, values[i], hi));
		if (other < values[i] && any_between(sorted, n, other, values[i]))
			assert_true(key_set_may_have(set, other, values[i]));
	}
	check_ranges(set, sorted, n);
	free(set);
	free(sorted);
	free(values);
	free(marks);
}

static void
test_random(void **state)
{
	int64_t    *keys = unit_alloc(MOST_KEYS, sizeof(int64_t));
	int			tables = 0;

	(void) state;
	for (int trial = 0; trial < 210; trial++)
	{
		int			kind = trial % 7;
		size_t		n = trial % 4 == 0 ? unit_below(10) : unit_below(MOST_KEYS);
		KeySet		header;

		for (size_t i = 0; i < n; i++)
			keys[i] = random_key(kind);
		key_set_plan(keys, n, &header);
		tables += header.is_table;
		check_set(keys, n, kind);
	}
	assert_in_range(tables, 30, 180);
	free(keys);
}

/* Whose keys are what is tried for free places; and tables in the order of their keys. */
static void
test_tables(void **state)
{
	int64_t    *keys = unit_alloc(MOST_KEYS, sizeof(int64_t));
	KeySet	   *set;

	(void) state;
	for (size_t i = 0; i < 100; i++)
		keys[i] = (int64_t) ((100 - i) * UINT64_C(0x9e3779b97f4a7c15));
	check_set(keys, 100, 2);
	for (size_t i = 0; i < MOST_KEYS; i++)
		keys[i] = (int64_t) i << 40;
	check_set(keys, MOST_KEYS, 3);
	set = make_set(keys, MOST_KEYS);
	assert_true(set->is_table && set->size < 64 * MOST_KEYS);
	free(set);
	free(keys);
}

/* Of no key, of one key, of all keys of a range. */
static void
test_small(void **state)
{
	static const int64_t ends[] = {INT64_MIN, INT64_MAX};
	int64_t		keys[1000];
	LongRange	range;
	KeySet	   *set;

	(void) state;
	check_set(NULL, 0, 4);
	check_set(ends, 1, 4);
	check_set(ends + 1, 1, 4);
	check_set(ends, 2, 4);
	for (size_t i = 0; i < lengthof(keys); i++)
		keys[i] = (int64_t) (i * 7 % lengthof(keys)) - 300;
	set = make_set(keys, lengthof(keys));
	assert_int_equal(key_set_ranges(set, &range, 1), 1);
	assert_true(range.lo == -300 && range.hi == 699);
	free(set);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_small)
	};

	unit_seed("key_set_test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
