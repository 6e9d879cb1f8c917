/*
 * resident_estimate.h
 *		How much of what a scan would read is resident, for the planner.
 */
#ifndef HPSORT_PG_RESIDENT_SOURCE_RESIDENT_ESTIMATE_H
#define HPSORT_PG_RESIDENT_SOURCE_RESIDENT_ESTIMATE_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "pg/resident/gpu/resident_rows.h"
#include "pg/values/values.h"

/*
 * What reading a resident row costs, as a part of cpu_tuple_cost, which stands for a row of a
 * sequential scan and for what is done with it in any case.  4e6 rows of 60 bytes, where core's
 * sum(x) takes 70 ns a row: unpacking, or counting, a column 0.7 to 0.9 ns; comparing it with the
 * constants of a WHERE 0.7 (AMD EPYC, two loaded cores of a virtual machine, PostgreSQL 17).
 */
#define RESIDENT_ROW_COST 0.015
#define RESIDENT_CONDITION_COST 0.015

/*
 * Workers take 10 to 25 ms from their start to the first row, for which parallel_setup_cost has 3
 * ms in units that are measured by core's sum(x).  A scan of pages seldom ends before that, so
 * that the difference hardly matters there.  Where all rows are resident, parallel_setup_cost is
 * multiplied by this factor.
 */
#define RESIDENT_SETUP_FACTOR 4.0

/* RESIDENT_ROW_COST where the GPU counts the rows. */
#define RESIDENT_GPU_ROW_COST 0.001

/*
 * What part of the cost of reading pages is left where only the first rows in the order of a
 * resident column are wanted, and most of it is refused by its bounds: of 1e7 rows 0.2 to 0.8 ms
 * of 240.
 */
#define RESIDENT_FIRST_COST 0.003

typedef struct ResidentEstimate
{
	double		share;			/* of the table's rows, whose values of all columns are in
								 * extents, and no more than the part of its blocks that are
								 * all-visible */
	bool		gpu;			/* the GPU would count the values of the only column, or put rows
								 * in order */
	bool		together;		/* ... or does so together with the other tables of question->all */
} ResidentEstimate;

/* What is asked of a table's columns. */
typedef struct ResidentQuestion
{
	List	   *columns;		/* attribute numbers */
	int			nkeys;			/* columns that are returned; the columns behind them are of
								 * filters */
	bool		filtered;		/* not all rows are wanted */
	const ResidentJobs *jobs;	/* sorted keys are all that is wanted; else NULL */
	ResidentTables *all;		/* ... of several tables, to which this one is added; else NULL */
} ResidentQuestion;

/* tuples is how many rows the table has, as far as is known.  The table must be locked. */
extern ResidentEstimate resident_estimate(Oid relid, const ResidentQuestion *question,
										  double tuples);

#endif							/* HPSORT_PG_RESIDENT_SOURCE_RESIDENT_ESTIMATE_H */
