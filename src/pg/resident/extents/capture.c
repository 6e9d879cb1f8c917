/*
 * capture.c
 *		Making resident extents of pages (see capture.h).
 */
#include "postgres.h"

#include "storage/bufmgr.h"

#include "pg/pages/pages.h"
#include "pg/resident/extents/capture.h"
#include "sort/extents/extent.h"

/* Rows of an extent, at most. */
#define MAX_ROWS ((Size) RESIDENT_EXTENT_BLOCKS * MaxHeapTuplesPerPage)

/* The values of one column, of all pages so far. */
typedef struct CapturedValues
{
	ColumnBatch rows;			/* room for MAX_ROWS, keys */
	ResidentBlocks blocks;		/* captured */
	uint32		counts[RESIDENT_EXTENT_BLOCKS];
} CapturedValues;

struct Capture
{
	Relation	rel;
	int			ncolumns;
	CaptureColumn *columns;
	RowLayout	layout;
	NotedRows	rows;			/* of a page */
	ColumnBatch *batches;		/* of a page, wide of wide kinds */
	CapturedValues *captured;
	uint64		stamps[RESIDENT_EXTENT_BLOCKS]; /* LSNs of the pages */
	ResidentBlocks numbered;	/* as in ResidentExtent */

	CaptureExtent extent;		/* first is InvalidBlockNumber: none has begun */
	uint32		nextents;
};

Capture *
capture_make(Relation rel, int ncolumns, CaptureColumn *columns)
{
	Capture    *capture = palloc0_object(Capture);
	AttrNumber *attnums = palloc_array(AttrNumber, ncolumns);
	int			c;

	capture->rel = rel;
	capture->ncolumns = ncolumns;
	capture->columns = columns;
	capture->extent.first = InvalidBlockNumber;
	capture->batches = palloc0_array(ColumnBatch, ncolumns);
	capture->captured = palloc0_array(CapturedValues, ncolumns);
	for (c = 0; c < ncolumns; c++)
	{
		CapturedValues *captured = &capture->captured[c];
		Oid			type = TupleDescAttr(RelationGetDescr(rel), columns[c].attnum - 1)->atttypid;

		attnums[c] = columns[c].attnum;
		column_batch_make(&captured->rows, BATCH_KEYS | BATCH_NULLS, MAX_ROWS);
		column_batch_make(&capture->batches[c], BATCH_NULLS |
						  (column_kind_is_wide(column_read_kind(type)) ? BATCH_WIDE : BATCH_KEYS),
						  MaxHeapTuplesPerPage);
	}
	row_layout_init(&capture->layout, RelationGetDescr(rel), ncolumns, attnums, NULL, false);
	return capture;
}

BlockNumber
capture_first(const Capture *capture)
{
	return capture->extent.first;
}

void
capture_begin(Capture *capture, const CaptureExtent *extent, uint32 nextents)
{
	int			c;

	capture->extent = *extent;
	capture->nextents = nextents;
	memset(capture->stamps, 0, sizeof(capture->stamps));
	memset(&capture->numbered, 0, sizeof(capture->numbered));
	for (c = 0; c < capture->ncolumns; c++)
	{
		CapturedValues *captured = &capture->captured[c];

		captured->rows.n = 0;
		captured->rows.nnulls = 0;
		memset(&captured->blocks, 0, sizeof(captured->blocks));
		memset(captured->counts, 0, sizeof(captured->counts));
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

	capture->rows.n = 0;
	capture->rows.nwalked = 0;
	capture->rows.early_read = false;
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	all_visible = PageIsAllVisible(page);
	if (all_visible)
	{
		int			lines = heap_format_lines(page);
		int			line;

		for (line = FirstOffsetNumber; line <= lines; line++)
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

void
capture_page(Capture *capture, Buffer buffer)
{
	BlockNumber block = BufferGetBlockNumber(buffer);
	const CaptureExtent *extent = &capture->extent;
	int			i = (int) (block - extent->first);
	bool		numbered;
	int			c;

	if (extent->first == InvalidBlockNumber || block < extent->first || i >= extent->nblocks ||
		!resident_blocks_has(&extent->visible, i))
		return;
	if (!note_rows(capture, buffer, &capture->stamps[i], &numbered))
		return;
	if (numbered)
		resident_blocks_add(&capture->numbered, i);
	for (c = 0; c < capture->ncolumns; c++)
		column_batch_clear(&capture->batches[c]);
	rows_read(&capture->layout, &capture->rows, capture->batches);
	for (c = 0; c < capture->ncolumns; c++)
	{
		CapturedValues *captured = &capture->captured[c];

		if (!column_batch_append_narrow(&captured->rows, &capture->batches[c]))
		{
			capture->columns[c].out_of_range = true;
			continue;
		}
		captured->counts[i] = (uint32) capture->batches[c].n;
		resident_blocks_add(&captured->blocks, i);
	}
}

/* Makes an extent of a column resident. */
static void
publish(Capture *capture, int c)
{
	CapturedValues *captured = &capture->captured[c];
	CaptureColumn *column = &capture->columns[c];
	ExtentRows	rows = {
		.nblocks = capture->extent.nblocks,
		.stamps = capture->stamps,
		.counts = captured->counts,
		.values = captured->rows.keys,
		.nulls = captured->rows.nulls
	};
	ResidentExtent extent = {
		.stamp = capture->extent.lsn,
		.last = capture->extent.lsn,
		.blocks = captured->blocks,
		.numbered = capture->numbered,
		.rows = (uint32) captured->rows.n,
		.usage = 1
	};
	Extent		header;
	void	   *bytes;

	extent_plan(&rows, &header);
	extent.nulls = header.nnulls;
	extent.base = header.base;
	extent.top = header.top;
	bytes = palloc(header.size);
	extent_write(&rows, &header, bytes);
	if (resident_publish(&column->key, visibility_extent(capture->extent.first), &extent, bytes,
						 header.size, (Size) header.size * capture->nextents, &column->sweep))
		column->captured++;
	pfree(bytes);
}

void
capture_end(Capture *capture)
{
	int			c;

	if (capture->extent.first == InvalidBlockNumber)
		return;
	for (c = 0; c < capture->ncolumns; c++)
		if (bms_is_member(c, capture->extent.wanted) &&
			resident_blocks_count(&capture->captured[c].blocks) * 2 >= capture->extent.nblocks)
			publish(capture, c);
	capture->extent.first = InvalidBlockNumber;
}
