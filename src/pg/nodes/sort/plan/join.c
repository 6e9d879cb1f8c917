/*
 * join.c
 *		Custom Scan (HpSort) in the place of a Sort below merge joins (see
 *		join.h).
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
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"

#include "pg/changing_limit.h"
#include "pg/compat.h"
#include "pg/nodes/sort/plan/join.h"
#include "pg/nodes/sort/plan/path.h"

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
	ListCell   *lc;

	foreach(lc, pathkeys)
	{
		EquivalenceClass *ec = lfirst_node(PathKey, lc)->pk_eclass;
		PathTarget *have = target ? target : path->pathtarget;
		EquivalenceMember *member = NULL;
		ListCell   *cell;

		if (ec->ec_has_volatile)
			return NULL;
		foreach(cell, have->exprs)
		{
			member = find_ec_member_matching_expr(ec, (Expr *) lfirst(cell), relids);
			if (member)
				break;
		}
		if (member)
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

/* Returns an input of a join sorted by HpSort; NULL if it cannot be, or if pathkeys is NIL. */
static Path *
sort_input(PlannerInfo *root, Path *input, List *pathkeys, bool partial)
{
	Path	   *path;

	if (pathkeys == NIL || !sort_path_is_promising(pathkeys, input))
		return NULL;
	path = add_key_columns(root, input, pathkeys);
	return path ? sort_path_try(root, input->parent, path, pathkeys, partial) : NULL;
}

/*
 * Returns true if each clause has the outer input on its left or can be turned around, as
 * create_mergejoin_plan() does.  Core raises an error if it has to turn an operator that has no
 * commutator, so that HpSort must not make a join by this operator the cheapest.
 */
static bool
clauses_can_be_switched(const List *clauses, const Path *outer)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

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
	Path	   *outer = sort_input(root, join->outerjoinpath, path->outersortkeys, partial);
	Path	   *inner = sort_input(root, join->innerjoinpath, path->innersortkeys, false);
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
	ListCell   *lc;

	foreach(lc, paths)
	{
		MergePath  *path = (MergePath *) lfirst(lc);
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
	ListCell   *lc;

	/* All joins are made before the first is added: add_path() may free paths of the lists. */
	full = make_joins(root, joinrel, joinrel->pathlist, outerrel, innerrel, extra, false);
	if (joinrel->partial_pathlist != NIL && !limit_may_change(root))
		partial = make_joins(root, joinrel, joinrel->partial_pathlist, outerrel, innerrel, extra,
							 true);
	foreach(lc, full)
		add_path(joinrel, (Path *) lfirst(lc));
	foreach(lc, partial)
		add_partial_path(joinrel, (Path *) lfirst(lc));
}
