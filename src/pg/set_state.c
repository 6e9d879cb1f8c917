/*
 * set_state.c
 *		Keys or runs returned in order, a row at a time (see set_state.h).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"

#include "set_state.h"

SetState *
set_state_make(MemoryContext memory, int32 lo, int32 hi)
{
	SetState   *state = (SetState *) MemoryContextAllocZero(memory, sizeof(SetState));

	pg_sort_context(&state->context, memory);
	sorter_init(&state->sorter, &state->context, lo, hi);
	return state;
}

void
set_state_start(SetState *state, const char *function, SortWant want, SortOrder order)
{
	SortError	err;

	state->nulls_first = order.nulls_first;
	pg_sort_check(sorter_finish(&state->sorter, want, &err), &err);
	pg_sort_check(sorter_open_cursor(&state->sorter, order.descending, &state->cursor, &err), &err);
	last_sort_record(function, &state->sorter, NULL, state->nulls);
}

/* The next row of a set of keys: false at the end. */
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

Datum
set_state_next_key(FunctionCallInfo fcinfo, FuncCallContext *funcctx)
{
	SetState   *state = (SetState *) funcctx->user_fctx;
	int32		key = 0;
	bool		isnull;

	if (state == NULL || !next_key(state, &key, &isnull))
	{
		if (state)
			sorter_reset(&state->sorter);
		SRF_RETURN_DONE(funcctx);
	}
	if (isnull)
		SRF_RETURN_NEXT_NULL(funcctx);
	SRF_RETURN_NEXT(funcctx, Int32GetDatum(key));
}

/* hpsort_run is an ordinary type, which its owner may alter. */
void
run_type_check(TupleDesc tupdesc)
{
	if (tupdesc->natts != 2 || TupleDescAttr(tupdesc, 0)->atttypid != INT4OID ||
		TupleDescAttr(tupdesc, 1)->atttypid != INT8OID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("type hpsort_run must have the attributes key integer and count bigint, and no others")));
}

void
set_state_run_type(FunctionCallInfo fcinfo, FuncCallContext *funcctx)
{
	TupleDesc	tupdesc;

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	run_type_check(tupdesc);
	funcctx->tuple_desc = BlessTupleDesc(tupdesc);
}

Datum
set_state_next_run(FunctionCallInfo fcinfo, FuncCallContext *funcctx)
{
	SetState   *state = (SetState *) funcctx->user_fctx;
	Datum		values[2];
	bool		isnull[2] = {false, false};

	if (state == NULL)
		SRF_RETURN_DONE(funcctx);
	if (state->at == state->got)
	{
		SortError	err;

		pg_sort_check(sorter_cursor_runs(&state->cursor, state->keys, state->counts, SET_BATCH,
										 &state->got, &err), &err);
		state->at = 0;
	}
	if (state->nulls > 0 && (state->nulls_first || state->got == 0))
	{
		/* All NULLs are one run, as in GROUP BY x ORDER BY x. */
		values[0] = (Datum) 0;
		isnull[0] = true;
		values[1] = Int64GetDatum(state->nulls);
		state->nulls = 0;
	}
	else if (state->at < state->got)
	{
		values[0] = Int32GetDatum(state->keys[state->at]);
		values[1] = Int64GetDatum((int64) state->counts[state->at]);
		state->at++;
	}
	else
	{
		sorter_reset(&state->sorter);
		SRF_RETURN_DONE(funcctx);
	}
	SRF_RETURN_NEXT(funcctx, HeapTupleGetDatum(heap_form_tuple(funcctx->tuple_desc, values, isnull)));
}
