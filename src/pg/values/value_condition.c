/*
 * value_condition.c
 *		Clauses before they are evaluated, and those of one column, evaluated once for each value
 *		(see value_condition.h).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupmacs.h"
#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "jit/jit.h"
#include "nodes/nodeFuncs.h"
#include "nodes/params.h"
#include "optimizer/optimizer.h"
#include "regex/regex.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "pg/compat.h"
#include "pg/values/dictionary.h"
#include "pg/values/plain_column.h"
#include "pg/values/value.h"
#include "pg/values/value_condition.h"

/* Bytes of the values of which results are known, beside the node's memory. */
#define KNOWN_VALUES_MEMORY (128 * 1024)

/* What is known of a value. */
#define RESULT_UNKNOWN	0
#define RESULT_REFUSED	1
#define RESULT_ACCEPTED 2

struct ValueCondition
{
	ExprState  *state;			/* of the column of the outer slot */
	ExprContext *econtext;
	TupleTableSlot *slot;
	int16		typlen;			/* of values, as typbyval is */
	bool		typbyval;
	Dictionary *dictionary;
	uint8	   *results;		/* by number */
	size_t		room;			/* of results */
};

/* --- clauses before they are evaluated */

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

bool
clause_known_value(const Expr *expression, const ExprContext *econtext, Datum *value, bool *isnull)
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

bool
clause_function_may_fail(Oid function, void *context)
{
	switch (function)
	{
		case F_NUMERIC_EQ:
		case F_NUMERIC_NE:
		case F_NUMERIC_LT:
		case F_NUMERIC_LE:
		case F_NUMERIC_GT:
		case F_NUMERIC_GE:
			return false;
		default:
			return !get_func_leakproof(function);
	}
}

/*
 * Whether a call cannot fail although PostgreSQL does not call it leakproof: LIKE and NOT LIKE with
 * a pattern that has nothing wrong with it.
 */
static bool
is_plain_like(const Node *node)
{
	const OpExpr *call = (const OpExpr *) node;
	const Const *pattern;

	if (!IsA(node, OpExpr) ||
		(call->opfuncid != F_TEXTLIKE && call->opfuncid != F_TEXTNLIKE))
		return false;
	pattern = (const Const *) lsecond(call->args);
	return IsA(pattern, Const) && !pattern->constisnull &&
		strchr(TextDatumGetCString(pattern->constvalue), '\\') == NULL &&
		OidIsValid(call->inputcollid) && get_collation_isdeterministic(call->inputcollid);
}

/*
 * Whether a call matches texts with a regular expression that has nothing wrong with it: it cannot
 * fail either.
 */
static bool
is_plain_regex(const Node *node)
{
	const OpExpr *call = (const OpExpr *) node;
	bool		icase = IsA(node, OpExpr) && (call->opfuncid == F_TEXTICREGEXEQ ||
											  call->opfuncid == F_TEXTICREGEXNE);
	const Const *pattern;
	const char *bytes;
	pg_wchar   *wide;
	regex_t		regex;
	bool		plain;

	if (!IsA(node, OpExpr) || (!icase && call->opfuncid != F_TEXTREGEXEQ &&
							   call->opfuncid != F_TEXTREGEXNE))
		return false;
	pattern = (const Const *) lsecond(call->args);
	if (!IsA(pattern, Const) || pattern->constisnull || !OidIsValid(call->inputcollid) ||
		!get_collation_isdeterministic(call->inputcollid))
		return false;
	bytes = TextDatumGetCString(pattern->constvalue);
	wide = palloc_array(pg_wchar, strlen(bytes) + 1);
	plain = pg_regcomp(&regex, wide, pg_mb2wchar(bytes, wide),
					   REG_ADVANCED | (icase ? REG_ICASE : 0), call->inputcollid) == REG_OKAY;
	if (plain)
		pg_regfree(&regex);
	return plain;
}

/* Does what clause_may_fail does; context is the ExprContext. */
static bool
may_fail(Node *node, void *context)
{
	Datum		value;
	bool		isnull;

	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Param:
			/* Perhaps of a subquery that is run when its value is wanted. */
			return !clause_known_value((const Expr *) node, (const ExprContext *) context,
									   &value, &isnull);
		case T_List:
		case T_Var:
		case T_Const:
		case T_BoolExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_RelabelType:
		case T_CoalesceExpr:
			break;
		case T_OpExpr:
		case T_FuncExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
			if (!is_plain_like(node) && !is_plain_regex(node) &&
				check_functions_in_node(node, clause_function_may_fail, NULL))
				return true;
			break;
		default:
			return true;
	}
	return expression_tree_walker(node, may_fail, context);
}

