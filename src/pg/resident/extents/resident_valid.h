/*
 * resident_valid.h
 *		Which blocks of a scan's resident extents are valid, by the rule of
 *		docs/internals/resident.md, and which extents are to be made anew.
 *
 * For resident_source.c alone.
 */
#ifndef HPSORT_PG_RESIDENT_EXTENTS_RESIDENT_VALID_H
#define HPSORT_PG_RESIDENT_EXTENTS_RESIDENT_VALID_H

#include "access/xlogdefs.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "pg/resident/extents/column_dictionary.h"
#include "pg/resident/extents/extent_reader.h"
#include "pg/resident/memory/memory.h"

/* A column of the scan. */
typedef struct SourceColumn
{
	ExtentReader reader;		/* first: source_columns_make */
	ColumnDictionary *dictionary;	/* of the numbers in extents; NULL: they have values */
	bool		capture;		/* extents may be made of it */
	int64		refreshes;		/* extents */
	ResidentReason reason;		/* why blocks were not read from extents */

	/* what page_list.h has captured in this scan */
	ResidentSweep sweep;
	int			captured;		/* extents made resident */
} SourceColumn;

/* Makes n columns of a table of nblocks blocks, in the current memory context. */
extern SourceColumn *source_columns_make(int n, BlockNumber nblocks);

/*
 * Has map be the page of the visibility map that has a block: copies it, unless it is that page
 * already.  What is known of the page's extents is copied before, so that it is no newer.
 */
extern void source_columns_look(SourceColumn *columns, int n, Relation rel, BlockNumber block,
								VisibilityCopy *map);

/* What pages of an extent had in their headers, since the map was copied. */
typedef struct ResidentHeaders
{
	ResidentBlocks read;		/* the pages */
	uint64		lsns[RESIDENT_EXTENT_BLOCKS];	/* 0: not all-visible */
} ResidentHeaders;

/* What is looked at: some blocks of an extent. */
typedef struct ResidentLook
{
	Relation	rel;
	uint32		number;			/* of the extent */
	BlockNumber first;			/* its first block */
	ResidentBlocks visible;		/* all-visible in the copy of the map */
	XLogRecPtr	lsn;			/* of the page of the visibility map, when it was copied */
	int			nblocks;
	bool		whole;			/* these are all that the extent has */
	bool		later;			/* extents are read later, if at all: their starts are not read
								 * here */
	ResidentHeaders *headers;	/* one for all columns */
	BufferAccessStrategy strategy;	/* of pages that have to be read for them */
} ResidentLook;

/*
 * Returns the valid blocks of a column's extent among the visible ones.  Where the map's page has
 * changed, the heap pages are looked at, unless most had changed at each of the last uses as well;
 * then no block is valid.  *wanted says whether an extent is to be made of the pages, although the
 * blocks returned are valid.
 */
extern ResidentBlocks resident_valid_find(const ResidentLook *look, SourceColumn *column,
										  bool *wanted);

/*
 * Has the dictionary of a column, if it has one, know all values of the extent begun, unless that
 * has NULLs alone.  Returns false if they have been given up.
 */
extern bool resident_valid_know_values(const SourceColumn *column);

/*
 * Takes out of valid the blocks that have different numbers of rows in different columns.  Needs
 * the starts of all columns' extents.  Only a mistake elsewhere makes a block with different
 * numbers, but it would mix up the values of rows: hence this check.
 */
extern void resident_valid_keep_aligned(const SourceColumn *columns, int ncolumns,
										ResidentBlocks *valid);

/*
 * Takes out of valid the blocks whose rows' line numbers are not known: an extent has no line
 * numbers, and only where they are 1, 2, 3 ... do the rows' TIDs follow from their order.
 */
extern void resident_valid_keep_numbered(SourceColumn *columns, int ncolumns, uint32 number,
										 ResidentBlocks *valid);

/* Returns why the column is not resident, after a read of blocks, hits of them from extents. */
extern ResidentReason resident_valid_reason(const SourceColumn *column, int64 hits, int64 blocks);

#endif							/* HPSORT_PG_RESIDENT_EXTENTS_RESIDENT_VALID_H */
