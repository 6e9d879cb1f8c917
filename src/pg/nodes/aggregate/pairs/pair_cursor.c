/*
 * pair_cursor.c
 *		PairCursor: reads the pairs of a PairSorter, group by group (see pairs.h).
 */
#include "postgres.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/pairs/pair_state.h"
#include "pg/nodes/aggregate/pairs/pairs.h"

/*
 * The most runs that are read ahead to count the rows of a group.  Beyond these the rest of the
 * group is read twice, so that memory does not depend on how large it is.
 */
#define AHEAD_RUNS (16 * BLOCK_RUNS)

struct PairCursor
{
	PairSorter *pairs;
	RunSource	source;			/* of further runs */

	const GroupValues *group;	/* NULL at the end */
	GroupValues coded;			/* the group, if pairs are coded */
	uint64		last_code;		/* the largest that a pair of the group can have */
	int64		markers[PAIR_MARKERS];	/* of the group, if pairs are rows */
	uint64		mask;			/* of the place in a code */
	uint64		offset;			/* what the place lacks to be the value */

	bool		more;			/* the source may have further runs */
	size_t		room;			/* of the arrays, in runs */
	size_t		n;				/* runs that have been read */
	size_t		at;				/* the first of them that has not been taken */
	uint64	   *codes;			/* of the runs; if pairs are rows, their values */
	uint64	   *counts;
	int64	   *values;			/* of the runs that have been taken last */
};

/* Appends the next runs of the source to the runs that have been read. */
static void
read_more(PairCursor *cursor)
{
	const uint64 *codes;
	const uint64 *counts;
	size_t		n = run_source_next(&cursor->source, &codes, &counts);

	if (cursor->n + n > cursor->room)
	{
		cursor->room = cursor->n + n;
		cursor->codes = repalloc(cursor->codes, cursor->room * sizeof(uint64));
		cursor->counts = repalloc(cursor->counts, cursor->room * sizeof(uint64));
		cursor->values = repalloc(cursor->values, cursor->room * sizeof(int64));
	}
	memcpy(cursor->codes + cursor->n, codes, n * sizeof(uint64));
	memcpy(cursor->counts + cursor->n, counts, n * sizeof(uint64));
	cursor->n += n;
	cursor->more = n > 0;
}

/* Sees to it that there are runs that have not been taken; false at the end. */
static bool
fill_block(PairCursor *cursor)
{
	if (cursor->at < cursor->n)
		return true;
	cursor->at = cursor->n = 0;
	if (cursor->source.rows)
		pair_rows_forget(cursor->source.rows);
	if (cursor->more)
		read_more(cursor);
	return cursor->n > 0;
}

/* Reads further runs behind the runs that have not been taken. */
static void
read_ahead(PairCursor *cursor)
{
	size_t		left = cursor->n - cursor->at;

	memmove(cursor->codes, cursor->codes + cursor->at, left * sizeof(uint64));
	memmove(cursor->counts, cursor->counts + cursor->at, left * sizeof(uint64));
	cursor->at = 0;
	cursor->n = left;
	read_more(cursor);
}

/* Counts what is left of the group in the source, which is where it was afterwards. */
static int64
count_behind(PairCursor *cursor)
{
	RunSource	source = cursor->source;
	const uint64 *codes;
	const uint64 *counts;
	int64		count = 0;
	size_t		n;
	size_t		i;

	if (source.rows)
		return pair_rows_count(source.rows);
	if (source.merge)
		source.merge = segment_merge_copy(source.merge);
	do
	{
		n = run_source_next(&source, &codes, &counts);
		for (i = 0; i < n && codes[i] <= cursor->last_code; i++)
			count += (int64) counts[i];
	} while (n > 0 && i == n);
	if (source.merge)
		segment_merge_free(source.merge);
	return count;
}

static void
start_group(PairCursor *cursor)
{
	const PairCoding *coding = &cursor->pairs->coding;
	uint64		group;

	if (cursor->source.rows)
	{
		cursor->group = pair_rows_next_group(cursor->source.rows, cursor->markers);
		cursor->more = cursor->group != NULL;
		return;
	}
	if (!fill_block(cursor))
	{
		cursor->group = NULL;
		return;
	}
	group = pair_group(coding, cursor->codes[cursor->at]);
	group_code_values(coding->groups, group, &cursor->coded);
	cursor->group = &cursor->coded;
	cursor->last_code = pair_code(coding, group, cursor->mask);
}

