/*
 * arguments.c
 *		Arguments that several functions have (see arguments.h).
 */
#include "postgres.h"

#include "pg/functions/arguments.h"

SortOrder
sort_order_from_args(FunctionCallInfo fcinfo, int arg)
{
	SortOrder	order;

	order.descending = PG_GETARG_BOOL(arg);
	order.nulls_first = PG_ARGISNULL(arg + 1) ? order.descending : PG_GETARG_BOOL(arg + 1);
	return order;
}

void
sort_bounds_from_args(FunctionCallInfo fcinfo, int arg, int32 *lo, int32 *hi)
{
	*lo = PG_ARGISNULL(arg) ? PG_INT32_MIN : PG_GETARG_INT32(arg);
	*hi = PG_ARGISNULL(arg + 1) ? PG_INT32_MAX : PG_GETARG_INT32(arg + 1);
	sort_bounds_check(*lo, *hi);
}

void
sort_bounds_check(int32 lo, int32 hi)
{
	if (lo > hi)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("lower bound %d is greater than upper bound %d", lo, hi)));
}
