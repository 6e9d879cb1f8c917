/*
 * filter_conditions.c
 *		Filters as conditions of columns (see filter_conditions.h).
 *
 * Operators are recognized by their places in the operator family of the column's default
 * btree operator class, as the planner does it for indexes.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/params.h"
#include "nodes/pathnodes.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "pg/compat.h"
#include "pg/values/filter_conditions.h"
#include "pg/values/plain_column.h"
#include "pg/values/value.h"

/* What is compared with what. */
typedef struct Comparison
{
	const Var  *column;
	ColumnKind	kind;			/* of the column */
	StrategyNumber strategy;	/* of a btree, or UNEQUAL */
	Oid			type;			/* of the other side */
} Comparison;

#define UNEQUAL InvalidStrategy

/* A filter that is being taken apart, and what has been found. */
typedef struct Finding
{
	ExprContext *econtext;		/* NULL while planning, when no value matters */
	List	   *conditions;		/* of FilterCondition, one a column at most */
} Finding;

static const ValueRange everything = {PG_INT32_MIN, PG_INT32_MAX};

/* --- conditions */

/*
 * ANDs a condition with the condition that its column has already, if it has one.  The condition
 * accepts the values in nranges ascending ranges, and NULL if nulls.
 */
static void
add_condition(Finding *finding, const Var *column, const ValueRange *ranges, size_t nranges,
			  bool nulls)
{
	FilterCondition *condition = NULL;
	ValueRange *both;
	ListCell   *lc;

	foreach(lc, finding->conditions)
	{
		if (((FilterCondition *) lfirst(lc))->attnum == column->varattno)
			condition = (FilterCondition *) lfirst(lc);
	}
	/* One that accepts everything, to begin with. */
	if (condition == NULL)
	{
		condition = palloc0_object(FilterCondition);
		condition->attnum = column->varattno;
		condition->ranges = palloc_object(ValueRange);
		condition->ranges[0] = everything;
		condition->nranges = 1;
		condition->nulls = true;
		finding->conditions = lappend(finding->conditions, condition);
	}
	both = palloc_array(ValueRange, condition->nranges + nranges);
	condition->nranges = value_ranges_intersect(condition->ranges, condition->nranges, ranges,
												nranges,
												both);
	pfree(condition->ranges);
	condition->ranges = both;
	condition->nulls = condition->nulls && nulls;
}

static void
refuse_all(Finding *finding, const Var *column)
{
	add_condition(finding, column, NULL, 0, false);
}

/* --- the two sides */

/* Returns the parameter of a query, perhaps in *workspace; NULL if it has no value yet. */
static const ParamExternData *
external_parameter(const Param *param, const ExprContext *econtext, ParamExternData *workspace)
{
	ParamListInfo params = econtext->ecxt_param_list_info;
	const ParamExternData *value;

	if (params == NULL || param->paramid <= 0 || param->paramid > params->numParams)
		return NULL;
	/* Speculative: a variable that cannot be read is no error before core reads it. */
	if (params->paramFetch != NULL)
		value = params->paramFetch(params, param->paramid, true, workspace);
	else
		value = &params->params[param->paramid - 1];
	return value->ptype == param->paramtype ? value : NULL;
}

/*
 * Sets *value and *isnull to the value of a constant or a parameter, and returns true; false if the
 * expression is neither, or the parameter has no value yet.  While planning all values are NULL: it
 * only matters that there will be one.
 */
