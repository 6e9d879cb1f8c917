/*
 * last_sort.c
 *		What the last sort of this session did (see last_sort.h).
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pg/last_sort.h"
#include "pg/sort_context.h"
#include "sort/algorithms.h"

static LastSort last_sort;

void
last_sort_record(const char *function, Sorter *sorter, const int32 *out, int64 nulls)
{
	last_sort.function = function;
	last_sort.user = GetUserId();
	last_sort.nulls = nulls;
	last_sort.bounds = true;
	pg_sort_stats(sorter, out, &last_sort.stats);
}

void
last_sort_forget_bounds(void)
{
	last_sort.bounds = false;
}

const LastSort *
last_sort_get(void)
{
	return &last_sort;
}
