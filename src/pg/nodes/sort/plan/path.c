/*
 * path.c
 *		The path of Custom Scan (HpSort), and its plan node.
 *
 * The node needs one custom_scan_tlist while core finishes the plan, and another one afterwards:
 *
 * - setrefs.c finds the columns of a custom scan without a table in custom_scan_tlist, by
 *   comparing expressions.  It needs the child's expressions in the list.
 * - EXPLAIN prints a column of this node, and of nodes above it, by the expression in
 *   custom_scan_tlist.  It cannot print the child's expressions: one that a window computes refers
 *   to columns that this node does not have, and a column of a set operation to a table that does
 *   not exist.  It needs references to the child's columns, as in a Sort's target list.
 *
 * Core has no hook between the two steps, so that a planner hook changes the lists in plans that
 * core has just finished.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/tlist.h"

#include "pg/compat.h"
#include "pg/nodes/sort/plan/path.h"
#include "pg/plan_tree.h"
#include "pg/values/values.h"

/*
 * An abbreviated key behind other keys is made if at least this many rows, on average, are equal
 * in the other keys.  By a day of 366 and an md5() as text or uuid, abbreviating is 1.7 times
 * faster than comparing for 100,000 rows, and takes twice as long for 1,000 rows, three of each
 * day.  By a day and a label whose abbreviations are mostly equal it is 1.3 times slower for
 * 100,000 rows.
 */
#define ABBREVIATED_GROUP 16.0
#define ORDERED_CORRELATION 0.9

uint64		sort_node_plans_made = 0;

/* Returns true if a target can be the list of a custom scan, and be printed by EXPLAIN. */
static bool
target_is_usable(PathTarget *target)
{
	/* A row identity of several tables gets its columns only when the plan is made. */
	foreach_ptr(const Node, node, target->exprs)
	{
		if (IsA(node, Var) && ((const Var *) node)->varno == ROWID_VAR)
			return false;
	}
	return true;
}

/*
 * Returns the number of the target's column that a path key sorts by, from 1, and sets *member to
 * the member of its class that the column is.  Returns 0 if there is none.  relids are the path's,
 * which may be a partition's.
 */
static int
find_column(PathTarget *target, EquivalenceClass *ec, Relids relids, EquivalenceMember **member)
{
	int			attno = 0;

	foreach_ptr(Expr, expr, target->exprs)
	{
		*member = NULL;
		attno++;
		if (!ec->ec_has_volatile)
			*member = find_ec_member_matching_expr(ec, expr, relids);
		else if (ec->ec_sortref != 0 && get_pathtarget_sortgroupref(target,
																	attno - 1) == ec->ec_sortref)
			*member = linitial(ec->ec_members);
		if (*member)
			return attno;
	}
	return 0;
}

/*
 * Notes that the next key, an expression that can be sorted as a kind, is mapped if it can be, and
 * returns whether the keys behind it may be mapped, too.
 */
static bool
map_key(PlannerInfo *root, const Path *path, Node *expression, Oid sortop, Oid collation,
		ColumnKind kind, bool numbering, HpSortColumns *columns)
{
	bool		numbered = numbering &&
	(kind == COLUMN_KIND_NONE || kind == COLUMN_KIND_ABBREVIATED) &&
	sort_path_numbers_key(root, path, columns, expression, sortop, collation,
						  kind != COLUMN_KIND_NONE);

	if (kind == COLUMN_KIND_NONE && !numbered)
		return false;
	columns->slow |= columns->nmapped == 0 && kind == COLUMN_KIND_NONE;
	columns->range *= numbered ? columns->values[columns->nmapped] : key_range(kind);
	columns->numbered |= (uint32) numbered << columns->nmapped++;
	columns->exact = numbered || key_is_exact(kind);
	columns->abbreviated = !numbered && kind == COLUMN_KIND_ABBREVIATED;
	return columns->exact && columns->nmapped < KEY_COLUMNS_MAX_MAPPED;
}

/*
 * Finds the columns of a path that pathkeys sort by, and how many leading keys can be mapped.
 * numbering: all rows are wanted, so that values may be numbered.  Returns false if a column is
 * missing, if not even the first key can be mapped, or if the path's target cannot be a custom
 * scan's.
 */
