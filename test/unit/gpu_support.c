/*
 * gpu_support.c
 *		What the tests of src/gpu share (see gpu_support.h).
 */
#define _GNU_SOURCE
#include "gpu_support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_ARGS 32

static const char *
service_program(void)
{
	const char *program = getenv("HPSORT_GPUD");

	if (program == NULL)
		fail_msg("HPSORT_GPUD must name the service to test");
	return program;
}

bool
gpu_service_try(GpuService *s, const char *socket, const char *const *args)
{
	static int	number;
	const char *argv[MOST_ARGS];
	const char *stub = "";
	int			argc = 0;
	int			in[2];
	int			out[2];
	int			log;
	char		line[16];
	ssize_t		got;
	struct pollfd p;

	memset(s, 0, sizeof(*s));
	number++;
	if (socket)
		snprintf(s->socket, sizeof(s->socket), "%s", socket);
	else
		snprintf(s->socket, sizeof(s->socket), "/tmp/hpsort-test.%d.%d", (int) getpid(), number);
	snprintf(s->log, sizeof(s->log), "/tmp/hpsort-test.%d.%d.log", (int) getpid(), number);

	argv[argc++] = service_program();
	argv[argc++] = "--socket";
	argv[argc++] = s->socket;
	argv[argc++] = "--devices";
	argv[argc++] = "auto";
	argv[argc++] = "--pinned-memory";
	argv[argc++] = "16777216";
	for (; args && *args; args++)
	{
		assert_true(argc < MOST_ARGS - 1);
		if (strcmp(*args, "--stub") == 0)
			stub = *++args;
		else
			argv[argc++] = *args;
	}
	argv[argc] = NULL;

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	log = open(s->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(log >= 0);
	s->pid = fork();
	assert_true(s->pid >= 0);
	if (s->pid == 0)
	{
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		dup2(log, STDERR_FILENO);
		setenv("HPSORT_GPU_STUB", stub, 1);
		execv(argv[0], (char *const *) (void *) argv);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	close(log);
	s->parent = in[1];
	p = (struct pollfd) {.fd = out[0],.events = POLLIN};
	got = poll(&p, 1, 30000) == 1 ? read(out[0], line, sizeof(line)) : 0;
	close(out[0]);
	return got == 6 && memcmp(line, "ready\n", 6) == 0;
}

void
gpu_service_start(GpuService *s, const char *const *args)
{
	if (!gpu_service_try(s, NULL, args))
		fail_msg("the service did not start; see %s", s->log);
}

int
gpu_service_wait(GpuService *s, int timeout_ms)
{
	struct timespec pause = {.tv_nsec = 5 * 1000 * 1000};

	for (; s->pid > 0; timeout_ms -= 5)
	{
		pid_t		rc = waitpid(s->pid, &s->status, WNOHANG);

		if (rc == s->pid)
		{
			s->pid = 0;
			close(s->parent);
			break;
		}
		if (timeout_ms <= 0)
		{
			gpu_service_kill(s);
			fail_msg("the service did not end in time");
		}
		nanosleep(&pause, NULL);
	}
	return WIFEXITED(s->status) ? WEXITSTATUS(s->status) : -WTERMSIG(s->status);
}

void
gpu_service_kill(GpuService *s)
{
	if (s->pid > 0)
	{
		kill(s->pid, SIGKILL);
		waitpid(s->pid, &s->status, 0);
		close(s->parent);
		s->pid = 0;
	}
	unlink(s->socket);
	unlink(s->log);
}

void
gpu_service_stop(GpuService *s)
{
	kill(s->pid, SIGTERM);
	assert_int_equal(gpu_service_wait(s, 20000), 0);
	assert_int_not_equal(access(s->socket, F_OK), 0);

	/* what the sanitizers have to say */
	if (gpu_service_logged(s, "Sanitizer") || gpu_service_logged(s, "runtime error"))
		fail_msg("the service misbehaved; see %s", s->log);
	unlink(s->log);
}

static int
count_entries(const char *path)
{
	DIR		   *dir = opendir(path);
	struct dirent *entry;
	int			n = 0;

	if (dir == NULL)
		return -1;
	while ((entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			n++;
	closedir(dir);
	return n;
}

int
gpu_count_fds(pid_t pid)
{
	char		path[64];

	/* our own count has the directory's descriptor in it, always */
	snprintf(path, sizeof(path), "/proc/%d/fd", (int) (pid ? pid : getpid()));
	return count_entries(path);
}

int
gpu_count_threads(pid_t pid)
{
	char		path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int) pid);
	return count_entries(path);
}

bool
gpu_service_logged(const GpuService *s, const char *text)
{
	FILE	   *f = fopen(s->log, "r");
	char		line[1024];
	bool		found = false;

	assert_non_null(f);
	while (!found && fgets(line, sizeof(line), f))
		found = strstr(line, text) != NULL;
	fclose(f);
	return found;
}

void
gpu_pause_ms(int ms)
{
	struct timespec t = {.tv_sec = ms / 1000,.tv_nsec = (long) (ms % 1000) * 1000000};

	nanosleep(&t, NULL);
}

void
gpu_assert_idle(const GpuService *s, int fds, int threads)
{
	/*
	 * Fewer are as well: the thread that measured costs at the start may not
	 * have been quite gone when they were counted.
	 */
	for (int tries = 0; tries < 3000; tries++)
	{
		if (gpu_count_fds(s->pid) <= fds && gpu_count_threads(s->pid) <= threads)
			return;
		gpu_pause_ms(10);
	}
	fail_msg("service has %d descriptors and %d threads, not %d and %d",
			 gpu_count_fds(s->pid), gpu_count_threads(s->pid), fds, threads);
}

void
gpu_unit_init(GpuUnit *u)
{
	unit_init(&u->unit);
	u->client = NULL;
	memset(&u->counters, 0, sizeof(u->counters));
	u->gpu = (SortGpu)
	{
		.device = &gpu_client_device,
	};
	u->unit.context.gpu = &u->gpu;
}

/* The hook that hears of the end of a job. */
static void
count_job(void *arg, const GpuCounters *counters)
{
	GpuUnit    *u = arg;

	u->counters.jobs += counters->jobs;
	u->counters.keys += counters->keys;
	u->counters.bytes_sent += counters->bytes_sent;
	u->counters.bytes_received += counters->bytes_received;
}

GpuFailure
gpu_unit_connect(GpuUnit *u, const char *socket, int wait_timeout_ms, char *text)
{
	GpuClientOptions options = {
		.socket_path = socket,
		.connect_timeout_ms = wait_timeout_ms,
		.wait_timeout_ms = wait_timeout_ms,
		.hooks = {.closed = count_job,.arg = u}
	};
	GpuFailure	failure;
	SortStatus	status = gpu_client_connect(&options, &u->client, &failure, text, 200);

	assert_int_equal(status == SORT_OK, failure == GPU_OK);
	assert_int_equal(status == SORT_OK, u->client != NULL);
	u->gpu.arg = u->client;
	if (status != SORT_OK)
		assert_true(text[0] != '\0');
	return failure;
}

void
gpu_unit_connect_ok(GpuUnit *u, const GpuService *s)
{
	char		text[200];

	gpu_unit_init(u);
	if (gpu_unit_connect(u, s->socket, 20000, text) != GPU_OK)
		fail_msg("could not connect: %s", text);
}

void
gpu_unit_disconnect(GpuUnit *u)
{
	gpu_client_disconnect(u->client);
	u->gpu.arg = u->client = NULL;
	unit_assert_no_leak(&u->unit);
}

static SortStatus
add_all(SortJob *job, const int32_t *keys, size_t n, size_t part, SortError *err)
{
	size_t		at = 0;

	while (at < n)
	{
		size_t		now = part == 0 || n - at < part ? n - at : part;
		int32_t    *copy = unit_alloc(now, sizeof(int32_t));
		SortStatus	status;

		/* Gone right after: add copies. */
		memcpy(copy, keys + at, now * sizeof(int32_t));
		status = gpu_client_device.add(job, copy, now, err);
		free(copy);
		if (status != SORT_OK)
			return status;
		at += now;
	}
	return SORT_OK;
}

/* What runs say must be the same as what the sorted keys say. */
static void
check_runs(const Runs *runs, const int32_t *sorted, size_t n)
{
	size_t		at = 0;

	for (size_t i = 0; i < runs->len; i++)
	{
		assert_true(runs->counts[i] > 0 && runs->counts[i] <= n - at);
		for (uint64_t k = 0; k < runs->counts[i]; k++)
			if (sorted[at + k] != runs->keys[i])
				fail_msg("run %zu has key %d, not %d", i, runs->keys[i], sorted[at + k]);
		at += runs->counts[i];
		if (at < n && sorted[at] == runs->keys[i])
			fail_msg("run %zu is too short", i);
	}
	assert_int_equal(at, n);
}

SortStatus
gpu_unit_sort(GpuUnit *u, const int32_t *keys, size_t n, int32_t lo, int32_t hi, uint64_t promised,
			  size_t part, SortWant want, bool descending, SortError *err)
{
	const SortDevice *d = &gpu_client_device;
	SortContext *context = &u->unit.context;
	SortJobSpec spec = {
		.algorithm = SORT_ALGORITHM_RADIX,
		.want = want,
		.descending = descending && want == SORT_WANT_PERMUTATION,
		.lo = lo,
		.hi = hi,
		.n = promised,
	};
	SortJob    *job;
	SortStatus	status = d->open(context, &spec, &job, err);
	int32_t    *sorted;
	int32_t    *out;
	uint32_t   *rows;
	Runs		runs = {0};

	if (status != SORT_OK)
		return status;
	status = add_all(job, keys, n, part, err);
	if (status == SORT_OK)
		status = d->finish(job, err);
	sorted = unit_alloc(n, sizeof(int32_t));
	out = unit_alloc(n, sizeof(int32_t));
	rows = unit_alloc(n, sizeof(uint32_t));
	memcpy(sorted, keys, n * sizeof(int32_t));
	if (status == SORT_OK && want == SORT_WANT_PERMUTATION)
	{
		status = d->read_permutation(job, descending, 7, rows, err);
		if (status == SORT_OK)
		{
			uint32_t   *expected = unit_alloc(n, sizeof(uint32_t));

			unit_permutation(keys, n, descending, 7, expected);
			unit_assert_keys((int32_t *) rows, (int32_t *) expected, n, "permutation");
			free(expected);
		}
	}
	else if (status == SORT_OK)
	{
		unit_sort(sorted, n, false);
		if (want == SORT_WANT_RUNS)
		{
			status = d->read_runs(job, &runs, err);
			if (status == SORT_OK)
				check_runs(&runs, sorted, n);
			runs_release(&runs, &context->allocator);
		}
		else
		{
			status = d->read_keys(job, descending, out, err);
			if (status == SORT_OK)
			{
				unit_sort(sorted, n, descending);
				unit_assert_keys(out, sorted, n, "keys");
			}
		}
	}
	d->close(job);
	free(sorted);
	free(out);
	free(rows);
	return status;
}
