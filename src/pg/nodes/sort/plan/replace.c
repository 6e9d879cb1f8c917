/*
 * replace.c
 *		Custom Scan (HpSort) in the place of core's sorts: below windows, DISTINCT and groups, and
 *		below merge joins.
 *
 * Below windows, DISTINCT and groups core builds a chain of paths with one input each, one of which
 * is a Sort.  A copy of the chain down to the Sort is offered, with HpSort's path in the place of
 * the Sort, and add_path() keeps what is cheaper.  Core's chain stays as it is.
 *
 * - Below groups, no copy is offered where core's hash table would be cheaper and core expects too
 *   much of it.  Core takes an expression to have as many values as its column, and so expects that
 *   a hash table of 700 days does not fit into memory.
 * - If the path at the end of the chain keeps only the first rows of each group, a second copy is
 *   offered, over a HpSort that returns no other rows.
 *
 * Each merge join that core has kept and that sorts an input is made again, with this input sorted
 * by HpSort, and add_path() keeps what is cheaper.  A merge join that core has dropped is not
 * tried: a hash join is far better there, and trying it would make planning longer, as a query may
 * have thousands of joins.
 */
#include "postgres.h"

#include "optimizer/cost.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/prep.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"

#include "pg/changing_limit.h"
#include "pg/compat.h"
#include "pg/guc.h"
#include "pg/nodes/sort/plan/path.h"
#include "pg/values/values.h"

/* --- windows, DISTINCT and groups */

/* A path with one input: in all kinds of these paths the input has one offset. */
typedef struct ChainPath
{
	Path		path;
	Path	   *subpath;
} ChainPath;

/* Returns true if a path has one input, and so is a link of a chain. */
static bool
is_chain_link(const Path *path)
{
	StaticAssertStmt(offsetof(AggPath, subpath) == offsetof(ChainPath, subpath) &&
					 offsetof(GroupPath, subpath) == offsetof(ChainPath, subpath) &&
					 offsetof(GroupingSetsPath, subpath) == offsetof(ChainPath, subpath) &&
					 offsetof(WindowAggPath, subpath) == offsetof(ChainPath, subpath) &&
					 offsetof(UpperUniquePath, subpath) == offsetof(ChainPath, subpath) &&
					 offsetof(ProjectionPath, subpath) == offsetof(ChainPath, subpath) &&
					 offsetof(SortPath, subpath) == offsetof(ChainPath, subpath),
					 "paths with one input are not alike");
	switch (nodeTag(path))
	{
		case T_AggPath:
		case T_GroupPath:
		case T_GroupingSetsPath:
		case T_WindowAggPath:
		case T_UpperUniquePath:
		case T_ProjectionPath:
		case T_SortPath:
			return true;
		default:
			return false;
	}
}

/* Returns true if a path reads all of its input before it returns its first row. */
static bool
reads_all(const Path *path)
{
	return IsA(path, SortPath) ||
		(IsA(path, AggPath) && ((const AggPath *) path)->aggstrategy != AGG_SORTED);
}

/* Returns a copy of path whose input is sub, with the costs adjusted. */
static Path *
copy_over(const Path *path, Path *sub)
{
	Path	   *old = ((const ChainPath *) path)->subpath;
	Path	   *copy = sort_path_copy(path);
	Cost		own = path->total_cost - old->total_cost;

	/* A WindowAgg, or a Unique, works on each row. */
	if (sub->rows < old->rows)
		own *= sub->rows / old->rows;
	((ChainPath *) copy)->subpath = sub;
	copy->parallel_safe = path->parallel_safe && sub->parallel_safe;
	compat_add_disabled_nodes(copy, compat_disabled_nodes(sub) - compat_disabled_nodes(old));
	copy->total_cost = sub->total_cost + own;
	copy->startup_cost += reads_all(path) ? sub->total_cost - old->total_cost
		: sub->startup_cost - old->startup_cost;
	return copy;
}

/* Returns a copy of path with each Sort replaced by HpSort that can be; NULL if none can. */
static Path *
replace_sorts(PlannerInfo *root, Path *path)
{
	Path	   *sub;
	Path	   *old;

	if (!is_chain_link(path))
		return NULL;

	/* Below a Sort there may be another one: a window over another window. */
	old = ((ChainPath *) path)->subpath;
	sub = replace_sorts(root, old);
	if (IsA(path, SortPath) && sort_path_is_promising(path->pathkeys, sub ? sub : old))
	{
		Path	   *copy = sort_path_try(root, path->parent, sub ? sub : old, path->pathkeys,
										 NULL, false);

		if (copy)
			return copy;
	}
	return sub ? copy_over(path, sub) : NULL;
}

/*
 * Returns the total cost of a path of groups; with a Sort for ORDER BY above it if the groups of
 * sorted, which it is compared with, come in this order.
 */
