/*
 * first_rows.h
 *		The first rows of each group among resident rows, found by a GPU.
 *
 * For in_place.c, whose scan then reads only blocks that have some of these rows.
 */
#ifndef HPSORT_PG_NODES_SORT_EXEC_FIRST_ROWS_H
#define HPSORT_PG_NODES_SORT_EXEC_FIRST_ROWS_H

#include "pg/nodes/sort/store/store.h"
#include "pg/values/values.h"

typedef struct FirstRows
{
	ResidentRowsHandler handler;
	GroupBound *bound;
	bool		found;			/* rows from now on are some of those that have been counted ... */
	uint64	   *counted;		/* ... here, which is the scan's */
} FirstRows;

/*
 * Has a scan of ncolumns keys, each with the image of its value, ask the GPU if it can tell which
 * rows are among the first of their group.  first lives as long as the scan.
 */
extern void first_rows_begin(FirstRows *first, GroupBound *bound, ColumnScan *scan,
							 uint64 *counted);

#endif							/* HPSORT_PG_NODES_SORT_EXEC_FIRST_ROWS_H */
