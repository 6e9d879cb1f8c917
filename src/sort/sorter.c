/*
 * sorter.c
 *		Filling the sorter: from a few keys to whatever holds
 *		them best (see sorter.h).
 *
 * Every decision is plan.c's.  What is done here is moving keys between the
 * three parts of a sorter without losing any:
 *
 *	buf -> dense	counting, when keys lie in the histogram's bounds
 *	buf -> sparse	compressing, when the buffer repeats itself
 *	sparse -> dense when the histogram is widened over them
 *	dense -> dense	widening
 */
#include "sort/sorter.h"

#include <string.h>

#include "sort/error.h"
#include "sort/kernels.h"
#include "sort/sorter_internal.h"

/* Keys looked at to judge a buffer or an array. */
#define SAMPLE 1024

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
 * Widening a histogram without slack has to bring in a key for so many bins,
 * or keys that arrive in order would copy it every few thousand of them: at
 * 8e6 ascending keys that made 420 ns a key of 5.
 */
#define WIDEN_BINS_PER_KEY 8

/* Fewest keys worth compressing to runs: 256 KiB of them. */
#define COMPRESS_MIN ((size_t) 65536)

void
sorter_init(Sorter *s, const SortContext *context, int32_t lo, int32_t hi)
{
	s->buf = s->inline_keys;
	s->nbuf = 0;
	s->capacity = SORTER_INLINE_KEYS;
	s->big = NULL;
	s->context = context;
	s->lo = lo;
	s->hi = hi;
}

void
sorter_reset(Sorter *s)
{
	const SortAllocator *a = sorter_allocator(s);

	if (s->big)
	{
		sorter_stream_drop(s);
		histogram_release(&s->big->dense, a);
		runs_release(&s->big->sparse, a);
		a->release(a->arena, s->big);
	}
	if (s->buf != s->inline_keys)
		a->release(a->arena, s->buf);
	sorter_init(s, s->context, s->lo, s->hi);
}

uint64_t
sorter_count(const Sorter *s)
{
	if (s->big == NULL)
		return s->nbuf;
	return s->nbuf + s->big->dense.n + s->big->sparse_n + s->big->narray;
}

size_t
sorter_memory(const Sorter *s)
{
	size_t		bytes = s->buf == s->inline_keys ? 0 : sorter_room(s) * sizeof(int32_t);

	if (s->big)
		bytes += sizeof(SorterBig) + histogram_memory(&s->big->dense) +
			s->big->sparse.capacity * (sizeof(int32_t) + sizeof(uint64_t));
	return bytes;
}

SortStatus
sorter_make_big(Sorter *s, SortError *err)
{
	const SortAllocator *a = sorter_allocator(s);

	if (s->big)
		return SORT_OK;
	s->big = a->alloc(a->arena, sizeof(SorterBig));
	if (s->big == NULL)
		return sort_no_memory(err);
	memset(s->big, 0, sizeof(SorterBig));
	s->big->started = sorter_clock();
	s->big->compress_at = COMPRESS_MIN;
	return SORT_OK;
}

SortStatus
sorter_grow_buffer(Sorter *s, size_t capacity, SortError *err)
{
	const SortAllocator *a = sorter_allocator(s);
	int32_t    *buf;

	if (capacity > SIZE_MAX / sizeof(int32_t))
		return sort_no_memory(err);
	if (s->buf == s->inline_keys)
	{
		buf = a->alloc(a->arena, capacity * sizeof(int32_t));
		if (buf)
			memcpy(buf, s->buf, s->nbuf * sizeof(int32_t));
	}
	else
		buf = a->grow(a->arena, s->buf, sorter_room(s) * sizeof(int32_t),
					  capacity * sizeof(int32_t));
	if (buf == NULL)
		return sort_no_memory(err);
	s->buf = buf;
	s->capacity = capacity;
	if (s->big)
		s->big->room = capacity;
	return SORT_OK;
}

SortStatus
sorter_check_bounds(const Sorter *s, const int32_t *keys, size_t n, SortError *err)
{
	int32_t		lo;
	int32_t		hi;
	size_t		i;

	if (n == 0 || (s->lo == INT32_MIN && s->hi == INT32_MAX))
		return SORT_OK;
	for (;;)
	{
		size_t		part = n < SORTER_CHECK_EVERY ? n : SORTER_CHECK_EVERY;

		kernel_min_max(keys, part, &lo, &hi);
		if (lo < s->lo || hi > s->hi)
			break;
		keys += part;
		n -= part;
		if (n == 0)
			return SORT_OK;
		if (sort_interrupted(s->context))
			return sort_cancelled(err);
	}
	for (i = 0; keys[i] >= s->lo && keys[i] <= s->hi; i++)
		;
	return sort_out_of_bounds(err, keys[i], s->lo, s->hi);
}

