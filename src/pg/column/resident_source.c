/*
 * resident_source.c
 *		The blocks of a scan from resident extents (see resident_source.h).
 */
#include "postgres.h"

#include "storage/bufmgr.h"
#include "storage/spin.h"
#include "utils/memutils.h"

#include "pg/column/capture.h"
#include "pg/column/extent_reader.h"
#include "pg/column/page_list.h"
#include "pg/column/residency.h"
#include "pg/column/resident_gpu.h"
#include "pg/column/resident_order.h"
#include "pg/column/resident_rows.h"
#include "pg/column/resident_source.h"
#include "pg/column/resident_valid.h"
#include "pg/column/visibility.h"
#include "pg/compat.h"
#include "pg/resident/kept.h"
#include "pg/resident/resident.h"

/*
 * Blocks that are listed before they are read.  In a parallel scan few, so that no process takes all of
 * those that are not resident.
 */
#define LIST_BLOCKS 4096
#define LIST_BLOCKS_PARALLEL 512

/* Of a packed batch: room for whole extents, but in the second-level cache. */
#define PACKED_BYTES (64 * 1024)

struct ResidentSource
{
	MemoryContext memory;
	ResidentScan scan;
	int			ncolumns;
	SourceColumn *columns;
	VisibilityCopy map;
	BlockNumber next;			/* of the table, where no process shares it */
	bool		ended;			/* all blocks have been taken */
	bool		complete;		/* ... the last one by this process */
	int64		hits;
	int64		blocks;
	uint64		filtered;		/* rows that the filter has refused */

	/* the extent being read */
	BlockNumber first;
	int			nblocks;
	int			at;				/* the next block */
	ResidentBlocks valid;
	ExtentMatch match;			/* which rows the filter accepts */
	bool	   *wanted;			/* of each column, while an extent is begun: whether it is captured */
	uint8	   *moves;			/* ... and its moves */

	PageList   *pages;			/* blocks to be read from pages */
	CaptureColumn *capture_columns;

	ColumnBatch *saved;			/* what batches were before they were added to */
	int			saved_pages;	/* the same of the number of scan.tids */
	uint64		saved_skipped;	/* ... and of scan.cutoff */
	void	   *packed;			/* PACKED_BYTES; NULL: batches are not packed */

	/* valid blocks that are left to the GPU until all others have been read; NULL: none are */
	ResidentGpu *gpu;
	ResidentGpuCounts gpu_counts;
	bool		gpu_counted;

	/* valid blocks that are left to the scan's taker until all others have been read; NULL: none are */
	ResidentRows *rows;
	bool		offered;		/* the taker has been called */
	int64		taken;			/* blocks that it has taken */

	/* valid blocks that are left until all others have been read: the first rows come first; NULL: none are */
	ResidentOrder *order;
};

/* --- opening and closing */

static bool
columns_are_kept(const ResidentScan *scan)
{
	int			c;

	if (scan->ncolumns == 0 || !resident_keeps_any())
		return false;
	for (c = 0; c < scan->ncolumns; c++)
		if (!resident_is_kept(RelationGetRelid(scan->rel), scan->attnums[c]))
			return false;
	return true;
}

/* Enters the columns; false if there is no memory for one of them. */
static bool
begin_columns(ResidentSource *source)
{
	const ResidentScan *scan = &source->scan;
	ResidentSummary *summaries = palloc_array(ResidentSummary, scan->ncolumns);
	size_t		room = visibility_first_room(scan->nblocks, scan->ncolumns);
	bool		counted;
	int			c;

	for (c = 0; c < scan->ncolumns; c++)
	{
		SourceColumn *column = &source->columns[c];
		ResidentKey *key = &column->reader.key;
		Oid			type = TupleDescAttr(RelationGetDescr(scan->rel), scan->attnums[c] - 1)->atttypid;

		residency_key(scan->rel, scan->attnums[c], key);
		column->reader.wide = scan->aligned && column_kind_is_wide(column_read_kind(type));
		if (!resident_begin(key, visibility_extent(scan->nblocks - 1) + 1, &summaries[c]))
			return false;
		column->capture = summaries[c].reads > 0;
		column->use.blocks = scan->nblocks;
		column->use.reason = summaries[c].reads > 0 ? RESIDENT_OK : RESIDENT_READ_ONCE;
		source->capture_columns[c].key = *key;
		source->capture_columns[c].attnum = scan->attnums[c];
		if (scan->filter)
			resident_filter_read(scan->filter, c, &column->reader);
	}
	counted = scan->runs && scan->ncolumns == 1 && scan->filter == NULL && resident_rows_are_counted(&summaries[0]);
	if (scan->taker && !counted)
		source->rows = resident_rows_make(summaries, scan->ncolumns, scan->nreturned, scan->filter, room);
	if (source->rows)
		scan->taker->waits = true;
	if (source->rows == NULL && scan->runs && scan->ncolumns == 1 && scan->filter == NULL)
		source->gpu = resident_gpu_make(&summaries[0], room);
	return true;
}

