/*
 * query.h
 *		Keys from any query: what hpsort_query runs, and what the column
 *		functions fall back to where a column is not simply read.
 */
#ifndef HPSORT_PG_COLUMN_QUERY_H
#define HPSORT_PG_COLUMN_QUERY_H

#include "postgres.h"

#include "sort/sorter.h"

/*
 * Runs a query with the caller's rights, and adds its keys to sorter and the
 * number of its NULLs to *nulls.  read_only: under the active snapshot, as a
 * stable function must; otherwise under a new one.  An error unless the query is
 * one statement that only reads and returns one column: of an integer type if
 * type is InvalidOid, else of that type, which column_type_is_key has accepted.
 */
extern void query_fill_sorter(const char *query, bool read_only, Oid type,
							  Sorter *sorter, int64 *nulls);

#endif							/* HPSORT_PG_COLUMN_QUERY_H */
