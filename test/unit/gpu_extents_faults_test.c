/*
 * gpu_extents_faults_test.c
 *		What may go wrong with extents in the GPU service: every fault in the middle, clients that are
 *		killed, and clients that break the protocol.
 */
#define _GNU_SOURCE
#include "extent_samples.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu/client_job.h"

/* ------------------------------------------------------------------------
 * Failures
 * ------------------------------------------------------------------------
 */

/* Every fault in the middle of keeping and of adding: an error by value, and no wrong answer. */
static void
test_faults(void **state)
{
	static const struct
	{
		const char *kind;
		GpuFailure	failure;
	}			faults[] = {
		{"kill", GPU_LOST}, {"hang", GPU_TIMEOUT}, {"garbage", GPU_PROTOCOL}, {"short", GPU_LOST},
		{"oversize", GPU_PROTOCOL}, {"oom", GPU_NO_MEMORY}, {"sticky", GPU_DEVICE_ERROR},
		{"slow", GPU_OK},
	};

	(void) state;
	many_make(20, 40);
	for (size_t i = 0; i < lengthof(faults); i++)
		for (int point = 0; point < 2; point++)
		{
			char		spec[32];
			const char *args[] = {"--chunk", "65536", "--stub", spec, NULL};

			/* Only who is to wait in vain waits shortly: a busy machine is not a fault. */
			GpuClientOptions options = {
				.connect_timeout_ms = 20000,
				.wait_timeout_ms = faults[i].failure == GPU_TIMEOUT ? 1000 : 20000,
				.epoch = EPOCH
			};
			GpuService	s;
			GpuUnit		u;
			GpuFailure	failure;
			GpuFailure	expected;
			ExtentBlocks	extents[MANY];
			SortJob    *job;
			SortError	err;
			char		text[200];
			SortStatus	status = SORT_OK;

			snprintf(spec, sizeof(spec), "%s:%s", faults[i].kind, point ? "rows" : "keep");
			gpu_service_start(&s, args);
			options.socket_path = s.socket;
			gpu_unit_init(&u);
			assert_int_equal(gpu_client_connect(&options, &u.client, &failure, text, sizeof(text)),
							 SORT_OK);
			u.gpu.arg = u.client;
			job = extents_open(&u, SORT_WANT_KEYS);
			for (int e = 0; e < MANY && status == SORT_OK; e++)
			{
				status = gpu_client_device.keep_extent(job, 1 + (uint64_t) e, many[e].extent,
													   many[e].extent->size, &err);
				extents[e].generation = 1 + (uint64_t) e;
				extent_sample_all(&many[e], &extents[e]);
			}
			if (status == SORT_OK)
				status = extents_add(job, extents, MANY, &err);
			if (status == SORT_OK)
				status = gpu_client_device.finish(job, &err);

			/* A device without memory for an extent does without it. */
			expected = point == 0 && faults[i].failure == GPU_NO_MEMORY ? GPU_OK : faults[i].failure;
			assert_int_equal(status == SORT_OK, expected == GPU_OK);
			assert_int_equal(gpu_client_failure(u.client), expected);
			gpu_client_device.close(job);
			gpu_unit_disconnect(&u);
			gpu_service_kill(&s);
		}
	many_free();
}

