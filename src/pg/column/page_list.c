/*
 * page_list.c
 *		Blocks to be read from pages, and to be captured (see page_list.h).
 */
#include "postgres.h"

#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "pg/column/page_list.h"
#include "pg/compat.h"

/* Blocks of one extent. */
typedef struct ListedExtent
{
	BlockNumber first;
	int			nblocks;
	ResidentBlocks blocks;		/* to be read */
	ResidentBlocks visible;		/* in the copy of the map */
	uint64		lsn;			/* of the copy */
	bool	   *wanted;			/* columns to be captured; NULL: none */
	uint8	   *moves;
} ListedExtent;

struct PageList
{
	MemoryContext memory;		/* of the list */
	MemoryContext item_memory;	/* of what extents point to */
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
page_list_free(PageList *list)
{
	if (list->capture)
		capture_free(list->capture);
	MemoryContextDelete(list->item_memory);
	pfree(list->extents);
	pfree(list);
}

void
page_list_add(PageList *list, BlockNumber first, int nblocks, const ResidentBlocks *blocks,
			  const ResidentBlocks *visible, uint64 lsn, const bool *wanted, const uint8 *moves)
{
	ListedExtent *listed;
	MemoryContext old;

	if (!resident_blocks_any(blocks))
		return;
	if (list->n == list->room)
	{
		list->room *= 2;
		list->extents = repalloc_huge(list->extents, list->room * sizeof(ListedExtent));
	}
	old = MemoryContextSwitchTo(list->item_memory);
	listed = &list->extents[list->n++];
	listed->first = first;
	listed->nblocks = nblocks;
	listed->blocks = *blocks;
	listed->visible = *visible;
	listed->lsn = lsn;
	listed->wanted = NULL;
	listed->moves = NULL;
	if (wanted)
	{
		listed->wanted = palloc_array(bool, list->ncolumns);
		memcpy(listed->wanted, wanted, list->ncolumns * sizeof(bool));
		listed->moves = palloc_array(uint8, list->ncolumns);
		memcpy(listed->moves, moves, list->ncolumns * sizeof(uint8));
	}
	list->blocks += resident_blocks_count(blocks);
	MemoryContextSwitchTo(old);
}

bool
page_list_is_full(const PageList *list)
{
	return list->blocks >= list->most;
}

bool
page_list_is_empty(const PageList *list)
{
	return list->n == 0;
}

void
page_list_start(PageList *list)
{
	list->next = list->next_bit = list->shown = 0;
}

BlockNumber
page_list_next(PageList *list)
{
	for (; list->next < list->n; list->next++, list->next_bit = 0)
	{
		const ListedExtent *listed = &list->extents[list->next];

		while (list->next_bit < listed->nblocks)
		{
			int			i = list->next_bit++;

			if (resident_blocks_has(&listed->blocks, i))
				return listed->first + i;
		}
	}
	return InvalidBlockNumber;
}

/* Begins to capture a listed extent, of which some columns are wanted. */
static void
begin_capture(PageList *list, const ListedExtent *listed)
{
	if (list->capture == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(list->memory);

		list->capture = capture_make(list->rel, list->ncolumns, list->columns);
		MemoryContextSwitchTo(old);
	}
	capture_begin(list->capture, listed->first, listed->nblocks, &listed->visible, listed->lsn,
				  listed->wanted, listed->moves,
				  visibility_extent(list->nblocks - 1) - visibility_extent(listed->first) + 1);
}

void
page_list_show(PageList *list, Buffer buffer)
{
	BlockNumber block = BufferGetBlockNumber(buffer);
	const ListedExtent *listed = &list->extents[list->shown];

	while (block < listed->first || block >= listed->first + listed->nblocks)
		listed = &list->extents[++list->shown];
	if (listed->wanted == NULL)
		return;
	if (list->capture == NULL || capture_first(list->capture) != listed->first)
	{
		if (list->capture)
			capture_end(list->capture);
		begin_capture(list, listed);
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
