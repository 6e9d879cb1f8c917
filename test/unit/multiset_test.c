/*
 * multiset_test.c
 *		Multisets as bytes against plain arrays of runs: written, read, asked,
 *		damaged, combined.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "sort/multiset_combine.h"

/* Runs, as the reference has them. */
typedef struct Plain
{
	int32_t    *keys;
	uint64_t   *counts;
	size_t		len;
	uint64_t	total;
} Plain;

static void
plain_init(Plain *p, size_t room)
{
	memset(p, 0, sizeof(*p));
	p->keys = unit_alloc(room, sizeof(int32_t));
	p->counts = unit_alloc(room, sizeof(uint64_t));
}

static void
plain_free(Plain *p)
{
	free(p->keys);
	free(p->counts);
}

static void
plain_put(Plain *p, int32_t key, uint64_t count)
{
	p->keys[p->len] = key;
	p->counts[p->len++] = count;
	p->total += count;
}

/* The kinds of random runs: how far keys are apart, and how large counts are. */
typedef enum Spread
{
	SPREAD_DENSE,				/* consecutive */
	SPREAD_NEAR,				/* 1 to 3 apart: a block is within 512 */
	SPREAD_MIDDLE,				/* within 2^16 */
	SPREAD_WIDE,				/* anywhere */
	SPREAD_MIXED				/* another one of these for each block or so */
} Spread;

#define SPREAD_COUNT (SPREAD_MIXED + 1)

typedef enum Size
{
	SIZE_ONE,
	SIZE_8,						/* counts of up to so many bits */
	SIZE_16,
	SIZE_32,
	SIZE_40,
	SIZE_MIXED
} Size;

#define SIZE_COUNT (SIZE_MIXED + 1)

static uint64_t
random_count(Size size)
{
	static const int bits[] = {0, 8, 16, 32, 40};

	if (size == SIZE_MIXED)
		size = unit_below(40) == 0 ? (Size) unit_below(SIZE_MIXED) : SIZE_8;
	return size == SIZE_ONE ? 1 : 1 + unit_below(UINT64_C(1) << bits[size]);
}

/* len runs; the first key is as low as its kind of spread allows. */
static void
random_plain(Plain *p, size_t len, Spread spread, Size size)
{
	int64_t		most[] = {1, 3, 400, len == 0 ? 1 : (int64_t) ((UINT64_C(1) << 32) / len) - 1};
	int64_t		key = INT32_MIN;
	Spread		now = spread;
	size_t		i;

	plain_init(p, len);
	if (spread != SPREAD_WIDE && spread != SPREAD_MIXED)
		key = unit_key(INT32_MIN, INT32_MAX - (int32_t) (len * (size_t) most[spread]));
	for (i = 0; i < len; i++)
	{
		if (spread == SPREAD_MIXED && unit_below(100) == 0)
			now = (Spread) unit_below(SPREAD_WIDE + 1);
		plain_put(p, (int32_t) key, random_count(size));
		key += 1 + (int64_t) unit_below((uint64_t) most[now == SPREAD_MIXED ? SPREAD_NEAR : now]);
	}
}

/* An exact block with the value that a writer makes of the runs, in pieces of any size. */
static unsigned char *
write_plain(Unit *u, const Plain *p, size_t *size)
{
	MultisetWriter w;
	SortError	err;
	unsigned char *bytes;
	size_t		piece = unit_below(2) ? p->len : 1 + unit_below(300);
	size_t		at;

	multiset_writer_init(&w, &u->context.allocator);
	for (at = 0; at < p->len; at += piece)
		assert_sort_ok(multiset_writer_add(&w, p->keys + at, p->counts + at,
										   p->len - at < piece ? p->len - at : piece, &err), err);
	assert_int_equal(w.len, p->len);
	assert_int_equal(w.total, p->total);
	assert_sort_ok(multiset_writer_size(&w, size, &err), err);
	bytes = unit_alloc(*size, 1);
	memset(bytes, 0xEE, *size);
	multiset_writer_write(&w, bytes);
	multiset_writer_release(&w);
	unit_assert_no_leak(u);
	return bytes;
}

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
	MultisetBytes sliced = {.size = size,.slice = lend_slice,.arg = s};
	SortError	err;

	memset(s, 0, sizeof(*s));
	s->bytes = bytes;
	s->size = size;
	assert_sort_ok(multiset_open(m, &sliced, &err), err);
}

