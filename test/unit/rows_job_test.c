/*
 * rows_job_test.c
 *		Jobs over extents on a device that has some of them, room for some more, and fails at any
 *		call: what is counted are the keys of the extents that are said to be added, and no others.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "sort/error.h"
#include "sort/extents/extent.h"
#include "sort/plan.h"
#include "sort/rows/rows_job.h"

#define EXTENTS 200
#define KEYS 50					/* of each */

/* The extents' keys stand for their bytes. */
static int32_t values[EXTENTS][KEYS];

typedef struct FakeDevice
{
	bool		has[EXTENTS];
	size_t		room;			/* extents that it takes */
	int			calls;			/* of all functions but open and close */
	int			fail_at;		/* the call that fails, from 1; 0: none */
	int			open;			/* jobs */
	size_t		sent;			/* extents given to it */
	int			lists;			/* calls of add_rows */
	bool		gone;			/* half of the bytes cannot be had */
} FakeDevice;

static FakeDevice fake;

typedef struct FakeJob
{
	SortJob		base;
	uint64_t	counts[1000];
} FakeJob;

static SortStatus
call(SortError *err)
{
	fake.calls++;
	return fake.calls == fake.fail_at ? sort_fail(err, SORT_DEVICE_UNAVAILABLE, "call %d", fake.calls) : SORT_OK;
}

static const SortDevice fake_device;

static SortStatus
fake_open(const SortContext *context, const SortJobSpec *spec, SortJob **job, SortError *err)
{
	FakeJob    *fake_job = calloc(1, sizeof(FakeJob));

	(void) err;
	assert_non_null(fake_job);
	assert_int_equal(spec->n, 0);
	assert_int_equal(spec->want, SORT_WANT_RUNS);
	sort_job_init(&fake_job->base, &fake_device, context, spec);
	fake.open++;
	*job = &fake_job->base;
	return SORT_OK;
}

static SortStatus
fake_add_rows(SortJob *job, SortRows *extents, const uint64_t *generations, size_t n,
			  SortError *err)
{
	fake.lists++;
	for (size_t i = 0; i < n; i++)
	{
		uint64_t	e = generations[i] - 1;

		assert_false(extents[i].added);
		assert_true(e < EXTENTS);
		extents[i].missing = !fake.has[e];
		if (!fake.has[e])
			continue;
		extents[i].added = true;
		extents[i].rows = KEYS;
		for (int k = 0; k < KEYS; k++)
			((FakeJob *) job)->counts[values[e][k]]++;
	}
	return call(err);
}

static SortStatus
fake_keep_extent(SortJob *job, uint64_t generation, const void *extent, size_t size, SortError *err)
{
	(void) job;
	assert_true(extent == values[generation - 1]);
	assert_true(size > 0);
	fake.sent++;
	if (fake.room > 0)
	{
		fake.room--;
		fake.has[generation - 1] = true;
	}
	return call(err);
}

static SortStatus
fake_finish(SortJob *job, SortError *err)
{
	(void) job;
	return call(err);
}

static SortStatus
fake_read_runs(SortJob *job, Runs *runs, SortError *err)
{
	const uint64_t *counts = ((FakeJob *) job)->counts;

	assert_true(runs_reserve(runs, 1000, &job->context->allocator));
	for (int32_t key = 0; key < 1000; key++)
		if (counts[key] > 0)
			runs_append(runs, key, counts[key]);
	return call(err);
}

static void
fake_close(SortJob *job)
{
	fake.open--;
	free(job);
}

static const SortDevice fake_device = {
	.open = fake_open,
	.add_rows = fake_add_rows,
	.keep_extent = fake_keep_extent,
	.finish = fake_finish,
	.read_runs = fake_read_runs,
	.close = fake_close,
};

static size_t extent_size;

static bool
fetch(void *arg, size_t i, const void **bytes, size_t *size)
{
	const uint64_t *generations = arg;

	*bytes = values[generations[i] - 1];
	*size = extent_size;
	return !(fake.gone && i % 2 == 0);
}

/* Runs a job over all extents, in an order of chance; returns how many were added. */
static size_t
run_job(Unit *u, SortStatus expected)
{
	static const SortGpu gpu = {.device = &fake_device};
	SortRows	extents[EXTENTS];
	uint64_t	generations[EXTENTS];
	uint64_t	counts[1000] = {0};
	RowsJob		job = {
		.rows = extents, .generations = generations, .n = EXTENTS, .lo = 0, .hi = 999,
		.fetch = fetch, .arg = generations
	};
	Runs		runs = {0};
	SortError	err;
	size_t		added = 0;
	size_t		distinct = 0;

	memset(extents, 0xff, sizeof(extents));
	for (size_t i = 0; i < EXTENTS; i++)
		generations[i] = (i * 77 + 5) % EXTENTS + 1;
	u->context.gpu = &gpu;
	fake.calls = 0;
	assert_int_equal(rows_job_count(&u->context, &job, &runs, &err), expected);
	assert_int_equal(fake.open, 0);
	for (size_t i = 0; i < EXTENTS; i++)
	{
		added += extents[i].added;
		for (int k = 0; k < KEYS && extents[i].added; k++)
			counts[values[generations[i] - 1][k]]++;
	}
	if (expected != SORT_OK)
		assert_int_equal(added, 0);
	else
		for (size_t i = 0; i < 1000; i++)
			if (counts[i] > 0)
			{
				assert_int_equal(runs.keys[distinct], i);
				assert_int_equal(runs.counts[distinct], counts[i]);
				distinct++;
			}
	if (expected == SORT_OK)
		assert_int_equal(runs.len, distinct);
	runs_release(&runs, &u->context.allocator);
	unit_assert_no_leak(u);
	return added;
}

