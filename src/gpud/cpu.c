/*
 * cpu.c
 *		The CPU as the service's device, over src/sort (see engine.h): so that all
 *		of the service but its kernels is tested on machines without a GPU.
 *
 * Behaves as the CUDA engine does, a memory limit included.  Keys are copied
 * when they are added.  After job_finish the job holds the keys in order or the
 * permutation, and the runs if they were found on the way.
 */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "gpud/cpu.h"
#include "sort/algorithms.h"
#include "sort/cpu_device.h"
#include "sort/job.h"
#include "sort/kernels.h"
#include "sort/plan.h"

typedef struct CpuEngine
{
	uint64_t	limit;			/* bytes, 0: none */
	atomic_uint_fast64_t used;
} CpuEngine;

typedef struct CpuJob
{
	CpuEngine  *engine;
	EngineSpec	spec;
	SortContext context;
	atomic_bool cancelled;
	uint64_t	adds;
	int32_t    *keys;			/* in order, after finish */
	uint64_t	n;
	uint64_t	capacity;
	uint32_t   *rows;			/* the permutation, after finish */
	Runs		runs;
	bool		have_runs;
	bool		finished;
	RowsLayout	layout;			/* of rows */
	ValueRange	ranges[ROWS_MAX_RANGES];
} CpuJob;

/* Most that an algorithm of the papers takes where the engine has no limit. */
#define ALGORITHM_MEMORY ((size_t) 256 << 20)

/*
 * Allocations count against the engine's limit.  Each block has a header before
 * it, which holds the block's size.
 */
#define HEADER 16

static void *
limited_grow(void *arena, void *block, size_t old_size, size_t size)
{
	CpuEngine  *engine = arena;
	uint64_t	used = atomic_fetch_add(&engine->used, size);
	char	   *grown;

	if ((engine->limit > 0 && used + size > engine->limit) || size > SIZE_MAX - HEADER)
	{
		atomic_fetch_sub(&engine->used, size);
		return NULL;
	}
	grown = realloc(block ? (char *) block - HEADER : NULL, size + HEADER);
	if (grown == NULL)
	{
		atomic_fetch_sub(&engine->used, size);
		return NULL;
	}
	memcpy(grown, &size, sizeof(size));
	atomic_fetch_sub(&engine->used, block ? old_size : 0);
	return grown + HEADER;
}

static void *
limited_alloc(void *arena, size_t size)
{
	return limited_grow(arena, NULL, 0, size);
}

static void
limited_release(void *arena, void *block)
{
	CpuEngine  *engine = arena;
	size_t		size;

	if (block == NULL)
		return;
	memcpy(&size, (char *) block - HEADER, sizeof(size));
	atomic_fetch_sub(&engine->used, size);
	free((char *) block - HEADER);
}

static bool
job_interrupted(void *arg)
{
	CpuJob	   *job = arg;

	return atomic_load_explicit(&job->cancelled, memory_order_relaxed);
}

static bool
no_memory(EngineError *err)
{
	return engine_fail(err, GPU_NO_MEMORY, "out of memory on the service's CPU device");
}

static bool
cancelled(EngineError *err)
{
	engine_fail(err, GPU_LOST, "job was cancelled");
	err->cancelled = true;
	return false;
}

static bool
sort_failed(const SortError *from, EngineError *err)
{
	if (from->status == SORT_OUT_OF_MEMORY)
		return no_memory(err);
	if (from->status == SORT_CANCELLED)
		return cancelled(err);
	return engine_fail(err, GPU_UNSUPPORTED, "%s", from->message);
}

static bool
cpu_count(int *count, EngineError *err)
{
	(void) err;
	*count = 1;
	return true;
}

static bool
cpu_info(int ordinal, EngineInfo *info, EngineError *err)
{
	struct sysinfo host;

	(void) ordinal;
	(void) err;
	memset(info, 0, sizeof(*info));
	info->ordinal = -1;
	snprintf(info->name, sizeof(info->name), "CPU (%s)", kernel_target());
	if (sysinfo(&host) == 0)
	{
		info->memory_total = (uint64_t) host.totalram * host.mem_unit;
		info->memory_free = (uint64_t) host.freeram * host.mem_unit;
	}
	return true;
}

static bool
cpu_open_device(int ordinal, uint64_t memory_limit, void **device, EngineError *err)
{
	CpuEngine  *engine = calloc(1, sizeof(CpuEngine));

	(void) ordinal;
	if (engine == NULL)
		return no_memory(err);
	engine->limit = memory_limit;
	*device = engine;
	return true;
}

static void
cpu_close_device(void *device)
{
	free(device);
}

static bool
cpu_pin(void *device, void *memory, size_t bytes, EngineError *err)
{
	(void) device;
	(void) memory;
	(void) bytes;
	(void) err;
	return true;
}

