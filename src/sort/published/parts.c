/*
 * parts.c
 *		What the published algorithms share (see parts.h).
 */
#include "sort/published/parts.h"

#include <string.h>

#include "sort/clock.h"

void *
published_alloc(Published *p, uint64_t n, size_t size)
{
	const SortAllocator *a = &p->context->allocator;
	void	   *block = NULL;

	if (n <= SIZE_MAX / size)
		block = a->alloc(a->arena, n > 0 ? (size_t) n * size : size);
	if (block == NULL)
	{
		sort_no_memory(p->err);
		return NULL;
	}
	p->block[p->blocks++] = block;
	p->sort->report.memory += n * size;
	return block;
}

void
published_phase(Published *p, const char *name)
{
	PublishedReport *report = &p->sort->report;
	uint64_t	now = sort_clock();
	int			i;

	/* a phase that comes again adds to its time */
	for (i = 0; i < report->phases && strcmp(report->phase[i], name) != 0; i++)
		;
	if (i == report->phases && i < PUBLISHED_PHASES)
		report->phase[report->phases++] = name;
	if (i < PUBLISHED_PHASES)
		report->phase_ns[i] += now - p->since;
	p->since = now;
}

bool
published_cancelled(Published *p)
{
	if (!sort_interrupted(p->context))
		return false;
	sort_cancelled(p->err);
	return true;
}

bool
published_duplicate(Published *p, int32_t key)
{
	SortAlgorithm algorithm = p->sort->algorithm;

	sort_fail(p->err, SORT_UNSUPPORTED,
			  "key %d occurs more than once, and %s sorts distinct keys only",
			  key, algorithm == SORT_ALGORITHM_ONE_HP ? "one_hp" : "Eq. 10");
	return false;
}

bool
published_to_distances(Published *p)
{
	uint32_t   *distances = (uint32_t *) p->sort->keys;
	uint64_t	i = 0;

	while (i < p->sort->n)
	{
		uint64_t	end = published_step(i, p->sort->n);

		for (; i < end; i++)
			distances[i] = published_distance(p->sort, p->sort->keys[i]);
		if (published_cancelled(p))
			return false;
	}
	return true;
}

bool
published_to_keys(Published *p)
{
	const uint32_t *distances = (const uint32_t *) p->sort->keys;
	uint64_t	i = 0;

	while (i < p->sort->n)
	{
		uint64_t	end = published_step(i, p->sort->n);

		for (; i < end; i++)
			p->sort->keys[i] = published_key(p->sort, distances[i]);
		if (published_cancelled(p))
			return false;
	}
	return true;
}

uint32_t *
published_counters(Published *p, uint64_t n)
{
	uint32_t   *counters = published_alloc(p, n, sizeof(uint32_t));
	uint64_t	i = 0;

	while (counters && i < n)
	{
		uint64_t	end = published_step(i, n);

		memset(counters + i, 0, (size_t) (end - i) * sizeof(uint32_t));
		i = end;
		if (published_cancelled(p))
			return NULL;
	}
	return counters;
}

uint32_t *
published_histogram_of_keys(Published *p)
{
	uint32_t   *hist = published_counters(p, p->range);
	uint64_t	i = 0;

	while (hist && i < p->sort->n)
	{
		uint64_t	end = published_step(i, p->sort->n);

		for (; i < end; i++)
			hist[published_distance(p->sort, p->sort->keys[i])]++;
		if (published_cancelled(p))
			return NULL;
	}
	return hist;
}

bool
published_prefix_sums(Published *p, const uint32_t *data, uint32_t *sums, uint64_t n)
{
	uint32_t	sum = 0;
	uint64_t	i = 0;

	while (i < n)
	{
		uint64_t	end = published_step(i, n);

		for (; i < end; i++)
			sums[i] = sum += data[i];
		if (published_cancelled(p))
			return false;
	}
	return true;
}

bool
published_prefix_sums_to_keys(Published *p, const uint32_t *data)
{
	uint32_t	sum = 0;
	uint64_t	i = 0;

	while (i < p->sort->n)
	{
		uint64_t	end = published_step(i, p->sort->n);

		for (; i < end; i++)
			p->sort->keys[i] = published_key(p->sort, sum += data[i]);
		if (published_cancelled(p))
			return false;
	}
	return true;
}
