/*
 * bitonic_template.h
 *		The steps of bucket_bitonic.c that move elements, for one type of elements.
 *
 * Included once for each type, after defining
 *	BITONIC(name)		name of a function
 *	BITONIC_TYPE		element, unsigned, in whose order the elements are sorted
 *	BITONIC_KEY(e)		the key of an element, 32 bits
 *	BITONIC_HAS_ROWS	whether elements have row numbers, by which equal keys are sorted
 *	BITONIC_ROW(e)		the row number of an element
 */

/* Finds the extremes of a list by value, infinities left out, and its disorder (Eq. 2). */
static bool
BITONIC(measure) (Bitonic *b, const BITONIC_TYPE * list, size_t n, Slices *slices)
{
	double		sum = 0;
	double		before = 0;
	uint32_t	least = UINT32_MAX;
	uint32_t	most = 0;
	uint64_t	i = 0;
	uint64_t	end;

	slices->low = INFINITY;
	slices->high = -INFINITY;
	while (sort_step(b->p->context, i, n, &end))
		for (; i < end; i++)
		{
			uint32_t	key = BITONIC_KEY(list[i]);
			double		value = slices->by_rows ? BITONIC_ROW(list[i]) :
			value_of(b, slices->floats, key);

			least = key < least ? key : least;
			most = key > most ? key : most;
			if (isinf(value))
				continue;
			slices->low = value < slices->low ? value : slices->low;
			slices->high = value > slices->high ? value : slices->high;
			if (i > 0)
				sum += fabs(value - before);
			before = value;
		}
	if (i < n)
		return false;
	slices->flat = least == most;
	slices->disorder = slices->high > slices->low ? sum / (slices->high - slices->low) : 0;
	return true;
}

/* Algorithm 1: finds each element's slice and its offset there, in the order of the threads. */
static bool
BITONIC(divide) (Bitonic *b, const BITONIC_TYPE * list, size_t n, const Slices *slices)
{
	uint64_t	blocks = ((uint64_t) n + b->bucket_keys - 1) / b->bucket_keys;
	uint32_t	t;

	for (uint64_t block = 0; block < blocks; block++)
	{
		for (t = 0; t < b->bucket_keys; t++)
		{
			/* Eq. 4 of nearly sorted lists, or Eq. 3 */
			uint64_t	i = slices->nearly_sorted ? blocks * t + block
			: (uint64_t) b->bucket_keys * block + t;
			uint32_t	slice;

			if (i >= n)
				break;
			slice = slice_of(slices, slices->by_rows ? BITONIC_ROW(list[i])
							 : value_of(b, slices->floats, BITONIC_KEY(list[i])));
			b->slice_of_elements[i] = slice;
			b->offset_in_slice[i] = b->slice_sizes[slice]++;
		}
		if (!published_goes_on(b->p, t))
			return false;
	}
	return true;
}

/* Algorithm 3: moves the elements to their places, and the new list over the old one. */
static bool
BITONIC(move) (Bitonic *b, BITONIC_TYPE * list, size_t n)
{
	BITONIC_TYPE *new_list = b->new_list;
	uint64_t	i = 0;
	uint64_t	end;

	while (sort_step(b->p->context, i, n, &end))
		for (; i < end; i++)
			new_list[b->slice_offsets[b->slice_of_elements[i]] + b->offset_in_slice[i]] = list[i];
	return i == n && sort_copy(b->p->context, list, new_list, n, sizeof(BITONIC_TYPE));
}

/* Sorts a bucket by the bitonic network, padded to M with the greatest element. */
static void
BITONIC(network) (Bitonic *b, BITONIC_TYPE * bucket, size_t n)
{
	BITONIC_TYPE *shared = b->shared;
	uint32_t	m = b->bucket_keys;

	memcpy(shared, bucket, n * sizeof(BITONIC_TYPE));
	memset(shared + n, 0xFF, (m - n) * sizeof(BITONIC_TYPE));
	for (uint32_t k = 2; k <= m; k *= 2)
		for (uint32_t j = k / 2; j > 0; j /= 2)
			for (uint32_t base = 0; base < m; base += 2 * j)
			{
				bool		up = (base & k) == 0;

				for (uint32_t i = base; i < base + j; i++)
				{
					BITONIC_TYPE one = shared[i];
					BITONIC_TYPE other = shared[i + j];
					BITONIC_TYPE less = one < other ? one : other;
					BITONIC_TYPE more = one < other ? other : one;

					shared[i] = up ? less : more;
					shared[i + j] = up ? more : less;
				}
			}
	memcpy(bucket, shared, n * sizeof(BITONIC_TYPE));
}

