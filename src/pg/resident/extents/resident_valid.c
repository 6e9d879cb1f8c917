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

/* Blocks ahead of the one looked at whose memory is asked for. */
#define LOOK_AHEAD 12

SourceColumn *
source_columns_make(int n, BlockNumber nblocks)
{
	SourceColumn *columns = palloc_array(SourceColumn, n);

	for (int c = 0; c < n; c++)
	{
		extent_reader_init(&columns[c].reader, nblocks);
		memset((char *) &columns[c] + sizeof(ExtentReader), 0,
			   sizeof(SourceColumn) - sizeof(ExtentReader));
	}
	return columns;
}

void
source_columns_look(SourceColumn *columns, int n, Relation rel, BlockNumber block,
					VisibilityCopy *map)
{
	BlockNumber first = block - block % HEAP_FORMAT_MAP_BLOCKS;

	if (map->first == first)
		return;
	for (int c = 0; c < n; c++)
		extent_reader_look(&columns[c].reader, visibility_extent(first));
	map->first = first;
	map->lsn = heap_format_read_map(rel, block, map->words);
}

/* Whether an extent is to be made anew, of which these blocks are valid and no others. */
static bool
wants_capture(const ResidentLook *look, SourceColumn *column, const ResidentBlocks *valid)
{
	const ResidentExtent *extent = extent_reader_extent(&column->reader, look->number);
	ResidentBlocks others = resident_blocks_without(&look->visible, valid);

	if (!column->capture || look->lsn == 0 || !look->whole || extent->refused ||
		column->sweep.reason == RESIDENT_NO_REPEATS)
		return false;
	/* The first time, half of the blocks must be all-visible. */
	if (extent->generation == 0)
		return resident_blocks_count(&look->visible) * 2 >= look->nblocks;
	/* Again where more than a quarter could be valid and is not. */
	return resident_blocks_any(&others) && resident_blocks_count(&others) * 4 > look->nblocks;
}

/* Whether a block's heap page, whose header has been looked at, has changed since the capture. */
static inline bool
is_changed(const ResidentLook *look, const Extent *extent, int i)
{
	return i >= (int) extent->nblocks || extent->stamps[i] == 0 ||
		look->headers->lsns[i] != extent->stamps[i];
}

/*
 * Has the kernel map the memory of noted blocks, of an extent that this process has not looked at
 * before.  Headers of 44,288 blocks take a new process 21 ms so, and 30 where they are met
 * unmapped, since nothing is prefetched then.  In other processes the loop would cost 0.1 ms (AMD
 * EPYC, PostgreSQL 17).
 */
static void
map_noted(const ResidentLook *look, const BufferNotes *notes, const ResidentBlocks *blocks)
{
	/* By the place of the extent's notes.  Of two extents of one place the second is not mapped. */
	static uint64 looked[1024];
	uint32		place = (notes->start + look->first) / RESIDENT_EXTENT_BLOCKS %
	(64 * lengthof(looked));
	Size		mapped = 0;

	if (looked[place / 64] >> place % 64 & 1)
		return;
	looked[place / 64] |= UINT64CONST(1) << place % 64;
	for (int i = resident_blocks_next(blocks, 0, true); i < RESIDENT_EXTENT_BLOCKS;
		 i = resident_blocks_next(blocks, i + 1, true))
	{
		Buffer		buffer = buffer_notes_get(notes, look->first + i);

		if (buffer != InvalidBuffer)
			heap_format_map(buffer, &mapped);
	}
}

/*
 * Looks at blocks without pins, where notes say in which buffers they are, once for all columns.
 * Returns the blocks that are not found so.
 */
static ResidentBlocks
look_at_noted(const ResidentLook *look, const BufferNotes *notes, const ResidentBlocks *blocks)
{
	ResidentHeaders *headers = look->headers;
	ResidentBlocks unread = resident_blocks_without(blocks, &headers->read);
	int			found = 0;

	map_noted(look, notes, &unread);
	for (int i = resident_blocks_next(&unread, 0, true); i < RESIDENT_EXTENT_BLOCKS;
		 i = resident_blocks_next(&unread, i + 1, true))
	{
		BlockNumber block = look->first + i;
		Buffer		buffer = buffer_notes_get(notes, block);
		Buffer		ahead = buffer_notes_get(notes, block + LOOK_AHEAD);

		if (ahead != InvalidBuffer)
			heap_format_prefetch_header(ahead);
		if (buffer == InvalidBuffer ||
			!heap_format_unpinned_lsn(look->rel, block, buffer, &headers->lsns[i]))
			continue;
		resident_blocks_remove(&unread, i);
		resident_blocks_add(&headers->read, i);
		found++;
	}
	heap_format_count_hits(look->rel, look->strategy, found);
	return unread;
}

/* Pages that are read for their headers. */
typedef struct UnreadPages
{
	const ResidentLook *look;
	SourceColumn *column;
	const ResidentBlocks *valid;	/* blocks not known to have changed */
	ResidentBlocks blocks;
} UnreadPages;

