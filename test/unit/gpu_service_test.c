/*
 * gpu_service_test.c
 *		The client with a hpsort-gpud and the stub of a GPU: right answers, many
 *		sessions, and every way in which the service can fail.
 */
#define _GNU_SOURCE
#include "gpu_support.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/client_job.h"

static const char *const small_chunks[] = {"--chunk", "4096", NULL};

static void
keys_of(UnitShape shape, int32_t *keys, size_t n, int32_t *lo, int32_t *hi)
{
	unit_fill(shape, keys, n);
	*lo = INT32_MAX;
	*hi = INT32_MIN;
	for (size_t i = 0; i < n; i++)
	{
		*lo = keys[i] < *lo ? keys[i] : *lo;
		*hi = keys[i] > *hi ? keys[i] : *hi;
	}
	if (n == 0)
		*lo = *hi = 0;
}

/* What is wanted x direction x shape x sizes at the edges of chunks. */
static void
check_matrix(const char *const *args, const size_t *sizes, size_t nsizes)
{
	GpuService	s;
	GpuUnit		u;
	uint64_t	jobs = 0;

	gpu_service_start(&s, args);
	gpu_unit_connect_ok(&u, &s);
	for (size_t i = 0; i < nsizes; i++)
		for (int shape = 0; shape < SHAPE_COUNT; shape++)
		{
			size_t		n = sizes[i];
			int32_t    *keys = unit_alloc(n, sizeof(int32_t));
			int32_t		lo;
			int32_t		hi;

			keys_of((UnitShape) shape, keys, n, &lo, &hi);
			for (int want = SORT_WANT_KEYS; want <= SORT_WANT_PERMUTATION; want++)
			{
				bool		down = unit_below(2);
				uint64_t	promised = unit_below(3) == 0 ? 0 : unit_below(4) == 0 ? n / 2 : n;
				size_t		part = unit_below(2) ? 0 : 1 + unit_below(n + 1);
				bool		exact = unit_below(2);
				SortError	err;

				assert_sort_ok(gpu_unit_sort(&u, keys, n, exact ? lo : INT32_MIN,
											 exact ? hi : INT32_MAX, promised, part,
											 (SortWant) want, down, &err), err);
				jobs++;
			}
			free(keys);
		}
	assert_true(u.counters.jobs > 0 && u.counters.jobs <= jobs);
	assert_true(u.counters.bytes_sent > 0 && u.counters.bytes_received > 0);
	gpu_unit_disconnect(&u);
	gpu_service_stop(&s);
}

static void
test_matrix_small_chunks(void **state)
{
	/* a chunk holds 1,024 keys or 341 runs; the service has 4,096 of them */
	static const size_t sizes[] = {0, 1, 2, 340, 341, 342, 1023, 1024, 1025, 4096, 10000, 100001};

	(void) state;
	check_matrix(small_chunks, sizes, lengthof(sizes));
}

static void
test_matrix(void **state)
{
	static const size_t sizes[] = {1, 1000, 262143, 262144, 262145, 1000000};

	(void) state;
	check_matrix(NULL, sizes, lengthof(sizes));
}

/* A service with one chunk: all keys and results go through it. */
static void
test_one_chunk(void **state)
{
	static const char *const args[] = {"--chunk", "4096", "--pinned-memory", "4096", NULL};
	static const size_t sizes[] = {0, 1, 1024, 1025, 20000};

	(void) state;
	check_matrix(args, sizes, lengthof(sizes));
}

