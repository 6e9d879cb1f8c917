/*
 * aggregates.c
 *		hpsort_agg(), hpsort_runs_agg() and hpsort_support_keys_agg(): transition,
 *		combine, serialize, deserialize and final functions over one state.
 *
 * The state is a Sorter and a count of NULLs, in the aggregate context.  The state is never in
 * order itself, so the final functions only read it: aggregates over the same input share one
 * state, and window aggregates go on adding to it.  Only hpsort_support_keys_agg() gives its state
 * away, which SQL declares (FINALFUNC_MODIFY).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "executor/execParallel.h"
#include "fmgr.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "pg/column/column.h"
#include "pg/functions/functions.h"
#include "pg/sort_context.h"

PG_FUNCTION_INFO_V1(hpsort_support_agg_transfn);
PG_FUNCTION_INFO_V1(hpsort_support_agg_transfn_int2);
PG_FUNCTION_INFO_V1(hpsort_support_agg_transfn_int8);
PG_FUNCTION_INFO_V1(hpsort_support_agg_combine);
PG_FUNCTION_INFO_V1(hpsort_support_agg_serialize);
PG_FUNCTION_INFO_V1(hpsort_support_agg_deserialize);
PG_FUNCTION_INFO_V1(hpsort_support_agg_finalfn);
PG_FUNCTION_INFO_V1(hpsort_support_runs_agg_finalfn);
PG_FUNCTION_INFO_V1(hpsort_support_keys_agg_finalfn);

/*
 * What the states of one memory context share.  The executor has one context for each grouping
 * set; the transition function keeps a list of GroupContexts, one for each, in fn_extra.
 */
typedef struct GroupContext
{
	struct GroupContext *next;	/* of the same call, for another memory context */
	SortContext context;		/* of the sorters of all states */
	bool		ordered;		/* the call has an ORDER BY, which is order */
	SortOrder	order;
} GroupContext;

/* Returns the memory context of an aggregate's states.  An error if no aggregate calls. */
static MemoryContext
aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "aggregate function called in non-aggregate context");
	return context;
}

/*
 * Returns whether the call has an ORDER BY, and sets *order to its direction.
 *
 * The first sort column must be the aggregated argument: a state keeps keys only, so that
 * another order cannot be obeyed.  Further sort columns are ignored: they order rows with equal
 * keys, among which the result shows no difference.
 */
static bool
call_order(FunctionCallInfo fcinfo, SortOrder *order)
{
	Aggref	   *aggref = AggGetAggref(fcinfo);
	SortGroupClause *clause;
	TargetEntry *argument;
	HeapTuple	tuple;
	Oid			opfamily = InvalidOid;
	Oid			opcintype;
	bool		ours;

	if (aggref == NULL || aggref->aggorder == NIL)
		return false;
	/* Another aggregate may run this function by its OID: its ORDER BY is its own. */
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
	ours = HeapTupleIsValid(tuple) &&
		((Form_pg_aggregate) GETSTRUCT(tuple))->aggtransfn == fcinfo->flinfo->fn_oid;
	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	if (!ours)
		return false;

	clause = linitial_node(SortGroupClause, aggref->aggorder);
	argument = get_sortgroupclause_tle(clause, aggref->args);
	if (argument->resno != 1 ||
		!compat_ordering_op(clause->sortop, &opfamily, &opcintype, &order->descending) ||
		opfamily != lookup_type_cache(exprType((Node *) argument->expr),
									  TYPECACHE_BTREE_OPFAMILY)->btree_opf)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("aggregate %s can be ordered by its first argument only",
						get_func_name(aggref->aggfnoid)),
				 errhint("Leave ORDER BY out, or write %s(x ORDER BY x) or %s(x ORDER BY x DESC).",
						 get_func_name(aggref->aggfnoid), get_func_name(aggref->aggfnoid))));
	order->nulls_first = clause->nulls_first;
	return true;
}

