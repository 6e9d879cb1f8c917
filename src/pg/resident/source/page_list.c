/*
 * page_list.c
 *		Blocks to be read from pages, and to be captured (see page_list.h).
 */
#include "postgres.h"

#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/resident/source/page_list.h"

/* Blocks of one extent. */
typedef struct ListedExtent
{
	CaptureExtent extent;
	ResidentBlocks blocks;		/* to be read */
} ListedExtent;

struct PageList
{
	MemoryContext memory;		/* of the list */
	MemoryContext item_memory;	/* of columns to be captured */
	Relation	rel;
	BlockNumber nblocks;		/* of the table */
	int			ncolumns;
	CaptureColumn *columns;
	ListedExtent *extents;
	int			n;
	int			room;
	int			blocks;
	int			most;
	int			next;			/* page_list_next: of extents ... */
	int			next_bit;
	int			shown;			/* page_list_show */
	Capture    *capture;		/* NULL until there is something to capture */
};

PageList *
page_list_make(Relation rel, BlockNumber nblocks, int ncolumns, CaptureColumn *columns, int most)
{
	PageList   *list = palloc0_object(PageList);

	list->memory = CurrentMemoryContext;
	list->item_memory = AllocSetContextCreate(CurrentMemoryContext, "HpSort Resident List",
											  ALLOCSET_SMALL_SIZES);
	list->rel = rel;
	list->nblocks = nblocks;
	list->ncolumns = ncolumns;
	list->columns = columns;
	list->most = most;
	list->room = most + 1;
	list->extents = palloc_array(ListedExtent, list->room);
	return list;
}

void
page_list_add_others(PageList *list, const CaptureExtent *extent, const ResidentBlocks *blocks,
					 const ResidentBlocks *valid)
{
	ResidentBlocks others = {
		{blocks->words[0] & ~valid->words[0], blocks->words[1] & ~valid->words[1]}
	};
	ListedExtent *listed;
	MemoryContext old;

	if (!resident_blocks_any(&others))
		return;
	if (list->n == list->room)
	{
		list->room *= 2;
		list->extents = repalloc_huge(list->extents, list->room * sizeof(ListedExtent));
	}
	listed = &list->extents[list->n++];
	listed->extent = *extent;
	listed->blocks = others;
	old = MemoryContextSwitchTo(list->item_memory);
	listed->extent.wanted = bms_copy(extent->wanted);
	MemoryContextSwitchTo(old);
	list->blocks += resident_blocks_count(&others);
}

bool
page_list_start(PageList *list, bool complete)
{
	if (list->blocks < list->most && !(complete && list->n > 0))
		return false;
	list->next = list->next_bit = list->shown = 0;
	return true;
}

BlockNumber
page_list_next(void *arg)
{
	PageList   *list = (PageList *) arg;

	for (; list->next < list->n; list->next++, list->next_bit = 0)
	{
		const ListedExtent *listed = &list->extents[list->next];
		int			i = resident_blocks_next(&listed->blocks, list->next_bit, true);

		if (i < RESIDENT_EXTENT_BLOCKS)
		{
			list->next_bit = i + 1;
			return listed->extent.first + i;
		}
	}
	return InvalidBlockNumber;
}

/* Begins to capture an extent, of which some columns are wanted. */
static void
begin_capture(PageList *list, const CaptureExtent *extent)
{
	if (list->capture == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(list->memory);

		list->capture = capture_make(list->rel, list->ncolumns, list->columns);
		MemoryContextSwitchTo(old);
	}
	capture_begin(list->capture, extent,
				  visibility_extent(list->nblocks - 1) - visibility_extent(extent->first) + 1);
}

void
page_list_show(PageList *list, Buffer buffer)
{
	BlockNumber block = BufferGetBlockNumber(buffer);
	const CaptureExtent *extent = &list->extents[list->shown].extent;

	while (block < extent->first || block >= extent->first + extent->nblocks)
		extent = &list->extents[++list->shown].extent;
	if (extent->wanted == NULL)
		return;
	if (list->capture == NULL || capture_first(list->capture) != extent->first)
	{
		if (list->capture)
			capture_end(list->capture);
		begin_capture(list, extent);
	}
	capture_page(list->capture, buffer);
}

void
page_list_end(PageList *list)
{
	if (list->capture)
		capture_end(list->capture);
	list->n = 0;
	list->blocks = 0;
	MemoryContextReset(list->item_memory);
}
