/*
 * resident_source.h
 *		The blocks of a scan, one extent after the other: from resident extents as far as these
 *		are valid, the others as a list of blocks to be read from pages.
 *
 * The reader asks for rows until it is given a list; it reads these blocks, shows each page to the
 * list, which makes extents of them where that is due, and asks again.
 *
 * In a parallel scan each process takes extents from the counter of the scan's descriptor, by
 * which processes without a source take blocks.  Every process looks for itself which blocks are
 * valid: whatever it finds, a block is read by the process that has taken it, in one way or the
 * other.
 */
#ifndef HPSORT_PG_RESIDENT_SOURCE_RESIDENT_SOURCE_H
#define HPSORT_PG_RESIDENT_SOURCE_RESIDENT_SOURCE_H

#include "postgres.h"

#include "pg/resident/source/page_list.h"
#include "pg/values/values.h"

typedef struct ResidentSource ResidentSource;

/*
 * Opens the source of a scan of a heap, whose snapshot is set, in the current memory
 * context.  Returns NULL unless all columns, also of the filters, are declared resident, the
 * filters can be evaluated in memory, and the table and the snapshot allow it.
 * Needs the table's blocks, as found after the snapshot was taken.  pages gets the pages of rows,
 * if the scan wants TIDs. *list, the source's, will have the blocks that are to be read from pages.
 */
extern ResidentSource *resident_source_open(const ColumnScan *scan, BlockNumber nblocks,
											BatchPages *pages, PageList **list);

typedef enum ResidentStep
{
	RESIDENT_ROWS,				/* rows have been added to the batches */
	RESIDENT_FULL,				/* there are rows that want empty batches, or packed ones */
	RESIDENT_PAGES,				/* the blocks of the list are to be read */
	RESIDENT_END
} ResidentStep;

/*
 * Adds rows of valid blocks to batches, whole blocks only, if some more fit.  If one is not NULL,
 * adds the rows of a single block, never packed, and sets *one to its number; that is for scans
 * without runs and without a handler.
 */
extern ResidentStep resident_source_fill(ResidentSource *source, ColumnBatch *batches,
										 BlockNumber *one);

/*
 * Whether the source has ended as resident_source_fill says for the time that the scan's handler
 * waits, and has more rows afterwards, or has to be told that it has none.
 */
extern bool resident_source_waits(const ResidentSource *source);

/* Returns the generation of the values of which the last rows of the first column are numbers. */
extern uint64 resident_source_values(const ResidentSource *source);

/* Returns how many rows of extents the filter has refused so far. */
extern uint64 resident_source_refused(const ResidentSource *source);

/* Adds the blocks that this process has read so far. */
extern void resident_source_blocks(const ResidentSource *source, ColumnBlocks *blocks);

/* Returns how many blocks this process has read from extents so far. */
extern int64 resident_source_hits(const ResidentSource *source);

/*
 * Notes in the directory what was read, adds the blocks read to *blocks unless that is NULL, and
 * frees the source.  Returns how many rows of extents the filter has refused.  After an error this
 * is not called, which does no harm.
 */
extern uint64 resident_source_close(ResidentSource *source, ColumnBlocks *blocks);

#endif							/* HPSORT_PG_RESIDENT_SOURCE_RESIDENT_SOURCE_H */
