/*
 * fill.h
 *		A table's column into a sorter, with the rights and the rows of
 *		SELECT attribute FROM rel, in parallel where PostgreSQL would.
 *
 * functions/columns.c and query.c ask here; what reads is reader.c,
 * and parallel.c with several processes.
 */
#ifndef HPSORT_PG_COLUMN_FILL_H
#define HPSORT_PG_COLUMN_FILL_H

#include "postgres.h"

#include "utils/rel.h"

#include "sort/sorter.h"

/*
 * Adds the keys of a column, and of those that inherit it, to sorter and its
 * NULLs to *nulls, as the active snapshot sees them.  Complains as that query
 * would, if the column's type is none that keys can be made of, and where
 * another extension would answer the query for a plain table.  Where the
 * column is not simply read (views, foreign tables, row security, ...) the
 * query is run.  Locks stay until the end of the transaction.
 */
extern void column_fill(Oid relid, const char *attribute, Sorter *sorter, int64 *nulls);

/* One table to be read: open, and locked. */
typedef struct ColumnSource
{
	Relation	rel;
	AttrNumber	attnum;
} ColumnSource;

/* Reads sources one after the other, alone; parallel has an element a source, or is NULL. */
struct ParallelTableScanDescData;
extern void column_fill_sources(const ColumnSource *sources, int nsources,
								  struct ParallelTableScanDescData **parallel,
								  Sorter *sorter, int64 *nulls);

/* --- plan_check.c */

/*
 * An error unless query, SELECT attribute FROM rel, is planned as a plain scan
 * of the sources: rows that another extension keeps elsewhere are not in them.
 */
extern void column_check_plan(Relation rel, AttrNumber attnum, const char *query,
							  const ColumnSource *sources, int nsources);

/* --- parallel.c */

/*
 * What parallel_workers of several tables come to: so_far is of those before,
 * 0 at first; setting is the next one's, or -1 if it has none.
 */
extern int	column_parallel_setting(int so_far, int setting);

/* How many workers PostgreSQL's rules and settings allow for that; often 0. */
extern int	column_parallel_workers(const ColumnSource *sources, int nsources);

/* column_fill_sources with up to that many workers, if they can be had. */
extern void column_fill_parallel(const ColumnSource *sources, int nsources, int workers,
								   Sorter *sorter, int64 *nulls);

#endif							/* HPSORT_PG_COLUMN_FILL_H */
