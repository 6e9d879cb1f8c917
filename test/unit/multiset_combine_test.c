/*
 * multiset_combine_test.c
 *		Multisets made of others, against plain arrays of runs.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "plain_runs.h"
#include "sort/multiset/multiset_combine.h"

/* A value of its own in memory, with the runs that it was made of. */
typedef struct Value
{
	Plain		plain;
	unsigned char *bytes;
	Multiset	m;
} Value;

static void
random_value(Value *v, size_t len, Spread spread, Size size)
{
	Unit		u;
	SortError	err;
	size_t		bytes;

	unit_init(&u);
	plain_random(&v->plain, len, spread, size);
	v->bytes = plain_write(&u, &v->plain, &bytes);
	assert_sort_ok(plain_open(&v->m, v->bytes, bytes, &err), err);
}

static void
free_value(Value *v)
{
	plain_free(&v->plain);
	free(v->bytes);
}

/* Ends a writer, and compares what it made with the runs. */
static void
check_written(Unit *u, MultisetWriter *w, const Plain *expected)
{
	Multiset	m;
	SortError	err;
	size_t		size;
	unsigned char *bytes;

	assert_sort_ok(multiset_writer_size(w, &size, &err), err);
	bytes = unit_alloc(size, 1);
	multiset_writer_write(w, bytes);
	assert_sort_ok(plain_open(&m, bytes, size, &err), err);
	assert_sort_ok(multiset_check(&m, &u->context, &err), err);
	plain_check(&m, expected);
	free(bytes);
	multiset_writer_release(w);
	unit_assert_no_leak(u);
}

/* a + sign * b; false, with the key and b's count in lack, where that is below zero. */
static bool
plain_combine(Plain *out, const Plain *a, const Plain *b, int sign, MultisetLack *lack)
{
	size_t		i = 0;
	size_t		j = 0;

	plain_init(out, a->len + b->len);
	while (i < a->len || j < b->len)
	{
		int64_t		ka = i < a->len ? a->keys[i] : INT64_MAX;
		int64_t		kb = j < b->len ? b->keys[j] : INT64_MAX;
		uint64_t	ca = ka <= kb ? a->counts[i++] : 0;
		uint64_t	cb = kb <= ka ? b->counts[j++] : 0;
		int32_t		key = (int32_t) (ka < kb ? ka : kb);

		if (sign < 0 && cb > ca)
		{
			lack->key = key;
			lack->count = cb;
			return false;
		}
		if (sign > 0 || ca > cb)
			plain_put(out, key, sign > 0 ? ca + cb : ca - cb);
	}
	return true;
}

static size_t
random_len(void)
{
	static const size_t lens[] = {0, 1, 128, 129, 1000};
	size_t		i = (size_t) unit_below(lengthof(lens) + 2);

	return i < lengthof(lens) ? lens[i] : (size_t) unit_below(20000);
}

/* m, which has the runs of sum, less one key or one count, less m: found where it is. */
static void
check_lack(const Multiset *m, const Plain *sum)
{
	size_t		run = (size_t) unit_below(sum->len);
	Unit		u;
	Value		less;
	Plain		empty;
	MultisetWriter w;
	MultisetLack lack;
	SortError	err;
	size_t		size;

	unit_init(&u);
	plain_init(&empty, 0);
	plain_combine(&less.plain, sum, &empty, 1, NULL);
	if (sum->counts[run] > 1)
		less.plain.counts[run]--;
	else
	{
		memmove(less.plain.keys + run, less.plain.keys + run + 1,
				(sum->len - run - 1) * sizeof(int32_t));
		memmove(less.plain.counts + run, less.plain.counts + run + 1,
				(sum->len - run - 1) * sizeof(uint64_t));
		less.plain.len--;
	}
	less.plain.total--;
	less.bytes = plain_write(&u, &less.plain, &size);
	assert_sort_ok(plain_open(&less.m, less.bytes, size, &err), err);
	multiset_writer_init(&w, &u.context.allocator);
	assert_sort_ok(multiset_subtract(&less.m, m, &u.context, &w, &lack, &err), err);
	assert_int_equal(lack.key, sum->keys[run]);
	assert_int_equal(lack.count, sum->counts[run]);
	multiset_writer_release(&w);
	free_value(&less);
	plain_free(&empty);
	unit_assert_no_leak(&u);
}

