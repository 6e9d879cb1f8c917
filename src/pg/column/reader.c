/*
 * reader.c
 *		Integer columns of a table, read a page at a time (see reader.h).
 *
 * A page's visible rows are found in one go under its share lock, as heapam.c's
 * page mode finds them, and noted.  Filters are evaluated and columns are read
 * (row.c) after the lock has been given back, under the pin alone.
 *
 * Of 10,000,000 rows of 60 bytes, in ms, each line the minimum of 16 (AMD EPYC, Zen 4, two
 * cores of a virtual machine, PostgreSQL 18):
 *
 *		columns				compact		aligned
 *		none							29.2
 *		int4				73.7		73.1
 *		2 int4				77.5		78.2
 *		3 int4							82.1
 *		3 int4, int8					88.7
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"

#include "pg/column/reader.h"
#include "pg/column/row.h"
#include "pg/compat.h"

/* What is noted of a page's visible rows. */
typedef enum PageNotes
{
	NOTE_COUNT,					/* how many there are */
	NOTE_ROWS,					/* where they are, for reading columns */
	NOTE_KEYS,					/* where they are, and the keys of the early column */
	NOTE_TIDS,					/* where they are, and their line numbers */
	NOTE_LINES					/* their line numbers, for filters */
} PageNotes;

struct ColumnReader
{
	Relation	rel;
	Snapshot	snapshot;
	TableScanDesc scan;
	bool		heap;			/* else another access method, through its slots */
	PageNotes	notes;			/* what the scan needs */
	bool		all_visible_counts; /* PD_ALL_VISIBLE can be trusted */
	bool		ended;
	bool		by_page;		/* a batch is a page */
	bool		tids;			/* as in ColumnScan */
	RowLayout	layout;			/* of the columns */
	int			nbatches;		/* column_scan_nbatches */
	PageBuffer *pages;			/* of the batch, if tids */
	int			npages;

	/* the page being read, and the one after it, both pinned */
	Buffer		current;
	Buffer		next;
	BlockNumber next_block;		/* for compat_heap_next_buffer */

	/* filters, as in ColumnScan */
	ExprState  *qual;
	ExprContext *econtext;
	TupleTableSlot *slot;		/* the reader's own unless heap */
	int			nfilters;
	ExprState **filters;
	uint64		filtered;

	/* the page's visible rows */
	OffsetNumber lines[MaxHeapTuplesPerPage];
	NotedRows	rows;
};

/* --- filters of the row in reader->slot */

static inline bool
qual_is_true(ColumnReader *reader)
{
	ResetExprContext(reader->econtext);
	reader->econtext->ecxt_scantuple = reader->slot;
	if (ExecQual(reader->qual, reader->econtext))
		return true;
	reader->filtered++;
	return false;
}

