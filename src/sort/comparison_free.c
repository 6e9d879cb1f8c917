/*
 * comparison_free.c
 *		The comparison-free sort on the CPU (see comparison_free.h).
 *
 * The papers' arrays by name: CA counts each value; IS[t][p] is how many keys
 * of thread t's part of the input lie in part p of the range; SA[p], the sum
 * over IS, is where part p's keys start in the result.  IN serves as SO, as
 * the authors propose: nobody writes before all have counted.
 */
#include "comparison_free.h"

#include <stdatomic.h>
#include <string.h>

#include "plan.h"
#include "threads.h"
#include "wide.h"

/* Keys handled between two looks at the interrupt callback. */
#define CHECK_EVERY ((size_t) 1 << 18)

/* Fewer keys than this a thread, and starting it costs more than it saves. */
#define KEYS_PER_THREAD ((size_t) 1 << 16)

typedef struct Phases
{
	const SortContext *context;
	int32_t    *keys;			/* IN, later SO */
	size_t		n;
	int32_t		lo;
	uint64_t	range;
	bool		descending;
	int			threads;
	uint32_t   *ca;				/* [range] */
	size_t	   *is;				/* [threads][threads] */
	size_t	   *sa;				/* [threads] */
	atomic_bool stop;
} Phases;

/* First value of part p of the range: the first v with v * threads / range = p. */
static uint64_t
part_start(const Phases *s, int p)
{
	uint64_t	threads = (uint64_t) s->threads;

	return (s->range * (uint64_t) p + threads - 1) / threads;
}

/* Only the calling thread may ask the caller; the others see what it saw. */
static bool
stopped(Phases *s, int t)
{
	if (t == 0 && sort_interrupted(s->context))
		atomic_store(&s->stop, true);
	return atomic_load(&s->stop);
}

/* Phases 1 and 2: CA and IS from this thread's part of the input. */
static void
count_phase(void *arg, int t)
{
	Phases	   *s = arg;
	size_t		from = s->n / (size_t) s->threads * (size_t) t;
	size_t		to = t == s->threads - 1 ? s->n : s->n / (size_t) s->threads * (size_t) (t + 1);
	size_t	   *is = s->is + (size_t) t * (size_t) s->threads;
	size_t		i;

	while (from < to)
	{
		size_t		end = to - from < CHECK_EVERY ? to : from + CHECK_EVERY;

		if (stopped(s, t))
			return;
		if (s->threads == 1)
		{
			for (i = from; i < end; i++)
				s->ca[(uint32_t) s->keys[i] - (uint32_t) s->lo]++;
		}
		else
		{
			for (i = from; i < end; i++)
			{
				uint32_t	v = (uint32_t) s->keys[i] - (uint32_t) s->lo;

				__atomic_fetch_add(&s->ca[v], 1, __ATOMIC_RELAXED);
				is[(uint64_t) v * (uint64_t) s->threads / s->range]++;
			}
		}
		from = end;
	}
}

/* Phase 4: this thread's part of the range, written from SA on. */
static void
sort_phase(void *arg, int p)
{
	Phases	   *s = arg;
	uint64_t	from = part_start(s, p);
	uint64_t	to = part_start(s, p + 1);
	int32_t    *out = s->keys + s->sa[p];
	size_t		since = 0;
	uint64_t	i;

	for (i = from; i < to; i++)
	{
		uint64_t	v = s->descending ? from + (to - 1 - i) : i;
		int32_t		key = (int32_t) (s->lo + (int64_t) v);
		uint32_t	left;

		for (left = s->ca[v]; left > 0; left--)
		{
			*out++ = key;
			if (++since % CHECK_EVERY == 0 && stopped(s, p))
				return;
		}
		if (i % CHECK_EVERY == 0 && stopped(s, p))
			return;
	}
}

SortStatus
comparison_free_sort(int32_t *keys, size_t n, int32_t lo, int32_t hi, bool descending,
					 const SortContext *context, SortError *err)
{
	const SortAllocator *a = &context->allocator;
	Phases		s = {.context = context, .keys = keys, .n = n, .lo = lo, .descending = descending};
	size_t		threads = (size_t) context->threads;
	size_t		square;
	size_t		sum = 0;
	int			p;
	int			t;

	s.range = plan_range(lo, hi);
	if (threads > n / KEYS_PER_THREAD)
		threads = n / KEYS_PER_THREAD;
	if (threads > s.range)
		threads = (size_t) s.range;
	s.threads = threads < 1 ? 1 : (int) threads;
	square = (size_t) s.threads * (size_t) s.threads;

	s.ca = a->alloc(a->arena, (size_t) s.range * sizeof(uint32_t));
	s.is = s.ca ? a->alloc(a->arena, (square + (size_t) s.threads) * sizeof(size_t)) : NULL;
	if (s.is == NULL)
	{
		if (s.ca)
			a->release(a->arena, s.ca);
		return sort_fail(err, SORT_OUT_OF_MEMORY, "out of memory");
	}
	memset(s.ca, 0, (size_t) s.range * sizeof(uint32_t));
	memset(s.is, 0, square * sizeof(size_t));
	s.sa = s.is + square;
	atomic_init(&s.stop, false);

	threads_run(s.threads, count_phase, &s);

	/* Phase 3; downwards, the highest part of the range comes first. */
	for (p = 0; p < s.threads; p++)
	{
		int			place = descending ? s.threads - 1 - p : p;

		s.sa[place] = sum;
		for (t = 0; t < s.threads; t++)
			sum += s.is[(size_t) t * (size_t) s.threads + (size_t) place];
	}
	if (!atomic_load(&s.stop))
		threads_run(s.threads, sort_phase, &s);

	a->release(a->arena, s.is);
	a->release(a->arena, s.ca);
	if (atomic_load(&s.stop))
		return sort_fail(err, SORT_CANCELLED, "sort was cancelled");
	return SORT_OK;
}
