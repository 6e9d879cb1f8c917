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

/*
 * Keys of one column in a batch: 32 kB, which stay in the first- or second-level
 * cache until they have been counted.  Larger batches are no faster.
 */
#define COLUMN_BATCH_KEYS 8192

/* A row's TID as an integer. */
#define COLUMN_TID(block, line) ((int64) (block) << 16 | (line))
#define COLUMN_TID_BLOCK(tid) ((BlockNumber) ((tid) >> 16))
#define COLUMN_TID_LINE(tid) ((OffsetNumber) ((tid) & 0xFFFF))

/* A page, and the buffer that it was read from, which may hold another one by now. */
typedef struct PageBuffer
{
	BlockNumber block;
	Buffer		buffer;
} PageBuffer;

/*
 * Some rows of one column, or of one filter.  The caller of column_reader_next
 * provides the arrays, with room for COLUMN_BATCH_KEYS.
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
	size_t		n;				/* rows; in a compact scan, those that are not NULL */
	int32	   *keys;			/* of narrow kinds: the value less column_kind_bias */
	int64	   *wide;			/* of wide kinds in an aligned scan: the value; of TIDs:
								 * COLUMN_TID of the row */
	uint8	   *nulls;			/* in an aligned scan: 1 where a row is NULL, else 0; of a
								 * filter: 1 where it is not true.  Always set. */
	int64		nnulls;			/* rows of this batch that are NULL, or for which the
								 * filter is not true */
	PackedKeys	packed;			/* in a scan that takes packed batches: with n > 0 in it,
								 * all values are here, more than COLUMN_BATCH_KEYS perhaps,
								 * and none is NULL; keys, wide and nulls are unused */
} ColumnBatch;

#endif							/* HPSORT_PG_COLUMN_BATCH_H */