static uint64_t
cpu_memory_used(void *device)
{
	return atomic_load(&((CpuEngine *) device)->used);
}

static void
cpu_trim(void *device)
{
	(void) device;
}

/*
 * Bytes that a job of n keys needs at least.  What its algorithm needs besides
 * shows when it is allocated.
 */
static uint64_t
need(const EngineSpec *spec, uint64_t n)
{
	/* keys; for a permutation the pairs and the rows as well */
	return n * (spec->want == SORT_WANT_PERMUTATION ? 16 : 4);
}

static bool
cpu_job_open(void *device, const EngineSpec *spec, void **result, EngineError *err)
{
	CpuEngine  *engine = device;
	CpuJob	   *job;

	if (engine->limit > 0 && (spec->n > UINT64_MAX / 32 ||
							  need(spec, spec->n) + atomic_load(&engine->used) > engine->limit))
		return no_memory(err);
	if (spec->algorithm != SORT_ALGORITHM_AUTO &&
		!algorithm_runs_on(spec->algorithm, SORT_DEVICE_CPU, spec->want))
		return engine_fail(err, GPU_UNSUPPORTED,
						   "algorithm \"%s\" is not available on the service's CPU device",
						   sort_algorithm_name(spec->algorithm));
	job = calloc(1, sizeof(CpuJob));
	if (job == NULL)
		return no_memory(err);
	job->engine = engine;
	job->spec = *spec;
	job->context = (SortContext)
	{
		.allocator = {limited_alloc, limited_grow, limited_release, engine},
		.interrupted = job_interrupted,
		.interrupted_arg = job,
		.device = SORT_DEVICE_CPU,
		.floats = spec->floats,
		.threads = 1,
	};
	*result = job;
	return true;
}

/* Makes room for n more keys; if there is no memory, the job stays as it is. */
static bool
make_room(CpuJob *job, uint64_t n, EngineError *err)
{
	if (job->n + n > job->capacity)
	{
		uint64_t	capacity = job->capacity > 0 ? job->capacity * 2 : job->spec.n;
		int32_t    *grown;

		/* spec.n is only what the client says: a large one is not allocated at once. */
		if (job->capacity == 0 && capacity > (UINT64_C(1) << 26))
			capacity = UINT64_C(1) << 26;
		if (capacity < job->n + n)
			capacity = job->n + n;
		grown = limited_grow(job->engine, job->keys, job->capacity * sizeof(int32_t),
							 capacity * sizeof(int32_t));
		if (grown == NULL)
			return no_memory(err);
		job->keys = grown;
		job->capacity = capacity;
	}
	return true;
}

static bool
cpu_job_add(void *arg, const int32_t *keys, uint32_t n, uint64_t *number, EngineError *err)
{
	CpuJob	   *job = arg;

	if (job_interrupted(job))
		return cancelled(err);
	if (!make_room(job, n, err))
		return false;
	memcpy(job->keys + job->n, keys, n * sizeof(int32_t));
	job->n += n;
	*number = ++job->adds;
	return true;
}

/* What is held of an extent: its values, and then its bits for NULLs, if it has some. */
typedef struct CpuExtent
{
	PackedKeys	packed;
	const uint8_t *nulls;		/* NULL: none */
	char		bytes[];
} CpuExtent;

static bool
cpu_job_keep_extent(void *arg, const Extent *header, const void *bytes, void **held,
					uint64_t *number, EngineError *err)
{
	CpuJob	   *job = arg;
	size_t		values = (size_t) header->nrows * header->width;
	size_t		nulls = header->nnulls > 0 ? ((size_t) header->nrows + 7) / 8 : 0;
	CpuExtent  *extent;

	if (job_interrupted(job))
		return cancelled(err);
	extent = limited_alloc(job->engine, sizeof(CpuExtent) + values + nulls);
	if (extent == NULL)
		return no_memory(err);
	memcpy(extent->bytes, (const char *) bytes + header->values_at, values);
	memcpy(extent->bytes + values, (const char *) bytes + header->nulls_at, nulls);
	extent->packed = extent_values(header, bytes, 0, header->nrows);
	extent->packed.values = extent->bytes;
	extent->nulls = nulls > 0 ? (const uint8_t *) extent->bytes + values : NULL;
	*held = extent;
	*number = ++job->adds;
	return true;
}

static void
cpu_extent_drop(void *device, void *held)
{
	limited_release(device, held);
}

/* Keys of a piece go to out, without NULLs; returns how many there are. */
static uint64_t
unpack_piece(const EnginePiece *piece, int32_t *out)
{
	const CpuExtent *extent = piece->held;
	PackedKeys	packed = extent->packed;
	uint64_t	keys = 0;
	uint32_t	i;

	packed.values = (const char *) packed.values + (size_t) piece->first * (size_t) packed.width;
	packed.n = piece->n;
	packed_keys_unpack(&packed, out);
	if (extent->nulls == NULL)
		return piece->n;
	for (i = 0; i < piece->n; i++)
	{
		uint32_t	row = piece->first + i;

		out[keys] = out[i];
		keys += !(extent->nulls[row / 8] >> row % 8 & 1);
	}
	return keys;
}

