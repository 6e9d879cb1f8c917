/*
 * reader.c
 *		Integer columns of a table, read a page at a time (see column.h).
 *
 * Under a page's share lock the visible rows are found in one go and noted, as heapam.c's page
 * mode does it.  After the lock has been given back, under the pin alone, the filters are
 * evaluated and the columns are read (row.c).
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

#include "pg/column/column.h"
#include "pg/column/filters.h"
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
	NOTE_LINES					/* their line numbers, for filters that core evaluates of each */
} PageNotes;

/* Pages that are read one after the other. */
typedef struct PageReading
{
	PageNotes	notes;			/* what the scan needs of a page */
	bool		all_visible_counts; /* PD_ALL_VISIBLE can be trusted */
	bool		ended;			/* the last page has been read */
	Buffer		current;		/* the page being read, pinned */
	Buffer		next;			/* the page after it, pinned */
	BlockNumber next_block;		/* for compat_heap_next_buffer */

	NotedRows	rows;			/* the visible ones of the current page */
	bool		from_slot;		/* columns are read of the slot that filters have taken apart */
} PageReading;

/* Resident columns, beside the pages of the blocks that are not resident. */
typedef struct ResidentReading
{
	ResidentSource *source;		/* NULL: all blocks are read from pages */
	PageList   *list;			/* the blocks that are read from pages ... */
	ReadStream *stream;			/* ... and the stream of their pages */
	bool		in_pages;		/* these are being read */
	BlockNumber unread;			/* by_page: the batch's page, if it has not been read */
	Buffer		late;			/* the unread page, once somebody wants it, pinned */
	ColumnBlocks *blocks;		/* as in ColumnScan */
} ResidentReading;

struct ColumnReader
{
	MemoryContext memory;		/* of the reader, and of what it has made */
	Relation	rel;
	Snapshot	snapshot;
	TableScanDesc scan;
	bool		heap;			/* else another access method, through its slots */
	RowLayout	layout;			/* of the columns, and of those that filters compare */
	int			ncolumns;		/* that are returned */
	ColumnBatch *batches;
	int			nbatches;		/* column_scan_nbatches */
	size_t		room;			/* rows that a batch has room for */
	bool		tids;			/* as in ColumnScan */
	bool		by_page;		/* a batch is a page */
	BatchPages	pages;			/* of the batch, if tids */
	PageReading page;
	ResidentReading resident;
	RowFilters	filters;
	uint64	   *unmatched;		/* as in ColumnScan */
};

/* --- the visible rows of a page */

/*
 * Rows ahead of the one whose filter is evaluated: evaluating takes so long that few are enough,
 * and that fetching all rows of a page first, with nothing to be done meanwhile, is waited for.
 * WHERE of two columns that refuses all of 500,000 rows of 200 bytes, in ms of processor time: all
 * first 43.2, not ahead 40.1, by rows ahead 4: 37.4, 8: 37.0, 16: 36.9; core's scan 40 to 42
 * (Intel Xeon, PostgreSQL 17).
 */
#define FILTERED_ROWS_AHEAD 8

/*
 * Goes through a page's rows and returns how many are visible.  Notes of them what notes says, in
 * reader->page; their keys, for NOTE_KEYS, in keys.  ahead is the next page, or NULL.  Callers
 * pass constants for the last three arguments, so that each usual kind of page gets a loop of its
 * own.
 */
static pg_attribute_always_inline int
scan_page(ColumnReader *reader, Buffer buffer, Page page, Page ahead, int32 *keys,
		  PageNotes notes, bool all_visible, bool serializable)
{
	const RowLayout *layout = &reader->layout;
	NotedRows  *rows = &reader->page.rows;
	TransactionId xmin = reader->snapshot->xmin;
	int			lines = heap_format_lines(page);

	/* Rows that are only counted are not looked at, and where core filters them, that is later. */
	bool		look = (notes != NOTE_COUNT && notes != NOTE_LINES) || !all_visible || serializable;
	int			left;
	int			n = 0;

	rows_begin(rows, notes == NOTE_KEYS, look ? ahead : NULL, lines);
	left = ahead ? rows->ahead_left : lines;
	for (int line = FirstOffsetNumber; line <= lines; line++)
	{
		HeapTupleHeader row;

		if (look && line > left)
			heap_format_prefetch_row(ahead, line);

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
			rows->lines[n] = line;
		n++;
	}
	rows->n = rows->nnoted = n;
	return n;
}

