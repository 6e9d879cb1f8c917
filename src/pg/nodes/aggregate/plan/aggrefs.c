/*
 * aggrefs.c
 *		Which aggregate calls the node answers, and how (see aggrefs.h).
 *
 * PostgreSQL's aggregates are known by their OIDs, which are fixed, so that a look
 * at a call that is not answered costs next to nothing.  hpsort's are known by their C functions,
 * because an extension's name and schema may be any.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "pg/column/column.h"
#include "pg/compat.h"
#include "pg/functions/functions.h"
#include "pg/multiset/multiset.h"
#include "pg/nodes/aggregate/plan/aggregate_function.h"
#include "pg/nodes/aggregate/plan/aggrefs.h"
#include "pg/nodes/aggregate/plan/expressions.h"
#include "pg/values/values.h"

/*
 * Whether a function is the C function of hpsort at address.  Its symbol is
 * compared first, because fmgr_info loads the library of a C function: those of
 * other extensions are not to be loaded by a look at their aggregates.
 */
static bool
is_function(Oid oid, PGFunction address, const char *symbol)
{
	HeapTuple	tuple;
	Datum		source;
	bool		isnull;
	bool		same;
	FmgrInfo	flinfo;

	/* The quick way out for PostgreSQL's own functions. */
	if (oid < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(oid));
	if (!HeapTupleIsValid(tuple))
		return false;
	source = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull);
	same = ((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId && !isnull &&
		strcmp(TextDatumGetCString(source), symbol) == 0;
	ReleaseSysCache(tuple);
	if (!same)
		return false;
	fmgr_info(oid, &flinfo);
	return flinfo.fn_addr == address;
}

#define IS_FUNCTION(oid, function) is_function(oid, function, #function)

/*
 * Returns which of hpsort's functions a call is of, whatever its arguments.  Looks into system
 * caches, but loads no library of another extension.
 */
static AggregateFunction
own_function(const Aggref *aggref)
{
	AggregateFunction function = AGGREGATE_FUNCTION_NONE;
	HeapTuple	tuple;
	Oid			transition;
	Oid			final;
	bool		internal = aggref->aggtranstype == INTERNALOID;

	/* The state of int4multiset_agg is of the type that it returns. */
	if (aggref->aggfnoid < FirstNormalObjectId ||
		(!internal && (list_length(aggref->aggargtypes) != 1 ||
					   linitial_oid(aggref->aggargtypes) != INT4OID)))
		return AGGREGATE_FUNCTION_NONE;
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
	if (!HeapTupleIsValid(tuple))
		return AGGREGATE_FUNCTION_NONE;
	transition = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggtransfn;
	final = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggfinalfn;
	ReleaseSysCache(tuple);
	if (!internal)
	{
		if (IS_FUNCTION(transition, hpsort_support_multiset_transfn) &&
			IS_FUNCTION(final, hpsort_support_multiset_finalfn))
			function = AGGREGATE_FUNCTION_MULTISET_AGG;
	}
	else if (IS_FUNCTION(transition, hpsort_support_agg_transfn) ||
			 IS_FUNCTION(transition, hpsort_support_agg_transfn_int2) ||
			 IS_FUNCTION(transition, hpsort_support_agg_transfn_int8))
	{
		if (IS_FUNCTION(final, hpsort_support_agg_finalfn))
			function = AGGREGATE_FUNCTION_HPSORT_AGG;
		else if (IS_FUNCTION(final, hpsort_support_runs_agg_finalfn))
			function = AGGREGATE_FUNCTION_HPSORT_RUNS_AGG;
		else if (IS_FUNCTION(final, hpsort_support_keys_agg_finalfn))
			function = AGGREGATE_FUNCTION_HPSORT_KEYS_AGG;
	}
	return function;
}

/*
 * Whether values of a column are, as an expression that is the column relabelled, values of the
 * same kind in the same order.
 */
static bool
is_same_order(const Expr *expression, const Var *column)
{
	Oid			type = getBaseType(exprType((const Node *) expression));
	Oid			column_type = getBaseType(column->vartype);

	return type == column_type ||
		(column_kind(column_type) == COLUMN_KIND_NONE &&
		 lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr ==
		 lookup_type_cache(column_type, TYPECACHE_EQ_OPR)->eq_opr);
}

/* Whether equal values of a type can have one number: a dictionary finds them by their hash. */
static bool
has_dictionary(Oid type, Oid collation)
{
	Oid			base = getBaseType(type);
	Oid			equal = lookup_type_cache(base, TYPECACHE_EQ_OPR)->eq_opr;

	return OidIsValid(equal) && op_hashjoinable(equal, base) &&
		(!OidIsValid(collation) || get_collation_isdeterministic(collation));
}

/* Returns the column that an expression is, of relation rti (0: of any); NULL if it is none. */
static Var *
read_column(const Expr *expression, Index rti)
{
	Var		   *column = plain_column(expression);

	return column && column_is_read(column, rti) ? column : NULL;
}

/*
 * Notes an argument that is a sum or product of decimals, or a decimal that is looked up; false if
 * it is not.  Those with too many digits can only be added up.
 */
static bool
find_decimal(Expr *expression, AggregateAnswer *answer)
{
	BatchArithmetic *arithmetic = batch_arithmetic_make(expression);
	const Var  *column = (const Var *) expression;
	NumericUnit unit;

	if (IsA(column, Var))
		answer->kind = column_value_kind(column->vartype, column->vartypmod);
	if (arithmetic == NULL)
		return answer->kind != COLUMN_KIND_NONE;
	answer->kind = batch_arithmetic_kind(arithmetic, &unit);
	answer->outsized = !batch_arithmetic_is_certain(arithmetic);
	return !answer->outsized || answer->function == AGGREGATE_FUNCTION_SUM ||
		answer->function == AGGREGATE_FUNCTION_AVG;
}

/* Notes an argument whose values are numbered; false if they cannot be. */
static bool
find_numbers(const Expr *expression, AggregateAnswer *answer)
{
	answer->form = DERIVED_NUMBERS;
	answer->kind = COLUMN_KIND_NONE;
	answer->outsized = false;
	return has_dictionary(exprType((const Node *) expression),
						  exprCollation((const Node *) expression));
}

/*
 * Notes the argument that an expression is; false if it is not read.  It is a column of relation
 * rti, perhaps relabelled as the base type of its domain, or computed: another relabelling, such as
 * that of an int4 as an oid, may be in another order, and so may be one that has another collation.
 * Enums are read as OIDs, so that computed ones are in no order.
 */
static bool
find_argument(Expr *expression, Index rti, AggregateAnswer *answer)
{
	Oid			collation = exprCollation((const Node *) expression);
	Var		   *column = read_column(expression, rti);

	if (expression_columns(expression) == NIL)
		return false;
	answer->argument = expression;
	if (column && is_same_order(expression, column))
	{
		answer->column = column;
		answer->kind = column_value_kind(column->vartype, column->vartypmod);
		if (answer->kind != COLUMN_KIND_NONE)
			return true;
		answer->read = dictionary_equal_is_identical(getBaseType(column->vartype),
													 column->vartypmod, collation) ?
			READ_IDENTICAL : READ_EQUAL;
		return collation == column->varcollid && has_dictionary(column->vartype, collation);
	}
	answer->form = DERIVED_VALUES;
	answer->kind = column_value_kind(exprType((const Node *) expression), -1);
	if (answer->kind == COLUMN_KIND_NONE)
		return find_decimal(expression, answer) || find_numbers(expression, answer);
	return answer->kind != COLUMN_KIND_ENUM;
}

/* Conversion functions that keep the order of values. */
static const Oid to_int4[] = {F_INT4_INT2, InvalidOid};
static const Oid to_wider_int[] = {F_INT4_INT2, F_INT8_INT2, F_INT8_INT4, InvalidOid};
static const Oid to_float8[] = {F_FLOAT8_INT2, F_FLOAT8_INT4, F_FLOAT8_INT8, F_FLOAT8_FLOAT4,
F_FLOAT8_NUMERIC, InvalidOid};
static const Oid to_interval[] = {F_INTERVAL_TIME, InvalidOid};

/* Returns the argument of an expression that calls one of some functions; else NULL. */
static Expr *
converted(const Expr *expression, const Oid *functions)
{
	const FuncExpr *function = (const FuncExpr *) expression;

	if (!IsA(expression, FuncExpr))
		return NULL;
	for (; OidIsValid(*functions); functions++)
		if (function->funcid == *functions)
			return (Expr *) linitial(function->args);
	return NULL;
}

/* Whether an expression has one value for a whole execution of the query. */
static bool
is_constant(Node *expression)
{
	return IsA(expression, Const) ||
		(!contain_var_clause(expression) && !contain_agg_clause(expression) &&
		 !contain_subplans(expression) && !contain_volatile_functions(expression));
}

/* Whether all of some expressions have one value for a whole execution. */
static bool
are_constants(const List *expressions)
{
	foreach_ptr(Node, node, expressions)
	{
		if (!is_constant(node))
			return false;
	}
	return true;
}

/*
 * Notes that values are wanted in order; false if their type has none.  A hypothetical-set function
 * shows none of the values, so that it does not matter which of equal ones it would be.
 */
static bool
find_values_order(AggregateAnswer *answer)
{
	const Node *argument = (const Node *) aggref_values(answer);
	int32		typmod = exprTypmod(argument);
	Oid			type = getBaseTypeAndTypmod(exprType(argument), &typmod);

	answer->enum_order = answer->kind == COLUMN_KIND_ENUM;
	answer->ranks = answer->kind == COLUMN_KIND_NONE;
	switch (answer->function)
	{
		case AGGREGATE_FUNCTION_RANK:
		case AGGREGATE_FUNCTION_DENSE_RANK:
		case AGGREGATE_FUNCTION_PERCENT_RANK:
		case AGGREGATE_FUNCTION_CUME_DIST:
			return OidIsValid(lookup_type_cache(type, TYPECACHE_LT_OPR)->lt_opr);
		case AGGREGATE_FUNCTION_PERCENTILE_CONT:
		case AGGREGATE_FUNCTION_PERCENTILE_CONT_ARRAY:
			return !answer->ranks;
		default:
			return !answer->ranks ||
				dictionary_order_exists(type, typmod, exprCollation(argument));
	}
}

/* Notes the order of an argument of this type; false unless it is by the default operator class. */
static bool
find_order(const SortGroupClause *clause, Oid type, AggregateAnswer *answer)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR |
											  TYPECACHE_GT_OPR);

	if (answer->distinct && clause->eqop != entry->eq_opr)
		return false;
	if (clause->sortop != entry->lt_opr && clause->sortop != entry->gt_opr)
		return false;
	answer->descending = clause->sortop == entry->gt_opr;
	answer->nulls_first = clause->nulls_first;
	return find_values_order(answer);
}

