/*
 * multiset_block.c
 *		A multiset's block as bytes (see multiset_block.h).
 *
 * Every loop but encode_few's is over all MULTISET_BLOCK_RUNS places of arrays of its own, whatever
 * the number of runs: of a constant length, and between memory that cannot overlap, so that
 * compilers vectorise it at -O2.  The bytes of a block are copied to and from these.
 */
#include "sort/multiset/multiset_block.h"

/* Counts below this, as many as a block has, cannot add up to more than INT64_MAX. */
#define SMALL_COUNT (UINT64_C(1) << 55)

bool
multiset_sum_counts(const uint64_t *counts, uint32_t n, uint64_t *sum)
{
	uint64_t	any = 0;
	uint64_t	total = 0;
	uint32_t	i;

	if (n == MULTISET_BLOCK_RUNS)
		for (i = 0; i < MULTISET_BLOCK_RUNS; i++)
		{
			any |= counts[i];
			total += counts[i];
		}
	else
		for (i = 0; i < n; i++)
		{
			any |= counts[i];
			total += counts[i];
		}
	*sum = total;
	if (any < SMALL_COUNT)
		return true;

	for (total = 0, i = 0; i < n; i++)
	{
		if (counts[i] > INT64_MAX - total)
			return false;
		total += counts[i];
	}
	return true;
}

/* The bytes of each key's distance from the first one, of which that of the last is largest. */
static unsigned int
key_width(uint32_t largest, uint32_t n)
{
	return largest == n - 1 ? 0 : largest <= UINT8_MAX ? 1 : largest <= UINT16_MAX ? 2 : 4;
}

/* The bytes of each count less one; any has the bits of all of these. */
static unsigned int
count_width(uint64_t any)
{
	return any == 0 ? 0 : any <= UINT8_MAX ? 1 : any <= UINT16_MAX ? 2 : any <= UINT32_MAX ? 4 : 8;
}

#define LITTLE_8(x) (x)
#define LITTLE_16 MULTISET_LITTLE_16
#define LITTLE_32 MULTISET_LITTLE_32
#define LITTLE_64 MULTISET_LITTLE_64

