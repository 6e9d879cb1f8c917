/*
 * multiset_combine.c
 *		Multisets made of others (see multiset_combine.h).
 */
#include "sort/multiset/multiset_combine.h"

#include <string.h>

#include "sort/error.h"
#include "sort/runs/runs.h"

/* Blocks between two looks at the interrupt callback: some million runs. */
#define CHECK_EVERY 8192

/* Runs taken from a sorter at once. */
#define TAKEN (8 * MULTISET_BLOCK_RUNS)

void
multiset_cursor_open(MultisetCursor *c, const Multiset *m, const SortContext *context)
{
	c->multiset = m;
	c->context = context;
	c->next = 0;
	c->at = 0;
	c->block.n = 0;
}

SortStatus
multiset_cursor_next(MultisetCursor *c, SortError *err)
{
	c->at = 0;
	if (c->next == c->multiset->nblocks)
	{
		c->block.n = 0;
		return SORT_OK;
	}
	if (c->next % CHECK_EVERY == CHECK_EVERY - 1 && sort_interrupted(c->context))
		return sort_cancelled(err);
	return multiset_read_block(c->multiset, c->next++, &c->block, err);
}

static bool
has_run(const MultisetCursor *c)
{
	return c->at < c->block.n;
}

/* On to the next block when this one is at its end. */
static SortStatus
advance(MultisetCursor *c, SortError *err)
{
	return has_run(c) ? SORT_OK : multiset_cursor_next(c, err);
}

/* Starts cursors at the first run of both. */
static SortStatus
open_both(MultisetCursor *ca, const Multiset *a, MultisetCursor *cb, const Multiset *b,
		  const SortContext *context, SortError *err)
{
	SortStatus	status;

	multiset_cursor_open(ca, a, context);
	multiset_cursor_open(cb, b, context);
	status = multiset_cursor_next(ca, err);
	return status == SORT_OK ? multiset_cursor_next(cb, err) : status;
}

/* Adds the runs from the cursor's on to the writer. */
static SortStatus
copy_rest(MultisetCursor *c, MultisetWriter *w, SortError *err)
{
	SortStatus	status = SORT_OK;

	while (status == SORT_OK && has_run(c))
	{
		status = multiset_writer_add(w, c->block.keys + c->at, c->block.counts + c->at,
									 c->block.n - c->at, err);
		if (status == SORT_OK)
			status = multiset_cursor_next(c, err);
	}
	return status;
}

/* Adds up two blocks from the cursors' runs on, until one is at its end, into out. */
static void
add_blocks(MultisetCursor *a, MultisetCursor *b, Runs *out)
{
	const Runs	runs_a = {a->block.keys, a->block.counts, a->block.n, a->block.n};
	const Runs	runs_b = {b->block.keys, b->block.counts, b->block.n, b->block.n};
	size_t		i = a->at;
	size_t		j = b->at;

	runs_add_up(&runs_a, &i, &runs_b, &j, out, SIZE_MAX);
	a->at = (uint32_t) i;
	b->at = (uint32_t) j;
}

SortStatus
multiset_add(const Multiset *a, const Multiset *b, const SortContext *context, MultisetWriter *w,
			 SortError *err)
{
	MultisetCursor ca;
	MultisetCursor cb;
	int32_t		keys[2 * MULTISET_BLOCK_RUNS];
	uint64_t	counts[2 * MULTISET_BLOCK_RUNS];
	SortStatus	status = open_both(&ca, a, &cb, b, context, err);

	while (status == SORT_OK && has_run(&ca) && has_run(&cb))
	{
		Runs		sums = {.keys = keys,.counts = counts};

		add_blocks(&ca, &cb, &sums);
		status = multiset_writer_add(w, keys, counts, sums.len, err);
		if (status == SORT_OK)
			status = advance(&ca, err);
		if (status == SORT_OK)
			status = advance(&cb, err);
	}
	if (status == SORT_OK)
		status = copy_rest(&ca, w, err);
	if (status == SORT_OK)
		status = copy_rest(&cb, w, err);
	return status;
}

/*
 * Subtracts b's block from a's, from the cursors' runs on, until one is at its end;
 * returns the number of runs that are left.  Stops at a run of b that a lacks.
 */
