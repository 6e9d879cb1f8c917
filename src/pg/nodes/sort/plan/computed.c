/*
 * computed.c
 *		Which target lists must be computed for all rows that are sorted, also for rows that are
 *		never returned.
 *
 * PostgreSQL computes a target list below a Sort, for all rows, so that an error in any of them
 * ends the query.  HpSort, which may compute it above the sort, must raise the same error.
 */
#include "postgres.h"

#include "catalog/pg_proc.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "pg/nodes/sort/plan/path.h"
#include "pg/values/values.h"

/*
 * A check_function_callback: returns true if a function is volatile, or may end in an error that
 * depends on its arguments.  Leakproof functions do not, and neither do the common ones listed
 * here, except when memory runs out.
 */
static bool
function_may_fail(Oid function, void *context)
{
	switch (function)
	{
		case F_INT2OUT:
		case F_INT4OUT:
		case F_INT8OUT:
		case F_DATE_OUT:
		case F_TEXTIN:
		case F_TEXTCAT:
		case F_LENGTH_TEXT:
		case F_CHAR_LENGTH_TEXT:
		case F_OCTET_LENGTH_TEXT:
		case F_LEFT:
		case F_RIGHT:
		case F_SUBSTR_TEXT_INT4:
		case F_BTRIM_TEXT:
		case F_LTRIM_TEXT:
		case F_RTRIM_TEXT:
		case F_LOWER_TEXT:
		case F_UPPER_TEXT:
		case F_ABS_FLOAT8:
		case F_ABS_NUMERIC:
		case F_DATE_TIMESTAMP:
			return false;
		default:
			return clause_function_may_fail(function, context) ||
				func_volatile(function) == PROVOLATILE_VOLATILE;
	}
}

/* A walker: returns true if an expression, or a part of it, is volatile or may end in an error. */
static bool
may_fail(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Var:
		case T_Const:
		case T_Param:
		case T_SQLValueFunction:
		case T_CaseTestExpr:
		case T_Aggref:
		case T_WindowFunc:
		case T_GroupingFunc:
			return false;
		case T_List:
		case T_TargetEntry:
		case T_PlaceHolderVar:
		case T_FuncExpr:
		case T_NamedArgExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
		case T_BoolExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_CaseExpr:
		case T_CaseWhen:
		case T_CoalesceExpr:
		case T_RelabelType:
		case T_CollateExpr:
		case T_CoerceViaIO:
		case T_RowExpr:
		case T_RowCompareExpr:
			return check_functions_in_node(node, function_may_fail, context) ||
				expression_tree_walker(node, may_fail, context);
		default:
			/* Domains, subqueries, sets and others. */
			return true;
	}
}

bool
sort_path_may_fail(List *expressions)
{
	return may_fail((Node *) expressions, NULL);
}

/*
 * Returns true if reading a relation may end before its last row: below a join, a LIMIT or a
 * cursor, of this query or of one around it.  For the same reasons core computes expensive
 * expressions above a Sort.
 */
static bool
reading_may_end(const PlannerInfo *root, const RelOptInfo *rel)
{
	if (!bms_equal(rel->top_parent_relids ? rel->top_parent_relids : rel->relids,
				   root->all_baserels))
		return true;
	for (; root != NULL; root = root->parent_root)
		if (root->parse->limitCount != NULL || root->tuple_fraction > 0 ||
			bms_num_members(root->all_baserels) > 1)
			return true;
	return false;
}

bool
sort_path_must_compute(PlannerInfo *root, const RelOptInfo *rel, List *expressions)
{
	/* Most targets are columns, so that the first test is cheap. */
	return sort_path_may_fail(expressions) && reading_may_end(root, rel);
}