static SortStatus
open_bytes(Multiset *m, const unsigned char *bytes, size_t size, SortError *err)
{
	MultisetBytes all = {.data = bytes,.size = size};

	return multiset_open(m, &all, err);
}

/* All blocks of m must be the runs. */
static void
check_blocks(const Multiset *m, const Plain *p)
{
	MultisetBlock block;
	SortError	err;
	uint64_t	before = 0;
	size_t		at = 0;
	uint32_t	number;
	uint32_t	i;

	assert_int_equal(m->len, p->len);
	assert_int_equal(m->total, p->total);
	assert_int_equal(m->nblocks, (p->len + MULTISET_BLOCK_RUNS - 1) / MULTISET_BLOCK_RUNS);
	for (number = 0; number < m->nblocks; number++)
	{
		assert_sort_ok(multiset_read_block(m, number, &block, &err), err);
		assert_int_equal(block.number, number);
		assert_int_equal(block.before, before);
		assert_int_equal(block.n, p->len - at < MULTISET_BLOCK_RUNS ? p->len - at :
						 MULTISET_BLOCK_RUNS);
		for (i = 0; i < block.n; i++, at++)
			if (block.keys[i] != p->keys[at] || block.counts[i] != p->counts[at])
				fail_msg("run %zu is %d:%llu instead of %d:%llu", at, block.keys[i],
						 (unsigned long long) block.counts[i], p->keys[at],
						 (unsigned long long) p->counts[at]);
			else
				before += block.counts[i];
	}
	assert_int_equal(at, p->len);
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
	size_t		i;

	before[0] = 0;
	for (i = 0; i < p->len; i++)
		before[i + 1] = before[i] + p->counts[i];
	check_key(m, p, before, INT32_MIN, 0);
	check_key(m, p, before, INT32_MAX,
			  p->len > 0 && p->keys[p->len - 1] == INT32_MAX ? p->len - 1 : p->len);
	for (i = 0; i < asked && p->len > 0; i++)
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
	bytes = write_plain(&u, p, &size);
	assert_sort_ok(open_bytes(&m, bytes, size, &err), err);
	assert_sort_ok(multiset_check(&m, &u.context, &err), err);
	check_blocks(&m, p);
	check_questions(&m, p, 200);

	open_slices(&m, &slices, bytes, size);
	assert_sort_ok(multiset_check(&m, &u.context, &err), err);
	check_blocks(&m, p);
	check_questions(&m, p, 50);
	free(slices.slice);
	free(bytes);
}