/*
 * Does what find_argument does for count, which asks of a value of any type only whether it is
 * NULL.
 */
static bool
find_counted(Expr *expression, Index rti, AggregateAnswer *answer)
{
	Var		   *column = read_column(expression, rti);

	if (expression_columns(expression) == NIL)
		return false;
	answer->argument = expression;
	answer->column = column;
	answer->kind = column ? column_read_kind(column->vartype) :
		column_kind(exprType((const Node *) expression));
	if (column && answer->kind == COLUMN_KIND_NONE)
		answer->read = READ_PRESENCE;
	else if (column == NULL && answer->kind == COLUMN_KIND_NONE)
	{
		answer->form = DERIVED_NULLS;
		answer->kind = COLUMN_KIND_BOOL;
	}
	else if (column == NULL)
		answer->form = DERIVED_VALUES;
	return true;
}

/*
 * Answers count, sum, avg, min, max and what is made of moments, of one argument.  An ORDER BY of
 * that argument changes nothing; one of anything else is an argument more, so that it is not
 * answered.
 */
static bool
answer_summary(const Aggref *aggref, Index rti, AggregateAnswer *answer)
{
	Expr	   *argument;
	bool		ordered = answer->function == AGGREGATE_FUNCTION_MIN ||
	answer->function == AGGREGATE_FUNCTION_MAX;

	if (list_length(aggref->args) != 1)
		return false;
	argument = linitial_node(TargetEntry, aggref->args)->expr;
	answer->needs = AGGREGATE_NEEDS_SUMMARY;
	if (answer->function == AGGREGATE_FUNCTION_COUNT && aggref->aggdistinct == NIL)
		return find_counted(argument, rti, answer);
	if (!find_argument(argument, rti, answer))
		return false;
	/* A sum of floats depends on it. */
	if (aggref->aggorder != NIL && aggref_adds_floats(answer))
		return false;
	if (ordered)
	{
		/* Numbers become ranks when all rows are in, and so do those of runs. */
		if (answer->kind == COLUMN_KIND_NONE)
			answer->needs = AGGREGATE_NEEDS_RUNS;
		return find_values_order(answer);
	}
	/* Numbers of a dictionary can be counted, and neither added up nor combined. */
	if (answer->kind == COLUMN_KIND_NONE && answer->function != AGGREGATE_FUNCTION_COUNT)
		return false;
	answer->distinct = aggref->aggdistinct != NIL;
	if (answer->distinct)
	{
		answer->needs = AGGREGATE_NEEDS_RUNS;
		return !answer->outsized &&
			linitial_node(SortGroupClause, aggref->aggdistinct)->eqop ==
			lookup_type_cache(exprType((const Node *) argument), TYPECACHE_EQ_OPR)->eq_opr;
	}
	return true;
}

