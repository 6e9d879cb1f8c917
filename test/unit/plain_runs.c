/*
 * plain_runs.c
 *		Random runs in plain arrays (see plain_runs.h).
 */
#include "plain_runs.h"

#include <stdlib.h>
#include <string.h>

void
plain_init(Plain *p, size_t room)
{
	memset(p, 0, sizeof(*p));
	p->keys = unit_alloc(room, sizeof(int32_t));
	p->counts = unit_alloc(room, sizeof(uint64_t));
}

void
plain_free(Plain *p)
{
	free(p->keys);
	free(p->counts);
}

void
plain_put(Plain *p, int32_t key, uint64_t count)
{
	p->keys[p->len] = key;
	p->counts[p->len++] = count;
	p->total += count;
}

static uint64_t
random_count(Size size)
{
	static const int bits[] = {0, 8, 16, 32, 40};

	if (size == SIZE_MIXED)
		size = unit_below(40) == 0 ? (Size) unit_below(SIZE_MIXED) : SIZE_8;
	return size == SIZE_ONE ? 1 : 1 + unit_below(UINT64_C(1) << bits[size]);
}

void
plain_random(Plain *p, size_t len, Spread spread, Size size)
{
	int64_t		most[] = {1, 3, 400, len == 0 ? 1 : (int64_t) ((UINT64_C(1) << 32) / len) - 1};
	int64_t		key = INT32_MIN;
	Spread		now = spread;

	plain_init(p, len);
	if (spread != SPREAD_WIDE && spread != SPREAD_MIXED)
		key = unit_key(INT32_MIN, INT32_MAX - (int32_t) (len * (size_t) most[spread]));
	for (size_t i = 0; i < len; i++)
	{
		if (spread == SPREAD_MIXED && unit_below(100) == 0)
			now = (Spread) unit_below(SPREAD_WIDE + 1);
		plain_put(p, (int32_t) key, random_count(size));
		key += 1 + (int64_t) unit_below((uint64_t) most[now == SPREAD_MIXED ? SPREAD_NEAR : now]);
	}
}

unsigned char *
plain_write(Unit *u, const Plain *p, size_t *size)
{
	MultisetWriter w;
	SortError	err;
	unsigned char *bytes;
	size_t		piece = unit_below(2) ? p->len : 1 + unit_below(300);

	multiset_writer_init(&w, &u->context.allocator);
	for (size_t at = 0; at < p->len; at += piece)
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

SortStatus
plain_open(Multiset *m, const unsigned char *bytes, size_t size, SortError *err)
{
	MultisetBytes all = {.data = bytes, .size = size};

	return multiset_open(m, &all, err);
}

void
plain_check(const Multiset *m, const Plain *p)
{
	MultisetBlock block;
	SortError	err;
	uint64_t	before = 0;
	size_t		at = 0;

	assert_int_equal(m->len, p->len);
	assert_int_equal(m->total, p->total);
	assert_int_equal(m->nblocks, (p->len + MULTISET_BLOCK_RUNS - 1) / MULTISET_BLOCK_RUNS);
	for (uint32_t number = 0; number < m->nblocks; number++)
	{
		assert_sort_ok(multiset_read_block(m, number, &block, &err), err);
		assert_int_equal(block.number, number);
		assert_int_equal(block.before, before);
		assert_int_equal(block.n, p->len - at < MULTISET_BLOCK_RUNS ? p->len - at :
						 MULTISET_BLOCK_RUNS);
		for (uint32_t i = 0; i < block.n; i++, at++)
			if (block.keys[i] != p->keys[at] || block.counts[i] != p->counts[at])
				fail_msg("run %zu is %d:%llu instead of %d:%llu", at, block.keys[i],
						 (unsigned long long) block.counts[i], p->keys[at],
						 (unsigned long long) p->counts[at]);
			else
				before += block.counts[i];
	}
	assert_int_equal(at, p->len);
}