static bool
known_value(const Expr *expression, const ExprContext *econtext, Datum *value, bool *isnull)
{
	const Param *param = (const Param *) strip_relabels(expression);

	*isnull = true;
	if (econtext == NULL)
		return IsA(param, Const) || IsA(param, Param);
	if (IsA(param, Const))
	{
		*value = ((const Const *) param)->constvalue;
		*isnull = ((const Const *) param)->constisnull;
		return true;
	}
	if (!IsA(param, Param))
		return false;
	if (param->paramkind == PARAM_EXTERN)
	{
		ParamExternData workspace;
		const ParamExternData *external = external_parameter(param, econtext, &workspace);

		if (external == NULL)
			return false;
		*value = external->value;
		*isnull = external->isnull;
		return true;
	}
	/* That of a subquery which has not been run yet is not known. */
	if (param->paramkind == PARAM_EXEC &&
		econtext->ecxt_param_exec_vals[param->paramid].execPlan == NULL)
	{
		*value = econtext->ecxt_param_exec_vals[param->paramid].value;
		*isnull = econtext->ecxt_param_exec_vals[param->paramid].isnull;
		return true;
	}
	return false;
}

/* Whether values of the type are integers that all compare with each other. */
static bool
is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

/*
 * Sets the comparison of comparison->column by an operator, with the column on its left.  Returns
 * false unless the operator compares the column's values as the integers that are kept of them.
 */
static bool
find_comparison(Oid op, Comparison *comparison)
{
	Oid			type = comparison->column->vartype;
	Oid			family = lookup_type_cache(getBaseType(type), TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	int			strategy;
	Oid			left;

	comparison->kind = column_kind(type);
	if (comparison->kind == COLUMN_KIND_NONE || !OidIsValid(family))
		return false;
	comparison->strategy = (StrategyNumber) get_op_opfamily_strategy(op, family);
	if (comparison->strategy == InvalidStrategy)
	{
		/* <> is in no family, but what it is the negation of. */
		op = get_negator(op);
		if (!OidIsValid(op) || get_op_opfamily_strategy(op, family) != BTEqualStrategyNumber)
			return false;
	}
	get_op_opfamily_properties(op, family, false, &strategy, &left, &comparison->type);
	/* Labels of enums are not in the order of their numbers. */
	if (comparison->kind == COLUMN_KIND_ENUM)
	{
		comparison->type = OIDOID;
		return left == ANYENUMOID && strategy == BTEqualStrategyNumber;
	}
	return column_kind(left) == comparison->kind &&
		(left == comparison->type || (is_integer(left) && is_integer(comparison->type)));
}

/* Finds a column and a value compared with it, on either side of an operator. */
static bool
find_sides(Oid op, List *args, Comparison *comparison, const Expr **other)
{
	comparison->column = plain_column(linitial(args));
	*other = lsecond(args);
	if (comparison->column == NULL)
	{
		comparison->column = plain_column(lsecond(args));
		*other = linitial(args);
		op = get_commutator(op);
	}
	return comparison->column != NULL && OidIsValid(op) && find_comparison(op, comparison);
}

/* --- clauses */

/*
 * Returns the key of a Datum of the other side.  A value beyond the keys becomes the integer next
 * to them, which compares alike.
 */
static int64
compared_value(const Comparison *comparison, Datum datum)
{
	int64		bias = column_kind_bias(comparison->kind);
	int64		value = column_value(column_kind(comparison->type), datum);

	if (value < PG_INT32_MIN + bias)
		return (int64) PG_INT32_MIN - 1;
	if (value > PG_INT32_MAX + bias)
		return (int64) PG_INT32_MAX + 1;
	return value - bias;
}

/* Adds the condition that a column's key is from lo to hi, which may be beyond the keys. */
static void
add_range(Finding *finding, const Comparison *comparison, int64 lo, int64 hi)
{
	ValueRange	range;

	lo = Max(lo, PG_INT32_MIN);
	hi = Min(hi, PG_INT32_MAX);
	range.lo = (int32) lo;
	range.hi = (int32) hi;
	add_condition(finding, comparison->column, &range, lo <= hi ? 1 : 0, false);
}

/* Adds the condition that a comparison with a value is true.  NULL passes none of them. */
static void
add_comparison(Finding *finding, const Comparison *comparison, Datum datum)
{
	int64		value = compared_value(comparison, datum);
	ValueRange	range;
	ValueRange	others[2];

	switch (comparison->strategy)
	{
		case BTLessStrategyNumber:
			add_range(finding, comparison, PG_INT32_MIN, value - 1);
			break;
		case BTLessEqualStrategyNumber:
			add_range(finding, comparison, PG_INT32_MIN, value);
			break;
		case BTEqualStrategyNumber:
			add_range(finding, comparison, value, value);
			break;
		case BTGreaterEqualStrategyNumber:
			add_range(finding, comparison, value, PG_INT32_MAX);
			break;
		case BTGreaterStrategyNumber:
			add_range(finding, comparison, value + 1, PG_INT32_MAX);
			break;
		default:				/* UNEQUAL */
			range.lo = range.hi = (int32) value;
			add_condition(finding, comparison->column, others,
						  value_ranges_complement(&range, value == (int32) value ? 1 : 0, others),
						  false);
			break;
	}
}

/* Adds the condition of a column that an operator's call is; false if it is none. */
static bool
find_operator(Finding *finding, const OpExpr *clause)
{
	Comparison	comparison;
	const Expr *other;
	Datum		value;
	bool		isnull;

	if (list_length(clause->args) != 2 ||
		!find_sides(clause->opno, clause->args, &comparison, &other) ||
		!known_value(other, finding->econtext, &value, &isnull))
		return false;
	if (isnull)
		refuse_all(finding, comparison.column);
	else
		add_comparison(finding, &comparison, value);
	return true;
}

/* Adds what = ANY (any) or <> ALL of an array that is not empty asks of a column. */
static void
add_array(Finding *finding, const Comparison *comparison, ArrayType *array, bool any)
{
	Datum	   *datums;
	bool	   *isnull;
	int			n;
	int			i;
	size_t		nvalues = 0;
	size_t		nranges;
	int32	   *values;
	ValueRange *ranges;
	ValueRange *others;
	int16		length;
	bool		by_value;
	char		align;

	get_typlenbyvalalign(comparison->type, &length, &by_value, &align);
	deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, align, &datums, &isnull, &n);
	values = palloc_array(int32, n);
	ranges = palloc_array(ValueRange, n);
	others = palloc_array(ValueRange, n + 1);
	for (i = 0; i < n; i++)
	{
		int64		value;

		/* Of a NULL it is unknown whether it is the column's value. */
		if (isnull[i] && !any)
		{
			refuse_all(finding, comparison->column);
			return;
		}
		if (isnull[i])
			continue;
		value = compared_value(comparison, datums[i]);
		if (value == (int32) value)
			values[nvalues++] = (int32) value;
	}
	nranges = value_ranges_of_values(values, nvalues, ranges);
	if (any)
		add_condition(finding, comparison->column, ranges, nranges, false);
	else
		add_condition(finding, comparison->column, others,
					  value_ranges_complement(ranges, nranges, others), false);
}

