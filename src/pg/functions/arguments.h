/*
 * arguments.h
 *		Arguments that several SQL functions have: direction, place of NULLs, bounds.
 */
#ifndef HPSORT_PG_FUNCTIONS_ARGUMENTS_H
#define HPSORT_PG_FUNCTIONS_ARGUMENTS_H

#include "postgres.h"

#include "fmgr.h"

/* The order of a result: its direction, and where NULLs are. */
typedef struct SortOrder
{
	bool		descending;
	bool		nulls_first;
} SortOrder;

/*
 * Returns the order that two arguments ask for: number arg is descending, and not NULL; number
 * arg + 1 is nulls_first, and NULL where ORDER BY would put NULLs in that direction.
 */
extern SortOrder sort_order_from_args(FunctionCallInfo fcinfo, int arg);

/*
 * Takes the inclusive bounds from arguments number arg and arg + 1.  A NULL is no bound on its
 * side.  Bounds that leave no key are an error.
 */
extern void sort_bounds_from_args(FunctionCallInfo fcinfo, int arg, int32 *lo, int32 *hi);

/* Raises an error if there is no key between lo and hi. */
extern void sort_bounds_check(int32 lo, int32 hi);

#endif							/* HPSORT_PG_FUNCTIONS_ARGUMENTS_H */
