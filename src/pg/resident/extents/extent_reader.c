/*
 * extent_reader.c
 *		A column's resident extents as batches (see extent_reader.h).
 */
#include "postgres.h"

#include "pg/resident/extents/extent_reader.h"
#include "sort/kernels/kernels.h"

#define CACHE_LINE 64

/* Extents that are looked at, as the next ones are often among them, when one is begun again. */
#define EXTENTS_AGAIN 8

void
extent_reader_init(ExtentReader *reader, BlockNumber nblocks)
{
	memset(reader, 0, offsetof(ExtentReader, extents));
	memset(&reader->seen, 0, sizeof(ExtentReader) - offsetof(ExtentReader, seen));
	reader->nextents = Min(visibility_extent(nblocks - 1) + 1, VISIBILITY_EXTENTS);
}

void
extent_reader_look(ExtentReader *reader, uint32 first)
{
	reader->seen = resident_look(&reader->key, first, reader->nextents, reader->extents);
	reader->nagain = 0;
}

bool
extent_reader_begin(ExtentReader *reader, uint32 number)
{
	const ResidentExtent *extent = extent_reader_extent(reader, number);

	reader->number = number;
	resident_start_copying();
	reader->bytes = resident_address(extent);
	/* Usually all of the start is there; an extent of few blocks may be smaller. */
	if (reader->bytes)
		memcpy(&reader->header, reader->bytes, Min(extent->size, sizeof(reader->header)));
	resident_stop_copying();
	return reader->bytes && extent_reader_holds(reader);
}

bool
extent_reader_begin_again(ExtentReader *reader, uint32 number, uint64 generation)
{
	ResidentExtent *extent = extent_reader_extent(reader, number);

	if (number - reader->again >= reader->nagain)
	{
		reader->again = number;
		reader->nagain = Min(EXTENTS_AGAIN, reader->nextents - number % VISIBILITY_EXTENTS);
		reader->seen = resident_look(&reader->key, number, (int) reader->nagain, extent);
	}
	return extent->generation == generation && extent_reader_begin(reader, number);
}

void
extent_reader_prefetch(ExtentReader *reader, uint32 number)
{
	const ResidentExtent *extent = extent_reader_extent(reader, number);
	const char *bytes;

	if (number - reader->again >= reader->nagain || extent->generation == 0)
		return;
	bytes = resident_address(extent);
	for (size_t at = 0; bytes && at < Min(extent->size, EXTENT_START_BYTES); at += CACHE_LINE)
		__builtin_prefetch(bytes + at);
}

bool
extent_reader_reaches(const ExtentReader *reader)
{
	return resident_address(&reader->extents[reader->number % VISIBILITY_EXTENTS]) == reader->bytes;
}

bool
extent_reader_holds(const ExtentReader *reader)
{
	return resident_holds(&reader->key, reader->number,
						  &reader->extents[reader->number % VISIBILITY_EXTENTS], reader->seen);
}

/* Whether there are NULLs in blocks from .. to - 1. */
static bool
has_nulls(const ExtentReader *reader, int from, int to)
{
	const uint32 *counts = extent_null_counts(&reader->header.extent);
	uint32		n = 0;

	for (int i = from; i < to; i++)
		n += counts[i];
	return n > 0;
}

PackedKeys
extent_reader_values(const ExtentReader *reader, int from, int to)
{
	const Extent *extent = &reader->header.extent;
	const uint32 *starts = extent_starts(extent);

	return extent_values(extent, reader->bytes, starts[from], starts[to] - starts[from]);
}

size_t
extent_reader_mark_nulls(const ExtentReader *reader, int from, int to, uint8 mark, uint8 *marks)
{
	const Extent *extent = &reader->header.extent;
	const uint32 *starts = extent_starts(extent);

	if (!has_nulls(reader, from, to))
		return 0;
	return extent_mark_nulls((const uint8 *) reader->bytes + extent->nulls_at, starts[from],
							 starts[to] - starts[from], mark, marks);
}

/*
 * Sets nulls, of which none is set, of the rows that have a mark, of n; returns how many are NULL.
 */
static size_t
select_nulls(const ExtentReader *reader, int from, int to, size_t n, const uint8 *marks,
			 uint8 *nulls)
{
	uint8		all[COLUMN_BATCH_KEYS];
	size_t		nnulls;
	size_t		at = 0;

	if (!has_nulls(reader, from, to))
		return 0;
	memset(all, 0, n);
	extent_reader_mark_nulls(reader, from, to, 1, all);
	for (size_t i = 0; i < n; i++)
		all[i] &= marks[i];
	nnulls = kernel_count_marks(all, n);
	/* Most conditions refuse NULLs. */
	if (nnulls == 0)
		return 0;
	for (size_t i = 0; i < n; i++)
	{
		nulls[at] = all[i];
		at += marks[i];
	}
	if (at < n)
		nulls[at] = 0;
	return nnulls;
}

void
extent_reader_add(const ExtentReader *reader, int from, int to, const uint8 *marks,
				  ColumnBatch *batch)
{
	PackedKeys	values = extent_reader_values(reader, from, to);
	BatchSpace	space = column_batch_space(batch, values.n);
	size_t		n = values.n;
	size_t		nnulls;

	if (marks)
	{
		n = space.keys ? packed_keys_select(&values, marks, space.keys) :
			packed_keys_select_wide(&values, marks, space.wide);
		nnulls = select_nulls(reader, from, to, values.n, marks, space.nulls);
	}
	else
	{
		batch_space_unpack(&space, &values);
		nnulls = extent_reader_mark_nulls(reader, from, to, 1, space.nulls);
	}

	/* The key of a NULL is 0. */
	for (size_t i = 0; nnulls > 0 && i < n; i++)
	{
		if (!space.nulls[i])
			continue;
		if (space.wide)
			space.wide[i] = 0;
		else
			space.keys[i] = 0;
	}
	column_batch_add(batch, n, nnulls);
}

/* Writes the TIDs of n rows of a block, or of its marked rows, to out; returns how many. */
static size_t
number_rows(BlockNumber block, size_t n, const uint8 *marks, int64 *out)
{
	int64		tid = COLUMN_TID(block, FirstOffsetNumber);
	size_t		kept = 0;

	if (marks == NULL)
	{
		for (size_t i = 0; i < n; i++)
			out[i] = tid + (int64) i;
		return n;
	}
	if (kernel_count_marks(marks, n) == 0)
		return 0;
	for (size_t i = 0; i < n; i++)
	{
		out[kept] = tid + (int64) i;
		kept += marks[i];
	}
	return kept;
}

void
extent_reader_add_tids(const ExtentReader *reader, BlockNumber first, int from, int to,
					   const uint8 *marks, ColumnBatch *batch, BatchPages *pages)
{
	const uint32 *starts = extent_starts(&reader->header.extent);

	for (int i = from; i < to; i++)
	{
		size_t		nrows = starts[i + 1] - starts[i];
		size_t		n = number_rows(first + i, nrows,
									marks ? marks + (starts[i] - starts[from]) : NULL,
									column_batch_space(batch, nrows).wide);

		if (n == 0)
			continue;
		column_batch_add(batch, n, 0);
		batch_pages_add(pages, first + i, InvalidBuffer);
	}
}

void
extent_reader_add_packed(const ExtentReader *reader, int from, int to, void *memory, size_t bytes,
						 ColumnBatch *batch)
{
	PackedKeys	values = extent_reader_values(reader, from, to);

	Assert(!has_nulls(reader, from, to));
	column_batch_append_packed(batch, &values, memory, bytes);
}
