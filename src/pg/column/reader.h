/*
 * reader.h
 *		ColumnReader: integer columns of a table, read a page at a time.
 *
 * A reader returns exactly the rows that a sequential scan under the same
 * snapshot would return, without a tuple slot or the executor: the keys of a
 * page's visible rows go from the buffer straight into the caller's memory.
 * All that a row's visibility needs (all-visible pages, pruning, hint bits,
 * predicate locks, serializable conflicts, hot standby) is done as heapam.c
 * does it.  Blocks come from core's own scan descriptor, so that synchronized
 * scans, the ring of buffers, read streams, parallel block allocation and
 * statistics are core's.
 *
 * scan.c has the loop around a reader; other files call the reader through it.
 * The reader knows nothing of sorting.
 *
 * Duties of the caller: the relation is open and locked (AccessShareLock), and
 * stays so until column_reader_close; the right to read the columns and row
 * security have been checked; the snapshot is an MVCC snapshot, active or
 * registered, for as long as the reader is open.  Between two calls a reader
 * may hold pins on two buffers, but no lock on either; both pins belong to the
 * current resource owner, so an error needs no clean-up.
 *
 * In a parallel scan every process opens a reader of its own with the same
 * ParallelTableScanDesc (table_parallelscan_initialize); each block goes to the
 * process that asks next.  The snapshot of a parallel scan is the descriptor's.
 */
#ifndef HPSORT_PG_COLUMN_READER_H
#define HPSORT_PG_COLUMN_READER_H

#include "postgres.h"

#include "access/relscan.h"
#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

/*
 * Keys of one column in a batch: 32 kB, which stay in the first- or second-level
 * cache until they have been counted.  Larger batches are no faster.
 */
#define COLUMN_BATCH_KEYS 8192

/* The rows and columns of one table that a reader reads. */
typedef struct ColumnScan
{
	Relation	rel;
	int			ncolumns;
	const AttrNumber *attnums;	/* ncolumns, of types that column_type_is_key accepts */
	Snapshot	snapshot;
	ParallelTableScanDesc parallel; /* NULL: one process reads all */
	bool		for_change;		/* the query changes or locks rows of this table */

	/*
	 * The filter: only rows for which it is true are read.  It is evaluated in
	 * econtext with the row in slot, which is of the kind that
	 * table_slot_callbacks names.  Without a filter all three are NULL.
	 */
	ExprState  *qual;
	ExprContext *econtext;
	TupleTableSlot *slot;
} ColumnScan;

typedef struct ColumnReader ColumnReader;

/*
 * What column_reader_next returns of one column.  The caller provides keys, with
 * room for COLUMN_BATCH_KEYS; n and nulls count this batch alone.
 */
typedef struct ColumnBatch
{
	int32	   *keys;
	size_t		n;
	int64		nulls;
} ColumnBatch;

/* Whether values of a type, or of a domain over it, can be made keys. */
extern bool column_type_is_key(Oid type);

/*
 * The key of a value of such a type, domains resolved.  An int8 outside the
 * range of int4 is an error.  A date becomes its days since 2000-01-01, an
 * infinite one the smallest or largest int4.
 */
extern int32 column_key(Oid base_type, Datum value);

/* Opens a reader in the current memory context; it keeps no pointer to scan. */
extern ColumnReader *column_reader_open(const ColumnScan *scan);

/*
 * Reads some more rows into batches, one element for each column.  False at the
 * end of the table; this last call may have returned rows as well.
 */
extern bool column_reader_next(ColumnReader *reader, ColumnBatch *batches);

/* Rows that the filter has refused so far. */
extern uint64 column_reader_filtered(const ColumnReader *reader);

/* Gives back pins, memory and the scan descriptor. */
extern void column_reader_close(ColumnReader *reader);

#endif							/* HPSORT_PG_COLUMN_READER_H */
