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
#include "pg/column/residency.h"
#include "pg/column/resident_source.h"
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

/*
 * An extent whose stamp was another at each of the last uses is looked at again only after
 * twice as many uses, 64 at last: looking takes some 60 % of the time of reading the pages.
 */
#define MAX_MOVES 7

/* Of a packed batch: room for whole extents, but in the second-level cache. */
#define PACKED_BYTES (64 * 1024)

/* A column of the scan. */
typedef struct SourceColumn
{
	ExtentReader reader;
	bool		capture;		/* it was read before */
	ResidentUse use;
} SourceColumn;

/* Blocks to be read from pages: those of one extent. */
typedef struct ListedExtent
{
	BlockNumber first;
	int			nblocks;
	ResidentBlocks blocks;		/* to be read */
	ResidentBlocks visible;		/* in the copy of the map */
	uint64		lsn;			/* of the copy */
	bool	   *wanted;			/* columns to be captured; NULL: none */
	uint8	   *moves;
} ListedExtent;

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

	/* the extent being read */
	BlockNumber first;
	int			nblocks;
	int			at;				/* the next block */
	ResidentBlocks valid;

	/* blocks to be read from pages */
	MemoryContext list_memory;
	ListedExtent *list;
	int			nlist;
	int			list_room;
	int			list_blocks;
	int			list_max;
	int			next_extent;	/* next_block: of list */
	int			next_bit;
	int			shown_extent;	/* show_page */
	Capture    *capture;		/* NULL until there is something to capture */
	CaptureColumn *capture_columns;

	ColumnBatch *saved;			/* what batches were before they were added to */
	void	   *packed;			/* PACKED_BYTES; NULL: batches are not packed */
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
	int			c;

	for (c = 0; c < scan->ncolumns; c++)
	{
		SourceColumn *column = &source->columns[c];
		ResidentKey *key = &column->reader.key;
		Oid			type = TupleDescAttr(RelationGetDescr(scan->rel), scan->attnums[c] - 1)->atttypid;
		int64		reads;

		residency_key(scan->rel, scan->attnums[c], key);
		column->reader.wide = scan->aligned && column_kind_is_wide(column_read_kind(type));
		reads = resident_begin(key, visibility_extent(scan->nblocks - 1) + 1);
		if (reads < 0)
			return false;
		column->capture = reads > 0;
		column->use.blocks = scan->nblocks;
		column->use.reason = reads > 0 ? RESIDENT_OK : RESIDENT_READ_ONCE;
		source->capture_columns[c].key = *key;
		source->capture_columns[c].attnum = scan->attnums[c];
	}
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
	source->saved = palloc_array(ColumnBatch, scan->ncolumns);
	source->list_max = scan->parallel ? LIST_BLOCKS_PARALLEL : LIST_BLOCKS;
	source->list_room = source->list_max + 1;
	source->list = palloc_array(ListedExtent, source->list_room);
	source->list_memory = AllocSetContextCreate(memory, "HpSort Resident List",
												ALLOCSET_SMALL_SIZES);
	if (scan->packed)
		source->packed = palloc(PACKED_BYTES);
	visibility_copy_init(&source->map, scan->rel);
	MemoryContextSwitchTo(old);
	if (!begin_columns(source))
	{
		MemoryContextDelete(memory);
		return NULL;
	}
	return source;
}

/* Why the column is not resident, after what this read has seen. */
static ResidentReason
judge(const ResidentSource *source, const SourceColumn *column, const CaptureColumn *capture)
{
	int64		resident = column->use.hits + (int64) capture->captured * RESIDENT_EXTENT_BLOCKS;

	if (!column->capture)
		return RESIDENT_READ_ONCE;
	if (resident * 2 >= source->blocks)
		return RESIDENT_OK;
	if (capture->sweep.reason != RESIDENT_OK)
		return capture->sweep.reason;
	if (capture->out_of_range)
		return RESIDENT_RANGE;
	return column->use.reason == RESIDENT_OK ? RESIDENT_NOT_VISIBLE : column->use.reason;
}

void
resident_source_close(ResidentSource *source)
{
	int			c;

	for (c = 0; c < source->ncolumns; c++)
	{
		SourceColumn *column = &source->columns[c];

		column->use.complete = source->complete;
		column->use.reason = judge(source, column, &source->capture_columns[c]);
		resident_end(&column->reader.key, &column->use);
	}
	if (source->capture)
		capture_free(source->capture);
	MemoryContextDelete(source->memory);
}

int64
resident_source_hits(const ResidentSource *source)
{
	return source->hits;
}