/*
 * Whether reading columns of the slot, which filters have taken apart, is less work than walking
 * over the row's columns once more.
 */
static inline bool
has_taken_apart(const RowLayout *layout, const NotedRows *rows, const TupleTableSlot *slot)
{
	return Max(rows->nlocated, layout->nfixed) < layout->ncolumns &&
		2 * slot->tts_nvalid >= layout->columns[layout->ncolumns - 1].attnum;
}

/*
 * Has core evaluate filters for the rows noted of a page: its part of the qual and, for the rows
 * that pass, of the other filters.  Keeps the rows that pass.
 */
static void
filter_by_row(ColumnReader *reader, Buffer buffer, Page ahead)
{
	PageReading *reading = &reader->page;
	RowFilters *filters = &reader->filters;
	HeapTupleData tuple;
	Page		page = BufferGetPage(buffer);
	BlockNumber block = BufferGetBlockNumber(buffer);
	OffsetNumber *lines = reading->rows.lines;
	bool		late = reading->notes == NOTE_LINES;
	int			nrows = reading->rows.n;
	uint16		kept[MaxHeapTuplesPerPage];
	int			n = 0;

	for (int i = 0; i < nrows; i++)
	{
		if (late && i + FILTERED_ROWS_AHEAD < nrows)
			heap_format_prefetch_row(page, lines[i + FILTERED_ROWS_AHEAD]);
		else if (late && ahead)
			heap_format_prefetch_row(ahead, FirstOffsetNumber + i + FILTERED_ROWS_AHEAD - nrows);

		heap_format_tuple(&tuple, reader->rel, page, block, lines[i]);
		ExecStoreBufferHeapTuple(&tuple, filters->slot, buffer);
		if (!row_filters_pass(filters))
			continue;
		row_filters_append(filters, i, reader->batches + reader->ncolumns);
		if (n == 0)
			reading->from_slot = has_taken_apart(&reader->layout, &reading->rows, filters->slot);
		if (reading->from_slot)
			row_read_slot(&reader->layout, filters->slot, reader->batches);
		else if (late)
			row_note(&reader->layout, &reading->rows, n, tuple.t_data);
		if (late)
			lines[n] = lines[i];
		kept[n++] = i;
	}
	if (late && nrows > 0)
		reading->rows.reach = heap_format_slot_reach(filters->slot);
	ExecClearTuple(filters->slot);
	if (late)
		reading->rows.n = n;
	else
		rows_keep(&reader->layout, &reading->rows, kept, n);
}

/*
 * Evaluates the scan's filters for the rows noted of a page, and keeps the rows that pass the
 * qual: conditions first, then what core evaluates.
 */
static void
filter_rows(ColumnReader *reader, Buffer buffer, Page ahead)
{
	RowFilters *filters = &reader->filters;
	NotedRows  *rows = &reader->page.rows;
	int			before = rows->n;
	int			unmatched = 0;

	if (filters->nconditions > 0)
		unmatched = row_filter_keep(&reader->layout, rows);
	filters->unmatched += unmatched;
	filters->refused += before - rows->n - unmatched;
	if (filters->refusals)
		for (int f = 0; f < filters->n; f++)
			row_filter_mark(&reader->layout, rows, f + 1,
							filters->refusals + f * MaxHeapTuplesPerPage);
	if (filters->by_row)
		filter_by_row(reader, buffer, ahead);
	else
		row_filters_append_page(filters, rows->n, reader->batches + reader->ncolumns);
}

