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

#include "postgres.h"

#include "storage/sharedfileset.h"
#include "utils/dsa.h"

/* --- the store of blocks */

/*
 * A store of one process's own is a temporary file.  The blocks of a shared store are in dynamic
 * shared memory while they are few, and then in a shared temporary file, from which all processes
 * of a parallel query read them.
 */
typedef struct BlockStore BlockStore;

/* Where a block is. */
typedef struct BlockPlace
{
	dsa_pointer pointer;		/* InvalidDsaPointer: in the file, at ... */
	off_t		offset;
	int			fileno;
} BlockPlace;

/* Makes an empty store of this process's own, in the current memory context. */
extern BlockStore *block_store_make(void);

/*
 * Makes a shared store, or opens one to be read, in the current memory context.  number: of the
 * process that writes it, and closes it before others read.  memory_limit: bytes of shared memory
 * at most.
 */
extern BlockStore *block_store_make_shared(SharedFileSet *files, int number, dsa_area *area,
										   size_t memory_limit);

/* Closes the file: one of this process's own is gone then.  Frees the store. */
extern void block_store_close(BlockStore *store);

/* Puts a block away, and sets *place. */
extern void block_store_put(BlockStore *store, const void *data, size_t size, BlockPlace *place);

/*
 * Returns a block, valid until the next call.  Moves a place in the file to the block that
 * was put next.
 */
extern const void *block_store_get(BlockStore *store, BlockPlace *place);

/* Bytes written to the file. */
extern uint64 block_store_disk(const BlockStore *store);

/* The blocks of a store that are in shared memory, and how to free them when none is read. */
extern dsa_pointer block_store_shared(const BlockStore *store);
extern void block_store_free_shared(dsa_area *area, dsa_pointer blocks);

/* --- segments */

/* Runs of a block; only the last block of a segment has fewer. */
#define SEGMENT_BLOCK 1024

/* Some runs without their codes. */
typedef struct RunsOutline
{
	uint64		first;			/* smallest code */
	uint64		last;			/* largest */
	uint64		rows;			/* sum of counts */
} RunsOutline;

/*
 * A segment without a directory takes no memory for its blocks, but it can only be read from its
 * first run on, and nothing else may be put into the store while it is written.
 */
typedef struct Segment
{
	uint64		n;				/* runs */
	bool		directory;
	BlockPlace	place;			/* of the directory, or else of the first block */
} Segment;

/* --- writing */

typedef struct SegmentWriter SegmentWriter;

/* Begins a segment in a store, in the current memory context. */
extern SegmentWriter *segment_write_begin(BlockStore *store, bool directory);

/* Appends runs; counts is NULL if all of them are 1. */
extern void segment_write(SegmentWriter *writer, const uint64 *codes, const uint64 *counts,
						  size_t n);

/* Runs written so far. */
extern uint64 segment_written(const SegmentWriter *writer);

/* Returns the segment, and frees the writer. */
extern Segment segment_write_end(SegmentWriter *writer);

/* --- reading */

/* Turns codes into others in place, of which a larger code becomes the larger one. */
typedef void (*SegmentMap) (void *arg, uint64 *codes, size_t n);

typedef struct SegmentReader
{
	BlockStore *store;
	const struct SegmentBlock *blocks;	/* the directory, or NULL */
	SegmentMap	map;			/* NULL: codes stay as they are */
	void	   *map_arg;

	/* the slice behind what is in memory */
	uint64		next;			/* its first run */
	uint64		left;			/* its runs */
	uint64		lo;				/* the smallest code that is wanted */

	/* a block, of which the runs from at to before end are to be read */
	uint64		block;			/* its number; PG_UINT64_MAX: none has been read */
	BlockPlace	place;			/* of the next one, without a directory */
	size_t		at;
	size_t		end;
	uint64		codes[SEGMENT_BLOCK];
	uint64		counts[SEGMENT_BLOCK];
} SegmentReader;

/* Begins in front of the first run, in the current memory context. */
extern SegmentReader *segment_reader_make(BlockStore *store, const Segment *segment,
										  SegmentMap map, void *map_arg);

/*
 * Begins to read n runs from number first on, of a segment with a directory.  Blocks of
 * codes below lo may be left out; lo is 0 if codes are mapped.
 */
extern void segment_reader_seek(SegmentReader *reader, uint64 first, uint64 n, uint64 lo);

/* Sees to it that there are runs from at to before end; false at the end of the slice. */
extern bool segment_reader_fill(SegmentReader *reader);

/* Moves over the next runs and outlines them; false at the end of the slice. */
extern bool segment_reader_outline(SegmentReader *reader, RunsOutline *outline);

/* --- merging */

typedef struct SegmentMerge SegmentMerge;

/* Makes an empty merge, which has room for some readers, in the current memory context. */
extern SegmentMerge *segment_merge_make(int room);

/* Adds a reader of a slice; before the first run is taken. */
extern void segment_merge_add(SegmentMerge *merge, SegmentReader *reader);

/* Takes out all readers, which are the caller's, and what is left of their runs. */
extern void segment_merge_reset(SegmentMerge *merge);

/* The next runs of all readers in the order of codes, valid until the next call; 0 at the end. */
extern size_t segment_merge_next(SegmentMerge *merge, const uint64 **codes,
								 const uint64 **counts);

/* A merge that stands where merge does, with readers of its own, in the current memory context. */
extern SegmentMerge *segment_merge_copy(const SegmentMerge *merge);

/* Frees a merge and its readers. */
extern void segment_merge_free(SegmentMerge *merge);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PAIRS_SEGMENTS_H */
