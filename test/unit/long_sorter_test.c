/*
 * long_sorter_test.c
 *		Long keys against the reference sort: every width, every way in, the memory limit,
 *		memory that fails, interrupts.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "sort/sorter/long_sorter.h"

/* What should be in a sorter: keys and their counts, sorted and summed up by long_bag_normalize. */
typedef struct LongBag
{
	UnitPair   *items;
	size_t		len;
	size_t		capacity;
	uint64_t	n;
} LongBag;

static const int widths[] = {0, 1, 2, 8, 16, 31, 32, 33, 40, 48, 63, 64};

static uint64_t
highest(int bits)
{
	return bits == 0 ? 0 : UINT64_MAX >> (64 - bits);
}

static void
long_bag_add(LongBag *bag, uint64_t key, uint64_t count)
{
	if (bag->len == bag->capacity)
	{
		bag->capacity = bag->capacity ? bag->capacity * 2 : 64;
		bag->items = realloc(bag->items, bag->capacity * sizeof(UnitPair));
		assert_non_null(bag->items);
	}
	bag->items[bag->len].key = key;
	bag->items[bag->len++].value = count;
	bag->n += count;
}

static void
long_bag_normalize(LongBag *bag)
{
	size_t		to = 0;

	if (bag->len == 0)
		return;
	unit_sort_pairs(bag->items, bag->len);
	for (size_t from = 1; from < bag->len; from++)
	{
		if (bag->items[from].key == bag->items[to].key)
			bag->items[to].value += bag->items[from].value;
		else
			bag->items[++to] = bag->items[from];
	}
	bag->len = to + 1;
}

static void
long_bag_clear(LongBag *bag)
{
	free(bag->items);
	memset(bag, 0, sizeof(*bag));
}

typedef enum LongShape
{
	LONG_UNIFORM,				/* anywhere */
	LONG_FEW,					/* some 50 values anywhere */
	LONG_SOME,					/* 5,000 values anywhere */
	LONG_DOMINANT,				/* nine of ten keys are the same */
	LONG_THIRD,					/* a third of the keys are the same */
	LONG_ASCENDING,
	LONG_DESCENDING,
	LONG_CLUSTERS,				/* two clusters at the ends */
	LONG_EXTREMES,				/* the smallest and the largest key */
	LONG_SHAPES
} LongShape;

static void
long_fill(LongShape shape, int bits, uint64_t seed, uint64_t *keys, size_t n)
{
	uint64_t	top = highest(bits);
	uint64_t	state = seed;
	uint64_t	step = 1 + unit_below(5);
	uint64_t	base = unit_random() & top & ~(top >> 1);

	for (size_t i = 0; i < n; i++)
	{
		uint64_t	r = unit_random();
		uint64_t	value = r & top;

		switch (shape)
		{
			case LONG_UNIFORM:
			case LONG_SHAPES:
				break;
			case LONG_FEW:
				value = (state + r % 50 * UINT64_C(0x9E3779B97F4A7C15)) & top;
				break;
			case LONG_SOME:
				value = (state + r % 5000 * UINT64_C(0x9E3779B97F4A7C15)) & top;
				break;
			case LONG_DOMINANT:
				value = r % 10 ? seed & top : unit_random() & top;
				break;
			case LONG_THIRD:
				value = r % 3 == 0 ? seed & top : unit_random() & top;
				break;
			case LONG_ASCENDING:
				value = (base + i * step) & top;
				break;
			case LONG_DESCENDING:
				value = (base + (n - i) * step) & top;
				break;
			case LONG_CLUSTERS:
				value = r & 1 ? (r >> 1) % 1000 & top : top - ((r >> 1) % 1000 & top);
				break;
			case LONG_EXTREMES:
				value = r & 1 ? 0 : top;
				break;
		}
		keys[i] = value;
	}
}

