/*
 * comparison_free.c
 *		The comparison-free sort of Abdel-hafeez, Gordon-Ross and Abubaker, on one CPU
 *		thread (Fig. 2 of the paper) or several (Fig. 3).
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
 *
 * The counters take 4 bytes a value of the range, private for each thread; shared once, and
 * 64 T^2 bytes at most.  Bytes moved per key: one key read, one counter read and written, one
 * key written.  The threads have all signals blocked and call nothing of the caller's.
 */
#include "sort/published/parts.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "sort/clock.h"

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
 * t threads pay from t * t times this many keys on: a thread is started for each
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

typedef struct Phases Phases;

/* What one thread has to do in a phase, and how far it is. */
typedef struct Part
{
	Phases	   *phases;
	void		(*work) (Phases *phases, int p);
	pthread_t	thread;
	bool		started;
	uint64_t	zeroed;			/* counters of CT set to zero */
	uint64_t	at;				/* next key of the input, or value of the range */
	uint64_t	to;				/* behind the last one */
	size_t		place;			/* keys of this part of the range, counted by merge_phase; later
								 * SA: where its next key goes */
} Part;

struct Phases
{
	Published  *published;
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
};

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
count_phase(Phases *s, int t)
{
	Part	   *part = &s->parts[t];
	uint32_t   *ct = s->ct + (size_t) t * (size_t) s->range;
	uint32_t	lo = (uint32_t) s->lo;
	uint64_t	left = s->range - part->zeroed;
	const int32_t *keys;
	size_t		n;

	left = left < s->step ? left : s->step;
	memset(ct + part->zeroed, 0, (size_t) left * sizeof(uint32_t));
	part->zeroed += left;
	if (part->zeroed < s->range)
		return;

	left = part->to - part->at;
	n = left < s->step ? (size_t) left : s->step;
	keys = s->keys + part->at;
	for (size_t i = 0; i < n; i++)
		ct[(uint32_t) keys[i] - lo]++;
	part->at += n;
}

/* Shared, before the first key is counted: this thread's part of CA is zeroed. */
static void
zero_phase(Phases *s, int p)
{
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
count_shared_phase(Phases *s, int t)
{
	Part	   *part = &s->parts[t];
	uint32_t   *is = s->is + (size_t) t * s->is_stride;
	uint64_t	threads = (uint64_t) s->threads;
	uint64_t	left = part->to - part->at;
	const int32_t *keys = s->keys + part->at;
	size_t		n = left < s->step ? (size_t) left : s->step;

	for (size_t i = 0; i < n; i++)
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
	for (int p = 0; p < s->threads; p++)
		for (int t = 0; t < s->threads; t++)
			s->parts[p].place += s->is[(size_t) t * s->is_stride + (size_t) p];
}

/* Phase 3: CA, in CT[0]'s place, for this thread's part of the range. */
static void
merge_phase(Phases *s, int p)
{
	Part	   *part = &s->parts[p];
	uint64_t	most = s->step / (uint64_t) s->threads + 1;
	uint64_t	end = part->to - part->at < most ? part->to : part->at + most;
	size_t		sum = 0;

	for (uint64_t v = part->at; v < end; v++)
	{
		for (int t = 1; t < s->threads; t++)
			s->ct[v] += s->ct[(size_t) t * (size_t) s->range + v];
		sum += s->ct[v];
	}
	part->at = end;
	part->place += sum;
}

/* Phase 4: this thread's part of the range, written from SA on. */
static void
sort_phase(Phases *s, int p)
{
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

		/* An empty counter is work, too. */
		room--;
		if (count > room)
		{
			s->ct[v] = count - (uint32_t) room;
			count = (uint32_t) room;
			i--;				/* the rest of this value comes next */
		}
		room -= count;
		for (uint32_t left = count; left > 0; left--)
			*out++ = key;
	}
	part->at = i;
	part->place = (size_t) (out - s->keys);
}

static void *
run_part(void *arg)
{
	Part	   *part = arg;

	part->work(part->phases, (int) (part - part->phases->parts));
	return NULL;
}

/*
 * Has each part worked at once, by a thread of its own.  The calling thread does the first part,
 * and afterwards those for which no thread could be started, so no part may wait for another.
 */
