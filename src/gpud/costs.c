/*
 * costs.c
 *		What work costs on the service's first device, as a client sees it (see
 *		costs.h).
 *
 * A client in the service's own process sorts a few dozen jobs over a socket pair,
 * so that round trips, copies through chunks, the bus and the kernels are all in
 * the times, as they overlap.  The times fill the terms of the plan's model
 * (plan.c):
 *
 *		keys	startup + transfer * (n + back) + n * (counting[range] + expand)
 *		wide	startup + transfer * (n + n) + n * wide
 *		order	startup + n * scatter[range], or n * pair
 *
 * where back is what comes back, in keys: three for a run, or n if these are more.  Terms are
 * chosen so that the sums are right at the sizes measured; single terms mean little.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gpu/client.h"
#include "gpud/costs.h"
#include "gpud/log.h"
#include "sort/clock.h"
#include "sort/device/job.h"
#include "sort/sorter/sorter.h"

/*
 * Keys of a medium job: 8 MiB each way are more than the GPU's caches hold, and all
 * jobs together still take 0.6 s.  Jobs are smaller with chunks so small that messages
 * take most of the time, as tests have them, and with the stub of a GPU, for which
 * the compiler is given another number.
 */
#ifndef MEDIUM_KEYS
#define MEDIUM_KEYS ((size_t) 2 << 20)
#endif
#define MEDIUM_CHUNKS 64

/*
 * Keys of a small job, which is nearly all latency.  Smaller jobs need fewer kernel
 * launches than any job that the plan would choose the device for.
 */
#define SMALL_KEYS ((size_t) 16384)
#define SMALL_ROUNDS 15
#define MEDIUM_ROUNDS 3

/*
 * Ranges, in bits, for which the slowness of this host's CPU is measured: how many times longer it
 * takes than the plan's table says.  The plan compares the costs of both devices, so that the
 * device's costs must be in the nanoseconds of the plan's table, too: its times are divided by
 * the slowness.  Slowness differs between keys and permutations, which wait for memory much more,
 * and between ranges: on a host with an H100 it was 2.1 for wide keys, 0.5 for a million keys of
 * 100 values, and 3.5 for the permutation of these.
 */
#define SLOWNESS_STEPS 6
static const int slowness_bits[SLOWNESS_STEPS] = {2, 7, 12, 17, 22, 31};

typedef struct Bench
{
	GpuClient  *client;			/* connected to this service */
	SortGpu		gpu;			/* the GPU of context: jobs over client */
	SortContext context;		/* of all jobs: one thread, memory by malloc */
	size_t		n;				/* keys of a medium job */
	int32_t    *random;			/* n keys, uniform over all of int4 */
	int32_t    *keys;			/* of random, in the range that is measured */
	int32_t    *out;			/* room for n keys or positions */
	double		keys_slowness[SLOWNESS_STEPS];	/* of the CPU, see slowness_bits */
	double		order_slowness[SLOWNESS_STEPS]; /* of the CPU, for permutations */
	bool		failed;			/* a job has failed: nothing that was measured can be used */
} Bench;

/* Memory of the measurements' sorts is malloc's. */

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

