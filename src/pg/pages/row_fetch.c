/*
 * row_fetch.c
 *		Rows of a heap by their places (see row_fetch.h).
 */
#include "postgres.h"

#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/pages/pin_budget.h"
#include "pg/pages/row_fetch.h"

StaticAssertDecl(MaxHeapTuplesPerPage < (1 << ROW_PLACE_LINE_BITS),
				 "line numbers do not fit into places");

/* Pages there is room for at first. */
#define FIRST_ROOM 64

/* Pins taken out of the budget at once. */
#define PINS_AT_ONCE 256

/* Milliseconds between two looks for somebody who waits for a page. */
#define LOOK_EVERY 1000

/* A MemoryContextCallback: the pins themselves are the resource owner's, or gone. */
static void
give_back_budget(void *arg)
{
	pin_budget_give_back(&((RowFetch *) arg)->share);
}

RowFetch *
row_fetch_create(Relation rel, MemoryContext memory)
{
	RowFetch   *fetch = (RowFetch *) MemoryContextAllocZero(memory, sizeof(RowFetch));
	MemoryContextCallback *callback = MemoryContextAlloc(memory, sizeof(MemoryContextCallback));

	fetch->rel = rel;
	fetch->share.local = RelationUsesLocalBuffers(rel);
	fetch->tuple.t_tableOid = RelationGetRelid(rel);
	fetch->room = FIRST_ROOM;
	fetch->pages = MemoryContextAlloc(memory, FIRST_ROOM * sizeof(RowFetchPage));
	callback->func = give_back_budget;
	callback->arg = fetch;
	MemoryContextRegisterResetCallback(memory, callback);
	return fetch;
}

uint32
row_fetch_add_page(RowFetch *fetch, PageBuffer page)
{
	if (fetch->npages == fetch->room)
	{
		/* By a quarter: the room counts where memory is short. */
		uint32		more = Min(fetch->room / 4, ROW_PLACE_PAGES - fetch->room);

		if (more == 0)
			elog(ERROR, "more pages of table \"%s\" than places can number",
				 RelationGetRelationName(fetch->rel));
		fetch->room += more;
		fetch->pages = repalloc_huge(fetch->pages, (Size) fetch->room * sizeof(RowFetchPage));
	}
	fetch->pages[fetch->npages] = (RowFetchPage)
	{
		page.block, 2 * page.buffer
	};
	return fetch->npages++;
}

void
row_fetch_trim(RowFetch *fetch)
{
	fetch->room = Max(fetch->npages, 1);
	fetch->pages = repalloc_huge(fetch->pages, fetch->room * sizeof(RowFetchPage));
}

Size
row_fetch_memory(const RowFetch *fetch)
{
	return fetch->room * ROW_FETCH_PAGE_BYTES;
}

static void
unpin(RowFetch *fetch, uint32 number)
{
	ReleaseBuffer(fetch->pages[number].where >> 1);
	fetch->pages[number].where &= ~1;
}

/* Unpins the page of the row fetched last, if it does not stay pinned. */
static void
unpin_single(RowFetch *fetch)
{
	if (fetch->has_single)
		unpin(fetch, fetch->single);
	fetch->has_single = false;
}

void
row_fetch_reserve(RowFetch *fetch, uint32 pages)
{
	pin_budget_take(&fetch->share, pages);
}

/* Whether one more page may stay pinned. */
static bool
may_stay_pinned(RowFetch *fetch)
{
	if (fetch->by_row)
		return false;
	if (fetch->npinned == fetch->share.pins && !fetch->exhausted)
	{
		row_fetch_reserve(fetch, Min(PINS_AT_ONCE, fetch->npages - fetch->npinned));
		fetch->exhausted = fetch->npinned == fetch->share.pins;
	}
	return fetch->npinned < fetch->share.pins;
}

Page
row_fetch_pin(RowFetch *fetch, uint32 number)
{
	RowFetchPage *page = &fetch->pages[number];
	Buffer		buffer = page->where >> 1;

	unpin_single(fetch);
	if (fetch->share.local || !BufferIsValid(buffer) ||
		!ReadRecentBuffer(fetch->rel->rd_locator, MAIN_FORKNUM, page->block, buffer))
		buffer = ReadBuffer(fetch->rel, page->block);

	heap_format_settle(buffer);
	if (may_stay_pinned(fetch))
		fetch->npinned++;
	else
	{
		fetch->has_single = true;
		fetch->single = number;
	}
	page->where = 2 * buffer + 1;
	return BufferGetPage(buffer);
}

Page
row_fetch_keep(RowFetch *fetch, uint32 number)
{
	if (fetch->pages[number].where == 0 || !may_stay_pinned(fetch))
		return NULL;
	return row_fetch_pin(fetch, number);
}

void
row_fetch_unpin(RowFetch *fetch)
{
	uint32		number;

	unpin_single(fetch);
	for (number = 0; number < fetch->npages && fetch->npinned > 0; number++)
		if (row_fetch_is_pinned(fetch->pages[number]))
		{
			unpin(fetch, number);
			fetch->npinned--;
		}
	pin_budget_give_back(&fetch->share);
	fetch->exhausted = false;
}

bool
row_fetch_is_waited_for(RowFetch *fetch)
{
	TimestampTz now = GetCurrentTimestamp();
	uint32		number;
	uint32		seen = 0;

	if (fetch->share.local || !TimestampDifferenceExceeds(fetch->looked, now, LOOK_EVERY))
		return false;
	fetch->looked = now;
	for (number = 0; number < fetch->npages && seen < fetch->npinned + fetch->has_single; number++)
		if (row_fetch_is_pinned(fetch->pages[number]))
		{
			if (heap_format_is_waited_for(fetch->pages[number].where >> 1))
				return true;
			seen++;
		}
	return false;
}

void
row_fetch_complain(RowFetch *fetch, uint32 place)
{
	elog(ERROR, "row (%u,%u) of table \"%s\" is not there any more",
		 fetch->pages[ROW_PLACE_PAGE(place)].block, ROW_PLACE_LINE(place),
		 RelationGetRelationName(fetch->rel));
}