/*
 * Counts n keys from anywhere into dense and leaves those outside its bounds,
 * checked against the promise, at the end of buf, which has room for them.
 */
static SortStatus
absorb(Sorter *s, const int32_t *keys, size_t n, SortError *err)
{
	SorterBig  *big = s->big;
	int32_t    *outside = s->buf + big->nkept;
	size_t		noutside;

	if (!histogram_add(&big->dense, keys, n, outside, &noutside, sorter_allocator(s)))
		return sort_no_memory(err);
	big->bytes_moved += n * sizeof(int32_t);
	if (noutside > 0)
	{
		SortStatus	status = sorter_check_bounds(s, outside, noutside, err);

		if (status != SORT_OK)
			return status;
		big->ordered = false;
	}
	big->nkept += noutside;
	s->nbuf = big->nkept;
	return SORT_OK;
}

SortStatus
sorter_absorb_pending(Sorter *s, SortError *err)
{
	SorterBig  *big = s->big;
	SortStatus	status;

	if (big->nkept == s->nbuf)
		return SORT_OK;
	if (big->dense.range > 0)
		return absorb(s, s->buf + big->nkept, s->nbuf - big->nkept, err);
	status = sorter_check_bounds(s, s->buf + big->nkept, s->nbuf - big->nkept, err);
	big->ordered = false;
	big->nkept = s->nbuf;
	return status;
}

SortStatus
sorter_make_dense(Sorter *s, int32_t lo, int32_t hi, SortError *err)
{
	SorterBig  *big = s->big;
	const SortAllocator *a = sorter_allocator(s);
	size_t		from;
	size_t		to;
	size_t		j;
	SortStatus	status;

	sorter_stream_drop(s);
	status = big->dense.range > 0 ? histogram_widen(&big->dense, lo, hi, s->context, err)
		: histogram_init(&big->dense, lo, hi, s->context, err);
	if (status != SORT_OK)
		return status;
	big->bytes_moved += histogram_memory(&big->dense);

	from = runs_lower_bound(&big->sparse, lo);
	for (to = from; to < big->sparse.len && big->sparse.keys[to] <= hi; to++)
		;
	for (j = from; j < to; j++)
	{
		if (!histogram_add_run(&big->dense, big->sparse.keys[j], big->sparse.counts[j], a))
			return sort_no_memory(err);
		big->sparse_n -= big->sparse.counts[j];
	}
	runs_delete(&big->sparse, from, to);

	/* Everything in buf may lie inside now. */
	big->nkept = 0;
	return sorter_absorb_pending(s, err);
}

SortStatus
sorter_order_buffer(Sorter *s, SortError *err)
{
	uint64_t	since;

	if (s->big->ordered || s->nbuf < 2)
		return SORT_OK;
	since = sorter_clock();
	if (!wide_sort_keys(s->buf, s->nbuf, false, s->context))
		return sort_cancelled(err);
	s->big->ordered = true;
	s->big->sort_ns += sorter_clock() - since;
	s->big->bytes_moved += 2 * s->nbuf * sizeof(int32_t);
	return SORT_OK;
}

SortStatus
sorter_compress(Sorter *s, SortError *err)
{
	SorterBig  *big = s->big;
	const SortAllocator *a = sorter_allocator(s);
	Runs		fresh = {0};
	SortStatus	status;

	sorter_stream_drop(s);
	status = sorter_order_buffer(s, err);
	if (status != SORT_OK)
		return status;
	status = runs_of_all(&fresh, s->buf, s->nbuf, s->context, err);
	if (status == SORT_OK && !runs_merge(&big->sparse, fresh.keys, fresh.counts, fresh.len, a))
		status = sort_no_memory(err);
	runs_release(&fresh, a);
	if (status != SORT_OK)
		return status;
	big->sparse_n += s->nbuf;
	big->bytes_moved += s->nbuf * sizeof(int32_t);
	s->nbuf = big->nkept = 0;
	return SORT_OK;
}

/*
 * A sample of n keys, spread evenly, in order; n is at least SAMPLE.  So few are
 * sorted without a look for a cancel, which nobody here could obey.
 */
static void
take_sample(const Sorter *s, const int32_t *keys, size_t n, int32_t *sample)
{
	SortContext context = *s->context;
	size_t		i;

	context.interrupted = NULL;
	for (i = 0; i < SAMPLE; i++)
		sample[i] = keys[n / SAMPLE * i + n % SAMPLE * i / SAMPLE];
	(void) wide_sort_keys(sample, SAMPLE, false, &context);
}

/*
 * Bounds to give a histogram that must reach from *lo to *hi: a little more on
 * the sides that moved, so that keys arriving in order widen it rarely, but
 * never beyond the promise or what the plan would still count: false then.
 */
