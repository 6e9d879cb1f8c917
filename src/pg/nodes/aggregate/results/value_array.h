/*
 * value_array.h
 *		array_agg of one group after the other: an array from ordered runs.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_RESULTS_VALUE_ARRAY_H
#define HPSORT_PG_NODES_AGGREGATE_RESULTS_VALUE_ARRAY_H

#include "postgres.h"

#include "utils/array.h"

#include "pg/nodes/aggregate/plan/plan.h"

/* An array that is being filled; element type and order are the caller's to set before. */
typedef struct ValueArray
{
	Oid			type;			/* of the elements */
	ColumnKind	kind;
	bool		distinct;		/* one element for each value, one for all NULLs */
	bool		descending;
	bool		nulls_first;

	/* of a group */
	int64		nulls;
	int64		n;				/* elements that are not NULL, filled so far */
	int64		capacity;		/* for which there is room */
	ArrayType  *array;			/* unless distinct, of its final size; may be NULL */
	char	   *elements;
} ValueArray;

/* As the functions of results.h; values and nulls are how many the group has. */
extern void value_array_begin(ValueArray *array, int64 values, int64 nulls);
extern void value_array_take(ValueArray *array, const int64 *values, const int64 *counts,
							 size_t nruns);
extern Datum value_array_end(ValueArray *array, bool *isnull);

#endif							/* HPSORT_PG_NODES_AGGREGATE_RESULTS_VALUE_ARRAY_H */
