/*
 * comparison_free.c
 *		The comparison-free sort on the CPU (see comparison_free.h).
 *
 * The paper's arrays by name: CT[t][v] is how often value v occurs in thread
 * t's part of the input; CA, the sum over all threads, takes CT[0]'s place;
 * SA[p] is where the keys of part p of the range start in the result.  The
 * input IN serves as the result SO, as the authors propose: no thread writes
 * keys before all threads have counted.
 *
 * The form of Fig. 3 with one CA for all threads, counted atomically, is the one
 * that the caller has to ask for: with 1,000 values and two threads it took 20
 * times as long as one thread alone (1e6 keys, AMD EPYC Zen 5).  What its threads
 * count beside CA, IS[t][p], makes SA without a look at CA.
 */
#include "sort/comparison_free.h"

#include <string.h>

#include "sort/clock.h"
#include "sort/error.h"
#include "sort/plan.h"
#include "sort/threads.h"

/*
 * Keys and counters that a thread handles between two looks at the interrupt
 * callback, which must find no thread at work: the threads of a phase end for
 * each look, and are started again.  That many random keys of the largest range
 * take 40 ms, of few values 4, beside which the start costs little.
 */
#define CHECK_EVERY ((size_t) 1 << 22)

/*
 * Of ranges whose counters lie far apart, and of counters that threads share, a key takes
 * several times as long: 5e6 keys of 1e9 values 50 ns each, beside other work (Zen 5).
 */
#define CHECK_EVERY_SLOW ((size_t) 1 << 20)
#define SLOW_RANGE ((uint64_t) 1 << 24)

/*
 * t threads pay from t * t times so many keys on: a thread is started for each
 * of three phases, which costs 50 us one after the other, and has n / t keys to
 * work on.
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
	size_t		place;			/* keys of this part of the range, counted by merge_phase; later
								 * SA: where its next key goes */
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
	bool		shared;			/* one CA and IS, or a CT for each thread */
	uint32_t   *ct;				/* [threads][range]; shared: CA, [range] */
	uint32_t   *is;				/* [threads][is_stride], shared; else NULL */
	size_t		is_stride;
	size_t		step;			/* keys and counters between two looks */
	Part	   *parts;			/* [threads] */
} Phases;

const char *const comparison_free_phase_names[COMPARISON_FREE_PHASES] = {"count", "merge", "sort"};

/* Counters in a line of the cache: no two threads write to the same line of IS. */
#define LINE_COUNTERS 16

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

	left = left < s->step ? left : s->step;
	memset(ct + part->zeroed, 0, (size_t) left * sizeof(uint32_t));
	part->zeroed += left;
	if (part->zeroed < s->range)
		return;

	left = part->to - part->at;
	n = left < s->step ? (size_t) left : s->step;
	keys = s->keys + part->at;
	for (i = 0; i < n; i++)
		ct[(uint32_t) keys[i] - lo]++;
	part->at += n;
}

/* Shared, before the first key is counted: this thread's part of CA is zeroed. */
static void
zero_phase(void *arg, int p)
{
	Phases	   *s = arg;
	Part	   *part = &s->parts[p];
	uint64_t	left = part->to - part->at;

	left = left < s->step ? left : s->step;
	memset(s->ct + part->at, 0, (size_t) left * sizeof(uint32_t));
	part->at += left;
}

/*
 * Shared, phases 1 and 2: CA from this thread's part of the input, and IS[t].  The part
 * of the range that value v is in: the largest p with part_start(range, p) <= v.
 */
static void
count_shared_phase(void *arg, int t)
{
	Phases	   *s = arg;
	Part	   *part = &s->parts[t];
	uint32_t   *is = s->is + (size_t) t * s->is_stride;
	uint64_t	threads = (uint64_t) s->threads;
	uint64_t	left = part->to - part->at;
	const int32_t *keys = s->keys + part->at;
	size_t		n = left < s->step ? (size_t) left : s->step;
	size_t		i;

	for (i = 0; i < n; i++)
	{
		uint64_t	v = (uint32_t) keys[i] - (uint32_t) s->lo;

		__atomic_fetch_add(&s->ct[v], 1, __ATOMIC_RELAXED);
		is[((v + 1) * threads - 1) / s->range]++;
	}
	part->at += n;
}

/* Shared, phase 3: how many keys each part of the range has, from IS. */
static void
sum_is(Phases *s)
{
	int			t;
	int			p;

	for (p = 0; p < s->threads; p++)
		for (t = 0; t < s->threads; t++)
			s->parts[p].place += s->is[(size_t) t * s->is_stride + (size_t) p];
}

