/*
 * resident_pays.h
 *		Whether the GPU takes rows of resident extents, and pays.
 */
#ifndef HPSORT_PG_RESIDENT_GPU_RESIDENT_PAYS_H
#define HPSORT_PG_RESIDENT_GPU_RESIDENT_PAYS_H

#include "postgres.h"

#include "storage/block.h"

#include "pg/resident/extents/extents.h"
#include "pg/sort_context.h"
#include "sort/extents/rows_layout.h"

/* Values between a mapped column's bounds, at most (resident_rows_map). */
#define RESIDENT_MAP_MOST	((int64) ROWS_MAX_RANGES * ROWS_MAP_VALUES)

/*
 * Returns whether the GPU counts a column's values, without conditions, in less time than it
 * sorts them.
 */
extern bool resident_rows_are_counted(const ResidentSummary *column);

/* What is resident of the same columns of several tables, whose scans are open at once. */
typedef struct ResidentTables
{
	int			ntables;		/* also those of which nothing is resident */
	int			ncolumns;		/* 0: nothing of any has been added */
	uint32		stripes;		/* resident_pays_stripes, of those that have been added */
	ResidentSummary columns[ROWS_MAX_COLUMNS];
} ResidentTables;

/*
 * Adds the n columns of a table of nblocks blocks; false, and adds nothing, if the tables before
 * have other columns.
 */
extern bool resident_tables_add(ResidentTables *tables, const ResidentSummary *columns, int n,
								BlockNumber nblocks);

/*
 * Whether their rows together are worth the GPU, as resident_rows_pay says, and the scans, which
 * take some 20 kB a column, fit into the memory of a node.
 */
extern bool resident_tables_pay(const ResidentTables *tables, int nkeys, const ResidentJobs *jobs);

/*
 * Whether rows with these bounds of the columns, in so many stripes, are worth the GPU, to be
 * sorted by jobs or, without jobs, counted; asks for its costs.
 */
extern bool resident_rows_pay(const ResidentSummary *columns, int ncolumns, int nkeys,
							  const ResidentJobs *jobs, uint32 stripes);

/*
 * Returns in which stripe of its table an extent is, of those that are one GPU's of several
 * (hpsort.resident_gpu_stripe); and how many stripes a table of nblocks blocks has.
 */
extern uint32 resident_pays_stripe(uint32 number);
extern uint32 resident_pays_stripes(BlockNumber nblocks);

/* The settings of a query.  One that counts raises an error where they cannot be obeyed. */
extern void resident_pays_context(SortContext *context, bool counted);

/*
 * Returns what the GPU shall have as 0, so that values between a column's bounds are int4, and as
 * many others as may be on both sides: 0 if all are int4.
 */
extern int64 resident_pays_origin(const ResidentSummary *column);

/* Whether values between these bounds are int4 as distances from an origin. */
extern bool resident_pays_near(int64 lo, int64 hi, int64 origin);

#endif							/* HPSORT_PG_RESIDENT_GPU_RESIDENT_PAYS_H */
