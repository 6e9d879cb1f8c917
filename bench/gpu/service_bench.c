/*
 * service_bench.c
 *		The GPU service as a client sees it: jobs of many sizes and ranges beside
 *		the CPU in process, first and later jobs, many sessions at once.
 *
 *		service_bench SOCKET grid [MAX_N]	CSV: want, n, range, ms of gpu, of cpu,
 *											and what plan expects of the gpu
 *		service_bench SOCKET first N		connect, first, second, tenth job
 *		service_bench SOCKET sessions N S	S processes at once
 *		service_bench SOCKET rows N E		N rows in E extents of two columns, which the
 *											service has: ms of the steps of a job that sorts
 *
 * Every result is checked.  Times are medians of 5.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gpu/client.h"
#include "sort/rows/rows_job.h"
#include "sort/sorter/sorter.h"

#define ROUNDS 5

static GpuClient *client;
static SortGpu gpu = {.device = &gpu_client_device};

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e3 + (double) t.tv_nsec / 1e6;
}

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

static const SortContext context = {
	.allocator = {bench_alloc, bench_grow, bench_release, NULL},
	.threads = 1,
	.gpu = &gpu,
};

static void
die(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why);
	exit(1);
}

static void
connect_to(const char *socket)
{
	GpuClientOptions options = {.socket_path = socket,.connect_timeout_ms = 10000,
	.wait_timeout_ms = 60000,.epoch = (uint64_t) getpid()};
	GpuFailure	failure;
	char		text[200];

	if (gpu_client_connect(&options, &client, &failure, text, sizeof(text)) != SORT_OK)
		die("connect", text);
	gpu.arg = client;
}

static void
fill(int32_t *keys, size_t n, uint64_t range)
{
	uint64_t	state = 42;

	for (size_t i = 0; i < n; i++)
	{
		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		keys[i] = range == UINT64_C(1) << 32 ? (int32_t) (state >> 32)
			: (int32_t) (((state >> 32) * range) >> 32);
	}
}

/* Milliseconds of one job of a GPU; its result is in out, or summed up for runs. */
static double
job_ms(const SortDevice *d, SortAlgorithm algorithm, SortWant want, const int32_t *keys, size_t n,
	   uint64_t range, int32_t *out, uint64_t *runs_n, char *reason)
{
	SortJobSpec spec = {.algorithm = algorithm,.want = want,.n = n};
	Runs		runs = {0};
	SortError	err;
	SortJob    *job;
	double		start = now_ms();
	SortStatus	status;
	size_t		i;

	spec.lo = range > INT32_MAX ? INT32_MIN : 0;
	spec.hi = range > INT32_MAX ? INT32_MAX : (int32_t) (range - 1);
	status = d->open(&context, &spec, &job, &err);
	if (status != SORT_OK)
		die("open", err.message);
	status = d->add(job, keys, n, &err);
	if (status == SORT_OK)
		status = d->finish(job, &err);
	if (status == SORT_OK)
		status = want == SORT_WANT_KEYS ? d->read_keys(job, false, out, &err) :
			want == SORT_WANT_RUNS ? d->read_runs(job, &runs, &err) :
			d->read_permutation(job, false, 0, (uint32_t *) out, &err);
	if (status != SORT_OK)
		die("job", err.message);
	if (reason)
		snprintf(reason, 160, "%s", d->describe(job, &algorithm));
	d->close(job);
	start = now_ms() - start;
	for (*runs_n = 0, i = 0; i < runs.len; i++)
		*runs_n += runs.counts[i];
	runs_release(&runs, &context.allocator);
	return start;
}

