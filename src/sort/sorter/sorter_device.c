/*
 * sorter_device.c
 *		The sorter and its devices: asking the plan, giving keys to the GPU
 *		while more arrive, and taking over what the GPU could not finish.
 *
 * The rule of all functions here: a sorter keeps its keys until the result is
 * complete.  No result of the GPU is read into the only copy of the keys, so
 * that at any failure the CPU starts from the keys as they came.
 */
#include "sort/sorter/sorter_parts.h"

#include <stdio.h>
#include <string.h>

#include "sort/device/cpu_sort.h"
#include "sort/error.h"
#include "sort/kernels/wide.h"

/*
 * Keys in the buffer from which on they are given to the GPU as they come: one
 * chunk of the service.  To send a smaller buffer takes less time than to open
 * a job.
 */
#define STREAM_MIN ((size_t) 1 << 20)

/* Keys given to an open job at once. */
#define STREAM_BLOCK ((size_t) 1 << 20)

bool
sorter_prefers_gpu(const Sorter *s, SortWant want, uint64_t n, int32_t lo, int32_t hi,
				   SortPlan *plan)
{
	SortPlanInput in = sort_job_plan_input(s->context, want, n, lo, hi);
	SortError	ignored;

	if (s->context->device == SORT_DEVICE_CPU || s->big->gpu_failed)
		return false;
	sort_job_ask_gpu(s->context, false, &in);
	return in.gpu != NULL && plan_choose(&in, plan, &ignored) == SORT_OK &&
		plan->device == SORT_DEVICE_GPU;
}

/* Runs that were added need no algorithm, but a forced algorithm must be able to sort them. */
static SortStatus
check_runs(const Sorter *s, SortError *err)
{
	const Runs *runs = &s->big->sparse;

	if (s->context->algorithm != SORT_ALGORITHM_ONE_HP)
		return SORT_OK;
	for (size_t i = 0; i < runs->len; i++)
		if (runs->counts[i] > 1)
			return sort_fail(err, SORT_UNSUPPORTED,
							 "key %d occurs more than once, and one_hp sorts distinct keys only",
							 runs->keys[i]);
	return SORT_OK;
}

/* Counts all keys, which are from lo to hi and in buf or in the array. */
static SortStatus
count_all(Sorter *s, int32_t lo, int32_t hi, SortError *err)
{
	SorterBig  *big = s->big;
	uint64_t	since = sort_clock();
	SortStatus	status = sorter_make_dense(s, lo, hi, err);

	if (status == SORT_OK && big->narray > 0)
	{
		status = histogram_add_all(&big->dense, big->array, big->narray, s->context, err);
		big->bytes_moved += big->narray * sizeof(int32_t);
		big->array = NULL;
		big->narray = 0;
	}
	big->sort_ns += sort_clock() - since;
	return status;
}

SortStatus
sorter_plan(Sorter *s, SortWant want, SortError *err)
{
	SorterBig  *big = s->big;
	SortPlanInput in;
	SortStatus	status;
	int32_t		lo = 0;
	int32_t		hi = 0;
	bool		counted = big->dense.n > 0 || big->sparse.len > 0;

	/* What is planned for: all keys, wherever they are. */
	(void) sorter_find_bounds(s, &lo, &hi);
	in = sort_job_plan_input(s->context, want, sorter_count(s), lo, hi);
	big->want = want;

	/*
	 * Keys that are counted already need no device.  With device "gpu" forced only the keys of
	 * runs that were added are counted.
	 */
	if (counted || big->array_ordered)
		in.device = SORT_DEVICE_CPU;
	else if (!big->gpu_failed)
		sort_job_ask_gpu(s->context, s->context->device == SORT_DEVICE_GPU, &in);
	else
		in.gpu_reason = big->gpu_words;
	status = plan_choose(&in, &big->plan, err);
	if (status == SORT_OK && counted)
		status = check_runs(s, err);
	if (status != SORT_OK)
		return status;

	/* Why it is not the GPU is noted in the plan. */
	if (big->gpu_failed)
		plan_fall_back(&big->plan, big->gpu_words);
	else if (in.gpu == NULL && in.gpu_reason)
	{
		SortError	failure;

		snprintf(big->plan.note, sizeof(big->plan.note), "%s", in.gpu_reason);
		sort_fail(&failure, SORT_DEVICE_UNAVAILABLE, "%s", in.gpu_reason);
		sort_job_gpu_failed(s->context, &failure);
	}
	/* What has been streamed is for nothing. */
	if (big->plan.device != SORT_DEVICE_GPU)
		sorter_stream_drop(s);

	/* Then the plan is made to say what is done, where that is not what was chosen. */
	if (big->array_ordered)
	{
		big->plan.algorithm = SORT_ALGORITHM_RADIX;
		big->plan.reason = PLAN_ORDERED;
	}
	else if (counted && in.algorithm == SORT_ALGORITHM_AUTO &&
			 big->plan.algorithm != SORT_ALGORITHM_ZERO_COMPRESSED)
	{
		/* Filling has decided: the plan names what was done. */
		big->plan.algorithm = SORT_ALGORITHM_ZERO_COMPRESSED;
		big->plan.reason = PLAN_COUNTED;
	}
	else if (big->plan.device == SORT_DEVICE_CPU && !counted && in.n > 0 &&
			 want != SORT_WANT_PERMUTATION &&
			 big->plan.algorithm == SORT_ALGORITHM_ZERO_COMPRESSED)
	{
		if (sorter_allows_bins(s, big->plan.range) || in.algorithm != SORT_ALGORITHM_AUTO)
			status = count_all(s, lo, hi, err);
		else
		{
			/* No memory for the bins: the other algorithm, whatever it costs. */
			big->plan.algorithm = SORT_ALGORITHM_RADIX;
			big->plan.cost_ns = big->plan.other_ns;
			big->plan.other_ns = -1.0;
		}
	}
	if (big->dense.range > 0)
		histogram_sum_tables(&big->dense);
	return status;
}