/* A job gives the result that it was opened for, once; what is asked for besides is refused. */
static void
test_one_result(void **state)
{
	GpuService	s;
	GpuUnit		u;
	SortError	err;
	SortJob    *job;
	enum
	{
		N = 50000
	};
	int32_t    *keys = unit_alloc(N, sizeof(int32_t));
	int32_t    *out = unit_alloc(N, sizeof(int32_t));
	SortJobSpec spec = {.want = SORT_WANT_KEYS,.lo = INT32_MIN,.hi = INT32_MAX,.n = N};
	Runs		runs = {0};
	uint64_t	announced;
	SortAlgorithm algorithm = SORT_ALGORITHM_AUTO;

	(void) state;
	unit_fill(SHAPE_WIDE, keys, N);
	gpu_service_start(&s, small_chunks);
	gpu_unit_connect_ok(&u, &s);
	assert_sort_ok(gpu_client_device.open(&u.unit.context, &spec, &job, &err), err);

	/* Keys that OPEN has announced fill its chunks, in however many pieces they come. */
	announced = ((GpuJob *) job)->announced;
	assert_sort_ok(gpu_client_device.add(job, keys, 100, &err), err);
	assert_int_equal(((GpuJob *) job)->announced, announced);
	assert_sort_ok(gpu_client_device.add(job, keys + 100, N - 100, &err), err);
	assert_int_equal(((GpuJob *) job)->announced, 0);
	assert_sort_ok(gpu_client_device.finish(job, &err), err);
	assert_true(strlen(gpu_client_device.describe(job, &algorithm)) > 0);
	assert_int_not_equal(algorithm, SORT_ALGORITHM_AUTO);
	unit_sort(keys, N, true);
	assert_int_equal(gpu_client_device.read_runs(job, &runs, &err), SORT_DEVICE_UNAVAILABLE);
	assert_int_equal(gpu_client_failure(u.client), GPU_UNSUPPORTED);
	assert_sort_ok(gpu_client_device.read_keys(job, true, out, &err), err);
	unit_assert_keys(out, keys, N, "descending");
	assert_int_equal(gpu_client_device.read_keys(job, true, out, &err), SORT_DEVICE_UNAVAILABLE);
	assert_int_equal(gpu_client_failure(u.client), GPU_UNSUPPORTED);
	assert_int_equal(runs.len, 0);

	/* a second job must wait for the first one's end */
	{
		SortJob    *second;

		assert_int_equal(gpu_client_device.open(&u.unit.context, &spec, &second, &err),
						 SORT_DEVICE_UNAVAILABLE);
	}
	gpu_client_device.close(job);
	gpu_unit_disconnect(&u);
	gpu_service_stop(&s);
	free(keys);
	free(out);
}

/* A job can be closed at every point; connection and service hold nothing of it then. */
static void
test_given_up(void **state)
{
	static const char *const args[] = {"--chunk", "4096", "--pinned-memory", "65536", NULL};
	GpuService	s;
	GpuUnit		u;
	SortError	err;
	enum
	{
		N = 40000
	};
	int32_t    *keys = unit_alloc(N, sizeof(int32_t));
	int32_t    *out = unit_alloc(N, sizeof(int32_t));

	(void) state;
	unit_fill(SHAPE_WIDE, keys, N);
	gpu_service_start(&s, args);
	gpu_unit_connect_ok(&u, &s);
	for (int round = 0; round < 200; round++)
	{
		SortJobSpec spec = {.want = SORT_WANT_KEYS,.lo = INT32_MIN,.hi = INT32_MAX,
		.n = unit_below(2) ? N : 0};
		SortJob    *job;
		int			steps = (int) unit_below(4);

		if (!gpu_client_is_usable(u.client))
		{
			gpu_unit_disconnect(&u);
			gpu_unit_connect_ok(&u, &s);
		}
		assert_sort_ok(gpu_client_device.open(&u.unit.context, &spec, &job, &err), err);
		if (steps > 0)
			assert_sort_ok(gpu_client_device.add(job, keys, 1 + unit_below(N), &err), err);
		if (steps > 1)
			assert_sort_ok(gpu_client_device.finish(job, &err), err);
		if (steps > 2)
			assert_sort_ok(gpu_client_device.read_keys(job, false, out, &err), err);
		gpu_client_device.close(job);
		if (unit_below(4) == 0)
			assert_sort_ok(gpu_unit_sort(&u, keys, N, INT32_MIN, INT32_MAX, N, 0, SORT_WANT_KEYS,
										 false, &err), err);
	}
	gpu_unit_disconnect(&u);
	gpu_service_stop(&s);
	free(keys);
	free(out);
}

