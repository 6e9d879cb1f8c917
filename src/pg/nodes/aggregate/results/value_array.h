/*
 * value_array.h
 *		array_agg of one group after the other: an array from ordered runs.
 *
 * Elements are written as the array has them, in the type's own width.  NULLs are not in the runs:
 * they are at the beginning or the end of the array.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_RESULTS_VALUE_ARRAY_H
#define HPSORT_PG_NODES_AGGREGATE_RESULTS_VALUE_ARRAY_H

#include "utils/array.h"

#include "pg/nodes/aggregate/plan/plan.h"

/* An array that is being filled; the caller sets element type and order before. */
typedef struct ValueArray
{
	Oid			type;			/* of the elements */
	ColumnKind	kind;			/* of the elements, which says how wide they are */
	bool		distinct;		/* one element for each value, one for all NULLs */
	bool		descending;		/* the last value comes first */
	bool		nulls_first;

	/* of a group */
	int64		nulls;			/* that the array gets */
	int64		n;				/* elements that are not NULL, filled so far */
	int64		capacity;		/* for which there is room */
	ArrayType  *array;			/* of its final size; NULL: it is distinct, or empty */
	char	   *elements;		/* in the array, or if it is distinct in memory of their own */
} ValueArray;

/*
 * These do what the functions of results.h do that have their names.  values and nulls are how
 * many the group has.  value_array_begin raises an error if the array would be too large; of a
 * distinct array the other functions do.
 */
extern void value_array_begin(ValueArray *array, int64 values, int64 nulls);
extern void value_array_take(ValueArray *array, const int64 *values, const int64 *counts,
							 size_t nruns);
extern Datum value_array_end(ValueArray *array, bool *isnull);

/*
 * Writes what an array has as elements in place of integers: labels for their ranks, and the bits
 * of floats.  Returns false, and writes nothing, if it has the integers themselves.
 */
extern bool value_array_elements(const ColumnDomain *domain, const int64 *values, size_t n,
								 int64 *elements);

#endif							/* HPSORT_PG_NODES_AGGREGATE_RESULTS_VALUE_ARRAY_H */
