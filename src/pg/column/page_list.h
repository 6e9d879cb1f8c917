/*
 * page_list.h
 *		PageList: blocks of a scan of resident columns that are to be read from their pages,
 *		extent by extent, and what is to be captured of them.
 */
#ifndef HPSORT_PG_COLUMN_PAGE_LIST_H
#define HPSORT_PG_COLUMN_PAGE_LIST_H

#include "postgres.h"

#include "pg/column/capture.h"

typedef struct PageList PageList;

/* Empty, in the current memory context; full with so many blocks.  columns belong to the caller. */
extern PageList *page_list_make(Relation rel, BlockNumber nblocks, int ncolumns,
								CaptureColumn *columns,
								int most);
extern void page_list_free(PageList *list);

/*
 * Lists blocks of the extent of nblocks blocks from first on.  wanted: columns to be captured, with
 * what capture_begin says of visible, lsn and moves; NULL: none.
 */
extern void page_list_add(PageList *list, BlockNumber first, int nblocks,
						  const ResidentBlocks *blocks,
						  const ResidentBlocks *visible, uint64 lsn, const bool *wanted,
						  const uint8 *moves);

extern bool page_list_is_full(const PageList *list);
extern bool page_list_is_empty(const PageList *list);

/*
 * Begins to read the list: the next block, InvalidBlockNumber at the end; each page in their
 * order; the end.
 */
extern void page_list_start(PageList *list);
extern BlockNumber page_list_next(PageList *list);
extern void page_list_show(PageList *list, Buffer buffer);
extern void page_list_end(PageList *list);

#endif							/* HPSORT_PG_COLUMN_PAGE_LIST_H */
