/*
 * sorter_cursor.c
 *		The keys or runs of a sorter in order, part by part (see
 *		sorter_parts.h).
 */
#include "sort/sorter/sorter_parts.h"

#include <string.h>

#include "sort/error.h"
#include "sort/kernels/kernels.h"

/* The parts of a cursor's way, upwards. */
enum
{
	PART_LOW,
	PART_DENSE,
	PART_HIGH,
	PART_END
};

/* Sets the cursor to the start of a part. */
static void
enter_part(SorterCursor *c, int part)
{
	const Sorter *s = c->sorter;
	const SorterBig *big = s->big;

	/*
	 * Where the keys in buf, or the runs in sparse, that are below dense end: all, without dense.
	 */
	bool		dense = big && big->dense.range > 0;
	size_t		keys = dense ? runs_key_lower_bound(s->buf, s->nbuf, big->dense.lo) : s->nbuf;
	size_t		runs = !big ? 0 : dense ? runs_lower_bound(&big->sparse, big->dense.lo) :
	big->sparse.len;

	c->part = part;
	c->run_used = 0;
	switch (part)
	{
		case PART_LOW:
			c->key_at = 0;
			c->key_end = keys;
			c->run_at = 0;
			c->run_end = runs;
			break;
		case PART_HIGH:
			c->key_at = keys;
			c->key_end = s->nbuf;
			c->run_at = runs;
			c->run_end = big ? big->sparse.len : 0;
			break;
		case PART_DENSE:
			c->bin_at = dense && c->descending ? big->dense.range : 0;
			c->bin_used = 0;
			break;
	}
}

/* Moves the cursor on to the next part in its direction; PART_END is behind the last one. */
static void
next_part(SorterCursor *c)
{
	if (!c->descending)
		enter_part(c, c->part + 1);
	else if (c->part == PART_LOW)
		c->part = PART_END;
	else
		enter_part(c, c->part - 1);
}

void
sorter_cursor_start(Sorter *s, bool descending, SorterCursor *c)
{
	memset(c, 0, sizeof(*c));
	c->sorter = s;
	c->descending = descending;
	enter_part(c, descending ? PART_HIGH : PART_LOW);
}

/*
 * Writes keys of a low or high part to out, max at most: as they are in buf, or expanded from runs.
 * Returns how many; fewer than max are all that are left of the part.
 */
static size_t
take_keys(SorterCursor *c, int32_t *out, size_t max)
{
	const Sorter *s = c->sorter;
	size_t		got = 0;

	if (c->key_at < c->key_end)
	{
		size_t		part = c->key_end - c->key_at < max ? c->key_end - c->key_at : max;

		if (c->descending)
		{
			for (size_t i = 0; i < part; i++)
				out[i] = s->buf[c->key_end - 1 - i];
			c->key_end -= part;
		}
		else
		{
			memcpy(out, s->buf + c->key_at, part * sizeof(int32_t));
			c->key_at += part;
		}
		got = part;
	}
	while (got < max && c->run_at < c->run_end)
	{
		const Runs *runs = &s->big->sparse;
		size_t		j = c->descending ? c->run_end - 1 : c->run_at;
		uint64_t	left = runs->counts[j] - c->run_used;
		size_t		part = left < max - got ? (size_t) left : max - got;

		kernel_fill(out + got, part, runs->keys[j]);
		got += part;
		c->run_used += part;
		if (part == left)
		{
			c->run_used = 0;
			if (c->descending)
				c->run_end--;
			else
				c->run_at++;
		}
	}
	return got;
}

SortStatus
sorter_cursor_keys(SorterCursor *c, int32_t *out, size_t max, size_t *got, SortError *err)
{
	SorterBig  *big = c->sorter->big;

	*got = 0;
	if (sort_interrupted(c->sorter->context))
		return sort_cancelled(err);
	while (*got < max && c->part != PART_END)
	{
		size_t		part;

		if (c->part != PART_DENSE)
			part = take_keys(c, out + *got, max - *got);
		else if (big && big->dense.range > 0)
			part = histogram_expand(&big->dense, c->descending, &c->bin_at, &c->bin_used,
									out + *got, max - *got);
		else
			part = 0;
		*got += part;
		if (*got < max)
			next_part(c);
	}
	if (big)
		big->bytes_moved += *got * sizeof(int32_t);
	return SORT_OK;
}

/*
 * Writes runs of a low or high part to keys and counts, max at most: counted in buf's ordered keys,
 * or runs as they are in sparse.  Returns how many; fewer than max are all that are left of the
 * part.
 */
static size_t
take_runs(SorterCursor *c, int32_t *keys, uint64_t *counts, size_t max)
{
	const Sorter *s = c->sorter;
	size_t		got = 0;

	if (!c->descending)
		got = runs_take_lengths(s->buf, &c->key_at, c->key_end, keys, counts, max);
	while (got < max && c->key_at < c->key_end)
	{
		size_t		count = runs_equal_keys(s->buf + c->key_at, c->key_end - c->key_at, true);

		keys[got] = s->buf[c->key_end - 1];
		counts[got++] = count;
		c->key_end -= count;
	}
	while (got < max && c->run_at < c->run_end)
	{
		size_t		j = c->descending ? --c->run_end : c->run_at++;

		keys[got] = s->big->sparse.keys[j];
		counts[got++] = s->big->sparse.counts[j];
	}
	return got;
}

/* Writes runs of dense, its bins that are not empty, to keys and counts; returns how many. */
static size_t
take_bins(SorterCursor *c, int32_t *keys, uint64_t *counts, size_t max)
{
	const Histogram *h = &c->sorter->big->dense;
	size_t		got = 0;

	while (got < max)
	{
		uint64_t	v;

		if (c->descending)
		{
			c->bin_at = histogram_previous(h, c->bin_at);
			if (c->bin_at == 0)
				break;
			v = --c->bin_at;
		}
		else
		{
			c->bin_at = histogram_next(h, c->bin_at);
			if (c->bin_at == h->range)
				break;
			v = c->bin_at++;
		}
		keys[got] = histogram_key(h, v);
		counts[got++] = histogram_count(h, v);
	}
	return got;
}

size_t
sorter_cursor_take_runs(SorterCursor *c, int32_t *keys, uint64_t *counts, size_t max)
{
	SorterBig  *big = c->sorter->big;
	size_t		got = 0;

	while (got < max && c->part != PART_END)
	{
		if (c->part != PART_DENSE)
			got += take_runs(c, keys + got, counts + got, max - got);
		else if (big && big->dense.range > 0)
			got += take_bins(c, keys + got, counts + got, max - got);
		if (got < max)
			next_part(c);
	}
	if (big)
		big->bytes_moved += got * (sizeof(int32_t) + sizeof(uint64_t));
	return got;
}

SortStatus
sorter_cursor_runs(SorterCursor *c, int32_t *keys, uint64_t *counts, size_t max, size_t *got,
				   SortError *err)
{
	*got = 0;
	if (sort_interrupted(c->sorter->context))
		return sort_cancelled(err);
	*got = sorter_cursor_take_runs(c, keys, counts, max);
	return SORT_OK;
}