/* Whether memory in context lives at least as long as memory in other. */
static bool
lives_as_long(MemoryContext context, MemoryContext other)
{
	while (other != NULL && other != context)
		other = MemoryContextGetParent(other);
	return other != NULL;
}

/*
 * Returns the GroupContext of aggcontext, which the first call makes.
 *
 * An extension that runs these functions by their OIDs may look them up anew for every row, in
 * memory that goes before aggcontext does.  Then fn_extra cannot hold the list, and each state
 * gets a GroupContext of its own in aggcontext.
 */
static const GroupContext *
group_context(FunctionCallInfo fcinfo, MemoryContext aggcontext)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	bool		shared = lives_as_long(flinfo->fn_mcxt, aggcontext);
	GroupContext *c;

	if (shared)
		for (c = (GroupContext *) flinfo->fn_extra; c != NULL; c = c->next)
			if (c->context.allocator.arena == aggcontext)
				return c;

	c = (GroupContext *) MemoryContextAllocZero(shared ? flinfo->fn_mcxt : aggcontext,
												sizeof(GroupContext));

	/* The leader merges partial states before anything is sorted. */
	if (IsA(fcinfo->context, AggState) &&
		DO_AGGSPLIT_SKIPFINAL(((AggState *) fcinfo->context)->aggsplit))
		pg_sort_context_partial(&c->context, aggcontext);
	else
		pg_sort_context(&c->context, aggcontext);
	c->ordered = call_order(fcinfo, &c->order);
	if (shared)
	{
		c->next = (GroupContext *) flinfo->fn_extra;
		flinfo->fn_extra = c;
	}
	return c;
}

/*
 * Whether the aggregate's result is the state itself, and this process makes it.  Of hpsort's
 * aggregates hpsort_support_keys_agg() alone returns a bytea.
 */
static bool
gives_state_away(FunctionCallInfo fcinfo)
{
	const Aggref *aggref = AggGetAggref(fcinfo);

	return aggref != NULL && aggref->aggtype == BYTEAOID &&
		!DO_AGGSPLIT_SKIPFINAL(aggref->aggsplit);
}

/*
 * Takes bounds and direction from the arguments of a row; without arguments for them there are
 * no bounds, and the direction is ascending.  If the call has an ORDER BY (ordered),
 * *descending is its direction on entry, which an argument must not contradict.
 */
static void
row_options(FunctionCallInfo fcinfo, bool ordered, int32 *lo, int32 *hi, bool *descending)
{
	*lo = PG_INT32_MIN;
	*hi = PG_INT32_MAX;
	if (PG_NARGS() > 2)
		sort_bounds_from_args(fcinfo, 2, lo, hi);
	if (PG_NARGS() > 4 && !PG_ARGISNULL(4))
	{
		if (ordered && PG_GETARG_BOOL(4) != *descending)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("argument descending contradicts ORDER BY")));
		*descending = PG_GETARG_BOOL(4);
	}
	else if (!ordered)
		*descending = false;
}

/* Makes the state of a group from the arguments of its first row, whose key is not added yet. */
static AggregateState *
first_row(FunctionCallInfo fcinfo)
{
	MemoryContext aggcontext = aggregate_context(fcinfo);
	const GroupContext *group;
	AggregateState *state;
	int32		lo;
	int32		hi;
	bool		descending;

	group = group_context(fcinfo, aggcontext);
	descending = group->order.descending;
	row_options(fcinfo, group->ordered, &lo, &hi, &descending);
	if (gives_state_away(fcinfo))
		return state_object_make(aggcontext, lo, hi);
	state = aggregate_state_make(&group->context, lo, hi, descending);
	if (group->ordered)
	{
		state->ordered = true;
		state->nulls_first = group->order.nulls_first;
	}
	return state;
}