static bool
find_columns(PlannerInfo *root, const Path *path, List *pathkeys, bool numbering,
			 HpSortColumns *columns)
{
	PathTarget *target = path->pathtarget;
	bool		mapping = true;
	ColumnKind	first = COLUMN_KIND_NONE;

	if (!target_is_usable(target))
		return false;
	memset(columns, 0, sizeof(*columns));
	columns->pathkeys = pathkeys;
	columns->range = 1;
	foreach_node(PathKey, pathkey, pathkeys)
	{
		EquivalenceClass *ec = pathkey->pk_eclass;
		EquivalenceMember *member;
		int			attno = find_column(target, ec, path->parent->relids, &member);
		Oid			sortop;

		if (attno == 0)
			return false;
		sortop = compat_pathkey_sortop(pathkey, member->em_datatype);
		if (!OidIsValid(sortop))
			return false;
		if (mapping)
		{
			Node	   *expression = (Node *) list_nth(target->exprs, attno - 1);
			ColumnKind	kind = key_kind(exprType(expression), pathkey->pk_opfamily,
										member->em_datatype, ec->ec_collation);

			if (foreach_current_index(pathkey) == 0)
				first = kind;
			mapping = map_key(root, path, expression, sortop, ec->ec_collation, kind, numbering,
							  columns);
			if (columns->nmapped == 0)
				return false;
		}
		columns->attnos = lappend_int(columns->attnos, attno);
		columns->sortops = lappend_oid(columns->sortops, sortop);
		columns->collations = lappend_oid(columns->collations, ec->ec_collation);
		columns->nulls_first = lappend_int(columns->nulls_first, pathkey->pk_nulls_first);
	}
	columns->first_narrow = first != COLUMN_KIND_NONE && !column_kind_is_wide(first);
	columns->key_only = list_length(target->exprs) == 1 && list_length(pathkeys) == 1 &&
		first != COLUMN_KIND_NONE && key_has_value(first);
	return true;
}

/* Returns HPSORT_PLAN_NUMBERS, in the order of HpSortPlanInt, as far as a path needs them. */
static List *
make_numbers(const HpSortColumns *columns, const HpSortBound *bound)
{
	List	   *numbers = list_make5_int(columns->nmapped, (int) columns->numbered,
										 columns->key_only, false, bound ? bound->kind : 0);

	if (bound && bound->kind != 0)
	{
		numbers = lappend_int(numbers, bound->exclusive);
		numbers = lappend_int(numbers, bound->next);
		numbers = lappend_int(numbers, bound->ngroup);
		numbers = lappend_int(numbers, (int) Min(bound->groups, PG_INT32_MAX));
	}
	return numbers;
}

/*
 * Leaves the last mapped key to core's comparison if it is abbreviated and behind other keys, and
 * making abbreviations does not pay.  It pays if many rows are equal in the other keys, unless
 *
 * - there is a LIMIT, under which no abbreviations are made;
 * - rows come almost in the order of the first key, and so perhaps in that of all keys.
 */
static void
leave_last_key(PlannerInfo *root, Path *subpath, const HpSortBound *bound, HpSortColumns *columns)
{
	int			nbefore = columns->nmapped - 1;

	if (!columns->abbreviated || nbefore == 0)
		return;
	if ((bound == NULL || bound->exprs == NIL) &&
		subpath->rows >= ABBREVIATED_GROUP *
		sort_path_count_groups(root, subpath, columns, nbefore) &&
		sort_path_correlation(root, subpath, columns, 0) < ORDERED_CORRELATION)
		return;
	columns->nmapped = nbefore;
	columns->range /= key_range(COLUMN_KIND_ABBREVIATED);
	columns->exact = true;
	columns->abbreviated = false;
}

/*
 * Returns HPSORT_PLAN_NUMBERS of a plan whose child returns ncolumns columns.  These may be more
 * than its path's target has: up to PostgreSQL 18, core adds the columns that a semijoin's Unique
 * compares when it makes the plan.
 */
static List *
numbers_of_plan(PlannerInfo *root, const CustomPath *path, int ncolumns)
{
	const Path *subpath = (const Path *) linitial(path->custom_paths);
	List	   *numbers = list_copy(list_nth(path->custom_private, HPSORT_PLAN_NUMBERS));

	if (ncolumns > 1)
		lfirst_int(list_nth_cell(numbers, HPSORT_PLAN_KEY_ONLY)) = false;
	lfirst_int(list_nth_cell(numbers, HPSORT_PLAN_COPIED)) =
		sort_path_must_compute(root, subpath->parent, path->path.pathtarget->exprs);
	return numbers;
}

