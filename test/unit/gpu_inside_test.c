/*
 * gpu_inside_test.c
 *		Parts of hpsort-gpud in this process: what depends on the clock, or on two
 *		threads at once, and cannot be seen from outside.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "gpud/connection.h"
#include "gpud/log.h"
#include "sort/clock.h"

/*
 * The clocks of this program, instead of those of the C library: ahead of the true
 * ones, by which the kernel's own waits still go.
 */
static _Atomic int64_t real_ahead_s;
static _Atomic int64_t monotonic_ahead_s;

int
clock_gettime(clockid_t id, struct timespec *t)
{
	int			rc = (int) syscall(SYS_clock_gettime, id, t);

	if (id == CLOCK_REALTIME)
		t->tv_sec += real_ahead_s;
	if (id == CLOCK_MONOTONIC)
		t->tv_sec += monotonic_ahead_s;
	return rc;
}

static Service service;

static void
start(uint32_t chunks)
{
	char		text[GPU_TEXT_SIZE];
	DeviceMemory memory = {.extents_auto = true};

	memset(&service, 0, sizeof(service));
	assert_true(service_init(&service));
	assert_int_equal(devices_open(&service.devices, "auto", &memory, text), EXIT_ORDERLY);
	assert_true(chunks_create(&service.chunks, chunks * 4096, 4096, text));
}

static void
finish(void)
{
	munmap(service.chunks.memory, (size_t) service.chunks.count * service.chunks.bytes);
	close(service.chunks.fd);
	free(service.chunks.free);
	close(service.devices.wake);
	devices_close(&service.devices);
	close(service.epoll);
}

/*
 * The clock on the wall is set back by an hour while the service ends, and one of
 * its threads does not: the service ends in time all the same.
 */
static void
test_clock_set_back(void **state)
{
	int64_t		since;

	(void) state;
	start(4);
	service.nconnections = 1;	/* whose thread does not end */
	real_ahead_s = 3600;
	since = sort_clock_ms();
	alarm(60);
	assert_false(connections_end(&service, CONNECTION_STOP, 200));
	alarm(0);
	real_ahead_s = 0;
	assert_true(sort_clock_ms() - since >= 200);
	assert_true(sort_clock_ms() - since < 20000);
	finish();
}

/*
 * A connection without a whole message is closed in time; one that has greeted is
 * served.
 */
static void
test_silent_ones_expire(void **state)
{
	int			ends[2][2];
	GpuMessage	m;
	char		byte;

	(void) state;
	start(4);
	gpu_message_init(&m, GPU_MSG_HELLO, 0);
	m.body.hello.magic = GPU_MAGIC;
	m.body.hello.version = GPU_PROTOCOL_VERSION;
	strcpy(m.body.hello.build, gpu_build_id());
	for (int i = 0; i < 2; i++)
	{
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends[i]), 0);
		assert_true(connection_start(&service, ends[i][1]));
	}
	/* the second one greets, the first one only begins to, too late */
	assert_int_equal(send(ends[1][0], &m, gpu_message_size(&m), 0), gpu_message_size(&m));
	assert_int_equal(recv(ends[1][0], &byte, 1, 0), 1);
	monotonic_ahead_s = 9;
	assert_int_equal(send(ends[0][0], &m, 10, 0), 10);
	usleep(50000);
	assert_int_equal(recv(ends[0][0], &byte, 1, MSG_DONTWAIT), -1);
	monotonic_ahead_s = 11;
	assert_int_equal(send(ends[0][0], &m, 10, 0), 10);
	assert_true(recv(ends[0][0], &byte, 1, 0) <= 0);
	assert_int_equal(recv(ends[1][0], &byte, 1, MSG_DONTWAIT), 1);
	monotonic_ahead_s = 0;
	for (int i = 0; i < 2; i++)
		close(ends[i][0]);
	assert_true(connections_end(&service, CONNECTION_GONE, 20000));
	finish();
}

/* A device fails while others look at it: for the thread sanitizer. */
static void *
look_at_device(void *arg)
{
	GpuDeviceStatus *status = arg;

	/* ends when the other thread has failed the device */
	do
		devices_status(&service.devices, 0, status);
	while (strcmp(status->state, "failed") != 0);
	return NULL;
}

