/*
 * value_ranges.c
 *		Sets of values as ranges (see value_ranges.h).
 */
#include "sort/extents/value_ranges.h"

#include "sort/kernels/kernels.h"

size_t
value_ranges_of_values(int32_t *values, size_t n, ValueRange *out)
{
	size_t		count = 0;
	size_t		i;

	vqsort_keys(values, n, 0);
	for (i = 0; i < n; i++)
	{
		if (count > 0 && (int64_t) values[i] <= (int64_t) out[count - 1].hi + 1)
			out[count - 1].hi = values[i];
		else
			out[count++] = (ValueRange)
		{
			values[i], values[i]
		};
	}
	return count;
}

size_t
value_ranges_complement(const ValueRange *ranges, size_t n, ValueRange *out)
{
	int64_t		next = INT32_MIN;	/* of the values that are not behind a range yet */
	size_t		count = 0;
	size_t		i;

	for (i = 0; i < n; i++)
	{
		if (ranges[i].lo > next)
			out[count++] = (ValueRange)
		{
			(int32_t) next, ranges[i].lo - 1
		};
		next = (int64_t) ranges[i].hi + 1;
	}
	if (next <= INT32_MAX)
		out[count++] = (ValueRange)
	{
		(int32_t) next, INT32_MAX
	};
	return count;
}

size_t
value_ranges_intersect(const ValueRange *a, size_t na, const ValueRange *b, size_t nb,
					   ValueRange *out)
{
	size_t		count = 0;
	size_t		i = 0;
	size_t		j = 0;

	while (i < na && j < nb)
	{
		int32_t		lo = a[i].lo > b[j].lo ? a[i].lo : b[j].lo;
		int32_t		hi = a[i].hi < b[j].hi ? a[i].hi : b[j].hi;

		if (lo <= hi)
			out[count++] = (ValueRange)
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
