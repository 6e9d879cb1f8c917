/*
 * key_results.c
 *		The values of hpsort's own aggregates, which are states of sorted keys (see results.h).
 */
#include "postgres.h"

#include "access/parallel.h"

#include "pg/compat.h"
#include "pg/last_sort.h"
#include "pg/nodes/aggregate/results/result_state.h"

/*
 * Evaluates bounds and direction as the transition functions of hpsort's aggregates read them:
 * with the first row of the execution.
 */
static void
read_options(AggregateResult *result)
{
	const ConstantArgument *options = result->constants;

	evaluate_constants(result, result->econtext);
	result->econtext = NULL;
	result->keys.lo = PG_INT32_MIN;
	result->keys.hi = PG_INT32_MAX;
	result->keys.descending = result->answer.descending;
	if (result->nconstants > 0 && !options[0].isnull)
		result->keys.lo = DatumGetInt32(options[0].value);
	if (result->nconstants > 1 && !options[1].isnull)
		result->keys.hi = DatumGetInt32(options[1].value);
	if (result->nconstants > 2)
		result->keys.descending = !options[2].isnull && DatumGetBool(options[2].value);
}

void
key_result_begin(AggregateResult *result)
{
	KeyState   *keys = &result->keys;

	if (result->econtext)
		read_options(result);
	sort_bounds_check(keys->lo, keys->hi);
	if (result->answer.function == AGGREGATE_FUNCTION_HPSORT_KEYS_AGG && !is_partial(result))
		keys->state = state_object_make((MemoryContext) keys->context->allocator.arena, keys->lo,
										keys->hi);
	else
		keys->state = aggregate_state_make(keys->context, keys->lo, keys->hi, keys->descending);
	if (result->aggref->aggorder != NIL)
	{
		keys->state->ordered = true;
		keys->state->nulls_first = result->answer.nulls_first;
	}
}

/* Gives the state back.  The value is a copy, which outlives it. */
static void
free_state(AggregateResult *result)
{
	if (result->keys.state == NULL)
		return;
	sorter_reset(&result->keys.state->sorter);
	pfree(result->keys.state);
	result->keys.state = NULL;
}

/*
 * Returns the multiset of a state, also to another process: the keys are put in order here, in
 * parallel plans without the GPU, which processes do not share.
 */
static Datum
multiset_of_state(const AggregateResult *result, AggregateState *state)
{
	SortContext cpu;
	Datum		value;

	if (is_partial(result))
	{
		pg_sort_context_lenient(&cpu, (MemoryContext) result->keys.context->allocator.arena, false);
		state->sorter.context = &cpu;
	}
	value = PointerGetDatum(multiset_sorter_flat(&state->sorter));
	last_sort_record("int4multiset_agg", &state->sorter, NULL, state->nulls);
	state->sorter.context = result->keys.context;
	return value;
}

Datum
aggregate_result_from_state(AggregateResult *result, const AggregateResult *shared,
							dsa_area *area, bool *isnull)
{
	AggregateState *state = shared->keys.state;

	*isnull = state == NULL;
	if (state == NULL)
		return (Datum) 0;
	if (is_multiset(result))
		return multiset_of_state(result, state);
	if (is_partial(result))
		return aggregate_state_share(state, area);
	switch (result->answer.function)
	{
		case AGGREGATE_FUNCTION_HPSORT_AGG:
			return aggregate_state_array(state, result->keys.array_type, "hpsort_agg");
		case AGGREGATE_FUNCTION_HPSORT_RUNS_AGG:
			return aggregate_state_runs(state, result->keys.run_type);
		default:
			return state_object_datum(state);
	}
}

Datum
key_result_end(AggregateResult *result, bool *isnull)
{
	Datum		value = aggregate_result_from_state(result, result, NULL, isnull);

	free_state(result);
	return value;
}

void
aggregate_result_add(AggregateResult *result, const ColumnBatch *batch)
{
	if (batch->n == 0 && batch->nnulls == 0)
		return;
	if (result->keys.state == NULL)
		key_result_begin(result);
	result->keys.state->nulls += batch->nnulls;
	if (batch->nnulls == 0 || batch->runs || batch->packed.n > 0)
		column_batch_sort(batch, batch->keys, batch->n, &result->keys.state->sorter);
	else
	{
		int32		keys[COLUMN_BATCH_KEYS];

		column_batch_sort(batch, keys, column_batch_copy_keys(batch, keys),
						  &result->keys.state->sorter);
	}
}

bool
aggregate_result_shares(const AggregateResult *result, const AggregateResult *other)
{
	return result->aggref->aggtransno == other->aggref->aggtransno;
}

bool
aggregate_result_end_state(AggregateResult *result, SorterStats *stats)
{
	bool		sorted;

	/* What the leader's Finalize Aggregate gets of this process stays as long as its memory. */
	if (result->keys.state == NULL || result->keys.state->object ||
		(is_partial(result) && !is_multiset(result) && !IsParallelWorker()))
	{
		result->keys.state = NULL;
		return false;
	}
	sorted = !is_partial(result);
	if (sorted)
		pg_sort_stats(&result->keys.state->sorter, NULL, stats);
	free_state(result);
	return sorted;
}

void
key_result_take(AggregateResult *result, const int64 *values, const int64 *counts, size_t nruns)
{
	int32		keys[RUN_BATCH];
	SortError	err;

	for (size_t done = 0; done < nruns; done += RUN_BATCH)
	{
		const uint64 *key_counts = (const uint64 *) counts + done;
		size_t		n = Min(nruns - done, RUN_BATCH);

		for (size_t i = 0; i < n; i++)
			keys[i] = column_narrow(values[done + i]);
		if (is_multiset(result))
			multiset_builder_add(&result->multiset, keys, key_counts, n);
		else
			pg_sort_check(sorter_add_runs(&result->keys.state->sorter, keys, key_counts, n, &err),
						  &err);
	}
}
