/*
 * heap_format.c
 *		What hpsort knows of heapam (see heap_format.h).
 */
#include "postgres.h"

#include "access/relscan.h"
#include "access/visibilitymap.h"
#include "pgstat.h"
#include "port/pg_bswap.h"
#include "storage/spin.h"
#include "utils/memdebug.h"

#include "pg/pages/heap_format.h"

StaticAssertDecl(sizeof(ItemIdData) == sizeof(uint32) && BLCKSZ <= 1 << 15,
				 "offsets and lengths of rows have 15 bits");
StaticAssertDecl(offsetof(HeapTupleHeaderData, t_bits) == SizeofHeapTupleHeader,
				 "a row's NULLs are marked at the end of its header");
StaticAssertDecl(BITS_PER_HEAPBLOCK == 2 && VISIBILITYMAP_ALL_VISIBLE == 0x01,
				 "the visibility map has two bits for a block, the lower for all-visible");
StaticAssertDecl(HEAP_FORMAT_MAP_BYTES % sizeof(uint64) == 0, "copies of the map are whole words");

/* What Linux maps when a byte of shared memory is read that it has not mapped in a process. */
#define MAPPED_AROUND (64 * 1024)

/* --- pages */

void
heap_format_settle(Buffer buffer)
{
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
}

bool
heap_format_is_waited_for(Buffer buffer)
{
	return (compat_buffer_state(GetBufferDescriptor(buffer - 1)) & BM_PIN_COUNT_WAITER) != 0;
}

/* --- visibility */

bool
heap_format_is_visible(Relation rel, Snapshot snapshot, Buffer buffer, OffsetNumber line,
					   bool visible, bool serializable)
{
	HeapTupleData tuple;

	heap_format_tuple(&tuple, rel, BufferGetPage(buffer), BufferGetBlockNumber(buffer), line);
	if (!visible)
		visible = HeapTupleSatisfiesVisibility(&tuple, snapshot, buffer);
	if (serializable)
		HeapCheckForSerializableConflictOut(visible, rel, &tuple, buffer, snapshot);
	return visible;
}

void
heap_format_map(Buffer buffer, Size *last)
{
	Size		around = (Size) BufferGetPage(buffer) / MAPPED_AROUND;

	/* Under valgrind pages without a pin of this process are forbidden memory. */
#ifndef USE_VALGRIND
	if (around != *last)
		(void) *(const volatile char *) BufferGetPage(buffer);
#endif
	*last = around;
}

void
heap_format_prefetch_header(Buffer buffer)
{
	__builtin_prefetch(GetBufferDescriptor(buffer - 1), 1);
	__builtin_prefetch(BufferGetPage(buffer));
}

/*
 * Whether a block seems to be in a buffer, as in core's search for a table's buffers: this tag may
 * be changing, and what is read of it torn, but it can only have the page read.  It saves locking
 * the headers of others' buffers.
 */
static inline bool
seems_to_have(const BufferDesc *desc, Relation rel, BlockNumber block, BufferTag *tag)
{
	InitBufferTag(tag, &rel->rd_locator, MAIN_FORKNUM, block);
	return BufferTagsEqual(&desc->tag, tag);
}

bool
heap_format_pin(Relation rel, BlockNumber block, Buffer buffer, BufferAccessStrategy strategy)
{
	BufferDesc *desc = GetBufferDescriptor(buffer - 1);
	BufferTag	tag;

	if (!seems_to_have(desc, rel, block, &tag) ||
		BUF_STATE_GET_USAGECOUNT(compat_buffer_state(desc)) == 0 ||
		!ReadRecentBuffer(rel->rd_locator, MAIN_FORKNUM, block, buffer))
		return false;
	pgstat_count_buffer_read(rel);
	pgstat_count_buffer_hit(rel);
	compat_count_io_hits(strategy, 1);
	return true;
}