/* Compares count, memory and all runs, in batches of any size. */
static void
check_long(Unit *u, LongSorter *s, LongBag *bag)
{
	static const size_t batches[] = {1, 2, 7, 1000, 1024, 4097};
	size_t		batch = batches[unit_below(lengthof(batches))];
	uint64_t   *keys;
	uint64_t   *counts;
	LongSorterCursor cursor;
	SortError	err;
	SorterStats stats;
	size_t		at = 0;
	size_t		got;
	size_t		max;

	long_bag_normalize(bag);
	if (bag->len > 10000 && batch < 1000)
		batch = 1000;
	keys = unit_alloc(batch, sizeof(uint64_t));
	counts = unit_alloc(batch, sizeof(uint64_t));
	assert_int_equal(long_sorter_count(s), bag->n);
	assert_int_equal(long_sorter_memory(s), u->bytes);
	assert_sort_ok(long_sorter_finish(s, &err), err);
	assert_sort_ok(long_sorter_open_cursor(s, &cursor, &err), err);
	do
	{
		max = unit_below(3) ? batch : 1 + (size_t) unit_below(batch);
		assert_sort_ok(long_sorter_cursor_runs(&cursor, keys, counts, max, &got, &err), err);
		assert_true(got <= max && got <= bag->len - at);
		for (size_t i = 0; i < got; i++, at++)
			if (keys[i] != bag->items[at].key || counts[i] != bag->items[at].value)
				fail_msg("run %zu of %zu is (%llu, %llu), not (%llu, %llu)", at, bag->len,
						 (unsigned long long) keys[i], (unsigned long long) counts[i],
						 (unsigned long long) bag->items[at].key,
						 (unsigned long long) bag->items[at].value);
	} while (got == max);
	assert_int_equal(at, bag->len);
	assert_sort_ok(long_sorter_cursor_runs(&cursor, keys, counts, 1, &got, &err), err);
	assert_int_equal(got, 0);
	long_sorter_stats(s, &stats);
	assert_int_equal(stats.n, bag->n);
	if (stats.distinct > 0)
		assert_int_equal(stats.distinct, bag->len);
	assert_int_equal(long_sorter_memory(s), u->bytes);
	free(keys);
	free(counts);
}

/* Adds n keys by the function for the sorter's width. */
static SortStatus
add_any(LongSorter *s, const uint64_t *keys, size_t n, SortError *err)
{
	uint32_t   *few;
	SortStatus	status;

	if (s->bits > 32)
		return long_sorter_add(s, keys, n, err);
	few = unit_alloc(n, sizeof(uint32_t));
	for (size_t i = 0; i < n; i++)
		few[i] = (uint32_t) keys[i];
	status = long_sorter_add_narrow(s, few, n, err);
	free(few);
	return status;
}

/* Adds n random keys of a shape in batches. */
static void
add_keys(LongSorter *s, LongBag *bag, LongShape shape, int bits, size_t n, size_t batch)
{
	uint64_t   *keys = unit_alloc(n, sizeof(uint64_t));
	SortError	err;

	long_fill(shape, bits, unit_random(), keys, n);
	for (size_t i = 0; i < n; i += batch)
	{
		size_t		part = n - i < batch ? n - i : batch;

		assert_sort_ok(add_any(s, keys + i, part, &err), err);
	}
	for (size_t i = 0; i < n; i++)
		long_bag_add(bag, keys[i], 1);
	free(keys);
}

/* Adds random runs whose counts are up to most. */
static void
add_runs(LongSorter *s, LongBag *bag, LongShape shape, int bits, size_t n, uint64_t most)
{
	uint64_t   *keys = unit_alloc(n, sizeof(uint64_t));
	uint64_t   *counts = unit_alloc(n, sizeof(uint64_t));
	LongBag		runs = {0};
	SortError	err;

	long_fill(shape, bits, unit_random(), keys, n);
	for (size_t i = 0; i < n; i++)
		long_bag_add(&runs, keys[i], 1);
	long_bag_normalize(&runs);
	for (size_t i = 0; i < runs.len; i++)
	{
		keys[i] = runs.items[i].key;
		counts[i] = 1 + unit_below(most);
		long_bag_add(bag, keys[i], counts[i]);
	}
	assert_sort_ok(long_sorter_add_runs(s, keys, counts, runs.len, &err), err);
	long_bag_clear(&runs);
	free(keys);
	free(counts);
}

