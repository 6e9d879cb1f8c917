/*
 * multiset_test.c
 *		Multisets written, read and asked, against plain arrays of runs.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "plain_runs.h"

/* A value that lends slices: each is a block of its own, gone with the next call. */
typedef struct Slices
{
	const unsigned char *bytes;
	size_t		size;
	unsigned char *slice;
	size_t		slice_size;
	uint64_t	calls;
	uint64_t	lent;			/* bytes in all */
} Slices;

static const unsigned char *
lend_slice(void *arg, size_t from, size_t n)
{
	Slices	   *s = arg;

	assert_true(n > 0 && from <= s->size && n <= s->size - from);
	if (s->slice)
	{
		memset(s->slice, 0xDB, s->slice_size);
		free(s->slice);
	}
	s->slice = unit_alloc(n, 1);
	s->slice_size = n;
	memcpy(s->slice, s->bytes + from, n);
	s->calls++;
	s->lent += n;
	return s->slice;
}

static void
open_slices(Multiset *m, Slices *s, const unsigned char *bytes, size_t size)
{
	MultisetBytes sliced = {.size = size, .slice = lend_slice, .arg = s};
	SortError	err;

	memset(s, 0, sizeof(*s));
	s->bytes = bytes;
	s->size = size;
	assert_sort_ok(multiset_open(m, &sliced, &err), err);
}

/* What multiset_rank and multiset_find_key say of key; run is the first one not below it. */
static void
check_key(const Multiset *m, const Plain *p, const uint64_t *before, int64_t key, size_t run)
{
	MultisetBlock block;
	SortError	err;
	uint64_t	below;
	uint64_t	equal;
	bool		has = run < p->len && p->keys[run] == key;
	size_t		holds = has ? run : run > 0 ? run - 1 : 0;

	if (key < INT32_MIN || key > INT32_MAX)
		return;
	assert_sort_ok(multiset_rank(m, (int32_t) key, &below, &equal, &err), err);
	assert_int_equal(below, before[run]);
	assert_int_equal(equal, has ? p->counts[run] : 0);
	if (p->len > 0)
	{
		assert_sort_ok(multiset_find_key(m, (int32_t) key, &block, &err), err);
		assert_int_equal(block.number, holds / MULTISET_BLOCK_RUNS);
	}
}

static void
check_position(const Multiset *m, const Plain *p, uint64_t position, size_t run)
{
	MultisetBlock block;
	SortError	err;
	int32_t		key;

	assert_sort_ok(multiset_nth(m, position, &key, &err), err);
	assert_int_equal(key, p->keys[run]);
	assert_sort_ok(multiset_find_position(m, position, &block, &err), err);
	assert_int_equal(block.number, run / MULTISET_BLOCK_RUNS);
}

/* Asks about some runs, those at the edges of blocks among them, and what is beside them. */
static void
check_questions(const Multiset *m, const Plain *p, size_t asked)
{
	uint64_t   *before = unit_alloc(p->len + 1, sizeof(uint64_t));

	before[0] = 0;
	for (size_t i = 0; i < p->len; i++)
		before[i + 1] = before[i] + p->counts[i];
	check_key(m, p, before, INT32_MIN, 0);
	check_key(m, p, before, INT32_MAX,
			  p->len > 0 && p->keys[p->len - 1] == INT32_MAX ? p->len - 1 : p->len);
	for (size_t i = 0; i < asked && p->len > 0; i++)
	{
		size_t		run = i == 0 ? 0 : i == 1 ? p->len - 1 : (size_t) unit_below(p->len);

		if (unit_below(3) == 0)
			run -= run % MULTISET_BLOCK_RUNS;
		check_key(m, p, before, p->keys[run], run);
		if (run + 1 == p->len || p->keys[run + 1] > (int64_t) p->keys[run] + 1)
			check_key(m, p, before, (int64_t) p->keys[run] + 1, run + 1);
		if (run == 0 || p->keys[run - 1] < (int64_t) p->keys[run] - 1)
			check_key(m, p, before, (int64_t) p->keys[run] - 1, run);
		check_position(m, p, before[run], run);
		check_position(m, p, before[run + 1] - 1, run);
		check_position(m, p, before[run] + unit_below(p->counts[run]), run);
	}
	free(before);
}