static void
test_add_and_subtract(void **state)
{
	int			trial;
	int			lacked = 0;

	(void) state;
	for (trial = 0; trial < 400; trial++)
	{
		Value		a;
		Value		b;
		Plain		sum;
		Plain		difference;
		Unit		u;
		MultisetWriter w;
		SortError	err;
		MultisetLack lack = {0};
		MultisetLack expected = {0};
		unsigned char *bytes;
		size_t		size;
		Multiset	m;

		unit_init(&u);
		random_value(&a, random_len(), (Spread) unit_below(SPREAD_COUNT),
					 (Size) unit_below(SIZE_COUNT));
		random_value(&b, random_len(), (Spread) unit_below(SPREAD_COUNT),
					 (Size) unit_below(SIZE_COUNT));

		multiset_writer_init(&w, &u.context.allocator);
		assert_sort_ok(multiset_add(&a.m, &b.m, &u.context, &w, &err), err);
		plain_combine(&sum, &a.plain, &b.plain, 1, NULL);
		check_written(&u, &w, &sum);

		/* The sum less one of its parts is the other. */
		bytes = plain_write(&u, &sum, &size);
		assert_sort_ok(plain_open(&m, bytes, size, &err), err);
		multiset_writer_init(&w, &u.context.allocator);
		assert_sort_ok(multiset_subtract(&m, &b.m, &u.context, &w, &lack, &err), err);
		assert_int_equal(lack.count, 0);
		check_written(&u, &w, &a.plain);

		/* One random value less another is usually below zero, if not 0 or a single key. */
		multiset_writer_init(&w, &u.context.allocator);
		assert_sort_ok(multiset_subtract(&a.m, &b.m, &u.context, &w, &lack, &err), err);
		if (plain_combine(&difference, &a.plain, &b.plain, -1, &expected))
		{
			assert_int_equal(lack.count, 0);
			check_written(&u, &w, &difference);
		}
		else
		{
			assert_int_equal(lack.key, expected.key);
			assert_int_equal(lack.count, expected.count);
			multiset_writer_release(&w);
			lacked++;
		}

		if (sum.len > 0)
			check_lack(&m, &sum);
		unit_assert_no_leak(&u);
		free(bytes);
		plain_free(&sum);
		plain_free(&difference);
		free_value(&a);
		free_value(&b);
	}
	assert_true(lacked > 100 && lacked < 400);
}

static void
test_scale_and_restrict(void **state)
{
	int			trial;

	(void) state;
	for (trial = 0; trial < 300; trial++)
	{
		Value		v;
		Plain		expected;
		Unit		u;
		MultisetWriter w;
		SortError	err;
		uint64_t	most;
		uint64_t	factor;
		int32_t		lo;
		int32_t		hi;
		size_t		i;

		unit_init(&u);
		random_value(&v, random_len(), (Spread) unit_below(SPREAD_COUNT), (Size) unit_below(SIZE_COUNT));
		most = v.plain.total > 0 ? INT64_MAX / v.plain.total : INT64_MAX;
		factor = unit_below(4) == 0 ? most : unit_below(4) == 0 ? unit_below(3) : unit_below(most);
		multiset_writer_init(&w, &u.context.allocator);
		assert_sort_ok(multiset_scale(&v.m, factor, &u.context, &w, &err), err);
		plain_init(&expected, v.plain.len);
		for (i = 0; i < v.plain.len && factor > 0; i++)
			plain_put(&expected, v.plain.keys[i], v.plain.counts[i] * factor);
		check_written(&u, &w, &expected);
		plain_free(&expected);
		if (v.plain.total > 0)
		{
			multiset_writer_init(&w, &u.context.allocator);
			assert_int_equal(multiset_scale(&v.m, most + 1, &u.context, &w, &err), SORT_LIMIT_EXCEEDED);
			assert_int_equal(multiset_scale(&v.m, UINT64_MAX, &u.context, &w, &err), SORT_LIMIT_EXCEEDED);
			multiset_writer_release(&w);
		}
		for (i = 0; i < 64 && v.plain.len == 1; i++)
		{
			/* Products that wrap, to few or nothing, are too many as well. */
			factor = UINT64_C(1) << i;
			multiset_writer_init(&w, &u.context.allocator);
			assert_int_equal(multiset_scale(&v.m, factor, &u.context, &w, &err),
							 factor > most ? SORT_LIMIT_EXCEEDED : SORT_OK);
			multiset_writer_release(&w);
		}

		/* Bounds at keys, beside them, anywhere, and the wrong way round. */
		lo = v.plain.len > 0 && unit_below(4) ? v.plain.keys[unit_below(v.plain.len)] :
			unit_key(INT32_MIN, INT32_MAX);
		hi = v.plain.len > 0 && unit_below(4) ? v.plain.keys[unit_below(v.plain.len)] :
			unit_key(INT32_MIN, INT32_MAX);
		lo = unit_below(8) == 0 ? INT32_MIN : lo > INT32_MIN && unit_below(3) == 0 ? lo - 1 : lo;
		hi = unit_below(8) == 0 ? INT32_MAX : hi < INT32_MAX && unit_below(3) == 0 ? hi + 1 : hi;
		multiset_writer_init(&w, &u.context.allocator);
		assert_sort_ok(multiset_restrict(&v.m, lo, hi, &u.context, &w, &err), err);
		plain_init(&expected, v.plain.len);
		for (i = 0; i < v.plain.len; i++)
			if (v.plain.keys[i] >= lo && v.plain.keys[i] <= hi)
				plain_put(&expected, v.plain.keys[i], v.plain.counts[i]);
		check_written(&u, &w, &expected);
		plain_free(&expected);
		free_value(&v);
	}
}

