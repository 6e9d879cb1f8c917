/*
 * sort_context.c
 *		Between PostgreSQL and src/sort (see sort_context.h).
 */
#include "postgres.h"

#include <sys/mman.h>
#include <unistd.h>

#include "access/parallel.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/array.h"
#include "utils/expandeddatum.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/guc.h"
#include "pg/sort_context.h"

/*
 * Memory for src/sort: palloc in one context, without errors, and without the
 * 1 GB limit.  A sort that fails needs no clean-up: its context goes.
 */
static void *
pg_alloc(void *arena, size_t size)
{
	return MemoryContextAllocExtended((MemoryContext) arena, size,
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
}

static void *
pg_grow(void *arena, void *block, size_t old_size, size_t size)
{
	if (block == NULL)
		return pg_alloc(arena, size);
	return compat_repalloc_no_oom(block, size);
}

static void
pg_release(void *arena, void *block)
{
	pfree(block);
}

/* ------------------------------------------------------------------------
 * Interrupts
 * ------------------------------------------------------------------------
 */

bool		pg_error_kept = false;

/* The error that an interrupt raised in the middle of a sort, while pg_error_kept. */
static ErrorData *kept_error;

static void
drop_kept_error(void *error)
{
	if (kept_error == error)
	{
		kept_error = NULL;
		pg_error_kept = false;
	}
}

/*
 * Takes the error that was just caught from elog.c.  It lives as long as the
 * subtransaction that it has to abort, so that none is left behind should some
 * other error do that first.
 */
static void
keep_error(MemoryContext context)
{
	volatile bool copied = false;

	MemoryContextSwitchTo(CurTransactionContext);
	PG_TRY();
	{
		ErrorData  *error = CopyErrorData();
		MemoryContextCallback *callback = palloc(sizeof(MemoryContextCallback));

		callback->func = drop_kept_error;
		callback->arg = error;
		MemoryContextRegisterResetCallback(CurTransactionContext, callback);
		kept_error = error;
		pg_error_kept = true;
		copied = true;
	}
	PG_CATCH();
	{
		/* No memory: the second error goes the way of the first, below. */
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	FlushErrorState();

	/* A cancel needs no memory, and ends the sort as well. */
	if (!copied)
	{
		QueryCancelPending = true;
		InterruptPending = true;
	}
}

/*
 * CHECK_FOR_INTERRUPTS() for callers that no error may jump out of.  FATAL ends
 * the process here, whose threads have nothing to do: src/sort asks when none
 * but the calling one is there.
 */
static void
serve_interrupts(void)
{
	MemoryContext context = CurrentMemoryContext;

	PG_TRY();
	{
		CHECK_FOR_INTERRUPTS();
	}
	PG_CATCH();
	{
		keep_error(context);
	}
	PG_END_TRY();
}

static inline bool
must_stop(void)
{
	return pg_error_kept ||
		(InterruptPending && (QueryCancelPending || ProcDiePending || TransactionTimeoutPending));
}

bool
pg_interrupt_pending(void)
{
	if (likely(!InterruptPending && !pg_error_kept))
		return false;

	/*
	 * What always ends the query is left to pg_sort_error.  Everything else
	 * may ask for something that a sort need not end for, as a barrier, or may
	 * turn out to be nothing: only serving it tells.
	 */
	if (!must_stop() && INTERRUPTS_CAN_BE_PROCESSED())
		serve_interrupts();
	return pg_error_kept || (must_stop() && INTERRUPTS_CAN_BE_PROCESSED());
}

void
pg_check_interrupts(void)
{
	if (pg_error_kept)
	{
		ErrorData  *error = kept_error;

		drop_kept_error(error);
		ReThrowError(error);
	}
	CHECK_FOR_INTERRUPTS();
}

static bool
pg_interrupted(void *arg)
{
	return pg_interrupt_pending();
}

/* ------------------------------------------------------------------------
 * The context of a sort, and its errors
 * ------------------------------------------------------------------------
 */

int
pg_sort_threads(void)
{
	static int	processors = 0;
	int			workers = Min(max_parallel_workers, max_worker_processes);

	/* A worker is one of those that the cluster allows itself. */
	if (hpsort_threads == 1 || IsParallelWorker())
		return 1;
	if (processors == 0)
		processors = (int) Max(sysconf(_SC_NPROCESSORS_ONLN), 1);
	return Min(hpsort_threads, Min(processors, 1 + workers));
}

/* What pg_sort_use_gpu was given. */
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
	context->threads = pg_sort_threads();
	context->gpu = sort_gpu;
}

void
pg_sort_context_partial(SortContext *context, MemoryContext memory)
{
	pg_sort_context(context, memory);
	context->gpu = NULL;
}

void
pg_sort_error(const SortError *err)
{
	/* A wait that was interrupted may look like anything. */
	pg_check_interrupts();
	switch (err->status)
	{
		case SORT_OUT_OF_MEMORY:
			ereport(ERROR,
					(errcode(ERRCODE_OUT_OF_MEMORY),
					 errmsg("out of memory"),
					 errdetail("hpsort could not get memory for its keys.")));
			break;
		case SORT_KEY_OUT_OF_BOUNDS:
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("key %d is out of bounds", err->key),
					 errdetail("Keys were promised to be between %d and %d.", err->lo, err->hi)));
			break;
		case SORT_UNSUPPORTED:
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("%s", err->message),
					 err->detail[0] ? errdetail("%s", err->detail) : 0,
					 errhint("Set hpsort.algorithm to \"auto\", or see hpsort_algorithms().")));
			break;
		case SORT_DEVICE_UNAVAILABLE:
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("%s", err->message),
					 err->detail[0] ? errdetail("%s", err->detail) : 0,
					 errhint("Set hpsort.device to \"auto\", or see hpsort_devices().")));
			break;
		case SORT_CANCELLED:
			/* The cancel was withdrawn meanwhile, but so is the sort. */
			ereport(ERROR,
					(errcode(ERRCODE_QUERY_CANCELED),
					 errmsg("%s", err->message)));
			break;
		case SORT_CORRUPT:
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("%s", err->message)));
			break;
		case SORT_LIMIT_EXCEEDED:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("%s", err->message)));
			break;
		case SORT_OK:
			break;
	}
	elog(ERROR, "unexpected sort status %d", (int) err->status);
	pg_unreachable();
}

