/*
 * extent_reader.c
 *		A column's resident extents as batches (see extent_reader.h).
 */
#include "postgres.h"

#include "pg/resident/extents/extent_reader.h"
#include "sort/kernels/kernels.h"

void
extent_reader_look(ExtentReader *reader, uint32 first)
{
	reader->seen = resident_look(&reader->key, first, VISIBILITY_EXTENTS, reader->extents);
}

void
extent_reader_look_again(ExtentReader *reader, uint32 number, uint64 generation)
{
	ResidentExtent *extent = extent_reader_extent(reader, number);

	reader->seen = resident_look(&reader->key, number, 1, extent);
	if (extent->generation != generation)
		memset(extent, 0, sizeof(*extent));
}

bool
extent_reader_begin(ExtentReader *reader, uint32 number)
{
	const ResidentExtent *extent = extent_reader_extent(reader, number);

	reader->number = number;
	resident_start_copying();
	reader->bytes = resident_address(extent);
	if (reader->bytes)
		memcpy(&reader->header, reader->bytes, Min(extent->size, sizeof(reader->header)));
	resident_stop_copying();
	return reader->bytes && extent_reader_holds(reader);
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
	int			i;

	for (i = from; i < to; i++)
		n += counts[i];
	return n > 0;
}

/* The values of blocks from .. to - 1, in shared memory; *row is the first one's. */
static PackedKeys
block_values(const ExtentReader *reader, int from, int to, uint32 *row)
{
	const Extent *extent = &reader->header.extent;
	const uint32 *starts = extent_starts(extent);

	*row = starts[from];
	return extent_values(extent, reader->bytes, *row, starts[to] - *row);
}

static const uint8 *
null_bits(const ExtentReader *reader)
{
	return (const uint8 *) reader->bytes + reader->header.extent.nulls_at;
}

/* Writes values as 64-bit integers. */
static void
unpack_wide(const PackedKeys *values, int64 *out)
{
	int32		keys[1024];
	PackedKeys	part = *values;
	size_t		at;
	size_t		i;

	for (at = 0; at < values->n; at += part.n)
	{
		part.values = (const char *) values->values + at * values->width;
		part.n = Min(values->n - at, lengthof(keys));
		packed_keys_unpack(&part, keys);
		for (i = 0; i < part.n; i++)
			out[at + i] = keys[i];
	}
}

void
extent_reader_add(const ExtentReader *reader, int from, int to, ColumnBatch *batch)
{
	uint32		row;
	PackedKeys	values = block_values(reader, from, to, &row);
	BatchSpace	space = column_batch_space(batch, values.n);
	size_t		nnulls = 0;
	size_t		i;

	if (has_nulls(reader, from, to))
		nnulls = extent_read_nulls(null_bits(reader), row, values.n, space.nulls);
	if (reader->wide)
		unpack_wide(&values, space.wide);
	else
		packed_keys_unpack(&values, space.keys);

	/* The key of a NULL is 0. */
	for (i = 0; nnulls > 0 && i < values.n; i++)
	{
		if (!space.nulls[i])
			continue;
		if (reader->wide)
			space.wide[i] = 0;
		else
			space.keys[i] = 0;
	}
	column_batch_add(batch, values.n, nnulls);
}

/* --- some of the rows */

PackedKeys
extent_reader_values(const ExtentReader *reader, int from, int to)
{
	uint32		row;

	return block_values(reader, from, to, &row);
}

size_t
extent_reader_nulls(const ExtentReader *reader, int from, int to, uint8 *nulls)
{
	const uint32 *starts = extent_starts(&reader->header.extent);

	if (!has_nulls(reader, from, to))
		return 0;
	return extent_read_nulls(null_bits(reader), starts[from], starts[to] - starts[from], nulls);
}

/* Writes the values that have a mark as 64-bit integers; returns how many. */
static size_t
select_wide(const PackedKeys *values, const uint8 *marks, int64 *out)
{
	int32		keys[COLUMN_BATCH_KEYS];
	size_t		n = kernel_select(values->values, values->width, values->n, values->base, marks,
								  keys);
	size_t		i;

	for (i = 0; i < n; i++)
		out[i] = keys[i];
	return n;
}

void
extent_reader_select(const ExtentReader *reader, int from, int to, const uint8 *marks,
					 ColumnBatch *batch)
{
	PackedKeys	values = extent_reader_values(reader, from, to);
	uint8		nulls[COLUMN_BATCH_KEYS];
	bool		any = extent_reader_nulls(reader, from, to, nulls) > 0;
	BatchSpace	space = column_batch_space(batch, values.n);
	size_t		nnulls = 0;
	size_t		at = 0;
	size_t		n;
	size_t		i;

	if (reader->wide)
		n = select_wide(&values, marks, space.wide);
	else
		n = kernel_select(values.values, values.width, values.n, values.base, marks, space.keys);
	if (!any)
		memset(space.nulls, 0, n);
	for (i = 0; any && i < values.n; i++)
	{
		if (!marks[i])
			continue;
		space.nulls[at] = nulls[i];
		nnulls += nulls[i];
		/* The key of a NULL is 0. */
		if (nulls[i] && reader->wide)
			space.wide[at] = 0;
		else if (nulls[i])
			space.keys[at] = 0;
		at++;
	}
	column_batch_add(batch, n, nnulls);
}

/* Writes the TIDs of n rows of a block, or of those that have a mark, to out; returns how many. */
static size_t
number_rows(BlockNumber block, size_t n, const uint8 *marks, int64 *out)
{
	int64		tid = COLUMN_TID(block, FirstOffsetNumber);
	size_t		kept = 0;
	size_t		i;

	if (marks == NULL)
	{
		for (i = 0; i < n; i++)
			out[i] = tid + (int64) i;
		return n;
	}
	if (kernel_count_marks(marks, n) == 0)
		return 0;
	for (i = 0; i < n; i++)
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
	int			i;

	for (i = from; i < to; i++)
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
	uint32		row;
	PackedKeys	values = block_values(reader, from, to, &row);

	Assert(!has_nulls(reader, from, to));
	column_batch_append_packed(batch, &values, memory, bytes);
}