/* Notes a number that core casts to float8: as it is before the cast, if it can be read so. */
static bool
find_number(Expr *argument, Index rti, AggregateAnswer *answer)
{
	AggregateAnswer before = *answer;
	Expr	   *inner = converted(argument, to_float8);

	if (inner && find_argument(inner, rti, answer) && answer->kind != COLUMN_KIND_NONE &&
		!answer->outsized)
		return true;
	*answer = before;
	return find_argument(argument, rti, answer);
}

/* Answers corr and its kin, of Y and X, whose values are added up in the order of the rows. */
static bool
answer_regression(const Aggref *aggref, Index rti, AggregateAnswer *answer)
{
	AggregateAnswer *with;

	if (list_length(aggref->args) != 2 || aggref->aggorder != NIL || aggref->aggdistinct != NIL)
		return false;
	answer->needs = AGGREGATE_NEEDS_SUMMARY;
	with = palloc_object(AggregateAnswer);
	*with = *answer;
	answer->with = with;
	return find_number(linitial_node(TargetEntry, aggref->args)->expr, rti, answer) &&
		find_number(lsecond_node(TargetEntry, aggref->args)->expr, rti, with);
}

/* Answers percentiles, mode and the hypothetical-set functions of one sort column. */
static bool
answer_ordered_set(const Aggref *aggref, Index rti, AggregateAnswer *answer)
{
	Expr	   *argument;
	Expr	   *inner = NULL;

	if (list_length(aggref->args) != 1 || list_length(aggref->aggorder) != 1 ||
		!are_constants(aggref->aggdirectargs))
		return false;
	argument = linitial_node(TargetEntry, aggref->args)->expr;
	switch (answer->function)
	{
		case AGGREGATE_FUNCTION_PERCENTILE_CONT:
		case AGGREGATE_FUNCTION_PERCENTILE_CONT_ARRAY:
			inner = converted(argument, to_float8);
			answer->to_float8 = inner != NULL || exprType((const Node *) argument) == FLOAT8OID;
			if (!answer->to_float8 && (inner = converted(argument, to_interval)) == NULL)
				return false;
			break;
		case AGGREGATE_FUNCTION_RANK:
		case AGGREGATE_FUNCTION_DENSE_RANK:
		case AGGREGATE_FUNCTION_PERCENT_RANK:
		case AGGREGATE_FUNCTION_CUME_DIST:
			/* The direct argument may be wider than the column: it has a rank nevertheless. */
			inner = converted(argument, to_wider_int);
			break;
		default:
			break;
	}
	answer->needs = AGGREGATE_NEEDS_RUNS;
	return find_argument(inner != NULL ? inner : argument, rti, answer) &&
		find_order(linitial_node(SortGroupClause, aggref->aggorder),
				   exprType((const Node *) argument), answer);
}

