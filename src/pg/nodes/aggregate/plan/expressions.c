/*
 * expressions.c
 *		Of which columns an expression is computed (see expressions.h).
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "pg/nodes/aggregate/plan/expressions.h"
#include "pg/values/values.h"

/* Whether a list of columns has this one. */
static bool
has_column(const List *columns, const Var *column)
{
	ListCell   *lc;

	foreach(lc, columns)
	{
		if (is_same_column(lfirst_node(Var, lc), column))
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
		if (!has_column(columns, column))
			columns = lappend(columns, column);
	}
	if (IsA(node, Var) || columns == NIL)
		return columns;
	return contain_subplans(node) || expression_returns_set(node) ||
		contain_volatile_functions(node) || has_storage(node, NULL) ? NIL : columns;
}

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
	ListCell   *lc;

	foreach(lc, expression_columns(expression))
	{
		RangeTblEntry *rte = planner_rt_fetch(lfirst_node(Var, lc)->varno, root);

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
	ListCell   *lc;

	if (length > 0)
		return length;
	foreach(lc, expression_columns(expression))
		width += column_width(root, lfirst_node(Var, lc));
	return width;
}

int
target_column(const PathTarget *target, const Var *column)
{
	ListCell   *lc;

	foreach(lc, target->exprs)
	{
		const Var  *other = (const Var *) lfirst(lc);

		if (IsA(other, Var) && is_same_column(other, column))
			return foreach_current_index(lc);
	}
	return -1;
}
