/*
 * exec.c
 *		The executor of Custom Scan (HpSort): rows in, rows out in order.
 *
 * It does what a Sort node does, in its place in any plan: the first call
 * takes all rows of the child, sorts them, and later calls return them one
 * by one.  Where the only column is the only key, the child's rows are not
 * kept at all: their keys go to a sorter, which keeps runs, and are expanded
 * while they are returned.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"

#include "pg/compat.h"
#include "pg/nodes/sort/exec.h"
#include "pg/sort_context.h"

static const TupleTableSlotOps *
slot_ops(const HpSortState *state)
{
	return state->key_only ? &TTSOpsVirtual : &TTSOpsMinimalTuple;
}

static bool
plan_is_key_only(const CustomScan *scan)
{
	return list_nth_int((List *) list_nth(scan->custom_private, HPSORT_PLAN_NUMBERS),
						HPSORT_PLAN_KEY_ONLY) != 0;
}

static Node *
sort_node_create_state(CustomScan *scan)
{
	HpSortState *state = (HpSortState *) newNode(sizeof(HpSortState), T_CustomScanState);

	state->css.methods = &sort_node_exec_methods;
	state->key_only = plan_is_key_only(scan);
	compat_create_custom_slot(&state->css, slot_ops(state));
	return (Node *) state;
}

static void
sort_node_begin(CustomScanState *node, EState *estate, int eflags)
{
	HpSortState *state = (HpSortState *) node;
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

	nmapped = list_nth_int((List *) list_nth(lists, HPSORT_PLAN_NUMBERS), HPSORT_PLAN_NMAPPED);
	state->keys = key_columns_make(state->tupdesc, list_nth(lists, HPSORT_PLAN_ATTNOS),
								  list_nth(lists, HPSORT_PLAN_SORTOPS),
								  list_nth(lists, HPSORT_PLAN_COLLATIONS),
								  list_nth(lists, HPSORT_PLAN_NULLS_FIRST), nmapped);

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

/* Forgets all rows and their order. */
static void
sort_node_forget(HpSortState *state)
{
	ExecClearTuple(state->css.ss.ss_ScanTupleSlot);
	if (state->spill)
		spill_destroy(state->spill);
	if (state->store)
		row_store_destroy(state->store);
	state->spill = NULL;
	state->tape = NULL;
	state->store = NULL;
	state->sorter = NULL;
	state->batch = NULL;
	state->stream_row = NULL;
	state->stream_room = 0;
	state->streaming = false;
	MemoryContextReset(state->memory);
	state->source = HPSORT_FROM_NOTHING;
}

/* Rows that the LIMIT above us will ask for at most; 0: as many as there are. */
static uint64
wanted_rows(HpSortState *state)
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
publish_stats(const HpSortState *state)
{
	if (state->shared && IsParallelWorker())
		state->shared->workers[ParallelWorkerNumber] = state->stats;
}

void
sort_node_note_sort(HpSortState *state)
{
	const RowStoreStats *sorted = &state->store->stats;

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
sort_node_leave_sorter(HpSortState *state)
{
	uint64		wanted = sorter_count(state->sorter);
	RowKey key = {0};
	SortError	err;
	size_t		got;

	state->stats.keys = wanted + state->nulls;
	if (state->bound > 0)
		wanted = Min(wanted, state->bound);

	/* Known to be too many: they should not come in order of their keys. */
	else if (wanted * sizeof(uint64) * 2 > state->store->limit)
	{
		sort_node_spill_sorter(state);
		state->sorter = NULL;
		return;
	}
	pg_sort_check(sorter_finish(state->sorter, SORT_WANT_KEYS, &err), &err);
	pg_sort_check(sorter_open_cursor(state->sorter, false, &state->cursor, &err), &err);
	while (wanted > 0)
	{
		size_t		i;

		pg_sort_check(sorter_cursor_keys(&state->cursor, state->batch,
										 (size_t) Min(wanted, HPSORT_BATCH), &got, &err), &err);
		for (i = 0; i < got; i++)
		{
			key.images[0] = (uint64) state->bias + (uint64) (int64) state->batch[i];
			sort_node_put_key(state, &key);
		}
		wanted -= got;
		CHECK_FOR_INTERRUPTS();
	}
	sort_node_put_nulls(state, state->nulls);
	sorter_reset(state->sorter);
	state->sorter = NULL;
}

static void
start_sorter(HpSortState *state)
{
	state->sorter = (Sorter *) MemoryContextAlloc(state->memory, sizeof(Sorter));
	sorter_init(state->sorter, &state->key_context, PG_INT32_MIN, PG_INT32_MAX);
	state->batch = (int32 *) MemoryContextAlloc(state->memory, HPSORT_BATCH * sizeof(int32));
	state->bias = UINT64CONST(1) << 31;
}

/*
 * Takes keys only, as the sorter's int4 keys: the distance of an image from
 * the bias, which is the middle of the images of narrow keys, and near the
 * first key of int8.  If one is too far away, or they take too much memory,
 * the rest goes the way of rows: returns that slot, or NULL at the end.
 */
static TupleTableSlot *
take_keys(HpSortState *state)
{
	PlanState  *outer = outerPlanState(state);
	KeyColumn   *key = &state->keys->keys[0];
	bool		narrow = key_is_narrow(key->kind);
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
		distance = (int64) (key_image(key, value) - bias);
		if (!narrow)
		{
			if (first)
			{
				/* Not so near the ends that distances would wrap around. */
				bias = Max(key_image(key, value), UINT64CONST(1) << 31);
				bias = Min(bias, PG_UINT64_MAX - (UINT64CONST(1) << 31));
				state->bias = bias;
				distance = (int64) (key_image(key, value) - bias);
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
				sort_node_leave_sorter(state);
				return ExecProcNode(outer);
			}
		}
		sorter_put_key(sorter, (int32) distance);
	}
}

