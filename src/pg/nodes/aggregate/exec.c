/*
 * exec.c
 *		Custom Scan (HpSort Aggregate), the executor half (see node.h).
 *
 * At its first call the node reads all tables into one aggregate state for each
 * transition that the planner has found (aggtransno), and returns its one row.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "nodes/extensible.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

#include "pg/compat.h"
#include "pg/functions/functions.h"
#include "pg/last_sort.h"
#include "pg/multiset/multiset.h"
#include "pg/nodes/aggregate/groups_state.h"
#include "pg/sort_context.h"
#include "sort/algorithms.h"

/* One transition: aggregates with the same arguments share it. */
typedef struct AggregateTransition
{
	const Aggref *aggref;		/* one of these aggregates */
	ExprState  *options[3];		/* lower and upper bound, direction, if given */
	int			column;			/* index in AGGREGATE_PLAN_COLUMNS */
	int32		lo;
	int32		hi;
	bool		descending;
	bool		given_away;		/* the state is the result */
	AggregateState *state;		/* NULL: no rows yet */
	bool		sorted;			/* stats are set, for EXPLAIN */
	SorterStats stats;
} AggregateTransition;

/* One aggregate: a column of the scan tuple. */
typedef struct AggregateOutput
{
	AggregateKind kind;
	bool		partial;		/* serialized, for Finalize Aggregate */
	int			transition;
	TupleDesc	run_type;		/* of AGGREGATE_RUNS */
	Oid			array_type;		/* of the elements, if it returns an array */
} AggregateOutput;

typedef struct HpSortAggregateState
{
	CustomScanState css;
	MemoryContext memory;		/* of the aggregate states and results */
	SortContext context;
	SortContext cpu_context;	/* of partial multisets, which a worker puts in order itself */

	AggregateSources sources;
	int			ntransitions;
	AggregateTransition *transitions;
	int			noutputs;
	AggregateOutput *outputs;

	bool		done;			/* the row has been returned */
} HpSortAggregateState;

/* Bounds and direction, which may depend on a parameter but not on a row. */
static void
prepare_options(HpSortAggregateState *node, AggregateTransition *transition)
{
	const List *args = transition->aggref->args;
	int			i;

	for (i = 1; i < list_length(args); i++)
		transition->options[i - 1] = ExecInitExpr(list_nth_node(TargetEntry, args, i)->expr,
												  &node->css.ss.ps);
}

static Datum
evaluate_option(HpSortAggregateState *node, const AggregateTransition *transition, int option,
				bool *isnull)
{
	return ExecEvalExprSwitchContext(transition->options[option],
									 node->css.ss.ps.ps_ExprContext, isnull);
}

/*
 * Evaluates the options as the transition functions do, with the first row: without rows they
 * are not evaluated, and wrong bounds are no error.
 */
static void
read_options(HpSortAggregateState *node, AggregateTransition *transition)
{
	Datum		value;
	bool		isnull;

	transition->lo = PG_INT32_MIN;
	transition->hi = PG_INT32_MAX;
	transition->descending = false;
	if (transition->options[1])
	{
		value = evaluate_option(node, transition, 0, &isnull);
		if (!isnull)
			transition->lo = DatumGetInt32(value);
		value = evaluate_option(node, transition, 1, &isnull);
		if (!isnull)
			transition->hi = DatumGetInt32(value);
	}
	if (transition->options[2])
	{
		value = evaluate_option(node, transition, 2, &isnull);
		transition->descending = !isnull && DatumGetBool(value);
	}
	sort_bounds_check(transition->lo, transition->hi);
}

/* --- begin, end, rescan */

static const CustomExecMethods exec_methods;

/*
 * One CustomScanMethods serves all uses of the node (see node.h), because plans
 * sent to workers find it by its name, which EXPLAIN shows.
 */
static Node *
create_state(CustomScan *scan)
{
	HpSortAggregateState *node;

	if (list_length(scan->custom_private) == GROUPS_PLAN_Count)
		return groups_exec_create_state(scan);
	node = palloc0_object(HpSortAggregateState);
	NodeSetTag(node, T_CustomScanState);
	node->css.methods = &exec_methods;
	return (Node *) node;
}