/* Where pairs have been written, memory is written as well: one merge then has all. */
PairCursor *
pairs_open(PairSorter *pairs)
{
	const PairCoding *coding = &pairs->coding;
	PairCursor *cursor = palloc0_object(PairCursor);

	cursor->pairs = pairs;
	cursor->room = BLOCK_RUNS;
	cursor->codes = palloc_array(uint64, cursor->room);
	cursor->counts = palloc_array(uint64, cursor->room);
	cursor->values = palloc_array(int64, cursor->room);
	cursor->offset = (uint64) column_kind_bias(pairs->kind);
	cursor->mask = cursor->last_code = PG_UINT64_MAX;
	cursor->more = true;
	if (pairs->rows)
	{
		pair_rows_finish(pairs->rows);
		cursor->source.rows = pairs->rows;
		cursor->source.block = palloc_array(uint64, 2 * BLOCK_RUNS);
		start_group(cursor);
		return cursor;
	}
	cursor->coded = group_values_make(coding->groups->code.ncolumns);
	cursor->offset -= pair_value_offset(coding);
	cursor->mask = pair_place(coding, PG_UINT64_MAX);
	if (pairs->file)
	{
		if (long_sorter_count(pairs->sorter) > 0)
			pairs_write_segment(pairs, pairs->sorter, coding);
		long_sorter_reset(pairs->sorter);
		cursor->source.merge = pair_file_open(pairs->file, coding);
	}
	else
		run_source_open_memory(&cursor->source, pairs->sorter, pairs->count_bits);
	start_group(cursor);
	return cursor;
}

const GroupValues *
pairs_group(const PairCursor *cursor)
{
	return cursor->group;
}

int64
pairs_group_count(PairCursor *cursor)
{
	int64		count = 0;
	size_t		i;

	for (i = 0; i < PAIR_MARKERS; i++)
		count += cursor->markers[i];
	if (cursor->pairs->type)
		return count + pair_rows_count(cursor->source.rows);
	if (!fill_block(cursor))
		return count;
	while (cursor->more && cursor->codes[cursor->n - 1] <= cursor->last_code &&
		   cursor->n - cursor->at < AHEAD_RUNS)
		read_ahead(cursor);
	for (i = cursor->at; i < cursor->n && cursor->codes[i] <= cursor->last_code; i++)
		count += (int64) cursor->counts[i];
	if (i == cursor->n && cursor->more)
		count += count_behind(cursor);
	return count;
}

/* Rows have given their markers with the group.  Of codes, markers are the group's first. */
void
pairs_markers(PairCursor *cursor, int64 markers[PAIR_MARKERS])
{
	const PairCoding *coding = &cursor->pairs->coding;

	memcpy(markers, cursor->markers, PAIR_MARKERS * sizeof(int64));
	if (cursor->source.rows == NULL && coding->markers > 0)
		while (fill_block(cursor) && cursor->codes[cursor->at] <= cursor->last_code &&
			   pair_place_is_marker(coding, pair_place(coding, cursor->codes[cursor->at])))
		{
			markers[pair_place(coding,
							   cursor->codes[cursor->at])] += (int64) cursor->counts[cursor->at];
			cursor->at++;
		}
}

int64
pairs_want(PairCursor *cursor, int64 first, int64 last)
{
	if (cursor->pairs->type == NULL)
		return 0;
	pair_rows_want(cursor->source.rows, first, last);
	return first;
}

size_t
pairs_runs(PairCursor *cursor, const int64 **values, const int64 **counts)
{
	size_t		first;

	if (cursor->group == NULL)
		return 0;
	if (!fill_block(cursor) || cursor->codes[cursor->at] > cursor->last_code)
	{
		start_group(cursor);
		return 0;
	}
	first = cursor->at;
	if (cursor->codes[cursor->n - 1] <= cursor->last_code)
		cursor->at = cursor->n;
	else
		while (cursor->codes[cursor->at] <= cursor->last_code)
			cursor->at++;
	for (size_t i = first; i < cursor->at; i++)
		cursor->values[i] = (int64) ((cursor->codes[i] & cursor->mask) + cursor->offset);
	*values = &cursor->values[first];
	*counts = (const int64 *) &cursor->counts[first];
	return cursor->at - first;
}
