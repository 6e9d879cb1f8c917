/*
 * engine.c
 *		hpsort_cuda.h on the CPU, over src/sort: linked into hpsort-gpud in place of the CUDA
 *		library, so that all of the service but its kernels is tested on machines without a GPU.
 *
 * Has what the service calls, and behaves as the CUDA engine does, a memory limit included.  Keys
 * are copied when they are added.  After hpsort_cuda_job_finish() the job holds the keys in order or
 * the permutation, and the runs if they were found on the way.  All devices are this host's CPU.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "faults.h"
#include "hpsort_cuda.h"
#include "published/published.h"
#include "sort/algorithms.h"
#include "sort/extents/rows_layout.h"
#include "sort/kernels/kernels.h"
#include "sort/plan.h"
#include "sort/sorter/sorter.h"

struct HpsortCuda
{
	uint64_t	limit;			/* bytes, 0: none */
	atomic_uint_fast64_t used;
};

struct HpsortCudaJob
{
	HpsortCuda *device;
	HpsortCudaSpec spec;
	SortAlgorithm algorithm;
	SortContext context;
	atomic_bool cancelled;
	uint64_t	adds;
	int32_t    *keys;			/* in order, after finish */
	uint64_t	n;
	uint64_t	capacity;
	uint32_t   *rows;			/* the permutation, after finish */
	Runs		runs;
	bool		have_runs;
	RowsLayout	layout;			/* of rows; without columns: there is none */
	uint64_t	next_row;		/* keys, and rows whether they have passed or not */
	ValueRange *ranges;
	bool		wrong;			/* there are more keys than all of them below any key */
};

/* The values, and then the bits for NULLs, if there are some. */
struct HpsortCudaPacked
{
	HpsortCuda *device;
	PackedKeys	keys;
	const uint8_t *nulls;		/* NULL: none */
	char		bytes[];
};

/* Most that an algorithm of the papers takes where the device has no limit. */
#define ALGORITHM_MEMORY ((size_t) 256 << 20)

/*
 * Allocations count against the device's limit.  Each block has a header before
 * it, which holds the block's size.
 */
#define HEADER 16

static void *
limited_grow(void *arena, void *block, size_t old_size, size_t size)
{
	HpsortCuda *device = arena;
	uint64_t	used = atomic_fetch_add(&device->used, size);
	char	   *grown;

	if ((device->limit > 0 && used + size > device->limit) || size > SIZE_MAX - HEADER)
	{
		atomic_fetch_sub(&device->used, size);
		return NULL;
	}
	grown = realloc(block ? (char *) block - HEADER : NULL, size + HEADER);
	if (grown == NULL)
	{
		atomic_fetch_sub(&device->used, size);
		return NULL;
	}
	memcpy(grown, &size, sizeof(size));
	atomic_fetch_sub(&device->used, block ? old_size : 0);
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
	HpsortCuda *device = arena;
	size_t		size;

	if (block == NULL)
		return;
	memcpy(&size, (char *) block - HEADER, sizeof(size));
	atomic_fetch_sub(&device->used, size);
	free((char *) block - HEADER);
}

/* Fills *err, format as printf; returns code, for the caller to return. */
static HpsortCudaCode __attribute__((format(printf, 3, 4)))
fail(HpsortCudaError *err, HpsortCudaCode code, const char *format,...)
{
	va_list		args;

	if (err == NULL)
		return code;
	memset(err, 0, sizeof(*err));
	err->code = code;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	return code;
}

static HpsortCudaCode
no_memory(HpsortCudaError *err)
{
	return fail(err, HPSORT_CUDA_NO_MEMORY, "out of memory on the stub of a device");
}

static bool
job_interrupted(void *arg)
{
	HpsortCudaJob *job = arg;

	return atomic_load_explicit(&job->cancelled, memory_order_relaxed);
}