/* Whether a row's bounds and direction are the state's: the usual case, decided inline. */
static inline bool
same_row_options(FunctionCallInfo fcinfo, const AggregateState *state)
{
	return !PG_ARGISNULL(2) && PG_GETARG_INT32(2) == state->sorter.lo &&
		!PG_ARGISNULL(3) && PG_GETARG_INT32(3) == state->sorter.hi &&
		(PG_NARGS() == 4 || (!PG_ARGISNULL(4) && PG_GETARG_BOOL(4) == state->descending));
}

/* An error unless the row's bounds and direction are those of the group's first row. */
static pg_noinline void
check_row_options(FunctionCallInfo fcinfo, const AggregateState *state)
{
	int32		lo;
	int32		hi;
	bool		descending = state->descending;

	row_options(fcinfo, state->ordered, &lo, &hi, &descending);
	if (lo != state->sorter.lo || hi != state->sorter.hi || descending != state->descending)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bounds and direction must be the same for all rows of a group")));
}

/*
 * Hands the keys that have been put one by one to the sorter.  Out of line, so that the caller,
 * add_row(), needs no room for an error on its stack.
 */
static pg_noinline void
flush_sorter(Sorter *sorter)
{
	SortError	err;

	pg_sort_check(sorter_flush(sorter, &err), &err);
}

/*
 * The transition function for an argument of a type: adds a row to its group, whose state it
 * makes if there is none.
 */
static inline Datum
add_row(FunctionCallInfo fcinfo, Oid type)
{
	AggregateState *state;

	if (unlikely(PG_ARGISNULL(0)))
		state = first_row(fcinfo);
	else
	{
		/* SQL has no values of type internal: only these functions make states. */
		state = (AggregateState *) PG_GETARG_POINTER(0);
		if (PG_NARGS() > 2 && !same_row_options(fcinfo, state))
			check_row_options(fcinfo, state);
	}

	if (PG_ARGISNULL(1))
		state->nulls++;
	else
	{
		Sorter	   *sorter = &state->sorter;

		if (sorter_is_full(sorter))
			flush_sorter(sorter);
		sorter_put_key(sorter, type == INT4OID ? PG_GETARG_INT32(1) :
					   column_key(type, PG_GETARG_DATUM(1)));
	}
	PG_RETURN_POINTER(state);
}

/*
 * (internal, int4 [, lo int4, hi int4 [, descending bool]]) returns internal: the transition
 * function, also for dates, with bounds that are dates, since a date is an int4 inside
 */
Datum
hpsort_support_agg_transfn(PG_FUNCTION_ARGS)
{
	return add_row(fcinfo, INT4OID);
}

/* (internal, int2 [, lo int4, hi int4 [, descending bool]]) returns internal: for int2 */
Datum
hpsort_support_agg_transfn_int2(PG_FUNCTION_ARGS)
{
	return add_row(fcinfo, INT2OID);
}

/* (internal, int8 [, lo int4, hi int4 [, descending bool]]) returns internal: for int8 */
Datum
hpsort_support_agg_transfn_int8(PG_FUNCTION_ARGS)
{
	return add_row(fcinfo, INT8OID);
}

/*
 * (internal, internal) returns internal: the combine function.  Adds the second state to the
 * first, or to a new one where the first is NULL; NULL only for two NULLs.  States with other
 * bounds or another direction are an error.
 */
