/*
 * sources.h
 *		The tables that a column is read from: the table itself, and those that
 *		inherit the column from it.
 */
#ifndef HPSORT_PG_COLUMN_SOURCES_H
#define HPSORT_PG_COLUMN_SOURCES_H

#include "postgres.h"

#include "access/relscan.h"
#include "utils/rel.h"

#include "pg/column/scan.h"

/* A table, open and locked (AccessShareLock), and the column's number in it. */
typedef struct ColumnSource
{
	Relation	rel;
	AttrNumber	attnum;
} ColumnSource;

/*
 * Whether the values of a column are those stored in the table's pages: it is no
 * view or foreign table, and the column is not computed.
 */
extern bool column_is_stored(Relation rel, AttrNumber attnum);

/*
 * The tables that SELECT attribute FROM rel scans, into a new array *sources.
 * Those other than rel are opened and locked here; column_sources_close closes
 * them.  False if one of them has the column not stored.
 */
extern bool column_sources_find(Relation rel, const char *attribute, AttrNumber attnum,
								ColumnSource **sources, int *nsources);

/*
 * Reads the sources one after the other in this process, under the active
 * snapshot.  With parallel, an array of a shared scan for each source, only this
 * process's share of the blocks is read; NULL: all blocks.
 */
extern void column_sources_read(const ColumnSource *sources, int nsources,
								ParallelTableScanDesc *parallel, KeySink *sink);

/* Closes the sources other than rel.  Locks stay until the end of the transaction. */
extern void column_sources_close(Relation rel, ColumnSource *sources, int nsources);

#endif							/* HPSORT_PG_COLUMN_SOURCES_H */
