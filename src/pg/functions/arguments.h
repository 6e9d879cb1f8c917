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
static inline SortOrder
sort_order_from_args(FunctionCallInfo fcinfo, int arg)
{
	SortOrder	order;

	order.descending = PG_GETARG_BOOL(arg);
	order.nulls_first = PG_ARGISNULL(arg + 1) ? order.descending : PG_GETARG_BOOL(arg + 1);
	return order;
}

/* Raises an error if there is no key between lo and hi. */
static inline void
sort_bounds_check(int32 lo, int32 hi)
{
	if (lo > hi)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("lower bound %d is greater than upper bound %d", lo, hi)));
}

/*
 * Takes the inclusive bounds from arguments number arg and arg + 1.  A NULL is no bound on its
 * side.  Bounds that leave no key are an error.
 */
static inline void
sort_bounds_from_args(FunctionCallInfo fcinfo, int arg, int32 *lo, int32 *hi)
{
	*lo = PG_ARGISNULL(arg) ? PG_INT32_MIN : PG_GETARG_INT32(arg);
	*hi = PG_ARGISNULL(arg + 1) ? PG_INT32_MAX : PG_GETARG_INT32(arg + 1);
	sort_bounds_check(*lo, *hi);
}

#endif							/* HPSORT_PG_FUNCTIONS_ARGUMENTS_H */
