/*
 * hpsort_visibility.c
 *		Moments of the visibility map that no SQL command lasts for, and a map that is wrong.
 *
 * A file that comes into being ends a function that waits: it holds a page's lock, so
 * that signals are not heard.
 */
#include "postgres.h"

#include <unistd.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/visibilitymap.h"
#include "access/xlog.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "pg/resident/extents/visibility.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(hold_map);
PG_FUNCTION_INFO_V1(set_map_slowly);
PG_FUNCTION_INFO_V1(set_page_flag);
PG_FUNCTION_INFO_V1(change_first_row);
PG_FUNCTION_INFO_V1(extent_of_block);

/* How long at most. */
#define WAIT_SECONDS 60

static void
wait_for_file(const char *path)
{
	for (int i = 0; i < WAIT_SECONDS * 100 && access(path, F_OK) != 0; i++)
		pg_usleep(10000);
}

/* The map's page for a block, pinned. */
static Buffer
map_page(Relation rel, BlockNumber block)
{
	Buffer		buffer = InvalidBuffer;

	visibilitymap_pin(rel, block, &buffer);
	return buffer;
}

/*
 * hold_map(regclass, path text): holds the lock of the map's first page in share mode.
 * Whoever wants to clear a bit waits, after the rows were checked and changed.
 */
Datum
hold_map(PG_FUNCTION_ARGS)
{
	Relation	rel = table_open(PG_GETARG_OID(0), AccessShareLock);
	char	   *path = text_to_cstring(PG_GETARG_TEXT_PP(1));
	Buffer		buffer = map_page(rel, 0);

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	wait_for_file(path);
	UnlockReleaseBuffer(buffer);
	table_close(rel, AccessShareLock);
	PG_RETURN_VOID();
}

/*
 * set_map_slowly(regclass, block int8, path text): sets the bit of a block whose rows all
 * are visible, as VACUUM does, and waits before the map page's LSN is set.
 */
Datum
set_map_slowly(PG_FUNCTION_ARGS)
{
	Relation	rel = table_open(PG_GETARG_OID(0), AccessShareLock);
	BlockNumber block = (BlockNumber) PG_GETARG_INT64(1);
	char	   *path = text_to_cstring(PG_GETARG_TEXT_PP(2));
	Buffer		map = map_page(rel, block);
	Buffer		buffer = ReadBuffer(rel, block);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	PageSetAllVisible(BufferGetPage(buffer));
	MarkBufferDirty(buffer);
	LockBuffer(map, BUFFER_LOCK_EXCLUSIVE);
	PageGetContents(BufferGetPage(map))[block / 4] |= VISIBILITYMAP_ALL_VISIBLE << (block % 4 * 2);
	MarkBufferDirty(map);
	/* Nobody else is to be kept waiting by the block than whoever looks at the map. */
	UnlockReleaseBuffer(buffer);
	wait_for_file(path);
	PageSetLSN(BufferGetPage(map), GetXLogInsertRecPtr());
	UnlockReleaseBuffer(map);
	table_close(rel, AccessShareLock);
	PG_RETURN_VOID();
}

/*
 * set_page_flag(regclass, block int8, visible bool): the block forgets that all of its rows are
 * visible, or says so; the map does not, as lost writes can leave them.
 */
Datum
set_page_flag(PG_FUNCTION_ARGS)
{
	Relation	rel = table_open(PG_GETARG_OID(0), AccessShareLock);
	Buffer		buffer = ReadBuffer(rel, (BlockNumber) PG_GETARG_INT64(1));

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (PG_GETARG_BOOL(2))
		PageSetAllVisible(BufferGetPage(buffer));
	else
		PageClearAllVisible(BufferGetPage(buffer));
	MarkBufferDirty(buffer);
	UnlockReleaseBuffer(buffer);
	table_close(rel, AccessShareLock);
	PG_RETURN_VOID();
}

/*
 * change_first_row(regclass, block int8, at int4): adds 1 to a byte of the first row's values, behind the page's LSN and the
 * map, as damaged storage would.
 */
Datum
change_first_row(PG_FUNCTION_ARGS)
{
	Relation	rel = table_open(PG_GETARG_OID(0), AccessShareLock);
	Buffer		buffer = ReadBuffer(rel, (BlockNumber) PG_GETARG_INT64(1));
	Page		page = BufferGetPage(buffer);
	HeapTupleHeader row;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	row = (HeapTupleHeader) PageGetItem(page, PageGetItemId(page, FirstOffsetNumber));
	((char *) row)[row->t_hoff + PG_GETARG_INT32(2)]++;
	MarkBufferDirty(buffer);
	UnlockReleaseBuffer(buffer);
	table_close(rel, AccessShareLock);
	PG_RETURN_VOID();
}

/* extent_of_block(block int8) returns text: the number, the first block and the end of the extent that has the block. */
Datum
extent_of_block(PG_FUNCTION_ARGS)
{
	BlockNumber block = (BlockNumber) PG_GETARG_INT64(0);

	PG_RETURN_TEXT_P(cstring_to_text(psprintf("%u %u %u", visibility_extent(block),
											  visibility_extent_first(block), visibility_extent_end(block))));
}
