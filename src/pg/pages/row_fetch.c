/*
 * row_fetch.c
 *		Rows of a heap by their places (see row_fetch.h).
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "port/atomics.h"

#include "pg/pages/row_fetch.h"
#include "pg/shared_memory.h"

StaticAssertDecl(MaxHeapTuplesPerPage < (1 << ROW_PLACE_LINE_BITS),
				 "line numbers do not fit into places");

/* Pages there is room for at first. */
#define FIRST_ROOM 64

/* Pins taken out of the budget at once. */
#define PINS_AT_ONCE 256

/* Milliseconds between two looks for somebody who waits for a page. */
#define LOOK_EVERY 1000

/* One in this many of the buffers may stay pinned. */
#define BUDGET_PART 4

/*
 * --- the budget of pins
 *
 * The count of pins taken of shared buffers is in shared memory.  It is nobody's in particular: a
 * session gives back what it has taken when it frees the memory of its rows, which it also does
 * when it fails.  Where a function in SQL fails, PostgreSQL keeps the memory of its query as long
 * as the call's expression, which may be as long as the session: so what is still taken is given
 * back at the end of the transaction, after which no query returns rows in place.  After a crash
 * shared memory starts anew.
 */

/* Pins taken by all sessions of shared buffers, and by this one of local buffers. */
static pg_atomic_uint32 *shared_pins;
static pg_atomic_uint32 local_pins;

/* What this session has taken in its transaction of shared buffers, and of local ones. */
static uint32 session_pins[2];

/* How many transactions have ended since this session first took pins. */
static uint32 transactions;

static void
init_pins(void *data)
{
	pg_atomic_init_u32((pg_atomic_uint32 *) data, 0);
}

/*
 * Returns the count of pins taken of shared or of local buffers; NULL if no pin may be taken, as
 * during recovery.
 */
static pg_atomic_uint32 *
pins_taken(bool local)
{
	if (local)
		return &local_pins;
	if (RecoveryInProgress())
		return NULL;
	if (shared_pins == NULL)
		shared_pins = (pg_atomic_uint32 *) shared_memory_attach("hpsort pins",
																sizeof(pg_atomic_uint32),
																init_pins);
	return shared_pins;
}

/* Returns how many pins are left when taken pins have been taken. */
static inline uint32
pins_left(bool local, uint32 taken)
{
	uint32		budget = (uint32) (local ? NLocBuffer : NBuffers) / BUDGET_PART;

	return budget - Min(budget, taken);
}

uint32
row_fetch_pins_left(bool local)
{
	pg_atomic_uint32 *taken = pins_taken(local);

	return taken ? pins_left(local, pg_atomic_read_u32(taken)) : 0;
}

/* An XactCallback: gives back what fetches of the transaction have not given back themselves. */
static void
end_transaction(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_PARALLEL_COMMIT &&
		event != XACT_EVENT_ABORT && event != XACT_EVENT_PARALLEL_ABORT &&
		event != XACT_EVENT_PREPARE)
		return;
	if (session_pins[false] > 0)
		pg_atomic_fetch_sub_u32(shared_pins, session_pins[false]);
	pg_atomic_write_u32(&local_pins, 0);
	memset(session_pins, 0, sizeof(session_pins));
	transactions++;
}

void
row_fetch_reserve(RowFetch *fetch, uint32 pages)
{
	static bool registered = false;
	pg_atomic_uint32 *pins = pins_taken(fetch->local);
	uint32		taken;

	if (pins == NULL)
		return;
	/* Before pins are taken: this may fail for lack of memory, and they would stay taken. */
	if (!registered)
		RegisterXactCallback(end_transaction, NULL);
	registered = true;
	/* Others take pins meanwhile: as many as are left when the exchange succeeds. */
	taken = pg_atomic_read_u32(pins);
	do
		pages = Min(pages, pins_left(fetch->local, taken));
	while (pages > 0 && !pg_atomic_compare_exchange_u32(pins, &taken, taken + pages));
	if (pages == 0)
		return;
	session_pins[fetch->local] += pages;
	fetch->npins += pages;
	fetch->transaction = transactions;
}

/*
 * Gives pins back to the budget, unless the end of their transaction has done so.  A
 * MemoryContextCallback: the pins themselves are the resource owner's, or gone.
 */
static void
give_back_pins(void *arg)
{
	RowFetch   *fetch = (RowFetch *) arg;

	if (fetch->npins > 0 && fetch->transaction == transactions)
	{
		pg_atomic_fetch_sub_u32(pins_taken(fetch->local), fetch->npins);
		session_pins[fetch->local] -= fetch->npins;
	}
	fetch->npins = 0;
}

/* --- pages and rows */

RowFetch *
row_fetch_create(Relation rel, MemoryContext memory)
{
	RowFetch   *fetch = (RowFetch *) MemoryContextAllocZero(memory, sizeof(RowFetch));
	MemoryContextCallback *callback = MemoryContextAlloc(memory, sizeof(MemoryContextCallback));

	fetch->rel = rel;
	fetch->local = RelationUsesLocalBuffers(rel);
	fetch->tuple.t_tableOid = RelationGetRelid(rel);
	fetch->room = FIRST_ROOM;
	fetch->pages = MemoryContextAlloc(memory, FIRST_ROOM * sizeof(RowFetchPage));
	callback->func = give_back_pins;
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

/* Unpins a page that is pinned here; where it is stays known. */
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

/*
 * Whether one more page may stay pinned.  Takes pins out of the budget, some at once, when the pins
 * taken before are used up; once the budget had none it is not asked again before row_fetch_unpin.
 */
static bool
may_stay_pinned(RowFetch *fetch)
{
	if (fetch->by_row)
		return false;
	if (fetch->npinned == fetch->npins && !fetch->exhausted)
	{
		row_fetch_reserve(fetch, Min(PINS_AT_ONCE, fetch->npages - fetch->npinned));
		fetch->exhausted = fetch->npinned == fetch->npins;
	}
	return fetch->npinned < fetch->npins;
}

Page
row_fetch_pin(RowFetch *fetch, uint32 number)
{
	RowFetchPage *page = &fetch->pages[number];
	Buffer		buffer = page->where >> 1;

	/* The usual case: the page is still in the buffer where it was last. */
	unpin_single(fetch);
	if (fetch->local || !BufferIsValid(buffer) ||
		!ReadRecentBuffer(fetch->rel->rd_locator, MAIN_FORKNUM, page->block, buffer))
		buffer = ReadBuffer(fetch->rel, page->block);

	/* Someone may have begun to move its rows before it was pinned (row_fetch.h). */
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
	unpin_single(fetch);
	for (uint32 number = 0; number < fetch->npages && fetch->npinned > 0; number++)
		if (row_fetch_is_pinned(fetch->pages[number]))
		{
			unpin(fetch, number);
			fetch->npinned--;
		}
	give_back_pins(fetch);
	fetch->exhausted = false;
}

bool
row_fetch_is_waited_for(RowFetch *fetch)
{
	TimestampTz now = GetCurrentTimestamp();
	uint32		number;
	uint32		seen = 0;

	if (fetch->local || !TimestampDifferenceExceeds(fetch->looked, now, LOOK_EVERY))
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
