/*
 * page_list.h
 *		PageList: blocks of a scan of resident columns that are to be read from their pages, extent
 *		by extent, and resident extents that are made of these pages.
 *
 * The reader reads the blocks in order and shows each page to the list.  Of an extent that is
 * wanted the list captures the rows of all-visible pages, and in the end makes an extent of each
 * column that is resident.  Nothing that is captured is shared before that, so that an error needs
 * no clean-up.  Two sessions may make an extent at one time: the one that ends last replaces the
 * other's.
 */
#ifndef HPSORT_PG_RESIDENT_SOURCE_PAGE_LIST_H
#define HPSORT_PG_RESIDENT_SOURCE_PAGE_LIST_H

#include "postgres.h"

#include "nodes/bitmapset.h"

#include "pg/compat.h"
#include "pg/resident/extents/extents.h"
#include "pg/resident/source/captured_numbers.h"

typedef struct PageList PageList;

/* Blocks of one extent, and what was known of it before its pages are read. */
typedef struct ListedExtent
{
	BlockNumber first;			/* of the extent */
	int			nblocks;		/* as far as the table, or what this process has taken, reaches */
	ResidentBlocks blocks;		/* to be read */
	ResidentBlocks visible;		/* all-visible in a copy of the visibility map */
	uint64		lsn;			/* of the copy */
	Bitmapset  *wanted;			/* columns to be captured, of all blocks; NULL: none */
} ListedExtent;

/*
 * Makes an empty list in the current memory context, by whose end it is freed; it is full with most
 * blocks.  columns belong to the caller, and are known when the first page is shown.
 */
extern PageList *page_list_make(Relation rel, BlockNumber nblocks, int ncolumns,
								SourceColumn *columns, int most);

/* Lists an extent if it has blocks to be read.  Its wanted columns are copied. */
extern void page_list_add(PageList *list, const ListedExtent *extent);

/*
 * Begins to read the list if it is full, or has blocks and is complete; returns whether it has
 * begun.
 */
extern bool page_list_start(PageList *list, bool complete);

/*
 * A ReadStreamBlockNumberCB, whose private data is the list: the next block to be read, or
 * InvalidBlockNumber at the end.
 */
extern BlockNumber page_list_next(ReadStream *stream, void *private_data, void *per_buffer_data);

/*
 * Pins the next block to be read, and returns its buffer; InvalidBuffer at the end.  Blocks are
 * found by notes, without searches for their buffers, up to the first one that is not; from there
 * on stream reads them, ahead, which is of page_list_next with this list, and of the strategy.
 * 456 of 46,083 blocks in memory take 0.48 ms of processor time by notes and 0.64 by the stream; to
 * ask for the memory of 1, 4 or 10 blocks ahead changes 0.1 at most (AMD EPYC, PostgreSQL 17).
 */
extern Buffer page_list_buffer(PageList *list, ReadStream *stream, BufferAccessStrategy strategy);

/* Shows the list a page of a block, pinned but not locked, in the order of blocks. */
extern void page_list_show(PageList *list, Buffer buffer);

/* All pages have been shown: empties the list.  May wait for memory. */
extern void page_list_end(PageList *list);

/*
 * Reads all blocks of the list from their pages, through a small ring of buffers, for nothing but
 * the extents that are wanted, and empties the list.
 */
extern void page_list_read(PageList *list);

/* What extents of a column would take, of some that were made of pages. */
#define EXTENT_SIZES 32

typedef struct ExtentSizes
{
	int			n;
	int			blocks[EXTENT_SIZES];	/* captured of each */
	Size		bytes[EXTENT_SIZES];	/* of resident memory, but for numbers of values ... */
	NumbersSample numbers;		/* ... of a column that has numbers ... */
	double		rows;			/* ... one in each of these rows */
} ExtentSizes;

/*
 * Has the list measure the next EXTENT_SIZES extents that are wanted, in sizes, by column, and
 * make none resident.  Extents of which no block can be captured are left out.
 */
extern void page_list_measure(PageList *list, ExtentSizes *sizes);

#endif							/* HPSORT_PG_RESIDENT_SOURCE_PAGE_LIST_H */
