/*
 * row_fetch.h
 *		Rows of a heap by their places, in any order: rows that a ColumnReader has
 *		read, fetched again under the same snapshot.
 *
 * A place is 32 bits: the number of the row's page, in the order in which pages are
 * added here, above its line number.  So places grow as rows are read, and sorting
 * keys with places is stable.
 *
 * Rows are not checked for visibility again.  A row that an MVCC snapshot has seen is
 * removed by nobody as long as the snapshot is registered, and a row that is not removed
 * keeps its line pointer: pruning moves the row within the page, and redirects the line
 * pointers of a chain's dead rows only.  (PostgreSQL before 17 may remove rows that an old
 * snapshot sees: the caller refuses old snapshots.)
 *
 * A page is looked at under a pin alone, as heapam.c looks at the rows of a page whose
 * visibility it has determined: rows are moved under a cleanup lock only, which nobody
 * gets while there is another pin.  Someone may have had that lock already when the pin
 * was taken; so each pin is followed by taking the share lock once, and giving it
 * back.  Concurrent changes of a row's header (its deleter, hint bits) do no harm: what
 * the snapshot has seen was decided before.
 *
 * Pages stay pinned as far as a budget allows that all sessions share.  Core lets a backend pin
 * its proportional share of the buffers, NBuffers / MaxBackends, as if all of them did so at
 * once. Rows in place are read in any order, so that a share is of use only if it holds most
 * pages of a table.  So sessions share a quarter of the buffers, first come, first served: what a
 * sequential scan may fill of them before core gives it a ring of its own.  The other three
 * quarters are left to everybody else.
 *
 * Beyond the budget the page of the row fetched last is pinned, and no other, which takes several
 * times as long.  Pins belong to the current resource owner.  Who cleans up a page (VACUUM with
 * FREEZE) waits for its pins: row_fetch_is_waited_for finds out.
 */
#ifndef HPSORT_PG_PAGES_ROW_FETCH_H
#define HPSORT_PG_PAGES_ROW_FETCH_H

#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "pg/compat.h"
#include "pg/pages/heap_format.h"
#include "pg/values/values.h"

/* Bits of a place that are the line number, and how many pages the others can count. */
#define ROW_PLACE_LINE_BITS (BLCKSZ <= 8192 ? 9 : BLCKSZ <= 16384 ? 10 : 11)
#define ROW_PLACE_PAGES (UINT32_C(1) << (32 - ROW_PLACE_LINE_BITS))
#define ROW_PLACE(page, line) ((uint32) (page) << ROW_PLACE_LINE_BITS | (line))
#define ROW_PLACE_PAGE(place) ((place) >> ROW_PLACE_LINE_BITS)
#define ROW_PLACE_LINE(place) \
	((OffsetNumber) ((place) & ((UINT32_C(1) << ROW_PLACE_LINE_BITS) - 1)))

/*
 * A page, in as few bytes as possible: each row that is fetched needs that of its page, and the
 * fewer cache lines these take, the more rows find theirs in the cache.
 */
typedef struct RowFetchPage
{
	BlockNumber block;
	int32		where;			/* twice the buffer that it is in, or was last, and 1 more while
								 * it is pinned */
} RowFetchPage;

typedef struct RowFetch
{
	Relation	rel;
	HeapTupleData tuple;		/* the row fetched last */
	uint32		npages;			/* that have been added */
	uint32		room;			/* for pages */
	RowFetchPage *pages;		/* by number */
	uint32		npinned;		/* pages that stay pinned */
	bool		local;			/* buffers are this session's */
	uint32		npins;			/* how many may: taken out of the budget */
	uint32		transaction;	/* in which these were taken out of the budget */
	bool		exhausted;		/* the budget has no more */
	bool		by_row;			/* no page stays pinned from now on */
	TimestampTz looked;			/* when row_fetch_is_waited_for last looked at the pages */
	bool		has_single;		/* page single is pinned for the row fetched last */
	uint32		single;
} RowFetch;

/*
 * Returns how many pins are left in the budget of shared or of local buffers at the moment.  There
 * are none for shared buffers during recovery, which a pin may hold up, nor where the server has no
 * shared memory to spare for the budget.
 */
extern uint32 row_fetch_pins_left(bool local);

/* Starts without pages, in a memory context whose end gives the budget its pins back. */
extern RowFetch *row_fetch_create(Relation rel, MemoryContext memory);

/*
 * Takes the pins of a number of pages out of the budget, or what is left of them, so that nobody
 * else gets them before the pages are pinned.  row_fetch_unpin gives them back; pages that are
 * pinned after it take theirs one by one.
 */
extern void row_fetch_reserve(RowFetch *fetch, uint32 pages);

/*
 * Adds a page that has just been read, or not at all, and returns its number; an error if there
 * are ROW_PLACE_PAGES of them already.
 */
extern uint32 row_fetch_add_page(RowFetch *fetch, PageBuffer page);

/* No more pages will be added: frees the memory for them. */
extern void row_fetch_trim(RowFetch *fetch);

/* Bytes of memory that the pages take, and that one page takes. */
extern Size row_fetch_memory(const RowFetch *fetch);
#define ROW_FETCH_PAGE_BYTES (sizeof(RowFetchPage))

