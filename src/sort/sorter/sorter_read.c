/*
 * sorter_read.c
 *		Reading the sorter after finish: all keys in order, the permutation,
 *		a cursor, and what was done (see sorter.h).
 */
#include "sort/sorter/sorter.h"

#include <string.h>

#include "sort/algorithms.h"
#include "sort/error.h"
#include "sort/kernels/kernels.h"
#include "sort/kernels/wide.h"
#include "sort/sorter/sorter_parts.h"

/*
 * Copies the array, which is in ascending order, to out: as it is or turned round.  out may be the
 * array.  Returns false if the caller was interrupted.
 */
static bool
copy_ordered(const Sorter *s, bool descending, int32_t *out)
{
	const int32_t *keys = s->big->array;
	uint64_t	n = s->big->narray;
	uint64_t	half = (n + 1) / 2;
	uint64_t	i = 0;
	uint64_t	end;

	/* All keys are equal: nothing needs to be read. */
	if (!descending && out != keys && keys[0] == keys[n - 1])
	{
		for (; sort_step(s->context, i, n, &end); i = end)
			kernel_fill(out + i, (size_t) (end - i), keys[0]);
		return i == n;
	}
	if (!descending)
		return sort_copy(s->context, out, keys, n, sizeof(int32_t));
	/* Both ends at once, so that it also works in place. */
	while (sort_step(s->context, i, half, &end))
		for (; i < end; i++)
		{
			int32_t		low = keys[i];
			int32_t		high = keys[n - 1 - i];

			out[i] = high;
			out[n - 1 - i] = low;
		}
	return i == half;
}

/*
 * Writes all keys that are still keys in order to out, which may be their own
 * memory; *done as in sorter_run_job.
 */
static SortStatus
sort_kept(Sorter *s, bool descending, int32_t *out, bool *done, SortError *err)
{
	uint64_t	since = sort_clock();
	SortOutput	output = {.descending = descending,.keys = out};
	SortStatus	status;

	*done = true;
	if (s->big->array_ordered)
	{
		bool		copied = copy_ordered(s, descending, out);

		s->big->read_ns += sort_clock() - since;
		if (out != s->big->array || descending)
			s->big->bytes_moved += 2 * s->big->narray * sizeof(int32_t);
		return copied ? SORT_OK : sort_cancelled(err);
	}
	status = sorter_run_job(s, &output, done, err);
	s->big->sort_ns += sort_clock() - since;
	/* One read and one write; what a quicksort does in the cache is its own. */
	if (*done)
		s->big->bytes_moved += 2 * (s->nbuf + s->big->narray) * sizeof(int32_t);
	return status;
}

SortStatus
sorter_read_keys(Sorter *s, bool descending, int32_t *out, SortError *err)
{
	SorterCursor cursor;
	SortStatus	status;
	uint64_t	n = sorter_count(s);
	uint64_t	since;

	if (n == 0)
		return SORT_OK;
	if (sorter_is_small(s))
	{
		memcpy(out, s->buf, s->nbuf * sizeof(int32_t));
		if (!wide_sort_keys(out, s->nbuf, descending, s->context))
			return sort_cancelled(err);
		return SORT_OK;
	}
	/* Keys that are still keys are sorted straight into out. */
	while (s->big->dense.n == 0 && s->big->sparse.len == 0)
	{
		bool		done;

		/* The second round is the CPU's, after a failure of the GPU. */
		status = sort_kept(s, descending, out, &done, err);
		if (status != SORT_OK || done)
			return status;
	}

	/* Otherwise the parts follow one another. */
	status = sorter_open_cursor(s, descending, &cursor, err);
	since = sort_clock();
	while (status == SORT_OK && n > 0)
	{
		size_t		got;

		status = sorter_cursor_keys(&cursor, out, n < SORT_CHECK_EVERY ? (size_t) n :
									SORT_CHECK_EVERY, &got, err);
		/* Cannot happen; but a wrong count must not become an endless loop. */
		if (status == SORT_OK && got == 0)
			status = sort_fail(err, SORT_CORRUPT, "sorter holds fewer keys than it counted");
		if (status != SORT_OK)
			break;
		out += got;
		n -= got;
	}
	s->big->read_ns += sort_clock() - since;
	return status;
}

