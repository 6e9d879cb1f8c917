/*
 * gpu_extents_test.c
 *		Extents in the GPU service: kept by one job, added to others, whole and in part; found in
 *		one epoch only; given up when memory is short.
 */
#include "extent_samples.h"
#include "sort/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>


static const char *const small_chunks[] = {"--chunk", "4096", NULL};

/*
 * Keeps some extents, and adds blocks of them and plain keys to the same job and to others.
 * Extents that were not kept, because they are larger than a chunk or were never brought, are not
 * added, and nothing else.
 */
static void
check_ways(const char *const *args, uint32_t rows_max)
{
	enum
	{
		N = 40
	};
	GpuService	s;
	GpuUnit		u;
	ExtentSample		samples[N];
	ExtentBlocks	extents[N + 2];
	uint64_t	chunk = args ? 4096 : 1 << 20;
	size_t		total = 0;
	int32_t    *keys;

	gpu_service_start(&s, args);
	extents_connect(&u, &s, EPOCH);
	for (int i = 0; i < N; i++)
	{
		static const uint32_t spans[] = {0, 200, 60000, 1000000};

		extent_sample_make(&samples[i], 1 + (uint32_t) unit_below(MOST_BLOCKS), rows_max, spans[unit_below(4)],
					(int) unit_below(3));
		total += samples[i].nrows;
	}
	keys = unit_alloc(total + 2000, sizeof(int32_t));
	for (int round = 0; round < 12; round++)
	{
		SortJob    *job = extents_open(&u, (SortWant) (round % 3));
		size_t		n = 0;
		SortError	err;

		for (int i = 0; round == 0 && i < N; i++)
			extents_keep(job, 100 + (uint64_t) i, &samples[i]);
		memset(extents, 0xFF, sizeof(extents));
		for (int i = 0; i < N + 2; i++)
		{
			extents[i].generation = 100 + (uint64_t) i;
			if (i < N && round % 2)
				extent_sample_some(&samples[i], &extents[i]);
			else if (i < N)
				extent_sample_all(&samples[i], &extents[i]);
		}
		n = 500 + unit_below(1500);
		for (size_t before = 0; before < n; before++)
			keys[before] = (int32_t) unit_random();
		assert_sort_ok(gpu_client_device.add(job, keys, n, &err), err);
		assert_sort_ok(extents_add(job, extents, N + 2, &err), err);
		for (int i = 0; i < N + 2; i++)
		{
			uint32_t	nrows;
			size_t		mine;

			if (i >= N || samples[i].extent->size + 16 > chunk)
			{
				assert_false(extents[i].added);
				continue;
			}
			assert_true(extents[i].added);
			mine = extent_sample_keys(&samples[i], extents[i].blocks, keys + n, &nrows);
			assert_int_equal(extents[i].rows, nrows);
			assert_int_equal(extents[i].nulls, nrows - mine);
			n += mine;
		}
		extents_check_result(job, keys, n);
		gpu_client_device.close(job);
	}
	assert_true(extents_status_of(&u).extents > 0);
	for (int i = 0; i < N; i++)
		extent_sample_free(&samples[i]);
	free(keys);
	gpu_unit_disconnect(&u);
	gpu_service_stop(&s);
}

static void
test_ways(void **state)
{
	static const char *const one_chunk[] = {"--chunk", "4096", "--pinned-memory", "4096", NULL};

	(void) state;
	check_ways(NULL, 300);
	check_ways(small_chunks, 8);
	check_ways(one_chunk, 8);
}

/* ------------------------------------------------------------------------
 * Epochs
 * ------------------------------------------------------------------------
 */

