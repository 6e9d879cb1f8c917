/*
 * order_partitions.c
 *		Sorting what does not fit into work_mem: partition by partition.
 *
 * When the store is full its rows, and all that follow, go to a temporary file
 * by ranges of their keys (order_spill.h).  Read back in order, a partition
 * usually fits into memory and is sorted there.  If not, it is partitioned
 * again; unless all its rows have the same keys, which then are in order as
 * they lie, or, if further keys are to be compared, are left to core's
 * tuplesort.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/tuplesort.h"

#include "compat.h"
#include "order_exec.h"
#include "pg_sorter.h"

/* Rows handled between two looks at interrupts. */
#define CHECK_EVERY 1024

static void
push_level(OrderState *state, OrderSpill *spill)
{
	OrderLevel *level = (OrderLevel *) MemoryContextAllocZero(state->memory, sizeof(OrderLevel));

	level->spill = spill;
	level->below = state->level;
	state->level = level;
	if (level->below)
		state->stats.partitions += order_spill_partitions(spill);
}

static void
pop_level(OrderState *state)
{
	OrderLevel *level = state->level;

	state->level = level->below;
	order_spill_destroy(level->spill);
	pfree(level);
}

/* A partition's rows are read into here one by one. */
static MinimalTuple
row_space(OrderState *state, Size len)
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

/* Room for as many samples as are of use, and two more. */
static OrderRowKey *
make_samples(OrderState *state, uint64 rows, int *nsamples)
{
	*nsamples = (int) Min(rows, order_spill_samples(state->store->limit));
	return (OrderRowKey *) MemoryContextAllocZero(state->memory, (*nsamples + 2) * sizeof(OrderRowKey));
}

void
order_spill_store(OrderState *state)
{
	OrderStore *store = state->store;
	uint64		rows = store->rows;
	double		expected = outerPlanState(state)->plan->plan_rows / (double) rows;
	int			nsamples;
	OrderRowKey *samples = make_samples(state, rows, &nsamples);
	OrderSpill *spill;
	int			i;

	/* An estimate already exceeded says nothing. */
	expected = (double) store->used * Max(expected, 8.0);
	for (i = 0; i < nsamples; i++)
		(void) order_store_row(store, i * rows / nsamples, &samples[i]);
	spill = order_spill_create(state->memory, state->keys, store->tuples, samples, nsamples,
							   expected, store->limit);
	pfree(samples);

	/* The bound is no longer kept to: rows are written as they come. */
	store->bound = 0;
	store->has_cutoff = false;
	order_spill_flush(spill, store, &state->context);
	push_level(state, spill);
}

void
order_put_key(OrderState *state, const OrderRowKey *key)
{
	if (likely(order_store_put_key(state->store, key)))
		return;
	if (state->level)
		order_spill_flush(state->level->spill, state->store, &state->context);
	else
		order_spill_store(state);
	if (!order_store_put_key(state->store, key))
		elog(ERROR, "no room for a key");
}

