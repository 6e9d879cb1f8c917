/*
 * path_bound.c
 *		What bounds the rows that a sort has to return.
 *
 * Core makes a condition of an outer query on a window function, as rank <= 3, the run condition
 * of the subquery's WindowAgg.  The WindowAgg ends a group with the first row for which the
 * condition is false, and the topmost WindowAgg of a query does not return this row.  Rows behind
 * it need not reach the topmost WindowAgg if none of its functions looks at rows behind the
 * current one. Windows below it have been computed by then.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "pg/compat.h"
#include "pg/nodes/sort/plan/path.h"
#include "pg/values/values.h"

/* Returns true if an expression, or a part of it that is no constant, is a member of exprs. */
static bool
shares_expression(Node *node, void *exprs)
{
	if (node == NULL || IsA(node, Const))
		return false;
	if (list_member((List *) exprs, node))
		return true;
	return expression_tree_walker(node, shares_expression, exprs);
}

/*
 * Returns no bound, too, if a parameter of LIMIT or OFFSET is also a column of target.  setrefs.c
 * would have it read from this column, but LIMIT is evaluated before there is a row.
 */
HpSortBound
sort_path_limit(PlannerInfo *root, PathTarget *target)
{
	const HpSortBound none = {0};
	HpSortBound bound = none;
	Query	   *parse = root->parse;
	Node	   *exprs[2];

	if (parse->limitCount == NULL || parse->limitOption != LIMIT_OPTION_COUNT ||
		parse->rowMarks != NIL || parse->hasTargetSRFs)
		return none;
	exprs[0] = parse->limitCount;
	exprs[1] = parse->limitOffset;
	for (int i = 0; i < 2 && exprs[i]; i++)
	{
		Node	   *estimate;

		if (contain_mutable_functions(exprs[i]) || contain_subplans(exprs[i]) ||
			contain_vars_of_level(exprs[i], 0) || shares_expression(exprs[i], target->exprs))
			return none;
		estimate = estimate_expression_value(root, exprs[i]);
		if (estimate && IsA(estimate, Const))
		{
			if (((Const *) estimate)->constisnull)
			{
				if (i == 0)
					return none;
			}
			else
				bound.rows += Max(0, DatumGetInt64(((Const *) estimate)->constvalue));
		}
		else
			bound.rows += 1000; /* nothing is known */
		bound.exprs = lappend(bound.exprs, exprs[i]);
	}
	return bound;
}

bool
sort_path_workers_know(const HpSortBound *bound)
{
	foreach_ptr(const Node, node, bound->exprs)
	{
		if (!IsA(node, Const) &&
			!(IsA(node, Param) && ((const Param *) node)->paramkind == PARAM_EXTERN))
			return false;
	}
	return true;
}

/*
 * Returns what a window function counts; GROUP_BOUND_NONE unless it is one of the three that
 * depend on no later row.
 */
static GroupBoundKind
counting_kind(const WindowFunc *function)
{
	switch (function->winfnoid)
	{
		case F_ROW_NUMBER:
			return GROUP_BOUND_ROWS;
		case F_RANK_:
			return GROUP_BOUND_RANKS;
		case F_DENSE_RANK_:
			return GROUP_BOUND_DENSE_RANKS;
		default:
			return GROUP_BOUND_NONE;
	}
}

/* Returns true if an expression has a function of this window that may depend on later rows. */
static bool
looks_ahead(Node *node, void *window)
{
	if (node == NULL)
		return false;
	if (IsA(node, WindowFunc) &&
		((WindowFunc *) node)->winref == ((WindowClause *) window)->winref &&
		counting_kind((WindowFunc *) node) == GROUP_BOUND_NONE)
		return true;
	return expression_tree_walker(node, looks_ahead, window);
}

/* Sets *bound by one run condition of a WindowAgg; returns false if it bounds nothing. */
static bool
run_condition_bound(PlannerInfo *root, const OpExpr *condition, HpSortBound *bound)
{
	Node	   *function = (Node *) linitial(condition->args);
	Node	   *value = (Node *) lsecond(condition->args);
	Oid			operator = condition->opno;
	Node	   *estimate;

	if (!IsA(function, WindowFunc))
	{
		function = value;
		value = (Node *) linitial(condition->args);
		operator = get_commutator(operator);
	}
	if (!IsA(function, WindowFunc) || !OidIsValid(operator))
		return false;
	bound->kind = counting_kind((WindowFunc *) function);
	switch (get_op_opfamily_strategy(operator, INTEGER_BTREE_FAM_OID))
	{
		case BTLessStrategyNumber:
			bound->exclusive = true;
			break;
		case BTLessEqualStrategyNumber:
			bound->exclusive = false;
			break;
		default:
			return false;
	}
	/* Other functions may have run conditions, too, as ntile() with an int4. */
	if (bound->kind == GROUP_BOUND_NONE || contain_mutable_functions(value) ||
		contain_subplans(value) ||
		contain_vars_of_level(value, 0))
		return false;
	bound->exprs = list_make1(value);
	bound->rows = 10;			/* nothing is known */
	estimate = estimate_expression_value(root, value);
	if (IsA(estimate, Const))
		bound->rows = ((Const *) estimate)->constisnull ? 0 :
			column_value(column_builtin_kind(exprType(value)), ((Const *) estimate)->constvalue);
	bound->rows = Max(bound->rows - (bound->exclusive ? 1 : 0), 1);
	return true;
}

