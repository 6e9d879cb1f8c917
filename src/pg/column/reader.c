/*
 * reader.c
 *		Integer columns of a table, read a page at a time (see reader.h).
 *
 * A page is read in one go under its share lock, as heapam.c's page mode finds
 * a page's visible rows.  The keys of one int4 or date column without a filter
 * go straight into the batch.  Otherwise the line numbers of the visible rows
 * are noted first; filter and keys are evaluated after the lock has been given
 * back, under the pin alone.
 *
 * The offset of a key in its row is known beforehand if every column before it
 * has a fixed width and the row has no NULLs before it.  Otherwise the columns
 * are walked over from the last one at a known offset, as nocachegetattr does,
 * but with three bytes for a column (WalkStep) instead of its catalog row.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "access/tupmacs.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/lsyscache.h"

#include "pg/column/reader.h"
#include "pg/compat.h"

/* One column before the key, for walking over it. */
typedef struct WalkStep
{
	int16		length;			/* as attlen: -1 varlena, -2 cstring */
	uint8		align;			/* in bytes */
} WalkStep;

typedef struct ReaderColumn
{
	AttrNumber	attnum;
	Oid			type;			/* INT2OID, INT4OID, INT8OID or DATEOID */
	int			offset;			/* from the start of a row's data, if it has no
								 * NULLs before the key; -1 if that varies */
	int			known_attnum;	/* last column at a fixed offset ... */
	int			known_offset;	/* ... and where it is */
	WalkStep   *steps;			/* of columns 1 .. attnum, at [0 .. attnum - 1] */
	Datum		missing;		/* of rows older than the column */
	bool		missing_null;
} ReaderColumn;

struct ColumnReader
{
	Relation	rel;
	Snapshot	snapshot;
	TableScanDesc scan;
	bool		heap;			/* else another access method, through its slots */
	bool		simple;			/* one column of 4 bytes at a fixed offset, no filter */
	bool		all_visible_counts; /* PD_ALL_VISIBLE can be trusted */
	bool		ended;
	int			ncolumns;
	ReaderColumn *columns;

	/* the page being read, and the one after it, both pinned */
	Buffer		current;
	Buffer		next;
	BlockNumber next_block;		/* for compat_heap_next_buffer */

	/* filter */
	ExprState  *qual;
	ExprContext *econtext;
	TupleTableSlot *slot;		/* the reader's own unless heap */
	uint64		filtered;

	/* line numbers of the page's visible rows, unless simple */
	OffsetNumber rows[MaxHeapTuplesPerPage];
};

bool
column_type_is_key(Oid type)
{
	switch (getBaseType(type))
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case DATEOID:
			return true;
		default:
			return false;
	}
}

/* An int8 that is no int4. */
static pg_noinline void
complain_about_range(int64 value)
{
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("key %lld is out of range for type integer", (long long) value)));
}

int32
column_key(Oid base_type, Datum value)
{
	int64		wide;

	switch (base_type)
	{
		case INT2OID:
			return DatumGetInt16(value);
		case INT8OID:
			wide = DatumGetInt64(value);
			if (unlikely(wide < PG_INT32_MIN || wide > PG_INT32_MAX))
				complain_about_range(wide);
			return (int32) wide;
		default:
			/* int4, and date, which is stored as one */
			return DatumGetInt32(value);
	}
}

/* --- where a key lies in a row */

static uint8
align_bytes(char attalign)
{
	switch (attalign)
	{
		case TYPALIGN_CHAR:
			return 1;
		case TYPALIGN_SHORT:
			return ALIGNOF_SHORT;
		case TYPALIGN_INT:
			return ALIGNOF_INT;
		default:
			return ALIGNOF_DOUBLE;
	}
}