/* Fails a call if the job was cancelled, or a fault has to be committed at point. */
static HpsortCudaCode
begin_call(HpsortCudaJob *job, FaultPoint point, HpsortCudaError *err)
{
	FaultKind	fault;

	/* Lists of rows have been counted when their messages came. */
	if (point == AT_ROWS)
	{
		fault = faults_thread.pieces;
		faults_thread.pieces = FAULT_NONE;
	}
	else
		fault = faults_at(point);
	if (job && job_interrupted(job))
		return fail(err, HPSORT_CUDA_CANCELLED, "job was cancelled");
	switch (fault)
	{
		case FAULT_OOM:
			return fail(err, HPSORT_CUDA_NO_MEMORY, "out of device memory (injected)");
		case FAULT_STICKY:
			fail(err, HPSORT_CUDA_FAILED, "CUDA error: an illegal memory access (injected)");
			err->sticky = 1;
			return HPSORT_CUDA_FAILED;
		case FAULT_WRONG:
			job->wrong = true;
			return HPSORT_CUDA_OK;
		default:
			return HPSORT_CUDA_OK;
	}
}

static HpsortCudaCode
sort_failed(const SortError *from, HpsortCudaError *err)
{
	if (from->status == SORT_OUT_OF_MEMORY)
		return no_memory(err);
	if (from->status == SORT_CANCELLED)
		return fail(err, HPSORT_CUDA_CANCELLED, "job was cancelled");
	return fail(err, HPSORT_CUDA_BAD_ARGUMENT, "%s", from->message);
}

/* ------------------------------------------------------------------------
 * Devices
 * ------------------------------------------------------------------------
 */

HpsortCudaCode
hpsort_cuda_device_count(int *count, HpsortCudaError *err)
{
	(void) err;
	*count = faults_devices();
	return HPSORT_CUDA_OK;
}

HpsortCudaCode
hpsort_cuda_device_info(int ordinal, HpsortCudaDeviceInfo *info, HpsortCudaError *err)
{
	struct sysinfo host;

	(void) err;
	memset(info, 0, sizeof(*info));
	info->ordinal = ordinal;
	snprintf(info->name, sizeof(info->name), "stub on the CPU (%s)", kernel_target());
	if (sysinfo(&host) == 0)
	{
		info->memory_total = (uint64_t) host.totalram * host.mem_unit;
		info->memory_free = (uint64_t) host.freeram * host.mem_unit;
	}
	return HPSORT_CUDA_OK;
}

HpsortCudaCode
hpsort_cuda_open(int ordinal, uint64_t memory_limit, HpsortCuda **context, HpsortCudaError *err)
{
	(void) ordinal;
	*context = calloc(1, sizeof(HpsortCuda));
	if (*context == NULL)
		return no_memory(err);
	(*context)->limit = memory_limit;
	return HPSORT_CUDA_OK;
}

void
hpsort_cuda_close(HpsortCuda *context)
{
	free(context);
}

HpsortCudaCode
hpsort_cuda_pin(HpsortCuda *context, void *memory, size_t bytes, HpsortCudaError *err)
{
	(void) context;
	(void) memory;
	(void) bytes;
	(void) err;
	return HPSORT_CUDA_OK;
}

void
hpsort_cuda_memory(HpsortCuda *context, uint64_t *used, uint64_t *peak, int reset_peak)
{
	(void) reset_peak;
	*used = *peak = atomic_load(&context->used);
}

HpsortCudaCode
hpsort_cuda_trim(HpsortCuda *context, HpsortCudaError *err)
{
	(void) context;
	(void) err;
	return HPSORT_CUDA_OK;
}

/* ------------------------------------------------------------------------
 * Jobs
 * ------------------------------------------------------------------------
 */

/* The algorithms of the papers are numbered as in SortAlgorithm here. */
int
hpsort_published_by_name(const char *name, HpsortPublished *algorithm)
{
	for (SortAlgorithm a = SORT_ALGORITHM_AUTO; a < SORT_ALGORITHM_COUNT; a++)
		if (strcmp(sort_algorithm_name(a), name) == 0)
		{
			*algorithm = (HpsortPublished) a;
			return 1;
		}
	return 0;
}