static Cost
cost_in_order(PlannerInfo *root, RelOptInfo *rel, Path *path, const Path *sorted)
{
	if (root->sort_pathkeys == NIL || !pathkeys_contained_in(root->sort_pathkeys, sorted->pathkeys))
		return path->total_cost;
	return create_sort_path(root, rel, path, root->sort_pathkeys, -1)->path.total_cost;
}

/*
 * Returns core's path of a hash aggregation again, with the number of groups that hpsort expects;
 * NULL if hpsort expects no fewer groups than core.
 */
static Path *
estimate_hashed(PlannerInfo *root, RelOptInfo *rel, const AggPath *hashed)
{
	List	   *exprs = get_sortgrouplist_exprs(hashed->groupClause, root->processed_tlist);
	double		groups = expression_groups(root, exprs, Max(hashed->subpath->rows, 1));
	AggClauseCosts costs;

	if (groups >= hashed->numGroups)
		return NULL;
	memset(&costs, 0, sizeof(costs));
	if (root->parse->hasAggs)
		get_agg_clause_costs(root, hashed->aggsplit, &costs);
	return (Path *) create_agg_path(root, rel, hashed->subpath, hashed->path.pathtarget,
									AGG_HASHED, hashed->aggsplit,
									hashed->groupClause, hashed->qual, &costs, groups);
}

/*
 * Returns true if a hash aggregation of the relation would be cheaper than copy, which is path with
 * HpSort, once it gets the number of groups that hpsort expects.  Only hash aggregations count that
 * core takes to be no dearer than path, and so would use without HpSort.
 */
static bool
hashing_is_cheaper(PlannerInfo *root, RelOptInfo *rel, const Path *path, const Path *copy)
{
	if (hpsort_debug_sort == NODE_FORCE || !(IsA(path, AggPath) || IsA(path, GroupPath) ||
											 IsA(path, UpperUniquePath)))
		return false;
	foreach_ptr(AggPath, hashed, rel->pathlist)
	{
		Path	   *estimated;

		if (!IsA(hashed, AggPath) || hashed->aggstrategy != AGG_HASHED ||
			hashed->groupClause == NIL ||
			cost_in_order(root, rel, &hashed->path, path) > path->total_cost)
			continue;
		estimated = estimate_hashed(root, rel, hashed);
		if (estimated && cost_in_order(root, rel, estimated, path) < copy->total_cost)
			return true;
	}
	return false;
}

/* Returns HpSort over subpath that keeps the first rows of each group; NULL if it cannot. */
static Path *
sort_groups(PlannerInfo *root, RelOptInfo *rel, Path *subpath, List *pathkeys, HpSortBound bound,
			bool partial)
{
	if (!sort_path_is_promising(pathkeys, subpath) ||
		pathkeys_contained_in(pathkeys, subpath->pathkeys))
		return NULL;
	return sort_path_try(root, rel, subpath, pathkeys, &bound, partial);
}

/*
 * Returns sort_groups() by parallel workers below a Gather Merge: each worker keeps the first rows
 * of each group of its share.  NULL if it cannot be done.
 */
static Path *
sort_groups_in_parallel(PlannerInfo *root, RelOptInfo *input_rel, PathTarget *target,
						List *pathkeys, const HpSortBound *bound)
{
	Path	   *path;

	if (!input_rel->consider_parallel || input_rel->partial_pathlist == NIL ||
		!sort_path_workers_know(bound))
		return NULL;
	path = (Path *) linitial(input_rel->partial_pathlist);
	if (!equal(path->pathtarget->exprs, target->exprs))
		return NULL;
	return sort_path_gather(root, input_rel,
							sort_groups(root, input_rel, path, pathkeys, *bound, true));
}

/*
 * Appends to paths up to three copies of path, which keeps only the first rows of each group.
 * Their input has only these rows, of a HpSort: a serial one, one below joins, and one by workers.
 */
static List *
bound_groups(PlannerInfo *root, RelOptInfo *input_rel, Path *path, List *paths)
{
	Path	   *old = ((ChainPath *) path)->subpath;
	Path	   *input = input_rel->cheapest_total_path;
	List	   *pathkeys = old->pathkeys;
	HpSortBound bound;
	Path	   *sub;

	if (pathkeys == NIL || !sort_path_may_map(pathkeys) ||
		!sort_path_group_bound(root, path, &bound))
		return paths;

	/* An input in order by other means, as an index, may be in the order of more keys. */
	if (bound.pathkeys)
		pathkeys = bound.pathkeys;
	if (IsA(old, SortPath))
	{
		input = ((SortPath *) old)->subpath;
		sub = replace_sorts(root, input);
		input = sub ? sub : input;
	}
	else if (old->parent != input_rel || !equal(old->pathtarget->exprs, input->pathtarget->exprs))
		return paths;
	sub = sort_groups(root, old->parent, input, pathkeys, bound, false);
	if (sub)
		paths = lappend(paths, copy_over(path, sub));
	sub = sort_path_below_join(root, input, pathkeys, &bound);
	if (sub && equal(sub->pathtarget->exprs, old->pathtarget->exprs))
		paths = lappend(paths, copy_over(path, sub));
	if (input->parent != input_rel)
		return paths;
	sub = sort_groups_in_parallel(root, input_rel, old->pathtarget, pathkeys, &bound);
	if (sub)
		paths = lappend(paths, copy_over(path, sub));
	return paths;
}

