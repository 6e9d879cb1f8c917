/*
 * pair_state.h
 *		PairSorter: what pairs.c, which fills it, and pair_cursor.c, which reads it, share.  No
 *		other file includes it.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_STATE_H
#define HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_STATE_H

#include "pg/nodes/aggregate/pairs/pair_coding.h"
#include "pg/nodes/aggregate/pairs/pair_file.h"
#include "pg/nodes/aggregate/pairs/pair_rows.h"
#include "pg/nodes/aggregate/pairs/run_source.h"
#include "pg/sort_context.h"
#include "sort/sorter/long_sorter.h"

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

/* Writes what is in memory to the file, and leaves the sorter empty, to be filled again. */
extern void pairs_write_segment(struct PairSorter *pairs, LongSorter *sorter,
								const PairCoding *coding);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_STATE_H */