/*
 * Answers array_agg and string_agg of one argument in the order of that argument, which DISTINCT
 * makes too, and of a delimiter whose evaluation cannot fail: it is evaluated where there is no
 * row, too.
 */
static bool
answer_list(const Aggref *aggref, Index rti, AggregateAnswer *answer)
{
	const List *order = aggref->aggdistinct != NIL ? aggref->aggdistinct : aggref->aggorder;
	bool		delimited = answer->function == AGGREGATE_FUNCTION_STRING_AGG;
	const TargetEntry *argument;
	const SortGroupClause *clause;

	if (list_length(aggref->args) != (delimited ? 2 : 1) || order == NIL)
		return false;
	argument = linitial_node(TargetEntry, aggref->args);
	clause = linitial_node(SortGroupClause, order);
	if (delimited)
	{
		const Param *delimiter = (const Param *) lsecond_node(TargetEntry, aggref->args)->expr;

		if (!IsA(delimiter, Const) &&
			!(IsA(delimiter, Param) && delimiter->paramkind == PARAM_EXTERN))
			return false;
	}
	answer->distinct = aggref->aggdistinct != NIL;
	answer->needs = AGGREGATE_NEEDS_RUNS;
	return clause->tleSortGroupRef == argument->ressortgroupref &&
		find_argument(argument->expr, rti, answer) &&
		find_order(clause, exprType((const Node *) argument->expr), answer);
}

