/*
 * resident_source.c
 *		The blocks of a scan from resident extents (see resident_source.h).
 */
#include "postgres.h"

#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "pg/column/capture.h"
#include "pg/column/extent_reader.h"
#include "pg/column/heap_format.h"
#include "pg/column/left_extents.h"
#include "pg/column/page_list.h"
#include "pg/column/residency.h"
#include "pg/column/resident_rows.h"
#include "pg/column/resident_source.h"
#include "pg/column/resident_valid.h"
#include "pg/column/visibility.h"
#include "pg/compat.h"
#include "pg/resident/kept.h"
#include "pg/resident/resident.h"

/*
 * Blocks that are listed before they are read.  In a parallel scan few, so that no process takes
 * all of those that are not resident.
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
	bool	   *wanted;			/* of each column, while an extent is begun: whether it is
								 * captured */
	uint8	   *moves;			/* ... and its moves */

	PageList   *pages;			/* blocks to be read from pages */
	CaptureColumn *capture_columns;

	ColumnBatch *saved;			/* what batches were before they were added to */
	int			saved_pages;	/* the same of the number of scan.tids */
	uint64		saved_skipped;	/* ... and of scan.cutoff */
	void	   *packed;			/* PACKED_BYTES; NULL: batches are not packed */

	/* extents that are left until all other blocks have been read; NULL: none are */
	LeftExtents *left;
	ResidentRows *rows;			/* LEFT_TO_COUNT, LEFT_TO_SORT: for the GPU, of these extents */
	bool		asked;			/* the GPU, or the scan's handler, has been asked */
	ResidentCounts counts;		/* LEFT_TO_COUNT, what the GPU has answered */
	int64		gpu_hits;		/* blocks that the GPU has answered for */
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
	bool		counts;
	int			c;

	for (c = 0; c < scan->ncolumns; c++)
	{
		SourceColumn *column = &source->columns[c];
		ResidentKey *key = &column->reader.key;
		Oid			type = TupleDescAttr(RelationGetDescr(scan->rel),
										 scan->attnums[c] - 1)->atttypid;

		residency_key(scan->rel, scan->attnums[c], key);
		column->reader.wide = !scan->keys && column_kind_is_wide(column_read_kind(type));
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
	counts = scan->runs && scan->ncolumns == 1 && scan->filter == NULL;
	if (scan->handler && !(counts && resident_rows_are_counted(&summaries[0])))
		source->rows = resident_rows_make(LEFT_TO_SORT, summaries, scan->ncolumns,
										  scan->nreturned, scan->filter, room);
	if (source->rows)
		scan->handler->has_rows = true;
	else if (counts)
		source->rows = resident_rows_make(LEFT_TO_COUNT, summaries, 1, 1, NULL, room);
	if (source->rows)
		source->left = resident_rows_extents(source->rows);
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
	source->pages = page_list_make(scan->rel, scan->nblocks, scan->ncolumns,
								   source->capture_columns,
								   scan->parallel ? LIST_BLOCKS_PARALLEL : LIST_BLOCKS);
	if (scan->packed)
		source->packed = palloc(PACKED_BYTES);

	/*
	 * Processes that share a scan share its extents one by one, unless bounds are all that is
	 * compared of most of them: then one process takes in a moment what would be little for each.
	 */
	if (scan->cutoff && (scan->parallel == NULL || resident_filter_only_cuts(scan->filter)))
		source->left = left_extents_make(LEFT_TO_ORDER, scan->ncolumns, scan->cutoff->descending,
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
		column->use.reason = resident_valid_reason(column, &source->capture_columns[c],
												   source->blocks);
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
	return source->gpu_hits;
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
	BlockNumber nblocks = source->scan.nblocks;

	if (source->scan.parallel)
		source->nblocks = heap_format_take_blocks(source->scan.parallel, nblocks,
												  visibility_extent_end, &source->first,
												  &source->complete);
	else
	{
		source->first = source->next;
		source->next = Min(visibility_extent_end(source->first), nblocks);
		source->nblocks = (int) (source->next - source->first);
		source->complete = source->next >= nblocks;
	}
	return source->nblocks > 0;
}

/*
 * Copies the page of the map that has the blocks taken, and what is known of its extents, before.
 */
static void
look_at_map(ResidentSource *source)
{
	BlockNumber first = source->first - source->first % HEAP_FORMAT_MAP_BLOCKS;
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
	look = (ResidentLook)
	{
		.rel = source->scan.rel,
			.lsn = source->map.lsn,
			.nblocks = source->nblocks,
			.whole = source->first == extent_first &&
			source->first + source->nblocks == Min(visibility_extent_end(source->first),
												   source->scan.nblocks),
			.later = source->left != NULL
	};
	visible = visibility_copy_blocks(&source->map, extent_first, end);
	visible = resident_blocks_and(&visible, &taken);
	source->valid = visible;
	for (c = 0; c < source->ncolumns; c++)
	{
		SourceColumn *column = &source->columns[c];
		bool		known;
		ResidentBlocks valid = resident_valid_find(&look, column, number, extent_first, &visible,
												   &known);

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
	if (source->left && resident_blocks_any(&source->valid))
	{
		if (source->rows == NULL)
			left_extents_add(source->left, source->columns, number, &source->valid);
		else if (!resident_rows_add(source->rows, source->columns, number, &source->valid,
									&source->filtered))
			note_hits(source, RESIDENT_EXTENT_BLOCKS);
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
		extent_reader_add(&source->columns[c].reader, from, to, &batches[c]);
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
	end = single ? *from + 1 : Min(resident_blocks_next(&source->valid, *from, false),
								   source->nblocks);
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
	/* No rows will be added. */
	if (source->match == EXTENT_NONE)
		return SIZE_MAX;
	if (pack)
		return PACKED_BYTES / source->columns[0].reader.header.extent.width;
	return batches[0].room - batches[0].n;
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
			extent_reader_add_packed(&source->columns[0].reader, from, to, source->packed,
									 PACKED_BYTES, &batches[0]);
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
begin_left(ResidentSource *source, const LeftExtent *left)
{
	ResidentBlocks none = {{0, 0}};
	ResidentBlocks others = left->valid;
	int			c;

	source->first = visibility_extent_start(left->number);
	source->nblocks = RESIDENT_EXTENT_BLOCKS;
	source->at = 0;
	source->valid = left->valid;
	for (c = 0; c < source->ncolumns; c++)
	{
		ExtentReader *reader = &source->columns[c].reader;

		extent_reader_look_again(reader, left->number, left->generations[c]);
		if (!extent_reader_begin(reader, left->number))
		{
			abandon_extent(source, 0);
			return;
		}
	}
	resident_valid_keep_aligned(source->columns, source->ncolumns, &source->valid);
	others.words[0] &= ~source->valid.words[0];
	others.words[1] &= ~source->valid.words[1];
	if (resident_blocks_any(&others))
		page_list_add(source->pages, source->first, source->nblocks, &others, &none, 0, NULL, NULL);
	if (source->scan.filter && resident_blocks_any(&source->valid))
		source->match = resident_filter_begin(source->scan.filter);
}

/*
 * Returns whether the cutoff says that no row of an extent is wanted, which is then counted.
 * How many rows another condition would have refused is not counted.  Of an extent in which
 * some blocks are not valid, only its bytes tell how many rows there are.
 */
static bool
skip_beyond(ResidentSource *source, const LeftExtent *left)
{
	ColumnCutoff *cutoff = source->scan.cutoff;
	bool		only_cuts = resident_filter_only_cuts(source->scan.filter);
	int			nblocks = resident_blocks_count(&left->valid);

	if (!left_bounds_are_beyond(left->bounds, cutoff) ||
		(only_cuts && nblocks < RESIDENT_EXTENT_BLOCKS))
		return false;
	cutoff->skipped += only_cuts ? left->bounds->rows : 0;
	note_hits(source, nblocks);
	return true;
}

/* Counts blocks that the GPU has answered for. */
static void
note_gpu_hits(ResidentSource *source, int64 nblocks)
{
	int			c;

	source->gpu_hits = nblocks;
	note_hits(source, nblocks);
	for (c = 0; c < source->ncolumns; c++)
		source->columns[c].use.gpu_hits = nblocks;
}

/* Has the GPU count.  Returns whether the batch, which is empty, has got runs. */
static bool
ask_for_counts(ResidentSource *source, ColumnBatch *batch)
{
	ResidentCounts *counts = &source->counts;

	resident_rows_count(source->rows, counts);
	note_gpu_hits(source, counts->blocks);
	if (source->scan.keys)
	{
		batch->nnulls = counts->nulls;
		counts->nulls = 0;
	}
	if (counts->values == 0)
		return false;
	batch->runs = &counts->runs;
	batch->n = (size_t) counts->values;
	return true;
}

/* Has the scan's handler answer for all extents; returns whether it has, and they are not read. */
static bool
ask_handler(ResidentSource *source)
{
	ResidentRowsHandler *handler = source->scan.handler;

	if (!handler->handle(handler->arg, source->rows))
		return false;
	source->filtered += resident_rows_refused(source->rows);
	note_gpu_hits(source, resident_rows_blocks(source->rows));
	return true;
}

/*
 * When all other blocks have been read: first the GPU is asked, with empty batches; NULLs that
 * it has counted are added; extents that it has not answered for become the present one, and
 * are read as others are (RESIDENT_PAGES).  RESIDENT_END after all.
 */
static ResidentStep
fill_from_left(ResidentSource *source, ColumnBatch *batches)
{
	LeftPurpose purpose = source->left->purpose;
	LeftExtent	next;

	/*
	 * Also in the order of bounds: an extent's rows may move the cutoff, and are consumed before
	 * the next extent is begun.
	 */
	if ((!source->asked || purpose == LEFT_TO_ORDER) && batches[0].n > 0)
		return RESIDENT_FULL;
	if (!source->asked)
	{
		source->asked = true;
		if (purpose == LEFT_TO_COUNT && ask_for_counts(source, batches))
			return RESIDENT_ROWS;
		if (purpose == LEFT_TO_SORT && ask_handler(source))
			return RESIDENT_END;
	}
	if (source->counts.nulls > 0)
	{
		size_t		n = column_batch_repeat(batches, 0, true, (uint64) source->counts.nulls);

		source->counts.nulls -= (int64) n;
		return n > 0 ? RESIDENT_ROWS : RESIDENT_FULL;
	}
	while (left_extents_next(source->left, &next))
	{
		if (purpose == LEFT_TO_ORDER && skip_beyond(source, &next))
			continue;
		begin_left(source, &next);
		return RESIDENT_PAGES;
	}
	return RESIDENT_END;
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
		if (page_list_is_full(source->pages) || (source->ended &&
												 !page_list_is_empty(source->pages)))
		{
			page_list_start(source->pages);
			return RESIDENT_PAGES;
		}
		if (source->ended)
		{
			ResidentStep step;

			Assert(one == NULL || source->rows == NULL);
			step = source->left ? fill_from_left(source, batches) : RESIDENT_END;

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
