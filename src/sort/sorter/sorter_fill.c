/*
 * sorter_fill.c
 *		Filling the sorter, from a few keys to whatever holds them best, and
 *		finish (see sorter.h).
 *
 * What holds n keys of a range best is for plan.c to say; this file finds the
 * range, by a look at all keys or at a sample, and moves the keys
 * (sorter_parts.h).
 */
#include "sort/sorter/sorter.h"

#include <string.h>

#include "sort/error.h"
#include "sort/kernels/wide.h"
#include "sort/sorter/sorter_parts.h"

/*
 * Arrays below this are left to finish, which looks at all of them: the bounds
 * of 100,000 keys in the cache take 3 us, a sample 2 us and wider bins.
 */
#define SAMPLE_MIN ((size_t) 131072)

/*
 * Of a sample that is too wide to count, how many keys at either end may be
 * outliers: 1.6 % in all stay in the buffer while the rest is counted.
 */
#define SAMPLE_OUTLIERS 8

/*
 * Widening a histogram without slack has to bring in a key for this many bins,
 * or keys that arrive in order would copy it every few thousand of them: at
 * 8e6 ascending keys that made 420 ns a key of 5.
 */
#define WIDEN_BINS_PER_KEY 8

/* Whether the plan would rather count n keys into range bins, and these are allowed. */
static bool
fills_dense(const Sorter *s, uint64_t n, uint64_t range)
{
	if (!sorter_allows_bins(s, range))
		return false;
	/* Where memory is limited, a histogram that takes less than the next doubling. */
	return plan_fills_dense(n, range, s->context->algorithm) ||
		(s->context->memory_limit > 0 && range <= 2 * n &&
		 plan_fills_dense(n * 4, range, s->context->algorithm));
}

/*
 * Bounds to give a histogram that must reach from *lo to *hi: a little more on
 * the sides that moved, so that keys arriving in order widen it rarely, but
 * never beyond the promise.  False, and nothing changed, if the plan would not
 * count so wide a range.
 */
static bool
add_slack(const Sorter *s, uint64_t n, int32_t *lo, int32_t *hi)
{
	const Histogram *dense = &s->big->dense;
	int64_t		slack = (int64_t) (plan_range(*lo, *hi) / 4);
	int64_t		low = *lo;
	int64_t		high = *hi;

	/* A first histogram gets a thirty-second part on each side, one that is widened a quarter. */
	if (dense->range == 0)
		slack /= 8;
	if (dense->range == 0 || *lo < dense->lo)
		low -= slack;
	if (dense->range == 0 || *hi >= dense->lo + (int64_t) dense->range)
		high += slack;
	low = low < s->lo ? s->lo : low;
	high = high > s->hi ? s->hi : high;
	if (!fills_dense(s, n, plan_range((int32_t) low, (int32_t) high)))
		return false;
	*lo = (int32_t) low;
	*hi = (int32_t) high;
	return true;
}

/* Extends *lo .. *hi to dense's bounds. */
static void
include_dense(const Sorter *s, int32_t *lo, int32_t *hi)
{
	const Histogram *dense = &s->big->dense;

	if (dense->range > 0)
	{
		int32_t		high = histogram_key(dense, dense->range - 1);

		*lo = dense->lo < *lo ? dense->lo : *lo;
		*hi = high > *hi ? high : *hi;
	}
}

/*
 * Makes dense reach from lo to hi, if the plan would count the sorter's n keys so, and if it is
 * worth widening: waiting is how many keys or runs are outside of dense and would be counted.  Sets
 * *done to whether dense reaches that far afterwards.
 */
static SortStatus
try_dense(Sorter *s, uint64_t n, uint64_t waiting, int32_t lo, int32_t hi, bool *done,
		  SortError *err)
{
	const Histogram *dense = &s->big->dense;

	/* A histogram is widened, and never becomes narrower. */
	include_dense(s, &lo, &hi);
	*done = fills_dense(s, n, plan_range(lo, hi));
	if (!*done || (dense->range > 0 && dense->range == plan_range(lo, hi)))
		return SORT_OK;
	if (!add_slack(s, n, &lo, &hi) && dense->range > 0 &&
		waiting < plan_range(lo, hi) / WIDEN_BINS_PER_KEY)
	{
		*done = false;
		return SORT_OK;
	}
	return sorter_make_dense(s, lo, hi, err);
}

/*
 * Whether the caller's limit allows buf to be turned into runs.  How many these are is
 * known once buf is in order.
 */
