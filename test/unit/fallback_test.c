/*
 * fallback_test.c
 *		The sorter with the GPU of scripted_gpu.h: it is used where it is cheaper,
 *		it gets keys while they arrive, and it fails at every step in turn, after
 *		which the CPU must give the same result.
 */
#include "scripted_gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sort/plan.h"

#define N 50000

/* As in sorter_device.c: keys are streamed from here on. */
#define STREAM_MIN (1 << 20)

/* How keys get in, and how the result comes out. */
typedef enum Way
{
	ARRAY_KEYS,
	ARRAY_IN_PLACE,
	ARRAY_CURSOR,
	ARRAY_RUNS,
	ARRAY_ORDER,
	BUFFER_KEYS,
	BUFFER_CURSOR,
	BUFFER_RUNS,
	WAYS
} Way;

static int32_t keys[N];
static int32_t expected[N];
static uint32_t expected_order[N];
static int32_t out[N];

/* The status of the way's last call; what came out is compared. */
static SortStatus
go(Sorter *s, Way way, bool descending, SortError *err)
{
	SorterCursor cursor;
	SortWant	want = way == ARRAY_ORDER ? SORT_WANT_PERMUTATION :
		way == ARRAY_RUNS || way == BUFFER_RUNS ? SORT_WANT_RUNS : SORT_WANT_KEYS;
	SortStatus	status;
	uint64_t	at = 0;

	memcpy(out, keys, sizeof(out));
	memcpy(expected, keys, sizeof(expected));
	unit_sort(expected, N, descending);
	status = way == ARRAY_IN_PLACE ? sorter_add_array(s, out, N, err) :
		way >= BUFFER_KEYS ? sorter_add(s, keys, N, err) : sorter_add_array(s, keys, N, err);
	if (status == SORT_OK)
		status = sorter_finish(s, want, err);
	if (status != SORT_OK)
		return status;
	switch (way)
	{
		case ARRAY_KEYS:
		case ARRAY_IN_PLACE:
		case BUFFER_KEYS:
			status = sorter_read_keys(s, descending, out, err);
			if (status == SORT_OK)
				unit_assert_keys(out, expected, N, "keys");
			return status;
		case ARRAY_ORDER:
			unit_permutation(keys, N, descending, 1, expected_order);
			status = sorter_read_permutation(s, descending, 1, (uint32_t *) out, err);
			if (status == SORT_OK)
				assert_memory_equal(out, expected_order, sizeof(out));
			return status;
		case ARRAY_CURSOR:
		case BUFFER_CURSOR:
			status = sorter_open_cursor(s, descending, &cursor, err);
			while (status == SORT_OK && at < N)
			{
				size_t		got;

				status = sorter_cursor_keys(&cursor, out + at, N - at < 777 ? N - at : 777, &got,
											err);
				assert_true(got > 0);
				at += got;
			}
			if (status == SORT_OK)
				unit_assert_keys(out, expected, N, "cursor");
			return status;
		default:
			status = sorter_open_cursor(s, descending, &cursor, err);
			while (status == SORT_OK && at < N)
			{
				int32_t		key[100];
				uint64_t	count[100];
				size_t		got;

				status = sorter_cursor_runs(&cursor, key, count, 100, &got, err);
				assert_true(got > 0);
				for (size_t i = 0; i < got; i++)
					for (; count[i] > 0; count[i]--)
						assert_int_equal(expected[at++], key[i]);
			}
			return status;
	}
}

static const UnitShape shapes[] = {SHAPE_WIDE, SHAPE_NARROW, SHAPE_FEW_DISTINCT};

