/*
 * page_list.c
 *		Blocks to be read from pages, and resident extents made of them (see page_list.h).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "pg/pages/pages.h"
#include "pg/resident/source/page_list.h"
#include "sort/extents/extent.h"

/* Rows of an extent, at most. */
#define MAX_ROWS ((Size) RESIDENT_EXTENT_BLOCKS * MaxHeapTuplesPerPage)

/* The values of one column of an extent, of all pages so far. */
typedef struct CapturedValues
{
	CapturedNumbers *numbers;	/* that the rows have; NULL: they have values */
	ColumnBatch rows;			/* room for MAX_ROWS, wide */
	ResidentBlocks blocks;		/* captured */
	uint32		counts[RESIDENT_EXTENT_BLOCKS]; /* rows of each block; 0 where it is not captured */
} CapturedValues;

/* What is captured of one extent. */
typedef struct Capture
{
	const ListedExtent *extent; /* NULL: none has begun */
	RowLayout	layout;
	NotedRows	rows;			/* of a page */
	ColumnBatch *batches;		/* of a page */
	CapturedValues *columns;
	uint64		stamps[RESIDENT_EXTENT_BLOCKS]; /* LSNs of the pages */
	ResidentBlocks numbered;	/* as in ResidentExtent */
} Capture;

struct PageList
{
	MemoryContext memory;		/* of the list */
	MemoryContext item_memory;	/* of columns to be captured */
	Relation	rel;
	BlockNumber nblocks;		/* of the table */
	int			ncolumns;
	SourceColumn *columns;
	ListedExtent *extents;
	int			n;				/* extents */
	int			room;			/* for extents */
	int			blocks;			/* in all extents */
	int			most;			/* blocks that make the list full */

	/* How far page_list_next has come, which a stream calls ahead of what it returns ... */
	int			next;			/* extent */
	int			next_bit;		/* block in it */
	int			shown;			/* ... and page_list_show: extent */
	bool		noted;			/* notes are those of the table's file */
	bool		streams;		/* the stream reads the blocks that are left */
	BufferNotes notes;
	Capture    *capture;		/* NULL until there is something to capture */
	ExtentSizes *sizes;			/* of extents that are measured; NULL: they become resident */
};

PageList *
page_list_make(Relation rel, BlockNumber nblocks, int ncolumns, SourceColumn *columns, int most)
{
	PageList   *list = palloc0_object(PageList);

	list->memory = CurrentMemoryContext;
	list->item_memory = AllocSetContextCreate(CurrentMemoryContext, "HpSort Resident List",
											  ALLOCSET_SMALL_SIZES);
	list->rel = rel;
	list->nblocks = nblocks;
	list->ncolumns = ncolumns;
	list->columns = columns;
	list->most = most;
	list->room = most + 1;
	list->extents = palloc_array(ListedExtent, list->room);
	return list;
}

void
page_list_add(PageList *list, const ListedExtent *extent)
{
	MemoryContext old;

	if (!resident_blocks_any(&extent->blocks))
		return;
	if (list->n == list->room)
	{
		list->room *= 2;
		list->extents = repalloc_huge(list->extents, list->room * sizeof(ListedExtent));
	}
	list->extents[list->n] = *extent;
	old = MemoryContextSwitchTo(list->item_memory);
	list->extents[list->n++].wanted = bms_copy(extent->wanted);
	MemoryContextSwitchTo(old);
	list->blocks += resident_blocks_count(&extent->blocks);
}

bool
page_list_start(PageList *list, bool complete)
{
	if (list->blocks < list->most && !(complete && list->n > 0))
		return false;
	list->next = list->next_bit = list->shown = 0;
	list->streams = false;
	return true;
}

BlockNumber
page_list_next(ReadStream *stream, void *private_data, void *per_buffer_data)
{
	PageList   *list = (PageList *) private_data;

	for (; list->next < list->n; list->next++, list->next_bit = 0)
	{
		const ListedExtent *listed = &list->extents[list->next];
		int			i = resident_blocks_next(&listed->blocks, list->next_bit, true);

		if (i < RESIDENT_EXTENT_BLOCKS)
		{
			list->next_bit = i + 1;
			return listed->first + i;
		}
	}
	return InvalidBlockNumber;
}

Buffer
page_list_buffer(PageList *list, ReadStream *stream, BufferAccessStrategy strategy)
{
	Buffer		buffer;

	if (!list->noted)
		list->notes = buffer_notes_of(list->rel->rd_locator.relNumber);
	list->noted = true;
	if (!list->streams)
	{
		BlockNumber block = page_list_next(stream, list, NULL);

		if (block == InvalidBlockNumber)
			return InvalidBuffer;
		buffer = buffer_notes_get(&list->notes, block);
		if (buffer != InvalidBuffer && heap_format_pin(list->rel, block, buffer, strategy))
			return buffer;
		/* The stream begins with this block. */
		list->next_bit--;
		list->streams = true;
	}
	buffer = read_stream_next_buffer(stream, NULL);
	if (buffer != InvalidBuffer)
		buffer_notes_set(&list->notes, BufferGetBlockNumber(buffer), buffer);
	return buffer;
}