void
sort_path_replace_sorts(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *rel)
{
	List	   *paths = NIL;

	/* All copies are made before the first is added: add_path() may free paths of the list. */
	foreach_ptr(Path, path, rel->pathlist)
	{
		Path	   *copy = replace_sorts(root, path);

		if (copy && !hashing_is_cheaper(root, rel, path, copy))
			paths = lappend(paths, copy);
		if (IsA(path, WindowAggPath) || IsA(path, UpperUniquePath))
			paths = bound_groups(root, input_rel, path, paths);
	}
	foreach_ptr(Path, copy, paths)
		add_path(rel, copy);
}

/* --- merge joins */

/*
 * Returns true if each clause has the outer input on its left or can be turned around, as
 * create_mergejoin_plan() does.  Core raises an error if it has to turn an operator that has no
 * commutator, so that HpSort must not make a join by this operator the cheapest.
 */
static bool
clauses_can_be_switched(const List *clauses, const Path *outer)
{
	foreach_node(RestrictInfo, rinfo, clauses)
	{
		if (bms_is_subset(rinfo->right_relids, outer->parent->relids) &&
			!OidIsValid(get_commutator(((OpExpr *) rinfo->clause)->opno)))
			return false;
	}
	return true;
}

/* Returns a copy of a merge join with inputs sorted by HpSort; NULL if no input can be. */
static Path *
make_join(PlannerInfo *root, RelOptInfo *joinrel, const MergePath *path, JoinPathExtraData *extra,
		  bool partial)
{
	const JoinPath *join = &path->jpath;
	Path	   *outer = sort_path_sort_input(root, join->outerjoinpath, path->outersortkeys, NULL,
											 partial);
	Path	   *inner = sort_path_sort_input(root, join->innerjoinpath, path->innersortkeys, NULL,
											 false);
	List	   *outersortkeys = outer ? NIL : path->outersortkeys;
	List	   *innersortkeys = inner ? NIL : path->innersortkeys;
	int			presorted pg_attribute_unused() = outer ? 0 : compat_outer_presorted_keys(path);
	JoinPathExtraData own = *extra;
	JoinCostWorkspace workspace;

	if ((outer == NULL && inner == NULL) ||
		!clauses_can_be_switched(path->path_mergeclauses, join->outerjoinpath))
		return NULL;
	if (outer == NULL)
		outer = join->outerjoinpath;
	if (inner == NULL)
		inner = join->innerjoinpath;

	/* Core tries a semijoin in several ways: the path may be from an earlier call. */
	own.inner_unique = join->inner_unique;
	initial_cost_mergejoin(root, &workspace, join->jointype, path->path_mergeclauses, outer, inner,
						   outersortkeys, innersortkeys, presorted, &own);
	return (Path *) create_mergejoin_path(root, joinrel, join->jointype, &workspace, &own, outer,
										  inner, join->joinrestrictinfo, join->path.pathkeys, NULL,
										  path->path_mergeclauses, outersortkeys, innersortkeys,
										  presorted);
}

/* Returns copies, with inputs sorted by HpSort, of the merge joins of two relations in paths. */
static List *
make_joins(PlannerInfo *root, RelOptInfo *joinrel, List *paths, RelOptInfo *outerrel,
		   RelOptInfo *innerrel, JoinPathExtraData *extra, bool partial)
{
	List	   *result = NIL;

	foreach_ptr(MergePath, path, paths)
	{
		Path	   *other;

		if (!IsA(path, MergePath) || (path->outersortkeys == NIL && path->innersortkeys == NIL) ||
			path->jpath.path.param_info != NULL || path->jpath.outerjoinpath->parent != outerrel ||
			path->jpath.innerjoinpath->parent != innerrel)
			continue;
		other = make_join(root, joinrel, path, extra, partial);
		if (other)
			result = lappend(result, other);
	}
	return result;
}

void
sort_path_replace_merge_sorts(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
							  RelOptInfo *innerrel, JoinPathExtraData *extra)
{
	List	   *full;
	List	   *partial = NIL;

	/* All joins are made before the first is added: add_path() may free paths of the lists. */
	full = make_joins(root, joinrel, joinrel->pathlist, outerrel, innerrel, extra, false);
	if (joinrel->partial_pathlist != NIL && !limit_may_change(root))
		partial = make_joins(root, joinrel, joinrel->partial_pathlist, outerrel, innerrel, extra,
							 true);
	foreach_ptr(Path, path, full)
		add_path(joinrel, path);
	foreach_ptr(Path, path, partial)
		add_partial_path(joinrel, path);
}
