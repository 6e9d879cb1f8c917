/*
 * arrays.c
 *		Casts between int4multiset and arrays, int4[] and hpsort_run[]; and
 *		hpsort_column_multiset(), a table's column as a multiset.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "pg/functions/functions.h"
#include "pg/int4_array.h"
#include "pg/last_sort.h"
#include "pg/multiset/expanded.h"
#include "pg/multiset/run_levels.h"
#include "pg/multiset/value.h"
#include "sort/kernels/kernels.h"

PG_FUNCTION_INFO_V1(hpsort_support_multiset_from_keys);
PG_FUNCTION_INFO_V1(hpsort_support_multiset_to_keys);
PG_FUNCTION_INFO_V1(hpsort_support_multiset_from_runs);
PG_FUNCTION_INFO_V1(hpsort_support_multiset_to_runs);
PG_FUNCTION_INFO_V1(hpsort_column_multiset);

/* Raises an error if an array has a NULL. */
static void
check_nulls(const ArrayType *array)
{
	if (array_contains_nulls((ArrayType *) array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("array must not contain nulls")));
}

/*
 * How many elements are filled between two looks for interrupts.  Pages that are touched for
 * the first time take most of the time: some 10 to 20 ns for each element.
 */
#define FILLED_AT_ONCE ((uint64) 1 << 20)

/* Writes a key count times to out, and returns where it ended.  Looks for interrupts. */
static int32 *
fill(int32 *out, int32 key, uint64 count)
{
	while (count > 0)
	{
		uint64		part = Min(count, FILLED_AT_ONCE);

		CHECK_FOR_INTERRUPTS();
		kernel_fill(out, part, key);
		out += part;
		count -= part;
	}
	return out;
}

/* (int4[]) returns int4multiset: a cast.  A NULL among the elements is an error. */
Datum
hpsort_support_multiset_from_keys(PG_FUNCTION_ARGS)
{
	ArrayType  *array = array_arg(PG_GETARG_DATUM(0));
	int			n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	SortContext context;
	Sorter		sorter;
	SortError	err;
	bytea	   *value;

	check_nulls(array);
	pg_sort_context(&context, CurrentMemoryContext);
	sorter_init(&sorter, &context, PG_INT32_MIN, PG_INT32_MAX);
	/* The array is only read: a function may keep it in memory that is to stay as it is. */
	pg_sort_check(sorter_add_array(&sorter, (const int32 *) ARR_DATA_PTR(array), n, &err), &err);
	value = multiset_sorter_flat(&sorter);
	sorter_reset(&sorter);
	PG_RETURN_BYTEA_P(value);
}

/* (int4multiset) returns int4[]: a cast; more keys than an array can have are an error */
Datum
hpsort_support_multiset_to_keys(PG_FUNCTION_ARGS)
{
	MultisetReader reader;
	ArrayType  *array;
	int32	   *out;

	multiset_reader_open(&reader, PG_GETARG_DATUM(0));
	if (reader.m.total > MaxArraySize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("array of %llu elements exceeds the maximum of %d",
						(unsigned long long) reader.m.total, (int) MaxArraySize),
				 errhint("Use runs(), which returns keys and their counts.")));
	array = int4_array_make((int64) reader.m.total, 0, 1, false, &out);
	while (multiset_reader_next(&reader))
		for (uint32 i = 0; i < reader.block.n; i++)
			out = fill(out, reader.block.keys[i], reader.block.counts[i]);
	PG_RETURN_ARRAYTYPE_P(array);
}

/*
 * (hpsort_run[]) returns int4multiset: a cast.  Runs may come in any order, and counts of equal
 * keys are added up.  A NULL run, key or count, or a count below 1, is an error.
 */
Datum
hpsort_support_multiset_from_runs(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	TupleDesc	tupdesc = run_array_type(get_array_type(ARR_ELEMTYPE(array)));
	SortContext context;
	RunLevels  *levels;
	bytea	   *value;
	ArrayIterator iterator;
	Datum		element;
	bool		isnull;

	check_nulls(array);
	pg_sort_context(&context, CurrentMemoryContext);
	levels = run_levels_make(&context.allocator);
	iterator = array_create_iterator(array, 0, NULL);
	while (array_iterate(iterator, &element, &isnull))
	{
		HeapTupleHeader row = DatumGetHeapTupleHeader(element);
		HeapTupleData tuple = {0};
		Datum		values[2];
		bool		nulls[2];

		CHECK_FOR_INTERRUPTS();
		tuple.t_len = HeapTupleHeaderGetDatumLength(row);
		tuple.t_data = row;
		heap_deform_tuple(&tuple, tupdesc, values, nulls);
		if (nulls[0] || nulls[1])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("runs of a multiset must not contain nulls")));
		if (DatumGetInt64(values[1]) <= 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("counts of a multiset must be greater than zero")));
		run_levels_put(levels, DatumGetInt32(values[0]), (uint64) DatumGetInt64(values[1]));
	}
	array_free_iterator(iterator);
	value = run_levels_flat(levels);
	run_levels_empty(levels);
	PG_RETURN_BYTEA_P(value);
}

/* (int4multiset) returns hpsort_run[]: a cast, to the runs in ascending order of keys. */
Datum
hpsort_support_multiset_to_runs(PG_FUNCTION_ARGS)
{
	MultisetReader reader;
	RunArray	array;

	multiset_reader_open(&reader, PG_GETARG_DATUM(0));
	run_array_begin(&array, run_array_type(get_func_rettype(fcinfo->flinfo->fn_oid)),
					reader.m.len);
	while (multiset_reader_next(&reader))
		run_array_add(&array, reader.block.keys, reader.block.counts, reader.block.n);
	return run_array_end(&array);
}

/*
 * (rel regclass, attribute name, lo int4, hi int4) returns int4multiset: NULL for no rows, as
 * int4multiset_agg
 */
Datum
hpsort_column_multiset(PG_FUNCTION_ARGS)
{
	AggregateState *keys;
	bytea	   *value;
	int32		lo;
	int32		hi;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	sort_bounds_from_args(fcinfo, 2, &lo, &hi);
	keys = keys_of_column(fcinfo, PG_GETARG_OID(0), NameStr(*PG_GETARG_NAME(1)), lo, hi,
						  CurrentMemoryContext);
	value = multiset_sorter_flat(&keys->sorter);
	last_sort_record("hpsort_column_multiset", &keys->sorter, NULL, keys->nulls);
	if (sorter_count(&keys->sorter) + keys->nulls == 0)
		PG_RETURN_NULL();
	sorter_reset(&keys->sorter);
	PG_RETURN_BYTEA_P(value);
}