/* One process of test_kills: keeps and adds at random until it is killed; 1: a wrong answer. */
static int
child_main(const GpuService *s, uint64_t seed, bool forever)
{
	GpuClientOptions options = {
		.socket_path = s->socket,.connect_timeout_ms = 60000,.wait_timeout_ms = 60000,.epoch = EPOCH
	};
	GpuUnit		u;
	GpuFailure	failure;
	char		text[200];

	gpu_unit_init(&u);
	if (gpu_client_connect(&options, &u.client, &failure, text, sizeof(text)) != SORT_OK)
		return 2;
	u.gpu.arg = u.client;
	for (int round = 0; forever || round < 30; round++)
	{
		SortJobSpec spec = {.want = SORT_WANT_KEYS,.lo = INT32_MIN,.hi = INT32_MAX};
		ExtentBlocks	extents[MANY];
		SortJob    *job;
		SortError	err;
		uint64_t	sum = 0;
		uint64_t	expected = 0;
		size_t		n = 0;
		int32_t    *keys = malloc((many_rows() + 1) * sizeof(int32_t));
		int32_t    *out;
		uint32_t	nrows;

		if (gpu_client_device.open(&u.unit.context, &spec, &job, &err) != SORT_OK)
			return 3;
		for (int e = 0; e < MANY; e++)
		{
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
			if (seed >> 62 == 0 &&
				gpu_client_device.keep_extent(job, 1 + (uint64_t) e, many[e].extent, many[e].extent->size,
											  &err) != SORT_OK)
				return 4;
			extents[e].generation = 1 + (uint64_t) e;
			extent_sample_all(&many[e], &extents[e]);
		}
		if (extents_add(job, extents, MANY, &err) != SORT_OK)
			return 5;
		for (int e = 0; e < MANY; e++)
			if (extents[e].added)
				n += extent_sample_keys(&many[e], extents[e].blocks, keys + n, &nrows);
		for (size_t i = 0; i < n; i++)
			expected += (uint64_t) (uint32_t) keys[i] * (uint32_t) keys[i];
		out = malloc((n + 1) * sizeof(int32_t));
		if (gpu_client_device.finish(job, &err) != SORT_OK ||
			gpu_client_device.read_keys(job, false, out, &err) != SORT_OK)
			return 6;
		for (size_t i = 0; i < n; i++)
			sum += (uint64_t) (uint32_t) out[i] * (uint32_t) out[i];
		gpu_client_device.close(job);
		free(keys);
		free(out);
		if (sum != expected)
			return 1;
	}
	gpu_client_disconnect(u.client);
	return 0;
}

/*
 * Processes that keep and add with little room, some of them killed in the middle: the others have
 * right answers all the time, and nothing is left of the dead.
 */
static void
test_kills(void **state)
{
	enum
	{
		CHILDREN = 6,
		VICTIMS = 60
	};
	static const char *const args[] = {
		"--chunk", "4096", "--pinned-memory", "65536", "--resident-memory", "30000", NULL
	};
	GpuService	s;
	GpuUnit		u;
	pid_t		children[CHILDREN];
	int			status;
	int			fds;
	int			threads;

	(void) state;
	many_make(8, 60);
	gpu_service_start(&s, args);
	fds = gpu_count_fds(s.pid);
	threads = gpu_count_threads(s.pid);
	for (int i = 0; i < CHILDREN; i++)
	{
		children[i] = fork();
		if (children[i] == 0)
			_exit(child_main(&s, unit_random() + (uint64_t) i * 77, false));
	}
	for (int i = 0; i < VICTIMS; i++)
	{
		pid_t		victim = fork();

		if (victim == 0)
			_exit(child_main(&s, unit_random() + (uint64_t) i, true));
		gpu_pause_ms(1 + (int) unit_below(15));
		kill(victim, SIGKILL);
		waitpid(victim, &status, 0);
		assert_true(WIFSIGNALED(status));
	}
	for (int i = 0; i < CHILDREN; i++)
	{
		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_int_equal(status, 0);
	}
	gpu_assert_idle(&s, fds, threads);
	extents_connect(&u, &s, EPOCH);
	assert_true(extents_status_of(&u).extent_bytes <= 30000);
	(void) many_job(&u, false, 1, 0, MANY);
	gpu_unit_disconnect(&u);
	extents_connect(&u, &s, EPOCH + 1);
	assert_int_equal(extents_status_of(&u).extents, 0);
	assert_int_equal(extents_status_of(&u).extent_bytes, 0);
	assert_int_equal(extents_status_of(&u).memory_used, 0);
	gpu_unit_disconnect(&u);
	gpu_service_stop(&s);
	many_free();
}

/* ------------------------------------------------------------------------
 * A client that breaks the protocol
 * ------------------------------------------------------------------------
 */

