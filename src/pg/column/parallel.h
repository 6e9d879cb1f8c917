/*
 * parallel.h
 *		A column read by several processes, for the column functions.  (Custom
 *		scan nodes have the workers of their plan.)
 */
#ifndef HPSORT_PG_COLUMN_PARALLEL_H
#define HPSORT_PG_COLUMN_PARALLEL_H

#include "postgres.h"

#include "pg/column/sources.h"

/*
 * Combines the storage parameter parallel_workers of several tables that are
 * read like one.  so_far is the result for the tables before, 0 at first; setting
 * is the next table's parameter, or -1 if it has none.  The result is the largest
 * number set; -1 if there is none but some table leaves the choice to the
 * planner; 0, no workers, only if every table sets that.
 */
extern int	column_parallel_setting(int so_far, int setting);

/* The number of workers that PostgreSQL's rules and settings allow for the sources; often 0. */
extern int	column_parallel_workers(const ColumnSource *sources, int nsources);

/*
 * column_sources_read with up to that many workers, or by this process alone if
 * none can be had.
 */
extern void column_parallel_read(const ColumnSource *sources, int nsources, int workers,
								 KeySink *sink);

#endif							/* HPSORT_PG_COLUMN_PARALLEL_H */