static void
test_shapes(void **state)
{
	static const size_t sizes[] = {0, 1, 2, 16, 17, 1023, 1025, 8192, 65535, 65536, 65537, 300000};

	(void) state;
	for (size_t w = 0; w < lengthof(widths); w++)
		for (size_t i = 0; i < lengthof(sizes); i++)
			for (int shape = 0; shape < LONG_SHAPES; shape++)
			{
				Unit		u;
				LongSorter	s;
				LongBag		bag = {0};

				/* The larger sizes at some widths only. */
				if (sizes[i] > 10000 && (w + i + (size_t) shape) % 4 != 0)
					continue;
				unit_init(&u);
				long_sorter_init(&s, &u.context, widths[w], SIZE_MAX);
				add_keys(&s, &bag, (LongShape) shape, widths[w], sizes[i],
						 unit_below(2) ? 8192 : 1 + (size_t) unit_below(100000));
				check_long(&u, &s, &bag);
				/* Reading again, and adding after it. */
				check_long(&u, &s, &bag);
				add_keys(&s, &bag, LONG_UNIFORM, widths[w], (size_t) unit_below(2000), 777);
				check_long(&u, &s, &bag);
				long_sorter_reset(&s);
				unit_assert_no_leak(&u);
				assert_int_equal(long_sorter_count(&s), 0);
				assert_int_equal(long_sorter_memory(&s), 0);
				long_bag_clear(&bag);
			}
}

/* Any mixture of ways in, with reads between. */
static void
test_streams(void **state)
{
	(void) state;
	for (int trial = 0; trial < 150; trial++)
	{
		int			bits = widths[unit_below(lengthof(widths))];
		size_t		limit = unit_below(2) ? SIZE_MAX : (size_t) 1 << (20 + unit_below(6));
		int			steps = 1 + (int) unit_below(8);
		Unit		u;
		LongSorter	s;
		LongBag		bag = {0};

		unit_init(&u);
		long_sorter_init(&s, &u.context, bits, limit);
		for (; steps > 0; steps--)
		{
			LongShape	shape = (LongShape) unit_below(LONG_SHAPES);
			size_t		n = (size_t) unit_below(UINT64_C(1) << (4 + unit_below(15)));

			if (unit_below(3) == 0)
				add_runs(&s, &bag, shape, bits, n / 8, UINT64_C(1) << unit_below(41));
			else
				add_keys(&s, &bag, shape, unit_below(3) ? bits : bits / 2, n,
						 1 + (size_t) unit_below(10000));
			if (unit_below(4) == 0)
				check_long(&u, &s, &bag);
		}
		check_long(&u, &s, &bag);
		long_sorter_reset(&s);
		unit_assert_no_leak(&u);
		long_bag_clear(&bag);
	}
}

/* Counts near 2^63, of extreme keys. */
static void
test_large_counts(void **state)
{
	(void) state;
	for (size_t w = 0; w < lengthof(widths); w++)
	{
		uint64_t	top = highest(widths[w]);
		const uint64_t keys[] = {0, top};
		const uint64_t counts[] = {(UINT64_C(1) << 62) + 5, (UINT64_C(1) << 62) - 7};
		const uint64_t more[] = {(UINT64_C(1) << 62) - 6, UINT64_C(1) << 62};
		size_t		len = top == 0 ? 1 : 2;
		Unit		u;
		LongSorter	s;
		LongBag		bag = {0};
		SortError	err;

		unit_init(&u);
		long_sorter_init(&s, &u.context, widths[w], SIZE_MAX);
		assert_sort_ok(long_sorter_add_runs(&s, keys, counts, len, &err), err);
		assert_sort_ok(add_any(&s, keys, len, &err), err);
		check_long(&u, &s, (long_bag_add(&bag, 0, counts[0] + 1),
							len > 1 ? long_bag_add(&bag, top, counts[1] + 1) : (void) 0, &bag));
		assert_sort_ok(long_sorter_add_runs(&s, keys, more, len, &err), err);
		for (size_t i = 0; i < len; i++)
			long_bag_add(&bag, keys[i], more[i]);
		check_long(&u, &s, &bag);
		long_sorter_reset(&s);
		unit_assert_no_leak(&u);
		long_bag_clear(&bag);
	}
}