/*
 * Prefetches what will be read of the rows of the next page, if that is as much as of this page's,
 * behind their first cache lines.  count(*) with a condition of a column some 300 bytes behind the
 * beginning of 1e6 rows of 540 bytes takes 161 ms without, and 118 with it; this loop is apart from
 * scan_page's because there it costs narrow rows 4 % (Intel Xeon, PostgreSQL 17).
 */
static void
prefetch_reach(const ColumnReader *reader, Page page, Page ahead)
{
	int			reach = reader->page.rows.reach;
	int			lines = heap_format_lines(page);

	if (ahead && reach >= 64)
		for (int line = FirstOffsetNumber; line <= lines; line++)
			heap_format_prefetch_reach(ahead, line, reach);
}

/* Appends the TIDs of the rows noted, and their page. */
static void
put_tids(ColumnReader *reader, Buffer buffer)
{
	ColumnBatch *batch = &reader->batches[reader->nbatches - 1];
	BlockNumber block = BufferGetBlockNumber(buffer);
	int			n = reader->page.rows.n;
	int64	   *tids = column_batch_space(batch, n).wide;

	if (n == 0)
		return;
	rows_begin_loop(&reader->page.rows);
	batch_pages_add(&reader->pages, block, buffer);
	for (int i = 0; i < n; i++)
		tids[i] = COLUMN_TID(block, reader->page.rows.lines[i]);
	column_batch_add(batch, n, 0);
}

/* scan_page with a loop for each kind of page; only for read_page. */
#define SCAN_PAGE(notes) \
	(all_visible ? scan_page(reader, buffer, page, ahead, keys, notes, true, false) \
	 : scan_page(reader, buffer, page, ahead, keys, notes, false, false))

/* Reads the current page. */
static void
read_page(ColumnReader *reader)
{
	PageReading *reading = &reader->page;
	Buffer		buffer = reading->current;
	Page		page = BufferGetPage(buffer);
	Page		ahead = BufferIsValid(reading->next) ? BufferGetPage(reading->next) : NULL;
	PageNotes	notes = reading->notes;
	const RowLayout *layout = &reader->layout;
	int32	   *keys = NULL;
	bool		all_visible;
	bool		serializable;
	int			n;

	compat_heap_page_prune_opt((HeapScanDesc) reader->scan, buffer);

	reading->from_slot = false;
	if (notes == NOTE_KEYS)
		keys = column_batch_space(&reader->batches[layout->columns[layout->early].batch],
								  MaxHeapTuplesPerPage).keys;
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	TestForOldSnapshot(reader->snapshot, reader->rel, page);
	all_visible = reading->all_visible_counts && PageIsAllVisible(page);
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
	prefetch_reach(reader, page, ahead);
	if (row_filters_exist(&reader->filters))
		filter_rows(reader, buffer, ahead);
	if (reader->tids)
		put_tids(reader, buffer);
	else if (reader->ncolumns + reader->filters.n == 0)
		column_batch_add(&reader->batches[0], reading->rows.n, 0);
	if (reader->ncolumns > 0 && !reading->from_slot)
		rows_read(&reader->layout, &reading->rows, reader->batches);
	rows_prefetch(&reading->rows, MaxHeapTuplesPerPage);
}

/*
 * Reads and pins the next block of the table; or the next listed block that is not resident.
 * Returns InvalidBuffer at the end.
 */
static inline Buffer
next_buffer(ColumnReader *reader)
{
	if (reader->resident.source)
		return page_list_buffer(reader->resident.list, reader->resident.stream,
								((HeapScanDesc) reader->scan)->rs_strategy);
	return compat_heap_next_buffer((HeapScanDesc) reader->scan, &reader->page.next_block);
}

/*
 * Moves on to the next page, and pins the page after it, so that the rows of that one are fetched
 * into the cache meanwhile.  Returns false at the end of the table, or of a list of blocks.
 */
static bool
next_page(ColumnReader *reader)
{
	PageReading *reading = &reader->page;

	CHECK_FOR_INTERRUPTS();
	if (BufferIsValid(reading->current))
		ReleaseBuffer(reading->current);
	else if (!reading->ended)
		reading->next = next_buffer(reader);
	reading->current = reading->next;
	if (!BufferIsValid(reading->current))
	{
		reading->ended = true;
		return false;
	}
	reading->next = next_buffer(reader);
	if (BufferIsValid(reading->next))
		heap_format_prefetch_lines(BufferGetPage(reading->next));
	return true;
}

