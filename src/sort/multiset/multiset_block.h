/*
 * multiset_block.h
 *		A multiset's block and entry as bytes (multiset.h has the format): for the
 *		files of multisets only, which know where blocks and entries lie.
 */
#ifndef HPSORT_MULTISET_BLOCK_H
#define HPSORT_MULTISET_BLOCK_H

#include <string.h>

#include "sort/multiset/multiset.h"

/* Most bytes of a block: keys of 4 bytes, the first one left out, and counts of 8. */
#define MULTISET_BLOCK_MAX \
	(2 + (MULTISET_BLOCK_RUNS - 1) * sizeof(uint32_t) + MULTISET_BLOCK_RUNS * sizeof(uint64_t))

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define MULTISET_LITTLE_16(x) __builtin_bswap16(x)
#define MULTISET_LITTLE_32(x) __builtin_bswap32(x)
#define MULTISET_LITTLE_64(x) __builtin_bswap64(x)
#else
#define MULTISET_LITTLE_16(x) (x)
#define MULTISET_LITTLE_32(x) (x)
#define MULTISET_LITTLE_64(x) (x)
#endif

static inline uint32_t
multiset_load_32(const unsigned char *at)
{
	uint32_t	value;

	memcpy(&value, at, sizeof(value));
	return MULTISET_LITTLE_32(value);
}

static inline uint64_t
multiset_load_64(const unsigned char *at)
{
	uint64_t	value;

	memcpy(&value, at, sizeof(value));
	return MULTISET_LITTLE_64(value);
}

static inline void
multiset_store_32(unsigned char *at, uint32_t value)
{
	value = MULTISET_LITTLE_32(value);
	memcpy(at, &value, sizeof(value));
}

static inline void
multiset_store_64(unsigned char *at, uint64_t value)
{
	value = MULTISET_LITTLE_64(value);
	memcpy(at, &value, sizeof(value));
}

/* An entry of the parts or of the index. */
typedef struct MultisetEntry
{
	uint64_t	before;
	int32_t		first;
	uint32_t	offset;
} MultisetEntry;

static inline MultisetEntry
multiset_load_entry(const unsigned char *at)
{
	MultisetEntry entry;

	entry.before = multiset_load_64(at);
	entry.first = (int32_t) multiset_load_32(at + 8);
	entry.offset = multiset_load_32(at + 12);
	return entry;
}

static inline void
multiset_store_entry(unsigned char *at, const MultisetEntry *entry)
{
	multiset_store_64(at, entry->before);
	multiset_store_32(at + 8, (uint32_t) entry->first);
	multiset_store_32(at + 12, entry->offset);
}

/* Adds up n <= MULTISET_BLOCK_RUNS counts; false where the sum is above INT64_MAX. */
extern bool multiset_sum_counts(const uint64_t *counts, uint32_t n, uint64_t *sum);

/*
 * Writes 1 <= n <= MULTISET_BLOCK_RUNS runs to out, room for MULTISET_BLOCK_MAX bytes,
 * all of which may be overwritten, and returns the bytes of the block.
 */
extern size_t multiset_encode_block(const int32_t *keys, const uint64_t *counts, uint32_t n,
									unsigned char *out);

/*
 * Reads block->n runs, of which first is the first key, from size bytes: keys and
 * counts of block, and the sum of these.  False unless the bytes are those that
 * multiset_encode_block writes of some runs, of a sum up to INT64_MAX.
 */
extern bool multiset_decode_block(const unsigned char *bytes, uint64_t size, int32_t first,
								  MultisetBlock *block, uint64_t *sum);

#endif							/* HPSORT_MULTISET_BLOCK_H */
