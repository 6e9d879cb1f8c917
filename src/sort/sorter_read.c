/*
 * sorter_read.c
 *		The reading half of the sorter: finish, ordered keys, runs, the
 *		permutation (see sorter.h).
 *
 * In order, a sorter's keys are: what lies below dense, dense, what lies above
 * it.  What lies outside dense is either keys in buf or runs in sparse, never
 * both once finish has run.
 */
#include <string.h>

#include "sort/device.h"
#include "sort/error.h"
#include "sort/kernels.h"
#include "sort/sorter.h"
#include "sort/sorter_internal.h"

/* Keys written between two looks at the interrupt callback. */
#define READ_BATCH ((size_t) 1 << 20)

/* The parts of a cursor's way, upwards. */
enum
{
	PART_LOW,
	PART_DENSE,
	PART_HIGH,
	PART_END
};

/* No choice to make: a few keys, and nobody insists on anything. */
static bool
is_small(const Sorter *s)
{
	return s->big == NULL && s->context->device != SORT_DEVICE_GPU &&
		(s->context->algorithm == SORT_ALGORITHM_AUTO ||
		 s->context->algorithm == SORT_ALGORITHM_RADIX);
}

bool
sorter_find_bounds(const Sorter *s, int32_t *lo, int32_t *hi)
{
	const SorterBig *big = s->big;
	const Histogram *dense = &big->dense;
	bool		found = false;

	if (s->nbuf > 0 || big->narray > 0)
	{
		*lo = big->kept_lo;
		*hi = big->kept_hi;
		found = true;
	}
	if (big->sparse.len > 0)
	{
		int32_t		low = big->sparse.keys[0];
		int32_t		high = big->sparse.keys[big->sparse.len - 1];

		*lo = !found || low < *lo ? low : *lo;
		*hi = !found || high > *hi ? high : *hi;
		found = true;
	}
	if (dense->n > 0)
	{
		int32_t		low = histogram_key(dense, histogram_next(dense, 0));
		int32_t		high = histogram_key(dense, histogram_previous(dense, dense->range) - 1);

		*lo = !found || low < *lo ? low : *lo;
		*hi = !found || high > *hi ? high : *hi;
		found = true;
	}
	return found;
}

/*
 * An array that is in order needs no sorting.  To find that out takes one
 * read of it; to find that it is not, usually that of a few keys.
 */
static SortStatus
look_for_order(Sorter *s, SortError *err)
{
	SorterBig  *big = s->big;
	size_t		ordered = 1;
	bool		same;

	if (big->narray < SORTER_CHUNK || s->context->algorithm != SORT_ALGORITHM_AUTO ||
		s->context->device == SORT_DEVICE_GPU)
		return SORT_OK;
	/* Same first and last key: in order only if all are the same, a faster look. */
	same = big->array[0] == big->array[big->narray - 1];
	while (ordered < big->narray)
	{
		size_t		left = big->narray - ordered + 1;
		size_t		part = left < READ_BATCH ? left : READ_BATCH;

		if (sort_interrupted(s->context))
			return sort_cancelled(err);
		if (same ? !kernel_all_equal(big->array + ordered - 1, part)
			: kernel_ordered_prefix(big->array + ordered - 1, part) < part)
			return SORT_OK;
		ordered += part - 1;
	}
	big->array_ordered = true;
	big->bytes_moved += big->narray * sizeof(int32_t);
	return SORT_OK;
}

SortStatus
sorter_finish(Sorter *s, SortWant want, SortError *err)
{
	SorterBig  *big;
	SortStatus	status;

	if (is_small(s) && want != SORT_WANT_PERMUTATION)
		return sorter_check_bounds(s, s->buf, s->nbuf, err);

	status = sorter_make_big(s, err);
	if (status == SORT_OK && s->big->narray > 0 && want == SORT_WANT_KEYS)
		status = look_for_order(s, err);
	if (status == SORT_OK && s->big->narray > 0 && want != SORT_WANT_PERMUTATION &&
		!s->big->array_ordered)
		status = sorter_count_array(s, want, err);
	if (status == SORT_OK)
		status = sorter_absorb_pending(s, err);
	if (status == SORT_OK)
		status = sorter_stream(s, err);
	if (status == SORT_OK && s->big->narray > 0)
		status = sorter_check_bounds(s, s->big->array, s->big->narray, err);
	if (status != SORT_OK)
		return status;
	big = s->big;
	histogram_sum_tables(&big->dense);
	big->fill_ns = sorter_clock() - big->started;

	/* Keys and runs outside dense could interleave: make them all runs. */
	if (big->sparse.len > 0 && s->nbuf > 0)
	{
		status = sorter_compress(s, err);
		if (status != SORT_OK)
			return status;
	}
	if (s->nbuf > 0)
	{
		if (!wide_min_max(s->buf, s->nbuf, &big->kept_lo, &big->kept_hi, s->context))
			return sort_cancelled(err);
	}
	else if (big->array_ordered)
	{
		big->kept_lo = big->array[0];
		big->kept_hi = big->array[big->narray - 1];
	}
	else if (big->narray > 0 &&
			 !wide_min_max(big->array, big->narray, &big->kept_lo, &big->kept_hi, s->context))
		return sort_cancelled(err);

	return sorter_plan(s, want, err);
}