static void
test_device_fails(void **state)
{
	pthread_t	thread;
	GpuDeviceStatus status;
	Device	   *device;

	(void) state;
	start(4);
	device = devices_take(&service.devices, 0);
	assert_non_null(device);
	assert_int_equal(pthread_create(&thread, NULL, look_at_device, &status), 0);
	devices_put(&service.devices, device, false, "an illegal memory access", true);
	pthread_join(thread, NULL);
	assert_int_equal(status.jobs_running, 0);
	assert_string_equal(status.last_error, "an illegal memory access");
	assert_null(devices_take(&service.devices, 0));
	finish();
}

/* Finding the 5,400 extents of 1e8 rows is a small part of a millisecond, the first time, too. */
static void
test_find_extents(void **state)
{
	enum
	{
		N = 5400
	};
	const uint64_t stamps[128] = {0};
	const uint32_t counts[128] = {0};
	ExtentRows	rows = {.nblocks = 128,.stamps = stamps,.counts = counts};
	uint64_t   *list = calloc(N, sizeof(uint64_t));
	HeldExtent **found = calloc(N, sizeof(*found));
	Extents    *extents;
	Extent		header;
	Extent	   *front;
	double		best = 1e18;

	(void) state;
	start(4);
	extents = &service.devices.list[0].extents;
	extents_set_epoch(extents, 1);
	extent_plan(&rows, &header);
	front = unit_alloc(header.size, 1);
	extent_write(&rows, &header, front);
	for (int i = 0; i < N; i++)
	{
		list[i] = 100000 + (uint64_t) i;
		assert_int_equal(extents_make_room(extents, 1, list[i], front, &found[i]), EXTENTS_ROOM);
		extents_enter(extents, 1, found[i]);
	}
	extents_release(extents, found, N);
	for (int round = 0; round < 5; round++)
	{
		double		since = (double) sort_clock();

		extents_find(extents, 1, list, N, found);
		best = (double) sort_clock() - since < best ? (double) sort_clock() - since : best;
		for (int i = 0; i < N; i++)
			assert_true(found[i] && found[i]->generation == list[i]);
		extents_release(extents, found, N);
	}
	printf("# %d extents found in %.0f us\n", N, best / 1000);
	assert_int_equal(extents->bytes_in_jobs, 0);
	assert_true(extents_forget(extents, true));
	assert_int_equal(extents->bytes, 0);
	assert_int_equal(extents->count, 0);
	finish();
	free(front);
	free(list);
	free(found);
}

/* Jobs go to the device that they name, or to the one that has the fewest jobs. */
static void
test_device_of_jobs(void **state)
{
	Devices    *devices = &service.devices;
	Device	   *first;
	Device	   *second;
	Device	   *taken[8];

	(void) state;
	start(4);
	devices->list = realloc(devices->list, 2 * sizeof(Device));
	first = &devices->list[0];
	second = &devices->list[1];
	*second = *first;
	assert_int_equal(hpsort_cuda_open(0, 0, &second->cuda, NULL), HPSORT_CUDA_OK);
	extents_init(&second->extents, 10000);
	devices->count = 2;
	devices_set_epoch(devices, 1);

	/* the least loaded one, or the one that is asked for */
	assert_ptr_equal(taken[0] = devices_take(devices, 0), first);
	assert_ptr_equal(taken[1] = devices_take(devices, 0), second);
	for (int i = 2; i < 6; i++)
		assert_ptr_equal(taken[i] = devices_take(devices, (uint32_t) i), i % 2 == 0 ? second : first);
	assert_ptr_equal(taken[6] = devices_take(devices, 2), second);
	assert_ptr_equal(taken[7] = devices_take(devices, 0), first);
	for (int i = 0; i < 8; i++)
		devices_put(devices, taken[i], true, NULL, i == 1);
	assert_null(devices_take(devices, 2));
	assert_ptr_equal(taken[0] = devices_take(devices, 1), first);
	devices_put(devices, taken[0], true, NULL, false);
	finish();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock_set_back),
		cmocka_unit_test(test_silent_ones_expire),
		cmocka_unit_test(test_device_fails),
		cmocka_unit_test(test_find_extents),
		cmocka_unit_test(test_device_of_jobs),
	};

	log_level = LOG_ERROR;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