/* Sets up the outputs, and the transitions that they share. */
static void
describe_outputs(HpSortAggregateState *node, CustomScan *scan)
{
	List	   *columns = list_nth(scan->custom_private, AGGREGATE_PLAN_COLUMNS);
	int		   *transnos;
	ListCell   *lc;

	node->outputs = palloc0_array(AggregateOutput, list_length(scan->custom_scan_tlist));
	node->transitions = palloc0_array(AggregateTransition, list_length(scan->custom_scan_tlist));
	transnos = palloc_array(int, list_length(scan->custom_scan_tlist));
	foreach(lc, scan->custom_scan_tlist)
	{
		Aggref	   *aggref = castNode(Aggref, lfirst_node(TargetEntry, lc)->expr);
		AggregateOutput *output = &node->outputs[node->noutputs++];
		int			i;

		output->kind = aggref_kind(aggref);
		output->partial = DO_AGGSPLIT_SKIPFINAL(aggref->aggsplit);
		if (output->kind == AGGREGATE_NONE)
			elog(ERROR, "aggregate %u is none of hpsort", aggref->aggfnoid);
		aggregate_check_execute(aggref);
		if (output->kind == AGGREGATE_RUNS && !output->partial)
			output->run_type = run_array_type(aggref->aggtype);
		if (output->kind == AGGREGATE_ARRAY && !output->partial)
			output->array_type = aggregate_array_type(aggref->aggtype);
		for (i = 0; i < node->ntransitions && transnos[i] != aggref->aggtransno; i++)
			;
		if (i == node->ntransitions)
		{
			AttrNumber	attnum = aggref_column(aggref)->varattno;

			transnos[node->ntransitions++] = aggref->aggtransno;
			node->transitions[i].aggref = aggref;
			while (list_nth_int(columns, node->transitions[i].column) != attnum)
				node->transitions[i].column++;
			prepare_options(node, &node->transitions[i]);
		}
		output->transition = i;
		if (output->kind == AGGREGATE_KEYS && !output->partial)
			node->transitions[i].given_away = true;
	}
	pfree(transnos);
}

static void
begin_aggregate(CustomScanState *css, EState *estate, int eflags)
{
	HpSortAggregateState *node = (HpSortAggregateState *) css;

	node->memory = AllocSetContextCreate(estate->es_query_cxt, "HpSort Aggregate",
										 ALLOCSET_DEFAULT_SIZES);
	aggregate_sources_begin(&node->sources, css, eflags, true, 0);
	node->sources.runs = true;
	describe_outputs(node, (CustomScan *) css->ss.ps.plan);
}

static void
end_aggregate(CustomScanState *css)
{
	HpSortAggregateState *node = (HpSortAggregateState *) css;

	aggregate_sources_end(&node->sources);
	MemoryContextDelete(node->memory);
}

static void
rescan_aggregate(CustomScanState *css)
{
	HpSortAggregateState *node = (HpSortAggregateState *) css;
	int			i;

	aggregate_sources_rescan(&node->sources);
	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	for (i = 0; i < node->ntransitions; i++)
		node->transitions[i].state = NULL;
	MemoryContextReset(node->memory);
	node->done = false;
}

/* --- reading */

/* Adds a column's batch to a transition's state, which is made at the first row. */
static void
add_batch_to_state(HpSortAggregateState *node, AggregateTransition *transition,
				   const ColumnBatch *batch)
{
	Sorter	   *sorter;
	SortStatus	status;
	SortError	err;

	if (batch->n == 0 && batch->nnulls == 0)
		return;
	if (transition->state == NULL)
	{
		read_options(node, transition);
		if (transition->given_away)
			transition->state = state_object_make(node->memory, transition->lo, transition->hi);
		else
			transition->state = aggregate_state_make(&node->context, transition->lo,
													 transition->hi, transition->descending);
	}
	transition->state->nulls += batch->nnulls;
	sorter = &transition->state->sorter;
	if (batch->runs)
		status = sorter_add_runs(sorter, batch->runs->keys, batch->runs->counts, batch->runs->len,
								 &err);
	else if (batch->packed.n > 0)
		status = sorter_add_packed(sorter, &batch->packed, &err);
	else if (batch->nnulls == 0)
		status = sorter_add(sorter, batch->keys, batch->n, &err);
	else
	{
		int32		keys[COLUMN_BATCH_KEYS];

		status = sorter_add(sorter, keys, column_batch_copy_keys(batch, keys), &err);
	}
	pg_sort_check(status, &err);
}

/* A ColumnConsume. */
static void
add_batches_to_states(void *arg, const ColumnBatch *batches)
{
	HpSortAggregateState *node = (HpSortAggregateState *) arg;
	int			i;

	for (i = 0; i < node->ntransitions; i++)
		add_batch_to_state(node, &node->transitions[i], &batches[node->transitions[i].column]);
}

/* A multiset is what the aggregate returns, and its state for another process. */
static Datum
multiset_state(AggregateState *state)
{
	Datum		value = PointerGetDatum(multiset_sorter_flat(&state->sorter));

	last_sort_record("int4multiset_agg", &state->sorter, NULL, state->nulls);
	return value;
}

