/*
 * key_set.c
 *		Sets of integers (see key_set.h).
 */
#include "sort/extents/key_set.h"

#include <string.h>

#include "sort/kernels/kernels.h"

/*
 * A table has two places or more for each key, and bits take no more memory than it does, or this
 * many bytes: these stay in the second-level cache.
 */
#define BITS_IN_CACHE ((uint64_t) 64 * 1024)

/* So many integers are looked up in a table to find out whether one of them is a key. */
#define FEW_VALUES 64

/* So many keys are moved for another one, before the table is made anew, with another seed. */
#define MOST_MOVES 500

/* From one seed to the next: 2^64 divided by the golden ratio. */
#define STEP UINT64_C(0x9e3779b97f4a7c15)

/* --- places of a table */

/* Returns an integer of which any bits are different for most values (MurmurHash3's finalizer). */
static inline uint64_t
mix(const KeySet *set, uint64_t value)
{
	uint64_t	x = value ^ set->seed;

	x ^= x >> 33;
	x *= UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 33;
	x *= UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ x >> 33;
}

static inline uint64_t
first_place(const KeySet *set, uint64_t mixed)
{
	return mixed & set->mask;
}

/* Returns the other one of the two places of a key, of which place is one. */
static inline uint64_t
other_place(const KeySet *set, uint64_t mixed, uint64_t place)
{
	return place ^ ((mixed >> 32 | 1) & set->mask);
}

static inline bool
table_has(const KeySet *set, uint64_t value)
{
	uint64_t	mixed = mix(set, value);
	uint64_t	place = first_place(set, mixed);

	return ((set->words[place] == value) |
			(set->words[other_place(set, mixed, place)] == value)) & (value != set->free);
}

static inline bool
bits_have(const KeySet *set, int64_t value)
{
	uint64_t	distance = (uint64_t) value - (uint64_t) set->lo;
	uint64_t	inside = distance <= (uint64_t) set->hi - (uint64_t) set->lo;

	/* Of a value outside, the first bit is read. */
	distance &= 0 - inside;
	return set->words[distance / 64] >> distance % 64 & inside;
}

/* --- making a set */

/* Returns how many places a table for n keys has. */
static uint64_t
table_places(size_t n)
{
	uint64_t	places = 4;

	while (places < 2 * (uint64_t) n)
		places *= 2;
	return places;
}

void
key_set_plan(const int64_t *keys, size_t n, KeySet *header)
{
	uint64_t	places = table_places(n);
	uint64_t	span;

	memset(header, 0, sizeof(*header));
	header->lo = INT64_MAX;
	header->hi = INT64_MIN;
	for (size_t i = 0; i < n; i++)
	{
		header->lo = keys[i] < header->lo ? keys[i] : header->lo;
		header->hi = keys[i] > header->hi ? keys[i] : header->hi;
	}
	span = n > 0 ? (uint64_t) header->hi - (uint64_t) header->lo : 0;
	header->is_table = span / 8 >= places * sizeof(uint64_t) && span / 8 >= BITS_IN_CACHE;
	header->mask = places - 1;
	header->size = sizeof(KeySet) +
		(header->is_table ? places : span / 64 + 1) * sizeof(uint64_t);
}

/* Returns an integer that is none of n keys: the first one that is tried, but for very few sets. */
static uint64_t
find_free(const int64_t *keys, size_t n)
{
	uint64_t	value = STEP;
	size_t		i = 0;

	while (i < n)
	{
		if ((uint64_t) keys[i++] != value)
			continue;
		value += STEP;
		i = 0;
	}
	return value;
}

/* Puts a key into a table; false if it, or another one for its sake, has not found a place. */
static bool
put_key(KeySet *set, uint64_t key)
{
	uint64_t	place = first_place(set, mix(set, key));

	for (int moves = 0; moves < MOST_MOVES; moves++)
	{
		uint64_t	moved = set->words[place];

		set->words[place] = key;
		if (moved == set->free)
			return true;
		key = moved;
		place = other_place(set, mix(set, key), place);
	}
	return false;
}

