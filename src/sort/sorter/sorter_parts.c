/*
 * sorter_parts.c
 *		The three parts of a sorter, and moving keys between them (see
 *		sorter_parts.h).
 *
 *	buf -> dense	counting, when keys lie in the histogram's bounds
 *	buf -> sparse	compressing, when the buffer repeats itself
 *	sparse -> dense when the histogram is widened over them
 *	dense -> dense	widening
 */
#include "sort/sorter/sorter_parts.h"

#include <string.h>

#include "sort/error.h"
#include "sort/kernels/kernels.h"
#include "sort/kernels/wide.h"

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
sorter_stream_drop(Sorter *s)
{
	SorterBig  *big = s->big;

	if (big->stream == NULL)
		return;
	big->stream->device->close(big->stream);
	big->stream = NULL;
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
	s->big->started = sort_clock();
	s->big->compress_at = COMPRESS_MIN;
	return SORT_OK;
}

void
sorter_empty(Sorter *s)
{
	const SortAllocator *a = sorter_allocator(s);
	SorterBig  *big = s->big;
	size_t		room = sorter_room(s);

	s->nbuf = 0;
	if (big == NULL)
		return;
	sorter_stream_drop(s);
	histogram_release(&big->dense, a);
	runs_release(&big->sparse, a);
	memset(big, 0, sizeof(SorterBig));
	big->started = sort_clock();
	big->compress_at = COMPRESS_MIN;
	big->room = s->capacity = room;
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

/* Extends *lo .. *hi, which are bounds only if found, to low and high.  Returns true. */
static bool
extend(bool found, int32_t *lo, int32_t *hi, int32_t low, int32_t high)
{
	*lo = !found || low < *lo ? low : *lo;
	*hi = !found || high > *hi ? high : *hi;
	return true;
}

bool
sorter_find_bounds(const Sorter *s, int32_t *lo, int32_t *hi)
{
	const SorterBig *big = s->big;
	const Runs *sparse = &big->sparse;
	bool		found = false;
	int32_t		low;
	int32_t		high;

	/* Of keys, of runs, of bins. */
	if (s->nbuf > 0 || big->narray > 0)
		found = extend(found, lo, hi, big->kept_lo, big->kept_hi);
	if (sparse->len > 0)
		found = extend(found, lo, hi, sparse->keys[0], sparse->keys[sparse->len - 1]);
	if (big->dense.n > 0)
	{
		histogram_find_bounds(&big->dense, &low, &high);
		found = extend(found, lo, hi, low, high);
	}
	return found;
}

SortStatus
sorter_check_bounds(const Sorter *s, const int32_t *keys, size_t n, SortError *err)
{
	int32_t		lo;
	int32_t		hi;
	uint64_t	i = 0;
	uint64_t	end;

	if (s->lo == INT32_MIN && s->hi == INT32_MAX)
		return SORT_OK;
	for (; sort_step(s->context, i, n, &end); i = end)
	{
		kernel_min_max(keys + i, (size_t) (end - i), &lo, &hi);
		if (lo >= s->lo && hi <= s->hi)
			continue;
		while (keys[i] >= s->lo && keys[i] <= s->hi)
			i++;
		return sort_out_of_bounds(err, keys[i], s->lo, s->hi);
	}
	return i == n ? SORT_OK : sort_cancelled(err);
}

SortStatus
sorter_absorb(Sorter *s, const int32_t *keys, size_t n, SortError *err)
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
		return sorter_absorb(s, s->buf + big->nkept, s->nbuf - big->nkept, err);
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
	SortStatus	status;

	sorter_stream_drop(s);
	status = big->dense.range > 0 ? histogram_widen(&big->dense, lo, hi, s->context, err)
		: histogram_init(&big->dense, lo, hi, s->context, err);
	if (status != SORT_OK)
		return status;
	big->bytes_moved += histogram_memory(&big->dense);

	/* Runs that lie in dense now are counted there. */
	from = runs_lower_bound(&big->sparse, lo);
	for (to = from; to < big->sparse.len && big->sparse.keys[to] <= hi; to++)
		;
	if (to > from &&
		!histogram_add_runs(&big->dense, big->sparse.keys + from, big->sparse.counts + from,
							to - from, a))
		return sort_no_memory(err);
	for (size_t j = from; j < to; j++)
		big->sparse_n -= big->sparse.counts[j];
	runs_delete(&big->sparse, from, to);

	/* Any key of buf may lie inside dense now: all are pending again. */
	big->nkept = 0;
	return sorter_absorb_pending(s, err);
}

