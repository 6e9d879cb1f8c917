/*
 * divided_sum.c
 *		Sums that are computed of other aggregates (see divided_sum.h).
 *
 * A branch of a CASE is evaluated for the rows for which it is in the CASE: its FILTER has the
 * conditions before it as IS NOT TRUE, so that an AND stops at the first one that does not hold.  A
 * group's result has the digits behind the point of the branches that the group's rows take, and no
 * others: the sum of none is NULL.
 */
#include "postgres.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/plan/aggrefs.h"
#include "pg/nodes/aggregate/plan/divided_sum.h"
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
make_call(Oid function, Oid type, List *arguments)
{
	return (Expr *) makeFuncExpr(function, type, arguments, InvalidOid, InvalidOid,
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

static Expr *
make_is_not_null(Expr *expression)
{
	NullTest   *test = makeNode(NullTest);

	test->arg = expression;
	test->nulltesttype = IS_NOT_NULL;
	test->location = -1;
	return (Expr *) test;
}

static Expr *
make_int8(int64 value)
{
	return (Expr *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(value), false,
							  FLOAT8PASSBYVAL);
}

/* Returns a constant times the number of rows that pass a filter; NULL if there are none. */
static Expr *
sum_of_constant(const Aggref *aggref, Expr *constant, Expr *filter)
{
	Aggref	   *count = copyObject(unconstify(Aggref *, aggref));

	count->aggfnoid = F_COUNT_;
	count->aggtype = count->aggtranstype = INT8OID;
	count->aggargtypes = count->args = NIL;
	count->aggstar = true;
	count->aggfilter = filter;
	return expression_where(make_opclause(Int8LessOperator, BOOLOID, false, make_int8(0),
										  (Expr *) count, InvalidOid, InvalidOid),
							make_call(F_NUMERIC_MUL, NUMERICOID,
									  list_make2(constant, make_call(F_NUMERIC_INT8, NUMERICOID,
																	 list_make1(count)))));
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
	Expr	   *total = NULL;

	if (list_length(sums) == 1)
		return linitial(sums);
	foreach_ptr(Expr, part, sums)
	{
		Expr	   *sum = first_of(list_make2(part, make_numeric(0)));

		total = total ? make_call(F_NUMERIC_ADD, NUMERICOID, list_make2(total, sum)) : sum;
	}
	return expression_where(make_is_not_null(first_of(sums)), total);
}

/* Returns the expression of the sum of a CASE; NULL if it is none. */
static Expr *
sum_of_case(const Aggref *aggref, Index rti)
{
	const CaseExpr *argument;
	List	   *before = NIL;
	List	   *sums = NIL;

	argument = (const CaseExpr *) linitial_node(TargetEntry, aggref->args)->expr;
	if (!IsA(argument, CaseExpr) || argument->arg != NULL ||
		expression_columns((const Expr *) argument) == NIL)
		return NULL;
	if (aggref->aggfilter)
		before = list_make1(make_test(aggref->aggfilter, IS_TRUE));
	foreach_node(CaseWhen, when, argument->args)
	{
		if (!add_sum(&sums, aggref, when->result, lappend(list_copy(before), when->expr), rti))
			return NULL;
		before = lappend(before, make_test(when->expr, IS_NOT_TRUE));
	}
	if (!add_sum(&sums, aggref, argument->defresult, before, rti))
		return NULL;
	return sums == NIL ? NULL : add_up(sums);
}

/* Returns an aggregate of a column, for the rows of another one. */
static Expr *
aggregate_of(const Aggref *aggref, Oid function, Oid type, const Var *column)
{
	Aggref	   *other = copyObject(unconstify(Aggref *, aggref));

	other->aggfnoid = function;
	other->aggtype = type;
	other->aggtranstype = function == F_SUM_INT2 || function == F_SUM_INT4 ? INT8OID : type;
	other->aggargtypes = list_make1_oid(column->vartype);
	other->args = list_make1(makeTargetEntry((Expr *) copyObject(unconstify(Var *, column)), 1,
											 NULL, false));
	/* Equal ones of several sums are one. */
	other->aggno = other->aggtransno = -1;
	return (Expr *) other;
}

/* Returns whether the expression that is summed has a value for an extreme of its column. */
static Expr *
is_in_range(const Aggref *aggref, const OpExpr *argument, Oid function)
{
	OpExpr	   *result = copyObject(unconstify(OpExpr *, argument));
	const Var  *column = linitial_node(Var, result->args);

	linitial(result->args) = aggregate_of(aggref, function, column->vartype, column);
	return make_is_not_null((Expr *) result);
}

/*
 * Returns the expression of the sum of a column plus or minus a constant; NULL if it is none.  If
 * that of a value may be out of range, so is that of the smallest or the largest one, for which the
 * error is raised: of several groups some might not be looked at.
 */
static Expr *
sum_of_shifted(const Aggref *aggref, bool grouped)
{
	const OpExpr *argument = (const OpExpr *) linitial_node(TargetEntry, aggref->args)->expr;
	const Var  *column;
	const Const *constant;
	Expr	   *sum;
	Expr	   *product;
	Expr	   *least;
	Expr	   *most;
	bool		is_short;
	int64		value;

	if (!IsA(argument, OpExpr) || list_length(argument->args) != 2 || aggref->aggorder != NIL)
		return NULL;
	column = (const Var *) linitial(argument->args);
	constant = (const Const *) lsecond(argument->args);
	if (!IsA(column, Var) || !IsA(constant, Const) || constant->constisnull)
		return NULL;
	switch (argument->opfuncid)
	{
		case F_INT4PL:
		case F_INT24PL:
			value = DatumGetInt32(constant->constvalue);
			break;
		case F_INT4MI:
		case F_INT24MI:
			value = -(int64) DatumGetInt32(constant->constvalue);
			break;
		default:
			return NULL;
	}
	is_short = column->vartype == INT2OID;
	sum = aggregate_of(aggref, is_short ? F_SUM_INT2 : F_SUM_INT4, INT8OID, column);
	product = make_call(F_INT8MUL, INT8OID,
						list_make2(aggregate_of(aggref, F_COUNT_ANY, INT8OID, column),
								   make_int8(value)));
	sum = make_call(F_INT8PL, INT8OID, list_make2(sum, product));
	if (is_short && value > PG_INT32_MIN - PG_INT16_MIN && value < PG_INT32_MAX - PG_INT16_MAX)
		return sum;
	if (grouped)
		return NULL;
	least = is_in_range(aggref, argument, is_short ? F_MIN_INT2 : F_MIN_INT4);
	most = is_in_range(aggref, argument, is_short ? F_MAX_INT2 : F_MAX_INT4);
	return expression_where(make_andclause(list_make2(least, most)), sum);
}

Expr *
divided_sum(const Aggref *aggref, Index rti, bool grouped)
{
	if (aggref->aggdistinct != NIL || aggref->agglevelsup != 0 ||
		aggref->aggsplit != AGGSPLIT_SIMPLE)
		return NULL;
	switch (aggref->aggfnoid)
	{
		case F_SUM_NUMERIC:
			return sum_of_case(aggref, rti);
		case F_SUM_INT4:
			return sum_of_shifted(aggref, grouped);
		default:
			return NULL;
	}
}
