/*
 * external_sort.c
 *		Rows that do not fit into memory, in order (see external_sort.h).
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/nodes/sort/store/external_sort.h"
#include "pg/nodes/sort/store/row_segment.h"
#include "pg/nodes/sort/store/sort.h"

/*
 * A segment is read through a buffer of one of BUFFER_PARTS parts of the memory, but of BUFFER_MAX
 * bytes at most: reading from disk gains nothing by larger ones.  All buffers of a merge take
 * BUFFERS_OF(memory); beside them is a row of each segment.
 */
#define BUFFER_PARTS 64
#define BUFFER_MAX ((Size) 64 * 1024)
#define BUFFERS_OF(limit) ((limit) / 8 * 7)

/* How many segments are merged at once: at least as many as in core's tuplesort. */
#define ORDER_MIN 6
#define ORDER_MAX 500

/* References returned at once. */
#define REFS_AT_ONCE 1024

/*
 * An external sort: rows go to the last segment of the array, while it is open, and are read by
 * merge.
 */
struct ExternalSort
{
	MemoryContext memory;
	RowStore   *store;
	const SortContext *context;
	LogicalTapeSet *tapes;
	Size		buffer;			/* bytes to read a segment through */
	int			order;			/* segments merged at once */
	ExternalSortStats stats;
	int			n;
	int			room;
	RowSegment *segments;		/* in the order in which rows came */
	bool		open;			/* rows may be appended to the last of them */

	/* Reading. */
	RowMerge   *merge;			/* NULL before external_sort_finish */
	int			taken;			/* segments that external_sort_take_back has read */
	uint32	   *refs;			/* of rows that lie elsewhere */
};