static void
describe_column(ReaderColumn *column, TupleDesc desc, AttrNumber attnum)
{
	int			offset = 0;
	int			i;

	column->attnum = attnum;
	column->type = getBaseType(TupleDescAttr(desc, attnum - 1)->atttypid);
	column->offset = -1;
	column->known_attnum = 1;
	column->known_offset = 0;
	column->steps = palloc_array(WalkStep, attnum);
	for (i = 0; i < attnum; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		WalkStep   *step = &column->steps[i];

		step->length = att->attlen;
		step->align = align_bytes(att->attalign);
		if (offset < 0)
			continue;
		/* A varlena with a short header is not aligned, so its offset may vary. */
		if (att->attlen == -1 && offset != TYPEALIGN(step->align, offset))
		{
			offset = -1;
			continue;
		}
		offset = TYPEALIGN(step->align, offset);
		column->known_attnum = i + 1;
		column->known_offset = offset;
		if (i == attnum - 1)
			column->offset = offset;
		else
			offset = att->attlen > 0 ? offset + att->attlen : -1;
	}

	/* For rows from before ALTER TABLE ADD COLUMN ... DEFAULT, which lack the column. */
	column->missing = getmissingattr(desc, attnum, &column->missing_null);
}

/*
 * Finds a key whose offset is not known beforehand, because NULLs or columns of
 * varying length come before it.  The row has the column, and it is not NULL.
 */
static pg_attribute_always_inline const char *
walk_to_key(const ReaderColumn *column, HeapTupleHeader row, bool has_nulls)
{
	const char *data = (const char *) row + row->t_hoff;
	int			attnum = has_nulls ? 1 : column->known_attnum;
	uintptr_t	offset = has_nulls ? 0 : column->known_offset;

	for (;; attnum++)
	{
		const WalkStep *step = &column->steps[attnum - 1];

		if (has_nulls && att_isnull(attnum - 1, row->t_bits))
			continue;
		/* Alignment is zero bytes; any other byte is a short header, which is not aligned. */
		if (step->length != -1 || data[offset] == 0)
			offset = TYPEALIGN(step->align, offset);
		if (attnum == column->attnum)
			return data + offset;
		if (step->length > 0)
			offset += step->length;
		else if (step->length == -1)
			offset += VARSIZE_ANY(data + offset);
		else
			offset += strlen(data + offset) + 1;
	}
}

/* The key of a row, at whatever offset; false if it is NULL. */
static pg_attribute_always_inline bool
row_key(const ReaderColumn *column, HeapTupleHeader row, int32 *key)
{
	bool		has_nulls = (row->t_infomask & HEAP_HASNULL) != 0;
	const char *at;

	if (unlikely(HeapTupleHeaderGetNatts(row) < column->attnum))
	{
		if (column->missing_null)
			return false;
		*key = column_key(column->type, column->missing);
		return true;
	}
	if (has_nulls && att_isnull(column->attnum - 1, row->t_bits))
		return false;
	if (!has_nulls && column->offset >= 0)
		at = (const char *) row + row->t_hoff + column->offset;
	else if (!has_nulls)
		at = walk_to_key(column, row, false);
	else
		at = walk_to_key(column, row, true);

	switch (column->type)
	{
		case INT2OID:
			*key = *(const int16 *) at;
			break;
		case INT8OID:
			*key = column_key(INT8OID, Int64GetDatum(*(const int64 *) at));
			break;
		default:
			*key = *(const int32 *) at;
	}
	return true;
}

static pg_noinline bool
row_key_out_of_line(const ReaderColumn *column, HeapTupleHeader row, int32 *key)
{
	return row_key(column, row, key);
}

/* --- the visible rows of a page */

/*
 * Whether a row is visible by its hint bits alone: inserted by a transaction
 * that was over before the snapshot, whose oldest running one is xmin, and
 * never deleted.  Most rows of a table that has not been vacuumed yet are.
 * False does not mean that the row is invisible.
 */
static pg_attribute_always_inline bool
surely_visible(HeapTupleHeader row, TransactionId xmin)
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