/*
 * Streaming: an open job of the GPU that is given what buf keeps, a block at a
 * time, while the next keys arrive.
 */

/*
 * After a failure of the GPU: with device "gpu" forced the error goes to the
 * caller; otherwise SORT_OK, and the sorter uses the CPU from now on.
 */
static SortStatus
give_up_gpu(Sorter *s, SortError *err)
{
	SorterBig  *big = s->big;

	if (err->status == SORT_CANCELLED || s->context->device == SORT_DEVICE_GPU)
		return err->status;
	sort_job_gpu_failed(s->context, err);
	big->gpu_failed = true;
	snprintf(big->gpu_words, sizeof(big->gpu_words), "%s", err->message);
	return SORT_OK;
}

SortStatus
sorter_stream(Sorter *s, SortError *err)
{
	SorterBig  *big = s->big;
	size_t		n = big->nkept - big->streamed; /* what the job has not been given yet */
	SortStatus	status;

	if (big->stream == NULL || n == 0)
		return SORT_OK;
	status = big->stream->device->add(big->stream, s->buf + big->streamed, n, err);
	big->streamed = big->nkept;
	if (status == SORT_OK)
		return SORT_OK;
	sorter_stream_drop(s);
	return give_up_gpu(s, err);
}

SortStatus
sorter_stream_start(Sorter *s, SortError *err)
{
	SorterBig  *big = s->big;
	const SortGpu *gpu = s->context->gpu;
	SortJobSpec spec = {
		.want = SORT_WANT_KEYS,
		.lo = s->lo,
		.hi = s->hi
	};
	SortPlan	plan;
	SortError	ignored;
	int32_t		lo;
	int32_t		hi;

	if (gpu == NULL || big->stream || big->gpu_failed ||
		big->dense.range > 0 || big->sparse.len > 0 || big->narray > 0 ||
		s->nbuf < STREAM_MIN || s->nbuf < big->stream_at)
		return SORT_OK;

	/* If no job is opened now, the next try is at twice as many keys. */
	big->stream_at = 2 * s->nbuf;
	if (!wide_min_max(s->buf, s->nbuf, &lo, &hi, s->context))
		return sort_cancelled(err);
	if (!sorter_prefers_gpu(s, SORT_WANT_KEYS, s->nbuf, lo, hi, &plan))
		return SORT_OK;
	spec.algorithm = plan.algorithm;

	/*
	 * Failing to open a job this early does not mean that the GPU has failed: another sorter of
	 * the session may be streaming.
	 */
	if (sort_job_start(gpu->device, s->context, &spec, NULL, &big->stream, &ignored) != SORT_OK)
		return ignored.status == SORT_CANCELLED ? sort_cancelled(err) : SORT_OK;
	big->streamed = 0;
	return sorter_stream(s, err);
}

void
sorter_limit_buffer(Sorter *s)
{
	SorterBig  *big = s->big;
	size_t		room = sorter_room(s);

	/* While keys are streamed, buf gets the rest of its room block by block. */
	big->room = room;
	s->capacity = big->stream && room - s->nbuf > STREAM_BLOCK ? s->nbuf + STREAM_BLOCK : room;
}

/*
 * Jobs of the keys that are still keys, all of them at once.
 */

/* The keys that are still keys, all of them in one array; *n is how many. */
static const int32_t *
kept_keys(const Sorter *s, size_t *n)
{
	const SorterBig *big = s->big;

	*n = big->narray > 0 ? big->narray : s->nbuf;
	return big->narray > 0 ? big->array : s->buf;
}

