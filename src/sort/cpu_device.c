/*
 * cpu_device.c
 *		The CPU as a device (see cpu_device.h).
 *
 * Allocates the list of chunks, the histogram of zero_compressed, the pairs of a
 * permutation that is sorted, and what an algorithm of the papers needs
 * (published/published.h).
 */
#include "sort/cpu_device.h"

#include <string.h>

#include "sort/algorithms.h"
#include "sort/error.h"
#include "sort/histogram.h"
#include "sort/kernels.h"
#include "sort/permutation.h"
#include "sort/published/published.h"
#include "sort/wide.h"

/* Keys handled between two looks at the interrupt callback. */
#define CHECK_EVERY ((size_t) 1 << 20)

/* Keys counted at once: 16 KiB, as many as may turn out to be out of bounds. */
#define COUNT_AT_ONCE 4096

typedef struct Chunk
{
	const int32_t *keys;
	size_t		n;
} Chunk;

typedef struct CpuJob
{
	SortJob		base;
	Chunk	   *chunks;
	size_t		nchunks;
	size_t		capacity;		/* chunks that there is room for */
	uint64_t	n;				/* keys added */
	int			threads;		/* that sorted; 0: the calling one */
	Histogram	histogram;		/* zero_compressed, after finish */
} CpuJob;

static SortStatus
cpu_open(const SortContext *context, const SortJobSpec *spec, SortJob **result, SortError *err)
{
	const SortAllocator *a = &context->allocator;
	CpuJob	   *job = a->alloc(a->arena, sizeof(CpuJob));

	*result = NULL;
	if (job == NULL)
		return sort_no_memory(err);
	memset(job, 0, sizeof(CpuJob));
	sort_job_init(&job->base, &cpu_device, context, spec);
	*result = &job->base;
	return SORT_OK;
}

static void
cpu_close(SortJob *base)
{
	CpuJob	   *job = (CpuJob *) base;
	const SortAllocator *a;

	if (job == NULL)
		return;
	a = &base->context->allocator;
	histogram_release(&job->histogram, a);
	if (job->chunks)
		a->release(a->arena, job->chunks);
	a->release(a->arena, job);
}

static SortStatus
cpu_add(SortJob *base, const int32_t *keys, size_t n, SortError *err)
{
	CpuJob	   *job = (CpuJob *) base;
	const SortAllocator *a = &base->context->allocator;

	if (job->nchunks == job->capacity)
	{
		size_t		capacity = job->capacity ? job->capacity * 2 : 4;
		Chunk	   *chunks = a->grow(a->arena, job->chunks, job->capacity * sizeof(Chunk),
									 capacity * sizeof(Chunk));

		if (chunks == NULL)
			return sort_no_memory(err);
		job->chunks = chunks;
		job->capacity = capacity;
	}
	job->chunks[job->nchunks].keys = keys;
	job->chunks[job->nchunks].n = n;
	job->nchunks++;
	job->n += n;
	return SORT_OK;
}

/* The first phase of the H-P algorithms: the histogram of all chunks. */
static SortStatus
count_chunks(CpuJob *job, SortError *err)
{
	const SortContext *context = job->base.context;
	const SortJobSpec *spec = &job->base.spec;
	SortStatus	status = histogram_init(&job->histogram, spec->lo, spec->hi, context, err);
	size_t		c;

	if (status != SORT_OK)
		return status;
	for (c = 0; c < job->nchunks; c++)
	{
		const int32_t *keys = job->chunks[c].keys;
		size_t		left = job->chunks[c].n;

		while (left > 0)
		{
			size_t		part = left < COUNT_AT_ONCE ? left : COUNT_AT_ONCE;
			int32_t		outside[COUNT_AT_ONCE];
			size_t		noutside;

			if (!histogram_add(&job->histogram, keys, part, outside, &noutside,
							   &context->allocator))
				return sort_no_memory(err);
			if (noutside > 0)
				return sort_out_of_bounds(err, outside[0], spec->lo, spec->hi);
			keys += part;
			left -= part;
			if (left % CHECK_EVERY < part && sort_interrupted(context))
				return sort_cancelled(err);
		}
	}
	histogram_sum_tables(&job->histogram);
	return SORT_OK;
}

