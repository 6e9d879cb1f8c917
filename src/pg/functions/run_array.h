/*
 * run_array.h
 *		hpsort_run[]: runs as an array.
 */
#ifndef HPSORT_PG_FUNCTIONS_RUN_ARRAY_H
#define HPSORT_PG_FUNCTIONS_RUN_ARRAY_H

#include "postgres.h"

#include "access/htup.h"
#include "access/tupdesc.h"
#include "utils/array.h"

/*
 * An array of runs that is being built: the array's bytes, which grow.  The runs are
 * not datums of their own, which would take twice the array's memory beside it.
 */
typedef struct RunArray
{
	Oid			type;			/* of a run */
	ArrayType  *array;
	Size		used;
	Size		capacity;
	int			n;
	HeapTupleHeader image;		/* a run without NULLs, which is copied for each */
	Size		image_size;
	Size		key_offset;		/* where its numbers are */
	Size		count_offset;
} RunArray;

/* An error unless hpsort_run still has the two attributes it was made with. */
extern void run_type_check(TupleDesc tupdesc);

/*
 * The descriptor of hpsort_run, whose array type array_type is, in the current memory
 * context.  The type may be in any schema.
 */
extern TupleDesc run_array_type(Oid array_type);

/* An empty array in the current memory context, with room for so many runs as are expected. */
extern void run_array_begin(RunArray *runs, TupleDesc tupdesc, uint64 expected);

extern void run_array_add(RunArray *runs, const int32 *keys, const uint64 *counts, size_t n);

/* All NULLs are one run, as in GROUP BY x ORDER BY x. */
extern void run_array_add_nulls(RunArray *runs, TupleDesc tupdesc, int64 nulls);

/* The array. */
extern Datum run_array_end(RunArray *runs);

#endif							/* HPSORT_PG_FUNCTIONS_RUN_ARRAY_H */
