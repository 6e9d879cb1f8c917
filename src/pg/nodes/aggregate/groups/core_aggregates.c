/*
 * core_aggregates.c
 *		Aggregates by core's own functions (see core_aggregates.h).
 *
 * Core has no function that initializes or finalizes a single group's states for others:
 * begin_states and core_aggregates_value do what initialize_aggregate and finalize_aggregate of
 * nodeAgg.c do, for aggregates without an order, without direct arguments, and never partial.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/nodeAgg.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/datum.h"
#include "utils/expandeddatum.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/groups/core_aggregates.h"

/* How many groups are made before their memory is looked at again. */
#define GROUPS_PER_LOOK 64

struct CoreAggregates
{
	CoreDescription description;
	AggState   *agg;			/* core's node */
	TupleTableSlot *slot;		/* of a row: inputs, then filters */

	/* --- of an execution */
	MemoryContext memory;		/* of groups; what states point to is in agg's */
	size_t		memory_limit;
	bool		full;			/* no more groups are made */
	GroupTable *table;			/* NULL without grouping columns */
	uint32		ngroups;
	uint32		room;			/* groups for which states has room */
	AggStatePerGroup *states;	/* by group */
	uint32		numbers[COLUMN_BATCH_KEYS]; /* by row of the batch: the number of its group */
};

/* --- describing */

/*
 * Returns the number of the state of aggregate i.  Those that share a state in the planner's
 * numbering share it here.
 */
static int
state_number(const CoreDescription *description, int i)
{
	List	   *states = NIL;

	foreach_node(Aggref, aggref, description->aggrefs)
		states = list_append_unique_int(states, aggref->aggtransno);
	foreach_int(state, states)
	{
		if (state == list_nth_node(Aggref, description->aggrefs, i)->aggtransno)
			return foreach_current_index(state);
	}
	pg_unreachable();
}

/* Returns the call of aggregate i as the Agg node has it. */
static Aggref *
make_call(const CoreDescription *description, int i)
{
	const Aggref *original = list_nth_node(Aggref, description->aggrefs, i);
	Aggref	   *call = copyObject(unconstify(Aggref *, original));

	call->args = (List *) row_inputs_refer(description->inputs, (Node *) call->args);
	/* The filter has been evaluated. */
	call->aggfilter = NULL;
	if (list_nth_int(description->filters, i) >= 0)
		call->aggfilter = (Expr *) makeVar(OUTER_VAR, description->ninputs + i + 1, BOOLOID, -1,
										   InvalidOid, 0);
	call->aggno = i;
	call->aggtransno = state_number(description, i);
	return call;
}

/* Makes the plan of the Agg node, over one that says which types a row has. */
static Plan *
make_plan(const CoreDescription *description)
{
	Agg		   *agg = makeNode(Agg);
	Result	   *result = makeNode(Result);
	List	   *columns = NIL;

	for (int i = 0; i < description->ninputs; i++)
	{
		const Var  *column = description->inputs[i].column;
		Const	   *value = makeNullConst(column->vartype, column->vartypmod, column->varcollid);

		columns = lappend(columns, makeTargetEntry((Expr *) value, i + 1, NULL, false));
	}
	for (int i = 0; i < list_length(description->aggrefs); i++)
	{
		columns = lappend(columns, makeTargetEntry((Expr *) makeBoolConst(false, true),
												   description->ninputs + i + 1, NULL, false));
		agg->plan.targetlist = lappend(agg->plan.targetlist,
									   makeTargetEntry((Expr *) make_call(description, i), i + 1,
													   NULL, false));
	}
	result->plan.targetlist = columns;
	agg->plan.lefttree = (Plan *) result;
	agg->aggstrategy = AGG_PLAIN;
	agg->aggsplit = AGGSPLIT_SIMPLE;
	agg->numGroups = 1;
	return (Plan *) agg;
}

CoreAggregates *
core_aggregates_make(PlanState *parent, int eflags, const CoreDescription *description)
{
	CoreAggregates *core = palloc0_object(CoreAggregates);

	core->description = *description;
	core->agg = castNode(AggState, ExecInitNode(make_plan(&core->description), parent->state,
												eflags));
	core->slot = MakeSingleTupleTableSlot(ExecGetResultType(outerPlanState(core->agg)),
										  &TTSOpsVirtual);
	ExecStoreAllNullTuple(core->slot);
	return core;
}

void
core_aggregates_end(CoreAggregates *core)
{
	ExecEndNode(&core->agg->ss.ps);
}

/* --- groups */

/* Returns the states of a group before its first row. */
static AggStatePerGroup
begin_states(CoreAggregates *core)
{
	AggState   *agg = core->agg;
	AggStatePerGroup states = MemoryContextAllocZero(core->memory, Max(agg->numtrans, 1) *
													 sizeof(AggStatePerGroupData));
	MemoryContext old =
	MemoryContextSwitchTo(agg->aggcontexts[0]->ecxt_per_tuple_memory);

	for (int t = 0; t < agg->numtrans; t++)
	{
		const AggStatePerTransData *trans = &agg->pertrans[t];

		states[t].transValue = trans->initValueIsNull ? (Datum) 0 :
			datumCopy(trans->initValue, trans->transtypeByVal, trans->transtypeLen);
		states[t].transValueIsNull = trans->initValueIsNull;
		states[t].noTransValue = trans->initValueIsNull;
	}
	MemoryContextSwitchTo(old);
	return states;
}

