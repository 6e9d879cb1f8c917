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
 * An array of runs that is being built: the array's bytes, which grow.  Runs are written into
 * it directly, since datums of their own would take twice the array's memory beside it.
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

/* Raises an error unless hpsort_run still has the two attributes that it was made with. */
extern void run_type_check(TupleDesc tupdesc);

/*
 * Returns the descriptor of hpsort_run in the current memory context. array_type is the array
 * type of hpsort_run, which may be in any schema.
 */
extern TupleDesc run_array_type(Oid array_type);

/*
 * Makes *runs an empty array in the current memory context, with room for the expected number
 * of runs and one of NULLs.
 */
extern void run_array_begin(RunArray *runs, TupleDesc tupdesc, uint64 expected);

/* Appends n runs, of keys[i] and counts[i]. */
extern void run_array_add(RunArray *runs, const int32 *keys, const uint64 *counts, size_t n);

/* Appends the one run of all NULLs, which GROUP BY x ORDER BY x has as well. */
extern void run_array_add_nulls(RunArray *runs, TupleDesc tupdesc, int64 nulls);

/* Returns the array.  Nothing may be added after it. */
extern Datum run_array_end(RunArray *runs);

#endif							/* HPSORT_PG_FUNCTIONS_RUN_ARRAY_H */