/* Where it works: it is used, by every way, forced and by choice. */
static void
test_used(void **state)
{
	(void) state;
	for (size_t shape = 0; shape < lengthof(shapes); shape++)
		for (int way = 0; way < WAYS; way++)
			for (int forced = 0; forced < 2; forced++)
			{
				Unit		u;
				Sorter		s;
				SortError	err;
				SorterStats stats;

				/* By choice only wide keys get that far in a buffer. */
				if (!forced && way >= BUFFER_KEYS && shapes[shape] != SHAPE_WIDE)
					continue;
				unit_fill(shapes[shape], keys, N);
				script_begin(&u, forced ? SORT_DEVICE_GPU : SORT_DEVICE_AUTO, NOWHERE, SORT_OK);
				sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
				assert_sort_ok(go(&s, (Way) way, (way + forced) % 2 != 0, &err), err);
				sorter_stats(&s, NULL, &stats);
				if (script.asked == 0 && !forced)
				{
					/* So cheap on the CPU that no GPU could be cheaper. */
					assert_int_equal(stats.plan.device, SORT_DEVICE_CPU);
				}
				else
				{
					assert_int_equal(stats.plan.device, SORT_DEVICE_GPU);
					assert_int_equal(stats.plan.algorithm, SORT_ALGORITHM_ZERO_COMPRESSED);
					assert_string_equal(stats.plan.note, "by magic");
					assert_int_equal(script.opened, 1);
					assert_int_equal(script.added, N);
				}
				assert_int_equal(stats.n, N);
				assert_int_equal(script.failed, 0);
				assert_int_equal(script.required != 0, forced);
				script_end(&u, &s);
			}
}

/* Where it fails, at whatever step: the CPU's result, or that very error. */
static void
test_failures(void **state)
{
	static const SortStatus statuses[] = {SORT_DEVICE_UNAVAILABLE, SORT_OUT_OF_MEMORY,
	SORT_KEY_OUT_OF_BOUNDS, SORT_CANCELLED};

	(void) state;
	for (int at = AT_COSTS; at < STEPS; at++)
		for (int way = 0; way < WAYS; way++)
			for (size_t with = 0; with < lengthof(statuses); with++)
				for (int forced = 0; forced < 2; forced++)
				{
					Unit		u;
					Sorter		s;
					SortError	err;
					SorterStats stats;
					char		reason[512];
					char		words[160];
					SortStatus	status;

					if (at == AT_COSTS && with > 0)
						continue;
					unit_fill(SHAPE_WIDE, keys, N);
					script_begin(&u, forced ? SORT_DEVICE_GPU : SORT_DEVICE_AUTO, (Step) at,
						  statuses[with]);
					sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
					status = go(&s, (Way) way, way % 2 == 0, &err);
					if (at == AT_COSTS)
						snprintf(words, sizeof(words), "the fake is asleep");
					else
						snprintf(words, sizeof(words), "the fake broke at step %d", at);
					if (statuses[with] == SORT_CANCELLED)
						assert_int_equal(status, SORT_CANCELLED);
					else if (forced && at == AT_COSTS)
					{
						assert_int_equal(status, SORT_DEVICE_UNAVAILABLE);
						assert_string_equal(err.detail, "The fake is asleep.");
					}
					else if (forced)
					{
						assert_int_equal(status, statuses[with]);
						assert_string_equal(err.message, words);
					}
					else
					{
						assert_sort_ok(status, err);
						sorter_stats(&s, NULL, &stats);
						plan_explain(&stats.plan, true, reason, sizeof(reason));
						assert_int_equal(stats.plan.device, SORT_DEVICE_CPU);
						assert_int_equal(stats.plan.reason == PLAN_FALLBACK, at != AT_COSTS);
						assert_non_null(strstr(reason, words));
						assert_int_equal(script.failed, 1);
						assert_string_equal(script.words, words);
						/* and not once more in this sorter */
						assert_true(script.opened <= 1);
					}
					if (forced || statuses[with] == SORT_CANCELLED)
						assert_int_equal(script.failed, 0);
					script_end(&u, &s);
				}
}

