/*
 * published.c
 *		One of the published algorithms, by name (see published.h).
 */
#include "sort/published/published.h"

#include <string.h>

#include "sort/algorithms.h"
#include "sort/clock.h"
#include "sort/kernels/wide.h"
#include "sort/plan.h"
#include "sort/published/parts.h"

/* Returns false if a key is out of bounds, with the first one in p->err, or after a cancel. */
static bool
check_bounds(Published *p)
{
	const PublishedSort *sort = p->sort;
	int32_t		lo;
	int32_t		hi;
	size_t		i;

	if (!wide_min_max(sort->keys, sort->n, &lo, &hi, p->context))
		return false;
	if (lo >= sort->lo && hi <= sort->hi)
		return true;
	for (i = 0; sort->keys[i] >= sort->lo && sort->keys[i] <= sort->hi; i++)
		;
	sort_out_of_bounds(p->err, sort->keys[i], sort->lo, sort->hi);
	return false;
}

static bool
sort_by_name(Published *p)
{
	switch (p->sort->algorithm)
	{
		case SORT_ALGORITHM_HP:
			return published_hp(p);
		case SORT_ALGORITHM_ONE_HP:
			return published_one_hp(p);
		case SORT_ALGORITHM_ZERO_COMPRESSED_PUBLISHED:
			return published_zero_compressed(p);
		case SORT_ALGORITHM_BUCKET_RADIX:
			return published_bucket_radix(p);
		case SORT_ALGORITHM_COMPARISON_FREE:
			return published_comparison_free(p);
		case SORT_ALGORITHM_COMPARISON_FREE_ONEHOT:
			return published_onehot(p);
		case SORT_ALGORITHM_BUCKET_BITONIC:
			return published_bucket_bitonic(p);
		default:
			sort_fail(p->err, SORT_UNSUPPORTED, "algorithm \"%s\" is not a published one",
					  sort_algorithm_name(p->sort->algorithm));
			return false;
	}
}

SortStatus
published_sort(PublishedSort *sort, const SortContext *context, SortError *err)
{
	const SortAllocator *a = &context->allocator;
	Published	p = {
		.sort = sort,
		.context = context,
		.range = plan_range(sort->lo, sort->hi),
		.since = sort_clock(),
		.err = err
	};
	bool		done;

	memset(&sort->report, 0, sizeof(sort->report));
	sort->report.threads = 1;
	if (sort->positions && algorithm_info(sort->algorithm)->no_permutation != NULL)
		return sort_fail(err, SORT_UNSUPPORTED, "algorithm \"%s\" cannot return a permutation",
						 sort_algorithm_name(sort->algorithm));
	if (sort->n > UINT32_MAX)
		return sort_fail(err, SORT_LIMIT_EXCEEDED, "cannot count more than %u keys", UINT32_MAX);
	if (sort->n == 0)
		return SORT_OK;
	sort_cancelled(err);
	done = check_bounds(&p) && sort_by_name(&p);
	for (int i = 0; i < p.blocks; i++)
		a->release(a->arena, p.block[i]);
	return done ? SORT_OK : err->status;
}
