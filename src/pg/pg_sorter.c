/*
 * pg_sorter.c
 *		Between PostgreSQL and src/sort (see pg_sorter.h).
 */
#include "postgres.h"

#include <sys/mman.h>
#include <unistd.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/expandeddatum.h"
#include "utils/memutils.h"

#include "compat.h"
#include "gpu_backend.h"
#include "pg_sorter.h"
#include "settings.h"

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

/*
 * Whether a sort should stop.  It may be asked while threads of ours run, so
 * nothing is processed here: pg_sort_error does that once they are gone.
 */
static bool
pg_interrupted(void *arg)
{
	return pg_interrupt_pending();
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
	context->threads = hpsort_threads;
	context->gpu = &gpu_backend;
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
	CHECK_FOR_INTERRUPTS();
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
		int			i;

		for (i = 0; i < items; i++)
			if (!(bitmap[i / 8] & (1 << (i % 8))))
				(*nulls)++;
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
		int64		first = nulls_first ? nulls : 0;
		int64		i;

		for (i = first; i < first + n; i++)
			bitmap[i / 8] |= (bits8) (1 << (i % 8));
	}
	*keys = (int32 *) ARR_DATA_PTR(array);
	return array;
}
