/*
 * rows_job.c
 *		A GPU's jobs over rows (see rows_job.h).
 */
#include "sort/rows/rows_job.h"

#include <string.h>

#include "sort/device/job.h"
#include "sort/error.h"
#include "sort/rows/divided_job.h"

/*
 * Bytes that the GPU is given before it is asked whether it has kept them.  If one of
 * these extents was not kept there is no room, and the others are not sent in vain.
 */
#define SLICE_BYTES ((size_t) 32 << 20)

/* Returns how many devices may have a part of a job over so many stripes. */
static uint32_t
count_devices(const SortGpu *gpu, uint32_t stripes)
{
	uint32_t	n = gpu->devices ? gpu->devices(gpu->arg) : 1;

	if (n > SORT_DEVICES_MOST)
		n = SORT_DEVICES_MOST;
	return n < 1 || stripes < 1 ? 1 : n < stripes ? n : stripes;
}

bool
rows_job_pays(const SortContext *context, uint64_t n, int ncolumns, uint64_t range, int njobs,
			  bool ordered, uint32_t stripes)
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
	if (!forced && !plan_rows_pay(NULL, n, ncolumns, range, njobs, ordered, 1) &&
		!plan_rows_pay(NULL, n, ncolumns, range, njobs, ordered, stripes))
		return false;
	costs = gpu->costs(gpu->arg, n, forced, &reason);
	return costs && (forced || plan_rows_pay(costs, n, ncolumns, range, njobs, ordered,
											 count_devices(gpu, stripes)));
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

	if (rows->rows[i].missing >> ncolumns != 0)
		return false;
	for (uint32_t c = 0; c < ncolumns && *status == SORT_OK; c++)
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

static bool
all_are_added(const RowsJob *rows)
{
	size_t		i;

	for (i = 0; i < rows->n && rows->rows[i].added; i++)
		;
	return i == rows->n;
}

/*
 * Brings what the device lacks of rows that it has been asked for, and adds these rows.  *complete
 * is false if it has no room for all.  Where rows are sorted, the adding ends with the first one
 * that cannot be had, and where they are found, whose numbers are by the order of adding, with the
 * first one that the device lacks.
 */
static SortStatus
add_lacking(SortJob *job, const RowsJob *rows, bool *complete, SortError *err)
{
	size_t		at = 0;
	size_t		left;
	SortStatus	status = SORT_OK;

	*complete = all_are_added(rows);
	if (rows->layout && rows->layout->key_ranges > 0)
		return SORT_OK;
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
	*complete = status == SORT_OK && all_are_added(rows);
	return status;
}

/* What one device has of a job's rows. */
typedef struct Part
{
	RowsJob		rows;
	uint32_t	device;			/* from 0 on */
	SortJob    *job;
	const RowsJob *whole;		/* of which rows are the ones ... */
	const uint32_t *indexes;	/* ... that have these */
} Part;

/* The parts of a job, and memory for their lists where there are several. */
typedef struct Parts
{
	Part		list[SORT_DEVICES_MOST];
	int			n;
	uint8_t    *part_of;		/* of each of the rows, its part */
	void	   *lists;			/* rows, generations and indexes of all parts */
} Parts;

/* The ExtentFetch of a part. */
static bool
fetch_of_part(void *arg, size_t i, const void **bytes, size_t *size)
{
	const Part *part = arg;
	const uint32_t ncolumns = columns_of(part->whole);

	return part->whole->fetch(part->whole->arg,
							  (size_t) part->indexes[i / ncolumns] * ncolumns + i % ncolumns, bytes,
							  size);
}

/* Copies the lists of all parts, whose devices are known, one behind the other. */
static SortStatus
copy_lists(const SortAllocator *a, const RowsJob *rows, Parts *parts, SortError *err)
{
	const uint32_t ncolumns = columns_of(rows);
	const size_t ngenerations = ncolumns * sizeof(uint64_t);
	SortRows   *list = a->alloc(a->arena, rows->n * (sizeof(SortRows) + ngenerations +
													 sizeof(uint32_t)));
	uint64_t   *generations;
	uint32_t   *indexes;

	parts->lists = list;
	if (list == NULL)
		return sort_no_memory(err);
	generations = (uint64_t *) (list + rows->n);
	indexes = (uint32_t *) (generations + rows->n * ncolumns);
	for (int p = 0; p < parts->n; p++)
	{
		Part	   *part = &parts->list[p];

		part->rows = *rows;
		part->whole = rows;
		part->indexes = indexes;
		part->rows.rows = list;
		part->rows.generations = generations;
		part->rows.fetch = fetch_of_part;
		part->rows.arg = part;
		part->rows.nkeys = p == 0 ? rows->nkeys : 0;
		for (size_t i = 0; i < rows->n; i++)
			if (parts->part_of[i] == p)
			{
				*indexes++ = (uint32_t) i;
				*list++ = rows->rows[i];
				memcpy(generations, rows->generations + i * ncolumns, ngenerations);
				generations += ncolumns;
			}
		part->rows.n = (size_t) (list - part->rows.rows);
	}
	return SORT_OK;
}

/* Divides rows among devices.  If several have some, their lists are to be copied. */
static SortStatus
divide_rows(const SortContext *context, const RowsJob *rows, Parts *parts, SortError *err)
{
	const uint32_t ndevices = count_devices(context->gpu, UINT32_MAX);
	int			part_of[SORT_DEVICES_MOST];

	memset(parts, 0, sizeof(*parts));
	parts->n = 1;
	parts->list[0].rows = *rows;
	if (ndevices == 1 || rows->stripes == NULL || rows->n == 0 || rows->n > UINT32_MAX)
		return SORT_OK;
	memset(part_of, -1, sizeof(part_of));
	parts->n = 0;
	parts->part_of = context->allocator.alloc(context->allocator.arena, rows->n);
	if (parts->part_of == NULL)
		return sort_no_memory(err);
	for (size_t i = 0; i < rows->n; i++)
	{
		uint32_t	device = rows->stripes[i] % ndevices;

		if (part_of[device] < 0)
		{
			parts->list[parts->n].device = device;
			part_of[device] = parts->n++;
		}
		parts->part_of[i] = (uint8_t) part_of[device];
	}
	return SORT_OK;
}

