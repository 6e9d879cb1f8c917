/*
 * exec.c
 *		Custom Scan (HpSort Aggregate), the executor's half (see exec.h).
 *
 * At its first call it reads everything, into one aggregate state for each
 * transition the planner has found (aggtransno), and returns its one row.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "catalog/objectaccess.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "nodes/extensible.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

#include "pg/compat.h"
#include "pg/functions/aggregates.h"
#include "pg/nodes/aggregate/exec.h"
#include "pg/nodes/aggregate/query_exec.h"
#include "pg/nodes/aggregate/sources.h"
#include "pg/sort_context.h"
#include "sort/algorithms.h"

/* One transition: aggregates of the same column and bounds share it. */
typedef struct AggregateTransition
{
	const Aggref *aggref;		/* one of them */
	ExprState  *options[3];		/* lower and upper bound, direction, if given */
	int			column;			/* which of the columns read */
	int32		lo;
	int32		hi;
	bool		descending;
	AggregateState *state;		/* NULL: no rows yet */
	bool		sorted;			/* stats are there, for EXPLAIN */
	SorterStats stats;
} AggregateTransition;

/* One aggregate: a column of the scan tuple. */
typedef struct AggregateOutput
{
	AggregateKind	kind;
	bool		partial;		/* serialized, for Finalize Aggregate */
	int			state;
	TupleDesc	run_type;		/* of AGGREGATE_RUNS */
	Oid			array_type;		/* of the elements, if it returns an array */
} AggregateOutput;

typedef struct HpSortAggregateState
{
	CustomScanState css;
	MemoryContext memory;		/* all below that depends on the rows */
	SortContext context;

	AggregateSources sources;
	int			nstates;
	AggregateTransition *states;
	int			noutputs;
	AggregateOutput *outputs;

	bool		done;			/* the row has been returned */
} HpSortAggregateState;

/* Bounds and direction, which depend on no row, but may on a parameter. */
static void
prepare_options(HpSortAggregateState *node, AggregateTransition *state)
{
	const List *args = state->aggref->args;
	int			i;

	for (i = 1; i < list_length(args); i++)
		state->options[i - 1] = ExecInitExpr(list_nth_node(TargetEntry, args, i)->expr,
											 &node->css.ss.ps);
}

static Datum
evaluate_option(HpSortAggregateState *node, const AggregateTransition *state, int option, bool *isnull)
{
	return ExecEvalExprSwitchContext(state->options[option], node->css.ss.ps.ps_ExprContext,
									 isnull);
}

/* As the transition functions read theirs; complaints wait for the first row. */
static void
read_options(HpSortAggregateState *node, AggregateTransition *state)
{
	Datum		value;
	bool		isnull;

	state->lo = PG_INT32_MIN;
	state->hi = PG_INT32_MAX;
	state->descending = false;
	if (state->options[1])
	{
		value = evaluate_option(node, state, 0, &isnull);
		if (!isnull)
			state->lo = DatumGetInt32(value);
		value = evaluate_option(node, state, 1, &isnull);
		if (!isnull)
			state->hi = DatumGetInt32(value);
	}
	if (state->options[2])
	{
		value = evaluate_option(node, state, 2, &isnull);
		state->descending = !isnull && DatumGetBool(value);
	}
}

/* --- life */

static const CustomExecMethods aggregate_node_exec_methods;

/*
 * The node of hpsort_query's own query has the same name, by which a plan that
 * was written and is read back finds its methods; it has a column as its result.
 */
static Node *
aggregate_node_create_state(CustomScan *scan)
{
	HpSortAggregateState *node;

	if (!IsA(linitial_node(TargetEntry, scan->custom_scan_tlist)->expr, Aggref))
		return aggregate_query_create_state(scan);
	node = palloc0_object(HpSortAggregateState);
	NodeSetTag(node, T_CustomScanState);
	node->css.methods = &aggregate_node_exec_methods;
	return (Node *) node;
}

/*
 * What ExecInitAgg checks, since there is no Agg here.  The support functions
 * are none that a user could be denied: they belong to the extension.
 */
static void
check_execute(const Aggref *aggref)
{
	if (!compat_may_execute(aggref->aggfnoid))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_AGGREGATE, get_func_name(aggref->aggfnoid));
	InvokeFunctionExecuteHook(aggref->aggfnoid);
}

