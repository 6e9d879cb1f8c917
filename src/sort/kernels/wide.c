/*
 * wide.c
 *		Sorting keys whose range is too wide to count (see wide.h).
 */
#include "sort/kernels/wide.h"

#include "sort/kernels/kernels.h"
#include "sort/steps.h"

/*
 * Bytes that are sorted without a look at the interrupt callback: 8 Mi keys
 * take VQSort 22 ms, 4 Mi pairs 18 (AMD EPYC, Zen 5), so that even a machine
 * three times slower obeys a cancel within 100 ms.
 */
#define WIDE_UNINTERRUPTED ((size_t) 32 << 20)

/*
 * Up to this many elements, plain insertion beats the set-up of a vectorised sort:
 * 8 keys 49 and 284 ns, 32 keys 279 and 301, 48 keys 468 and 330 (AMD EPYC, Zen 5).
 */
#define WIDE_INSERTION_MAX 32

/* Elements whose median splits a part. */
#define WIDE_SAMPLE 1024

bool
wide_min_max(const int32_t *keys, size_t n, int32_t *lo, int32_t *hi, const SortContext *context)
{
	uint64_t	i = 0;
	uint64_t	end;

	*lo = *hi = keys[0];
	for (; sort_step(context, i, n, &end); i = end)
	{
		int32_t		low;
		int32_t		high;

		kernel_min_max(keys + i, (size_t) (end - i), &low, &high);
		*lo = low < *lo ? low : *lo;
		*hi = high > *hi ? high : *hi;
	}
	return i == n;
}

#define WIDE_NAME(name) keys_##name
#define WIDE_TYPE int32_t
#define WIDE_BOUNDS wide_min_max
#define WIDE_PARTITION(e, n, pivot, descending, nleft, context) \
	kernel_partition_keys(e, n, pivot, descending, nleft, (context)->interrupted, \
						  (context)->interrupted_arg)
#define WIDE_SORT(e, n, descending) vqsort_keys(e, n, descending)
#include "sort/kernels/wide_template.h"

#define WIDE_NAME(name) pairs_##name
#define WIDE_TYPE uint64_t
#define WIDE_PARTITION(e, n, pivot, descending, nleft, context) \
	kernel_partition_pairs(e, n, pivot, nleft, (context)->interrupted, (context)->interrupted_arg)
#define WIDE_SORT(e, n, descending) vqsort_pairs(e, n)
#include "sort/kernels/wide_template.h"

bool
wide_sort_keys(int32_t *keys, size_t n, bool descending, const SortContext *context)
{
	return keys_sort(keys, n, descending, context);
}

bool
wide_sort_pairs(uint64_t *pairs, size_t n, const SortContext *context)
{
	return pairs_sort(pairs, n, false, context);
}
