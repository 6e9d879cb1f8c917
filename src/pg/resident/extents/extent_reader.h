/*
 * extent_reader.h
 *		ExtentReader: a column's resident extents, and the rows of one at a time as batches.
 *
 * What is read may be given up while it is read.  Batches may be added to between
 * resident_start_copying and resident_stop_copying, if extent_reader_reaches then, and are only
 * good if extent_reader_holds afterwards.  Which blocks are valid is for the caller to know.
 */
#ifndef HPSORT_PG_RESIDENT_EXTENTS_EXTENT_READER_H
#define HPSORT_PG_RESIDENT_EXTENTS_EXTENT_READER_H

#include "pg/resident/extents/visibility.h"
#include "pg/resident/memory/memory.h"
#include "pg/values/values.h"
#include "sort/extents/extent.h"

/* The largest start of an extent, up to its values. */
#define EXTENT_START_BYTES \
	(RESIDENT_EXTENT_BLOCKS * (sizeof(uint64) + 2 * sizeof(uint32)) + sizeof(Extent) + \
	 3 * sizeof(uint64))

typedef struct ExtentReader
{
	ResidentKey key;			/* of the column */
	int			nextents;		/* of a page of the visibility map, at most, ... */
	ResidentExtent extents[VISIBILITY_EXTENTS]; /* ... and these, by their number there */
	uint64		seen;			/* of resident_look */
	uint32		again;			/* extent_reader_begin_again has looked at this extent ... */
	uint32		nagain;			/* ... and those behind it: as many */

	/* the extent being read */
	uint32		number;
	const char *bytes;			/* of the extent, shared; followed only as described above */
	union
	{
		Extent		extent;
		char		bytes[EXTENT_START_BYTES];
	}			header;			/* a copy of its start */
} ExtentReader;

/*
 * Begins a reader, which is not cleared, of a table of nblocks blocks.  Scans of many small tables
 * would take most of their time for clearing extents that these do not have.
 */
extern void extent_reader_init(ExtentReader *reader, BlockNumber nblocks);

/*
 * Copies what is known of the extents of a page of the visibility map, the first of which is
 * first.
 */
extern void extent_reader_look(ExtentReader *reader, uint32 first);

/*
 * Returns what the reader knows of an extent, which may be changed.  The last look
 * (extent_reader_look) was at the extent's page of the map.
 */
static inline ResidentExtent *
extent_reader_extent(ExtentReader *reader, uint32 number)
{
	return &reader->extents[number % VISIBILITY_EXTENTS];
}

/*
 * Returns the generation of the values of which the extent that has been begun has numbers
 * (column_dictionary.h); 0 if it has values.
 */
static inline uint64
extent_reader_values_generation(const ExtentReader *reader)
{
	return reader->extents[reader->number % VISIBILITY_EXTENTS].values;
}

/*
 * Begins to read an extent that there is, and copies its start to header.  Returns false if the
 * extent has been given up.
 */
extern bool extent_reader_begin(ExtentReader *reader, uint32 number);

/*
 * Begins to read an extent that the reader has looked at before, when it was of that generation.
 * Returns false if it has been given up or made anew since then.  What the reader knows of other
 * extents may be of another page of the map afterwards: only this extent may be read then.
 */
extern bool extent_reader_begin_again(ExtentReader *reader, uint32 number, uint64 generation);

/*
 * Has the processor fetch the start of an extent that will be begun again soon, if the last look
 * was at it.
 */
extern void extent_reader_prefetch(ExtentReader *reader, uint32 number);

/*
 * Whether the bytes of the extent that has been begun may be read: there is still memory of
 * the extent's size where they were.  Whether these bytes are still the extent's is for
 * extent_reader_holds to say, afterwards.  Needs resident_start_copying.
 */
extern bool extent_reader_reaches(const ExtentReader *reader);

/*
 * Whether all that has been read of the extent was its bytes.  May take the lock of resident
 * memory, and unmap what is gone: addresses of bytes are void afterwards.
 */
extern bool extent_reader_holds(const ExtentReader *reader);

/*
 * Adds the rows of blocks from .. to - 1 to a batch.  If marks is not NULL it has a mark, 0 or 1,
 * of each of these rows, at most COLUMN_BATCH_KEYS, and only rows with a mark of 1 are added.
 */
extern void extent_reader_add(const ExtentReader *reader, int from, int to, const uint8 *marks,
							  ColumnBatch *batch);

/* Returns how many rows the blocks have. */
static inline size_t
extent_reader_rows(const ExtentReader *reader, int from, int to)
{
	const uint32 *starts = extent_starts(&reader->header.extent);

	return starts[to] - starts[from];
}

/* Returns the rows' values, which stay in shared memory; that of a NULL is any. */
extern PackedKeys extent_reader_values(const ExtentReader *reader, int from, int to);

/* Sets the marks of the rows that are NULL, and returns how many these are. */
extern size_t extent_reader_mark_nulls(const ExtentReader *reader, int from, int to, uint8 mark,
									   uint8 *marks);

/*
 * Adds the TIDs of the rows that extent_reader_add() adds to a batch, and their pages to pages, as
 * not read. first is the extent's first block.  The rows of each block must have line numbers 1, 2,
 * 3 ...
 */
extern void extent_reader_add_tids(const ExtentReader *reader, BlockNumber first, int from, int to,
								   const uint8 *marks, ColumnBatch *batch, BatchPages *pages);

/* Appends them, without NULLs among them, to a packed batch (column_batch_append_packed). */
extern void extent_reader_add_packed(const ExtentReader *reader, int from, int to, void *memory,
									 size_t bytes, ColumnBatch *batch);

#endif							/* HPSORT_PG_RESIDENT_EXTENTS_EXTENT_READER_H */
