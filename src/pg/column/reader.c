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
 *		columns
 *		none				29.2
 *		int4				73.1
 *		2 int4				78.2
 *		3 int4				82.1
 *		3 int4, int8		88.7
 */
#include "postgres.h"

#include "access/tableam.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"

#include "pg/column/reader.h"
#include "pg/compat.h"
#include "pg/pages/pages.h"
#include "pg/resident/memory/memory.h"
#include "pg/resident/source/source.h"

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
	MemoryContext memory;		/* of the reader, and of what it has made */
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
	size_t		room;			/* rows that a batch has room for */
	BatchPages	pages;			/* of the batch, if tids */

	/* the page being read, and the one after it, both pinned */
	Buffer		current;
	Buffer		next;
	BlockNumber next_block;		/* for compat_heap_next_buffer */

	/* resident columns, if there are any, and the blocks that are not */
	ResidentSource *resident;
	CompatBlockStream others;
	bool		in_pages;		/* these are being read */
	BlockNumber unread;			/* by_page: the page of the batch, if it has not been read */
	Buffer		late;			/* ... but is now, pinned */
	ColumnBlocks *blocks;		/* as in ColumnScan */

	/* filters, as in ColumnScan */
	ExprState  *qual;
	ExprContext *econtext;
	TupleTableSlot *slot;		/* the reader's own unless heap */
	int			nfilters;
	ExprState **filters;
	uint64		filtered;
	bool		reads_slot;		/* columns are read of the slot that filters have taken apart */

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

		column_batch_put(&batches[f], 0, refused);
	}
}

/*
 * Whether reading columns of the slot, which filters have taken apart, is less work than walking
 * over the row's columns once more.
 */
static inline bool
has_taken_apart(const ColumnReader *reader)
{
	const RowLayout *layout = &reader->layout;

	return layout->nfixed < layout->ncolumns &&
		2 * reader->slot->tts_nvalid >= layout->columns[layout->ncolumns - 1].attnum;
}

/* --- the visible rows of a page */

/*
 * How many rows ahead of the one being read are fetched into the processor's
 * cache.  Reading rows is waiting for memory, and the processor's own prefetching
 * helps little: rows fill a page from its end, and it stops at a page's border.
 * hpsort_column_array of 10,000,000 rows of 60 bytes, in ms, by rows ahead:
 * 0: 95, 8: 83, 16: 80, 32: 69, 48: 63, 64: 59, 80: 57, 128: 56.6,
 * 137 (a page): 56.5 (AMD EPYC, Zen 5, PostgreSQL 18).
 */
#define ROWS_AHEAD 128

/*
 * Rows ahead of the one whose filter is evaluated: evaluating takes so long that few are enough,
 * and that fetching all rows of a page first, with nothing to be done meanwhile, is waited for.
 * WHERE of two columns that refuses all of 500,000 rows of 200 bytes, in ms of processor time: all
 * first 43.2, not ahead 40.1, by rows ahead 4: 37.4, 8: 37.0, 16: 36.9; core's scan 40 to 42
 * (Intel Xeon, PostgreSQL 17).
 */
