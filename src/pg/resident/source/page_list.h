/*
 * page_list.h
 *		PageList: blocks of a scan of resident columns that are to be read from their pages,
 *		extent by extent, and what is to be captured of them.
 */
#ifndef HPSORT_PG_RESIDENT_SOURCE_PAGE_LIST_H
#define HPSORT_PG_RESIDENT_SOURCE_PAGE_LIST_H

#include "postgres.h"

#include "pg/resident/extents/extents.h"

typedef struct PageList PageList;

/*
 * Makes an empty list in the current memory context, by whose end it is freed; it is full with most
 * blocks.  columns belong to the caller.
 */
extern PageList *page_list_make(Relation rel, BlockNumber nblocks, int ncolumns,
								CaptureColumn *columns, int most);

/* Lists blocks of an extent, all but the valid ones, and what is to be captured of them. */
extern void page_list_add_others(PageList *list, const CaptureExtent *extent,
								 const ResidentBlocks *blocks, const ResidentBlocks *valid);

/*
 * Begins to read the list if it is full, or has blocks and is complete; returns whether it has
 * begun.
 */
extern bool page_list_start(PageList *list, bool complete);

/* The next block to be read, InvalidBlockNumber at the end: a CompatNextBlock; arg is the list. */
extern BlockNumber page_list_next(void *arg);

/* Shows the list a page of a block, pinned but not locked, in the order of blocks. */
extern void page_list_show(PageList *list, Buffer buffer);

/* All pages have been shown: empties the list. */
extern void page_list_end(PageList *list);

#endif							/* HPSORT_PG_RESIDENT_SOURCE_PAGE_LIST_H */
