/*
 * case_sum.c
 *		Sums of a CASE as sums of its branches (see case_sum.h).
 *
 * A branch is evaluated for the rows for which it is in the CASE: its FILTER has the conditions
 * before it as IS NOT TRUE, so that an AND stops at the first one that does not hold.  A group's
 * result has the digits behind the point of the branches that the group's rows take, and no others:
 * the sum of none is NULL.
 */
#include "postgres.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"

#include "pg/nodes/aggregate/plan/aggrefs.h"
#include "pg/nodes/aggregate/plan/case_sum.h"
#include "pg/nodes/aggregate/plan/expressions.h"

/* Returns the condition that another one is true, or that it is not. */
static Expr *
make_test(Expr *condition, BoolTestType type)
{
	BooleanTest *test = makeNode(BooleanTest);

	test->arg = condition;
	test->booltesttype = type;
	test->location = -1;
	return (Expr *) test;
}

static Expr *
make_call(Oid function, List *arguments)
{
	return (Expr *) makeFuncExpr(function, NUMERICOID, arguments, InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

/* Returns the first of some numerics that is not NULL. */
static Expr *
first_of(List *numerics)
{
	CoalesceExpr *first = makeNode(CoalesceExpr);

	first->coalescetype = NUMERICOID;
	first->args = numerics;
	first->location = -1;
	return (Expr *) first;
}

static Expr *
make_numeric(int64 value)
{
	return (Expr *) makeConst(NUMERICOID, -1, InvalidOid, -1,
							  DirectFunctionCall1(int8_numeric, Int64GetDatum(value)), false,
							  false);
}

/* Returns a numeric; NULL where a condition is not true. */
static Expr *
make_case(Expr *condition, Expr *numeric)
{
	CaseExpr   *result = makeNode(CaseExpr);
	CaseWhen   *when = makeNode(CaseWhen);

	when->expr = condition;
	when->result = numeric;
	when->location = -1;
	result->casetype = NUMERICOID;
	result->args = list_make1(when);
	result->defresult = (Expr *) makeNullConst(NUMERICOID, -1, InvalidOid);
	result->location = -1;
	return (Expr *) result;
}

/* Returns a constant times the number of rows that pass a filter; NULL if there are none. */
static Expr *
sum_of_constant(const Aggref *aggref, Expr *constant, Expr *filter)
{
	Aggref	   *count = copyObject(unconstify(Aggref *, aggref));
	Expr	   *none = (Expr *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
										  Int64GetDatum(0), false, FLOAT8PASSBYVAL);

	count->aggfnoid = F_COUNT_;
	count->aggtype = count->aggtranstype = INT8OID;
	count->aggargtypes = count->args = NIL;
	count->aggstar = true;
	count->aggfilter = filter;
	return make_case(make_opclause(Int8LessOperator, BOOLOID, false, none, (Expr *) count,
								   InvalidOid, InvalidOid),
					 make_call(F_NUMERIC_MUL,
							   list_make2(constant,
										  make_call(F_NUMERIC_INT8, list_make1(count)))));
}

/*
 * Adds to *sums that of a branch, whose rows pass all of some conditions; one that is NULL has
 * none.  False if it is not added up.
 */
static bool
add_sum(List **sums, const Aggref *aggref, Expr *branch, List *conditions, Index rti)
{
	Expr	   *filter = make_ands_explicit(conditions);
	AggregateAnswer answer;
	Aggref	   *sum;

	if (branch == NULL || IsA(branch, Const))
	{
		if (branch && !((Const *) branch)->constisnull)
			*sums = lappend(*sums, sum_of_constant(aggref, branch, filter));
		return true;
	}
	sum = copyObject(unconstify(Aggref *, aggref));
	sum->args = list_make1(makeTargetEntry(branch, 1, NULL, false));
	sum->aggfilter = filter;
	*sums = lappend(*sums, sum);
	return aggref_answer(sum, rti, &answer) && answer.function == AGGREGATE_FUNCTION_SUM;
}

/* Returns the sum of those of some numerics that are not NULL; NULL if none is. */
static Expr *
add_up(List *sums)
{
	NullTest   *any = makeNode(NullTest);
	Expr	   *total = NULL;
	ListCell   *lc;

	if (list_length(sums) == 1)
		return linitial(sums);
	foreach(lc, sums)
	{
		Expr	   *sum = first_of(list_make2(lfirst(lc), make_numeric(0)));

		total = total ? make_call(F_NUMERIC_ADD, list_make2(total, sum)) : sum;
	}
	any->arg = first_of(sums);
	any->nulltesttype = IS_NOT_NULL;
	any->location = -1;
	return make_case((Expr *) any, total);
}

Expr *
case_sum_divide(const Aggref *aggref, Index rti)
{
	const CaseExpr *argument;
	List	   *before = NIL;
	List	   *sums = NIL;
	ListCell   *lc;

	if (aggref->aggfnoid != F_SUM_NUMERIC || aggref->aggdistinct != NIL ||
		aggref->agglevelsup != 0 || aggref->aggsplit != AGGSPLIT_SIMPLE)
		return NULL;
	argument = (const CaseExpr *) linitial_node(TargetEntry, aggref->args)->expr;
	if (!IsA(argument, CaseExpr) || argument->arg != NULL ||
		expression_columns((const Expr *) argument) == NIL)
		return NULL;
	if (aggref->aggfilter)
		before = list_make1(make_test(aggref->aggfilter, IS_TRUE));
	foreach(lc, argument->args)
	{
		const CaseWhen *when = lfirst_node(CaseWhen, lc);

		if (!add_sum(&sums, aggref, when->result, lappend(list_copy(before), when->expr), rti))
			return NULL;
		before = lappend(before, make_test(when->expr, IS_NOT_TRUE));
	}
	if (!add_sum(&sums, aggref, argument->defresult, before, rti))
		return NULL;
	return sums == NIL ? NULL : add_up(sums);
}