bool
clause_may_fail(const Node *clause, const ExprContext *econtext)
{
	Node	   *node = unconstify(Node *, clause);

	/* A function that cannot fail may still do something. */
	return may_fail(node, unconstify(ExprContext *, econtext)) || contain_volatile_functions(node);
}

/* --- clauses of one column */

Var *
value_condition_column(const Expr *clause, const ExprContext *econtext)
{
	List	   *columns = pull_var_clause(unconstify(Node *, (const Node *) clause), 0);
	Var		   *first;

	if (columns == NIL)
		return NULL;
	first = linitial_node(Var, columns);
	foreach_node(Var, column, columns)
	{
		if (column->varattno != first->varattno)
			return NULL;
	}
	return first->varattno > 0 &&
		column_value_kind(first->vartype, first->vartypmod) == COLUMN_KIND_NONE &&
		!clause_may_fail((const Node *) clause, econtext) &&
		!contain_volatile_functions(unconstify(Node *, (const Node *) clause)) ? first : NULL;
}

/* In place of the column, that of the outer slot. */
static Node *
replace_column(Node *node, void *context)
{
	Var		   *column;

	if (node == NULL || !IsA(node, Var))
		return node ? expression_tree_mutator(node, replace_column, context) : NULL;
	column = copyObject((Var *) node);
	column->varno = OUTER_VAR;
	column->varattno = 1;
	return (Node *) column;
}

bool
value_condition_accepts(ValueCondition *condition, Datum value, bool isnull)
{
	bool		accepted;

	condition->slot->tts_values[0] = value;
	condition->slot->tts_isnull[0] = isnull;
	condition->econtext->ecxt_outertuple = condition->slot;
	ResetExprContext(condition->econtext);
	accepted = DatumGetBool(ExecEvalExprSwitchContext(condition->state, condition->econtext,
													  &isnull));
	return accepted && !isnull;
}

ValueCondition *
value_condition_make(const Expr *clause, const Var *column, PlanState *parent,
					 ExprContext *econtext, bool *nulls)
{
	ValueCondition *condition = palloc0_object(ValueCondition);
	TupleDesc	desc = CreateTemplateTupleDesc(1);
	Node	   *expression = unconstify(Node *, (const Node *) clause);
	int			jit_flags;

	TupleDescInitEntry(desc, 1, NULL, column->vartype, column->vartypmod, 0);
	TupleDescInitEntryCollation(desc, 1, column->varcollid);
	TupleDescFinalize(desc);
	condition->slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	ExecStoreAllNullTuple(condition->slot);
	jit_flags = clause_set_jit(parent, PGJIT_NONE);
	condition->state = ExecInitExpr((Expr *) replace_column(expression, NULL), parent);
	clause_set_jit(parent, jit_flags);
	condition->econtext = econtext;
	get_typlenbyval(column->vartype, &condition->typlen, &condition->typbyval);
	condition->dictionary = dictionary_make_identical(column->vartype);
	dictionary_begin(condition->dictionary, KNOWN_VALUES_MEMORY);
	dictionary_may_give_up(condition->dictionary, true);
	*nulls = value_condition_accepts(condition, (Datum) 0, true);
	return condition;
}

/* Whether the value that has a number is accepted. */
static bool
is_accepted(ValueCondition *condition, uint32 number)
{
	if (number >= condition->room)
	{
		size_t		before = condition->room;

		condition->room = Max(number + 1, Max(2 * before, 256));
		condition->results = before ? repalloc(condition->results, condition->room) :
			MemoryContextAlloc(GetMemoryChunkContext(condition), condition->room);
		memset(condition->results + before, RESULT_UNKNOWN, condition->room - before);
	}
	if (condition->results[number] == RESULT_UNKNOWN)
		condition->results[number] =
			value_condition_accepts(condition, dictionary_value(condition->dictionary, number),
									false) ? RESULT_ACCEPTED : RESULT_REFUSED;
	return condition->results[number] == RESULT_ACCEPTED;
}

void
value_condition_test(ValueCondition *condition, const char *const *data, int offset, int n,
					 const char *null, const uint8 *skip, uint8 *passed)
{
	int32		numbers[MaxHeapTuplesPerPage];
	bool		numbered = !dictionary_is_given_up(condition->dictionary);

	if (numbered)
		dictionary_read(condition->dictionary, data, offset, n, null, numbers);
	for (int i = 0; i < n; i++)
	{
		if (data[i] == null || (skip && skip[i]))
			passed[i] = false;
		else if (numbered && numbers[i] >= 0)
			passed[i] = is_accepted(condition, numbers[i]);
		else
			passed[i] = value_condition_accepts(condition,
												fetch_att(data[i] + offset, condition->typbyval,
														  condition->typlen), false);
	}
	if (numbered)
		dictionary_forget_refused(condition->dictionary);
}
