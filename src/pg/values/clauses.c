/*
 * clauses.c
 *		What is known of clauses before they are evaluated (see clauses.h).
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "nodes/nodeFuncs.h"
#include "nodes/params.h"
#include "regex/regex.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "pg/compat.h"
#include "pg/values/clauses.h"
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

/* A check_functions_callback. */
static bool
is_not_leakproof(Oid function, void *context)
{
	return !get_func_leakproof(function);
}

/*
 * Whether a call is LIKE or NOT LIKE with a pattern that has nothing wrong with it: it cannot fail,
 * although PostgreSQL does not call it leakproof.
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

/*
 * Whether an expression may raise an error, or do anything else but return a value.  context is the
 * ExprContext.
 */
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
			return !clause_known_value((const Expr *) node, (const ExprContext *) context, &value,
								&isnull);
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
				check_functions_in_node(node, is_not_leakproof, NULL))
				return true;
			break;
		default:
			return true;
	}
	return expression_tree_walker(node, may_fail, context);
}

bool
clause_may_fail(const void *clause, const ExprContext *econtext)
{
	return may_fail((Node *) unconstify(void *, clause), unconstify(ExprContext *, econtext));
}