static bool
add_slack(const Sorter *s, uint64_t n, int32_t *lo, int32_t *hi)
{
	const Histogram *dense = &s->big->dense;
	int64_t		slack = (int64_t) (plan_range(*lo, *hi) / 4);
	int64_t		low = *lo;
	int64_t		high = *hi;

	if (dense->range == 0)
		slack /= 8;
	if (dense->range == 0 || *lo < dense->lo)
		low -= slack;
	if (dense->range == 0 || *hi >= dense->lo + (int64_t) dense->range)
		high += slack;
	low = low < s->lo ? s->lo : low;
	high = high > s->hi ? s->hi : high;
	if (!plan_fills_dense(n, plan_range((int32_t) low, (int32_t) high), s->context->algorithm))
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
 * Tries to count keys from lo to hi, n keys being in the sorter and waiting of
 * them (or runs) outside dense; *done says whether the plan agreed.
 */
static SortStatus
try_dense(Sorter *s, uint64_t n, uint64_t waiting, int32_t lo, int32_t hi, bool *done,
		  SortError *err)
{
	const Histogram *dense = &s->big->dense;

	include_dense(s, &lo, &hi);
	*done = plan_fills_dense(n, plan_range(lo, hi), s->context->algorithm);
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
 * Keys repeat enough to be kept as runs?  Among m keys drawn from D equally
 * frequent ones, about m * m / 2D are repeats; runs pay when D is at most a
 * quarter of the buffer.
 */
static bool
sample_repeats(const int32_t *sample, size_t nbuf)
{
	size_t		repeats = SAMPLE - (size_t) runs_count_distinct(sample, SAMPLE);
	size_t		wanted = 2 * (size_t) SAMPLE * SAMPLE / nbuf;

	return repeats >= (wanted < 8 ? 8 : wanted);
}

bool
sorter_sample_repeats(const Sorter *s, const int32_t *keys, size_t n)
{
	int32_t		sample[SAMPLE];

	take_sample(s, keys, n, sample);
	return sample_repeats(sample, n);
}

/*
 * buf is full of keys that dense, if there is one, does not reach.  Finds the
 * best way to go on, and makes sure that at least a chunk fits.
 */
static SortStatus
rearrange(Sorter *s, SortError *err)
{
	SorterBig  *big = s->big;
	uint64_t	n = sorter_count(s);
	int32_t		sample[SAMPLE];
	int32_t		lo;
	int32_t		hi;
	SortStatus	status = SORT_OK;
	bool		done = false;

	if (sort_interrupted(s->context))
		return sort_cancelled(err);

	/* A GPU that is insisted on gets keys, however much they repeat. */
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
		s->context->device != SORT_DEVICE_GPU && s->nbuf >= SAMPLE)
	{
		/* All but a few outliers? */
		take_sample(s, s->buf, s->nbuf, sample);
		status = try_dense(s, n, s->nbuf, sample[SAMPLE_OUTLIERS],
						   sample[SAMPLE - 1 - SAMPLE_OUTLIERS], &done, err);

		/* Few distinct keys, wherever they are? */
		if (status == SORT_OK && !done && s->nbuf >= big->compress_at && big->stream == NULL &&
			sample_repeats(sample, s->nbuf))
		{
			size_t		before = s->nbuf;
			size_t		runs = big->sparse.len;

			status = sorter_compress(s, err);
			/* If that did not help, wait longer before the next attempt. */
			if (status == SORT_OK && big->sparse.len - runs > before / 2)
				big->compress_at = before * 4;
		}
	}
	if (status != SORT_OK)
		return status;

	/* Little room left: what is in buf is to stay there. */
	if (s->capacity - s->nbuf < s->capacity / 2)
		status = sorter_grow_buffer(s, s->capacity * 2, err);
	if (status == SORT_OK)
		status = sorter_stream_start(s, err);
	return status;
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
			status = absorb(s, keys, part, err);
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
			part = part < SORTER_CHECK_EVERY ? part : SORTER_CHECK_EVERY;
			memcpy(s->buf + s->nbuf, keys, part * sizeof(int32_t));
			s->nbuf += part;
			if (s->big)
				s->big->bytes_moved += 2 * part * sizeof(int32_t);
		}
		keys += part;
		n -= part;
		since_check += part;
		if (since_check >= SORTER_CHECK_EVERY)
		{
			since_check = 0;
			if (sort_interrupted(s->context))
				return sort_cancelled(err);
		}
	}
	return SORT_OK;
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
 * A sample tells whether to count the array where it is, in one pass that
 * finds the bounds as it goes.  If it lied, outliers pile up in buf and the
 * sorter adapts as ever.  Otherwise the array is left as it is.  Not before
 * finish, because a permutation needs it whole.
 */
