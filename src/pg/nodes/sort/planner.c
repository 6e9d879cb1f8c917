/*
 * planner.c
 *		Offers Custom Scan (HpSort) to the planner wherever core would sort.
 *
 * For ORDER BY that is the upper relation of ordered rows, where core has put
 * its own sorts already.  Sorts below windows, DISTINCT, GROUP BY and ordered
 * aggregates never pass through there: for these, sorted paths are offered for
 * the base or join relation itself, and core takes them as it takes an index.
 * That is not possible where keys are computed only above the joins, or rows
 * only then: there upper.c offers a copy of core's path with our sort in
 * it, and join.c does so for merge joins.
 *
 * Planning must not become slower for queries that have nothing to gain, so
 * every function that nodes/hooks.c calls leaves by the cheapest test that it can.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_opfamily.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/typcache.h"

#include "pg/compat.h"
#include "pg/guc.h"
#include "pg/nodes/sort/keys.h"
#include "pg/nodes/sort/planner.h"

/* Path keys as columns of a target, in the lists that the plan keeps. */
typedef struct HpSortColumns
{
	List	   *attnos;
	List	   *sortops;
	List	   *collations;
	List	   *nulls_first;
	int			nmapped;
	bool		narrow;
	bool		key_only;
	double		range;			/* values that the mapped keys can have, by type */
} HpSortColumns;

/*
 * Operator families of btree that the types of key_kind belong to; core
 * has names for some of them only.
 */
#define CHAR_FAMILY 429
#define DATETIME_FAMILY 434
#define TIME_FAMILY 1996
#define ENUM_FAMILY 3522

/* The quick way out: whether the first key may be one that can be mapped. */
static inline bool
promising(const List *pathkeys)
{
	switch (linitial_node(PathKey, pathkeys)->pk_opfamily)
	{
		case INTEGER_BTREE_FAM_OID:
		case BOOL_BTREE_FAM_OID:
		case OID_BTREE_FAM_OID:
		case CHAR_FAMILY:
		case DATETIME_FAMILY:
		case TIME_FAMILY:
		case ENUM_FAMILY:
			return true;
		default:
			return false;
	}
}

static inline bool
enough(double rows)
{
	return rows >= SORT_PATH_MIN_ROWS || hpsort_debug_sort == NODE_FORCE;
}

/* How values of expression are mapped if a path key sorts them as this type. */
static KeyKind
expression_kind(Expr *expression, Oid opcintype, Oid opfamily)
{
	KeyKind kind = key_kind(opcintype);
	Oid			type;

	if (kind == KEY_KIND_NONE)
		return kind;

	/* Another operator family may have another order. */
	type = getBaseType(exprType((Node *) expression));
	if (lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf != opfamily)
		return KEY_KIND_NONE;
	return kind;
}

/*
 * Finds the columns of a path that pathkeys sort by, and the leading keys that
 * can be mapped: false if a column is missing or none can.
 */
static bool
find_columns(const Path *path, List *pathkeys, HpSortColumns *columns)
{
	PathTarget *target = path->pathtarget;
	Relids		relids = path->parent->relids;	/* perhaps of a partition */
	bool		mapping = true;
	KeyKind first = KEY_KIND_NONE;
	ListCell   *lc;

	memset(columns, 0, sizeof(*columns));
	columns->range = 1;
	foreach(lc, pathkeys)
	{
		PathKey    *pathkey = lfirst_node(PathKey, lc);
		EquivalenceClass *ec = pathkey->pk_eclass;
		EquivalenceMember *member = NULL;
		Expr	   *expression = NULL;
		int			attno = 0;
		Oid			sortop;
		KeyKind kind;
		ListCell   *cell;

		foreach(cell, target->exprs)
		{
			expression = (Expr *) lfirst(cell);
			attno++;
			if (!ec->ec_has_volatile)
				member = find_ec_member_matching_expr(ec, expression, relids);
			else if (ec->ec_sortref != 0 && get_pathtarget_sortgroupref(target, attno - 1) == ec->ec_sortref)
				member = linitial(ec->ec_members);
			if (member)
				break;
		}
		if (member == NULL)
			return false;
		sortop = compat_pathkey_sortop(pathkey, member->em_datatype);
		if (!OidIsValid(sortop))
			return false;
		kind = expression_kind(expression, member->em_datatype, pathkey->pk_opfamily);
		if (lc == list_head(pathkeys))
		{
			if (kind == KEY_KIND_NONE)
				return false;
			first = kind;
		}
		if (kind == KEY_KIND_NONE || columns->nmapped == KEY_COLUMNS_MAX_MAPPED)
			mapping = false;
		if (mapping)
		{
			columns->nmapped++;
			columns->range *= key_range(kind);
		}
		columns->attnos = lappend_int(columns->attnos, attno);
		columns->sortops = lappend_oid(columns->sortops, sortop);
		columns->collations = lappend_oid(columns->collations, ec->ec_collation);
		columns->nulls_first = lappend_int(columns->nulls_first, pathkey->pk_nulls_first);
	}
	columns->narrow = columns->nmapped == 1 && key_is_narrow(first);
	columns->key_only = list_length(target->exprs) == 1 && list_length(pathkeys) == 1 &&
		first != KEY_KIND_ENUM;
	return true;
}