static void
test_out_of_bounds(void **state)
{
	GpuService	s;
	GpuUnit		u;
	SortError	err;
	int32_t		keys[] = {5, 7, 300, 6};

	(void) state;
	gpu_service_start(&s, NULL);
	gpu_unit_connect_ok(&u, &s);
	assert_int_equal(gpu_unit_sort(&u, keys, 4, 0, 255, 4, 0, SORT_WANT_KEYS, false, &err),
					 SORT_KEY_OUT_OF_BOUNDS);
	assert_int_equal(err.key, 300);
	assert_int_equal(err.lo, 0);
	assert_int_equal(err.hi, 255);
	/* an error of the job, not of the connection */
	assert_true(gpu_client_is_usable(u.client));
	assert_sort_ok(gpu_unit_sort(&u, keys, 4, 0, 300, 4, 0, SORT_WANT_KEYS, false, &err), err);
	gpu_unit_disconnect(&u);
	gpu_service_stop(&s);
}

static void
test_memory_limit(void **state)
{
	static const char *const args[] = {"--memory-limit", "400000", NULL};
	GpuService	s;
	GpuUnit		u;
	SortError	err;
	enum
	{
		N = 200000
	};
	int32_t    *keys = unit_alloc(N, sizeof(int32_t));
	GpuDeviceStatus device;
	int			count;

	(void) state;
	unit_fill(SHAPE_WIDE, keys, N);
	gpu_service_start(&s, args);
	gpu_unit_connect_ok(&u, &s);
	/* too large by its announced keys, and too large as keys come */
	assert_int_equal(gpu_unit_sort(&u, keys, N, INT32_MIN, INT32_MAX, N, 0, SORT_WANT_KEYS, false,
								   &err), SORT_DEVICE_UNAVAILABLE);
	assert_int_equal(gpu_client_failure(u.client), GPU_NO_MEMORY);
	assert_int_equal(gpu_unit_sort(&u, keys, N, INT32_MIN, INT32_MAX, 0, 1000, SORT_WANT_KEYS,
								   false, &err), SORT_DEVICE_UNAVAILABLE);
	assert_int_equal(gpu_client_failure(u.client), GPU_NO_MEMORY);
	assert_true(gpu_client_is_usable(u.client));
	assert_sort_ok(gpu_unit_sort(&u, keys, 20000, INT32_MIN, INT32_MAX, 0, 0, SORT_WANT_KEYS,
								 false, &err), err);
	assert_sort_ok(gpu_client_devices(u.client, &device, 1, &count, &err), err);
	assert_int_equal(count, 1);
	assert_int_equal(device.ordinal, 0);
	assert_string_equal(device.state, "ready");
	assert_non_null(strstr(device.last_error, "memory"));
	assert_int_equal(device.jobs_running, 0);
	assert_int_equal(device.memory_used, 0);
	gpu_unit_disconnect(&u);
	gpu_service_stop(&s);
	free(keys);
}

/* ------------------------------------------------------------------------
 * Many at once
 * ------------------------------------------------------------------------
 */

typedef struct Session
{
	const GpuService *service;
	uint64_t	seed;
	int			rounds;
	int			wrong;
	char		text[200];
} Session;

/* cmocka's asserts are for the main thread: threads report by value. */
static void *
session_main(void *arg)
{
	Session    *me = arg;
	GpuUnit		u;
	enum
	{
		N = 30000
	};
	int32_t    *keys = malloc(N * sizeof(int32_t));
	int32_t    *out = malloc(N * sizeof(int32_t));

	gpu_unit_init(&u);
	me->wrong = gpu_unit_connect(&u, me->service->socket, 60000, me->text) != GPU_OK;
	for (; !me->wrong && me->rounds > 0; me->rounds--)
	{
		SortJobSpec spec = {.want = SORT_WANT_KEYS,.lo = INT32_MIN,.hi = INT32_MAX,.n = N};
		SortJob    *job;
		SortError	err;
		SortStatus	status;

		for (int i = 0; i < N; i++)
		{
			me->seed = me->seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
			keys[i] = (int32_t) (me->seed >> 32);
		}
		status = gpu_client_device.open(&u.unit.context, &spec, &job, &err);
		if (status == SORT_OK)
			status = gpu_client_device.add(job, keys, N, &err);
		if (status == SORT_OK)
			status = gpu_client_device.finish(job, &err);
		if (status == SORT_OK)
			status = gpu_client_device.read_keys(job, false, out, &err);
		gpu_client_device.close(job);
		if (status != SORT_OK)
		{
			snprintf(me->text, sizeof(me->text), "%s", err.message);
			me->wrong = 1;
			break;
		}
		unit_sort(keys, N, false);
		if (memcmp(keys, out, N * sizeof(int32_t)) != 0)
		{
			snprintf(me->text, sizeof(me->text), "wrong answer");
			me->wrong = 1;
		}
	}
	gpu_client_disconnect(u.client);
	free(keys);
	free(out);
	return NULL;
}