HpsortCudaCode
hpsort_published_job_share(HpsortCudaJob *job, HpsortCuda *const *contexts, int count,
						   HpsortCudaError *err)
{
	(void) job;
	(void) contexts;
	(void) count;
	(void) err;
	return HPSORT_CUDA_OK;
}

/*
 * Bytes that a job of n keys needs at least.  What its algorithm needs besides
 * shows when it is allocated.
 */
static uint64_t
need(const HpsortCudaSpec *spec, uint64_t n)
{
	/* keys; for a permutation the pairs and the rows as well */
	return n * (spec->wanted == HPSORT_CUDA_PERMUTATION ? 16 : 4);
}

HpsortCudaCode
hpsort_cuda_job_open(HpsortCuda *context, const HpsortCudaSpec *spec, HpsortCudaJob **result,
					 HpsortCudaError *err)
{
	SortAlgorithm algorithm = spec->counted ? SORT_ALGORITHM_ZERO_COMPRESSED :
		spec->algorithm != 0 ? (SortAlgorithm) (spec->algorithm - HPSORT_PUBLISHED_JOB(0)) : SORT_ALGORITHM_AUTO;
	SortWant	want = spec->wanted == HPSORT_CUDA_PERMUTATION ? SORT_WANT_PERMUTATION :
		spec->wanted == HPSORT_CUDA_RUNS ? SORT_WANT_RUNS : SORT_WANT_KEYS;
	HpsortCudaJob *job;
	HpsortCudaCode code = begin_call(NULL, AT_OPEN, err);

	if (code != HPSORT_CUDA_OK)
		return code;
	if (context->limit > 0 && (spec->n_hint > UINT64_MAX / 32 ||
							   need(spec, spec->n_hint) + atomic_load(&context->used) > context->limit))
		return no_memory(err);
	if (algorithm != SORT_ALGORITHM_AUTO && !algorithm_gives(algorithm, want))
		return fail(err, HPSORT_CUDA_BAD_ARGUMENT, "algorithm \"%s\" is not available on the stub of a device",
					sort_algorithm_name(algorithm));
	job = calloc(1, sizeof(HpsortCudaJob));
	if (job == NULL)
		return no_memory(err);
	job->device = context;
	job->spec = *spec;
	job->algorithm = algorithm;
	job->context = (SortContext)
	{
		.allocator = {limited_alloc, limited_grow, limited_release, context},
		.interrupted = job_interrupted,
		.interrupted_arg = job,
		.device = SORT_DEVICE_CPU,
		.floats = spec->float_images,
		.threads = 1,
	};
	*result = job;
	return HPSORT_CUDA_OK;
}

/* Makes room for n more keys; if there is no memory, the job stays as it is. */
static HpsortCudaCode
make_room(HpsortCudaJob *job, uint64_t n, HpsortCudaError *err)
{
	if (job->n + n > job->capacity)
	{
		uint64_t	capacity = job->capacity > 0 ? job->capacity * 2 : job->spec.n_hint;
		int32_t    *grown;

		/* n_hint is only what the client says: a large one is not allocated at once. */
		if (job->capacity == 0 && capacity > (UINT64_C(1) << 26))
			capacity = UINT64_C(1) << 26;
		if (capacity < job->n + n)
			capacity = job->n + n;
		grown = limited_grow(job->device, job->keys, job->capacity * sizeof(int32_t),
							 capacity * sizeof(int32_t));
		if (grown == NULL)
			return no_memory(err);
		job->keys = grown;
		job->capacity = capacity;
	}
	return HPSORT_CUDA_OK;
}

