/*
 * column_gather.h
 *		A table's column into a sorter, with the rights and the rows of
 *		SELECT attribute FROM rel, in parallel where PostgreSQL would.
 *
 * column_functions.c and query_gather.c ask here; what reads is column_reader.c,
 * and column_parallel.c with several processes.
 */
#ifndef HPSORT_COLUMN_GATHER_H
#define HPSORT_COLUMN_GATHER_H

#include "postgres.h"

#include "utils/rel.h"

#include "sorter.h"

/*
 * Adds the keys of a column, and of those that inherit it, to sorter and its
 * NULLs to *nulls, as the active snapshot sees them.  Complains as that query
 * would, if the column's type is none that keys can be made of, and where
 * another extension would answer the query for a plain table.  Where the
 * column is not simply read (views, foreign tables, row security, ...) the
 * query is run.  Locks stay until the end of the transaction.
 */
extern void column_gather(Oid relid, const char *attribute, Sorter *sorter, int64 *nulls);

/* One table to be read: open, and locked. */
typedef struct ColumnSource
{
	Relation	rel;
	AttrNumber	attnum;
} ColumnSource;

/* Reads sources one after the other, alone; parallel has an element a source, or is NULL. */
struct ParallelTableScanDescData;
extern void column_gather_sources(const ColumnSource *sources, int nsources,
								  struct ParallelTableScanDescData **parallel,
								  Sorter *sorter, int64 *nulls);

/* --- column_plan.c */

/*
 * An error unless query, SELECT attribute FROM rel, is planned as a plain scan
 * of the sources: rows that another extension keeps elsewhere are not in them.
 */
extern void column_check_plan(Relation rel, AttrNumber attnum, const char *query,
							  const ColumnSource *sources, int nsources);

/* --- column_parallel.c */

/*
 * What parallel_workers of several tables come to: so_far is of those before,
 * 0 at first; setting is the next one's, or -1 if it has none.
 */
extern int	column_parallel_setting(int so_far, int setting);

/* How many workers PostgreSQL's rules and settings allow for that; often 0. */
extern int	column_parallel_workers(const ColumnSource *sources, int nsources);

/* column_gather_sources with up to that many workers, if they can be had. */
extern void column_gather_parallel(const ColumnSource *sources, int nsources, int workers,
								   Sorter *sorter, int64 *nulls);

#endif							/* HPSORT_COLUMN_GATHER_H */
