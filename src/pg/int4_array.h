/*
 * int4_array.h
 *		int4[] as keys, and keys as int4[].
 */
#ifndef HPSORT_PG_INT4_ARRAY_H
#define HPSORT_PG_INT4_ARRAY_H

#include "utils/array.h"

/*
 * Returns an array argument, detoasted.  It is not copied where that can be avoided: the result
 * is valid during the call only, and must not be changed.
 */
extern ArrayType *array_arg(Datum arg);

/*
 * Returns the elements of a one-dimensional int4[] or float4[] that are not NULL, where they lie,
 * and sets *n to their number and *nulls to the number of NULLs.  An array of more dimensions is
 * an error.
 */
extern const int32 *array_keys(ArrayType *array, int *n, int *nulls);

/*
 * Returns a new one-dimensional array of elements of a type and of size bytes each, in the current
 * memory context, for n values and nulls NULLs, which are not both 0.  The NULLs are in place,
 * before or after the values.  The caller writes the values, from *elements on.  Returns NULL if
 * the array would be too large.
 */
extern ArrayType *flat_array_make(Oid type, Size size, int64 n, int64 nulls, bool nulls_first,
								  char **elements);

/*
 * Returns a new one-dimensional int4[], in the current memory context, for n keys and nulls
 * NULLs.  The NULLs are in place, before or after the keys.  The caller writes the n keys, from
 * *keys on.  An array over the size limit is an error.
 */
extern ArrayType *int4_array_make(int64 n, int64 nulls, int lower_bound, bool nulls_first,
								  int32 **keys);

#endif							/* HPSORT_PG_INT4_ARRAY_H */