HpsortCudaCode
hpsort_cuda_job_add(HpsortCudaJob *job, const int32_t *keys, uint64_t n, uint64_t *number,
					HpsortCudaError *err)
{
	HpsortCudaCode code = begin_call(job, AT_ADD, err);

	if (code == HPSORT_CUDA_OK)
		code = make_room(job, n, err);
	if (code != HPSORT_CUDA_OK)
		return code;
	memcpy(job->keys + job->n, keys, n * sizeof(int32_t));
	job->n += n;
	*number = ++job->adds;
	return HPSORT_CUDA_OK;
}

HpsortCudaCode
hpsort_cuda_job_keep(HpsortCudaJob *job, const void *values, const uint8_t *nulls, uint32_t n, int width,
					 int64_t base, HpsortCudaPacked **result, uint64_t *number, HpsortCudaError *err)
{
	size_t		value_bytes = (size_t) n * (size_t) width;
	size_t		null_bytes = nulls ? ((size_t) n + 7) / 8 : 0;
	HpsortCudaPacked *packed;
	HpsortCudaCode code = begin_call(job, AT_KEEP, err);

	if (code != HPSORT_CUDA_OK)
		return code;
	packed = limited_alloc(job->device, sizeof(HpsortCudaPacked) + value_bytes + null_bytes);
	if (packed == NULL)
		return no_memory(err);
	memcpy(packed->bytes, values, value_bytes);
	if (nulls)
		memcpy(packed->bytes + value_bytes, nulls, null_bytes);
	packed->device = job->device;
	packed->keys = (PackedKeys)
	{
		.values = packed->bytes,.n = n,.width = width,.base = base,.top = UINT32_MAX >> (32 - 8 * width)
	};
	packed->nulls = nulls ? (const uint8_t *) packed->bytes + value_bytes : NULL;
	*result = packed;
	*number = ++job->adds;
	return HPSORT_CUDA_OK;
}

void
hpsort_cuda_packed_free(HpsortCudaPacked *packed)
{
	limited_release(packed->device, packed);
}

/*
 * Some rows of one column: their values, and bits of NULLs as in an extent (NULL: there are none).
 */
typedef struct RowsPart
{
	PackedKeys	values;
	const uint8_t *nulls;
	uint32_t	first;			/* row of the first value among the bits */
} RowsPart;

/* The keys of a piece, and the bits for its NULLs. */
static RowsPart
part_of(const HpsortCudaPiece *piece)
{
	RowsPart	part = {piece->packed->keys, piece->packed->nulls, piece->first};

	part.values.values = (const char *) part.values.values + (size_t) piece->first * (size_t) part.values.width;
	part.values.n = piece->n;
	return part;
}

/* Keys of a piece go to out, without NULLs; returns how many there are. */
static uint64_t
unpack_piece(const HpsortCudaPiece *piece, int32_t *out)
{
	RowsPart	part = part_of(piece);
	uint64_t	keys = 0;

	packed_keys_unpack(&part.values, out);
	if (part.nulls == NULL)
		return piece->n;
	for (uint32_t i = 0; i < piece->n; i++)
	{
		uint32_t	row = piece->first + i;

		out[keys] = out[i];
		keys += !(part.nulls[row / 8] >> row % 8 & 1);
	}
	return keys;
}

HpsortCudaCode
hpsort_cuda_job_rows(HpsortCudaJob *job, const HpsortCudaRows *layout, const HpsortCudaRange *ranges,
					 HpsortCudaError *err)
{
	(void) err;
	job->ranges = malloc((layout->nranges + 1) * sizeof(ValueRange));
	if (job->ranges == NULL)
		return no_memory(err);
	job->next_row = job->n;
	memcpy(&job->layout, layout, sizeof(job->layout));
	memcpy(job->ranges, ranges, layout->nranges * sizeof(ValueRange));
	return HPSORT_CUDA_OK;
}

/* Whether a value is in one of n ranges, which ascend. */
static bool
is_in_ranges(const ValueRange *ranges, uint32_t n, int32_t value)
{
	uint32_t	from = 0;
	uint32_t	to = n;

	/* The first range that does not end before it. */
	while (from < to)
	{
		uint32_t	middle = (from + to) / 2;

		if (ranges[middle].hi < value)
			from = middle + 1;
		else
			to = middle;
	}
	return from < n && ranges[from].lo <= value;
}