/* 100 sessions, and 16 chunks for all of them. */
static void
test_many_sessions(void **state)
{
	static const char *const args[] = {"--chunk", "4096", "--pinned-memory", "65536", NULL};
	enum
	{
		SESSIONS = 100
	};
	GpuService	s;
	Session		sessions[SESSIONS];
	pthread_t	threads[SESSIONS];
	int			fds;
	int			nthreads;
	int			mine;

	(void) state;
	mine = gpu_count_fds(0);
	gpu_service_start(&s, args);
	fds = gpu_count_fds(s.pid);
	nthreads = gpu_count_threads(s.pid);
	for (int i = 0; i < SESSIONS; i++)
	{
		sessions[i] = (Session) {.service = &s,.seed = unit_random(),.rounds = 5};
		assert_int_equal(pthread_create(&threads[i], NULL, session_main, &sessions[i]), 0);
	}
	for (int i = 0; i < SESSIONS; i++)
	{
		pthread_join(threads[i], NULL);
		if (sessions[i].wrong)
			fail_msg("session %d: %s", i, sessions[i].text);
	}
	gpu_assert_idle(&s, fds, nthreads);
	gpu_service_stop(&s);
	assert_int_equal(gpu_count_fds(0), mine);
}

/*
 * Sessions hold all chunks and do nothing: the next session waits, and then fails
 * with the reason; when chunks are free, it sorts.
 */
static void
test_no_chunks(void **state)
{
	static const char *const args[] = {"--chunk", "4096", "--pinned-memory", "8192", NULL};
	GpuService	s;
	GpuUnit		holders[2];
	SortJob    *held[2];
	GpuUnit		u;
	SortError	err;
	int32_t		keys[3000];
	SortJobSpec spec = {.want = SORT_WANT_KEYS,.lo = INT32_MIN,.hi = INT32_MAX,.n = 2};
	GpuDeviceStatus device;
	int			count;
	char		text[200];

	(void) state;
	unit_fill(SHAPE_WIDE, keys, lengthof(keys));
	gpu_service_start(&s, args);
	/* Keys are announced and do not come: each holds a chunk, once what comes next is answered. */
	for (int i = 0; i < 2; i++)
	{
		gpu_unit_connect_ok(&holders[i], &s);
		assert_sort_ok(gpu_client_device.open(&holders[i].unit.context, &spec, &held[i], &err), err);
		assert_sort_ok(gpu_client_devices(holders[i].client, &device, 1, &count, &err), err);
	}
	gpu_unit_init(&u);
	/* the service gives up after three quarters of this */
	assert_int_equal(gpu_unit_connect(&u, s.socket, 4000, text), GPU_OK);
	assert_int_equal(gpu_unit_sort(&u, keys, 3000, INT32_MIN, INT32_MAX, 3000, 0, SORT_WANT_KEYS,
								   false, &err), SORT_DEVICE_UNAVAILABLE);
	assert_int_equal(gpu_client_failure(u.client), GPU_NO_CHUNKS);
	assert_true(gpu_client_is_usable(u.client));
	for (int i = 0; i < 2; i++)
	{
		gpu_client_device.close(held[i]);
		gpu_unit_disconnect(&holders[i]);
	}
	assert_sort_ok(gpu_unit_sort(&u, keys, 3000, INT32_MIN, INT32_MAX, 3000, 0, SORT_WANT_KEYS,
								 false, &err), err);
	gpu_unit_disconnect(&u);
	gpu_service_stop(&s);
}

/* ------------------------------------------------------------------------
 * Faults
 * ------------------------------------------------------------------------
 */