/* Too dear, or too few keys to be worth a question. */
static void
test_not_used(void **state)
{
	Unit		u;
	Sorter		s;
	SortError	err;
	SorterStats stats;

	(void) state;
	unit_fill(SHAPE_WIDE, keys, N);
	script_begin(&u, SORT_DEVICE_AUTO, NOWHERE, SORT_OK);
	script.expensive = true;
	sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
	assert_sort_ok(go(&s, ARRAY_KEYS, false, &err), err);
	sorter_stats(&s, NULL, &stats);
	assert_int_equal(stats.plan.device, SORT_DEVICE_CPU);
	assert_string_equal(stats.plan.note, "");
	assert_true(script.asked > 0);
	assert_int_equal(script.opened + script.failed, 0);
	script_end(&u, &s);

	script_begin(&u, SORT_DEVICE_AUTO, AT_COSTS, SORT_OK);
	sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
	assert_sort_ok(sorter_add_array(&s, keys, 5000, &err), err);
	assert_sort_ok(sorter_finish(&s, SORT_WANT_KEYS, &err), err);
	assert_sort_ok(sorter_read_keys(&s, false, out, &err), err);
	assert_int_equal(script.asked + script.failed, 0);
	script_end(&u, &s);

	script_begin(&u, SORT_DEVICE_CPU, AT_COSTS, SORT_OK);
	sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
	assert_sort_ok(go(&s, ARRAY_KEYS, false, &err), err);
	assert_int_equal(script.asked + script.failed, 0);
	script_end(&u, &s);
}

/* An algorithm that is forced, and another that the device takes instead. */
static void
test_other_algorithm(void **state)
{
	(void) state;
	for (int way = 0; way < WAYS; way++)
		for (int forced = 0; forced < 2; forced++)
		{
			Unit		u;
			Sorter		s;
			SortError	err;
			SorterStats stats;

			unit_fill(SHAPE_WIDE, keys, N);
			script_begin(&u, forced ? SORT_DEVICE_GPU : SORT_DEVICE_AUTO, NOWHERE, SORT_OK);
			u.context.algorithm = SORT_ALGORITHM_RADIX;
			sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
			if (forced)
			{
				assert_int_equal(go(&s, (Way) way, false, &err), SORT_UNSUPPORTED);
				assert_string_equal(err.message,
									"the GPU sorts such keys with algorithm \"zero_compressed\" only");
			}
			else
			{
				assert_sort_ok(go(&s, (Way) way, false, &err), err);
				sorter_stats(&s, NULL, &stats);
				assert_int_equal(stats.plan.device, SORT_DEVICE_CPU);
				assert_int_equal(stats.plan.algorithm, SORT_ALGORITHM_RADIX);
				assert_int_equal(stats.plan.reason, PLAN_FALLBACK);
			}
			script_end(&u, &s);
		}
}

/* Nothing, one key and a few: forced, the GPU is asked for them, too. */
static void
test_few(void **state)
{
	(void) state;
	for (size_t n = 0; n < 40; n++)
	{
		Unit		u;
		Sorter		s;
		SortError	err;
		SorterCursor cursor;
		size_t		got;

		unit_fill(SHAPE_WIDE, keys, 40);
		memcpy(expected, keys, n * sizeof(int32_t));
		unit_sort(expected, n, true);
		script_begin(&u, SORT_DEVICE_GPU, NOWHERE, SORT_OK);
		sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
		assert_sort_ok(sorter_add(&s, keys, n, &err), err);
		assert_sort_ok(sorter_finish(&s, SORT_WANT_KEYS, &err), err);
		assert_sort_ok(sorter_read_keys(&s, true, out, &err), err);
		unit_assert_keys(out, expected, n, "few");
		assert_sort_ok(sorter_open_cursor(&s, true, &cursor, &err), err);
		assert_sort_ok(sorter_cursor_keys(&cursor, out, 100, &got, &err), err);
		assert_int_equal(got, n);
		unit_assert_keys(out, expected, n, "few, by cursor");
		assert_int_equal(script.opened, n > 0 ? 2 : 0);
		script_end(&u, &s);
	}
}

static int32_t *
many(size_t n)
{
	int32_t    *k = unit_alloc(n, sizeof(int32_t));

	unit_fill(SHAPE_WIDE, k, n);
	return k;
}

