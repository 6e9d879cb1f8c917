/*
 * runs.c
 *		Runs: the 0-compressed histogram as a list (see runs.h).
 */
#include "sort/runs.h"

#include <string.h>

#include "sort/error.h"
#include "sort/kernels.h"

/* Keys compared between two looks at the interrupt callback. */
#define CHECK_EVERY ((size_t) 1 << 20)

bool
runs_reserve(Runs *runs, size_t capacity, const SortAllocator *a)
{
	int32_t    *keys;
	uint64_t   *counts;

	if (capacity <= runs->capacity)
		return true;
	if (capacity > SIZE_MAX / sizeof(uint64_t))
		return false;

	/* Both arrays or neither: a half-grown list would lie about its room. */
	keys = a->alloc(a->arena, capacity * sizeof(int32_t));
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
		memcpy(keys, runs->keys, runs->len * sizeof(int32_t));
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

void
runs_release(Runs *runs, const SortAllocator *a)
{
	if (runs->capacity > 0)
	{
		a->release(a->arena, runs->keys);
		a->release(a->arena, runs->counts);
	}
	memset(runs, 0, sizeof(*runs));
}

bool
runs_merge(Runs *runs, const int32_t *keys, const uint64_t *counts, size_t len,
		   const SortAllocator *a)
{
	size_t		fresh = 0;
	size_t		i;
	size_t		j;
	size_t		at;

	if (len == 0)
		return true;

	/*
	 * How many keys are new decides the room; usually none are.  Looked for
	 * from the first one on, so that a long list appended piece by piece
	 * costs its length only.
	 */
	for (i = runs_lower_bound(runs, keys[0]), j = 0; j < len; j++)
	{
		while (i < runs->len && runs->keys[i] < keys[j])
			i++;
		if (i == runs->len || runs->keys[i] != keys[j])
			fresh++;
	}

	if (runs->len + fresh > runs->capacity)
	{
		size_t		room = runs->len + fresh;

		/* A little more than needed, so that many small merges stay linear. */
		if (!runs_reserve(runs, room + room / 4, a))
			return false;
	}

	/* From the end, in place: the list's tail moves up past the new keys. */
	i = runs->len;
	j = len;
	at = runs->len + fresh;
	runs->len = at;
	while (j > 0)
	{
		if (i > 0 && runs->keys[i - 1] > keys[j - 1])
		{
			i--;
			at--;
			runs->keys[at] = runs->keys[i];
			runs->counts[at] = runs->counts[i];
		}
		else
		{
			uint64_t	count = counts[j - 1];

			if (i > 0 && runs->keys[i - 1] == keys[j - 1])
				count += runs->counts[--i];
			at--;
			runs->keys[at] = keys[--j];
			runs->counts[at] = count;
		}
	}
	return true;
}

/* Adds keys in order, none below the last run's; there is room for all runs. */
static void
append_ordered(Runs *runs, const int32_t *ordered, size_t n)
{
	size_t		i;

	for (i = 0; i < n;)
	{
		size_t		j = i + 1;

		while (j < n && ordered[j] == ordered[i])
			j++;
		if (runs->len > 0 && runs->keys[runs->len - 1] == ordered[i])
			runs->counts[runs->len - 1] += j - i;
		else
			runs_append(runs, ordered[i], j - i);
		i = j;
	}
}

bool
runs_of_ordered(Runs *runs, const int32_t *ordered, size_t n, const SortAllocator *a)
{
	if (!runs_reserve(runs, (size_t) runs_count_distinct(ordered, n), a))
		return false;
	append_ordered(runs, ordered, n);
	return true;
}

SortStatus
runs_of_all(Runs *runs, const int32_t *ordered, size_t n, const SortContext *context,
			SortError *err)
{
	uint64_t	distinct;
	size_t		i;

	if (!runs_count_all(ordered, n, &distinct, context))
		return sort_cancelled(err);
	if (!runs_reserve(runs, (size_t) distinct, &context->allocator))
		return sort_no_memory(err);
	for (i = 0; i < n; i += CHECK_EVERY)
	{
		append_ordered(runs, ordered + i, n - i < CHECK_EVERY ? n - i : CHECK_EVERY);
		if (n > CHECK_EVERY && sort_interrupted(context))
			return sort_cancelled(err);
	}
	return SORT_OK;
}

size_t
runs_lower_bound(const Runs *runs, int32_t key)
{
	size_t		low = 0;
	size_t		high = runs->len;

	while (low < high)
	{
		size_t		middle = low + (high - low) / 2;

		if (runs->keys[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void
runs_delete(Runs *runs, size_t from, size_t to)
{
	if (from == to)
		return;
	memmove(runs->keys + from, runs->keys + to, (runs->len - to) * sizeof(int32_t));
	memmove(runs->counts + from, runs->counts + to, (runs->len - to) * sizeof(uint64_t));
	runs->len -= to - from;
}

uint64_t
runs_count_distinct(const int32_t *ordered, size_t n)
{
	return n == 0 ? 0 : kernel_count_changes(ordered, n) + 1;
}

bool
runs_count_all(const int32_t *ordered, size_t n, uint64_t *distinct, const SortContext *context)
{
	size_t		i;

	*distinct = n > 0;
	for (i = 0; i + 1 < n; i += CHECK_EVERY)
	{
		/* Also whether the next part begins with another key. */
		*distinct += kernel_count_changes(ordered + i, n - i <= CHECK_EVERY ? n - i : CHECK_EVERY + 1);
		if (n > CHECK_EVERY && sort_interrupted(context))
			return false;
	}
	return true;
}
