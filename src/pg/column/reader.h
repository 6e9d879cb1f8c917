/*
 * reader.h
 *		ColumnReader: integer columns of a table, read a page at a time.
 *
 * Reads exactly the rows that a sequential scan under the same snapshot would
 * return, without a tuple slot or the executor: the keys of a page's visible
 * rows go from the buffer straight into the caller's memory.  What a row's
 * visibility needs (all-visible pages, pruning, hint bits, predicate locks and
 * serializable conflicts, hot standby) is done as heapam.c does it; blocks come
 * from core's own scan descriptor, so that synchronized scans, the ring of
 * buffers, read streams, parallel block allocation and statistics are core's.
 *
 * Who calls it: fill.c (the SQL functions) and nodes/aggregate/exec.c (the
 * custom scan).  It knows nothing of sorting.
 *
 * Duties of the caller: the relation is open and locked (AccessShareLock), and
 * stays so until column_reader_close; the right to read the columns and row
 * security have been checked; the snapshot is an MVCC snapshot, active or
 * registered, for as long as the reader is open.  Between two calls a reader
 * may hold pins on two buffers, but no lock on either; both belong to the
 * current resource owner, so an error needs no clean-up.
 *
 * Parallel use: every process opens a reader of its own with the same
 * ParallelTableScanDesc (table_parallelscan_initialize); blocks are handed out
 * to whoever asks next.  The snapshot is then the descriptor's.
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
 * Keys read at once and column: 32 kB, which stay in the first- or second-level
 * cache until they have been counted.  Larger batches are no faster.
 */
#define COLUMN_BATCH_KEYS 8192

typedef struct ColumnReader ColumnReader;

/*
 * Where the keys of one column go.  keys has room for COLUMN_BATCH_KEYS;
 * column_reader_next sets n, and adds to nulls.
 */
typedef struct ColumnBatch
{
	int32	   *keys;
	size_t		n;
	int64		nulls;
} ColumnBatch;

/* Whether keys can be made of values of a type (a domain's base is looked at). */
extern bool column_type_is_key(Oid type);

/*
 * The key of a value of such a type.  Complains about an int8 outside int4.
 * Dates become days since 2000-01-01, infinite ones the ends of int4.
 */
extern int32 column_key(Oid base_type, Datum value);

/*
 * Opens a reader of ncolumns columns, which must be of such types, in the
 * current memory context.  parallel is NULL when one process reads alone.
 *
 * With a qual only rows for which it is true are read; it is evaluated in
 * econtext with the row in slot, which must be of the kind that
 * table_slot_callbacks names.  NULL: all rows.
 */
extern ColumnReader *column_reader_open(Relation rel, int ncolumns, const AttrNumber *columns,
										Snapshot snapshot, ParallelTableScanDesc parallel);
extern void column_reader_filter(ColumnReader *reader, ExprState *qual, ExprContext *econtext,
								 TupleTableSlot *slot);

/*
 * Reads some more rows: batches has one element a column.  False at the end,
 * when the batches may still have got the last keys.
 */
extern bool column_reader_next(ColumnReader *reader, ColumnBatch *batches);

/* Rows that the filter refused. */
extern uint64 column_reader_filtered(const ColumnReader *reader);

extern void column_reader_close(ColumnReader *reader);

#endif							/* HPSORT_PG_COLUMN_READER_H */