/* Whether the rows of another page fit into the batches in any case. */
static inline bool
batches_have_room(const ColumnReader *reader)
{
	return reader->batches[0].n <= reader->room - MaxHeapTuplesPerPage;
}

/* --- resident columns */

/* Opens the source of resident columns, if all that is read may be resident. */
static void
open_resident(ColumnReader *reader, const ColumnScan *scan)
{
	ResidentReading *reading = &reader->resident;
	ColumnScan	resident = *scan;

	reading->late = InvalidBuffer;
	reading->unread = InvalidBlockNumber;
	reading->blocks = scan->blocks;
	if (!resident_enabled() || !reader->heap || (scan->tids && !scan->unread))
		return;
	resident.snapshot = reader->snapshot;
	reading->source = resident_source_open(&resident, heap_format_scan_blocks(reader->scan),
										   &reader->pages, &reading->list);
	if (reading->source)
		reading->stream = read_stream_begin_relation(READ_STREAM_USE_BATCHING,
													 ((HeapScanDesc) reader->scan)->rs_strategy,
													 reader->rel, MAIN_FORKNUM, page_list_next,
													 reading->list, 0);
}

/*
 * Ends the stream and closes the source, if there is one, at the end of a scan or before it.
 * Returns how many of the source's rows the qual has refused.
 */
static uint64
close_resident(ResidentReading *reading)
{
	if (reading->source == NULL)
		return 0;
	read_stream_end(reading->stream);
	return resident_source_close(reading->source, reading->blocks);
}

/*
 * Reads a batch from resident extents, and from the pages of other blocks, by turns: the source
 * says when enough blocks are listed that are to be read from pages.  Returns false at the end.
 */
static bool
next_from_resident(ColumnReader *reader)
{
	ResidentReading *reading = &reader->resident;
	ColumnBatch *batches = reader->batches;
	BlockNumber block;

	for (;;)
	{
		if (reading->in_pages)
		{
			if (!batches_have_room(reader))
				return true;
			if (next_page(reader))
			{
				read_page(reader);
				page_list_show(reading->list, reader->page.current);
				if (reader->by_page || rows_end_batch(&reader->layout))
					return true;
				continue;
			}
			/* All listed pages have been read: the stream begins anew with the next list. */
			reading->in_pages = false;
			read_stream_reset(reading->stream);
			page_list_end(reading->list);
		}
		switch (resident_source_fill(reading->source, batches, reader->by_page ? &block : NULL))
		{
			case RESIDENT_ROWS:

				/*
				 * A page of rows; or more rows fit behind these, unless nothing may be added to
				 * them.
				 */
				if (reader->by_page)
					reading->unread = block;
				if (batches[0].packed.n > 0 || batches[0].runs || reader->by_page)
					return true;
				break;
			case RESIDENT_FULL:
				return true;
			case RESIDENT_PAGES:
				reading->in_pages = true;
				reader->page.ended = false;
				break;
			case RESIDENT_END:
				return false;
		}
	}
}

/* --- the reader */

/*
 * Returns how many rows batches have room for: all rows that nblocks pages have by statistics of
 * the table, and the rows of two more pages.
 */
static size_t
batch_room(Relation rel, BlockNumber nblocks)
{
	double		rows = (double) nblocks * MaxHeapTuplesPerPage;

	if (rel->rd_rel->relpages > 0 && rel->rd_rel->reltuples >= 0)
		rows = Min(rows, (double) rel->rd_rel->reltuples / rel->rd_rel->relpages * nblocks);
	return (size_t) Min(rows + 2 * MaxHeapTuplesPerPage, COLUMN_BATCH_KEYS);
}

