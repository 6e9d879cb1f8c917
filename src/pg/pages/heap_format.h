/*
 * heap_format.h
 *		All that hpsort knows of how heapam keeps rows: pages, rows' headers, the visibility
 *		map, and the state of a scan that several processes share.
 *
 * Reading columns by pages, and fetching rows by their places, is heapam's work done by other
 * code, so it rests on what heapam does and has no function for.  That is here and nowhere else
 * in src; what differs between versions is in compat.h.  Each assumption has a number, and
 * test/t/031_heap_format.pl a check of that number, which runs on every version:
 *
 * 1	A normal line pointer has the offset and the length of a row, which begins with a
 *		HeapTupleHeader: with these, its TID and its table it is the tuple that heap_fetch makes.
 * 2	A page has at most MaxHeapTuplesPerPage line pointers, numbered from 1 on without gaps.
 * 3	A row that is marked as inserted by a transaction that had ended before the snapshot, and
 *		as deleted by none, is visible.
 * 4	All rows of a page with PD_ALL_VISIBLE are visible, but for snapshots taken during
 *		recovery.
 * 5	The visibility map has two bits for each block, in the order of the blocks, from the
 *		lowest bit of the first byte behind the page's header on.  The lower one says that the
 *		block is all-visible.
 * 6	A bit is set under the lock of the map's page, whose LSN then grows; and a heap page's LSN
 *		grows with each change of its rows.
 * 7	The rows of a page keep their line pointers, and stay where they are, while it is pinned.
 *		A process that may move them when the pin is taken has the page's lock.
 * 8	A buffer is marked while somebody waits for its pins.
 * 9	Processes of a parallel scan take blocks by adding to phs_nallocated, from phs_startblock
 *		on.
 * 10	A slot that has a heap tuple knows nothing of its row but what it counts in tts_nvalid
 *		and off.
 * 11	While a buffer's header is locked, it keeps its block, and nobody pins it; and a page in it
 *		is changed by whoever has it pinned, and by nobody else.
 */
#ifndef HPSORT_PG_PAGES_HEAP_FORMAT_H
#define HPSORT_PG_PAGES_HEAP_FORMAT_H

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/tupmacs.h"
#include "executor/tuptable.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

#include "pg/compat.h"

/* Whether core's heap access method has the table, which nearly all functions here need. */
static inline bool
heap_format_is_heap(Relation rel)
{
	return rel->rd_tableam == GetHeapamTableAmRoutine();
}

/* --- pages */

/* The last line number of a page that is locked or whose lines are known not to change. */
static inline int
heap_format_lines(Page page)
{
	return PageGetMaxOffsetNumber(page);
}

/* Sets *row to the row at a line of a page; false if there is none. */
static pg_attribute_always_inline bool
heap_format_row(Page page, int line, HeapTupleHeader *row)
{
	ItemId		item = PageGetItemId(page, line);

	if (!ItemIdIsNormal(item))
		return false;
	*row = (HeapTupleHeader) PageGetItem(page, item);
	return true;
}

/*
 * Sets where a tuple's row is and how long it is, by the line number.  Returns false if there is
 * no row.
 */
static inline bool
heap_format_line_tuple(HeapTuple tuple, Page page, int line)
{
	ItemId		item = PageGetItemId(page, line);

	if (unlikely(!ItemIdIsNormal(item)))
		return false;
	tuple->t_data = (HeapTupleHeader) PageGetItem(page, item);
	tuple->t_len = ItemIdGetLength(item);
	return true;
}

/* Makes a tuple of the row at a line of a page, which there must be, for functions of core. */
static inline void
heap_format_tuple(HeapTuple tuple, Relation rel, Page page, BlockNumber block, OffsetNumber line)
{
	(void) heap_format_line_tuple(tuple, page, line);
	tuple->t_tableOid = RelationGetRelid(rel);
	ItemPointerSet(&tuple->t_self, block, line);
}

/* Prefetches a line pointer, which is not read: the page may be another one meanwhile. */
static pg_attribute_always_inline void
heap_format_prefetch_line(Page page, int line)
{
	__builtin_prefetch(PageGetItemId(page, line));
}

/*
 * Returns where the row at a line of a page begins, for a prefetch.  The page is pinned but not
 * locked: the line pointer may be changing, so nothing may be read there.
 */
static pg_attribute_always_inline const char *
heap_format_row_address(Page page, int line)
{
	return (const char *) page + ItemIdGetOffset(PageGetItemId(page, line));
}

