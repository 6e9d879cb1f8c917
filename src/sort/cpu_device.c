/*
 * cpu_device.c
 *		The CPU as a device (see device.h).
 *
 * Reads the chunks where they are; what it allocates is the histogram, the
 * pairs of a wide permutation, and nothing else.
 */
#include <string.h>

#include "sort/comparison_free.h"
#include "sort/device.h"
#include "sort/error.h"
#include "sort/histogram.h"
#include "sort/kernels.h"
#include "sort/permutation.h"
#include "sort/wide.h"

/* Keys counted between two looks at the interrupt callback. */
#define CHECK_EVERY ((size_t) 1 << 20)

typedef struct Chunk
{
	const int32_t *keys;
	size_t		n;
} Chunk;

struct SortJob
{
	const SortContext *context;
	SortJobSpec spec;
	Chunk	   *chunks;
	size_t		nchunks;
	size_t		capacity;
	uint64_t	n;				/* keys added */
	int			threads;		/* that sorted; 0: the calling one */
	Histogram	histogram;		/* zero_compressed, after finish */
};

static SortStatus
cpu_open(const SortContext *context, const SortJobSpec *spec, SortJob **job, SortError *err)
{
	const SortAllocator *a = &context->allocator;

	*job = a->alloc(a->arena, sizeof(SortJob));
	if (*job == NULL)
		return sort_no_memory(err);
	memset(*job, 0, sizeof(SortJob));
	(*job)->context = context;
	(*job)->spec = *spec;
	return SORT_OK;
}

static void
cpu_close(SortJob *job)
{
	const SortAllocator *a;

	if (job == NULL)
		return;
	a = &job->context->allocator;
	histogram_release(&job->histogram, a);
	if (job->chunks)
		a->release(a->arena, job->chunks);
	a->release(a->arena, job);
}

static SortStatus
cpu_add(SortJob *job, const int32_t *keys, size_t n, SortError *err)
{
	const SortAllocator *a = &job->context->allocator;

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
count_chunks(SortJob *job, SortError *err)
{
	const SortAllocator *a = &job->context->allocator;
	SortStatus	status = histogram_init(&job->histogram, job->spec.lo, job->spec.hi, job->context, err);
	size_t		c;

	if (status != SORT_OK)
		return status;
	for (c = 0; c < job->nchunks; c++)
	{
		const int32_t *keys = job->chunks[c].keys;
		size_t		left = job->chunks[c].n;

		while (left > 0)
		{
			size_t		part = left < 4096 ? left : 4096;
			int32_t		outside[4096];
			size_t		noutside;

			if (!histogram_add(&job->histogram, keys, part, outside, &noutside, a))
				return sort_no_memory(err);
			if (noutside > 0)
				return sort_out_of_bounds(err, outside[0], job->spec.lo, job->spec.hi);
			keys += part;
			left -= part;
			if (left % CHECK_EVERY < part && sort_interrupted(job->context))
				return sort_cancelled(err);
		}
	}
	histogram_sum_tables(&job->histogram);
	return SORT_OK;
}

static SortStatus
cpu_finish(SortJob *job, SortError *err)
{
	/* For a permutation the counts become offsets, made anew by every read. */
	if (job->spec.algorithm == SORT_ALGORITHM_ZERO_COMPRESSED && job->n > 0 &&
		job->spec.want != SORT_WANT_PERMUTATION)
		return count_chunks(job, err);
	return SORT_OK;
}

/*
 * All chunks one after the other at out, unless they are there already; false
 * if interrupted.
 */
static bool
copy_chunks(SortJob *job, int32_t *out)
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
			if (sort_interrupted(job->context))
				return false;
		}
	}
	return true;
}