/* The aggregates, and the states that they share. */
static void
describe_outputs(HpSortAggregateState *node, CustomScan *scan)
{
	List	   *columns = linitial(scan->custom_private);
	int		   *transnos;
	ListCell   *lc;

	node->outputs = palloc0_array(AggregateOutput, list_length(scan->custom_scan_tlist));
	node->states = palloc0_array(AggregateTransition, list_length(scan->custom_scan_tlist));
	transnos = palloc_array(int, list_length(scan->custom_scan_tlist));
	foreach(lc, scan->custom_scan_tlist)
	{
		Aggref	   *aggref = castNode(Aggref, lfirst_node(TargetEntry, lc)->expr);
		AggregateOutput *output = &node->outputs[node->noutputs++];
		int			i;

		output->kind = aggregate_kind(aggref);
		output->partial = DO_AGGSPLIT_SKIPFINAL(aggref->aggsplit);
		if (output->kind == AGGREGATE_NONE)
			elog(ERROR, "aggregate %u is none of hpsort", aggref->aggfnoid);
		check_execute(aggref);
		if (output->kind == AGGREGATE_RUNS && !output->partial)
			output->run_type = aggregate_run_type(aggref->aggtype);
		if (output->kind == AGGREGATE_ARRAY && !output->partial)
			output->array_type = aggregate_array_type(aggref->aggtype);
		for (i = 0; i < node->nstates && transnos[i] != aggref->aggtransno; i++)
			;
		if (i == node->nstates)
		{
			AttrNumber	attnum = aggregate_argument(aggref)->varattno;

			transnos[node->nstates++] = aggref->aggtransno;
			node->states[i].aggref = aggref;
			while (list_nth_int(columns, node->states[i].column) != attnum)
				node->states[i].column++;
			prepare_options(node, &node->states[i]);
		}
		output->state = i;
	}
	pfree(transnos);
}

static void
aggregate_node_begin(CustomScanState *css, EState *estate, int eflags)
{
	HpSortAggregateState *node = (HpSortAggregateState *) css;

	node->memory = AllocSetContextCreate(estate->es_query_cxt, "HpSort Aggregate",
										   ALLOCSET_DEFAULT_SIZES);
	aggregate_sources_begin(&node->sources, css, eflags);
	describe_outputs(node, (CustomScan *) css->ss.ps.plan);
}

static void
aggregate_node_end(CustomScanState *css)
{
	HpSortAggregateState *node = (HpSortAggregateState *) css;

	aggregate_sources_end(&node->sources);
	MemoryContextDelete(node->memory);
}

static void
aggregate_node_rescan(CustomScanState *css)
{
	HpSortAggregateState *node = (HpSortAggregateState *) css;
	int			i;

	aggregate_sources_rescan(&node->sources);
	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	for (i = 0; i < node->nstates; i++)
		node->states[i].state = NULL;
	MemoryContextReset(node->memory);
	node->done = false;
}

/* --- reading */

/* Adds a column's batch to a state, which the first row of all makes. */
static void
add_batch(HpSortAggregateState *node, AggregateTransition *state, const ColumnBatch *batch)
{
	SortError	err;

	if (batch->n == 0 && batch->nulls == 0)
		return;
	if (state->state == NULL)
	{
		sort_bounds_check(state->lo, state->hi);
		state->state = aggregate_state_make(&node->context, state->lo, state->hi,
											state->descending);
	}
	state->state->nulls += batch->nulls;
	pg_sort_check(sorter_add(&state->state->sorter, batch->keys, batch->n, &err), &err);
}

static void
add_batches(void *arg, const ColumnBatch *batches)
{
	HpSortAggregateState *node = (HpSortAggregateState *) arg;
	int			i;

	for (i = 0; i < node->nstates; i++)
		add_batch(node, &node->states[i], &batches[node->states[i].column]);
}

/* The aggregates' values, into the scan tuple. */
static void
fill_outputs(HpSortAggregateState *node, TupleTableSlot *slot)
{
	int			i;

	for (i = 0; i < node->noutputs; i++)
	{
		AggregateOutput *output = &node->outputs[i];
		AggregateState *state = node->states[output->state].state;

		/* No rows: NULL, as array_agg, and also as a partial aggregate. */
		slot->tts_isnull[i] = state == NULL;
		if (state == NULL)
			slot->tts_values[i] = (Datum) 0;
		else if (output->partial)
			slot->tts_values[i] = aggregate_state_serialize(state);
		else if (output->kind == AGGREGATE_ARRAY)
			slot->tts_values[i] = aggregate_state_array(state, output->array_type);
		else
			slot->tts_values[i] = aggregate_state_runs(state, output->run_type);
	}
	for (i = 0; i < node->nstates; i++)
	{
		AggregateTransition *state = &node->states[i];

		state->sorted = state->state != NULL;
		if (!state->sorted)
			continue;
		pg_sort_stats(&state->state->sorter, NULL, &state->stats);
		/* The results are copies. */
		sorter_reset(&state->state->sorter);
	}
}

