/*
 * hpsort_heap.c
 *		Each assumption of src/pg/pages/heap_format.h beside what core's own functions say.
 *
 * The file has a copy of heap_format.c, so that hpsort need not export it.  Most functions return
 * how much they have compared and how much of it was wrong, "compared wrong".
 */
#include "postgres.h"

#include <unistd.h>

#include "access/table.h"
#include "access/visibilitymap.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/snapmgr.h"

#include "pg/pages/heap_format.c"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(check_tuples);
PG_FUNCTION_INFO_V1(check_visible);
PG_FUNCTION_INFO_V1(check_map);
PG_FUNCTION_INFO_V1(map_lsn);
PG_FUNCTION_INFO_V1(page_lsn);
PG_FUNCTION_INFO_V1(page_buffer);
PG_FUNCTION_INFO_V1(visible_lsn);
PG_FUNCTION_INFO_V1(unpinned_lsn);
PG_FUNCTION_INFO_V1(pinned_block);
PG_FUNCTION_INFO_V1(rows_stay);
PG_FUNCTION_INFO_V1(is_waited_for);
PG_FUNCTION_INFO_V1(share_blocks);
PG_FUNCTION_INFO_V1(check_slot);

/* How long at most a function waits for another session. */
#define WAIT_SECONDS 60

static Datum
result(int64 compared, int64 wrong)
{
	return PointerGetDatum(cstring_to_text(psprintf(INT64_FORMAT " " INT64_FORMAT, compared, wrong)));
}

/* Called with each row of a table, whose page is pinned. */
typedef void (*RowCheck) (Relation rel, Buffer buffer, OffsetNumber line, void *arg);

static void
each_line(Oid relid, RowCheck check, void *arg)
{
	Relation	rel = table_open(relid, AccessShareLock);

	for (BlockNumber block = 0; block < RelationGetNumberOfBlocks(rel); block++)
	{
		Buffer		buffer = ReadBuffer(rel, block);
		int			lines;

		heap_format_settle(buffer);
		lines = heap_format_lines(BufferGetPage(buffer));
		if (lines > MaxHeapTuplesPerPage)
			elog(ERROR, "block %u has %d lines", block, lines);
		for (int line = FirstOffsetNumber; line <= lines; line++)
			check(rel, buffer, line, arg);
		ReleaseBuffer(buffer);
	}
	table_close(rel, AccessShareLock);
}

typedef struct Counts
{
	int64		compared;
	int64		wrong;
} Counts;

/* Whether what heap_format.h says of the columns of a row is what core says. */
static bool
same_columns(Relation rel, HeapTuple core)
{
	HeapTupleHeader row = core->t_data;
	int			natts = Min(HeapTupleHeaderGetNatts(row), RelationGetNumberOfAttributes(rel));
	bool		among = false;
	bool		isnull;

	for (int a = 1; a <= natts; a++)
	{
		bool		null = heap_format_has_nulls(row) && heap_format_is_null(row, a);

		if (null != heap_attisnull(core, a, NULL))
			return false;
		among = among || null;
		if (heap_format_has_all(row, a) == among)
			return false;
	}
	if (heap_format_has_all(row, HeapTupleHeaderGetNatts(row) + 1))
		return false;
	/* The first column lies where the data begins: it is an int4. */
	return natts == 0 || (heap_format_has_nulls(row) && heap_format_is_null(row, 1)) ||
		*(const int32 *) heap_format_data(row) == DatumGetInt32(fastgetattr(core, 1, RelationGetDescr(rel), &isnull));
}

static void
check_tuple(Relation rel, Buffer buffer, OffsetNumber line, void *arg)
{
	Counts	   *counts = (Counts *) arg;
	Page		page = BufferGetPage(buffer);
	HeapTupleData core;
	HeapTupleData ours;
	HeapTupleHeader row;
	Buffer		fetched;

	ItemPointerSet(&core.t_self, BufferGetBlockNumber(buffer), line);
	counts->compared++;
	if (!heap_fetch(rel, SnapshotAny, &core, &fetched, false))
	{
		counts->wrong += heap_format_row(page, line, &row) || heap_format_line_tuple(&ours, page, line);
		return;
	}
	heap_format_tuple(&ours, rel, page, BufferGetBlockNumber(buffer), line);
	if (fetched != buffer || !heap_format_row(page, line, &row) || row != core.t_data ||
		ours.t_data != core.t_data || ours.t_len != core.t_len || ours.t_tableOid != core.t_tableOid ||
		!ItemPointerEquals(&ours.t_self, &core.t_self) || !same_columns(rel, &core))
		counts->wrong++;
	counts->wrong += heap_format_row_address(page, line) != (const char *) core.t_data;
	ReleaseBuffer(fetched);
}