/* Whether a value has a bit in a mask that lies in n ranges. */
static bool
is_in_mask(const ValueRange *ranges, uint32_t n, int32_t value)
{
	uint32_t	bit = (uint32_t) value;
	const ValueRange *range = ranges + bit / ROWS_MASK_VALUES;

	return bit / ROWS_MASK_VALUES < n && ((uint32_t) (bit & 32 ? range->hi : range->lo) >> bit % 32 & 1);
}

/* Returns what the value in a place adds to the key by a map that lies in ranges. */
static uint32_t
map_place(const ValueRange *ranges, uint32_t place)
{
	const ValueRange *range = ranges + place / ROWS_MAP_VALUES;

	return (uint32_t) (place % ROWS_MAP_VALUES == 0 ? range->lo : range->hi);
}

/*
 * Writes the keys of rows 0 to n - 1 of parts, one for each column, to out, which has room for n;
 * *nkeys is how many there are; where rows are found, number is that of row 0.  False if a value of
 * a row that passes the columns' conditions is none of those that the layout expects, and *value is
 * that value.
 */
static bool
rows_keys(const RowsLayout *layout, const ValueRange *ranges, const RowsPart *parts, uint32_t n,
		  uint64_t number, int32_t *out, uint32_t *nkeys, int32_t *value)
{
	uint32_t	count = 0;
	bool		sound = true;

	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t	key = layout->base;
		bool		passes = true;
		bool		outside = false;
		int32_t		odd = 0;

		for (uint32_t c = 0; c < layout->ncolumns && passes; c++)
		{
			const RowsColumn *column = &layout->columns[c];
			const RowsPart *part = &parts[c];
			uint32_t	row = part->first + i;
			bool		isnull = part->nulls && (part->nulls[row / 8] >> row % 8 & 1);
			int32_t		v = (int32_t) (uint32_t) ((uint64_t) part->values.base - (uint64_t) column->origin +
												  packed_keys_distance(&part->values, i));
			uint32_t	place = (uint32_t) v - (uint32_t) column->lo;

			uint32_t	adds = isnull ? column->null_adds : place * column->stride;

			if (!isnull && (column->flags & ROWS_MAPPED))
				adds = place <= column->last ? map_place(ranges + column->first_range, place) : 0;
			if (column->flags & ROWS_FILTERED)
				passes = isnull ? (column->flags & ROWS_NULLS_PASS) != 0
					: column->flags & ROWS_MAPPED ? adds != ROWS_NO_MATCH
					: column->flags & ROWS_MASKED ? is_in_mask(ranges + column->first_range, column->nranges, v)
					: is_in_ranges(ranges + column->first_range, column->nranges, v);
			if (!(column->flags & ROWS_IN_KEY))
				continue;
			if (isnull ? !(column->flags & ROWS_NULL_IN_KEY) : place > column->last)
			{
				outside = true;
				odd = v;
			}
			key += adds;
		}
		if (!passes)
			continue;
		if (outside)
		{
			sound = false;
			*value = odd;
		}
		if (layout->key_ranges > 0 &&
			!is_in_ranges(ranges + layout->nranges - layout->key_ranges, layout->key_ranges, (int32_t) key))
			continue;
		out[count++] = (int32_t) (layout->key_ranges > 0 ? number + i : key);
	}
	*nkeys = count;
	return sound;
}

