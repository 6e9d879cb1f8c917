/*
 * rows.c
 *		Puts references to rows into the order of their keys (see rows.h).
 */
#include "rows.h"

#include <string.h>

#include "kernels.h"
#include "permutation.h"
#include "wide.h"

/* Pairs handled between two looks at the interrupt callback. */
#define CHECK_EVERY ((size_t) 1 << 20)

void
rows_plan(const SortContext *context, uint64_t n, uint64_t lo, uint64_t hi, SortPlan *plan)
{
	SortPlanInput in;
	SortError	err;
	bool		wide = hi - lo > UINT32_MAX;

	memset(&in, 0, sizeof(in));
	in.n = n;

	/* The plan only asks for the range, and knows keys of 32 bits. */
	in.lo = INT32_MIN;
	in.hi = wide ? INT32_MAX : (int32_t) (INT32_MIN + (int64_t) (hi - lo));
	in.want = SORT_WANT_PERMUTATION;
	in.device = SORT_DEVICE_CPU;
	in.algorithm = context->algorithm;
	if (plan_choose(&in, plan, &err) == SORT_OK)
		return;
	in.algorithm = SORT_ALGORITHM_AUTO;
	(void) plan_choose(&in, plan, &err);
}

/* Counts, sums up and scatters: the H-P algorithm with rows for keys. */
static SortStatus
sort_by_counting(const uint64_t *pairs, size_t n, uint32_t lo, uint32_t hi,
				 const SortContext *context, uint32_t **refs, uint64_t *distinct, SortError *err)
{
	const SortAllocator *memory = &context->allocator;
	uint64_t	range = (uint64_t) hi - lo + 1;
	uint32_t   *bins = memory->alloc(memory->arena, range * sizeof(uint32_t));
	uint32_t   *out = memory->alloc(memory->arena, n * sizeof(uint32_t));
	bool		interrupted = false;
	size_t		at;

	if (bins == NULL || out == NULL)
	{
		if (bins)
			memory->release(memory->arena, bins);
		if (out)
			memory->release(memory->arena, out);
		return sort_fail(err, SORT_OUT_OF_MEMORY, "out of memory");
	}
	memset(bins, 0, range * sizeof(uint32_t));
	for (at = 0; at < n && !interrupted;)
	{
		size_t		end = n - at < CHECK_EVERY ? n : at + CHECK_EVERY;

		for (; at < end; at++)
			bins[ROWS_PAIR_KEY(pairs[at]) - lo]++;
		interrupted = sort_interrupted(context);
	}
	*distinct = kernel_count_nonzero(bins, range);
	permutation_offsets(bins, range, false);
	for (at = 0; at < n && !interrupted;)
	{
		size_t		end = n - at < CHECK_EVERY ? n : at + CHECK_EVERY;

		for (; at < end; at++)
			out[bins[ROWS_PAIR_KEY(pairs[at]) - lo]++] = ROWS_PAIR_REF(pairs[at]);
		interrupted = sort_interrupted(context);
	}
	memory->release(memory->arena, bins);
	if (interrupted)
	{
		memory->release(memory->arena, out);
		return sort_fail(err, SORT_CANCELLED, "sort was cancelled");
	}
	*refs = out;
	return SORT_OK;
}

SortStatus
rows_sort(uint64_t *pairs, size_t n, uint32_t lo, uint32_t hi, const SortPlan *plan,
		  const SortContext *context, uint32_t **refs, uint64_t *distinct, SortError *err)
{
	uint32_t   *out = (uint32_t *) pairs;
	uint32_t	last;
	size_t		i;

	*distinct = 0;
	*refs = out;
	if (n == 0)
		return SORT_OK;
	if (plan->algorithm == SORT_ALGORITHM_ZERO_COMPRESSED)
		return sort_by_counting(pairs, n, lo, hi, context, refs, distinct, err);

	if (!wide_sort_pairs(pairs, n, context))
		return sort_fail(err, SORT_CANCELLED, "sort was cancelled");

	/*
	 * The references move to the front of the same memory.  Bytes, not
	 * integers, are copied: the compiler may not assume that the two do not
	 * overlap.
	 */
	last = ~ROWS_PAIR_KEY(pairs[0]);
	for (i = 0; i < n; i++)
	{
		uint64_t	pair;
		uint32_t	ref;

		memcpy(&pair, (char *) pairs + i * sizeof(pair), sizeof(pair));
		*distinct += ROWS_PAIR_KEY(pair) != last;
		last = ROWS_PAIR_KEY(pair);
		ref = ROWS_PAIR_REF(pair);
		memcpy((char *) out + i * sizeof(ref), &ref, sizeof(ref));
	}
	return SORT_OK;
}
