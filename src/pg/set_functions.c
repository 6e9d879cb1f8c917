/*
 * set_functions.c
 *		hpsort_set(), hpsort_runs() and hpsort_query(): keys in order, a row at
 *		a time, never all of them in a tuplestore of ours.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "tcop/dest.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"

#include "compat.h"
#include "pg_sorter.h"

PG_FUNCTION_INFO_V1(hpsort_set);
PG_FUNCTION_INFO_V1(hpsort_runs);
PG_FUNCTION_INFO_V1(hpsort_query);
PG_FUNCTION_INFO_V1(hpsort_set_support);

/* Rows read from the sorter at once. */
#define SET_BATCH 1024

/*
 * A set being returned.  Lives in the function's multi-call context, which the
 * executor drops, with all of the sorter's memory, however the query ends.
 */
typedef struct SetState
{
	SortContext context;
	Sorter		sorter;
	SorterCursor cursor;
	int64		nulls;			/* still to be returned ... */
	bool		nulls_first;	/* ... before or after the keys */
	size_t		at;				/* next one of the batch */
	size_t		got;
	int32		keys[SET_BATCH];
	uint64		counts[SET_BATCH];	/* of hpsort_runs only */
} SetState;

static SetState *
make_set_state(MemoryContext memory, int32 lo, int32 hi)
{
	SetState   *state = (SetState *) MemoryContextAllocZero(memory, sizeof(SetState));

	pg_sort_context(&state->context, memory);
	sorter_init(&state->sorter, &state->context, lo, hi);
	return state;
}

/* All keys are in: puts them in order. */
static void
start_set(SetState *state, const char *function, SortWant want, SortOrder order)
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

/* Returns the next key of a set, or ends it. */
static Datum
return_next_key(FunctionCallInfo fcinfo, FuncCallContext *funcctx)
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

/* hpsort_set(keys int4[], descending bool, nulls_first bool) returns SETOF int4 */
Datum
hpsort_set(PG_FUNCTION_ARGS)
{
	FuncCallContext *funcctx;

	if (SRF_IS_FIRSTCALL())
	{
		funcctx = SRF_FIRSTCALL_INIT();
		if (!PG_ARGISNULL(0) && !PG_ARGISNULL(1))
		{
			MemoryContext old = MemoryContextSwitchTo(funcctx->multi_call_memory_ctx);
			SetState   *state = make_set_state(CurrentMemoryContext, PG_INT32_MIN, PG_INT32_MAX);

			/* The executor keeps the argument until the set has ended. */
			ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
			SortError	err;
			int			n;
			int			nulls;
			const int32 *keys = int4_array_keys(array, &n, &nulls);

			state->nulls = nulls;
			pg_sort_check(sorter_add_array(&state->sorter, keys, n, &err), &err);
			start_set(state, "hpsort_set", SORT_WANT_KEYS, sort_order_from_args(fcinfo, 1));
			funcctx->user_fctx = state;
			MemoryContextSwitchTo(old);
		}
	}
	funcctx = SRF_PERCALL_SETUP();
	return return_next_key(fcinfo, funcctx);
}

/* hpsort_runs(keys int4[]) returns SETOF hpsort_run */
Datum
hpsort_runs(PG_FUNCTION_ARGS)
{
	FuncCallContext *funcctx;
	SetState   *state;
	Datum		values[2];
	bool		isnull[2] = {false, false};

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext old;
		ArrayType  *array;
		const int32 *keys;
		SortError	err;
		int			n;
		int			nulls;
		SortOrder	order = {false, false};
		TupleDesc	tupdesc;

		funcctx = SRF_FIRSTCALL_INIT();
		old = MemoryContextSwitchTo(funcctx->multi_call_memory_ctx);
		if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
			elog(ERROR, "return type must be a row type");
		funcctx->tuple_desc = BlessTupleDesc(tupdesc);
		array = PG_GETARG_ARRAYTYPE_P(0);
		keys = int4_array_keys(array, &n, &nulls);
		state = make_set_state(CurrentMemoryContext, PG_INT32_MIN, PG_INT32_MAX);
		state->nulls = nulls;
		pg_sort_check(sorter_add_array(&state->sorter, keys, n, &err), &err);
		start_set(state, "hpsort_runs", SORT_WANT_RUNS, order);
		funcctx->user_fctx = state;
		MemoryContextSwitchTo(old);
	}
	funcctx = SRF_PERCALL_SETUP();
	state = (SetState *) funcctx->user_fctx;

	if (state->at == state->got)
	{
		SortError	err;

		pg_sort_check(sorter_cursor_runs(&state->cursor, state->keys, state->counts, SET_BATCH,
										 &state->got, &err), &err);
		state->at = 0;
	}
	if (state->at < state->got)
	{
		values[0] = Int32GetDatum(state->keys[state->at]);
		values[1] = Int64GetDatum((int64) state->counts[state->at]);
		state->at++;
	}
	else if (state->nulls > 0)
	{
		/* The run of NULLs comes last, as in GROUP BY x ORDER BY x. */
		values[0] = (Datum) 0;
		isnull[0] = true;
		values[1] = Int64GetDatum(state->nulls);
		state->nulls = 0;
	}
	else
	{
		sorter_reset(&state->sorter);
		SRF_RETURN_DONE(funcctx);
	}
	SRF_RETURN_NEXT(funcctx, HeapTupleGetDatum(heap_form_tuple(funcctx->tuple_desc, values, isnull)));
}