/* Makes the batches: of columns, of filters, of TIDs. */
static void
make_batches(ColumnReader *reader, const ColumnScan *scan)
{
	reader->nbatches = column_scan_nbatches(scan);
	reader->batches = palloc_array(ColumnBatch, reader->nbatches);
	reader->room = reader->heap ? batch_room(scan->rel, heap_format_scan_blocks(reader->scan)) :
		COLUMN_BATCH_KEYS;
	Assert(reader->room <= COLUMN_BATCH_KEYS);
	for (int b = 0; b < reader->nbatches; b++)
	{
		int			arrays = BATCH_NULLS;

		if (b < scan->ncolumns)
		{
			AttrNumber	attnum = scan->attnums[b];
			Form_pg_attribute att = TupleDescAttr(RelationGetDescr(scan->rel), attnum - 1);
			ColumnKind	kind = scan->keys ? COLUMN_KIND_INT4 :
			column_value_kind(att->atttypid, att->atttypmod);

			arrays = column_image_arrays(scan->images ? &scan->images[b] : NULL, kind);
		}
		else if (b >= scan->ncolumns + scan->nfilters)
			arrays = scan->tids ? BATCH_WIDE : 0;
		column_batch_make(&reader->batches[b], arrays, reader->room);
	}
	if (scan->tids)
		batch_pages_make(&reader->pages, reader->room);
}

/* Returns what a scan needs of a page: no more is noted under the page's lock. */
static PageNotes
notes_of(const ColumnScan *scan, const RowLayout *layout, const RowFilters *filters)
{
	if (filters->nconditions > 0)
		return NOTE_TIDS;
	if (row_filters_exist(filters))
		return NOTE_LINES;
	if (scan->tids)
		return NOTE_TIDS;
	if (scan->ncolumns == 0)
		return NOTE_COUNT;
	return layout->early >= 0 ? NOTE_KEYS : NOTE_ROWS;
}

