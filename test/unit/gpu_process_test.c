/*
 * gpu_process_test.c
 *		hpsort-gpud as a process: how it starts and ends, its socket, and peers
 *		that die, that are no clients, and that are too many.
 */
#define _GNU_SOURCE
#include "gpu_support.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gpu/protocol.h"

/* A client that dies in the middle leaves nothing behind. */
static void
test_client_dies(void **state)
{
	static const char *const args[] = {"--chunk", "4096", "--pinned-memory", "65536", NULL};
	GpuService	s;
	GpuUnit		u;
	SortError	err;
	int32_t		keys[20000];
	int			fds;
	int			threads;

	(void) state;
	unit_fill(SHAPE_WIDE, keys, lengthof(keys));
	gpu_service_start(&s, args);
	fds = gpu_count_fds(s.pid);
	threads = gpu_count_threads(s.pid);
	for (int round = 0; round < 30; round++)
	{
		pid_t		pid = fork();
		int			status;

		assert_true(pid >= 0);
		if (pid == 0)
		{
			SortJobSpec spec = {.want = SORT_WANT_KEYS,.lo = INT32_MIN,.hi = INT32_MAX,.n = 20000};
			SortJob    *job;

			gpu_unit_connect_ok(&u, &s);
			if (gpu_client_device.open(&u.unit.context, &spec, &job, &err) == SORT_OK && round % 3)
				(void) gpu_client_device.add(job, keys, 10000, &err);
			if (round % 3 == 2)
				(void) gpu_client_device.finish(job, &err);
			kill(getpid(), SIGKILL);
		}
		waitpid(pid, &status, 0);
		assert_true(WIFSIGNALED(status));
	}
	gpu_assert_idle(&s, fds, threads);
	/* all 16 chunks are there again */
	gpu_unit_connect_ok(&u, &s);
	assert_sort_ok(gpu_unit_sort(&u, keys, lengthof(keys), INT32_MIN, INT32_MAX, 0, 0,
								 SORT_WANT_KEYS, false, &err), err);
	gpu_unit_disconnect(&u);
	gpu_assert_idle(&s, fds, threads);
	gpu_service_stop(&s);
}

/* Peers that are no clients are refused, and other connections go on. */
static void
test_strangers(void **state)
{
	static const char *const args[] = {"--chunk", "4096", NULL};
	GpuService	s;
	GpuUnit		u;
	SortError	err;
	int32_t		keys[1000];
	int			fds;
	int			threads;

	(void) state;
	unit_fill(SHAPE_WIDE, keys, lengthof(keys));
	gpu_service_start(&s, args);
	fds = gpu_count_fds(s.pid);
	threads = gpu_count_threads(s.pid);
	for (int round = 0; round < 200; round++)
	{
		struct sockaddr_un address = {.sun_family = AF_UNIX};
		unsigned char bytes[600];
		int			fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		GpuMessage	hello;

		strcpy(address.sun_path, s.socket);
		assert_int_equal(connect(fd, (struct sockaddr *) &address, sizeof(address)), 0);
		if (round % 2)
		{
			/* a proper beginning */
			gpu_message_init(&hello, GPU_MSG_HELLO, 0);
			hello.body.hello.magic = GPU_MAGIC;
			hello.body.hello.version = GPU_PROTOCOL_VERSION;
			strcpy(hello.body.hello.build, gpu_build_id());
			(void) send(fd, &hello, gpu_message_size(&hello), MSG_NOSIGNAL);
		}
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (unsigned char) (unit_below(3) ? unit_below(8) * (i % 4 == 0) : unit_random());
		(void) send(fd, bytes, 1 + unit_below(sizeof(bytes)), MSG_NOSIGNAL);
		if (round % 3)
			(void) recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		close(fd);
	}
	gpu_unit_connect_ok(&u, &s);
	assert_sort_ok(gpu_unit_sort(&u, keys, lengthof(keys), INT32_MIN, INT32_MAX, 0, 0,
								 SORT_WANT_KEYS, false, &err), err);
	gpu_unit_disconnect(&u);
	gpu_assert_idle(&s, fds, threads);
	gpu_service_stop(&s);
}

