/*
 * partitions.c
 *		Sorting what does not fit into work_mem: partition by partition.
 *
 * When the store is full its rows, and all that follow, go to a temporary file
 * by ranges of their keys (nodes/sort/store/spill.h).  Read back in order, a partition
 * usually fits into memory and is sorted there.  If not, it is divided, as
 * often as it takes; unless all its rows have the same keys, which then are in
 * order as they lie.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/nodes/sort/exec.h"
#include "pg/sort_context.h"

/* Rows handled between two looks at interrupts. */
#define CHECK_EVERY 1024

/* As core reads what it may be asked for backward. */
#define TAPE_BUFFER BLCKSZ

/*
 * Rows that a partition is divided by, however large they are.  With one or two it
 * would be halved at best, again and again.  Core's merge of large rows
 * keeps as many in memory, one of each of six tapes or more.
 */
#define TUPLE_SAMPLES 6

/* A partition's rows are read into here one by one. */
static MinimalTuple
row_space(HpSortState *state, Size len)
{
	if (len > state->stream_room)
	{
		if (state->stream_row)
			pfree(state->stream_row);
		state->stream_room = Max(len, 1024);
		state->stream_row = (MinimalTuple) MemoryContextAllocHuge(state->memory, state->stream_room);
	}
	return state->stream_row;
}

/* Whether partitions will be read again; a tape needs them once. */
static inline bool
keeps(const HpSortState *state)
{
	return state->rewind && !state->random;
}

static void
start_spill(HpSortState *state)
{
	RowStore *store = state->store;

	state->spill = spill_create(state->memory, state->keys, state->tupdesc, store->tuples,
									  store->limit);
	state->partition = 0;
}

/* Room for as many samples of so many rows as are of use. */
static SpillSample *
make_samples(HpSortState *state, uint64 rows, double expected, int *nsamples)
{
	*nsamples = spill_sample_count(state->spill, rows, expected);
	return (SpillSample *) MemoryContextAllocZero(state->memory, *nsamples * sizeof(SpillSample));
}

void
sort_node_spill_store(HpSortState *state)
{
	RowStore *store = state->store;
	uint64		rows = store->rows;
	double		expected = outerPlanState(state)->plan->plan_rows / (double) rows;
	SpillSample *samples;
	int			nsamples;
	int			i;

	/* An estimate already exceeded says nothing. */
	expected = (double) store->used * Max(expected, 8.0);
	start_spill(state);
	samples = make_samples(state, rows, expected, &nsamples);
	for (i = 0; i < nsamples; i++)
		(void) row_store_row(store, i * rows / nsamples, &samples[i].key);
	spill_divide(state->spill, 0, samples, nsamples, expected);
	pfree(samples);

	/* The bound is no longer kept to: rows are written as they come. */
	store->bound = 0;
	store->has_cutoff = false;
	spill_flush(state->spill, store, &state->context);
}

void
sort_node_put_key(HpSortState *state, const RowKey *key)
{
	if (likely(row_store_take_key(state->store, key)))
		return;
	if (state->spill)
		spill_flush(state->spill, state->store, &state->context);
	else
		sort_node_spill_store(state);
	if (!row_store_take_key(state->store, key))
		elog(ERROR, "no room for a key");
}

