/*
 * cuda.c
 *		NVIDIA GPUs as the service's devices: cuda/hpsort_cuda.h behind engine.h.
 *
 * Compiled always; without HPSORT_WITH_CUDA there is no engine.
 */
#include "gpud/cuda.h"

#ifdef HPSORT_WITH_CUDA

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hpsort_cuda.h"
#include "published/published.h"
#include "sort/algorithms.h"
#include "sort/extent.h"

typedef struct CudaJob
{
	HpsortCudaJob *job;
	SortAlgorithm algorithm;	/* a published one that was asked for; AUTO: the engine's choice */
	uint64_t	n;
} CudaJob;

/* Translates an error of the CUDA engine; returns false, for the caller to return. */
static bool
failed(const HpsortCudaError *from, EngineError *err)
{
	switch (from->code)
	{
		case HPSORT_CUDA_OUT_OF_BOUNDS:
			engine_fail(err, GPU_OK, "key out of bounds");
			err->key = from->key;
			break;
		case HPSORT_CUDA_NO_MEMORY:
			engine_fail(err, GPU_NO_MEMORY, "%.150s", from->text);
			break;
		case HPSORT_CUDA_NO_DEVICE:
			engine_fail(err, GPU_NO_DEVICE, "%.150s", from->text);
			break;
		case HPSORT_CUDA_CANCELLED:
			engine_fail(err, GPU_LOST, "job was cancelled");
			err->cancelled = true;
			break;
		case HPSORT_CUDA_BAD_ARGUMENT:
		case HPSORT_CUDA_DUPLICATE:
			engine_fail(err, GPU_UNSUPPORTED, "%.150s", from->text);
			break;
		default:
			engine_fail(err, GPU_DEVICE_ERROR, "%.150s", from->text);
			break;
	}
	err->sticky = from->sticky != 0;
	return false;
}

static bool
cuda_count(int *count, EngineError *err)
{
	HpsortCudaError e;

	return hpsort_cuda_device_count(count, &e) == HPSORT_CUDA_OK || failed(&e, err);
}

static bool
cuda_info(int ordinal, EngineInfo *info, EngineError *err)
{
	HpsortCudaDeviceInfo i;
	HpsortCudaError e;

	if (hpsort_cuda_device_info(ordinal, &i, &e) != HPSORT_CUDA_OK)
		return failed(&e, err);
	memset(info, 0, sizeof(*info));
	info->ordinal = ordinal;
	snprintf(info->name, sizeof(info->name), "%.127s", i.name);
	info->memory_total = i.memory_total;
	info->memory_free = i.memory_free;
	return true;
}

static bool
cuda_open(int ordinal, uint64_t memory_limit, void **device, EngineError *err)
{
	HpsortCuda *context;
	HpsortCudaError e;

	if (hpsort_cuda_open(ordinal, memory_limit, &context, &e) != HPSORT_CUDA_OK)
		return failed(&e, err);
	*device = context;
	return true;
}

static void
cuda_close(void *device)
{
	hpsort_cuda_close(device);
}

static bool
cuda_pin(void *device, void *memory, size_t bytes, EngineError *err)
{
	HpsortCudaError e;

	return hpsort_cuda_pin(device, memory, bytes, &e) == HPSORT_CUDA_OK || failed(&e, err);
}

static uint64_t
cuda_memory_used(void *device)
{
	uint64_t	used;
	uint64_t	peak;

	hpsort_cuda_memory(device, &used, &peak, 0);
	return used;
}

static void
cuda_trim(void *device)
{
	HpsortCudaError e;

	(void) hpsort_cuda_trim(device, &e);
}

/*
 * The published algorithm of that name, as HpsortCudaSpec.algorithm; 0 where the
 * engine's own algorithms are meant.  "radix" is CUB's sort.
 */
static int
published(SortAlgorithm algorithm)
{
	HpsortPublished found;

	if (algorithm == SORT_ALGORITHM_AUTO || algorithm == SORT_ALGORITHM_ZERO_COMPRESSED ||
		!hpsort_published_by_name(sort_algorithm_name(algorithm), &found))
		return 0;
	return HPSORT_PUBLISHED_JOB(found);
}

