/*
 * gather_exec.c
 *		Custom Scan (HpSort Gather), the executor's half (see gather.h).
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

#include "aggregates.h"
#include "algorithms.h"
#include "column_reader.h"
#include "compat.h"
#include "gather.h"
#include "gather_query.h"
#include "gather_sources.h"
#include "pg_sorter.h"

/* One transition: aggregates of the same column and bounds share it. */
typedef struct GatherTransition
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
} GatherTransition;

/* One aggregate: a column of the scan tuple. */
typedef struct GatherOutput
{
	GatherKind	kind;
	bool		partial;		/* serialized, for Finalize Aggregate */
	int			state;
	TupleDesc	run_type;		/* of GATHER_RUNS */
	Oid			array_type;		/* of the elements, if it returns an array */
} GatherOutput;

typedef struct GatherScanState
{
	CustomScanState css;
	MemoryContext memory;		/* all below that depends on the rows */
	SortContext context;

	GatherSources sources;
	int			nstates;
	GatherTransition *states;
	int			noutputs;
	GatherOutput *outputs;

	bool		done;			/* the row has been returned */
} GatherScanState;

/* Bounds and direction, which depend on no row, but may on a parameter. */
static void
prepare_options(GatherScanState *gather, GatherTransition *state)
{
	const List *args = state->aggref->args;
	int			i;

	for (i = 1; i < list_length(args); i++)
		state->options[i - 1] = ExecInitExpr(list_nth_node(TargetEntry, args, i)->expr,
											 &gather->css.ss.ps);
}

static Datum
evaluate_option(GatherScanState *gather, const GatherTransition *state, int option, bool *isnull)
{
	return ExecEvalExprSwitchContext(state->options[option], gather->css.ss.ps.ps_ExprContext,
									 isnull);
}

/* As the transition functions read theirs; complaints wait for the first row. */
static void
read_options(GatherScanState *gather, GatherTransition *state)
{
	Datum		value;
	bool		isnull;

	state->lo = PG_INT32_MIN;
	state->hi = PG_INT32_MAX;
	state->descending = false;
	if (state->options[1])
	{
		value = evaluate_option(gather, state, 0, &isnull);
		if (!isnull)
			state->lo = DatumGetInt32(value);
		value = evaluate_option(gather, state, 1, &isnull);
		if (!isnull)
			state->hi = DatumGetInt32(value);
	}
	if (state->options[2])
	{
		value = evaluate_option(gather, state, 2, &isnull);
		state->descending = !isnull && DatumGetBool(value);
	}
}

/* --- life */

static const CustomExecMethods gather_exec_methods;

/*
 * The node of hpsort_query's own query has the same name, by which a plan that
 * was written and is read back finds its methods; it has a column as its result.
 */