/* Sorts the buckets of a list.  Buckets with too many elements become lists of the next level. */
static bool
BITONIC(sort_buckets) (Bitonic *b, BITONIC_TYPE * list, const List *whole, uint64_t buckets)
{
	for (uint64_t i = 0; i < buckets; i++)
	{
		uint64_t	from = b->bucket_offsets[i];
		uint64_t	to = i + 1 < buckets ? b->bucket_offsets[i + 1] : whole->n;

		if (to - from > b->bucket_keys)
		{
			b->next[b->nnext++] = (List)
			{
				whole->from + from, to - from
			};
			continue;
		}
		BITONIC(network) (b, list + from, (size_t) (to - from));
		b->p->sort->report.buckets++;
		/* each of M elements meets some log2(M)^2 / 2 others */
		if (!published_goes_on(b->p, (uint64_t) b->bucket_keys * 16))
			return false;
	}
	return true;
}

/*
 * Decides by what a list is cut, and measures it:
 *
 * - by the values of floats, or of integers;
 * - by row numbers if all keys are equal;
 * - by the order of images if the floats have no two different finite values.
 *
 * Sets *flat if nothing is left to be sorted.
 */
static bool
BITONIC(look) (Bitonic *b, const BITONIC_TYPE * list, size_t n, Slices *slices, bool *flat)
{
	if (!BITONIC(measure) (b, list, n, slices))
		return false;
	*flat = slices->flat && !BITONIC_HAS_ROWS;
	if (*flat)
		return true;
	if (slices->flat)
	{
		slices->by_rows = true;
		return BITONIC(measure) (b, list, n, slices);
	}
	/* infinities and NaNs, beside at most one number: by the order of their images */
	if (slices->high <= slices->low)
	{
		slices->floats = false;
		return BITONIC(measure) (b, list, n, slices);
	}
	return true;
}

/*
 * Sorts all levels.  The lists of a level are the buckets with too many elements of the level
 * before.
 */
static bool
BITONIC(sort) (Bitonic *b, BITONIC_TYPE * elements, size_t n)
{
	PublishedReport *report = &b->p->sort->report;

	b->next[b->nnext++] = (List)
	{
		0, n
	};
	while (b->nnext > 0)
	{
		List	   *lists = b->next;
		uint64_t	nlists = b->nnext;

		b->next = b->lists;
		b->lists = lists;
		b->nnext = 0;
		report->rounds++;
		for (uint64_t l = 0; l < nlists; l++)
		{
			List	   *whole = &lists[l];
			BITONIC_TYPE *list = elements + whole->from;
			Slices		slices = {.floats = b->p->sort->floats};
			uint64_t	buckets;
			bool		flat;

			if (!BITONIC(look) (b, list, whole->n, &slices, &flat))
				return false;
			published_phase(b->p, "extremes");
			if (flat)
			{
				report->flat++;
				continue;
			}
			cut_slices(b, whole->n, &slices);
			if (!sort_zero(b->p->context, b->slice_sizes, (uint64_t) slices.count + 2,
						   sizeof(uint32_t)) ||
				!BITONIC(divide) (b, list, whole->n, &slices))
				return false;
			published_phase(b->p, "slices");
			buckets = make_buckets(b, &slices);
			published_phase(b->p, "buckets");
			if (!BITONIC(move) (b, list, whole->n))
				return false;
			published_phase(b->p, "moving");
			if (!BITONIC(sort_buckets) (b, list, whole, buckets))
				return false;
			published_phase(b->p, "bitonic");
		}
	}
	return true;
}

#undef BITONIC
#undef BITONIC_TYPE
#undef BITONIC_KEY
#undef BITONIC_HAS_ROWS
#undef BITONIC_ROW
