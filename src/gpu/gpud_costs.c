/*
 * gpud_costs.c
 *		What work costs on this service, for the plan: measured when it starts,
 *		as a client sees it.
 *
 * A client in this very process sorts a few small and medium jobs over a socket
 * pair, so that round trips, copies through chunks, the bus and the kernels are
 * all in it, in the proportion in which they overlap.  What comes out fills the
 * terms of the plan's model (plan.c):
 *
 *		keys	startup + transfer * (n + back) + n * (counting[range] + expand)
 *		wide	startup + transfer * (n + n) + n * wide
 *		order	startup + transfer * (n + n) + n * scatter[range], or n * pair
 *
 * back being three keys' room for a run, or n.  Terms are chosen so that the
 * sums are right at the sizes measured; single terms mean little.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client_internal.h"
#include "gpud.h"

/*
 * Keys of a medium job: beyond the caches' sizes on the GPU (8 MiB each way),
 * and the 60 jobs still take less than half a second.  The CPU device is slower.
 */
#define MEDIUM_KEYS ((size_t) 2 << 20)
#define MEDIUM_KEYS_CPU ((size_t) 1 << 17)

/*
 * A small job is nearly all latency; one smaller still would spare the device
 * launches that every job has for which it can be chosen.
 */
#define SMALL_KEYS ((size_t) 16384)
#define SMALL_ROUNDS 15
#define MEDIUM_ROUNDS 3

typedef struct Bench
{
	GpuClientRef ref;
	SortGpu		gpu;
	SortContext context;
	size_t		n;
	int32_t    *random;			/* n keys, uniform over all of int4 */
	int32_t    *keys;			/* the same in a range */
	int32_t    *out;
	bool		failed;
} Bench;

static void *
bench_alloc(void *arena, size_t size)
{
	(void) arena;
	return malloc(size);
}

static void *
bench_grow(void *arena, void *block, size_t old_size, size_t size)
{
	(void) arena;
	(void) old_size;
	return realloc(block, size);
}

static void
bench_release(void *arena, void *block)
{
	(void) arena;
	free(block);
}

static SortStatus
run_job(Bench *b, const SortDevice *device, SortAlgorithm algorithm, SortWant want,
		const int32_t *keys, size_t n, int32_t lo, int32_t hi)
{
	SortJobSpec spec = {.algorithm = algorithm,.want = want,.lo = lo,.hi = hi,.n = n};
	SortError	err;
	SortJob    *job;
	Runs		runs = {0};
	SortStatus	status = device->open(&b->context, &spec, &job, &err);

	if (status != SORT_OK)
		return status;
	status = device->add(job, keys, n, &err);
	if (status == SORT_OK)
		status = device->finish(job, &err);
	if (status == SORT_OK)
		switch (want)
		{
			case SORT_WANT_KEYS:
				status = device->read_keys(job, false, b->out, &err);
				break;
			case SORT_WANT_RUNS:
				status = device->read_runs(job, &runs, &err);
				break;
			case SORT_WANT_PERMUTATION:
				status = device->read_permutation(job, false, 0, (uint32_t *) b->out, &err);
				break;
		}
	runs_release(&runs, &b->context.allocator);
	device->close(job);
	return status;
}