static bool
cpu_job_add_pieces(void *arg, const EnginePiece *pieces, uint32_t n, uint64_t *keys,
				   EngineError *err)
{
	CpuJob	   *job = arg;
	uint64_t	rows = 0;
	uint64_t	before = job->n;
	uint32_t	i;

	for (i = 0; i < n; i++)
		rows += pieces[i].n;
	if (!make_room(job, rows, err))
		return false;
	for (i = 0; i < n; i++)
	{
		if (job_interrupted(job))
			return cancelled(err);
		job->n += unpack_piece(&pieces[i], job->keys + job->n);
	}
	*keys = job->n - before;
	return true;
}

static bool
cpu_job_set_rows(void *arg, const RowsLayout *layout, const ValueRange *ranges, EngineError *err)
{
	CpuJob	   *job = arg;

	(void) err;
	job->layout = *layout;
	memcpy(job->ranges, ranges, layout->nranges * sizeof(ValueRange));
	return true;
}

/* Adds the keys of one piece of each column; there is room. */
static bool
add_piece_rows(CpuJob *job, const EnginePiece *pieces, EngineError *err)
{
	RowsPart	parts[ROWS_MAX_COLUMNS];
	uint32_t	keys;
	uint32_t	c;
	int32_t		value;

	for (c = 0; c < job->layout.ncolumns; c++)
	{
		const CpuExtent *extent = pieces[c].held;

		parts[c] = (RowsPart)
		{
			extent->packed, extent->nulls, pieces[c].first
		};
		parts[c].values.values = (const char *) extent->packed.values +
			(size_t) pieces[c].first * (size_t) extent->packed.width;
	}
	if (!rows_layout_keys(&job->layout, job->ranges, parts, pieces[0].n, job->keys + job->n, &keys, &value))
	{
		engine_fail(err, GPU_OK, "value out of bounds");
		err->key = value;
		return false;
	}
	job->n += keys;
	return true;
}

static bool
cpu_job_add_rows(void *arg, const EnginePiece *pieces, uint32_t nrows, EngineError *err)
{
	CpuJob	   *job = arg;
	uint32_t	ncolumns = job->layout.ncolumns;
	uint64_t	rows = 0;
	uint32_t	i;

	for (i = 0; i < nrows; i++)
		rows += pieces[(size_t) i * ncolumns].n;
	if (!make_room(job, rows, err))
		return false;
	for (i = 0; i < nrows; i++)
	{
		if (job_interrupted(job))
			return cancelled(err);
		if (!add_piece_rows(job, pieces + (size_t) i * ncolumns, err))
			return false;
	}
	return true;
}

static bool
cpu_job_consumed(void *arg, bool wait, uint64_t *number, EngineError *err)
{
	CpuJob	   *job = arg;

	(void) wait;
	(void) err;
	*number = job->adds;
	return true;
}

static bool
find_bounds(CpuJob *job, int32_t *lo, int32_t *hi, EngineError *err)
{
	kernel_min_max(job->keys, job->n, lo, hi);
	if (*lo >= job->spec.lo && *hi <= job->spec.hi)
		return true;
	engine_fail(err, GPU_OK, "key out of bounds");
	err->key = *lo < job->spec.lo ? *lo : *hi;
	return false;
}

static bool
cpu_job_finish(void *arg, EngineResult *result, EngineError *err)
{
	CpuJob	   *job = arg;
	bool		permutation = job->spec.want == SORT_WANT_PERMUTATION;
	SortPlanInput input = {
		.n = job->n,
		.want = permutation ? SORT_WANT_PERMUTATION : SORT_WANT_KEYS,
		.device = SORT_DEVICE_CPU,
		.algorithm = job->spec.algorithm,
		.algorithm_memory = job->engine->limit > 0 ? job->engine->limit : ALGORITHM_MEMORY,
	};
	SortPlan	plan;
	SortJobSpec spec;
	SortOutput	output = {.descending = permutation && job->spec.descending};
	SortError	failed;

	memset(result, 0, sizeof(*result));
	result->n = job->n;
	job->finished = true;
	if (job->n == 0)
	{
		snprintf(result->reason, sizeof(result->reason), "no keys");
		return true;
	}
	if (permutation && job->n > UINT32_MAX)
		return engine_fail(err, GPU_UNSUPPORTED, "too many rows for a permutation");
	if (!find_bounds(job, &input.lo, &input.hi, err))
		return false;
	if (plan_choose(&input, &plan, &failed) != SORT_OK)
		return sort_failed(&failed, err);

	spec = (SortJobSpec)
	{
		.algorithm = plan.algorithm,
		.want = input.want,
		.descending = job->spec.descending,
		.lo = input.lo,
		.hi = input.hi,
		.n = job->n,
	};
	if (permutation)
	{
		job->rows = limited_alloc(job->engine, job->n * sizeof(uint32_t));
		if (job->rows == NULL)
			return no_memory(err);
		output.positions = job->rows;
	}
	else
	{
		/* Counted keys give their runs away cheaply. */
		output.keys = job->keys;
		if (plan.algorithm == SORT_ALGORITHM_ZERO_COMPRESSED)
			output.runs = &job->runs;
	}
	if (sort_job_run(&cpu_device, &job->context, &spec, job->keys, &output, NULL, &failed) != SORT_OK)
		return sort_failed(&failed, err);
	job->have_runs = output.runs != NULL;
	result->algorithm = plan.algorithm;
	result->distinct = job->have_runs ? job->runs.len : 0;
	snprintf(result->reason, sizeof(result->reason), "%s on the service's CPU device",
			 sort_algorithm_name(plan.algorithm));
	return true;
}