/* PlanCustomPath: makes the plan node of a path. */
static Plan *
sort_node_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
			   List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	Plan	   *child = (Plan *) linitial(custom_plans);
	List	   *target = path->path.pathtarget->exprs;
	List	   *private = path->custom_private;

	/* The child's list begins with the path's target, column by column. */
	foreach_int(attno, (List *) list_nth(private, HPSORT_PLAN_ATTNOS))
	{
		if (attno > list_length(child->targetlist) ||
			!equal(list_nth(target, attno - 1), list_nth_node(TargetEntry, child->targetlist,
															  attno - 1)->expr))
			elog(ERROR, "could not find sort key %d in the input", attno);
	}

	/* The node returns all columns of the child's rows, like a Sort, and shares expressions. */
	scan->scan.plan.targetlist = list_copy(child->targetlist);
	foreach_node(TargetEntry, entry, child->targetlist)
		scan->custom_scan_tlist = lappend(scan->custom_scan_tlist,
										  flatCopyTargetEntry(entry));
	scan->scan.plan.lefttree = child;
	scan->custom_plans = list_copy_tail(custom_plans, 1);
	scan->scan.scanrelid = 0;
	scan->flags = path->flags;
	scan->custom_exprs = (List *) copyObject(list_nth(private, HPSORT_PLAN_BOUND));
	scan->custom_private = list_copy_head(private, HPSORT_PLAN_BOUND);
	lfirst(list_nth_cell(scan->custom_private, HPSORT_PLAN_NUMBERS)) =
		numbers_of_plan(root, path, list_length(child->targetlist));
	scan->methods = &sort_node_scan_methods;
	sort_node_plans_made++;
	return &scan->scan.plan;
}

static const CustomPathMethods path_methods = {
	.CustomName = "HpSort",
	.PlanCustomPath = sort_node_plan,
};

/* Returns a path of rel that sorts subpath by columns, of which it may leave one to core. */
static Path *
make_path(PlannerInfo *root, RelOptInfo *rel, Path *subpath, HpSortColumns *columns,
		  const HpSortBound *bound, bool partial)
{
	CustomPath *path = makeNode(CustomPath);

	leave_last_key(root, subpath, bound, columns);
	path->path.pathtype = T_CustomScan;
	path->path.parent = rel;
	path->path.pathtarget = subpath->pathtarget;
	path->path.parallel_aware = partial;
	path->path.parallel_safe = rel->consider_parallel && subpath->parallel_safe;
	path->path.parallel_workers = subpath->parallel_workers;
	path->path.rows = bound && bound->kind != 0 ? clamp_row_est(Min(bound->rows, subpath->rows)) :
		subpath->rows;
	path->path.pathkeys = columns->pathkeys;
	path->flags = CUSTOMPATH_SUPPORT_BACKWARD_SCAN | CUSTOMPATH_SUPPORT_MARK_RESTORE;
	path->custom_paths = list_make1(subpath);
	if (bound && bound->instead)
	{
		path->custom_paths = lappend(path->custom_paths, bound->instead);
		path->path.parallel_safe &= bound->instead->parallel_safe;
	}
	path->custom_private = list_make5(columns->attnos, columns->sortops, columns->collations,
									  columns->nulls_first,
									  make_numbers(columns, bound));
	path->custom_private = lappend(path->custom_private, bound ? bound->exprs : NIL);
	path->methods = &path_methods;

	sort_path_set_cost(root, &path->path, subpath, columns, bound);
	compat_disable_sort(&path->path, subpath);
	return &path->path;
}

/*
 * Returns true if HpSort can gain anything where a LIMIT bounds the rows.  It cannot if the only
 * mapped key is an abbreviation, except of rows that stay in place:
 *
 * - A bounded sort of rows that are copied makes no abbreviations, and compares rows as core does.
 * - For rows in place it makes abbreviations.  Abbreviating a string of a collation other than C
 *   takes as long as copying a row, so that strings gain nothing.
 *
 * Processor time of LIMIT 10 of 2e6 rows in place, ms, HpSort and core: uuid 72 and 136, numeric
 * 195 and 365, interval 75 and 147 (Intel Xeon, two cores of a virtual machine, PostgreSQL 18).
 * By a text in C, core's sort of 1,000 to 100,000 rows takes 1.06 to 1.34 times as long as HpSort,
 * and 0.81 to 1.07 times in PostgreSQL 19, which reads columns of rows faster.
 */
