/*
 * clause_values.c
 *		Clauses of a filter before they are evaluated (see clause_values.h).
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "nodes/params.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "pg/values/clause_values.h"
#include "pg/values/plain_column.h"

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

/* A check_functions_callback; numerics are compared without fail, which PostgreSQL does not say. */
static bool
is_not_leakproof(Oid function, void *context)
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
			if (!is_plain_like(node) && check_functions_in_node(node, is_not_leakproof, NULL))
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
	return may_fail(unconstify(Node *, clause), unconstify(ExprContext *, econtext));
}
