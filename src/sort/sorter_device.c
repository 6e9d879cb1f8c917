/*
 * sorter_device.c
 *		The sorter and its devices: asking the plan, giving keys to the GPU
 *		while more arrive, and taking over what the GPU could not finish.
 *
 * The rule that all of it serves: a sorter keeps its keys until the result is
 * in hand.  A job of the GPU never reads into the only copy of them, so that
 * at any failure the CPU starts from the keys as they came.
 */
#include <stdio.h>
#include <string.h>

#include "sort/algorithms.h"
#include "sort/cpu_device.h"
#include "sort/error.h"
#include "sort/kernels.h"
#include "sort/sorter.h"
#include "sort/sorter_internal.h"

/*
 * Keys in the buffer from which they are given to the GPU as they come: one
 * chunk of the service.  A smaller buffer is sent in less time than a job
 * takes to open.
 */
#define STREAM_MIN ((size_t) 1 << 20)

/* Keys given at once from then on. */
#define STREAM_BLOCK ((size_t) 1 << 20)

/*
 * Distinct keys of a sample of so many are counted to guess whether runs will
 * be smaller than keys.
 */
#define RUNS_SAMPLE 1024

static void
describe_input(const Sorter *s, SortWant want, uint64_t n, int32_t lo, int32_t hi,
			   SortPlanInput *in)
{
	memset(in, 0, sizeof(*in));
	in->n = n;
	in->lo = lo;
	in->hi = hi;
	in->want = want;
	in->device = s->context->device;
	in->algorithm = s->context->algorithm;
}

/* Asks the GPU for its costs, if the plan says that it might pay. */
static void
ask_gpu(const Sorter *s, bool required, SortPlanInput *in)
{
	const SortGpu *gpu = s->context->gpu;

	if (gpu == NULL || !plan_asks_gpu(in))
		return;
	in->gpu = gpu->costs(gpu->arg, in->n, required, &in->gpu_reason);
}

/* Whether what is forced cannot be done without a GPU. */
static bool
only_gpu_can(const Sorter *s, SortWant want)
{
	SortAlgorithm forced = s->context->algorithm;

	return s->context->device == SORT_DEVICE_GPU ||
		(s->context->device == SORT_DEVICE_AUTO && forced != SORT_ALGORITHM_AUTO &&
		 !algorithm_runs_on(forced, SORT_DEVICE_CPU, SORT_WANT_KEYS) &&
		 algorithm_runs_on(forced, SORT_DEVICE_GPU, want));
}

/* Tells whoever lent the GPU that the CPU takes over, in the device's words. */
static void
tell_failed(const Sorter *s, const SortError *failure)
{
	const SortGpu *gpu = s->context->gpu;

	if (gpu->failed)
		gpu->failed(gpu->arg, failure);
}

