/*
 * unit_support.c
 *		What the tests of src/sort share (see unit.h).
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Keys that unit_check_sorter is ready to expand: 64 MiB. */
#define CHECK_KEYS_MAX (UINT64_C(1) << 24)

/* Before every block: its size, in room that keeps the block aligned. */
#define HEADER 16

static void *
counted_alloc(void *arena, size_t size)
{
	Unit	   *u = arena;
	char	   *block;

	/* A failure is for good, as it would be with no memory left. */
	if (++u->allocations >= u->fail_at && u->fail_at > 0)
		return NULL;
	if (size > SIZE_MAX - HEADER)
		return NULL;
	block = malloc(HEADER + size);
	if (block == NULL)
		return NULL;
	memcpy(block, &size, sizeof(size));
	/* Not zero: nobody may count on that. */
	memset(block + HEADER, 0xA5, size < 65536 ? size : 65536);
	u->blocks++;
	u->bytes += size;
	u->peak = u->bytes > u->peak ? u->bytes : u->peak;
	return block + HEADER;
}

static void
counted_release(void *arena, void *block)
{
	Unit	   *u = arena;
	char	   *start = (char *) block - HEADER;
	size_t		size;

	assert_non_null(block);
	memcpy(&size, start, sizeof(size));
	assert_true(u->blocks > 0);
	u->blocks--;
	u->bytes -= size;
	free(start);
}

/* Always moves, so that a pointer kept from before is caught. */
static void *
counted_grow(void *arena, void *block, size_t old_size, size_t size)
{
	void	   *grown = counted_alloc(arena, size);

	if (grown == NULL)
		return NULL;
	if (block != NULL)
	{
		size_t		real;

		memcpy(&real, (char *) block - HEADER, sizeof(real));
		assert_int_equal(old_size, real);
		memcpy(grown, block, old_size < size ? old_size : size);
		counted_release(arena, block);
	}
	return grown;
}

static bool
counted_interrupted(void *arg)
{
	Unit	   *u = arg;

	/* Once asked for, a cancel stays asked for. */
	return ++u->asked >= u->interrupt_at && u->interrupt_at > 0;
}

void
unit_init(Unit *u)
{
	memset(u, 0, sizeof(*u));
	u->context.allocator.alloc = counted_alloc;
	u->context.allocator.grow = counted_grow;
	u->context.allocator.release = counted_release;
	u->context.allocator.arena = u;
	u->context.interrupted = counted_interrupted;
	u->context.interrupted_arg = u;
	u->context.threads = 1;
}

void
unit_assert_no_leak(const Unit *u)
{
	assert_int_equal(u->blocks, 0);
	assert_int_equal(u->bytes, 0);
}

void *
unit_alloc(size_t n, size_t size)
{
	void	   *block = malloc(n * size);

	assert_true(block != NULL || n == 0);
	return block;
}

static uint64_t random_state;

void
unit_seed(const char *program)
{
	const char *given = getenv("HPSORT_TEST_SEED");

	random_state = given && *given ? strtoull(given, NULL, 10) : (uint64_t) time(NULL);
	printf("# %s: HPSORT_TEST_SEED=%llu\n", program, (unsigned long long) random_state);
	fflush(stdout);
}