/* check_tuples(regclass): assumptions 1 and 2.  The first column is an int4. */
Datum
check_tuples(PG_FUNCTION_ARGS)
{
	Counts		counts = {0};

	each_line(PG_GETARG_OID(0), check_tuple, &counts);
	return result(counts.compared, counts.wrong);
}

/* Rows that are visible for a reason of hpsort's, and those that are not by core. */
typedef struct VisibleCounts
{
	Snapshot	snapshot;
	Counts		sure;			/* by hint bits */
	Counts		pages;			/* by the page's flag */
} VisibleCounts;

static void
check_row_visible(Relation rel, Buffer buffer, OffsetNumber line, void *arg)
{
	VisibleCounts *counts = (VisibleCounts *) arg;
	Page		page = BufferGetPage(buffer);
	HeapTupleHeader row;
	bool		sure;
	bool		all;
	bool		visible;

	if (!heap_format_row(page, line, &row))
		return;
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	sure = heap_format_surely_visible(row, counts->snapshot->xmin);
	all = heap_format_trusts_pages(counts->snapshot) && PageIsAllVisible(page);
	visible = heap_format_is_visible(rel, counts->snapshot, buffer, line, false, false);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	counts->sure.compared += sure;
	counts->sure.wrong += sure && !visible;
	counts->pages.compared += all;
	counts->pages.wrong += all && !visible;
}

/* check_visible(regclass, flags bool): assumption 3, or 4 with flags. */
Datum
check_visible(PG_FUNCTION_ARGS)
{
	VisibleCounts counts = {.snapshot = GetActiveSnapshot()};
	Counts	   *which = PG_GETARG_BOOL(1) ? &counts.pages : &counts.sure;

	each_line(PG_GETARG_OID(0), check_row_visible, &counts);
	return result(which->compared, which->wrong);
}

/* check_map(regclass): assumption 5; compared are all-visible blocks. */
Datum
check_map(PG_FUNCTION_ARGS)
{
	Relation	rel = table_open(PG_GETARG_OID(0), AccessShareLock);
	uint64	   *words = palloc(HEAP_FORMAT_MAP_BYTES);
	Buffer		map = InvalidBuffer;
	Counts		counts = {0};

	for (BlockNumber block = 0; block < RelationGetNumberOfBlocks(rel); block++)
	{
		BlockNumber at = block % HEAP_FORMAT_MAP_BLOCKS;
		bool		core = (visibilitymap_get_status(rel, block, &map) & VISIBILITYMAP_ALL_VISIBLE) != 0;
		bool		ours;

		if (at == 0)
			heap_format_read_map(rel, block, words);
		ours = (heap_format_visible_blocks(words[at / HEAP_FORMAT_WORD_BLOCKS]) >>
				at % HEAP_FORMAT_WORD_BLOCKS & 1) != 0;
		counts.compared += core;
		counts.wrong += ours != core;
	}
	if (BufferIsValid(map))
		ReleaseBuffer(map);
	table_close(rel, AccessShareLock);
	return result(counts.compared, counts.wrong);
}

/* map_lsn(regclass, block int8): of the map's page. */
Datum
map_lsn(PG_FUNCTION_ARGS)
{
	Relation	rel = table_open(PG_GETARG_OID(0), AccessShareLock);
	uint64		lsn = heap_format_read_map(rel, (BlockNumber) PG_GETARG_INT64(1),
										   palloc(HEAP_FORMAT_MAP_BYTES));

	table_close(rel, AccessShareLock);
	PG_RETURN_INT64((int64) lsn);
}

/* page_lsn(regclass, block int8): of the table's page. */
Datum
page_lsn(PG_FUNCTION_ARGS)
{
	Relation	rel = table_open(PG_GETARG_OID(0), AccessShareLock);
	Buffer		buffer = ReadBuffer(rel, (BlockNumber) PG_GETARG_INT64(1));
	uint64		lsn;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	lsn = BufferGetLSNAtomic(buffer);
	UnlockReleaseBuffer(buffer);
	table_close(rel, AccessShareLock);
	PG_RETURN_INT64((int64) lsn);
}

/* page_buffer(regclass, block int8): where the table's page is. */
Datum
page_buffer(PG_FUNCTION_ARGS)
{
	Relation	rel = table_open(PG_GETARG_OID(0), AccessShareLock);
	Buffer		buffer = ReadBuffer(rel, (BlockNumber) PG_GETARG_INT64(1));

	ReleaseBuffer(buffer);
	table_close(rel, AccessShareLock);
	PG_RETURN_INT32(buffer);
}