/* Puts the aggregates' values into the scan tuple, and notes what EXPLAIN shows. */
static void
fill_outputs(HpSortAggregateState *node, TupleTableSlot *slot)
{
	int			i;

	for (i = 0; i < node->noutputs; i++)
	{
		AggregateOutput *output = &node->outputs[i];
		AggregateState *state = node->transitions[output->transition].state;

		/* Without rows an aggregate is NULL, also a partial one. */
		slot->tts_isnull[i] = state == NULL;
		if (state == NULL)
			slot->tts_values[i] = (Datum) 0;
		else if (output->kind == AGGREGATE_MULTISET)
		{
			if (output->partial)
				state->sorter.context = &node->cpu_context;
			slot->tts_values[i] = multiset_state(state);
		}
		else if (output->partial)
			slot->tts_values[i] = aggregate_state_share(state, node->css.ss.ps.state->es_query_dsa);
		else if (output->kind == AGGREGATE_KEYS)
			slot->tts_values[i] = state_object_datum(state);
		else if (output->kind == AGGREGATE_ARRAY)
			slot->tts_values[i] = aggregate_state_array(state, output->array_type, "hpsort_agg");
		else
			slot->tts_values[i] = aggregate_state_runs(state, output->run_type);
	}
	for (i = 0; i < node->ntransitions; i++)
	{
		AggregateTransition *transition = &node->transitions[i];

		transition->sorted = transition->state != NULL && !transition->given_away;
		if (!transition->sorted)
			continue;
		pg_sort_stats(&transition->state->sorter, NULL, &transition->stats);
		/* The results are copies, which outlive the sorter, unless this process receives them. */
		if (!node->outputs[0].partial || IsParallelWorker())
			sorter_reset(&transition->state->sorter);
	}
}

static TupleTableSlot *
exec_aggregate(CustomScanState *css)
{
	HpSortAggregateState *node = (HpSortAggregateState *) css;
	ExprContext *econtext = css->ss.ps.ps_ExprContext;
	TupleTableSlot *slot = css->ss.ss_ScanTupleSlot;
	MemoryContext old;

	if (node->done)
		return NULL;
	node->done = true;

	ResetExprContext(econtext);
	old = MemoryContextSwitchTo(node->memory);
	if (node->outputs[0].partial)
	{
		pg_sort_context_partial(&node->context, node->memory);
		pg_sort_context_lenient(&node->cpu_context, node->memory, false);
	}
	else
		pg_sort_context(&node->context, node->memory);
	aggregate_sources_read(&node->sources, add_batches_to_states, node);
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
	return aggregate_sources_estimate_dsm(&((HpSortAggregateState *) css)->sources);
}

static void
initialize_dsm(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	aggregate_sources_initialize_dsm(&((HpSortAggregateState *) css)->sources, coordinate);
}

static void
reinitialize_dsm(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	aggregate_sources_reinitialize_dsm(&((HpSortAggregateState *) css)->sources);
}

static void
initialize_worker(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	aggregate_sources_initialize_worker(&((HpSortAggregateState *) css)->sources, coordinate);
}

static void
shutdown_aggregate(CustomScanState *css)
{
	aggregate_sources_shutdown(&((HpSortAggregateState *) css)->sources);
}

/* --- EXPLAIN */

static void
explain_aggregate(CustomScanState *css, List *ancestors, ExplainState *es)
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
		AggregateTransition *transition = node->transitions;
		Expr	   *column;

		/* One line for a column, by the first of its transitions. */
		while (transition->column != c)
			transition++;
		column = linitial_node(TargetEntry, transition->aggref->args)->expr;
		columns = lappend(columns, deparse_expression((Node *) column, context, prefix, false));
		if (!transition->sorted)
			continue;
		algorithms = lappend(algorithms,
							 psprintf("%s on %s",
									  sort_algorithm_name(transition->stats.plan.algorithm),
									  sort_device_name(transition->stats.plan.device)));
		keys = lappend(keys, psprintf(UINT64_FORMAT, transition->stats.n));
	}
	ExplainPropertyList("Sort Key", columns, es);
	aggregate_sources_explain(&node->sources, ancestors, es);
	/* Partial results are sorted above the node, by the leader. */
	if (es->analyze && algorithms != NIL && !node->outputs[0].partial)
	{
		ExplainPropertyList("Algorithm", algorithms, es);
		ExplainPropertyList("Keys", keys, es);
	}
}

const CustomScanMethods aggregate_scan_methods = {
	.CustomName = "HpSort Aggregate",
	.CreateCustomScanState = create_state,
};

static const CustomExecMethods exec_methods = {
	.CustomName = "HpSort Aggregate",
	.BeginCustomScan = begin_aggregate,
	.ExecCustomScan = exec_aggregate,
	.EndCustomScan = end_aggregate,
	.ReScanCustomScan = rescan_aggregate,
	.EstimateDSMCustomScan = estimate_dsm,
	.InitializeDSMCustomScan = initialize_dsm,
	.ReInitializeDSMCustomScan = reinitialize_dsm,
	.InitializeWorkerCustomScan = initialize_worker,
	.ShutdownCustomScan = shutdown_aggregate,
	.ExplainCustomScan = explain_aggregate,
};