static SortStatus
cpu_finish(SortJob *base, SortError *err)
{
	CpuJob	   *job = (CpuJob *) base;

	/* Reading a permutation turns the counts into offsets: each read counts anew. */
	if (base->spec.algorithm == SORT_ALGORITHM_ZERO_COMPRESSED && job->n > 0 &&
		base->spec.want != SORT_WANT_PERMUTATION)
		return count_chunks(job, err);
	return SORT_OK;
}

/*
 * Copies all chunks to out, one after the other; a chunk that lies at its place
 * in out already stays there.  False if interrupted.
 */
static bool
copy_chunks(const CpuJob *job, int32_t *out)
{
	size_t		c;

	for (c = 0; c < job->nchunks; c++)
	{
		const int32_t *keys = job->chunks[c].keys;
		size_t		left = job->chunks[c].n;

		if (keys == out)
		{
			out += left;
			continue;
		}
		while (left > 0)
		{
			size_t		part = left < CHECK_EVERY ? left : CHECK_EVERY;

			memcpy(out, keys, part * sizeof(int32_t));
			out += part;
			keys += part;
			left -= part;
			if (sort_interrupted(job->base.context))
				return false;
		}
	}
	return true;
}

/* The last phase of the 0-compressed H-P algorithm: keys from their counts. */
static SortStatus
expand_histogram(const CpuJob *job, bool descending, int32_t *out, SortError *err)
{
	uint64_t	at = descending ? job->histogram.range : 0;
	uint64_t	used = 0;
	uint64_t	done = 0;

	while (done < job->n)
	{
		uint64_t	left = job->n - done;

		done += histogram_expand(&job->histogram, descending, &at, &used, out + done,
								 left < CHECK_EVERY ? (size_t) left : CHECK_EVERY);
		if (sort_interrupted(job->base.context))
			return sort_cancelled(err);
	}
	return SORT_OK;
}

/* An algorithm of the papers: keys in place, or positions of keys that stay as they are. */
static SortStatus
sort_published(CpuJob *job, bool descending, int32_t *keys, uint32_t *positions, uint32_t first,
			   SortError *err)
{
	PublishedSort sort = {
		.algorithm = job->base.spec.algorithm,
		.keys = keys,
		.n = (size_t) job->n,
		.lo = job->base.spec.lo,
		.hi = job->base.spec.hi,
		.descending = descending,
		.floats = job->base.context->floats,
		.positions = positions,
		.first = first
	};
	SortStatus	status = published_sort(&sort, job->base.context, err);

	job->threads = sort.report.threads;
	return status;
}

static SortStatus
cpu_read_keys(SortJob *base, bool descending, int32_t *out, SortError *err)
{
	CpuJob	   *job = (CpuJob *) base;

	if (job->n == 0)
		return SORT_OK;
	if (base->spec.algorithm == SORT_ALGORITHM_ZERO_COMPRESSED)
		return expand_histogram(job, descending, out, err);
	if (!copy_chunks(job, out))
		return sort_cancelled(err);
	if (algorithm_is_published(base->spec.algorithm))
		return sort_published(job, descending, out, NULL, 0, err);
	return wide_sort_keys(out, (size_t) job->n, descending, base->context)
		? SORT_OK : sort_cancelled(err);
}

/* The non-empty bins as runs. */
static SortStatus
runs_of_histogram(const CpuJob *job, Runs *runs, SortError *err)
{
	const Histogram *h = &job->histogram;
	uint64_t	v;

	if (!runs_reserve(runs, (size_t) histogram_distinct(h), &job->base.context->allocator))
		return sort_no_memory(err);
	for (v = histogram_next(h, 0); v < h->range; v = histogram_next(h, v + 1))
	{
		runs_append(runs, histogram_key(h, v), histogram_count(h, v));
		if (runs->len % CHECK_EVERY == 0 && sort_interrupted(job->base.context))
			return sort_cancelled(err);
	}
	return SORT_OK;
}

static SortStatus
cpu_read_runs(SortJob *base, Runs *runs, SortError *err)
{
	CpuJob	   *job = (CpuJob *) base;
	const SortAllocator *a = &base->context->allocator;
	Runs		mine = {0};
	SortStatus	status;

	if (job->n == 0)
		return SORT_OK;
	if (base->spec.algorithm == SORT_ALGORITHM_ZERO_COMPRESSED)
		status = runs_of_histogram(job, &mine, err);
	else
	{
		int32_t    *ordered = a->alloc(a->arena, (size_t) job->n * sizeof(int32_t));

		if (ordered == NULL)
			return sort_no_memory(err);
		status = cpu_read_keys(base, false, ordered, err);
		if (status == SORT_OK)
			status = runs_of_all(&mine, ordered, (size_t) job->n, base->context, err);
		a->release(a->arena, ordered);
	}
	if (status == SORT_OK && !runs_merge(runs, mine.keys, mine.counts, mine.len, a))
		status = sort_no_memory(err);
	runs_release(&mine, a);
	return status;
}