/* visible_lsn(regclass, block int8): of the table's page, if it is all-visible; else 0. */
Datum
visible_lsn(PG_FUNCTION_ARGS)
{
	Relation	rel = table_open(PG_GETARG_OID(0), AccessShareLock);
	Buffer		buffer = ReadBuffer(rel, (BlockNumber) PG_GETARG_INT64(1));
	uint64		lsn = heap_format_visible_lsn(buffer);

	ReleaseBuffer(buffer);
	table_close(rel, AccessShareLock);
	PG_RETURN_INT64((int64) lsn);
}

/*
 * unpinned_lsn(regclass, block int8, buffer int4): assumption 11.  The same without a pin; NULL if
 * the page has to be read.
 */
Datum
unpinned_lsn(PG_FUNCTION_ARGS)
{
	Relation	rel = table_open(PG_GETARG_OID(0), AccessShareLock);
	uint64		lsn;
	bool		known = heap_format_unpinned_lsn(rel, (BlockNumber) PG_GETARG_INT64(1),
												 PG_GETARG_INT32(2), &lsn);

	heap_format_count_hits(rel, NULL, known);
	table_close(rel, AccessShareLock);
	if (!known)
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) lsn);
}

/*
 * pinned_block(regclass, block int8, buffer int4): the block that is pinned where that one is noted;
 * NULL if none is.
 */
Datum
pinned_block(PG_FUNCTION_ARGS)
{
	Relation	rel = table_open(PG_GETARG_OID(0), AccessShareLock);
	Buffer		buffer = PG_GETARG_INT32(2);
	bool		known = heap_format_pin(rel, (BlockNumber) PG_GETARG_INT64(1), buffer, NULL);
	int64		block = known ? BufferGetBlockNumber(buffer) : 0;

	if (known)
		ReleaseBuffer(buffer);
	table_close(rel, AccessShareLock);
	if (!known)
		PG_RETURN_NULL();
	PG_RETURN_INT64(block);
}

/*
 * rows_stay(regclass, path text): assumption 7.  Pins the first page until the file exists, and
 * returns whether each row is where it was, with the same values.
 */
Datum
rows_stay(PG_FUNCTION_ARGS)
{
	Relation	rel = table_open(PG_GETARG_OID(0), AccessShareLock);
	char	   *path = text_to_cstring(PG_GETARG_TEXT_PP(1));
	Buffer		buffer = ReadBuffer(rel, 0);
	Page		page = BufferGetPage(buffer);
	PGAlignedBlock before;
	bool		stay = true;
	int			lines;

	heap_format_settle(buffer);
	memcpy(before.data, page, BLCKSZ);
	lines = heap_format_lines(page);
	for (int i = 0; i < WAIT_SECONDS * 100 && access(path, F_OK) != 0; i++)
	{
		CHECK_FOR_INTERRUPTS();
		pg_usleep(10000);
	}
	for (int i = FirstOffsetNumber; i <= lines; i++)
	{
		HeapTupleData was;
		HeapTupleData is;

		if (!heap_format_line_tuple(&was, (Page) before.data, i))
			continue;
		if (!heap_format_line_tuple(&is, page, i) ||
			(char *) is.t_data - (char *) page != (char *) was.t_data - before.data ||
			is.t_len != was.t_len ||
			memcmp(heap_format_data(is.t_data), heap_format_data(was.t_data), is.t_len - is.t_data->t_hoff) != 0)
			stay = false;
	}
	ReleaseBuffer(buffer);
	table_close(rel, AccessShareLock);
	PG_RETURN_BOOL(stay);
}

/*
 * is_waited_for(regclass, ms int4): assumption 8.  Pins the first page so long, or until somebody
 * waits for it; returns whether somebody did.
 */
Datum
is_waited_for(PG_FUNCTION_ARGS)
{
	Relation	rel = table_open(PG_GETARG_OID(0), AccessShareLock);
	Buffer		buffer = ReadBuffer(rel, 0);
	bool		waited;
	int			i;

	for (i = 0; !(waited = heap_format_is_waited_for(buffer)) && i < PG_GETARG_INT32(1) / 10; i++)
	{
		CHECK_FOR_INTERRUPTS();
		pg_usleep(10000);
	}
	ReleaseBuffer(buffer);
	table_close(rel, AccessShareLock);
	PG_RETURN_BOOL(waited);
}

/* Extents of 100 blocks. */
static BlockNumber
end_of_extent(BlockNumber block)
{
	return (block / 100 + 1) * 100;
}

/*
 * share_blocks(regclass, bytes bytea): assumption 9.  A parallel scan of processes that take block
 * by block, as core's, and of one that takes extents; each byte says which is next.  Returns the
 * number of blocks, and how many of them were not read exactly once.
 */