/* Takes rows, from this one on. */
static void
take_rows(HpSortState *state, TupleTableSlot *slot)
{
	PlanState  *outer = outerPlanState(state);
	RowStore *store = state->store;

	while (!TupIsNull(slot) && state->spill == NULL)
	{
		if (!row_store_take(store, slot))
		{
			sort_node_spill_store(state);
			break;
		}
		state->stats.keys++;
		slot = ExecProcNode(outer);
	}
	while (!TupIsNull(slot))
	{
		sort_node_spill_slot(state, slot);
		state->stats.keys++;
		slot = ExecProcNode(outer);
	}
}

/* Starts with the first row in order. */
static void
start_reading(HpSortState *state)
{
	SortError	err;

	state->at = 0;
	state->at_end = false;
	switch (state->source)
	{
		case HPSORT_FROM_SORTER:
			pg_sort_check(sorter_open_cursor(state->sorter, false, &state->cursor, &err), &err);
			state->batch_at = state->batch_got = 0;
			state->nulls_left = state->nulls;
			break;
		case HPSORT_FROM_TAPE:
			tape_rewind(state->tape);
			break;
		case HPSORT_FROM_PARTITIONS:
			sort_node_partitions_rewind(state);
			break;
		default:
			break;
	}
}

/* Takes all rows and sorts them. */
static void
sort_node_sort(HpSortState *state)
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
	state->store = row_store_create(state->memory, state->keys, state->tupdesc,
									  !state->key_only, (Size) work_mem * 1024, state->bound);
	state->stats.bounded = state->bound > 0;

	if (state->key_only && !state->random)
	{
		start_sorter(state);
		if (!sort_node_fill_from_column(state))
		{
			slot = take_keys(state);
			if (!TupIsNull(slot))
			{
				if (state->sorter)
					sort_node_leave_sorter(state);
				take_rows(state, slot);
			}
		}
	}
	else
		take_rows(state, ExecProcNode(outerPlanState(state)));

	if (state->sorter)
	{
		SorterStats stats;

		pg_sort_check(sorter_finish(state->sorter, SORT_WANT_KEYS, &err), &err);
		state->source = HPSORT_FROM_SORTER;
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
		sort_node_partitions_start(state);
		state->source = HPSORT_FROM_PARTITIONS;
		if (state->random)
		{
			sort_node_partitions_to_tape(state);
			state->source = HPSORT_FROM_TAPE;
		}
	}
	else
	{
		row_store_sort(state->store, &state->context);
		sort_node_note_sort(state);
		state->count = row_store_count(state->store);
		state->source = HPSORT_FROM_STORE;
		start_reading(state);
	}
	estate->es_direction = direction;
	state->stats.valid = true;
	publish_stats(state);
}

