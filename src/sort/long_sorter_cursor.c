/*
 * long_sorter_cursor.c
 *		The runs of a LongSorter in order (see long_sorter.h).
 *
 * Of wide keys the cursor merges the buffer and the runs on the fly, so that reading
 * takes no memory.
 */
#include "sort/long_sorter.h"

#include <string.h>

#include "sort/error.h"
#include "sort/long_sorter_parts.h"

SortStatus
long_sorter_open_cursor(LongSorter *s, LongSorterCursor *c, SortError *err)
{
	memset(c, 0, sizeof(*c));
	c->sorter = s;
	return long_is_narrow(s->bits) ? sorter_open_cursor(&s->narrow, false, &c->narrow, err) :
		SORT_OK;
}

static SortStatus
take_narrow(LongSorterCursor *c, uint64_t *keys, uint64_t *counts, size_t max, size_t *got,
			SortError *err)
{
	int32_t		narrow[LONG_CONVERT];

	while (*got < max)
	{
		size_t		wanted = max - *got < LONG_CONVERT ? max - *got : LONG_CONVERT;
		size_t		part;
		size_t		i;
		SortStatus	status = sorter_cursor_runs(&c->narrow, narrow, counts + *got, wanted, &part,
												err);

		if (status != SORT_OK)
			return status;
		for (i = 0; i < part; i++)
			keys[*got + i] = long_from_narrow(narrow[i]);
		*got += part;
		if (part < wanted)
			break;
	}
	return SORT_OK;
}

#define LENGTHS_TYPE uint64_t
#define LENGTHS_EQUAL long_equal_keys
#define LENGTHS_TAKE long_take_lengths
#include "sort/run_lengths_template.h"

/* Runs while there are both keys and runs left: the smaller first, equal ones added. */
static size_t
take_both(LongSorterCursor *c, uint64_t *keys, uint64_t *counts, size_t max)
{
	const LongSorter *s = c->sorter;
	size_t		got = 0;

	while (got < max && c->key_at < s->nbuf && c->run_at < s->runs.len)
	{
		uint64_t	key = s->buf[c->key_at];
		uint64_t	run = s->runs.keys[c->run_at];
		uint64_t	count = 0;

		keys[got] = key < run ? key : run;
		if (key <= run)
		{
			count = long_equal_keys(s->buf + c->key_at, s->nbuf - c->key_at, false);
			c->key_at += count;
		}
		if (run <= key)
			count += s->runs.counts[c->run_at++];
		counts[got++] = count;
	}
	return got;
}

SortStatus
long_sorter_cursor_runs(LongSorterCursor *c, uint64_t *keys, uint64_t *counts, size_t max,
						size_t *got, SortError *err)
{
	LongSorter *s = c->sorter;

	*got = 0;
	if (long_is_narrow(s->bits))
		return take_narrow(c, keys, counts, max, got, err);
	if (sort_interrupted(s->context))
		return sort_cancelled(err);
	*got = take_both(c, keys, counts, max);
	if (c->run_at == s->runs.len)
		*got += long_take_lengths(s->buf, &c->key_at, s->nbuf, keys + *got, counts + *got,
								  max - *got);
	else if (*got < max)
	{
		size_t		left = s->runs.len - c->run_at;
		size_t		part = left < max - *got ? left : max - *got;

		memcpy(keys + *got, s->runs.keys + c->run_at, part * sizeof(uint64_t));
		memcpy(counts + *got, s->runs.counts + c->run_at, part * sizeof(uint64_t));
		c->run_at += part;
		*got += part;
	}
	s->bytes_moved += *got * LONG_RUN_SIZE;
	return SORT_OK;
}