Datum
share_blocks(PG_FUNCTION_ARGS)
{
	Relation	rel = table_open(PG_GETARG_OID(0), AccessShareLock);
	bytea	   *turns = PG_GETARG_BYTEA_PP(1);
	Snapshot	snapshot = GetActiveSnapshot();
	ParallelTableScanDesc shared = palloc0(table_parallelscan_estimate(rel, snapshot));
	TableScanDesc scans[3];
	BlockNumber at[3];
	bool		done[4] = {false};
	BlockNumber nblocks;
	int		   *reads;
	BlockNumber first;
	bool		last = false;
	Counts		counts = {0};

	table_parallelscan_initialize(rel, shared, snapshot);
	for (int s = 0; s < 3; s++)
	{
		scans[s] = compat_table_beginscan(rel, snapshot, shared, false);
		at[s] = InvalidBlockNumber;
	}
	nblocks = heap_format_scan_blocks(scans[0]);
	reads = palloc0_array(int, nblocks);
	for (int turn = 0; !done[0] || !done[1] || !done[2] || !done[3]; turn++)
	{
		int			process = (uint8) VARDATA_ANY(turns)[turn % VARSIZE_ANY_EXHDR(turns)] % 4;

		if (turn > 100 * (int) nblocks + 1000)
			elog(ERROR, "the scan does not end");
		if (process == 3)
		{
			int			n = heap_format_take_blocks(shared, nblocks, end_of_extent, &first, &last);

			done[3] = n == 0;
			for (BlockNumber b = first; n > 0 && b < first + n; b++)
				reads[b]++;
		}
		else if (!done[process])
		{
			Buffer		buffer = compat_heap_next_buffer((HeapScanDesc) scans[process], &at[process]);

			done[process] = !BufferIsValid(buffer);
			if (done[process])
				continue;
			reads[BufferGetBlockNumber(buffer)]++;
			ReleaseBuffer(buffer);
		}
	}
	for (BlockNumber b = 0; b < nblocks; b++)
		counts.wrong += reads[b] != 1;
	for (int s = 0; s < 3; s++)
		table_endscan(scans[s]);
	table_close(rel, AccessShareLock);
	return result(nblocks, counts.wrong);
}

typedef struct SlotCheck
{
	Counts		counts;
	HeapTupleData tuple;
	TupleTableSlot *again;
	TupleTableSlot *core;
	int64		stored;			/* how often the slot had another tuple */
} SlotCheck;

static void
check_row_slot(Relation rel, Buffer buffer, OffsetNumber line, void *arg)
{
	SlotCheck  *check = (SlotCheck *) arg;
	HeapTupleHeader row;
	HeapTupleData copy;
	int			natts = RelationGetNumberOfAttributes(rel);

	if (!heap_format_row(BufferGetPage(buffer), line, &row))
		return;
	heap_format_tuple(&check->tuple, rel, BufferGetPage(buffer), BufferGetBlockNumber(buffer), line);
	copy = check->tuple;
	ExecStoreHeapTuple(&copy, check->core, false);
	if (heap_format_store_again(check->again, &check->tuple))
		check->again->tts_tid = check->tuple.t_self;
	else
	{
		ExecStoreHeapTuple(&check->tuple, check->again, false);
		check->stored++;
	}
	/* Of some rows only the first columns are read, of some none. */
	for (int a = 1; a <= natts - line % (natts + 1); a++)
	{
		bool		null;
		bool		core_null;
		Datum		value = slot_getattr(check->again, a, &null);
		Datum		core = slot_getattr(check->core, a, &core_null);
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), a - 1);

		check->counts.compared++;
		check->counts.wrong += null != core_null ||
			(!null && !datumIsEqual(value, core, att->attbyval, att->attlen));
	}
	check->counts.wrong += !ItemPointerEquals(&check->again->tts_tid, &check->core->tts_tid);
	ExecClearTuple(check->core);
	if (line == FirstOffsetNumber + 1)
		ExecClearTuple(check->again);
}

/* check_slot(regclass): assumption 10. */
Datum
check_slot(PG_FUNCTION_ARGS)
{
	Relation	rel = table_open(PG_GETARG_OID(0), AccessShareLock);
	SlotCheck	check = {{0}};

	check.again = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsHeapTuple);
	check.core = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsHeapTuple);
	each_line(PG_GETARG_OID(0), check_row_slot, &check);
	if (check.stored * 10 > check.counts.compared)
		elog(ERROR, "slots were hardly used again");
	ExecDropSingleTupleTableSlot(check.again);
	ExecDropSingleTupleTableSlot(check.core);
	table_close(rel, AccessShareLock);
	return result(check.counts.compared, check.counts.wrong);
}
