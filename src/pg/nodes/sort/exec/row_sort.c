/*
 * row_sort.c
 *		A sort of rows, for an executor node (see row_sort.h).
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pg/compat.h"
#include "pg/nodes/sort/exec/row_sort.h"
#include "pg/sort_context.h"

/* Keys handled between two looks at interrupts. */
#define CHECK_EVERY 1024

/*
 * So few first keys are kept in the store from the beginning: it takes a comparison to refuse a
 * key, and whole extents of resident columns are refused by it.  1e7 keys of 1,000 values, packed
 * in memory, take 9 ms to be counted.
 */
#define FEW_KEYS 8192

/* Places of a tape that are in memory at once. */
#define TAPE_PLACES 2048

RowSort *
row_sort_begin(const RowSortSpec *spec, uint64 bound, const GroupBoundSpec *by_group,
			   RowSortStats *stats)
{
	RowSort    *sort = (RowSort *) MemoryContextAllocZero(spec->memory, sizeof(RowSort));
	Size		limit = (Size) work_mem * 1024;

	memset(stats, 0, sizeof(*stats));
	stats->bounded = bound > 0;
	stats->by_group = by_group != NULL;
	sort->spec = spec;
	sort->stats = stats;
	sort->store = row_store_create(spec->memory, spec->keys, spec->tupdesc, !spec->key_only, NULL,
								   limit, bound);
	row_buffer_init(&sort->row, spec->memory);
	if (by_group)
	{
		Assert(bound == 0 && !spec->key_only);
		sort->by_group = group_bound_create(sort->store, by_group);
	}

	/* Runs cannot be read backward. */
	sort->place = ROW_SORT_STORE;
	if (spec->key_only && !spec->random)
	{
		key_runs_init(&sort->runs, &spec->keys->keys[0], &spec->key_context, spec->memory, limit);
		if (bound == 0 || bound > FEW_KEYS)
			sort->place = ROW_SORT_RUNS;
	}
	return sort;
}

void
row_sort_end(RowSort *sort)
{
	if (sort->in_place)
		place_rows_end(sort->in_place);
	if (sort->external)
		external_sort_destroy(sort->external);
	row_store_destroy(sort->store);
	key_columns_stop(sort->spec->keys);
	MemoryContextReset(sort->spec->memory);
}

void
row_sort_flush(RowSort *sort)
{
	const RowSortSpec *spec = sort->spec;

	uint64		rows = sort->store->rows;

	/* While rows of a bound by group are merged, images of first rows have the other half. */
	if (sort->external == NULL)
		sort->external = external_sort_create(spec->memory, sort->store,
											  sort->store->limit / (sort->by_group ? 2 : 1),
											  &spec->context);
	sort->place = ROW_SORT_EXTERNAL;
	sort->count += rows;
	external_sort_flush(sort->external);
	if (sort->by_group)
		group_bound_written(sort->by_group, rows);
}

/* Puts a key to the store, or through it to the external sort. */
static inline void
put_key(RowSort *sort, const RowKey *key)
{
	if (likely(row_store_take_key(sort->store, key)))
		return;
	row_sort_flush(sort);
	if (!row_store_take_key(sort->store, key))
		elog(ERROR, "no room for a key");
}

