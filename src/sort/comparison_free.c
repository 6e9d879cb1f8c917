/*
 * comparison_free.c
 *		The comparison-free sort on the CPU (see comparison_free.h).
 *
 * The paper's arrays by name: CT[t][v] is how often value v occurs in thread
 * t's part of the input; CA, the sum over all threads, takes CT[0]'s place;
 * SA[p] is where the keys of part p of the range start in the result.  IN
 * serves as SO, as the authors propose: nobody writes before all have counted.
 *
 * Their Fig. 3 also has a form with one CA for all, counted atomically: with
 * 1,000 values and two threads it took 20 times as long as one thread alone
 * (1e6 keys, AMD EPYC Zen 5), so each thread counts by itself here.
 */
#include "comparison_free.h"

#include <stdatomic.h>
#include <string.h>

#include "plan.h"
#include "threads.h"
#include "wide.h"

/* Keys handled between two looks at the interrupt callback. */
#define CHECK_EVERY ((size_t) 1 << 18)

/*
 * t threads pay from t * t times so many keys on: starting one for each of three
 * phases costs 50 us, one after the other, and the work of each is n / t.
 * Sixteen idle virtual cores of an Intel Xeon (AVX-512), random keys of range
 * 1,000, ms by 1, 2, 4, 8 and 16 threads (bench/papers/free_cpu.sh, with as many
 * as allowed always used):
 *		2^17 keys	0.16 0.21 0.22 0.40 0.86
 *		2^18		0.32 0.29 0.25 0.45 0.91
 *		2^20		1.24 0.83 0.62 0.66 1.03
 *		2^22		5.24 2.85 1.94 1.81 1.56
 *		2^24 (65,536 values)	31 17 10.7 8.3 5.1
 */
#define KEYS_A_THREAD_SQUARED ((size_t) 1 << 16)

/*
 * Each thread zeroes and merges as many counters as there are values.  As many
 * values as keys, random, on that machine: 2^20 keys 8.5 4.7 3.1 6.3 8.6 ms, 2^24
 * 173 112 126 104 125; ten times as many values: 2^22 keys 205 155 141 183 247,
 * where twice the memory is not worth a quarter of the time.
 */
#define VALUES_A_KEY 4

typedef struct Phases
{
	const SortContext *context;
	int32_t    *keys;			/* IN, later SO */
	size_t		n;
	int32_t		lo;
	uint64_t	range;
	bool		descending;
	int			threads;
	uint32_t   *ct;				/* [threads][range] */
	size_t	   *sa;				/* [threads]: first the keys of each part */
	atomic_bool stop;
} Phases;

/* First value of part p of the range. */
static uint64_t
part_start(const Phases *s, int p)
{
	return s->range * (uint64_t) p / (uint64_t) s->threads;
}

/* Only the calling thread may ask the caller; the others see what it saw. */
static bool
stopped(Phases *s, int t)
{
	if (t == 0 && sort_interrupted(s->context))
		atomic_store(&s->stop, true);
	return atomic_load(&s->stop);
}

/* Phases 1 and 2: CT from this thread's part of the input. */
static void
count_phase(void *arg, int t)
{
	Phases	   *s = arg;
	size_t		from = s->n / (size_t) s->threads * (size_t) t;
	size_t		to = t == s->threads - 1 ? s->n : s->n / (size_t) s->threads * (size_t) (t + 1);
	uint32_t   *ct = s->ct + (size_t) t * (size_t) s->range;
	size_t		i;

	memset(ct, 0, (size_t) s->range * sizeof(uint32_t));
	while (from < to)
	{
		size_t		end = to - from < CHECK_EVERY ? to : from + CHECK_EVERY;

		if (stopped(s, t))
			return;
		for (i = from; i < end; i++)
			ct[(uint32_t) s->keys[i] - (uint32_t) s->lo]++;
		from = end;
	}
}

/* Phase 3: CA, in CT[0]'s place, for this thread's part of the range. */
static void
merge_phase(void *arg, int p)
{
	Phases	   *s = arg;
	uint64_t	to = part_start(s, p + 1);
	size_t		sum = 0;
	uint64_t	v;
	int			t;

	for (v = part_start(s, p); v < to; v++)
	{
		for (t = 1; t < s->threads; t++)
			s->ct[v] += s->ct[(size_t) t * (size_t) s->range + v];
		sum += s->ct[v];
	}
	s->sa[p] = sum;
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

		for (left = s->ct[v]; left > 0; left--)
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
	size_t		sum = 0;
	int			p;

	/* CT has 32 bits a value, whichever it is. */
	if (n > UINT32_MAX)
		return sort_fail(err, SORT_LIMIT_EXCEEDED, "cannot count more than %u keys", UINT32_MAX);
	s.range = plan_range(lo, hi);
	while (threads > 1 && n / threads / threads < KEYS_A_THREAD_SQUARED)
		threads--;
	if (threads > n / s.range * VALUES_A_KEY)
		threads = (size_t) (n / s.range) * VALUES_A_KEY;
	s.threads = threads < 1 ? 1 : (int) threads;

	s.ct = a->alloc(a->arena, (size_t) s.threads * (size_t) s.range * sizeof(uint32_t));
	s.sa = s.ct ? a->alloc(a->arena, (size_t) s.threads * sizeof(size_t)) : NULL;
	if (s.sa == NULL)
	{
		if (s.ct)
			a->release(a->arena, s.ct);
		return sort_fail(err, SORT_OUT_OF_MEMORY, "out of memory");
	}
	atomic_init(&s.stop, false);

	threads_run(s.threads, count_phase, &s);
	if (!atomic_load(&s.stop))
	{
		threads_run(s.threads, merge_phase, &s);

		/* SA; downwards, the highest part of the range comes first. */
		for (p = 0; p < s.threads; p++)
		{
			int			place = descending ? s.threads - 1 - p : p;
			size_t		keys_of_part = s.sa[place];

			s.sa[place] = sum;
			sum += keys_of_part;
		}
		threads_run(s.threads, sort_phase, &s);
	}

	a->release(a->arena, s.sa);
	a->release(a->arena, s.ct);
	if (atomic_load(&s.stop))
		return sort_fail(err, SORT_CANCELLED, "sort was cancelled");
	return SORT_OK;
}