ColumnReader *
column_reader_open(const ColumnScan *scan, ColumnBatch **batches)
{
	/*
	 * All of the reader is freed at once.  A node that is run again for each row of another opens
	 * a reader each time.
	 */
	MemoryContext memory = AllocSetContextCreate(CurrentMemoryContext, "HpSort Column Reader",
												 ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(memory);
	ColumnReader *reader = palloc0_object(ColumnReader);

	reader->memory = memory;
	reader->rel = scan->rel;
	reader->heap = heap_format_is_heap(scan->rel);
	reader->tids = scan->tids;
	Assert(reader->heap || !scan->tids);
	reader->ncolumns = scan->ncolumns;
	reader->unmatched = scan->unmatched;

	/* Core's scan: predicate lock on the table, block order, ring of buffers, statistics. */
	reader->scan = compat_table_beginscan(scan->rel, scan->snapshot, scan->parallel,
										  scan->for_change);
	reader->snapshot = reader->scan->rs_snapshot;
	if (reader->snapshot->snapshot_type != SNAPSHOT_MVCC)
		elog(ERROR, "column reader needs an MVCC snapshot");
	make_batches(reader, scan);

	row_filters_init(&reader->filters, scan,
					 reader->heap ? scan->slot : table_slot_create(scan->rel, NULL),
					 reader->heap);
	row_layout_init(&reader->layout, scan, reader->filters.nconditions,
					reader->filters.conditions);
	row_filter_order(&reader->layout, reader->filters.nconditions, reader->filters.conditions);
	reader->page.notes = notes_of(scan, &reader->layout, &reader->filters);
	reader->page.all_visible_counts = heap_format_trusts_pages(reader->snapshot);
	reader->page.current = reader->page.next = InvalidBuffer;
	reader->page.next_block = InvalidBlockNumber;
	open_resident(reader, scan);
	MemoryContextSwitchTo(old);
	*batches = reader->batches;
	return reader;
}

/* Reads a batch of a table that is no heap, whose rows come through slots. */
static bool
next_from_slots(ColumnReader *reader)
{
	RowFilters *filters = &reader->filters;
	ColumnBatch *batches = reader->batches;

	/* Rows that the qual refuses take no room. */
	for (size_t rows = 0; rows < reader->room && !rows_end_batch(&reader->layout);)
	{
		CHECK_FOR_INTERRUPTS();
		if (!table_scan_getnextslot(reader->scan, ForwardScanDirection, filters->slot))
			return false;
		if (reader->page.notes == NOTE_LINES)
		{
			if (!row_filters_pass(filters))
				continue;
			row_filters_append(filters, 0, batches + reader->ncolumns);
		}
		row_read_slot(&reader->layout, filters->slot, batches);
		rows++;
		if (reader->ncolumns == 0 && filters->n == 0)
			column_batch_add(&batches[0], 1, 0);
	}
	return true;
}

/* Unpins the page of the last batch that was not read, if column_reader_buffer has pinned it. */
static void
release_late(ResidentReading *reading)
{
	if (BufferIsValid(reading->late))
		ReleaseBuffer(reading->late);
	reading->late = InvalidBuffer;
	reading->unread = InvalidBlockNumber;
}

bool
column_reader_next(ColumnReader *reader)
{
	/* What the last batch had is void: its pages, its rows. */
	reader->pages.n = 0;
	release_late(&reader->resident);
	for (int b = 0; b < reader->nbatches; b++)
		column_batch_clear(&reader->batches[b]);
	if (!reader->heap)
		return next_from_slots(reader);
	if (reader->resident.source)
		return next_from_resident(reader);

	while (batches_have_room(reader))
	{
		if (!next_page(reader))
			return false;
		read_page(reader);
		if (reader->by_page || rows_end_batch(&reader->layout))
			return true;
	}
	return true;
}

bool
column_reader_waits(const ColumnReader *reader)
{
	return reader->resident.source && resident_source_waits(reader->resident.source);
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
	ResidentReading *reading = &reader->resident;

	/* The batch was read from its page, which is still pinned; or from extents. */
	if (!BlockNumberIsValid(reading->unread))
		return reader->page.current;
	if (!BufferIsValid(reading->late))
	{
		reading->late = ReadBufferExtended(reader->rel, MAIN_FORKNUM, reading->unread, RBM_NORMAL,
										   ((HeapScanDesc) reader->scan)->rs_strategy);
		heap_format_settle(reading->late);
	}
	return reading->late;
}

Buffer
column_reader_rows_buffer(ColumnReader *reader)
{
	Buffer		buffer = column_reader_buffer(reader);
	const ColumnBatch *tids = &reader->batches[reader->nbatches - 1];

	if (BlockNumberIsValid(reader->resident.unread))
	{
		Page		page = BufferGetPage(buffer);

		for (size_t i = 0; i < tids->n; i++)
			heap_format_prefetch_line(page, COLUMN_TID_LINE(tids->wide[i]));
		for (size_t i = 0; i < tids->n; i++)
			heap_format_prefetch_row(page, COLUMN_TID_LINE(tids->wide[i]));
	}
	return buffer;
}

uint64
column_reader_refused(const ColumnReader *reader)
{
	const ResidentSource *source = reader->resident.source;

	return reader->filters.refused + (source ? resident_source_refused(source) : 0);
}

void
column_reader_blocks(const ColumnReader *reader, ColumnBlocks *blocks)
{
	if (reader->resident.source)
		resident_source_blocks(reader->resident.source, blocks);
}

int64
column_reader_resident(const ColumnReader *reader)
{
	const ResidentSource *source = reader->resident.source;

	return source ? resident_source_hits(source) : 0;
}

uint64
column_reader_close(ColumnReader *reader)
{
	uint64		refused = reader->filters.refused;

	if (BufferIsValid(reader->page.current))
		ReleaseBuffer(reader->page.current);
	if (BufferIsValid(reader->page.next))
		ReleaseBuffer(reader->page.next);
	release_late(&reader->resident);
	if (!reader->heap)
		ExecDropSingleTupleTableSlot(reader->filters.slot);
	if (reader->unmatched)
		*reader->unmatched += reader->filters.unmatched;
	refused += close_resident(&reader->resident);
	table_endscan(reader->scan);
	MemoryContextDelete(reader->memory);
	return refused;
}