/* encode_keys_N and decode_keys_N: keys of N bits, from the second one on. */
#define KEYS_OF_WIDTH(bits) \
static void \
encode_keys_##bits(unsigned char *out, const int32_t *keys) \
{ \
	uint##bits##_t part[MULTISET_BLOCK_RUNS]; \
	uint32_t	first = (uint32_t) keys[0]; \
\
	for (int i = 0; i < MULTISET_BLOCK_RUNS; i++) \
		part[i] = LITTLE_##bits((uint##bits##_t) ((uint32_t) keys[i] - first)); \
	memcpy(out, part + 1, (MULTISET_BLOCK_RUNS - 1) * sizeof(part[0])); \
} \
\
static void \
decode_keys_##bits(const unsigned char *at, int32_t first, int32_t *keys, uint32_t n) \
{ \
	uint##bits##_t part[MULTISET_BLOCK_RUNS]; \
\
	part[0] = 0; \
	memcpy(part + 1, at, (n - 1) * sizeof(part[0])); \
	memset(part + n, 0, (MULTISET_BLOCK_RUNS - n) * sizeof(part[0])); \
	for (int i = 0; i < MULTISET_BLOCK_RUNS; i++) \
		keys[i] = (int32_t) ((uint32_t) first + LITTLE_##bits(part[i])); \
}

KEYS_OF_WIDTH(8)
KEYS_OF_WIDTH(16)
KEYS_OF_WIDTH(32)

/*
 * encode_counts_N and decode_counts_N: counts less one of N bits; the latter returns all their
 * bits.
 */
#define COUNTS_OF_WIDTH(bits) \
static void \
encode_counts_##bits(unsigned char *out, const uint64_t *counts) \
{ \
	uint##bits##_t part[MULTISET_BLOCK_RUNS]; \
\
	for (int i = 0; i < MULTISET_BLOCK_RUNS; i++) \
		part[i] = LITTLE_##bits((uint##bits##_t) (counts[i] - 1)); \
	memcpy(out, part, MULTISET_BLOCK_RUNS * sizeof(part[0])); \
} \
\
static uint64_t \
decode_counts_##bits(const unsigned char *at, uint64_t *counts, uint32_t n) \
{ \
	uint##bits##_t part[MULTISET_BLOCK_RUNS]; \
	uint##bits##_t any = 0; \
\
	memcpy(part, at, n * sizeof(part[0])); \
	memset(part + n, 0, (MULTISET_BLOCK_RUNS - n) * sizeof(part[0])); \
	for (int i = 0; i < MULTISET_BLOCK_RUNS; i++) \
		any |= part[i]; \
	for (int i = 0; i < MULTISET_BLOCK_RUNS; i++) \
		counts[i] = (uint64_t) LITTLE_##bits(part[i]) + 1; \
	return LITTLE_##bits(any); \
}

COUNTS_OF_WIDTH(8)
COUNTS_OF_WIDTH(16)
COUNTS_OF_WIDTH(32)
COUNTS_OF_WIDTH(64)

/*
 * A block that is not full: a value's last.  Whole words are stored, of which the next one
 * overwrites what is too much.
 */
static size_t
encode_few(const int32_t *keys, const uint64_t *counts, uint32_t n, unsigned char *out)
{
	unsigned int kwidth = key_width((uint32_t) keys[n - 1] - (uint32_t) keys[0], n);
	unsigned int cwidth;
	uint64_t	any = 0;
	unsigned char *at = out + 2;

	for (uint32_t i = 0; i < n; i++)
		any |= counts[i] - 1;
	cwidth = count_width(any);
	out[0] = (unsigned char) kwidth;
	out[1] = (unsigned char) cwidth;
	for (uint32_t i = 1; i < n && kwidth > 0; i++, at += kwidth)
		multiset_store_64(at, (uint32_t) keys[i] - (uint32_t) keys[0]);
	for (uint32_t i = 0; i < n && cwidth > 0; i++, at += cwidth)
		multiset_store_64(at, counts[i] - 1);
	return (size_t) (at - out);
}

size_t
multiset_encode_block(const int32_t *keys, const uint64_t *counts, uint32_t n, unsigned char *out)
{
	unsigned int kwidth = key_width((uint32_t) keys[n - 1] - (uint32_t) keys[0], n);
	unsigned int cwidth;
	uint64_t	any = 0;
	unsigned char *at = out + 2;

	if (n < MULTISET_BLOCK_RUNS)
		return encode_few(keys, counts, n, out);
	for (int i = 0; i < MULTISET_BLOCK_RUNS; i++)
		any |= counts[i] - 1;
	cwidth = count_width(any);
	out[0] = (unsigned char) kwidth;
	out[1] = (unsigned char) cwidth;
	switch (kwidth)
	{
		case 1:
			encode_keys_8(at, keys);
			break;
		case 2:
			encode_keys_16(at, keys);
			break;
		case 4:
			encode_keys_32(at, keys);
			break;
	}
	at += (size_t) (n - 1) * kwidth;
	switch (cwidth)
	{
		case 1:
			encode_counts_8(at, counts);
			break;
		case 2:
			encode_counts_16(at, counts);
			break;
		case 4:
			encode_counts_32(at, counts);
			break;
		case 8:
			encode_counts_64(at, counts);
			break;
	}
	at += (size_t) n * cwidth;
	return (size_t) (at - out);
}

static void
decode_keys(const unsigned char *at, unsigned int width, int32_t first, int32_t *keys, uint32_t n)
{
	switch (width)
	{
		case 0:
			for (int i = 0; i < MULTISET_BLOCK_RUNS; i++)
				keys[i] = (int32_t) ((uint32_t) first + (uint32_t) i);
			break;
		case 1:
			decode_keys_8(at, first, keys, n);
			break;
		case 2:
			decode_keys_16(at, first, keys, n);
			break;
		case 4:
			decode_keys_32(at, first, keys, n);
			break;
	}
}

static uint64_t
decode_counts(const unsigned char *at, unsigned int width, uint64_t *counts, uint32_t n)
{
	switch (width)
	{
		case 1:
			return decode_counts_8(at, counts, n);
		case 2:
			return decode_counts_16(at, counts, n);
		case 4:
			return decode_counts_32(at, counts, n);
		case 8:
			return decode_counts_64(at, counts, n);
	}
	for (int i = 0; i < MULTISET_BLOCK_RUNS; i++)
		counts[i] = 1;
	return 0;
}

/* Whether n keys are strictly ascending. */
static bool
is_ascending(const int32_t *keys, uint32_t n)
{
	int			wrong = 0;
	uint32_t	i = 0;

	/* A full block's first pairs: a multiple of any vector's length. */
	if (n == MULTISET_BLOCK_RUNS)
		for (; i < MULTISET_BLOCK_RUNS - 16; i++)
			wrong |= keys[i] >= keys[i + 1];
	for (; i + 1 < n; i++)
		wrong |= keys[i] >= keys[i + 1];
	return wrong == 0;
}

bool
multiset_decode_block(const unsigned char *bytes, uint64_t size, int32_t first,
					  MultisetBlock *block, uint64_t *sum)
{
	uint32_t	n = block->n;
	unsigned int kwidth;
	unsigned int cwidth;
	uint64_t	any;

	if (size < 2)
		return false;
	kwidth = bytes[0];
	cwidth = bytes[1];
	if (size != 2 + (uint64_t) (n - 1) * kwidth + (uint64_t) n * cwidth)
		return false;

	if (kwidth > 4 || kwidth == 3 || cwidth > 8 || (cwidth & (cwidth - 1)) != 0)
		return false;
	decode_keys(bytes + 2, kwidth, first, block->keys, n);
	any = decode_counts(bytes + 2 + (size_t) (n - 1) * kwidth, cwidth, block->counts, n);

	/* A count is at most INT64_MAX: one that wrapped to 0 is found here. */
	if (any > INT64_MAX || cwidth != count_width(any) || !is_ascending(block->keys, n) ||
		kwidth != key_width((uint32_t) block->keys[n - 1] - (uint32_t) first, n))
		return false;
	return multiset_sum_counts(block->counts, n, sum);
}
