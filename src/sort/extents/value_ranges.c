/*
 * value_ranges.c
 *		Sets of values as ranges (see value_ranges.h).
 */
#include "sort/extents/value_ranges.h"

#include "sort/kernels/kernels.h"

#define SIGN (UINT64_C(1) << 63)

size_t
long_ranges_of_values(int64_t *values, size_t n, LongRange *out)
{
	uint64_t   *images = (uint64_t *) values;
	size_t		count = 0;

	for (size_t i = 0; i < n; i++)
		images[i] ^= SIGN;
	vqsort_pairs(images, n);
	for (size_t i = 0; i < n; i++)
	{
		images[i] ^= SIGN;
		/* hi is not the largest int64 unless this value is the same. */
		if (count > 0 && (values[i] == out[count - 1].hi || values[i] == out[count - 1].hi + 1))
			out[count - 1].hi = values[i];
		else
			out[count++] = (LongRange)
		{
			values[i], values[i]
		};
	}
	return count;
}

size_t
long_ranges_complement(const LongRange *ranges, size_t n, LongRange *out)
{
	int64_t		next = INT64_MIN;	/* of the values that are not behind a range yet */
	size_t		count = 0;

	for (size_t i = 0; i < n; i++)
	{
		if (ranges[i].lo > next)
			out[count++] = (LongRange)
		{
			next, ranges[i].lo - 1
		};
		if (ranges[i].hi == INT64_MAX)
			return count;
		next = ranges[i].hi + 1;
	}
	out[count++] = (LongRange)
	{
		next, INT64_MAX
	};
	return count;
}

size_t
long_ranges_intersect(const LongRange *a, size_t na, const LongRange *b, size_t nb,
					  LongRange *out)
{
	size_t		count = 0;
	size_t		i = 0;
	size_t		j = 0;

	while (i < na && j < nb)
	{
		int64_t		lo = a[i].lo > b[j].lo ? a[i].lo : b[j].lo;
		int64_t		hi = a[i].hi < b[j].hi ? a[i].hi : b[j].hi;

		if (lo <= hi)
			out[count++] = (LongRange)
		{
			lo, hi
		};
		/* The range that ends first has nothing in common with what comes next. */
		if (a[i].hi < b[j].hi)
			i++;
		else
			j++;
	}
	return count;
}

size_t
long_ranges_narrow(const LongRange *ranges, size_t n, int64_t bias, ValueRange *out)
{
	int64_t		least = INT32_MIN + bias;
	int64_t		most = INT32_MAX + bias;
	size_t		count = 0;

	for (size_t i = 0; i < n; i++)
	{
		int64_t		lo = ranges[i].lo > least ? ranges[i].lo : least;
		int64_t		hi = ranges[i].hi < most ? ranges[i].hi : most;

		if (lo <= hi)
			out[count++] = (ValueRange)
		{
			(int32_t) (lo - bias), (int32_t) (hi - bias)
		};
	}
	return count;
}
