/*
 * changing_limit.c
 *		LIMITs that may change while a query runs (see changing_limit.h).
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "pg/changing_limit.h"

/* Whether an expression depends on anything that is set while the query runs. */
static bool
is_set_by_execution(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var) || IsA(node, SubLink) || IsA(node, SubPlan) ||
		(IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC))
		return true;
	return expression_tree_walker(node, is_set_by_execution, context);
}

/* Whether an expression of a LIMIT may have another value when it is executed again. */
static bool
may_change(Node *expression)
{
	return is_set_by_execution(expression, NULL) || contain_volatile_functions(expression);
}

bool
limit_may_change(const PlannerInfo *root)
{
	/* The outermost query is executed once. */
	for (; root->parent_root != NULL; root = root->parent_root)
		if (may_change(root->parse->limitCount) || may_change(root->parse->limitOffset))
			return true;
	return false;
}
