/*
 * order_exec.c
 *		The executor of Custom Scan (HpSort): rows in, rows out in order.
 *
 * It does what a Sort node does, in its place in any plan: the first call
 * gathers all rows of the child, sorts them, and later calls return them one
 * by one.  Where the only column is the only key, the child's rows are not
 * kept at all: their keys go to a sorter, which keeps runs, and are expanded
 * while they are returned.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"

#include "compat.h"
#include "order_exec.h"
#include "pg_sorter.h"

static const TupleTableSlotOps *
slot_ops(const OrderState *state)
{
	return state->key_only ? &TTSOpsVirtual : &TTSOpsMinimalTuple;
}

static bool
plan_is_key_only(const CustomScan *scan)
{
	return list_nth_int((List *) list_nth(scan->custom_private, ORDER_PLAN_NUMBERS),
						ORDER_PLAN_KEY_ONLY) != 0;
}

static Node *
order_create_state(CustomScan *scan)
{
	OrderState *state = (OrderState *) newNode(sizeof(OrderState), T_CustomScanState);

	state->css.methods = &order_exec_methods;
	state->key_only = plan_is_key_only(scan);
	compat_create_custom_slot(&state->css, slot_ops(state));
	return (Node *) state;
}

static void
order_begin(CustomScanState *node, EState *estate, int eflags)
{
	OrderState *state = (OrderState *) node;
	CustomScan *scan = (CustomScan *) node->ss.ps.plan;
	List	   *lists = scan->custom_private;
	int			nmapped;

	/*
	 * Rows are returned in the scan slot, which has all columns.  The executor
	 * may have set up a projection nevertheless, for constants in the list.
	 */
	compat_begin_custom_slot(node, estate, slot_ops(state));
	node->ss.ps.ps_ProjInfo = NULL;
	node->ss.ps.resultops = node->ss.ps.scanops;
	node->ss.ps.resultopsfixed = node->ss.ps.scanopsfixed;
	node->ss.ps.resultopsset = true;

	state->random = (eflags & (EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK)) != 0;
	state->rewind = (eflags & EXEC_FLAG_REWIND) != 0;

	/* We protect the child from all that, as Sort does. */
	eflags &= ~(EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK);
	outerPlanState(node) = ExecInitNode(outerPlan(scan), estate, eflags);
	state->tupdesc = ExecGetResultType(outerPlanState(node));

	nmapped = list_nth_int((List *) list_nth(lists, ORDER_PLAN_NUMBERS), ORDER_PLAN_NMAPPED);
	state->keys = order_keys_make(state->tupdesc, list_nth(lists, ORDER_PLAN_ATTNOS),
								  list_nth(lists, ORDER_PLAN_SORTOPS),
								  list_nth(lists, ORDER_PLAN_COLLATIONS),
								  list_nth(lists, ORDER_PLAN_NULLS_FIRST), nmapped);

	/* They are evaluated before there is a row. */
	if (contain_var_clause((Node *) scan->custom_exprs))
		elog(ERROR, "LIMIT of a sort refers to a column");
	if (list_length(scan->custom_exprs) > 0)
		state->limit = ExecInitExpr(linitial(scan->custom_exprs), &node->ss.ps);
	if (list_length(scan->custom_exprs) > 1)
		state->offset = ExecInitExpr(lsecond(scan->custom_exprs), &node->ss.ps);
	state->memory = AllocSetContextCreate(estate->es_query_cxt, "HpSort", ALLOCSET_DEFAULT_SIZES);

	/*
	 * Sorting must not fail where core's would not: a device or an algorithm
	 * that is forced gives way if it cannot serve.  Workers leave the GPU to
	 * others, as they do everywhere.
	 */
	if (IsParallelWorker())
		pg_sort_context_partial(&state->context, state->memory);
	else
		pg_sort_context(&state->context, state->memory);
	state->key_context = state->context;
	if (state->key_context.device == SORT_DEVICE_GPU)
		state->key_context.device = SORT_DEVICE_AUTO;
	state->key_context.algorithm = SORT_ALGORITHM_AUTO;
}

