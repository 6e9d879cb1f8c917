/*
 * rows.c
 *		Puts references to rows into the order of their keys (see rows.h).
 */
#include "sort/rows.h"

#include <stdio.h>
#include <string.h>

#include "sort/device.h"
#include "sort/error.h"
#include "sort/wide.h"

/* Pairs or bins handled between two looks at the interrupt callback. */
#define CHECK_EVERY ((size_t) 1 << 17)

/* Keys handed to a device at once, from a buffer: all in the cache. */
#define DEVICE_CHUNK ((size_t) 1 << 16)

/*
 * What a permutation from a device costs beyond the device's own table: keys
 * taken out of their pairs, and references looked up by position, where each
 * is a cache miss.  All of ORDER BY, beside an H100: of 1e7 rows 1 to 5 %
 * faster than on the CPU, of 1e8 rows 4 % slower.
 */
#define DEVICE_ROW_NS 8.0

static void
describe(const SortContext *context, uint64_t n, uint64_t lo, uint64_t hi, SortPlanInput *in)
{
	bool		wide = hi - lo > UINT32_MAX;

	memset(in, 0, sizeof(*in));
	in->n = n;

	/* The plan only asks for the range, and knows keys of 32 bits. */
	in->lo = INT32_MIN;
	in->hi = wide ? INT32_MAX : (int32_t) (INT32_MIN + (int64_t) (hi - lo));
	in->want = SORT_WANT_PERMUTATION;
	in->device = SORT_DEVICE_CPU;
	in->algorithm = context->algorithm;
}

static void
plan_for_cpu(SortPlanInput *in, SortPlan *plan)
{
	SortError	err;

	in->device = SORT_DEVICE_CPU;
	in->gpu = NULL;
	if (plan_choose(in, plan, &err) == SORT_OK)
		return;
	in->algorithm = SORT_ALGORITHM_AUTO;
	(void) plan_choose(in, plan, &err);
}

void
rows_plan(const SortContext *context, uint64_t n, uint64_t lo, uint64_t hi, bool any_device,
		  SortPlan *plan)
{
	const SortGpu *gpu = context->gpu;
	bool		forced = context->device == SORT_DEVICE_GPU;
	SortPlanInput in;
	SortError	err;

	describe(context, n, lo, hi, &in);
	plan_for_cpu(&in, plan);
	if (!any_device || gpu == NULL || context->device == SORT_DEVICE_CPU || n == 0)
		return;
	in.algorithm = context->algorithm;
	in.device = context->device;
	if (!plan_asks_gpu(&in))
		return;
	in.gpu = gpu->costs(gpu->arg, n, forced, &in.gpu_reason);
	if (in.gpu)
	{
		SortPlan	other;

		in.device = SORT_DEVICE_GPU;
		if (plan_choose(&in, &other, &err) != SORT_OK)
			return;
		other.cost_ns += DEVICE_ROW_NS * (double) n;
		other.other_ns = plan->cost_ns;
		if (forced || other.cost_ns < plan->cost_ns)
			*plan = other;
		else
			plan->other_ns = plan->other_ns < 0 || other.cost_ns < plan->other_ns
				? other.cost_ns : plan->other_ns;
	}
	else if (in.gpu_reason)
		snprintf(plan->note, sizeof(plan->note), "%s", in.gpu_reason);
}

/* By the GPU's permutation.  *refs is set on success only. */
static SortStatus
sort_on_device(const uint64_t *pairs, size_t n, uint32_t lo, uint32_t hi, SortPlan *plan,
			   const SortContext *context, uint32_t **refs, uint64_t *distinct, SortError *err)
{
	const SortDevice *device = context->gpu->device;
	const SortAllocator *memory = &context->allocator;
	SortJobSpec spec = {
		.algorithm = plan->algorithm,
		.want = SORT_WANT_PERMUTATION,
		.lo = INT32_MIN,
		.hi = (int32_t) (INT32_MIN + (int64_t) (hi - lo)),
		.n = n,
	};
	uint32_t   *out = memory->alloc(memory->arena, n * sizeof(uint32_t));
	int32_t    *keys = memory->alloc(memory->arena, (device->add_copies ? DEVICE_CHUNK : n) * sizeof(int32_t));
	SortJob    *job = NULL;
	SortStatus	status;
	uint32_t	last = 0;
	size_t		at = 0;
	size_t		i;

	if (out == NULL || keys == NULL)
		status = sort_no_memory(err);
	else
		status = device->open(context, &spec, &job, err);
	while (status == SORT_OK && at < n)
	{
		int32_t    *chunk = device->add_copies ? keys : keys + at;
		size_t		part = n - at < DEVICE_CHUNK ? n - at : DEVICE_CHUNK;

		for (i = 0; i < part; i++)
			chunk[i] = (int32_t) ((ROWS_PAIR_KEY(pairs[at + i]) - lo) ^ UINT32_C(0x80000000));
		status = device->add(job, chunk, part, err);
		at += part;
	}
	if (status == SORT_OK)
		status = device->finish(job, err);
	if (status == SORT_OK && device->describe)
	{
		const char *words = device->describe(job, &plan->algorithm);

		snprintf(plan->note, sizeof(plan->note), "%s", words ? words : "");
	}
	if (status == SORT_OK)
		status = device->read_permutation(job, false, 0, out, err);
	if (job)
		device->close(job);
	for (at = 0; status == SORT_OK && at < n;)
	{
		size_t		end = n - at < CHECK_EVERY ? n : at + CHECK_EVERY;

		for (; at < end; at++)
		{
			uint64_t	pair = pairs[out[at]];

			*distinct += at == 0 || ROWS_PAIR_KEY(pair) != last;
			last = ROWS_PAIR_KEY(pair);
			out[at] = ROWS_PAIR_REF(pair);
		}
		if (sort_interrupted(context))
			status = sort_cancelled(err);
	}
	if (keys)
		memory->release(memory->arena, keys);
	if (status == SORT_OK)
		*refs = out;
	else if (out)
		memory->release(memory->arena, out);
	return status;
}