typedef enum Crime
{
	NO_CRIME,
	GENERATION_0,
	SIZE_BEYOND_CHUNK,
	COUNT_BEYOND_CHUNK,
	WRONG_WIDTH,
	BEYOND_INT8,
	WRONG_STARTS,
	WRONG_COUNTS,
	TOO_MANY_BLOCKS,
	FLAG,
	NOT_ANNOUNCED,
	NOT_GRANTED,
	LIST_GENERATION_0,
	LIST_ANSWERED,
	LIST_BLOCK_BEYOND,
	LIST_IN_COUNTED_JOB,
	AFTER_FINISH,
	CRIMES
} Crime;

/* Writes what KEEP is about to a chunk; of an extent of 3 blocks. */
static void
write_kept(char *chunk, const ExtentSample *sample, Crime crime)
{
	GpuKept		kept = {.generation = crime == GENERATION_0 ? 0 : 9,.size = sample->extent->size};
	Extent	   *extent = (Extent *) (void *) (chunk + sizeof(kept));

	memcpy(extent, sample->extent, sample->extent->size);
	if (crime == SIZE_BEYOND_CHUNK)
		kept.size = 4096;
	if (crime == FLAG)
		kept.zero = 1;
	if (crime == WRONG_WIDTH)
		extent->width = 3;
	if (crime == BEYOND_INT8)
		extent->base = INT64_MAX;
	if (crime == WRONG_STARTS)
		((uint32_t *) (void *) ((char *) extent + extent->starts_at))[1] = UINT32_MAX;
	if (crime == WRONG_COUNTS)
		((uint32_t *) (void *) ((char *) extent + extent->counts_at))[0] += 1000;
	if (crime == TOO_MANY_BLOCKS)
	{
		uint64_t	stamps[129] = {0};
		uint32_t	counts[129] = {0};
		ExtentRows	rows = {.nblocks = 129,.stamps = stamps,.counts = counts};
		Extent		header;

		extent_plan(&rows, &header);
		extent_write(&rows, &header, extent);
		kept.size = header.size;
	}
	memcpy(chunk, &kept, sizeof(kept));
}

static void
write_list(char *chunk, Crime crime)
{
	SortRows	entry = {.blocks = {7, 0}};
	uint64_t	generation = crime == LIST_GENERATION_0 ? 0 : 9;

	if (crime == LIST_ANSWERED)
		entry.nulls = 1;
	if (crime == LIST_BLOCK_BEYOND)
		entry.blocks[0] = 15;
	memcpy(chunk, &entry, sizeof(entry));
	memcpy(chunk + sizeof(entry), &generation, sizeof(generation));
}

static void
say(GpuClient *c, GpuMessageType type, uint32_t chunk, uint32_t count)
{
	GpuMessage	m;
	SortError	err;

	gpu_message_init(&m, type, c->job_number);
	if (type == GPU_MSG_WANT)
		m.body.want.chunks = count;
	else
	{
		m.body.chunk.chunk = chunk;
		m.body.chunk.count = count;
	}
	assert_sort_ok(client_send(c, &m, &err), err);
}