/*
 * Unpins all pages: rows fetched so far are no longer there.  Must be called in the end,
 * unless by an error.  Rows can be fetched again afterwards.
 */
extern void row_fetch_unpin(RowFetch *fetch);

/*
 * Returns whether somebody waits for a page that is pinned here.  It looks at all pages, but at
 * none within a second after it has done so.
 */
extern bool row_fetch_is_waited_for(RowFetch *fetch);

/*
 * Pins a page added, which stays pinned, and returns it; NULL if it has not been read, or may not
 * stay so.
 */
extern Page row_fetch_keep(RowFetch *fetch, uint32 number);

/* Pins a page that is not; for row_fetch. */
extern Page row_fetch_pin(RowFetch *fetch, uint32 number);

/* Raises the error of a row that is not where it has been: row_fetch alone calls this. */
pg_noreturn extern void row_fetch_complain(RowFetch *fetch, uint32 place);

/* Whether a page is pinned: it stays so, or has the row fetched last. */
static inline bool
row_fetch_is_pinned(RowFetchPage page)
{
	return (page.where & 1) != 0;
}

/* Where a page is that has been read, or was last. */
static inline Page
row_fetch_page(RowFetchPage page)
{
	return BufferGetPage(page.where >> 1);
}

/*
 * Sets the TID of a place.  It is not copied from where it has just been set: the processor would
 * wait for these stores, of 16 bits each, before it could load the 32 that a copy takes: a third
 * of what returning a row takes.
 */
static inline void
row_fetch_set_tid(const RowFetch *fetch, uint32 place, ItemPointer tid)
{
	ItemPointerSet(tid, fetch->pages[ROW_PLACE_PAGE(place)].block, ROW_PLACE_LINE(place));
}

/*
 * The row at a place.  It may be changed by nobody but others' transactions, and stays
 * there until the next call, or row_fetch_unpin.
 */
static inline HeapTuple
row_fetch(RowFetch *fetch, uint32 place)
{
	uint32		number = ROW_PLACE_PAGE(place);
	RowFetchPage at = fetch->pages[number];
	Page		page = row_fetch_is_pinned(at) ? row_fetch_page(at) : row_fetch_pin(fetch, number);

	if (unlikely(!heap_format_line_tuple(&fetch->tuple, page, ROW_PLACE_LINE(place))))
		row_fetch_complain(fetch, place);
	row_fetch_set_tid(fetch, place, &fetch->tuple.t_self);
	return &fetch->tuple;
}

/* Whether the row that has just been fetched stays where it is until row_fetch_unpin. */
static inline bool
row_fetch_stays(const RowFetch *fetch, uint32 place)
{
	return !fetch->has_single || fetch->single != ROW_PLACE_PAGE(place);
}

/*
 * The functions below have rows in the processor's cache before they are fetched: line pointers
 * first.  ROW_FETCH_AT_ONCE of them are prefetched at once, in loops that do nothing else: a
 * prefetch holds the processor up while the page's address is translated, and only loops as short
 * as these have several of these translations under way at a time.  1e7 rows of 117 bytes by a
 * uuid, three of their columns: 3.8 s with a prefetch in front of each row, 2.4 s with these (two
 * cores of a virtual machine).
 *
 * Unless they are inlined always, gcc takes functions that only prefetch for ones without an
 * effect, and leaves the calls out.
 */
#define ROW_FETCH_AT_ONCE 32

/*
 * Prefetches the line pointer of a row, whose address follows from the number of the buffer: the
 * page is not read, so that it need not be pinned, nor be in that buffer any more.  Where it is
 * not pinned, what pinning it will read is prefetched as well.  Of a page that has never been read
 * nothing is prefetched.
 */
static pg_attribute_always_inline void
row_fetch_prefetch_line(const RowFetch *fetch, uint32 place)
{
	RowFetchPage at = fetch->pages[ROW_PLACE_PAGE(place)];

	if (likely(at.where != 0))
		heap_format_prefetch_line(row_fetch_page(at), ROW_PLACE_LINE(place));
	if (at.where > 0 && !row_fetch_is_pinned(at))
		__builtin_prefetch(GetBufferDescriptor((at.where >> 1) - 1));
}

/*
 * Prefetches a row.  Its line pointer is read, and so its page is pinned, if it may stay so; if
 * not, nothing is prefetched.  Rows fetched before may be unpinned if their pages do not stay
 * pinned.
 */
static pg_attribute_always_inline void
row_fetch_prefetch_row(RowFetch *fetch, uint32 place)
{
	uint32		number = ROW_PLACE_PAGE(place);
	RowFetchPage at = fetch->pages[number];
	Page		page = likely(row_fetch_is_pinned(at)) ? row_fetch_page(at) :
	row_fetch_keep(fetch, number);

	if (likely(page != NULL))
	{
		const char *row = heap_format_row_address(page, ROW_PLACE_LINE(place));

		__builtin_prefetch(row);
		__builtin_prefetch(row + 64);
	}
}

#endif							/* HPSORT_PG_PAGES_ROW_FETCH_H */