/* Whether a row is visible, by core, which also sets hint bits and notes serializable conflicts. */
static pg_noinline bool
ask_visible(ColumnReader *reader, Buffer buffer, BlockNumber block, OffsetNumber line,
			ItemId item, bool visible, bool serializable)
{
	HeapTupleData tuple;

	tuple.t_data = (HeapTupleHeader) PageGetItem(BufferGetPage(buffer), item);
	tuple.t_len = ItemIdGetLength(item);
	tuple.t_tableOid = RelationGetRelid(reader->rel);
	ItemPointerSet(&tuple.t_self, block, line);
	if (!visible)
		visible = HeapTupleSatisfiesVisibility(&tuple, reader->snapshot, buffer);
	if (serializable)
		HeapCheckForSerializableConflictOut(visible, reader->rel, &tuple, buffer,
											reader->snapshot);
	return visible;
}

/*
 * How many rows ahead of the one being read are fetched into the processor's
 * cache.  Reading rows is waiting for memory, and the processor's own prefetching
 * helps little: rows fill a page from its end, and it stops at a page's border.
 * hpsort_column_array of 10,000,000 rows of 60 bytes, in ms, by rows ahead:
 * 0: 95, 8: 83, 16: 80, 32: 69, 48: 63, 64: 59, 80: 57, 128: 56.6,
 * 137 (a page): 56.5 (AMD EPYC, Zen 5, PostgreSQL 18).
 */
#define ROWS_AHEAD 128

/* Bytes of the next page fetched before it is read: its header and 180 line pointers. */
#define LINES_AHEAD (SizeOfPageHeaderData + 180 * sizeof(ItemIdData))

#define CACHE_LINE 64

/*
 * Prefetches a row of a page that is pinned but not locked.  Its line pointer
 * may be changing, so what it points at is not read here.
 */
static pg_attribute_always_inline void
prefetch_row(Page page, int line)
{
	__builtin_prefetch((const char *) page + ItemIdGetOffset(PageGetItemId(page, line)));
}

static void
prefetch_lines(Page page)
{
	Size		at;

	for (at = 0; at < LINES_AHEAD; at += CACHE_LINE)
		__builtin_prefetch((const char *) page + at);
}

/*
 * Goes through a page's rows and returns how many are visible.  The keys of a
 * simple reader go to batch, the line numbers of others' visible rows to
 * reader->rows.  ahead is the next page, or NULL.  Callers pass constants for
 * the last three arguments, so that each usual kind of page gets a loop of its
 * own.
 */
static pg_attribute_always_inline int
scan_page(ColumnReader *reader, Buffer buffer, Page page, Page ahead, ColumnBatch *batch,
		  bool simple, bool all_visible, bool serializable)
{
	const ReaderColumn *column = &reader->columns[0];
	TransactionId xmin = reader->snapshot->xmin;
	BlockNumber block = BufferGetBlockNumber(buffer);
	int			lines = PageGetMaxOffsetNumber(page);
	int			distance = Min(lines, ROWS_AHEAD);
	int			attnum = column->attnum;
	int			offset = column->offset;
	int32	   *keys = simple ? batch->keys + batch->n : NULL;
	int			nulls = 0;
	int			n = 0;
	int			line;

	for (line = FirstOffsetNumber; line <= lines; line++)
	{
		ItemId		item = PageGetItemId(page, line);
		HeapTupleHeader row;

		if (line + distance <= lines)
			prefetch_row(page, line + distance);
		else if (ahead)
			prefetch_row(ahead, line + distance - lines);

		if (!ItemIdIsNormal(item))
			continue;
		row = (HeapTupleHeader) PageGetItem(page, item);
		if (serializable || (!all_visible && !surely_visible(row, xmin)))
		{
			if (!ask_visible(reader, buffer, block, line, item, all_visible, serializable))
				continue;
		}
		if (!simple)
			reader->rows[n++] = line;
		else if (likely((row->t_infomask & HEAP_HASNULL) == 0 &&
						HeapTupleHeaderGetNatts(row) >= attnum))
			keys[n++] = *(const int32 *) ((const char *) row + row->t_hoff + offset);
		else if (row_key_out_of_line(column, row, &keys[n]))
			n++;
		else
			nulls++;
	}
	if (simple)
	{
		batch->n += n;
		batch->nulls += nulls;
	}
	return n + nulls;
}

