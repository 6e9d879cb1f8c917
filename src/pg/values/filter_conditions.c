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
#include "nodes/pathnodes.h"
#include "utils/array.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "pg/compat.h"
#include "pg/values/domain.h"
#include "pg/values/filter_conditions.h"
#include "pg/values/numeric_unit.h"
#include "pg/values/plain_column.h"
#include "pg/values/text_conditions.h"
#include "pg/values/value.h"
#include "pg/values/value_condition.h"

/* What is compared with what. */
typedef struct Comparison
{
	const Var  *column;
	ColumnKind	kind;			/* of the column */
	NumericUnit unit;			/* of COLUMN_KIND_NUMERIC */
	StrategyNumber strategy;	/* of a btree, or UNEQUAL */
	Oid			type;			/* of the other side */
} Comparison;

#define UNEQUAL InvalidStrategy

/* A filter that is being taken apart, and what has been found. */
typedef struct Finding
{
	ExprContext *econtext;		/* NULL while planning, when no value matters */
	PlanState  *parent;			/* of any values conditions are for this node; NULL: for none */
	bool		certain;		/* while planning: only what is a condition in any execution */
	List	   *conditions;		/* of FilterCondition, one a column at most */
} Finding;

static const LongRange everything = {PG_INT64_MIN, PG_INT64_MAX};

/* Returns the kind of a type whose values are compared as integers; COLUMN_KIND_NONE of others. */
static ColumnKind
compared_kind(Oid type)
{
	ColumnKind	kind = column_read_kind(type);

	switch (kind)
	{
		case COLUMN_KIND_BOOL:
		case COLUMN_KIND_CHAR:
		case COLUMN_KIND_INT2:
		case COLUMN_KIND_INT4:
		case COLUMN_KIND_OID:
		case COLUMN_KIND_ENUM:
		case COLUMN_KIND_INT8:
		case COLUMN_KIND_FLOAT4:
		case COLUMN_KIND_FLOAT8:
			return kind;
		default:
			return COLUMN_KIND_NONE;
	}
}

/* Does so for a column, of which a numeric may have few digits, and sets *unit then. */
static ColumnKind
column_compared_kind(const Var *column, NumericUnit *unit)
{
	if (numeric_unit_find(column->vartype, column->vartypmod, unit))
		return COLUMN_KIND_NUMERIC;
	return compared_kind(column->vartype);
}

/* --- conditions */

/*
 * ANDs a condition with the condition that its column has already, if it has one.  The condition
 * accepts the values in nranges ascending ranges, and NULL if nulls.
 */