static bool
cpu_job_distinct(void *arg, uint64_t *distinct, EngineError *err)
{
	CpuJob	   *job = arg;

	if (!job->have_runs && job->n > 0 &&
		!runs_of_ordered(&job->runs, job->keys, job->n, &job->context.allocator))
		return no_memory(err);
	job->have_runs = true;
	*distinct = job->runs.len;
	return true;
}

static bool
cpu_job_read(void *arg, GpuForm form, bool descending, uint64_t first, uint32_t count,
			 void *chunk, EngineError *err)
{
	CpuJob	   *job = arg;
	int32_t    *to = chunk;
	uint32_t	i;

	if (job_interrupted(job))
		return cancelled(err);
	switch (form)
	{
		case GPU_FORM_RUNS:
			memcpy(chunk, job->runs.counts + first, count * sizeof(uint64_t));
			memcpy((uint64_t *) chunk + count, job->runs.keys + first, count * sizeof(int32_t));
			break;
		case GPU_FORM_PERMUTATION:
			memcpy(chunk, job->rows + first, count * sizeof(uint32_t));
			break;
		default:
			if (descending)
				for (i = 0; i < count; i++)
					to[i] = job->keys[job->n - 1 - first - i];
			else
				memcpy(to, job->keys + first, count * sizeof(int32_t));
			break;
	}
	return true;
}

static bool
cpu_job_at(void *arg, const uint64_t *positions, uint32_t n, int32_t *keys, EngineError *err)
{
	CpuJob	   *job = arg;
	uint32_t	i;

	if (job_interrupted(job))
		return cancelled(err);
	for (i = 0; i < n; i++)
		keys[i] = job->keys[positions[i]];
	return true;
}

/* How many of the job's keys are less than one. */
static uint64_t
count_below(const CpuJob *job, int32_t key)
{
	uint64_t	from = 0;
	uint64_t	to = job->n;

	while (from < to)
	{
		uint64_t	middle = (from + to) / 2;

		if (job->keys[middle] < key)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static bool
cpu_job_below(void *arg, const int32_t *keys, uint32_t n, uint64_t *positions, EngineError *err)
{
	CpuJob	   *job = arg;
	uint32_t	i;

	if (job_interrupted(job))
		return cancelled(err);
	for (i = 0; i < n; i++)
		positions[i] = count_below(job, keys[i]);
	return true;
}

static void
cpu_job_cancel(void *arg)
{
	atomic_store(&((CpuJob *) arg)->cancelled, true);
}

static void
cpu_job_close(void *arg)
{
	CpuJob	   *job = arg;

	runs_release(&job->runs, &job->context.allocator);
	limited_release(job->engine, job->keys);
	limited_release(job->engine, job->rows);
	free(job);
}

const Engine cpu_engine = {
	.count = cpu_count,
	.info = cpu_info,
	.open = cpu_open_device,
	.close = cpu_close_device,
	.pin = cpu_pin,
	.memory_used = cpu_memory_used,
	.trim = cpu_trim,
	.job_open = cpu_job_open,
	.job_add = cpu_job_add,
	.job_consumed = cpu_job_consumed,
	.job_set_rows = cpu_job_set_rows,
	.job_add_rows = cpu_job_add_rows,
	.job_keep_extent = cpu_job_keep_extent,
	.extent_drop = cpu_extent_drop,
	.job_add_pieces = cpu_job_add_pieces,
	.job_finish = cpu_job_finish,
	.job_distinct = cpu_job_distinct,
	.job_read = cpu_job_read,
	.job_at = cpu_job_at,
	.job_below = cpu_job_below,
	.job_cancel = cpu_job_cancel,
	.job_close = cpu_job_close,
};