static TupleTableSlot *
aggregate_node_exec(CustomScanState *css)
{
	HpSortAggregateState *node = (HpSortAggregateState *) css;
	ExprContext *econtext = css->ss.ps.ps_ExprContext;
	TupleTableSlot *slot = css->ss.ss_ScanTupleSlot;
	MemoryContext old;
	int			i;

	if (node->done)
		return NULL;
	node->done = true;

	ResetExprContext(econtext);
	for (i = 0; i < node->nstates; i++)
		read_options(node, &node->states[i]);
	old = MemoryContextSwitchTo(node->memory);
	if (node->outputs[0].partial)
		pg_sort_context_partial(&node->context, node->memory);
	else
		pg_sort_context(&node->context, node->memory);
	aggregate_sources_read(&node->sources, add_batches, node);
	ExecClearTuple(slot);
	fill_outputs(node, slot);
	MemoryContextSwitchTo(old);
	ExecStoreVirtualTuple(slot);

	econtext->ecxt_scantuple = slot;
	if (!ExecQual(css->ss.ps.qual, econtext))
	{
		InstrCountFiltered1(css, 1);
		return NULL;
	}
	return css->ss.ps.ps_ProjInfo ? ExecProject(css->ss.ps.ps_ProjInfo) : slot;
}

/* --- parallel */

static Size
estimate_dsm(CustomScanState *css, ParallelContext *pcxt)
{
	return aggregate_sources_estimate(&((HpSortAggregateState *) css)->sources);
}

static void
initialize_dsm(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	aggregate_sources_share(&((HpSortAggregateState *) css)->sources, coordinate);
}

static void
reinitialize_dsm(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	aggregate_sources_reshare(&((HpSortAggregateState *) css)->sources);
}

static void
initialize_worker(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	aggregate_sources_attach(&((HpSortAggregateState *) css)->sources, coordinate);
}

/* --- EXPLAIN */

static void
aggregate_node_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	HpSortAggregateState *node = (HpSortAggregateState *) css;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, css->ss.ps.plan, ancestors);
	bool		prefix = compat_explain_prefix(es);
	List	   *columns = NIL;
	List	   *algorithms = NIL;
	List	   *keys = NIL;
	int			c;

	for (c = 0; c < node->sources.ncolumns; c++)
	{
		AggregateTransition *state = node->states;
		Expr	   *column;

		/* One line a column, whatever the bounds it is also sorted with. */
		while (state->column != c)
			state++;
		column = linitial_node(TargetEntry, state->aggref->args)->expr;
		columns = lappend(columns, deparse_expression((Node *) column, context, prefix, false));
		if (!state->sorted)
			continue;
		algorithms = lappend(algorithms,
							 psprintf("%s on %s", sort_algorithm_name(state->stats.plan.algorithm),
									  sort_device_name(state->stats.plan.device)));
		keys = lappend(keys, psprintf(UINT64_FORMAT, state->stats.n));
	}
	ExplainPropertyList("Sort Key", columns, es);
	aggregate_sources_explain(&node->sources, ancestors, es);
	/* Partial results are sorted by the leader, which is not us. */
	if (es->analyze && algorithms != NIL && !node->outputs[0].partial)
	{
		ExplainPropertyList("Algorithm", algorithms, es);
		ExplainPropertyList("Keys", keys, es);
	}
}

const CustomScanMethods aggregate_node_scan_methods = {
	.CustomName = "HpSort Aggregate",
	.CreateCustomScanState = aggregate_node_create_state,
};

static const CustomExecMethods aggregate_node_exec_methods = {
	.CustomName = "HpSort Aggregate",
	.BeginCustomScan = aggregate_node_begin,
	.ExecCustomScan = aggregate_node_exec,
	.EndCustomScan = aggregate_node_end,
	.ReScanCustomScan = aggregate_node_rescan,
	.EstimateDSMCustomScan = estimate_dsm,
	.InitializeDSMCustomScan = initialize_dsm,
	.ReInitializeDSMCustomScan = reinitialize_dsm,
	.InitializeWorkerCustomScan = initialize_worker,
	.ExplainCustomScan = aggregate_node_explain,
};
