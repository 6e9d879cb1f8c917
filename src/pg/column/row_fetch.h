/*
 * row_fetch.h
 *		Rows of a heap by their places, in any order: those that a ColumnReader has
 *		read, fetched again under the same snapshot.
 *
 * A place is 32 bits: the number of the row's page, in the order in which pages are
 * added here, above its line number.  So places grow as rows are read, and sorting
 * keys with places is stable.
 *
 * Rows are not checked for visibility again.  A row that an MVCC snapshot has seen is
 * removed by nobody as long as the snapshot is registered, and a row that is not removed
 * keeps its line pointer: pruning moves the row within the page, and points the
 * line pointers of a chain's dead rows elsewhere, but not this one.  (Old snapshots,
 * which PostgreSQL before 17 may take no heed of, are the caller's to refuse.)
 *
 * A page is looked at under a pin alone, as heapam.c looks at the rows of a page whose
 * visibility it has determined: rows are moved under a cleanup lock only, which nobody
 * gets while there is another pin.  Someone may have had that lock already when the pin
 * was taken; so each pin is followed by taking the share lock once, and giving it
 * back.  Concurrent changes of a row's header (its deleter, hint bits) do no harm: what
 * the snapshot has seen was decided before.
 *
 * Pages stay pinned as far as pin_budget.h allows.  Beyond that the page of the row
 * fetched last is pinned, and no other, which takes several times as long.  Pins belong to
 * the current resource owner.
 */
#ifndef HPSORT_PG_COLUMN_ROW_FETCH_H
#define HPSORT_PG_COLUMN_ROW_FETCH_H

#include "postgres.h"

#include "access/htup_details.h"
#include "storage/buf.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

#include "pg/column/batch.h"
#include "pg/compat.h"

/* Bits of a place that are the line number, and how many pages the others can count. */
#define ROW_PLACE_LINE_BITS (BLCKSZ <= 8192 ? 9 : BLCKSZ <= 16384 ? 10 : 11)
#define ROW_PLACE_PAGES (UINT32_C(1) << (32 - ROW_PLACE_LINE_BITS))
#define ROW_PLACE(page, line) ((uint32) (page) << ROW_PLACE_LINE_BITS | (line))
#define ROW_PLACE_PAGE(place) ((place) >> ROW_PLACE_LINE_BITS)
#define ROW_PLACE_LINE(place) \
	((OffsetNumber) ((place) & ((UINT32_C(1) << ROW_PLACE_LINE_BITS) - 1)))

typedef struct RowFetch
{
	Relation	rel;
	bool		local;			/* in local buffers */
	HeapTupleData tuple;		/* the row fetched last */
	uint32		npages;
	uint32		room;
	PageBuffer *pages;			/* by number, and where each is, or was last */
	Page	   *pinned;			/* where the pages are that are pinned; NULL of others */
	uint32		npinned;		/* of those that stay pinned */
	uint32		allowed;		/* pins taken out of the budget */
	bool		exhausted;		/* which has no more */
	bool		has_single;		/* page single is pinned for the row fetched last */
	uint32		single;
} RowFetch;

/* Starts without pages, in a memory context whose end gives the budget its pins back. */
extern RowFetch *row_fetch_create(Relation rel, MemoryContext memory);

/*
 * Takes the pins of so many pages out of the budget, or as many as are left, so that nobody else gets
 * them before the pages are pinned.  row_fetch_unpin gives them back; pages that are pinned after it take theirs one by one.
 */
extern void row_fetch_reserve(RowFetch *fetch, uint32 pages);

/* Adds a page that has just been read, or not at all, and returns its number; an error if there are ROW_PLACE_PAGES of them already. */
extern uint32 row_fetch_add_page(RowFetch *fetch, PageBuffer page);

/* No more pages will be added: frees the memory for them. */
extern void row_fetch_trim(RowFetch *fetch);

