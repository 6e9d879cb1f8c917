/*
 * resident_estimate.h
 *		How much of what a scan would read is resident, for the planner.
 */
#ifndef HPSORT_PG_COLUMN_RESIDENT_ESTIMATE_H
#define HPSORT_PG_COLUMN_RESIDENT_ESTIMATE_H

#include "postgres.h"

#include "access/attnum.h"

/*
 * What reading a resident row costs, as a part of what reading it from its page does:
 * 1 to 2 ns of some 24.
 */
#define RESIDENT_ROW_COST 0.06

/* The same where the GPU counts the rows. */
#define RESIDENT_GPU_ROW_COST 0.001

/*
 * The same where only the first rows in the order of a resident column are wanted, and most of it is refused by
 * its bounds: of 1e7 rows 0.2 to 0.8 ms of 240.
 */
#define RESIDENT_FIRST_COST 0.003

typedef struct ResidentEstimate
{
	double		share;			/* of the table's rows, whose values of all columns are in extents; these
								 * may not all be valid */
	bool		gpu;			/* the GPU would count the values of the only column, or put rows in order */
} ResidentEstimate;

/*
 * tuples is how many rows the table has, as far as is known.  The table must be locked.  nkeys columns are returned, and others
 * are those of a filter.  looked_up: all that is wanted are positions in the order of keys (resident_rows.h).
 */
extern ResidentEstimate resident_estimate(Oid relid, int ncolumns, int nkeys, const AttrNumber *attnums, double tuples,
										  bool looked_up);

#endif							/* HPSORT_PG_COLUMN_RESIDENT_ESTIMATE_H */
