/*
 * resident_left.h
 *		What a ResidentSource consists of, and the extents of it that are left until all other
 *		blocks have been read: for its queries of the GPU, or in the order of their bounds.
 */
#ifndef HPSORT_PG_RESIDENT_SOURCE_RESIDENT_LEFT_H
#define HPSORT_PG_RESIDENT_SOURCE_RESIDENT_LEFT_H

#include "postgres.h"

#include "pg/resident/extents/extents.h"
#include "pg/resident/gpu/resident_rows.h"
#include "pg/resident/source/page_list.h"
#include "pg/resident/source/source_image.h"

/* Extents that are left until all other blocks have been read. */
typedef struct LeftToRead
{
	LeftExtents *extents;		/* NULL: none are left */
	ResidentRows *rows;			/* LEFT_TO_COUNT, LEFT_TO_SORT: for the GPU, of these extents */
	bool		asked;			/* the GPU, or the scan's handler, has been asked */
	bool		answered;		/* the handler has, and filtered includes rows still to be read */
	uint64		filtered;
	ResidentCounts counts;		/* LEFT_TO_COUNT, what the GPU has answered */
} LeftToRead;

/* What batches had, and all else that adding rows changes, before rows were added. */
typedef struct SavedRows
{
	ColumnBatch *batches;
	int			pages;			/* of rows with TIDs */
	uint64		skipped;		/* by the cutoff */
	uint64		filtered;
	uint64		unmatched;
} SavedRows;

struct ResidentSource
{
	MemoryContext memory;
	ColumnScan	scan;
	BlockNumber table_blocks;
	int			nbatches;		/* column_scan_nbatches */
	BatchPages *tids;			/* pages of rows, if the scan wants TIDs; else NULL */
	SourceImages *images;		/* NULL: values are wanted */
	ResidentFilter *filter;		/* NULL: all rows are wanted */
	int			ncolumns;		/* the scan's, and behind them the filter's others */
	SourceColumn *columns;
	VisibilityCopy map;
	BufferAccessStrategy strategy;	/* of pages whose headers are read */
	BlockNumber next;			/* of the table, where no process shares it */
	bool		ended;			/* all blocks have been taken */
	bool		complete;		/* ... the last one by this process */
	ColumnBlocks blocks;
	uint64		filtered;		/* rows that the qual has refused ... */
	uint64		unmatched;		/* ... and the scan's further conditions */

	/* the extent being read */
	BlockNumber first;
	int			nblocks;
	int			at;				/* the next block */
	ResidentBlocks valid;
	ExtentMatch match;			/* which rows the filter accepts */
	const ResidentFound *found; /* which rows the GPU has found; NULL: all are wanted */

	PageList   *pages;			/* blocks to be read from pages */
	SavedRows	saved;
	void	   *packed;			/* PACKED_BYTES; NULL: batches are not packed */
	LeftToRead	left;
};

/*
 * The extent has been given up while it was read: lists its valid blocks, block from and later
 * ones, to be read from pages.
 */
extern void resident_left_abandon(struct ResidentSource *source, int from);

/* Prepares the values of an extent with valid blocks, and the filter. */
extern void resident_left_begin_values(struct ResidentSource *source);

/* Has the GPU count.  Returns whether the batch, which is empty, has got runs. */
extern bool resident_left_count(struct ResidentSource *source, ColumnBatch *batch);

/* Has the scan's handler answer for all extents; blocks that it has answered for are not read. */
extern void resident_left_ask(struct ResidentSource *source);

/* Makes the next extent that has not been answered for the present one; false after the last. */
extern bool resident_left_begin(struct ResidentSource *source);

#endif							/* HPSORT_PG_RESIDENT_SOURCE_RESIDENT_LEFT_H */
