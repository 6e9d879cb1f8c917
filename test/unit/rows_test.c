/*
 * rows_test.c
 *		References to rows in the order of their keys: counted, sorted as pairs,
 *		from a device's permutation, and taken over from one that fails.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sort/device/device.h"
#include "sort/error.h"
#include "sort/kernels/wide.h"
#include "sort/rows/rows.h"

/* A device that copies what it is given, and breaks where it is told to. */
typedef struct FakeJob
{
	SortJob		base;
	int32_t    *keys;
	size_t		n;
} FakeJob;

static const SortDevice fake_device;

typedef enum Step
{
	NOWHERE,
	AT_OPEN,
	AT_ADD,
	AT_FINISH,
	AT_READ,
	STEPS
} Step;

static Step fail_at;
static unsigned opened;
static unsigned open_now;
static unsigned failures;

static SortStatus
step(Step at, SortError *err)
{
	return at == fail_at ? sort_fail(err, SORT_OUT_OF_MEMORY, "it broke at step %d", (int) at) : SORT_OK;
}

static SortStatus
fake_open(const SortContext *context, const SortJobSpec *spec, SortJob **result, SortError *err)
{
	FakeJob    *job;

	assert_int_equal(spec->want, SORT_WANT_PERMUTATION);
	*result = NULL;
	if (step(AT_OPEN, err) != SORT_OK)
		return err->status;
	job = calloc(1, sizeof(FakeJob));
	sort_job_init(&job->base, &fake_device, context, spec);
	*result = &job->base;
	job->keys = unit_alloc((size_t) spec->n, sizeof(int32_t));
	opened++;
	open_now++;
	return SORT_OK;
}

static SortStatus
fake_add(SortJob *base, const int32_t *keys, size_t n, SortError *err)
{
	FakeJob    *job = (FakeJob *) base;

	memcpy(job->keys + job->n, keys, n * sizeof(int32_t));
	job->n += n;
	return step(AT_ADD, err);
}

static SortStatus
fake_finish(SortJob *job, SortError *err)
{
	(void) job;
	return step(AT_FINISH, err);
}

static SortStatus
fake_read(SortJob *base, bool descending, uint32_t first, uint32_t *out, SortError *err)
{
	FakeJob    *job = (FakeJob *) base;

	assert_false(descending);
	unit_permutation(job->keys, job->n, false, first, out);
	if (fail_at == AT_READ)
		memset(out, 0xee, job->n * sizeof(uint32_t) / 2);
	return step(AT_READ, err);
}

static void
fake_close(SortJob *base)
{
	FakeJob    *job = (FakeJob *) base;

	open_now--;
	free(job->keys);
	free(job);
}

static const SortDevice fake_device = {
	.open = fake_open,
	.add = fake_add,
	.finish = fake_finish,
	.read_permutation = fake_read,
	.close = fake_close,
};

static const SortDeviceCosts *
fake_costs(void *arg, uint64_t n, bool required, const char **reason)
{
	static const SortDeviceCosts costs = {.startup_ns = 1};

	(void) arg;
	(void) n;
	(void) required;
	(void) reason;
	return &costs;
}

static void
fake_failed(void *arg, const SortError *err)
{
	(void) arg;
	(void) err;
	failures++;
}

static const SortGpu fake = {
	.device = &fake_device,
	.costs = fake_costs,
	.failed = fake_failed,
};

/*
 * Sorts n keys in lo .. hi, many of them equal, with references that grow by
 * steps of their own; checks order, stability and the number of keys.
 */
static void
check(Unit *u, size_t n, uint32_t lo, uint32_t hi, bool any_device, SortPlan *plan)
{
	uint64_t   *pairs = unit_alloc(n, sizeof(uint64_t));
	uint64_t   *expected = unit_alloc(n, sizeof(uint64_t));
	RowsSort	rows = {.pairs = pairs, .n = n, .lo = lo, .hi = hi};
	uint64_t	differ = 0;
	uint32_t	ref = 0;
	SortError	err;

	for (size_t i = 0; i < n; i++)
	{
		uint32_t	key = lo + (uint32_t) unit_below((uint64_t) hi - lo + 1);

		ref += 1 + (uint32_t) unit_below(3);
		pairs[i] = expected[i] = ROWS_PAIR(key, ref);
	}
	/* By insertion: nothing of the code under test. */
	for (size_t i = 1; i < n; i++)
		for (size_t j = i; j > 0 && expected[j - 1] > expected[j]; j--)
		{
			uint64_t	swap = expected[j];

			expected[j] = expected[j - 1];
			expected[j - 1] = swap;
		}
	rows_plan(&u->context, n, lo, hi, any_device, plan);
	assert_int_equal(rows_sort(&rows, plan, &u->context, &err), SORT_OK);
	for (size_t i = 0; i < n; i++)
	{
		uint32_t	got;

		memcpy(&got, rows.refs + i, sizeof(got));
		assert_int_equal(got, ROWS_PAIR_REF(expected[i]));
		differ += i == 0 || ROWS_PAIR_KEY(expected[i]) != ROWS_PAIR_KEY(expected[i - 1]);
	}
	assert_int_equal(rows.distinct, differ);
	assert_int_equal(open_now, 0);
	if ((void *) rows.refs != (void *) pairs)
		u->context.allocator.release(u->context.allocator.arena, rows.refs);
	free(pairs);
	free(expected);
}