SortStatus
sorter_count_array(Sorter *s, SortWant want, SortError *err)
{
	const int32_t *keys = s->big->array;
	size_t		n = s->big->narray;
	int32_t		sample[SAMPLE];
	int32_t		lo;
	int32_t		hi;
	SortPlan	plan;
	bool		done = false;
	SortStatus	status = SORT_OK;

	if (n < SAMPLE_MIN || s->context->algorithm != SORT_ALGORITHM_AUTO ||
		s->context->device == SORT_DEVICE_GPU)
		return SORT_OK;
	take_sample(s, keys, n, sample);
	lo = sample[0] < s->lo ? s->lo : sample[0];
	hi = sample[SAMPLE - 1] > s->hi ? s->hi : sample[SAMPLE - 1];
	if (lo > hi || sorter_prefers_gpu(s, want, n, lo, hi, &plan))
		return SORT_OK;
	status = try_dense(s, n, n, lo, hi, &done, err);
	if (status == SORT_OK && !done)
	{
		lo = sample[SAMPLE_OUTLIERS];
		hi = sample[SAMPLE - 1 - SAMPLE_OUTLIERS];
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
 * How many keys runs and bins are worth when a histogram for them is thought
 * about: not their counts, which cost nothing to add, or two runs could claim
 * all the memory there is.
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
	size_t		from;
	size_t		to;
	size_t		i;

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
	for (i = 0; i < len; i++)
		n += counts[i];
	lo = keys[0];
	hi = keys[len - 1];
	status = try_dense(s, worth_in_keys(s, n, len), s->nbuf + len, lo, hi, &done, err);
	if (status != SORT_OK)
		return status;

	/* Those inside dense first, then those on either side of it. */
	for (from = 0; from < len && (big->dense.range == 0 || keys[from] < big->dense.lo); from++)
		;
	for (to = from; to < len &&
		 histogram_bin(&big->dense, keys[to]) < big->dense.range; to++)
	{
		if (!histogram_add_run(&big->dense, keys[to], counts[to], a))
			return sort_no_memory(err);
		n -= counts[to];
	}
	if (!runs_merge(&big->sparse, keys, counts, from, a) ||
		!runs_merge(&big->sparse, keys + to, counts + to, len - to, a))
		return sort_no_memory(err);
	big->sparse_n += n;
	return SORT_OK;
}

SortStatus
sorter_merge(Sorter *s, Sorter *src, SortError *err)
{
	SorterBig  *big = src->big;
	SortStatus	status = SORT_OK;

	if (big)
	{
		status = sorter_absorb_pending(src, err);
		if (status == SORT_OK && big->narray > 0)
			status = sorter_add(s, big->array, big->narray, err);
		if (status == SORT_OK && big->dense.n > 0)
		{
			/* A batch of bins at a time, as runs: no second histogram. */
			int32_t		keys[SORTER_CHUNK];
			uint64_t	counts[SORTER_CHUNK];
			size_t		len = 0;
			uint64_t	v;
			int32_t		lo;
			int32_t		hi;
			bool		done;

			/*
			 * The bounds of the keys it holds, not its own: those reach a
			 * little further, perhaps beyond what s may hold.
			 */
			histogram_sum_tables(&big->dense);
			lo = histogram_key(&big->dense, histogram_next(&big->dense, 0));
			hi = histogram_key(&big->dense, histogram_previous(&big->dense, big->dense.range) - 1);
			lo = lo < s->lo ? s->lo : lo;
			hi = hi > s->hi ? s->hi : hi;
			status = sorter_make_big(s, err);
			if (status == SORT_OK)
				status = sorter_absorb_pending(s, err);
			if (status == SORT_OK && lo <= hi)
				status = try_dense(s, worth_in_keys(s, big->dense.n, big->dense.range),
								   big->dense.range, lo, hi, &done, err);
			for (v = histogram_next(&big->dense, 0); v < big->dense.range && status == SORT_OK;
				 v = histogram_next(&big->dense, v + 1))
			{
				keys[len] = histogram_key(&big->dense, v);
				counts[len++] = histogram_count(&big->dense, v);
				if (len == SORTER_CHUNK)
				{
					status = sorter_add_runs(s, keys, counts, len, err);
					len = 0;
				}
			}
			if (status == SORT_OK)
				status = sorter_add_runs(s, keys, counts, len, err);
		}
		if (status == SORT_OK)
			status = sorter_add_runs(s, big->sparse.keys, big->sparse.counts, big->sparse.len, err);
	}
	if (status == SORT_OK)
		status = sorter_add(s, src->buf, src->nbuf, err);
	return status;
}