/* Forgets everything gathered and sorted. */
static void
order_forget(OrderState *state)
{
	ExecClearTuple(state->css.ss.ss_ScanTupleSlot);
	if (state->spill)
		order_spill_destroy(state->spill);
	if (state->store && state->store->slot)
		ExecDropSingleTupleTableSlot(state->store->slot);
	state->spill = NULL;
	state->tape = NULL;
	state->store = NULL;
	state->sorter = NULL;
	state->batch = NULL;
	state->stream_row = NULL;
	state->stream_room = 0;
	state->streaming = false;
	MemoryContextReset(state->memory);
	state->source = ORDER_FROM_NOTHING;
}

/* Rows that the LIMIT above us will ask for at most; 0: as many as there are. */
static uint64
wanted_rows(OrderState *state)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	bool		isnull;
	int64		count;
	int64		offset = 0;

	if (state->limit == NULL)
		return 0;
	count = DatumGetInt64(ExecEvalExprSwitchContext(state->limit, econtext, &isnull));
	if (isnull || count < 0)
		return 0;
	if (state->offset)
	{
		offset = DatumGetInt64(ExecEvalExprSwitchContext(state->offset, econtext, &isnull));
		if (isnull)
			offset = 0;
		else if (offset < 0)
			return 0;			/* the Limit complains */
	}
	if (count > PG_INT64_MAX / 4 - offset)
		return 0;
	return (uint64) Max(count + offset, 1);
}

/* A worker's, for the leader's EXPLAIN. */
static void
publish_stats(const OrderState *state)
{
	if (state->shared && IsParallelWorker())
		state->shared->workers[ParallelWorkerNumber] = state->stats;
}

void
order_note_sort(OrderState *state)
{
	const OrderStoreStats *sorted = &state->store->stats;

	state->stats.plan = sorted->plan;
	state->stats.compared |= sorted->compared;
	if (!state->stats.on_disk)
	{
		state->stats.range = sorted->range;
		state->stats.distinct = sorted->distinct;
		state->stats.space = state->store->peak;
	}
	publish_stats(state);
}

void
order_leave_sorter(OrderState *state)
{
	uint64		wanted = sorter_count(state->sorter);
	OrderRowKey key = {0};
	SortError	err;
	size_t		got;

	state->stats.keys = wanted + state->nulls;
	if (state->bound > 0)
		wanted = Min(wanted, state->bound);

	/* Known to be too many: they should not come in order of their keys. */
	else if (wanted * sizeof(uint64) * 2 > state->store->limit)
	{
		order_spill_sorter(state);
		state->sorter = NULL;
		return;
	}
	pg_sort_check(sorter_finish(state->sorter, SORT_WANT_KEYS, &err), &err);
	pg_sort_check(sorter_open_cursor(state->sorter, false, &state->cursor, &err), &err);
	while (wanted > 0)
	{
		size_t		i;

		pg_sort_check(sorter_cursor_keys(&state->cursor, state->batch,
										 (size_t) Min(wanted, ORDER_BATCH), &got, &err), &err);
		for (i = 0; i < got; i++)
		{
			key.images[0] = (uint64) state->bias + (uint64) (int64) state->batch[i];
			order_put_key(state, &key);
		}
		wanted -= got;
		CHECK_FOR_INTERRUPTS();
	}
	order_put_nulls(state, state->nulls);
	sorter_reset(state->sorter);
	state->sorter = NULL;
}

static void
start_sorter(OrderState *state)
{
	state->sorter = (Sorter *) MemoryContextAlloc(state->memory, sizeof(Sorter));
	sorter_init(state->sorter, &state->key_context, PG_INT32_MIN, PG_INT32_MAX);
	state->batch = (int32 *) MemoryContextAlloc(state->memory, ORDER_BATCH * sizeof(int32));
	state->bias = UINT64CONST(1) << 31;
}