/* The same on the CPU, by a sorter. */
static double
cpu_ms(SortAlgorithm algorithm, SortWant want, const int32_t *keys, size_t n, int32_t *out,
	   uint64_t *runs_n)
{
	SortContext alone = context;
	int32_t		run_keys[1024];
	uint64_t	counts[1024];
	size_t		got = 1024;
	double		start = now_ms();
	SorterCursor cursor;
	SortStatus	status;
	SortError	err;
	Sorter		s;

	alone.gpu = NULL;
	alone.algorithm = algorithm;
	*runs_n = 0;
	sorter_init(&s, &alone, INT32_MIN, INT32_MAX);
	status = sorter_add_array(&s, keys, n, &err);
	if (status == SORT_OK)
		status = sorter_finish(&s, want, &err);
	if (status == SORT_OK && want == SORT_WANT_RUNS)
		status = sorter_open_cursor(&s, false, &cursor, &err);
	while (status == SORT_OK && want == SORT_WANT_RUNS && got == 1024)
	{
		status = sorter_cursor_runs(&cursor, run_keys, counts, 1024, &got, &err);
		for (size_t i = 0; status == SORT_OK && i < got; i++)
			*runs_n += counts[i];
	}
	if (status == SORT_OK && want != SORT_WANT_RUNS)
		status = want == SORT_WANT_KEYS ? sorter_read_keys(&s, false, out, &err) :
			sorter_read_permutation(&s, false, 0, (uint32_t *) out, &err);
	if (status != SORT_OK)
		die("sorter", err.message);
	sorter_reset(&s);
	return now_ms() - start;
}

static int
compare(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

static double
median_ms(const SortDevice *d, SortAlgorithm algorithm, SortWant want, const int32_t *keys,
		  size_t n, uint64_t range, int32_t *out, char *reason)
{
	double		ms[ROUNDS];
	uint64_t	runs_n;

	for (int i = 0; i < ROUNDS; i++)
		ms[i] = d ? job_ms(d, algorithm, want, keys, n, range, out, &runs_n, reason) :
			cpu_ms(algorithm, want, keys, n, out, &runs_n);
	for (size_t k = 1; k < n; k++)
		if (want == SORT_WANT_KEYS ? out[k - 1] > out[k] : want == SORT_WANT_PERMUTATION &&
			(keys[out[k - 1]] > keys[out[k]] ||
			 (keys[out[k - 1]] == keys[out[k]] && out[k - 1] >= out[k])))
			die("job", "wrong result");
	if (want == SORT_WANT_RUNS && runs_n != n)
		die("job", "wrong runs");
	qsort(ms, ROUNDS, sizeof(double), compare);
	return ms[ROUNDS / 2];
}

static void
grid(size_t max_n)
{
	static const char *const wants[] = {"array", "runs", "order"};
	static const size_t sizes[] = {10000, 100000, 1000000, 10000000, 100000000};
	static const uint64_t ranges[] = {100, 10000, 1000000, 100000000, UINT64_C(1) << 32};
	int32_t    *keys = malloc(max_n * sizeof(int32_t));
	int32_t    *out = malloc(max_n * sizeof(int32_t));

	if (keys == NULL || out == NULL)
		die("bench", "out of memory");
	memset(out, 1, max_n * sizeof(int32_t));
	puts("want,n,range,gpu_ms,cpu_ms,gpu_plan_ms,cpu_plan_ms,reason");
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]) && sizes[s] <= max_n; s++)
		for (size_t r = 0; r < sizeof(ranges) / sizeof(ranges[0]); r++)
		{
			fill(keys, sizes[s], ranges[r]);
			for (int want = 0; want < 3; want++)
			{
				SortPlanInput in = {.n = sizes[s],.want = (SortWant) want,.device = SORT_DEVICE_CPU};
				SortPlan	cpu_plan;
				SortPlan	gpu_plan;
				SortError	err;
				char		reason[160] = "";
				double		gpu_ms;
				double		on_cpu_ms;

				in.lo = ranges[r] > INT32_MAX ? INT32_MIN : 0;
				in.hi = ranges[r] > INT32_MAX ? INT32_MAX : (int32_t) (ranges[r] - 1);
				if (plan_choose(&in, &cpu_plan, &err) != SORT_OK)
					die("plan", err.message);
				in.device = SORT_DEVICE_GPU;
				in.gpu = gpu_client_costs(client);
				if (plan_choose(&in, &gpu_plan, &err) != SORT_OK)
					die("plan", err.message);
				gpu_ms = median_ms(&gpu_client_device, SORT_ALGORITHM_RADIX, (SortWant) want, keys,
								   sizes[s], ranges[r], out, reason);
				on_cpu_ms = sizes[s] > 10000000 ? 0 :
					median_ms(NULL, cpu_plan.algorithm, (SortWant) want, keys, sizes[s],
							  ranges[r], out, NULL);
				printf("%s,%zu,%llu,%.3f,%.3f,%.3f,%.3f,\"%s\"\n", wants[want], sizes[s],
					   (unsigned long long) ranges[r], gpu_ms, on_cpu_ms, gpu_plan.cost_ns / 1e6,
					   cpu_plan.cost_ns / 1e6, reason);
				fflush(stdout);
			}
		}
}