/*
 * Streams that pause, each of which could have taken four chunks, do not keep the
 * next session from sorting, even when there are more streams than chunks.  When
 * the streams go on, their results are right.
 */
static void
check_pauses(int chunks, int streams)
{
	enum
	{
		CHUNK = 65536,
		PART = 5 * CHUNK / sizeof(int32_t) + 100
	};
	char		pinned[32];
	const char *args[] = {"--chunk", "65536", "--pinned-memory", pinned, NULL};
	GpuUnit    *u = unit_alloc(streams, sizeof(GpuUnit));
	SortJob   **jobs = unit_alloc(streams, sizeof(SortJob *));
	SortJobSpec spec = {.want = SORT_WANT_KEYS, .lo = INT32_MIN, .hi = INT32_MAX};
	int32_t    *keys = unit_alloc(2 * PART, sizeof(int32_t));
	int32_t    *expected = unit_alloc(2 * PART, sizeof(int32_t));
	int32_t    *got = unit_alloc(2 * PART, sizeof(int32_t));
	GpuService	s;
	GpuUnit		other;
	SortError	err;

	snprintf(pinned, sizeof(pinned), "%d", chunks * CHUNK);
	unit_fill(SHAPE_WIDE, keys, 2 * PART);
	memcpy(expected, keys, 2 * PART * sizeof(int32_t));
	unit_sort(expected, 2 * PART, false);
	gpu_service_start(&s, args);
	for (int i = 0; i < streams; i++)
	{
		gpu_unit_connect_ok(&u[i], &s);
		assert_sort_ok(gpu_client_device.open(&u[i].unit.context, &spec, &jobs[i], &err), err);
		assert_sort_ok(gpu_client_device.add(jobs[i], keys, PART, &err), err);
	}
	gpu_unit_connect_ok(&other, &s);
	assert_sort_ok(gpu_unit_sort(&other, keys, 1000, INT32_MIN, INT32_MAX, 1000, 0,
								 SORT_WANT_KEYS, false, &err), err);
	gpu_unit_disconnect(&other);
	for (int i = 0; i < streams; i++)
	{
		assert_sort_ok(gpu_client_device.add(jobs[i], keys + PART, PART, &err), err);
		assert_sort_ok(gpu_client_device.finish(jobs[i], &err), err);
		assert_sort_ok(gpu_client_device.read_keys(jobs[i], false, got, &err), err);
		assert_memory_equal(got, expected, 2 * PART * sizeof(int32_t));
		gpu_client_device.close(jobs[i]);
		gpu_unit_disconnect(&u[i]);
	}
	gpu_service_stop(&s);
	free(expected);
	free(got);
	free(keys);
	free(jobs);
	free(u);
}

static void
test_pauses(void **state)
{
	(void) state;
	check_pauses(2, 1);
	check_pauses(4, 1);
	check_pauses(7, 2);
	check_pauses(8, 2);
	check_pauses(16, 4);
	check_pauses(64, 16);
	check_pauses(2, 5);
	check_pauses(64, 100);
}

typedef struct FaultCase
{
	const char *fault;
	GpuFailure	expected;
	bool		at_connect;		/* connecting fails */
	bool		usable;			/* the connection lives on */
	int			exit_code;		/* of the service; 0: it lives on */
} FaultCase;