/* Adds the keys of reader->rows, of all columns; the page is pinned, not locked. */
static void
read_rows(ColumnReader *reader, Page page, int nrows, ColumnBatch *batches)
{
	int			c;
	int			i;

	for (c = 0; c < reader->ncolumns; c++)
	{
		const ReaderColumn *column = &reader->columns[c];
		ColumnBatch *batch = &batches[c];
		int32	   *keys = batch->keys + batch->n;
		int			n = 0;

		for (i = 0; i < nrows; i++)
			n += row_key(column,
						 (HeapTupleHeader) PageGetItem(page, PageGetItemId(page, reader->rows[i])),
						 &keys[n]);
		batch->n += n;
		batch->nulls += nrows - n;
	}
}

/* Keeps those of reader->rows for which the filter is true; returns how many. */
static int
filter_rows(ColumnReader *reader, Buffer buffer, Page page, int nrows)
{
	HeapTupleData tuple;
	BlockNumber block = BufferGetBlockNumber(buffer);
	int			kept = 0;
	int			i;

	tuple.t_tableOid = RelationGetRelid(reader->rel);
	for (i = 0; i < nrows; i++)
	{
		OffsetNumber line = reader->rows[i];
		ItemId		item = PageGetItemId(page, line);

		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple.t_len = ItemIdGetLength(item);
		ItemPointerSet(&tuple.t_self, block, line);
		ExecStoreBufferHeapTuple(&tuple, reader->slot, buffer);
		ResetExprContext(reader->econtext);
		reader->econtext->ecxt_scantuple = reader->slot;
		if (ExecQual(reader->qual, reader->econtext))
			reader->rows[kept++] = line;
	}
	ExecClearTuple(reader->slot);
	reader->filtered += nrows - kept;
	return kept;
}

/* Reads the page in buffer, which is pinned. */
static void
read_page(ColumnReader *reader, Buffer buffer, ColumnBatch *batches)
{
	Page		page = BufferGetPage(buffer);
	Page		ahead = BufferIsValid(reader->next) ? BufferGetPage(reader->next) : NULL;
	bool		all_visible;
	bool		serializable;
	int			n;

	compat_heap_page_prune_opt((HeapScanDesc) reader->scan, buffer);

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	TestForOldSnapshot(reader->snapshot, reader->rel, page);
	all_visible = reader->all_visible_counts && PageIsAllVisible(page);
	serializable = CheckForSerializableConflictOutNeeded(reader->rel, reader->snapshot);
	if (serializable)
		n = scan_page(reader, buffer, page, ahead, batches, false, all_visible, true);
	else if (!reader->simple)
		n = all_visible ? scan_page(reader, buffer, page, ahead, batches, false, true, false)
			: scan_page(reader, buffer, page, ahead, batches, false, false, false);
	else
		n = all_visible ? scan_page(reader, buffer, page, ahead, batches, true, true, false)
			: scan_page(reader, buffer, page, ahead, batches, true, false, false);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);

	pgstat_count_index_tuples(reader->rel, n);
	if (reader->simple && !serializable)
		return;
	if (reader->qual)
		n = filter_rows(reader, buffer, page, n);
	read_rows(reader, page, n, batches);
}

/*
 * Moves on to the next page, and pins the one after it, whose rows are fetched
 * ahead while this one is read.  False at the end of the table.
 */
static bool
next_page(ColumnReader *reader)
{
	HeapScanDesc scan = (HeapScanDesc) reader->scan;

	CHECK_FOR_INTERRUPTS();
	if (BufferIsValid(reader->current))
		ReleaseBuffer(reader->current);
	else if (!reader->ended)
		reader->next = compat_heap_next_buffer(scan, &reader->next_block);
	reader->current = reader->next;
	if (!BufferIsValid(reader->current))
	{
		reader->ended = true;
		return false;
	}
	reader->next = compat_heap_next_buffer(scan, &reader->next_block);
	if (BufferIsValid(reader->next))
		prefetch_lines(BufferGetPage(reader->next));
	return true;
}

/* --- the reader */

