/*
 * runs_template.h
 *		Lists of runs for one type of keys: room, searching and merging; and runs of keys in
 *		order.
 *
 * Included by runs.c and long_sorter.c, after defining
 *	RUNS_TYPE			list of runs, with members keys, counts, len and capacity
 *	RUNS_KEY			its key
 *	RUNS_NAME(name)		name of a function
 *	RUNS_SCOPE			static, or nothing if a header declares reserve, release, key_lower_bound,
 *						equal_keys and take_lengths
 */

/* Makes room for capacity runs in all; false, and nothing changed, when there is no memory. */
RUNS_SCOPE bool
RUNS_NAME(reserve) (RUNS_TYPE * runs, size_t capacity, const SortAllocator *a)
{
	RUNS_KEY   *keys;
	uint64_t   *counts;

	if (capacity <= runs->capacity)
		return true;
	if (capacity > SIZE_MAX / sizeof(uint64_t))
		return false;

	/* Both arrays or neither: a half-grown list would lie about its room. */
	keys = a->alloc(a->arena, capacity * sizeof(RUNS_KEY));
	if (keys == NULL)
		return false;
	counts = a->alloc(a->arena, capacity * sizeof(uint64_t));
	if (counts == NULL)
	{
		a->release(a->arena, keys);
		return false;
	}
	if (runs->len > 0)
	{
		memcpy(keys, runs->keys, runs->len * sizeof(RUNS_KEY));
		memcpy(counts, runs->counts, runs->len * sizeof(uint64_t));
	}
	if (runs->capacity > 0)
	{
		a->release(a->arena, runs->keys);
		a->release(a->arena, runs->counts);
	}
	runs->keys = keys;
	runs->counts = counts;
	runs->capacity = capacity;
	return true;
}

/* Frees the list and leaves it empty. */
RUNS_SCOPE void
RUNS_NAME(release) (RUNS_TYPE * runs, const SortAllocator *a)
{
	if (runs->capacity > 0)
	{
		a->release(a->arena, runs->keys);
		a->release(a->arena, runs->counts);
	}
	memset(runs, 0, sizeof(*runs));
}

/* Returns the index of the first of n ascending keys that is >= key; n if there is none. */
RUNS_SCOPE size_t
RUNS_NAME(key_lower_bound) (const RUNS_KEY * keys, size_t n, RUNS_KEY key)
{
	size_t		low = 0;
	size_t		high = n;

	while (low < high)
	{
		size_t		middle = low + (high - low) / 2;

		if (keys[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Counts the different keys among len > 0 ascending ones that have no run yet; usually none
 * are.  They are looked for from the first one on, so that a long list appended piece by piece
 * costs its length only.  Returns false if interrupted; context may be NULL.
 */
static inline bool
RUNS_NAME(count_fresh) (const RUNS_TYPE * runs, const RUNS_KEY * keys, size_t len,
						const SortContext *context, size_t *fresh)
{
	size_t		i = RUNS_NAME(key_lower_bound) (runs->keys, runs->len, keys[0]);
	size_t		j = 0;
	size_t		steps = 0;

	*fresh = 0;
	while (j < len)
	{
		if (context && ++steps % SORT_CHECK_EVERY == 0 && sort_interrupted(context))
			return false;
		if (i < runs->len && runs->keys[i] < keys[j])
			i++;
		else
		{
			*fresh += (i == runs->len || runs->keys[i] != keys[j]) &&
				(j == 0 || keys[j - 1] != keys[j]);
			j++;
		}
	}
	return true;
}

/*
 * Adds len > 0 ascending keys, with their counts or, if counts is NULL, each once, to the list.
 * fresh of them have no run in it yet, for which there is room.  From the end, in place: the
 * list's tail moves up past the fresh keys.  Returns the number of steps, 0 if interrupted;
 * context may be NULL.
 */
static inline size_t
RUNS_NAME(merge_fresh) (RUNS_TYPE * runs, const RUNS_KEY * keys, const uint64_t *counts,
						size_t len, size_t fresh, const SortContext *context)
{
	size_t		i = runs->len;
	size_t		j = len;
	size_t		end = runs->len + fresh;
	size_t		at = end;
	size_t		steps = 0;

	while (j > 0)
	{
		RUNS_KEY	key = keys[j - 1];
		uint64_t	count;

		steps++;
		if (context && steps % SORT_CHECK_EVERY == 0 && sort_interrupted(context))
			return 0;
		if (i > 0 && runs->keys[i - 1] > key)
		{
			i--;
			at--;
			runs->keys[at] = runs->keys[i];
			runs->counts[at] = runs->counts[i];
			continue;
		}
		j--;
		if (counts == NULL && at < end && runs->keys[at] == key)
		{
			runs->counts[at]++;
			continue;
		}
		count = counts ? counts[j] : 1;
		/* The run may be in the very place that is written. */
		if (i > 0 && runs->keys[i - 1] == key)
			count += runs->counts[--i];
		at--;
		runs->keys[at] = key;
		runs->counts[at] = count;
	}
	runs->len = end;
	return steps;
}

/* --- runs of keys in ascending order */

/* Keys looked at by one loop without branches, and the length of a run that is skipped. */
#define LENGTHS_STRIDE 256
#define LENGTHS_LONG 32

/*
 * How many of n ascending keys equal the first one, or with last, the last one.
 * The search goes in steps that double and afterwards halve, because a single
 * run may be all n keys long.
 */
RUNS_SCOPE size_t
RUNS_NAME(equal_keys) (const RUNS_KEY * keys, size_t n, bool last)
{
	const		RUNS_KEY key = keys[last ? n - 1 : 0];
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
RUNS_SCOPE size_t
RUNS_NAME(take_lengths) (const RUNS_KEY * ordered, size_t *at, size_t end, RUNS_KEY * keys,
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
			i += RUNS_NAME(equal_keys) (ordered + i, end - i, false);
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
#undef RUNS_TYPE
#undef RUNS_KEY
#undef RUNS_NAME
#undef RUNS_SCOPE