/*
 * Takes keys only, as the sorter's int4 keys: the distance of an image from
 * the bias, which is the middle of the images of narrow keys, and near the
 * first key of int8.  If one is too far away, or they take too much memory,
 * the rest goes the way of rows: returns that slot, or NULL at the end.
 */
static TupleTableSlot *
gather_keys(OrderState *state)
{
	PlanState  *outer = outerPlanState(state);
	OrderKey   *key = &state->keys->keys[0];
	bool		narrow = order_key_is_narrow(key->kind);
	Sorter	   *sorter = state->sorter;
	Size		limit = (Size) work_mem * 1024;
	uint64		bias = state->bias;
	bool		first = true;
	SortError	err;

	for (;;)
	{
		TupleTableSlot *slot = ExecProcNode(outer);
		bool		isnull;
		Datum		value;
		int64		distance;

		if (TupIsNull(slot))
			return NULL;
		value = slot_getattr(slot, 1, &isnull);
		if (isnull)
		{
			state->nulls++;
			continue;
		}
		distance = (int64) (order_image(key, value) - bias);
		if (!narrow)
		{
			if (first)
			{
				/* Not so near the ends that distances would wrap around. */
				bias = Max(order_image(key, value), UINT64CONST(1) << 31);
				bias = Min(bias, PG_UINT64_MAX - (UINT64CONST(1) << 31));
				state->bias = bias;
				distance = (int64) (order_image(key, value) - bias);
				first = false;
			}
			if (unlikely(distance < PG_INT32_MIN || distance > PG_INT32_MAX))
				return slot;
		}
		if (unlikely(sorter_is_full(sorter)))
		{
			pg_sort_check(sorter_flush(sorter, &err), &err);
			if (sorter_memory(sorter) > limit)
			{
				pg_sort_check(sorter_add_key(sorter, (int32) distance, &err), &err);
				order_leave_sorter(state);
				return ExecProcNode(outer);
			}
		}
		sorter_put_key(sorter, (int32) distance);
	}
}

/* Takes rows, from this one on. */
static void
gather_rows(OrderState *state, TupleTableSlot *slot)
{
	PlanState  *outer = outerPlanState(state);
	OrderStore *store = state->store;

	while (!TupIsNull(slot) && state->spill == NULL)
	{
		if (!order_store_put(store, slot))
		{
			order_spill_store(state);
			break;
		}
		state->stats.keys++;
		slot = ExecProcNode(outer);
	}
	while (!TupIsNull(slot))
	{
		order_spill_slot(state, slot);
		state->stats.keys++;
		slot = ExecProcNode(outer);
	}
}

/* Starts with the first row in order. */
static void
start_reading(OrderState *state)
{
	SortError	err;

	state->at = 0;
	state->at_end = false;
	switch (state->source)
	{
		case ORDER_FROM_SORTER:
			pg_sort_check(sorter_open_cursor(state->sorter, false, &state->cursor, &err), &err);
			state->batch_at = state->batch_got = 0;
			state->nulls_left = state->nulls;
			break;
		case ORDER_FROM_TAPE:
			order_tape_rewind(state->tape);
			break;
		case ORDER_FROM_PARTITIONS:
			order_partitions_rewind(state);
			break;
		default:
			break;
	}
}

