/*
 * column_scan.h
 *		ColumnScan: what is read of a table, from its pages (column.h) and from resident extents
 *		(resident_source.h).
 */
#ifndef HPSORT_PG_VALUES_COLUMN_SCAN_H
#define HPSORT_PG_VALUES_COLUMN_SCAN_H

#include "access/relscan.h"
#include "executor/tuptable.h"
#include "nodes/bitmapset.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

#include "pg/values/batch.h"
#include "pg/values/value.h"

struct ResidentRows;

/*
 * Keys of rows that a GPU is to sort, once for each of n jobs: each key is of all columns that the
 * scan returns but values, and of one of these at most.  If rows of groups are to be found, whose
 * keys are the first ngroup columns, each group takes one of ROWS_MAX_RANGES.
 */
typedef struct ResidentJobs
{
	int			n;
	int			ngroup;
	const Bitmapset *values;	/* columns, counted from 0 */
	bool		ordered;		/* the CPU would put values in order */
	const Bitmapset *mapped;	/* columns of which keys have what a map says (resident_rows_map) */
} ResidentJobs;

/*
 * A query may answer resident rows without reading them.  The scan sets rows before its first row
 * if the table has resident rows.  After the last row that it reads, it calls handle() once with
 * the resident rows (resident_rows.h), unless these have been given up.  If handle() returns true,
 * they are answered and the scan ends, or the scan reads the blocks that have rows that were found
 * (resident_rows_find); otherwise the scan reads them all.
 *
 * Several scans may have one handler, in turn: rows are theirs together (resident_scans.h), and are
 * set before the first scan begins.  While waits is true, a scan that has resident rows for the
 * handler ends before it calls it; when all scans have ended, waits becomes false and these
 * scans go on.
 */
typedef struct ResidentRowsHandler
{
	bool		(*handle) (void *arg, struct ResidentRows *rows);
	void	   *arg;
	ResidentJobs jobs;			/* that the handler wants of the resident rows */
	bool		counted;		/* runs of the only column that the scan reads do as well */
	struct ResidentRows *rows;	/* NULL: none */
	bool		waits;
} ResidentRowsHandler;

/* Blocks that a scan has read. */
typedef struct ColumnBlocks
{
	int64		resident;		/* from resident extents */
	int64		gpu;			/* of these, by the GPU */
	int64		all;			/* these and others; 0 where no columns are resident */
} ColumnBlocks;

/* The rows and columns of one table that a reader reads. */
typedef struct ColumnScan
{
	Relation	rel;
	int			ncolumns;
	const AttrNumber *attnums;	/* ncolumns, of types that column_value_kind knows */
	const ColumnImage *images;	/* ncolumns, or NULL; a column with a dictionary or a function is
								 * of any type */
	bool		keys;			/* columns are of types that column_type_is_key accepts, and wide
								 * values are read as keys of a sort (column_narrow) */
	Snapshot	snapshot;
	ParallelTableScanDesc parallel; /* NULL: one process reads all */
	bool		for_change;		/* the query changes or locks rows of this table */

	/*
	 * The filter: only rows for which it is true are read.  It is evaluated in econtext with the
	 * row in slot, which is of the kind that table_slot_callbacks names.  Without any filter or
	 * condition these three are NULL.
	 */
	ExprState  *qual;
	ExprContext *econtext;
	TupleTableSlot *slot;

	/*
	 * Further conditions of the rows, ANDed (FilterCondition).  They are evaluated before the
	 * filter where this fails for no row, and behind it otherwise.  How many rows they refuse is
	 * added to *unmatched when the reader is closed.
	 */
	const List *conditions;
	uint64	   *unmatched;

	/*
	 * Other conditions, states that ExecInitQual made.  They are evaluated like the qual for each
	 * row that passes the qual, and their results are returned beside the row's columns.
	 */
	int			nfilters;
	ExprState **filters;

	bool		ordered;		/* rows are wanted in their order in the table */

	/*
	 * tids: the rows' TIDs are returned, too; the table is a heap.  unread: few of the rows will
	 * be looked at, so that pages may be left unread if their columns are resident.
	 */
	bool		tids;
	bool		unread;

	/* The caller's; or NULL. */
	ColumnCutoff *cutoff;
	const bool *stop;			/* set while a batch is consumed: no more are wanted */

	/* In a scan of one column: batches may be packed. */
	bool		packed;

	/* In a scan of one column: runs of the values may come in place of rows. */
	bool		runs;

	/* In a scan of one process, without filters beside the qual: answers resident rows; or NULL. */
	ResidentRowsHandler *handler;

	/* To which the blocks are added when the reader is closed; or NULL. */
	ColumnBlocks *blocks;
} ColumnScan;

/*
 * How many batches column_reader_next (column.h) fills: one for each column, then one for each
 * filter, then one for TIDs if they are wanted.  There is one at least, whose n is the
 * number of rows even if it has neither columns nor filters.
 */
static inline int
column_scan_nbatches(const ColumnScan *scan)
{
	return Max(scan->ncolumns + scan->nfilters + (scan->tids ? 1 : 0), 1);
}

/* Which arrays the batch of a column of a kind has, of which an image may be made. */
static inline int
column_image_arrays(const ColumnImage *image, ColumnKind kind)
{
	bool		wide = column_kind_is_wide(kind);

	if (image && (image->make || image->dictionary || image->presence))
		wide = image->make != NULL;
	return BATCH_NULLS | (wide ? BATCH_WIDE : BATCH_KEYS);
}

#endif							/* HPSORT_PG_VALUES_COLUMN_SCAN_H */