/* Appends to the batches of the other filters whether they are true. */
static inline void
evaluate_filters(ColumnReader *reader, ColumnBatch *batches)
{
	int			f;

	for (f = 0; f < reader->nfilters; f++)
	{
		bool		refused = !ExecQual(reader->filters[f], reader->econtext);

		batches[f].nulls[batches[f].n++] = refused;
		batches[f].nnulls += refused;
	}
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
 * Goes through a page's rows and returns how many are visible.  What notes says is
 * noted of them, in reader->rows or reader->lines; keys is for NOTE_KEYS.  ahead is the
 * next page, or NULL.  Callers pass constants for the last three arguments, so that
 * each usual kind of page gets a loop of its own.
 */
static pg_attribute_always_inline int
scan_page(ColumnReader *reader, Buffer buffer, Page page, Page ahead, int32 *keys,
		  PageNotes notes, bool all_visible, bool serializable)
{
	const RowLayout *layout = &reader->layout;
	NotedRows  *rows = &reader->rows;
	TransactionId xmin = reader->snapshot->xmin;
	BlockNumber block = BufferGetBlockNumber(buffer);
	int			lines = PageGetMaxOffsetNumber(page);
	int			distance = Min(lines, ROWS_AHEAD);
	bool		look = notes != NOTE_COUNT || !all_visible || serializable; /* at rows */
	int			n = 0;
	int			line;

	for (line = FirstOffsetNumber; line <= lines; line++)
	{
		ItemId		item = PageGetItemId(page, line);
		HeapTupleHeader row;

		if (look && line + distance <= lines)
			prefetch_row(page, line + distance);
		else if (look && ahead)
			prefetch_row(ahead, line + distance - lines);

		if (!ItemIdIsNormal(item))
			continue;
		row = (HeapTupleHeader) PageGetItem(page, item);
		if (serializable || (!all_visible && !surely_visible(row, xmin)))
		{
			if (!ask_visible(reader, buffer, block, line, item, all_visible, serializable))
				continue;
		}
		if (notes == NOTE_KEYS)
			keys[n] = row_early_key(layout, row_note(layout, rows, n, row));
		else if (notes == NOTE_ROWS || notes == NOTE_TIDS)
			row_note(layout, rows, n, row);
		if (notes == NOTE_LINES || notes == NOTE_TIDS)
			reader->lines[n] = line;
		n++;
	}
	rows->n = n;
	return n;
}

/*
 * Keeps of reader->lines those rows for which qual is true, notes them in reader->rows,
 * and evaluates the scan's other filters of them.
 */
static void
filter_rows(ColumnReader *reader, Buffer buffer, Page page, int nlines, ColumnBatch *filters)
{
	HeapTupleData tuple;
	BlockNumber block = BufferGetBlockNumber(buffer);
	int			i;

	tuple.t_tableOid = RelationGetRelid(reader->rel);
	reader->rows.n = 0;
	for (i = 0; i < nlines; i++)
	{
		OffsetNumber line = reader->lines[i];
		ItemId		item = PageGetItemId(page, line);

		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple.t_len = ItemIdGetLength(item);
		ItemPointerSet(&tuple.t_self, block, line);
		ExecStoreBufferHeapTuple(&tuple, reader->slot, buffer);
		if (!qual_is_true(reader))
			continue;
		evaluate_filters(reader, filters);
		reader->lines[reader->rows.n] = line;
		row_note(&reader->layout, &reader->rows, reader->rows.n++, tuple.t_data);
	}
	ExecClearTuple(reader->slot);
}

/* Appends the TIDs of the rows noted, and their page. */
static void
put_tids(ColumnReader *reader, Buffer buffer, ColumnBatch *batch)
{
	BlockNumber block = BufferGetBlockNumber(buffer);
	int64	   *tids = batch->wide + batch->n;
	int			i;

	if (reader->rows.n == 0)
		return;
	reader->pages[reader->npages].block = block;
	reader->pages[reader->npages++].buffer = buffer;
	for (i = 0; i < reader->rows.n; i++)
		tids[i] = COLUMN_TID(block, reader->lines[i]);
	batch->n += reader->rows.n;
}

/* scan_page with a loop for each kind of page; only for read_page. */
#define SCAN_PAGE(notes) \
	(all_visible ? scan_page(reader, buffer, page, ahead, keys, notes, true, false) \
	 : scan_page(reader, buffer, page, ahead, keys, notes, false, false))

/* Reads the page in buffer, which is pinned. */
static void
read_page(ColumnReader *reader, Buffer buffer, ColumnBatch *batches)
{
	Page		page = BufferGetPage(buffer);
	Page		ahead = BufferIsValid(reader->next) ? BufferGetPage(reader->next) : NULL;
	PageNotes	notes = reader->notes;
	int32	   *keys = NULL;
	bool		all_visible;
	bool		serializable;
	int			n;

	compat_heap_page_prune_opt((HeapScanDesc) reader->scan, buffer);

	reader->rows.nwalked = 0;
	reader->rows.early_read = notes == NOTE_KEYS;
	if (notes == NOTE_KEYS)
	{
		const ColumnBatch *batch = &batches[reader->layout.columns[reader->layout.early].batch];

		keys = batch->keys + batch->n;
	}
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	TestForOldSnapshot(reader->snapshot, reader->rel, page);
	all_visible = reader->all_visible_counts && PageIsAllVisible(page);
	serializable = CheckForSerializableConflictOutNeeded(reader->rel, reader->snapshot);
	if (serializable)
		n = scan_page(reader, buffer, page, ahead, keys, notes, all_visible, true);
	else if (notes == NOTE_KEYS)
		n = SCAN_PAGE(NOTE_KEYS);
	else if (notes == NOTE_ROWS)
		n = SCAN_PAGE(NOTE_ROWS);
	else if (notes == NOTE_TIDS)
		n = SCAN_PAGE(NOTE_TIDS);
	else if (notes == NOTE_LINES)
		n = SCAN_PAGE(NOTE_LINES);
	else
		n = SCAN_PAGE(NOTE_COUNT);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);

	pgstat_count_index_tuples(reader->rel, n);
	if (notes == NOTE_LINES)
		filter_rows(reader, buffer, page, n, batches + reader->layout.ncolumns);
	if (reader->tids)
		put_tids(reader, buffer, &batches[reader->nbatches - 1]);
	else if (reader->layout.ncolumns + reader->nfilters == 0)
		batches[0].n += notes == NOTE_COUNT ? n : reader->rows.n;
	if (reader->layout.ncolumns > 0)
		rows_read(&reader->layout, &reader->rows, batches);
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
	bool		filtered = scan->qual != NULL || scan->nfilters > 0;

	reader->rel = scan->rel;
	reader->heap = scan->rel->rd_tableam == GetHeapamTableAmRoutine();
	Assert(scan->aligned || (scan->ncolumns > 0 && scan->nfilters == 0 && !scan->tids));
	Assert(reader->heap || !scan->tids);
	row_layout_init(&reader->layout, RelationGetDescr(scan->rel), scan->ncolumns, scan->attnums,
					scan->aligned);
	reader->nbatches = column_scan_nbatches(scan);
	reader->tids = scan->tids;
	if (scan->tids)
		reader->pages = palloc_array(PageBuffer, COLUMN_BATCH_KEYS);
	if (filtered)
		reader->notes = NOTE_LINES;
	else if (scan->tids)
		reader->notes = NOTE_TIDS;
	else if (scan->ncolumns == 0)
		reader->notes = NOTE_COUNT;
	else
		reader->notes = reader->layout.early >= 0 ? NOTE_KEYS : NOTE_ROWS;

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
	reader->nfilters = scan->nfilters;
	reader->filters = scan->filters;
	return reader;
}

