/*
 * hpsort_test.c
 *		Another extension, as hpsort may meet one: it answers for a table in
 *		the planner, and runs aggregates by the OIDs of their functions, also in parts.
 *
 * hpsort_test.table is the OID of the table that it answers for, and
 * hpsort_test.answer what the planner gets to see instead of that table.
 */
#include "postgres.h"

#include <limits.h>

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/expandeddatum.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(hpsort_test_agg_transfn);
PG_FUNCTION_INFO_V1(hpsort_test_agg_combinefn);
PG_FUNCTION_INFO_V1(hpsort_test_agg_statefn);
PG_FUNCTION_INFO_V1(hpsort_test_agg_finalfn);

void		_PG_init(void);

typedef enum Answer
{
	ANSWER_TABLE,				/* the table itself */
	ANSWER_FUNCTION,			/* generate_series(1, 3) */
	ANSWER_OTHER,				/* the table hpsort_test.other */
	ANSWER_FILTERED,			/* its rows whose first column is positive */
	ANSWER_NOTHING,				/* no rows, as of an excluded partition */
	ANSWER_INDEX				/* the table by its indexes, as a hint wants it */
} Answer;

static const struct config_enum_entry answers[] = {
	{"table", ANSWER_TABLE, false},
	{"function", ANSWER_FUNCTION, false},
	{"other", ANSWER_OTHER, false},
	{"filtered", ANSWER_FILTERED, false},
	{"nothing", ANSWER_NOTHING, false},
	{"index", ANSWER_INDEX, false},
	{NULL, 0, false}
};

static int	answer = ANSWER_TABLE;
static int	table = 0;
static int	other = 0;

/* PostgreSQL 19 tells planner hooks which EXPLAIN they plan for. */
#if PG_VERSION_NUM >= 190000
#define EXPLAIN_PARAMETER , ExplainState *es
#define EXPLAIN_ARGUMENT , es
#else
#define EXPLAIN_PARAMETER
#define EXPLAIN_ARGUMENT
#endif

static planner_hook_type previous_planner_hook = NULL;
static set_rel_pathlist_hook_type previous_pathlist_hook = NULL;

static Expr *
int4_const(int32 value)
{
	return (Expr *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(value),
							  false, true);
}

static void
answer_for(Query *parse, RangeTblEntry *rte, Index rti)
{
	RangeTblFunction *function;
	Node	   *positive;

	switch ((Answer) answer)
	{
		case ANSWER_FUNCTION:
			function = makeNode(RangeTblFunction);
			function->funcexpr = (Node *)
				makeFuncExpr(F_GENERATE_SERIES_INT4_INT4, INT4OID,
							 list_make2(int4_const(1), int4_const(3)),
							 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
			((FuncExpr *) function->funcexpr)->funcretset = true;
			function->funccolcount = 1;
			rte->rtekind = RTE_FUNCTION;
			rte->functions = list_make1(function);
			rte->inh = false;
			rte->relid = InvalidOid;
			rte->relkind = 0;
#if PG_VERSION_NUM >= 160000
			rte->perminfoindex = 0;
#endif
			break;
		case ANSWER_OTHER:
			/* Who names a table locks it: the parser has not seen this one. */
			LockRelationOid((Oid) other, AccessShareLock);
			rte->relid = (Oid) other;
#if PG_VERSION_NUM >= 160000
			list_nth_node(RTEPermissionInfo, parse->rteperminfos, rte->perminfoindex - 1)->relid = rte->relid;
#endif
			break;
		case ANSWER_FILTERED:
			positive = (Node *) make_opclause(Int4LessOperator, BOOLOID, false, int4_const(0),
											  (Expr *) makeVar(rti, 1, INT4OID, -1, InvalidOid, 0),
											  InvalidOid, InvalidOid);
			((OpExpr *) positive)->opfuncid = F_INT4LT;
			parse->jointree->quals = positive;
			break;
		default:
			break;
	}
}

/* Answers for the table wherever a query or a subquery of it reads it. */
static void
answer_in(Query *parse)
{
	ListCell   *lc;
	Index		rti = 0;

	foreach(lc, parse->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		rti++;
		if (rte->rtekind == RTE_SUBQUERY)
			answer_in(rte->subquery);
		else if (rte->rtekind == RTE_RELATION && rte->relid == (Oid) table)
			answer_for(parse, rte, rti);
	}
}

static PlannedStmt *
test_planner(Query *parse, const char *query_string, int options, ParamListInfo params EXPLAIN_PARAMETER)
{
	answer_in(parse);
	return previous_planner_hook ? previous_planner_hook(parse, query_string, options, params EXPLAIN_ARGUMENT)
		: standard_planner(parse, query_string, options, params EXPLAIN_ARGUMENT);
}

static void
test_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	if (previous_pathlist_hook)
		previous_pathlist_hook(root, rel, rti, rte);
	if (rte->rtekind != RTE_RELATION || rte->relid != (Oid) table)
		return;
	if (answer == ANSWER_NOTHING)
		mark_dummy_rel(rel);
	else if (answer == ANSWER_INDEX)
	{
		/* As pg_hint_plan enforces a hint: all paths are made anew, without the others. */
		list_free_deep(rel->pathlist);
		list_free_deep(rel->partial_pathlist);
		rel->pathlist = NIL;
		rel->partial_pathlist = NIL;
		create_index_paths(root, rel);
	}
}