/* For qsort. */
static int
compare_ns(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/* Sorts spec->n keys into b->out, or their permutation, on the CPU by spec's algorithm. */
static SortStatus
sort_on_cpu(const Bench *b, const SortJobSpec *spec, const int32_t *keys, SortError *err)
{
	SortContext context = b->context;
	Sorter		sorter;
	SortStatus	status;

	context.device = SORT_DEVICE_CPU;
	context.algorithm = spec->algorithm;
	sorter_init(&sorter, &context, INT32_MIN, INT32_MAX);
	status = sorter_add_array(&sorter, keys, (size_t) spec->n, err);
	if (status == SORT_OK)
		status = sorter_finish(&sorter, spec->want, err);
	if (status == SORT_OK)
		status = spec->want == SORT_WANT_KEYS ? sorter_read_keys(&sorter, false, b->out, err)
			: sorter_read_permutation(&sorter, false, 0, (uint32_t *) b->out, err);
	sorter_reset(&sorter);
	return status;
}

/*
 * Nanoseconds of a job of n keys in 2^bits values, on the CPU if device is NULL: the median
 * of at most SMALL_ROUNDS rounds, because a client meets the usual case, not the
 * best one.
 */
static double
time_job(Bench *b, const SortDevice *device, SortAlgorithm algorithm, SortWant want, size_t n,
		 int bits, int rounds)
{
	const int32_t *keys = b->random;
	SortJobSpec spec = {
		.algorithm = algorithm,
		.want = want,
		.lo = INT32_MIN,
		.hi = INT32_MAX,
		.n = n,
	};
	double		ns[SMALL_ROUNDS];

	if (b->failed)
		return 0;
	if (bits < 32)
	{
		uint32_t	mask = (UINT32_C(1) << bits) - 1;

		for (size_t k = 0; k < n; k++)
			b->keys[k] = (int32_t) ((uint32_t) b->random[k] & mask);
		keys = b->keys;
		spec.lo = 0;
		spec.hi = (int32_t) mask;
	}
	for (int i = 0; i < rounds; i++)
	{
		Runs		runs = {0};
		SortOutput	output = {
			.runs = want == SORT_WANT_RUNS ? &runs : NULL,
			.keys = want == SORT_WANT_KEYS ? b->out : NULL,
			.positions = want == SORT_WANT_PERMUTATION ? (uint32_t *) b->out : NULL,
		};
		double		start = (double) sort_clock();
		SortError	err;
		SortStatus	status = device == NULL ? sort_on_cpu(b, &spec, keys, &err)
		: sort_job_run(device, &b->context, &spec, keys, &output, NULL, &err);

		runs_release(&runs, &b->context.allocator);
		if (status != SORT_OK)
		{
			b->failed = true;
			return 0;
		}
		ns[i] = (double) sort_clock() - start;
	}
	qsort(ns, (size_t) rounds, sizeof(double), compare_ns);
	return ns[rounds / 2];
}

/*
 * How many times longer than the plan believes this host's CPU takes for n keys in
 * 2^bits values, by the algorithm that the plan chooses for them.  1, if that is not known.
 */
static double
cpu_slowness(Bench *b, SortWant want, int bits)
{
	SortPlanInput input = {
		.n = b->n,
		.lo = 0,
		.hi = (int32_t) ((UINT32_C(1) << bits) - 1),
		.want = want,
		.device = SORT_DEVICE_CPU,
		.algorithm = SORT_ALGORITHM_AUTO,
	};
	SortPlan	plan;
	SortError	err;
	double		slowness;

	if (plan_choose(&input, &plan, &err) != SORT_OK)
		return 1.0;
	slowness = time_job(b, NULL, plan.algorithm, want, b->n, bits, MEDIUM_ROUNDS) /
		plan.cost_ns;
	if (!isfinite(slowness) || slowness < 0.125 || slowness > 16)
		return 1.0;
	return slowness;
}

/* Slowness for a range of 2^at, between the measured ranges by linear interpolation. */
static double
slowness_at(const double *slowness, int at)
{
	int			i = 1;

	while (i < SLOWNESS_STEPS - 1 && slowness_bits[i] < at)
		i++;
	if (at <= slowness_bits[0])
		return slowness[0];
	return slowness[i - 1] + (slowness[i] - slowness[i - 1]) *
		(at - slowness_bits[i - 1]) / (slowness_bits[i] - slowness_bits[i - 1]);
}

/* Nanoseconds of the plan's table that a job takes on the device, of the CPU's slowness for it. */
static double
plan_time(Bench *b, SortWant want, size_t n, int bits, double slowness)
{
	return time_job(b, &gpu_client_device, SORT_ALGORITHM_RADIX, want, n, bits,
					n == SMALL_KEYS ? SMALL_ROUNDS : MEDIUM_ROUNDS) / slowness;
}

/*
 * Measures how slow the CPU is, then the terms of costs in the nanoseconds of the plan's table.
 * Terms that all ranges share go by the slowness for wide keys.
 */
static void
measure(Bench *b, SortDeviceCosts *costs)
{
	const double n = (double) b->n;
	double		slowness;		/* for wide keys */
	double		small;			/* of a small job of wide keys */
	double		key;			/* of each key more */

	memset(costs, 0, sizeof(*costs));
	for (int i = 0; i < SLOWNESS_STEPS; i++)
	{
		b->keys_slowness[i] = cpu_slowness(b, SORT_WANT_KEYS, slowness_bits[i]);
		b->order_slowness[i] = cpu_slowness(b, SORT_WANT_PERMUTATION, slowness_bits[i]);
	}
	slowness = b->keys_slowness[SLOWNESS_STEPS - 1];

	/* Not measured: the first job maps chunks, fills the memory pool, loads kernels. */
	(void) plan_time(b, SORT_WANT_KEYS, b->n, 32, slowness);

	small = plan_time(b, SORT_WANT_KEYS, SMALL_KEYS, 32, slowness);
	key = (plan_time(b, SORT_WANT_KEYS, b->n, 32, slowness) - small) / n;
	costs->startup_ns = fmax(small - key * (double) SMALL_KEYS, 0);
	costs->expand_ns = fmax((plan_time(b, SORT_WANT_KEYS, b->n, 8, slowness) -
							 plan_time(b, SORT_WANT_RUNS, b->n, 8, slowness)) / n, 0);
	costs->wide_ns = costs->expand_ns;
	costs->transfer_ns = fmax((key - costs->expand_ns) / 2, 0);
	costs->pair_ns = fmax((plan_time(b, SORT_WANT_PERMUTATION, b->n, 32,
									 b->order_slowness[SLOWNESS_STEPS - 1]) -
						   costs->startup_ns) / n, 0);
	for (int i = 0; i < PLAN_BIN_STEPS; i++)
	{
		double		back = fmin(ldexp(3.0, 2 * i), n);
		double		keys = plan_time(b, SORT_WANT_KEYS, b->n, 2 * i,
									 slowness_at(b->keys_slowness, 2 * i));
		double		order = plan_time(b, SORT_WANT_PERMUTATION, b->n, 2 * i,
									  slowness_at(b->order_slowness, 2 * i));

		costs->counting_ns[i] =
			fmax((keys - costs->startup_ns - costs->transfer_ns * (n + back)) / n -
				 costs->expand_ns, 0);
		costs->scatter_ns[i] = fmax((order - costs->startup_ns) / n, 0);
	}
}

/*
 * Makes the keys, and a client that is connected to this service over a socket pair.  False if that
 * is not possible; costs_measure frees what there is.
 */
static bool
prepare(Bench *b, Service *service)
{
	GpuClientOptions options = {.connect_timeout_ms = 10000,.wait_timeout_ms = 30000};
	uint64_t	state = 1;
	uint64_t	in_chunks;
	GpuFailure	failure;
	char		text[GPU_TEXT_SIZE];
	int			ends[2];

	memset(b, 0, sizeof(*b));
	b->n = MEDIUM_KEYS;
	in_chunks = service->chunks.bytes / sizeof(int32_t) * MEDIUM_CHUNKS;
	if (b->n > in_chunks)
		b->n = in_chunks > SMALL_KEYS ? in_chunks : SMALL_KEYS;
	b->gpu.device = &gpu_client_device;
	b->context = (SortContext)
	{
		.allocator =
		{
			bench_alloc, bench_grow, bench_release, NULL
		},
			.threads = 1,
			.gpu = &b->gpu,
	};
	b->random = malloc(b->n * sizeof(int32_t));
	b->keys = malloc(b->n * sizeof(int32_t));
	b->out = malloc(b->n * sizeof(int32_t));
	if (b->random == NULL || b->keys == NULL || b->out == NULL)
		return false;
	for (size_t i = 0; i < b->n; i++)
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
	options.socket = ends[1];
	if (gpu_client_connect(&options, &b->client, &failure, text, sizeof(text)) != SORT_OK)
		return false;
	b->gpu.arg = b->client;
	return true;
}

void
costs_measure(Service *service)
{
	SortDeviceCosts *costs = &service->devices.costs;
	double		start = (double) sort_clock();
	Bench		b;

	if (prepare(&b, service))
		measure(&b, costs);
	else
		b.failed = true;
	gpu_client_disconnect(b.client);
	free(b.random);
	free(b.keys);
	free(b.out);
	(void) connections_end(service, CONNECTION_STOP, 10000);
	pthread_mutex_lock(&service->devices.lock);
	service->devices.list[0].jobs_done = 0;
	pthread_mutex_unlock(&service->devices.lock);

	/* A device that cannot be measured must not be chosen: a second a key. */
	if (b.failed)
	{
		log_line(LOG_WARNING, "could not measure what work costs on the device");
		memset(costs, 0, sizeof(*costs));
		costs->startup_ns = 1e9;
		costs->transfer_ns = 1e9;
		return;
	}
	log_line(LOG_INFO, "measured in %.0f ms: job %.0f us, transfer %.2f ns, wide sort %.2f ns, "
			 "order %.2f ns a key in the plan's time; this CPU takes %.2f times that for wide keys, "
			 "%.2f for the order of few values",
			 ((double) sort_clock() - start) / 1e6, costs->startup_ns / 1e3, costs->transfer_ns,
			 costs->wide_ns, costs->pair_ns, b.keys_slowness[SLOWNESS_STEPS - 1],
			 b.order_slowness[1]);
}