/* Adds n keys, by one of the two ways, finishes and compares what is read. */
static SortStatus
stream(Sorter *s, const int32_t *k, size_t n, bool singly, SortWant want, SortError *err)
{
	int32_t    *sorted = unit_alloc(n, sizeof(int32_t));
	int32_t    *result = unit_alloc(n, sizeof(int32_t));
	SortStatus	status = SORT_OK;

	memcpy(sorted, k, n * sizeof(int32_t));
	unit_sort(sorted, n, true);
	if (singly)
		for (size_t i = 0; i < n && status == SORT_OK; i++)
			status = sorter_add_key(s, k[i], err);
	else
		for (size_t i = 0; i < n && status == SORT_OK; i += 300000)
			status = sorter_add(s, k + i, n - i < 300000 ? n - i : 300000, err);
	if (status == SORT_OK)
		status = sorter_finish(s, want, err);
	if (status == SORT_OK && want == SORT_WANT_KEYS)
		status = sorter_read_keys(s, true, result, err);
	else if (status == SORT_OK)
	{
		SorterCursor cursor;
		size_t		at = 0;

		status = sorter_open_cursor(s, true, &cursor, err);
		while (status == SORT_OK && at < n)
		{
			size_t		got;

			status = sorter_cursor_keys(&cursor, result + at, n - at, &got, err);
			at += got;
		}
	}
	if (status == SORT_OK)
		unit_assert_keys(result, sorted, n, "streamed");
	free(sorted);
	free(result);
	return status;
}

/* At the edges of streaming, and far beyond. */
static void
test_stream(void **state)
{
	static const size_t sizes[] = {STREAM_MIN - 1, STREAM_MIN, STREAM_MIN + 1,
	2 * STREAM_MIN, 2 * STREAM_MIN + 1, 3 * STREAM_MIN + 12345};

	(void) state;
	for (size_t i = 0; i < lengthof(sizes); i++)
		for (int c = (int) i % 2; c < 4; c += 2)
		{
			int32_t    *k = many(sizes[i]);
			Unit		u;
			Sorter		s;
			SortError	err;
			SorterStats stats;

			script_begin(&u, c >= 2 ? SORT_DEVICE_GPU : SORT_DEVICE_AUTO, NOWHERE, SORT_OK);
			sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
			assert_sort_ok(stream(&s, k, sizes[i], c & 1, i % 3 ? SORT_WANT_KEYS : SORT_WANT_RUNS,
								  &err), err);
			sorter_stats(&s, NULL, &stats);
			assert_int_equal(stats.plan.device, SORT_DEVICE_GPU);
			assert_int_equal(stats.n, sizes[i]);
			/* Each key crosses once, and early if there are enough of them. */
			assert_int_equal(script.opened, 1);
			assert_int_equal(script.added, sizes[i]);
			if (sizes[i] > 2 * STREAM_MIN)
				assert_int_equal(script.early, 1);
			if (sizes[i] < STREAM_MIN)
				assert_int_equal(script.early, 0);
			script_end(&u, &s);
			free(k);
		}
}

/* A stream that breaks at any step. */
static void
test_stream_failures(void **state)
{
	const size_t n = 2 * STREAM_MIN + 77777;

	(void) state;
	for (int at = AT_OPEN; at < STEPS; at++)
		for (int forced = 0; forced < 2; forced++)
		{
			int32_t    *k = many(n);
			Unit		u;
			Sorter		s;
			SortError	err;
			SorterStats stats;
			SortStatus	status;

			script_begin(&u, forced ? SORT_DEVICE_GPU : SORT_DEVICE_AUTO, (Step) at,
				  SORT_DEVICE_UNAVAILABLE);
			script.early_only = true;
			sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
			status = stream(&s, k, n, true, SORT_WANT_KEYS, &err);
			assert_true(script.early >= 1);
			if (forced && at != AT_OPEN)
				assert_int_equal(status, SORT_DEVICE_UNAVAILABLE);
			else
			{
				assert_sort_ok(status, err);
				sorter_stats(&s, NULL, &stats);
				/* That it could not be opened early does not matter later. */
				assert_int_equal(stats.plan.device, at == AT_OPEN ? SORT_DEVICE_GPU : SORT_DEVICE_CPU);
				assert_int_equal(stats.plan.reason == PLAN_FALLBACK, at != AT_OPEN);
				assert_int_equal(script.failed, at != AT_OPEN);
			}
			script_end(&u, &s);
			free(k);
		}
}

