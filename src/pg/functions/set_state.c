/*
 * set_state.c
 *		Keys or runs returned in order (see set_state.h).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "pg/compat.h"
#include "pg/functions/run_array.h"
#include "pg/functions/set_state.h"
#include "pg/last_sort.h"

SetState *
set_state_start(MemoryContext memory, AggregateState *keys, const char *function,
				SortWant want, SortOrder order)
{
	SetState   *state = (SetState *) MemoryContextAllocZero(memory, sizeof(SetState));
	SortError	err;

	state->all = keys;
	state->nulls = keys->nulls;
	state->nulls_first = order.nulls_first;
	pg_sort_check(sorter_finish(&keys->sorter, want, &err), &err);
	pg_sort_check(sorter_open_cursor(&keys->sorter, order.descending, &state->cursor, &err), &err);
	last_sort_record(function, &keys->sorter, NULL, keys->nulls);
	return state;
}

/* Sets *key or *isnull to the next row of a set of keys.  Returns false at the end. */
static inline bool
next_key(SetState *state, int32 *key, bool *isnull)
{
	*isnull = false;
	if (state->nulls_first && state->nulls > 0)
	{
		state->nulls--;
		*isnull = true;
		return true;
	}
	if (state->at == state->got)
	{
		SortError	err;

		pg_sort_check(sorter_cursor_keys(&state->cursor, state->keys, SET_BATCH,
										 &state->got, &err), &err);
		state->at = 0;
		if (state->got == 0)
		{
			*isnull = state->nulls > 0;
			return state->nulls-- > 0;
		}
	}
	*key = state->keys[state->at++];
	return true;
}

/*
 * Sets *key or *isnull, and *count, to the next row of a set of runs.  Returns false at the
 * end.  All NULLs are one run, as in GROUP BY x ORDER BY x.
 */
static inline bool
next_run(SetState *state, int32 *key, int64 *count, bool *isnull)
{
	if (state->at == state->got)
	{
		SortError	err;

		pg_sort_check(sorter_cursor_runs(&state->cursor, state->keys, state->counts, SET_BATCH,
										 &state->got, &err), &err);
		state->at = 0;
	}
	*isnull = state->nulls > 0 && (state->nulls_first || state->got == 0);
	if (*isnull)
	{
		*count = state->nulls;
		state->nulls = 0;
		return true;
	}
	if (state->at == state->got)
		return false;
	*key = state->keys[state->at];
	*count = (int64) state->counts[state->at++];
	return true;
}

/*
 * Returns the descriptor of the function's result, hpsort_run.  An error if the type has been
 * altered.
 */
static TupleDesc
run_type(FunctionCallInfo fcinfo)
{
	TupleDesc	tupdesc;

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	run_type_check(tupdesc);
	return tupdesc;
}

/* --- a set into a tuplestore */

/* Whether the caller wants the set in a tuplestore. */
static bool
is_stored(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	return rsinfo != NULL && IsA(rsinfo, ReturnSetInfo) &&
		(rsinfo->allowedModes & SFRM_Materialize) != 0 &&
		(rsinfo->allowedModes & SFRM_Materialize_Preferred) != 0;
}

/*
 * A row without NULLs, which is formed once.  For each row of the set its numbers are
 * overwritten, and the tuplestore copies the row.
 */
typedef struct RowImage
{
	MinimalTuple tuple;
	char	   *key;			/* where its numbers are */
	char	   *count;			/* of runs only */
} RowImage;

