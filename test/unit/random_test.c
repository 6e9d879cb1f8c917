/*
 * random_test.c
 *		Sorters in random use: every function that may be called, in any order that
 *		is allowed, beside a bag of the same keys, which says what must come out.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sequences of calls; one in LARGE_EVERY handles many keys. */
#define SEQUENCES 25000
#define LARGE_EVERY 250

/* A sorter with its own memory and what should be in it. */
typedef struct Life
{
	Unit		unit;
	Sorter		sorter;
	Bag			bag;
	int32_t		lo;				/* keys are drawn from lo .. hi */
	int32_t		hi;
	size_t		most;			/* keys in one call */
	int32_t    *array;			/* given to sorter_add_array */
} Life;

static void
begin(Life *life, int32_t lo, int32_t hi, size_t most, bool promise)
{
	memset(life, 0, sizeof(*life));
	unit_init(&life->unit);
	life->lo = lo;
	life->hi = hi;
	life->most = most;
	sorter_init(&life->sorter, &life->unit.context, promise ? lo : INT32_MIN,
				promise ? hi : INT32_MAX);
}

static void
end(Life *life)
{
	sorter_reset(&life->sorter);
	unit_assert_no_leak(&life->unit);
	bag_clear(&life->bag);
	free(life->array);
}

/* n keys of some shape, within the life's bounds. */
static int32_t *
draw(const Life *life, size_t n)
{
	int32_t    *keys = unit_alloc(n, sizeof(int32_t));

	if (life->lo == INT32_MIN && life->hi == INT32_MAX)
		unit_fill((UnitShape) unit_below(SHAPE_COUNT), keys, n);
	else
	{
		/* Sometimes only from a part of the range. */
		int32_t		lo = unit_below(2) ? life->lo : unit_key(life->lo, life->hi);
		int32_t		hi = unit_below(2) ? life->hi : unit_key(lo, life->hi);

		for (size_t i = 0; i < n; i++)
			keys[i] = unit_below(50) ? unit_key(lo, hi) : unit_key(life->lo, life->hi);
	}
	return keys;
}

static void
add_runs(Life *life)
{
	size_t		n = (size_t) unit_below(life->most / 4 + 2);
	int32_t    *keys = draw(life, n);
	uint64_t   *counts = unit_alloc(n, sizeof(uint64_t));
	Bag			runs = {0};
	SortError	err;

	bag_add_keys(&runs, keys, n);
	bag_normalize(&runs);
	for (size_t i = 0; i < runs.len; i++)
	{
		keys[i] = runs.items[i].key;
		counts[i] = 1 + unit_below(unit_below(3) ? 3 : 50);
		bag_add(&life->bag, keys[i], counts[i]);
	}
	assert_sort_ok(sorter_add_runs(&life->sorter, keys, counts, runs.len, &err), err);
	bag_clear(&runs);
	free(keys);
	free(counts);
}

/* Moves all that a sorter holds into another one, by way of bytes. */
static void
transport(Sorter *from, Sorter *to)
{
	SortError	err;
	size_t		size;
	void	   *bytes;

	assert_sort_ok(sorter_serialize_size(from, &size, &err), err);
	bytes = unit_alloc(size, 1);
	sorter_serialize(from, bytes);
	assert_sort_ok(sorter_deserialize(to, bytes, size, &err), err);
	free(bytes);
}