int64
resident_source_blocks(const ResidentSource *source)
{
	return source->blocks;
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

/* Whether the blocks taken are all that the extent has. */
static bool
is_whole(const ResidentSource *source)
{
	return source->first == visibility_extent_first(source->first) &&
		source->first + source->nblocks == Min(visibility_extent_end(source->first),
											   source->scan.nblocks);
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

/* The blocks of an extent whose heap pages have not changed. */
static void
keep_unchanged(ResidentSource *source, const SourceColumn *column, BlockNumber first,
			   ResidentBlocks *blocks)
{
	int			i;

	for (i = 0; i < RESIDENT_EXTENT_BLOCKS; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (resident_blocks_has(blocks, i) &&
			(i >= (int) column->reader.header.extent.nblocks ||
			 !visibility_page_has_lsn(source->scan.rel, first + i, column->reader.header.extent.stamps[i])))
			resident_blocks_remove(blocks, i);
	}
}

/* Looks at the heap pages of an extent whose stamp is not that of the map's page. */
static void
refresh_extent(ResidentSource *source, SourceColumn *column, uint32 number,
			   BlockNumber extent_first, ResidentBlocks *valid)
{
	ResidentExtent *extent = extent_reader_extent(&column->reader, number);
	bool		quiet = extent->last == source->map.lsn;

	keep_unchanged(source, column, extent_first, valid);
	resident_restamp(&column->reader.key, number, extent, source->map.lsn, valid);
	column->use.refreshes++;
	extent->moves = quiet ? 1 : Min(extent->moves + 1, MAX_MOVES);
	extent->skip = (1 << (extent->moves - 1)) - 1;
}

/*
 * The blocks of a column's extent that are valid, of those from extent_first on that are visible
 * in the copy of the map.  Where the map's page has changed, the heap pages are looked at, unless
 * it has changed before each of the last uses.  *known is false if that has not been found out.
 */
static ResidentBlocks
find_valid(ResidentSource *source, SourceColumn *column, uint32 number, BlockNumber extent_first,
		   const ResidentBlocks *visible, bool *known)
{
	ResidentExtent *extent = extent_reader_extent(&column->reader, number);
	ResidentBlocks none = {{0, 0}};
	ResidentBlocks valid;
	ResidentExtent before = *extent;

	*known = true;
	if (extent->generation == 0 || source->map.lsn == 0 ||
		!extent_reader_begin(&column->reader, number))
	{
		extent->generation = 0;
		return none;
	}
	valid = resident_blocks_and(&extent->blocks, visible);
	if (extent->stamp == source->map.lsn)
	{
		extent->moves = extent->skip = 0;
		extent->usage = Min(extent->usage + 1, 3);
	}
	else if (is_whole(source) && (extent->skip == 0 || extent->last == source->map.lsn))
		refresh_extent(source, column, number, extent_first, &valid);
	else
	{
		extent->skip -= extent->skip > 0;
		column->use.reason = RESIDENT_CHANGES;
		valid = none;
		*known = false;
	}
	extent->last = source->map.lsn;
	if (before.usage != extent->usage || before.moves != extent->moves ||
		before.skip != extent->skip || before.last != extent->last)
		resident_mark(&column->reader.key, number, extent);
	return valid;
}

/* Whether an extent of the column is to be made of the pages, although valid is valid. */
static bool
wants_capture(const ResidentSource *source, SourceColumn *column, uint32 number,
			  const ResidentBlocks *visible, const ResidentBlocks *valid, bool known)
{
	const ResidentExtent *extent = extent_reader_extent(&column->reader, number);
	int			nvisible = resident_blocks_count(visible);

	if (!column->capture || source->map.lsn == 0 || !is_whole(source))
		return false;
	if (extent->generation == 0)
		return nvisible * 2 >= source->nblocks;
	/* Again where more than a quarter could be valid and is not. */
	return known &&
		(nvisible - resident_blocks_count(valid)) * 4 > source->nblocks;
}

/* Lists blocks of the extent for being read from pages. */
static void
list_blocks(ResidentSource *source, BlockNumber first, int nblocks, const ResidentBlocks *blocks,
			const ResidentBlocks *visible, const bool *wanted, const uint8 *moves)
{
	ListedExtent *listed;
	MemoryContext old;

	if (resident_blocks_count(blocks) == 0)
		return;
	if (source->nlist == source->list_room)
	{
		source->list_room *= 2;
		source->list = repalloc(source->list, source->list_room * sizeof(ListedExtent));
	}
	old = MemoryContextSwitchTo(source->list_memory);
	listed = &source->list[source->nlist++];
	listed->first = first;
	listed->nblocks = nblocks;
	listed->blocks = *blocks;
	listed->visible = *visible;
	listed->lsn = source->map.lsn;
	listed->wanted = NULL;
	listed->moves = NULL;
	if (wanted)
	{
		listed->wanted = palloc_array(bool, source->ncolumns);
		memcpy(listed->wanted, wanted, source->ncolumns * sizeof(bool));
		listed->moves = palloc_array(uint8, source->ncolumns);
		memcpy(listed->moves, moves, source->ncolumns * sizeof(uint8));
	}
	source->list_blocks += resident_blocks_count(blocks);
	MemoryContextSwitchTo(old);
}

/* The blocks taken, as blocks of their extent. */
static ResidentBlocks
blocks_taken(const ResidentSource *source, BlockNumber extent_first)
{
	ResidentBlocks taken = {{0, 0}};
	int			i;

	for (i = 0; i < source->nblocks; i++)
		resident_blocks_add(&taken, (int) (source->first - extent_first) + i);
	return taken;
}

/*
 * Blocks that are valid in all columns have the same rows in all of them.  Nothing depends on
 * it that a mistake elsewhere could not break, so it is looked at.
 */
static void
check_alignment(ResidentSource *source)
{
	const uint32 *starts = extent_starts(&source->columns[0].reader.header.extent);
	int			c;
	int			i;

	for (c = 1; c < source->ncolumns; c++)
	{
		const uint32 *others = extent_starts(&source->columns[c].reader.header.extent);

		for (i = 0; i < RESIDENT_EXTENT_BLOCKS; i++)
			if (resident_blocks_has(&source->valid, i) &&
				starts[i + 1] - starts[i] != others[i + 1] - others[i])
				resident_blocks_remove(&source->valid, i);
	}
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
	bool	   *wanted = palloc0_array(bool, source->ncolumns);
	uint8	   *moves = palloc0_array(uint8, source->ncolumns);
	bool		any = false;
	int			c;

	look_at_map(source);
	visible = visibility_copy_blocks(&source->map, extent_first, end);
	visible = resident_blocks_and(&visible, &taken);
	source->valid = visible;
	for (c = 0; c < source->ncolumns; c++)
	{
		SourceColumn *column = &source->columns[c];
		bool		known;
		ResidentBlocks valid = find_valid(source, column, number, extent_first, &visible, &known);

		wanted[c] = wants_capture(source, column, number, &visible, &valid, known);
		moves[c] = extent_reader_extent(&column->reader, number)->moves;
		any = any || wanted[c];
		source->valid = resident_blocks_and(&source->valid, &valid);
	}
	if (any)
		memset(&source->valid, 0, sizeof(source->valid));
	check_alignment(source);
	others.words[0] = taken.words[0] & ~source->valid.words[0];
	others.words[1] = taken.words[1] & ~source->valid.words[1];
	list_blocks(source, extent_first, end, &others, &visible, any ? wanted : NULL, moves);
	source->blocks += source->nblocks;
	source->at = (int) (source->first - extent_first);
	source->first = extent_first;
	source->nblocks = end;
	pfree(wanted);
	pfree(moves);
}

/* --- reading valid blocks */

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

/* Adds the rows of valid blocks from .. to - 1 to the batches. */
static void
add_blocks(ResidentSource *source, int from, int to, ColumnBatch *batches)
{
	int			c;

	for (c = 0; c < source->ncolumns; c++)
	{
		const ExtentReader *reader = &source->columns[c].reader;

		if (source->scan.aligned)
			extent_reader_add_aligned(reader, from, to, &batches[c]);
		else
			extent_reader_add_compact(reader, from, to, &batches[c]);
	}
}

/* The next run of valid blocks, from *from on, at most max rows; false if there is none. */
static bool
next_run(const ResidentSource *source, int *from, int *to, size_t max, bool single)
{
	const uint32 *starts = extent_starts(&source->columns[0].reader.header.extent);
	size_t		rows = 0;
	int			i = *from;

	while (i < source->nblocks && !resident_blocks_has(&source->valid, i))
		i++;
	*from = *to = i;
	while (i < source->nblocks && resident_blocks_has(&source->valid, i) &&
		   rows + (starts[i + 1] - starts[i]) <= max && !(single && i > *from))
	{
		rows += starts[i + 1] - starts[i];
		i++;
	}
	*to = i;
	return *from < source->nblocks;
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
	list_blocks(source, source->first, source->nblocks, &rest, &none, NULL, NULL);
}

/* Whether the extent's rows go to packed batches. */
static bool
is_packed(const ResidentSource *source)
{
	return source->packed != NULL && source->ncolumns == 1 &&
		source->columns[0].reader.header.extent.nnulls == 0;
}

/* Rows that the batches still have room for. */
static size_t
batch_room(const ResidentSource *source, const ColumnBatch *batches, bool pack)
{
	size_t		rows = 0;
	int			c;

	if (pack)
		return PACKED_BYTES / source->columns[0].reader.header.extent.width;
	/* Compact batches of several columns differ in length. */
	for (c = 0; c < source->ncolumns; c++)
		rows = Max(rows, batches[c].n);
	return COLUMN_BATCH_KEYS - rows;
}

/* Adds valid blocks of the present extent, as many as fit, from the one that is next. */
static ResidentStep
fill_from_extent(ResidentSource *source, ColumnBatch *batches, bool single)
{
	bool		pack = !single && is_packed(source);
	size_t		room = batch_room(source, batches, pack);
	ResidentStep step = RESIDENT_ROWS;
	int			nblocks = 0;
	int			start = source->at;
	int			from = start;
	int			to;
	int			c;

	/* Packed batches have nothing else in them. */
	if (pack && batches[0].n > 0)
		return RESIDENT_FULL;
	memcpy(source->saved, batches, source->ncolumns * sizeof(ColumnBatch));
	while (next_run(source, &from, &to, room, single) && to > from)
	{
		const uint32 *starts = extent_starts(&source->columns[0].reader.header.extent);

		if (pack)
			extent_reader_add_packed(&source->columns[0].reader, from, to, source->packed, &batches[0]);
		else
			add_blocks(source, from, to, batches);
		room -= starts[to] - starts[from];
		nblocks += to - from;
		from = to;
		if (single)
			break;
	}
	if (nblocks == 0)
		step = RESIDENT_FULL;
	else if (!extent_holds(source))
	{
		memcpy(batches, source->saved, source->ncolumns * sizeof(ColumnBatch));
		abandon_extent(source, start);
		step = RESIDENT_PAGES;
	}
	else
	{
		source->at = from;
		source->hits += nblocks;
		for (c = 0; c < source->ncolumns; c++)
			source->columns[c].use.hits += nblocks;
	}
	return step;
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
		if (source->list_blocks >= source->list_max || (source->ended && source->nlist > 0))
		{
			source->next_extent = source->next_bit = source->shown_extent = 0;
			return RESIDENT_PAGES;
		}
		if (source->ended)
			return RESIDENT_END;
		if (take_blocks(source))
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
	ResidentSource *source = (ResidentSource *) arg;

	for (; source->next_extent < source->nlist; source->next_extent++, source->next_bit = 0)
	{
		const ListedExtent *listed = &source->list[source->next_extent];

		while (source->next_bit < listed->nblocks)
		{
			int			i = source->next_bit++;

			if (resident_blocks_has(&listed->blocks, i))
				return listed->first + i;
		}
	}
	return InvalidBlockNumber;
}

/* Begins to capture a listed extent, if that is wanted. */
static void
begin_capture(ResidentSource *source, const ListedExtent *listed)
{
	if (listed->wanted == NULL)
		return;
	if (source->capture == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(source->memory);

		source->capture = capture_make(source->scan.rel, source->ncolumns, source->capture_columns);
		MemoryContextSwitchTo(old);
	}
	capture_begin(source->capture, listed->first, listed->nblocks, &listed->visible, listed->lsn,
				  listed->wanted, listed->moves,
				  visibility_extent(source->scan.nblocks - 1) - visibility_extent(listed->first) + 1);
}

void
resident_source_show_page(ResidentSource *source, Buffer buffer)
{
	BlockNumber block = BufferGetBlockNumber(buffer);
	const ListedExtent *listed = &source->list[source->shown_extent];

	while (block < listed->first || block >= listed->first + listed->nblocks)
		listed = &source->list[++source->shown_extent];
	if (listed->wanted == NULL)
		return;
	if (source->capture == NULL || capture_first(source->capture) != listed->first)
	{
		if (source->capture)
			capture_end(source->capture);
		begin_capture(source, listed);
	}
	capture_page(source->capture, buffer);
}

void
resident_source_end_pages(ResidentSource *source)
{
	if (source->capture)
		capture_end(source->capture);
	source->nlist = 0;
	source->list_blocks = 0;
	MemoryContextReset(source->list_memory);
}
