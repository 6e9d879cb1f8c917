/*
 * sort_context.c
 *		Between PostgreSQL and src/sort (see sort_context.h).
 */
#include "postgres.h"

#include <unistd.h>

#include "access/parallel.h"
#include "miscadmin.h"
#include "optimizer/cost.h"

#include "pg/guc.h"
#include "pg/huge_pages.h"
#include "pg/sort_context.h"

/*
 * SortAllocator's functions for src/sort: palloc in one memory context, without errors and
 * without the limit of 1 GB. A sort that fails needs no clean-up, since deleting the memory
 * context frees all that the sort had.
 */
static void *
pg_alloc(void *arena, size_t size)
{
	void	   *block = MemoryContextAllocExtended((MemoryContext) arena, size,
												   MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);

	if (block)
		pg_ask_for_huge_pages(block, size);
	return block;
}

static void *
pg_grow(void *arena, void *block, size_t old_size, size_t size)
{
	if (block == NULL)
		return pg_alloc(arena, size);
	return compat_repalloc_no_oom(block, old_size, size);
}

static void
pg_release(void *arena, void *block)
{
	pfree(block);
}

/* SortContext.interrupted */
static bool
pg_interrupted(void *arg)
{
	return pg_interrupt_pending();
}

/*
 * Returns how many threads a sort of this session may use: as many as a parallel query would
 * have processes, but no more than there are processors.  A parallel worker has one thread.
 */
static int
sort_threads(void)
{
	static int	processors = 0;
	int			workers = Min(max_parallel_workers_per_gather,
							  Min(max_parallel_workers, max_worker_processes));

	/* A parallel worker is itself one of the max_parallel_workers. */
	if (workers == 0 || IsParallelWorker())
		return 1;
	if (processors == 0)
		processors = (int) Max(sysconf(_SC_NPROCESSORS_ONLN), 1);
	return Min(processors, 1 + workers);
}

/*
 * Returns how much memory an algorithm of the papers may take besides keys and result:
 * work_mem, or as much as the largest histogram of an automatic sort if that is more.
 */
static size_t
algorithm_memory(void)
{
	return Max((size_t) work_mem * 1024, (size_t) PLAN_MAX_BINS * sizeof(uint32_t));
}

/* What pg_sort_use_gpu() was given. */
static const SortGpu *sort_gpu = NULL;

void
pg_sort_use_gpu(const SortGpu *gpu)
{
	sort_gpu = gpu;
}

void
pg_sort_context(SortContext *context, MemoryContext memory)
{
	memset(context, 0, sizeof(*context));
	context->allocator.alloc = pg_alloc;
	context->allocator.grow = pg_grow;
	context->allocator.release = pg_release;
	context->allocator.arena = memory;
	context->interrupted = pg_interrupted;
	context->device = (SortDeviceKind) hpsort_device_setting;
	context->algorithm = (SortAlgorithm) hpsort_algorithm_setting;
	context->threads = sort_threads();
	context->algorithm_memory = algorithm_memory();
	context->gpu = sort_gpu;
}

void
pg_sort_context_partial(SortContext *context, MemoryContext memory)
{
	pg_sort_context(context, memory);
	context->gpu = NULL;
}

void
pg_sort_context_lenient(SortContext *context, MemoryContext memory, bool use_gpu)
{
	const char *reason;

	pg_sort_context(context, memory);
	context->algorithm = SORT_ALGORITHM_AUTO;
	if (!use_gpu)
		context->gpu = NULL;
	if (context->device == SORT_DEVICE_GPU &&
		(context->gpu == NULL ||
		 context->gpu->costs(context->gpu->arg, UINT64_MAX, true, &reason) == NULL))
		context->device = SORT_DEVICE_CPU;
}

/* How errors are raised that have their message, and perhaps a detail, from src/sort. */
typedef struct ErrorKind
{
	int			code;
	const char *hint;			/* or NULL */
} ErrorKind;

static const ErrorKind error_kinds[] = {
	[SORT_UNSUPPORTED] = {
		ERRCODE_FEATURE_NOT_SUPPORTED,
		"Set hpsort.algorithm to \"auto\", or see hpsort_algorithms()."
	},
	[SORT_MEMORY_LIMIT] = {
		ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
		"Increase work_mem, or set hpsort.algorithm to \"auto\"."
	},
	[SORT_DEVICE_UNAVAILABLE] = {
		ERRCODE_FEATURE_NOT_SUPPORTED,
		"Set hpsort.device to \"auto\", or see hpsort_devices()."
	},
	/* The cancel's flag has been reset meanwhile, but the sort is not finished. */
	[SORT_CANCELLED] = {ERRCODE_QUERY_CANCELED},
	[SORT_CORRUPT] = {ERRCODE_DATA_CORRUPTED},
	[SORT_LIMIT_EXCEEDED] = {ERRCODE_PROGRAM_LIMIT_EXCEEDED},
};

void
pg_sort_error(const SortError *err)
{
	const ErrorKind *kind;

	/*
	 * A wait that was interrupted can have ended with any status; the interrupt is what is
	 * raised.
	 */
	pg_check_interrupts();
	if (err->status == SORT_OUT_OF_MEMORY)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("hpsort could not get memory for its keys.")));
	/* No key is named, since it depends on the plan which of several keys is found. */
	if (err->status == SORT_KEY_OUT_OF_BOUNDS)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("key is out of bounds"),
				 errdetail("Keys were promised to be between %d and %d.", err->lo, err->hi)));
	kind = (size_t) err->status < lengthof(error_kinds) ? &error_kinds[err->status] : NULL;
	if (kind == NULL || kind->code == 0)
		elog(ERROR, "unexpected sort status %d", (int) err->status);
	ereport(ERROR,
			(errcode(kind->code),
			 errmsg("%s", err->message),
			 err->detail[0] ? errdetail("%s", err->detail) : 0,
			 kind->hint ? errhint("%s", kind->hint) : 0));
}
