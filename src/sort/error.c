/*
 * error.c
 *		Errors by value (see error.h).
 */
#include "sort/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

SortStatus
sort_fail(SortError *err, SortStatus status, const char *format,...)
{
	va_list		args;

	memset(err, 0, sizeof(*err));
	err->status = status;
	va_start(args, format);
	vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	return status;
}

SortStatus
sort_no_memory(SortError *err)
{
	return sort_fail(err, SORT_OUT_OF_MEMORY, "out of memory");
}

SortStatus
sort_cancelled(SortError *err)
{
	return sort_fail(err, SORT_CANCELLED, "sort was cancelled");
}

SortStatus
sort_out_of_bounds(SortError *err, int32_t key, int32_t lo, int32_t hi)
{
	sort_fail(err, SORT_KEY_OUT_OF_BOUNDS, "key %d is out of bounds", key);
	err->key = key;
	err->lo = lo;
	err->hi = hi;
	return SORT_KEY_OUT_OF_BOUNDS;
}