SortOrder
sort_order_from_args(FunctionCallInfo fcinfo, int arg)
{
	SortOrder	order;

	order.descending = PG_GETARG_BOOL(arg);
	order.nulls_first = PG_ARGISNULL(arg + 1) ? order.descending : PG_GETARG_BOOL(arg + 1);
	return order;
}

void
sort_bounds_from_args(FunctionCallInfo fcinfo, int arg, int32 *lo, int32 *hi)
{
	*lo = PG_ARGISNULL(arg) ? PG_INT32_MIN : PG_GETARG_INT32(arg);
	*hi = PG_ARGISNULL(arg + 1) ? PG_INT32_MAX : PG_GETARG_INT32(arg + 1);
	sort_bounds_check(*lo, *hi);
}

void
sort_bounds_check(int32 lo, int32 hi)
{
	if (lo > hi)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("lower bound %d is greater than upper bound %d", lo, hi)));
}

/*
 * PL/pgSQL keeps its arrays expanded, but does not take them apart before it
 * has to: until then the flat array that they were made of is in there, and
 * reading that spares a copy (10,000,000 keys: 13 to 35 ms, mostly of pages
 * touched for the first time).
 */
ArrayType *
array_arg(Datum arg)
{
	if (VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(arg)))
	{
		ExpandedArrayHeader *expanded = (ExpandedArrayHeader *) DatumGetEOHP(arg);

		if (expanded->ea_magic == EA_MAGIC && expanded->fvalue != NULL)
			return expanded->fvalue;
	}
	return DatumGetArrayTypeP(arg);
}