static void
check_plain(const Plain *p)
{
	Unit		u;
	Multiset	m;
	Slices		slices;
	SortError	err;
	size_t		size;
	unsigned char *bytes;

	unit_init(&u);
	bytes = plain_write(&u, p, &size);
	assert_sort_ok(plain_open(&m, bytes, size, &err), err);
	assert_sort_ok(multiset_check(&m, &u.context, &err), err);
	plain_check(&m, p);
	check_questions(&m, p, 200);

	open_slices(&m, &slices, bytes, size);
	assert_sort_ok(multiset_check(&m, &u.context, &err), err);
	plain_check(&m, p);
	check_questions(&m, p, 50);
	free(slices.slice);
	free(bytes);
}

static void
test_sizes_and_shapes(void **state)
{
	static const size_t lens[] = {0, 1, 2, 127, 128, 129, 255, 256, 257, 5000, 128 * 128 - 1,
	128 * 128, 128 * 128 + 1, 128 * 128 * 2 + 77};

	(void) state;
	for (size_t i = 0; i < lengthof(lens); i++)
		for (int spread = 0; spread < SPREAD_COUNT; spread++)
			for (int size = 0; size < SIZE_COUNT; size++)
			{
				Plain		p;

				plain_random(&p, lens[i], (Spread) spread, (Size) size);
				check_plain(&p);
				plain_free(&p);
			}
}

/* More parts than are looked at as one slice. */
static void
test_many_parts(void **state)
{
	Plain		p;

	(void) state;
	plain_random(&p, 128 * 128 * 150 + 5, SPREAD_MIXED, SIZE_MIXED);
	check_plain(&p);
	plain_free(&p);
}

/* The smallest and largest keys and counts, at both ends of a block. */
static void
test_limits(void **state)
{
	static const int32_t keys[] = {INT32_MIN, INT32_MIN + 1, -1, 0, 1, INT32_MAX - 1, INT32_MAX};
	static const uint64_t counts[] = {1, 2, 256, 257, 65536, 65537, UINT64_C(1) << 32,
	(UINT64_C(1) << 32) + 1, INT64_MAX};
	Plain		p;

	(void) state;
	for (size_t i = 0; i < lengthof(counts); i++)
		for (int mask = 1; mask < 1 << lengthof(keys); mask++)
		{
			plain_init(&p, lengthof(keys));
			for (size_t j = 0; j < lengthof(keys); j++)
				if ((mask & 1 << j) && counts[i] <= INT64_MAX - p.total)
					plain_put(&p, keys[j], counts[i]);
			check_plain(&p);
			plain_free(&p);
		}

	/* Distances at the borders of widths, and the highest keys without a gap. */
	for (size_t j = 0; j < 4; j++)
	{
		static const int64_t last[] = {255, 256, 65535, 65536};

		plain_init(&p, 2);
		plain_put(&p, (int32_t) (INT32_MAX - last[j]), 1);
		plain_put(&p, INT32_MAX, 1);
		check_plain(&p);
		plain_free(&p);
	}
	plain_init(&p, 300);
	for (size_t j = 0; j < 300; j++)
		plain_put(&p, INT32_MAX - 299 + (int32_t) j, j == 299 ? INT64_MAX - 299 : 1);
	check_plain(&p);
	plain_free(&p);
}

/* A total of INT64_MAX is the last one, however the counts come to more. */
static void
test_overflow(void **state)
{
	int32_t		keys[200];
	uint64_t	counts[200];
	Unit		u;
	MultisetWriter w;
	SortError	err;

	(void) state;
	unit_init(&u);
	for (size_t n = 1; n <= lengthof(keys); n += n == 1 ? 1 : unit_below(30) + 1)
		for (int i = 0; i < 4; i++)
		{
			size_t		large = (size_t) unit_below(n);

			for (size_t j = 0; j < n; j++)
			{
				keys[j] = (int32_t) j;
				counts[j] = 1;
			}
			/* One too many; far too many; as many as wrap to few; none too many. */
			counts[large] = i == 0 ? INT64_MAX - n + 2 : i == 1 ? UINT64_MAX : INT64_MAX - n + 1;
			if (i == 2 && n > 2)
				counts[(large + 1) % n] = counts[(large + 2) % n] = INT64_MAX;
			multiset_writer_init(&w, &u.context.allocator);
			if (i == 3 || (i == 2 && n <= 2))
				assert_sort_ok(multiset_writer_add(&w, keys, counts, n, &err), err);
			else
				assert_int_equal(multiset_writer_add(&w, keys, counts, n, &err),
								 SORT_LIMIT_EXCEEDED);
			multiset_writer_release(&w);
			unit_assert_no_leak(&u);
		}
}