static void
run_threads(Phases *s, void (*work) (Phases *s, int p))
{
	sigset_t	all;
	sigset_t	before;
	int			used = 1;

	/* A new thread inherits the mask: no signal handler of the caller may ever run in it. */
	sigfillset(&all);
	if (s->threads > 1)
		pthread_sigmask(SIG_SETMASK, &all, &before);
	for (int p = 1; p < s->threads; p++)
	{
		s->parts[p].phases = s;
		s->parts[p].work = work;
		s->parts[p].started = pthread_create(&s->parts[p].thread, NULL, run_part,
											 &s->parts[p]) == 0;
	}
	if (s->threads > 1)
		pthread_sigmask(SIG_SETMASK, &before, NULL);

	work(s, 0);
	for (int p = 1; p < s->threads; p++)
	{
		if (s->parts[p].started)
		{
			pthread_join(s->parts[p].thread, NULL);
			used++;
		}
		else
			work(s, p);
	}
	s->used = used > s->used ? used : s->used;
}

/*
 * Runs a phase over n keys or values, with a look at the interrupt callback
 * before each round of threads, until all parts are done; false if interrupted.
 */
static bool
run_phase(Phases *s, void (*phase) (Phases *s, int p), uint64_t n)
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
		if (sort_interrupted(s->published->context))
			return false;
		run_threads(s, phase);
		for (done = true, p = 0; p < s->threads && done; p++)
			done = s->parts[p].at == s->parts[p].to &&
				(s->shared || s->parts[p].zeroed == s->range);
	} while (!done);
	return true;
}

/* All phases; false if interrupted. */
static bool
run_phases(Phases *s)
{
	size_t		sum = 0;

	if (s->shared ? !run_phase(s, zero_phase, s->range) || !run_phase(s, count_shared_phase, s->n)
		: !run_phase(s, count_phase, s->n))
		return false;
	published_phase(s->published, "count");
	if (s->shared)
		sum_is(s);
	else if (!run_phase(s, merge_phase, s->range))
		return false;

	/* SA; downwards, the highest part of the range comes first. */
	for (int p = 0; p < s->threads; p++)
	{
		Part	   *part = &s->parts[s->descending ? s->threads - 1 - p : p];
		size_t		keys_of_part = part->place;

		part->place = sum;
		sum += keys_of_part;
	}
	published_phase(s->published, "merge");
	if (!run_phase(s, sort_phase, s->range))
		return false;
	published_phase(s->published, "sort");
	return true;
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

/* How many threads sort, by the memory that their counters take, too. */
static int
choose_threads(const Published *p, bool shared)
{
	const SortContext *context = p->context;
	uint64_t	allowed = context->algorithm_memory / (p->range * sizeof(uint32_t));
	int			threads = p->sort->options.threads;

	if (threads > 0)
		return threads;
	threads = comparison_free_threads(p->sort->n, p->range, context->threads);
	if (context->algorithm_memory > 0 && !shared && (uint64_t) threads > allowed)
		threads = allowed > 1 ? (int) allowed : 1;
	return threads;
}

bool
published_comparison_free(Published *p)
{
	PublishedSort *sort = p->sort;
	bool		shared = sort->options.counters == COMPARISON_FREE_SHARED;
	Phases		s = {
		.published = p,
		.keys = sort->keys,
		.n = sort->n,
		.lo = sort->lo,
		.range = p->range,
		.descending = sort->descending,
		.threads = choose_threads(p, shared),
		.used = 1,
		.shared = shared,
		.step = shared || p->range > SLOW_RANGE ? CHECK_EVERY_SLOW : CHECK_EVERY
	};
	uint64_t	threads = (uint64_t) s.threads;
	bool		done;

	s.is_stride = (threads + LINE_COUNTERS - 1) / LINE_COUNTERS * LINE_COUNTERS;
	s.parts = published_alloc(p, threads, sizeof(Part));
	s.ct = s.parts ? published_alloc(p, (shared ? 1 : threads) * s.range, sizeof(uint32_t)) : NULL;
	s.is = s.ct && shared ? published_alloc(p, threads * s.is_stride, sizeof(uint32_t)) : NULL;
	if (s.ct == NULL || (shared && s.is == NULL))
		return false;
	memset(s.parts, 0, threads * sizeof(Part));
	if (shared)
		memset(s.is, 0, threads * s.is_stride * sizeof(uint32_t));
	/* Counters are what the paper means by memory, and by its first phase their counting. */
	sort->report.memory -= threads * sizeof(Part);
	p->since = sort_clock();
	done = run_phases(&s);
	sort->report.threads = s.used;
	return done;
}