/* Sorts the kept keys on the planned device: by the job that has them already, or a new one. */
static SortStatus
run_job(Sorter *s, const SortOutput *output, SortError *err)
{
	SorterBig  *big = s->big;
	SortJob    *job = big->stream;
	size_t		n;
	const int32_t *keys = kept_keys(s, &n);
	SortJobSpec spec = {
		.algorithm = big->plan.algorithm,
		.want = sort_output_want(output),
		.descending = output->descending,
		.lo = n > 0 ? big->kept_lo : 0,
		.hi = n > 0 ? big->kept_hi : 0,
		.n = n,
	};

	if (big->plan.device != SORT_DEVICE_GPU)
		return cpu_sort(s->context, &spec, keys, output, &big->plan.threads, err);
	/* A stream serves once: its job ends with the first result. */
	if (job && spec.want == SORT_WANT_KEYS)
	{
		big->stream = NULL;
		return sort_job_complete(job, output, &big->plan, err);
	}
	return sort_job_run(s->context->gpu->device, s->context, &spec, n > 0 ? keys : NULL, output,
						&big->plan, err);
}

SortStatus
sorter_run_job(Sorter *s, const SortOutput *output, bool *done, SortError *err)
{
	SorterBig  *big = s->big;
	const SortAllocator *a = sorter_allocator(s);
	SortOutput	aside = *output;
	SortStatus	status;
	bool		in_place;		/* the result is to be where the keys are */
	bool		own;			/* they are in buf, which the result becomes */
	size_t		n;

	*done = true;
	if (big->plan.device != SORT_DEVICE_GPU)
		return run_job(s, output, err);

	/* An algorithm that is forced is used, or it is an error: no other is as good. */
	aside.as_planned = s->context->algorithm != SORT_ALGORITHM_AUTO;

	/* No device may write over the only copy of the keys but the CPU. */
	in_place = output->keys && output->keys == kept_keys(s, &n);
	own = in_place && output->keys == s->buf && s->buf != s->inline_keys;
	if (in_place)
		aside.keys = a->alloc(a->arena, (own ? sorter_room(s) : n | 1) * sizeof(int32_t));
	if (in_place && aside.keys == NULL)
		status = sort_no_memory(err);
	else
		status = run_job(s, &aside, err);
	if (status == SORT_OK && own)
	{
		int32_t    *unordered = s->buf;

		s->buf = aside.keys;
		aside.keys = unordered;
	}
	/* A cancel while keys are written over themselves ends the sort. */
	else if (status == SORT_OK && in_place &&
			 !sort_copy(s->context, output->keys, aside.keys, n, sizeof(int32_t)))
		status = sort_cancelled(err);
	if (in_place && aside.keys)
		a->release(a->arena, aside.keys);
	if (status == SORT_OK)
		return SORT_OK;

	/* The keys are as they were: another plan is made, for the CPU. */
	*done = false;
	status = give_up_gpu(s, err);
	return status == SORT_OK ? sorter_plan(s, big->want, err) : status;
}

bool
sorter_runs_are_smaller(const Sorter *s)
{
	const SorterBig *big = s->big;
	size_t		n;
	const int32_t *keys = kept_keys(s, &n);
	int32_t		sample[SORTER_SAMPLE];

	/* A run takes the room of three keys, and some work of its own. */
	if (n < SORTER_SAMPLE)
		return false;
	if (plan_range(big->kept_lo, big->kept_hi) <= n / 4)
		return true;
	sorter_take_sample(s, keys, n, sample);
	return sorter_sample_repeats(sample, n);
}

SortStatus
sorter_gpu_to_runs(Sorter *s, bool *done, SortError *err)
{
	SorterBig  *big = s->big;
	const SortAllocator *a = sorter_allocator(s);
	uint64_t	n = sorter_count(s);
	Runs		runs = {0};
	SortOutput	output = {.runs = &runs};
	uint64_t	since = sort_clock();
	SortStatus	status = sorter_run_job(s, &output, done, err);

	if (status != SORT_OK || !*done)
	{
		runs_release(&runs, a);
		return status;
	}
	/* The runs are all that the sorter has from now on. */
	runs_release(&big->sparse, a);
	big->sparse = runs;
	big->sparse_n = n;
	big->array = NULL;
	big->narray = 0;
	s->nbuf = big->nkept = big->streamed = 0;
	big->ordered = true;
	big->sort_ns += sort_clock() - since;
	big->bytes_moved += n * sizeof(int32_t) + runs.len * (sizeof(int32_t) + sizeof(uint64_t));
	return SORT_OK;
}
