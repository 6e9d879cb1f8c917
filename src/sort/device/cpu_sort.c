/*
 * cpu_sort.c
 *		Sorting on the CPU (see cpu_sort.h).
 *
 * Allocates the counters or the pairs of a permutation, and what an algorithm of the
 * papers needs (published/published.h).
 */
#include "sort/device/cpu_sort.h"

#include "sort/algorithms.h"
#include "sort/kernels/permutation.h"
#include "sort/kernels/wide.h"
#include "sort/published/published.h"
#include "sort/runs/histogram.h"
#include "sort/steps.h"

/* An algorithm of the papers: keys in place, or positions of keys that stay as they are. */
static SortStatus
sort_published(const SortContext *context, const SortJobSpec *spec, int32_t *keys,
			   const SortOutput *output, int *threads, SortError *err)
{
	PublishedSort sort = {
		.algorithm = spec->algorithm,
		.keys = keys,
		.n = (size_t) spec->n,
		.lo = spec->lo,
		.hi = spec->hi,
		.descending = output->descending,
		.floats = context->floats,
		.positions = output->positions,
		.first = output->first
	};
	SortStatus	status = published_sort(&sort, context, err);

	*threads = sort.report.threads;
	return status;
}

/* Positions by the prefix sums of the counts. */
static SortStatus
permutation_by_counting(const SortContext *context, const SortJobSpec *spec, const int32_t *keys,
						const SortOutput *output, SortError *err)
{
	Histogram	h;
	SortStatus	status = histogram_init(&h, spec->lo, spec->hi, context, err);
	uint64_t	distinct;

	if (status != SORT_OK)
		return status;

	/* At most UINT32_MAX keys: the 32-bit counters are never folded. */
	status = histogram_add_all(&h, keys, (size_t) spec->n, context, err);
	histogram_sum_tables(&h);
	if (status == SORT_OK &&
		!(permutation_offsets(h.bins, h.range, output->descending, &distinct, context) &&
		  permutation_scatter(h.bins, h.lo, keys, (size_t) spec->n, output->first,
							  output->positions, context)))
		status = sort_cancelled(err);
	histogram_release(&h, &context->allocator);
	return status;
}

/* Positions by sorting (key, position) pairs. */
static SortStatus
permutation_by_pairs(const SortContext *context, const SortJobSpec *spec, const int32_t *keys,
					 const SortOutput *output, SortError *err)
{
	const SortAllocator *a = &context->allocator;
	size_t		n = (size_t) spec->n;
	uint64_t   *pairs = a->alloc(a->arena, n * sizeof(uint64_t));
	bool		sorted;

	if (pairs == NULL)
		return sort_no_memory(err);
	sorted = permutation_pack(keys, n, output->descending, output->first, pairs, context) &&
		wide_sort_pairs(pairs, n, context) &&
		permutation_unpack(pairs, n, output->positions, context);
	a->release(a->arena, pairs);
	return sorted ? SORT_OK : sort_cancelled(err);
}

SortStatus
cpu_sort(const SortContext *context, const SortJobSpec *spec, const int32_t *keys,
		 const SortOutput *output, int *threads, SortError *err)
{
	bool		published = algorithm_is_published(spec->algorithm);

	*threads = 1;
	if (spec->n == 0)
		return SORT_OK;
	if (output->positions)
	{
		if (published)
			return sort_published(context, spec, (int32_t *) keys, output, threads, err);
		return spec->algorithm == SORT_ALGORITHM_ZERO_COMPRESSED
			? permutation_by_counting(context, spec, keys, output, err)
			: permutation_by_pairs(context, spec, keys, output, err);
	}
	if (!sort_copy(context, output->keys, keys, spec->n, sizeof(int32_t)))
		return sort_cancelled(err);
	if (published)
		return sort_published(context, spec, output->keys, output, threads, err);
	return wide_sort_keys(output->keys, (size_t) spec->n, output->descending, context)
		? SORT_OK : sort_cancelled(err);
}