void
order_put_nulls(OrderState *state, uint64 nulls)
{
	OrderRowKey key = {.nulls = 1};

	for (; nulls > 0; nulls--)
	{
		order_put_key(state, &key);
		if (nulls % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

void
order_spill_sorter(OrderState *state)
{
	uint64		count = sorter_count(state->sorter);
	uint64		total = count + state->nulls;
	double		expected = Max(outerPlanState(state)->plan->plan_rows, 8.0 * total) * sizeof(uint64);
	int			nsamples;
	OrderRowKey *samples = make_samples(state, count, &nsamples);
	OrderRowKey key = {0};
	OrderSpill *spill = NULL;
	SortError	err;
	int			pass;

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

			pg_sort_check(sorter_cursor_keys(&state->cursor, state->batch, ORDER_BATCH, &got, &err), &err);
			for (i = 0; i < got; i++, at++)
			{
				key.images[0] = (uint64) state->bias + (uint64) (int64) state->batch[i];
				if (pass == 1)
					order_put_key(state, &key);
				else if (taken < nsamples && at == (uint64) taken * count / nsamples)
					samples[taken++] = key;
			}
			CHECK_FOR_INTERRUPTS();
		} while (got > 0);
		if (pass == 0)
		{
			Assert(taken == nsamples);
			spill = order_spill_create(state->memory, state->keys, false, samples, nsamples,
									   expected, state->store->limit);
			pfree(samples);
			push_level(state, spill);
		}
	}
	order_put_nulls(state, state->nulls);
	state->stats.space = Max(state->stats.space, sorter_memory(state->sorter));
	sorter_reset(state->sorter);
}

void
order_spill_slot(OrderState *state, TupleTableSlot *slot)
{
	if (likely(order_store_put(state->store, slot)))
		return;
	order_spill_flush(state->level->spill, state->store, &state->context);
	if (!order_store_put(state->store, slot))
		elog(ERROR, "no room for a row");
}

/* Partitions a partition that is too large for memory. */
static void
spill_again(OrderState *state, int number)
{
	OrderSpill *from = state->level->spill;
	OrderStore *store = state->store;
	const OrderPartition *partition = order_spill_partition(from, number);
	uint64		rows = partition->rows;
	int			nsamples;
	OrderRowKey *samples = make_samples(state, rows, &nsamples);
	OrderSpill *spill = NULL;
	int			pass;

	/* Once for keys to split at, once for the rows. */
	for (pass = 0; pass < 2; pass++)
	{
		uint64		at = 0;
		int			taken = 0;
		OrderRowKey key;
		MinimalTuple place;
		Size		len;

		order_spill_open(from, number);
		while (order_spill_next(from, &key, &len))
		{
			if (pass == 1)
			{
				if (!order_store_put_known(store, &key, len, &place))
				{
					order_spill_flush(spill, store, &state->context);
					if (!order_store_put_known(store, &key, len, &place))
						elog(ERROR, "no room for a row");
				}
			}
			else
			{
				if (len > 0)
					place = row_space(state, len);
				if (taken < nsamples && at == (uint64) taken * rows / nsamples)
					samples[taken++] = key;
			}
			if (len > 0)
				order_spill_tuple(from, place, len);
			if (at++ % CHECK_EVERY == 0)
				CHECK_FOR_INTERRUPTS();
		}
		if (pass == 0)
		{
			samples[taken++] = partition->lo;
			samples[taken++] = partition->hi;
			spill = order_spill_create(state->memory, state->keys, !state->key_only, samples, taken,
									   (double) partition->tuple_bytes +
									   (double) rows * (state->keys->nmapped + 4) * sizeof(uint64),
									   store->limit);
			pfree(samples);
		}
	}
	order_spill_flush(spill, store, &state->context);
	order_spill_finish(spill);
	push_level(state, spill);
}

/* Reads a partition into the store; false, with an empty store, if it does not fit. */
static bool
load(OrderState *state, int number)
{
	OrderSpill *spill = state->level->spill;
	OrderStore *store = state->store;
	OrderRowKey key;
	Size		len;

	order_store_clear(store);
	if (order_spill_partition(spill, number)->tuple_bytes > store->limit)
		return false;
	order_spill_open(spill, number);
	while (order_spill_next(spill, &key, &len))
	{
		MinimalTuple place;

		if (!order_store_put_known(store, &key, len, &place))
		{
			/* All memory goes: it has the shape of rows before these. */
			order_store_reset(store);
			return false;
		}
		if (len > 0)
			order_spill_tuple(spill, place, len);
		if (store->rows % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
	order_store_sort(store, &state->context);
	order_note_sort(state);
	state->at = 0;
	state->count = order_store_count(store);
	return true;
}

/* Hands a partition of equal mapped keys to core, for the other keys. */
static void
sort_by_core(OrderState *state, int number)
{
	OrderSpill *spill = state->level->spill;
	OrderKeys  *keys = state->keys;
	AttrNumber *attnos = (AttrNumber *) palloc(keys->nkeys * sizeof(AttrNumber));
	Oid		   *sortops = (Oid *) palloc(keys->nkeys * sizeof(Oid));
	Oid		   *collations = (Oid *) palloc(keys->nkeys * sizeof(Oid));
	bool	   *nulls_first = (bool *) palloc(keys->nkeys * sizeof(bool));
	MemoryContext old;
	OrderRowKey key;
	Size		len;
	int			i;

	for (i = 0; i < keys->nkeys; i++)
	{
		attnos[i] = keys->keys[i].attno;
		sortops[i] = keys->keys[i].sortop;
		collations[i] = keys->keys[i].collation;
		nulls_first[i] = keys->keys[i].nulls_first;
	}
	/* It has work_mem for itself. */
	order_store_reset(state->store);
	old = MemoryContextSwitchTo(state->memory);
	state->tuplesort = tuplesort_begin_heap(state->tupdesc, keys->nkeys, attnos, sortops,
											collations, nulls_first, work_mem, NULL,
											TUPLESORT_NONE);
	MemoryContextSwitchTo(old);
	state->stats.compared = true;
	order_spill_open(spill, number);
	while (order_spill_next(spill, &key, &len))
	{
		MinimalTuple tuple = row_space(state, len);

		order_spill_tuple(spill, tuple, len);
		ExecStoreMinimalTuple(tuple, state->row_slot, false);
		tuplesort_puttupleslot(state->tuplesort, state->row_slot);
		CHECK_FOR_INTERRUPTS();
	}
	ExecClearTuple(state->row_slot);
	tuplesort_performsort(state->tuplesort);
	pfree(attnos);
	pfree(sortops);
	pfree(collations);
	pfree(nulls_first);
}

/* Makes the next partition ready to be read; false at the end. */
static bool
next_partition(OrderState *state)
{
	for (;;)
	{
		OrderLevel *level = state->level;
		int			number = level->next;

		if (number == order_spill_partitions(level->spill))
		{
			/* The lowest stays: it may be read again. */
			if (level->below == NULL)
				return false;
			pop_level(state);
			continue;
		}
		level->next++;
		if (order_spill_partition(level->spill, number)->rows == 0)
			continue;
		if (load(state, number))
			return true;
		if (!order_spill_is_single(level->spill, number))
		{
			spill_again(state, number);
			state->stats.space = Max(state->stats.space, order_spill_bytes(state->level->spill) +
									 order_spill_bytes(level->spill));
		}
		else if (state->keys->nmapped == state->keys->nkeys)
		{
			order_spill_open(level->spill, number);
			state->streaming = true;
			return true;
		}
		else
		{
			sort_by_core(state, number);
			return true;
		}
	}
}

void
order_partitions_start(OrderState *state)
{
	order_spill_flush(state->level->spill, state->store, &state->context);
	order_spill_finish(state->level->spill);
	state->stats.partitions = order_spill_partitions(state->level->spill);
	state->stats.on_disk = true;
	state->stats.space = order_spill_bytes(state->level->spill);

	/* What will be done with partitions, should none of them have to be sorted. */
	rows_plan(&state->context, state->stats.keys / state->stats.partitions, 0, PG_UINT32_MAX, false,
			  &state->stats.plan);
	state->at = state->count = 0;
}

TupleTableSlot *
order_partitions_next(OrderState *state)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;

	for (;;)
	{
		if (state->at < state->count)
			return order_emit(state, state->at++);
		if (state->streaming)
		{
			OrderRowKey key;
			Size		len;

			if (order_spill_next(state->level->spill, &key, &len))
			{
				if (!state->key_only)
				{
					MinimalTuple tuple;

					ExecClearTuple(slot);
					tuple = row_space(state, len);
					order_spill_tuple(state->level->spill, tuple, len);
					return ExecStoreMinimalTuple(tuple, slot, false);
				}
				ExecClearTuple(slot);
				slot->tts_isnull[0] = key.nulls != 0;
				slot->tts_values[0] = key.nulls ? (Datum) 0
					: order_value(&state->keys->keys[0], key.images[0]);
				return ExecStoreVirtualTuple(slot);
			}
			state->streaming = false;
		}
		if (state->tuplesort)
		{
			if (tuplesort_gettupleslot(state->tuplesort, true, false, slot, NULL))
				return slot;
			tuplesort_end(state->tuplesort);
			state->tuplesort = NULL;
		}
		ExecClearTuple(slot);
		if (!next_partition(state))
			return slot;
	}
}

void
order_partitions_rewind(OrderState *state)
{
	ExecClearTuple(state->css.ss.ss_ScanTupleSlot);
	if (state->tuplesort)
		tuplesort_end(state->tuplesort);
	state->tuplesort = NULL;
	state->streaming = false;
	while (state->level->below)
		pop_level(state);
	state->level->next = 0;
	state->stats.partitions = order_spill_partitions(state->level->spill);
	order_store_clear(state->store);
	state->at = state->count = 0;
}
