/*
 * reader.h
 *		ColumnReader: integer columns of a table, read a page at a time.
 *
 * Columns that are resident are read from memory instead, block by block as far as they are valid
 * there (resident_source.h): a reader has two sources behind one interface.
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
 * The reader knows nothing of sorting or of aggregates.
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

#include "pg/values/values.h"

typedef struct ColumnReader ColumnReader;

/*
 * Opens a reader in the current memory context.  It keeps no pointer to scan, but to
 * what the filters need.
 */
extern ColumnReader *column_reader_open(const ColumnScan *scan);

/* How many rows its batches must have room for. */
extern size_t column_reader_room(const ColumnReader *reader);

/*
 * Reads some more rows into batches, column_scan_nbatches of them.  False at the
 * end of the table; this last call may have returned rows as well.
 */
extern bool column_reader_next(ColumnReader *reader, ColumnBatch *batches);

/*
 * Of a scan with TIDs: the pages of the last batch that have rows in it, in the order of
 * their rows.
 */
extern const PageBuffer *column_reader_pages(const ColumnReader *reader);

/*
 * From now on batches of a heap have the rows of one page each, perhaps none.
 * column_reader_buffer has the page, which stays pinned until the next call; one that has
 * not been read is read there.
 */
extern void column_reader_by_page(ColumnReader *reader);
extern Buffer column_reader_buffer(ColumnReader *reader);

/* Blocks that have not been read so far, because their columns are resident. */
extern int64 column_reader_resident(const ColumnReader *reader);

/* Rows that qual has refused so far. */
extern uint64 column_reader_filtered(const ColumnReader *reader);

/* Gives back pins, memory and the scan descriptor. */
extern void column_reader_close(ColumnReader *reader);

#endif							/* HPSORT_PG_COLUMN_READER_H */