/* The next key from runs. */
static TupleTableSlot *
next_key(HpSortState *state)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;
	const KeyColumn *key = &state->keys->keys[0];
	uint64		image;

	ExecClearTuple(slot);
	if (unlikely(key->nulls_first && state->nulls_left > 0))
		goto null;
	if (state->batch_at == state->batch_got)
	{
		SortError	err;

		pg_sort_check(sorter_cursor_keys(&state->cursor, state->batch, HPSORT_BATCH,
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
	slot->tts_values[0] = key_value(key, image);
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
next_row(HpSortState *state, bool forward)
{
	if (likely(forward))
	{
		if (likely(state->at < state->count))
			return row_store_emit(state->store, state->at++, state->css.ss.ss_ScanTupleSlot);
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
			return row_store_emit(state->store, state->at - 1, state->css.ss.ss_ScanTupleSlot);
	}
	return ExecClearTuple(state->css.ss.ss_ScanTupleSlot);
}

static TupleTableSlot *
sort_node_exec(CustomScanState *node)
{
	HpSortState *state = (HpSortState *) node;
	bool		forward;

	if (unlikely(state->source == HPSORT_FROM_NOTHING))
		sort_node_sort(state);
	forward = ScanDirectionIsForward(node->ss.ps.state->es_direction);
	switch (state->source)
	{
		case HPSORT_FROM_STORE:
			return next_row(state, forward);
		case HPSORT_FROM_SORTER:
			Assert(forward);
			return next_key(state);
		case HPSORT_FROM_PARTITIONS:
			Assert(forward);
			return sort_node_partitions_next(state);
		default:
			return sort_node_tape_row(state, forward);
	}
}

static void
sort_node_end(CustomScanState *node)
{
	HpSortState *state = (HpSortState *) node;

	sort_node_forget(state);
	MemoryContextDelete(state->memory);
	ExecEndNode(outerPlanState(node));
}

static void
sort_node_rescan(CustomScanState *node)
{
	HpSortState *state = (HpSortState *) node;
	PlanState  *outer = outerPlanState(node);

	/* If nothing has been read, a changed parameter makes the child start anew. */
	if (state->source == HPSORT_FROM_NOTHING)
		return;
	if (outer->chgParam == NULL && node->ss.ps.chgParam == NULL &&
		(state->rewind || state->random))
	{
		ExecClearTuple(node->ss.ss_ScanTupleSlot);
		start_reading(state);
		return;
	}
	sort_node_forget(state);
	if (outer->chgParam == NULL)
		ExecReScan(outer);
}

static void
sort_node_mark(CustomScanState *node)
{
	HpSortState *state = (HpSortState *) node;

	if (state->source == HPSORT_FROM_TAPE)
		tape_mark(state->tape);
	state->mark = state->at;
	state->mark_at_end = state->at_end;
}

static void
sort_node_restore(CustomScanState *node)
{
	HpSortState *state = (HpSortState *) node;

	if (state->source == HPSORT_FROM_TAPE)
		tape_restore(state->tape);
	state->at = state->mark;
	state->at_end = state->mark_at_end;
}

/* Parallel query: workers leave their statistics in shared memory. */

static Size
sort_node_estimate_dsm(CustomScanState *node, ParallelContext *pcxt)
{
	return offsetof(HpSortShared, workers) + mul_size(pcxt->nworkers, sizeof(HpSortStats));
}

static void
sort_node_initialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	HpSortState *state = (HpSortState *) node;

	memset(coordinate, 0, sort_node_estimate_dsm(node, pcxt));
	state->shared = (HpSortShared *) coordinate;
	state->shared->nworkers = pcxt->nworkers;
}

static void
sort_node_reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	/* What workers did last is what EXPLAIN shows, as of Sort. */
	((HpSortState *) node)->shared = (HpSortShared *) coordinate;
}

static void
sort_node_initialize_worker(CustomScanState *node, shm_toc *toc, void *coordinate)
{
	((HpSortState *) node)->shared = (HpSortShared *) coordinate;
}

/* Shared memory is about to go: EXPLAIN needs a copy. */
static void
sort_node_shutdown(CustomScanState *node)
{
	HpSortState *state = (HpSortState *) node;
	Size		size;
	HpSortShared *copy;

	if (state->shared == NULL || IsParallelWorker())
		return;
	size = offsetof(HpSortShared, workers) + state->shared->nworkers * sizeof(HpSortStats);
	copy = (HpSortShared *) MemoryContextAlloc(node->ss.ps.state->es_query_cxt, size);
	memcpy(copy, state->shared, size);
	state->shared = copy;
}

const CustomScanMethods sort_node_scan_methods = {
	.CustomName = "HpSort",
	.CreateCustomScanState = sort_node_create_state,
};

const CustomExecMethods sort_node_exec_methods = {
	.CustomName = "HpSort",
	.BeginCustomScan = sort_node_begin,
	.ExecCustomScan = sort_node_exec,
	.EndCustomScan = sort_node_end,
	.ReScanCustomScan = sort_node_rescan,
	.MarkPosCustomScan = sort_node_mark,
	.RestrPosCustomScan = sort_node_restore,
	.EstimateDSMCustomScan = sort_node_estimate_dsm,
	.InitializeDSMCustomScan = sort_node_initialize_dsm,
	.ReInitializeDSMCustomScan = sort_node_reinitialize_dsm,
	.InitializeWorkerCustomScan = sort_node_initialize_worker,
	.ShutdownCustomScan = sort_node_shutdown,
	.ExplainCustomScan = sort_node_explain,
};