/* There are no more if the extent is to be made anew, of which all pages will then be read. */
static BlockNumber
next_unread(ReadStream *stream, void *private_data, void *per_buffer_data)
{
	UnreadPages *unread = (UnreadPages *) private_data;
	int			i = resident_blocks_next(&unread->blocks, 0, true);

	if (i == RESIDENT_EXTENT_BLOCKS || wants_capture(unread->look, unread->column, unread->valid))
		return InvalidBlockNumber;
	resident_blocks_remove(&unread->blocks, i);
	return unread->look->first + i;
}

/*
 * Takes out of valid the blocks whose heap pages have changed since the extent was made.  Needs the
 * extent's start, which has the LSNs that the pages had then.  Looks at each page, if only its
 * header, unless so many have changed that the extent is to be made anew.
 */
static void
keep_unchanged(const ResidentLook *look, SourceColumn *column, ResidentBlocks *valid)
{
	const Extent *extent = &column->reader.header.extent;
	BufferNotes notes = buffer_notes_of(look->rel->rd_locator.relNumber);
	ResidentHeaders *headers = look->headers;
	UnreadPages unread = {look, column, valid, look_at_noted(look, &notes, valid)};
	ReadStream *stream;
	Buffer		buffer;
	int			i;

	CHECK_FOR_INTERRUPTS();
	for (i = resident_blocks_next(valid, 0, true); i < RESIDENT_EXTENT_BLOCKS;
		 i = resident_blocks_next(valid, i + 1, true))
		if (resident_blocks_has(&headers->read, i) && is_changed(look, extent, i))
			resident_blocks_remove(valid, i);
	if (resident_blocks_any(&unread.blocks))
	{
		stream = read_stream_begin_relation(READ_STREAM_USE_BATCHING, look->strategy, look->rel,
											MAIN_FORKNUM, next_unread, &unread, 0);
		while ((buffer = read_stream_next_buffer(stream, NULL)) != InvalidBuffer)
		{
			CHECK_FOR_INTERRUPTS();
			i = (int) (BufferGetBlockNumber(buffer) - look->first);
			buffer_notes_set(&notes, look->first + i, buffer);
			headers->lsns[i] = heap_format_visible_lsn(buffer);
			resident_blocks_add(&headers->read, i);
			if (is_changed(look, extent, i))
				resident_blocks_remove(valid, i);
			ReleaseBuffer(buffer);
		}
		read_stream_end(stream);
	}
	*valid = resident_blocks_and(valid, &headers->read);
}

ResidentBlocks
resident_valid_find(const ResidentLook *look, SourceColumn *column, bool *wanted)
{
	ResidentExtent *extent = extent_reader_extent(&column->reader, look->number);
	ResidentBlocks valid = resident_blocks_and(&extent->blocks, &look->visible);
	const ResidentBlocks *unchanged = NULL;
	uint8		usage = extent->usage;

	if (extent->generation == 0 || look->lsn == 0 ||
		(!look->later && !extent_reader_begin(&column->reader, look->number)))
	{
		extent->generation = 0;
		memset(&valid, 0, sizeof(valid));
	}
	else if (extent->stamp == look->lsn)
	{
		/* The usual case: nothing has changed in any of the map's blocks. */
		extent->usage = Min(usage + 1, RESIDENT_MAX_USAGE);
	}
	else if (!look->whole)
	{
		/* Looking is for a process that has all of the extent's blocks. */
		column->reason = RESIDENT_CHANGES;
		memset(&valid, 0, sizeof(valid));
	}
	else
	{
		/* Where extents are read later, or by the GPU, no start has been read. */
		if (look->later && !extent_reader_begin(&column->reader, look->number))
			memset(&valid, 0, sizeof(valid));
		keep_unchanged(look, column, &valid);
		column->refreshes++;
		if (resident_blocks_count(&valid) * 2 < look->nblocks)
			column->reason = RESIDENT_CHANGES;
		unchanged = &valid;
	}
	if (unchanged || usage != extent->usage)
		resident_mark(&column->reader.key, look->number, extent, look->lsn, unchanged);
	*wanted = wants_capture(look, column, &valid);
	return valid;
}

void
resident_valid_keep_aligned(const SourceColumn *columns, int ncolumns, ResidentBlocks *valid)
{
	const uint32 *starts = extent_starts(&columns[0].reader.header.extent);

	for (int c = 1; c < ncolumns; c++)
	{
		const uint32 *others = extent_starts(&columns[c].reader.header.extent);

		for (int i = 0; i < RESIDENT_EXTENT_BLOCKS; i++)
			if (resident_blocks_has(valid, i) && starts[i + 1] - starts[i] != others[i + 1] -
				others[i])
				resident_blocks_remove(valid, i);
	}
}

void
resident_valid_keep_numbered(SourceColumn *columns, int ncolumns, uint32 number,
							 ResidentBlocks *valid)
{
	for (int c = 0; c < ncolumns; c++)
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
