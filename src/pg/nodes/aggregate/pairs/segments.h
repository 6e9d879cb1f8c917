/*
 * segments.h
 *		Segments: runs (code, count) in a store of blocks, and the one merge of them.
 *
 * A segment is written from its first run to its last.  What is read is a slice of
 * it, any runs one behind the other, whose codes ascend strictly if they are to be merged.  Pairs
 * that do not fit into memory are segments (pair_file.h), and so is what the processes of
 * a parallel query give each other (parallel/parallel.h).
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PAIRS_SEGMENTS_H
#define HPSORT_PG_NODES_AGGREGATE_PAIRS_SEGMENTS_H

#include "storage/sharedfileset.h"
#include "utils/dsa.h"

/* --- the store of blocks */

/*
 * A store of one process's own is a temporary file.  The blocks of a shared store are in dynamic
 * shared memory while they are few, and then in a shared temporary file, from which all processes
 * of a parallel query read them.
 */
typedef struct BlockStore BlockStore;

typedef struct BlockPlace
{
	dsa_pointer pointer;		/* InvalidDsaPointer: it is in the file */
	off_t		offset;			/* in the file, of the size in front of the block */
	int			fileno;			/* the part of the file, which is several where it is large */
} BlockPlace;

/* Makes an empty store of this process's own, in the current memory context. */
extern BlockStore *block_store_make(void);

/*
 * Makes a shared store, or opens one to be read, in the current memory context.  number is that of
 * the process that writes the store, and closes it before other processes open it.  memory_limit
 * is bytes of shared memory; files and area must outlive the store.
 */
extern BlockStore *block_store_make_shared(SharedFileSet *files, int number, dsa_area *area,
										   size_t memory_limit);

/*
 * Closes the file, and frees the store.  Blocks of a process's own store are gone then; those of a
 * shared one stay.
 */
extern void block_store_close(BlockStore *store);

/* Puts a block away, and sets *place to where it is.  The store keeps no pointer to data. */
extern void block_store_put(BlockStore *store, const void *data, size_t size, BlockPlace *place);

/*
 * Returns a block, which is the store's and valid until the next call.  A place in the file moves
 * on to the block that was put next.
 */
extern const void *block_store_get(BlockStore *store, BlockPlace *place);

/* Return the bytes of blocks that have been put into the file, and into shared memory. */
extern uint64 block_store_disk(const BlockStore *store);
extern size_t block_store_memory(const BlockStore *store);

/*
 * Returns the blocks of a store that are in shared memory, where they stay when the store is
 * closed.  block_store_free_shared frees them; no process may read one of them any more.
 */
extern dsa_pointer block_store_shared(const BlockStore *store);
extern void block_store_free_shared(dsa_area *area, dsa_pointer blocks);

/* --- segments */

/* Runs of a block; only the last block of a segment has fewer. */
#define SEGMENT_BLOCK 1024

typedef struct RunsOutline
{
	uint64		first;			/* the smallest code */
	uint64		last;			/* the largest code */
	uint64		rows;			/* the sum of the counts */
} RunsOutline;

/*
 * What is needed to read a segment.  One with a directory, an entry of some 60 bytes for each
 * block, can be read from any run on.  One without takes no memory for its blocks, but it is read
 * from its first run on, and nothing else may be put into the store while it is written.
 */
typedef struct Segment
{
	uint64		n;				/* its runs */
	bool		directory;		/* it has one, unless n = 0 */
	BlockPlace	place;			/* of the directory, or else of its first block */
} Segment;

/* --- writing */

typedef struct SegmentWriter SegmentWriter;

/* Begins a segment in a store, with a directory or without, in the current memory context. */
extern SegmentWriter *segment_write_begin(BlockStore *store, bool directory);

/* Appends n runs; counts is NULL if all of them are 1. */
extern void segment_write(SegmentWriter *writer, const uint64 *codes, const uint64 *counts,
						  size_t n);

/* Returns the runs written so far, which is the number of the next one. */
extern uint64 segment_written(const SegmentWriter *writer);

/* Writes what is left, returns the segment, and frees the writer. */
extern Segment segment_write_end(SegmentWriter *writer);

/* --- reading */

/* Turns n codes into others, in place.  Their order must not change. */
typedef void (*SegmentMap) (void *arg, uint64 *codes, size_t n);

/*
 * Reads a slice of a segment, a block at a time.  Whoever reads takes runs from at on, and calls
 * segment_reader_fill when at has come to end.
 */
typedef struct SegmentReader
{
	BlockStore *store;
	const struct SegmentBlock *blocks;	/* the directory, or NULL */
	SegmentMap	map;			/* for the codes of each block; NULL: they stay as they are */
	void	   *map_arg;

	/* the slice behind what is in memory */
	uint64		next;			/* the number of its first run */
	uint64		left;			/* how many runs it has */
	uint64		lo;				/* runs of smaller codes are not wanted */

	/* the block in memory */
	uint64		block;			/* the number of the block in memory; PG_UINT64_MAX: none has been
								 * read */
	BlockPlace	place;			/* without a directory: of the next block */
	size_t		at;				/* the first run that has not been taken */
	size_t		end;			/* the end of the slice in this block */
	uint64		codes[SEGMENT_BLOCK];
	uint64		counts[SEGMENT_BLOCK];	/* how many rows each run stands for */
} SegmentReader;

/*
 * Returns a reader in front of the first run, in the current memory context; store must outlive
 * it.  The caller frees it.
 */
extern SegmentReader *segment_reader_make(BlockStore *store, const Segment *segment,
										  SegmentMap map, void *map_arg);

/*
 * Begins to read n runs from number first on, of a segment with a directory.  Blocks of codes
 * below lo may be left out; lo is 0 if codes are mapped.
 */
extern void segment_reader_seek(SegmentReader *reader, uint64 first, uint64 n, uint64 lo);

/*
 * Reads the next block if the runs of the last one have been taken.  Returns false at the end of
 * the slice; otherwise at < end.
 */
extern bool segment_reader_fill(SegmentReader *reader);

/*
 * Moves over the next runs, at most a block, and outlines them.  A whole block is not read for
 * that if there is a directory.  Returns false at the end of the slice.
 */
extern bool segment_reader_outline(SegmentReader *reader, RunsOutline *outline);

/* --- merging */

typedef struct SegmentMerge SegmentMerge;

/*
 * Makes an empty merge, which has room for this number of readers, in the current memory context.
 */
extern SegmentMerge *segment_merge_make(int room);

/*
 * Adds a reader of a slice whose codes ascend strictly, before the first run is taken.  The merge
 * uses the reader until it is taken out or freed.
 */
extern void segment_merge_add(SegmentMerge *merge, SegmentReader *reader);

/* Takes out all readers, which are the caller's again, with what is left of their runs. */
extern void segment_merge_reset(SegmentMerge *merge);

/*
 * Returns the next runs of all readers in the order of codes, valid until the next call; 0 at the
 * end.  A code of several readers becomes one run.
 */
extern size_t segment_merge_next(SegmentMerge *merge, const uint64 **codes,
								 const uint64 **counts);

/* Returns a merge that stands where merge does, with readers of its own, to be freed. */
extern SegmentMerge *segment_merge_copy(const SegmentMerge *merge);

/* Frees a merge and its readers. */
extern void segment_merge_free(SegmentMerge *merge);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PAIRS_SEGMENTS_H */