static void
reset(size_t room, size_t size)
{
	memset(&fake, 0, sizeof(fake));
	fake.room = room;
	extent_size = size;
	for (int i = 0; i < EXTENTS; i++)
		for (int k = 0; k < KEYS; k++)
			values[i][k] = (int32_t) unit_below(1000);
}

static void
test_kept_once(void **state)
{
	Unit		u;

	(void) state;
	unit_init(&u);
	reset(EXTENTS, 100000);
	assert_int_equal(run_job(&u, SORT_OK), EXTENTS);
	assert_int_equal(fake.sent, EXTENTS);
	fake.lists = 0;
	assert_int_equal(run_job(&u, SORT_OK), EXTENTS);
	assert_int_equal(fake.sent, EXTENTS);
	assert_int_equal(fake.lists, 1);
	fake.has[7] = fake.has[8] = fake.has[100] = false;
	fake.room = 3;
	assert_int_equal(run_job(&u, SORT_OK), EXTENTS);
	assert_int_equal(fake.sent, EXTENTS + 3);
}

/* Where there is no room, no more than a slice of 32 MB is sent in vain. */
static void
test_no_room(void **state)
{
	Unit		u;

	(void) state;
	unit_init(&u);
	reset(0, 4 << 20);
	assert_int_equal(run_job(&u, SORT_OK), 0);
	assert_int_equal(fake.sent, 8);
	reset(11, 4 << 20);
	assert_int_equal(run_job(&u, SORT_OK), 11);
	assert_int_equal(fake.sent, 16);
	/* Bytes that cannot be had are no sign of a lack of room. */
	reset(EXTENTS, 4 << 20);
	fake.gone = true;
	assert_int_equal(run_job(&u, SORT_OK), EXTENTS / 2);
}

static void
test_failures(void **state)
{
	Unit		u;
	int			calls;

	(void) state;
	unit_init(&u);
	reset(100, 4 << 20);
	assert_int_equal(run_job(&u, SORT_OK), 100);
	calls = fake.calls;
	for (int i = 1; i <= calls; i++)
	{
		reset(100, 4 << 20);
		fake.fail_at = i;
		run_job(&u, SORT_DEVICE_UNAVAILABLE);
		assert_int_equal(fake.calls, i);
	}
}

static void
test_interrupts(void **state)
{
	Unit		u;

	(void) state;
	reset(EXTENTS, 100000);
	unit_init(&u);
	u.interrupt_at = 5;
	run_job(&u, SORT_CANCELLED);
}

/* When a GPU is asked, and by which costs it is chosen. */
static const SortDeviceCosts *lent_costs;
static int	asked;

static const SortDeviceCosts *
lend_costs(void *arg, uint64_t n, bool required, const char **reason)
{
	(void) arg;
	(void) n;
	(void) required;
	*reason = "none";
	asked++;
	return lent_costs;
}

static bool
count_pays(const SortContext *context, uint64_t n, int32_t lo, int32_t hi)
{
	return rows_job_pays(context, n, 1, plan_range(lo, hi), 0, false, 1);
}

static void
test_choice(void **state)
{
	static const SortGpu gpu = {.device = &fake_device, .costs = lend_costs};
	static const SortDevice other_device = {.open = fake_open};
	static const SortGpu other = {.device = &other_device, .costs = lend_costs};
	const SortDeviceCosts good = {.startup_ns = 100000, .transfer_ns = 0.4};
	const SortDeviceCosts slow = {.startup_ns = 1e10};
	Unit		u;

	(void) state;
	unit_init(&u);
	assert_false(count_pays(&u.context, 100000000, 0, 999));
	u.context.gpu = &other;
	assert_false(count_pays(&u.context, 100000000, 0, 999));
	u.context.gpu = &gpu;
	lent_costs = &good;
	asked = 0;
	/* A few keys are not worth asking. */
	assert_false(count_pays(&u.context, 1000, 0, 999));
	assert_int_equal(asked, 0);
	assert_true(count_pays(&u.context, 10000000, 0, 999));
	assert_true(count_pays(&u.context, 100000000, INT32_MIN, INT32_MAX));
	lent_costs = &slow;
	assert_false(count_pays(&u.context, 10000000, 0, 999));
	u.context.device = SORT_DEVICE_GPU;
	assert_true(count_pays(&u.context, 10, 0, 999));
	assert_false(count_pays(&u.context, 0, 0, 999));
	lent_costs = NULL;
	assert_false(count_pays(&u.context, 10, 0, 999));
	lent_costs = &good;
	u.context.algorithm = SORT_ALGORITHM_RADIX;
	assert_false(count_pays(&u.context, 10, 0, 999));
	u.context.algorithm = SORT_ALGORITHM_AUTO;
	u.context.device = SORT_DEVICE_CPU;
	assert_false(count_pays(&u.context, 100000000, 0, 999));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept_once),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_interrupts),
		cmocka_unit_test(test_choice),
	};

	unit_seed("rows_job_test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