static void
add_condition(Finding *finding, const Var *column, const LongRange *ranges, size_t nranges,
			  bool nulls)
{
	FilterCondition *condition = NULL;
	LongRange  *both;
	NumericUnit unit;

	foreach_ptr(FilterCondition, other, finding->conditions)
	{
		if (other->attnum == column->varattno && other->texts == NULL &&
			other->values == NULL)
			condition = other;
	}
	/* One that accepts everything, to begin with. */
	if (condition == NULL)
	{
		condition = palloc0_object(FilterCondition);
		condition->attnum = column->varattno;
		condition->kind = column_compared_kind(column, &unit);
		condition->ranges = palloc_object(LongRange);
		condition->ranges[0] = everything;
		condition->nranges = 1;
		condition->nulls = true;
		finding->conditions = lappend(finding->conditions, condition);
	}
	both = palloc_array(LongRange, condition->nranges + nranges);
	condition->nranges = long_ranges_intersect(condition->ranges, condition->nranges, ranges,
											   nranges, both);
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

/* Whether values of both types are integers, or floats, which compare with each other. */
static bool
are_numbers(Oid a, Oid b)
{
	if (a == FLOAT4OID || a == FLOAT8OID)
		return b == FLOAT4OID || b == FLOAT8OID;
	return (a == INT2OID || a == INT4OID || a == INT8OID) &&
		(b == INT2OID || b == INT4OID || b == INT8OID);
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

	comparison->kind = column_compared_kind(comparison->column, &comparison->unit);
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
	if (comparison->kind == COLUMN_KIND_NUMERIC)
		return left == NUMERICOID && comparison->type == NUMERICOID;
	return compared_kind(left) == comparison->kind &&
		(left == comparison->type || are_numbers(left, comparison->type));
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
	return comparison->column != NULL && OidIsValid(op) &&
		find_comparison(op, comparison);
}

/* --- clauses */

/*
 * Returns the integer of a Datum of the other side, or the next one above it that a column's value
 * may be.  *between says that it is above.
 */
static int64
compared_value(const Comparison *comparison, Datum datum, bool *between)
{
	*between = false;
	if (comparison->kind == COLUMN_KIND_NUMERIC)
		return numeric_unit_ceil(comparison->unit, datum, between);
	if (comparison->type == FLOAT4OID)
		return filter_condition_float(DatumGetFloat4(datum));
	if (comparison->type == FLOAT8OID)
		return filter_condition_float(DatumGetFloat8(datum));
	return column_value(column_read_kind(comparison->type), datum);
}

/* Adds the condition that a comparison with a value is true.  NULL passes none of them. */
static void
add_comparison(Finding *finding, const Comparison *comparison, Datum datum)
{
	bool		between;
	int64		value = compared_value(comparison, datum, &between);
	LongRange	range = {value, value};
	LongRange	others[2];
	size_t		nothers = long_ranges_complement(&range, between ? 0 : 1, others);
	bool		equal = false;

	switch (comparison->strategy)
	{
		case BTLessEqualStrategyNumber:
		case BTLessStrategyNumber:
			equal = !between && comparison->strategy == BTLessEqualStrategyNumber;
			range.lo = PG_INT64_MIN;
			break;
		case BTEqualStrategyNumber:
			add_condition(finding, comparison->column, &range, between ? 0 : 1, false);
			return;
		case BTGreaterStrategyNumber:
		case BTGreaterEqualStrategyNumber:
			equal = between || comparison->strategy == BTGreaterEqualStrategyNumber;
			range.hi = PG_INT64_MAX;
			break;
		default:				/* UNEQUAL */
			add_condition(finding, comparison->column, others, nothers, false);
			return;
	}
	add_condition(finding, comparison->column, &range, 1, false);
	if (equal)
		return;
	/* <= and <> together are <. */
	range.lo = range.hi = value;
	add_condition(finding, comparison->column, others,
				  long_ranges_complement(&range, 1, others), false);
}

/*
 * Adds the condition that an operator with n texts is of a column; false if bytes do not decide it.
 */
static bool
add_texts(Finding *finding, const Var *column, const TextOperator *op, const Datum *texts, int n)
{
	FilterCondition *condition = palloc0_object(FilterCondition);

	condition->attnum = column->varattno;
	condition->texts = text_condition_make(op, texts, n);
	if (condition->texts == NULL)
		return false;
	finding->conditions = lappend(finding->conditions, condition);
	return true;
}

/* Adds the condition of a text that an operator's call is; false if it is none. */
static bool
find_text_operator(Finding *finding, const OpExpr *clause)
{
	const Var  *column = plain_column(linitial(clause->args));
	const Expr *other = lsecond(clause->args);
	Oid			function = clause->opfuncid;
	TextOperator op;
	Datum		value;
	bool		isnull;

	if (column == NULL && OidIsValid(get_commutator(clause->opno)))
	{
		column = plain_column(lsecond(clause->args));
		other = linitial(clause->args);
		function = get_opcode(get_commutator(clause->opno));
	}
	if (column == NULL || !text_operator_find(function, clause->inputcollid, &op) ||
		get_typlen(column->vartype) != op.typlen ||
		!clause_known_value(other, finding->econtext, &value, &isnull))
		return false;
	if (finding->certain && op.like)
	{
		/* Bytes decide some patterns only. */
		if (!IsA(other, Const))
			return false;
		value = ((const Const *) other)->constvalue;
		isnull = ((const Const *) other)->constisnull;
	}
	if (!isnull)
		return add_texts(finding, column, &op, &value, 1);
	refuse_all(finding, column);
	return true;
}

/* Adds the condition of a column that an operator's call is; false if it is none. */
static bool
find_operator(Finding *finding, const OpExpr *clause)
{
	Comparison	comparison;
	const Expr *other;
	Datum		value;
	bool		isnull;

	if (list_length(clause->args) != 2)
		return false;
	if (find_text_operator(finding, clause))
		return true;
	if (!find_sides(clause->opno, clause->args, &comparison, &other) ||
		!clause_known_value(other, finding->econtext, &value, &isnull))
		return false;
	if (isnull)
		refuse_all(finding, comparison.column);
	else
		add_comparison(finding, &comparison, value);
	return true;
}

/* An array's values. */
typedef struct ArrayValues
{
	Datum	   *values;			/* that are not NULL */
	int			n;
	bool		nulls;			/* there are NULLs besides */
} ArrayValues;

static ArrayValues
values_of_array(ArrayType *array)
{
	ArrayValues values = {0};
	bool	   *isnull;
	int16		length;
	bool		by_value;
	char		align;
	int			n;

	get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &align);
	deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, align, &values.values, &isnull,
					  &n);
	for (int i = 0; i < n; i++)
	{
		if (isnull[i])
			values.nulls = true;
		else
			values.values[values.n++] = values.values[i];
	}
	return values;
}

