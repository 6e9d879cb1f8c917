/*
 * exec.c
 *		The executor of Custom Scan (HpSort): rows in, rows out in order.
 *
 * The node does what a Sort node does, in the place of a Sort in any plan: the
 * first call takes all rows of the child and sorts them (row_sort.h), and each
 * call returns one row.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "pg/nodes/sort/exec/exec.h"
#include "pg/nodes/sort/plan/plan.h"
#include "pg/sort_context.h"
#include "pg/values/values.h"

/*
 * The state of a node.  Its sort is made by the first call, as spec and by_group say, and made anew
 * after a rescan for which the sorted rows are of no use.
 */
typedef struct HpSortState
{
	CustomScanState css;
	RowSortSpec spec;
	ExprState  *limit;			/* or what bounds each group; NULL: no limit known */
	ExprState  *offset;
	GroupBoundSpec by_group;	/* its kind is 0 if there are no groups */
	Oid			limit_type;
	struct HpSortState *below;	/* whose rows come by joins, and are counted; NULL: none */
	bool		instead;		/* these were too few: all rows are read of the second child */
	RowSort    *sort;			/* NULL: nothing sorted yet */
	TupleTableSlot *table_slot; /* of rows read by pages; NULL if there are never any */
	bool		may_stay;		/* rows may stay in the table */
	RowSortStats stats;
	HpSortShared *shared;		/* NULL unless parallel */
} HpSortState;

static const CustomExecMethods exec_methods;

static int
plan_number(const CustomScan *scan, HpSortPlanInt which)
{
	return list_nth_int((List *) list_nth(scan->custom_private, HPSORT_PLAN_NUMBERS), which);
}

/*
 * Returns the kind of slot in which the node returns rows that do not stay in the table: a lone key
 * as a Datum, all others as minimal tuples.
 */
static const TupleTableSlotOps *
slot_ops(const HpSortState *state)
{
	return state->spec.key_only ? &TTSOpsVirtual : &TTSOpsMinimalTuple;
}

/* CreateCustomScanState: returns the state of a node that has not begun. */
static Node *
sort_node_create_state(CustomScan *scan)
{
	HpSortState *state = (HpSortState *) newNode(sizeof(HpSortState), T_CustomScanState);

	state->css.methods = &exec_methods;
	state->spec.key_only = plan_number(scan, HPSORT_PLAN_KEY_ONLY) != 0;
	compat_create_custom_slot(&state->css, slot_ops(state));
	return (Node *) state;
}

/* Sets what every sort of the node is told; the child must have been initialized. */
static void
init_spec(HpSortState *state, const CustomScan *scan, int eflags)
{
	RowSortSpec *spec = &state->spec;
	List	   *lists = scan->custom_private;

	spec->memory = AllocSetContextCreate(state->css.ss.ps.state->es_query_cxt, "HpSort",
										 ALLOCSET_DEFAULT_SIZES);
	spec->tupdesc = ExecGetResultType(outerPlanState(state));
	spec->keys = key_columns_make(spec->tupdesc, list_nth(lists, HPSORT_PLAN_ATTNOS),
								  list_nth(lists, HPSORT_PLAN_SORTOPS),
								  list_nth(lists, HPSORT_PLAN_COLLATIONS),
								  list_nth(lists, HPSORT_PLAN_NULLS_FIRST),
								  plan_number(scan, HPSORT_PLAN_NMAPPED),
								  (uint32) plan_number(scan, HPSORT_PLAN_NUMBERED),
								  spec->key_only);
	spec->copied = plan_number(scan, HPSORT_PLAN_COPIED) != 0;
	spec->random = (eflags & (EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK)) != 0;
	spec->rewind = (eflags & EXEC_FLAG_REWIND) != 0;
	spec->expected_rows = spec->keys->expected_rows = outerPlanState(state)->plan->plan_rows;

	/*
	 * Sorting must not fail where core's would not: a device or an algorithm that is forced gives
	 * way if it cannot serve.  Workers leave the GPU to others, as they do everywhere.
	 */
	if (IsParallelWorker())
		pg_sort_context_partial(&spec->context, spec->memory);
	else
		pg_sort_context(&spec->context, spec->memory);
	spec->key_context = spec->context;
	if (spec->key_context.device == SORT_DEVICE_GPU)
		spec->key_context.device = SORT_DEVICE_AUTO;
	spec->key_context.algorithm = SORT_ALGORITHM_AUTO;
}