/* An array in ascending order, as it is or turned round; out may be the array. */
static bool
copy_ordered(const Sorter *s, bool descending, int32_t *out)
{
	const int32_t *keys = s->big->array;
	size_t		n = s->big->narray;
	size_t		done = 0;

	if (!descending && out == keys)
		return true;
	while (done < (descending ? (n + 1) / 2 : n))
	{
		size_t		end = (descending ? (n + 1) / 2 : n) - done;

		end = done + (end < READ_BATCH ? end : READ_BATCH);
		if (!descending && keys[0] == keys[n - 1])
			kernel_fill(out + done, end - done, keys[0]);
		else if (!descending)
			memcpy(out + done, keys + done, (end - done) * sizeof(int32_t));
		else
		{
			size_t		i;

			/* Both ends at once, so that it also works in place. */
			for (i = done; i < end; i++)
			{
				int32_t		low = keys[i];
				int32_t		high = keys[n - 1 - i];

				out[i] = high;
				out[n - 1 - i] = low;
			}
		}
		done = end;
		if (sort_interrupted(s->context))
			return false;
	}
	return true;
}

/*
 * All of the keys that are still keys, in order; out may be where they are.
 * *done as in sorter_run_job.
 */
static SortStatus
sort_kept(Sorter *s, bool descending, int32_t *out, bool *done, SortError *err)
{
	uint64_t	since = sorter_clock();
	SortOutput	output = {.descending = descending, .keys = out};
	SortStatus	status;

	*done = true;
	if (s->big->array_ordered)
	{
		bool		copied = copy_ordered(s, descending, out);

		s->big->read_ns += sorter_clock() - since;
		if (out != s->big->array || descending)
			s->big->bytes_moved += 2 * s->big->narray * sizeof(int32_t);
		return copied ? SORT_OK : sort_cancelled(err);
	}
	status = sorter_run_job(s, &output, done, err);
	s->big->sort_ns += sorter_clock() - since;
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
	if (is_small(s))
	{
		memcpy(out, s->buf, s->nbuf * sizeof(int32_t));
		if (!wide_sort_keys(out, s->nbuf, descending, s->context))
			return sort_cancelled(err);
		return SORT_OK;
	}
	while (s->big->dense.n == 0 && s->big->sparse.len == 0)
	{
		bool		done;

		/* A second time only if the CPU has to take over, and still sorts keys. */
		status = sort_kept(s, descending, out, &done, err);
		if (status != SORT_OK || done)
			return status;
	}

	status = sorter_open_cursor(s, descending, &cursor, err);
	since = sorter_clock();
	while (status == SORT_OK && n > 0)
	{
		size_t		got;

		status = sorter_cursor_keys(&cursor, out, n < READ_BATCH ? (size_t) n : READ_BATCH,
									&got, err);
		/* Cannot happen; but a wrong count must not become an endless loop. */
		if (status == SORT_OK && got == 0)
			status = sort_fail(err, SORT_CORRUPT, "sorter holds fewer keys than it counted");
		if (status != SORT_OK)
			break;
		out += got;
		n -= got;
	}
	s->big->read_ns += sorter_clock() - since;
	return status;
}

SortStatus
sorter_read_permutation(Sorter *s, bool descending, uint32_t base, uint32_t *out,
						SortError *err)
{
	uint64_t	since = sorter_clock();
	uint64_t	n = sorter_count(s);
	SortOutput	output = {.descending = descending, .positions = out, .first = base};
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
	s->big->sort_ns += sorter_clock() - since;
	/* Keys read to count and again to scatter, indexes written; or pairs. */
	s->big->bytes_moved += (s->big->plan.algorithm == SORT_ALGORITHM_ZERO_COMPRESSED ? 12 : 32) * n;
	return status;
}

/* First position in ascending keys with a key >= key. */
static size_t
lower_bound(const int32_t *keys, size_t n, int32_t key)
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