bool
sorter_prefers_gpu(const Sorter *s, SortWant want, uint64_t n, int32_t lo, int32_t hi)
{
	SortPlanInput in;
	SortPlan	plan;
	SortError	ignored;

	if (s->context->gpu == NULL || s->context->device == SORT_DEVICE_CPU || s->big->gpu_failed)
		return false;
	describe_input(s, want, n, lo, hi, &in);
	ask_gpu(s, false, &in);
	return in.gpu != NULL && plan_choose(&in, &plan, &ignored) == SORT_OK &&
		plan.device == SORT_DEVICE_GPU;
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

	(void) sorter_find_bounds(s, &lo, &hi);
	describe_input(s, want, sorter_count(s), lo, hi, &in);
	big->want = want;
	big->threads = 0;

	/*
	 * What is counted already needs no device.  With device "gpu" forced that
	 * happens only to a sorter that was given runs.
	 */
	if (counted || big->array_ordered)
		in.device = SORT_DEVICE_CPU;
	else if (!big->gpu_failed)
		ask_gpu(s, only_gpu_can(s, want), &in);
	else
		in.gpu_reason = big->gpu_words;
	status = plan_choose(&in, &big->plan, err);
	if (status != SORT_OK)
		return status;

	if (big->gpu_failed)
	{
		big->plan.reason = PLAN_FALLBACK;
		snprintf(big->plan.note, sizeof(big->plan.note), "%s", big->gpu_words);
	}
	else if (in.gpu == NULL && in.gpu_reason)
	{
		SortError	failure;

		snprintf(big->plan.note, sizeof(big->plan.note), "%s", in.gpu_reason);
		sort_fail(&failure, SORT_DEVICE_UNAVAILABLE, "%s", in.gpu_reason);
		tell_failed(s, &failure);
	}
	if (big->plan.device != SORT_DEVICE_GPU)
		sorter_stream_drop(s);

	if (big->array_ordered)
	{
		big->plan.algorithm = SORT_ALGORITHM_RADIX;
		big->plan.reason = PLAN_ORDERED;
	}
	else if (counted && in.algorithm == SORT_ALGORITHM_AUTO &&
			 big->plan.algorithm != SORT_ALGORITHM_ZERO_COMPRESSED)
	{
		/* Filling has decided already; this is what was done. */
		big->plan.algorithm = SORT_ALGORITHM_ZERO_COMPRESSED;
		big->plan.reason = PLAN_COUNTED;
	}
	else if (big->plan.device == SORT_DEVICE_CPU && !counted && s->nbuf > 0 &&
			 big->plan.algorithm == SORT_ALGORITHM_ZERO_COMPRESSED)
		status = sorter_make_dense(s, lo, hi, err);
	if (big->dense.range > 0)
		histogram_sum_tables(&big->dense);
	return status;
}

/*
 * Streaming: an open job of the GPU that is given what buf keeps, a block at a
 * time, while the next keys arrive.
 */

void
sorter_stream_drop(Sorter *s)
{
	SorterBig  *big = s->big;

	if (big->stream == NULL)
		return;
	s->context->gpu->device->close(big->stream);
	big->stream = NULL;
}

/*
 * The GPU failed.  With device "gpu" forced that is the caller's error, as it
 * is; otherwise the sorter does without it from now on.
 */
static SortStatus
give_up_gpu(Sorter *s, SortError *err)
{
	SorterBig  *big = s->big;

	if (err->status == SORT_CANCELLED || s->context->device == SORT_DEVICE_GPU ||
		(err->status == SORT_UNSUPPORTED && only_gpu_can(s, big->want)))
		return err->status;
	tell_failed(s, err);
	big->gpu_failed = true;
	snprintf(big->gpu_words, sizeof(big->gpu_words), "%s", err->message);
	return SORT_OK;
}

SortStatus
sorter_stream(Sorter *s, SortError *err)
{
	SorterBig  *big = s->big;
	size_t		n = big->nkept - big->streamed;
	SortStatus	status;

	if (big->stream == NULL || n == 0)
		return SORT_OK;
	status = s->context->gpu->device->add(big->stream, s->buf + big->streamed, n, err);
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
	SortPlanInput in;
	SortPlan	plan;
	SortError	ignored;
	int32_t		lo;
	int32_t		hi;

	if (gpu == NULL || !gpu->device->add_copies || big->stream || big->gpu_failed ||
		big->dense.range > 0 || big->sparse.len > 0 || big->narray > 0 ||
		s->nbuf < STREAM_MIN || s->nbuf < big->stream_at)
		return SORT_OK;

	/* Should it not work now, ask again when there is twice as much. */
	big->stream_at = 2 * s->nbuf;
	if (!wide_min_max(s->buf, s->nbuf, &lo, &hi, s->context))
		return sort_cancelled(err);
	if (!sorter_prefers_gpu(s, SORT_WANT_KEYS, s->nbuf, lo, hi))
		return SORT_OK;
	describe_input(s, SORT_WANT_KEYS, s->nbuf, lo, hi, &in);
	ask_gpu(s, false, &in);
	if (in.gpu == NULL || plan_choose(&in, &plan, &ignored) != SORT_OK)
		return SORT_OK;
	spec.algorithm = plan.algorithm;

	/*
	 * That no job can be opened early says nothing about finish: another
	 * sorter of this session may be streaming.
	 */
	if (gpu->device->open(s->context, &spec, &big->stream, &ignored) != SORT_OK)
	{
		big->stream = NULL;
		return ignored.status == SORT_CANCELLED ? sort_cancelled(err) : SORT_OK;
	}
	big->streamed = 0;
	return sorter_stream(s, err);
}

