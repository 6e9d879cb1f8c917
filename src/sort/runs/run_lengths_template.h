/*
 * run_lengths_template.h
 *		Runs of keys in ascending order, for one type of keys.
 *
 * Included by sorter_cursor.c and long_sorter.c, after defining
 *	LENGTHS_TYPE		key
 *	LENGTHS_EQUAL		name of the function that finds one run's length
 *	LENGTHS_TAKE		name of the function that finds many runs
 */

/* Keys looked at by one loop without branches, and the length of a run that is skipped. */
#define LENGTHS_STRIDE 256
#define LENGTHS_LONG 32

/*
 * How many of n ascending keys equal the first one, or with last, the last one.
 * The search goes in steps that double and afterwards halve, because a single
 * run may be all n keys long.
 */
static inline size_t
LENGTHS_EQUAL(const LENGTHS_TYPE * keys, size_t n, bool last)
{
	const		LENGTHS_TYPE key = keys[last ? n - 1 : 0];
	size_t		equal = 1;
	size_t		step = 1;

	while (step <= n - equal && keys[last ? n - equal - step : equal + step - 1] == key)
	{
		equal += step;
		step *= 2;
	}
	for (; step > 0; step /= 2)
		if (step <= n - equal && keys[last ? n - equal - step : equal + step - 1] == key)
			equal += step;
	return equal;
}

/*
 * Writes up to max runs of ordered[*at .. end) to keys and counts, moves *at behind
 * them and returns their number, which is less than max only at the end.  A key is
 * written to the place of its run, with the position behind it, and the place moves
 * on where the next key is another one: no branch depends on short runs.  Counts
 * are the differences of the positions.
 */
static size_t
LENGTHS_TAKE(const LENGTHS_TYPE * ordered, size_t *at, size_t end, LENGTHS_TYPE * keys,
			 uint64_t *counts, size_t max)
{
	const size_t first = *at;
	size_t		got = 0;
	size_t		i = first;

	while (got < max && i < end)
	{
		/* As many keys as there are places have no more runs than that. */
		size_t		room = max - got < LENGTHS_STRIDE ? max - got : LENGTHS_STRIDE;
		size_t		stop = end - i < room ? end : i + room;
		size_t		last = stop == end ? end - 1 : stop;

		if (end - i >= LENGTHS_LONG && ordered[i] == ordered[i + LENGTHS_LONG - 1])
		{
			keys[got] = ordered[i];
			i += LENGTHS_EQUAL(ordered + i, end - i, false);
			counts[got++] = i;
			continue;
		}
		for (; i < last; i++)
		{
			keys[got] = ordered[i];
			counts[got] = i + 1;
			got += ordered[i] != ordered[i + 1];
		}
		if (i < stop)
		{
			/* No key follows the last one. */
			keys[got] = ordered[i++];
			counts[got++] = i;
		}
	}
	*at = i;
	for (i = got; i > 1; i--)
		counts[i - 1] -= counts[i - 2];
	if (got > 0)
		counts[0] -= first;
	return got;
}

#undef LENGTHS_STRIDE
#undef LENGTHS_LONG
#undef LENGTHS_TYPE
#undef LENGTHS_EQUAL
#undef LENGTHS_TAKE