static SortStatus
allows_compress(Sorter *s, bool *allowed, SortError *err)
{
	SortStatus	status;
	uint64_t	distinct;

	*allowed = true;
	if (s->context->memory_limit == 0)
		return SORT_OK;
	status = sorter_order_buffer(s, err);
	if (status != SORT_OK)
		return status;
	if (!runs_count_all(s->buf, s->nbuf, &distinct, s->context))
		return sort_cancelled(err);
	*allowed = sorter_allows(s, sorter_compress_memory(s, (size_t) distinct));
	return SORT_OK;
}

/*
 * Widens dense over the keys in buf, which lie outside of it, or compresses buf, if the plan and
 * a sample favour one of them and there is memory for it.
 */
static SortStatus
make_fewer(Sorter *s, SortError *err)
{
	SorterBig  *big = s->big;
	uint64_t	n = sorter_count(s);
	int32_t		sample[SORTER_SAMPLE];
	int32_t		lo;
	int32_t		hi;
	SortStatus	status = SORT_OK;
	bool		done = false;

	if (sort_interrupted(s->context))
		return sort_cancelled(err);

	/* With device "gpu" forced the keys go to the GPU, however much they repeat. */
	if (s->context->device != SORT_DEVICE_GPU &&
		(s->context->algorithm == SORT_ALGORITHM_AUTO ||
		 s->context->algorithm == SORT_ALGORITHM_ZERO_COMPRESSED))
	{
		/* All of it, the runs included? */
		if (!wide_min_max(s->buf, s->nbuf, &lo, &hi, s->context))
			return sort_cancelled(err);
		if (big->sparse.len > 0)
		{
			lo = big->sparse.keys[0] < lo ? big->sparse.keys[0] : lo;
			hi = big->sparse.keys[big->sparse.len - 1] > hi
				? big->sparse.keys[big->sparse.len - 1] : hi;
		}
		status = try_dense(s, n, s->nbuf, lo, hi, &done, err);
	}
	if (status == SORT_OK && !done && s->context->algorithm == SORT_ALGORITHM_AUTO &&
		s->context->device != SORT_DEVICE_GPU && s->nbuf >= SORTER_SAMPLE)
	{
		/* All but a few outliers? */
		sorter_take_sample(s, s->buf, s->nbuf, sample);
		status = try_dense(s, n, s->nbuf, sample[SAMPLE_OUTLIERS],
						   sample[SORTER_SAMPLE - 1 - SAMPLE_OUTLIERS], &done, err);

		/* Few distinct keys, wherever they are? */
		if (status == SORT_OK && !done && s->nbuf >= big->compress_at && big->stream == NULL &&
			sorter_sample_repeats(sample, s->nbuf))
		{
			size_t		before = s->nbuf;
			size_t		runs = big->sparse.len;
			bool		allowed;

			status = allows_compress(s, &allowed, err);
			if (status == SORT_OK && allowed)
				status = sorter_compress(s, err);
			/* If that did not help, wait longer before the next attempt. */
			if (status == SORT_OK && (!allowed || big->sparse.len - runs > before / 2))
				big->compress_at = before * 4;
		}
	}
	return status;
}

/*
 * Called when buf is full of keys that lie outside of dense, if that exists.
 * Afterwards at least half of buf is free.
 */
static SortStatus
rearrange(Sorter *s, SortError *err)
{
	SortStatus	status = make_fewer(s, err);

	if (status != SORT_OK)
		return status;

	/* Little room left: the keys in buf are to stay there. */
	if (s->capacity - s->nbuf < s->capacity / 2)
		status = sorter_grow_buffer(s, s->capacity * 2, err);
	if (status == SORT_OK)
		status = sorter_stream_start(s, err);
	return status;
}

/* Fewest keys for which squeezing is worth a look. */
#define SQUEEZE_MIN ((size_t) SORTER_CHUNK)

size_t
sorter_memory_ahead(const Sorter *s, size_t n)
{
	const SorterBig *big = s->big;
	size_t		held = sorter_room(s) * sizeof(int32_t);
	size_t		room = sorter_room(s);
	size_t		kept = s->nbuf + n;
	size_t		ahead;

	/* The buffer doubles, and an allocator may need the old block beside the new one. */
	while (room < kept || room - kept < SORTER_CHUNK)
		room *= 2;
	ahead = room > sorter_room(s) ? room * sizeof(int32_t) : 0;
	/* The end of the adding makes all keys runs if there are runs; all of them may be different. */
	if (big && big->sparse.len > 0)
	{
		size_t		compressed = room * sizeof(int32_t) - held + sorter_compress_memory(s, kept);

		ahead = ahead < compressed ? compressed : ahead;
	}
	return ahead + sizeof(SorterBig);
}