/* What repeats is held as runs, what does not as keys; both in the memory they need. */
static void
test_states(void **state)
{
	(void) state;
	for (int shape = 0; shape < LONG_SHAPES; shape++)
	{
		Unit		u;
		LongSorter	s;
		LongBag		bag = {0};
		size_t		n = 400000;

		unit_init(&u);
		long_sorter_init(&s, &u.context, 64, SIZE_MAX);
		add_keys(&s, &bag, (LongShape) shape, 64, n, 8192);
		switch ((LongShape) shape)
		{
			case LONG_FEW:
			case LONG_SOME:
			case LONG_CLUSTERS:
			case LONG_EXTREMES:
				assert_true(s.runs.len > 0 && s.runs.len <= 5000);
				assert_true(u.bytes < (size_t) 2 << 20);
				break;
			case LONG_DOMINANT:
				assert_true(s.runs.len > 0);
				assert_true(u.bytes < n * sizeof(uint64_t));
				break;
			default:
				/* A third of equal keys is not enough: keys are smaller. */
				assert_int_equal(s.runs.len, 0);
				assert_true(u.bytes < 2 * n * sizeof(uint64_t));
				break;
		}
		check_long(&u, &s, &bag);
		long_sorter_reset(&s);
		long_bag_clear(&bag);
	}
}

/*
 * A sorter that is not full stays below its limit while it is added a batch and read, at every moment
 * and with an allocator that always copies.
 */
static void
test_limit(void **state)
{
	static const int some_widths[] = {1, 12, 20, 22, 32, 40, 64};

	(void) state;
	for (size_t w = 0; w < lengthof(some_widths); w++)
		for (int shape = 0; shape < LONG_SHAPES; shape++)
		{
			size_t		limit = LONG_SORTER_MEMORY_MIN + (size_t) unit_below(8 << 20);
			size_t		bins = some_widths[w] <= 32 ? sizeof(uint32_t) << some_widths[w] : 0;
			size_t		n = 0;
			Unit		u;
			LongSorter	s;
			LongBag		bag = {0};
			bool		filled = false;

			unit_init(&u);
			long_sorter_init(&s, &u.context, some_widths[w], limit);
			while (n < (shape == LONG_UNIFORM ? 1700000 : 400000) && !filled)
			{
				add_keys(&s, &bag, (LongShape) shape, some_widths[w], LONG_SORTER_BATCH,
						 LONG_SORTER_BATCH);
				n += LONG_SORTER_BATCH;
				assert_true(u.peak <= limit);
				filled = long_sorter_is_full(&s);
				if (unit_below(40) == 0)
				{
					SortError	err;
					LongSorterCursor cursor;

					assert_sort_ok(long_sorter_finish(&s, &err), err);
					assert_sort_ok(long_sorter_open_cursor(&s, &cursor, &err), err);
					assert_true(u.peak <= limit);
				}
			}
			check_long(&u, &s, &bag);
			assert_true(u.peak <= limit);
			switch ((LongShape) shape)
			{
				case LONG_UNIFORM:
					/* Wide keys fill the limit, but for what copying them takes. */
					if (some_widths[w] > 32)
					{
						assert_true(filled);
						assert_true(n * sizeof(uint64_t) > limit / 2);
					}
					break;
				case LONG_EXTREMES:
				case LONG_FEW:
					/* Nothing to read out: this goes on for ever, unless bins take most of the limit. */
					assert_true(!filled || (bins <= limit && limit < 2 * bins));
					break;
				default:
					break;
			}
			/* The caller may go on all the same. */
			if (filled)
			{
				add_keys(&s, &bag, (LongShape) shape, some_widths[w], 100000, LONG_SORTER_BATCH);
				check_long(&u, &s, &bag);
			}
			long_sorter_reset(&s);
			unit_assert_no_leak(&u);
			assert_false(long_sorter_is_full(&s));
			long_bag_clear(&bag);
		}
}

/* A sorter that is emptied is a new one, and takes no more memory than before. */
static void
test_empty(void **state)
{
	static const int some_widths[] = {20, 32, 64};

	(void) state;
	for (size_t w = 0; w < lengthof(some_widths); w++)
		for (int shape = (int) w % 2; shape < LONG_SHAPES; shape += 2)
		{
			size_t		limit = LONG_SORTER_MEMORY_MIN * 3 / 2;
			Unit		u;
			LongSorter	s;

			unit_init(&u);
			long_sorter_init(&s, &u.context, some_widths[w], limit);
			for (int round = 0; round < 3; round++)
			{
				LongBag		bag = {0};
				size_t		n = 0;

				/* Until it is full in the second round. */
				while (n < (round == 1 ? 1000000 : 50000) && !long_sorter_is_full(&s))
				{
					add_keys(&s, &bag, (LongShape) shape, some_widths[w], LONG_SORTER_BATCH, LONG_SORTER_BATCH);
					n += LONG_SORTER_BATCH;
				}
				check_long(&u, &s, &bag);
				assert_true(u.peak <= limit);
				/* Half of the limit may be too little for the buffer. */
				long_sorter_empty(&s, unit_below(2) ? limit : limit / 2);
				assert_int_equal(long_sorter_count(&s), 0);
				assert_int_equal(long_sorter_memory(&s), u.bytes);
				assert_true(u.bytes <= limit / 3 * 2);
				long_sorter_empty(&s, limit);
				long_bag_clear(&bag);
			}
			long_sorter_reset(&s);
			unit_assert_no_leak(&u);
		}
}

