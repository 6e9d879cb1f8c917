/*
 * divided_job.c
 *		One job over the jobs of several devices (see divided_job.h).
 */
#include "sort/rows/divided_job.h"

#include <string.h>

#include "sort/error.h"
#include "sort/rows/divided_keys.h"

typedef struct DividedJob
{
	SortJob		base;
	DividedParts parts;
	DividedKeys *divided;		/* NULL: nothing has been asked */
	int32_t    *found;			/* the numbers of rows that were found; NULL: not yet asked for */
} DividedJob;

/* Finds the numbers that rows found have in the whole list, in ascending order. */
static SortStatus
number_found(DividedJob *job, SortError *err)
{
	const SortAllocator *a = &job->base.context->allocator;
	const DividedParts *parts = &job->parts;
	size_t		n = (size_t) job->base.keys;
	int32_t    *numbers = a->alloc(a->arena, (n + 1) * sizeof(int32_t));
	uint64_t   *asked = a->alloc(a->arena, (n + 1) * sizeof(uint64_t));
	size_t		at[SORT_DEVICES_MOST];	/* the next one of each job, ... */
	size_t		end[SORT_DEVICES_MOST];
	int64_t		starts[SORT_DEVICES_MOST] = {0};	/* ... and its rows so far */
	int64_t		start = 0;
	size_t		nfound = 0;
	bool		going = true;
	SortStatus	status = SORT_OK;
	size_t		i;
	int			j;

	job->found = a->alloc(a->arena, (n + 1) * sizeof(int32_t));
	if (numbers == NULL || asked == NULL || job->found == NULL)
		status = sort_no_memory(err);
	for (i = 0; i < n && status == SORT_OK; i++)
		asked[i] = i;
	for (i = 0, j = 0; j < parts->n && status == SORT_OK; j++)
	{
		at[j] = i;
		end[j] = i += (size_t) parts->jobs[j]->keys;
		status = divided_begin(parts->jobs[j], SORT_LOOK_AT, asked, end[j] - at[j], &going, err);
	}
	for (j = 0; j < parts->n && status == SORT_OK; j++)
		status = divided_ask(parts->jobs[j], SORT_LOOK_AT, asked, end[j] - at[j], numbers + at[j],
							 err);
	for (i = 0; i < parts->nrows && status == SORT_OK; i++)
	{
		int64_t		rows = parts->rows[i].rows;

		j = parts->part_of[i];
		for (; at[j] < end[j] && numbers[at[j]] < starts[j] + rows; at[j]++)
			job->found[nfound++] = (int32_t) (numbers[at[j]] - starts[j] + start);
		starts[j] += rows;
		start += rows;
	}
	if (status == SORT_OK && nfound < n)
		status = divided_lied(err);
	if (numbers)
		a->release(a->arena, numbers);
	if (asked)
		a->release(a->arena, asked);
	return status;
}

/* SortDevice.look_up. */
static SortStatus
divided_look_up(SortJob *base, SortLook look, const void *questions, size_t n, void *answers,
				SortError *err)
{
	DividedJob *job = (DividedJob *) base;
	const DividedParts *parts = &job->parts;
	SortStatus	status = SORT_OK;

	if (parts->rows == NULL)
	{
		if (job->divided == NULL)
			job->divided = divided_keys_make(&base->context->allocator, parts->jobs, parts->n,
											 base->spec.lo, base->spec.hi, parts->grain);
		return job->divided == NULL ? sort_no_memory(err) :
			divided_keys_look_up(job->divided, look, questions, n, answers, err);
	}
	if (look != SORT_LOOK_AT)
		return sort_fail(err, SORT_UNSUPPORTED, "rows that were found have no order");
	if (job->found == NULL)
		status = number_found(job, err);
	for (size_t i = 0; i < n && status == SORT_OK; i++)
		((int32_t *) answers)[i] = job->found[((const uint64_t *) questions)[i]];
	return status;
}

/*
 * SortDevice.finish: has all devices sort at the same time.  A job whose runs are read is finished
 * when it is read: a device that has a result may have taken memory for it that another one needs.
 */
static SortStatus
divided_finish(SortJob *base, SortError *err)
{
	DividedJob *job = (DividedJob *) base;
	SortStatus	status = SORT_OK;

	for (int j = 0; j < job->parts.n && status == SORT_OK && base->spec.look_up; j++)
		if (job->parts.jobs[j]->device->begin_finish)
			status = job->parts.jobs[j]->device->begin_finish(job->parts.jobs[j], err);
	for (int j = 0; j < job->parts.n && status == SORT_OK && base->spec.look_up; j++)
	{
		status = job->parts.jobs[j]->device->finish(job->parts.jobs[j], err);
		base->keys += job->parts.jobs[j]->keys;
	}
	return status;
}

/* SortDevice.read_runs. */
static SortStatus
divided_read_runs(SortJob *base, Runs *runs, SortError *err)
{
	DividedJob *job = (DividedJob *) base;
	SortStatus	status = SORT_OK;

	for (int j = 0; j < job->parts.n && status == SORT_OK; j++)
	{
		SortJob    *part = job->parts.jobs[j];

		status = part->device->finish(part, err);
		if (status == SORT_OK)
			status = part->device->read_runs(part, runs, err);

		/* It gives back what it has of the service before the next one waits for some. */
		job->parts.jobs[j] = NULL;
		part->device->close(part);
	}
	return status;
}

/* SortDevice.close. */
static void
divided_close(SortJob *base)
{
	DividedJob *job = (DividedJob *) base;
	const SortAllocator *a;

	if (job == NULL)
		return;
	a = &base->context->allocator;
	for (int j = 0; j < job->parts.n; j++)
		if (job->parts.jobs[j])
			job->parts.jobs[j]->device->close(job->parts.jobs[j]);
	if (job->parts.part_of)
		a->release(a->arena, (void *) job->parts.part_of);
	if (job->divided)
		a->release(a->arena, job->divided);
	if (job->found)
		a->release(a->arena, job->found);
	a->release(a->arena, job);
}

static const SortDevice divided_device = {
	.look_up = divided_look_up,
	.finish = divided_finish,
	.read_runs = divided_read_runs,
	.close = divided_close,
};

SortStatus
divided_job_make(const SortContext *context, const DividedParts *parts, SortJob **result,
				 SortError *err)
{
	const SortAllocator *a = &context->allocator;
	const SortJobSpec *spec = &parts->jobs[0]->spec;
	DividedJob *job = a->alloc(a->arena, sizeof(DividedJob));

	*result = NULL;
	if (job == NULL)
	{
		for (int j = 0; j < parts->n; j++)
			parts->jobs[j]->device->close(parts->jobs[j]);
		if (parts->part_of)
			a->release(a->arena, (void *) parts->part_of);
		return sort_no_memory(err);
	}
	memset(job, 0, sizeof(*job));
	sort_job_init(&job->base, &divided_device, context, spec);
	job->parts = *parts;
	*result = &job->base;
	return SORT_OK;
}