/* Prefetches the first cache line of a row of a page that is pinned but not locked. */
static pg_attribute_always_inline void
heap_format_prefetch_row(Page page, int line)
{
	__builtin_prefetch(heap_format_row_address(page, line));
}

/* Prefetches the other cache lines of a row, up to its byte reach. */
static inline void
heap_format_prefetch_reach(Page page, int line, int reach)
{
	const char *at = heap_format_row_address(page, line);

	for (int i = 64; i <= reach; i += 64)
		__builtin_prefetch(at + i);
}

/* Prefetches the header and 180 line pointers of a page. */
static inline void
heap_format_prefetch_lines(Page page)
{
	for (Size at = 0; at < SizeOfPageHeaderData + 180 * sizeof(ItemIdData); at += 64)
		__builtin_prefetch((const char *) page + at);
}

/*
 * Waits for whoever is moving the rows of a page that has just been pinned.  From then on the rows
 * stay where they are, as heapam relies on for the rows of a page whose visibility it has
 * determined.
 */
extern void heap_format_settle(Buffer buffer);

/* Whether somebody waits for the pins of a shared buffer. */
extern bool heap_format_is_waited_for(Buffer buffer);

/* --- rows */

/* Where a row's values begin, for columns without NULLs before them. */
static inline const char *
heap_format_data(HeapTupleHeader row)
{
	return (const char *) row + row->t_hoff;
}

/* Whether a row has a bitmap of NULLs: without one no column that it has is NULL. */
static inline bool
heap_format_has_nulls(HeapTupleHeader row)
{
	return (row->t_infomask & HEAP_HASNULL) != 0;
}

/* Whether a column that the row has is NULL, in a row that has NULLs. */
static inline bool
heap_format_is_null(HeapTupleHeader row, AttrNumber attnum)
{
	return att_isnull(attnum - 1, row->t_bits);
}

/* Whether one of the first attnum columns is NULL in a row that has NULLs and these columns. */
static inline bool
heap_format_has_null_among(HeapTupleHeader row, AttrNumber attnum)
{
	const uint8 *bits = row->t_bits;
	int			i;

	for (i = 0; i < attnum / 8; i++)
		if (bits[i] != 0xFF)
			return true;
	return attnum % 8 != 0 && (~bits[i] & ((1 << attnum % 8) - 1)) != 0;
}

/* Whether one of the columns from .. to - 1 is NULL in a row that has NULLs and these columns. */
static inline bool
heap_format_has_null_between(HeapTupleHeader row, AttrNumber from, AttrNumber to)
{
	for (int a = from; a < to; a++)
	{
		/* Eight at a time. */
		if (a % 8 == 1 && a + 8 <= to && row->t_bits[a / 8] == 0xFF)
			a += 7;
		else if (heap_format_is_null(row, a))
			return true;
	}
	return false;
}

/* Whether a row has the first attnum columns, and none of them is NULL. */
static pg_attribute_always_inline bool
heap_format_has_all(HeapTupleHeader row, AttrNumber attnum)
{
	return HeapTupleHeaderGetNatts(row) >= attnum &&
		(!heap_format_has_nulls(row) || !heap_format_has_null_among(row, attnum));
}

/* --- visibility */

/* Whether PD_ALL_VISIBLE says anything to a snapshot: see heap_prepare_pagescan. */
static inline bool
heap_format_trusts_pages(Snapshot snapshot)
{
	return !snapshot->takenDuringRecovery;
}

/*
 * Whether a row is visible by its hint bits alone: inserted by a transaction
 * that was over before the snapshot, whose oldest running one is xmin, and
 * never deleted.  Most rows of a table that has not been vacuumed yet are.
 * False does not mean that the row is invisible.
 */
static pg_attribute_always_inline bool
heap_format_surely_visible(HeapTupleHeader row, TransactionId xmin)
{
	uint16		bits = row->t_infomask;

	if ((bits & (HEAP_XMIN_COMMITTED | HEAP_XMAX_INVALID)) !=
		(HEAP_XMIN_COMMITTED | HEAP_XMAX_INVALID))
		return false;
	if ((bits & HEAP_XMIN_FROZEN) == HEAP_XMIN_FROZEN)
		return true;
	return TransactionIdIsNormal(HeapTupleHeaderGetRawXmin(row)) &&
		(int32) (HeapTupleHeaderGetRawXmin(row) - xmin) < 0;
}