SortStatus
sorter_squeeze(Sorter *s, SortError *err)
{
	SorterBig  *big = s->big;
	SortStatus	status;

	if (big == NULL || s->nbuf < SQUEEZE_MIN)
		return SORT_OK;
	status = sorter_absorb_pending(s, err);
	if (status != SORT_OK || s->nbuf < SQUEEZE_MIN)
		return status;
	/* Where there are runs, sorter_memory_ahead has left room for this. */
	if (big->sparse.len > 0)
		return s->nbuf < big->sparse.len / 4 ? SORT_OK : sorter_compress(s, err);
	return make_fewer(s, err);
}

SortStatus
sorter_flush(Sorter *s, SortError *err)
{
	SortStatus	status;

	if (s->capacity < SORTER_CHUNK)
	{
		/* Still small: twice the room, and nothing else. */
		if (s->nbuf < s->capacity)
			return SORT_OK;
		return sorter_grow_buffer(s, s->capacity * 2, err);
	}
	status = sorter_make_big(s, err);
	if (status == SORT_OK)
		status = sorter_absorb_pending(s, err);
	if (status == SORT_OK)
		status = sorter_stream(s, err);
	if (status != SORT_OK)
		return status;
	/* Full only because it is streamed a block at a time? */
	if (s->capacity < s->big->room)
		sorter_limit_buffer(s);
	/* Keys outside of dense have filled buf, or there is no dense. */
	if (s->capacity - s->nbuf < SORTER_CHUNK / 2)
	{
		status = rearrange(s, err);
		if (status == SORT_OK)
			sorter_limit_buffer(s);
	}
	return status;
}

/*
 * Adds n keys from the caller's memory.  With a histogram they are counted
 * where they are; otherwise copied until one exists.
 */
SortStatus
sorter_add(Sorter *s, const int32_t *keys, size_t n, SortError *err)
{
	SortStatus	status;
	size_t		since_check = 0;

	while (n > 0)
	{
		size_t		part;

		if (s->big && s->big->dense.range > 0)
		{
			/* Whatever falls outside must fit behind what is kept. */
			status = sorter_absorb_pending(s, err);
			if (status == SORT_OK && s->nbuf >= SORTER_CHUNK / 2 &&
				s->capacity - s->nbuf < SORTER_CHUNK)
				status = rearrange(s, err);
			if (status == SORT_OK && s->capacity - s->nbuf < SORTER_CHUNK)
				status = sorter_grow_buffer(s, s->nbuf + 2 * SORTER_CHUNK, err);
			if (status != SORT_OK)
				return status;
			part = n < SORTER_CHUNK ? n : SORTER_CHUNK;
			status = sorter_absorb(s, keys, part, err);
			if (status != SORT_OK)
				return status;
		}
		else
		{
			if (s->nbuf == s->capacity)
			{
				status = sorter_flush(s, err);
				if (status != SORT_OK)
					return status;
				continue;
			}
			part = s->capacity - s->nbuf < n ? s->capacity - s->nbuf : n;
			part = part < SORT_CHECK_EVERY ? part : SORT_CHECK_EVERY;
			memcpy(s->buf + s->nbuf, keys, part * sizeof(int32_t));
			s->nbuf += part;
			if (s->big)
				s->big->bytes_moved += 2 * part * sizeof(int32_t);
		}
		keys += part;
		n -= part;
		since_check += part;
		if (since_check >= SORT_CHECK_EVERY)
		{
			since_check = 0;
			if (sort_interrupted(s->context))
				return sort_cancelled(err);
		}
	}
	return SORT_OK;
}

bool
sorter_count_packed(Sorter *s, const PackedKeys *packed)
{
	SorterBig  *big = s->big;

	/* Bounds that are promised hold of keys that are counted: dense never exceeds them. */
	if (big == NULL || big->dense.range == 0 || !histogram_add_packed(&big->dense, packed))
		return false;
	big->bytes_moved += packed->n * (size_t) packed->width;
	return true;
}

SortStatus
sorter_add_packed(Sorter *s, const PackedKeys *packed, SortError *err)
{
	PackedKeys	part = *packed;
	int32_t		keys[SORTER_CHUNK];
	SortStatus	status = SORT_OK;

	/* The usual case of a column with few values; or they are unpacked, a chunk at a time. */
	if (sorter_count_packed(s, packed))
		return sort_interrupted(s->context) ? sort_cancelled(err) : SORT_OK;
	for (size_t at = 0; at < packed->n && status == SORT_OK; at += part.n)
	{
		part.values = (const char *) packed->values + at * (size_t) packed->width;
		part.n = packed->n - at < SORTER_CHUNK ? packed->n - at : SORTER_CHUNK;
		packed_keys_unpack(&part, keys);
		status = sorter_add(s, keys, part.n, err);
	}
	return status;
}