void
_PG_init(void)
{
	DefineCustomEnumVariable("hpsort_test.answer", "What the planner sees.", NULL,
							 &answer, ANSWER_TABLE, answers, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("hpsort_test.table", "The table to answer for.", NULL,
							&table, 0, 0, INT_MAX, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("hpsort_test.other", "The table that answers.", NULL,
							&other, 0, 0, INT_MAX, PGC_USERSET, 0, NULL, NULL, NULL);
	previous_planner_hook = planner_hook;
	planner_hook = test_planner;
	previous_pathlist_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = test_pathlist;
}

/*
 * --- an aggregate run by an aggregate, in one go or in two
 *
 * As Citus runs them: functions are called without an expression and without what they
 * may have kept from the call before, states that are neither the one passed nor an
 * expanded object of the aggregate's context are copied, and between two nodes a state
 * is its type's text.
 */

typedef struct InnerState
{
	Oid			aggregate;
	Oid			type;			/* of value */
	Oid			transition;
	Oid			combine;
	Oid			final;			/* InvalidOid: the state is the result */
	int16		typlen;
	bool		typbyval;
	Datum		value;
	bool		isnull;
} InnerState;

/* The state of the aggregate in argument 1, which the first row makes. */
static InnerState *
inner_state(FunctionCallInfo fcinfo)
{
	InnerState *state;
	MemoryContext aggcontext;
	HeapTuple	tuple;
	Form_pg_aggregate aggregate;
	Datum		initial;
	bool		isnull;

	if (!AggCheckCallContext(fcinfo, &aggcontext))
		elog(ERROR, "aggregate function called in non-aggregate context");
	if (!PG_ARGISNULL(0))
		return (InnerState *) PG_GETARG_POINTER(0);
	state = (InnerState *) MemoryContextAllocZero(aggcontext, sizeof(InnerState));
	state->aggregate = PG_GETARG_OID(1);
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(state->aggregate));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", state->aggregate);
	aggregate = (Form_pg_aggregate) GETSTRUCT(tuple);
	state->type = aggregate->aggtranstype;
	state->transition = aggregate->aggtransfn;
	state->combine = aggregate->aggcombinefn;
	state->final = aggregate->aggfinalfn;
	get_typlenbyval(state->type, &state->typlen, &state->typbyval);
	state->isnull = true;
	initial = SysCacheGetAttr(AGGFNOID, tuple, Anum_pg_aggregate_agginitval, &isnull);
	if (!isnull)
		elog(ERROR, "aggregate %u begins with \"%s\"", state->aggregate, TextDatumGetCString(initial));
	ReleaseSysCache(tuple);
	return state;
}

/* Keeps what a function has returned as the state. */
static void
keep_state(FunctionCallInfo fcinfo, InnerState *state, Datum value, bool isnull)
{
	MemoryContext aggcontext;
	MemoryContext old;

	AggCheckCallContext(fcinfo, &aggcontext);
	if (!state->typbyval && (isnull || state->isnull || DatumGetPointer(value) != DatumGetPointer(state->value)))
	{
		old = MemoryContextSwitchTo(aggcontext);
		if (!isnull &&
			!(DatumIsReadWriteExpandedObject(value, false, state->typlen) &&
			  MemoryContextGetParent(DatumGetEOHP(value)->eoh_context) == aggcontext))
			value = datumCopy(value, state->typbyval, state->typlen);
		MemoryContextSwitchTo(old);
		if (!state->isnull)
		{
			if (DatumIsReadWriteExpandedObject(state->value, false, state->typlen))
				DeleteExpandedObject(state->value);
			else
				pfree(DatumGetPointer(state->value));
		}
	}
	state->value = value;
	state->isnull = isnull;
}

/* Calls a function of the state and more arguments. */
static Datum
call_inner(FunctionCallInfo fcinfo, Oid function, InnerState *state, int nargs,
		   const NullableDatum *args, bool *isnull)
{
	LOCAL_FCINFO(inner, 3);
	FmgrInfo	flinfo;
	Datum		result;

	fmgr_info(function, &flinfo);
	*isnull = true;
	for (int i = 0; flinfo.fn_strict && i < nargs; i++)
		if (args[i].isnull)
		{
			*isnull = state->isnull;
			return state->value;
		}
	if (flinfo.fn_strict && state->isnull)
	{
		/* The first value is the state, as PostgreSQL has it: none without one. */
		*isnull = nargs == 0;
		return nargs > 0 ? args[0].value : (Datum) 0;
	}
	InitFunctionCallInfoData(*inner, &flinfo, nargs + 1, fcinfo->fncollation,
							 fcinfo->context, fcinfo->resultinfo);
	inner->args[0].value = state->value;
	inner->args[0].isnull = state->isnull;
	for (int i = 0; i < nargs; i++)
		inner->args[i + 1] = args[i];
	result = FunctionCallInvoke(inner);
	*isnull = inner->isnull;
	return result;
}

/* (internal, oid, the aggregate's arguments) returns internal: adds a row */
Datum
hpsort_test_agg_transfn(PG_FUNCTION_ARGS)
{
	InnerState *state = inner_state(fcinfo);
	Datum		value;
	bool		isnull;

	value = call_inner(fcinfo, state->transition, state, PG_NARGS() - 2, &fcinfo->args[2], &isnull);
	keep_state(fcinfo, state, value, isnull);
	PG_RETURN_POINTER(state);
}

/* (internal, oid, text) returns internal: adds another node's state */
Datum
hpsort_test_agg_combinefn(PG_FUNCTION_ARGS)
{
	InnerState *state = inner_state(fcinfo);
	NullableDatum other = {.isnull = PG_ARGISNULL(2)};
	Datum		value;
	bool		isnull;

	if (!other.isnull)
	{
		Oid			input;
		Oid			ioparam;

		getTypeInputInfo(state->type, &input, &ioparam);
		other.value = OidInputFunctionCall(input, text_to_cstring(PG_GETARG_TEXT_PP(2)), ioparam, -1);
	}
	value = call_inner(fcinfo, state->combine, state, 1, &other, &isnull);
	keep_state(fcinfo, state, value, isnull);
	PG_RETURN_POINTER(state);
}

static Datum
value_text(Oid type, Datum value)
{
	Oid			output;
	bool		varlena;

	getTypeOutputInfo(type, &output, &varlena);
	return CStringGetTextDatum(OidOutputFunctionCall(output, value));
}

/* (internal) returns text: the state for another node */
Datum
hpsort_test_agg_statefn(PG_FUNCTION_ARGS)
{
	InnerState *state = (InnerState *) PG_GETARG_POINTER(0);

	if (PG_ARGISNULL(0) || state->isnull)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(value_text(state->type, state->value));
}

/* (internal) returns text: the inner aggregate's result, as it is printed */
Datum
hpsort_test_agg_finalfn(PG_FUNCTION_ARGS)
{
	InnerState *state = (InnerState *) PG_GETARG_POINTER(0);
	Datum		result;
	bool		isnull;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (!OidIsValid(state->final))
		PG_RETURN_DATUM(hpsort_test_agg_statefn(fcinfo));
	result = call_inner(fcinfo, state->final, state, 0, NULL, &isnull);
	if (isnull)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(value_text(get_func_rettype(state->final), result));
}