/* Bytes of memory that the pages take, and that one page takes. */
extern Size row_fetch_memory(const RowFetch *fetch);
#define ROW_FETCH_PAGE_BYTES (sizeof(PageBuffer) + sizeof(Page))

/*
 * Unpins all pages: rows fetched so far are no longer there.  Must be called in the end,
 * unless by an error.
 */
extern void row_fetch_unpin(RowFetch *fetch);

/* Pins a page that is not; for row_fetch. */
extern Page row_fetch_pin(RowFetch *fetch, uint32 number);

/* The error of a row that is not where it has been. */
pg_noreturn extern void row_fetch_complain(RowFetch *fetch, uint32 place);

/*
 * The row at a place.  It may be changed by nobody but others' transactions, and stays
 * there until the next call, or row_fetch_unpin.
 */
static inline HeapTuple
row_fetch(RowFetch *fetch, uint32 place)
{
	uint32		number = ROW_PLACE_PAGE(place);
	OffsetNumber line = ROW_PLACE_LINE(place);
	Page		page = fetch->pinned[number];
	ItemId		item;

	if (unlikely(page == NULL))
		page = row_fetch_pin(fetch, number);
	item = PageGetItemId(page, line);
	if (unlikely(!ItemIdIsNormal(item)))
		row_fetch_complain(fetch, place);
	fetch->tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
	fetch->tuple.t_len = ItemIdGetLength(item);
	ItemPointerSet(&fetch->tuple.t_self, fetch->pages[number].block, line);
	return &fetch->tuple;
}

/* Whether the row that has just been fetched stays where it is until row_fetch_unpin. */
static inline bool
row_fetch_stays(const RowFetch *fetch, uint32 place)
{
	return !fetch->has_single || fetch->single != ROW_PLACE_PAGE(place);
}

/*
 * The rest has rows in the processor's cache before they are fetched: line pointers first.  So many
 * are prefetched at once, in loops that do nothing else: a prefetch holds the processor up while
 * the page's address is translated, and only loops as short as these have several of these
 * translations under way at a time.  1e7 rows of 117 bytes by a uuid, three of their columns: 3.8 s with a
 * prefetch in front of each row, 2.4 s with these (two cores of a virtual machine).
 *
 * Unless they are inlined always, gcc takes functions that only prefetch for ones without an
 * effect, and leaves the calls out.
 */
#define ROW_FETCH_AT_ONCE 32

/*
 * Where a page is, or was last, to be prefetched from: a page that is not pinned may
 * be another one now, which does not matter.  NULL if it has not been read.
 */
static inline Page
row_fetch_recent_page(const RowFetch *fetch, uint32 number)
{
	if (!BufferIsValid(fetch->pages[number].buffer))
		return NULL;
	return BufferGetPage(fetch->pages[number].buffer);
}

static inline Page
row_fetch_probable_page(const RowFetch *fetch, uint32 place)
{
	Page		page = fetch->pinned[ROW_PLACE_PAGE(place)];

	return likely(page != NULL) ? page : row_fetch_recent_page(fetch, ROW_PLACE_PAGE(place));
}

static pg_attribute_always_inline void
row_fetch_prefetch_line(const RowFetch *fetch, uint32 place)
{
	Page		page = row_fetch_probable_page(fetch, place);

	if (page)
		__builtin_prefetch(PageGetItemId(page, ROW_PLACE_LINE(place)));
}

static pg_attribute_always_inline void
row_fetch_prefetch_row(const RowFetch *fetch, uint32 place)
{
	Page		page = row_fetch_probable_page(fetch, place);

	if (page)
	{
		const char *row = (const char *) page + ItemIdGetOffset(PageGetItemId(page, ROW_PLACE_LINE(place)));

		__builtin_prefetch(row);
		__builtin_prefetch(row + 64);
		__builtin_prefetch(&fetch->pages[ROW_PLACE_PAGE(place)]);
	}
}

#endif							/* HPSORT_PG_COLUMN_ROW_FETCH_H */
