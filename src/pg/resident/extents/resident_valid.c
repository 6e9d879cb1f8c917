/*
 * resident_valid.c
 *		Which blocks of a scan's resident extents are valid, by the rule of
 *		docs/internals/resident.md, and which extents are to be made anew.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pg/compat.h"
#include "pg/pages/pages.h"
#include "pg/resident/extents/resident_valid.h"
#include "pg/resident/memory/memory.h"

/*
 * An extent of which looking has found most blocks changed, at each of the last uses, is looked at
 * again only after twice as many uses, 64 at last.
 */
#define MAX_MOVES 7

SourceColumn *
source_columns_make(int n, BlockNumber nblocks)
{
	SourceColumn *columns = palloc_array(SourceColumn, n);
	int			c;

	for (c = 0; c < n; c++)
	{
		extent_reader_init(&columns[c].reader, nblocks);
		memset((char *) &columns[c] + sizeof(ExtentReader), 0,
			   sizeof(SourceColumn) - sizeof(ExtentReader));
	}
	return columns;
}

/* Pages that are read for their headers. */
typedef struct UnreadPages
{
	BlockNumber first;			/* of the extent */
	ResidentBlocks blocks;
} UnreadPages;

static BlockNumber
next_unread(ReadStream *stream, void *private_data, void *per_buffer_data)
{
	UnreadPages *unread = (UnreadPages *) private_data;
	int			i = resident_blocks_next(&unread->blocks, 0, true);

	if (i == RESIDENT_EXTENT_BLOCKS)
		return InvalidBlockNumber;
	resident_blocks_remove(&unread->blocks, i);
	return unread->first + i;
}

/* Has the headers of blocks of the extent: looks at each once, whatever the number of columns. */
static void
read_headers(const ResidentLook *look, const ResidentBlocks *blocks)
{
	ResidentHeaders *headers = look->headers;
	ResidentBlocks wanted = resident_blocks_without(blocks, &headers->read);
	UnreadPages unread = {look->first, wanted};
	ReadStream *stream;
	Buffer		buffer;
	int			i;

	for (i = resident_blocks_next(&wanted, 0, true); i < RESIDENT_EXTENT_BLOCKS;
		 i = resident_blocks_next(&wanted, i + 1, true))
	{
		if (heap_format_noted_lsn(look->rel, look->first + i, &headers->lsns[i]))
			resident_blocks_remove(&unread.blocks, i);
		resident_blocks_add(&headers->read, i);
	}
	if (!resident_blocks_any(&unread.blocks))
		return;
	stream = read_stream_begin_relation(READ_STREAM_USE_BATCHING, look->strategy, look->rel,
										MAIN_FORKNUM, next_unread, &unread, 0);
	while ((buffer = read_stream_next_buffer(stream, NULL)) != InvalidBuffer)
	{
		CHECK_FOR_INTERRUPTS();
		headers->lsns[BufferGetBlockNumber(buffer) - look->first] =
			heap_format_visible_lsn(look->rel, buffer);
		ReleaseBuffer(buffer);
	}
	read_stream_end(stream);
}

/*
 * Takes out of blocks the ones whose heap pages have changed since the extent was made.  Needs the
 * extent's start, which has the LSNs that the pages had then.  Reads each page, if only its header.
 */
static void
keep_unchanged(const ResidentLook *look, const SourceColumn *column, ResidentBlocks *blocks)
{
	const Extent *extent = &column->reader.header.extent;
	int			i;

	CHECK_FOR_INTERRUPTS();
	read_headers(look, blocks);
	for (i = resident_blocks_next(blocks, 0, true); i < RESIDENT_EXTENT_BLOCKS;
		 i = resident_blocks_next(blocks, i + 1, true))
	{
		if (i >= (int) extent->nblocks || extent->stamps[i] == 0 ||
			look->headers->lsns[i] != extent->stamps[i])
			resident_blocks_remove(blocks, i);
	}
}

/*
 * Looks at the heap pages of an extent whose stamp is not the LSN of the map's page, and takes out
 * of valid the blocks that have changed.  Notes in the extent how many of the next uses shall not
 * do this again: none if that has paid, or the map's page has not moved since the last use.
 */
static void
refresh_extent(const ResidentLook *look, SourceColumn *column, ResidentBlocks *valid)
{
	ResidentExtent *extent = extent_reader_extent(&column->reader, look->number);
	bool		quiet = extent->last == look->lsn;
	int			before = resident_blocks_count(valid);

	/* Where extents are read later, or by the GPU, no start has been read. */
	if (look->later && !extent_reader_begin(&column->reader, look->number))
		memset(valid, 0, sizeof(*valid));
	keep_unchanged(look, column, valid);
	column->refreshes++;
	quiet = quiet || resident_blocks_count(valid) * 2 >= before;
	extent->moves = quiet ? 1 : Min(extent->moves + 1, MAX_MOVES);
	extent->skip = (1 << (extent->moves - 1)) - 1;
}

