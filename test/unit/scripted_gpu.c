/*
 * scripted_gpu.c
 *		The device behind scripted_gpu.h.  It asserts what every device may rely
 *		on: keys within the promised bounds, as many as promised, calls in order.
 */
#include "scripted_gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sort/error.h"

typedef struct FakeJob
{
	SortJob		base;
	int32_t    *keys;
	uint64_t	n;
	bool		finished;
} FakeJob;

Script script;

static const SortDevice fake_device;

static SortStatus
step(const SortJobSpec *spec, Step at, SortError *err)
{
	if (script.fail_at != at || (script.early_only && spec->n != 0))
		return SORT_OK;
	return sort_fail(err, script.with, "the fake broke at step %d", (int) at);
}

static SortStatus
fake_open(const SortContext *context, const SortJobSpec *spec, SortJob **result, SortError *err)
{
	FakeJob    *job;

	*result = NULL;
	script.opened++;
	script.early += spec->n == 0;
	assert_int_not_equal(spec->algorithm, SORT_ALGORITHM_AUTO);
	if (step(spec, AT_OPEN, err) != SORT_OK)
		return err->status;
	job = calloc(1, sizeof(FakeJob));
	sort_job_init(&job->base, &fake_device, context, spec);
	*result = &job->base;
	script.open_now++;
	return SORT_OK;
}

static SortStatus
fake_add(SortJob *base, const int32_t *keys, size_t n, SortError *err)
{
	FakeJob    *job = (FakeJob *) base;

	assert_false(job->finished);
	assert_true(n > 0);
	if (step(&job->base.spec, AT_ADD, err) != SORT_OK)
		return err->status;
	for (size_t i = 0; i < n; i++)
		assert_true(keys[i] >= job->base.spec.lo && keys[i] <= job->base.spec.hi);
	job->keys = realloc(job->keys, (job->n + n) * sizeof(int32_t));
	memcpy(job->keys + job->n, keys, n * sizeof(int32_t));
	job->n += n;
	script.added += n;
	return SORT_OK;
}

static SortStatus
fake_finish(SortJob *base, SortError *err)
{
	FakeJob    *job = (FakeJob *) base;

	assert_false(job->finished);
	assert_true(job->base.spec.n == 0 || job->base.spec.n == job->n);
	job->finished = true;
	return step(&job->base.spec, AT_FINISH, err);
}

/* Writes garbage to the first half if that is in the script. */
static SortStatus
begin_read(FakeJob *job, void *out, SortError *err)
{
	assert_true(job->finished);
	if (step(&job->base.spec, AT_READ, err) != SORT_OK)
		return err->status;
	if (step(&job->base.spec, AT_HALF, err) != SORT_OK)
	{
		memset(out, 0x5A, (size_t) job->n / 2 * sizeof(int32_t));
		return err->status;
	}
	return SORT_OK;
}

static SortStatus
fake_read_keys(SortJob *base, bool descending, int32_t *out, SortError *err)
{
	FakeJob    *job = (FakeJob *) base;

	if (begin_read(job, out, err) != SORT_OK)
		return err->status;
	memcpy(out, job->keys, (size_t) job->n * sizeof(int32_t));
	unit_sort(out, (size_t) job->n, descending);
	return SORT_OK;
}

static SortStatus
fake_read_runs(SortJob *base, Runs *runs, SortError *err)
{
	FakeJob    *job = (FakeJob *) base;
	Runs		mine = {0};
	const SortAllocator *a = &job->base.context->allocator;

	assert_int_equal(job->base.spec.want, SORT_WANT_RUNS);
	if (step(&job->base.spec, AT_READ, err) != SORT_OK || step(&job->base.spec, AT_HALF, err) != SORT_OK)
		return err->status;
	unit_sort(job->keys, (size_t) job->n, false);
	if (runs_of_all(&mine, job->keys, (size_t) job->n, job->base.context, err) != SORT_OK ||
		!runs_merge(runs, mine.keys, mine.counts, mine.len, a))
	{
		runs_release(&mine, a);
		return sort_fail(err, SORT_OUT_OF_MEMORY, "out of memory");
	}
	runs_release(&mine, a);
	return SORT_OK;
}

static SortStatus
fake_read_permutation(SortJob *base, bool descending, uint32_t first, uint32_t *out, SortError *err)
{
	FakeJob    *job = (FakeJob *) base;

	assert_int_equal(job->base.spec.want, SORT_WANT_PERMUTATION);
	assert_int_equal(job->base.spec.descending, descending);
	if (begin_read(job, out, err) != SORT_OK)
		return err->status;
	unit_permutation(job->keys, (size_t) job->n, descending, first, out);
	return SORT_OK;
}

static const char *
fake_describe(const SortJob *base, SortAlgorithm *algorithm)
{
	const FakeJob *job = (const FakeJob *) base;

	assert_true(job->finished);
	*algorithm = SORT_ALGORITHM_ZERO_COMPRESSED;
	return "by magic";
}

static void
fake_close(SortJob *base)
{
	FakeJob    *job = (FakeJob *) base;

	if (job == NULL)
		return;
	script.open_now--;
	free(job->keys);
	free(job);
}

static const SortDevice fake_device = {
	.open = fake_open,
	.add = fake_add,
	.finish = fake_finish,
	.read_keys = fake_read_keys,
	.read_runs = fake_read_runs,
	.read_permutation = fake_read_permutation,
	.describe = fake_describe,
	.close = fake_close,
};

static const SortDeviceCosts *
fake_costs(void *arg, uint64_t n, bool required, const char **reason)
{
	static const SortDeviceCosts cheap = {.startup_ns = 1};
	static const SortDeviceCosts expensive = {.startup_ns = 1e12};

	(void) n;
	assert_ptr_equal(arg, &script);
	script.asked++;
	script.required += required;
	if (script.fail_at == AT_COSTS)
	{
		*reason = "the fake is asleep";
		return NULL;
	}
	return script.expensive ? &expensive : &cheap;
}

static void
fake_failed(void *arg, const SortError *err)
{
	assert_ptr_equal(arg, &script);
	script.failed++;
	snprintf(script.words, sizeof(script.words), "%s", err->message);
}

static const SortGpu fake = {
	.device = &fake_device,
	.costs = fake_costs,
	.failed = fake_failed,
	.arg = &script,
};

void
script_begin(Unit *u, SortDeviceKind device, Step fail_at, SortStatus with)
{
	unit_init(u);
	u->context.device = device;
	u->context.gpu = &fake;
	memset(&script, 0, sizeof(script));
	script.fail_at = fail_at;
	script.with = with;
}

void
script_end(Unit *u, Sorter *s)
{
	sorter_reset(s);
	assert_int_equal(script.open_now, 0);
	unit_assert_no_leak(u);
}
