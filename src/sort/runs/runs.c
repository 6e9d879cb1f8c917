/*
 * runs.c
 *		Runs: the 0-compressed histogram as a list (see runs.h).
 */
#include "sort/runs/runs.h"

#include <string.h>

#include "sort/kernels/kernels.h"
#include "sort/steps.h"

#define RUNS_TYPE Runs
#define RUNS_KEY int32_t
#define RUNS_NAME(name) runs_##name
#define RUNS_SCOPE
#include "sort/runs/runs_template.h"

bool
runs_merge(Runs *runs, const int32_t *keys, const uint64_t *counts, size_t len,
		   const SortAllocator *a)
{
	size_t		fresh;
	size_t		room;

	if (len == 0)
		return true;
	(void) runs_count_fresh(runs, keys, len, NULL, &fresh);
	room = runs->len + fresh;
	/* A little more than needed, so that many small merges stay linear. */
	if (room > runs->capacity && !runs_reserve(runs, room + room / 4, a))
		return false;
	(void) runs_merge_fresh(runs, keys, counts, len, fresh, NULL);
	return true;
}

void
runs_add_up(const Runs *a, size_t *i, const Runs *b, size_t *j, Runs *out, size_t max)
{
	const size_t end_a = a->len;
	const size_t end_b = b->len;
	size_t		at_a = *i;
	size_t		at_b = *j;
	size_t		to = out->len;

	for (; max > 0 && at_a < end_a && at_b < end_b; max--)
	{
		int32_t		key_a = a->keys[at_a];
		int32_t		key_b = b->keys[at_b];
		uint64_t	take_a = key_a <= key_b;
		uint64_t	take_b = key_b <= key_a;

		out->keys[to] = key_a <= key_b ? key_a : key_b;
		out->counts[to++] = (a->counts[at_a] & -take_a) + (b->counts[at_b] & -take_b);
		at_a += take_a;
		at_b += take_b;
	}
	*i = at_a;
	*j = at_b;
	out->len = to;
}

SortStatus
runs_of_all(Runs *runs, const int32_t *ordered, size_t n, const SortContext *context,
			SortError *err)
{
	uint64_t	distinct;
	uint64_t	end;
	size_t		at = 0;

	if (!runs_count_all(ordered, n, &distinct, context))
		return sort_cancelled(err);
	if (!runs_reserve(runs, (size_t) distinct, &context->allocator))
		return sort_no_memory(err);
	while (sort_step(context, runs->len, distinct, &end))
		runs->len += runs_take_lengths(ordered, &at, n, runs->keys + runs->len,
									   runs->counts + runs->len, (size_t) end - runs->len);
	return runs->len == distinct ? SORT_OK : sort_cancelled(err);
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
	uint64_t	i = 0;
	uint64_t	end;

	*distinct = n > 0;
	/* Also whether the next step begins with another key. */
	for (; sort_step(context, i, n, &end); i = end)
		*distinct += kernel_count_changes(ordered + i, (size_t) (end - i) + (end < n));
	return i == n;
}
