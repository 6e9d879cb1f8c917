/*
 * arguments.h
 *		Arguments that several SQL functions have: direction, place of NULLs, bounds.
 */
#ifndef HPSORT_PG_FUNCTIONS_ARGUMENTS_H
#define HPSORT_PG_FUNCTIONS_ARGUMENTS_H

#include "postgres.h"

#include "fmgr.h"

/* The order of a result. */
typedef struct SortOrder
{
	bool		descending;
	bool		nulls_first;
} SortOrder;

/*
 * The order that arguments number arg (descending, not NULL) and arg + 1
 * (nulls_first; NULL: as ORDER BY has it in that direction) ask for.
 */
extern SortOrder sort_order_from_args(FunctionCallInfo fcinfo, int arg);

/*
 * The inclusive bounds in arguments number arg and arg + 1; a NULL is no bound on
 * that side.  Bounds that leave no key are an error.
 */
extern void sort_bounds_from_args(FunctionCallInfo fcinfo, int arg, int32 *lo, int32 *hi);

/* An error if no key is between lo and hi. */
extern void sort_bounds_check(int32 lo, int32 hi);

#endif							/* HPSORT_PG_FUNCTIONS_ARGUMENTS_H */