/* Returns the node below joins, whose outer sides lead to it. */
static HpSortState *
find_below(PlanState *ps)
{
	while (ps && !(IsA(ps, CustomScanState) && ((CustomScanState *) ps)->methods == &exec_methods))
		ps = outerPlanState(ps);
	if (ps == NULL)
		elog(ERROR, "no sort below the joins of a sort");
	return (HpSortState *) ps;
}

/*
 * How many rows, or ranks, of each group are wanted: the count of a GroupBoundSpec.  A WindowAgg
 * evaluates its run condition with the first row, so that an error in it is none without rows.
 */
static uint64
wanted_of_group(void *arg)
{
	HpSortState *state = (HpSortState *) arg;
	bool		isnull;
	Datum		value = ExecEvalExprSwitchContext(state->limit, state->css.ss.ps.ps_ExprContext,
												  &isnull);
	int64		wanted = isnull ? 0 : column_value(column_builtin_kind(state->limit_type), value);

	if (wanted > 0 && plan_number((CustomScan *) state->css.ss.ps.plan,
								  HPSORT_PLAN_GROUP_EXCLUSIVE))
		wanted--;
	return (uint64) Max(wanted, 0);
}

/*
 * BeginCustomScan: initializes the child, the keys and the expressions of the bound.  It reads no
 * row, and evaluates none of these expressions.
 */
static void
sort_node_begin(CustomScanState *node, EState *estate, int eflags)
{
	HpSortState *state = (HpSortState *) node;
	CustomScan *scan = (CustomScan *) node->ss.ps.plan;
	int			child_eflags;

	/*
	 * Rows are returned in the scan slot, which has all columns.  The executor may have set up a
	 * projection nevertheless, for constants in the list.
	 */
	compat_begin_custom_slot(node, estate, slot_ops(state));
	node->ss.ps.ps_ProjInfo = NULL;
	node->ss.ps.resultops = node->ss.ps.scanops;
	node->ss.ps.resultopsfixed = node->ss.ps.scanopsfixed;
	node->ss.ps.resultopsset = true;

	/* The children need not support what the sort does for them, as below a Sort. */
	child_eflags = eflags & ~(EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK);
	outerPlanState(node) = ExecInitNode(outerPlan(scan), estate, child_eflags);
	init_spec(state, scan, eflags);

	/* Rows that stay where they are come in another kind of slot. */
	state->may_stay = in_place_is_possible(&state->spec, outerPlanState(node));
	if (state->may_stay)
		node->ss.ps.resultopsfixed = false;
	state->by_group.kind = plan_number(scan, HPSORT_PLAN_GROUP_KIND);
	if (state->may_stay || (state->by_group.kind != GROUP_BOUND_NONE &&
							IsA(outerPlanState(node), SeqScanState)))
	{
		ScanState  *child = (ScanState *) outerPlanState(node);

		state->table_slot = ExecInitExtraTupleSlot(estate,
												   RelationGetDescr(child->ss_currentRelation),
												   &TTSOpsHeapTuple);
	}

	if (scan->custom_plans)
	{
		node->custom_ps = list_make1(ExecInitNode(linitial(scan->custom_plans), estate,
												  child_eflags));
		state->below = find_below(outerPlanState(node));
	}

	/* These are no expressions of a row. */
	if (contain_var_clause((Node *) scan->custom_exprs))
		elog(ERROR, "bound of a sort refers to a column");
	if (list_length(scan->custom_exprs) > 0)
		state->limit = ExecInitExpr(linitial(scan->custom_exprs), &node->ss.ps);
	if (list_length(scan->custom_exprs) > 1)
		state->offset = ExecInitExpr(lsecond(scan->custom_exprs), &node->ss.ps);
	if (state->by_group.kind != GROUP_BOUND_NONE)
	{
		state->limit_type = exprType(linitial(scan->custom_exprs));
		state->by_group.ngroup = plan_number(scan, HPSORT_PLAN_GROUP_KEYS);
		state->by_group.next = plan_number(scan, HPSORT_PLAN_GROUP_NEXT) != 0;
		state->by_group.count = wanted_of_group;
		state->by_group.arg = state;
		state->by_group.constant = IsA(linitial(scan->custom_exprs), Const);
		state->by_group.expected_groups = plan_number(scan, HPSORT_PLAN_GROUPS);
		state->by_group.expected_rows = state->spec.expected_rows;
	}
}

