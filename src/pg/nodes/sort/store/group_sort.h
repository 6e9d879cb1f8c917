/*
 * group_sort.h
 *		The sorting of groups: rows of equal codes, whose order the keys that are left decide.
 *
 * Rows of a group are compared key by key.  sort.c, whose part this is, finds the groups.
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_GROUP_SORT_H
#define HPSORT_PG_NODES_SORT_STORE_GROUP_SORT_H

#include "pg/nodes/sort/store/row_store.h"

/* Rows handled between two looks at interrupts; a row costs a cache miss or two. */
#define CHECK_EVERY ((uint64) 1 << 15)

/* The sorting of groups, one after the other.  A group's entries are used again by the next. */
typedef struct GroupSort
{
	RowStore   *store;
	int			first;			/* mapped keys from here on are compared ... */
	int			nrest;			/* ... and this many keys left to core; if there are none of both,
								 * groups stay as they are */
	RowGroupEntry *rows;		/* of the group; NULL before the first one */
	Size		room;			/* entries that rows has room for */
	RowGroupEntry *scratch;		/* room for half of the group's entries */
} GroupSort;

/*
 * Puts the n rows of a group, which are in the order in which they came, in order by comparing
 * them.  scratch has room for half as many entries as there are rows.
 */
extern void group_sort(GroupSort *sort, uint32 *rows, Size n, void *scratch);

/* Frees the groups' memory: a store may be sorted many times. */
extern void group_sort_end(GroupSort *sort);

#endif							/* HPSORT_PG_NODES_SORT_STORE_GROUP_SORT_H */
