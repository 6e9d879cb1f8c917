/*
 * expressions.c
 *		Of which columns an expression is computed (see expressions.h).
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
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

BatchArithmetic *
expression_arithmetic(Expr *expression, Index rti)
{
	BatchArithmetic *arithmetic = batch_arithmetic_make(expression);
	const Var  *column;
	int			c;

	for (c = 0; arithmetic && (column = batch_arithmetic_column(arithmetic, c)) != NULL; c++)
		if (!column_is_read(column, rti))
			return NULL;
	return arithmetic;
}