SortStatus
sorter_add_array(Sorter *s, const int32_t *keys, size_t n, SortError *err)
{
	SortStatus	status = sorter_make_big(s, err);

	if (status != SORT_OK)
		return status;
	s->big->array = keys;
	s->big->narray = n;
	return SORT_OK;
}

/*
 * Counts the array where it lies, in one pass that needs no bounds, if a sample
 * favours that; otherwise leaves it as it is.  Keys outside of the sample's
 * bounds go to buf as in any filling.  For finish only: until then a permutation
 * may be wanted, which needs the whole array.
 */
static SortStatus
count_array(Sorter *s, SortWant want, SortError *err)
{
	const int32_t *keys = s->big->array;
	size_t		n = s->big->narray;
	int32_t		sample[SORTER_SAMPLE];
	int32_t		lo;
	int32_t		hi;
	SortPlan	plan;
	bool		done = false;
	SortStatus	status = SORT_OK;

	if (n < SAMPLE_MIN || s->context->algorithm != SORT_ALGORITHM_AUTO ||
		s->context->device == SORT_DEVICE_GPU)
		return SORT_OK;
	sorter_take_sample(s, keys, n, sample);
	lo = sample[0] < s->lo ? s->lo : sample[0];
	hi = sample[SORTER_SAMPLE - 1] > s->hi ? s->hi : sample[SORTER_SAMPLE - 1];
	if (lo > hi || sorter_prefers_gpu(s, want, n, lo, hi, &plan))
		return SORT_OK;
	status = try_dense(s, n, n, lo, hi, &done, err);
	if (status == SORT_OK && !done)
	{
		lo = sample[SAMPLE_OUTLIERS];
		hi = sample[SORTER_SAMPLE - 1 - SAMPLE_OUTLIERS];
		if (lo >= s->lo && hi <= s->hi)
			status = try_dense(s, n, n, lo, hi, &done, err);
	}
	if (status != SORT_OK || !done)
		return status;
	s->big->array = NULL;
	s->big->narray = 0;
	if (s->capacity < SORTER_CHUNK)
		status = sorter_grow_buffer(s, SORTER_CHUNK * 2, err);
	return status == SORT_OK ? sorter_add(s, keys, n, err) : status;
}

/*
 * Returns how many keys the plan takes len runs of n keys for when it considers a
 * histogram: a few for each run.  Not n, because a count of any size is added in one step,
 * and two runs of many keys would justify a histogram of any size.
 */
static uint64_t
worth_in_keys(const Sorter *s, uint64_t n, uint64_t len)
{
	uint64_t	worth = 4 * (len + s->nbuf + s->big->sparse.len + s->big->dense.range);
	uint64_t	all = sorter_count(s) + n;

	return all < worth ? all : worth;
}

SortStatus
sorter_add_runs(Sorter *s, const int32_t *keys, const uint64_t *counts, size_t len,
				SortError *err)
{
	const SortAllocator *a = sorter_allocator(s);
	SorterBig  *big;
	SortStatus	status;
	uint64_t	n = 0;
	int32_t		lo;
	int32_t		hi;
	bool		done;
	size_t		from = len;
	size_t		to = len;

	if (len == 0)
		return SORT_OK;
	if (sort_interrupted(s->context))
		return sort_cancelled(err);
	status = sorter_check_bounds(s, keys, len, err);
	if (status == SORT_OK)
		status = sorter_make_big(s, err);
	if (status == SORT_OK)
		status = sorter_absorb_pending(s, err);
	if (status != SORT_OK)
		return status;
	big = s->big;

	/* Counting them is best if the runs, and what is here, make it so. */
	for (size_t i = 0; i < len; i++)
		n += counts[i];
	lo = keys[0];
	hi = keys[len - 1];
	status = try_dense(s, worth_in_keys(s, n, len), s->nbuf + len, lo, hi, &done, err);
	if (status != SORT_OK)
		return status;

	/* Runs inside dense are counted, runs on either side of it stay runs. */
	if (big->dense.range > 0)
	{
		hi = histogram_key(&big->dense, big->dense.range - 1);
		from = runs_key_lower_bound(keys, len, big->dense.lo);
		to = runs_key_lower_bound(keys, len, hi);
		to += to < len && keys[to] == hi;
		if (!histogram_add_runs(&big->dense, keys + from, counts + from, to - from, a))
			return sort_no_memory(err);
	}
	if (!runs_merge(&big->sparse, keys, counts, from, a) ||
		!runs_merge(&big->sparse, keys + to, counts + to, len - to, a))
		return sort_no_memory(err);
	for (size_t i = 0; i < from; i++)
		big->sparse_n += counts[i];
	for (size_t i = to; i < len; i++)
		big->sparse_n += counts[i];
	return SORT_OK;
}