/* Sets the cursor to the start of a part. */
static void
enter_part(SorterCursor *c, int part)
{
	const Sorter *s = c->sorter;
	const SorterBig *big = s->big;
	bool		dense = big && big->dense.range > 0;
	size_t		keys = dense ? lower_bound(s->buf, s->nbuf, big->dense.lo) : s->nbuf;
	size_t		runs = !big ? 0 : dense ? runs_lower_bound(&big->sparse, big->dense.lo) : big->sparse.len;

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

/* On to the next part in the cursor's direction. */
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

static void
cursor_start(Sorter *s, bool descending, SorterCursor *c)
{
	memset(c, 0, sizeof(*c));
	c->sorter = s;
	c->descending = descending;
	enter_part(c, descending ? PART_HIGH : PART_LOW);
}

void
sorter_cursor_at_start(Sorter *s, SorterCursor *c)
{
	cursor_start(s, false, c);
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
		cursor_start(s, descending, c);
		return SORT_OK;
	}

	/* On the GPU; if it fails, what to do is found out below. */
	if (big->plan.device == SORT_DEVICE_GPU && s->nbuf + big->narray > 0 && !big->ordered)
	{
		if (big->want == SORT_WANT_RUNS && big->stream == NULL && sorter_runs_are_smaller(s))
			status = sorter_gpu_to_runs(s, &done, err);
		else if (big->narray == 0)
			status = sorter_gpu_order_buffer(s, &done, err);
		if (status != SORT_OK)
			return status;
	}
	if (!done && big->narray > 0)
	{
		/* A cursor needs the order kept somewhere: in buf, from here on. */
		status = sorter_grow_buffer(s, big->narray, err);
		while (status == SORT_OK && !done)
			status = sort_kept(s, false, s->buf, &done, err);
		if (status != SORT_OK)
			return status;
		s->nbuf = big->nkept = big->narray;
		big->narray = 0;
		big->array_ordered = false;
		big->ordered = true;
	}
	else if (!done && big->plan.algorithm == SORT_ALGORITHM_COMPARISON_FREE && !big->ordered)
	{
		status = sort_kept(s, false, s->buf, &done, err);
		big->ordered = status == SORT_OK;
	}
	else if (!done)
		status = sorter_order_buffer(s, err);
	if (status == SORT_OK)
		cursor_start(s, descending, c);
	return status;
}

/* Keys of a low or high part: as they are, or expanded from runs. */
static size_t
take_keys(SorterCursor *c, int32_t *out, size_t max)
{
	const Sorter *s = c->sorter;
	size_t		got = 0;

	if (c->key_at < c->key_end)
	{
		size_t		part = c->key_end - c->key_at < max ? c->key_end - c->key_at : max;
		size_t		i;

		if (c->descending)
		{
			for (i = 0; i < part; i++)
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
 * How many of n keys in order are like the first one, or with last, like the
 * last.  In steps that double, then halve: one run may be all there is.
 */
static size_t
equal_keys(const int32_t *keys, size_t n, bool last)
{
	const int32_t key = keys[last ? n - 1 : 0];
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

/* Runs of a low or high part: from keys in order, or as they are. */
static size_t
take_runs(SorterCursor *c, int32_t *keys, uint64_t *counts, size_t max)
{
	const Sorter *s = c->sorter;
	size_t		got = 0;

	while (got < max && c->key_at < c->key_end)
	{
		size_t		left = c->key_end - c->key_at;
		size_t		count = equal_keys(s->buf + c->key_at, left, c->descending);

		keys[got] = s->buf[c->descending ? c->key_end - 1 : c->key_at];
		counts[got++] = count;
		if (c->descending)
			c->key_end -= count;
		else
			c->key_at += count;
	}
	while (got < max && c->run_at < c->run_end)
	{
		size_t		j = c->descending ? --c->run_end : c->run_at++;

		keys[got] = s->big->sparse.keys[j];
		counts[got++] = s->big->sparse.counts[j];
	}
	return got;
}

/* Runs of dense: its non-empty bins. */
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

static bool
is_ascending(const int32_t *keys, size_t n)
{
	size_t		i;

	for (i = 1; i < n; i++)
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
		counted = runs_count_all(out ? out : s->buf, (size_t) stats->n, &stats->distinct, s->context);
	else if (big && big->narray == 0 && (s->nbuf < 2 || big->ordered))
	{
		counted = runs_count_all(s->buf, s->nbuf, &stats->distinct, s->context);
		stats->distinct += histogram_distinct(&big->dense) + big->sparse.len;
	}
	if (!counted)
		stats->distinct = 0;
}