/* Adds the keys of one piece of each column, or of the only one without a layout; there is room. */
static HpsortCudaCode
add_row_pieces(HpsortCudaJob *job, const HpsortCudaPiece *pieces, HpsortCudaError *err)
{
	RowsPart	parts[ROWS_MAX_COLUMNS];
	uint32_t	keys;
	int32_t		value;

	if (job->layout.ncolumns == 0)
	{
		job->n += unpack_piece(pieces, job->keys + job->n);
		return HPSORT_CUDA_OK;
	}
	for (uint32_t c = 0; c < job->layout.ncolumns; c++)
		parts[c] = part_of(&pieces[c]);
	if (!rows_keys(&job->layout, job->ranges, parts, pieces[0].n, job->next_row, job->keys + job->n, &keys, &value))
	{
		fail(err, HPSORT_CUDA_OUT_OF_BOUNDS, "value out of bounds");
		err->key = value;
		return HPSORT_CUDA_OUT_OF_BOUNDS;
	}
	job->n += keys;
	job->next_row += pieces[0].n;
	return HPSORT_CUDA_OK;
}

HpsortCudaCode
hpsort_cuda_job_add_rows(HpsortCudaJob *job, const HpsortCudaPiece *pieces, uint32_t nparts,
						 uint64_t *nkeys, HpsortCudaError *err)
{
	uint32_t	ncolumns = job->layout.ncolumns > 0 ? job->layout.ncolumns : 1;
	uint64_t	before = job->n;
	uint64_t	rows = 0;
	HpsortCudaCode code = begin_call(job, AT_ROWS, err);

	for (uint32_t i = 0; i < nparts; i++)
		rows += pieces[(size_t) i * ncolumns].n;
	if (code == HPSORT_CUDA_OK)
		code = make_room(job, rows, err);
	for (uint32_t i = 0; i < nparts && code == HPSORT_CUDA_OK; i++)
		code = add_row_pieces(job, pieces + (size_t) i * ncolumns, err);
	*nkeys = job->layout.ncolumns > 0 ? rows : job->n - before;
	return code;
}

HpsortCudaCode
hpsort_cuda_job_consumed(HpsortCudaJob *job, int wait, uint64_t *number, HpsortCudaError *err)
{
	(void) wait;
	(void) err;
	*number = job->adds;
	return HPSORT_CUDA_OK;
}

/* Finds the bounds of the keys, of which there are some; they must be within the promised ones. */
static HpsortCudaCode
find_bounds(HpsortCudaJob *job, int32_t *lo, int32_t *hi, HpsortCudaError *err)
{
	kernel_min_max(job->keys, job->n, lo, hi);
	if (!job->spec.bounds_known || (*lo >= job->spec.lo && *hi <= job->spec.hi))
		return HPSORT_CUDA_OK;
	fail(err, HPSORT_CUDA_OUT_OF_BOUNDS, "key out of bounds");
	err->key = *lo < job->spec.lo ? *lo : *hi;
	return HPSORT_CUDA_OUT_OF_BOUNDS;
}

/* Sorts n > 0 keys in place, or their rows, by an algorithm of the CPU. */
static SortStatus
sort_by(HpsortCudaJob *job, SortAlgorithm algorithm, SortError *err)
{
	bool		permutation = job->spec.wanted == HPSORT_CUDA_PERMUTATION;
	SortContext context = job->context;
	SortStatus	status;
	Sorter		s;

	context.algorithm = algorithm;
	sorter_init(&s, &context, INT32_MIN, INT32_MAX);
	status = sorter_add_array(&s, job->keys, job->n, err);
	if (status == SORT_OK)
		status = sorter_finish(&s, permutation ? SORT_WANT_PERMUTATION : SORT_WANT_KEYS, err);
	if (status == SORT_OK)
		status = permutation ? sorter_read_permutation(&s, job->spec.descending, 0, job->rows, err) :
			sorter_read_keys(&s, false, job->keys, err);
	sorter_reset(&s);
	return status;
}