/* Fills a table; false if the keys have no places by its seed. */
static bool
fill_table(KeySet *set, const int64_t *keys, size_t n)
{
	set->nkeys = 0;
	for (uint64_t place = 0; place <= set->mask; place++)
		set->words[place] = set->free;
	for (size_t i = 0; i < n; i++)
	{
		if (table_has(set, (uint64_t) keys[i]))
			continue;
		if (!put_key(set, (uint64_t) keys[i]))
			return false;
		set->nkeys++;
	}
	return true;
}

static void
fill_bits(KeySet *set, const int64_t *keys, size_t n)
{
	memset(set->words, 0, set->size - sizeof(KeySet));
	for (size_t i = 0; i < n; i++)
	{
		uint64_t	distance = (uint64_t) keys[i] - (uint64_t) set->lo;
		uint64_t	bit = UINT64_C(1) << distance % 64;

		set->nkeys += (set->words[distance / 64] & bit) == 0;
		set->words[distance / 64] |= bit;
	}
}

void
key_set_write(const KeySet *header, const int64_t *keys, size_t n, KeySet *out)
{
	memcpy(out, header, sizeof(KeySet));
	if (!out->is_table)
	{
		fill_bits(out, keys, n);
		return;
	}
	out->free = find_free(keys, n);
	/* Keys that are random have places in a table that is half full, but for one set in n. */
	while (!fill_table(out, keys, n))
		out->seed += STEP;
}

/* --- looking up */

bool
key_set_has(const KeySet *set, int64_t value)
{
	return set->is_table ? table_has(set, (uint64_t) value) : bits_have(set, value);
}

void
key_set_mark(const KeySet *set, const int64_t *values, size_t n, uint8_t *marks)
{
	if (set->is_table)
		for (size_t i = 0; i < n; i++)
			marks[i] = table_has(set, (uint64_t) values[i]);
	else
		kernel_mark_bits(values, n, set->lo, set->hi, set->words, marks);
}

/* --- ranges */

/*
 * Returns the first integer that is a key, or else is none, of those from .. to behind the smallest
 * key; to + 1 if there is none.
 */
static uint64_t
next_bit(const KeySet *set, uint64_t from, uint64_t to, bool key)
{
	uint64_t	flip = key ? 0 : UINT64_MAX;
	uint64_t	at = from;

	while (at <= to)
	{
		uint64_t	word = (set->words[at / 64] ^ flip) >> at % 64;

		if (word != 0)
		{
			at += (uint64_t) __builtin_ctzll(word);
			return at <= to ? at : to + 1;
		}
		at = (at / 64 + 1) * 64;
	}
	return to + 1;
}

bool
key_set_may_have(const KeySet *set, int64_t lo, int64_t hi)
{
	uint64_t	to;

	lo = lo > set->lo ? lo : set->lo;
	hi = hi < set->hi ? hi : set->hi;
	if (lo > hi)
		return false;
	if (!set->is_table)
	{
		to = (uint64_t) hi - (uint64_t) set->lo;
		return next_bit(set, (uint64_t) lo - (uint64_t) set->lo, to, true) <= to;
	}
	if ((uint64_t) hi - (uint64_t) lo >= FEW_VALUES)
		return true;
	while (lo < hi && !table_has(set, (uint64_t) lo))
		lo++;
	return table_has(set, (uint64_t) lo);
}

size_t
key_set_ranges(const KeySet *set, LongRange *out, size_t max)
{
	uint64_t	to = (uint64_t) set->hi - (uint64_t) set->lo;
	uint64_t	from = 0;
	size_t		n = 0;

	if (set->nkeys == 0)
		return 0;
	if (set->is_table)
		return SIZE_MAX;
	while (from <= to)
	{
		uint64_t	end = next_bit(set, from, to, false);

		if (n == max)
			return SIZE_MAX;
		out[n++] = (LongRange)
		{
			set->lo + (int64_t) from, set->lo + (int64_t) (end - 1)
		};
		from = next_bit(set, end, to, true);
	}
	return n;
}
