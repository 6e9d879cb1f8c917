/*
 * resident_source.h
 *		The blocks of a scan, one extent after the other: from resident extents as far as these
 *		are valid, the others as a list of blocks to be read from pages.
 *
 * The reader asks for rows until it is given a list; it reads these blocks, shows each page to the
 * source, which makes extents of them where that is due, and asks again.
 *
 * In a parallel scan each process takes extents from the counter of the scan's descriptor, by
 * which processes without a source take blocks.  Every process looks for itself which blocks are
 * valid: whatever it finds, a block is read by the process that has taken it, in one way or the
 * other.
 */
#ifndef HPSORT_PG_COLUMN_RESIDENT_SOURCE_H
#define HPSORT_PG_COLUMN_RESIDENT_SOURCE_H

#include "postgres.h"

#include "access/relscan.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

#include "pg/column/batch.h"
#include "pg/column/resident_filter.h"
#include "pg/column/rows_handler.h"
#include "pg/values/value.h"

typedef struct ResidentSource ResidentSource;

/* What is read of a table. */
typedef struct ResidentScan
{
	Relation	rel;
	Snapshot	snapshot;
	BlockNumber nblocks;		/* as found after the snapshot was taken */
	ParallelTableScanDesc parallel; /* NULL: one process reads all */
	int			ncolumns;		/* with those that only the filter wants, behind the others */
	const AttrNumber *attnums;
	int			nreturned;		/* columns for which there are batches */
	int			nbatches;		/* column_scan_nbatches */
	ResidentFilter *filter;		/* NULL: all rows are wanted */
	ColumnCutoff *cutoff;		/* that the filter has, or NULL */
	BatchPages *tids;			/* the last batch is for TIDs, and this for their pages; or NULL */
	bool		keys;			/* as in ColumnScan */
	bool		packed;			/* batches may be packed */
	bool		runs;			/* and be runs */
	ResidentRowsHandler *handler;	/* as in ColumnScan */
} ResidentScan;

/*
 * NULL unless all columns are declared resident, and the table and the snapshot allow it.  In the
 * current memory context.
 */
extern ResidentSource *resident_source_open(const ResidentScan *scan);

typedef enum ResidentStep
{
	RESIDENT_ROWS,				/* rows have been added to the batches */
	RESIDENT_FULL,				/* there are rows that want empty batches, or packed ones */
	RESIDENT_PAGES,				/* the blocks of resident_source_next_block are to be read */
	RESIDENT_END
} ResidentStep;

/*
 * Adds rows of valid blocks to batches, if some more fit, whole blocks only.  With one, which is
 * for scans without runs and without a taker, the rows of a single block, never packed, and *one
 * is its number.
 */
extern ResidentStep resident_source_fill(ResidentSource *source, ColumnBatch *batches,
										 BlockNumber *one);

/* The next block to be read from pages, as a CompatNextBlock; arg is the source. */
extern BlockNumber resident_source_next_block(void *arg);

/* Shows the source a page of such a block, pinned but not locked, in the order of blocks. */
extern void resident_source_show_page(ResidentSource *source, Buffer buffer);

/* All pages of the list have been shown. */
extern void resident_source_end_pages(ResidentSource *source);

/* Blocks that this process has read so far: from extents, of these by the GPU, and in all. */
extern int64 resident_source_hits(const ResidentSource *source);
extern int64 resident_source_gpu_hits(const ResidentSource *source);
extern int64 resident_source_blocks(const ResidentSource *source);

/* Rows of extents that the filter has refused so far. */
extern uint64 resident_source_filtered(const ResidentSource *source);

/* The directory learns what was read.  After an error this is not called, which does no harm. */
extern void resident_source_close(ResidentSource *source);

#endif							/* HPSORT_PG_COLUMN_RESIDENT_SOURCE_H */
