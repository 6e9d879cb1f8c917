/*
 * run_source.h
 *		What gives the runs of a PairSorter in order: a sorter, a merge of segments, or rows.
 *
 * The keys of a counted sorter are codes with a count below them, so that a run is one key.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PAIRS_RUN_SOURCE_H
#define HPSORT_PG_NODES_AGGREGATE_PAIRS_RUN_SOURCE_H

#include "pg/nodes/aggregate/pairs/pair_coding.h"
#include "pg/nodes/aggregate/pairs/pair_rows.h"
#include "pg/nodes/aggregate/pairs/segments.h"
#include "sort/sorter/long_sorter.h"

/* Runs that are read from memory at once. */
#define BLOCK_RUNS 1024

/* How the keys of a sorter stand for codes. */
#define NOT_COUNTED (-1)		/* a key is a code; otherwise the bits of the count below it, of
								 * which there may be none */
#define COUNT_BITS_MAX 32

typedef struct RunSource
{
	SegmentMerge *merge;		/* of segments; NULL: it is another source */
	PairRows   *rows;			/* runs of one group; codes are values */
	LongSorterCursor memory;	/* of a sorter, if there is neither merge nor rows */
	uint64	   *block;			/* codes, and behind them counts, if there is no merge */

	int			count_bits;		/* of the sorter's keys */
	uint64		held_code;		/* of a counted sorter: the run that further keys may add to, ... */
	uint64		held_count;		/* ... 0: there is none */
} RunSource;

/*
 * Puts a sorter in order, and begins to read it; the block, in the current memory context, is the
 * caller's to free.
 */
extern void run_source_open_memory(RunSource *source, LongSorter *sorter, int count_bits);

/*
 * Sets the next runs, valid until the next call; returns how many, 0 at the end.  Another source
 * may be a copy, which shares the block.
 */
extern size_t run_source_next(RunSource *source, const uint64 **codes, const uint64 **counts);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PAIRS_RUN_SOURCE_H */