/* Sorts n > 0 keys, or their rows. */
static HpsortCudaCode
sort_keys(HpsortCudaJob *job, HpsortCudaResult *result, HpsortCudaError *err)
{
	bool		permutation = job->spec.wanted == HPSORT_CUDA_PERMUTATION;
	SortPlanInput input = {
		.n = job->n,
		.want = permutation ? SORT_WANT_PERMUTATION : SORT_WANT_KEYS,
		.device = SORT_DEVICE_CPU,
		.algorithm = job->algorithm,
		.algorithm_memory = job->device->limit > 0 ? job->device->limit : ALGORITHM_MEMORY,
	};
	SortPlan	plan;
	SortError	failed;
	HpsortCudaCode code = find_bounds(job, &input.lo, &input.hi, err);

	if (code != HPSORT_CUDA_OK)
		return code;
	if (plan_choose(&input, &plan, &failed) != SORT_OK)
		return sort_failed(&failed, err);
	if (permutation)
	{
		job->rows = limited_alloc(job->device, job->n * sizeof(uint32_t));
		if (job->rows == NULL)
			return no_memory(err);
	}
	if (sort_by(job, plan.algorithm, &failed) != SORT_OK)
		return sort_failed(&failed, err);

	/* Where keys have been counted their runs are known. */
	job->have_runs = !permutation && plan.algorithm == SORT_ALGORITHM_ZERO_COMPRESSED;
	if (job->have_runs &&
		runs_of_all(&job->runs, job->keys, job->n, &job->context, &failed) != SORT_OK)
		return sort_failed(&failed, err);
	result->regime = job->spec.algorithm != 0 ? HPSORT_CUDA_PUBLISHED :
		plan.algorithm == SORT_ALGORITHM_RADIX ? HPSORT_CUDA_RADIX : HPSORT_CUDA_SHARED_HISTOGRAM;
	result->distinct = job->have_runs ? job->runs.len : 0;
	snprintf(result->reason, sizeof(result->reason), "%s on the stub of a device",
			 sort_algorithm_name(plan.algorithm));
	return HPSORT_CUDA_OK;
}

HpsortCudaCode
hpsort_cuda_job_finish(HpsortCudaJob *job, HpsortCudaResult *result, HpsortCudaError *err)
{
	HpsortCudaCode code = begin_call(job, AT_FINISH, err);

	memset(result, 0, sizeof(*result));
	if (code != HPSORT_CUDA_OK)
		return code;
	result->n = job->n;
	if (job->n > 0)
		return sort_keys(job, result, err);
	snprintf(result->reason, sizeof(result->reason), "no keys");
	return HPSORT_CUDA_OK;
}

HpsortCudaCode
hpsort_cuda_job_distinct(HpsortCudaJob *job, uint64_t *distinct, HpsortCudaError *err)
{
	SortError	error;

	if (!job->have_runs && runs_of_all(&job->runs, job->keys, job->n, &job->context, &error) != SORT_OK)
		return no_memory(err);
	job->have_runs = true;
	*distinct = job->runs.len;
	return HPSORT_CUDA_OK;
}

HpsortCudaCode
hpsort_cuda_job_read_runs(HpsortCudaJob *job, uint64_t first, uint64_t count, int32_t *keys,
						  uint64_t *counts, HpsortCudaError *err)
{
	HpsortCudaCode code = begin_call(job, AT_READ, err);

	if (code != HPSORT_CUDA_OK)
		return code;
	memcpy(counts, job->runs.counts + first, count * sizeof(uint64_t));
	memcpy(keys, job->runs.keys + first, count * sizeof(int32_t));
	return HPSORT_CUDA_OK;
}

HpsortCudaCode
hpsort_cuda_job_read_keys(HpsortCudaJob *job, uint64_t first, uint64_t count, int descending,
						  int32_t *keys, HpsortCudaError *err)
{
	HpsortCudaCode code = begin_call(job, AT_READ, err);

	if (code != HPSORT_CUDA_OK)
		return code;
	for (uint64_t i = 0; i < count; i++)
		keys[i] = job->keys[descending ? job->n - 1 - first - i : first + i];
	return HPSORT_CUDA_OK;
}

