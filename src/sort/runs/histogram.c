/*
 * histogram.c
 *		Histogram: dense counters for one contiguous range (see histogram.h).
 */
#include "sort/runs/histogram.h"

#include <string.h>

#include "sort/kernels/kernels.h"
#include "sort/plan.h"
#include "sort/steps.h"

/*
 * Ranges up to this many bins get HISTOGRAM_TABLES tables.  Without them a
 * key that repeats waits for its own last increment: at range 2, 1e7 keys,
 * one table 12.5 ms, two 4.7, four 3.1 (AMD EPYC Zen 5, 2 cores).  Above 2,048
 * bins four tables would leave the 48 KiB first-level cache, and at 10,000
 * bins they cost more (6.7 ms) than the waiting (3.7 ms).
 */
#define HISTOGRAM_TABLES 4
#define HISTOGRAM_TABLES_MAX_RANGE 2048

static size_t
total_bins(const Histogram *h)
{
	return h->stride * (size_t) h->tables;
}

/* Keys counted at once: 16 KiB, as many as may turn out to be out of bounds. */
#define COUNT_AT_ONCE 4096

SortStatus
histogram_init(Histogram *h, int32_t lo, int32_t hi, const SortContext *context, SortError *err)
{
	const SortAllocator *a = &context->allocator;

	memset(h, 0, sizeof(*h));
	h->lo = lo;
	h->range = plan_range(lo, hi);
	h->tables = h->range <= HISTOGRAM_TABLES_MAX_RANGE ? HISTOGRAM_TABLES : 1;
	/* Whole cache lines, and not a multiple of 4 KiB from table to table. */
	h->stride = ((size_t) h->range + 15) / 16 * 16 + (h->tables > 1 ? 16 : 0);
	h->fold_at = UINT32_MAX;
	h->bins = a->alloc(a->arena, total_bins(h) * sizeof(uint32_t));
	if (h->bins == NULL)
	{
		h->range = 0;
		return sort_no_memory(err);
	}
	if (!sort_zero(context, h->bins, total_bins(h), sizeof(uint32_t)))
	{
		histogram_release(h, a);
		return sort_cancelled(err);
	}
	return SORT_OK;
}

void
histogram_release(Histogram *h, const SortAllocator *a)
{
	if (h->range == 0)
		return;
	a->release(a->arena, h->bins);
	if (h->folded)
		a->release(a->arena, h->folded);
	memset(h, 0, sizeof(*h));
}

void
histogram_sum_tables(Histogram *h)
{
	for (int t = 1; t < h->tables; t++)
		kernel_take_bins(h->bins, h->bins + (size_t) t * h->stride, (size_t) h->range);
}

/* Empties the 32-bit counters into the 64-bit ones. */
static bool
fold(Histogram *h, const SortAllocator *a)
{
	if (h->folded == NULL)
	{
		h->folded = a->alloc(a->arena, (size_t) h->range * sizeof(uint64_t));
		if (h->folded == NULL)
			return false;
		memset(h->folded, 0, (size_t) h->range * sizeof(uint64_t));
	}
	histogram_sum_tables(h);
	for (uint64_t v = 0; v < h->range; v++)
	{
		h->folded[v] += h->bins[v];
		h->bins[v] = 0;
	}
	h->unfolded = 0;
	return true;
}

SortStatus
histogram_widen(Histogram *h, int32_t lo, int32_t hi, const SortContext *context, SortError *err)
{
	const SortAllocator *a = &context->allocator;
	Histogram	wider;
	SortStatus	status = histogram_init(&wider, lo, hi, context, err);
	size_t		shift = (size_t) ((int64_t) h->lo - lo);

	if (status != SORT_OK)
		return status;
	if (h->folded)
	{
		wider.folded = a->alloc(a->arena, (size_t) wider.range * sizeof(uint64_t));
		if (wider.folded == NULL)
			status = sort_no_memory(err);
		else if (!sort_zero(context, wider.folded, wider.range, sizeof(uint64_t)))
			status = sort_cancelled(err);
		if (status != SORT_OK)
		{
			histogram_release(&wider, a);
			return status;
		}
		memcpy(wider.folded + shift, h->folded, (size_t) h->range * sizeof(uint64_t));
	}
	histogram_sum_tables(h);
	memcpy(wider.bins + shift, h->bins, (size_t) h->range * sizeof(uint32_t));
	wider.n = h->n;
	wider.unfolded = h->unfolded;
	wider.fold_at = h->fold_at;
	histogram_release(h, a);
	*h = wider;
	return SORT_OK;
}

/* The counters, for the kernels. */
static KernelBins
bins_of(const Histogram *h)
{
	return (KernelBins)
	{
		h->bins, h->stride, h->tables, h->lo, h->range
	};
}