static void
check_crime(const GpuService *s, const ExtentSample *sample, Crime crime)
{
	GpuUnit		u;
	GpuClient  *c;
	GpuMessage	m;
	SortJob    *job;
	SortError	err;
	SortJobSpec spec = {.lo = INT32_MIN,.hi = INT32_MAX,.n = crime == LIST_IN_COUNTED_JOB ? 10 : 0};
	bool		list = crime >= LIST_GENERATION_0 && crime != AFTER_FINISH;
	uint32_t	chunk;

	extents_connect(&u, s, EPOCH);
	c = u.client;
	assert_sort_ok(gpu_client_device.open(&u.unit.context, &spec, &job, &err), err);
	if (list && crime != LIST_IN_COUNTED_JOB)
		extents_keep(job, 9, sample);
	assert_sort_ok(client_send_gathered((GpuJob *) job, &err), err);
	say(c, GPU_MSG_WANT, 0, 1);
	assert_sort_ok(client_begin_chunk((GpuJob *) job, &chunk, &err), err);
	if (list)
		write_list(client_chunk_memory(c, chunk), crime);
	else
		write_kept(client_chunk_memory(c, chunk), sample, crime);
	if (crime == AFTER_FINISH)
		assert_sort_ok(gpu_client_device.finish(job, &err), err);
	say(c, list ? GPU_MSG_ADD_ROWS : GPU_MSG_KEEP, crime == NOT_GRANTED ? (chunk + 1) % c->area.chunks : chunk,
		crime == COUNT_BEYOND_CHUNK ? 200 : 1);
	if (crime == NOT_ANNOUNCED)
		say(c, GPU_MSG_KEEP, chunk, 1);
	gpu_message_init(&m, GPU_MSG_ASK_DEVICES, 0);
	assert_sort_ok(client_send(c, &m, &err), err);
	do
		if (client_receive(c, true, &m, &err) != SORT_OK)
			break;
	while (m.header.type != GPU_MSG_DEVICE);
	if ((c->fd < 0) != (crime != NO_CRIME))
		fail_msg("crime %d was %s", (int) crime, crime == NO_CRIME ? "none" : "not seen");
	if (crime != NO_CRIME && strstr(err.message, "bad message") == NULL)
		fail_msg("crime %d: %s", (int) crime, err.message);
	gpu_client_device.close(job);
	gpu_unit_disconnect(&u);
}

static void
test_crimes(void **state)
{
	static const char *const args[] = {"--chunk", "4096", NULL};
	GpuService	s;
	GpuUnit		u;
	ExtentSample		sample;
	int			fds;
	int			threads;

	(void) state;
	do
	{
		extent_sample_make(&sample, 3, 20, 200, 2);
		if (sample.nrows > 10 && sample.counts[0] > 2)
			break;
		extent_sample_free(&sample);
	} while (true);
	gpu_service_start(&s, args);
	fds = gpu_count_fds(s.pid);
	threads = gpu_count_threads(s.pid);
	for (int crime = NO_CRIME; crime < CRIMES; crime++)
		check_crime(&s, &sample, (Crime) crime);
	gpu_assert_idle(&s, fds, threads);
	extents_connect(&u, &s, EPOCH);
	assert_int_equal(extents_status_of(&u).extents, 1);
	gpu_unit_disconnect(&u);
	gpu_service_stop(&s);
	extent_sample_free(&sample);
}

/*
 * An extent whose bits for NULLs are not those that its start counts: it cannot be seen when it is
 * kept.  The job that adds it fails, and then nobody finds it any more.
 */
static void
test_poison(void **state)
{
	GpuService	s;
	GpuUnit		u;
	SortJob    *job;
	ExtentBlocks	extent = {.generation = 1};
	SortError	err;

	(void) state;
	many_make(20, 40);
	while (many[1].extent->nnulls == 0)
	{
		extent_sample_free(&many[1]);
		extent_sample_make(&many[1], 20, 40, 200, 2);
	}
	((uint8_t *) many[1].extent + many[1].extent->nulls_at)[0] ^= 1;
	gpu_service_start(&s, NULL);
	extents_connect(&u, &s, EPOCH);
	assert_int_equal(many_job(&u, true, 0, 2, 10), 8);
	job = extents_open(&u, SORT_WANT_KEYS);
	extents_keep(job, 1, &many[1]);
	extent_sample_all(&many[1], &extent);
	assert_int_equal(extents_add(job, &extent, 1, &err), SORT_DEVICE_UNAVAILABLE);
	assert_int_equal(gpu_client_failure(u.client), GPU_DEVICE_ERROR);
	gpu_client_device.close(job);
	assert_int_equal(extents_status_of(&u).extents, 0);
	assert_int_equal(extents_status_of(&u).memory_used, 0);
	assert_int_equal(many_job(&u, true, 0, 2, 10), 8);
	gpu_unit_disconnect(&u);
	gpu_service_stop(&s);
	many_free();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_kills),
		cmocka_unit_test(test_crimes),
		cmocka_unit_test(test_poison),
	};

	unit_seed("gpu_extents_faults_test");
	if (getenv("HPSORT_TEST_FILTER"))
		cmocka_set_test_filter(getenv("HPSORT_TEST_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