/* Adds what = ANY (any) or <> ALL of an array that is not empty asks of a column. */
static void
add_array(Finding *finding, const Comparison *comparison, const ArrayValues *array, bool any)
{
	int64	   *values = palloc_array(int64, array->n);
	LongRange  *ranges = palloc_array(LongRange, array->n);
	LongRange  *others = palloc_array(LongRange, array->n + 1);
	size_t		nvalues = 0;
	size_t		nranges;
	bool		between;

	for (int i = 0; i < array->n; i++)
	{
		values[nvalues] = compared_value(comparison, array->values[i], &between);
		nvalues += !between;
	}
	nranges = long_ranges_of_values(values, nvalues, ranges);
	if (any)
		add_condition(finding, comparison->column, ranges, nranges, false);
	else
		add_condition(finding, comparison->column, others,
					  long_ranges_complement(ranges, nranges, others), false);
}

/* Adds the condition that a column = ANY or <> ALL of an array is; false if it is none. */
static bool
find_array_operator(Finding *finding, const ScalarArrayOpExpr *clause)
{
	Comparison	comparison = {.column = plain_column(linitial(clause->args))};
	const Var  *column = comparison.column;
	TextOperator op;
	bool		texts;
	Datum		value;
	bool		isnull;
	ArrayType  *array;
	ArrayValues values;

	if (column == NULL)
		return false;
	texts = text_operator_find(clause->opfuncid, clause->inputcollid, &op) &&
		op.equal && get_typlen(column->vartype) == op.typlen;
	if (texts ? op.negated == clause->useOr :
		(!find_comparison(clause->opno, &comparison) ||
		 comparison.strategy != (clause->useOr ? BTEqualStrategyNumber : UNEQUAL)))
		return false;
	if (!clause_known_value(lsecond(clause->args), finding->econtext, &value, &isnull))
		return false;
	if (isnull)
	{
		refuse_all(finding, column);
		return true;
	}
	array = DatumGetArrayTypeP(value);
	/* ANY of nothing is false, and ALL of nothing true, of a NULL as well. */
	if (ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) == 0)
	{
		if (clause->useOr)
			refuse_all(finding, column);
		else
			add_condition(finding, column, &everything, 1, true);
		return true;
	}
	values = values_of_array(array);
	/* Of a NULL it is unknown whether it is the column's value. */
	if (values.n == 0 || (values.nulls && !clause->useOr))
		refuse_all(finding, column);
	else if (texts)
		return add_texts(finding, column, &op, values.values, values.n);
	else
		add_array(finding, &comparison, &values, clause->useOr);
	return true;
}

/* Adds the condition that IS NULL or IS NOT NULL of a column is; false if it is none. */
static bool
find_null_test(Finding *finding, const NullTest *test)
{
	const Var  *column = plain_column(test->arg);

	if (column == NULL || test->argisrow)
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
	LongRange	range = {truth->when_false ? 0 : 1, truth->when_true ? 1 : 0};

	if (column == NULL || column_read_kind(column->vartype) != COLUMN_KIND_BOOL)
		return false;
	add_condition(finding, column, &range, truth->when_true || truth->when_false ? 1 : 0,
				  truth->when_null);
	return true;
}

