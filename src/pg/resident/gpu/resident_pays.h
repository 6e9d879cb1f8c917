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

/*
 * Whether rows with these bounds of the columns, of a table of nblocks blocks, are worth the GPU,
 * to be sorted by jobs or, without jobs, counted; asks for its costs.
 */
extern bool resident_rows_pay(const ResidentSummary *columns, int ncolumns, int nkeys,
							  const ResidentJobs *jobs, BlockNumber nblocks);

/* Returns how many extents in a row are one GPU's, of several (hpsort.resident_gpu_stripe). */
extern uint32 resident_pays_stripe(void);

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
