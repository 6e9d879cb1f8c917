/*
 * permutation.c
 *		The stable sorting permutation (see permutation.h).
 */
#include "sort/kernels/permutation.h"

#include "sort/kernels/wide.h"
#include "sort/steps.h"

/* permutation_offsets for one direction, a constant in each call. */
static inline __attribute__((always_inline))
bool
sum_up(uint32_t *bins, uint64_t range, bool descending, uint64_t *distinct,
	   const SortContext *context)
{
	uint64_t	used = 0;
	uint32_t	sum = 0;
	uint64_t	at = 0;
	uint64_t	end;

	while (sort_step(context, at, range, &end))
		for (; at < end; at++)
		{
			uint32_t   *bin = &bins[descending ? range - 1 - at : at];
			uint32_t	count = *bin;

			used += count != 0;
			*bin = sum;
			sum += count;
		}
	*distinct = used;
	return at == range;
}

bool
permutation_offsets(uint32_t *bins, uint64_t range, bool descending, uint64_t *distinct,
					const SortContext *context)
{
	return descending ? sum_up(bins, range, true, distinct, context)
		: sum_up(bins, range, false, distinct, context);
}

bool
permutation_scatter(uint32_t *offsets, int32_t lo, const int32_t *keys, size_t n,
					uint32_t first, uint32_t *out, const SortContext *context)
{
	uint64_t	i = 0;
	uint64_t	end;

	while (sort_step(context, i, n, &end))
		for (; i < end; i++)
			out[offsets[(uint32_t) keys[i] - (uint32_t) lo]++] = first + (uint32_t) i;
	return i == n;
}

bool
permutation_pack(const int32_t *keys, size_t n, bool descending, uint32_t first,
				 uint64_t *pairs, const SortContext *context)
{
	/* The sign bit flipped makes signed order unsigned; all bits, reversed. */
	const uint32_t flip = descending ? UINT32_C(0x7fffffff) : UINT32_C(0x80000000);
	uint64_t	i = 0;
	uint64_t	end;

	while (sort_step(context, i, n, &end))
		for (; i < end; i++)
			pairs[i] = ROWS_PAIR((uint32_t) keys[i] ^ flip, first + (uint32_t) i);
	return i == n;
}

bool
permutation_unpack(const uint64_t *pairs, size_t n, uint32_t *out, const SortContext *context)
{
	uint64_t	i = 0;
	uint64_t	end;

	while (sort_step(context, i, n, &end))
		for (; i < end; i++)
			out[i] = ROWS_PAIR_REF(pairs[i]);
	return i == n;
}