/* SplitMix64 (Steele, Lea, Flood). */
uint64_t
unit_random(void)
{
	uint64_t	z = random_state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

uint64_t
unit_below(uint64_t below)
{
	return unit_random() % below;
}

int32_t
unit_key(int32_t lo, int32_t hi)
{
	return (int32_t) (lo + (int64_t) unit_below((uint64_t) ((int64_t) hi - lo) + 1));
}

void
unit_fill(UnitShape shape, int32_t *keys, size_t n)
{
	int32_t		base = unit_key(INT32_MIN / 2, INT32_MAX / 2);
	int32_t		few[64];
	size_t		nfew = 1 + (size_t) unit_below(lengthof(few));
	int32_t		step = unit_key(0, 9);

	for (size_t i = 0; i < lengthof(few); i++)
		few[i] = unit_key(INT32_MIN, INT32_MAX);
	for (size_t i = 0; i < n; i++)
	{
		switch (shape)
		{
			case SHAPE_CONSTANT:
				keys[i] = base;
				break;
			case SHAPE_NARROW:
				keys[i] = base + unit_key(0, 300);
				break;
			case SHAPE_MIDDLE:
				keys[i] = base + unit_key(0, 99999);
				break;
			case SHAPE_WIDE:
				keys[i] = unit_key(INT32_MIN, INT32_MAX);
				break;
			case SHAPE_ASCENDING:
				keys[i] = (int32_t) ((uint32_t) base + (uint32_t) i * (uint32_t) step);
				break;
			case SHAPE_DESCENDING:
				keys[i] = (int32_t) ((uint32_t) base - (uint32_t) i * (uint32_t) step);
				break;
			case SHAPE_OUTLIERS:
				keys[i] = unit_below(1000) < 4 ? unit_key(INT32_MIN, INT32_MAX)
					: base + unit_key(0, 300);
				break;
			case SHAPE_SENTINELS:
				keys[i] = unit_below(100) > 0 ? base + unit_key(0, 2000)
					: unit_below(2) ? INT32_MIN : INT32_MAX;
				break;
			case SHAPE_FEW_DISTINCT:
				keys[i] = few[unit_below(nfew)];
				break;
			case SHAPE_SKEWED:
				keys[i] = base + (int32_t) (unit_random() >> 34 >> unit_below(30));
				break;
			case SHAPE_ORGAN_PIPE:
				keys[i] = base + (int32_t) (i < n / 2 ? i : n - i);
				break;
		}
	}
}

void
unit_sort_pairs(UnitPair *pairs, size_t n)
{
	UnitPair   *other = unit_alloc(n + 1, sizeof(UnitPair));
	UnitPair   *from = pairs;
	UnitPair   *to = other;
	uint64_t	varying = 0;

	for (size_t i = 1; i < n; i++)
		varying |= pairs[i].key ^ pairs[0].key;
	for (int shift = 0; shift < 64; shift += 8)
	{
		size_t		start[257] = {0};
		UnitPair   *sorted = to;

		if ((varying >> shift & 0xFF) == 0)
			continue;
		for (size_t i = 0; i < n; i++)
			start[(from[i].key >> shift & 0xFF) + 1]++;
		for (size_t i = 0; i < 256; i++)
			start[i + 1] += start[i];
		for (size_t i = 0; i < n; i++)
			to[start[from[i].key >> shift & 0xFF]++] = from[i];
		to = from;
		from = sorted;
	}
	if (from != pairs)
		memcpy(pairs, from, n * sizeof(UnitPair));
	free(other);
}

/* The bits of a key, as an unsigned number of the same order, or of the opposite one. */
static uint64_t
key_bits(int32_t key, bool descending)
{
	return (uint32_t) key ^ (descending ? INT32_MAX : UINT32_C(0x80000000));
}

static int32_t
key_of_bits(uint64_t bits, bool descending)
{
	return (int32_t) ((uint32_t) bits ^ (uint32_t) key_bits(0, descending));
}

/* The keys and their positions, sorted; to be freed. */
static UnitPair *
sort_keys(const int32_t *keys, size_t n, bool descending)
{
	UnitPair   *pairs = unit_alloc(n + 1, sizeof(UnitPair));

	for (size_t i = 0; i < n; i++)
		pairs[i] = (UnitPair) {.key = key_bits(keys[i], descending),.value = i};
	unit_sort_pairs(pairs, n);
	return pairs;
}

void
unit_sort(int32_t *keys, size_t n, bool descending)
{
	UnitPair   *pairs = sort_keys(keys, n, descending);

	for (size_t i = 0; i < n; i++)
		keys[i] = key_of_bits(pairs[i].key, descending);
	free(pairs);
}

void
unit_permutation(const int32_t *keys, size_t n, bool descending, uint32_t base, uint32_t *out)
{
	UnitPair   *pairs = sort_keys(keys, n, descending);

	for (size_t i = 0; i < n; i++)
		out[i] = base + (uint32_t) pairs[i].value;
	free(pairs);
}

void
bag_add(Bag *bag, int32_t key, uint64_t count)
{
	if (bag->len == bag->capacity)
	{
		bag->capacity = bag->capacity ? bag->capacity * 2 : 64;
		bag->items = realloc(bag->items, bag->capacity * sizeof(BagItem));
		assert_non_null(bag->items);
	}
	bag->items[bag->len].key = key;
	bag->items[bag->len].count = count;
	bag->len++;
	bag->n += count;
}

void
bag_add_keys(Bag *bag, const int32_t *keys, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bag_add(bag, keys[i], 1);
}

void
bag_add_bag(Bag *bag, const Bag *other)
{
	for (size_t i = 0; i < other->len; i++)
		bag_add(bag, other->items[i].key, other->items[i].count);
}

void
bag_normalize(Bag *bag)
{
	UnitPair   *pairs = unit_alloc(bag->len + 1, sizeof(UnitPair));
	size_t		to = 0;

	for (size_t from = 0; from < bag->len; from++)
		pairs[from] = (UnitPair) {.key = key_bits(bag->items[from].key, false),.value = bag->items[from].count};
	unit_sort_pairs(pairs, bag->len);
	for (size_t from = 0; from < bag->len; from++)
		bag->items[from] = (BagItem) {.key = key_of_bits(pairs[from].key, false),.count = pairs[from].value};
	free(pairs);
	if (bag->len == 0)
		return;
	for (size_t from = 1; from < bag->len; from++)
	{
		if (bag->items[from].key == bag->items[to].key)
			bag->items[to].count += bag->items[from].count;
		else
			bag->items[++to] = bag->items[from];
	}
	bag->len = to + 1;
}

void
bag_clear(Bag *bag)
{
	free(bag->items);
	memset(bag, 0, sizeof(*bag));
}

void
unit_assert_keys(const int32_t *got, const int32_t *expected, size_t n, const char *what)
{
	size_t		i;

	if (n == 0 || memcmp(got, expected, n * sizeof(int32_t)) == 0)
		return;
	for (i = 0; got[i] == expected[i]; i++)
		;
	fail_msg("%s: key %zu of %zu is %d, not %d", what, i, n, (int) got[i], (int) expected[i]);
}

/* Reads all keys by a cursor, in batches of up to batch. */
static void
check_cursor_keys(Sorter *s, bool descending, const int32_t *expected, size_t n, size_t batch)
{
	int32_t    *out = unit_alloc(batch, sizeof(int32_t));
	SorterCursor cursor;
	SortError	err;
	size_t		at = 0;
	size_t		got;

	assert_sort_ok(sorter_open_cursor(s, descending, &cursor, &err), err);
	do
	{
		size_t		max = unit_below(4) ? batch : 1 + (size_t) unit_below(batch);

		assert_sort_ok(sorter_cursor_keys(&cursor, out, max, &got, &err), err);
		assert_true(got <= max && got <= n - at);
		unit_assert_keys(out, expected + at, got, descending ? "cursor down" : "cursor up");
		at += got;
		assert_true(got == max || at == n);
		if (got < max)
			break;
	} while (true);
	/* At the end it stays at the end. */
	assert_sort_ok(sorter_cursor_keys(&cursor, out, batch, &got, &err), err);
	assert_int_equal(got, 0);
	free(out);
}

static void
check_cursor_runs(Sorter *s, bool descending, const Bag *bag, size_t batch)
{
	int32_t    *keys = unit_alloc(batch, sizeof(int32_t));
	uint64_t   *counts = unit_alloc(batch, sizeof(uint64_t));
	SorterCursor cursor;
	SortError	err;
	size_t		at = 0;
	size_t		got;

	assert_sort_ok(sorter_open_cursor(s, descending, &cursor, &err), err);
	do
	{
		assert_sort_ok(sorter_cursor_runs(&cursor, keys, counts, batch, &got, &err), err);
		assert_true(got <= batch && got <= bag->len - at);
		for (size_t i = 0; i < got; i++, at++)
		{
			const BagItem *item = &bag->items[descending ? bag->len - 1 - at : at];

			if (keys[i] != item->key || counts[i] != item->count)
				fail_msg("run %zu of %zu is (%d, %llu), not (%d, %llu)", at, bag->len,
						 (int) keys[i], (unsigned long long) counts[i],
						 (int) item->key, (unsigned long long) item->count);
		}
	} while (got == batch);
	assert_int_equal(at, bag->len);
	free(keys);
	free(counts);
}

static void
check_stats(Sorter *s, const Bag *bag, const int32_t *ordered, bool known)
{
	SorterStats stats;

	sorter_stats(s, ordered, &stats);
	assert_int_equal(stats.n, bag->n);
	if (bag->len > 0)
	{
		assert_int_equal(stats.lo, bag->items[0].key);
		assert_int_equal(stats.hi, bag->items[bag->len - 1].key);
	}
	/* Without a pass over the keys, 0 may stand for "not counted". */
	if (known || stats.distinct != 0)
		assert_int_equal(stats.distinct, bag->len);
	assert_int_equal(stats.plan.n, bag->n);
}

void
unit_check_sorter(Unit *u, Sorter *s, Bag *bag, int32_t *out)
{
	static const size_t batches[] = {1, 7, 15, 16, 17, 1000, 4097, 100003};
	int32_t    *expected;
	int32_t    *mine = NULL;
	SortError	err;
	size_t		n;
	size_t		at = 0;

	bag_normalize(bag);
	assert_int_equal(sorter_count(s), bag->n);
	check_stats(s, bag, NULL, false);
	assert_int_equal(sorter_memory(s), u->bytes);

	for (int descending = 0; descending < 2; descending++)
	{
		size_t		batch = bag->len < 5000 ? batches[unit_below(lengthof(batches))] : 4097;

		if (out == NULL || bag->n > CHECK_KEYS_MAX)
			check_cursor_runs(s, descending, bag, batch);
	}
	if (bag->n > CHECK_KEYS_MAX)
		return;

	n = (size_t) bag->n;
	expected = unit_alloc(n + 1, sizeof(int32_t));
	for (size_t i = 0; i < bag->len; i++)
	{
		for (uint64_t c = 0; c < bag->items[i].count; c++)
			expected[at++] = bag->items[i].key;
	}
	assert_int_equal(at, n);
	if (out == NULL)
	{
		mine = unit_alloc(n, sizeof(int32_t));
		for (int descending = 1; descending >= 0; descending--)
		{
			size_t		batch = n < 20000 ? batches[unit_below(lengthof(batches))]
				: batches[5 + unit_below(3)];

			if (descending)
				unit_sort(expected, n, true);
			check_cursor_keys(s, descending, expected, n, batch);
			if (mine && n > 0)
				memset(mine, 0xEE, n * sizeof(int32_t));
			assert_sort_ok(sorter_read_keys(s, descending, mine, &err), err);
			unit_assert_keys(mine, expected, n, descending ? "read down" : "read up");
			if (descending)
				unit_sort(expected, n, false);
		}
		out = mine;
	}
	else
	{
		/* Sorted in place, perhaps: nothing may be read before or after. */
		bool		down = unit_below(2);

		if (down)
			unit_sort(expected, n, true);
		assert_sort_ok(sorter_read_keys(s, down, out, &err), err);
		unit_assert_keys(out, expected, n, "read to the array");
	}
	check_stats(s, bag, out, true);
	assert_int_equal(sorter_memory(s), u->bytes);
	free(expected);
	free(mine);
}
