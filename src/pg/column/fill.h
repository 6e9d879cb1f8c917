/*
 * fill.h
 *		A table's column into a sorter, with the rights and the rows of
 *		SELECT attribute FROM rel, and in parallel where PostgreSQL would.
 *
 * functions/columns.c calls it.
 */
#ifndef HPSORT_PG_COLUMN_FILL_H
#define HPSORT_PG_COLUMN_FILL_H

#include "postgres.h"

#include "sort/sorter.h"

/*
 * Adds the keys of a column, and of the columns that inherit from it, to sorter
 * and the number of its NULLs to *nulls, as the active snapshot sees them.
 * Raises the errors of the query above; an error as well if keys cannot be made
 * of the column's type.  The query itself is run where the column's rows are not
 * those stored in its table (views, foreign tables, row security, ...), or need
 * not be because another extension answers the query.  Locks stay until the end
 * of the transaction.
 */
extern void column_fill_sorter(Oid relid, const char *attribute, Sorter *sorter, int64 *nulls);

#endif							/* HPSORT_PG_COLUMN_FILL_H */
