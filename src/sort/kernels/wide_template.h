/*
 * wide_template.h
 *		Quicksort down to parts small enough for VQSort, and insertion sort of few elements,
 *		for one element type.
 *
 * Included by wide.c once a type, after defining
 *	WIDE_NAME(name)	name of a function
 *	WIDE_TYPE		element
 *	WIDE_BOUNDS(elements, n, low, high, context)	finds the smallest and the
 *					largest; false if interrupted; if not defined, the one below
 *	WIDE_PARTITION(elements, n, pivot, descending, nleft, context)	as kernel_partition_keys
 *	WIDE_SORT(elements, n, descending)	sorts a small part
 */

#ifndef WIDE_BOUNDS
#define WIDE_BOUNDS WIDE_NAME(find_bounds)

static bool
WIDE_NAME(find_bounds) (const WIDE_TYPE * elements, size_t n, WIDE_TYPE * low, WIDE_TYPE * high,
						const SortContext *context)
{
	uint64_t	i = 0;
	uint64_t	end;

	*low = *high = elements[0];
	while (sort_step(context, i, n, &end))
		for (; i < end; i++)
		{
			*low = elements[i] < *low ? elements[i] : *low;
			*high = elements[i] > *high ? elements[i] : *high;
		}
	return i == n;
}
#endif

/*
 * bisect: split in the middle between the smallest and the largest element
 * instead of at the median of a sample.  The calls below ask for it after a
 * sample has split badly; it bounds the depth, whatever the input, by the bits
 * of an element.
 */
static bool
WIDE_NAME(split) (WIDE_TYPE * elements, size_t n, bool descending, bool bisect,
				  const SortContext *context)
{
	while (n > WIDE_UNINTERRUPTED / sizeof(WIDE_TYPE))
	{
		WIDE_TYPE	sample[WIDE_SAMPLE];
		WIDE_TYPE	pivot;
		size_t		nleft;
		int			i;

		for (i = 0; i < WIDE_SAMPLE; i++)
			sample[i] = elements[n / WIDE_SAMPLE * (size_t) i + (size_t) i];
		WIDE_SORT(sample, WIDE_SAMPLE, false);

		/* Neither side may be empty, so not at the largest of the sample. */
		for (i = WIDE_SAMPLE / 2; i > 0 && sample[i] == sample[WIDE_SAMPLE - 1]; i--)
			;
		pivot = sample[i];
		if (bisect || pivot == sample[WIDE_SAMPLE - 1])
		{
			WIDE_TYPE	low;
			WIDE_TYPE	high;

			if (!WIDE_BOUNDS(elements, n, &low, &high, context))
				return false;
			if (low == high)
				return !sort_interrupted(context);
			pivot = (WIDE_TYPE) (low + (WIDE_TYPE) (((uint64_t) high - (uint64_t) low) / 2));
		}
		if (!WIDE_PARTITION(elements, n, pivot, descending, &nleft, context))
			return false;

		/* The smaller part first, so that at most 64 calls are nested. */
		bisect = nleft < n / 16 || n - nleft < n / 16;
		if (nleft < n / 2)
		{
			if (!WIDE_NAME(split) (elements, nleft, descending, bisect, context))
				return false;
			elements += nleft;
			n -= nleft;
		}
		else
		{
			if (!WIDE_NAME(split) (elements + nleft, n - nleft, descending, bisect, context))
				return false;
			n = nleft;
		}
	}
	WIDE_SORT(elements, n, descending);
	return !sort_interrupted(context);
}

/* Sorts n elements; false if interrupted, in any order then. */
static bool
WIDE_NAME(sort) (WIDE_TYPE * elements, size_t n, bool descending, const SortContext *context)
{
	size_t		j;

	if (n > WIDE_INSERTION_MAX)
		return WIDE_NAME(split) (elements, n, descending, false, context);
	for (size_t i = 1; i < n; i++)
	{
		WIDE_TYPE	moving = elements[i];

		for (j = i; j > 0; j--)
		{
			if (descending ? elements[j - 1] >= moving : elements[j - 1] <= moving)
				break;
			elements[j] = elements[j - 1];
		}
		elements[j] = moving;
	}
	return true;
}

#undef WIDE_NAME
#undef WIDE_TYPE
#undef WIDE_BOUNDS
#undef WIDE_PARTITION
#undef WIDE_SORT