Datum
hpsort_support_agg_combine(PG_FUNCTION_ARGS)
{
	AggregateState *state;
	AggregateState *other;
	MemoryContext aggcontext = aggregate_context(fcinfo);

	state = PG_ARGISNULL(0) ? NULL : (AggregateState *) PG_GETARG_POINTER(0);
	other = PG_ARGISNULL(1) ? NULL : (AggregateState *) PG_GETARG_POINTER(1);
	if (other == NULL)
	{
		if (state == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(state);
	}
	if (state == NULL && gives_state_away(fcinfo))
		state = state_object_make(aggcontext, other->sorter.lo, other->sorter.hi);
	else if (state == NULL)
		state = aggregate_state_make(&group_context(fcinfo, aggcontext)->context,
									 other->sorter.lo, other->sorter.hi, other->descending);
	else if (state->sorter.lo != other->sorter.lo || state->sorter.hi != other->sorter.hi ||
			 state->descending != other->descending)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bounds and direction must be the same for all rows of a group")));
	aggregate_state_add(state, other);
	PG_RETURN_POINTER(state);
}

/* (internal) returns bytea: what a worker sends of a state to the leader */
Datum
hpsort_support_agg_serialize(PG_FUNCTION_ARGS)
{
	(void) aggregate_context(fcinfo);
	return aggregate_state_serialize((AggregateState *) PG_GETARG_POINTER(0));
}

/*
 * Returns the shared memory of a query whose plan is an Agg over Gather over HpSort Aggregate,
 * which leaves its states there; else NULL. A bytea of any other node, a scan of another
 * server's rows for instance, must not say where a state is.
 */
static dsa_area *
gathered_area(FunctionCallInfo fcinfo)
{
	const PlanState *gather;
	const PlanState *node;

	if (!IsA(fcinfo->context, AggState))
		return NULL;
	gather = outerPlanState(fcinfo->context);
	if (gather == NULL || !IsA(gather, GatherState) || ((const GatherState *) gather)->pei == NULL)
		return NULL;
	node = outerPlanState(gather);
	if (!IsA(node, CustomScanState) ||
		strcmp(((const CustomScanState *) node)->methods->CustomName, "HpSort Aggregate") != 0)
		return NULL;
	return ((const GatherState *) gather)->pei->area;
}

/* (bytea, internal) returns internal: a worker's state, for the combine function only */
Datum
hpsort_support_agg_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *data;

	(void) aggregate_context(fcinfo);
	data = PG_GETARG_BYTEA_PP(0);
	PG_RETURN_POINTER(aggregate_state_receive(VARDATA_ANY(data), VARSIZE_ANY_EXHDR(data),
											  gathered_area(fcinfo)));
}

/* (internal) returns int4[], int2[], int8[] or date[]: the keys in order, with the NULLs */
Datum
hpsort_support_agg_finalfn(PG_FUNCTION_ARGS)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;

	(void) aggregate_context(fcinfo);
	/* Without rows the result is NULL, as that of array_agg. */
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();

	/*
	 * The type comes from the function, not from the expression of the call, which a caller by
	 * OID may not have.
	 */
	if (flinfo->fn_extra == NULL)
	{
		Oid			type = aggregate_array_type(get_func_rettype(flinfo->fn_oid));

		flinfo->fn_extra = MemoryContextAlloc(flinfo->fn_mcxt, sizeof(Oid));
		*(Oid *) flinfo->fn_extra = type;
	}
	return aggregate_state_array((AggregateState *) PG_GETARG_POINTER(0),
								 *(Oid *) flinfo->fn_extra, "hpsort_agg");
}

/* (internal) returns hpsort_run[]: the runs in order; fn_extra has a run's descriptor */
Datum
hpsort_support_runs_agg_finalfn(PG_FUNCTION_ARGS)
{
	(void) aggregate_context(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (fcinfo->flinfo->fn_extra == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);

		fcinfo->flinfo->fn_extra = run_array_type(get_func_rettype(fcinfo->flinfo->fn_oid));
		MemoryContextSwitchTo(old);
	}
	return aggregate_state_runs((AggregateState *) PG_GETARG_POINTER(0),
								(TupleDesc) fcinfo->flinfo->fn_extra);
}

/* (internal) returns bytea, which is the state itself (see functions.h) */
Datum
hpsort_support_keys_agg_finalfn(PG_FUNCTION_ARGS)
{
	AggregateState *state;

	(void) aggregate_context(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = (AggregateState *) PG_GETARG_POINTER(0);
	if (!state->object)
		elog(ERROR, "state is not that of hpsort_support_keys_agg");
	return state_object_datum(state);
}