void
sorter_limit_buffer(Sorter *s)
{
	SorterBig  *big = s->big;
	size_t		room = sorter_room(s);

	big->room = room;
	s->capacity = big->stream && room - s->nbuf > STREAM_BLOCK ? s->nbuf + STREAM_BLOCK : room;
}

/*
 * Jobs of the keys that are still keys, all of them at once.
 */

/* Opens a job on the planned device, and gives it all keys. */
static SortStatus
open_job(Sorter *s, const SortDevice *device, SortWant want, bool descending, SortJob **job,
		 SortError *err)
{
	SorterBig  *big = s->big;
	const int32_t *keys = big->narray > 0 ? big->array : s->buf;
	size_t		n = big->narray > 0 ? big->narray : s->nbuf;
	SortJobSpec spec = {
		.algorithm = big->plan.algorithm,
		.want = want,
		.descending = descending,
		.lo = n > 0 ? big->kept_lo : 0,
		.hi = n > 0 ? big->kept_hi : 0,
		.n = n,
	};
	SortStatus	status;

	*job = NULL;
	status = device->open(s->context, &spec, job, err);
	if (status == SORT_OK && n > 0)
		status = device->add(*job, keys, n, err);
	return status;
}

static SortStatus
run_job(Sorter *s, const SortDevice *device, const SorterRead *read, SortError *err)
{
	SorterBig  *big = s->big;
	SortJob    *job = big->stream;
	SortStatus	status = SORT_OK;

	/* A stream serves once: its job ends with the first result. */
	if (job && device == s->context->gpu->device && read->want == SORT_WANT_KEYS)
		big->stream = NULL;
	else
		status = open_job(s, device, read->want, read->descending, &job, err);
	if (status == SORT_OK)
		status = device->finish(job, err);
	if (status == SORT_OK && device->describe)
	{
		SortAlgorithm algorithm = big->plan.algorithm;
		const char *words = device->describe(job, &algorithm);

		/* What is forced is used, or it is an error: no other is as good. */
		if (s->context->algorithm != SORT_ALGORITHM_AUTO && algorithm != s->context->algorithm)
			status = sort_fail(err, SORT_UNSUPPORTED, "the GPU sorts such keys with algorithm \"%s\" only",
							   sort_algorithm_name(algorithm));
		big->plan.algorithm = algorithm;
		snprintf(big->plan.note, sizeof(big->plan.note), "%s", words ? words : "");
	}
	if (status == SORT_OK)
		switch (read->want)
		{
			case SORT_WANT_KEYS:
				status = device->read_keys(job, read->descending, read->keys, err);
				break;
			case SORT_WANT_RUNS:
				status = device->read_runs(job, read->runs, err);
				break;
			case SORT_WANT_PERMUTATION:
				status = device->read_permutation(job, read->descending, read->base,
												  read->positions, err);
				break;
		}
	if (status == SORT_OK)
		big->threads = device->threads ? device->threads(job) : 1;
	device->close(job);
	return status;
}

/* Over the keys themselves: an interrupt in the middle of it ends the sort. */
static SortStatus
copy_result(const Sorter *s, int32_t *to, const int32_t *from, size_t n, SortError *err)
{
	size_t		i;

	for (i = 0; i < n; i += SORTER_CHECK_EVERY)
	{
		size_t		part = n - i < SORTER_CHECK_EVERY ? n - i : SORTER_CHECK_EVERY;

		memcpy(to + i, from + i, part * sizeof(int32_t));
		if (n > SORTER_CHECK_EVERY && sort_interrupted(s->context))
			return sort_cancelled(err);
	}
	return SORT_OK;
}