/* Rows that the Limit node above will ask for at most; 0: as many as there are. */
static uint64
wanted_rows(HpSortState *state)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	bool		isnull;
	int64		count;
	int64		offset = 0;

	if (state->limit == NULL || state->by_group.kind != GROUP_BOUND_NONE)
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

/*
 * Returns whether joins have taken so many of the bounded rows below them, of which this node has
 * sorted the joined ones, that wanted rows, or any of groups, may be missing.
 */
static bool
may_miss_rows(HpSortState *state)
{
	const HpSortState *below = state->below;
	uint64		joined = state->stats.keys;

	if (below == NULL || below->sort == NULL || state->instead)
		return false;
	/* Each row of a group is joined with one row at most. */
	if (below->by_group.kind != GROUP_BOUND_NONE)
		return joined < below->sort->count;
	return joined < wanted_rows(state) && below->stats.keys >= wanted_rows(state);
}

/* Leaves a worker's statistics where the leader's EXPLAIN finds them. */
static void
publish_stats(const HpSortState *state)
{
	if (state->shared && IsParallelWorker() && state->stats.valid)
		state->shared->workers[ParallelWorkerNumber] = state->stats;
}

/*
 * Takes all rows of the child, and sorts them.  Rows come in the fastest way that is possible: as
 * keys of a column, by the pages of the table, or one by one from the child.
 */
static void
sort_rows(HpSortState *state)
{
	EState	   *estate = state->css.ss.ps.state;
	PlanState  *outer = state->instead ? (PlanState *) linitial(state->css.custom_ps) :
	outerPlanState(state);
	ScanDirection direction = estate->es_direction;
	uint64		bound = wanted_rows(state);
	bool		all_read = false;
	RowSort    *sort;

	estate->es_direction = ForwardScanDirection;
	sort = row_sort_begin(&state->spec, bound, state->by_group.kind == GROUP_BOUND_NONE ? NULL :
						  &state->by_group,
						  &state->stats);
	if (row_sort_takes_keys(sort))
		all_read = sort_node_fill_from_column(sort, outer);
	else if (sort->by_group)
		all_read = in_place_fill_by_group(sort, outer, state->table_slot);
	else if (state->may_stay &&
			 in_place_is_allowed(&state->spec, outer, bound, &state->stats.rows))
	{
		in_place_fill(sort, outer, state->table_slot, bound);
		all_read = true;
	}
	while (!all_read)
	{
		TupleTableSlot *slot = ExecProcNode(outer);

		if (TupIsNull(slot))
			break;
		row_sort_put(sort, slot);
	}
	row_sort_finish(sort);
	state->sort = sort;
	estate->es_direction = direction;
	publish_stats(state);
}

/* Forgets all rows and their order. */
static void
forget(HpSortState *state)
{
	ExecClearTuple(state->css.ss.ss_ScanTupleSlot);
	if (state->sort)
		row_sort_end(state->sort);
	state->sort = NULL;
}

/*
 * ExecCustomScan: returns the next row, or an empty slot at the end.  The first call sorts.  The
 * slot is the node's, or, of rows that stay in the table, table_slot or that of the child's
 * projection.
 */
static TupleTableSlot *
sort_node_exec(CustomScanState *node)
{
	HpSortState *state = (HpSortState *) node;

	if (unlikely(state->sort == NULL))
	{
		sort_rows(state);
		if (may_miss_rows(state))
		{
			forget(state);
			state->instead = true;
			sort_rows(state);
		}
	}
	return row_sort_next(state->sort, ScanDirectionIsForward(node->ss.ps.state->es_direction),
						 node->ss.ss_ScanTupleSlot);
}

/* EndCustomScan: ends the sort, which unpins its pages, and then the child. */
static void
sort_node_end(CustomScanState *node)
{
	HpSortState *state = (HpSortState *) node;

	forget(state);
	MemoryContextDelete(state->spec.memory);
	ExecEndNode(outerPlanState(node));
	if (node->custom_ps)
		ExecEndNode((PlanState *) linitial(node->custom_ps));
}

/*
 * ReScanCustomScan: goes back to the first row if no parameter has changed and the sort was told
 * that rows may be read again.  Else it forgets the rows, and the next call reads and sorts anew.
 */