/* Phase 3: CA, in CT[0]'s place, for this thread's part of the range. */
static void
merge_phase(void *arg, int p)
{
	Phases	   *s = arg;
	Part	   *part = &s->parts[p];
	uint64_t	most = s->step / (uint64_t) s->threads + 1;
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
	size_t		room = s->step;
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

/*
 * Runs a phase over n keys or values, with a look at the interrupt callback
 * before each round of threads, until all parts are done; false if interrupted.
 */
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
			done = s->parts[p].at == s->parts[p].to &&
				(s->shared || s->parts[p].zeroed == s->range);
	} while (!done);
	return true;
}

/* All phases; false if interrupted. */
static bool
run_phases(Phases *s, uint64_t *phase_ns)
{
	uint64_t	started = sort_clock();
	uint64_t	counted;
	uint64_t	merged;
	size_t		sum = 0;
	bool		done;
	int			p;

	if (s->shared ? !run_phase(s, zero_phase, s->range) || !run_phase(s, count_shared_phase, s->n)
		: !run_phase(s, count_phase, s->n))
		return false;
	counted = sort_clock();
	if (s->shared)
		sum_is(s);
	else if (!run_phase(s, merge_phase, s->range))
		return false;

	/* SA; downwards, the highest part of the range comes first. */
	for (p = 0; p < s->threads; p++)
	{
		Part	   *part = &s->parts[s->descending ? s->threads - 1 - p : p];
		size_t		keys_of_part = part->place;

		part->place = sum;
		sum += keys_of_part;
	}
	merged = sort_clock();
	done = run_phase(s, sort_phase, s->range);
	phase_ns[0] = counted - started;
	phase_ns[1] = merged - counted;
	phase_ns[2] = sort_clock() - merged;
	return done;
}

/* How many threads sort, and the bytes that their counters take. */
static int
choose_threads(const ComparisonFreeSort *sort, uint64_t range, const SortContext *context)
{
	uint64_t	allowed = context->algorithm_memory / (range * sizeof(uint32_t));
	int			threads = sort->exact_threads > 0 ? sort->exact_threads
	: comparison_free_threads(sort->n, range, context->threads);

	if (context->algorithm_memory > 0 && sort->form == COMPARISON_FREE_PRIVATE &&
		sort->exact_threads == 0 && (uint64_t) threads > allowed)
		threads = allowed > 1 ? (int) allowed : 1;
	return threads;
}

static SortStatus
allocate(Phases *s, size_t *memory, SortError *err)
{
	const SortAllocator *a = &s->context->allocator;
	size_t		threads = (size_t) s->threads;
	size_t		counters = (s->shared ? 1 : threads) * (size_t) s->range * sizeof(uint32_t);
	size_t		is_size;

	s->is_stride = (threads + LINE_COUNTERS - 1) / LINE_COUNTERS * LINE_COUNTERS;
	is_size = s->shared ? threads * s->is_stride * sizeof(uint32_t) : 0;
	s->ct = a->alloc(a->arena, counters);
	s->parts = s->ct ? a->alloc(a->arena, threads * sizeof(Part)) : NULL;
	s->is = s->parts && s->shared ? a->alloc(a->arena, is_size) : NULL;
	if (s->parts == NULL || (s->shared && s->is == NULL))
		return sort_no_memory(err);
	memset(s->parts, 0, threads * sizeof(Part));
	if (s->is)
		memset(s->is, 0, is_size);
	*memory = counters + is_size;
	return SORT_OK;
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
comparison_free_sort(ComparisonFreeSort *sort, const SortContext *context, SortError *err)
{
	const SortAllocator *a = &context->allocator;
	Phases		s = {
		.context = context,
		.keys = sort->keys,
		.n = sort->n,
		.lo = sort->lo,
		.range = plan_range(sort->lo, sort->hi),
		.descending = sort->descending,
		.shared = sort->form == COMPARISON_FREE_SHARED
	};
	SortStatus	status;

	sort->threads = 1;
	sort->memory = 0;
	memset(sort->phase_ns, 0, sizeof(sort->phase_ns));
	/* Counters have 32 bits, and all keys may be equal. */
	if (s.n > UINT32_MAX)
		return sort_fail(err, SORT_LIMIT_EXCEEDED, "cannot count more than %u keys", UINT32_MAX);
	s.threads = choose_threads(sort, s.range, context);
	s.step = s.shared || s.range > SLOW_RANGE ? CHECK_EVERY_SLOW : CHECK_EVERY;
	status = allocate(&s, &sort->memory, err);
	if (status == SORT_OK && !run_phases(&s, sort->phase_ns))
		status = sort_cancelled(err);
	sort->threads = s.used > 1 ? s.used : 1;
	if (s.is)
		a->release(a->arena, s.is);
	if (s.parts)
		a->release(a->arena, s.parts);
	if (s.ct)
		a->release(a->arena, s.ct);
	return status;
}
