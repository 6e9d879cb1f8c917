/*
 * int4_array.h
 *		int4[] as keys, and keys as int4[].
 */
#ifndef HPSORT_PG_INT4_ARRAY_H
#define HPSORT_PG_INT4_ARRAY_H

#include "postgres.h"

#include "utils/array.h"

/*
 * An array argument, detoasted; not copied where that can be avoided, so the
 * result is valid during the call only and must not be changed.
 */
extern ArrayType *array_arg(Datum arg);

/*
 * The elements of a one-dimensional array that are not NULL, where they lie: *n
 * of them, and *nulls NULLs.  type is the array's element type, one of four bytes
 * that is passed by value.  An array of more dimensions is an error.
 */
extern const int32 *array_keys(ArrayType *array, Oid type, int *n, int *nulls);

/* array_keys() of an int4[]. */
extern const int32 *int4_array_keys(ArrayType *array, int *n, int *nulls);

/*
 * A new one-dimensional int4[], in the current memory context, for n keys and
 * nulls NULLs.  The NULLs are in place, before or after the keys; the n keys are
 * the caller's to write, from *keys on.  An array over the size limit is an error.
 */
extern ArrayType *int4_array_make(int64 n, int64 nulls, int lower_bound, bool nulls_first,
								  int32 **keys);

#endif							/* HPSORT_PG_INT4_ARRAY_H */