/* Forms the row, of a key, or of a key and a count. */
static void
make_row_image(RowImage *row, TupleDesc tupdesc)
{
	Datum		values[2] = {Int32GetDatum(0), Int64GetDatum(0)};
	bool		isnull[2] = {false, false};
	TupleTableSlot *slot = MakeSingleTupleTableSlot(tupdesc, &TTSOpsVirtual);

	ExecClearTuple(slot);
	memcpy(slot->tts_values, values, tupdesc->natts * sizeof(Datum));
	memcpy(slot->tts_isnull, isnull, tupdesc->natts * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	row->tuple = ExecCopySlotMinimalTuple(slot);
	ExecDropSingleTupleTableSlot(slot);
	row->key = (char *) row->tuple + row->tuple->t_hoff - MINIMAL_TUPLE_OFFSET;
	row->count = row->key + DOUBLEALIGN(sizeof(int32));
}

/* Puts the rows of a set, keys or runs, into a tuplestore. */
static void
store_rows(SetState *state, Tuplestorestate *store, TupleDesc tupdesc)
{
	bool		runs = tupdesc->natts == 2;
	TupleTableSlot *slot = MakeSingleTupleTableSlot(tupdesc, &TTSOpsMinimalTuple);
	RowImage	row;
	int32		key = 0;
	int64		count = 0;
	bool		isnull;

	make_row_image(&row, tupdesc);
	ExecStoreMinimalTuple(row.tuple, slot, false);
	while (runs ? next_run(state, &key, &count, &isnull) : next_key(state, &key, &isnull))
	{
		CHECK_FOR_INTERRUPTS();
		if (unlikely(isnull))
		{
			Datum		values[2] = {(Datum) 0, Int64GetDatum(count)};
			bool		nulls[2] = {true, false};

			tuplestore_putvalues(store, tupdesc, values, nulls);
			continue;
		}
		memcpy(row.key, &key, sizeof(key));
		if (runs)
			memcpy(row.count, &count, sizeof(count));
		tuplestore_puttupleslot(store, slot);
	}
	ExecDropSingleTupleTableSlot(slot);
	pfree(row.tuple);
}

/* Returns a set in a tuplestore. */
static Datum
return_stored(FunctionCallInfo fcinfo, SetStart start, bool runs)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext memory = AllocSetContextCreate(CurrentMemoryContext, "hpsort set",
												 ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(rsinfo->econtext->ecxt_per_query_memory);
	SetState   *state;

	if (runs)
		rsinfo->setDesc = run_type(fcinfo);
	else
	{
		rsinfo->setDesc = CreateTemplateTupleDesc(1);
		TupleDescInitEntry(rsinfo->setDesc, 1, NULL, INT4OID, -1, 0);
		compat_finalize_tupdesc(rsinfo->setDesc);
	}
	MemoryContextSwitchTo(old);
	state = start(fcinfo, memory);

	MemoryContextSwitchTo(rsinfo->econtext->ecxt_per_query_memory);
	rsinfo->setResult = tuplestore_begin_heap((rsinfo->allowedModes & SFRM_Materialize_Random) != 0,
											  false, work_mem);
	MemoryContextSwitchTo(old);
	rsinfo->returnMode = SFRM_Materialize;
	if (state != NULL)
	{
		store_rows(state, rsinfo->setResult, rsinfo->setDesc);
		sorter_reset(&state->all->sorter);
	}
	MemoryContextDelete(memory);
	return (Datum) 0;
}

/* --- a set returned a row at a time */

/*
 * Returns the context of a call.  The first call makes the set, which is in user_fctx: NULL
 * means no rows.
 */
static FuncCallContext *
call_context(FunctionCallInfo fcinfo, SetStart start, bool runs)
{
	FuncCallContext *funcctx;

	if (SRF_IS_FIRSTCALL())
	{
		funcctx = SRF_FIRSTCALL_INIT();
		if (runs)
		{
			MemoryContext old = MemoryContextSwitchTo(funcctx->multi_call_memory_ctx);

			funcctx->tuple_desc = BlessTupleDesc(run_type(fcinfo));
			MemoryContextSwitchTo(old);
		}
		funcctx->user_fctx = start(fcinfo, funcctx->multi_call_memory_ctx);
	}
	return SRF_PERCALL_SETUP();
}

Datum
set_return_keys(FunctionCallInfo fcinfo, SetStart start)
{
	FuncCallContext *funcctx;
	SetState   *state;
	int32		key = 0;
	bool		isnull;

	if (is_stored(fcinfo))
		return return_stored(fcinfo, start, false);
	funcctx = call_context(fcinfo, start, false);
	state = (SetState *) funcctx->user_fctx;
	if (state == NULL || !next_key(state, &key, &isnull))
	{
		if (state)
			sorter_reset(&state->all->sorter);
		SRF_RETURN_DONE(funcctx);
	}
	if (isnull)
		SRF_RETURN_NEXT_NULL(funcctx);
	SRF_RETURN_NEXT(funcctx, Int32GetDatum(key));
}

Datum
set_return_runs(FunctionCallInfo fcinfo, SetStart start)
{
	FuncCallContext *funcctx;
	SetState   *state;
	int32		key = 0;
	int64		count;
	bool		isnull[2] = {false, false};
	Datum		values[2];

	if (is_stored(fcinfo))
		return return_stored(fcinfo, start, true);
	funcctx = call_context(fcinfo, start, true);
	state = (SetState *) funcctx->user_fctx;
	if (state == NULL || !next_run(state, &key, &count, &isnull[0]))
	{
		if (state)
			sorter_reset(&state->all->sorter);
		SRF_RETURN_DONE(funcctx);
	}
	values[0] = Int32GetDatum(key);
	values[1] = Int64GetDatum(count);
	SRF_RETURN_NEXT(funcctx, HeapTupleGetDatum(heap_form_tuple(funcctx->tuple_desc, values,
															   isnull)));
}