/* Adds the condition that a clause is of the values of a column; false if it is none. */
static bool
find_values(Finding *finding, const Expr *clause)
{
	const Var  *column = finding->parent ? value_condition_column(clause, finding->econtext) : NULL;
	FilterCondition *condition;

	if (column == NULL)
		return false;
	condition = palloc0_object(FilterCondition);
	condition->attnum = column->varattno;
	condition->values = value_condition_make(clause, column, finding->parent, finding->econtext,
											 &condition->nulls);
	finding->conditions = lappend(finding->conditions, condition);
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
	foreach_ptr(Expr, clause, clauses)
	{
		if (!find_clause(finding, clause) && !find_values(finding, clause))
			return false;
	}
	return true;
}

bool
filter_conditions_find(const ExprState *filter, ExprContext *econtext, List **conditions)
{
	Finding		finding = {.econtext = econtext,.parent = filter->parent};

	if (filter->expr == NULL || !IsA(filter->expr, List) ||
		!find_clauses(&finding, (const List *) filter->expr))
		return false;
	*conditions = finding.conditions;
	return true;
}

/* --- ranges of floats */

/*
 * Returns the least integer of column_value() of a float's kind whose filter_condition_float() is
 * not below a value, NaN's at most.
 */
static int64
least_float(ColumnKind kind, int64 value)
{
	int64		lo = column_kind_is_wide(kind) ? PG_INT64_MIN : PG_INT32_MIN;
	int64		hi = column_kind_is_wide(kind) ? PG_INT64_MAX : PG_INT32_MAX;

	while (lo < hi)
	{
		int64		middle = (int64) ((uint64) lo + ((uint64) hi - (uint64) lo) / 2);
		ColumnDomain domain = {.kind = kind};

		if (filter_condition_float(column_domain_float8(&domain, middle)) < value)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo;
}

const LongRange *
filter_condition_ranges(const FilterCondition *condition, size_t *n)
{
	const int64 nan = filter_condition_float(get_float8_nan());
	LongRange  *ranges;

	*n = condition->nranges;
	if (!column_kind_is_float(condition->kind))
		return condition->ranges;
	ranges = palloc_array(LongRange, Max(condition->nranges, 1));
	*n = 0;
	for (size_t r = 0; r < condition->nranges && condition->ranges[r].lo <= nan; r++)
	{
		LongRange	range = {least_float(condition->kind, condition->ranges[r].lo), PG_INT64_MAX};

		if (condition->ranges[r].hi < nan)
			range.hi = least_float(condition->kind, condition->ranges[r].hi + 1) - 1;
		if (range.lo <= range.hi)
			ranges[(*n)++] = range;
	}
	return ranges;
}

/* --- filters of which only some clauses are conditions */

/*
 * Whether one of the arguments of an AND may fail that is no condition.  A filter is over with its
 * first clause that is NULL; but core goes on to the next argument of an AND, and to its error.
 */
static bool
and_may_fail(const Finding *finding, const BoolExpr *clause)
{
	Finding		tried = {.econtext = finding->econtext};

	foreach_ptr(Expr, argument, clause->args)
	{
		if (!find_clause(&tried, argument) && clause_may_fail((Node *) argument, finding->econtext))
			return true;
	}
	return false;
}

/*
 * Adds conditions of clauses that are ANDed, and other clauses to *others.  *ordered says that one
 * of the others may fail, so that nothing may be evaluated before it that core evaluates after it.
 */
static void
split_clauses(Finding *finding, const List *clauses, List **others, bool *ordered)
{
	foreach_ptr(Node, clause, clauses)
	{
		bool		and = is_andclause(clause);

		if (and && !*ordered && !and_may_fail(finding, (const BoolExpr *) clause))
			split_clauses(finding, ((BoolExpr *) clause)->args, others, ordered);
		else if (and || *ordered || !(find_clause(finding, (Expr *) clause) ||
									  (*others == NIL && find_values(finding, (Expr *) clause))))
		{
			*others = lappend(*others, clause);
			*ordered = *ordered || clause_may_fail(clause, finding->econtext);
		}
	}
}

List *
filter_conditions_split(const ExprState *filter, ExprContext *econtext, List **others,
						bool *may_fail)
{
	Finding		finding = {.econtext = econtext,.parent = filter->parent};

	*others = NIL;
	*may_fail = filter->expr == NULL || !IsA(filter->expr, List);
	if (!*may_fail)
		split_clauses(&finding, (const List *) filter->expr, others, may_fail);
	return finding.conditions;
}

bool
filter_conditions_columns(const List *clauses, List **columns)
{
	Finding		finding = {NULL};
	const Var  *column;

	foreach_ptr(const Expr, clause, clauses)
	{
		if (IsA(clause, RestrictInfo))
			clause = ((const RestrictInfo *) clause)->clause;
		if (find_clause(&finding, clause))
			continue;
		column = value_condition_column(clause, NULL);
		if (column == NULL)
			return false;
		*columns = list_append_unique_int(*columns, column->varattno);
	}
	foreach_ptr(const FilterCondition, condition, finding.conditions)
	{
		*columns = list_append_unique_int(*columns, condition->attnum);
	}
	return true;
}

/* Whether an expression has a parameter that may be a subquery's, run when its value is wanted. */
static bool
has_exec_param(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		return true;
	return expression_tree_walker(node, has_exec_param, context);
}

/* Whether a clause is a condition in any execution; adds its columns, and sets *compared if so. */
static bool
is_condition(Expr *clause, bool first, List **columns, bool *compared)
{
	Finding		finding = {.certain = true};
	const Var  *column;

	if (has_exec_param((Node *) clause, NULL))
		return false;
	if (find_clause(&finding, clause))
	{
		*compared = true;
		foreach_ptr(const FilterCondition, condition, finding.conditions)
		{
			*columns = list_append_unique_int(*columns, condition->attnum);
		}
		return true;
	}
	column = first ? value_condition_column(clause, NULL) : NULL;
	if (column)
		*columns = list_append_unique_int(*columns, column->varattno);
	return column != NULL;
}

List *
filter_conditions_divide(List *clauses, List **others, List **columns, bool *compared)
{
	List	   *conditions = NIL;
	bool		may_fail = false;

	*others = NIL;
	*compared = false;
	foreach_ptr(Expr, clause, clauses)
	{
		if (!may_fail && is_condition(clause, *others == NIL, columns, compared))
			conditions = lappend(conditions, clause);
		else
		{
			*others = lappend(*others, clause);
			may_fail = may_fail || has_exec_param((Node *) clause, NULL) ||
				clause_may_fail((Node *) clause, NULL);
		}
	}
	return conditions;
}

/* --- conditions of keys */

/* Keys that are as few ranges are compared with these, which takes less time than a look-up. */
#define FEW_RANGES 4

FilterCondition *
key_condition_make(AttrNumber attnum, ColumnKind kind, const int64 *keys, size_t n, bool excluded)
{
	FilterCondition *condition = palloc0_object(FilterCondition);
	LongRange	ranges[FEW_RANGES];
	size_t		nranges;
	KeySet		header;
	KeySet	   *set;

	Assert(kind != COLUMN_KIND_NONE && !column_kind_is_float(kind));
	key_set_plan(keys, n, &header);
	set = MemoryContextAllocHuge(CurrentMemoryContext, header.size);
	key_set_write(&header, keys, n, set);
	condition->attnum = attnum;
	condition->kind = kind;
	condition->nulls = excluded;
	nranges = key_set_ranges(set, ranges, FEW_RANGES);
	if (nranges > FEW_RANGES)
	{
		condition->keys = set;
		condition->excluded = excluded;
		return condition;
	}
	condition->ranges = palloc_array(LongRange, FEW_RANGES + 1);
	condition->nranges = nranges;
	if (excluded)
		condition->nranges = long_ranges_complement(ranges, nranges, condition->ranges);
	else
		memcpy(condition->ranges, ranges, nranges * sizeof(LongRange));
	pfree(set);
	return condition;
}

bool
key_condition_test(const FilterCondition *condition, Datum value, bool isnull)
{
	int64		key;

	if (isnull)
		return condition->nulls;
	key = column_value(condition->kind, value);
	if (condition->keys)
		return key_set_has(condition->keys, key) != condition->excluded;
	return long_ranges_have(condition->ranges, condition->nranges, key);
}