const int32 *
int4_array_keys(ArrayType *array, int *n, int *nulls)
{
	return array_keys(array, INT4OID, n, nulls);
}

const int32 *
array_keys(ArrayType *array, Oid type, int *n, int *nulls)
{
	int			items;

	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("array of keys must be one-dimensional"),
				 errdetail("It has %d dimensions.", ARR_NDIM(array))));
	Assert(ARR_ELEMTYPE(array) == type);

	items = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	*nulls = 0;
	if (ARR_HASNULL(array))
	{
		const bits8 *bitmap = ARR_NULLBITMAP(array);

		/* What is behind the last item, in its byte, means nothing. */
		*nulls = items - (int) pg_popcount((const char *) bitmap, items / 8);
		if (items % 8 > 0)
			*nulls -= pg_number_of_ones[bitmap[items / 8] & ((1 << (items % 8)) - 1)];
	}
	/* NULLs take no room among the elements. */
	*n = items - *nulls;
	return (const int32 *) ARR_DATA_PTR(array);
}

/* Arrays: from 32 MB on malloc maps a block of its own, which then goes back. */
#define HUGE_ARRAY_MIN ((Size) 32 * 1024 * 1024)

/*
 * A large block is written once, from its first byte to its last: with pages
 * of 4 kB much of that is the kernel handing them out.  Blocks of malloc begin
 * anywhere, so what is asked for are the huge pages that lie within.  Where
 * there are none nothing changes.  10,000,000 keys: 12.4 ms become 2.5; a
 * sort of 10,000,000 rows: 800, and 704 (AMD EPYC, Zen 5).
 */
void
pg_ask_for_huge_pages(void *block, Size size)
{
#ifdef MADV_HUGEPAGE
	if (size >= PG_HUGE_PAGES_MIN)
	{
		uintptr_t	page = (uintptr_t) sysconf(_SC_PAGESIZE);
		uintptr_t	from = TYPEALIGN(page, (uintptr_t) block);
		uintptr_t	to = TYPEALIGN_DOWN(page, (uintptr_t) block + size);

		(void) madvise((void *) from, to - from, MADV_HUGEPAGE);
	}
#endif
}

ArrayType *
int4_array_make(int64 n, int64 nulls, int lower_bound, bool nulls_first, int32 **keys)
{
	int64		items = n + nulls;
	ArrayType  *array;
	Size		overhead;
	Size		size;

	if (items > (int64) MaxArraySize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("array of %lld elements exceeds the maximum of %d",
						(long long) items, (int) MaxArraySize),
				 errhint("Use hpsort_query, which returns a set, or hpsort_runs_agg.")));
	if (items == 0)
	{
		array = construct_empty_array(INT4OID);
		*keys = NULL;
		return array;
	}
	overhead = nulls > 0 ? ARR_OVERHEAD_WITHNULLS(1, items) : ARR_OVERHEAD_NONULLS(1);
	size = overhead + (Size) n * sizeof(int32);
	array = (ArrayType *) palloc(size);
	if (size >= HUGE_ARRAY_MIN)
		pg_ask_for_huge_pages(array, size);
	memset(array, 0, overhead);
	SET_VARSIZE(array, size);
	array->ndim = 1;
	array->dataoffset = nulls > 0 ? (int32) overhead : 0;
	array->elemtype = INT4OID;
	ARR_DIMS(array)[0] = (int) items;
	ARR_LBOUND(array)[0] = lower_bound;
	if (nulls > 0)
	{
		bits8	   *bitmap = ARR_NULLBITMAP(array);
		int64		i = nulls_first ? nulls : 0;
		int64		end = i + n;

		for (; i < end && i % 8 != 0; i++)
			bitmap[i / 8] |= (bits8) (1 << (i % 8));
		memset(bitmap + i / 8, 0xFF, (end - i) / 8);
		for (i += (end - i) / 8 * 8; i < end; i++)
			bitmap[i / 8] |= (bits8) (1 << (i % 8));
	}
	*keys = (int32 *) ARR_DATA_PTR(array);
	return array;
}
