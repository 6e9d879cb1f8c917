/*
 * path.c
 *		The path of Custom Scan (HpSort) (see path.h).
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "pg/compat.h"
#include "pg/cost_units.h"
#include "pg/nodes/sort/plan/computed.h"
#include "pg/nodes/sort/plan/cost.h"
#include "pg/nodes/sort/plan/in_place_reach.h"
#include "pg/nodes/sort/plan/node.h"
#include "pg/nodes/sort/plan/path.h"
#include "pg/nodes/sort/plan/plan_node.h"
#include "pg/nodes/sort/store/store.h"
#include "pg/resident/source/source.h"
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

/* Keys count as unique if on average fewer rows than this have one value of them. */
#define UNIQUE_GROUP 1.1

/* Returns true if a target can be the list of a custom scan, and be printed by EXPLAIN. */
static bool
target_is_usable(PathTarget *target)
{
	ListCell   *lc;

	/* A row identity of several tables gets its columns only when the plan is made. */
	foreach(lc, target->exprs)
	{
		if (IsA(lfirst(lc), Var) && lfirst_node(Var, lc)->varno == ROWID_VAR)
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
	ListCell   *lc;

	foreach(lc, target->exprs)
	{
		*member = NULL;
		attno++;
		if (!ec->ec_has_volatile)
			*member = find_ec_member_matching_expr(ec, (Expr *) lfirst(lc), relids);
		else if (ec->ec_sortref != 0 && get_pathtarget_sortgroupref(target,
																	attno - 1) == ec->ec_sortref)
			*member = linitial(ec->ec_members);
		if (*member)
			return attno;
	}
	return 0;
}

bool
sort_path_find_columns(const Path *path, List *pathkeys, HpSortColumns *columns)
{
	PathTarget *target = path->pathtarget;
	bool		mapping = true;
	ColumnKind	first = COLUMN_KIND_NONE;
	ListCell   *lc;

	if (!target_is_usable(target))
		return false;
	memset(columns, 0, sizeof(*columns));
	columns->pathkeys = pathkeys;
	columns->range = 1;
	foreach(lc, pathkeys)
	{
		PathKey    *pathkey = lfirst_node(PathKey, lc);
		EquivalenceClass *ec = pathkey->pk_eclass;
		EquivalenceMember *member;
		int			attno = find_column(target, ec, path->parent->relids, &member);
		Oid			sortop;
		ColumnKind	kind;

		if (attno == 0)
			return false;
		sortop = compat_pathkey_sortop(pathkey, member->em_datatype);
		if (!OidIsValid(sortop))
			return false;
		kind = mapping ? key_kind(exprType((Node *) list_nth(target->exprs, attno - 1)),
								  pathkey->pk_opfamily, member->em_datatype,
								  ec->ec_collation) : COLUMN_KIND_NONE;
		if (lc == list_head(pathkeys))
		{
			if (kind == COLUMN_KIND_NONE)
				return false;
			first = kind;
		}
		if (kind == COLUMN_KIND_NONE || columns->nmapped == KEY_COLUMNS_MAX_MAPPED)
			mapping = false;
		if (mapping)
		{
			columns->nmapped++;
			columns->range *= key_range(kind);
			mapping = columns->exact = key_is_exact(kind);
			columns->abbreviated = kind == COLUMN_KIND_ABBREVIATED;
		}
		columns->attnos = lappend_int(columns->attnos, attno);
		columns->sortops = lappend_oid(columns->sortops, sortop);
		columns->collations = lappend_oid(columns->collations, ec->ec_collation);
		columns->nulls_first = lappend_int(columns->nulls_first, pathkey->pk_nulls_first);
	}
	columns->first_narrow = !column_kind_is_wide(first);
	columns->narrow = columns->nmapped == 1 && columns->first_narrow;
	columns->key_only = list_length(target->exprs) == 1 && list_length(pathkeys) == 1 &&
		key_has_value(first);
	return true;
}

/* Returns the expression that key i sorts by. */
static Node *
key_expression(const Path *subpath, const HpSortColumns *columns, int i)
{
	return (Node *) list_nth(subpath->pathtarget->exprs, list_nth_int(columns->attnos, i) - 1);
}

double
sort_path_count_groups(PlannerInfo *root, Path *subpath, const HpSortColumns *columns, int nkeys)
{
	List	   *exprs = NIL;
	int			i;

	for (i = 0; i < nkeys; i++)
	{
		Node	   *expr = key_expression(subpath, columns, i);

		/* Statistics are of the column; its number of values hardly depends on a collation. */
		while (IsA(expr, CollateExpr))
			expr = (Node *) ((CollateExpr *) expr)->arg;
		exprs = lappend(exprs, expr);
	}

	/* As in cost_incremental_sort(): columns of a set operation have no statistics. */
	if (bms_is_member(0, pull_varnos(root, (Node *) exprs)))
		return Min(subpath->rows, DEFAULT_NUM_DISTINCT);
	return expression_groups(root, exprs, subpath->rows);
}

bool
sort_path_columns_stay(PlannerInfo *root, const Path *path, const HpSortColumns *columns,
					   bool bounded)
{
	int			nexact = columns->nmapped - (columns->exact ? 0 : 1);
	ListCell   *lc;

	if (columns->key_only || !sort_path_may_stay(root, path, bounded) ||
		sort_path_must_compute(root, path->parent, path->pathtarget->exprs))
		return false;
	foreach(lc, columns->attnos)
	{
		Node	   *expr = (Node *) list_nth(path->pathtarget->exprs, lfirst_int(lc) - 1);
		bool		any_type = foreach_current_index(lc) >= nexact;
		const Var  *column;

		while (any_type && (IsA(expr, CollateExpr) || IsA(expr, RelabelType)))
			expr = IsA(expr, CollateExpr) ? (Node *) ((CollateExpr *) expr)->arg :
				(Node *) ((RelabelType *) expr)->arg;
		column = (const Var *) expr;
		if (!IsA(column, Var) || column->varattno <= 0 ||
			(!any_type && column_read_kind(column->vartype) == COLUMN_KIND_NONE))
			return false;
	}
	return true;
}

/*
 * Returns what part of the cost of reading and sorting is left if the keys are resident and few
 * rows are wanted; 1 otherwise.  It is 1 for all rows, so that the path stays dearer than its
 * scan: both are in the list of the table's paths, and core plans aggregates above the cheapest of
 * these.
 */
static double
resident_part(PlannerInfo *root, const Path *path, const HpSortColumns *columns,
			  const HpSortCostInput *input)
{
	const RelOptInfo *rel = path->parent;
	const Path *scan = IsA(path, ProjectionPath) ? ((const ProjectionPath *) path)->subpath : path;
	ResidentQuestion question = {.nkeys = columns->nmapped,
	.filtered = rel->baserestrictinfo != NIL};
	ResidentEstimate estimate;
	Cost		conditions;
	int			i;

	if (input->limit < 0 || input->by_group || input->limit > rel->pages / IN_PLACE_UNREAD_PART ||
		!IS_SIMPLE_REL(rel) || scan->pathtype != T_SeqScan ||
		scan->parallel_aware || columns->nmapped == 0 ||
		!(input->key_only || input->in_place))
		return 1;
	for (i = 0; i < columns->nmapped; i++)
	{
		const Var  *column = (const Var *) key_expression(path, columns, i);

		if (!IsA(column, Var) || column->varattno <= 0 ||
			((i == 0 || input->key_only) && !column_type_is_key(column->vartype)))
			return 1;
		question.columns = lappend_int(question.columns, column->varattno);
	}
	if (!filter_conditions_columns(rel->baserestrictinfo, &question.columns))
		return 1;
	estimate = resident_estimate(planner_rt_fetch(rel->relid, root)->relid, &question, rel->tuples);
	/* Bounds of extents refuse few of them if in most extents few rows meet the conditions. */
	conditions =
		cost_of_rows(rel->tuples * RESIDENT_CONDITION_COST * list_length(rel->baserestrictinfo));
	return 1 - estimate.share * (1 - Min(RESIDENT_FIRST_COST +
										 conditions / Max(path->total_cost, 1), 1));
}

/*
 * Returns how much rows come in the order of all keys, from 0 to 1; order is how much they come in
 * the order of the first key.  Keys behind unique ones do not matter.
 */
static double
order_of_all_keys(PlannerInfo *root, Path *subpath, const HpSortColumns *columns, double order)
{
	int			nkeys = list_length(columns->attnos);
	int			i;

	for (i = 1; i < nkeys && order > 0; i++)
	{
		if (sort_path_count_groups(root, subpath, columns, i) * UNIQUE_GROUP > subpath->rows)
			break;
		order *= sort_path_correlation(root, subpath, key_expression(subpath, columns, i));
	}
	return order;
}

/*
 * A LIMIT by an abbreviated key is expected to gain nothing if the key has fewer groups of equal
 * values than LIMIT_GROUPS_MIN and a group has more than LIMIT_GROUP_ROWS rows on average.  The
 * executor then reads the rows for their abbreviations, finds too many of them equal (in_place.c,
 * EQUAL_PART and EQUAL_MIN), copies them after all, and compares all of them, as copies have no
 * abbreviations.  LIMIT 10 of 500,000 rows, HpSort and core, ms: ORDER BY status, at with 5 texts
 * 85 and 57; ORDER BY city, id with 1,000 texts 44 and 71 (Intel Xeon, PostgreSQL 17).
 */
#define LIMIT_GROUPS_MIN 64
#define LIMIT_GROUP_ROWS 1000

/* Sets the costs of path, which sorts subpath. */
static void
set_cost(PlannerInfo *root, Path *path, Path *subpath, const HpSortColumns *columns,
		 const HpSortBound *bound)
{
	HpSortCostInput input;
	Cost		startup;
	Cost		run;
	double		part;

	input.rows = subpath->rows;
	input.width = subpath->pathtarget->width;
	input.nmapped = columns->nmapped;
	input.narrow = columns->narrow;
	input.range = columns->range;
	input.groups = !columns->exact || columns->nmapped < list_length(columns->pathkeys) ?
		sort_path_count_groups(root, subpath, columns, columns->nmapped) : 0;
	input.further = columns->nmapped < list_length(columns->pathkeys);
	input.nleft = list_length(columns->pathkeys) - columns->nmapped + (columns->exact ? 0 : 1);
	input.undivided = columns->abbreviated && columns->nmapped == 1 &&
		!sort_path_abbreviation_divides(root, key_expression(subpath, columns, 0),
										linitial_oid(columns->sortops),
										linitial_oid(columns->collations));
	if (columns->abbreviated && bound && bound->exprs && bound->kind == 0 && input.groups > 0 &&
		input.groups < LIMIT_GROUPS_MIN && subpath->rows > LIMIT_GROUPS_MIN * LIMIT_GROUP_ROWS)
		input.undivided = true;
	input.strings = sort_path_abbreviates_strings(columns);
	input.alike = input.alike_groups = 0;
	if (columns->abbreviated && !input.further && !input.undivided)
	{
		int			last = columns->nmapped - 1;

		input.alike = sort_path_alike(root, key_expression(subpath, columns, last),
									  list_nth_oid(columns->sortops, last),
									  list_nth_oid(columns->collations, last), &input.alike_groups);
		if (last > 0)
			input.alike_groups = input.groups * input.alike;
	}
	input.key_only = columns->key_only;
	input.in_place = !input.undivided &&
		sort_path_columns_stay(root, subpath, columns, bound && bound->exprs);
	input.pages = subpath->parent->pages;
	input.limit = bound && bound->exprs ? bound->rows : -1;
	input.by_group = bound && bound->kind != 0;
	input.order = sort_path_input_order(root, subpath, key_expression(subpath, columns, 0));
	input.all_order = order_of_all_keys(root, subpath, columns, input.order);
	sort_path_cost(&input, &startup, &run);
	if (hpsort_debug_sort == NODE_FORCE)
		startup = run = 0;
	part = resident_part(root, subpath, columns, &input);
	path->startup_cost = (subpath->total_cost + startup) * part;
	path->total_cost = path->startup_cost + run;
}

/* Returns HPSORT_PLAN_NUMBERS, in the order of HpSortPlanInt. */
static List *
make_numbers(PlannerInfo *root, const Path *subpath, const HpSortColumns *columns,
			 const HpSortBound *bound)
{
	List	   *numbers = list_make2_int(columns->nmapped, columns->key_only);

	numbers = lappend_int(numbers, sort_path_must_compute(root, subpath->parent,
														  subpath->pathtarget->exprs));
	numbers = lappend_int(numbers, bound ? bound->kind : 0);
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
		sort_path_correlation(root, subpath, key_expression(subpath, columns,
															0)) < ORDERED_CORRELATION)
		return;
	columns->nmapped = nbefore;
	columns->range /= key_range(COLUMN_KIND_ABBREVIATED);
	columns->narrow = nbefore == 1 && columns->first_narrow;
	columns->exact = true;
	columns->abbreviated = false;
}