SortStatus
sorter_read_permutation(Sorter *s, bool descending, uint32_t base, uint32_t *out,
						SortError *err)
{
	uint64_t	since = sort_clock();
	uint64_t	n = sorter_count(s);
	SortOutput	output = {.descending = descending,.positions = out,.first = base};
	SortStatus	status;
	bool		done;

	if (s->big == NULL || s->big->narray != n)
		return sort_fail(err, SORT_UNSUPPORTED, "positions are known of keys in one array only");
	if (n > UINT32_MAX)
		return sort_fail(err, SORT_LIMIT_EXCEEDED, "cannot number more than %u keys", UINT32_MAX);
	if (n == 0)
		return SORT_OK;
	do
		status = sorter_run_job(s, &output, &done, err);
	while (status == SORT_OK && !done);
	s->big->sort_ns += sort_clock() - since;
	/* Keys read to count and again to scatter, indexes written; or pairs. */
	s->big->bytes_moved += (s->big->plan.algorithm == SORT_ALGORITHM_ZERO_COMPRESSED ? 12 : 32) * n;
	return status;
}

SortStatus
sorter_open_cursor(Sorter *s, bool descending, SorterCursor *c, SortError *err)
{
	SorterBig  *big = s->big;
	SortStatus	status = SORT_OK;
	bool		done = false;

	if (big == NULL)
	{
		if (!wide_sort_keys(s->buf, s->nbuf, false, s->context))
			return sort_cancelled(err);
		sorter_cursor_start(s, descending, c);
		return SORT_OK;
	}

	/* On the GPU; if that fails, done stays false and the CPU does it below. */
	if (big->plan.device == SORT_DEVICE_GPU && s->nbuf + big->narray > 0 && !big->ordered)
	{
		if (big->want == SORT_WANT_RUNS && big->stream == NULL && sorter_runs_are_smaller(s))
			status = sorter_gpu_to_runs(s, &done, err);
		else if (big->narray == 0)
		{
			status = sort_kept(s, false, s->buf, &done, err);
			big->ordered = status == SORT_OK && done;
		}
		if (status != SORT_OK)
			return status;
	}
	if (!done && big->narray > 0)
	{
		/* A cursor needs the order kept somewhere: in buf, from here on. */
		status = sorter_grow_buffer(s, big->narray, err);
		/* The CPU may count it, after a failure of the GPU. */
		while (status == SORT_OK && !done && big->narray > 0)
			status = sort_kept(s, false, s->buf, &done, err);
		if (status != SORT_OK)
			return status;
		s->nbuf = big->nkept = big->narray;
		big->narray = 0;
		big->array_ordered = false;
		big->ordered = true;
	}
	else if (!done && algorithm_is_published(big->plan.algorithm) && !big->ordered)
	{
		status = sort_kept(s, false, s->buf, &done, err);
		big->ordered = status == SORT_OK;
	}
	else if (!done)
		status = sorter_order_buffer(s, err);
	if (status == SORT_OK)
		sorter_cursor_start(s, descending, c);
	return status;
}

static bool
is_ascending(const int32_t *keys, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (keys[i - 1] > keys[i])
			return false;
	return true;
}

void
sorter_stats(Sorter *s, const int32_t *out, SorterStats *stats)
{
	SorterBig  *big = s->big;
	bool		counted = true;

	memset(stats, 0, sizeof(*stats));
	stats->n = sorter_count(s);
	stats->threads = big && big->plan.threads > 1 ? big->plan.threads : 1;
	if (big == NULL)
	{
		stats->plan.device = SORT_DEVICE_CPU;
		stats->plan.algorithm = SORT_ALGORITHM_RADIX;
		stats->plan.reason = stats->n == 0 ? PLAN_NO_KEYS : PLAN_FEW;
		stats->plan.n = stats->n;
		stats->bytes_moved = 2 * s->nbuf * sizeof(int32_t);
		if (s->nbuf > 0)
			kernel_min_max(s->buf, s->nbuf, &stats->lo, &stats->hi);
	}
	else
	{
		stats->plan = big->plan;
		(void) sorter_find_bounds(s, &stats->lo, &stats->hi);
		stats->bytes_moved = big->bytes_moved;
		stats->fill_ns = big->fill_ns;
		stats->sort_ns = big->sort_ns;
		stats->read_ns = big->read_ns;
	}

	/* Everything outside the buffer is counted already; buf if in order. */
	if (out || (big == NULL && is_ascending(s->buf, s->nbuf)))
		counted = runs_count_all(out ? out : s->buf, (size_t) stats->n, &stats->distinct,
								 s->context);
	else if (big && big->narray == 0 && (s->nbuf < 2 || big->ordered))
	{
		counted = runs_count_all(s->buf, s->nbuf, &stats->distinct, s->context);
		stats->distinct += histogram_distinct(&big->dense) + big->sparse.len;
	}
	if (!counted)
		stats->distinct = 0;
}