/*
 * Whether an extent is to be made anew, of which these blocks are valid.  known says that no other
 * blocks are valid; otherwise some may be, which nobody has looked at.
 */
static bool
wants_capture(const ResidentLook *look, const SourceColumn *column, const ResidentExtent *extent,
			  const ResidentBlocks *valid, bool known)
{
	ResidentBlocks others = resident_blocks_without(&look->visible, valid);

	if (!column->capture || look->lsn == 0 || !look->whole || extent->refused ||
		column->sweep.reason == RESIDENT_NO_REPEATS)
		return false;
	/* The first time, half of the blocks must be all-visible. */
	if (extent->generation == 0)
		return resident_blocks_count(&look->visible) * 2 >= look->nblocks;
	/* Again where more than a quarter could be valid and is not. */
	return known && resident_blocks_any(&others) &&
		resident_blocks_count(&others) * 4 > look->nblocks;
}

ResidentBlocks
resident_valid_find(const ResidentLook *look, SourceColumn *column, bool *wanted)
{
	ResidentExtent *extent = extent_reader_extent(&column->reader, look->number);
	ResidentExtent before = *extent;
	ResidentBlocks valid = {{0, 0}};
	bool		known = true;
	bool		refreshed = false;

	if (extent->generation == 0 || look->lsn == 0 ||
		(!look->later && !extent_reader_begin(&column->reader, look->number)))
	{
		extent->generation = 0;
		*wanted = wants_capture(look, column, extent, &valid, known);
		return valid;
	}
	valid = resident_blocks_and(&extent->blocks, &look->visible);
	if (extent->stamp == look->lsn)
	{
		/* The usual case: nothing has changed in any of the map's blocks. */
		extent->moves = extent->skip = 0;
		extent->usage = Min(extent->usage + 1, 3);
	}
	else if (look->whole && (extent->skip == 0 || extent->last == look->lsn))
	{
		refresh_extent(look, column, &valid);
		refreshed = true;
	}
	else
	{
		/* Looking has not paid lately, or is for a process that has all of the extent's blocks. */
		extent->skip -= extent->skip > 0;
		column->reason = RESIDENT_CHANGES;
		memset(&valid, 0, sizeof(valid));
		known = false;
	}
	extent->last = look->lsn;
	if (refreshed || before.usage != extent->usage || before.moves != extent->moves ||
		before.skip != extent->skip || before.last != extent->last)
		resident_mark(&column->reader.key, look->number, extent, look->lsn,
					  refreshed ? &valid : NULL);
	*wanted = wants_capture(look, column, extent, &valid, known);
	return valid;
}

void
resident_valid_keep_aligned(const SourceColumn *columns, int ncolumns, ResidentBlocks *valid)
{
	const uint32 *starts = extent_starts(&columns[0].reader.header.extent);
	int			c;
	int			i;

	for (c = 1; c < ncolumns; c++)
	{
		const uint32 *others = extent_starts(&columns[c].reader.header.extent);

		for (i = 0; i < RESIDENT_EXTENT_BLOCKS; i++)
			if (resident_blocks_has(valid, i) && starts[i + 1] - starts[i] != others[i + 1] -
				others[i])
				resident_blocks_remove(valid, i);
	}
}

void
resident_valid_keep_numbered(SourceColumn *columns, int ncolumns, uint32 number,
							 ResidentBlocks *valid)
{
	int			c;

	for (c = 0; c < ncolumns; c++)
		*valid = resident_blocks_and(valid, &extent_reader_extent(&columns[c].reader,
																  number)->numbered);
}

bool
resident_valid_know_values(const SourceColumn *column)
{
	ColumnDictionary *dictionary = column->dictionary;
	const Extent *extent = &column->reader.header.extent;
	uint64		generation = extent_reader_values_generation(&column->reader);
	uint64		last = (uint64) extent->base + extent->top;

	if (dictionary == NULL || extent->nnulls == extent->nrows)
		return true;
	if (generation != column_dictionary_generation(dictionary) ||
		last >= column_dictionary_size(dictionary))
	{
		if (!column_dictionary_look(dictionary, generation))
			return false;
	}
	return last < column_dictionary_size(dictionary) && (uint64) extent->base <= last &&
		last <= PG_INT32_MAX;
}

ResidentReason
resident_valid_reason(const SourceColumn *column, int64 hits, int64 blocks)
{
	int64		resident = hits + (int64) column->captured * RESIDENT_EXTENT_BLOCKS;

	if (column->sweep.reason == RESIDENT_NO_REPEATS)
		return RESIDENT_NO_REPEATS;
	if (!column->capture)
		return RESIDENT_READ_ONCE;
	if (resident * 2 >= blocks)
		return RESIDENT_OK;
	if (column->sweep.reason != RESIDENT_OK)
		return column->sweep.reason;
	return column->reason == RESIDENT_OK ? RESIDENT_NOT_VISIBLE : column->reason;
}