/* Positions by the prefix sums of the counts. */
static SortStatus
permutation_by_counting(CpuJob *job, bool descending, uint32_t first, uint32_t *out,
						SortError *err)
{
	const SortContext *context = job->base.context;
	Histogram  *h = &job->histogram;
	SortStatus	status = count_chunks(job, err);
	uint64_t	distinct;
	size_t		c;

	if (status != SORT_OK)
		return status;

	/* At most UINT32_MAX keys: the 32-bit counters were never folded. */
	if (!permutation_offsets(h->bins, h->range, descending, &distinct, context))
		status = sort_cancelled(err);
	for (c = 0; c < job->nchunks && status == SORT_OK; c++)
	{
		if (!permutation_scatter(h->bins, h->lo, job->chunks[c].keys, job->chunks[c].n, first,
								 out, context))
			status = sort_cancelled(err);
		first += (uint32_t) job->chunks[c].n;
	}
	histogram_release(h, &context->allocator);
	return status;
}

/* Positions by sorting (key, position) pairs. */
static SortStatus
permutation_by_pairs(CpuJob *job, bool descending, uint32_t first, uint32_t *out, SortError *err)
{
	const SortContext *context = job->base.context;
	const SortAllocator *a = &context->allocator;
	uint64_t   *pairs = a->alloc(a->arena, ((size_t) job->n | 1) * sizeof(uint64_t));
	size_t		at = 0;
	bool		sorted = true;
	size_t		c;

	if (pairs == NULL)
		return sort_no_memory(err);
	for (c = 0; c < job->nchunks && sorted; c++)
	{
		sorted = permutation_pack(job->chunks[c].keys, job->chunks[c].n, descending,
								  first + (uint32_t) at, pairs + at, context);
		at += job->chunks[c].n;
	}
	sorted = sorted && wide_sort_pairs(pairs, at, context) &&
		permutation_unpack(pairs, at, out, context);
	a->release(a->arena, pairs);
	return sorted ? SORT_OK : sort_cancelled(err);
}

/* By an algorithm of the papers; chunks that are not one array are made one. */
static SortStatus
permutation_by_published(CpuJob *job, bool descending, uint32_t first, uint32_t *out,
						 SortError *err)
{
	const SortAllocator *a = &job->base.context->allocator;
	int32_t    *keys;
	SortStatus	status;

	if (job->nchunks == 1)
		return sort_published(job, descending, (int32_t *) job->chunks[0].keys, out, first, err);
	keys = a->alloc(a->arena, ((size_t) job->n | 1) * sizeof(int32_t));
	if (keys == NULL)
		return sort_no_memory(err);
	status = copy_chunks(job, keys) ? sort_published(job, descending, keys, out, first, err)
		: sort_cancelled(err);
	a->release(a->arena, keys);
	return status;
}

static SortStatus
cpu_read_permutation(SortJob *base, bool descending, uint32_t first, uint32_t *out,
					 SortError *err)
{
	CpuJob	   *job = (CpuJob *) base;

	if (algorithm_is_published(base->spec.algorithm))
		return permutation_by_published(job, descending, first, out, err);
	return base->spec.algorithm == SORT_ALGORITHM_ZERO_COMPRESSED && job->n > 0
		? permutation_by_counting(job, descending, first, out, err)
		: permutation_by_pairs(job, descending, first, out, err);
}

static int
cpu_threads(const SortJob *base)
{
	const CpuJob *job = (const CpuJob *) base;

	return job->threads > 1 ? job->threads : 1;
}

const SortDevice cpu_device = {
	.kind = SORT_DEVICE_CPU,
	.open = cpu_open,
	.add = cpu_add,
	.finish = cpu_finish,
	.read_keys = cpu_read_keys,
	.read_runs = cpu_read_runs,
	.read_permutation = cpu_read_permutation,
	.threads = cpu_threads,
	.close = cpu_close,
};
