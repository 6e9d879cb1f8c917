/*
 * parts.c
 *		What the published algorithms share (see parts.h).
 */
#include "sort/published/parts.h"

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
published_goes_on(Published *p, uint64_t work)
{
	p->unseen += work;
	if (p->unseen < SORT_CHECK_EVERY)
		return true;
	p->unseen = 0;
	return !sort_interrupted(p->context);
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

uint32_t *
published_counters(Published *p, uint64_t n)
{
	uint32_t   *counters = published_alloc(p, n, sizeof(uint32_t));

	return counters && sort_zero(p->context, counters, n, sizeof(uint32_t)) ? counters : NULL;
}

uint32_t *
published_histogram_of_keys(Published *p)
{
	uint32_t   *hist = published_counters(p, p->range);
	uint64_t	i = 0;
	uint64_t	end;

	if (hist == NULL)
		return NULL;
	while (sort_step(p->context, i, p->sort->n, &end))
		for (; i < end; i++)
			hist[published_distance(p->sort, p->sort->keys[i])]++;
	return i == p->sort->n ? hist : NULL;
}

bool
published_prefix_sums(Published *p, const uint32_t *data, uint32_t *sums, uint64_t n)
{
	uint32_t	sum = 0;
	uint64_t	i = 0;
	uint64_t	end;

	while (sort_step(p->context, i, n, &end))
		for (; i < end; i++)
			sums[i] = sum += data[i];
	return i == n;
}

uint32_t *
published_sums_of_keys(Published *p)
{
	uint32_t   *A = published_histogram_of_keys(p);
	uint32_t   *A_p = A ? published_alloc(p, p->range, sizeof(uint32_t)) : NULL;

	if (A_p == NULL)
		return NULL;
	published_phase(p, "histogram");
	if (!published_prefix_sums(p, A, A_p, p->range))
		return NULL;
	published_phase(p, "prefix sums");
	return A_p;
}

bool
published_prefix_sums_to_keys(Published *p, const uint32_t *data)
{
	uint32_t	sum = 0;
	uint64_t	i = 0;
	uint64_t	end;

	published_phase(p, "second histogram");
	while (sort_step(p->context, i, p->sort->n, &end))
		for (; i < end; i++)
			p->sort->keys[i] = published_key(p->sort, sum += data[i]);
	published_phase(p, "second prefix sums");
	return i == p->sort->n;
}
