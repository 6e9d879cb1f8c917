/*
 * resident_source.c
 *		The blocks of a scan from resident extents (see resident_source.h).
 */
#include "postgres.h"

#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/pages/pages.h"
#include "pg/resident/memory/memory.h"
#include "pg/resident/source/resident_left.h"
#include "pg/resident/source/resident_scans.h"
#include "pg/resident/source/resident_source.h"

/*
 * Blocks that are listed before they are read.  In a parallel scan few, so that no process takes
 * all blocks that are not resident.
 */
#define LIST_BLOCKS 4096
#define LIST_BLOCKS_PARALLEL 512

/* Of a packed batch: room for whole extents, but in the second-level cache. */
#define PACKED_BYTES (64 * 1024)

/* --- opening and closing */

/* Whether a GPU may be asked about all columns, of several tables none that has numbers. */
static bool
gpu_knows_columns(const ResidentSource *source, bool several)
{
	for (int c = 0; c < source->ncolumns; c++)
		if (!residency_suits_gpu(source->scan.rel, source->columns[c].reader.key.attnum) ||
			(several && source->columns[c].dictionary))
			return false;
	return true;
}

/* Chooses the extents that are left until all other blocks have been read. */
static void
choose_left(ResidentSource *source, const ResidentSummary *summaries)
{
	const ColumnScan *scan = &source->scan;
	LeftToRead *left = &source->left;
	uint32		stripes = resident_pays_stripes(source->table_blocks);
	bool		several = scan->handler && scan->handler->waits;
	bool		gpu = gpu_knows_columns(source, several) && !scan->ordered;
	bool		counts = gpu && scan->runs && source->ncolumns == 1 && source->filter == NULL;

	/* The GPU knows no set of keys. */
	bool		sorts = gpu && scan->handler && scan->conditions == NIL;

	/*
	 * Processes that share a scan share its extents one by one, unless bounds are all that is
	 * compared of most of them: then one process takes in a moment what would be little for each.
	 */
	if (scan->cutoff && (scan->parallel == NULL || resident_filter_only_cuts(source->filter)))
		left->extents = left_extents_make(LEFT_TO_ORDER, source->ncolumns,
										  scan->cutoff->descending, source->table_blocks);
	if (several && sorts)
		left->rows = scan->handler->rows;
	counts = counts && !several && source->columns[0].dictionary == NULL;
	if (counts && (!sorts || scan->handler->counted || resident_rows_are_counted(&summaries[0])))
		left->rows = resident_rows_make(summaries, 1, 1, NULL, stripes);
	if (left->rows == NULL && sorts && !several)
	{
		left->rows = resident_rows_make(summaries, source->ncolumns, scan->ncolumns,
										&scan->handler->jobs, stripes);
		scan->handler->rows = left->rows;
	}
	if (left->rows)
		left->extents = resident_rows_join(left->rows, source->columns, source->ncolumns,
										   source->filter, source->table_blocks);
	if (left->extents == NULL)
		left->rows = NULL;
	/* Rows of this scan are noted for others. */
	if (several && left->rows == NULL)
		source->packed = NULL;
}

/* Enters the columns; false if there is no memory for one of them. */
static bool
begin_columns(ResidentSource *source, const AttrNumber *attnums)
{
	const ColumnScan *scan = &source->scan;
	ResidentSummary *summaries = palloc_array(ResidentSummary, source->ncolumns);
	bool		unread = false;

	for (int c = 0; c < source->ncolumns; c++)
	{
		SourceColumn *column = &source->columns[c];
		ResidentKey *key = &column->reader.key;

		residency_key(scan->rel, attnums[c], key);
		if (!resident_begin(key, visibility_extent(source->table_blocks - 1) + 1, &column->sweep,
							&summaries[c]))
			return false;
		column->capture = summaries[c].reads > 0;
		unread = unread || !column->capture;
		if (residency_domain(scan->rel, attnums[c]).kind == COLUMN_KIND_NUMBER)
			column->dictionary = column_dictionary_make(scan->rel, attnums[c]);
		if (source->filter)
			resident_filter_read(source->filter, c, column);
	}
	if (unread)
		fill_request_unread();
	choose_left(source, summaries);
	return true;
}