/* A LongSorterMap: keys further apart, and higher; what keys above 2^20 become does not matter. */
static void
spread(void *arg, uint64_t *keys, size_t n)
{
	uint64_t	factor = *(const uint64_t *) arg;

	for (size_t i = 0; i < n; i++)
		keys[i] = keys[i] * factor + 3;
}

/* Keys that are turned into others, with more of both kinds before and after. */
static void
test_map(void **state)
{
	static const int to_widths[] = {24, 32, 40, 64};

	(void) state;
	for (int trial = 0; trial < 60; trial++)
		for (size_t w = 0; w < lengthof(to_widths); w++)
		{
			int			from = to_widths[unit_below(w + 1)];
			uint64_t	factor = (UINT64_C(1) << (to_widths[w] - 21)) - 1;
			LongShape	shape = (LongShape) unit_below(LONG_SHAPES);
			size_t		n = (size_t) unit_below(UINT64_C(1) << (4 + unit_below(15)));
			Unit		u;
			LongSorter	s;
			LongBag		bag = {0};
			SortError	err;
			bool		done;

			unit_init(&u);
			long_sorter_init(&s, &u.context, from, SIZE_MAX);
			add_keys(&s, &bag, shape, 20, n, 8192);
			if (unit_below(2))
				check_long(&u, &s, &bag);
			assert_sort_ok(long_sorter_map(&s, to_widths[w], spread, &factor, &done, &err), err);
			/* The two kinds of keys take other memory; so few of one kind are just keys. */
			if ((from <= 32) != (to_widths[w] <= 32))
				assert_false(done);
			else if (n < 4096 || from > 32)
				assert_true(done);
			if (done)
			{
				for (size_t i = 0; i < bag.len; i++)
					bag.items[i].key = bag.items[i].key * factor + 3;
				add_keys(&s, &bag, LONG_UNIFORM, to_widths[w], (size_t) unit_below(5000), 777);
			}
			check_long(&u, &s, &bag);
			long_sorter_reset(&s);
			unit_assert_no_leak(&u);
			long_bag_clear(&bag);
		}
}

/* More runs than the limit allows: the sorter is full, and takes keys all the same. */
static void
test_runs_beyond_limit(void **state)
{
	Unit		u;
	LongSorter	s;
	LongBag		bag = {0};

	(void) state;
	unit_init(&u);
	long_sorter_init(&s, &u.context, 64, 0);
	add_runs(&s, &bag, LONG_UNIFORM, 64, LONG_SORTER_MEMORY_MIN / 10, 1000);
	assert_true(long_sorter_memory(&s) > LONG_SORTER_MEMORY_MIN);
	assert_true(long_sorter_is_full(&s));
	add_keys(&s, &bag, LONG_UNIFORM, 64, 100000, LONG_SORTER_BATCH);
	add_keys(&s, &bag, LONG_FEW, 64, 300000, LONG_SORTER_BATCH);
	check_long(&u, &s, &bag);
	long_sorter_reset(&s);
	unit_assert_no_leak(&u);
	long_bag_clear(&bag);
}