static const FaultCase fault_cases[] = {
	{"kill:hello", GPU_LOST, true, false, -SIGKILL},
	{"kill:open", GPU_LOST, false, false, -SIGKILL},
	{"kill:chunk:2", GPU_LOST, false, false, -SIGKILL},
	{"kill:add:3", GPU_LOST, false, false, -SIGKILL},
	{"kill:finish", GPU_LOST, false, false, -SIGKILL},
	{"kill:read:2", GPU_LOST, false, false, -SIGKILL},
	{"hang:hello", GPU_TIMEOUT, true, false, 0},
	{"hang:open", GPU_TIMEOUT, false, false, 0},
	{"hang:add", GPU_TIMEOUT, false, false, 0},
	{"hang:finish", GPU_TIMEOUT, false, false, 0},
	{"hang:read:2", GPU_TIMEOUT, false, false, 0},
	{"garbage:hello", GPU_PROTOCOL, true, false, 0},
	{"garbage:open", GPU_PROTOCOL, false, false, 0},
	{"garbage:chunk:2", GPU_PROTOCOL, false, false, 0},
	{"garbage:add", GPU_PROTOCOL, false, false, 0},
	{"garbage:finish", GPU_PROTOCOL, false, false, 0},
	{"garbage:read", GPU_PROTOCOL, false, false, 0},
	{"short:hello", GPU_LOST, true, false, 0},
	{"short:add", GPU_LOST, false, false, 0},
	{"short:finish", GPU_LOST, false, false, 0},
	{"short:read", GPU_LOST, false, false, 0},
	{"oversize:hello", GPU_PROTOCOL, true, false, 0},
	{"oversize:add", GPU_PROTOCOL, false, false, 0},
	{"oversize:read:2", GPU_PROTOCOL, false, false, 0},
	{"version:hello", GPU_PROTOCOL, true, false, 0},
	{"build:hello", GPU_PROTOCOL, true, false, 0},
	{"uid:hello", GPU_CONNECT, true, false, 0},
	{"oom:open", GPU_NO_MEMORY, false, true, 0},
	{"oom:add:2", GPU_NO_MEMORY, false, true, 0},
	{"oom:finish", GPU_NO_MEMORY, false, true, 0},
	{"oom:read:2", GPU_NO_MEMORY, false, true, 0},
	{"nochunks:chunk", GPU_NO_CHUNKS, false, true, 0},
	{"nochunks:read:2", GPU_NO_CHUNKS, false, true, 0},
	{"sticky:add", GPU_DEVICE_ERROR, false, false, 4},
	{"sticky:finish", GPU_DEVICE_ERROR, false, false, 4},
	{"sticky:read:2", GPU_DEVICE_ERROR, false, false, 4},
	{"slow:finish:1:50", GPU_OK, false, true, 0},
};

static void
check_fault(const FaultCase *f, const int32_t *keys, size_t n)
{
	const char *args[] = {"--stub", f->fault, "--chunk", "4096", NULL};
	GpuService	s;
	GpuUnit		u;
	SortError	err;
	SortStatus	status;
	GpuFailure	failure;
	char		text[200];
	int			mine = gpu_count_fds(0);

	/*
	 * Only who is to wait in vain waits shortly: a busy machine may keep a
	 * service from answering for a while.  Of the wait for chunks the service
	 * leaves the client a quarter, in which to hear that there are none.
	 */
	int			patience = f->expected == GPU_TIMEOUT ? 1000 :
		f->expected == GPU_NO_CHUNKS ? 4000 : 20000;

	gpu_service_start(&s, args);
	gpu_unit_init(&u);
	failure = gpu_unit_connect(&u, s.socket, patience, text);
	if (f->at_connect)
	{
		if (failure != f->expected)
			fail_msg("%s: failure %d: %s", f->fault, (int) failure, text);
	}
	else
	{
		assert_int_equal(failure, GPU_OK);
		status = gpu_unit_sort(&u, keys, n, INT32_MIN, INT32_MAX, n, 0, SORT_WANT_KEYS, false, &err);
		failure = gpu_client_failure(u.client);
		if (status != (f->expected == GPU_OK ? SORT_OK : SORT_DEVICE_UNAVAILABLE) ||
			failure != f->expected)
			fail_msg("%s: status %d, failure %d: %s", f->fault, (int) status, (int) failure,
					 err.message);
		if (f->usable && !gpu_client_is_usable(u.client))
			fail_msg("%s: connection is not usable", f->fault);
		if (f->usable)
			assert_sort_ok(gpu_unit_sort(&u, keys, n, INT32_MIN, INT32_MAX, n, 0, SORT_WANT_KEYS,
										 false, &err), err);
		gpu_unit_disconnect(&u);
	}
	if (f->exit_code == 0)
	{
		/* the next session is served */
		gpu_unit_connect_ok(&u, &s);
		assert_sort_ok(gpu_unit_sort(&u, keys, n, INT32_MIN, INT32_MAX, n, 0, SORT_WANT_KEYS,
									 false, &err), err);
		gpu_unit_disconnect(&u);
		gpu_service_stop(&s);
	}
	else
	{
		int			code = gpu_service_wait(&s, 20000);

		if (code != f->exit_code)
			fail_msg("%s: exit code %d", f->fault, code);
		gpu_service_kill(&s);
	}
	assert_int_equal(gpu_count_fds(0), mine);
}