/* Gathers and sorts. */
static void
order_sort(OrderState *state)
{
	EState	   *estate = state->css.ss.ps.state;
	ScanDirection direction = estate->es_direction;
	TupleTableSlot *slot;
	SortError	err;

	estate->es_direction = ForwardScanDirection;
	memset(&state->stats, 0, sizeof(state->stats));
	state->nulls = 0;
	state->spill = NULL;
	state->bound = wanted_rows(state);
	state->store = order_store_create(state->memory, state->keys, state->tupdesc,
									  !state->key_only, (Size) work_mem * 1024, state->bound);
	state->stats.bounded = state->bound > 0;

	if (state->key_only && !state->random)
	{
		start_sorter(state);
		if (!order_gather_column(state))
		{
			slot = gather_keys(state);
			if (!TupIsNull(slot))
			{
				if (state->sorter)
					order_leave_sorter(state);
				gather_rows(state, slot);
			}
		}
	}
	else
		gather_rows(state, ExecProcNode(outerPlanState(state)));

	if (state->sorter)
	{
		SorterStats stats;

		pg_sort_check(sorter_finish(state->sorter, SORT_WANT_KEYS, &err), &err);
		state->source = ORDER_FROM_SORTER;
		start_reading(state);
		pg_sort_stats(state->sorter, NULL, &stats);
		state->stats.plan = stats.plan;
		state->stats.keys = stats.n + state->nulls;
		state->stats.distinct = stats.distinct == 0 ? 0 : stats.distinct + (state->nulls > 0);
		state->stats.range = (stats.n > 0 ? (double) plan_range(stats.lo, stats.hi) : 0) + (state->nulls > 0);
		state->stats.space = sorter_memory(state->sorter) + sizeof(Sorter);
	}
	else if (state->spill)
	{
		order_partitions_start(state);
		state->source = ORDER_FROM_PARTITIONS;
		if (state->random)
		{
			order_partitions_to_tape(state);
			state->source = ORDER_FROM_TAPE;
		}
	}
	else
	{
		order_store_sort(state->store, &state->context);
		order_note_sort(state);
		state->count = order_store_count(state->store);
		state->source = ORDER_FROM_STORE;
		start_reading(state);
	}
	estate->es_direction = direction;
	state->stats.valid = true;
	publish_stats(state);
}

/* The next key from runs. */
static TupleTableSlot *
next_key(OrderState *state)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;
	const OrderKey *key = &state->keys->keys[0];
	uint64		image;

	ExecClearTuple(slot);
	if (unlikely(key->nulls_first && state->nulls_left > 0))
		goto null;
	if (state->batch_at == state->batch_got)
	{
		SortError	err;

		pg_sort_check(sorter_cursor_keys(&state->cursor, state->batch, ORDER_BATCH,
										 &state->batch_got, &err), &err);
		state->batch_at = 0;
		if (state->batch_got == 0)
		{
			if (state->nulls_left > 0)
				goto null;
			return slot;
		}
	}
	image = (uint64) state->bias + (uint64) (int64) state->batch[state->batch_at++];
	slot->tts_values[0] = order_value(key, image);
	slot->tts_isnull[0] = false;
	return ExecStoreVirtualTuple(slot);

null:
	state->nulls_left--;
	slot->tts_values[0] = (Datum) 0;
	slot->tts_isnull[0] = true;
	return ExecStoreVirtualTuple(slot);
}

/* The next row of the store in either direction; as tuplesort does it. */
static TupleTableSlot *
next_row(OrderState *state, bool forward)
{
	if (likely(forward))
	{
		if (likely(state->at < state->count))
			return order_emit(state, state->at++);
		state->at_end = true;
	}
	else if (state->at > 0)
	{
		/* After the end the last row comes, else the one before the last returned. */
		if (state->at_end)
			state->at_end = false;
		else
			state->at--;
		if (state->at > 0)
			return order_emit(state, state->at - 1);
	}
	return ExecClearTuple(state->css.ss.ss_ScanTupleSlot);
}

static TupleTableSlot *
order_exec(CustomScanState *node)
{
	OrderState *state = (OrderState *) node;
	bool		forward;

	if (unlikely(state->source == ORDER_FROM_NOTHING))
		order_sort(state);
	forward = ScanDirectionIsForward(node->ss.ps.state->es_direction);
	switch (state->source)
	{
		case ORDER_FROM_STORE:
			return next_row(state, forward);
		case ORDER_FROM_SORTER:
			Assert(forward);
			return next_key(state);
		case ORDER_FROM_PARTITIONS:
			Assert(forward);
			return order_partitions_next(state);
		default:
			return order_tape_row(state, forward);
	}
}