static bool
limit_is_worth_it(PlannerInfo *root, const Path *path, const HpSortColumns *columns)
{
	return columns->nmapped > 1 || columns->exact ||
		hpsort_debug_sort == NODE_FORCE ||
		(!(COMPAT_RADIX_TUPLESORT ? sort_path_abbreviates_strings(columns) :
		   sort_path_abbreviates_slowly(columns)) &&
		 sort_path_columns_stay(root, path, columns, true));
}

bool
sort_path_is_promising(const List *pathkeys, const Path *subpath)
{
	return sort_path_enough_rows(subpath->rows) && subpath->param_info == NULL &&
		sort_path_may_map(pathkeys);
}

Path *
sort_path_try(PlannerInfo *root, RelOptInfo *rel, Path *subpath, List *pathkeys,
			  HpSortBound *bound, bool partial)
{
	HpSortColumns columns;

	if (!find_columns(root, subpath, pathkeys, bound == NULL || bound->exprs == NIL, &columns))
		return NULL;
	if (bound && bound->kind != 0 && !sort_path_fit_group_bound(root, subpath, &columns, bound))
		return NULL;
	if (bound && bound->kind == 0 && bound->exprs && !limit_is_worth_it(root, subpath, &columns))
		return NULL;
	if (partial && bound && !sort_path_workers_know(bound))
		bound = NULL;
	return make_path(root, rel, subpath, &columns, bound, partial);
}

/*
 * Returns a path with the rows of path that also returns the expressions that pathkeys sort by, so
 * that the join reads them there.  It is path itself if path returns all of them, and NULL if one
 * cannot be computed.
 */
static Path *
add_key_columns(PlannerInfo *root, Path *path, List *pathkeys)
{
	Relids		relids = path->parent->relids;
	PathTarget *target = NULL;

	foreach_node(PathKey, pathkey, pathkeys)
	{
		EquivalenceClass *ec = pathkey->pk_eclass;
		PathTarget *have = target ? target : path->pathtarget;
		EquivalenceMember *member;

		if (ec->ec_has_volatile)
			return NULL;
		if (find_column(have, ec, relids, &member) > 0)
			continue;
		member = find_computable_ec_member(root, ec, have->exprs, relids, path->parallel_safe);
		if (member == NULL)
			return NULL;
		if (target == NULL)
			target = copy_pathtarget(path->pathtarget);
		add_column_to_pathtarget(target, member->em_expr, 0);
	}
	if (target == NULL)
		return path;
	return (Path *) create_projection_path(root, path->parent, path,
										   set_pathtarget_cost_width(root, target));
}

Path *
sort_path_sort_input(PlannerInfo *root, Path *input, List *pathkeys, HpSortBound *bound,
					 bool partial)
{
	Path	   *path;

	if (pathkeys == NIL || !sort_path_is_promising(pathkeys, input))
		return NULL;
	path = add_key_columns(root, input, pathkeys);
	return path ? sort_path_try(root, input->parent, path, pathkeys, bound, partial) : NULL;
}

Path *
sort_path_gather(PlannerInfo *root, RelOptInfo *rel, Path *path)
{
	double		rows;

	if (path == NULL)
		return NULL;
	rows = compute_gather_rows(path);
	return (Path *) create_gather_merge_path(root, rel, path, path->pathtarget, path->pathkeys,
											 NULL, &rows);
}

/* --- completing plans */

/* Changes the lists of all HpSort nodes in a plan tree. */
static void
finish_plan(Plan **plan, void *arg)
{
	plan_visit_children(*plan, finish_plan, arg);
	if (IsA(*plan, CustomScan) && ((CustomScan *) *plan)->methods == &sort_node_scan_methods)
		plan_refer_to_child((CustomScan *) *plan);
}

void
sort_node_finish_plan(PlannedStmt *stmt)
{
	plan_visit_roots(stmt, finish_plan, NULL);
}