static void
test_faults(void **state)
{
	enum
	{
		N = 20000
	};
	int32_t    *keys = unit_alloc(N, sizeof(int32_t));

	(void) state;
	unit_fill(SHAPE_WIDE, keys, N);
	for (size_t i = 0; i < lengthof(fault_cases); i++)
	{
		print_message("fault %s\n", fault_cases[i].fault);
		check_fault(&fault_cases[i], keys, N);
	}
	free(keys);
}

/* The service is killed at random moments: each job gets an error or the right answer. */
static void
test_random_kills(void **state)
{
	const char *rounds = getenv("HPSORT_TEST_KILLS");
	int			kills = rounds ? atoi(rounds) : 50;
	enum
	{
		N = 30000
	};
	int32_t    *keys = unit_alloc(N, sizeof(int32_t));
	int			killed = 0;
	int			sorted = 0;

	(void) state;
	unit_fill(SHAPE_WIDE, keys, N);
	while (killed < kills)
	{
		char		fault[64];
		const char *args[] = {"--stub", fault, "--chunk", "4096", NULL};
		GpuService	s;

		snprintf(fault, sizeof(fault), "randomkill:%u", (unsigned) unit_below(1000000000));
		gpu_service_start(&s, args);
		for (;;)
		{
			GpuUnit		u;
			SortError	err;
			char		text[200];
			GpuFailure	failure;

			gpu_unit_init(&u);
			failure = gpu_unit_connect(&u, s.socket, 20000, text);
			if (failure != GPU_OK)
			{
				if (failure != GPU_LOST && failure != GPU_NOT_RUNNING)
					fail_msg("failure %d: %s", (int) failure, text);
				break;
			}
			while (gpu_unit_sort(&u, keys, N, INT32_MIN, INT32_MAX, N, 0,
								 (SortWant) unit_below(3), unit_below(2), &err) == SORT_OK)
				sorted++;
			assert_int_equal(gpu_client_failure(u.client), GPU_LOST);
			gpu_unit_disconnect(&u);
		}
		assert_int_equal(gpu_service_wait(&s, 20000), -SIGKILL);
		gpu_service_kill(&s);
		killed++;
	}
	print_message("%d kills, %d jobs sorted, 0 wrong\n", killed, sorted);
	free(keys);
}

/* SIGTERM ends the service, and jobs in progress, at once. */
static void
test_stop_at_work(void **state)
{
	static const char *const args[] = {"--stub", "slow:add:0:20", "--chunk", "4096", NULL};
	GpuService	s;
	Session		sessions[8];
	pthread_t	threads[8];

	(void) state;
	gpu_service_start(&s, args);
	for (int i = 0; i < 8; i++)
	{
		sessions[i] = (Session) {.service = &s,.seed = unit_random(),.rounds = 1000};
		assert_int_equal(pthread_create(&threads[i], NULL, session_main, &sessions[i]), 0);
	}
	gpu_pause_ms(300);
	gpu_service_stop(&s);
	for (int i = 0; i < 8; i++)
	{
		pthread_join(threads[i], NULL);
		assert_true(sessions[i].wrong);
		assert_string_not_equal(sessions[i].text, "wrong answer");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matrix_small_chunks),
		cmocka_unit_test(test_matrix),
		cmocka_unit_test(test_one_chunk),
		cmocka_unit_test(test_one_result),
		cmocka_unit_test(test_given_up),
		cmocka_unit_test(test_out_of_bounds),
		cmocka_unit_test(test_memory_limit),
		cmocka_unit_test(test_many_sessions),
		cmocka_unit_test(test_no_chunks),
		cmocka_unit_test(test_pauses),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_random_kills),
		cmocka_unit_test(test_stop_at_work),
	};

	unit_seed("gpu_service_test");
	if (getenv("HPSORT_TEST_FILTER"))
		cmocka_set_test_filter(getenv("HPSORT_TEST_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