/* What else may happen to a sorter whose keys are being streamed. */
static void
test_stream_interrupted(void **state)
{
	const size_t n = STREAM_MIN + 500000;
	int32_t    *k = many(n);
	int32_t    *result = unit_alloc(2 * n + 3000, sizeof(int32_t));
	Unit		u;
	Sorter		s;
	Sorter		other;
	SortError	err;
	Bag			bag = {0};
	int32_t		run_keys[1000];
	uint64_t	counts[1000];

	(void) state;

	/* runs arrive; another sorter is merged in; more keys after a finish */
	script_begin(&u, SORT_DEVICE_AUTO, NOWHERE, SORT_OK);
	sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
	sorter_init(&other, &u.context, INT32_MIN, INT32_MAX);
	for (size_t i = 0; i < n; i++)
		assert_sort_ok(sorter_add_key(&s, k[i], &err), err);
	assert_int_equal(script.open_now, 1);
	assert_sort_ok(sorter_add(&other, k, n, &err), err);
	assert_sort_ok(sorter_merge(&s, &other, &err), err);
	sorter_reset(&other);
	for (size_t i = 0; i < 1000; i++)
	{
		run_keys[i] = (int32_t) i * 1000000;
		counts[i] = 3;
		bag_add(&bag, run_keys[i], 3);
	}
	bag_add_keys(&bag, k, n);
	bag_add_keys(&bag, k, n);
	assert_sort_ok(sorter_add_runs(&s, run_keys, counts, 1000, &err), err);
	assert_sort_ok(sorter_finish(&s, SORT_WANT_KEYS, &err), err);
	unit_check_sorter(&u, &s, &bag, result);
	script_end(&u, &s);
	bag_clear(&bag);

	/* finished, read, added to, finished and read again; serialized between */
	script_begin(&u, SORT_DEVICE_GPU, NOWHERE, SORT_OK);
	sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
	assert_sort_ok(stream(&s, k, n, false, SORT_WANT_KEYS, &err), err);
	bag_add_keys(&bag, k, n);
	for (size_t i = 0; i < n; i++)
		assert_sort_ok(sorter_add_key(&s, k[i] / 2, &err), err);
	for (size_t i = 0; i < n; i++)
		k[i] /= 2;
	bag_add_keys(&bag, k, n);
	assert_sort_ok(sorter_finish(&s, SORT_WANT_KEYS, &err), err);
	unit_check_sorter(&u, &s, &bag, result);
	script_end(&u, &s);

	/* simply dropped */
	script_begin(&u, SORT_DEVICE_AUTO, NOWHERE, SORT_OK);
	sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
	unit_fill(SHAPE_WIDE, k, n);
	assert_sort_ok(sorter_add(&s, k, n, &err), err);
	assert_int_equal(script.open_now, 1);
	script_end(&u, &s);
	bag_clear(&bag);
	free(result);
	free(k);
}

/* No memory at any allocation, the GPU's results included. */
static void
test_no_memory(void **state)
{
	(void) state;
	unit_fill(SHAPE_WIDE, keys, N);
	for (int way = 0; way < WAYS; way++)
		for (int fail = 0; fail < 2; fail++)
		{
			SortStatus	status = SORT_OUT_OF_MEMORY;

			for (uint64_t at = 1; at < 1000; at++)
			{
				Unit		u;
				Sorter		s;
				SortError	err;

				script_begin(&u, SORT_DEVICE_AUTO, fail ? AT_HALF : NOWHERE, SORT_DEVICE_UNAVAILABLE);
				u.fail_at = at;
				sorter_init(&s, &u.context, INT32_MIN, INT32_MAX);
				status = go(&s, (Way) way, true, &err);
				if (status != SORT_OK)
					assert_int_equal(status, SORT_OUT_OF_MEMORY);
				script_end(&u, &s);
				if (u.allocations < at)
					break;
			}
			assert_int_equal(status, SORT_OK);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_used),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_not_used),
		cmocka_unit_test(test_other_algorithm),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_stream),
		cmocka_unit_test(test_stream_failures),
		cmocka_unit_test(test_stream_interrupted),
		cmocka_unit_test(test_no_memory),
	};

	unit_seed("fallback_test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
