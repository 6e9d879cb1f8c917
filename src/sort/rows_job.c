/*
 * rows_job.c
 *		A GPU's sorted keys of rows (see rows_job.h).
 */
#include "sort/rows_job.h"

#include "sort/error.h"
#include "sort/job.h"

/* As in extent_job.c: so many bytes are brought before it is asked whether there was room for them. */
#define SLICE_BYTES ((size_t) 32 << 20)

bool
rows_job_pays(const SortContext *context, uint64_t n, int ncolumns, uint64_t range)
{
	const SortGpu *gpu = context->gpu;
	const SortDeviceCosts *costs;
	const char *reason;
	bool		forced = context->device == SORT_DEVICE_GPU;

	if (gpu == NULL || gpu->device->add_rows == NULL || context->device == SORT_DEVICE_CPU || n == 0 ||
		(context->algorithm != SORT_ALGORITHM_AUTO && context->algorithm != SORT_ALGORITHM_ZERO_COMPRESSED))
		return false;
	if (!forced && !plan_rows_ask_gpu(n, ncolumns, range))
		return false;
	costs = gpu->costs(gpu->arg, n, forced, &reason);
	return costs && (forced || plan_rows_pay(costs, n, ncolumns, range));
}

/* Adds those of rows from .. to - 1 that have not been added, neighbours by one call; *left is how many are not. */
static SortStatus
add_missing(SortJob *job, const RowsJob *rows, size_t from, size_t to, size_t *left, SortError *err)
{
	const uint32_t ncolumns = rows->layout->ncolumns;
	SortStatus	status = SORT_OK;
	size_t		end;

	for (*left = 0; from < to && status == SORT_OK; from = end)
	{
		for (end = from; end < to && !rows->rows[end].added; end++)
			;
		if (end > from)
			status = job->device->add_rows(job, rows->rows + from, rows->generations + from * ncolumns, end - from, err);
		for (; from < end; from++)
			*left += !rows->rows[from].added;
		for (; end < to && rows->rows[end].added; end++)
			;
	}
	return status;
}

/* Brings the extents that rows lack; false if there is one that cannot be brought. */
static bool
keep_extents(SortJob *job, const RowsJob *rows, size_t i, size_t *bytes, SortStatus *status, SortError *err)
{
	const uint32_t ncolumns = rows->layout->ncolumns;
	uint32_t	c;

	if (rows->rows[i].missing >> ncolumns != 0)
		return false;
	for (c = 0; c < ncolumns && *status == SORT_OK; c++)
	{
		size_t		e = i * ncolumns + c;
		const void *extent;
		size_t		size;

		if (!(rows->rows[i].missing >> c & 1))
			continue;
		if (!rows->fetch(rows->arg, e, &extent, &size))
			return false;
		*status = job->device->keep_extent(job, rows->generations[e], extent, size, err);
		*bytes += size;
	}
	if (*status == SORT_OK && sort_interrupted(job->context))
		*status = sort_cancelled(err);
	return true;
}

/* Adds all rows; *complete is false if there was no room for some of them. */
static SortStatus
add_all(SortJob *job, const RowsJob *rows, bool *complete, SortError *err)
{
	size_t		at = 0;
	size_t		left;
	SortStatus	status = add_missing(job, rows, 0, rows->n, &left, err);

	*complete = left == 0;
	while (status == SORT_OK && !*complete)
	{
		size_t		from = at;
		size_t		bytes = 0;

		for (; at < rows->n && bytes < SLICE_BYTES && status == SORT_OK; at++)
			if (!rows->rows[at].added && !keep_extents(job, rows, at, &bytes, &status, err))
				return SORT_OK;
		if (status == SORT_OK)
			status = add_missing(job, rows, from, at, &left, err);
		if (left > 0)
			break;
		*complete = at == rows->n;
	}
	return status;
}

SortStatus
rows_job_sort(const SortContext *context, const RowsJob *rows, SortJob **result, SortError *err)
{
	SortJobSpec spec = {
		.algorithm = SORT_ALGORITHM_ZERO_COMPRESSED,
		.want = SORT_WANT_RUNS,
		.lo = rows->lo,
		.hi = rows->hi,
		.look_up = true,
	};
	bool		complete = false;
	SortJob    *job;
	SortStatus	status;
	size_t		i;

	*result = NULL;
	for (i = 0; i < rows->n; i++)
		rows->rows[i].added = false;
	status = sort_job_start(context->gpu->device, context, &spec, NULL, &job, err);
	if (status != SORT_OK)
		return status;
	if (rows->nkeys > 0)
		status = job->device->add(job, rows->keys, rows->nkeys, err);
	if (status == SORT_OK)
		status = job->device->set_rows(job, rows->layout, rows->ranges, err);
	if (status == SORT_OK)
		status = add_all(job, rows, &complete, err);
	if (status == SORT_OK && complete)
		status = job->device->finish(job, err);
	if (status == SORT_OK && complete)
		*result = job;
	else
		job->device->close(job);
	return status;
}