/* All that can allocate or be interrupted, from an empty sorter to the last run. */
static SortStatus
whole_life(LongSorter *s, const uint64_t *keys, const uint64_t *ordered, size_t n, SortError *err)
{
	uint64_t	counts[500];
	uint64_t	got_keys[1024];
	uint64_t	got_counts[1024];
	uint64_t	total = 0;
	LongSorterCursor cursor;
	SortStatus	status = SORT_OK;
	size_t		got;

	for (size_t i = 0; i < 500; i++)
		counts[i] = 1 + i;
	for (size_t i = 0; i < n && status == SORT_OK; i += 8192)
		status = add_any(s, keys + i, n - i < 8192 ? n - i : 8192, err);
	if (status == SORT_OK)
		status = long_sorter_add_runs(s, ordered, counts, 500, err);
	if (status == SORT_OK)
		status = long_sorter_finish(s, err);
	if (status == SORT_OK)
		status = long_sorter_open_cursor(s, &cursor, err);
	do
	{
		if (status == SORT_OK)
			status = long_sorter_cursor_runs(&cursor, got_keys, got_counts, 1024, &got, err);
		if (status != SORT_OK)
			return status;
		for (size_t i = 0; i < got; i++)
			total += got_counts[i];
	} while (got == 1024);
	assert_int_equal(total, n + 500 * 501 / 2);
	return SORT_OK;
}

/* Every allocation fails once, and every look at the interrupt callback says yes once. */
static void
test_failures(void **state)
{
	static const int some_widths[] = {20, 32, 64};
	static const LongShape shapes[] = {LONG_UNIFORM, LONG_SOME, LONG_DOMINANT, LONG_ASCENDING};
	size_t		n = 200000;
	uint64_t   *keys = unit_alloc(n, sizeof(uint64_t));
	uint64_t	ordered[500];

	(void) state;
	for (size_t i = 0; i < 500; i++)
		ordered[i] = i * 7;
	for (size_t w = 0; w < lengthof(some_widths); w++)
		for (size_t i = 0; i < lengthof(shapes); i++)
			for (int interrupts = 0; interrupts < 2; interrupts++)
			{
				SortStatus	status;
				uint64_t	at = 0;

				long_fill(shapes[i], some_widths[w], unit_random(), keys, n);
				do
				{
					Unit		u;
					LongSorter	s;
					SortError	err;

					unit_init(&u);
					/* Each of the first looks, and then some of the many. */
					at += !interrupts || at < 20 ? 1 : 1 + unit_below(at / 4);
					if (interrupts)
						u.interrupt_at = at;
					else
						u.fail_at = at;
					long_sorter_init(&s, &u.context, some_widths[w], SIZE_MAX);
					status = whole_life(&s, keys, ordered, n, &err);
					if (status != SORT_OK)
					{
						assert_int_equal(status, interrupts ? SORT_CANCELLED : SORT_OUT_OF_MEMORY);
						assert_int_equal(err.status, status);
					}
					long_sorter_reset(&s);
					unit_assert_no_leak(&u);
				} while (status != SORT_OK);
				assert_true(at > 1);
			}
	free(keys);
}

/* Long loops look at the interrupt callback every few milliseconds. */
static void
test_looks(void **state)
{
	static const LongShape shapes[] = {LONG_UNIFORM, LONG_ASCENDING, LONG_EXTREMES};
	size_t		n = (size_t) 5 << 20;
	uint64_t   *keys = unit_alloc(n, sizeof(uint64_t));
	uint64_t	one_key;
	uint64_t	one_count;

	(void) state;
	for (size_t i = 0; i < lengthof(shapes); i++)
	{
		Unit		u;
		LongSorter	s;
		SortError	err;
		LongSorterCursor cursor;
		size_t		got;

		long_fill(shapes[i], 64, unit_random(), keys, n);
		unit_init(&u);
		long_sorter_init(&s, &u.context, 64, SIZE_MAX);
		assert_sort_ok(long_sorter_add(&s, keys, n, &err), err);
		assert_true(u.asked >= 5);
		u.asked = 0;
		assert_sort_ok(long_sorter_finish(&s, &err), err);
		if (shapes[i] != LONG_EXTREMES)
			assert_true(u.asked >= (shapes[i] == LONG_ASCENDING ? 5 : 2));
		u.asked = 0;
		assert_sort_ok(long_sorter_open_cursor(&s, &cursor, &err), err);
		assert_sort_ok(long_sorter_cursor_runs(&cursor, &one_key, &one_count, 1, &got, &err), err);
		assert_int_equal(got, 1);
		assert_true(u.asked >= 1);
		long_sorter_reset(&s);
		unit_assert_no_leak(&u);
	}
	free(keys);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_large_counts),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_map),
		cmocka_unit_test(test_runs_beyond_limit),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_looks),
	};

	unit_seed("long_sorter_test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