void
sort_node_put_nulls(HpSortState *state, uint64 nulls)
{
	RowKey key = {.nulls = 1};

	for (; nulls > 0; nulls--)
	{
		sort_node_put_key(state, &key);
		if (nulls % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

void
sort_node_spill_sorter(HpSortState *state)
{
	uint64		count = sorter_count(state->sorter);
	uint64		total = count + state->nulls;
	double		expected = Max(outerPlanState(state)->plan->plan_rows, 8.0 * total) * sizeof(uint64);
	int			nsamples;
	SpillSample *samples;
	RowKey key = {0};
	SortError	err;
	int			pass;

	start_spill(state);
	samples = make_samples(state, count, expected, &nsamples);

	/* Twice: first some of the keys, evenly, then all of them. */
	pg_sort_check(sorter_finish(state->sorter, SORT_WANT_KEYS, &err), &err);
	for (pass = 0; pass < 2; pass++)
	{
		uint64		at = 0;
		int			taken = 0;
		size_t		got;

		pg_sort_check(sorter_open_cursor(state->sorter, false, &state->cursor, &err), &err);
		do
		{
			size_t		i;

			pg_sort_check(sorter_cursor_keys(&state->cursor, state->batch, HPSORT_BATCH, &got, &err), &err);
			for (i = 0; i < got; i++, at++)
			{
				key.images[0] = (uint64) state->bias + (uint64) (int64) state->batch[i];
				if (pass == 1)
					sort_node_put_key(state, &key);
				else if (taken < nsamples && at == (uint64) taken * count / nsamples)
					samples[taken++].key = key;
			}
			CHECK_FOR_INTERRUPTS();
		} while (got > 0);
		if (pass == 0)
		{
			Assert(taken == nsamples);
			spill_divide(state->spill, 0, samples, nsamples, expected);
			pfree(samples);
		}
	}
	sort_node_put_nulls(state, state->nulls);
	state->stats.space = Max(state->stats.space, sorter_memory(state->sorter));
	sorter_reset(state->sorter);
}

void
sort_node_spill_slot(HpSortState *state, TupleTableSlot *slot)
{
	if (likely(row_store_put(state->store, slot)))
		return;
	spill_flush(state->spill, state->store, &state->context);
	if (!row_store_put(state->store, slot))
		elog(ERROR, "no room for a row");
}

/* Reads the next row's tuple into a space of its own, and its mapped keys if they are wanted. */
static MinimalTuple
read_row(HpSortState *state, RowKey *key, Size len)
{
	MinimalTuple tuple = row_space(state, len);

	spill_read_tuple(state->spill, tuple, len);
	if (key)
		row_tuple_key(state->keys, state->store->slot, tuple, key);
	return tuple;
}

/*
 * Samples of a partition: keys, or tuples if its mapped keys are equal, in an
 * eighth of the memory, or more if that is too little for TUPLE_SAMPLES.  Each is
 * from the middle of an equal share of the rows: the first row of all is the
 * smallest where rows come in order, and would divide nothing.
 */
static SpillSample *
sample_partition(HpSortState *state, int number, double expected, int *nsamples)
{
	Spill *spill = state->spill;
	const SpillPartition *partition = spill_partition(spill, number);
	MemoryContext memory = spill_sample_memory(spill);
	bool		by_rest = spill_is_single(spill, number);
	SpillSample *samples = make_samples(state, partition->rows, expected, nsamples);
	uint64		at = 0;
	int			taken = 0;
	RowKey key = {0};
	Size		len;

	MemoryContextReset(memory);
	if (by_rest)
	{
		Size		each = (Size) (partition->tuple_bytes / partition->rows) + sizeof(SpillSample);

		*nsamples = (int) Min(*nsamples, Max(state->store->limit / 8 / each, TUPLE_SAMPLES));
	}
	spill_start_reading(spill, number, false);
	while (spill_next_row(spill, &key, &len))
	{
		bool		wanted = taken < *nsamples &&
			at == (2 * (uint64) taken + 1) * partition->rows / (2 * (uint64) *nsamples);

		if (!state->key_only)
		{
			MinimalTuple tuple = read_row(state, wanted && !by_rest ? &key : NULL, len);

			if (wanted && by_rest)
			{
				samples[taken].tuple = (MinimalTuple) MemoryContextAllocHuge(memory, len);
				memcpy(samples[taken].tuple, tuple, len);
			}
		}
		if (wanted)
			samples[taken++].key = key;
		if (at++ % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
	Assert(taken == *nsamples);
	return samples;
}

/* Puts a row that is being read into the store; false if there is no room. */
static bool
put_read(HpSortState *state, const RowKey *key, Size len)
{
	MinimalTuple place;

	if (state->key_only)
		return row_store_put_key(state->store, key);
	if (!row_store_begin_tuple(state->store, len, &place))
		return false;
	spill_read_tuple(state->spill, place, len);
	row_store_end_tuple(state->store, place);
	return true;
}

/* Divides a partition that is too large for memory. */
static void
divide(HpSortState *state, int number)
{
	Spill *spill = state->spill;
	RowStore *store = state->store;
	const SpillPartition *partition = spill_partition(spill, number);
	double		expected = (double) partition->tuple_bytes +
		(double) partition->rows * (state->keys->nmapped + 4) * sizeof(uint64);
	int			before = spill_partition_count(spill);
	uint64		at = 0;
	int			nsamples;
	SpillSample *samples;
	RowKey key;
	Size		len;

	/* Once for keys to divide at, once for the rows. */
	state->stats.compared |= spill_is_single(spill, number);
	samples = sample_partition(state, number, expected, &nsamples);
	spill_divide(spill, number, samples, nsamples, expected);
	pfree(samples);
	while (spill_next_row(spill, &key, &len))
	{
		if (!put_read(state, &key, len))
		{
			spill_flush(spill, store, &state->context);
			if (!put_read(state, &key, len))
				elog(ERROR, "no room for a row");
		}
		if (at++ % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
	spill_flush(spill, store, &state->context);
	state->stats.partitions += spill_partition_count(spill) - before;
	state->stats.space = spill_file_bytes(spill_get_file(spill));
}

/* Reads a partition into the store; false, with an empty store, if it does not fit. */
static bool
load(HpSortState *state, int number)
{
	Spill *spill = state->spill;
	RowStore *store = state->store;
	const SpillPartition *partition = spill_partition(spill, number);
	RowKey key;
	Size		len;

	row_store_clear(store);
	if (row_store_cannot_hold(store, partition->rows, partition->tuple_bytes))
		return false;
	spill_start_reading(spill, number, false);
	while (spill_next_row(spill, &key, &len))
	{
		if (!put_read(state, &key, len))
		{
			/* All memory goes: it has the shape of rows before these. */
			row_store_reset(store);
			return false;
		}
		if (store->rows % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
	if (!keeps(state))
		spill_forget_partition(spill, number);
	row_store_sort(store, &state->context);
	sort_node_note_sort(state);
	state->at = 0;
	state->count = row_store_count(store);
	return true;
}

/* Makes the next partition ready to be read; false at the end. */
static bool
next_partition(HpSortState *state)
{
	Spill *spill = state->spill;

	while (state->partition < spill_partition_count(spill))
	{
		int			number = state->partition;

		if (spill_partition(spill, number)->rows == 0)
			state->partition++;
		else if (load(state, number))
		{
			state->partition++;
			return true;
		}
		else if (spill_partition(spill, number)->equal ||
				 (spill_is_single(spill, number) &&
				  state->keys->nmapped == state->keys->nkeys))
		{
			/* In order as it lies. */
			spill_start_reading(spill, number, !keeps(state));
			state->streaming = true;
			state->partition++;
			return true;
		}
		else
			divide(state, number);
	}
	return false;
}

void
sort_node_partitions_start(HpSortState *state)
{
	spill_flush(state->spill, state->store, &state->context);
	state->stats.partitions = spill_partition_count(state->spill);
	state->stats.on_disk = true;
	state->stats.space = spill_file_bytes(spill_get_file(state->spill));

	/* What will be done with partitions, should none of them have to be sorted. */
	rows_plan(&state->context, state->stats.keys / state->stats.partitions, 0, PG_UINT32_MAX, false,
			  &state->stats.plan);
	state->at = state->count = 0;
}

/* The next row of a partition that is in order as it lies; NULL at its end. */
static TupleTableSlot *
stream(HpSortState *state)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;
	RowKey key;
	Size		len;

	ExecClearTuple(slot);
	if (!spill_next_row(state->spill, &key, &len))
	{
		state->streaming = false;
		if (!keeps(state))
			spill_forget_partition(state->spill, state->partition - 1);
		return NULL;
	}
	if (!state->key_only)
		return ExecStoreMinimalTuple(read_row(state, NULL, len), slot, false);
	slot->tts_isnull[0] = key.nulls != 0;
	slot->tts_values[0] = key.nulls ? (Datum) 0 : key_value(&state->keys->keys[0], key.images[0]);
	return ExecStoreVirtualTuple(slot);
}

TupleTableSlot *
sort_node_partitions_next(HpSortState *state)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;

	for (;;)
	{
		if (state->at < state->count)
			return row_store_emit(state->store, state->at++, slot);
		if (state->streaming)
		{
			TupleTableSlot *next = stream(state);

			if (next)
				return next;
		}
		ExecClearTuple(slot);
		if (!next_partition(state))
			return slot;
	}
}

void
sort_node_partitions_rewind(HpSortState *state)
{
	ExecClearTuple(state->css.ss.ss_ScanTupleSlot);
	state->streaming = false;
	state->partition = 0;
	row_store_clear(state->store);
	state->at = state->count = 0;
}

/*
 * What may be read backward is written once more, in order: partition after
 * partition, each of them where it lies.
 */
void
sort_node_partitions_to_tape(HpSortState *state)
{
	MemoryContext old = MemoryContextSwitchTo(state->memory);
	uint64		rows = 0;

	state->tape = tape_create(spill_get_file(state->spill), TAPE_BUFFER);
	MemoryContextSwitchTo(old);
	for (;;)
	{
		TupleTableSlot *slot = sort_node_partitions_next(state);

		if (TupIsNull(slot))
			break;
		if (state->key_only)
		{
			uint64		value = slot->tts_isnull[0] ? 0 : (uint64) slot->tts_values[0];

			/* NULL is shorter than any value. */
			tape_put(state->tape, &value, slot->tts_isnull[0] ? 1 : sizeof(value));
		}
		else
		{
			MinimalTuple tuple = ((MinimalTupleTableSlot *) slot)->mintuple;

			tape_put(state->tape, (char *) tuple + MINIMAL_TUPLE_DATA_OFFSET,
						   tuple->t_len - MINIMAL_TUPLE_DATA_OFFSET);
		}
		if (rows++ % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
	tape_finish(state->tape);
	state->stats.space = spill_file_bytes(spill_get_file(state->spill));
	row_store_reset(state->store);
}

TupleTableSlot *
sort_node_tape_row(HpSortState *state, bool forward)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;
	uint32		len = tape_next(state->tape, forward);
	MinimalTuple tuple;

	ExecClearTuple(slot);
	if (len == 0)
		return slot;
	if (state->key_only)
	{
		uint64		value = 0;

		tape_get(state->tape, &value, len);
		slot->tts_isnull[0] = len < sizeof(value);
		slot->tts_values[0] = (Datum) value;
		return ExecStoreVirtualTuple(slot);
	}
	tuple = row_space(state, len + MINIMAL_TUPLE_DATA_OFFSET);
	memset(tuple, 0, MINIMAL_TUPLE_DATA_OFFSET);
	tuple->t_len = len + MINIMAL_TUPLE_DATA_OFFSET;
	tape_get(state->tape, (char *) tuple + MINIMAL_TUPLE_DATA_OFFSET, len);
	return ExecStoreMinimalTuple(tuple, slot, false);
}