/* Adds the condition that a column = ANY or <> ALL of an array is; false if it is none. */
static bool
find_array_operator(Finding *finding, const ScalarArrayOpExpr *clause)
{
	Comparison	comparison = {.column = plain_column(linitial(clause->args))};
	Datum		value;
	bool		isnull;
	ArrayType  *array;

	if (comparison.column == NULL || !find_comparison(clause->opno, &comparison) ||
		comparison.strategy != (clause->useOr ? BTEqualStrategyNumber : UNEQUAL) ||
		!known_value(lsecond(clause->args), finding->econtext, &value, &isnull))
		return false;
	if (isnull)
	{
		refuse_all(finding, comparison.column);
		return true;
	}
	array = DatumGetArrayTypeP(value);
	/* ANY of nothing is false, and ALL of nothing true, of a NULL as well. */
	if (ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) > 0)
		add_array(finding, &comparison, array, clause->useOr);
	else if (clause->useOr)
		refuse_all(finding, comparison.column);
	else
		add_condition(finding, comparison.column, &everything, 1, true);
	return true;
}

/* Adds the condition that IS NULL or IS NOT NULL of a column is; false if it is none. */
static bool
find_null_test(Finding *finding, const NullTest *test)
{
	const Var  *column = plain_column(test->arg);

	/* Of any type, among others of one that a kept column has been given later. */
	if (column == NULL || test->argisrow || column_read_kind(column->vartype) == COLUMN_KIND_NONE)
		return false;
	if (test->nulltesttype == IS_NULL)
		add_condition(finding, column, NULL, 0, true);
	else
		add_condition(finding, column, &everything, 1, false);
	return true;
}