/* Opens the job of a part of rows. */
static SortStatus
open_part(const SortContext *context, const RowsJob *rows, Part *part, bool divided,
		  SortError *err)
{
	SortJobSpec spec = {
		.algorithm = SORT_ALGORITHM_ZERO_COMPRESSED,
		.want = SORT_WANT_RUNS,
		.lo = rows->lo,
		.hi = rows->hi,
		.look_up = rows->layout != NULL,
		.device = part->device + 1,
		.divided = divided,
	};

	return sort_job_start(context->gpu->device, context, &spec, NULL, &part->job, err);
}

/* Adds what is not of rows. */
static SortStatus
begin_part(const SortDevice *device, const Part *part, SortError *err)
{
	const RowsJob *rows = &part->rows;
	SortStatus	status = SORT_OK;

	if (rows->nkeys > 0)
		status = device->add(part->job, rows->keys, rows->nkeys, err);
	if (status == SORT_OK && rows->layout)
		status = device->set_rows(part->job, rows->layout, rows->ranges, err);
	return status;
}

/*
 * Asks the devices of all parts for the parts' rows: sends the lists of all before the first one's
 * answers are waited for, up to a device that would have to be waited for.
 */
static SortStatus
ask_parts(const SortDevice *device, const Parts *parts, SortError *err)
{
	bool		going = parts->n > 1 && device->begin_rows != NULL;
	SortStatus	status = SORT_OK;

	for (int p = 0; p < parts->n && status == SORT_OK && going; p++)
	{
		const RowsJob *rows = &parts->list[p].rows;

		status = device->begin_rows(parts->list[p].job, rows->rows, rows->generations, rows->n,
									&going, err);
	}
	for (int p = 0; p < parts->n && status == SORT_OK; p++)
	{
		const RowsJob *rows = &parts->list[p].rows;

		status = device->add_rows(parts->list[p].job, rows->rows, rows->generations, rows->n, err);
	}
	return status;
}

/* Opens the jobs of all parts, and adds all rows that devices have or have room for. */
static SortStatus
add_parts(const SortContext *context, const RowsJob *rows, Parts *parts, bool *complete,
		  SortError *err)
{
	const SortDevice *device = context->gpu->device;
	SortStatus	status = SORT_OK;

	*complete = true;
	for (int p = 0; p < parts->n && status == SORT_OK; p++)
		status = open_part(context, rows, &parts->list[p], parts->n > 1, err);
	for (size_t i = 0; i < rows->n; i++)
		rows->rows[i].added = false;
	if (parts->n > 1 && status == SORT_OK)
		status = copy_lists(&context->allocator, rows, parts, err);
	/* All devices have begun to open theirs, meanwhile, before one is waited for. */
	for (int p = 0; p < parts->n && status == SORT_OK; p++)
		status = begin_part(device, &parts->list[p], err);
	if (status == SORT_OK)
		status = ask_parts(device, parts, err);
	for (int p = 0; p < parts->n && status == SORT_OK; p++)
	{
		Part	   *part = &parts->list[p];
		bool		all;

		status = add_lacking(part->job, &part->rows, &all, err);
		*complete = *complete && all;
		for (size_t i = 0; i < part->rows.n && parts->n > 1; i++)
			rows->rows[part->indexes[i]] = part->rows.rows[i];
	}
	return status;
}

/* Makes one job of the parts' jobs, which are closed on failure. */
static SortStatus
join_parts(const SortContext *context, const RowsJob *rows, Parts *parts, SortJob **job,
		   SortError *err)
{
	DividedParts divided = {.n = parts->n,.grain = rows->layout ? rows->layout->grain : 0};

	for (int p = 0; p < parts->n; p++)
		divided.jobs[p] = parts->list[p].job;
	if (rows->layout && rows->layout->key_ranges > 0)
	{
		divided.rows = rows->rows;
		divided.nrows = rows->n;
		divided.part_of = parts->part_of;
		parts->part_of = NULL;
	}
	return divided_job_make(context, &divided, job, err);
}

/*
 * Opens a job and adds the keys and the rows to it.  *job is NULL on failure, and if rows that
 * have a layout, all of which are needed, cannot all be had.
 */
static SortStatus
start_job(const SortContext *context, const RowsJob *rows, SortJob **job, SortError *err)
{
	bool		complete = false;
	Parts		parts;
	SortStatus	status = divide_rows(context, rows, &parts, err);

	*job = NULL;
	if (status == SORT_OK)
		status = add_parts(context, rows, &parts, &complete, err);
	if (status != SORT_OK || (rows->layout && !complete))
	{
		for (int p = 0; p < parts.n; p++)
			if (parts.list[p].job)
				context->gpu->device->close(parts.list[p].job);
	}
	else if (parts.n == 1)
		*job = parts.list[0].job;
	else
		status = join_parts(context, rows, &parts, job, err);
	if (parts.part_of)
		context->allocator.release(context->allocator.arena, parts.part_of);
	if (parts.lists)
		context->allocator.release(context->allocator.arena, parts.lists);
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

	if (status == SORT_OK)
		status = sort_job_complete(job, &output, NULL, err);
	for (size_t i = 0; i < rows->n && status != SORT_OK; i++)
		rows->rows[i].added = false;
	return status;
}