#define FILTERED_ROWS_AHEAD 8

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
	int			lines = heap_format_lines(page);
	int			distance = Min(lines, ROWS_AHEAD);

	/* At rows: where they are filtered, that is later. */
	bool		look = (notes != NOTE_COUNT && notes != NOTE_LINES) || !all_visible || serializable;
	int			n = 0;
	int			line;

	for (line = FirstOffsetNumber; line <= lines; line++)
	{
		HeapTupleHeader row;

		if (look && line + distance <= lines)
			heap_format_prefetch_row(page, line + distance);
		else if (look && ahead)
			heap_format_prefetch_row(ahead, line + distance - lines);

		if (!heap_format_row(page, line, &row))
			continue;
		if (serializable || (!all_visible && !heap_format_surely_visible(row, xmin)))
		{
			if (!heap_format_is_visible(reader->rel, reader->snapshot, buffer, line, all_visible,
										serializable))
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
filter_rows(ColumnReader *reader, Buffer buffer, Page page, Page ahead, int nlines,
			ColumnBatch *batches)
{
	HeapTupleData tuple;
	BlockNumber block = BufferGetBlockNumber(buffer);
	int			i;

	reader->rows.n = 0;
	for (i = 0; i < nlines; i++)
	{
		OffsetNumber line = reader->lines[i];

		if (i + FILTERED_ROWS_AHEAD < nlines)
			heap_format_prefetch_row(page, reader->lines[i + FILTERED_ROWS_AHEAD]);
		else if (ahead)
			heap_format_prefetch_row(ahead, FirstOffsetNumber + i + FILTERED_ROWS_AHEAD - nlines);

		heap_format_tuple(&tuple, reader->rel, page, block, line);
		ExecStoreBufferHeapTuple(&tuple, reader->slot, buffer);
		if (!qual_is_true(reader))
			continue;
		evaluate_filters(reader, batches + reader->layout.ncolumns);
		reader->lines[reader->rows.n] = line;
		if (reader->rows.n == 0)
			reader->reads_slot = has_taken_apart(reader);
		if (reader->reads_slot)
		{
			row_read_slot(&reader->layout, reader->slot, batches);
			reader->rows.n++;
			continue;
		}
		row_note(&reader->layout, &reader->rows, reader->rows.n++, tuple.t_data);
	}
	ExecClearTuple(reader->slot);
}

/* Appends the TIDs of the rows noted, and their page. */
static void
put_tids(ColumnReader *reader, Buffer buffer, ColumnBatch *batch)
{
	BlockNumber block = BufferGetBlockNumber(buffer);
	int64	   *tids = column_batch_space(batch, reader->rows.n).wide;
	int			i;

	if (reader->rows.n == 0)
		return;
	batch_pages_add(&reader->pages, block, buffer);
	for (i = 0; i < reader->rows.n; i++)
		tids[i] = COLUMN_TID(block, reader->lines[i]);
	column_batch_add(batch, reader->rows.n, 0);
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
	reader->reads_slot = false;
	reader->rows.early_read = notes == NOTE_KEYS;
	if (notes == NOTE_KEYS)
		keys = column_batch_space(&batches[reader->layout.columns[reader->layout.early].batch],
								  MaxHeapTuplesPerPage).keys;
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
		filter_rows(reader, buffer, page, ahead, n, batches);
	if (reader->tids)
		put_tids(reader, buffer, &batches[reader->nbatches - 1]);
	else if (reader->layout.ncolumns + reader->nfilters == 0)
		column_batch_add(&batches[0], notes == NOTE_COUNT ? n : reader->rows.n, 0);
	if (reader->layout.ncolumns > 0 && !reader->reads_slot)
		rows_read(&reader->layout, &reader->rows, batches);
}

/* Reads the next block of the table, or of those that are not resident. */
static inline Buffer
next_buffer(ColumnReader *reader)
{
	if (reader->resident)
		return compat_block_stream_read(&reader->others);
	return compat_heap_next_buffer((HeapScanDesc) reader->scan, &reader->next_block);
}

/*
 * Moves on to the next page, and pins the one after it, whose rows are fetched
 * ahead while this one is read.  False at the end of the table, or of a list of blocks.
 */
static bool
next_page(ColumnReader *reader)
{
	CHECK_FOR_INTERRUPTS();
	if (BufferIsValid(reader->current))
		ReleaseBuffer(reader->current);
	else if (!reader->ended)
		reader->next = next_buffer(reader);
	reader->current = reader->next;
	if (!BufferIsValid(reader->current))
	{
		reader->ended = true;
		return false;
	}
	reader->next = next_buffer(reader);
	if (BufferIsValid(reader->next))
		heap_format_prefetch_lines(BufferGetPage(reader->next));
	return true;
}

/* Whether the rows of another page fit into the batches in any case. */
static inline bool
batches_have_room(const ColumnReader *reader, const ColumnBatch *batches)
{
	return batches[0].n <= reader->room - MaxHeapTuplesPerPage;
}

/* --- resident columns */

/* Opens the source of resident columns, if all that is read may be resident. */
static void
open_resident(ColumnReader *reader, const ColumnScan *scan)
{
	ColumnScan	resident = *scan;

	if (!resident_enabled() || !reader->heap || (scan->tids && !scan->unread) || scan->images)
		return;
	resident.snapshot = reader->snapshot;
	reader->resident = resident_source_open(&resident, heap_format_scan_blocks(reader->scan),
											&reader->pages);
	if (reader->resident)
		compat_block_stream_begin(&reader->others, (HeapScanDesc) reader->scan, page_list_next,
								  resident_source_pages(reader->resident));
}

static void
close_resident(ColumnReader *reader)
{
	const ColumnBlocks *blocks;

	if (reader->resident == NULL)
		return;
	if (reader->blocks)
	{
		blocks = resident_source_blocks(reader->resident);
		reader->blocks->resident += blocks->resident;
		reader->blocks->gpu += blocks->gpu;
		reader->blocks->all += blocks->all;
	}
	compat_block_stream_end(&reader->others);
	resident_source_close(reader->resident);
}

/* Adds resident rows to batches; by_page, those of one block, whose page is left unread. */
static ResidentStep
fill_resident(ColumnReader *reader, ColumnBatch *batches)
{
	BlockNumber block;
	ResidentStep step = resident_source_fill(reader->resident, batches,
											 reader->by_page ? &block : NULL);

	if (step == RESIDENT_ROWS && reader->by_page)
		reader->unread = block;
	return step;
}

/* Reads a batch from resident extents, and from the pages of other blocks. */
static bool
next_from_resident(ColumnReader *reader, ColumnBatch *batches)
{
	for (;;)
	{
		if (reader->in_pages)
		{
			if (!batches_have_room(reader, batches))
				return true;
			if (next_page(reader))
			{
				read_page(reader, reader->current, batches);
				page_list_show(resident_source_pages(reader->resident), reader->current);
				if (reader->by_page)
					return true;
				continue;
			}
			reader->in_pages = false;
			page_list_end(resident_source_pages(reader->resident));
		}
		switch (fill_resident(reader, batches))
		{
			case RESIDENT_ROWS:
				if (batches[0].packed.n > 0 || batches[0].runs || reader->by_page)
					return true;
				break;
			case RESIDENT_FULL:
				return true;
			case RESIDENT_PAGES:
				reader->in_pages = true;
				reader->ended = false;
				break;
			case RESIDENT_END:
				return false;
		}
	}
}

/* --- the reader */

/*
 * Room for all rows of so many pages of a table, as far as is known, and for the rows of two more.
 */
static size_t
batch_room(Relation rel, BlockNumber nblocks)
{
	double		rows = (double) nblocks * MaxHeapTuplesPerPage;

	if (rel->rd_rel->relpages > 0 && rel->rd_rel->reltuples >= 0)
		rows = Min(rows, (double) rel->rd_rel->reltuples / rel->rd_rel->relpages * nblocks);
	return (size_t) Min(rows + 2 * MaxHeapTuplesPerPage, COLUMN_BATCH_KEYS);
}

ColumnReader *
column_reader_open(const ColumnScan *scan)
{
	/* A node that is run again for each row of another opens a reader each time. */
	MemoryContext memory = AllocSetContextCreate(CurrentMemoryContext, "HpSort Column Reader",
												 ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(memory);
	ColumnReader *reader = palloc0_object(ColumnReader);
	bool		filtered = scan->qual != NULL || scan->nfilters > 0;

	reader->memory = memory;
	reader->rel = scan->rel;
	reader->heap = heap_format_is_heap(scan->rel);
	Assert(reader->heap || !scan->tids);
	row_layout_init(&reader->layout, RelationGetDescr(scan->rel), scan->ncolumns, scan->attnums,
					scan->images, scan->keys);
	reader->nbatches = column_scan_nbatches(scan);
	reader->tids = scan->tids;
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
	reader->room = reader->heap ? batch_room(scan->rel, heap_format_scan_blocks(reader->scan)) :
		COLUMN_BATCH_KEYS;
	if (scan->tids)
		batch_pages_make(&reader->pages, reader->room);
	reader->all_visible_counts = heap_format_trusts_pages(reader->snapshot);
	reader->current = reader->next = reader->late = InvalidBuffer;
	reader->unread = InvalidBlockNumber;
	reader->next_block = InvalidBlockNumber;

	reader->qual = scan->qual;
	reader->econtext = scan->econtext;
	reader->slot = reader->heap ? scan->slot : table_slot_create(scan->rel, NULL);
	reader->nfilters = scan->nfilters;
	reader->filters = scan->filters;
	reader->blocks = scan->blocks;
	open_resident(reader, scan);
	MemoryContextSwitchTo(old);
	return reader;
}

/* Reads a batch of a table that is no heap, whose rows come through slots. */
static bool
next_from_slots(ColumnReader *reader, ColumnBatch *batches)
{
	size_t		rows;

	for (rows = 0; rows < reader->room;)
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
		row_read_slot(&reader->layout, reader->slot, batches);
		rows++;
		if (reader->layout.ncolumns == 0 && reader->nfilters == 0)
			column_batch_add(&batches[0], 1, 0);
	}
	return true;
}

/* Unpins the page of the last batch that was not read, if column_reader_buffer has. */
static void
release_late(ColumnReader *reader)
{
	if (BufferIsValid(reader->late))
		ReleaseBuffer(reader->late);
	reader->late = InvalidBuffer;
	reader->unread = InvalidBlockNumber;
}

size_t
column_reader_room(const ColumnReader *reader)
{
	return reader->room;
}

bool
column_reader_next(ColumnReader *reader, ColumnBatch *batches)
{
	int			c;

	reader->pages.n = 0;
	release_late(reader);
	for (c = 0; c < reader->nbatches; c++)
		column_batch_clear(&batches[c]);
	if (!reader->heap)
		return next_from_slots(reader, batches);

	if (reader->resident)
		return next_from_resident(reader, batches);

	while (batches_have_room(reader, batches))
	{
		if (!next_page(reader))
			return false;
		read_page(reader, reader->current, batches);
		if (reader->by_page)
			return true;
	}
	return true;
}

const PageBuffer *
column_reader_pages(const ColumnReader *reader)
{
	return reader->pages.pages;
}

void
column_reader_by_page(ColumnReader *reader)
{
	Assert(reader->heap && reader->tids);
	reader->by_page = true;
}

Buffer
column_reader_buffer(ColumnReader *reader)
{
	if (!BlockNumberIsValid(reader->unread))
		return reader->current;
	if (!BufferIsValid(reader->late))
	{
		reader->late = ReadBuffer(reader->rel, reader->unread);
		heap_format_settle(reader->late);
	}
	return reader->late;
}

int64
column_reader_resident(const ColumnReader *reader)
{
	return reader->resident ? resident_source_blocks(reader->resident)->resident : 0;
}

uint64
column_reader_filtered(const ColumnReader *reader)
{
	return reader->filtered + (reader->resident ? resident_source_filtered(reader->resident) : 0);
}

void
column_reader_close(ColumnReader *reader)
{
	if (BufferIsValid(reader->current))
		ReleaseBuffer(reader->current);
	if (BufferIsValid(reader->next))
		ReleaseBuffer(reader->next);
	release_late(reader);
	if (!reader->heap)
		ExecDropSingleTupleTableSlot(reader->slot);
	close_resident(reader);
	table_endscan(reader->scan);
	MemoryContextDelete(reader->memory);
}