static int
compare_ns(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/*
 * Nanoseconds of a job of n keys in 2^bits values, the median of at most
 * SMALL_ROUNDS rounds: what a client can expect, not what it may hope for.
 */
static double
time_job(Bench *b, const SortDevice *device, SortAlgorithm algorithm, SortWant want, size_t n,
		 int bits, int rounds)
{
	const int32_t *keys = b->random;
	int32_t		lo = INT32_MIN;
	int32_t		hi = INT32_MAX;
	double		ns[SMALL_ROUNDS];
	int			i;

	if (b->failed)
		return 0;
	if (bits < 32)
	{
		uint32_t	mask = (UINT32_C(1) << bits) - 1;
		size_t		k;

		for (k = 0; k < n; k++)
			b->keys[k] = (int32_t) ((uint32_t) b->random[k] & mask);
		keys = b->keys;
		lo = 0;
		hi = (int32_t) mask;
	}
	for (i = 0; i < rounds; i++)
	{
		double		start = clock_ns();

		if (run_job(b, device, algorithm, want, keys, n, lo, hi) != SORT_OK)
		{
			b->failed = true;
			return 0;
		}
		ns[i] = clock_ns() - start;
	}
	qsort(ns, (size_t) rounds, sizeof(double), compare_ns);
	return ns[rounds / 2];
}

static double
not_negative(double ns)
{
	return ns > 0 ? ns : 0;
}

/* What the plan believes that a job costs on the CPU. */
static double
believed(SortAlgorithm algorithm, size_t n, int bits)
{
	SortPlanInput input = {
		.n = n,
		.lo = 0,
		.hi = (int32_t) ((UINT32_C(1) << bits) - 1),
		.want = SORT_WANT_KEYS,
		.device = SORT_DEVICE_CPU,
		.algorithm = algorithm,
	};
	SortPlan	plan;
	SortError	err;

	return plan_choose(&input, &plan, &err) == SORT_OK ? plan.cost_ns : 0;
}

/*
 * How much slower this host's CPU is than the one of the plan's table.  Both
 * devices' costs are compared with each other, so ours are given in that
 * table's nanoseconds.
 */
static double
cpu_slowness(Bench *b)
{
	double		wide = time_job(b, &cpu_device, SORT_ALGORITHM_RADIX, SORT_WANT_KEYS, b->n, 31,
								MEDIUM_ROUNDS) /
		believed(SORT_ALGORITHM_RADIX, b->n, 31);
	double		counting = time_job(b, &cpu_device, SORT_ALGORITHM_ZERO_COMPRESSED,
									SORT_WANT_KEYS, b->n, 16, MEDIUM_ROUNDS) /
		believed(SORT_ALGORITHM_ZERO_COMPRESSED, b->n, 16);
	double		slowness = sqrt(wide * counting);

	if (!isfinite(slowness) || slowness < 0.25 || slowness > 4)
		return 1.0;
	return slowness;
}

static void
measure(Bench *b, SortDeviceCosts *costs)
{
	const SortDevice *d = &gpu_client_device;
	const SortAlgorithm any = SORT_ALGORITHM_RADIX;
	const double n = (double) b->n;
	double		startup;
	double		wide;
	double		runs;
	int			i;

	memset(costs, 0, sizeof(*costs));

	/* once for nothing: the chunks' pages, the device's memory pool, the kernels */
	(void) time_job(b, d, any, SORT_WANT_KEYS, b->n, 32, 1);
	startup = time_job(b, d, any, SORT_WANT_KEYS, SMALL_KEYS, 32, SMALL_ROUNDS);
	wide = (time_job(b, d, any, SORT_WANT_KEYS, b->n, 32, MEDIUM_ROUNDS) - startup) / n;
	runs = time_job(b, d, any, SORT_WANT_RUNS, b->n, 8, MEDIUM_ROUNDS);
	startup = not_negative(startup - wide * (double) SMALL_KEYS);
	costs->startup_ns = startup;
	costs->expand_ns = not_negative((time_job(b, d, any, SORT_WANT_KEYS, b->n, 8, MEDIUM_ROUNDS) -
									 runs) / n);
	costs->transfer_ns = not_negative((wide - costs->expand_ns) / 2);
	costs->wide_ns = costs->expand_ns;
	costs->pair_ns = not_negative((time_job(b, d, any, SORT_WANT_PERMUTATION, b->n, 32,
											MEDIUM_ROUNDS) - startup) / n -
								  2 * costs->transfer_ns);
	for (i = 0; i < PLAN_BIN_STEPS; i++)
	{
		double		range = ldexp(1.0, 2 * i);
		double		back = 3 * range < n ? 3 * range : n;
		double		keys = time_job(b, d, any, SORT_WANT_KEYS, b->n, 2 * i, MEDIUM_ROUNDS);
		double		order = time_job(b, d, any, SORT_WANT_PERMUTATION, b->n, 2 * i, MEDIUM_ROUNDS);

		costs->counting_ns[i] = not_negative((keys - startup - costs->transfer_ns * (n + back)) / n -
											 costs->expand_ns);
		costs->scatter_ns[i] = not_negative((order - startup) / n - 2 * costs->transfer_ns);
	}
}

static void
scale(SortDeviceCosts *costs, double by)
{
	double		ns[sizeof(SortDeviceCosts) / sizeof(double)];
	size_t		i;

	memcpy(ns, costs, sizeof(ns));
	for (i = 0; i < sizeof(ns) / sizeof(ns[0]); i++)
		ns[i] *= by;
	memcpy(costs, ns, sizeof(ns));
}

static bool
prepare(Bench *b, Service *service)
{
	GpuClientOptions options = {.connect_timeout_ms = 10000,.wait_timeout_ms = 30000};
	uint64_t	state = 1;
	GpuFailure	failure;
	char		text[GPU_TEXT_SIZE];
	int			ends[2];
	size_t		i;

	memset(b, 0, sizeof(*b));
	b->n = service->devices.list[0].info.ordinal < 0 ? MEDIUM_KEYS_CPU : MEDIUM_KEYS;
	b->gpu.device = &gpu_client_device;
	b->gpu.arg = &b->ref;
	b->context = (SortContext)
	{
		.allocator = {bench_alloc, bench_grow, bench_release, NULL},
		.threads = 1,
		.gpu = &b->gpu,
	};
	b->random = malloc(b->n * sizeof(int32_t));
	b->keys = malloc(b->n * sizeof(int32_t));
	b->out = malloc(b->n * sizeof(int32_t));
	if (b->random == NULL || b->keys == NULL || b->out == NULL)
		return false;
	for (i = 0; i < b->n; i++)
	{
		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		b->random[i] = (int32_t) (state >> 32);
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
		return false;
	if (!connection_start(service, ends[0]))
	{
		close(ends[1]);
		return false;
	}
	return client_connect_over(&options, ends[1], &b->ref.client, &failure, text,
							   sizeof(text)) == SORT_OK;
}

void
costs_measure(Service *service)
{
	SortDeviceCosts *costs = &service->devices.costs;
	double		start = clock_ns();
	double		slowness = 1.0;
	Bench		b;

	if (prepare(&b, service))
	{
		measure(&b, costs);
		slowness = cpu_slowness(&b);
	}
	else
		b.failed = true;
	gpu_client_disconnect(b.ref.client);
	free(b.random);
	free(b.keys);
	free(b.out);
	(void) connections_end(service, CONNECTION_STOP, 10000);
	service->devices.list[0].jobs_done = 0;

	/* What cannot be measured must not be chosen: a second a key. */
	if (b.failed)
	{
		log_line(LOG_WARNING, "could not measure what work costs on the device");
		memset(costs, 0, sizeof(*costs));
		costs->startup_ns = 1e9;
		costs->transfer_ns = 1e9;
		return;
	}
	scale(costs, 1 / slowness);
	log_line(LOG_INFO, "measured in %.0f ms: job %.0f us, transfer %.2f ns, wide sort %.2f ns, "
			 "order %.2f ns a key; this CPU takes %.2f times the plan's",
			 (clock_ns() - start) / 1e6, costs->startup_ns / 1e3, costs->transfer_ns,
			 costs->wide_ns, costs->pair_ns, slowness);
}
