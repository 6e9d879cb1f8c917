/*
 * wide_template.h
 *		Splitting a large array by leading bits, for one element type.
 *
 * Included by wide.c once a type, after defining
 *	WIDE_NAME		name of the function
 *	WIDE_TYPE		element
 *	WIDE_DIGIT(x, low, shift)	position of element x's bucket, 0 .. WIDE_BUCKETS - 1
 *	WIDE_BOUNDS(elements, n, low, shift)	finds them; false if all are equal
 *	WIDE_SORT(elements, n, descending)		sorts a small part
 */
static bool
WIDE_NAME(WIDE_TYPE *elements, size_t n, bool descending, const SortContext *context)
{
	size_t		start[WIDE_BUCKETS];
	size_t		next[WIDE_BUCKETS];
	size_t		end[WIDE_BUCKETS];
	uint64_t	low;
	int			shift;
	size_t		i;
	int			b;

	if (n <= WIDE_UNINTERRUPTED / sizeof(WIDE_TYPE))
	{
		WIDE_SORT(elements, n, descending);
		return !sort_interrupted(context);
	}
	if (!WIDE_BOUNDS(elements, n, low, shift))
		return !sort_interrupted(context);

	memset(end, 0, sizeof(end));
	for (i = 0; i < n; i++)
	{
		end[WIDE_DIGIT(elements[i], low, shift)]++;
		if (i % WIDE_CHECK_EVERY == 0 && sort_interrupted(context))
			return false;
	}
	for (i = 0, b = 0; b < WIDE_BUCKETS; b++)
	{
		/* Downwards, the highest bucket comes first. */
		int			place = descending ? WIDE_BUCKETS - 1 - b : b;

		start[place] = next[place] = i;
		i += end[place];
		end[place] = i;
	}

	/*
	 * American flag sort's permutation: each element is carried straight to
	 * the next free place of its bucket, the one found there carried on.
	 */
	for (i = 0, b = 0; b < WIDE_BUCKETS; b++)
	{
		while (next[b] < end[b])
		{
			WIDE_TYPE	carried = elements[next[b]];
			int			digit;

			while ((digit = (int) WIDE_DIGIT(carried, low, shift)) != b)
			{
				WIDE_TYPE	found = elements[next[digit]];

				elements[next[digit]++] = carried;
				carried = found;
				if (++i % WIDE_CHECK_EVERY == 0 && sort_interrupted(context))
				{
					/* Whoever reads on must still find all the elements. */
					elements[next[b]] = carried;
					return false;
				}
			}
			elements[next[b]++] = carried;
			if (++i % WIDE_CHECK_EVERY == 0 && sort_interrupted(context))
				return false;
		}
	}

	for (b = 0; b < WIDE_BUCKETS; b++)
		if (!WIDE_NAME(elements + start[b], end[b] - start[b], descending, context))
			return false;
	return true;
}

#undef WIDE_NAME
#undef WIDE_TYPE
#undef WIDE_DIGIT
#undef WIDE_BOUNDS
#undef WIDE_SORT
