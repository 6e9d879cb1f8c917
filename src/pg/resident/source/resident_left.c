/*
 * resident_left.c
 *		Extents of a source that are left until all other blocks have been read (see
 *		resident_left.h).
 */
#include "postgres.h"

#include "pg/resident/source/resident_left.h"

/* Has the blocks that are not valid read from their pages. */
static void
read_pages(struct ResidentSource *source, const ResidentBlocks *blocks)
{
	ListedExtent extent = {
		.first = source->first,
		.nblocks = source->nblocks,
		.blocks = resident_blocks_without(blocks, &source->valid)
	};

	page_list_add(source->pages, &extent);
}

void
resident_left_abandon(struct ResidentSource *source, int from)
{
	ResidentBlocks unread = resident_blocks_range(from, RESIDENT_EXTENT_BLOCKS - from);

	unread = resident_blocks_and(&unread, &source->valid);
	memset(&source->valid, 0, sizeof(source->valid));
	source->at = source->nblocks;
	read_pages(source, &unread);
}

void
resident_left_begin_values(struct ResidentSource *source)
{
	int			c;

	source->match = EXTENT_ALL;
	if (!resident_blocks_any(&source->valid))
		return;
	for (c = 0; c < source->ncolumns && resident_valid_know_values(&source->columns[c]); c++)
		;
	if (c < source->ncolumns || (source->images && !source_images_begin(source->images)) ||
		(source->filter && !resident_filter_begin(source->filter, &source->match)))
		resident_left_abandon(source, 0);
}

/* Makes an extent that has been left the present one, with its valid blocks. */
static void
begin_left(struct ResidentSource *source, const LeftExtent *left)
{
	source->first = visibility_extent_start(left->number);
	source->nblocks = RESIDENT_EXTENT_BLOCKS;
	source->at = 0;
	source->valid = left->valid;
	source->found = source->left.answered ? resident_rows_found(source->left.rows, left->index) :
		NULL;
	if (source->found && source->found->n == 0)
		source->found = NULL;
	for (int c = 0; c < source->ncolumns; c++)
	{
		if (!extent_reader_begin_again(&source->columns[c].reader, left->number,
									   left->generations[c]))
		{
			resident_left_abandon(source, 0);
			return;
		}
	}
	for (int c = 0; c < source->ncolumns; c++)
		extent_reader_prefetch(&source->columns[c].reader, left->ahead);
	resident_valid_keep_aligned(source->columns, source->ncolumns, &source->valid);
	read_pages(source, &left->valid);
	resident_left_begin_values(source);
}

/*
 * Returns whether the cutoff says that no row of an extent is wanted, and counts the rows then.
 * How many rows another condition would have refused is not counted.  Where some blocks of an
 * extent are not valid, the number of the other blocks' rows is known from its bytes only, so that
 * it is not skipped if it must be counted.
 */
static bool
skip_beyond(struct ResidentSource *source, const LeftExtent *left)
{
	ColumnCutoff *cutoff = source->scan.cutoff;
	bool		only_cuts = resident_filter_only_cuts(source->filter);
	int			nblocks = resident_blocks_count(&left->valid);

	if (!left_bounds_are_beyond(left->bounds, cutoff) ||
		(only_cuts && nblocks < RESIDENT_EXTENT_BLOCKS))
		return false;
	cutoff->skipped += only_cuts ? left->bounds->rows : 0;
	source->blocks.resident += nblocks;
	return true;
}

bool
resident_left_begin(struct ResidentSource *source)
{
	LeftExtent	next;

	while (left_extents_next(source->left.extents, &next))
	{
		if (source->left.extents->purpose == LEFT_TO_ORDER && skip_beyond(source, &next))
			continue;
		begin_left(source, &next);
		return true;
	}
	return false;
}

/* Counts blocks that the GPU has answered for, which have been read from extents as well. */
static void
note_gpu_hits(struct ResidentSource *source, int64 nblocks)
{
	source->blocks.gpu = nblocks;
	source->blocks.resident += nblocks;
}

bool
resident_left_count(struct ResidentSource *source, ColumnBatch *batch)
{
	ResidentCounts *counts = &source->left.counts;

	resident_rows_count(source->left.rows, counts);
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

void
resident_left_ask(struct ResidentSource *source)
{
	LeftToRead *left = &source->left;

	left->answered = resident_rows_ask(left->rows, source->scan.handler);
	if (left->answered)
		note_gpu_hits(source, resident_rows_answered(left->rows, left->extents,
													 &source->filtered));
	left->filtered = source->filtered;
}