/*
 * Whether the row at a line of a page that is locked is visible, by core, which also sets hint bits
 * and, with serializable, notes conflicts.  visible: it is known to be.
 */
extern bool heap_format_is_visible(Relation rel, Snapshot snapshot, Buffer buffer,
								   OffsetNumber line, bool visible, bool serializable);

/* Returns the LSN of a page, pinned by the caller, if it is all-visible; else 0. */
extern uint64 heap_format_visible_lsn(Buffer buffer);

/*
 * Sets *lsn to the same of a block of a permanent table, without a pin.  Returns false if the block
 * is not in that shared buffer, is pinned, or is among the next to lose their buffers.  Whoever has
 * memory checked knows the page by core's marks only, hence the marks that it sets itself.
 */
extern bool heap_format_unpinned_lsn(Relation rel, BlockNumber block, Buffer buffer, uint64 *lsn);

/*
 * Pins a block of a permanent table without a search for its buffer, by ReadRecentBuffer, and
 * counts it for the strategy as a hit.  Returns false if it is not in that shared buffer, or its
 * usage count is 0: before 19 ReadRecentBuffer does not raise that, and the buffer is about to be
 * used for another block.
 */
extern bool heap_format_pin(Relation rel, BlockNumber block, Buffer buffer,
							BufferAccessStrategy strategy);

/*
 * Has the kernel map the header of the page in a shared buffer in this process, where nothing is
 * prefetched before that.  *last belongs to the function, and is 0 at the first of some calls.
 */
extern void heap_format_map(Buffer buffer, Size *last);

/* Prefetches what heap_format_unpinned_lsn reads. */
extern void heap_format_prefetch_header(Buffer buffer);

/* Counts n looks without a pin in all statistics where ReadBuffer would have counted a hit. */
extern void heap_format_count_hits(Relation rel, BufferAccessStrategy strategy, int n);

/* Bytes of a page of the visibility map that have bits, and the blocks that these are of. */
#define HEAP_FORMAT_MAP_BYTES (BLCKSZ - MAXALIGN(SizeOfPageHeaderData))
#define HEAP_FORMAT_MAP_BLOCKS ((BlockNumber) (HEAP_FORMAT_MAP_BYTES * 4))

/* The blocks whose bits are in eight bytes of the map. */
#define HEAP_FORMAT_WORD_BLOCKS 32

/*
 * Copies the bits of the map's page that has the block to words, HEAP_FORMAT_MAP_BYTES, under the
 * page's lock.  Returns the page's LSN; or 0, and words are 0, if there is no page.
 */
extern uint64 heap_format_read_map(Relation rel, BlockNumber block, uint64 *words);

/* Which of the 32 blocks of a word of the map are all-visible: of the first one the lowest bit. */
extern uint32 heap_format_visible_blocks(uint64 word);

/* --- scans */

/* Returns how many blocks a scan reads: the table's number of blocks when the scan began. */
static inline BlockNumber
heap_format_scan_blocks(TableScanDesc scan)
{
	return ((HeapScanDesc) scan)->rs_nblocks;
}

/*
 * Takes blocks of a table of nblocks blocks out of a parallel scan for this process: from *first on
 * up to end(*first), or up to the table's end if that is nearer.  Returns how many; 0 if all have
 * been taken.  Sets *last to whether these are the scan's last blocks.
 */
extern int	heap_format_take_blocks(ParallelTableScanDesc scan, BlockNumber nblocks,
									BlockNumber (*end) (BlockNumber block), BlockNumber *first,
									bool *last);

/* --- slots */

/*
 * Whether a slot of the kind TTSOpsHeapTuple has that very tuple, which has become another row's:
 * if so, forgets what was read of the row before.  The caller sets tts_tid.
 */
static inline bool
heap_format_store_again(TupleTableSlot *slot, HeapTuple tuple)
{
	HeapTupleTableSlot *heap = (HeapTupleTableSlot *) slot;

	if (unlikely(heap->tuple != tuple || TTS_EMPTY(slot) || TTS_SHOULDFREE(slot)))
		return false;
	slot->tts_nvalid = 0;
	heap->off = 0;
	return true;
}

/* How many bytes of the row in a slot have been taken apart, if the slot has a heap tuple. */
static inline int
heap_format_slot_reach(const TupleTableSlot *slot)
{
	return ((const HeapTupleTableSlot *) slot)->off;
}

#endif							/* HPSORT_PG_PAGES_HEAP_FORMAT_H */