static void
test_cpu(void **state)
{
	static const SortAlgorithm algorithms[] = {
		SORT_ALGORITHM_AUTO, SORT_ALGORITHM_ZERO_COMPRESSED, SORT_ALGORITHM_RADIX,
		SORT_ALGORITHM_COMPARISON_FREE	/* which gives way */
	};
	static const struct
	{
		uint32_t	lo;
		uint32_t	hi;
	}			bounds[] = {{0, 0}, {7, 106}, {0, UINT32_MAX}, {UINT32_MAX - 9, UINT32_MAX}};
	SortPlan	plan;
	Unit		u;

	(void) state;
	for (size_t a = 0; a < lengthof(algorithms); a++)
		for (size_t b = 0; b < lengthof(bounds); b++)
			for (size_t n = 0; n < 1500; n += 1 + n / 2)
			{
				unit_init(&u);
				u.context.algorithm = algorithms[a];
				check(&u, n, bounds[b].lo, bounds[b].hi, true, &plan);
				assert_int_equal(plan.device, SORT_DEVICE_CPU);
				unit_assert_no_leak(&u);
			}
}

static void
test_device(void **state)
{
	SortPlan	plan;
	Unit		u;

	(void) state;
	for (int at = NOWHERE; at < STEPS; at++)
	{
		unit_init(&u);
		u.context.device = SORT_DEVICE_GPU;
		u.context.gpu = &fake;
		fail_at = (Step) at;
		opened = failures = 0;
		check(&u, 3000, 5, UINT32_MAX - 5, true, &plan);
		if (at == NOWHERE)
			assert_int_equal(plan.device, SORT_DEVICE_GPU);
		else
		{
			assert_int_equal(plan.device, SORT_DEVICE_CPU);
			assert_int_equal(plan.reason, PLAN_FALLBACK);
			assert_non_null(strstr(plan.note, "it broke"));
			assert_int_equal(failures, 1);
		}
		unit_assert_no_leak(&u);
	}

	/* The caller wants none, or few rows are not worth it. */
	fail_at = NOWHERE;
	opened = 0;
	unit_init(&u);
	u.context.device = SORT_DEVICE_GPU;
	u.context.gpu = &fake;
	check(&u, 3000, 0, 99, false, &plan);
	u.context.device = SORT_DEVICE_AUTO;
	check(&u, 100, 0, 99, true, &plan);
	assert_int_equal(opened, 0);
	unit_assert_no_leak(&u);
}

/* Every allocation fails once, and every look at interrupts says yes once. */
static void
test_failures(void **state)
{
	(void) state;
	fail_at = NOWHERE;
	for (int device = 0; device < 2; device++)
		for (int kind = 0; kind < 2; kind++)
		{
			uint64_t	at = 0;
			SortStatus	status = SORT_CANCELLED;

			while (status != SORT_OK)
			{
				uint64_t	pairs[2000];
				RowsSort	rows = {.pairs = pairs, .n = lengthof(pairs), .hi = 99};
				SortPlan	plan;
				SortError	err;
				Unit		u;

				unit_init(&u);
				u.context.gpu = device ? &fake : NULL;
				u.context.device = device ? SORT_DEVICE_GPU : SORT_DEVICE_AUTO;
				at++;
				if (kind == 0)
					u.fail_at = at;
				else
					u.interrupt_at = at;
				for (size_t i = 0; i < lengthof(pairs); i++)
					pairs[i] = ROWS_PAIR(unit_below(100), (uint32_t) i);
				rows_plan(&u.context, lengthof(pairs), 0, 99, true, &plan);
				status = rows_sort(&rows, &plan, &u.context, &err);
				if (status != SORT_OK)
					assert_int_equal(status, kind == 0 ? SORT_OUT_OF_MEMORY : SORT_CANCELLED);
				else if ((void *) rows.refs != (void *) pairs)
					u.context.allocator.release(u.context.allocator.arena, rows.refs);
				assert_int_equal(open_now, 0);
				unit_assert_no_leak(&u);
				assert_true(at < 20);
			}
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpu),
		cmocka_unit_test(test_device),
		cmocka_unit_test(test_failures),
	};

	unit_seed("rows_test");
	return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
