/*
 * row_segment.h
 *		Segments: rows in order on a tape of a temporary file, and the merge of them.
 *
 * A segment is written from its first row to its last, and read once, in the same order; the
 * blocks that have been read are written again by other segments (core's logtape.c).
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_ROW_SEGMENT_H
#define HPSORT_PG_NODES_SORT_STORE_ROW_SEGMENT_H

#include "utils/logtape.h"

#include "pg/nodes/sort/store/row_store.h"

typedef struct RowSegment
{
	LogicalTape *tape;
	uint64		rows;			/* that are left to be read */
	uint64		bytes;			/* of the segment when it was written */
	int			level;			/* 0: rows of the store; else one more than what was merged */
	RowKey		last;			/* of the store that was appended last; numbers, not ranks, ... */
	int			given_up;		/* ... unless numbering has been given up since */

	/* Rows without tuples, some at a time. */
	Size		row_bytes;		/* of each; 0: rows are tuples */
	bool		nulls_apart;	/* there is one key, and its NULLs are counted, not marked */
	uint64		nulls;			/* rows with a NULL: while it is read, the ones that are left if
								 * they come first, all of them if they come last */
	char	   *buffer;
	Size		at;				/* next byte of the buffer ... */
	Size		end;			/* ... and the first behind the rows in it */
} RowSegment;

/* A row of a segment, or one to be written. */
typedef struct SegmentRow
{
	RowKey		key;			/* without tuples, or when it has been read */
	MinimalTuple tuple;			/* NULL unless rows are tuples */
	bool		repeats;		/* the tuple is known to have the keys of the row before it */
	uint32		ref;			/* of a row that lies elsewhere */
} SegmentRow;

/* Begins a segment of rows of a store on a new tape, in the current memory context. */
extern void row_segment_begin(RowSegment *segment, LogicalTapeSet *tapes, const RowStore *store,
							  int level);

/* Appends a row of a store, in the memory context of the segment. */
extern void row_segment_put(RowSegment *segment, const RowStore *store, const SegmentRow *row);

/*
 * Appends the rows of a store, in the memory context of the segment, and leaves the store to be
 * cleared.  It has been sorted: by row_store_sort_with_keys if rows lie elsewhere.
 */
extern void row_segment_put_store(RowSegment *segment, const RowStore *store);

/* Whether a segment to which a store has been appended has no row after the first of this one. */
extern bool row_segment_precedes(const RowSegment *segment, const RowStore *store);

/* The segment has all rows.  It takes no more memory until it is read through a buffer. */
extern void row_segment_end(RowSegment *segment, Size buffer);

/*
 * Reads the next row with its keys; false at the end.  Its tuple is in the buffer.  Keys of a row
 * without a tuple that are numbered are numbers, not ranks.  The first call must be in the memory
 * context of the segment.
 */
extern bool row_segment_get(RowSegment *segment, const RowStore *store, SegmentRow *row,
							RowBuffer *buffer);

/* Frees the memory of the segment's tape. */
extern void row_segment_close(RowSegment *segment);

typedef struct RowMerge RowMerge;

/*
 * Starts to merge n > 0 segments, which the merge closes, in the current memory context.  Equal
 * rows come in the order of the segments.  The store says what rows are; it has none meanwhile.
 */
extern RowMerge *row_merge_begin(RowStore *store, const RowSegment *segments, int n);

/* Returns the next row in order, valid until the next call; NULL at the end. */
extern const SegmentRow *row_merge_next(RowMerge *merge);

/* Closes the segments, and frees the memory of the merge. */
extern void row_merge_end(RowMerge *merge);

#endif							/* HPSORT_PG_NODES_SORT_STORE_ROW_SEGMENT_H */
