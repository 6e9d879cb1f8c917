/*
 * resident_found.c
 *		Rows of resident extents that the GPU finds by their keys (see resident_rows.h).
 */
#include "postgres.h"

#include "pg/resident/gpu/resident_rows.h"
#include "pg/resident/gpu/resident_rows_state.h"

/*
 * Unless rows were found in fewer than one in FOUND_PART of the blocks, the CPU reads all, whose
 * rows it refuses about as fast as it finds some of their blocks.
 */
#define FOUND_PART 4

/* Returns the block, of from .. to - 1, that has a row of an extent. */
static int
block_of_row(const uint32 *starts, int from, int to, uint32 row)
{
	while (to - from > 1)
	{
		int			middle = (from + to) / 2;

		if (row < starts[middle])
			to = middle;
		else
			from = middle;
	}
	return from;
}

/* Rows that were found in an extent, by the numbers that the GPU has given all rows. */
typedef struct FoundRows
{
	size_t		extent;			/* its index in the list */
	int64		start;			/* number of its first row */
	int32	   *numbers;		/* n of them, which ascend */
	size_t		n;
} FoundRows;

/*
 * Notes the blocks that have rows, and changes the numbers to those of the rows in the extent; all
 * blocks if the extent has been given up.
 */
static void
note_found(ResidentRows *rows, const FoundRows *found)
{
	ExtentReader *reader = &resident_rows_columns_of(rows, found->extent)[0].reader;
	const ResidentBlocks *valid = &rows->left->valid[found->extent];
	ResidentFound *noted = &rows->found[found->extent];
	int64		start = found->start;
	size_t		n = 0;
	int			from = 0;

	if (extent_reader_begin_again(reader, rows->left->numbers[found->extent],
								  rows->left->generations[found->extent * rows->left->ncolumns]))
	{
		const uint32 *starts = extent_starts(&reader->header.extent);

		while (n < found->n &&
			   (from = resident_blocks_next(valid, from, true)) < RESIDENT_EXTENT_BLOCKS)
		{
			int			to = resident_blocks_next(valid, from, false);
			int64		end = start + starts[to] - starts[from];

			for (; n < found->n && found->numbers[n] < end; n++)
			{
				found->numbers[n] += (int32) ((int64) starts[from] - start);
				resident_blocks_add(&noted->blocks,
									block_of_row(starts, from, to, (uint32) found->numbers[n]));
			}
			start = end;
			from = to;
		}
	}
	if (n < found->n)
		noted->blocks = *valid;
	else
	{
		noted->rows = found->numbers;
		noted->n = n;
	}
}

/* Notes rows of n numbers, which ascend, by extent; false if the GPU is wrong. */
static bool
note_all_found(ResidentRows *rows, int32 *numbers, size_t n)
{
	FoundRows	found = {0};
	int64		start = 0;
	size_t		at = 0;

	for (size_t i = 0; i < rows->left->n; i++)
	{
		int64		next = start + rows->left->rows[i].rows;
		size_t		end = at;

		while (end < n && numbers[end] < next && numbers[end] >= start)
			end++;
		if (end > at)
		{
			extent_reader_prefetch(&resident_rows_columns_of(rows, i)[0].reader,
								   rows->left->numbers[i]);
			if (found.n > 0)
				note_found(rows, &found);
			found = (FoundRows)
			{
				i, start, numbers + at, end - at
			};
		}
		at = end;
		start = next;
	}
	if (found.n > 0)
		note_found(rows, &found);
	return at == n || resident_rows_are_wrong(rows);
}

bool
resident_rows_find(ResidentRows *rows, RowsLayout *layout, const ValueRange *keys, size_t n)
{
	bool		forced = rows->context.device == SORT_DEVICE_GPU;
	int64		nrows = resident_rows_count_all(rows);
	RowsJob		job = resident_rows_job_of(rows, 0, (int32) Max(nrows - 1, 0));
	int64		blocks = 0;
	int32	   *numbers;
	uint64	   *positions;
	int64		nfound;

	resident_rows_end(rows);
	rows->found = MemoryContextAllocZero(rows->memory,
										 (rows->left->n + 1) * sizeof(ResidentFound));
	if (n == 0)
		return true;
	if (nrows > PG_INT32_MAX || !resident_rows_do_job(rows, -1, layout, &job, keys, n))
		return false;
	for (int64 i = 0; i < (int64) rows->left->n; i++)
		blocks += resident_blocks_count(&rows->left->valid[i]);
	nfound = resident_rows_keys(rows);
	if (nfound > blocks / (forced ? 1 : FOUND_PART))
		return false;
	numbers = MemoryContextAlloc(rows->memory, (nfound + 1) * sizeof(int32));
	positions = palloc_array(uint64, nfound + 1);
	for (int64 i = 0; i < nfound; i++)
		positions[i] = (uint64) i;
	return (nfound == 0 || resident_rows_look(rows, SORT_LOOK_AT, positions, nfound, numbers)) &&
		note_all_found(rows, numbers, nfound);
}

const ResidentFound *
resident_rows_found(const ResidentRows *rows, size_t index)
{
	Assert(rows->found == NULL || list_length(rows->lists) == 1);
	return rows->found ? &rows->found[index] : NULL;
}