bool
heap_format_unpinned_lsn(Relation rel, BlockNumber block, Buffer buffer, uint64 *lsn)
{
	BufferDesc *desc = GetBufferDescriptor(buffer - 1);
	BufferTag	tag;
	uint64		state;
	bool		found;

	if (!seems_to_have(desc, rel, block, &tag))
		return false;
	state = LockBufHdr(desc);
	found = (state & BM_VALID) && BufferTagsEqual(&desc->tag, &tag) &&
		BUF_STATE_GET_REFCOUNT(state) == 0 && BUF_STATE_GET_USAGECOUNT(state) > 0;
	if (found)
	{
		Page		page = BufferGetPage(buffer);

		/* For valgrind core makes pages without a pin of this process forbidden memory. */
		VALGRIND_MAKE_MEM_DEFINED(page, SizeOfPageHeaderData);
		*lsn = PageIsAllVisible(page) ? PageGetLSN(page) : 0;
		VALGRIND_MAKE_MEM_NOACCESS(page, SizeOfPageHeaderData);
	}
	compat_unlock_buffer(desc, state);
	return found;
}

void
heap_format_count_hits(Relation rel, BufferAccessStrategy strategy, int n)
{
	for (int i = 0; i < n; i++)
	{
		pgstat_count_buffer_read(rel);
		pgstat_count_buffer_hit(rel);
	}
	pgBufferUsage.shared_blks_hit += n;
	compat_count_io_hits(strategy, n);
}

uint64
heap_format_visible_lsn(Buffer buffer)
{
	uint64		lsn;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	lsn = PageIsAllVisible(BufferGetPage(buffer)) ? BufferGetLSNAtomic(buffer) : 0;
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return lsn;
}

uint64
heap_format_read_map(Relation rel, BlockNumber block, uint64 *words)
{
	Buffer		buffer = InvalidBuffer;
	uint64		lsn;

	/* Pins the page; the status itself, read without its lock, is not used. */
	(void) visibilitymap_get_status(rel, block, &buffer);
	if (!BufferIsValid(buffer))
	{
		memset(words, 0, HEAP_FORMAT_MAP_BYTES);
		return 0;
	}
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	memcpy(words, PageGetContents(BufferGetPage(buffer)), HEAP_FORMAT_MAP_BYTES);
	lsn = BufferGetLSNAtomic(buffer);
	UnlockReleaseBuffer(buffer);
	return lsn;
}

uint32
heap_format_visible_blocks(uint64 word)
{
	/* In the order of bits, whatever the machine's order of bytes. */
#ifdef WORDS_BIGENDIAN
	word = pg_bswap64(word);
#endif
	word &= UINT64CONST(0x5555555555555555);
	/* Of a table that has been vacuumed all of them. */
	if (word == UINT64CONST(0x5555555555555555))
		return 0xFFFFFFFF;
	word = (word | word >> 1) & UINT64CONST(0x3333333333333333);
	word = (word | word >> 2) & UINT64CONST(0x0F0F0F0F0F0F0F0F);
	word = (word | word >> 4) & UINT64CONST(0x00FF00FF00FF00FF);
	word = (word | word >> 8) & UINT64CONST(0x0000FFFF0000FFFF);
	return (uint32) (word | word >> 16);
}

/* --- scans */

int
heap_format_take_blocks(ParallelTableScanDesc scan, BlockNumber nblocks,
						BlockNumber (*end) (BlockNumber block), BlockNumber *first, bool *last)
{
	ParallelBlockTableScanDesc parallel = (ParallelBlockTableScanDesc) scan;
	BlockNumber start;
	uint64		taken;
	uint64		n;

	/* A process that takes block by block may have begun at another block: synchronized scans. */
	SpinLockAcquire(&parallel->phs_mutex);
	if (parallel->phs_startblock == InvalidBlockNumber)
		parallel->phs_startblock = 0;
	start = parallel->phs_startblock;
	SpinLockRelease(&parallel->phs_mutex);

	taken = pg_atomic_read_u64(&parallel->phs_nallocated);
	do
	{
		if (taken >= nblocks)
			return 0;
		*first = (BlockNumber) ((start + taken) % nblocks);
		n = Min((uint64) (Min(end(*first), nblocks) - *first), nblocks - taken);
	} while (!pg_atomic_compare_exchange_u64(&parallel->phs_nallocated, &taken, taken + n));
	*last = taken + n >= nblocks;
	return (int) n;
}
