/*
 * last_sort.h
 *		What the last sort of this session did: hpsort_last() shows it.
 */
#ifndef HPSORT_PG_LAST_SORT_H
#define HPSORT_PG_LAST_SORT_H

#include "postgres.h"

#include "sort/sorter.h"

typedef struct LastSort
{
	const char *function;		/* the SQL function, a literal; NULL: no sort yet */
	Oid			user;			/* the effective user of the sort */
	int64		nulls;
	bool		bounds;			/* stats.lo and stats.hi are bounds of the user's values */
	SorterStats stats;
} LastSort;

/* When the module is loaded. */
extern void last_sort_init(void);

/*
 * Records what sorter has just done for function, a literal.  out holds all of its
 * keys in order, or is NULL; nulls are the NULLs beside the keys.
 */
extern void last_sort_record(const char *function, Sorter *sorter, const int32 *out, int64 nulls);

/*
 * The keys of the sort just recorded were images of other values (floats, say):
 * hpsort_last() must not show the images' bounds.
 */
extern void last_sort_forget_bounds(void);

extern const LastSort *last_sort_get(void);

#endif							/* HPSORT_PG_LAST_SORT_H */