/* Whether a target can be the list of a custom scan, for EXPLAIN's sake, too. */
static bool
target_is_usable(PathTarget *target)
{
	ListCell   *lc;

	/* A row identity of several tables is made up only later. */
	foreach(lc, target->exprs)
		if (IsA(lfirst(lc), Var) && lfirst_node(Var, lc)->varno == ROWID_VAR)
			return false;
	return true;
}

/* An estimate of how many different values the mapped keys have together. */
static double
count_groups(PlannerInfo *root, Path *subpath, const HpSortColumns *columns)
{
	List	   *exprs = NIL;
	int			i;

	for (i = 0; i < columns->nmapped; i++)
		exprs = lappend(exprs, list_nth(subpath->pathtarget->exprs,
										list_nth_int(columns->attnos, i) - 1));

	/* Columns of a set operation have no table; cost_incremental_sort says why. */
	if (bms_is_member(0, pull_varnos(root, (Node *) exprs)))
		return Min(subpath->rows, DEFAULT_NUM_DISTINCT);
	return estimate_num_groups(root, exprs, subpath->rows, NULL, NULL);
}

/*
 * Makes a path that sorts subpath.  bound: expressions of LIMIT and OFFSET
 * that stop reading it, or NIL; limit is an estimate of their sum.
 */
static CustomPath *
make_path(PlannerInfo *root, RelOptInfo *rel, Path *subpath, List *pathkeys, const HpSortColumns *columns,
		  List *bound, double limit, bool partial)
{
	CustomPath *path = makeNode(CustomPath);
	HpSortCostInput input;
	Cost		startup;
	Cost		run;

	path->path.pathtype = T_CustomScan;
	path->path.parent = rel;
	path->path.pathtarget = subpath->pathtarget;
	path->path.parallel_aware = partial;
	path->path.parallel_safe = rel->consider_parallel && subpath->parallel_safe;
	path->path.parallel_workers = subpath->parallel_workers;
	path->path.rows = subpath->rows;
	path->path.pathkeys = pathkeys;
	path->flags = CUSTOMPATH_SUPPORT_BACKWARD_SCAN | CUSTOMPATH_SUPPORT_MARK_RESTORE;
	path->custom_paths = list_make1(subpath);
	path->custom_private = list_make5(columns->attnos, columns->sortops, columns->collations,
									  columns->nulls_first,
									  list_make2_int(columns->nmapped, columns->key_only));
	path->custom_private = lappend(path->custom_private, bound);
	path->methods = &sort_path_methods;

	input.rows = subpath->rows;
	input.width = subpath->pathtarget->width;
	input.nmapped = columns->nmapped;
	input.narrow = columns->narrow;
	input.range = columns->range;
	input.groups = columns->nmapped < list_length(pathkeys) ? count_groups(root, subpath, columns) : 0;
	input.key_only = columns->key_only;
	input.limit = bound ? limit : -1;
	input.order = sort_path_input_order(root, subpath, list_nth(subpath->pathtarget->exprs,
														 linitial_int(columns->attnos) - 1));
	sort_path_cost(&input, &startup, &run);
	if (hpsort_debug_sort == NODE_FORCE)
		startup = run = 0;
	path->path.startup_cost = subpath->total_cost + startup;
	path->path.total_cost = path->path.startup_cost + run;
	compat_disable_sort(&path->path, subpath);
	return path;
}

bool
sort_path_is_promising(const List *pathkeys, const Path *subpath)
{
	return enough(subpath->rows) && subpath->param_info == NULL && promising(pathkeys);
}