/* Counts, sums up and scatters: the H-P algorithm with rows for keys. */
static SortStatus
sort_by_counting(const uint64_t *pairs, size_t n, uint32_t lo, uint32_t hi,
				 const SortContext *context, uint32_t **refs, uint64_t *distinct, SortError *err)
{
	const SortAllocator *memory = &context->allocator;
	uint64_t	range = (uint64_t) hi - lo + 1;
	uint32_t   *bins = memory->alloc(memory->arena, range * sizeof(uint32_t));
	uint32_t   *out = memory->alloc(memory->arena, n * sizeof(uint32_t));
	bool		interrupted = false;
	uint32_t	sum = 0;
	size_t		at;

	if (bins == NULL || out == NULL)
	{
		if (bins)
			memory->release(memory->arena, bins);
		if (out)
			memory->release(memory->arena, out);
		return sort_no_memory(err);
	}
	for (at = 0; at < range && !interrupted;)
	{
		size_t		end = range - at < CHECK_EVERY ? range : at + CHECK_EVERY;

		memset(bins + at, 0, (end - at) * sizeof(uint32_t));
		at = end;
		interrupted = sort_interrupted(context);
	}
	for (at = 0; at < n && !interrupted;)
	{
		size_t		end = n - at < CHECK_EVERY ? n : at + CHECK_EVERY;

		for (; at < end; at++)
			bins[ROWS_PAIR_KEY(pairs[at]) - lo]++;
		interrupted = sort_interrupted(context);
	}
	for (at = 0; at < range && !interrupted;)
	{
		size_t		end = range - at < CHECK_EVERY ? range : at + CHECK_EVERY;

		for (; at < end; at++)
		{
			uint32_t	count = bins[at];

			*distinct += count != 0;
			bins[at] = sum;
			sum += count;
		}
		interrupted = sort_interrupted(context);
	}
	for (at = 0; at < n && !interrupted;)
	{
		size_t		end = n - at < CHECK_EVERY ? n : at + CHECK_EVERY;

		for (; at < end; at++)
			out[bins[ROWS_PAIR_KEY(pairs[at]) - lo]++] = ROWS_PAIR_REF(pairs[at]);
		interrupted = sort_interrupted(context);
	}
	memory->release(memory->arena, bins);
	if (interrupted)
	{
		memory->release(memory->arena, out);
		return sort_cancelled(err);
	}
	*refs = out;
	return SORT_OK;
}

SortStatus
rows_sort(uint64_t *pairs, size_t n, uint32_t lo, uint32_t hi, SortPlan *plan,
		  const SortContext *context, uint32_t **refs, uint64_t *distinct, SortError *err)
{
	uint32_t   *out = (uint32_t *) pairs;
	uint32_t	last;
	size_t		i;

	*distinct = 0;
	*refs = out;
	if (n == 0)
		return SORT_OK;
	if (plan->device == SORT_DEVICE_GPU)
	{
		SortStatus	status = sort_on_device(pairs, n, lo, hi, plan, context, refs, distinct, err);
		SortPlanInput in;

		if (status == SORT_OK || status == SORT_CANCELLED)
			return status;

		/* The pairs are as they were. */
		if (context->gpu->failed)
			context->gpu->failed(context->gpu->arg, err);
		describe(context, n, lo, hi, &in);
		plan_for_cpu(&in, plan);
		plan->reason = PLAN_FALLBACK;
		snprintf(plan->note, sizeof(plan->note), "%s", err->message);
		*distinct = 0;
	}
	if (plan->algorithm == SORT_ALGORITHM_ZERO_COMPRESSED)
		return sort_by_counting(pairs, n, lo, hi, context, refs, distinct, err);

	if (!wide_sort_pairs(pairs, n, context))
		return sort_cancelled(err);

	/*
	 * The references move to the front of the same memory.  Bytes, not
	 * integers, are copied: the compiler may not assume that the two do not
	 * overlap.
	 */
	last = ~ROWS_PAIR_KEY(pairs[0]);
	for (i = 0; i < n; i++)
	{
		uint64_t	pair;
		uint32_t	ref;

		if (i % CHECK_EVERY == 0 && sort_interrupted(context))
			return sort_cancelled(err);

		memcpy(&pair, (char *) pairs + i * sizeof(pair), sizeof(pair));
		*distinct += ROWS_PAIR_KEY(pair) != last;
		last = ROWS_PAIR_KEY(pair);
		ref = ROWS_PAIR_REF(pair);
		memcpy((char *) out + i * sizeof(ref), &ref, sizeof(ref));
	}
	return SORT_OK;
}