static void
order_end(CustomScanState *node)
{
	OrderState *state = (OrderState *) node;

	order_forget(state);
	MemoryContextDelete(state->memory);
	ExecEndNode(outerPlanState(node));
}

static void
order_rescan(CustomScanState *node)
{
	OrderState *state = (OrderState *) node;
	PlanState  *outer = outerPlanState(node);

	/* If nothing has been read, a changed parameter makes the child start anew. */
	if (state->source == ORDER_FROM_NOTHING)
		return;
	if (outer->chgParam == NULL && node->ss.ps.chgParam == NULL &&
		(state->rewind || state->random))
	{
		ExecClearTuple(node->ss.ss_ScanTupleSlot);
		start_reading(state);
		return;
	}
	order_forget(state);
	if (outer->chgParam == NULL)
		ExecReScan(outer);
}

static void
order_mark(CustomScanState *node)
{
	OrderState *state = (OrderState *) node;

	if (state->source == ORDER_FROM_TAPE)
		order_tape_mark(state->tape);
	state->mark = state->at;
	state->mark_at_end = state->at_end;
}

static void
order_restore(CustomScanState *node)
{
	OrderState *state = (OrderState *) node;

	if (state->source == ORDER_FROM_TAPE)
		order_tape_restore(state->tape);
	state->at = state->mark;
	state->at_end = state->mark_at_end;
}

/* Parallel query: workers leave their statistics in shared memory. */

static Size
order_estimate_dsm(CustomScanState *node, ParallelContext *pcxt)
{
	return offsetof(OrderShared, workers) + mul_size(pcxt->nworkers, sizeof(OrderStats));
}

static void
order_initialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	OrderState *state = (OrderState *) node;

	memset(coordinate, 0, order_estimate_dsm(node, pcxt));
	state->shared = (OrderShared *) coordinate;
	state->shared->nworkers = pcxt->nworkers;
}

static void
order_reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	/* What workers did last is what EXPLAIN shows, as of Sort. */
	((OrderState *) node)->shared = (OrderShared *) coordinate;
}

static void
order_initialize_worker(CustomScanState *node, shm_toc *toc, void *coordinate)
{
	((OrderState *) node)->shared = (OrderShared *) coordinate;
}

/* Shared memory is about to go: EXPLAIN needs a copy. */
static void
order_shutdown(CustomScanState *node)
{
	OrderState *state = (OrderState *) node;
	Size		size;
	OrderShared *copy;

	if (state->shared == NULL || IsParallelWorker())
		return;
	size = offsetof(OrderShared, workers) + state->shared->nworkers * sizeof(OrderStats);
	copy = (OrderShared *) MemoryContextAlloc(node->ss.ps.state->es_query_cxt, size);
	memcpy(copy, state->shared, size);
	state->shared = copy;
}

const CustomScanMethods order_scan_methods = {
	.CustomName = "HpSort",
	.CreateCustomScanState = order_create_state,
};

const CustomExecMethods order_exec_methods = {
	.CustomName = "HpSort",
	.BeginCustomScan = order_begin,
	.ExecCustomScan = order_exec,
	.EndCustomScan = order_end,
	.ReScanCustomScan = order_rescan,
	.MarkPosCustomScan = order_mark,
	.RestrPosCustomScan = order_restore,
	.EstimateDSMCustomScan = order_estimate_dsm,
	.InitializeDSMCustomScan = order_initialize_dsm,
	.ReInitializeDSMCustomScan = order_reinitialize_dsm,
	.InitializeWorkerCustomScan = order_initialize_worker,
	.ShutdownCustomScan = order_shutdown,
	.ExplainCustomScan = order_explain,
};