ExternalSort *
external_sort_create(MemoryContext parent, RowStore *store, Size limit,
					 const SortContext *context)
{
	MemoryContext memory = AllocSetContextCreate(parent, "hpsort segments",
												 ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(memory);
	ExternalSort *sort = palloc0_object(ExternalSort);
	Size		numbers = store->keys->numbered ? store->keys->numbers.limit : 0;

	limit -= Min(numbers, limit / 2);
	PrepareTempTablespaces();
	sort->memory = memory;
	sort->store = store;
	sort->context = context;
	sort->tapes = LogicalTapeSetCreate(false, NULL, -1);
	sort->buffer = Max(Min(limit / BUFFER_PARTS, BUFFER_MAX), BLCKSZ);
	sort->buffer -= sort->buffer % BLCKSZ;
	sort->order = (int) Max(Min(BUFFERS_OF(limit) / sort->buffer, ORDER_MAX), ORDER_MIN);
	sort->room = 8;
	sort->segments = palloc_array(RowSegment, sort->room);
	if (store->elsewhere)
		sort->refs = palloc_array(uint32, REFS_AT_ONCE);
	MemoryContextSwitchTo(old);
	return sort;
}

/* Merges count segments from number first on; in the memory of the sort. */
static void
merge_segments(ExternalSort *sort, int first, int count)
{
	RowSegment *segments = &sort->segments[first];
	RowMerge   *merge = row_merge_begin(sort->store, segments, count);
	RowSegment	result;
	const SegmentRow *row;
	int			level = 0;

	for (int i = 0; i < count; i++)
		level = Max(level, segments[i].level);
	row_segment_begin(&result, sort->tapes, sort->store, level + 1);
	while ((row = row_merge_next(merge)) != NULL)
		row_segment_put(&result, sort->store, row);
	row_segment_end(&result, sort->buffer);
	row_merge_end(merge);
	segments[0] = result;
	sort->n -= count - 1;
	memmove(segments + 1, segments + count, (sort->n - first - 1) * sizeof(RowSegment));
}

/*
 * Merges the first segments of each level that has enough for two merges.  Levels descend from the
 * first segment to the last, which may be open and is not merged.
 */
static void
merge_levels(ExternalSort *sort)
{
	int			end = sort->n;

	while (end > 0)
	{
		int			level = sort->segments[end - 1].level;
		int			first = end - 1;

		while (first > 0 && sort->segments[first - 1].level == level)
			first--;
		if (end - first < 2 * sort->order)
			return;

		/* Buffers and rows of the merge take the place of the store's memory. */
		row_store_reset(sort->store);
		merge_segments(sort, first, sort->order);
		end = first + 1;
	}
}

/* No more rows are appended to the last segment. */
static void
end_segment(ExternalSort *sort)
{
	if (sort->open)
		row_segment_end(&sort->segments[sort->n - 1], sort->buffer);
	sort->open = false;
}

/* Begins another segment, of level 0, for the rows of the store. */
static void
begin_segment(ExternalSort *sort)
{
	end_segment(sort);
	if (sort->n == sort->room)
	{
		sort->room *= 2;
		sort->segments = (RowSegment *) repalloc(sort->segments, sort->room * sizeof(RowSegment));
	}
	row_segment_begin(&sort->segments[sort->n++], sort->tapes, sort->store, 0);
	sort->open = true;
	sort->stats.segments++;
}

void
external_sort_flush(ExternalSort *sort)
{
	RowStore   *store = sort->store;
	MemoryContext old;

	/*
	 * From now on all rows are written, so that a bound drops none; and images are made as
	 * before, because the images that are written stay what they are.
	 */
	store->bound.rows = 0;
	store->bound.has_cutoff = false;
	store->abort_check = PG_UINT64_MAX;
	if (store->rows == 0)
		return;
	old = MemoryContextSwitchTo(sort->memory);
	if (store->elsewhere)
		row_store_sort_with_keys(store, true, sort->context);
	else
		row_store_sort(store, sort->context);
	sort->stats.plan = store->stats.plan;
	sort->stats.compared |= store->stats.compared;

	/* Rows that come in order are one segment. */
	if (!sort->open || !row_segment_precedes(&sort->segments[sort->n - 1], store))
		begin_segment(sort);
	row_segment_put_store(&sort->segments[sort->n - 1], store);
	row_store_clear(store);
	merge_levels(sort);
	key_columns_number(store->keys);
	MemoryContextSwitchTo(old);
}

/*
 * Returns the first of the count neighbouring segments that have the fewest bytes together: to
 * merge them costs least.
 */
static int
smallest_neighbours(const ExternalSort *sort, int count)
{
	uint64		bytes = 0;
	uint64		least = PG_UINT64_MAX;
	int			first = 0;

	for (int i = 0; i < sort->n; i++)
	{
		bytes += sort->segments[i].bytes;
		if (i >= count)
			bytes -= sort->segments[i - count].bytes;
		if (i >= count - 1 && bytes < least)
		{
			least = bytes;
			first = i - count + 1;
		}
	}
	return first;
}

void
external_sort_finish(ExternalSort *sort, bool to_tape)
{
	MemoryContext old;

	external_sort_flush(sort);
	row_store_reset(sort->store);
	key_columns_rank(sort->store->keys);
	old = MemoryContextSwitchTo(sort->memory);
	end_segment(sort);
	while (sort->n > sort->order)
	{
		/* No more than are needed for the last merge to have exactly sort->order segments. */
		int			count = Min(sort->order, sort->n - sort->order + 1);

		merge_segments(sort, smallest_neighbours(sort, count), count);
	}
	sort->merge = row_merge_begin(sort->store, sort->segments, sort->n);
	sort->n = 0;
	if (!to_tape)
		LogicalTapeSetForgetFreeSpace(sort->tapes);
	MemoryContextSwitchTo(old);
}

TupleTableSlot *
external_sort_next(ExternalSort *sort, TupleTableSlot *slot)
{
	const SegmentRow *row = row_merge_next(sort->merge);

	if (row == NULL)
		return ExecClearTuple(slot);
	if (row->tuple)
		return ExecStoreMinimalTuple(row->tuple, slot, false);
	return key_emit(&sort->store->keys->keys[0], row->key.nulls != 0, row->key.images[0], slot);
}

uint64
external_sort_next_refs(ExternalSort *sort, const uint32 **refs)
{
	const SegmentRow *row;
	uint64		n = 0;

	CHECK_FOR_INTERRUPTS();
	while (n < REFS_AT_ONCE && (row = row_merge_next(sort->merge)) != NULL)
		sort->refs[n++] = row->ref;
	*refs = sort->refs;
	return n;
}

uint64
external_sort_take_back(ExternalSort *sort, const uint32 **refs)
{
	MemoryContext old = MemoryContextSwitchTo(sort->memory);
	SegmentRow	row;
	uint64		n = 0;

	CHECK_FOR_INTERRUPTS();
	end_segment(sort);
	while (n < REFS_AT_ONCE && sort->taken < sort->n)
	{
		if (row_segment_get(&sort->segments[sort->taken], sort->store, &row, NULL))
			sort->refs[n++] = row.ref;
		else
			row_segment_close(&sort->segments[sort->taken++]);
	}
	*refs = sort->refs;
	MemoryContextSwitchTo(old);
	return n;
}

Tape *
external_sort_write_tape(ExternalSort *sort)
{
	const KeyColumn *key = &sort->store->keys->keys[0];
	MemoryContext old = MemoryContextSwitchTo(sort->memory);
	Tape	   *tape = tape_create(sort->tapes);
	const SegmentRow *row;

	while ((row = row_merge_next(sort->merge)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (row->tuple)
			tape_put(tape, (char *) row->tuple + MINIMAL_TUPLE_DATA_OFFSET,
					 row->tuple->t_len - MINIMAL_TUPLE_DATA_OFFSET);
		else if (sort->store->elsewhere)
			tape_put_items(tape, &row->ref, sizeof(row->ref));
		else
		{
			bool		isnull = row->key.nulls != 0;
			Datum		value = isnull ? (Datum) 0 : key_value(key, row->key.images[0]);

			tape_put(tape, &value, isnull ? 1 : sizeof(value));
		}
	}
	row_merge_end(sort->merge);
	sort->merge = NULL;
	tape_finish(tape);
	MemoryContextSwitchTo(old);
	return tape;
}

ExternalSortStats
external_sort_stats(const ExternalSort *sort)
{
	ExternalSortStats stats = sort->stats;

	stats.bytes = (uint64) LogicalTapeSetBlocks(sort->tapes) * BLCKSZ;
	return stats;
}

void
external_sort_destroy(ExternalSort *sort)
{
	LogicalTapeSetClose(sort->tapes);
	MemoryContextDelete(sort->memory);
}