/* Which values of a boolean are accepted. */
typedef struct Truth
{
	bool		when_true;
	bool		when_false;
	bool		when_null;
} Truth;

static const Truth boolean_tests[] = {
	[IS_TRUE] = {true, false, false},
	[IS_NOT_TRUE] = {false, true, true},
	[IS_FALSE] = {false, true, false},
	[IS_NOT_FALSE] = {true, false, true},
	[IS_UNKNOWN] = {false, false, true},
	[IS_NOT_UNKNOWN] = {true, true, false}
};

/*
 * Adds the condition that a test of a boolean column is; false if the expression is no boolean
 * column.  Without a test in the query, the test is IS TRUE: a filter accepts what is true.
 */
static bool
add_boolean(Finding *finding, const Expr *expression, BoolTestType test)
{
	const Var  *column = plain_column(expression);
	const Truth *truth = &boolean_tests[test];
	ValueRange	range = {truth->when_false ? 0 : 1, truth->when_true ? 1 : 0};

	if (column == NULL || column_kind(column->vartype) != COLUMN_KIND_BOOL)
		return false;
	add_condition(finding, column, &range, truth->when_true || truth->when_false ? 1 : 0,
				  truth->when_null);
	return true;
}

static bool find_clauses(Finding *finding, const List *clauses);

/* Adds the conditions that a clause of a filter is, ANDed; false if it is more than conditions. */
static bool
find_clause(Finding *finding, const Expr *clause)
{
	const BoolExpr *boolean = (const BoolExpr *) clause;

	switch (nodeTag(clause))
	{
		case T_OpExpr:
			return find_operator(finding, (const OpExpr *) clause);
		case T_ScalarArrayOpExpr:
			return find_array_operator(finding, (const ScalarArrayOpExpr *) clause);
		case T_NullTest:
			return find_null_test(finding, (const NullTest *) clause);
		case T_BooleanTest:
			return add_boolean(finding, ((const BooleanTest *) clause)->arg,
							   ((const BooleanTest *) clause)->booltesttype);
		case T_BoolExpr:
			if (boolean->boolop == AND_EXPR)
				return find_clauses(finding, boolean->args);
			return boolean->boolop == NOT_EXPR &&
				add_boolean(finding, linitial(boolean->args), IS_FALSE);
		default:
			return add_boolean(finding, clause, IS_TRUE);
	}
}

/* Adds the conditions of clauses that are ANDed; false if one of them is more than conditions. */
static bool
find_clauses(Finding *finding, const List *clauses)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		if (!find_clause(finding, lfirst(lc)))
			return false;
	}
	return true;
}

bool
filter_conditions_find(const ExprState *filter, ExprContext *econtext, List **conditions)
{
	Finding		finding = {.econtext = econtext};

	if (filter->expr == NULL || !IsA(filter->expr, List) ||
		!find_clauses(&finding, (const List *) filter->expr))
		return false;
	*conditions = finding.conditions;
	return true;
}

bool
filter_conditions_columns(const List *clauses, List **columns)
{
	Finding		finding = {NULL};
	ListCell   *lc;

	foreach(lc, clauses)
	{
		const Expr *clause = (const Expr *) lfirst(lc);

		if (IsA(clause, RestrictInfo))
			clause = ((const RestrictInfo *) clause)->clause;
		if (!find_clause(&finding, clause))
			return false;
	}
	foreach(lc, finding.conditions)
	{
		const FilterCondition *condition = (const FilterCondition *) lfirst(lc);

		*columns = list_append_unique_int(*columns, condition->attnum);
	}
	return true;
}