static void
sort_node_rescan(CustomScanState *node)
{
	HpSortState *state = (HpSortState *) node;
	PlanState  *outer = outerPlanState(node);
	PlanState  *other = node->custom_ps ? (PlanState *) linitial(node->custom_ps) : NULL;

	/* Core tells the first child only. */
	if (other && node->ss.ps.chgParam)
		UpdateChangedParamSet(other, node->ss.ps.chgParam);

	/* If nothing has been read, a changed parameter makes the child start anew. */
	if (state->sort == NULL)
		return;
	if (outer->chgParam == NULL && node->ss.ps.chgParam == NULL &&
		(state->spec.rewind || state->spec.random))
	{
		ExecClearTuple(node->ss.ss_ScanTupleSlot);
		row_sort_rewind(state->sort);
		return;
	}
	forget(state);
	if (outer->chgParam == NULL)
		ExecReScan(outer);
	if (state->instead && other->chgParam == NULL)
		ExecReScan(other);
	state->instead = false;
}

/* MarkPosCustomScan: remembers the place of the row returned last. */
static void
sort_node_mark(CustomScanState *node)
{
	HpSortState *state = (HpSortState *) node;

	if (state->sort)
		row_sort_mark(state->sort);
}

/* RestrPosCustomScan: goes back to the place that sort_node_mark has remembered. */
static void
sort_node_restore(CustomScanState *node)
{
	HpSortState *state = (HpSortState *) node;

	if (state->sort)
		row_sort_restore(state->sort);
}

/* Parallel query: workers leave their statistics in shared memory. */

/* Returns the bytes of shared memory for the statistics of nworkers workers. */
static Size
shared_size(int nworkers)
{
	return offsetof(HpSortShared, workers) + mul_size(nworkers, sizeof(RowSortStats));
}

/* EstimateDSMCustomScan: returns how much shared memory the node needs. */
static Size
sort_node_estimate_dsm(CustomScanState *node, ParallelContext *pcxt)
{
	return shared_size(pcxt->nworkers);
}

/* InitializeDSMCustomScan: in the leader, makes empty statistics of all workers. */
static void
sort_node_initialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	HpSortState *state = (HpSortState *) node;

	memset(coordinate, 0, shared_size(pcxt->nworkers));
	state->shared = (HpSortShared *) coordinate;
	state->shared->nworkers = pcxt->nworkers;
}

/* ReInitializeDSMCustomScan: in the leader, before workers are started once more. */
static void
sort_node_reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	/* What workers did last is what EXPLAIN shows, as of Sort. */
	((HpSortState *) node)->shared = (HpSortShared *) coordinate;
}

/* InitializeWorkerCustomScan: in a worker, finds what the leader has made. */
static void
sort_node_initialize_worker(CustomScanState *node, shm_toc *toc, void *coordinate)
{
	((HpSortState *) node)->shared = (HpSortShared *) coordinate;
}

/*
 * ShutdownCustomScan: unpins pages, and copies the statistics of the workers out of shared memory;
 * a worker leaves its own there.  It is called before shared memory is detached, and when the
 * executor returns from a query that may be left open, as a cursor is.
 */
static void
sort_node_shutdown(CustomScanState *node)
{
	HpSortState *state = (HpSortState *) node;
	Size		size;
	HpSortShared *copy;

	if (state->sort)
		row_sort_unpin(state->sort);

	/* A worker has read more since it published its statistics. */
	if (state->shared == NULL || IsParallelWorker())
	{
		publish_stats(state);
		return;
	}

	/* EXPLAIN runs later, and needs a copy. */
	size = shared_size(state->shared->nworkers);
	copy = (HpSortShared *) MemoryContextAlloc(node->ss.ps.state->es_query_cxt, size);
	memcpy(copy, state->shared, size);
	state->shared = copy;
}

/* ExplainCustomScan: prints what the node does and, with ANALYZE, has done. */
static void
sort_node_explain_scan(CustomScanState *node, List *ancestors, ExplainState *es)
{
	HpSortState *state = (HpSortState *) node;

	sort_node_explain(&node->ss.ps, state->spec.keys, &state->stats, state->shared, ancestors, es);
}

const CustomScanMethods sort_node_scan_methods = {
	.CustomName = "HpSort",
	.CreateCustomScanState = sort_node_create_state,
};

static const CustomExecMethods exec_methods = {
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
	.ExplainCustomScan = sort_node_explain_scan,
};
