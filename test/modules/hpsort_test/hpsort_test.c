/*
 * hpsort_test.c
 *		Another extension, as hpsort may meet one: it answers for a table in
 *		the planner, and runs aggregates by the OIDs of their functions.
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
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(hpsort_test_agg_transfn);
PG_FUNCTION_INFO_V1(hpsort_test_agg_finalfn);

void		_PG_init(void);

typedef enum Answer
{
	ANSWER_TABLE,				/* the table itself */
	ANSWER_FUNCTION,			/* generate_series(1, 3) */
	ANSWER_OTHER,				/* the table hpsort_test.other */
	ANSWER_FILTERED,			/* its rows whose first column is positive */
	ANSWER_NOTHING,				/* no rows, as of an excluded partition */
	ANSWER_PLANNED				/* the table, after planning the query once more */
} Answer;

static const struct config_enum_entry answers[] = {
	{"table", ANSWER_TABLE, false},
	{"function", ANSWER_FUNCTION, false},
	{"other", ANSWER_OTHER, false},
	{"filtered", ANSWER_FILTERED, false},
	{"nothing", ANSWER_NOTHING, false},
	{"planned", ANSWER_PLANNED, false},
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

/*
 * Plans a query on its own with the parameters of the statement, as an extension
 * that runs parts of a query itself.  It then wants the rows of its plan.
 */
static void
plan_once_more(Query *parse, int options, ParamListInfo params EXPLAIN_PARAMETER)
{
	PlannedStmt *stmt;

	answer = ANSWER_TABLE;
	stmt = planner(copyObject(parse), NULL, options, params EXPLAIN_ARGUMENT);
	answer = ANSWER_PLANNED;
	if (IsA(stmt->planTree, CustomScan))
		elog(ERROR, "a plan of another query puts its keys elsewhere");
}

static PlannedStmt *
test_planner(Query *parse, const char *query_string, int options, ParamListInfo params EXPLAIN_PARAMETER)
{
	ListCell   *lc;
	Index		rti = 0;

	foreach(lc, parse->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		rti++;
		if (rte->rtekind == RTE_RELATION && rte->relid == (Oid) table)
		{
			if (answer == ANSWER_PLANNED)
				plan_once_more(parse, options, params EXPLAIN_ARGUMENT);
			answer_for(parse, rte, rti);
		}
	}
	return previous_planner_hook ? previous_planner_hook(parse, query_string, options, params EXPLAIN_ARGUMENT)
		: standard_planner(parse, query_string, options, params EXPLAIN_ARGUMENT);
}

static void
test_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	if (previous_pathlist_hook)
		previous_pathlist_hook(root, rel, rti, rte);
	if (answer == ANSWER_NOTHING && rte->rtekind == RTE_RELATION && rte->relid == (Oid) table)
		mark_dummy_rel(rel);
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

/* --- an aggregate run by an aggregate */

typedef struct InnerState
{
	Oid			aggregate;
	Datum		value;
	bool		isnull;
} InnerState;

static void
inner_functions(Oid aggregate, Oid *transition, Oid *final)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggregate);
	*transition = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggtransfn;
	*final = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggfinalfn;
	ReleaseSysCache(tuple);
}

/* Without an expression, and in a context that goes with this row. */
static Datum
call_inner(FunctionCallInfo fcinfo, Oid function, InnerState *state, NullableDatum *value,
		   bool *isnull)
{
	LOCAL_FCINFO(inner, 2);
	FmgrInfo	flinfo;
	Datum		result;

	fmgr_info(function, &flinfo);
	InitFunctionCallInfoData(*inner, &flinfo, value ? 2 : 1, fcinfo->fncollation,
							 fcinfo->context, fcinfo->resultinfo);
	inner->args[0].value = state->value;
	inner->args[0].isnull = state->isnull;
	if (value)
		inner->args[1] = *value;
	result = FunctionCallInvoke(inner);
	*isnull = inner->isnull;
	return result;
}

/* (internal, oid, a type that is passed by value) returns internal */
Datum
hpsort_test_agg_transfn(PG_FUNCTION_ARGS)
{
	InnerState *state;
	MemoryContext aggcontext;
	Oid			transition;
	Oid			final;

	if (!AggCheckCallContext(fcinfo, &aggcontext))
		elog(ERROR, "aggregate function called in non-aggregate context");
	if (PG_ARGISNULL(0))
	{
		state = (InnerState *) MemoryContextAlloc(aggcontext, sizeof(InnerState));
		state->aggregate = PG_GETARG_OID(1);
		state->isnull = true;
	}
	else
		state = (InnerState *) PG_GETARG_POINTER(0);
	inner_functions(state->aggregate, &transition, &final);
	state->value = call_inner(fcinfo, transition, state, &fcinfo->args[2], &state->isnull);
	PG_RETURN_POINTER(state);
}

/* (internal) returns text: the inner aggregate's result, as it is printed */
Datum
hpsort_test_agg_finalfn(PG_FUNCTION_ARGS)
{
	InnerState *state = (InnerState *) PG_GETARG_POINTER(0);
	Oid			transition;
	Oid			final;
	Oid			output;
	bool		varlena;
	bool		isnull;
	Datum		result;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	inner_functions(state->aggregate, &transition, &final);
	result = call_inner(fcinfo, final, state, NULL, &isnull);
	if (isnull)
		PG_RETURN_NULL();
	getTypeOutputInfo(get_func_rettype(final), &output, &varlena);
	PG_RETURN_TEXT_P(cstring_to_text(OidOutputFunctionCall(output, result)));
}