static void
test_sizes_and_shapes(void **state)
{
	static const size_t lens[] = {0, 1, 2, 127, 128, 129, 255, 256, 257, 5000, 128 * 128 - 1,
	128 * 128, 128 * 128 + 1, 128 * 128 * 2 + 77};
	size_t		i;
	int			spread;
	int			size;

	(void) state;
	for (i = 0; i < lengthof(lens); i++)
		for (spread = 0; spread < SPREAD_COUNT; spread++)
			for (size = 0; size < SIZE_COUNT; size++)
			{
				Plain		p;

				random_plain(&p, lens[i], (Spread) spread, (Size) size);
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
	random_plain(&p, 128 * 128 * 150 + 5, SPREAD_MIXED, SIZE_MIXED);
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
	size_t		i;
	size_t		j;
	int			mask;
	Plain		p;

	(void) state;
	for (i = 0; i < lengthof(counts); i++)
		for (mask = 1; mask < 1 << lengthof(keys); mask++)
		{
			plain_init(&p, lengthof(keys));
			for (j = 0; j < lengthof(keys); j++)
				if ((mask & 1 << j) && counts[i] <= INT64_MAX - p.total)
					plain_put(&p, keys[j], counts[i]);
			check_plain(&p);
			plain_free(&p);
		}

	/* Distances at the borders of widths, and the highest keys without a gap. */
	for (j = 0; j < 4; j++)
	{
		static const int64_t last[] = {255, 256, 65535, 65536};

		plain_init(&p, 2);
		plain_put(&p, (int32_t) (INT32_MAX - last[j]), 1);
		plain_put(&p, INT32_MAX, 1);
		check_plain(&p);
		plain_free(&p);
	}
	plain_init(&p, 300);
	for (j = 0; j < 300; j++)
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
	size_t		n;
	int			i;

	(void) state;
	unit_init(&u);
	for (n = 1; n <= lengthof(keys); n += n == 1 ? 1 : unit_below(30) + 1)
		for (i = 0; i < 4; i++)
		{
			size_t		large = (size_t) unit_below(n);
			size_t		j;

			for (j = 0; j < n; j++)
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
	random_plain(&p, 128 * 200 + 3, SPREAD_WIDE, SIZE_MIXED);
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
	size_t		i;
	int			spread;

	(void) state;
	for (i = 0; i < lengthof(lens); i++)
		for (spread = 0; spread < SPREAD_MIXED; spread++)
		{
			Plain		p;
			Unit		u;
			size_t		size;
			double		most = spread == SPREAD_DENSE ? 1.25 : spread == SPREAD_WIDE ? 6 : 3.5;

			unit_init(&u);
			random_plain(&p, lens[i], (Spread) spread, SIZE_8);
			free(write_plain(&u, &p, &size));
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
	size_t		i;

	(void) state;
	for (i = 0; i < lengthof(lens); i++)
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
		random_plain(&p, lens[i], SPREAD_WIDE, SIZE_8);
		bytes = write_plain(&u, &p, &size);
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

/* Reads all there is to read, of bytes that may be anything. */
static void
read_everything(const unsigned char *bytes, size_t size)
{
	Unit		u;
	Multiset	m;
	SortError	err;
	MultisetBlock block;
	uint64_t	below;
	uint64_t	equal;
	uint64_t	total = 0;
	int64_t		last = INT64_MIN;
	int32_t		key;
	bool		whole = true;
	uint32_t	number;
	uint32_t	i;

	unit_init(&u);
	if (open_bytes(&m, bytes, size, &err) != SORT_OK)
		return;
	for (number = 0; number < m.nblocks; number++)
	{
		if (multiset_read_block(&m, number, &block, &err) != SORT_OK)
		{
			assert_int_equal(err.status, SORT_CORRUPT);
			whole = false;
			continue;
		}
		for (i = 0; i < block.n; i++)
		{
			assert_true(block.counts[i] > 0 && block.counts[i] <= m.total);
			assert_true(!whole || block.keys[i] > last);
			last = block.keys[i];
			total += block.counts[i];
		}
	}
	assert_true(!whole || total == m.total);
	assert_true(whole || multiset_check(&m, &u.context, &err) == SORT_CORRUPT);
	for (i = 0; i < 5 && m.len > 0; i++)
	{
		int32_t		asked = i == 0 ? INT32_MIN : i == 1 ? INT32_MAX : unit_key(INT32_MIN, INT32_MAX);

		if (multiset_rank(&m, asked, &below, &equal, &err) == SORT_OK)
			assert_true(below <= m.total && equal <= m.total - below);
		multiset_find_key(&m, asked, &block, &err);
		multiset_nth(&m, unit_below(m.total), &key, &err);
		multiset_find_position(&m, unit_below(m.total), &block, &err);
	}
}

/* Whether multiset_check takes the bytes; what it takes must be what a writer makes. */
static bool
check_damaged(const unsigned char *bytes, size_t size)
{
	Unit		u;
	Multiset	m;
	SortError	err;
	MultisetWriter w;
	MultisetBlock block;
	unsigned char *again;
	size_t		again_size;
	uint32_t	number;

	unit_init(&u);
	if (open_bytes(&m, bytes, size, &err) != SORT_OK ||
		multiset_check(&m, &u.context, &err) != SORT_OK)
	{
		assert_int_equal(err.status, SORT_CORRUPT);
		return false;
	}
	multiset_writer_init(&w, &u.context.allocator);
	for (number = 0; number < m.nblocks; number++)
	{
		assert_sort_ok(multiset_read_block(&m, number, &block, &err), err);
		assert_sort_ok(multiset_writer_add(&w, block.keys, block.counts, block.n, &err), err);
	}
	assert_sort_ok(multiset_writer_size(&w, &again_size, &err), err);
	assert_int_equal(again_size, size);
	again = unit_alloc(again_size, 1);
	multiset_writer_write(&w, again);
	assert_memory_equal(again, bytes, size);
	free(again);
	multiset_writer_release(&w);
	return true;
}

/*
 * Whether byte at of a sound value tells a key: another key there may be as good.  All
 * others are told twice, or follow from the rest.
 */
static bool
tells_key(const unsigned char *bytes, size_t size, size_t at)
{
	Multiset	m;
	SortError	err;
	size_t		index;
	size_t		blocks;
	uint32_t	number;

	assert_sort_ok(open_bytes(&m, bytes, size, &err), err);
	index = MULTISET_HEADER_SIZE + m.nparts * MULTISET_ENTRY_SIZE;
	blocks = index + m.nblocks * MULTISET_ENTRY_SIZE;
	if (at < blocks)
		/* A part's entry is its first block's, too. */
		return at >= index && (at - index) % MULTISET_ENTRY_SIZE >= 8 &&
			(at - index) % MULTISET_ENTRY_SIZE < 12 &&
			(m.nparts == 0 || (at - index) / MULTISET_ENTRY_SIZE % MULTISET_PART_BLOCKS != 0);
	for (number = 0; number < m.nblocks; number++)
	{
		uint32_t	offset;
		size_t		n = number == m.nblocks - 1 ? m.len - number * MULTISET_BLOCK_RUNS :
			MULTISET_BLOCK_RUNS;

		memcpy(&offset, bytes + index + number * MULTISET_ENTRY_SIZE + 12, 4);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		offset = __builtin_bswap32(offset);
#endif
		if (at >= blocks + offset + 2 && at < blocks + offset + 2 + (n - 1) * bytes[blocks + offset])
			return true;
	}
	return false;
}

/* Every byte of some values changed, to a few others each. */
static void
test_damaged_bytes(void **state)
{
	static const size_t lens[] = {1, 2, 20, 128, 129, 300, 128 * 128 + 1};
	size_t		i;
	int			spread;

	(void) state;
	for (i = 0; i < lengthof(lens); i++)
		for (spread = 0; spread < SPREAD_COUNT; spread++)
		{
			Plain		p;
			Unit		u;
			size_t		size;
			unsigned char *bytes;
			size_t		at;
			size_t		step = lens[i] > 1000 ? 397 : 1;

			unit_init(&u);
			random_plain(&p, lens[i], (Spread) spread, (Size) unit_below(SIZE_COUNT));
			bytes = write_plain(&u, &p, &size);
			for (at = 0; at < size; at += at < 64 ? 1 : 1 + unit_below(step))
			{
				unsigned char *damaged = unit_alloc(size, 1);
				int			change;

				memcpy(damaged, bytes, size);
				for (change = 0; change < 4; change++)
				{
					damaged[at] = change == 0 ? bytes[at] ^ 1 : change == 1 ? bytes[at] ^ 0x80 :
						(unsigned char) (bytes[at] + 1 + unit_below(255));
					if (check_damaged(damaged, size) && !tells_key(bytes, size, at))
						fail_msg("byte %zu of %zu changed, and it is not seen", at, size);
					if (change == (int) (at % 4))
						read_everything(damaged, size);
				}
				free(damaged);
			}
			assert_true(check_damaged(bytes, size));
			free(bytes);
			plain_free(&p);
		}
}

/* Cut off anywhere, bytes more, bytes from elsewhere: refused, or sound, and never read outside. */
static void
test_damaged_at_random(void **state)
{
	int			trial;

	(void) state;
	for (trial = 0; trial < 3000; trial++)
	{
		Plain		p;
		Unit		u;
		size_t		size;
		size_t		damaged_size;
		unsigned char *bytes;
		unsigned char *damaged;
		int			changes = (int) unit_below(6);

		unit_init(&u);
		random_plain(&p, trial % 50 == 0 ? 128 * 129 : (size_t) unit_below(600),
					 (Spread) unit_below(SPREAD_COUNT), (Size) unit_below(SIZE_COUNT));
		bytes = write_plain(&u, &p, &size);
		damaged_size = unit_below(2) ? size : unit_below(4) == 0 ? size + unit_below(20) + 1 :
			unit_below(size);
		damaged = unit_alloc(damaged_size + 1, 1);
		memset(damaged, 0, damaged_size);
		memcpy(damaged, bytes, damaged_size < size ? damaged_size : size);
		for (; changes > 0 && damaged_size > 0; changes--)
		{
			/* Near the front, where lengths and offsets are, more often. */
			size_t		at = (size_t) unit_below(unit_below(2) && damaged_size > 100 ? 100 : damaged_size);

			damaged[at] = unit_below(2) ? (unsigned char) unit_random() :
				bytes[unit_below(size)];
		}
		/* The byte behind goes, for the sanitizer. */
		damaged = realloc(damaged, damaged_size > 0 ? damaged_size : 1);
		if (damaged_size < size || damaged_size > size)
			if (damaged_size < MULTISET_HEADER_SIZE || memcmp(damaged, bytes, MULTISET_HEADER_SIZE) == 0)
				assert_false(check_damaged(damaged, damaged_size));
		check_damaged(damaged, damaged_size);
		read_everything(damaged, damaged_size);
		free(damaged);
		free(bytes);
		plain_free(&p);
	}
}

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
	random_plain(&v->plain, len, spread, size);
	v->bytes = write_plain(&u, &v->plain, &bytes);
	assert_sort_ok(open_bytes(&v->m, v->bytes, bytes, &err), err);
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
	assert_sort_ok(open_bytes(&m, bytes, size, &err), err);
	assert_sort_ok(multiset_check(&m, &u->context, &err), err);
	check_blocks(&m, expected);
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
		random_value(&a, random_len(), (Spread) unit_below(SPREAD_COUNT), (Size) unit_below(SIZE_COUNT));
		random_value(&b, random_len(), (Spread) unit_below(SPREAD_COUNT), (Size) unit_below(SIZE_COUNT));

		multiset_writer_init(&w, &u.context.allocator);
		assert_sort_ok(multiset_add(&a.m, &b.m, &u.context, &w, &err), err);
		plain_combine(&sum, &a.plain, &b.plain, 1, NULL);
		check_written(&u, &w, &sum);

		/* The sum less one of its parts is the other. */
		bytes = write_plain(&u, &sum, &size);
		assert_sort_ok(open_bytes(&m, bytes, size, &err), err);
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

		/* The sum with one count or one key missing, less the sum: found where it is. */
		if (sum.len > 0)
		{
			size_t		run = (size_t) unit_below(sum.len);
			Value		less;
			Plain		empty;

			plain_init(&empty, 0);
			plain_combine(&less.plain, &sum, &empty, 1, NULL);
			if (sum.counts[run] > 1)
				less.plain.counts[run]--;
			else
			{
				memmove(less.plain.keys + run, less.plain.keys + run + 1,
						(sum.len - run - 1) * sizeof(int32_t));
				memmove(less.plain.counts + run, less.plain.counts + run + 1,
						(sum.len - run - 1) * sizeof(uint64_t));
				less.plain.len--;
			}
			less.plain.total--;
			less.bytes = write_plain(&u, &less.plain, &size);
			assert_sort_ok(open_bytes(&less.m, less.bytes, size, &err), err);
			multiset_writer_init(&w, &u.context.allocator);
			assert_sort_ok(multiset_subtract(&less.m, &m, &u.context, &w, &lack, &err), err);
			assert_int_equal(lack.key, sum.keys[run]);
			assert_int_equal(lack.count, sum.counts[run]);
			multiset_writer_release(&w);
			free_value(&less);
			plain_free(&empty);
		}
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

/* Through a sorter: the sum of some multisets and of keys. */
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
			assert_sort_ok(multiset_to_sorter(&v.m, &s, &err), err);
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

/* A sorter takes no more than INT64_MAX keys. */
static void
test_sorter_limit(void **state)
{
	const int32_t key = 7;
	const uint64_t count = INT64_MAX - 10;
	Unit		u;
	Sorter		s;
	Value		v;
	SortError	err;

	(void) state;
	unit_init(&u);
	random_value(&v, 11, SPREAD_NEAR, SIZE_ONE);
	sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
	assert_sort_ok(sorter_add_runs(&s, &key, &count, 1, &err), err);
	assert_int_equal(multiset_to_sorter(&v.m, &s, &err), SORT_LIMIT_EXCEEDED);
	assert_int_equal(sorter_count(&s), count);
	free_value(&v);
	random_value(&v, 10, SPREAD_NEAR, SIZE_ONE);
	assert_sort_ok(multiset_to_sorter(&v.m, &s, &err), err);
	assert_int_equal(sorter_count(&s), INT64_MAX);
	free_value(&v);
	sorter_reset(&s);
	unit_assert_no_leak(&u);
}

/* A cancel ends each of the long ways; memory that ends, too; corrupt bytes are said to be. */
static void
test_cancel_memory_corrupt(void **state)
{
	Value		v;
	Unit		u;
	Sorter		s;
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
		for (way = 0; way < 6; way++)
		{
			SortStatus	status = SORT_OK;

			unit_init(&u);
			u.interrupt_at = trouble == 0 ? 1 : 0;
			u.fail_at = trouble == 1 ? 4 : 0;
			multiset_writer_init(&w, &u.context.allocator);
			sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
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
					status = multiset_to_sorter(&v.m, &s, &err);
					break;
				case 5:
					status = multiset_check(&v.m, &u.context, &err);
					break;
			}
			/* All of v less v leaves nothing to write, and a check writes nothing. */
			assert_int_equal(status, trouble == 1 && (way == 1 || way == 5) ? SORT_OK : expected[trouble]);
			assert_true(status == SORT_OK || err.status == status);
			multiset_writer_release(&w);
			sorter_reset(&s);
			unit_assert_no_leak(&u);
		}
	}
	free_value(&v);
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
		cmocka_unit_test(test_damaged_bytes),
		cmocka_unit_test(test_damaged_at_random),
		cmocka_unit_test(test_add_and_subtract),
		cmocka_unit_test(test_scale_and_restrict),
		cmocka_unit_test(test_sorter),
		cmocka_unit_test(test_sorter_limit),
		cmocka_unit_test(test_cancel_memory_corrupt),
	};

	unit_seed("multiset_test");
	return cmocka_run_group_tests_name("multiset", tests, NULL, NULL);
}