/*
 * Answers hpsort's aggregates: an argument, and bounds and direction that have one value for all
 * rows.  An ORDER BY beside an explicit direction is left to the aggregate, which complains if
 * they differ.
 */
static bool
answer_hpsort(const Aggref *aggref, Index rti, AggregateAnswer *answer)
{
	const TargetEntry *argument;
	Expr	   *inner;

	if (aggref->aggdistinct != NIL || aggref->args == NIL)
		return false;
	argument = linitial_node(TargetEntry, aggref->args);
	for (int i = 1; i < list_length(aggref->args); i++)
	{
		const TargetEntry *option = list_nth_node(TargetEntry, aggref->args, i);

		if (option->resjunk || !is_constant((Node *) option->expr))
			return false;
	}
	inner = converted(argument->expr, to_int4);
	if (!find_argument(inner != NULL ? inner : argument->expr, rti, answer) ||
		answer->column == NULL || !column_type_is_key(answer->column->vartype))
		return false;
	answer->needs = AGGREGATE_NEEDS_RUNS;
	if (aggref->aggorder != NIL)
	{
		const SortGroupClause *clause = linitial_node(SortGroupClause, aggref->aggorder);

		return list_length(aggref->args) < 4 &&
			clause->tleSortGroupRef == argument->ressortgroupref &&
			find_order(clause, exprType((const Node *) argument->expr), answer);
	}
	return true;
}

/*
 * Whether core's functions can compute an aggregate row by row.  For one that wants its rows in an
 * order they would have to be kept.
 */
static bool
is_computed_by_core(const Aggref *aggref)
{
	if (aggref->aggkind != AGGKIND_NORMAL || aggref->aggorder != NIL ||
		aggref->aggdistinct != NIL || aggref->agglevelsup != 0 ||
		aggref->aggsplit != AGGSPLIT_SIMPLE)
		return false;
	foreach_node(TargetEntry, target, aggref->args)
	{
		Expr	   *argument = target->expr;

		if (expression_columns(argument) == NIL && !is_constant((Node *) argument))
			return false;
	}
	return true;
}

bool
aggref_adds_floats(const AggregateAnswer *answer)
{
	if (answer->with)
		return answer->function != AGGREGATE_FUNCTION_COUNT;
	return column_kind_is_float(answer->kind) && answer->needs != AGGREGATE_NEEDS_RUNS &&
		answer->function != AGGREGATE_FUNCTION_COUNT &&
		answer->function != AGGREGATE_FUNCTION_MIN && answer->function != AGGREGATE_FUNCTION_MAX;
}

/* Whether a function's state is its result. */
static bool
is_own_state(const Aggref *aggref, AggregateFunction function)
{
	switch (function)
	{
		case AGGREGATE_FUNCTION_COUNT_ROWS:
		case AGGREGATE_FUNCTION_COUNT:
		case AGGREGATE_FUNCTION_SUM:
		case AGGREGATE_FUNCTION_MIN:
		case AGGREGATE_FUNCTION_MAX:
			return aggref->aggtranstype == aggref->aggtype;
		default:
			return false;
	}
}

bool
aggref_is_partial(const Aggref *aggref, const AggregateAnswer *answer)
{
	return is_own_state(aggref, answer->function) && !answer->distinct &&
		!aggref_adds_floats(answer);
}

bool
aggref_may_be_answered(const Aggref *aggref)
{
	return aggref->aggfnoid >= FirstNormalObjectId ||
		(aggref->aggorder == NIL && aggref->aggdistinct == NIL) ||
		aggregate_core_function(aggref->aggfnoid) != AGGREGATE_FUNCTION_NONE;
}