/* Puts a number of NULLs, as put_key does. */
static void
put_nulls(RowSort *sort, uint64 nulls)
{
	RowKey		key = {.nulls = 1};

	for (; nulls > 0; nulls--)
	{
		put_key(sort, &key);
		if (nulls % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/* Moves all keys from the runs to the store. */
static void
leave_runs(RowSort *sort)
{
	KeyRuns    *runs = &sort->runs;
	uint64		left = sorter_count(&runs->sorter);
	RowKey		key = {0};

	sort->stats->keys = left + runs->nulls;
	sort->place = ROW_SORT_STORE;
	key_runs_finish(runs);
	if (sort->store->bound.rows > 0)
		left = Min(left, sort->store->bound.rows);
	while (left > 0)
	{
		size_t		got = key_runs_fetch(runs);

		got = Min(got, left);
		for (size_t i = 0; i < got; i++)
		{
			key.images[0] = key_runs_from_distance(runs, runs->batch[i]);
			put_key(sort, &key);
		}
		left -= got;
		CHECK_FOR_INTERRUPTS();
	}
	put_nulls(sort, runs->nulls);
	sorter_reset(&runs->sorter);
}

void
row_sort_put_refused(RowSort *sort, TupleTableSlot *slot)
{
	bool		taken = false;

	if (sort->place == ROW_SORT_RUNS)
	{
		leave_runs(sort);
		taken = row_store_take(sort->store, slot);
	}
	if (!taken && sort->by_group && group_bound_cut(sort->by_group, true))
		taken = row_store_take(sort->store, slot);
	if (!taken)
	{
		row_sort_flush(sort);
		if (!row_store_take(sort->store, slot))
			elog(ERROR, "no room for a row");
	}
	sort->stats->keys++;
}

/* Puts n distances of keys, to the store. */
static void
put_distances(RowSort *sort, const int32 *distances, size_t n)
{
	RowKey		key = {0};
	int32		wanted[256];
	size_t		i = 0;

	while (i < n)
	{
		int64		cutoff = key_runs_to_distance(&sort->runs,
												  row_store_narrow_cutoff(sort->store));
		size_t		end = Min(n, i + lengthof(wanted));
		size_t		nwanted = 0;

		/* Most keys are beyond a cutoff: no branch is taken for each. */
		for (; i < end; i++)
		{
			wanted[nwanted] = distances[i];
			nwanted += distances[i] < cutoff;
		}
		for (size_t w = 0; w < nwanted; w++)
		{
			key.images[0] = key_runs_from_distance(&sort->runs, wanted[w]);
			put_key(sort, &key);
		}
	}
}

void
row_sort_put_batch(RowSort *sort, const ColumnBatch *batch)
{
	BatchPosition position = {0};
	ColumnBatch rows;

	if (sort->place == ROW_SORT_RUNS)
	{
		if (!key_runs_add(&sort->runs, batch))
			leave_runs(sort);
		return;
	}
	sort->stats->keys += batch->nnulls;
	if (batch->runs || batch->packed.n > 0)
		while (column_batch_next_rows(batch, &position, &rows))
		{
			CHECK_FOR_INTERRUPTS();
			sort->stats->keys += rows.n;
			put_distances(sort, rows.keys, rows.n);
		}
	else
	{
		sort->stats->keys += batch->n - batch->nnulls;
		put_distances(sort, batch->keys, batch->n - batch->nnulls);
	}
	put_nulls(sort, batch->nnulls);
}

/*
 * Sorts the runs, and sets the statistics from the sorter's.  The sorter has seen no NULLs, which
 * count as one more value.
 */
static void
finish_runs(RowSort *sort)
{
	RowSortStats *stats = sort->stats;
	uint64		nulls = sort->runs.nulls;
	SorterStats sorted;

	key_runs_finish(&sort->runs);
	pg_sort_stats(&sort->runs.sorter, NULL, &sorted);
	stats->sorted.plan = sorted.plan;
	stats->keys = sorted.n + nulls;
	stats->sorted.distinct = sorted.distinct == 0 ? 0 : sorted.distinct + (nulls > 0);
	stats->sorted.range = (sorted.n > 0 ? (double) plan_range(sorted.lo, sorted.hi) : 0) +
		(nulls > 0);
	stats->space = sorter_memory(&sort->runs.sorter) + sizeof(Sorter);
}

/*
 * Sorts the rows in memory, and sets the statistics.  With a bound by group, rows that are not
 * among the first of their group are dropped before, unless the bound has been given up.
 */
static void
finish_store(RowSort *sort)
{
	RowSortStats *stats = sort->stats;

	if (sort->by_group)
	{
		group_bound_finish(sort->by_group);
		stats->groups = sort->by_group->frozen ? 0 : sort->by_group->groups;
		stats->kept = sort->store->rows;
	}
	row_store_sort(sort->store, &sort->spec->context);
	sort->count = row_store_count(sort->store);
	stats->sorted = sort->store->stats;
	stats->space = sort->store->peak;
}

/*
 * Ends the external sort, and sets the statistics.  Rows are merged while they are returned; where
 * they may be read backward, or again, they are merged now, to a tape.
 */
static void
finish_external(RowSort *sort)
{
	RowSortStats *stats = sort->stats;
	bool		to_tape = sort->spec->random || sort->spec->rewind;
	ExternalSortStats done;

	sort->count += sort->store->rows;
	if (sort->by_group)
		group_bound_finish(sort->by_group);
	external_sort_finish(sort->external, to_tape);
	if (to_tape)
	{
		sort->tape = external_sort_write_tape(sort->external);
		sort->place = ROW_SORT_TAPE;
	}
	done = external_sort_stats(sort->external);
	stats->segments = done.segments;
	stats->sorted.compared = done.compared;
	stats->sorted.plan = done.plan;
	stats->on_disk = true;
	stats->space = done.bytes;
}

void
row_sort_spare_pages(RowSort *sort, Size pages)
{
	Size		limit = (Size) work_mem * 1024;

	sort->store->limit = limit > pages ? limit - pages : 0;
}

/*
 * Sorts the places of the table's rows, which are all there, and sets the statistics.  Places are
 * sorted as rows are, in memory or externally, in what the list of pages leaves of work_mem.
 */
static void
finish_table(RowSort *sort)
{
	PlaceRows  *rows = sort->in_place;

	row_fetch_trim(rows->fetch);
	row_sort_spare_pages(sort, row_fetch_memory(rows->fetch));
	if (sort->external)
	{
		finish_external(sort);
		if (sort->tape)
			sort->tape_places = (uint32 *) MemoryContextAlloc(sort->spec->memory, TAPE_PLACES *
															  sizeof(uint32));
	}
	else
	{
		finish_store(sort);
		sort->stats->space += row_fetch_memory(rows->fetch);
		rows->nplaces = sort->count;
	}
	sort->stats->rows = ROWS_IN_PLACE;
	sort->place = ROW_SORT_TABLE;
	place_rows_end_sort(rows);
}

void
row_sort_finish(RowSort *sort)
{
	if (sort->in_place)
		finish_table(sort);
	else if (sort->place == ROW_SORT_RUNS)
		finish_runs(sort);
	else if (sort->place == ROW_SORT_STORE)
		finish_store(sort);
	else
		finish_external(sort);
	sort->stats->valid = true;
}

void
row_sort_rewind(RowSort *sort)
{
	sort->position.at = 0;
	sort->position.at_end = false;
	if (sort->place == ROW_SORT_RUNS)
		key_runs_rewind(&sort->runs);
}

void
row_sort_mark(RowSort *sort)
{
	sort->mark = sort->position;
}

void
row_sort_restore(RowSort *sort)
{
	sort->position = sort->mark;
}

/*
 * A row of the tape is a lone key as a Datum, of which NULL is one byte, or the bytes of a minimal
 * tuple behind its length and padding, as external_sort_write_tape has written them.
 */
TupleTableSlot *
row_sort_next_of_tape(RowSort *sort, bool forward, TupleTableSlot *slot)
{
	uint32		len = tape_next(sort->tape, &sort->position, forward);
	MinimalTuple tuple;

	ExecClearTuple(slot);
	if (len == 0)
		return slot;
	if (sort->spec->key_only)
	{
		uint64		value = 0;

		tape_get(sort->tape, &value, len);
		slot->tts_isnull[0] = len < sizeof(value);
		slot->tts_values[0] = (Datum) value;
		return ExecStoreVirtualTuple(slot);
	}
	tuple = row_buffer_reserve(&sort->row, len + MINIMAL_TUPLE_DATA_OFFSET);
	memset(tuple, 0, MINIMAL_TUPLE_DATA_OFFSET);
	tuple->t_len = len + MINIMAL_TUPLE_DATA_OFFSET;
	tape_get(sort->tape, (char *) tuple + MINIMAL_TUPLE_DATA_OFFSET, len);
	return ExecStoreMinimalTuple(tuple, slot, false);
}

/* --- rows that stay in the table */

/*
 * A tape has its places read in blocks of TAPE_PLACES, whichever is wanted.  An external sort gives
 * the next places that its merge brings, so that it can only be read forward.
 */
void
row_sort_read_places(RowSort *sort, uint64 i)
{
	PlaceRows  *rows = sort->in_place;

	if (sort->tape)
	{
		rows->first = i - i % TAPE_PLACES;
		rows->nplaces = Min(sort->count - rows->first, TAPE_PLACES);
		rows->places = sort->tape_places;
		tape_get_items(sort->tape, rows->first * sizeof(uint32), sort->tape_places,
					   rows->nplaces * sizeof(uint32));
		return;
	}
	Assert(i == rows->first + rows->nplaces);
	rows->first = i;
	rows->fetch->by_row = false;
	rows->nplaces = external_sort_next_refs(sort->external, &rows->places);
	place_rows_end_sort(rows);
	if (rows->nplaces == 0)
		elog(ERROR, "no more places in a temporary file");
}

void
row_sort_unpin(RowSort *sort)
{
	if (sort->in_place)
		place_rows_unpin(sort->in_place);
}

void
row_sort_at_end_of_table(RowSort *sort)
{
	ExecClearTuple(sort->in_place->slot);
	if (!sort->spec->random && !sort->spec->rewind)
		row_sort_unpin(sort);
}