/* From a sorter: the sum of some lists of runs and of keys. */
static void
test_sorter(void **state)
{
	int			trial;

	(void) state;
	for (trial = 0; trial < 150; trial++)
	{
		Unit		u;
		Sorter		s;
		Bag			bag = {0};
		Plain		expected;
		MultisetWriter w;
		SortError	err;
		int			values = (int) unit_below(5);
		Spread		spread = (Spread) unit_below(SPREAD_COUNT);
		size_t		i;

		unit_init(&u);
		sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
		for (; values > 0; values--)
		{
			Value		v;
			int32_t		key = unit_key(INT32_MIN, INT32_MAX);

			random_value(&v, trial % 30 == 0 ? 100000 : random_len(), spread, (Size) unit_below(SIZE_COUNT));
			assert_sort_ok(sorter_add_runs(&s, v.plain.keys, v.plain.counts, v.plain.len, &err), err);
			for (i = 0; i < v.plain.len; i++)
				bag_add(&bag, v.plain.keys[i], v.plain.counts[i]);
			assert_sort_ok(sorter_add_key(&s, key, &err), err);
			bag_add(&bag, key, 1);
			free_value(&v);
		}
		bag_normalize(&bag);
		plain_init(&expected, bag.len);
		for (i = 0; i < bag.len; i++)
			plain_put(&expected, bag.items[i].key, bag.items[i].count);
		assert_sort_ok(sorter_finish(&s, SORT_WANT_RUNS, &err), err);
		multiset_writer_init(&w, &u.context.allocator);
		assert_sort_ok(multiset_from_sorter(&s, &w, &err), err);
		sorter_reset(&s);
		check_written(&u, &w, &expected);
		plain_free(&expected);
		bag_clear(&bag);
	}
}

/* A cancel ends each of the long ways; memory that ends, too; corrupt bytes are said to be. */
static void
test_cancel_memory_corrupt(void **state)
{
	Value		v;
	Unit		u;
	MultisetWriter w;
	MultisetLack lack;
	SortError	err;
	int			way;
	int			trouble;

	(void) state;
	random_value(&v, 8200 * 128, SPREAD_DENSE, SIZE_8);
	for (trouble = 0; trouble < 3; trouble++)
	{
		static const SortStatus expected[] = {SORT_CANCELLED, SORT_OUT_OF_MEMORY, SORT_CORRUPT};

		/* A count of the last block but one, which the others need as well. */
		if (trouble == 2)
			v.bytes[v.m.bytes.size - 200] ^= 0x40;
		for (way = 0; way < 5; way++)
		{
			SortStatus	status = SORT_OK;

			unit_init(&u);
			u.interrupt_at = trouble == 0 ? 1 : 0;
			u.fail_at = trouble == 1 ? 4 : 0;
			multiset_writer_init(&w, &u.context.allocator);
			switch (way)
			{
				case 0:
					status = multiset_add(&v.m, &v.m, &u.context, &w, &err);
					break;
				case 1:
					status = multiset_subtract(&v.m, &v.m, &u.context, &w, &lack, &err);
					break;
				case 2:
					status = multiset_scale(&v.m, 2, &u.context, &w, &err);
					break;
				case 3:
					status = multiset_restrict(&v.m, INT32_MIN, INT32_MAX, &u.context, &w, &err);
					break;
				case 4:
					status = multiset_check(&v.m, &u.context, &err);
					break;
			}
			/* All of v less v leaves nothing to write, and a check writes nothing. */
			assert_int_equal(status, trouble == 1 && (way == 1 || way == 4) ? SORT_OK : expected[trouble]);
			assert_true(status == SORT_OK || err.status == status);
			multiset_writer_release(&w);
			unit_assert_no_leak(&u);
		}
	}
	free_value(&v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add_and_subtract),
		cmocka_unit_test(test_scale_and_restrict),
		cmocka_unit_test(test_sorter),
		cmocka_unit_test(test_cancel_memory_corrupt),
	};

	unit_seed("multiset_combine_test");
	return cmocka_run_group_tests_name("multiset combine", tests, NULL, NULL);
}