static bool
cuda_job_open(void *device, const EngineSpec *spec, void **result, EngineError *err)
{
	HpsortCudaSpec s = {
		.n_hint = spec->n,
		.lo = spec->lo,
		.hi = spec->hi,
		.bounds_known = spec->lo != INT32_MIN || spec->hi != INT32_MAX,
		.descending = spec->descending,
		.algorithm = published(spec->algorithm),
		.float_images = spec->floats,
		.counted = spec->algorithm == SORT_ALGORITHM_ZERO_COMPRESSED,
	};
	HpsortCudaError e;
	CudaJob    *job = calloc(1, sizeof(CudaJob));

	if (job == NULL)
		return engine_fail(err, GPU_RESOURCES, "out of memory");

	job->algorithm = s.algorithm != 0 ? spec->algorithm : SORT_ALGORITHM_AUTO;

	/* A job for keys can be read as runs, too, and is when those are smaller. */
	s.wanted = spec->want == SORT_WANT_PERMUTATION ? HPSORT_CUDA_PERMUTATION :
		spec->want == SORT_WANT_RUNS ? HPSORT_CUDA_RUNS : HPSORT_CUDA_KEYS | HPSORT_CUDA_RUNS;
	if (hpsort_cuda_job_open(device, &s, &job->job, &e) != HPSORT_CUDA_OK)
	{
		free(job);
		return failed(&e, err);
	}
	if (hpsort_published_job_share(job->job, (HpsortCuda *const *) spec->others, spec->nothers,
								   &e) != HPSORT_CUDA_OK)
	{
		hpsort_cuda_job_close(job->job);
		free(job);
		return failed(&e, err);
	}
	*result = job;
	return true;
}

static bool
cuda_job_add(void *arg, const int32_t *keys, uint32_t n, uint64_t *number, EngineError *err)
{
	HpsortCudaError e;

	return hpsort_cuda_job_add(((CudaJob *) arg)->job, keys, n, number, &e) == HPSORT_CUDA_OK ||
		failed(&e, err);
}

static bool
cuda_job_consumed(void *arg, bool wait, uint64_t *number, EngineError *err)
{
	HpsortCudaError e;

	return hpsort_cuda_job_consumed(((CudaJob *) arg)->job, wait, number, &e) == HPSORT_CUDA_OK ||
		failed(&e, err);
}

/* On the device, an extent is its values and its rows' bits; all else of it is the caller's. */
static bool
cuda_job_keep_extent(void *arg, const Extent *header, const void *bytes, void **held,
					 uint64_t *number, EngineError *err)
{
	const char *start = bytes;
	const uint8_t *nulls =
		header->nulls_at != 0 ? (const uint8_t *) start + header->nulls_at : NULL;
	HpsortCudaPacked *packed;
	HpsortCudaError e;

	*held = NULL;
	if (hpsort_cuda_job_keep(((CudaJob *) arg)->job, start + header->values_at, nulls,
							 header->nrows, (int) header->width, header->base, &packed, number,
							 &e) != HPSORT_CUDA_OK)
		return failed(&e, err);
	*held = packed;
	return true;
}

static void
cuda_extent_drop(void *device, void *held)
{
	(void) device;
	hpsort_cuda_packed_free(held);
}

/* A piece is the same to both, so that tens of thousands of them need no translation. */
_Static_assert(sizeof(EnginePiece) == sizeof(HpsortCudaPiece) &&
			   offsetof(EnginePiece, held) == offsetof(HpsortCudaPiece, packed) &&
			   offsetof(EnginePiece, first) == offsetof(HpsortCudaPiece, first) &&
			   offsetof(EnginePiece, n) == offsetof(HpsortCudaPiece, n),
			   "pieces are laid out alike");

static bool
cuda_job_add_pieces(void *arg, const EnginePiece *pieces, uint32_t n, uint64_t *keys,
					EngineError *err)
{
	HpsortCudaError e;

	return hpsort_cuda_job_add_packed(((CudaJob *) arg)->job,
									  (const HpsortCudaPiece *) (const void *) pieces, n, keys,
									  &e) == HPSORT_CUDA_OK || failed(&e, err);
}

/* So is a layout. */
_Static_assert(sizeof(RowsLayout) == sizeof(HpsortCudaRows) &&
			   sizeof(RowsColumn) == sizeof(HpsortCudaRowsColumn) &&
			   offsetof(RowsColumn, flags) == offsetof(HpsortCudaRowsColumn, flags) &&
			   offsetof(RowsColumn, nranges) == offsetof(HpsortCudaRowsColumn, nranges) &&
			   offsetof(RowsLayout, columns) == offsetof(HpsortCudaRows, columns) &&
			   sizeof(ValueRange) == sizeof(HpsortCudaRange) &&
			   ROWS_MAX_COLUMNS == HPSORT_CUDA_ROWS_COLUMNS && ROWS_IN_KEY == HPSORT_CUDA_ROWS_IN_KEY &&
			   ROWS_NULL_IN_KEY == HPSORT_CUDA_ROWS_NULL_IN_KEY &&
			   ROWS_FILTERED == HPSORT_CUDA_ROWS_FILTERED && ROWS_NULLS_PASS == HPSORT_CUDA_ROWS_NULLS_PASS,
			   "layouts are laid out alike");

static bool
cuda_job_set_rows(void *arg, const RowsLayout *layout, const ValueRange *ranges, EngineError *err)
{
	HpsortCudaError e;

	return hpsort_cuda_job_rows(((CudaJob *) arg)->job, (const HpsortCudaRows *) (const void *) layout,
								(const HpsortCudaRange *) (const void *) ranges, &e) == HPSORT_CUDA_OK ||
		failed(&e, err);
}