bool
histogram_add(Histogram *h, const int32_t *keys, size_t n, int32_t *outside,
			  size_t *noutside, const SortAllocator *a)
{
	const KernelBins to = bins_of(h);

	*noutside = 0;
	while (n > 0)
	{
		size_t		part = n;
		size_t		out;

		if (h->unfolded + part > h->fold_at)
		{
			if (h->unfolded > 0)
			{
				if (!fold(h, a))
					return false;
				continue;
			}
			part = (size_t) h->fold_at;
		}
		out = kernel_count(keys, part, &to, outside + *noutside);
		*noutside += out;
		h->n += part - out;
		h->unfolded += part - out;
		keys += part;
		n -= part;
	}
	return true;
}

SortStatus
histogram_add_all(Histogram *h, const int32_t *keys, size_t n, const SortContext *context,
				  SortError *err)
{
	int32_t		outside[COUNT_AT_ONCE];
	size_t		noutside;

	for (size_t at = 0; at < n; at += COUNT_AT_ONCE)
	{
		if (at % SORT_CHECK_EVERY == 0 && at > 0 && sort_interrupted(context))
			return sort_cancelled(err);
		if (!histogram_add(h, keys + at, n - at < COUNT_AT_ONCE ? n - at : COUNT_AT_ONCE, outside,
						   &noutside, &context->allocator))
			return sort_no_memory(err);
		if (noutside > 0)
			return sort_out_of_bounds(err, outside[0], h->lo, histogram_key(h, h->range - 1));
	}
	return SORT_OK;
}

bool
histogram_add_packed(Histogram *h, const PackedKeys *packed)
{
	const KernelBins to = bins_of(h);
	uint64_t	bin = histogram_bin(h, (int32_t) packed->base);

	if (packed->base < INT32_MIN || packed->base > INT32_MAX || bin >= h->range ||
		packed->top >= h->range - bin || h->unfolded + packed->n > h->fold_at)
		return false;
	kernel_count_packed(packed->values, packed->width, packed->n, (int32_t) packed->base, &to);
	h->n += packed->n;
	h->unfolded += packed->n;
	return true;
}

bool
histogram_add_runs(Histogram *h, const int32_t *keys, const uint64_t *counts, size_t len,
				   const SortAllocator *a)
{
	uint64_t	n = 0;

	for (size_t i = 0; i < len; i++)
		n += counts[i];

	/* What is too much for the 32-bit counters goes to the others itself: one fold at most. */
	if (h->folded == NULL && n > h->fold_at - h->unfolded && !fold(h, a))
		return false;
	if (h->folded)
		for (size_t i = 0; i < len; i++)
			h->folded[histogram_bin(h, keys[i])] += counts[i];
	else
	{
		for (size_t i = 0; i < len; i++)
			h->bins[histogram_bin(h, keys[i])] += (uint32_t) counts[i];
		h->unfolded += n;
	}
	h->n += n;
	return true;
}

uint64_t
histogram_next(const Histogram *h, uint64_t v)
{
	if (h->folded == NULL)
		return kernel_next_nonzero(h->bins, v, h->range);
	while (v < h->range && histogram_count(h, v) == 0)
		v++;
	return v;
}

uint64_t
histogram_previous(const Histogram *h, uint64_t v)
{
	while (v > 0 && histogram_count(h, v - 1) == 0)
		v--;
	return v;
}

void
histogram_find_bounds(const Histogram *h, int32_t *lo, int32_t *hi)
{
	*lo = histogram_key(h, histogram_next(h, 0));
	*hi = histogram_key(h, histogram_previous(h, h->range) - 1);
}

uint64_t
histogram_distinct(const Histogram *h)
{
	uint64_t	distinct = 0;

	if (h->folded == NULL)
		return kernel_count_nonzero(h->bins, h->range);
	for (uint64_t v = 0; v < h->range; v++)
		distinct += histogram_count(h, v) != 0;
	return distinct;
}

size_t
histogram_expand(const Histogram *h, bool descending, uint64_t *at, uint64_t *used,
				 int32_t *out, size_t max)
{
	size_t		written = 0;

	while (written < max)
	{
		uint64_t	v;
		uint64_t	left;
		size_t		part;

		/* Whole bins, many at a time, while they fit. */
		if (*used == 0 && h->folded == NULL)
			written += kernel_expand(h->bins, descending ? 0 : *at, descending ? *at : h->range,
									 h->lo, descending, out + written, max - written, at);

		/* With 64-bit counters, or at the end of the room: one bin, as far as it fits. */
		if (descending)
		{
			*at = *used ? *at : histogram_previous(h, *at);
			if (*at == 0)
				break;
			v = *at - 1;
		}
		else
		{
			*at = *used ? *at : histogram_next(h, *at);
			if (*at == h->range)
				break;
			v = *at;
		}
		left = histogram_count(h, v) - *used;
		part = left < max - written ? (size_t) left : max - written;
		kernel_fill(out + written, part, histogram_key(h, v));
		written += part;
		*used += part;
		if (part == left)
		{
			*used = 0;
			if (descending)
				--* at;
			else
				++*at;
		}
	}
	return written;
}

size_t
histogram_memory(const Histogram *h)
{
	if (h->range == 0)
		return 0;
	return total_bins(h) * sizeof(uint32_t) + (h->folded ? (size_t) h->range * sizeof(uint64_t) :
											   0);
}