/* Makes the states of the next group. */
static void
add_group(CoreAggregates *core)
{
	if (core->ngroups == core->room)
	{
		uint32		room = core->room > 0 ? 2 * core->room : 64;

		core->states = core->states ?
			repalloc_huge(core->states, room * sizeof(AggStatePerGroup)) :
			MemoryContextAllocHuge(core->memory, room * sizeof(AggStatePerGroup));
		core->room = room;
	}
	core->states[core->ngroups] = begin_states(core);
	if (core->ngroups % GROUPS_PER_LOOK == GROUPS_PER_LOOK - 1)
		core->full = MemoryContextMemAllocated(core->memory, true) +
			core_aggregates_memory(core) > core->memory_limit;
	core->ngroups++;
}

void
core_aggregates_begin(CoreAggregates *core, const GroupColumn *columns, int ncolumns,
					  size_t memory_limit)
{
	MemoryContext old;

	core_aggregates_free(core);
	core->memory = AllocSetContextCreate(CurrentMemoryContext, "HpSort Aggregate core's states",
										 ALLOCSET_DEFAULT_SIZES);
	core->memory_limit = memory_limit;
	old = MemoryContextSwitchTo(core->memory);
	if (ncolumns > 0)
		core->table = group_table_make(columns, ncolumns);
	else
		add_group(core);
	MemoryContextSwitchTo(old);
}

void
core_aggregates_free(CoreAggregates *core)
{
	/* Calls what functions have registered. */
	ReScanExprContext(core->agg->aggcontexts[0]);
	if (core->memory)
		MemoryContextDelete(core->memory);
	core->memory = NULL;
	core->table = NULL;
	core->states = NULL;
	core->ngroups = core->room = 0;
	core->full = false;
}

size_t
core_aggregates_memory(const CoreAggregates *core)
{
	return MemoryContextMemAllocated(core->agg->aggcontexts[0]->ecxt_per_tuple_memory, true);
}

int
core_aggregates_find(CoreAggregates *core, const ColumnBatch *batches)
{
	size_t		n = batches[0].n;
	int			nrefused = 0;

	if (core->table == NULL)
		return 0;
	group_table_load(core->table, batches);
	for (size_t i = 0; i < n; i++)
	{
		core->numbers[i] = group_table_find(core->table, i, !core->full);
		if (core->numbers[i] == core->ngroups)
			add_group(core);
		nrefused += core->numbers[i] == NO_GROUP;
	}
	return nrefused;
}

bool
core_aggregates_refuses(const CoreAggregates *core, size_t row, uint32 *hash)
{
	*hash = group_table_hash(core->table, row);
	return core->numbers[row] == NO_GROUP;
}

/* --- rows and results */

void
core_aggregates_add(CoreAggregates *core, const ColumnBatch *batches)
{
	const CoreDescription *description = &core->description;
	AggState   *agg = core->agg;
	size_t		n = batches[0].n;

	agg->tmpcontext->ecxt_outertuple = core->slot;
	for (size_t i = 0; i < n; i++)
	{

		CHECK_FOR_INTERRUPTS();
		row_inputs_store(description->inputs, description->ninputs, batches, i,
						 agg->tmpcontext->ecxt_per_tuple_memory, core->slot);
		foreach_int(filter, description->filters)
		{
			int			column = description->ninputs + foreach_current_index(filter);

			core->slot->tts_isnull[column] = false;
			core->slot->tts_values[column] = BoolGetDatum(filter < 0 ||
														  batches[filter].nnulls == 0 ||
														  !batches[filter].nulls[i]);
		}
		agg->all_pergroups[0] = core->states[core->table ? core->numbers[i] : 0];
		ExecEvalExprNoReturnSwitchContext(agg->phase->evaltrans, agg->tmpcontext);
		ResetExprContext(agg->tmpcontext);
	}
}

/* Returns the states of a group that has rows. */
static AggStatePerGroup
states_of(CoreAggregates *core, const GroupValues *group)
{
	uint32		number = core->table ? group_table_find_values(core->table, group, false) : 0;

	if (number == NO_GROUP)
		elog(ERROR, "group has no states");
	return core->states[number];
}

Datum
core_aggregates_value(CoreAggregates *core, const GroupValues *group, int aggregate, bool *isnull)
{
	LOCAL_FCINFO(fcinfo, FUNC_MAX_ARGS);
	AggState   *agg = core->agg;
	AggStatePerAggData *call = &agg->peragg[aggregate];
	const AggStatePerTransData *trans = &agg->pertrans[call->transno];
	const AggStatePerGroupData *state = &states_of(core, group)[call->transno];
	Datum		value = MakeExpandedObjectReadOnly(state->transValue, state->transValueIsNull,
												   trans->transtypeLen);
	bool		anynull = state->transValueIsNull;

	*isnull = state->transValueIsNull;
	if (!OidIsValid(call->finalfn_oid))
		return value;
	agg->curperagg = call;
	InitFunctionCallInfoData(*fcinfo, &call->finalfn, call->numFinalArgs, trans->aggCollation,
							 (void *) agg, NULL);
	fcinfo->args[0].value = value;
	fcinfo->args[0].isnull = state->transValueIsNull;
	for (int i = 1; i < call->numFinalArgs; i++)
	{
		fcinfo->args[i].value = (Datum) 0;
		fcinfo->args[i].isnull = true;
		anynull = true;
	}
	*isnull = fcinfo->flinfo->fn_strict && anynull;
	value = (Datum) 0;
	if (!*isnull)
	{
		value = FunctionCallInvoke(fcinfo);
		*isnull = fcinfo->isnull;
		value = MakeExpandedObjectReadOnly(value, fcinfo->isnull, call->resulttypeLen);
	}
	agg->curperagg = NULL;
	return value;
}
