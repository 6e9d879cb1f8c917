/*
 * run_array.c
 *		hpsort_run[] (see functions.h).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "pg/functions/functions.h"

/* hpsort_run is an ordinary composite type, which its owner may alter. */
void
run_type_check(TupleDesc tupdesc)
{
	if (tupdesc->natts != 2 || TupleDescAttr(tupdesc, 0)->atttypid != INT4OID ||
		TupleDescAttr(tupdesc, 1)->atttypid != INT8OID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("type hpsort_run must have the attributes key integer and count bigint, and no others")));
}

/* The descriptor is a copy, which the caller may keep, and blessed for making rows. */
TupleDesc
run_array_type(Oid array_type)
{
	Oid			element = get_element_type(array_type);
	TupleDesc	tupdesc;

	if (!OidIsValid(element))
		elog(ERROR, "could not determine the element type of an array of runs");
	tupdesc = BlessTupleDesc(lookup_rowtype_tupdesc_copy(element, -1));
	run_type_check(tupdesc);
	return tupdesc;
}

/* Makes room for size more bytes, and may move the array.  An error if it gets too large. */
static void
reserve(RunArray *runs, Size size)
{
	if (runs->used + size <= runs->capacity)
		return;
	if (runs->used + size > MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("array of more than %d runs exceeds the maximum size",
						(int) ((MaxAllocSize - ARR_OVERHEAD_NONULLS(1)) / runs->image_size)),
				 errhint("Use hpsort_query, which returns a set.")));
	runs->capacity = Min(Max(runs->capacity * 2, runs->used + size), MaxAllocSize);
	runs->array = (ArrayType *) repalloc(runs->array, runs->capacity);
}

/* Returns a run as a composite value, with a key of 0 or NULL. */
static HeapTupleHeader
form_run(TupleDesc tupdesc, bool isnull, int64 count)
{
	Datum		values[2] = {Int32GetDatum(0), Int64GetDatum(count)};
	bool		nulls[2] = {isnull, false};

	return DatumGetHeapTupleHeader(HeapTupleGetDatum(heap_form_tuple(tupdesc, values, nulls)));
}

void
run_array_begin(RunArray *runs, TupleDesc tupdesc, uint64 expected)
{
	runs->type = tupdesc->tdtypeid;
	runs->image = form_run(tupdesc, false, 0);
	runs->image_size = MAXALIGN(HeapTupleHeaderGetDatumLength(runs->image));
	runs->key_offset = runs->image->t_hoff;
	runs->count_offset = runs->key_offset + DOUBLEALIGN(sizeof(int32));
	runs->n = 0;
	runs->used = ARR_OVERHEAD_NONULLS(1);
	/* One more for the run of NULLs. */
	runs->capacity = runs->used + runs->image_size * (Min(expected, MaxAllocSize) + 1);
	runs->capacity = Min(runs->capacity, MaxAllocSize);
	runs->array = (ArrayType *) palloc(runs->capacity);
}

/* The image of a run is copied, and its numbers overwritten: no tuple is formed for each. */
void
run_array_add(RunArray *runs, const int32 *keys, const uint64 *counts, size_t n)
{
	char	   *at;

	reserve(runs, n * runs->image_size);
	at = (char *) runs->array + runs->used;
	for (size_t i = 0; i < n; i++, at += runs->image_size)
	{
		memcpy(at, runs->image, runs->image_size);
		memcpy(at + runs->key_offset, &keys[i], sizeof(keys[i]));
		memcpy(at + runs->count_offset, &counts[i], sizeof(counts[i]));
	}
	runs->used += n * runs->image_size;
	runs->n += (int) n;
}

void
run_array_add_nulls(RunArray *runs, TupleDesc tupdesc, int64 nulls)
{
	HeapTupleHeader run = form_run(tupdesc, true, nulls);
	Size		size = HeapTupleHeaderGetDatumLength(run);

	reserve(runs, MAXALIGN(size));
	memset((char *) runs->array + runs->used, 0, MAXALIGN(size));
	memcpy((char *) runs->array + runs->used, run, size);
	runs->used += MAXALIGN(size);
	runs->n++;
}

/* An array without elements has no dimensions: another one is made. */
Datum
run_array_end(RunArray *runs)
{
	ArrayType  *array = runs->array;

	if (runs->n == 0)
		return PointerGetDatum(construct_empty_array(runs->type));
	SET_VARSIZE(array, runs->used);
	array->ndim = 1;
	array->dataoffset = 0;
	array->elemtype = runs->type;
	ARR_DIMS(array)[0] = runs->n;
	ARR_LBOUND(array)[0] = 1;
	return PointerGetDatum(array);
}
