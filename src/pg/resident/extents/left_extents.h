/*
 * left_extents.h
 *		LeftExtents: a scan's extents whose valid blocks are read after all other blocks.
 *
 * The scan adds extents in the order of blocks, and reads them when all else has been read,
 * unless the GPU has answered for them by then.
 */
#ifndef HPSORT_PG_RESIDENT_EXTENTS_LEFT_EXTENTS_H
#define HPSORT_PG_RESIDENT_EXTENTS_LEFT_EXTENTS_H

#include "pg/resident/extents/resident_valid.h"
#include "pg/values/values.h"
#include "sort/device/device.h"

/* Why extents are left. */
typedef enum LeftPurpose
{
	LEFT_TO_COUNT,				/* the GPU counts the values of one column (resident_rows.h) */
	LEFT_TO_SORT,				/* the GPU sorts keys of the rows (resident_rows.h) */

	/*
	 * Only the first rows in the order of the first column are wanted: extents are read in the
	 * order of their bounds.  Each extent that is read makes fewer of the others worth reading,
	 * and the extent in which the first row may be makes the fewest.  A column that grows with
	 * the table is the reason: for its largest values, extents in the order of blocks would each
	 * have rows that are wanted for a while.
	 */
	LEFT_TO_ORDER
} LeftPurpose;

/* What the directory said of an extent of the first column. */
typedef struct LeftBounds
{
	int64		base;			/* as in ResidentExtent */
	uint64		top;
	uint32		rows;
	uint32		nulls;
} LeftBounds;

typedef struct LeftExtents
{
	MemoryContext memory;
	LeftPurpose purpose;
	int			ncolumns;
	bool		descending;		/* LEFT_TO_ORDER: by the largest value, from the largest one on */
	size_t		room;			/* of the arrays below */
	size_t		n;
	size_t		next;			/* left_extents_next */

	/*
	 * n of each, in the order in which they were added, in one piece of memory, which has room
	 * for all that one process can take of the table, and is touched as far as there are extents;
	 * NULL where the purpose needs none
	 */
	uint64	   *generations;	/* of the columns' extents: ncolumns for each */
	uint64	   *pairs;			/* LEFT_TO_ORDER: ROWS_PAIR of the bound and the index */
	SortRows   *rows;			/* for the device; NULL for LEFT_TO_ORDER */
	LeftBounds *bounds;			/* LEFT_TO_ORDER */
	ResidentBlocks *valid;		/* blocks to be read; none if the GPU has answered for them */
	uint32	   *numbers;
} LeftExtents;

/*
 * Makes an empty list of extents of ncolumns columns of a table of nblocks blocks, one at least, in
 * the current memory context.
 */
extern LeftExtents *left_extents_make(LeftPurpose purpose, int ncolumns, bool descending,
									  BlockNumber nblocks);

/*
 * Returns a list, in the current memory context, of the extents of one or more lists, one after the
 * other, which are of as many columns and left to be sorted.
 */
extern LeftExtents *left_extents_chain(const List *lists);

/* Adds an extent, as the columns' readers know it, with its valid blocks. */
extern void left_extents_add(LeftExtents *left, const SourceColumn *columns, uint32 number,
							 const ResidentBlocks *valid);

/* An extent of a list. */
typedef struct LeftExtent
{
	size_t		index;			/* in the list */
	uint32		number;
	ResidentBlocks valid;
	const uint64 *generations;	/* by column */
	const LeftBounds *bounds;	/* LEFT_TO_ORDER */
	uint32		ahead;			/* number of the extent that comes then; of the last one, its own */
} LeftExtent;

/*
 * Finds the next extent that is to be read.  Returns false after the last one.  No extent is
 * added after the first call.
 */
extern bool left_extents_next(LeftExtents *left, LeftExtent *next);

/* Returns whether no row of an extent with these bounds is within the cutoff. */
extern bool left_bounds_are_beyond(const LeftBounds *bounds, const ColumnCutoff *cutoff);

#endif							/* HPSORT_PG_RESIDENT_EXTENTS_LEFT_EXTENTS_H */
