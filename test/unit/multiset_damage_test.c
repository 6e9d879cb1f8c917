/*
 * multiset_damage_test.c
 *		Bytes of multisets that are damaged, or that no writer made.
 *
 * What is refused, what is taken, and that nothing is read outside of the bytes, which
 * lie in blocks of their own for the sanitizer to see.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "plain_runs.h"

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
	uint64_t	position;
	int64_t		last = INT64_MIN;
	int32_t		key;
	bool		whole = true;
	uint32_t	number;

	unit_init(&u);
	if (plain_open(&m, bytes, size, &err) != SORT_OK)
		return;
	for (number = 0; number < m.nblocks; number++)
	{
		if (multiset_read_block(&m, number, &block, &err) != SORT_OK)
		{
			assert_int_equal(err.status, SORT_CORRUPT);
			whole = false;
			continue;
		}
		for (uint32_t i = 0; i < block.n; i++)
		{
			assert_true(block.counts[i] > 0 && block.counts[i] <= m.total);
			assert_true(!whole || block.keys[i] > last);
			last = block.keys[i];
			total += block.counts[i];
		}
	}
	assert_true(!whole || total == m.total);
	assert_true(whole || multiset_check(&m, &u.context, &err) == SORT_CORRUPT);
	for (uint32_t i = 0; i < 5 && m.len > 0; i++)
	{
		int32_t		asked = i == 0 ? INT32_MIN : i == 1 ? INT32_MAX : unit_key(INT32_MIN, INT32_MAX);

		if (multiset_rank(&m, asked, &below, &equal, &err) == SORT_OK)
			assert_true(below <= m.total && equal <= m.total - below);
		multiset_find_key(&m, asked, &block, &err);
		multiset_nth(&m, unit_below(m.total), &key, &err);

		/* Of bytes that are refused elsewhere, too, the block found is the one asked for. */
		position = unit_below(m.total);
		if (multiset_find_position(&m, position, &block, &err) == SORT_OK)
		{
			for (below = block.before, number = 0; number < block.n; number++)
				below += block.counts[number];
			assert_true(block.before <= position && position < below);
		}
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

	unit_init(&u);
	if (plain_open(&m, bytes, size, &err) != SORT_OK ||
		multiset_check(&m, &u.context, &err) != SORT_OK)
	{
		assert_int_equal(err.status, SORT_CORRUPT);
		return false;
	}
	multiset_writer_init(&w, &u.context.allocator);
	for (uint32_t number = 0; number < m.nblocks; number++)
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

/* A value of one block, written by hand: what no single byte changed makes of a writer's. */
typedef struct HandMade
{
	uint32_t	len;
	uint64_t	total;
	uint64_t	before;
	uint32_t	offset;			/* of the block, behind as many bytes of no use */
	unsigned int key_width;
	unsigned int count_width;
	uint64_t	keys[4];		/* from the second on, less the first, which is 100 */
	uint64_t	counts[4];		/* less one */
	bool		sound;
} HandMade;

static unsigned char *
put_little(unsigned char *at, uint64_t value, unsigned int width)
{
	for (unsigned int i = 0; i < width; i++)
		*at++ = (unsigned char) (value >> 8 * i);
	return at;
}