static bool
cuda_job_add_rows(void *arg, const EnginePiece *pieces, uint32_t nrows, EngineError *err)
{
	HpsortCudaError e;

	return hpsort_cuda_job_add_rows(((CudaJob *) arg)->job, (const HpsortCudaPiece *) (const void *) pieces,
									nrows, &e) == HPSORT_CUDA_OK || failed(&e, err);
}

/* All regimes of the engine that count are the 0-compressed H-P algorithm. */
static SortAlgorithm
algorithm_of(HpsortCudaRegime regime)
{
	switch (regime)
	{
		case HPSORT_CUDA_NOTHING:
			return SORT_ALGORITHM_AUTO;
		case HPSORT_CUDA_RADIX:
			return SORT_ALGORITHM_RADIX;
		default:
			return SORT_ALGORITHM_ZERO_COMPRESSED;
	}
}

static bool
cuda_job_finish(void *arg, EngineResult *result, EngineError *err)
{
	CudaJob    *job = arg;
	HpsortCudaResult r;
	HpsortCudaError e;

	if (hpsort_cuda_job_finish(job->job, &r, &e) != HPSORT_CUDA_OK)
		return failed(&e, err);
	memset(result, 0, sizeof(*result));
	job->n = r.n;
	result->n = r.n;
	result->distinct = r.distinct;
	result->algorithm = r.regime == HPSORT_CUDA_PUBLISHED ? job->algorithm : algorithm_of(r.regime);
	snprintf(result->reason, sizeof(result->reason), "%.159s", r.reason);
	return true;
}

static bool
cuda_job_distinct(void *arg, uint64_t *distinct, EngineError *err)
{
	CudaJob    *job = arg;
	HpsortCudaError e;

	*distinct = 0;
	return job->n == 0 ||
		hpsort_cuda_job_distinct(job->job, distinct, &e) == HPSORT_CUDA_OK || failed(&e, err);
}

static bool
cuda_job_read(void *arg, GpuForm form, bool descending, uint64_t first, uint32_t count,
			  void *chunk, EngineError *err)
{
	HpsortCudaJob *job = ((CudaJob *) arg)->job;
	HpsortCudaError e;
	HpsortCudaCode code;

	switch (form)
	{
		case GPU_FORM_RUNS:
			code = hpsort_cuda_job_read_runs(job, first, count,
											 (int32_t *) ((uint64_t *) chunk + count), chunk, &e);
			break;
		case GPU_FORM_PERMUTATION:
			code = hpsort_cuda_job_read_permutation(job, first, count, chunk, &e);
			break;
		default:
			code = hpsort_cuda_job_read_keys(job, first, count, descending, chunk, &e);
			break;
	}
	return code == HPSORT_CUDA_OK || failed(&e, err);
}

static bool
cuda_job_at(void *arg, const uint64_t *positions, uint32_t n, int32_t *keys, EngineError *err)
{
	HpsortCudaError e;

	return hpsort_cuda_job_read_at(((CudaJob *) arg)->job, positions, n, keys, &e) == HPSORT_CUDA_OK ||
		failed(&e, err);
}

static bool
cuda_job_below(void *arg, const int32_t *keys, uint32_t n, uint64_t *positions, EngineError *err)
{
	HpsortCudaError e;

	return hpsort_cuda_job_read_below(((CudaJob *) arg)->job, keys, n, positions, &e) == HPSORT_CUDA_OK ||
		failed(&e, err);
}

static void
cuda_job_cancel(void *arg)
{
	hpsort_cuda_job_cancel(((CudaJob *) arg)->job);
}

static void
cuda_job_close(void *arg)
{
	hpsort_cuda_job_close(((CudaJob *) arg)->job);
	free(arg);
}

static const Engine engine = {
	.count = cuda_count,
	.info = cuda_info,
	.open = cuda_open,
	.close = cuda_close,
	.pin = cuda_pin,
	.memory_used = cuda_memory_used,
	.trim = cuda_trim,
	.job_open = cuda_job_open,
	.job_add = cuda_job_add,
	.job_consumed = cuda_job_consumed,
	.job_set_rows = cuda_job_set_rows,
	.job_add_rows = cuda_job_add_rows,
	.job_keep_extent = cuda_job_keep_extent,
	.extent_drop = cuda_extent_drop,
	.job_add_pieces = cuda_job_add_pieces,
	.job_finish = cuda_job_finish,
	.job_distinct = cuda_job_distinct,
	.job_read = cuda_job_read,
	.job_at = cuda_job_at,
	.job_below = cuda_job_below,
	.job_cancel = cuda_job_cancel,
	.job_close = cuda_job_close,
};

const Engine *
cuda_engine(void)
{
	return &engine;
}

#else

const Engine *
cuda_engine(void)
{
	return NULL;
}

#endif							/* HPSORT_WITH_CUDA */