static void
live(Life *life, int calls, int depth)
{
	Sorter	   *s = &life->sorter;
	SortError	err;

	while (calls-- > 0)
	{
		size_t		n = (size_t) unit_below(unit_below(2) ? 20 : life->most);
		int32_t    *keys;

		switch (unit_below(depth > 0 ? 9 : 6))
		{
			case 0:
				keys = draw(life, n);
				for (size_t i = 0; i < n; i++)
					assert_sort_ok(sorter_add_key(s, keys[i], &err), err);
				bag_add_keys(&life->bag, keys, n);
				free(keys);
				break;
			case 1:
			case 2:
				keys = draw(life, n);
				assert_sort_ok(sorter_add(s, keys, n, &err), err);
				bag_add_keys(&life->bag, keys, n);
				free(keys);
				break;
			case 3:
				add_runs(life);
				break;
			case 4:
				assert_sort_ok(sorter_finish(s, (SortWant) unit_below(2), &err), err);
				if (unit_below(2))
					unit_check_sorter(&life->unit, s, &life->bag, NULL);
				break;
			case 5:
				if (unit_below(3) == 0)
				{
					sorter_reset(s);
					unit_assert_no_leak(&life->unit);
					bag_clear(&life->bag);
				}
				else
					assert_sort_ok(sorter_flush(s, &err), err);
				break;
			default:
				{
					Life		other;

					begin(&other, life->lo, life->hi, life->most, unit_below(2));
					if (unit_below(3) == 0)
					{
						other.array = draw(&other, n);
						assert_sort_ok(sorter_add_array(&other.sorter, other.array, n, &err), err);
						bag_add_keys(&other.bag, other.array, n);
						if (unit_below(2))
							assert_sort_ok(sorter_finish(&other.sorter, SORT_WANT_KEYS, &err), err);
					}
					else
						live(&other, (int) unit_below(5), depth - 1);
					bag_add_bag(&life->bag, &other.bag);
					if (unit_below(2))
						assert_sort_ok(sorter_merge(s, &other.sorter, &err), err);
					else
						transport(&other.sorter, s);
					/* What was merged is still what it was. */
					if (unit_below(2))
					{
						assert_sort_ok(sorter_finish(&other.sorter, SORT_WANT_KEYS, &err), err);
						unit_check_sorter(&other.unit, &other.sorter, &other.bag, NULL);
					}
					end(&other);
				}
				break;
		}
		assert_int_equal(sorter_count(s), life->bag.n);
	}
}

static void
test_lives(void **state)
{
	(void) state;
	for (int sequence = 0; sequence < SEQUENCES; sequence++)
	{
		bool		large = sequence % LARGE_EVERY == 0;
		int32_t		lo = INT32_MIN;
		int32_t		hi = INT32_MAX;
		bool		promise = unit_below(2);
		SortError	err;
		Life		life;

		if (unit_below(2))
		{
			lo = unit_below(4) ? unit_key(INT32_MIN, INT32_MAX) : INT32_MIN;
			hi = (int64_t) lo + (1 << 20) < INT32_MAX ? lo + unit_key(0, 1 << unit_below(21)) : INT32_MAX;
		}
		begin(&life, lo, hi, large ? 100000 : 200, promise);
		switch (unit_below(8))
		{
			case 0:
				life.unit.context.algorithm = SORT_ALGORITHM_RADIX;
				break;
			case 1:
				if ((int64_t) hi - lo < 100000)
					life.unit.context.algorithm = SORT_ALGORITHM_ZERO_COMPRESSED;
				break;
			case 2:
				if ((int64_t) hi - lo < 100000)
					life.unit.context.algorithm = SORT_ALGORITHM_COMPARISON_FREE;
				life.unit.context.threads = 1 + (int) unit_below(4);
				break;
		}
		live(&life, (int) unit_below(large ? 15 : 8), 2);
		assert_sort_ok(sorter_finish(&life.sorter, SORT_WANT_KEYS, &err), err);
		unit_check_sorter(&life.unit, &life.sorter, &life.bag, NULL);

		/* One key too far is found, whatever the sorter looks like by now. */
		if (promise && (lo > INT32_MIN || hi < INT32_MAX))
		{
			int32_t		wrong = lo > INT32_MIN && (hi == INT32_MAX || unit_below(2))
				? unit_key(INT32_MIN, lo - 1) : unit_key(hi + 1, INT32_MAX);
			SortStatus	status = sorter_add_key(&life.sorter, wrong, &err);

			if (status == SORT_OK)
				status = sorter_finish(&life.sorter, SORT_WANT_KEYS, &err);
			assert_int_equal(status, SORT_KEY_OUT_OF_BOUNDS);
			assert_int_equal(err.key, wrong);
		}
		end(&life);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lives),
	};

	unit_seed("random_test");
	return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
