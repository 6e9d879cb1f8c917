/*
 * wide.c
 *		Sorting keys whose range is too wide to count (see wide.h).
 */
#include "sort/wide.h"

#include "sort/error.h"
#include "sort/kernels.h"

/*
 * Bytes that are sorted without a look at the interrupt callback: 8 Mi keys
 * take VQSort 22 ms, 4 Mi pairs 18 (AMD EPYC, Zen 5), so that even a machine
 * three times slower obeys a cancel within 100 ms.
 */
#define WIDE_UNINTERRUPTED ((size_t) 32 << 20)

/* Elements handled between two looks at the interrupt callback. */
#define CHECK_EVERY ((size_t) 1 << 20)

/* Elements whose median splits a part. */
#define WIDE_SAMPLE 1024

bool
wide_min_max(const int32_t *keys, size_t n, int32_t *lo, int32_t *hi, const SortContext *context)
{
	size_t		i;

	*lo = *hi = keys[0];
	for (i = 0; i < n; i += CHECK_EVERY)
	{
		int32_t		low;
		int32_t		high;

		kernel_min_max(keys + i, n - i < CHECK_EVERY ? n - i : CHECK_EVERY, &low, &high);
		*lo = low < *lo ? low : *lo;
		*hi = high > *hi ? high : *hi;
		if (n > CHECK_EVERY && sort_interrupted(context))
			return false;
	}
	return true;
}

static bool
pair_min_max(const uint64_t *pairs, size_t n, uint64_t *low, uint64_t *high,
			 const SortContext *context)
{
	size_t		i;

	*low = *high = pairs[0];
	for (i = 1; i < n; i++)
	{
		*low = pairs[i] < *low ? pairs[i] : *low;
		*high = pairs[i] > *high ? pairs[i] : *high;
		if (i % CHECK_EVERY == 0 && sort_interrupted(context))
			return false;
	}
	return true;
}

#define WIDE_NAME sort_keys_split
#define WIDE_TYPE int32_t
#define WIDE_UNSIGNED uint64_t
#define WIDE_BOUNDS(e, n, low, high, context) wide_min_max(e, n, &(low), &(high), context)
#define WIDE_PARTITION(e, n, pivot, descending, nleft, context) \
	kernel_partition_keys(e, n, pivot, descending, nleft, (context)->interrupted, \
						  (context)->interrupted_arg)
#define WIDE_SORT(e, n, descending) vqsort_keys(e, n, descending)
#include "sort/wide_template.h"

#define WIDE_NAME sort_pairs_split
#define WIDE_TYPE uint64_t
#define WIDE_UNSIGNED uint64_t
#define WIDE_BOUNDS(e, n, low, high, context) pair_min_max(e, n, &(low), &(high), context)
#define WIDE_PARTITION(e, n, pivot, descending, nleft, context) \
	kernel_partition_pairs(e, n, pivot, nleft, (context)->interrupted, (context)->interrupted_arg)
#define WIDE_SORT(e, n, descending) vqsort_pairs(e, n)
#include "sort/wide_template.h"

static bool
long_pair_min_max(const RowsLongPair *pairs, size_t n, RowsLongPair *low, RowsLongPair *high,
				  const SortContext *context)
{
	size_t		i;

	*low = *high = pairs[0];
	for (i = 1; i < n; i++)
	{
		*low = pairs[i] < *low ? pairs[i] : *low;
		*high = pairs[i] > *high ? pairs[i] : *high;
		if (i % CHECK_EVERY == 0 && sort_interrupted(context))
			return false;
	}
	return true;
}

/* As kernel_partition_pairs, without vectors, which have no 128-bit lanes, and branches. */
static bool
partition_long_pairs(RowsLongPair *pairs, size_t n, RowsLongPair pivot, size_t *nleft,
					 const SortContext *context)
{
	size_t		left = 0;
	size_t		i = 0;

	while (i < n)
	{
		size_t		end = n - i < CHECK_EVERY ? n : i + CHECK_EVERY;

		for (; i < end; i++)
		{
			RowsLongPair pair = pairs[i];

			pairs[i] = pairs[left];
			pairs[left] = pair;
			left += pair <= pivot;
		}
		if (sort_interrupted(context))
			return false;
	}
	*nleft = left;
	return true;
}

#define WIDE_NAME sort_long_pairs_split
#define WIDE_TYPE RowsLongPair
#define WIDE_UNSIGNED RowsLongPair
#define WIDE_BOUNDS(e, n, low, high, context) long_pair_min_max(e, n, &(low), &(high), context)
#define WIDE_PARTITION(e, n, pivot, descending, nleft, context) \
	partition_long_pairs(e, n, pivot, nleft, context)
#define WIDE_SORT(e, n, descending) vqsort_long_pairs(e, n)
#include "sort/wide_template.h"

/*
 * Up to so many elements, plain insertion beats the set-up of a vectorised sort:
 * 8 keys 49 and 284 ns, 32 keys 279 and 301, 48 keys 468 and 330 (AMD EPYC, Zen 5).
 */
#define INSERTION_MAX 32

#define INSERTION_SORT(TYPE, elements, n, IS_AFTER) \
	do { \
		size_t		i_; \
		for (i_ = 1; i_ < (n); i_++) \
		{ \
			TYPE		e_ = (elements)[i_]; \
			size_t		j_ = i_; \
			for (; j_ > 0 && IS_AFTER((elements)[j_ - 1], e_); j_--) \
				(elements)[j_] = (elements)[j_ - 1]; \
			(elements)[j_] = e_; \
		} \
	} while (0)

#define ABOVE(a, b) ((a) > (b))
#define AFTER(a, b) (descending ? (a) < (b) : (a) > (b))

bool
wide_sort_keys(int32_t *keys, size_t n, bool descending, const SortContext *context)
{
	if (n > INSERTION_MAX)
		return sort_keys_split(keys, n, descending, false, context);
	INSERTION_SORT(int32_t, keys, n, AFTER);
	return true;
}

bool
wide_sort_pairs(uint64_t *pairs, size_t n, const SortContext *context)
{
	return sort_pairs_split(pairs, n, false, false, context);
}

bool
wide_sort_long_pairs(RowsLongPair *pairs, size_t n, const SortContext *context)
{
	if (n > INSERTION_MAX)
		return sort_long_pairs_split(pairs, n, false, false, context);
	INSERTION_SORT(RowsLongPair, pairs, n, ABOVE);
	return true;
}