/* Adds the keys that a histogram counts: a batch of bins at a time, as runs. */
static SortStatus
add_histogram(Sorter *s, Histogram *h, SortError *err)
{
	int32_t		keys[SORTER_CHUNK];
	uint64_t	counts[SORTER_CHUNK];
	size_t		len = 0;
	uint64_t	v;
	int32_t		lo;
	int32_t		hi;
	bool		done;
	SortStatus	status;

	status = sorter_make_big(s, err);
	if (status == SORT_OK)
		status = sorter_absorb_pending(s, err);
	if (status != SORT_OK)
		return status;

	/* h's bounds reach a little beyond its keys, perhaps beyond the promise. */
	histogram_sum_tables(h);
	histogram_find_bounds(h, &lo, &hi);
	lo = lo < s->lo ? s->lo : lo;
	hi = hi > s->hi ? s->hi : hi;
	if (lo <= hi)
		status = try_dense(s, worth_in_keys(s, h->n, h->range), h->range, lo, hi, &done, err);
	for (v = histogram_next(h, 0); v < h->range && status == SORT_OK; v = histogram_next(h, v + 1))
	{
		keys[len] = histogram_key(h, v);
		counts[len++] = histogram_count(h, v);
		if (len == SORTER_CHUNK)
		{
			status = sorter_add_runs(s, keys, counts, len, err);
			len = 0;
		}
	}
	return status == SORT_OK ? sorter_add_runs(s, keys, counts, len, err) : status;
}

SortStatus
sorter_merge(Sorter *s, Sorter *src, SortError *err)
{
	SorterBig  *big = src->big;
	SortStatus	status = SORT_OK;

	/* Part by part, dense first of what is counted: so s gets its histogram before runs come. */
	if (big)
	{
		status = sorter_absorb_pending(src, err);
		if (status == SORT_OK && big->narray > 0)
			status = sorter_add(s, big->array, big->narray, err);
		if (status == SORT_OK && big->dense.n > 0)
			status = add_histogram(s, &big->dense, err);
		if (status == SORT_OK)
			status = sorter_add_runs(s, big->sparse.keys, big->sparse.counts, big->sparse.len, err);
	}
	if (status == SORT_OK)
		status = sorter_add(s, src->buf, src->nbuf, err);
	return status;
}

/* Sets big->array_ordered if the array is in ascending order and needs no sorting. */
static SortStatus
look_for_order(Sorter *s, SortError *err)
{
	SorterBig  *big = s->big;
	SortStatus	status;

	if (big->narray < SORTER_CHUNK || s->context->algorithm != SORT_ALGORITHM_AUTO ||
		s->context->device == SORT_DEVICE_GPU)
		return SORT_OK;
	status = sorter_find_order(s, big->array, big->narray, &big->array_ordered, err);
	if (big->array_ordered)
		big->bytes_moved += big->narray * sizeof(int32_t);
	return status;
}

SortStatus
sorter_finish(Sorter *s, SortWant want, SortError *err)
{
	SorterBig  *big;
	SortStatus	status;

	if (sorter_is_small(s) && want != SORT_WANT_PERMUTATION)
		return sorter_check_bounds(s, s->buf, s->nbuf, err);

	status = sorter_make_big(s, err);
	if (status == SORT_OK && s->big->narray > 0 && want == SORT_WANT_KEYS)
		status = look_for_order(s, err);
	if (status == SORT_OK && s->big->narray > 0 && want != SORT_WANT_PERMUTATION &&
		!s->big->array_ordered)
		status = count_array(s, want, err);
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
	big->fill_ns = sort_clock() - big->started;

	/* Keys and runs outside of dense could interleave, which no cursor reads: all become runs. */
	if (big->sparse.len > 0 && s->nbuf > 0)
	{
		status = sorter_compress(s, err);
		if (status != SORT_OK)
			return status;
	}
	/* The bounds of what are still keys, for the plan: in buf, or else in the array. */
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
