/*
 * rows.c
 *		Puts references to rows into the order of their keys (see rows.h).
 */
#include "sort/rows/rows.h"

#include <stdio.h>

#include "sort/algorithms.h"
#include "sort/device/job.h"
#include "sort/kernels/permutation.h"
#include "sort/steps.h"

/* Keys handed to a device at once, from a buffer: all in the cache. */
#define DEVICE_CHUNK ((size_t) 1 << 16)

/*
 * What a permutation from a device costs beyond the device's own table: keys
 * taken out of their pairs, and references looked up by position, where each
 * is a cache miss.  All of ORDER BY, beside an H100: of 1e7 rows 1 to 5 %
 * faster than on the CPU, of 1e8 rows 4 % slower.
 */
#define DEVICE_ROW_NS 8.0

/* The plan asks for the range only, and knows keys of 32 bits, signed. */
static SortPlanInput
plan_input(const SortContext *context, uint64_t n, uint64_t lo, uint64_t hi)
{
	bool		wide = hi - lo > UINT32_MAX;

	return sort_job_plan_input(context, SORT_WANT_PERMUTATION, n, INT32_MIN,
							   wide ? INT32_MAX : (int32_t) (INT32_MIN + (int64_t) (hi - lo)));
}

static void
plan_for_cpu(SortPlanInput in, SortPlan *plan)
{
	SortError	err;

	in.device = SORT_DEVICE_CPU;
	/* The papers' algorithms are for keys of 32 bits in an array of their own. */
	if (algorithm_is_published(in.algorithm))
		in.algorithm = SORT_ALGORITHM_AUTO;
	if (plan_choose(&in, plan, &err) == SORT_OK)
		return;
	in.algorithm = SORT_ALGORITHM_AUTO;
	(void) plan_choose(&in, plan, &err);
}

void
rows_plan(const SortContext *context, uint64_t n, uint64_t lo, uint64_t hi, bool any_device,
		  SortPlan *plan)
{
	bool		forced = context->device == SORT_DEVICE_GPU;
	SortPlanInput in = plan_input(context, n, lo, hi);
	SortPlan	other;
	SortError	err;

	plan_for_cpu(in, plan);
	if (!any_device || context->device == SORT_DEVICE_CPU || n == 0)
		return;
	sort_job_ask_gpu(context, forced, &in);
	if (in.gpu == NULL)
	{
		if (in.gpu_reason)
			snprintf(plan->note, sizeof(plan->note), "%s", in.gpu_reason);
		return;
	}
	in.device = SORT_DEVICE_GPU;
	if (plan_choose(&in, &other, &err) != SORT_OK)
		return;
	other.cost_ns += DEVICE_ROW_NS * (double) n;
	other.other_ns = plan->cost_ns;
	if (forced || other.cost_ns < plan->cost_ns)
		*plan = other;
	else if (plan->other_ns < 0 || other.cost_ns < plan->other_ns)
		plan->other_ns = other.cost_ns;
}

/* Adds the keys of all pairs to a job, from 0 on; chunk is room for DEVICE_CHUNK keys. */
static SortStatus
add_keys(SortJob *job, const RowsSort *rows, int32_t *chunk, SortError *err)
{
	SortStatus	status = SORT_OK;

	for (size_t at = 0; status == SORT_OK && at < rows->n; at += DEVICE_CHUNK)
	{
		size_t		part = rows->n - at < DEVICE_CHUNK ? rows->n - at : DEVICE_CHUNK;

		/* The sign bit flipped makes unsigned order signed. */
		for (size_t i = 0; i < part; i++)
			chunk[i] = (int32_t) ((ROWS_PAIR_KEY(rows->pairs[at + i]) - rows->lo) ^
								  UINT32_C(0x80000000));
		status = job->device->add(job, chunk, part, err);
	}
	return status;
}

/* Replaces positions in order by the references there; counts distinct keys. */
static SortStatus
look_up_refs(RowsSort *rows, uint32_t *out, const SortContext *context, SortError *err)
{
	uint32_t	last = 0;
	uint64_t	at = 0;
	uint64_t	end;

	while (sort_step(context, at, rows->n, &end))
		for (; at < end; at++)
		{
			uint64_t	pair = rows->pairs[out[at]];

			rows->distinct += at == 0 || ROWS_PAIR_KEY(pair) != last;
			last = ROWS_PAIR_KEY(pair);
			out[at] = ROWS_PAIR_REF(pair);
		}
	return at == rows->n ? SORT_OK : sort_cancelled(err);
}

