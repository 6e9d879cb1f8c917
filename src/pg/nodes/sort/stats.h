/*
 * stats.h
 *		What a sort of rows did, for EXPLAIN.
 */
#ifndef HPSORT_PG_NODES_SORT_STATS_H
#define HPSORT_PG_NODES_SORT_STATS_H

#include "postgres.h"

#include "sort/plan.h"

typedef struct RowSortStats
{
	SortPlan	plan;			/* of the last sort, if there were several */
	bool		bounded;		/* only the first rows were wanted */
	bool		on_disk;
	bool		compared;		/* core compared rows of equal mapped keys */
	int			partitions;		/* 0: in memory */
	uint64		space;			/* bytes, in memory or on disk */
	uint64		keys;			/* rows taken, NULLs included */
	double		range;			/* possible keys; 0: not known */
	uint64		distinct;		/* different keys; 0: not known */
	bool		by_group;		/* only the first rows of each group were wanted */
	uint64		groups;			/* 0: not known, or all rows were kept */
	uint64		kept;			/* rows in memory */
} RowSortStats;

#endif							/* HPSORT_PG_NODES_SORT_STATS_H */
