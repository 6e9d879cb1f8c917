/*
 * batch.h
 *		ColumnBatch: what a ColumnReader returns of one column at a time.
 */
#ifndef HPSORT_PG_COLUMN_BATCH_H
#define HPSORT_PG_COLUMN_BATCH_H

#include "postgres.h"

#include "storage/block.h"
#include "storage/buf.h"
#include "storage/off.h"

#include "sort/extent.h"
#include "sort/runs.h"

/*
 * Keys of one column in a batch, at most: 32 kB, which stay in the first- or second-level
 * cache until they have been counted.  Larger batches are no faster.  Batches of a small table have no
 * more room than that needs: of 1,000 rows in nine pages, memory that malloc gets from the kernel and gives back
 * each time took a third of a sort.
 */
#define COLUMN_BATCH_KEYS 8192

/* A row's TID as an integer. */
#define COLUMN_TID(block, line) ((int64) (block) << 16 | (line))
#define COLUMN_TID_BLOCK(tid) ((BlockNumber) ((tid) >> 16))
#define COLUMN_TID_LINE(tid) ((OffsetNumber) ((tid) & 0xFFFF))

/*
 * A page, and the buffer that it was read from, which may hold another one by now; InvalidBuffer
 * if it was not read.
 */
typedef struct PageBuffer
{
	BlockNumber block;
	Buffer		buffer;
} PageBuffer;

/* The pages that have rows in a batch, in the order of their rows. */
typedef struct BatchPages
{
	int			n;
	PageBuffer *pages;			/* as much room as batches have */
} BatchPages;

/*
 * Some rows of one column, or of one filter.  The caller of column_reader_next
 * provides the arrays, with room for column_reader_room.
 *
 * Compact scans leave out a column's NULLs: keys has the keys of the others, and
 * n may differ between columns.
 *
 * In aligned scans row i of a batch is element i of all its columns and filters,
 * n is the number of rows, and the key of a NULL is 0.  Where the scan wants the
 * rows' TIDs, they are one more element, of which only n and wide are set.
 */
typedef struct ColumnBatch
{
	size_t		room;			/* of the arrays */
	size_t		n;				/* rows; in a compact scan, those that are not NULL */
	int32	   *keys;			/* of narrow kinds: the value less column_kind_bias */
	int64	   *wide;			/* of wide kinds in an aligned scan: the value; of TIDs:
								 * COLUMN_TID of the row */
	uint8	   *nulls;			/* in an aligned scan: 1 where a row is NULL, else 0; of a
								 * filter: 1 where it is not true.  Always set. */
	int64		nnulls;			/* rows of this batch that are NULL, or for which the
								 * filter is not true */
	PackedKeys	packed;			/* in a scan that takes packed batches: with n > 0 in it,
								 * all values are here, more than there is room for perhaps,
								 * and none is NULL; keys, wide and nulls are unused */
	const Runs *runs;			/* in a scan that takes runs: if there are, all n values are
								 * here, not in the order of their rows; keys, wide, nulls and
								 * packed are unused.  Valid until the next batch. */
} ColumnBatch;

/*
 * Which rows the consumer of batches still wants: those whose key of the first column is in lo .. hi,
 * or NULL.  Others may be left out of batches, and are counted.  It may get narrower from one
 * batch to the next.
 */
typedef struct ColumnCutoff
{
	int32		lo;
	int32		hi;
	bool		descending;		/* the largest keys are wanted first, and lo grows; else hi shrinks */
	uint64		skipped;		/* rows left out so far */
} ColumnCutoff;

#endif							/* HPSORT_PG_COLUMN_BATCH_H */