/* Does what aggref_answer does for calls of known functions. */
static bool
known_answer(const Aggref *aggref, Index rti, AggregateAnswer *answer)
{
	if (answer->function == AGGREGATE_FUNCTION_NONE || DO_AGGSPLIT_COMBINE(aggref->aggsplit) ||
		(DO_AGGSPLIT_SKIPFINAL(aggref->aggsplit) && !aggref_has_state(answer) &&
		 !is_own_state(aggref, answer->function)) ||
		aggref->agglevelsup != 0 || aggref->aggvariadic)
		return false;
	switch (answer->function)
	{
		case AGGREGATE_FUNCTION_COUNT_ROWS:
			answer->needs = AGGREGATE_NEEDS_ROWS;
			return true;
		case AGGREGATE_FUNCTION_REGRESSION:
			return answer_regression(aggref, rti, answer);
		case AGGREGATE_FUNCTION_COUNT:
			return aggref->aggfnoid == F_REGR_COUNT ? answer_regression(aggref, rti, answer) :
				answer_summary(aggref, rti, answer);
		case AGGREGATE_FUNCTION_SUM:
		case AGGREGATE_FUNCTION_AVG:
		case AGGREGATE_FUNCTION_MIN:
		case AGGREGATE_FUNCTION_MAX:
		case AGGREGATE_FUNCTION_VAR_POP:
		case AGGREGATE_FUNCTION_VAR_SAMP:
		case AGGREGATE_FUNCTION_STDDEV_POP:
		case AGGREGATE_FUNCTION_STDDEV_SAMP:
		case AGGREGATE_FUNCTION_BIT_AND:
		case AGGREGATE_FUNCTION_BIT_OR:
		case AGGREGATE_FUNCTION_BIT_XOR:
			return answer_summary(aggref, rti, answer);
		case AGGREGATE_FUNCTION_ARRAY_AGG:
		case AGGREGATE_FUNCTION_STRING_AGG:
			return answer_list(aggref, rti, answer);
		case AGGREGATE_FUNCTION_HPSORT_AGG:
		case AGGREGATE_FUNCTION_HPSORT_RUNS_AGG:
		case AGGREGATE_FUNCTION_HPSORT_KEYS_AGG:
		case AGGREGATE_FUNCTION_MULTISET_AGG:
			return answer_hpsort(aggref, rti, answer);
		default:
			return answer_ordered_set(aggref, rti, answer);
	}
}

bool
aggref_answer(const Aggref *aggref, Index rti, AggregateAnswer *answer)
{
	bool		own = false;

	memset(answer, 0, sizeof(*answer));
	answer->function = aggregate_core_function(aggref->aggfnoid);
	if (answer->function == AGGREGATE_FUNCTION_NONE)
	{
		answer->function = own_function(aggref);
		own = answer->function != AGGREGATE_FUNCTION_NONE;
	}
	if (known_answer(aggref, rti, answer))
		return true;
	memset(answer, 0, sizeof(*answer));
	answer->function = AGGREGATE_FUNCTION_CORE;
	return !own && is_computed_by_core(aggref);
}

bool
aggref_is_looked_up(const AggregateAnswer *answer, bool grouped)
{
	/* A GPU knows neither floats nor the order of values that have numbers. */
	if (column_kind_is_float(answer->kind) || answer->ranks || answer->with)
		return false;
	switch (answer->function)
	{
		case AGGREGATE_FUNCTION_COUNT_ROWS:
		case AGGREGATE_FUNCTION_MIN:
		case AGGREGATE_FUNCTION_MAX:
		case AGGREGATE_FUNCTION_PERCENTILE_DISC:
		case AGGREGATE_FUNCTION_PERCENTILE_DISC_ARRAY:
		case AGGREGATE_FUNCTION_PERCENTILE_CONT:
		case AGGREGATE_FUNCTION_PERCENTILE_CONT_ARRAY:
			return !answer->enum_order;
		case AGGREGATE_FUNCTION_COUNT:
			return !answer->distinct || !grouped;
		case AGGREGATE_FUNCTION_SUM:
		case AGGREGATE_FUNCTION_AVG:
			return !answer->distinct && answer->kind != COLUMN_KIND_NUMERIC;
		default:
			return false;
	}
}
