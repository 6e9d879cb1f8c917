/*
 * stats.h
 *		What a sort of rows did, for EXPLAIN.
 */
#ifndef HPSORT_PG_NODES_SORT_EXEC_STATS_H
#define HPSORT_PG_NODES_SORT_EXEC_STATS_H

#include "postgres.h"

#include "pg/column/column.h"
#include "sort/plan.h"

/* Where the rows were while their keys were sorted. */
typedef enum RowsWhere
{
	ROWS_COPIED,				/* into memory, or a file */
	ROWS_IN_PLACE,				/* where they are in the table */
	ROWS_COPIED_NOT_CACHED,		/* copied, because the table came from disk */
	ROWS_COPIED_PINS,			/* copied, because too few of the table's pages may be pinned */
	ROWS_COPIED_WORK_MEM		/* copied, because keys and places did not fit into work_mem */
} RowsWhere;

typedef struct RowSortStats
{
	SortPlan	plan;			/* of the last sort, if there were several */
	bool		bounded;		/* only the first rows were wanted */
	RowsWhere	rows;			/* if there are any beside their keys */
	bool		on_disk;
	bool		compared;		/* core compared rows of equal mapped keys */
	int			segments;		/* of a file; 0: in memory */
	uint64		space;			/* bytes, in memory or on disk */
	uint64		keys;			/* rows taken, NULLs included */
	double		range;			/* possible keys; 0: not known */
	uint64		distinct;		/* different keys; 0: not known */
	bool		by_group;		/* only the first rows of each group were wanted */
	uint64		groups;			/* 0: not known, or all rows were kept */
	uint64		kept;			/* rows in memory */
	ColumnBlocks blocks;		/* of the table, where keys were read by pages and from memory */
} RowSortStats;

#endif							/* HPSORT_PG_NODES_SORT_EXEC_STATS_H */
