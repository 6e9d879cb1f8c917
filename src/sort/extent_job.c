/*
 * extent_job.c
 *		Runs of the keys of extents that a GPU has (see extent_job.h).
 */
#include "sort/extent_job.h"

#include "sort/error.h"
#include "sort/job.h"

/*
 * Bytes that the GPU is given before it is asked whether it has kept them.  If one of
 * these extents was not kept there is no room, and the others are not sent in vain.
 */
#define SLICE_BYTES ((size_t) 32 << 20)

bool
extent_job_pays(const SortContext *context, uint64_t n, int32_t lo, int32_t hi)
{
	const SortGpu *gpu = context->gpu;
	const SortDeviceCosts *costs;
	const char *reason;
	bool		forced = context->device == SORT_DEVICE_GPU;

	if (gpu == NULL || gpu->device->add_extents == NULL || context->device == SORT_DEVICE_CPU || n == 0 ||
		(context->algorithm != SORT_ALGORITHM_AUTO && context->algorithm != SORT_ALGORITHM_ZERO_COMPRESSED))
		return false;
	if (!forced && !plan_extents_ask_gpu(n, lo, hi))
		return false;
	costs = gpu->costs(gpu->arg, n, forced, &reason);
	return costs && (forced || plan_extents_pay(costs, n, lo, hi));
}

/*
 * Gives the device a slice of the extents that have not been added, from *at on, and moves *at
 * behind them; *sent is their number.
 */
static SortStatus
keep_slice(SortJob *job, const ExtentJob *extents, size_t *at, size_t *sent, SortError *err)
{
	SortStatus	status = SORT_OK;
	size_t		total = 0;

	*sent = 0;
	for (; *at < extents->n && total < SLICE_BYTES && status == SORT_OK; (*at)++)
	{
		const SortExtent *extent = &extents->extents[*at];
		const void *bytes;
		size_t		size;

		if (extent->added || !extents->fetch(extents->arg, *at, &bytes, &size))
			continue;
		status = job->device->keep_extent(job, extent->generation, bytes, size, err);
		total += size;
		(*sent)++;
		if (status == SORT_OK && sort_interrupted(job->context))
			status = sort_cancelled(err);
	}
	return status;
}

/*
 * Adds those of the extents from .. to - 1 that have not been added, neighbours by one call;
 * *added is how many the device has.
 */
static SortStatus
add_missing(SortJob *job, SortExtent *extents, size_t from, size_t to, size_t *added, SortError *err)
{
	SortStatus	status = SORT_OK;
	size_t		end;

	for (*added = 0; from < to && status == SORT_OK; from = end)
	{
		for (end = from; end < to && !extents[end].added; end++)
			;
		if (end > from)
			status = job->device->add_extents(job, extents + from, end - from, err);
		for (; from < end; from++)
			*added += extents[from].added;
		for (; end < to && extents[end].added; end++)
			;
	}
	return status;
}

/* Adds all that the device has or has room for. */
static SortStatus
add_all(SortJob *job, const ExtentJob *extents, SortError *err)
{
	size_t		at = 0;
	size_t		sent;
	size_t		added;
	SortStatus	status = add_missing(job, extents->extents, 0, extents->n, &added, err);

	while (status == SORT_OK && at < extents->n)
	{
		size_t		from = at;

		status = keep_slice(job, extents, &at, &sent, err);
		if (status == SORT_OK && sent > 0)
		{
			status = add_missing(job, extents->extents, from, at, &added, err);
			if (added < sent)
				break;
		}
	}
	return status;
}

SortStatus
extent_job_run(const SortContext *context, const ExtentJob *extents, Runs *runs, SortError *err)
{
	SortJobSpec spec = {
		.algorithm = SORT_ALGORITHM_ZERO_COMPRESSED,
		.want = SORT_WANT_RUNS,
		.lo = extents->lo,
		.hi = extents->hi,
	};
	const SortOutput output = {.runs = runs};
	SortJob    *job;
	SortStatus	status;
	size_t		i;

	for (i = 0; i < extents->n; i++)
		extents->extents[i].added = false;
	status = sort_job_start(context->gpu->device, context, &spec, NULL, &job, err);
	if (status != SORT_OK)
		return status;
	status = add_all(job, extents, err);
	if (status == SORT_OK)
		status = sort_job_complete(job, &output, NULL, err);
	else
		job->device->close(job);
	for (i = 0; i < extents->n && status != SORT_OK; i++)
		extents->extents[i].added = false;
	return status;
}