Path *
sort_path_make(PlannerInfo *root, RelOptInfo *rel, Path *subpath, List *pathkeys, bool partial)
{
	HpSortColumns columns;

	if (!sort_path_is_promising(pathkeys, subpath) || !target_is_usable(subpath->pathtarget) ||
		!find_columns(subpath, pathkeys, &columns))
		return NULL;
	return (Path *) make_path(root, rel, subpath, pathkeys, &columns, NIL, 0, partial);
}

/* Whether an expression, or a part of it, is among these; constants apart. */
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
 * The LIMIT and OFFSET of a query, if the rows sorted are just those that it
 * counts, and their values are fixed during one execution; and the estimate.
 * Not if a parameter of theirs is also a column of target: setrefs.c would take
 * it from there, and there is no row when it is evaluated.
 */
static List *
limit_bound(PlannerInfo *root, PathTarget *target, double *limit)
{
	Query	   *parse = root->parse;
	Node	   *exprs[2];
	List	   *bound = NIL;
	int			i;

	*limit = 0;
	if (parse->limitCount == NULL || parse->limitOption != LIMIT_OPTION_COUNT ||
		parse->rowMarks != NIL || parse->hasTargetSRFs)
		return NIL;
	exprs[0] = parse->limitCount;
	exprs[1] = parse->limitOffset;
	for (i = 0; i < 2 && exprs[i]; i++)
	{
		Node	   *estimate;

		if (contain_mutable_functions(exprs[i]) || contain_subplans(exprs[i]) ||
			contain_vars_of_level(exprs[i], 0) || shares_expression(exprs[i], target->exprs))
			return NIL;
		estimate = estimate_expression_value(root, exprs[i]);
		if (estimate && IsA(estimate, Const))
		{
			if (((Const *) estimate)->constisnull)
			{
				if (i == 0)
					return NIL;
			}
			else
				*limit += Max(0, DatumGetInt64(((Const *) estimate)->constvalue));
		}
		else
			*limit += 1000;		/* nothing is known */
		bound = lappend(bound, exprs[i]);
	}
	return bound;
}

/* ORDER BY: core has offered all of its own. */
static void
add_ordered_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *ordered_rel)
{
	Path	   *input;
	PathTarget *target;
	HpSortColumns columns;
	List	   *bound;
	double		limit;

	if (!promising(root->sort_pathkeys) || ordered_rel->pathlist == NIL)
		return;
	input = sort_path_find_input(root, input_rel, ordered_rel);
	if (input == NULL || !enough(input->rows) || !target_is_usable(input->pathtarget) ||
		!find_columns(input, root->sort_pathkeys, &columns))
		return;

	/* Of a set operation, root->upper_targets does not know. */
	target = ((Path *) linitial(ordered_rel->pathlist))->pathtarget;
	bound = limit_bound(root, input->pathtarget, &limit);

	/*
	 * A LIMIT above this query is told to core's Sort when it runs, but not to
	 * us: sorting everything would take longer than keeping a few rows.
	 */
	if (root->parse->limitCount == NULL && root->tuple_fraction >= 1.0 &&
		root->tuple_fraction < input->rows / 2 && hpsort_debug_sort != NODE_FORCE)
		return;

	if (!pathkeys_contained_in(root->sort_pathkeys, input->pathkeys) ||
		hpsort_debug_sort == NODE_FORCE)
	{
		Path	   *path = (Path *) make_path(root, ordered_rel, input, root->sort_pathkeys, &columns,
											  bound, limit, false);

		if (path->pathtarget != target)
			path = apply_projection_to_path(root, ordered_rel, path, target);
		add_path(ordered_rel, path);
	}

	/* Workers sort their shares, which a Gather Merge then merges. */
	if (ordered_rel->consider_parallel && input_rel->partial_pathlist != NIL)
	{
		Path	   *partial = (Path *) linitial(input_rel->partial_pathlist);
		Path	   *path;
		double		rows;
		ListCell   *lc;

		if (pathkeys_contained_in(root->sort_pathkeys, partial->pathkeys) ||
			!find_columns(partial, root->sort_pathkeys, &columns))
			return;
		/* A worker gets no parameters but the statement's own. */
		bound = limit_bound(root, partial->pathtarget, &limit);
		foreach(lc, bound)
		{
			if (!IsA(lfirst(lc), Const) &&
				!(IsA(lfirst(lc), Param) && lfirst_node(Param, lc)->paramkind == PARAM_EXTERN))
			{
				bound = NIL;
				break;
			}
		}
		path = (Path *) make_path(root, ordered_rel, partial, root->sort_pathkeys, &columns, bound, limit, true);
		rows = compat_gather_rows(path);
		path = (Path *) create_gather_merge_path(root, ordered_rel, path, path->pathtarget,
												 root->sort_pathkeys, NULL, &rows);
		if (path->pathtarget != target)
			path = apply_projection_to_path(root, ordered_rel, path, target);
		add_path(ordered_rel, path);
	}
}

