/*
 * expressions.c
 *		Of which columns an expression is computed (see expressions.h).
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/fmgrtab.h"
#include "utils/lsyscache.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/plan/expressions.h"
#include "pg/values/values.h"

bool
columns_have(const List *columns, const Var *column)
{
	foreach_node(Var, other, columns)
	{
		if (is_same_column(other, column))
			return true;
	}
	return false;
}

/* Whether a function says how a value is stored, which a dictionary does not keep. */
static bool
is_of_storage(Oid function, void *context)
{
	switch (function)
	{
		case F_PG_COLUMN_SIZE:
		case F_PG_COLUMN_COMPRESSION:
#ifdef F_PG_COLUMN_TOAST_CHUNK_ID
		case F_PG_COLUMN_TOAST_CHUNK_ID:
#endif
			return true;
		default:
			return false;
	}
}

static bool
has_storage(Node *node, void *context)
{
	return node && (check_functions_in_node(node, is_of_storage, NULL) ||
					expression_tree_walker(node, has_storage, NULL));
}

List *
expression_columns(const Expr *expression)
{
	Node	   *node = unconstify(Node *, (const Node *) expression);
	List	   *columns = NIL;
	ListCell   *lc;

	foreach(lc, pull_var_clause(node, PVC_INCLUDE_AGGREGATES | PVC_INCLUDE_WINDOWFUNCS |
								PVC_INCLUDE_PLACEHOLDERS))
	{
		Var		   *column = (Var *) lfirst(lc);

		if (!IsA(column, Var) || column->varlevelsup != 0 || column->varattno <= 0 ||
			get_typlen(column->vartype) == -2)
			return NIL;
		if (!columns_have(columns, column))
			columns = lappend(columns, column);
	}
	if (IsA(node, Var) || columns == NIL)
		return columns;
	return contain_subplans(node) || expression_returns_set(node) ||
		contain_volatile_functions(node) || has_storage(node, NULL) ? NIL : columns;
}

Expr *
expression_where(Expr *condition, Expr *expression)
{
	CaseExpr   *result = makeNode(CaseExpr);
	CaseWhen   *when = makeNode(CaseWhen);

	when->expr = condition;
	when->result = expression;
	when->location = -1;
	result->casetype = exprType((Node *) expression);
	result->args = list_make1(when);
	result->defresult = (Expr *) makeNullConst(result->casetype, -1, InvalidOid);
	result->location = -1;
	return (Expr *) result;
}

/* --- which may be tried */

/* Whether a type, or that of a domain, is of these categories. */
static bool
is_of_categories(Oid type, const char *categories)
{
	char		category;
	bool		preferred;

	get_type_category_preferred(getBaseType(type), &category, &preferred);
	return strchr(categories, category) != NULL;
}

/*
 * For check_functions_in_node: whether a function may do more than compute.  Stable ones read
 * catalogs, unless they are of times, and functions in SQL run queries.
 */
static bool
is_no_computation(Oid function, void *context)
{
	const char	times[] = {TYPCATEGORY_DATETIME, TYPCATEGORY_TIMESPAN, 0};
	Oid		   *types;
	int			ntypes;
	bool		any;

	if (function > fmgr_last_builtin_oid ||
		fmgr_builtin_oid_index[function] == InvalidOidBuiltinMapping)
		return true;
	if (func_volatile(function) != PROVOLATILE_STABLE)
		return func_volatile(function) == PROVOLATILE_VOLATILE;
	any = is_of_categories(get_func_signature(function, &types, &ntypes), times);
	for (int i = 0; i < ntypes; i++)
		any |= is_of_categories(types[i], times);
	return !any;
}

static bool
may_not_be_tried(Node *node, void *context)
{
	const char	plain[] = {
		TYPCATEGORY_BOOLEAN, TYPCATEGORY_NUMERIC, TYPCATEGORY_DATETIME, TYPCATEGORY_TIMESPAN,
		TYPCATEGORY_STRING, 0
	};

	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_List:
		case T_CaseWhen:
			break;
		case T_Const:
			return false;
		case T_Param:
			/* Perhaps of a subquery that is run when its value is wanted. */
			if (((const Param *) node)->paramkind != PARAM_EXTERN)
				return true;
			break;
		case T_Var:
		case T_CaseTestExpr:
		case T_SQLValueFunction:
		case T_FuncExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
		case T_BoolExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_CaseExpr:
		case T_CoalesceExpr:
		case T_MinMaxExpr:
		case T_RelabelType:
		case T_CollateExpr:
		case T_CoerceViaIO:
			if (!is_of_categories(exprType(node), plain) && exprType(node) != UUIDOID)
				return true;
			break;
		default:
			return true;
	}
	return check_functions_in_node(node, is_no_computation, NULL) ||
		expression_tree_walker(node, may_not_be_tried, NULL);
}

bool
expression_may_be_tried(const Expr *expression)
{
	return !may_not_be_tried(unconstify(Node *, (const Node *) expression), NULL);
}

bool
expression_equal_is_identical(const Expr *expression)
{
	const Node *node = (const Node *) expression;

	/* Decimals without digits behind the point. */
	if (IsA(node, FuncExpr) && ((const FuncExpr *) node)->funcid == F_EXTRACT_TEXT_DATE)
		return true;
	return dictionary_equal_is_identical(exprType(node), exprTypmod(node), exprCollation(node));
}

/* --- where values come from */

/* Stops at rows that a function returns, or another server. */
static bool
has_foreign_rows(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
		return ((RangeTblEntry *) node)->rtekind == RTE_FUNCTION ||
			((RangeTblEntry *) node)->relkind == RELKIND_FOREIGN_TABLE;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, has_foreign_rows, context,
								 QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, has_foreign_rows, context);
}

bool
expression_has_typmods(const PlannerInfo *root, const Expr *expression)
{
	foreach_node(Var, column, expression_columns(expression))
	{
		RangeTblEntry *rte = planner_rt_fetch(column->varno, root);

		if (rte->rtekind != RTE_RELATION && rte->rtekind != RTE_SUBQUERY)
			return false;
		if (has_foreign_rows((Node *) rte, NULL) || has_foreign_rows((Node *) rte->subquery, NULL))
			return false;
	}
	return true;
}

double
column_width(PlannerInfo *root, const Var *column)
{
	const RelOptInfo *rel = find_base_rel(root, column->varno);
	int32		width = rel->attr_widths[column->varattno - rel->min_attr];

	return width > 0 ? width : get_typavgwidth(column->vartype, column->vartypmod);
}

double
expression_width(PlannerInfo *root, const Expr *expression)
{
	int16		length = get_typlen(exprType((const Node *) expression));
	double		width = 0;

	if (length > 0)
		return length;
	foreach_node(Var, column, expression_columns(expression))
		width += column_width(root, column);
	return width;
}

int
target_column(const PathTarget *target, const Var *column)
{
	foreach_ptr(const Var, other, target->exprs)
	{
		if (IsA(other, Var) && is_same_column(other, column))
			return foreach_current_index(other);
	}
	return -1;
}
