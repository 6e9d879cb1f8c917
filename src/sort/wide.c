/*
 * wide.c
 *		Sorting keys whose range is too wide to count (see wide.h).
 */
#include "wide.h"

#include <string.h>

#include "kernels.h"

/*
 * Bytes that are sorted without a look at the interrupt callback: 8 Mi keys
 * take VQSort about 25 ms on the development machine, 4 Mi pairs about 30, so
 * that even a machine three times slower answers a cancel within 100 ms.
 */
#define WIDE_UNINTERRUPTED ((size_t) 32 << 20)

/* Elements handled in plain loops between two looks at it. */
#define WIDE_CHECK_EVERY ((size_t) 1 << 20)

/*
 * Few enough buckets that the place each one grows at stays in the
 * first-level TLB and cache.
 */
#define WIDE_BUCKET_BITS 6
#define WIDE_BUCKETS (1 << WIDE_BUCKET_BITS)

/* Bits to shift a difference right by so that it is below WIDE_BUCKETS. */
static int
digit_shift(uint64_t span)
{
	int			bits = span == 0 ? 0 : 64 - __builtin_clzll(span);

	return bits > WIDE_BUCKET_BITS ? bits - WIDE_BUCKET_BITS : 0;
}

static bool
key_bounds(const int32_t *keys, size_t n, uint64_t *low, int *shift)
{
	int32_t		lo;
	int32_t		hi;

	kernel_min_max(keys, n, &lo, &hi);
	*low = (uint32_t) lo;
	*shift = digit_shift((uint32_t) hi - (uint32_t) lo);
	return lo != hi;
}

static bool
pair_bounds(const uint64_t *pairs, size_t n, uint64_t *low, int *shift)
{
	uint64_t	lo = pairs[0];
	uint64_t	hi = pairs[0];
	size_t		i;

	for (i = 1; i < n; i++)
	{
		lo = pairs[i] < lo ? pairs[i] : lo;
		hi = pairs[i] > hi ? pairs[i] : hi;
	}
	*low = lo;
	*shift = digit_shift(hi - lo);
	return lo != hi;
}

#define WIDE_NAME sort_keys_split
#define WIDE_TYPE int32_t
#define WIDE_DIGIT(x, low, shift) (((uint32_t) (x) - (uint32_t) (low)) >> (shift))
#define WIDE_BOUNDS(e, n, low, shift) key_bounds(e, n, &(low), &(shift))
#define WIDE_SORT(e, n, descending) vqsort_keys(e, n, descending)
#include "wide_template.h"

#define WIDE_NAME sort_pairs_split
#define WIDE_TYPE uint64_t
#define WIDE_DIGIT(x, low, shift) (((x) - (low)) >> (shift))
#define WIDE_BOUNDS(e, n, low, shift) pair_bounds(e, n, &(low), &(shift))
#define WIDE_SORT(e, n, descending) vqsort_pairs(e, n)
#include "wide_template.h"

/*
 * Below this many keys, plain insertion beats the set-up of a vectorised sort.
 */
#define INSERTION_MAX 16

bool
wide_sort_keys(int32_t *keys, size_t n, bool descending, const SortContext *context)
{
	size_t		i;

	if (n > INSERTION_MAX)
		return sort_keys_split(keys, n, descending, context);
	for (i = 1; i < n; i++)
	{
		int32_t		key = keys[i];
		size_t		j = i;

		for (; j > 0 && (descending ? keys[j - 1] < key : keys[j - 1] > key); j--)
			keys[j] = keys[j - 1];
		keys[j] = key;
	}
	return true;
}

bool
wide_sort_pairs(uint64_t *pairs, size_t n, const SortContext *context)
{
	return sort_pairs_split(pairs, n, false, context);
}
