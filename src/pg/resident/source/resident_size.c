/*
 * resident_size.c
 *		How much resident memory columns would take (see resident_size.h).
 *
 * A value's width is that of its extent's range, so that whole extents are sampled, and not
 * blocks: one out of each of EXTENT_SIZES equal parts of the table.
 */
#include "postgres.h"

#include <math.h>

#include "common/pg_prng.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "pg/resident/extents/extents.h"
#include "pg/resident/source/page_list.h"
#include "pg/resident/source/resident_size.h"

/* Lists one of the extents first .. end - 1, with all of its blocks. */
static void
list_one(PageList *list, uint32 first, uint32 end, BlockNumber nblocks, Bitmapset *wanted)
{
	uint32		number = (uint32) pg_prng_uint64_range(&pg_global_prng_state, first, end - 1);
	BlockNumber start = visibility_extent_start(number);
	int			n = (int) (Min(visibility_extent_end(start), nblocks) - start);
	ResidentBlocks all = resident_blocks_range(0, n);
	ListedExtent extent = {
		.first = start,
		.nblocks = n,
		.blocks = all,
		.visible = all,			/* the pages say whether they are */
		.wanted = wanted
	};

	page_list_add(list, &extent);
}

/* Bytes that a value takes beside its own, where values have numbers (value_parts.c). */
#define VALUE_OVERHEAD 20

/*
 * Adds what a column's values and their numbers take, if those of a sample repeat; part of the
 * table's blocks are in the sample.  How many different values the table has is estimated as
 * ANALYZE does.
 */
static void
add_numbers(ResidentSize *size, const ExtentSizes *sizes, double part)
{
	const NumbersSample *sample = &sizes->numbers;
	double		values = sample->rows * sample->values /
	Max(sample->rows - sample->once + sample->once * part, 1);
	double		width = values <= PG_UINT8_MAX ? 1 : values <= PG_UINT16_MAX ? 2 : 4;

	if (sizes->rows == 0 || sample->rows == 0)
		return;
	if (sample->rows >= RESIDENT_LEAST_NUMBERED && 2 * values * part > sample->rows)
	{
		size->reason = RESIDENT_NO_REPEATS;
		return;
	}
	size->bytes += (int64) rint(sizes->rows / part * width +
								values * (sample->bytes / sample->values + VALUE_OVERHEAD));
}

/*
 * Returns what a table of nblocks blocks takes if a sample of its nextents extents takes sizes.
 * The ratio of bytes to blocks is estimated, with the margin of a simple random sample, which is
 * too large where values depend on their place.
 */
static ResidentSize
extrapolate(const ExtentSizes *sizes, BlockNumber nblocks, uint32 nextents)
{
	double		bytes = 0;
	double		blocks = 0;
	double		squares = 0;
	ResidentSize size = {0};

	for (int i = 0; i < sizes->n; i++)
	{
		bytes += sizes->bytes[i];
		blocks += sizes->blocks[i];
	}
	if (blocks == 0)
	{
		size.reason = RESIDENT_NOT_VISIBLE;
		return size;
	}
	for (int i = 0; i < sizes->n; i++)
	{
		double		error = sizes->bytes[i] - bytes / blocks * sizes->blocks[i];

		squares += error * error;
	}
	size.bytes = (int64) rint(bytes / blocks * nblocks);
	if (sizes->n > 1 && (uint32) sizes->n < nextents)
		size.margin = (int64) rint(2 * sqrt(squares / (sizes->n - 1) * sizes->n *
											(1 - (double) sizes->n / nextents)) *
								   nblocks / blocks);
	add_numbers(&size, sizes, blocks / nblocks);
	return size;
}

void
resident_sizes(Relation rel, int n, const AttrNumber *attnums, ResidentSize *sizes)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	uint32		nextents = nblocks > 0 ? visibility_extent(nblocks - 1) + 1 : 0;
	uint32		sample = Min(nextents, EXTENT_SIZES);
	MemoryContext memory;
	MemoryContext old;
	SourceColumn *columns;
	ExtentSizes *measured;
	PageList   *list;

	if (n == 0 || nblocks == 0)
		return;
	memory = AllocSetContextCreate(CurrentMemoryContext, "HpSort Resident Sizes",
								   ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(memory);
	columns = source_columns_make(n, nblocks);
	measured = palloc0_array(ExtentSizes, n);
	for (int c = 0; c < n; c++)
		residency_key(rel, attnums[c], &columns[c].reader.key);
	list = page_list_make(rel, nblocks, n, columns, EXTENT_SIZES * RESIDENT_EXTENT_BLOCKS);
	page_list_measure(list, measured);
	for (uint32 i = 0; i < sample; i++)
		list_one(list, (uint32) ((uint64) nextents * i / sample),
				 (uint32) ((uint64) nextents * (i + 1) / sample), nblocks,
				 bms_add_range(NULL, 0, n - 1));
	page_list_read(list);
	for (int c = 0; c < n; c++)
	{
		sizes[c] = extrapolate(&measured[c], nblocks, nextents);
		if (sizes[c].bytes == 0 && columns[c].reason != RESIDENT_OK)
			sizes[c].reason = columns[c].reason;
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(memory);
}
