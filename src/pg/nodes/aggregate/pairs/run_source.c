/*
 * run_source.c
 *		RunSource: the runs of a PairSorter in order (see run_source.h).
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/pairs/run_source.h"
#include "pg/sort_context.h"

void
run_source_open_memory(RunSource *source, LongSorter *sorter, int count_bits)
{
	SortError	err;

	memset(source, 0, sizeof(*source));
	source->count_bits = count_bits;
	source->block = palloc_array(uint64, 2 * BLOCK_RUNS);
	pg_sort_check(long_sorter_finish(sorter, &err), &err);
	pg_sort_check(long_sorter_open_cursor(sorter, &source->memory, &err), &err);
}

static size_t
read_memory(RunSource *source)
{
	SortError	err;
	size_t		n;

	pg_sort_check(long_sorter_cursor_runs(&source->memory, source->block,
										  source->block + BLOCK_RUNS, BLOCK_RUNS, &n, &err), &err);
	return n;
}

/*
 * Turns n keys of a counted sorter, and how often each is there, into runs, in place.  Keys of one
 * code follow each other, also in the next block: the last run is held back until it ends.  Returns
 * how many runs have ended.
 */
static size_t
take_counts(RunSource *source, size_t n)
{
	uint64	   *codes = source->block;
	uint64	   *counts = source->block + BLOCK_RUNS;
	uint64		mask = (UINT64CONST(1) << source->count_bits) - 1;
	size_t		ended = 0;

	for (size_t i = 0; i < n; i++)
	{
		uint64		code = codes[i] >> source->count_bits;
		uint64		count = counts[i] * (source->count_bits > 0 ? codes[i] & mask : 1);

		if (source->held_count > 0 && code != source->held_code)
		{
			codes[ended] = source->held_code;
			counts[ended++] = source->held_count;
			source->held_count = 0;
		}
		source->held_code = code;
		source->held_count += count;
	}
	return ended;
}

/* The next runs of a counted sorter. */
static size_t
next_counted(RunSource *source)
{
	size_t		n;

	while ((n = read_memory(source)) > 0)
	{
		size_t		ended = take_counts(source, n);

		if (ended > 0)
			return ended;
	}
	if (source->held_count == 0)
		return 0;
	source->block[0] = source->held_code;
	source->block[BLOCK_RUNS] = source->held_count;
	source->held_count = 0;
	return 1;
}

size_t
run_source_next(RunSource *source, const uint64 **codes, const uint64 **counts)
{
	uint64	   *block = source->block;

	CHECK_FOR_INTERRUPTS();
	if (source->merge)
		return segment_merge_next(source->merge, codes, counts);
	*codes = block;
	*counts = block + BLOCK_RUNS;
	if (source->rows)
		return pair_rows_runs(source->rows, block, block + BLOCK_RUNS, BLOCK_RUNS);
	return source->count_bits == NOT_COUNTED ? read_memory(source) : next_counted(source);
}