/* Appends the row in reader->slot to the batches of the columns. */
static void
read_slot(ColumnReader *reader, ColumnBatch *batches)
{
	int			c;

	for (c = 0; c < reader->layout.ncolumns; c++)
	{
		const RowColumn *column = &reader->layout.columns[c];
		ColumnBatch *batch = &batches[column->batch];
		int64		bias = column_kind_bias(column->kind);
		int64		value = bias;	/* 0 for a NULL */
		bool		isnull;
		Datum		datum = slot_getattr(reader->slot, column->attnum, &isnull);

		batch->nnulls += isnull;
		if (isnull && !reader->layout.aligned)
			continue;
		if (!isnull)
			value = column_value(column->kind, datum);
		if (reader->layout.aligned)
			batch->nulls[batch->n] = isnull;
		if (column->wide)
			batch->wide[batch->n++] = value;
		else
			batch->keys[batch->n++] = column_narrow(value - bias);
	}
}

/* Reads a batch of a table that is no heap, whose rows come through slots. */
static bool
next_from_slots(ColumnReader *reader, ColumnBatch *batches)
{
	int			rows;

	for (rows = 0; rows < COLUMN_BATCH_KEYS;)
	{
		CHECK_FOR_INTERRUPTS();
		if (!table_scan_getnextslot(reader->scan, ForwardScanDirection, reader->slot))
			return false;
		if (reader->notes == NOTE_LINES)
		{
			if (!qual_is_true(reader))
				continue;
			evaluate_filters(reader, batches + reader->layout.ncolumns);
		}
		read_slot(reader, batches);
		rows++;
		if (reader->layout.ncolumns == 0 && reader->nfilters == 0)
			batches[0].n++;
	}
	return true;
}

bool
column_reader_next(ColumnReader *reader, ColumnBatch *batches)
{
	size_t		rows;
	int			c;

	reader->npages = 0;
	for (c = 0; c < reader->nbatches; c++)
	{
		batches[c].n = 0;
		batches[c].nnulls = 0;
		/* Pages without NULLs do not write there. */
		if (c < reader->layout.ncolumns && reader->layout.aligned)
			memset(batches[c].nulls, 0, COLUMN_BATCH_KEYS);
	}
	if (!reader->heap)
		return next_from_slots(reader, batches);

	/* As long as the rows of another page fit in any case. */
	for (rows = 0; rows <= COLUMN_BATCH_KEYS - MaxHeapTuplesPerPage;)
	{
		if (!next_page(reader))
			return false;
		read_page(reader, reader->current, batches);
		if (reader->by_page)
			return true;
		rows = 0;
		for (c = 0; c < reader->nbatches; c++)
			rows = Max(rows, batches[c].n);
	}
	return true;
}

const PageBuffer *
column_reader_pages(const ColumnReader *reader)
{
	return reader->pages;
}

void
column_reader_by_page(ColumnReader *reader)
{
	Assert(reader->heap);
	reader->by_page = true;
}

Buffer
column_reader_buffer(const ColumnReader *reader)
{
	return reader->current;
}

uint64
column_reader_filtered(const ColumnReader *reader)
{
	return reader->filtered;
}

void
column_reader_close(ColumnReader *reader)
{
	if (BufferIsValid(reader->current))
		ReleaseBuffer(reader->current);
	if (BufferIsValid(reader->next))
		ReleaseBuffer(reader->next);
	if (!reader->heap)
		ExecDropSingleTupleTableSlot(reader->slot);
	table_endscan(reader->scan);
	row_layout_free(&reader->layout);
	if (reader->pages)
		pfree(reader->pages);
	pfree(reader);
}
