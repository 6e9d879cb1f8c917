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
#include "sort/comparison_free.h"

#include <string.h>

#include "sort/error.h"
#include "sort/plan.h"
#include "sort/threads.h"

/*
 * Keys and counters that a thread handles between two looks at the interrupt
 * callback, which must find no thread at work: those of a phase end, and are
 * started again.  Keys at random over the largest range take 40 ms; of few
 * values 4, beside which starting anew is little.
 */
#define CHECK_EVERY ((size_t) 1 << 22)

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

/* What one thread has to do in a phase, and how far it is. */
typedef struct Part
{
	uint64_t	zeroed;			/* counters of CT set to zero */
	uint64_t	at;				/* next key of the input, or value of the range */
	uint64_t	to;				/* behind the last one */
	size_t		place;			/* keys of a part of the range; then SA, where
								 * its next key goes */
} Part;

typedef struct Phases
{
	const SortContext *context;
	int32_t    *keys;			/* IN, later SO */
	size_t		n;
	int32_t		lo;
	uint64_t	range;
	bool		descending;
	int			threads;
	int			used;			/* most threads that worked at once */
	uint32_t   *ct;				/* [threads][range] */
	Part	   *parts;			/* [threads] */
} Phases;

/* Part p of n keys or values: where it starts. */
static uint64_t
part_start(const Phases *s, uint64_t n, int p)
{
	uint64_t	threads = (uint64_t) s->threads;

	return n / threads * (uint64_t) p + n % threads * (uint64_t) p / threads;
}

/* Phases 1 and 2: CT from this thread's part of the input. */
static void
count_phase(void *arg, int t)
{
	Phases	   *s = arg;
	Part	   *part = &s->parts[t];
	uint32_t   *ct = s->ct + (size_t) t * (size_t) s->range;
	uint32_t	lo = (uint32_t) s->lo;
	uint64_t	left = s->range - part->zeroed;
	const int32_t *keys;
	size_t		n;
	size_t		i;

	left = left < CHECK_EVERY ? left : CHECK_EVERY;
	memset(ct + part->zeroed, 0, (size_t) left * sizeof(uint32_t));
	part->zeroed += left;
	if (part->zeroed < s->range)
		return;

	left = part->to - part->at;
	n = left < CHECK_EVERY ? (size_t) left : CHECK_EVERY;
	keys = s->keys + part->at;
	for (i = 0; i < n; i++)
		ct[(uint32_t) keys[i] - lo]++;
	part->at += n;
}

/* Phase 3: CA, in CT[0]'s place, for this thread's part of the range. */
static void
merge_phase(void *arg, int p)
{
	Phases	   *s = arg;
	Part	   *part = &s->parts[p];
	uint64_t	most = CHECK_EVERY / (uint64_t) s->threads + 1;
	uint64_t	end = part->to - part->at < most ? part->to : part->at + most;
	size_t		sum = 0;
	uint64_t	v;
	int			t;

	for (v = part->at; v < end; v++)
	{
		for (t = 1; t < s->threads; t++)
			s->ct[v] += s->ct[(size_t) t * (size_t) s->range + v];
		sum += s->ct[v];
	}
	part->at = end;
	part->place += sum;
}

/* Phase 4: this thread's part of the range, written from SA on. */
static void
sort_phase(void *arg, int p)
{
	Phases	   *s = arg;
	Part	   *part = &s->parts[p];
	uint64_t	from = part_start(s, s->range, p);
	int32_t    *out = s->keys + part->place;
	size_t		room = CHECK_EVERY;
	uint64_t	i;

	for (i = part->at; i < part->to && room > 0; i++)
	{
		uint64_t	v = s->descending ? from + (part->to - 1 - i) : i;
		int32_t		key = (int32_t) (s->lo + (int64_t) v);
		uint32_t	count = s->ct[v];
		uint32_t	left;

		/* An empty counter is work, too. */
		room--;
		if (count > room)
		{
			s->ct[v] = count - (uint32_t) room;
			count = (uint32_t) room;
			i--;				/* the rest of this value comes next */
		}
		room -= count;
		for (left = count; left > 0; left--)
			*out++ = key;
	}
	part->at = i;
	part->place = (size_t) (out - s->keys);
}

/* Runs a phase over n keys or values until it is done; false if interrupted. */
static bool
run_phase(Phases *s, void (*phase) (void *arg, int t), uint64_t n)
{
	bool		done;
	int			p;

	for (p = 0; p < s->threads; p++)
	{
		s->parts[p].at = part_start(s, n, p);
		s->parts[p].to = part_start(s, n, p + 1);
	}
	do
	{
		int			used;

		if (sort_interrupted(s->context))
			return false;
		used = threads_run(s->threads, phase, s);
		s->used = used > s->used ? used : s->used;
		for (done = true, p = 0; p < s->threads && done; p++)
			done = s->parts[p].at == s->parts[p].to && s->parts[p].zeroed == s->range;
	} while (!done);
	return true;
}

/* All phases; false if interrupted. */
static bool
run_phases(Phases *s)
{
	size_t		sum = 0;
	int			p;

	if (!run_phase(s, count_phase, s->n) || !run_phase(s, merge_phase, s->range))
		return false;

	/* SA; downwards, the highest part of the range comes first. */
	for (p = 0; p < s->threads; p++)
	{
		Part	   *part = &s->parts[s->descending ? s->threads - 1 - p : p];
		size_t		keys_of_part = part->place;

		part->place = sum;
		sum += keys_of_part;
	}
	return run_phase(s, sort_phase, s->range);
}

int
comparison_free_threads(uint64_t n, uint64_t range, int allowed)
{
	uint64_t	threads = allowed < 1 ? 1 : (uint64_t) allowed;
	uint64_t	most = n / range * VALUES_A_KEY + n % range * VALUES_A_KEY / range;

	while (threads > 1 && n / threads / threads < KEYS_A_THREAD_SQUARED)
		threads--;
	if (threads > most)
		threads = most;
	return threads < 1 ? 1 : (int) threads;
}

SortStatus
comparison_free_sort(int32_t *keys, size_t n, int32_t lo, int32_t hi, bool descending,
					 const SortContext *context, int *threads, SortError *err)
{
	const SortAllocator *a = &context->allocator;
	Phases		s = {.context = context, .keys = keys, .n = n, .lo = lo, .descending = descending};
	bool		done;

	*threads = 1;
	/* CT has 32 bits a value, whichever it is. */
	if (n > UINT32_MAX)
		return sort_fail(err, SORT_LIMIT_EXCEEDED, "cannot count more than %u keys", UINT32_MAX);
	s.range = plan_range(lo, hi);
	s.threads = comparison_free_threads(n, s.range, context->threads);

	s.ct = a->alloc(a->arena, (size_t) s.threads * (size_t) s.range * sizeof(uint32_t));
	s.parts = s.ct ? a->alloc(a->arena, (size_t) s.threads * sizeof(Part)) : NULL;
	if (s.parts == NULL)
	{
		if (s.ct)
			a->release(a->arena, s.ct);
		return sort_no_memory(err);
	}
	memset(s.parts, 0, (size_t) s.threads * sizeof(Part));

	done = run_phases(&s);
	*threads = s.used;

	a->release(a->arena, s.parts);
	a->release(a->arena, s.ct);
	if (!done)
		return sort_cancelled(err);
	return SORT_OK;
}