/*
 * Where hpsort_query's query sends its rows: straight into the sorter.
 */
typedef struct GatherReceiver
{
	DestReceiver pub;
	SetState   *state;
	Oid			type;			/* INT2OID, INT4OID or INT8OID */
} GatherReceiver;

static void
gather_startup(DestReceiver *self, int operation, TupleDesc typeinfo)
{
}

static bool
gather_row(TupleTableSlot *slot, DestReceiver *self)
{
	GatherReceiver *receiver = (GatherReceiver *) self;
	SetState   *state = receiver->state;
	bool		isnull;
	Datum		value = slot_getattr(slot, 1, &isnull);
	SortError	err;
	int32		key;

	if (isnull)
	{
		state->nulls++;
		return true;
	}
	switch (receiver->type)
	{
		case INT2OID:
			key = DatumGetInt16(value);
			break;
		case INT4OID:
			key = DatumGetInt32(value);
			break;
		default:
			{
				int64		wide = DatumGetInt64(value);

				if (wide < PG_INT32_MIN || wide > PG_INT32_MAX)
					ereport(ERROR,
							(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
							 errmsg("key %lld is out of range for type integer",
									(long long) wide)));
				key = (int32) wide;
			}
	}
	pg_sort_check(sorter_add_key(&state->sorter, key, &err), &err);
	return true;
}

static void
gather_shutdown(DestReceiver *self)
{
}

static void
gather_destroy(DestReceiver *self)
{
}

/* The type of a plan's single integer column, or an error. */
static Oid
integer_column(SPIPlanPtr plan)
{
	List	   *sources = SPI_plan_get_plan_sources(plan);
	TupleDesc	tupdesc;
	Oid			type;

	if (list_length(sources) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("query must be a single statement"),
				 errdetail("It has %d statements.", list_length(sources))));
	tupdesc = ((CachedPlanSource *) linitial(sources))->resultDesc;
	if (tupdesc == NULL || tupdesc->natts == 0 || !SPI_is_cursor_plan(plan))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("query must return one integer column"),
				 errdetail("It returns no columns.")));
	if (tupdesc->natts > 1)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("query must return one integer column"),
				 errdetail("It returns %d columns.", tupdesc->natts)));
	type = getBaseType(TupleDescAttr(tupdesc, 0)->atttypid);
	if (type != INT2OID && type != INT4OID && type != INT8OID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("query must return one integer column"),
				 errdetail("Its column \"%s\" is of type %s.",
						   NameStr(TupleDescAttr(tupdesc, 0)->attname),
						   format_type_be(TupleDescAttr(tupdesc, 0)->atttypid))));
	return type;
}

/* Runs a query with the caller's rights and adds its keys to the state. */
static void
gather_query(const char *query, SetState *state)
{
	GatherReceiver receiver = {
		.pub = {
			.receiveSlot = gather_row,
			.rStartup = gather_startup,
			.rShutdown = gather_shutdown,
			.rDestroy = gather_destroy,
			.mydest = DestNone
		},
		.state = state
	};
	SPIExecuteOptions options = {0};
	SPIPlanPtr	plan;
	int			rc;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	plan = SPI_prepare_cursor(query, 0, NULL, CURSOR_OPT_PARALLEL_OK);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare_cursor failed: %s", SPI_result_code_string(SPI_result));
	receiver.type = integer_column(plan);
	options.dest = (DestReceiver *) &receiver;
	rc = SPI_execute_plan_extended(plan, &options);
	if (rc < 0)
		elog(ERROR, "SPI_execute_plan_extended failed: %s", SPI_result_code_string(rc));
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
}

/*
 * hpsort_query(query text, lo int4, hi int4, descending bool, nulls_first bool)
 * returns SETOF int4
 */
Datum
hpsort_query(PG_FUNCTION_ARGS)
{
	FuncCallContext *funcctx;

	if (SRF_IS_FIRSTCALL())
	{
		funcctx = SRF_FIRSTCALL_INIT();
		if (!PG_ARGISNULL(0) && !PG_ARGISNULL(3))
		{
			SetState   *state;
			int32		lo;
			int32		hi;
			MemoryContext old;

			sort_bounds_from_args(fcinfo, 1, &lo, &hi);
			state = make_set_state(funcctx->multi_call_memory_ctx, lo, hi);
			gather_query(text_to_cstring(PG_GETARG_TEXT_PP(0)), state);
			old = MemoryContextSwitchTo(funcctx->multi_call_memory_ctx);
			start_set(state, "hpsort_query", SORT_WANT_KEYS, sort_order_from_args(fcinfo, 3));
			MemoryContextSwitchTo(old);
			funcctx->user_fctx = state;
		}
	}
	funcctx = SRF_PERCALL_SETUP();
	return return_next_key(fcinfo, funcctx);
}

/* Planner support: as many rows as the array has elements, at most. */
Datum
hpsort_set_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	Node	   *answer = NULL;

	if (IsA(request, SupportRequestRows))
	{
		SupportRequestRows *rows = (SupportRequestRows *) request;

		if (is_funcclause(rows->node))
		{
			List	   *args = ((FuncExpr *) rows->node)->args;

			rows->rows = compat_estimate_array_length(rows->root, linitial(args));
			answer = request;
		}
	}
	PG_RETURN_POINTER(answer);
}