static void
first(const char *socket, size_t n)
{
	int32_t    *keys = malloc(n * sizeof(int32_t));
	int32_t    *out = malloc(n * sizeof(int32_t));
	double		ms[12];
	double		start;
	uint64_t	runs_n;

	fill(keys, n, UINT64_C(1) << 32);
	memset(out, 1, n * sizeof(int32_t));
	start = now_ms();
	connect_to(socket);
	ms[0] = now_ms() - start;
	for (int i = 1; i < 12; i++)
	{
		/* every query's result is memory that nobody has touched */
		free(out);
		out = malloc(n * sizeof(int32_t));
		ms[i] = job_ms(&gpu_client_device, SORT_ALGORITHM_RADIX, SORT_WANT_KEYS, keys, n,
					   UINT64_C(1) << 32, out, &runs_n, NULL);
	}
	printf("n %zu: connect %.3f, jobs %.3f %.3f %.3f %.3f ... %.3f ms\n", n, ms[0], ms[1], ms[2],
		   ms[3], ms[4], ms[11]);
}

static void
sessions(const char *socket, size_t n, int count)
{
	double	   *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	double		start;
	double		wall;
	int			rounds = 8;
	int			status;
	bool		good = true;

	start = now_ms() + 1500;
	for (int i = 0; i < count; i++)
		if (fork() == 0)
		{
			int32_t    *keys = malloc(n * sizeof(int32_t));
			int32_t    *out = malloc(n * sizeof(int32_t));
			uint64_t	runs_n;

			fill(keys, n, UINT64_C(1) << 32);
			memset(out, 1, n * sizeof(int32_t));
			connect_to(socket);
			(void) job_ms(&gpu_client_device, SORT_ALGORITHM_RADIX, SORT_WANT_KEYS, keys, n,
						  UINT64_C(1) << 32, out, &runs_n, NULL);
			while (now_ms() < start)
				usleep(1000);
			for (int k = 0; k < rounds; k++)
				(void) job_ms(&gpu_client_device, SORT_ALGORITHM_RADIX, SORT_WANT_KEYS, keys, n,
							  UINT64_C(1) << 32, out, &runs_n, NULL);
			shared[i] = now_ms();
			for (size_t j = 1; j < n; j++)
				if (out[j - 1] > out[j])
					die("job", "wrong result");
			_exit(0);
		}
	for (int i = 0; i < count; i++)
	{
		wait(&status);
		good &= WIFEXITED(status) && WEXITSTATUS(status) == 0;
	}
	wall = 0;
	for (int i = 0; i < count; i++)
		wall = shared[i] > wall ? shared[i] : wall;
	wall -= start;
	printf("sessions %d, n %zu: %.1f million keys/s in all, %s\n", count, n,
		   (double) n * rounds * count / wall / 1e3, good ? "all right" : "FAILED");
}

/* Two columns' extents of some kinds, which all extents of the table are copies of. */
#define KINDS 8
#define EXTENT_COLUMNS 2
#define VALUE_BITS 20

static Extent *kinds[KINDS][EXTENT_COLUMNS];

static Extent *
make_extent(uint32_t nrows, int column, uint64_t *state)
{
	static uint64_t stamps[128];
	uint32_t	counts[128];
	int64_t    *values = malloc(nrows * sizeof(int64_t));
	ExtentRows	rows = {.nblocks = 128,.stamps = stamps,.counts = counts,.values = values};
	Extent		header;
	Extent	   *extent;
	uint32_t	i;

	for (i = 0; i < 128; i++)
		counts[i] = nrows / 128 + (i < nrows % 128);
	for (i = 0; i < nrows; i++)
	{
		*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		values[i] = (int64_t) ((*state >> 33) % (column == 0 ? 1000 : 1 << VALUE_BITS));
	}
	rows.nulls = calloc(nrows, 1);
	extent_plan(&rows, &header);
	extent = malloc(header.size);
	extent_write(&rows, &header, extent);
	free((void *) rows.nulls);
	free(values);
	return extent;
}