static void
test_start_and_end(void **state)
{
	static const char *const wrong[] = {"--chunk", "100", NULL};
	static const char *const no_gpu[] = {"--stub", "devices:0", NULL};
	static const char *const no_third[] = {"--stub", "devices:2", "--devices", "0,2", NULL};
	static const char *const both[] = {"--stub", "devices:2", "--devices", "1,0", NULL};
	static const char *const no_list[] = {"--stub", "devices:2", "--devices", "0,,1", NULL};
	GpuDeviceStatus devices[3];
	SortError	err;
	int			count;
	GpuService	s;
	GpuService	second;
	GpuUnit		u;
	struct stat st;
	char		path[64];
	char		text[200];
	int			fd;

	(void) state;
	/* the socket is the owner's alone */
	gpu_service_start(&s, NULL);
	assert_int_equal(stat(s.socket, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 0777, 0600);

	/* a second service finds the path occupied, and leaves the socket alone */
	assert_false(gpu_service_try(&second, s.socket, NULL));
	assert_int_equal(gpu_service_wait(&second, 20000), 5);
	unlink(second.log);
	gpu_unit_connect_ok(&u, &s);

	/* the end of stdin ends the service, also with a client connected */
	close(s.parent);
	s.parent = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(gpu_service_wait(&s, 20000), 0);
	assert_false(gpu_client_is_usable(u.client));
	gpu_unit_disconnect(&u);
	unlink(s.log);
	gpu_unit_init(&u);
	assert_int_equal(gpu_unit_connect(&u, s.socket, 1000, text), GPU_NOT_RUNNING);

	/* a killed service's socket is replaced */
	gpu_service_start(&s, NULL);
	strcpy(path, s.socket);
	kill(s.pid, SIGKILL);
	assert_int_equal(gpu_service_wait(&s, 20000), -SIGKILL);
	unlink(s.log);
	assert_int_equal(stat(path, &st), 0);
	assert_true(gpu_service_try(&s, path, NULL));
	gpu_service_stop(&s);

	/* a file that is no socket is not replaced */
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	close(fd);
	assert_false(gpu_service_try(&s, path, NULL));
	assert_int_equal(gpu_service_wait(&s, 20000), 5);
	assert_int_equal(stat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	unlink(path);
	unlink(s.log);

	assert_false(gpu_service_try(&s, NULL, wrong));
	assert_int_equal(gpu_service_wait(&s, 20000), 2);
	unlink(s.log);
	assert_false(gpu_service_try(&s, NULL, no_list));
	assert_int_equal(gpu_service_wait(&s, 20000), 2);
	unlink(s.log);
	assert_false(gpu_service_try(&s, NULL, no_gpu));
	assert_int_equal(gpu_service_wait(&s, 20000), 3);
	assert_true(gpu_service_logged(&s, "no NVIDIA driver"));
	unlink(s.log);
	assert_false(gpu_service_try(&s, NULL, no_third));
	assert_int_equal(gpu_service_wait(&s, 20000), 3);
	assert_true(gpu_service_logged(&s, "there is no device 2"));
	unlink(s.log);

	/* the devices of a list, in its order */
	gpu_service_start(&s, both);
	gpu_unit_connect_ok(&u, &s);
	assert_sort_ok(gpu_client_devices(u.client, devices, 3, &count, &err), err);
	assert_int_equal(count, 2);
	assert_int_equal(devices[0].ordinal, 1);
	assert_int_equal(devices[1].ordinal, 0);
	gpu_unit_disconnect(&u);
	gpu_service_stop(&s);
}

/* Without descriptors the service refuses, does not spin, and serves again afterwards. */
static void
test_no_descriptors(void **state)
{
	enum
	{
		MOST = 60
	};
	struct rlimit old;
	struct rlimit few;
	GpuService	s;
	GpuUnit		units[MOST];
	GpuUnit		u;
	SortError	err;
	int32_t		keys[100];
	char		text[200];
	int			connected = 0;
	int			refused = 0;
	int			fds;
	int			threads;
	struct timespec spent;
	double		before;
	clockid_t	clock;

	(void) state;
	unit_fill(SHAPE_WIDE, keys, lengthof(keys));
	getrlimit(RLIMIT_NOFILE, &old);
	few = (struct rlimit) {.rlim_cur = 40,.rlim_max = 40};
	gpu_service_start(&s, NULL);
	fds = gpu_count_fds(s.pid);
	threads = gpu_count_threads(s.pid);
	assert_int_equal(prlimit(s.pid, RLIMIT_NOFILE, &few, NULL), 0);
	for (int i = 0; i < MOST; i++)
	{
		gpu_unit_init(&units[i]);
		if (gpu_unit_connect(&units[i], s.socket, 20000, text) == GPU_OK)
			connected++;
		else
			refused++;
	}
	assert_true(connected > 5);
	assert_true(refused > 5);
	assert_int_equal(clock_getcpuclockid(s.pid, &clock), 0);
	clock_gettime(clock, &spent);
	before = (double) spent.tv_sec + (double) spent.tv_nsec / 1e9;
	gpu_pause_ms(300);
	clock_gettime(clock, &spent);
	assert_true((double) spent.tv_sec + (double) spent.tv_nsec / 1e9 - before < 0.1);
	for (int i = 0; i < MOST; i++)
		gpu_client_disconnect(units[i].client);
	gpu_assert_idle(&s, fds, threads);
	gpu_unit_connect_ok(&u, &s);
	assert_sort_ok(gpu_unit_sort(&u, keys, lengthof(keys), INT32_MIN, INT32_MAX, 0, 0,
								 SORT_WANT_KEYS, false, &err), err);
	gpu_unit_disconnect(&u);
	gpu_service_stop(&s);
}

static int
connect_silently(const GpuService *s)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int			fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	strcpy(address.sun_path, s->socket);
	assert_int_equal(connect(fd, (struct sockaddr *) &address, sizeof(address)), 0);
	return fd;
}

/*
 * A flood of connections that never greet, more than the service has descriptors
 * for, keeps no client out, and takes few threads.
 */
static void
test_silent_connections(void **state)
{
	enum
	{
		SILENT = 300,
		CLIENTS = 10
	};
	struct rlimit few = {.rlim_cur = 120,.rlim_max = 120};
	GpuService	s;
	GpuUnit		u;
	SortError	err;
	int32_t		keys[1000];
	int			silent[SILENT];
	char		byte = 0;
	int			fds;
	int			threads;

	(void) state;
	unit_fill(SHAPE_WIDE, keys, lengthof(keys));
	gpu_service_start(&s, NULL);
	fds = gpu_count_fds(s.pid);
	threads = gpu_count_threads(s.pid);
	assert_int_equal(prlimit(s.pid, RLIMIT_NOFILE, &few, NULL), 0);
	for (int i = 0; i < SILENT; i++)
	{
		silent[i] = connect_silently(&s);
		/* a part of a message counts as silence, too */
		if (i % 3 == 0)
			assert_int_equal(send(silent[i], &byte, 1, MSG_NOSIGNAL), 1);
		if (i % (SILENT / CLIENTS) != SILENT / CLIENTS - 1)
			continue;
		gpu_unit_connect_ok(&u, &s);
		assert_sort_ok(gpu_unit_sort(&u, keys, lengthof(keys), INT32_MIN, INT32_MAX, 0, 0,
									 SORT_WANT_KEYS, false, &err), err);
		gpu_unit_disconnect(&u);
	}
	assert_true(gpu_count_fds(s.pid) <= fds + 40);
	assert_true(gpu_count_threads(s.pid) <= threads + 2 * 120 / 8);
	/* the oldest was closed, the newest may still greet */
	assert_true(recv(silent[0], &byte, 1, 0) <= 0);
	assert_int_equal(recv(silent[SILENT - 1], &byte, 1, MSG_DONTWAIT), -1);
	for (int i = 0; i < SILENT; i++)
		close(silent[i]);
	gpu_assert_idle(&s, fds, threads);
	assert_true(gpu_service_logged(&s, "too many connections that say nothing"));
	gpu_service_stop(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_client_dies),
		cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_start_and_end),
		cmocka_unit_test(test_no_descriptors),
		cmocka_unit_test(test_silent_connections),
	};

	unit_seed("gpu_process_test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