/* Options of a frame that ends with the current row. */
#define FRAME_OF_ROW (FRAMEOPTION_ROWS | FRAMEOPTION_END_CURRENT_ROW)

/* Sets *bound by a WindowAgg; returns false if it keeps more than first rows of groups. */
static bool
window_bound(PlannerInfo *root, const WindowAggPath *path, HpSortBound *bound)
{
	WindowClause *window = path->winclause;
	ListCell   *lc;

	if (!path->topwindow)
		return false;
	foreach(lc, compat_window_run_condition(path))
	{
		if (IsA(lfirst(lc), OpExpr) && run_condition_bound(root, lfirst_node(OpExpr, lc), bound))
			break;
	}
	if (lc == NULL || expression_tree_walker((Node *) path->path.pathtarget->exprs, looks_ahead,
											 window))
		return false;

	/*
	 * The WindowAgg computes its target list, which is not final yet, also for the row that ends
	 * a group.  It computes it for later rows as well, if it has read them to find the end of the
	 * frame.  It reads none if the frame ends with the current row, which from PostgreSQL 16 on
	 * is so for functions that only count rows.
	 */
	bound->next = sort_path_may_fail(root->processed_tlist);
	if (bound->next && (window->frameOptions & FRAME_OF_ROW) != FRAME_OF_ROW)
		return false;

	/* Without ORDER BY all rows of a group are peers, so that ranks bound nothing. */
	bound->pathkeys = make_pathkeys_for_sortclauses(root,
													list_concat_copy(window->partitionClause,
																	 window->orderClause),
													root->processed_tlist);
	bound->ngroup = list_length(make_pathkeys_for_sortclauses(root, window->partitionClause,
															  root->processed_tlist));
	return bound->kind == GROUP_BOUND_ROWS || bound->ngroup < list_length(bound->pathkeys);
}

bool
sort_path_group_bound(PlannerInfo *root, const Path *path, HpSortBound *bound)
{
	memset(bound, 0, sizeof(*bound));
	if (IsA(path, WindowAggPath))
		return compat_window_run_condition((const WindowAggPath *) path) != NIL &&
			window_bound(root, (const WindowAggPath *) path, bound);
	if (!IsA(path, UpperUniquePath))
		return false;

	/* DISTINCT ON, or DISTINCT: the first row of each group. */
	bound->kind = GROUP_BOUND_ROWS;
	bound->ngroup = ((const UpperUniquePath *) path)->numkeys;
	bound->rows = 1;
	bound->exprs = list_make1(makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(1),
										false,
										FLOAT8PASSBYVAL));
	return true;
}

bool
sort_path_fit_group_bound(PlannerInfo *root, Path *subpath, const HpSortColumns *columns,
						  HpSortBound *bound)
{
	double		rows = subpath->rows;
	double		each = bound->rows;
	double		peers = 1;

	if (columns->key_only || columns->nmapped - (columns->exact ? 0 : 1) < bound->ngroup ||
		(bound->pathkeys && compare_pathkeys(bound->pathkeys,
											 columns->pathkeys) != PATHKEYS_EQUAL) ||
		shares_expression((Node *) bound->exprs, subpath->pathtarget->exprs))
		return false;
	bound->groups = bound->ngroup > 0 ? sort_path_count_groups(root, subpath, columns,
															   bound->ngroup) : 1;
	if (bound->kind != GROUP_BOUND_ROWS)
	{
		peers = rows / sort_path_count_groups(root, subpath, columns,
											  list_length(columns->pathkeys));
		each = bound->kind == GROUP_BOUND_RANKS ? each - 1 + peers : each * peers;
	}
	each += bound->next;
	bound->rows = clamp_row_est(Min(each * bound->groups, rows));

	/* The executor drops no row before GROUP_BOUND_FACTOR times the wanted rows have come. */
	return bound->rows * GROUP_BOUND_FACTOR < rows || bound->instead ||
		hpsort_debug_sort == NODE_FORCE;
}