static bool
fetch(void *arg, size_t i, const void **bytes, size_t *size)
{
	const Extent *extent = kinds[i / EXTENT_COLUMNS % KINDS][i % EXTENT_COLUMNS];

	(void) arg;
	*bytes = extent;
	*size = extent->size;
	return true;
}

static void
rows_steps(size_t n, size_t extents)
{
	const SortDevice *d = &gpu_client_device;
	const RowsLayout layout = {.ncolumns = EXTENT_COLUMNS,.columns = {
		{.last = 999,.stride = 1 << VALUE_BITS,.flags = ROWS_IN_KEY},
		{.last = (1 << VALUE_BITS) - 1,.stride = 1,.flags = ROWS_IN_KEY}
	}};
	RowsJob		job = {.layout = &layout,.hi = (1000 << VALUE_BITS) - 1,.n = extents,.fetch = fetch};
	SortJobSpec spec = {.algorithm = SORT_ALGORITHM_ZERO_COMPRESSED,.want = SORT_WANT_RUNS,
	.hi = job.hi,.look_up = true};
	uint64_t   *generations = malloc(extents * EXTENT_COLUMNS * sizeof(uint64_t));
	double		ms[4][21];
	uint64_t	state = 42;
	SortStatus	status;
	SortError	err;
	SortJob    *sorted;
	size_t		i;
	int			k;

	for (i = 0; i < KINDS * EXTENT_COLUMNS; i++)
		kinds[i / EXTENT_COLUMNS][i % EXTENT_COLUMNS] = make_extent((uint32_t) (n / extents), i % EXTENT_COLUMNS, &state);
	for (i = 0; i < extents * EXTENT_COLUMNS; i++)
		generations[i] = i + 1;
	job.generations = generations;
	job.rows = malloc(extents * sizeof(SortRows));
	for (k = -2; k < 21; k++)
	{
		double		t[4];

		for (i = 0; i < extents; i++)
			job.rows[i] = (SortRows) {.blocks = {UINT64_MAX, UINT64_MAX}};
		t[0] = now_ms();
		if (k == -2)
			status = rows_job_sort(&context, &job, &sorted, &err);
		else
		{
			status = d->open(&context, &spec, &sorted, &err);
			if (status == SORT_OK)
				status = d->set_rows(sorted, &layout, NULL, &err);
			t[1] = now_ms();
			if (status == SORT_OK)
				status = d->add_rows(sorted, job.rows, generations, extents, &err);
			t[2] = now_ms();
			if (status == SORT_OK)
				status = d->finish(sorted, &err);
		}
		t[3] = now_ms();
		if (status != SORT_OK || sorted == NULL || sorted->keys != n / extents * extents)
			die("job", status == SORT_OK ? "wrong number of keys, or no room" : err.message);
		d->close(sorted);
		for (i = 0; i < 3 && k >= 0; i++)
			ms[i][k] = t[i + 1] - t[i];
		if (k >= 0)
			ms[3][k] = t[3] - t[0];
	}
	for (i = 0; i < 4; i++)
		qsort(ms[i], 21, sizeof(double), compare);
	printf("rows %zu in %zu extents: open %.3f, lists %.3f, finish %.3f, all %.3f ms (least %.3f)\n", n, extents,
		   ms[0][10], ms[1][10], ms[2][10], ms[3][10], ms[3][0]);
}

int
main(int argc, char **argv)
{
	if (argc >= 3 && strcmp(argv[2], "grid") == 0)
	{
		connect_to(argv[1]);
		grid(argc > 3 ? (size_t) atoll(argv[3]) : 10000000);
	}
	else if (argc == 4 && strcmp(argv[2], "first") == 0)
		first(argv[1], (size_t) atoll(argv[3]));
	else if (argc == 5 && strcmp(argv[2], "sessions") == 0)
		sessions(argv[1], (size_t) atoll(argv[3]), atoi(argv[4]));
	else if (argc == 5 && strcmp(argv[2], "rows") == 0)
	{
		connect_to(argv[1]);
		rows_steps((size_t) atoll(argv[3]), (size_t) atoll(argv[4]));
	}
	else
		die("usage", "service_bench SOCKET grid [MAX_N] | first N | sessions N COUNT | rows N EXTENTS");
	return 0;
}
