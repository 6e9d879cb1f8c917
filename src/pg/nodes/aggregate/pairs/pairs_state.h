/*
 * pairs_state.h
 *		What pairs_add.c and pairs_read.c share; no other file includes it.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIRS_STATE_H
#define HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIRS_STATE_H

#include "postgres.h"

#include "pg/nodes/aggregate/pairs/pair_file.h"
#include "pg/nodes/aggregate/pairs/pairs.h"
#include "pg/nodes/aggregate/pairs/run_source.h"

struct PairSorter
{
	MemoryContext memory;		/* of the sorter and all that it allocates */
	const SortContext *context;
	ColumnKind	kind;			/* of the values; COLUMN_KIND_NONE: markers only */
	size_t		limit;			/* bytes of memory */
	PairCoding	coding;			/* of the pairs in memory, unless they are rows */
	LongSorter *sorter;			/* pairs in memory, coded; NULL: they are rows */
	int			count_bits;		/* of the sorter's keys (run_source.h); the coding does not change
								 * where they are counted */
	PairRows   *rows;			/* where pairs need more than 64 bits; else NULL */
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

/*
 * Writes what is in a sorter, of a coding, to the file of the pairs, and leaves the sorter empty,
 * to be filled again.
 */
extern void pairs_write_segment(PairSorter *pairs, LongSorter *sorter, const PairCoding *coding);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIRS_STATE_H */