static void
test_made_by_hand(void **state)
{
	static const HandMade made[] = {
		{2, 6, 0, 0, 1, 1, {9}, {3, 1}, true},
		/* Wider than need be: keys, keys that are consecutive, counts, counts that are 1. */
		{2, 6, 0, 0, 2, 1, {9}, {3, 1}, false},
		{2, 6, 0, 0, 4, 1, {9}, {3, 1}, false},
		{2, 6, 0, 0, 4, 1, {70000}, {3, 1}, true},
		{2, 6, 0, 0, 1, 1, {1}, {3, 1}, false},
		{2, 6, 0, 0, 0, 1, {0}, {3, 1}, true},
		{2, 6, 0, 0, 1, 2, {9}, {3, 1}, false},
		{2, 6, 0, 0, 1, 8, {9}, {3, 1}, false},
		{2, 2, 0, 0, 1, 1, {9}, {0, 0}, false},
		{2, 2, 0, 0, 1, 0, {9}, {0, 0}, true},
		/* No widths at all. */
		{2, 6, 0, 0, 3, 1, {70000}, {3, 1}, false},
		{2, 6, 0, 0, 8, 1, {70000}, {3, 1}, false},
		{2, 66006, 0, 0, 1, 3, {9}, {66003, 1}, false},
		/* Equal keys, falling ones, and those that fall by wrapping. */
		{3, 6, 0, 0, 1, 1, {9, 9}, {3, 0, 0}, false},
		{3, 6, 0, 0, 1, 1, {9, 8}, {3, 0, 0}, false},
		{2, 6, 0, 0, 4, 1, {0x7FFFFFFF}, {3, 1}, false},
		/* A count of 0, and counts that come to the total by wrapping. */
		{2, 5, 0, 0, 1, 8, {9}, {UINT64_MAX, 4}, false},
		{3, 5, 0, 0, 1, 8, {8, 9}, {INT64_MAX, INT64_MAX, 4}, false},
		{4, 7, 0, 0, 1, 8, {7, 8, 9}, {INT64_MAX - 1, INT64_MAX - 1, 4, 3}, false},
		/* Keys before the first one, and bytes before it. */
		{2, 7, 1, 0, 1, 1, {9}, {3, 1}, false},
		{2, 6, 0, 2, 1, 1, {9}, {3, 1}, false},
	};

	(void) state;
	for (size_t i = 0; i < lengthof(made); i++)
	{
		const HandMade *h = &made[i];
		unsigned char bytes[200];
		unsigned char *at = bytes;

		at = put_little(at, MULTISET_FORMAT, 4);
		at = put_little(at, h->len, 4);
		at = put_little(at, h->total, 8);
		at = put_little(at, h->before, 8);
		at = put_little(at, 100, 4);
		at = put_little(at, h->offset, 4);
		at = put_little(at, 0, h->offset);
		at = put_little(at, h->key_width, 1);
		at = put_little(at, h->count_width, 1);
		for (uint32_t j = 0; j + 1 < h->len; j++)
			at = put_little(at, h->keys[j], h->key_width);
		for (uint32_t j = 0; j < h->len; j++)
			at = put_little(at, h->counts[j], h->count_width);
		if (check_damaged(bytes, (size_t) (at - bytes)) != h->sound)
			fail_msg("value %zu is %s", i, h->sound ? "refused" : "taken");
		read_everything(bytes, (size_t) (at - bytes));
	}
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

	assert_sort_ok(plain_open(&m, bytes, size, &err), err);
	index = MULTISET_HEADER_SIZE + m.nparts * MULTISET_ENTRY_SIZE;
	blocks = index + m.nblocks * MULTISET_ENTRY_SIZE;
	if (at < blocks)
		/* A part's entry is its first block's, too. */
		return at >= index && (at - index) % MULTISET_ENTRY_SIZE >= 8 &&
			(at - index) % MULTISET_ENTRY_SIZE < 12 &&
			(m.nparts == 0 || (at - index) / MULTISET_ENTRY_SIZE % MULTISET_PART_BLOCKS != 0);
	for (uint32_t number = 0; number < m.nblocks; number++)
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

	(void) state;
	for (size_t i = 0; i < lengthof(lens); i++)
		for (int spread = 0; spread < SPREAD_COUNT; spread++)
		{
			Plain		p;
			Unit		u;
			size_t		size;
			unsigned char *bytes;
			size_t		step = lens[i] > 1000 ? 397 : 1;

			unit_init(&u);
			plain_random(&p, lens[i], (Spread) spread, (Size) unit_below(SIZE_COUNT));
			bytes = plain_write(&u, &p, &size);
			for (size_t at = 0; at < size; at += at < 64 ? 1 : 1 + unit_below(step))
			{
				unsigned char *damaged = unit_alloc(size, 1);

				memcpy(damaged, bytes, size);
				for (int change = 0; change < 4; change++)
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
	(void) state;
	for (int trial = 0; trial < 3000; trial++)
	{
		Plain		p;
		Unit		u;
		size_t		size;
		size_t		damaged_size;
		unsigned char *bytes;
		unsigned char *damaged;
		int			changes = (int) unit_below(6);

		unit_init(&u);
		plain_random(&p, trial % 50 == 0 ? 128 * 129 : (size_t) unit_below(600),
					 (Spread) unit_below(SPREAD_COUNT), (Size) unit_below(SIZE_COUNT));
		bytes = plain_write(&u, &p, &size);
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

/* A cancel ends the check of a large value; a count of the last block but one is looked at. */
static void
test_check_of_many_blocks(void **state)
{
	Plain		p;
	Unit		u;
	Multiset	m;
	SortError	err;
	size_t		size;
	unsigned char *bytes;

	(void) state;
	unit_init(&u);
	plain_random(&p, 8200 * 128, SPREAD_DENSE, SIZE_8);
	bytes = plain_write(&u, &p, &size);
	assert_sort_ok(plain_open(&m, bytes, size, &err), err);
	assert_sort_ok(multiset_check(&m, &u.context, &err), err);
	u.interrupt_at = 1;
	assert_int_equal(multiset_check(&m, &u.context, &err), SORT_CANCELLED);
	u.interrupt_at = 0;
	bytes[size - 200] ^= 0x40;
	assert_int_equal(multiset_check(&m, &u.context, &err), SORT_CORRUPT);
	free(bytes);
	plain_free(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_made_by_hand),
		cmocka_unit_test(test_damaged_bytes),
		cmocka_unit_test(test_damaged_at_random),
		cmocka_unit_test(test_check_of_many_blocks),
	};

	unit_seed("multiset_damage_test");
	return cmocka_run_group_tests_name("multiset damage", tests, NULL, NULL);
}