ColumnReader *
column_reader_open(const ColumnScan *scan)
{
	ColumnReader *reader = palloc0_object(ColumnReader);
	int			c;

	reader->rel = scan->rel;
	reader->heap = scan->rel->rd_tableam == GetHeapamTableAmRoutine();
	reader->ncolumns = scan->ncolumns;
	reader->columns = palloc_array(ReaderColumn, scan->ncolumns);
	for (c = 0; c < scan->ncolumns; c++)
		describe_column(&reader->columns[c], RelationGetDescr(scan->rel), scan->attnums[c]);
	reader->simple = scan->ncolumns == 1 && scan->qual == NULL && reader->columns[0].offset >= 0 &&
		(reader->columns[0].type == INT4OID || reader->columns[0].type == DATEOID);

	/* Core's scan: predicate lock on the table, block order, ring of buffers, statistics. */
	reader->scan = compat_table_beginscan(scan->rel, scan->snapshot, scan->parallel,
										  scan->for_change);
	reader->snapshot = reader->scan->rs_snapshot;
	if (reader->snapshot->snapshot_type != SNAPSHOT_MVCC)
		elog(ERROR, "column reader needs an MVCC snapshot");
	/* Why not during recovery: see heap_prepare_pagescan. */
	reader->all_visible_counts = !reader->snapshot->takenDuringRecovery;
	reader->current = reader->next = InvalidBuffer;
	reader->next_block = InvalidBlockNumber;

	reader->qual = scan->qual;
	reader->econtext = scan->econtext;
	reader->slot = reader->heap ? scan->slot : table_slot_create(scan->rel, NULL);
	return reader;
}

/* Reads a batch of a table that is no heap, whose rows come through slots. */
static bool
next_from_slots(ColumnReader *reader, ColumnBatch *batches)
{
	TupleTableSlot *slot = reader->slot;
	int			rows;
	int			c;

	for (rows = 0; rows < COLUMN_BATCH_KEYS;)
	{
		CHECK_FOR_INTERRUPTS();
		if (!table_scan_getnextslot(reader->scan, ForwardScanDirection, slot))
			return false;
		if (reader->qual)
		{
			ResetExprContext(reader->econtext);
			reader->econtext->ecxt_scantuple = slot;
			if (!ExecQual(reader->qual, reader->econtext))
			{
				reader->filtered++;
				continue;
			}
		}
		rows++;
		for (c = 0; c < reader->ncolumns; c++)
		{
			bool		isnull;
			Datum		value = slot_getattr(slot, reader->columns[c].attnum, &isnull);

			if (isnull)
				batches[c].nulls++;
			else
				batches[c].keys[batches[c].n++] = column_key(reader->columns[c].type, value);
		}
	}
	return true;
}

bool
column_reader_next(ColumnReader *reader, ColumnBatch *batches)
{
	size_t		rows;
	int			c;

	for (c = 0; c < reader->ncolumns; c++)
	{
		batches[c].n = 0;
		batches[c].nulls = 0;
	}
	if (!reader->heap)
		return next_from_slots(reader, batches);

	/* As long as the rows of another page fit in any case. */
	for (rows = 0; rows <= COLUMN_BATCH_KEYS - MaxHeapTuplesPerPage;)
	{
		if (!next_page(reader))
			return false;
		read_page(reader, reader->current, batches);
		rows = 0;
		for (c = 0; c < reader->ncolumns; c++)
			rows = Max(rows, batches[c].n);
	}
	return true;
}

uint64
column_reader_filtered(const ColumnReader *reader)
{
	return reader->filtered;
}

void
column_reader_close(ColumnReader *reader)
{
	int			c;

	if (BufferIsValid(reader->current))
		ReleaseBuffer(reader->current);
	if (BufferIsValid(reader->next))
		ReleaseBuffer(reader->next);
	if (!reader->heap)
		ExecDropSingleTupleTableSlot(reader->slot);
	table_endscan(reader->scan);
	for (c = 0; c < reader->ncolumns; c++)
		pfree(reader->columns[c].steps);
	pfree(reader->columns);
	pfree(reader);
}