SortStatus
sorter_run_job(Sorter *s, const SorterRead *read, bool *done, SortError *err)
{
	SorterBig  *big = s->big;
	const SortAllocator *a = sorter_allocator(s);
	size_t		n = (size_t) (big->narray > 0 ? big->narray : s->nbuf);
	SorterRead	aside = *read;
	SortStatus	status;
	bool		in_place;

	*done = true;
	if (big->plan.device != SORT_DEVICE_GPU)
		return run_job(s, &cpu_device, read, err);

	/* No device may write over the only copy of the keys but this one. */
	in_place = read->want == SORT_WANT_KEYS &&
		read->keys == (big->narray > 0 ? big->array : s->buf);
	if (in_place)
		aside.keys = a->alloc(a->arena, (n | 1) * sizeof(int32_t));
	if (in_place && aside.keys == NULL)
		status = sort_no_memory(err);
	else
		status = run_job(s, s->context->gpu->device, &aside, err);
	if (in_place && aside.keys)
	{
		if (status == SORT_OK)
			status = copy_result(s, read->keys, aside.keys, n, err);
		a->release(a->arena, aside.keys);
	}
	if (status == SORT_OK)
		return SORT_OK;

	*done = false;
	status = give_up_gpu(s, err);
	return status == SORT_OK ? sorter_plan(s, big->want, err) : status;
}

bool
sorter_runs_are_smaller(const Sorter *s)
{
	const SorterBig *big = s->big;
	const int32_t *keys = big->narray > 0 ? big->array : s->buf;
	size_t		n = big->narray > 0 ? big->narray : s->nbuf;
	uint64_t	range;

	/* A run takes the room of three keys, and some work of its own. */
	if (n < RUNS_SAMPLE)
		return false;
	range = plan_range(big->kept_lo, big->kept_hi);
	return range <= n / 4 || sorter_sample_repeats(s, keys, n);
}

SortStatus
sorter_gpu_to_runs(Sorter *s, bool *done, SortError *err)
{
	SorterBig  *big = s->big;
	const SortAllocator *a = sorter_allocator(s);
	uint64_t	n = sorter_count(s);
	Runs		runs = {0};
	SorterRead	read = {.want = SORT_WANT_RUNS, .runs = &runs};
	uint64_t	since = sorter_clock();
	SortStatus	status = sorter_run_job(s, &read, done, err);

	if (status != SORT_OK || !*done)
	{
		runs_release(&runs, a);
		return status;
	}
	runs_release(&big->sparse, a);
	big->sparse = runs;
	big->sparse_n = n;
	big->array = NULL;
	big->narray = 0;
	s->nbuf = big->nkept = big->streamed = 0;
	big->ordered = true;
	big->sort_ns += sorter_clock() - since;
	big->bytes_moved += n * sizeof(int32_t) + runs.len * (sizeof(int32_t) + sizeof(uint64_t));
	return SORT_OK;
}

SortStatus
sorter_gpu_order_buffer(Sorter *s, bool *done, SortError *err)
{
	SorterBig  *big = s->big;
	const SortAllocator *a = sorter_allocator(s);
	size_t		room = sorter_room(s);
	int32_t    *ordered = a->alloc(a->arena, room * sizeof(int32_t));
	SorterRead	read = {.want = SORT_WANT_KEYS, .keys = ordered};
	uint64_t	since = sorter_clock();
	SortStatus	status;

	if (ordered == NULL)
	{
		/* The CPU needs no second block. */
		*done = false;
		sort_no_memory(err);
		status = give_up_gpu(s, err);
		return status == SORT_OK ? sorter_plan(s, big->want, err) : status;
	}
	status = sorter_run_job(s, &read, done, err);
	if (status != SORT_OK || !*done)
	{
		a->release(a->arena, ordered);
		return status;
	}
	if (s->buf != s->inline_keys)
	{
		a->release(a->arena, s->buf);
		s->buf = ordered;
	}
	else
	{
		memcpy(s->buf, ordered, s->nbuf * sizeof(int32_t));
		a->release(a->arena, ordered);
	}
	big->ordered = true;
	big->sort_ns += sorter_clock() - since;
	big->bytes_moved += 2 * s->nbuf * sizeof(int32_t);
	return SORT_OK;
}