Path *
sort_path_make(PlannerInfo *root, RelOptInfo *rel, Path *subpath, const HpSortColumns *all_columns,
			   const HpSortBound *bound, bool partial)
{
	CustomPath *path = makeNode(CustomPath);
	HpSortColumns chosen = *all_columns;
	const HpSortColumns *columns = &chosen;

	leave_last_key(root, subpath, bound, &chosen);
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
	path->custom_private = list_make5(columns->attnos, columns->sortops, columns->collations,
									  columns->nulls_first,
									  make_numbers(root, subpath, columns, bound));
	path->custom_private = lappend(path->custom_private, bound ? bound->exprs : NIL);
	path->methods = &sort_path_methods;

	set_cost(root, &path->path, subpath, columns, bound);
	compat_disable_sort(&path->path, subpath);
	return &path->path;
}

bool
sort_path_is_promising(const List *pathkeys, const Path *subpath)
{
	return sort_path_enough_rows(subpath->rows) && subpath->param_info == NULL &&
		sort_path_may_map(pathkeys);
}

Path *
sort_path_try(PlannerInfo *root, RelOptInfo *rel, Path *subpath, List *pathkeys, bool partial)
{
	HpSortColumns columns;

	if (!sort_path_is_promising(pathkeys, subpath) ||
		!sort_path_find_columns(subpath, pathkeys, &columns))
		return NULL;
	return sort_path_make(root, rel, subpath, &columns, NULL, partial);
}