/* --- capturing an extent */

/* Makes the list's capture, in the list's memory. */
static Capture *
make_capture(const PageList *list)
{
	MemoryContext old = MemoryContextSwitchTo(list->memory);
	Capture    *capture = palloc0_object(Capture);
	AttrNumber *attnums = palloc_array(AttrNumber, list->ncolumns);
	ColumnImage *images = palloc0_array(ColumnImage, list->ncolumns);
	ColumnScan	scan = {
		.rel = list->rel,
		.ncolumns = list->ncolumns,
		.attnums = attnums,
		.images = images
	};

	capture->batches = palloc0_array(ColumnBatch, list->ncolumns);
	capture->columns = palloc0_array(CapturedValues, list->ncolumns);
	for (int c = 0; c < list->ncolumns; c++)
	{
		CapturedValues *captured = &capture->columns[c];
		ColumnKind	kind;

		attnums[c] = (AttrNumber) list->columns[c].reader.key.attnum;
		kind = residency_domain(list->rel, attnums[c]).kind;
		if (kind == COLUMN_KIND_NUMBER)
		{
			captured->numbers = captured_numbers_make(list->rel, attnums[c]);
			images[c] = captured_numbers_image(captured->numbers);
			list->columns[c].sweep.many = captured_numbers_are_many(list->rel, attnums[c]);
		}
		column_batch_make(&captured->rows, BATCH_WIDE | BATCH_NULLS, MAX_ROWS);
		column_batch_make(&capture->batches[c], column_image_arrays(&images[c], kind),
						  MaxHeapTuplesPerPage);
	}
	row_layout_init(&capture->layout, &scan, 0, NULL);
	MemoryContextSwitchTo(old);
	return capture;
}

/* Begins to capture an extent: nothing of it has been captured. */
static void
begin_extent(PageList *list, const ListedExtent *extent)
{
	Capture    *capture;

	if (list->capture == NULL)
		list->capture = make_capture(list);
	capture = list->capture;
	capture->extent = extent;
	memset(capture->stamps, 0, sizeof(capture->stamps));
	memset(&capture->numbered, 0, sizeof(capture->numbered));
	for (int c = 0; c < list->ncolumns; c++)
	{
		CapturedValues *captured = &capture->columns[c];

		column_batch_empty(&captured->rows);
		memset(&captured->blocks, 0, sizeof(captured->blocks));
		memset(captured->counts, 0, sizeof(captured->counts));
		if (captured->numbers)
			captured_numbers_begin(captured->numbers, bms_is_member(c, extent->wanted));
	}
}

/*
 * Notes all rows of an all-visible page, under its lock.  Sets *lsn to the page's LSN, which may
 * be 0 where the table was filled without WAL, and *numbered to whether row i, from 0 on, has
 * line number i + 1.  That stays so as long as the page is all-visible: line pointers are used
 * again only for new rows.  Returns false if the page is not all-visible.
 */
static bool
note_rows(Capture *capture, Buffer buffer, uint64 *lsn, bool *numbered)
{
	Page		page = BufferGetPage(buffer);
	bool		all_visible;
	int			last = 0;

	rows_begin(&capture->rows, false, NULL, 0);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	all_visible = PageIsAllVisible(page);
	if (all_visible)
	{
		int			lines = heap_format_lines(page);

		for (int line = FirstOffsetNumber; line <= lines; line++)
		{
			HeapTupleHeader row;

			if (!heap_format_row(page, line, &row))
				continue;
			row_note(&capture->layout, &capture->rows, capture->rows.n++, row);
			last = line;
		}
		*numbered = last == capture->rows.n;
		*lsn = BufferGetLSNAtomic(buffer);
	}
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return all_visible;
}

/*
 * Captures the page of block i of the extent, if it is all-visible, in the copy of the map and in
 * its header.
 */
static void
capture_page(PageList *list, int i, Buffer buffer)
{
	Capture    *capture = list->capture;
	bool		numbered;

	if (!resident_blocks_has(&capture->extent->visible, i) ||
		!note_rows(capture, buffer, &capture->stamps[i], &numbered))
		return;
	if (numbered)
		resident_blocks_add(&capture->numbered, i);
	for (int c = 0; c < list->ncolumns; c++)
		column_batch_clear(&capture->batches[c]);
	rows_read(&capture->layout, &capture->rows, capture->batches);
	for (int c = 0; c < list->ncolumns; c++)
	{
		CapturedValues *captured = &capture->columns[c];

		column_batch_append_wide(&captured->rows, &capture->batches[c]);
		captured->counts[i] = (uint32) capture->batches[c].n;
		resident_blocks_add(&captured->blocks, i);
	}
}