/* No memory at any of the writer's allocations: an error, and nothing is left behind. */
static void
test_no_memory(void **state)
{
	Plain		p;
	uint64_t	fail_at;
	bool		done = false;

	(void) state;
	plain_random(&p, 128 * 200 + 3, SPREAD_WIDE, SIZE_MIXED);
	for (fail_at = 1; !done; fail_at++)
	{
		Unit		u;
		MultisetWriter w;
		SortError	err;
		size_t		size;
		SortStatus	status;

		unit_init(&u);
		u.fail_at = fail_at;
		multiset_writer_init(&w, &u.context.allocator);
		status = multiset_writer_add(&w, p.keys, p.counts, p.len, &err);
		if (status == SORT_OK)
			status = multiset_writer_size(&w, &size, &err);
		done = status == SORT_OK;
		if (!done)
			assert_int_equal(status, SORT_OUT_OF_MEMORY);
		multiset_writer_release(&w);
		unit_assert_no_leak(&u);
	}
	assert_true(fail_at > 5);
	plain_free(&p);
}

/* Bytes of a run, as multiset.h's format promises. */
static void
test_bytes_of_a_run(void **state)
{
	static const size_t lens[] = {1000, 5000, 20000, 100000};

	(void) state;
	for (size_t i = 0; i < lengthof(lens); i++)
		for (int spread = 0; spread < SPREAD_MIXED; spread++)
		{
			Plain		p;
			Unit		u;
			size_t		size;
			double		most = spread == SPREAD_DENSE ? 1.25 : spread == SPREAD_WIDE ? 6 : 3.5;

			unit_init(&u);
			plain_random(&p, lens[i], (Spread) spread, SIZE_8);
			free(plain_write(&u, &p, &size));
			if ((double) size > most * (double) lens[i])
				fail_msg("%zu runs of spread %d take %zu bytes", lens[i], spread, size);
			plain_free(&p);
		}
}

/* A question takes few slices of few bytes. */
static void
test_few_slices(void **state)
{
	static const size_t lens[] = {1, 128, 128 * 128, 128 * 128 + 1, 1000000};

	(void) state;
	for (size_t i = 0; i < lengthof(lens); i++)
	{
		Plain		p;
		Unit		u;
		Multiset	m;
		Slices		slices;
		SortError	err;
		uint64_t	below;
		uint64_t	equal;
		int32_t		key;
		size_t		size;
		unsigned char *bytes;

		unit_init(&u);
		plain_random(&p, lens[i], SPREAD_WIDE, SIZE_8);
		bytes = plain_write(&u, &p, &size);
		open_slices(&m, &slices, bytes, size);
		assert_int_equal(slices.calls, 1);
		assert_int_equal(slices.lent, MULTISET_HEADER_SIZE);
		assert_sort_ok(multiset_rank(&m, p.keys[p.len / 2], &below, &equal, &err), err);
		assert_true(slices.calls <= 4 && slices.lent <= 7000);
		assert_sort_ok(multiset_nth(&m, p.total / 2, &key, &err), err);
		assert_true(slices.calls <= 7 && slices.lent <= 14000);
		free(slices.slice);
		free(bytes);
		plain_free(&p);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes_and_shapes),
		cmocka_unit_test(test_many_parts),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_bytes_of_a_run),
		cmocka_unit_test(test_few_slices),
	};

	unit_seed("multiset_test");
	return cmocka_run_group_tests_name("multiset", tests, NULL, NULL);
}