SortStatus
sorter_find_order(const Sorter *s, const int32_t *keys, size_t n, bool *ordered, SortError *err)
{
	uint64_t	i = 0;
	uint64_t	end;

	*ordered = false;
	for (; sort_step(s->context, i, n, &end); i = end)
	{
		/* With the next step's first key. */
		size_t		part = (size_t) (end - i) + (end < n);

		if (kernel_ordered_prefix(keys + i, part) < part)
			return SORT_OK;
	}
	*ordered = i == n;
	return *ordered ? SORT_OK : sort_cancelled(err);
}

SortStatus
sorter_order_buffer(Sorter *s, SortError *err)
{
	uint64_t	since;
	SortStatus	status;
	bool		ordered;

	if (s->big->ordered || s->nbuf < 2)
		return SORT_OK;
	since = sort_clock();
	status = sorter_find_order(s, s->buf, s->nbuf, &ordered, err);
	if (status != SORT_OK)
		return status;
	if (!ordered && !wide_sort_keys(s->buf, s->nbuf, false, s->context))
		return sort_cancelled(err);
	s->big->ordered = true;
	s->big->sort_ns += sort_clock() - since;
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
	/* The first runs are taken as they are, others are merged into. */
	if (status == SORT_OK && big->sparse.len == 0)
	{
		runs_release(&big->sparse, a);
		big->sparse = fresh;
	}
	else
	{
		if (status == SORT_OK && !runs_merge(&big->sparse, fresh.keys, fresh.counts, fresh.len, a))
			status = sort_no_memory(err);
		runs_release(&fresh, a);
	}
	if (status != SORT_OK)
		return status;
	big->sparse_n += s->nbuf;
	big->bytes_moved += s->nbuf * sizeof(int32_t);
	s->nbuf = big->nkept = 0;
	return SORT_OK;
}

size_t
sorter_compress_memory(const Sorter *s, size_t distinct)
{
	size_t		run = sizeof(int32_t) + sizeof(uint64_t);
	size_t		runs = s->big ? s->big->sparse.len : 0;

	/* Where there are runs, all of them once more, with the room that runs_merge leaves. */
	return run * distinct + (runs == 0 ? 0 : run * (runs + distinct + (runs + distinct) / 4));
}

bool
sorter_is_buffer(const Sorter *s)
{
	const SorterBig *big = s->big;

	return big == NULL || (big->dense.range == 0 && big->sparse.len == 0 && big->narray == 0 &&
						   big->stream == NULL);
}

void
sorter_take_sample(const Sorter *s, const int32_t *keys, size_t n, int32_t *sample)
{
	SortContext context = *s->context;

	/* The caller has no way to report a cancel, and so few keys need no look for one. */
	context.interrupted = NULL;
	for (size_t i = 0; i < SORTER_SAMPLE; i++)
		sample[i] = keys[n / SORTER_SAMPLE * i + n % SORTER_SAMPLE * i / SORTER_SAMPLE];
	(void) wide_sort_keys(sample, SORTER_SAMPLE, false, &context);
}

/*
 * Among m keys drawn from D equally frequent ones, about m * m / 2D are
 * repeats; runs pay when D is at most a quarter of the keys.
 */
bool
sorter_sample_repeats(const int32_t *sample, size_t n)
{
	size_t		repeats = SORTER_SAMPLE - (size_t) runs_count_distinct(sample, SORTER_SAMPLE);
	size_t		wanted = 2 * (size_t) SORTER_SAMPLE * SORTER_SAMPLE / n;

	return repeats >= (wanted < 8 ? 8 : wanted);
}