/* Makes a source, in its memory context; false if it cannot be read. */
static bool
open_source(ResidentSource *source, BatchPages *pages)
{
	const ColumnScan *scan = &source->scan;
	const AttrNumber *attnums;

	source->ncolumns = resident_scan_columns(scan, pages, &source->filter, &attnums);
	if (source->ncolumns == 0)
		return false;
	source->nbatches = column_scan_nbatches(scan);
	source->tids = scan->tids ? pages : NULL;
	source->columns = source_columns_make(source->ncolumns, source->table_blocks);
	source->saved.batches = palloc_array(ColumnBatch, source->nbatches);
	source->pages = page_list_make(scan->rel, source->table_blocks, source->ncolumns,
								   source->columns,
								   scan->parallel ? LIST_BLOCKS_PARALLEL : LIST_BLOCKS);
	if (scan->packed)
		source->packed = palloc(PACKED_BYTES);
	source->map.first = InvalidBlockNumber;
	/* As core's scans do. */
	if (source->table_blocks > (BlockNumber) NBuffers / 4)
		source->strategy = GetAccessStrategy(BAS_BULKREAD);
	if (!begin_columns(source, attnums))
		return false;
	source->images = source_images_make(scan, source->columns, source->table_blocks);
	return true;
}

ResidentSource *
resident_source_open(const ColumnScan *scan, BlockNumber nblocks, BatchPages *pages,
					 PageList **list)
{
	MemoryContext memory;
	MemoryContext old;
	ResidentSource *source;

	if (!resident_scan_is_allowed(scan, nblocks))
		return NULL;
	memory = AllocSetContextCreate(CurrentMemoryContext, "HpSort Resident Source",
								   ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(memory);
	source = palloc0_object(ResidentSource);
	source->memory = memory;
	source->scan = *scan;
	source->table_blocks = nblocks;
	if (!open_source(source, pages))
		source = NULL;
	MemoryContextSwitchTo(old);
	if (source == NULL)
	{
		MemoryContextDelete(memory);
		return NULL;
	}
	*list = source->pages;
	return source;
}

void
resident_source_blocks(const ResidentSource *source, ColumnBlocks *blocks)
{
	blocks->resident += source->blocks.resident;
	blocks->gpu += source->blocks.gpu;
	blocks->all += source->blocks.all;
}

uint64
resident_source_refused(const ResidentSource *source)
{
	return source->left.answered ? source->left.filtered : source->filtered;
}

uint64
resident_source_close(ResidentSource *source, ColumnBlocks *blocks)
{
	uint64		filtered = resident_source_refused(source);

	for (int c = 0; c < source->ncolumns; c++)
	{
		const SourceColumn *column = &source->columns[c];
		ResidentUse use = {
			.blocks = source->table_blocks,
			.hits = source->blocks.resident,
			.gpu_hits = source->blocks.gpu,
			.refreshes = column->refreshes,
			.complete = source->complete,
			.reason = resident_valid_reason(column, source->blocks.resident, source->blocks.all)
		};

		resident_end(&column->reader.key, &use);
	}
	if (source->scan.unmatched)
		*source->scan.unmatched += source->unmatched;
	if (blocks)
		resident_source_blocks(source, blocks);
	MemoryContextDelete(source->memory);
	return filtered;
}

bool
resident_source_waits(const ResidentSource *source)
{
	return source->left.rows && !source->left.asked && source->scan.handler &&
		source->scan.handler->waits;
}

uint64
resident_source_values(const ResidentSource *source)
{
	return extent_reader_values_generation(&source->columns[0].reader);
}

int64
resident_source_hits(const ResidentSource *source)
{
	return source->blocks.resident;
}

/* --- taking extents */

/* Takes blocks of one extent for this process; false if there are none left. */
static bool
take_blocks(ResidentSource *source)
{
	BlockNumber nblocks = source->table_blocks;

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

/* --- which blocks are valid */

/* Whether all values of a column in an extent are int4; of no extent, they are. */
static bool
extent_is_narrow(ResidentSource *source, int c, uint32 number)
{
	const ResidentExtent *extent = extent_reader_extent(&source->columns[c].reader, number);

	return extent_bounds_are_narrow(extent->base, extent->top);
}

/* Whether an extent is left until all other blocks have been read. */
static bool
is_left(ResidentSource *source, uint32 number)
{
	return source->left.extents != NULL &&
		(source->left.rows == NULL ||
		 resident_rows_takes(source->left.rows, source->columns, number));
}

/*
 * Sets source->valid to the blocks of an extent, among the visible ones, that are valid in all
 * columns.  Returns the columns whose extents are to be made anew; if there are any, no block is
 * valid.  Keys that may be no int4 are read from their pages, where that is an error.
 */
static Bitmapset *
find_valid(ResidentSource *source, const ResidentLook *look)
{
	Bitmapset  *wanted = NULL;

	/* Words by themselves stay in registers. */
	uint64		low = look->visible.words[0];
	uint64		high = look->visible.words[1];

	for (int c = 0; c < source->ncolumns; c++)
	{
		bool		wants;
		ResidentBlocks valid = resident_valid_find(look, &source->columns[c], &wants);

		if (wants)
			wanted = bms_add_member(wanted, c);
		if (wants || (source->scan.keys && !extent_is_narrow(source, c, look->number)))
			low = high = 0;
		low &= valid.words[0];
		high &= valid.words[1];
	}
	source->valid.words[0] = low;
	source->valid.words[1] = high;
	if (source->tids)
		resident_valid_keep_numbered(source->columns, source->ncolumns, look->number,
									 &source->valid);
	if (!look->later)
		resident_valid_keep_aligned(source->columns, source->ncolumns, &source->valid);
	return wanted;
}

/* Has blocks of an extent read from their pages, and its wanted columns made anew. */
static void
list_blocks(ResidentSource *source, const ResidentLook *look, const ResidentBlocks *blocks,
			Bitmapset *wanted)
{
	const ListedExtent extent = {
		.first = look->first,
		.nblocks = source->nblocks,
		.blocks = *blocks,
		.visible = look->visible,
		.lsn = look->lsn,
		.wanted = wanted
	};

	page_list_add(source->pages, &extent);
	bms_free(wanted);
}

/* Decides which of the blocks taken are read from the extent, from pages, or later. */
static void
begin_extent(ResidentSource *source)
{
	BlockNumber first = visibility_extent_first(source->first);
	int			start = (int) (source->first - first);
	ResidentBlocks taken = resident_blocks_range(start, source->nblocks);
	ResidentBlocks visible;
	ResidentBlocks blocks;
	ResidentHeaders headers;
	ResidentLook look = {
		.rel = source->scan.rel,
		.headers = &headers,
		.strategy = source->strategy,
		.number = visibility_extent(source->first),
		.first = first,
		.nblocks = source->nblocks,
		.whole = start == 0 &&
		first + source->nblocks == Min(visibility_extent_end(first), source->table_blocks)
	};
	Bitmapset  *wanted;

	/* Not all of it, which would take longer than the rest. */
	memset(&headers.read, 0, sizeof(headers.read));
	source_columns_look(source->columns, source->ncolumns, source->scan.rel, source->first,
						&source->map);
	source->blocks.all += source->nblocks;
	source->first = first;
	source->nblocks += start;
	source->at = start;
	look.later = is_left(source, look.number);
	look.lsn = source->map.lsn;
	visible = visibility_copy_blocks(&source->map, first, source->nblocks);
	look.visible = resident_blocks_and(&visible, &taken);
	wanted = find_valid(source, &look);
	blocks = resident_blocks_without(&taken, &source->valid);
	if (source->scan.ordered && resident_blocks_any(&blocks))
	{
		blocks = taken;
		memset(&source->valid, 0, sizeof(source->valid));
	}
	if (resident_blocks_any(&blocks))
		list_blocks(source, &look, &blocks, wanted);
	if (look.later && resident_blocks_any(&source->valid))
	{
		if (source->left.rows == NULL)
			left_extents_add(source->left.extents, source->columns, look.number, &source->valid);
		else if (!resident_rows_add(source->left.rows, source->left.extents, source->columns,
									look.number, &source->valid, &source->filtered))
			source->blocks.resident += RESIDENT_EXTENT_BLOCKS;
		memset(&source->valid, 0, sizeof(source->valid));
	}
	resident_left_begin_values(source);
	/* Nothing of it is read here: the usual case where the GPU counts. */
	if (!resident_blocks_any(&source->valid))
		source->at = source->nblocks;
}

/* --- reading valid blocks */

/* Whether something is true of the extent in all columns. */
static bool
all_columns(const ResidentSource *source, bool (*is_true) (const ExtentReader *reader))
{
	for (int c = 0; c < source->ncolumns; c++)
		if (!is_true(&source->columns[c].reader))
			return false;
	return true;
}

/* Adds the rows that the GPU has found in valid blocks from .. to - 1; returns how many. */
static size_t
add_found(ResidentSource *source, int from, int to, ColumnBatch *batches)
{
	const ResidentFound *found = source->found;
	const ExtentReader *reader = &source->columns[0].reader;
	int32		first = (int32) extent_starts(&reader->header.extent)[from];
	int32		n = (int32) extent_reader_rows(reader, from, to);
	uint8		marks[COLUMN_BATCH_KEYS];
	size_t		accepted = 0;

	memset(marks, 0, n);
	for (size_t i = 0; i < found->n && found->rows[i] < first + n; i++)
		if (found->rows[i] >= first)
		{
			marks[found->rows[i] - first] = 1;
			accepted++;
		}
	for (int c = 0; c < source->scan.ncolumns; c++)
		extent_reader_add(&source->columns[c].reader, from, to, marks, &batches[c]);
	if (source->tids)
		extent_reader_add_tids(reader, source->first, from, to, marks,
							   &batches[source->nbatches - 1], source->tids);
	return accepted;
}

/* Adds the rows of valid blocks from .. to - 1 to the batches; returns how many are wanted. */
static size_t
add_blocks(ResidentSource *source, int from, int to, ColumnBatch *batches)
{
	size_t		n = extent_reader_rows(&source->columns[0].reader, from, to);
	size_t		accepted = 0;

	if (source->found && source->match != EXTENT_NONE)
		return add_found(source, from, to, batches);
	if (source->filter)
	{
		size_t		matched = 0;

		if (source->match != EXTENT_NONE)
			accepted = resident_filter_add(source->filter, source->first, from, to, batches,
										   &matched);
		else if (resident_filter_is_unmatched(source->filter))
			matched = n;
		source->filtered += n - matched;
		source->unmatched += matched - accepted;
		return accepted;
	}
	for (int c = 0; c < source->ncolumns; c++)
		extent_reader_add(&source->columns[c].reader, from, to, NULL, &batches[c]);
	if (source->tids)
		extent_reader_add_tids(&source->columns[0].reader, source->first, from, to, NULL,
							   &batches[source->nbatches - 1], source->tids);
	return n;
}

/*
 * Finds the next run of valid blocks from block *from on: sets *from to its first block, and *to
 * behind as many of its blocks as have max rows at most together, or one block if single.  *to is
 * *from if already the first block has more rows.  Returns false if there is no valid block.
 */
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

/* Whether the extent's rows go to packed batches. */
static bool
is_packed(const ResidentSource *source)
{
	const Extent *extent = &source->columns[0].reader.header.extent;

	return source->packed != NULL && source->nbatches == 1 && source->scan.ncolumns == 1 &&
		source->match == EXTENT_ALL && extent->nnulls == 0 &&
		extent->width <= (int) sizeof(uint32) &&
		(source->images == NULL || source_images_are_numbers(source->images)) &&
	/* Rows that come before the GPU has been asked are noted. */
		(source->left.rows == NULL || source->left.asked);
}

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

static void
save_rows(ResidentSource *source, const ColumnBatch *batches)
{
	SavedRows  *saved = &source->saved;

	memcpy(saved->batches, batches, source->nbatches * sizeof(ColumnBatch));
	saved->pages = source->tids ? source->tids->n : 0;
	saved->skipped = source->scan.cutoff ? source->scan.cutoff->skipped : 0;
	saved->filtered = source->filtered;
	saved->unmatched = source->unmatched;
}

/* Has everything be as it was. */
static void
take_back_rows(ResidentSource *source, ColumnBatch *batches)
{
	const SavedRows *saved = &source->saved;

	for (int b = 0; b < source->nbatches; b++)
		column_batch_take_back(&batches[b], &saved->batches[b]);
	if (source->tids)
		source->tids->n = saved->pages;
	if (source->scan.cutoff)
		source->scan.cutoff->skipped = saved->skipped;
	source->filtered = saved->filtered;
	source->unmatched = saved->unmatched;
}

/*
 * Adds the rows of valid blocks of the present extent to the batches, as many blocks as fit, or one
 * block if single.  Returns RESIDENT_ROWS if the rows are good; RESIDENT_FULL, and adds nothing, if
 * not even one block fits; RESIDENT_PAGES if the extent has been given up meanwhile: then the
 * batches are as before, and the blocks are read from pages.
 */
static ResidentStep
fill_from_extent(ResidentSource *source, ColumnBatch *batches, bool single)
{
	bool		pack = !single && is_packed(source);
	size_t		room = batch_room(source, batches, pack);
	ResidentStep step = RESIDENT_ROWS;
	SourceImages *images = pack ? NULL : source->images;
	ColumnBatch *into = batches;
	int			nblocks = 0;
	int			start = source->at;
	int			from = start;
	int			to;
	bool		reaches;

	/* Packed batches have nothing else in them. */
	if (batches[0].n > 0 && (pack || (images && source_images_are_full(images))))
		return RESIDENT_FULL;
	save_rows(source, batches);
	if (images)
	{
		single |= source_images_fill(images);
		into = source_images_rows(images, batches);
	}
	resident_start_copying();
	/* From here to resident_stop_copying() nothing may raise an error or take the lock. */
	reaches = all_columns(source, extent_reader_reaches);
	while (reaches && next_run(source, &from, &to, room, single) && to > from)
	{
		size_t		added = extent_reader_rows(&source->columns[0].reader, from, to);

		if (pack)
			extent_reader_add_packed(&source->columns[0].reader, from, to, source->packed,
									 PACKED_BYTES, &batches[0]);
		else
			added = add_blocks(source, from, to, into);
		room -= added;
		nblocks += to - from;
		from = to;
		if (single)
			break;
	}
	resident_stop_copying();
	if (reaches && nblocks == 0)
		step = RESIDENT_FULL;
	else if (!reaches || !all_columns(source, extent_reader_holds) ||
			 (images && !source_images_add(images, batches)))
	{
		take_back_rows(source, batches);
		resident_left_abandon(source, start);
		step = RESIDENT_PAGES;
	}
	else
	{
		source->at = from;
		source->blocks.resident += nblocks;
	}
	return step;
}

/*
 * Reads the extents that have been left, when all other blocks have been read.  First the GPU, or
 * the handler, is asked, with empty batches.  Then NULLs that the GPU has counted are added.  Then
 * each extent that has not been answered for becomes the present one, which is read like others
 * (RESIDENT_PAGES).  RESIDENT_END at the end.
 */
static ResidentStep
fill_from_left(ResidentSource *source, ColumnBatch *batches)
{
	LeftPurpose purpose = source->left.extents->purpose;

	if (resident_source_waits(source))
		return RESIDENT_END;

	/*
	 * Also in the order of bounds: an extent's rows may move the cutoff, and are consumed before
	 * the next extent is begun.
	 */
	if ((!source->left.asked || purpose == LEFT_TO_ORDER) && batches[0].n > 0)
		return RESIDENT_FULL;
	if (!source->left.asked)
	{
		source->left.asked = true;
		if (purpose == LEFT_TO_COUNT && resident_left_count(source, batches))
			return RESIDENT_ROWS;
		if (purpose == LEFT_TO_SORT)
			resident_left_ask(source);
	}
	if (source->left.counts.nulls > 0)
	{
		size_t		n = column_batch_repeat(batches, 0, true, (uint64) source->left.counts.nulls);

		source->left.counts.nulls -= (int64) n;
		return n > 0 ? RESIDENT_ROWS : RESIDENT_FULL;
	}
	return resident_left_begin(source) ? RESIDENT_PAGES : RESIDENT_END;
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

			/* Blocks before these come first. */
			if (source->scan.ordered && page_list_start(source->pages, true))
				return RESIDENT_PAGES;
			source->at = from;
			if (one)
				*one = source->first + from;
			/* Blocks without rows that pass need not come one by one. */
			step = fill_from_extent(source, batches,
									one != NULL && source->match != EXTENT_NONE);
			if (step != RESIDENT_PAGES)
				return step;
			continue;
		}
		source->at = source->nblocks;
		if (page_list_start(source->pages, source->ended))
			return RESIDENT_PAGES;
		if (source->ended)
		{
			ResidentStep step;

			Assert(one == NULL || source->left.rows == NULL ||
				   source->left.extents->purpose == LEFT_TO_SORT);
			step = source->left.extents ? fill_from_left(source, batches) : RESIDENT_END;

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
