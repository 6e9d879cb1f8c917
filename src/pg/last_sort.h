/*
 * last_sort.h
 *		What the last sort of this session did: hpsort_last() shows it.
 */
#ifndef HPSORT_PG_LAST_SORT_H
#define HPSORT_PG_LAST_SORT_H

#include "sort/sorter/sorter.h"

/* What the last sort did. */
typedef struct LastSort
{
	const char *function;		/* the SQL function, a literal; NULL: no sort yet */
	Oid			user;			/* the effective user of the sort */
	int64		nulls;
	bool		bounds;			/* stats.lo and stats.hi are bounds of the user's values */
	SorterStats stats;
} LastSort;

/* To be called when the module is loaded: DISCARD ALL will forget the last sort. */
extern void last_sort_init(void);

/*
 * Records what sorter has just done for function, a literal. out holds all of its keys in
 * order, or is NULL; nulls is how many NULLs there are beside the keys.
 */
extern void last_sort_record(const char *function, Sorter *sorter, const int32 *out, int64 nulls);

/* Returns what the last sort did; its function is NULL if there was none. */
extern const LastSort *last_sort_get(void);

#endif							/* HPSORT_PG_LAST_SORT_H */