ResidentSource *
resident_source_open(const ResidentScan *scan)
{
	MemoryContext memory;
	MemoryContext old;
	ResidentSource *source;

	if (!resident_enabled() || residency_refusal(scan->rel, scan->nblocks) != NULL ||
		!columns_are_kept(scan) || !residency_is_allowed(scan->rel, scan->snapshot))
		return NULL;
	memory = AllocSetContextCreate(CurrentMemoryContext, "HpSort Resident Source",
								   ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(memory);
	source = palloc0_object(ResidentSource);
	source->memory = memory;
	source->scan = *scan;
	source->ncolumns = scan->ncolumns;
	source->columns = palloc0_array(SourceColumn, scan->ncolumns);
	source->capture_columns = palloc0_array(CaptureColumn, scan->ncolumns);
	source->saved = palloc_array(ColumnBatch, scan->nbatches);
	source->wanted = palloc_array(bool, scan->ncolumns);
	source->moves = palloc_array(uint8, scan->ncolumns);
	source->pages = page_list_make(scan->rel, scan->nblocks, scan->ncolumns, source->capture_columns,
								   scan->parallel ? LIST_BLOCKS_PARALLEL : LIST_BLOCKS);
	if (scan->packed)
		source->packed = palloc(PACKED_BYTES);
	/*
	 * Processes that share a scan share its extents one by one, unless bounds are all that is compared of most of
	 * them: then one process takes in a moment what would be little for each.
	 */
	if (scan->cutoff && (scan->parallel == NULL || resident_filter_only_cuts(scan->filter)))
		source->order = resident_order_make(scan->ncolumns, scan->cutoff->descending,
											visibility_first_room(scan->nblocks, scan->ncolumns));
	visibility_copy_init(&source->map, scan->rel);
	if (!begin_columns(source))
	{
		MemoryContextSwitchTo(old);
		MemoryContextDelete(memory);
		return NULL;
	}
	MemoryContextSwitchTo(old);
	return source;
}

void
resident_source_close(ResidentSource *source)
{
	int			c;

	for (c = 0; c < source->ncolumns; c++)
	{
		SourceColumn *column = &source->columns[c];

		column->use.complete = source->complete;
		column->use.reason = resident_valid_reason(column, &source->capture_columns[c], source->blocks);
		resident_end(&column->reader.key, &column->use);
	}
	page_list_free(source->pages);
	MemoryContextDelete(source->memory);
}

int64
resident_source_hits(const ResidentSource *source)
{
	return source->hits;
}

int64
resident_source_gpu_hits(const ResidentSource *source)
{
	return source->gpu_counts.blocks + source->taken;
}

int64
resident_source_blocks(const ResidentSource *source)
{
	return source->blocks;
}

uint64
resident_source_filtered(const ResidentSource *source)
{
	return source->filtered;
}

/* --- taking extents */

/* Takes blocks of one extent for this process; false if there are none left. */
static bool
take_blocks(ResidentSource *source)
{
	ParallelBlockTableScanDesc parallel = (ParallelBlockTableScanDesc) source->scan.parallel;
	BlockNumber nblocks = source->scan.nblocks;
	BlockNumber start = 0;
	uint64		taken;

	if (parallel == NULL)
	{
		source->first = source->next;
		source->next = Min(visibility_extent_end(source->first), nblocks);
		source->nblocks = (int) (source->next - source->first);
		source->complete = source->next >= nblocks;
		return source->nblocks > 0;
	}

	/* Processes without a source may have begun elsewhere (synchronized scans). */
	SpinLockAcquire(&parallel->phs_mutex);
	if (parallel->phs_startblock == InvalidBlockNumber)
		parallel->phs_startblock = 0;
	start = parallel->phs_startblock;
	SpinLockRelease(&parallel->phs_mutex);

	taken = pg_atomic_read_u64(&parallel->phs_nallocated);
	do
	{
		if (taken >= nblocks)
			return false;
		source->first = (BlockNumber) ((start + taken) % nblocks);
		source->nblocks = (int) (Min(visibility_extent_end(source->first), nblocks) - source->first);
		source->nblocks = (int) Min((uint64) source->nblocks, nblocks - taken);
	} while (!pg_atomic_compare_exchange_u64(&parallel->phs_nallocated, &taken,
											 taken + source->nblocks));
	source->complete = taken + source->nblocks >= nblocks;
	return true;
}

/* Copies the page of the map that has the blocks taken, and what is known of its extents, before. */
static void
look_at_map(ResidentSource *source)
{
	BlockNumber first = source->first - source->first % VISIBILITY_BLOCKS;
	int			c;

	if (source->map.first == first)
		return;
	for (c = 0; c < source->ncolumns; c++)
		extent_reader_look(&source->columns[c].reader, visibility_extent(first));
	visibility_copy_read(&source->map, source->first);
}

/* --- which blocks are valid */

/* The blocks taken, as blocks of their extent. */
static ResidentBlocks
blocks_taken(const ResidentSource *source, BlockNumber extent_first)
{
	return resident_blocks_range((int) (source->first - extent_first), source->nblocks);
}

/* Notes that so many blocks have been read from extents. */
static void
note_hits(ResidentSource *source, int64 nblocks)
{
	int			c;

	source->hits += nblocks;
	for (c = 0; c < source->ncolumns; c++)
		source->columns[c].use.hits += nblocks;
}

/* Decides of the blocks taken which are read how. */
static void
begin_extent(ResidentSource *source)
{
	BlockNumber extent_first = visibility_extent_first(source->first);
	uint32		number = visibility_extent(source->first);
	ResidentBlocks taken = blocks_taken(source, extent_first);
	ResidentBlocks visible;
	ResidentBlocks others;
	int			end = (int) (source->first - extent_first) + source->nblocks;
	bool	   *wanted = source->wanted;
	uint8	   *moves = source->moves;
	bool		any = false;
	ResidentLook look;
	int			c;

	look_at_map(source);
	look = (ResidentLook) {
		.rel = source->scan.rel,
		.lsn = source->map.lsn,
		.nblocks = source->nblocks,
		.whole = source->first == extent_first &&
			source->first + source->nblocks == Min(visibility_extent_end(source->first), source->scan.nblocks),
		.later = source->gpu || source->rows || source->order
	};
	visible = visibility_copy_blocks(&source->map, extent_first, end);
	visible = resident_blocks_and(&visible, &taken);
	source->valid = visible;
	for (c = 0; c < source->ncolumns; c++)
	{
		SourceColumn *column = &source->columns[c];
		bool		known;
		ResidentBlocks valid = resident_valid_find(&look, column, number, extent_first, &visible, &known);

		wanted[c] = resident_valid_wants_capture(&look, column, number, &visible, &valid, known);
		moves[c] = extent_reader_extent(&column->reader, number)->moves;
		any = any || wanted[c];
		source->valid = resident_blocks_and(&source->valid, &valid);
	}
	if (any)
		memset(&source->valid, 0, sizeof(source->valid));
	if (source->scan.tids)
		resident_valid_keep_numbered(source->columns, source->ncolumns, number, &source->valid);
	if (!look.later)
		resident_valid_keep_aligned(source->columns, source->ncolumns, &source->valid);
	others.words[0] = taken.words[0] & ~source->valid.words[0];
	others.words[1] = taken.words[1] & ~source->valid.words[1];
	page_list_add(source->pages, extent_first, end, &others, &visible, source->map.lsn,
				  any ? wanted : NULL, moves);
	if (source->gpu && resident_blocks_any(&source->valid))
	{
		resident_gpu_add(source->gpu, &source->columns[0].reader, number, &source->valid);
		memset(&source->valid, 0, sizeof(source->valid));
	}
	if (source->rows && resident_blocks_any(&source->valid))
	{
		if (!resident_rows_add(source->rows, source->columns, number, &source->valid, &source->filtered))
			note_hits(source, RESIDENT_EXTENT_BLOCKS);
		memset(&source->valid, 0, sizeof(source->valid));
	}
	if (source->order && resident_blocks_any(&source->valid))
	{
		resident_order_add(source->order, source->columns, number, &source->valid);
		memset(&source->valid, 0, sizeof(source->valid));
	}
	source->match = EXTENT_ALL;
	if (source->scan.filter && resident_blocks_any(&source->valid))
		source->match = resident_filter_begin(source->scan.filter);
	source->blocks += source->nblocks;
	source->at = (int) (source->first - extent_first);
	source->first = extent_first;
	source->nblocks = end;
	/* Nothing of it is read here: the usual case where the GPU counts. */
	if (!resident_blocks_any(&source->valid))
		source->at = end;
}

/* --- reading valid blocks */

/* Whether the extent has memory that can be copied. */
static bool
extent_reaches(const ResidentSource *source)
{
	int			c;

	for (c = 0; c < source->ncolumns; c++)
		if (!extent_reader_reaches(&source->columns[c].reader))
			return false;
	return true;
}

/* Whether what has been copied of the extent was its bytes. */
static bool
extent_holds(ResidentSource *source)
{
	int			c;

	for (c = 0; c < source->ncolumns; c++)
		if (!extent_reader_holds(&source->columns[c].reader))
			return false;
	return true;
}

/* Adds the rows of valid blocks from .. to - 1 to the batches; returns how many are wanted. */
static size_t
add_blocks(ResidentSource *source, int from, int to, ColumnBatch *batches)
{
	size_t		n = extent_reader_rows(&source->columns[0].reader, from, to);
	size_t		accepted = 0;
	int			c;

	if (source->scan.filter)
	{
		if (source->match != EXTENT_NONE)
			accepted = resident_filter_add(source->scan.filter, source->first, from, to, batches);
		source->filtered += n - accepted;
		return accepted;
	}
	for (c = 0; c < source->ncolumns; c++)
	{
		const ExtentReader *reader = &source->columns[c].reader;

		if (source->scan.aligned)
			extent_reader_add_aligned(reader, from, to, &batches[c]);
		else
			extent_reader_add_compact(reader, from, to, &batches[c]);
	}
	if (source->scan.tids)
		extent_reader_add_tids(&source->columns[0].reader, source->first, from, to, NULL,
							   &batches[source->scan.nbatches - 1], source->scan.tids);
	return n;
}

/* The next run of valid blocks, from *from on, at most max rows; false if there is none. */
static bool
next_run(const ResidentSource *source, int *from, int *to, size_t max, bool single)
{
	const uint32 *starts = extent_starts(&source->columns[0].reader.header.extent);
	int			end;

	*from = *to = Min(resident_blocks_next(&source->valid, *from, true), source->nblocks);
	if (*from == source->nblocks)
		return false;
	end = single ? *from + 1 : Min(resident_blocks_next(&source->valid, *from, false), source->nblocks);
	if (starts[end] - starts[*from] <= max)
		*to = end;
	else
		while (starts[*to + 1] - starts[*from] <= max)
			(*to)++;
	return true;
}

/* The extent has been given up: the rest of it is read from pages. */
static void
abandon_extent(ResidentSource *source, int from)
{
	ResidentBlocks rest = source->valid;
	ResidentBlocks none = {{0, 0}};
	int			i;

	for (i = 0; i < from; i++)
		resident_blocks_remove(&rest, i);
	source->valid = none;
	source->at = source->nblocks;
	page_list_add(source->pages, source->first, source->nblocks, &rest, &none, 0, NULL, NULL);
}

/* Whether the extent's rows go to packed batches. */
static bool
is_packed(const ResidentSource *source)
{
	return source->packed != NULL && source->scan.nbatches == 1 && source->scan.nreturned == 1 &&
		source->match == EXTENT_ALL && source->columns[0].reader.header.extent.nnulls == 0;
}

/* Rows that the batches still have room for. */
static size_t
batch_room(const ResidentSource *source, const ColumnBatch *batches, bool pack)
{
	size_t		rows = 0;
	int			b;

	/* No rows will be added. */
	if (source->match == EXTENT_NONE)
		return SIZE_MAX;
	if (pack)
		return PACKED_BYTES / source->columns[0].reader.header.extent.width;
	/* Compact batches of several columns differ in length. */
	for (b = 0; b < source->scan.nbatches; b++)
		rows = Max(rows, batches[b].n);
	return batches[0].room - rows;
}

/* Batches are as they were before the last rows were added. */
static void
take_back_rows(ResidentSource *source, ColumnBatch *batches)
{
	int			b;

	for (b = 0; b < source->scan.nbatches; b++)
		column_batch_take_back(&batches[b], &source->saved[b]);
}

/* Adds valid blocks of the present extent, as many as fit, from the one that is next. */
static ResidentStep
fill_from_extent(ResidentSource *source, ColumnBatch *batches, bool single)
{
	bool		pack = !single && is_packed(source);
	size_t		room = batch_room(source, batches, pack);
	ResidentStep step = RESIDENT_ROWS;
	uint64		filtered = source->filtered;
	int			nblocks = 0;
	int			start = source->at;
	int			from = start;
	int			to;
	bool		reaches;

	/* Packed batches have nothing else in them. */
	if (pack && batches[0].n > 0)
		return RESIDENT_FULL;
	memcpy(source->saved, batches, source->scan.nbatches * sizeof(ColumnBatch));
	source->saved_pages = source->scan.tids ? source->scan.tids->n : 0;
	source->saved_skipped = source->scan.cutoff ? source->scan.cutoff->skipped : 0;
	resident_start_copying();
	reaches = extent_reaches(source);
	while (reaches && next_run(source, &from, &to, room, single) && to > from)
	{
		size_t		added = extent_reader_rows(&source->columns[0].reader, from, to);

		if (pack)
			extent_reader_add_packed(&source->columns[0].reader, from, to, source->packed, PACKED_BYTES, &batches[0]);
		else
			added = add_blocks(source, from, to, batches);
		room -= added;
		nblocks += to - from;
		from = to;
		if (single)
			break;
	}
	resident_stop_copying();
	if (reaches && nblocks == 0)
		step = RESIDENT_FULL;
	else if (!reaches || !extent_holds(source))
	{
		take_back_rows(source, batches);
		source->filtered = filtered;
		if (source->scan.tids)
			source->scan.tids->n = source->saved_pages;
		if (source->scan.cutoff)
			source->scan.cutoff->skipped = source->saved_skipped;
		abandon_extent(source, start);
		step = RESIDENT_PAGES;
	}
	else
	{
		source->at = from;
		note_hits(source, nblocks);
	}
	return step;
}

/* --- extents that have been left until all else has been read */

/* Makes an extent that has been left the present one, with its valid blocks. */
static void
begin_left(ResidentSource *source, uint32 number)
{
	ResidentBlocks none = {{0, 0}};
	ResidentBlocks others = source->valid;
	int			c;

	source->first = visibility_extent_start(number);
	source->nblocks = RESIDENT_EXTENT_BLOCKS;
	source->at = 0;
	for (c = 0; c < source->ncolumns; c++)
		if (!extent_reader_begin(&source->columns[c].reader, number))
		{
			abandon_extent(source, 0);
			return;
		}
	resident_valid_keep_aligned(source->columns, source->ncolumns, &source->valid);
	others.words[0] &= ~source->valid.words[0];
	others.words[1] &= ~source->valid.words[1];
	if (resident_blocks_any(&others))
		page_list_add(source->pages, source->first, source->nblocks, &others, &none, 0, NULL, NULL);
}

/* The next extent in the order of the cutoff's column: RESIDENT_PAGES, or RESIDENT_END after all. */
static ResidentStep
begin_in_order(ResidentSource *source, const ColumnBatch *batches)
{
	ColumnCutoff *cutoff = source->scan.cutoff;
	uint32		number;

	/* Of each extent's rows the consumer is told before the next, since they may move the cutoff. */
	if (batches[0].n > 0 || batches[0].nnulls > 0)
		return RESIDENT_FULL;
	while (resident_order_next(source->order, source->columns, &number, &source->valid))
	{
		const ResidentExtent *extent = extent_reader_extent(&source->columns[0].reader, number);
		bool		only_cuts = resident_filter_only_cuts(source->scan.filter);
		int			nblocks = resident_blocks_count(&source->valid);

		/*
		 * How many of the rows a filter would have refused is not counted then.  Of an extent in which some
		 * blocks are not valid, only its bytes tell how many rows there are.
		 */
		if (resident_order_is_beyond(extent, cutoff) && (!only_cuts || nblocks == RESIDENT_EXTENT_BLOCKS))
		{
			cutoff->skipped += only_cuts ? extent->rows : 0;
			note_hits(source, nblocks);
			continue;
		}
		begin_left(source, number);
		if (resident_blocks_any(&source->valid))
			source->match = resident_filter_begin(source->scan.filter);
		return RESIDENT_PAGES;
	}
	return RESIDENT_END;
}

/* --- what the GPU counts */

/*
 * When all else has been read: the runs that the GPU has counted, in a batch of their own,
 * their NULLs, and extents that it has not counted, to be read as others are.  RESIDENT_END after all.
 */
static ResidentStep
fill_from_gpu(ResidentSource *source, ColumnBatch *batch)
{
	SourceColumn *column = &source->columns[0];
	uint32		number;

	if (!source->gpu_counted)
	{
		if (batch->n > 0 || batch->nnulls > 0)
			return RESIDENT_FULL;
		source->gpu_counted = true;
		resident_gpu_count(source->gpu, &column->reader.key, &source->gpu_counts);
		note_hits(source, source->gpu_counts.blocks);
		column->use.gpu_hits = source->gpu_counts.blocks;
		if (!source->scan.aligned)
		{
			batch->nnulls = source->gpu_counts.nulls;
			source->gpu_counts.nulls = 0;
		}
		if (source->gpu_counts.values > 0)
		{
			batch->runs = &source->gpu_counts.runs;
			batch->n = (size_t) source->gpu_counts.values;
			return RESIDENT_ROWS;
		}
	}
	if (source->gpu_counts.nulls > 0)
		return resident_gpu_add_nulls(&source->gpu_counts, batch) ? RESIDENT_ROWS : RESIDENT_FULL;
	if (!resident_gpu_next(source->gpu, &column->reader, &number, &source->valid))
		return RESIDENT_END;
	begin_left(source, number);
	return RESIDENT_PAGES;
}

/* --- what is left to the scan's taker */

/*
 * When all else has been read: the taker takes the rows of all extents that have been left, or they are read as others
 * are.  RESIDENT_END after all.
 */
static ResidentStep
fill_from_rows(ResidentSource *source, const ColumnBatch *batches)
{
	uint32		number;
	int			c;

	if (!source->offered)
	{
		/* The taker knows all other rows. */
		if (batches[0].n > 0)
			return RESIDENT_FULL;
		source->offered = true;
		if (source->scan.taker->take(source->scan.taker->arg, source->rows))
		{
			source->taken = resident_rows_blocks(source->rows);
			source->filtered += resident_rows_refused(source->rows);
			note_hits(source, source->taken);
			for (c = 0; c < source->ncolumns; c++)
				source->columns[c].use.gpu_hits = source->taken;
			return RESIDENT_END;
		}
	}
	if (!resident_rows_next(source->rows, source->columns, &number, &source->valid))
		return RESIDENT_END;
	begin_left(source, number);
	if (source->scan.filter && resident_blocks_any(&source->valid))
		source->match = resident_filter_begin(source->scan.filter);
	return RESIDENT_PAGES;
}

ResidentStep
resident_source_fill(ResidentSource *source, ColumnBatch *batches, BlockNumber *one)
{
	for (;;)
	{
		int			from = source->at;
		int			to;

		CHECK_FOR_INTERRUPTS();
		if (source->at < source->nblocks && next_run(source, &from, &to, SIZE_MAX, true))
		{
			ResidentStep step;

			source->at = from;
			if (one)
				*one = source->first + from;
			step = fill_from_extent(source, batches, one != NULL);
			if (step != RESIDENT_PAGES)
				return step;
			continue;
		}
		source->at = source->nblocks;
		if (page_list_is_full(source->pages) || (source->ended && !page_list_is_empty(source->pages)))
		{
			page_list_start(source->pages);
			return RESIDENT_PAGES;
		}
		if (source->ended)
		{
			ResidentStep step;

			Assert(one == NULL || (source->gpu == NULL && source->rows == NULL));
			step = source->gpu ? fill_from_gpu(source, batches)
				: source->rows ? fill_from_rows(source, batches)
				: source->order ? begin_in_order(source, batches) : RESIDENT_END;

			/* There is another extent to be read, or there are pages. */
			if (step != RESIDENT_PAGES)
				return step;
		}
		else if (take_blocks(source))
			begin_extent(source);
		else
		{
			source->ended = true;
			source->nblocks = source->at = 0;
		}
	}
}

/* --- the other blocks */

BlockNumber
resident_source_next_block(void *arg)
{
	return page_list_next(((ResidentSource *) arg)->pages);
}

void
resident_source_show_page(ResidentSource *source, Buffer buffer)
{
	page_list_show(source->pages, buffer);
}

void
resident_source_end_pages(ResidentSource *source)
{
	page_list_end(source->pages);
}