static SortStatus
cpu_read_keys(SortJob *job, bool descending, int32_t *out, SortError *err)
{
	if (job->n == 0)
		return SORT_OK;
	switch (job->spec.algorithm)
	{
		case SORT_ALGORITHM_ZERO_COMPRESSED:
			{
				uint64_t	at = descending ? job->histogram.range : 0;
				uint64_t	used = 0;
				uint64_t	done = 0;

				while (done < job->n)
				{
					uint64_t	left = job->n - done;

					done += histogram_expand(&job->histogram, descending, &at, &used, out + done,
											 left < CHECK_EVERY ? (size_t) left : CHECK_EVERY);
					if (sort_interrupted(job->context))
						return sort_cancelled(err);
				}
				return SORT_OK;
			}
		case SORT_ALGORITHM_COMPARISON_FREE:
			if (!copy_chunks(job, out))
				return sort_cancelled(err);
			return comparison_free_sort(out, (size_t) job->n, job->spec.lo, job->spec.hi,
										descending, job->context, &job->threads, err);
		default:
			if (!copy_chunks(job, out) ||
				!wide_sort_keys(out, (size_t) job->n, descending, job->context))
				return sort_cancelled(err);
			return SORT_OK;
	}
}

static SortStatus
cpu_read_runs(SortJob *job, Runs *runs, SortError *err)
{
	const SortAllocator *a = &job->context->allocator;
	Histogram  *h = &job->histogram;
	Runs		mine = {0};
	SortStatus	status = SORT_OK;

	if (job->n == 0)
		return SORT_OK;
	if (job->spec.algorithm == SORT_ALGORITHM_ZERO_COMPRESSED)
	{
		uint64_t	v;

		if (!runs_reserve(&mine, (size_t) histogram_distinct(h), a))
			status = sort_no_memory(err);
		for (v = histogram_next(h, 0); v < h->range && status == SORT_OK;
			 v = histogram_next(h, v + 1))
		{
			runs_append(&mine, (int32_t) (h->lo + (int64_t) v), histogram_count(h, v));
			if (mine.len % CHECK_EVERY == 0 && sort_interrupted(job->context))
				status = sort_cancelled(err);
		}
	}
	else
	{
		int32_t    *ordered = a->alloc(a->arena, (size_t) job->n * sizeof(int32_t));

		if (ordered == NULL)
			return sort_no_memory(err);
		status = cpu_read_keys(job, false, ordered, err);
		if (status == SORT_OK)
			status = runs_of_all(&mine, ordered, (size_t) job->n, job->context, err);
		a->release(a->arena, ordered);
	}
	if (status == SORT_OK && !runs_merge(runs, mine.keys, mine.counts, mine.len, a))
		status = sort_no_memory(err);
	runs_release(&mine, a);
	return status;
}

static SortStatus
cpu_read_permutation(SortJob *job, bool descending, uint32_t base, uint32_t *out,
					 SortError *err)
{
	size_t		c;

	if (job->spec.algorithm == SORT_ALGORITHM_ZERO_COMPRESSED && job->n > 0)
	{
		Histogram  *h = &job->histogram;
		uint32_t	first = base;
		SortStatus	status = count_chunks(job, err);

		if (status != SORT_OK)
			return status;
		/* n < 2^32, so the 32-bit counters were never folded. */
		if (!permutation_offsets(h->bins, h->range, descending, job->context))
			status = sort_cancelled(err);
		for (c = 0; c < job->nchunks && status == SORT_OK; c++)
		{
			if (!permutation_scatter(h->bins, h->lo, job->chunks[c].keys, job->chunks[c].n,
									 first, out, job->context))
				status = sort_cancelled(err);
			first += (uint32_t) job->chunks[c].n;
		}
		histogram_release(h, &job->context->allocator);
		return status;
	}
	else
	{
		const SortAllocator *a = &job->context->allocator;
		uint64_t   *pairs = a->alloc(a->arena, ((size_t) job->n | 1) * sizeof(uint64_t));
		size_t		at = 0;
		bool		sorted = true;

		if (pairs == NULL)
			return sort_no_memory(err);
		for (c = 0; c < job->nchunks && sorted; c++)
		{
			sorted = permutation_pack(job->chunks[c].keys, job->chunks[c].n, descending,
									  base + (uint32_t) at, pairs + at, job->context);
			at += job->chunks[c].n;
		}
		sorted = sorted && wide_sort_pairs(pairs, at, job->context) &&
			permutation_unpack(pairs, at, out, job->context);
		a->release(a->arena, pairs);
		return sorted ? SORT_OK : sort_cancelled(err);
	}
}

static int
cpu_threads(const SortJob *job)
{
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
