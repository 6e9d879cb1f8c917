/*
 * pair_state.h
 *		PairSorter: what pairs.c, which fills it, and pair_cursor.c, which reads it, share.  No
 *		other file includes it.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_STATE_H
#define HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_STATE_H

#include "postgres.h"

#include "pg/nodes/aggregate/pairs/pair_coding.h"
#include "pg/nodes/aggregate/pairs/pair_file.h"
#include "pg/nodes/aggregate/pairs/pair_rows.h"
#include "pg/sort_context.h"
#include "sort/sorter/long_sorter.h"

/* Runs that are read from memory at once. */
#define BLOCK_RUNS 1024

struct PairSorter
{
	MemoryContext memory;		/* of the sorter and all that it allocates */
	const SortContext *context;
	ColumnKind	kind;			/* of the values; COLUMN_KIND_NONE: markers only */
	size_t		limit;			/* bytes of memory */
	PairCoding	coding;			/* of the pairs in memory, unless they are rows */
	LongSorter *sorter;			/* pairs in memory, coded; NULL: they are rows */
	PairRows   *rows;			/* where pairs need more than 64 bits, or have type; else NULL */
	const PairType *type;		/* of the values of rows; NULL: they are as batches hold them */
	uint64		count;			/* values and markers added */
	SorterStats flushed;		/* of the first pairs that were written to the file */

	PairFile   *file;			/* NULL: nothing has been written */

	/*
	 * a batch's codes, of up to 32 bits in narrow; of the largest batch so far, so that a small
	 * table takes little memory
	 */
	int			room;
	union
	{
		uint64	   *codes;
		uint32	   *narrow;
	};
};

/* What gives runs in order: a merge of segments, rows, or else a sorter. */
typedef struct RunSource
{
	SegmentMerge *merge;		/* of segments; NULL: it is another source */
	PairRows   *rows;			/* runs of one group; codes are values */
	LongSorterCursor memory;	/* of a sorter, if there is neither merge nor rows */
	uint64	   *block;			/* codes, and behind them counts, if there is no merge */
} RunSource;

/* Puts a sorter in order, and begins to read it; the block is the caller's to free. */
extern void run_source_open_memory(RunSource *source, LongSorter *sorter);

/* Sets the next runs, valid until the next call; returns how many, 0 at the end. */
extern size_t run_source_next(RunSource *source, const uint64 **codes, const uint64 **counts);

/* Writes what is in memory to the file, and leaves the sorter empty, to be filled again. */
extern void pairs_write_segment(struct PairSorter *pairs, LongSorter *sorter,
								const PairCoding *coding);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_STATE_H */