static void
test_epochs(void **state)
{
	GpuService	s;
	GpuUnit		a;
	GpuUnit		a2;
	GpuUnit		b;
	GpuUnit		none;
	SortJob    *job;
	int32_t    *keys;
	size_t		n = 0;

	(void) state;
	many_make(20, 40);
	keys = unit_alloc(many_rows(), sizeof(int32_t));
	gpu_service_start(&s, NULL);
	extents_connect(&a, &s, 1);
	assert_int_equal(many_job(&a, true, 1, 0, 30), 30);

	/* the same one: all are there, the first one of a number stays; none: nothing happens */
	extents_connect(&a2, &s, 1);
	assert_int_equal(many_job(&a2, false, 1, 0, MANY), 30);
	assert_int_equal(many_job(&a2, true, 1, 0, 32), 32);
	extents_connect(&none, &s, 0);
	assert_int_equal(many_job(&none, true, 1, 0, 30), 0);
	assert_int_equal(extents_status_of(&none).extents, 32);
	assert_true(extents_status_of(&none).extent_bytes > 0);

	/* A job goes on with extents of an epoch that ends. */
	job = extents_open(&a, SORT_WANT_RUNS);
	assert_int_equal(many_add(job, 1, 0, 10, keys, &n), 10);
	extents_connect(&b, &s, 2);
	assert_int_equal(extents_status_of(&b).extents, 0);
	assert_true(extents_status_of(&b).extent_bytes > 0);
	assert_int_equal(many_add(job, 1, 10, 20, keys, &n), 0);

	/* What the old one keeps, neither finds; numbers of the new one are others' extents. */
	extents_keep(job, 1, &many[0]);
	assert_int_equal(many_add(job, 1, 0, 10, keys, &n), 0);
	assert_int_equal(extents_status_of(&b).extents, 0);
	assert_int_equal(many_job(&b, false, 1, 0, MANY), 0);
	assert_int_equal(many_job(&b, true, 11, 20, 30), 10);
	assert_int_equal(many_add(job, 1, 0, MANY, keys, &n), 0);
	assert_int_equal(many_job(&a2, false, 11, 0, MANY), 0);
	extents_check_result(job, keys, n);
	gpu_client_device.close(job);
	assert_int_equal(many_job(&b, false, 11, 20, 30), 10);
	assert_int_equal(extents_status_of(&b).extents, 10);

	/* and it is all gone with the epoch */
	gpu_unit_disconnect(&a);
	extents_connect(&a, &s, 3);
	assert_int_equal(extents_status_of(&a).extents, 0);
	assert_int_equal(extents_status_of(&a).extent_bytes, 0);
	assert_int_equal(extents_status_of(&a).memory_used, 0);
	gpu_unit_disconnect(&a);
	gpu_unit_disconnect(&a2);
	gpu_unit_disconnect(&b);
	gpu_unit_disconnect(&none);
	gpu_service_stop(&s);
	free(keys);
	many_free();
}

/* ------------------------------------------------------------------------
 * Memory
 * ------------------------------------------------------------------------
 */

/* Extents are given up for others, but not those that a job has. */
static void
test_eviction(void **state)
{
	static const char *const args[] = {"--resident-memory", "100000", NULL};
	GpuService	s;
	GpuUnit		a;
	GpuUnit		b;
	SortJob    *job;
	int32_t    *keys;
	size_t		n = 0;
	int			held;
	int			kept;

	(void) state;
	many_make(128, 40);
	keys = unit_alloc(many_rows(), sizeof(int32_t));
	gpu_service_start(&s, args);
	extents_connect(&a, &s, EPOCH);
	extents_connect(&b, &s, EPOCH);

	/* A job that brings too many does not give up its own. */
	kept = many_job(&a, true, 1, 0, MANY);
	assert_in_range(kept, 5, MANY - 1);
	assert_int_equal(extents_status_of(&a).extents, kept);
	assert_in_range(extents_status_of(&a).extent_bytes, 50000, 100000);
	assert_int_equal(many_job(&a, true, 1, 0, MANY), kept);

	/* Others may: all that it has kept are given up. */
	assert_in_range(many_job(&b, true, 1001, 0, MANY), 5, MANY - 1);
	assert_in_range(extents_status_of(&a).extent_bytes, 50000, 100000);
	assert_int_equal(many_job(&a, false, 1, 0, MANY), 0);

	/* While a job has some, only the rest is. */
	assert_in_range(many_job(&a, true, 1, 0, MANY), 5, MANY - 1);
	job = extents_open(&a, SORT_WANT_KEYS);
	held = many_add(job, 1, 0, 4, keys, &n);
	assert_int_equal(held, 4);
	for (int round = 1; round <= 3; round++)
		assert_in_range(many_job(&b, true, 1000 * (uint64_t) round, 10, MANY), 1, MANY - 1);
	assert_int_equal(many_job(&b, false, 1, 0, MANY), 4);
	assert_in_range(extents_status_of(&b).extent_bytes, 50000, 100000);
	extents_check_result(job, keys, n);
	gpu_client_device.close(job);
	gpu_unit_disconnect(&a);
	gpu_unit_disconnect(&b);
	gpu_service_stop(&s);
	free(keys);
	many_free();
}