/* Offers the relation's rows sorted by pathkeys, if they are not yet. */
static void
add_sorted_path(PlannerInfo *root, RelOptInfo *rel, List *pathkeys)
{
	Path	   *cheapest;
	HpSortColumns columns;

	cheapest = sort_path_cheapest(rel->pathlist, NIL);
	if (cheapest == NULL || !target_is_usable(cheapest->pathtarget))
		return;
	if (!pathkeys_contained_in(pathkeys, cheapest->pathkeys) &&
		find_columns(cheapest, pathkeys, &columns))
	{
		cheapest = sort_path_copy(cheapest);
		if (cheapest)
			add_path(rel, (Path *) make_path(root, rel, cheapest, pathkeys, &columns, NIL, 0, false));
	}
	if (rel->consider_parallel && rel->partial_pathlist != NIL)
	{
		Path	   *partial = (Path *) linitial(rel->partial_pathlist);

		if (!pathkeys_contained_in(pathkeys, partial->pathkeys) &&
			find_columns(partial, pathkeys, &columns))
		{
			partial = sort_path_copy(partial);
			if (partial)
				add_partial_path(rel, (Path *) make_path(root, rel, partial, pathkeys, &columns, NIL, 0, true));
		}
	}
}

/* Whether something other than ORDER BY wants the rows of the query in order. */
static inline bool
wants_order_below(const PlannerInfo *root)
{
	/* DISTINCT may want just the order of ORDER BY, before it is its turn. */
	return root->query_pathkeys != NIL &&
		(root->query_pathkeys != root->sort_pathkeys || root->parse->distinctClause != NIL);
}

void
sort_node_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
					  RelOptInfo *output_rel)
{
	switch (stage)
	{
		case UPPERREL_ORDERED:
			if (root->sort_pathkeys != NIL)
				add_ordered_paths(root, input_rel, output_rel);
			return;
		case UPPERREL_GROUP_AGG:
			/* If core groups by other keys first, their order is there already. */
			if (root->parse->groupingSets != NIL ||
				(root->group_pathkeys != NIL && promising(root->group_pathkeys)))
				sort_path_replace_sorts(root, output_rel);
			break;
		case UPPERREL_WINDOW:
		case UPPERREL_DISTINCT:
			sort_path_replace_sorts(root, output_rel);
			break;
		case UPPERREL_SETOP:
			break;
		default:
			return;
	}
	if (root->sort_pathkeys != NIL && promising(root->sort_pathkeys))
		sort_path_remember_input(root, output_rel);
}

/* A base relation, or join, of all that the query reads; its rows are wanted in some order. */
static void
add_scan_join_paths(PlannerInfo *root, RelOptInfo *rel)
{
	if (!enough(rel->rows) || !promising(root->query_pathkeys) || IS_DUMMY_REL(rel))
		return;
	if (wants_order_below(root))
		add_sorted_path(root, rel, root->query_pathkeys);
	if (root->query_pathkeys == root->sort_pathkeys)
		sort_path_remember_input(root, rel);
}

void
sort_node_scan_paths(PlannerInfo *root, RelOptInfo *rel)
{
	if (rel->reloptkind == RELOPT_BASEREL && bms_equal(rel->relids, root->all_baserels))
		add_scan_join_paths(root, rel);
}

void
sort_node_join_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
					 RelOptInfo *innerrel, JoinPathExtraData *extra)
{
	if (enough(outerrel->rows) || enough(innerrel->rows))
		sort_path_replace_merge_sorts(root, joinrel, outerrel, innerrel, extra);

	/* Called for each pair that makes up the relation; the last call sees all its paths. */
	if (root->query_pathkeys != NIL && joinrel->reloptkind == RELOPT_JOINREL &&
		bms_is_subset(root->all_baserels, joinrel->relids))
		add_scan_join_paths(root, joinrel);
}