/*
 * Makes the extent of a column resident, if there is room, or measures it.  May wait for memory.
 */
static void
publish(const PageList *list, SourceColumn *column, CapturedValues *captured)
{
	const Capture *capture = list->capture;
	const ListedExtent *listed = capture->extent;
	uint32		number = visibility_extent(listed->first);
	uint32		last = visibility_extent(list->nblocks - 1);
	ExtentRows	rows = {
		.nblocks = listed->nblocks,
		.stamps = capture->stamps,
		.counts = captured->counts,
		.values = captured->rows.wide,
		.nulls = captured->rows.nulls
	};
	ResidentExtent extent = {
		.stamp = listed->lsn,
		.blocks = captured->blocks,
		.numbered = capture->numbered,
		.rows = (uint32) captured->rows.n,
		.usage = 1
	};
	Extent		header;
	void	   *bytes;

	if (captured->numbers && captured_numbers_miss(captured->numbers))
	{
		column->reason = RESIDENT_LONG_VALUES;
		if (list->sizes == NULL)
			resident_refuse(&column->reader.key, number);
		return;
	}
	if (captured->numbers && list->sizes == NULL &&
		!captured_numbers_share(captured->numbers, &column->reader.key, &captured->rows,
								&extent.values, &column->sweep))
		return;
	extent_plan(&rows, &header);
	if (list->sizes)
	{
		ExtentSizes *sizes = &list->sizes[column - list->columns];

		Assert(sizes->n < EXTENT_SIZES);
		if (captured->numbers)
		{
			captured_numbers_sample(captured->numbers, &captured->rows, &sizes->numbers);
			/* How wide the numbers will be is not known before the sample's end. */
			header.size -= header.nrows * header.width;
			sizes->rows += header.nrows;
		}
		sizes->blocks[sizes->n] = resident_blocks_count(&captured->blocks);
		sizes->bytes[sizes->n++] = resident_footprint(header.size);
		return;
	}
	extent.nulls = header.nnulls;
	extent.base = header.base;
	extent.top = header.top;
	bytes = palloc(header.size);
	extent_write(&rows, &header, bytes);
	if (resident_publish(&column->reader.key, number, &extent, bytes, header.size,
						 (Size) header.size * (last - number + 1), &column->sweep))
		column->captured++;
	pfree(bytes);
}

/* Ends the extent, if one has begun: makes it resident, or measures it, if it has blocks enough. */
static void
end_extent(PageList *list)
{
	Capture    *capture = list->capture;

	if (capture == NULL || capture->extent == NULL)
		return;
	for (int c = 0; c < list->ncolumns; c++)
	{
		int			least = list->sizes ? 1 : (capture->extent->nblocks + 1) / 2;

		if (bms_is_member(c, capture->extent->wanted) &&
			resident_blocks_count(&capture->columns[c].blocks) >= least)
			publish(list, &list->columns[c], &capture->columns[c]);
	}
	capture->extent = NULL;
}

void
page_list_show(PageList *list, Buffer buffer)
{
	BlockNumber block = BufferGetBlockNumber(buffer);
	const ListedExtent *extent = &list->extents[list->shown];

	/* Pages come in the order of the list, whose extents all have blocks. */
	while (block < extent->first || block >= extent->first + extent->nblocks)
		extent = &list->extents[++list->shown];
	if (extent->wanted == NULL)
		return;
	if (list->capture == NULL || list->capture->extent != extent)
	{
		end_extent(list);
		begin_extent(list, extent);
	}
	capture_page(list, (int) (block - extent->first), buffer);
}

void
page_list_end(PageList *list)
{
	end_extent(list);
	list->n = 0;
	list->blocks = 0;
	MemoryContextReset(list->item_memory);
}

void
page_list_read(PageList *list)
{
	ReadStream *stream;
	Buffer		buffer;

	if (!page_list_start(list, true))
		return;
	stream = read_stream_begin_relation(READ_STREAM_USE_BATCHING, GetAccessStrategy(BAS_BULKREAD),
										list->rel, MAIN_FORKNUM, page_list_next, list, 0);
	while ((buffer = read_stream_next_buffer(stream, NULL)) != InvalidBuffer)
	{
		CHECK_FOR_INTERRUPTS();
		page_list_show(list, buffer);
		ReleaseBuffer(buffer);
	}
	read_stream_end(stream);
	page_list_end(list);
}

void
page_list_measure(PageList *list, ExtentSizes *sizes)
{
	list->sizes = sizes;
}