static size_t
subtract_blocks(MultisetCursor *a, MultisetCursor *b, int32_t *keys, uint64_t *counts,
				bool *lacks)
{
	uint32_t	i = a->at;
	uint32_t	j = b->at;
	size_t		n = 0;

	*lacks = false;
	while (i < a->block.n && j < b->block.n)
	{
		bool		equal = a->block.keys[i] == b->block.keys[j];
		uint64_t	minus = b->block.counts[j] & -(uint64_t) equal;

		if (b->block.keys[j] < a->block.keys[i] || minus > a->block.counts[i])
		{
			*lacks = true;
			break;
		}
		keys[n] = a->block.keys[i];
		counts[n] = a->block.counts[i] - minus;
		n += counts[n] > 0;
		i++;
		j += equal;
	}
	a->at = i;
	b->at = j;
	return n;
}

SortStatus
multiset_subtract(const Multiset *a, const Multiset *b, const SortContext *context,
				  MultisetWriter *w, MultisetLack *lack, SortError *err)
{
	MultisetCursor ca;
	MultisetCursor cb;
	int32_t		keys[MULTISET_BLOCK_RUNS];
	uint64_t	counts[MULTISET_BLOCK_RUNS];
	bool		lacks = false;
	SortStatus	status = open_both(&ca, a, &cb, b, context, err);

	memset(lack, 0, sizeof(*lack));
	while (status == SORT_OK && has_run(&ca) && has_run(&cb) && !lacks)
	{
		size_t		n = subtract_blocks(&ca, &cb, keys, counts, &lacks);

		status = multiset_writer_add(w, keys, counts, n, err);
		if (status == SORT_OK)
			status = advance(&ca, err);
		if (status == SORT_OK)
			status = advance(&cb, err);
	}
	if (status != SORT_OK)
		return status;
	if (has_run(&cb))
	{
		/* a has less of this key, or nothing of it and of all above. */
		lack->key = cb.block.keys[cb.at];
		lack->count = cb.block.counts[cb.at];
		return SORT_OK;
	}
	return copy_rest(&ca, w, err);
}

SortStatus
multiset_scale(const Multiset *m, uint64_t factor, const SortContext *context, MultisetWriter *w,
			   SortError *err)
{
	MultisetCursor c;
	SortStatus	status;

	if (factor == 0 || m->total == 0)
		return SORT_OK;

	/* No product below can overflow then: no count is above the total. */
	if (factor > INT64_MAX / m->total)
		return sort_fail(err, SORT_LIMIT_EXCEEDED, "multiset would have too many keys");
	multiset_cursor_open(&c, m, context);
	for (status = multiset_cursor_next(&c, err); status == SORT_OK && has_run(&c);
		 status = multiset_cursor_next(&c, err))
	{
		uint32_t	i;

		for (i = 0; i < c.block.n; i++)
			c.block.counts[i] *= factor;
		status = multiset_writer_add(w, c.block.keys, c.block.counts, c.block.n, err);
		if (status != SORT_OK)
			break;
	}
	return status;
}

SortStatus
multiset_restrict(const Multiset *m, int32_t lo, int32_t hi, const SortContext *context,
				  MultisetWriter *w, SortError *err)
{
	MultisetCursor c;
	SortStatus	status;

	if (m->len == 0 || lo > hi)
		return SORT_OK;
	multiset_cursor_open(&c, m, context);
	status = multiset_find_key(m, lo, &c.block, err);
	if (status != SORT_OK)
		return status;
	c.next = c.block.number + 1;
	c.at = (uint32_t) runs_key_lower_bound(c.block.keys, c.block.n, lo);
	while (c.block.n > 0)
	{
		size_t		end = runs_key_lower_bound(c.block.keys, c.block.n, hi);

		if (end < c.block.n)
		{
			end += c.block.keys[end] == hi;
			return multiset_writer_add(w, c.block.keys + c.at, c.block.counts + c.at,
									   end - c.at, err);
		}
		status = multiset_writer_add(w, c.block.keys + c.at, c.block.counts + c.at,
									 c.block.n - c.at, err);
		if (status == SORT_OK)
			status = multiset_cursor_next(&c, err);
		if (status != SORT_OK)
			return status;
	}
	return SORT_OK;
}

SortStatus
multiset_from_sorter(Sorter *s, MultisetWriter *w, SortError *err)
{
	int32_t		keys[TAKEN];
	uint64_t	counts[TAKEN];
	SorterCursor c;
	size_t		got = TAKEN;
	SortStatus	status = sorter_open_cursor(s, false, &c, err);

	while (status == SORT_OK && got == TAKEN)
	{
		status = sorter_cursor_runs(&c, keys, counts, TAKEN, &got, err);
		if (status == SORT_OK)
			status = multiset_writer_add(w, keys, counts, got, err);
	}
	return status;
}