HpsortCudaCode
hpsort_cuda_job_read_permutation(HpsortCudaJob *job, uint64_t first, uint64_t count, uint32_t *rows,
								 HpsortCudaError *err)
{
	HpsortCudaCode code = begin_call(job, AT_READ, err);

	if (code != HPSORT_CUDA_OK)
		return code;
	memcpy(rows, job->rows + first, count * sizeof(uint32_t));
	return HPSORT_CUDA_OK;
}

/* The distance of a key from the lower bound of all. */
static uint32_t
distance_of(const HpsortCudaJob *job, int32_t key)
{
	return (uint32_t) key - (uint32_t) (job->spec.bounds_known ? job->spec.lo : INT32_MIN);
}

/* Whether a job of a layout with a grain knows the answer at a position: where a group of keys begins or ends. */
static bool
is_border(const HpsortCudaJob *job, uint64_t position)
{
	return position == 0 || position == job->n ||
		distance_of(job, job->keys[position - 1]) >> job->layout.grain !=
		distance_of(job, job->keys[position]) >> job->layout.grain;
}

/* Refuses what a job of a layout with a grain cannot answer; sound says that it can. */
static HpsortCudaCode
check_grain(const HpsortCudaJob *job, bool sound, HpsortCudaError *err)
{
	return job->layout.grain == 0 || sound ? HPSORT_CUDA_OK :
		fail(err, HPSORT_CUDA_BAD_ARGUMENT, "the keys of groups are not known one by one");
}

HpsortCudaCode
hpsort_cuda_job_read_at(HpsortCudaJob *job, const uint64_t *positions, uint64_t count, int32_t *keys,
						HpsortCudaError *err)
{
	HpsortCudaCode code = begin_call(job, AT_LOOK, err);

	if (code != HPSORT_CUDA_OK)
		return code;
	for (uint64_t i = 0; i < count; i++)
		keys[i] = job->keys[positions[i]];
	return check_grain(job, false, err);
}

/* How many of the job's keys are less than one. */
static uint64_t
count_below(const HpsortCudaJob *job, int32_t key)
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

HpsortCudaCode
hpsort_cuda_job_read_below(HpsortCudaJob *job, const int32_t *keys, uint64_t count, uint64_t *positions,
						   HpsortCudaError *err)
{
	HpsortCudaCode code = begin_call(job, AT_LOOK, err);

	if (code != HPSORT_CUDA_OK)
		return code;
	for (uint64_t i = 0; i < count && code == HPSORT_CUDA_OK; i++)
	{
		code = check_grain(job, (distance_of(job, keys[i]) & ((1u << job->layout.grain) - 1)) == 0, err);
		positions[i] = count_below(job, keys[i]) + (job->wrong ? job->n + 1 : 0);
	}
	return code;
}

HpsortCudaCode
hpsort_cuda_job_read_sums(HpsortCudaJob *job, const uint64_t *positions, uint64_t count, uint64_t *sums,
						  HpsortCudaError *err)
{
	uint64_t	sum = 0;
	uint64_t	at = 0;
	HpsortCudaCode code = begin_call(job, AT_LOOK, err);

	if (code != HPSORT_CUDA_OK)
		return code;
	/* The caller's positions ascend. */
	for (uint64_t i = 0; i < count && code == HPSORT_CUDA_OK; i++)
	{
		code = check_grain(job, is_border(job, positions[i]), err);
		if (positions[i] < at)
			at = sum = 0;
		while (at < positions[i])
			sum += (uint64_t) (int64_t) job->keys[at++];
		sums[i] = sum;
	}
	return code;
}

void
hpsort_cuda_job_cancel(HpsortCudaJob *job)
{
	atomic_store(&job->cancelled, true);
}

void
hpsort_cuda_job_close(HpsortCudaJob *job)
{
	faults_thread.finished = faults_thread.starving = false;
	runs_release(&job->runs, &job->context.allocator);
	limited_release(job->device, job->keys);
	limited_release(job->device, job->rows);
	free(job->ranges);
	free(job);
}
