/*
 * sets.c
 *		A multiset's runs as rows: runs(), buckets() and most_frequent().
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/tuplestore.h"

#include "pg/functions/functions.h"
#include "pg/multiset/value.h"

PG_FUNCTION_INFO_V1(int4multiset_runs);
PG_FUNCTION_INFO_V1(int4multiset_buckets);
PG_FUNCTION_INFO_V1(int4multiset_most_frequent);

/*
 * How many runs are handled between two looks for interrupts, where reading blocks does not
 * look.
 */
#define CHECK_EVERY 1024

/* Prepares a tuplestore for SETOF hpsort_run.  An error if that type has been altered. */
static ReturnSetInfo *
begin_rows(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	run_type_check(rsinfo->setDesc);
	return rsinfo;
}

/* Adds a run to the result. */
static void
put_row(ReturnSetInfo *rsinfo, int32 key, uint64 count)
{
	Datum		values[2] = {Int32GetDatum(key), Int64GetDatum((int64) count)};
	bool		nulls[2] = {false, false};

	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* runs(int4multiset) returns SETOF hpsort_run: keys and their counts, by key ascending */
Datum
int4multiset_runs(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = begin_rows(fcinfo);
	MultisetReader reader;

	multiset_reader_open(&reader, PG_GETARG_DATUM(0));
	while (multiset_reader_next(&reader))
		for (uint32 i = 0; i < reader.block.n; i++)
			put_row(rsinfo, reader.block.keys[i], reader.block.counts[i]);
	return (Datum) 0;
}

/*
 * Returns the lower bound of the bucket that has a key: the largest multiple of width that is not
 * above the key, which may be below the smallest int4.
 */
static int64
bucket_of(int32 key, int32 width)
{
	int64		remainder = (int64) key % width;

	return key - (remainder < 0 ? remainder + width : remainder);
}

/* Adds a bucket to the result.  A lower bound that is no int4 is an error. */
static void
put_bucket(ReturnSetInfo *rsinfo, int64 bucket, uint64 count)
{
	if (bucket < PG_INT32_MIN)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("integer out of range")));
	put_row(rsinfo, (int32) bucket, count);
}

/*
 * buckets(int4multiset, width int4) returns SETOF hpsort_run: the lower bound of each bucket that
 * has keys, and how many, ascending; a bucket begins at each multiple of width
 */
Datum
int4multiset_buckets(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = begin_rows(fcinfo);
	int32		width = PG_GETARG_INT32(1);
	MultisetReader reader;
	int64		bucket = 0;
	uint64		count = 0;

	if (width <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("width must be greater than zero")));
	multiset_reader_open(&reader, PG_GETARG_DATUM(0));
	while (multiset_reader_next(&reader))
		for (uint32 i = 0; i < reader.block.n; i++)
		{
			int64		next = bucket_of(reader.block.keys[i], width);

			if (count > 0 && next != bucket)
			{
				put_bucket(rsinfo, bucket, count);
				count = 0;
			}
			bucket = next;
			count += reader.block.counts[i];
		}
	if (count > 0)
		put_bucket(rsinfo, bucket, count);
	return (Datum) 0;
}

/* --- the most frequent */

/* A run among the most frequent. */
typedef struct FrequentRun
{
	int32		key;
	uint64		count;
} FrequentRun;

/* Whether run a comes before b: by count descending, then by key. */
static inline bool
comes_before(const FrequentRun *a, const FrequentRun *b)
{
	return a->count > b->count || (a->count == b->count && a->key < b->key);
}

#define ST_SORT sort_frequent
#define ST_ELEMENT_TYPE FrequentRun
#define ST_COMPARE(a, b) (comes_before((a), (b)) ? -1 : comes_before((b), (a)) ? 1 : 0)
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Moves run at of a heap of n down to its place, when everything below it is a heap.  The heap has
 * the run that is last in order at its top.  Core's lib/binaryheap.h would call a function for each
 * comparison.
 */
static inline void
sift_frequent_down(FrequentRun *heap, Size n, Size at)
{
	const FrequentRun moving = heap[at];
	Size		child;

	while ((child = 2 * at + 1) < n)
	{
		if (child + 1 < n && comes_before(&heap[child], &heap[child + 1]))
			child++;
		if (!comes_before(&moving, &heap[child]))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moving;
}

static void
make_heap(FrequentRun *heap, Size n)
{
	for (Size at = n / 2; at-- > 0;)
	{
		if (at % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
		sift_frequent_down(heap, n, at);
	}
}

/* Finds the first n runs in order, and puts them into heap, which has room for them. */
static void
find_frequent(MultisetReader *reader, FrequentRun *heap, Size n)
{
	Size		filled = 0;

	while (multiset_reader_next(reader))
		for (uint32 i = 0; i < reader->block.n; i++)
		{
			FrequentRun run = {reader->block.keys[i], reader->block.counts[i]};

			if (filled < n)
			{
				heap[filled++] = run;
				if (filled == n)
					make_heap(heap, n);
			}
			else if (comes_before(&run, &heap[0]))
			{
				heap[0] = run;
				sift_frequent_down(heap, n, 0);
			}
		}
	sort_frequent(heap, n);
}

/*
 * most_frequent(int4multiset, n int4) returns SETOF hpsort_run: by count descending, then by
 * key ascending
 */
Datum
int4multiset_most_frequent(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = begin_rows(fcinfo);
	int32		wanted = PG_GETARG_INT32(1);
	MultisetReader reader;
	FrequentRun *heap;
	Size		n;

	if (wanted < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of runs must not be negative")));
	multiset_reader_open(&reader, PG_GETARG_DATUM(0));
	n = Min((Size) wanted, reader.m.len);
	if (n == 0)
		return (Datum) 0;
	heap = (FrequentRun *) MemoryContextAllocHuge(CurrentMemoryContext, n * sizeof(FrequentRun));
	find_frequent(&reader, heap, n);
	for (Size i = 0; i < n; i++)
	{
		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
		put_row(rsinfo, heap[i].key, heap[i].count);
	}
	pfree(heap);
	return (Datum) 0;
}
