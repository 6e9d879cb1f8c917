/*
 * rows_job.c
 *		A GPU's jobs over rows (see rows_job.h).
 */
#include "sort/rows/rows_job.h"

#include "sort/device/job.h"
#include "sort/error.h"

/*
 * Bytes that the GPU is given before it is asked whether it has kept them.  If one of
 * these extents was not kept there is no room, and the others are not sent in vain.
 */
#define SLICE_BYTES ((size_t) 32 << 20)

bool
rows_job_pays(const SortContext *context, uint64_t n, int ncolumns, uint64_t range, int njobs,
			  bool ordered)
{
	const SortGpu *gpu = context->gpu;
	const SortDeviceCosts *costs;
	const char *reason;
	bool		forced = context->device == SORT_DEVICE_GPU;

	if (gpu == NULL || gpu->device->add_rows == NULL || context->device == SORT_DEVICE_CPU ||
		n == 0 ||
		(context->algorithm != SORT_ALGORITHM_AUTO &&
		 context->algorithm != SORT_ALGORITHM_ZERO_COMPRESSED))
		return false;
	if (!forced && !plan_rows_pay(NULL, n, ncolumns, range, njobs, ordered))
		return false;
	costs = gpu->costs(gpu->arg, n, forced, &reason);
	return costs && (forced || plan_rows_pay(costs, n, ncolumns, range, njobs, ordered));
}

/* How many columns' extents each of the rows has. */
static inline uint32_t
columns_of(const RowsJob *rows)
{
	return rows->layout ? rows->layout->ncolumns : 1;
}

/*
 * Adds the rows from .. to - 1 that have not been added, neighbours by one call; *left is
 * how many are not.
 */
static SortStatus
add_missing(SortJob *job, const RowsJob *rows, size_t from, size_t to, size_t *left, SortError *err)
{
	const uint32_t ncolumns = columns_of(rows);
	SortStatus	status = SORT_OK;
	size_t		end;

	for (*left = 0; from < to && status == SORT_OK; from = end)
	{
		for (end = from; end < to && !rows->rows[end].added; end++)
			;
		if (end > from)
			status = job->device->add_rows(job, rows->rows + from,
										   rows->generations + from * ncolumns, end - from, err);
		for (; from < end; from++)
			*left += !rows->rows[from].added;
		for (; end < to && rows->rows[end].added; end++)
			;
	}
	return status;
}

/* Brings the extents that rows lack; false if there is one that cannot be brought. */
static bool
keep_extents(SortJob *job, const RowsJob *rows, size_t i, size_t *bytes, SortStatus *status,
			 SortError *err)
{
	const uint32_t ncolumns = columns_of(rows);
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

/*
 * Adds all rows that the device has or has room for.  *complete is false if these are not all;
 * where rows are sorted, the adding ends with the first one that cannot be had.
 */
static SortStatus
add_all(SortJob *job, const RowsJob *rows, bool *complete, SortError *err)
{
	size_t		at = 0;
	size_t		left;
	SortStatus	status = add_missing(job, rows, 0, rows->n, &left, err);

	*complete = left == 0;
	while (status == SORT_OK && !*complete && at < rows->n)
	{
		size_t		from = at;
		size_t		bytes = 0;
		size_t		gone = 0;

		for (; at < rows->n && bytes < SLICE_BYTES && status == SORT_OK; at++)
			if (!rows->rows[at].added && !keep_extents(job, rows, at, &bytes, &status, err))
			{
				if (rows->layout)
					return SORT_OK;
				gone++;
			}
		if (status != SORT_OK || bytes == 0)
			continue;
		status = add_missing(job, rows, from, at, &left, err);
		if (left > gone)
			return status;
	}
	*complete = *complete || (status == SORT_OK && rows->layout);
	return status;
}

/*
 * Opens a job and adds the keys and the rows to it.  *job is NULL on failure, and if rows that
 * have a layout, all of which are needed, cannot all be had.
 */
static SortStatus
start_job(const SortContext *context, const RowsJob *rows, SortJob **job, SortError *err)
{
	const SortDevice *device = context->gpu->device;
	SortJobSpec spec = {
		.algorithm = SORT_ALGORITHM_ZERO_COMPRESSED,
		.want = SORT_WANT_RUNS,
		.lo = rows->lo,
		.hi = rows->hi,
		.look_up = rows->layout != NULL,
	};
	bool		complete = false;
	SortStatus	status;
	size_t		i;

	for (i = 0; i < rows->n; i++)
		rows->rows[i].added = false;
	status = sort_job_start(device, context, &spec, NULL, job, err);
	if (status != SORT_OK)
		return status;
	if (rows->nkeys > 0)
		status = device->add(*job, rows->keys, rows->nkeys, err);
	if (status == SORT_OK && rows->layout)
		status = device->set_rows(*job, rows->layout, rows->ranges, err);
	if (status == SORT_OK)
		status = add_all(*job, rows, &complete, err);
	if (status != SORT_OK || (rows->layout && !complete))
	{
		device->close(*job);
		*job = NULL;
	}
	return status;
}

SortStatus
rows_job_sort(const SortContext *context, const RowsJob *rows, SortJob **job, SortError *err)
{
	SortStatus	status = start_job(context, rows, job, err);

	if (*job == NULL)
		return status;
	status = (*job)->device->finish(*job, err);
	if (status != SORT_OK)
	{
		(*job)->device->close(*job);
		*job = NULL;
	}
	return status;
}

SortStatus
rows_job_count(const SortContext *context, const RowsJob *rows, Runs *runs, SortError *err)
{
	const SortOutput output = {.runs = runs};
	SortJob    *job;
	SortStatus	status = start_job(context, rows, &job, err);
	size_t		i;

	if (status == SORT_OK)
		status = sort_job_complete(job, &output, NULL, err);
	for (i = 0; i < rows->n && status != SORT_OK; i++)
		rows->rows[i].added = false;
	return status;
}