/* By the GPU's permutation.  The pairs stay as they are. */
static SortStatus
sort_on_gpu(RowsSort *rows, SortPlan *plan, const SortContext *context, SortError *err)
{
	const SortDevice *device = context->gpu->device;
	const SortAllocator *a = &context->allocator;
	SortJobSpec spec = {
		.algorithm = plan->algorithm,
		.want = SORT_WANT_PERMUTATION,
		.lo = INT32_MIN,
		.hi = (int32_t) (INT32_MIN + (int64_t) (rows->hi - rows->lo)),
		.n = rows->n,
	};
	uint32_t   *out = a->alloc(a->arena, rows->n * sizeof(uint32_t));
	int32_t    *chunk = a->alloc(a->arena, DEVICE_CHUNK * sizeof(int32_t));
	SortOutput	output = {.positions = out};
	SortJob    *job;
	SortStatus	status;

	if (out == NULL || chunk == NULL)
		status = sort_no_memory(err);
	else
		status = sort_job_start(device, context, &spec, NULL, &job, err);
	if (status == SORT_OK)
	{
		status = add_keys(job, rows, chunk, err);
		if (status == SORT_OK)
			status = sort_job_complete(job, &output, plan, err);
		else
			device->close(job);
	}
	if (status == SORT_OK)
		status = look_up_refs(rows, out, context, err);
	if (chunk)
		a->release(a->arena, chunk);
	if (status == SORT_OK)
		rows->refs = out;
	else if (out)
		a->release(a->arena, out);
	return status;
}

/* Zeroes the bins and counts the keys of all pairs; false if interrupted. */
static bool
count_pairs(const RowsSort *rows, uint32_t *bins, uint64_t range, const SortContext *context)
{
	const uint64_t *pairs = rows->pairs;
	const uint32_t lo = rows->lo;
	uint64_t	at = 0;
	uint64_t	end;

	if (!sort_zero(context, bins, range, sizeof(uint32_t)))
		return false;
	while (sort_step(context, at, rows->n, &end))
		for (; at < end; at++)
			bins[ROWS_PAIR_KEY(pairs[at]) - lo]++;
	return at == rows->n;
}

/* Writes each reference to its key's next place; false if interrupted. */
static bool
scatter_refs(const RowsSort *rows, uint32_t *offsets, uint32_t *out, const SortContext *context)
{
	const uint64_t *pairs = rows->pairs;
	const uint32_t lo = rows->lo;
	uint64_t	at = 0;
	uint64_t	end;

	while (sort_step(context, at, rows->n, &end))
		for (; at < end; at++)
			out[offsets[ROWS_PAIR_KEY(pairs[at]) - lo]++] = ROWS_PAIR_REF(pairs[at]);
	return at == rows->n;
}

/* Counts, sums up and scatters: the H-P algorithm with rows for keys. */
static SortStatus
sort_by_counting(RowsSort *rows, const SortContext *context, SortError *err)
{
	const SortAllocator *a = &context->allocator;
	uint64_t	range = (uint64_t) rows->hi - rows->lo + 1;
	uint32_t   *bins = a->alloc(a->arena, range * sizeof(uint32_t));
	uint32_t   *out = a->alloc(a->arena, rows->n * sizeof(uint32_t));
	SortStatus	status = SORT_OK;

	if (bins == NULL || out == NULL)
		status = sort_no_memory(err);
	else if (!count_pairs(rows, bins, range, context) ||
			 !permutation_offsets(bins, range, false, &rows->distinct, context) ||
			 !scatter_refs(rows, bins, out, context))
		status = sort_cancelled(err);
	if (bins)
		a->release(a->arena, bins);
	if (status == SORT_OK)
		rows->refs = out;
	else if (out)
		a->release(a->arena, out);
	return status;
}

/*
 * Sorts the pairs and moves the references to the front of the same memory.
 * Bytes, not integers, are copied: the compiler may not assume that the two
 * arrays do not overlap.
 */
static SortStatus
sort_pairs(RowsSort *rows, const SortContext *context, SortError *err)
{
	char	   *memory = (char *) rows->pairs;
	uint64_t	distinct = 0;
	uint32_t	last;
	uint64_t	i = 0;
	uint64_t	end;

	if (!wide_sort_pairs(rows->pairs, rows->n, context))
		return sort_cancelled(err);
	last = ~ROWS_PAIR_KEY(rows->pairs[0]);
	while (sort_step(context, i, rows->n, &end))
		for (; i < end; i++)
		{
			uint64_t	pair;
			uint32_t	ref;

			memcpy(&pair, memory + i * sizeof(pair), sizeof(pair));
			distinct += ROWS_PAIR_KEY(pair) != last;
			last = ROWS_PAIR_KEY(pair);
			ref = ROWS_PAIR_REF(pair);
			memcpy(memory + i * sizeof(ref), &ref, sizeof(ref));
		}
	if (i < rows->n)
		return sort_cancelled(err);
	rows->distinct = distinct;
	rows->refs = (uint32_t *) rows->pairs;
	return SORT_OK;
}

SortStatus
rows_sort(RowsSort *rows, SortPlan *plan, const SortContext *context, SortError *err)
{
	rows->distinct = 0;
	rows->refs = NULL;
	if (rows->n == 0)
	{
		rows->refs = (uint32_t *) rows->pairs;
		return SORT_OK;
	}
	if (plan->device == SORT_DEVICE_GPU)
	{
		SortStatus	status = sort_on_gpu(rows, plan, context, err);

		if (status == SORT_OK || status == SORT_CANCELLED)
			return status;
		sort_job_gpu_failed(context, err);
		plan_for_cpu(plan_input(context, rows->n, rows->lo, rows->hi), plan);
		plan_fall_back(plan, err->message);
		rows->distinct = 0;
	}
	return plan->algorithm == SORT_ALGORITHM_ZERO_COMPRESSED
		? sort_by_counting(rows, context, err) : sort_pairs(rows, context, err);
}