/* Jobs that lack memory get that of extents, at their start and on their way. */
static void
test_memory_limit(void **state)
{
	static const char *const args[] = {
		"--memory-limit", "1150000", "--resident-memory", "400000", NULL
	};
	GpuService	s;
	GpuUnit		u;
	SortError	err;
	SortJob    *job;
	SortStatus	status = SORT_OK;
	size_t		n = 0;
	int32_t    *keys;

	(void) state;
	many_make(128, 100);
	keys = unit_alloc(250000 + many_rows(), sizeof(int32_t));
	/* in few values, so that sorting takes no memory besides the keys' */
	for (int i = 0; i < 250000; i++)
		keys[i] = (int32_t) unit_below(1000);
	gpu_service_start(&s, args);
	extents_connect(&u, &s, EPOCH);
	for (int way = 0; way < 3; way++)
	{
		job = extents_open(&u, SORT_WANT_KEYS);
		for (int i = 0; i < MANY; i++)
			extents_keep(job, 1 + (uint64_t) i, &many[i]);
		assert_sort_ok(gpu_client_device.finish(job, &err), err);
		gpu_client_device.close(job);
		assert_true(extents_status_of(&u).memory_used > 250000);
		if (way == 0)
			assert_sort_ok(gpu_unit_sort(&u, keys, 250000, INT32_MIN, INT32_MAX, 250000, 0,
										 SORT_WANT_KEYS, false, &err), err);
		if (way == 1)
			assert_sort_ok(gpu_unit_sort(&u, keys, 100000, INT32_MIN, INT32_MAX, 0, 10000,
										 SORT_WANT_KEYS, false, &err), err);
		if (way < 2)
			assert_int_equal(extents_status_of(&u).extents, 0);
	}

	/* Those that the job has are not given up; it fails, and the next one finds memory. */
	job = extents_open(&u, SORT_WANT_KEYS);
	assert_int_equal(many_add(job, 1, 0, 5, keys, &n), 5);
	while (status == SORT_OK)
		status = gpu_client_device.add(job, keys, 10000, &err);
	assert_int_equal(gpu_client_failure(u.client), GPU_NO_MEMORY);
	gpu_client_device.close(job);
	assert_int_equal(extents_status_of(&u).extents, 0);
	assert_int_equal(extents_status_of(&u).memory_used, 0);
	gpu_unit_disconnect(&u);
	gpu_service_stop(&s);
	free(keys);
	many_free();
}

static void
test_off(void **state)
{
	static const char *const args[] = {"--resident-memory", "0", NULL};
	GpuService	s;
	GpuUnit		u;

	(void) state;
	many_make(20, 10);
	gpu_service_start(&s, args);
	extents_connect(&u, &s, EPOCH);
	assert_int_equal(many_job(&u, true, 1, 0, MANY), 0);
	assert_int_equal(extents_status_of(&u).extents, 0);
	gpu_unit_disconnect(&u);
	gpu_service_stop(&s);
	many_free();
}

/* As many extents as a column of 1e8 rows has. */
static void
test_many_extents(void **state)
{
	enum
	{
		N = 5400
	};
	GpuService	s;
	GpuUnit		u;
	ExtentBlocks *extents = unit_alloc(N, sizeof(ExtentBlocks));
	ExtentSample		sample;
	SortJob    *job;
	SortError	err;
	double		best = 1e18;

	(void) state;
	extent_sample_make(&sample, 128, 2, 200, 0);
	gpu_service_start(&s, NULL);
	extents_connect(&u, &s, EPOCH);
	for (int round = 0; round < 6; round++)
	{
		double		since;

		job = extents_open(&u, SORT_WANT_RUNS);
		for (int i = 0; round == 0 && i < N; i++)
			extents_keep(job, 1 + (uint64_t) i, &sample);
		for (int i = 0; i < N; i++)
		{
			extents[i].generation = 1 + (uint64_t) i;
			extent_sample_all(&sample, &extents[i]);
		}
		since = (double) sort_clock();
		assert_sort_ok(extents_add(job, extents, N, &err), err);
		if (round > 0 && (double) sort_clock() - since < best)
			best = (double) sort_clock() - since;
		for (int i = 0; i < N; i++)
			assert_true(extents[i].added && extents[i].rows == sample.nrows);
		assert_sort_ok(gpu_client_device.finish(job, &err), err);
		gpu_client_device.close(job);
	}
	printf("# %d extents of %u rows: added in %.0f us\n", N, sample.nrows, best / 1000);
	assert_int_equal(extents_status_of(&u).extents, N);
	gpu_unit_disconnect(&u);
	gpu_service_stop(&s);
	extent_sample_free(&sample);
	free(extents);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_epochs),
		cmocka_unit_test(test_eviction),
		cmocka_unit_test(test_memory_limit),
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_many_extents),
	};

	unit_seed("gpu_extents_test");
	if (getenv("HPSORT_TEST_FILTER"))
		cmocka_set_test_filter(getenv("HPSORT_TEST_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