static Node *
create_gather_state(CustomScan *scan)
{
	GatherScanState *gather;

	if (!IsA(linitial_node(TargetEntry, scan->custom_scan_tlist)->expr, Aggref))
		return gather_query_create_state(scan);
	gather = palloc0_object(GatherScanState);
	NodeSetTag(gather, T_CustomScanState);
	gather->css.methods = &gather_exec_methods;
	return (Node *) gather;
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
describe_outputs(GatherScanState *gather, CustomScan *scan)
{
	List	   *columns = linitial(scan->custom_private);
	int		   *transnos;
	ListCell   *lc;

	gather->outputs = palloc0_array(GatherOutput, list_length(scan->custom_scan_tlist));
	gather->states = palloc0_array(GatherTransition, list_length(scan->custom_scan_tlist));
	transnos = palloc_array(int, list_length(scan->custom_scan_tlist));
	foreach(lc, scan->custom_scan_tlist)
	{
		Aggref	   *aggref = castNode(Aggref, lfirst_node(TargetEntry, lc)->expr);
		GatherOutput *output = &gather->outputs[gather->noutputs++];
		int			i;

		output->kind = gather_kind(aggref);
		output->partial = DO_AGGSPLIT_SKIPFINAL(aggref->aggsplit);
		if (output->kind == GATHER_NONE)
			elog(ERROR, "aggregate %u is none of hpsort", aggref->aggfnoid);
		check_execute(aggref);
		if (output->kind == GATHER_RUNS && !output->partial)
			output->run_type = aggregate_run_type(aggref->aggtype);
		if (output->kind == GATHER_ARRAY && !output->partial)
			output->array_type = aggregate_array_type(aggref->aggtype);
		for (i = 0; i < gather->nstates && transnos[i] != aggref->aggtransno; i++)
			;
		if (i == gather->nstates)
		{
			AttrNumber	attnum = gather_argument(aggref)->varattno;

			transnos[gather->nstates++] = aggref->aggtransno;
			gather->states[i].aggref = aggref;
			while (list_nth_int(columns, gather->states[i].column) != attnum)
				gather->states[i].column++;
			prepare_options(gather, &gather->states[i]);
		}
		output->state = i;
	}
	pfree(transnos);
}

static void
begin_gather(CustomScanState *css, EState *estate, int eflags)
{
	GatherScanState *gather = (GatherScanState *) css;

	gather->memory = AllocSetContextCreate(estate->es_query_cxt, "HpSort Gather",
										   ALLOCSET_DEFAULT_SIZES);
	gather_sources_begin(&gather->sources, css, eflags);
	describe_outputs(gather, (CustomScan *) css->ss.ps.plan);
}

static void
end_gather(CustomScanState *css)
{
	GatherScanState *gather = (GatherScanState *) css;

	gather_sources_end(&gather->sources);
	MemoryContextDelete(gather->memory);
}

static void
rescan_gather(CustomScanState *css)
{
	GatherScanState *gather = (GatherScanState *) css;
	int			i;

	gather_sources_rescan(&gather->sources);
	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	for (i = 0; i < gather->nstates; i++)
		gather->states[i].state = NULL;
	MemoryContextReset(gather->memory);
	gather->done = false;
}

/* --- reading */

/* Adds a column's batch to a state, which the first row of all makes. */
static void
add_batch(GatherScanState *gather, GatherTransition *state, const ColumnBatch *batch)
{
	SortError	err;

	if (batch->n == 0 && batch->nulls == 0)
		return;
	if (state->state == NULL)
	{
		sort_bounds_check(state->lo, state->hi);
		state->state = aggregate_state_make(&gather->context, state->lo, state->hi,
											state->descending);
	}
	state->state->nulls += batch->nulls;
	pg_sort_check(sorter_add(&state->state->sorter, batch->keys, batch->n, &err), &err);
}

static void
add_batches(void *arg, const ColumnBatch *batches)
{
	GatherScanState *gather = (GatherScanState *) arg;
	int			i;

	for (i = 0; i < gather->nstates; i++)
		add_batch(gather, &gather->states[i], &batches[gather->states[i].column]);
}

/* The aggregates' values, into the scan tuple. */
static void
fill_outputs(GatherScanState *gather, TupleTableSlot *slot)
{
	int			i;

	for (i = 0; i < gather->noutputs; i++)
	{
		GatherOutput *output = &gather->outputs[i];
		AggregateState *state = gather->states[output->state].state;

		/* No rows: NULL, as array_agg, and also as a partial aggregate. */
		slot->tts_isnull[i] = state == NULL;
		if (state == NULL)
			slot->tts_values[i] = (Datum) 0;
		else if (output->partial)
			slot->tts_values[i] = aggregate_state_serialize(state);
		else if (output->kind == GATHER_ARRAY)
			slot->tts_values[i] = aggregate_state_array(state, output->array_type);
		else
			slot->tts_values[i] = aggregate_state_runs(state, output->run_type);
	}
	for (i = 0; i < gather->nstates; i++)
	{
		GatherTransition *state = &gather->states[i];

		state->sorted = state->state != NULL;
		if (!state->sorted)
			continue;
		pg_sort_stats(&state->state->sorter, NULL, &state->stats);
		/* The results are copies. */
		sorter_reset(&state->state->sorter);
	}
}

static TupleTableSlot *
exec_gather(CustomScanState *css)
{
	GatherScanState *gather = (GatherScanState *) css;
	ExprContext *econtext = css->ss.ps.ps_ExprContext;
	TupleTableSlot *slot = css->ss.ss_ScanTupleSlot;
	MemoryContext old;
	int			i;

	if (gather->done)
		return NULL;
	gather->done = true;

	ResetExprContext(econtext);
	for (i = 0; i < gather->nstates; i++)
		read_options(gather, &gather->states[i]);
	old = MemoryContextSwitchTo(gather->memory);
	if (gather->outputs[0].partial)
		pg_sort_context_partial(&gather->context, gather->memory);
	else
		pg_sort_context(&gather->context, gather->memory);
	gather_sources_read(&gather->sources, add_batches, gather);
	ExecClearTuple(slot);
	fill_outputs(gather, slot);
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
	return gather_sources_estimate(&((GatherScanState *) css)->sources);
}

static void
initialize_dsm(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	gather_sources_share(&((GatherScanState *) css)->sources, coordinate);
}

static void
reinitialize_dsm(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	gather_sources_reshare(&((GatherScanState *) css)->sources);
}

static void
initialize_worker(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	gather_sources_attach(&((GatherScanState *) css)->sources, coordinate);
}

/* --- EXPLAIN */

static void
explain_gather(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GatherScanState *gather = (GatherScanState *) css;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, css->ss.ps.plan, ancestors);
	bool		prefix = compat_explain_prefix(es);
	List	   *columns = NIL;
	List	   *algorithms = NIL;
	List	   *keys = NIL;
	int			c;

	for (c = 0; c < gather->sources.ncolumns; c++)
	{
		GatherTransition *state = gather->states;
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
	gather_sources_explain(&gather->sources, ancestors, es);
	/* Partial results are sorted by the leader, which is not us. */
	if (es->analyze && algorithms != NIL && !gather->outputs[0].partial)
	{
		ExplainPropertyList("Algorithm", algorithms, es);
		ExplainPropertyList("Keys", keys, es);
	}
}

const CustomScanMethods gather_scan_methods = {
	.CustomName = "HpSort Gather",
	.CreateCustomScanState = create_gather_state,
};

static const CustomExecMethods gather_exec_methods = {
	.CustomName = "HpSort Gather",
	.BeginCustomScan = begin_gather,
	.ExecCustomScan = exec_gather,
	.EndCustomScan = end_gather,
	.ReScanCustomScan = rescan_gather,
	.EstimateDSMCustomScan = estimate_dsm,
	.InitializeDSMCustomScan = initialize_dsm,
	.ReInitializeDSMCustomScan = reinitialize_dsm,
	.InitializeWorkerCustomScan = initialize_worker,
	.ExplainCustomScan = explain_gather,
};
