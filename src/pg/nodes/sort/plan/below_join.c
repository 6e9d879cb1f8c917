/*
 * below_join.c
 *		HpSort below the joins of a query of whose rows the first ones are wanted, of all or of each
 *		group, in the order of one table.
 *
 * Core joins all rows, and sorts them then.  Where the table is sorted first, few rows are joined.
 *
 * - Each row of the table is in at least one row of a left join, from whose result no condition of
 *	 WHERE takes rows.  Below these joins alone HpSort has the query's bound, and sorts no further.
 *	 Nested loops keep its order; the wanted rows may also be joined by hash, and be sorted once
 *	 more.
 * - HpSort has the bound below an inner join, too, which is expected to take no rows, by a foreign
 *	 key or by statistics.  Neither proves it: the check of a foreign key may be pending.  A second
 *	 HpSort above the joins counts the rows that come.  If too few do, it reads core's path instead
 *	 (exec.c), so that the query has nothing volatile.
 * - Below other inner joins HpSort sorts all rows of the table, and the LIMIT ends the loops.  The
 *	 first rows of groups are not looked for below these.
 *
 * The join is that of core's path, join for join, with each table on the same side or, of an inner
 * join, on the other one.
 */
#include "postgres.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"

#include "pg/compat.h"
#include "pg/nodes/sort/plan/path.h"
#include "pg/values/values.h"

/* Of a table's rows, the least part that an inner join which is expected to take none leaves. */
#define NONE_TAKEN 0.99

/* What is looked for. */
typedef struct BelowJoin
{
	PlannerInfo *root;
	List	   *pathkeys;
	const HpSortBound *bound;	/* of the query */
	bool		bounded;		/* the table that was found is sorted as far as the bound only */
	bool		may_miss;		/* ... below an inner join */
} BelowJoin;

/* A join of core's path that is made again: of rows in order, and others. */
typedef struct JoinAgain
{
	JoinPath   *old;
	JoinType	type;			/* JOIN_INNER or JOIN_LEFT */
	bool		swapped;		/* the outer side is old's inner one */
	List	   *clauses;
} JoinAgain;

static Path *sort_below(BelowJoin *below, Path *path, bool bounded);

/* Returns HpSort over a table's rows; NULL if it does not have the keys. */
static Path *
sort_table(BelowJoin *below, RelOptInfo *rel, bool bounded)
{
	Path	   *path = IS_SIMPLE_REL(rel) ? sort_path_cheapest(rel->pathlist, NIL) : NULL;
	HpSortBound bound = *below->bound;

	if (path == NULL)
		return NULL;
	path = sort_path_sort_input(below->root, path, below->pathkeys, bounded ? &bound : NULL, false);
	below->bounded = bounded;
	if (path && bounded)
		path->rows = clamp_row_est(Min(path->rows, bound.rows));
	return path;
}

/* Whether a query may be read twice, by two plans. */
static bool
is_repeatable(PlannerInfo *root)
{
	/* Core changes a subquery when it makes its plan, which it can do once. */
	for (int i = 1; i < root->simple_rel_array_size; i++)
		if (root->simple_rel_array[i] && root->simple_rel_array[i]->subroot)
			return false;
	return !root->parse->hasSubLinks && !contain_volatile_functions((Node *) root->parse);
}

/*
 * Whether the bound holds below a join, of each of whose outer rows there are so many, of the rows
 * that the bound counts.  Rows of groups are counted by joins that repeat none.
 */
static bool
keeps_bound(BelowJoin *below, const JoinAgain *join, RelOptInfo *outer, RelOptInfo *inner,
			double each)
{
	RelOptInfo *rel = join->old->path.parent;

	if (below->bound->kind != GROUP_BOUND_NONE &&
		!innerrel_is_unique(below->root, rel->relids, outer->relids, inner, join->type,
							join->clauses, false))
		return false;
	if (join->type == JOIN_LEFT)
		return true;
	below->may_miss = each >= NONE_TAKEN && (below->may_miss || is_repeatable(below->root));
	return below->may_miss;
}

/* Returns all clauses of a join, also those that its inner path has as conditions. */
static List *
clauses_of_join(const JoinPath *join)
{
	const Path *inner = join->innerjoinpath;

	if (inner->param_info == NULL)
		return join->joinrestrictinfo;
	return list_union_ptr(join->joinrestrictinfo, inner->param_info->ppi_clauses);
}

/* Whether one of the clauses of an outer join takes rows from its result, or a clause may fail. */
static bool
clauses_matter(const JoinAgain *join)
{
	List	   *expressions = NIL;

	foreach_node(RestrictInfo, rinfo, join->clauses)
	{
		if (join->type == JOIN_LEFT &&
			RINFO_IS_PUSHED_DOWN(rinfo, join->old->path.parent->relids))
			return true;
		expressions = lappend(expressions, rinfo->clause);
	}
	return sort_path_may_fail(expressions);
}

/* Fills in what a join of outer rows, of which there are fewer than core expects, is made of. */
static JoinPathExtraData
extra_of_join(const JoinAgain *join)
{
	SpecialJoinInfo *sjinfo = makeNode(SpecialJoinInfo);
	JoinPathExtraData extra = {
		.restrictlist = join->clauses,
		.sjinfo = sjinfo,
		.inner_unique = !join->swapped && join->old->inner_unique,
		.semifactors = {.outer_match_frac = 1,.match_count = 1}
	};

	/* The cost of a hash join depends on it since PostgreSQL 19. */
	sjinfo->jointype = join->type;
	compat_set_strategies(&extra, join->old->path.parent);
	return extra;
}

/*
 * Returns the nested loop of a join; NULL if nothing finds rows of one inner table by the outer
 * one (a path of several enforces clauses that are not known), or if reading the inner table once
 * for each outer row might have another effect: volatile functions, and conditions that may fail.
 */
static Path *
join_by_loop(PlannerInfo *root, const JoinAgain *join, Path *outer, RelOptInfo *inner_rel)
{
	Path	   *best = NULL;

	if (!IS_SIMPLE_REL(inner_rel) ||
		(inner_rel->lateral_relids && contain_volatile_functions((Node *) root->parse)) ||
		sort_path_may_fail(extract_actual_clauses(inner_rel->baserestrictinfo, false)))
		return NULL;
	foreach_ptr(Path, inner, inner_rel->cheapest_parameterized_paths)
	{
		JoinPathExtraData extra = extra_of_join(join);
		JoinCostWorkspace workspace;
		Path	   *path;

		if (bms_is_empty(PATH_REQ_OUTER(inner)) ||
			!bms_is_subset(PATH_REQ_OUTER(inner), outer->parent->relids))
			continue;
		compat_initial_cost_nestloop(root, &workspace, join->type, outer, inner, &extra);
		path = (Path *) create_nestloop_path(root, join->old->path.parent, join->type,
											 &workspace, &extra, outer, inner, join->clauses,
											 outer->pathkeys, NULL);
		if (best == NULL || compare_path_costs(path, best, TOTAL_COST) < 0)
			best = path;
	}
	return best;
}

/* Returns the hash join of a join, whose rows are in no order; NULL if core's is none. */
static Path *
join_by_hash(PlannerInfo *root, const JoinAgain *join, Path *outer, RelOptInfo *inner_rel)
{
	Path	   *inner = inner_rel->cheapest_total_path;
	JoinPathExtraData extra = extra_of_join(join);
	JoinCostWorkspace workspace;
	List	   *clauses;

	if (!IsA(join->old, HashPath) || inner->param_info != NULL)
		return NULL;
	clauses = ((HashPath *) join->old)->path_hashclauses;
	initial_cost_hashjoin(root, &workspace, join->type, clauses, outer, inner, &extra, false);
	return (Path *) create_hashjoin_path(root, join->old->path.parent, join->type, &workspace,
										 &extra, outer, inner, false, join->clauses, NULL,
										 clauses);
}

/* Returns a join made again, with its outer rows in order; NULL if that is not possible. */
static Path *
join_again(BelowJoin *below, const JoinAgain *join, bool bounded)
{
	Path	   *outer = join->swapped ? join->old->innerjoinpath : join->old->outerjoinpath;
	Path	   *inner = join->swapped ? join->old->outerjoinpath : join->old->innerjoinpath;
	double		each = join->old->path.rows / Max(outer->parent->rows, 1);
	Path	   *sorted;
	Path	   *path;
	Path	   *hashed;

	if (clauses_matter(join))
		return NULL;
	bounded = bounded && keeps_bound(below, join, outer->parent, inner->parent, each);
	sorted = sort_below(below, outer, bounded);
	if (sorted == NULL)
		return NULL;
	path = join_by_loop(below->root, join, sorted, inner->parent);
	hashed = below->bounded ? join_by_hash(below->root, join, sorted, inner->parent) : NULL;
	if (path == NULL || (hashed && compare_path_costs(hashed, path, TOTAL_COST) < 0))
		path = hashed;
	/* The row count is that of the whole join. */
	if (path)
		path->rows = clamp_row_est(sorted->rows * each);
	return path;
}

/* Returns core's path with a table sorted below it; NULL if that is not possible. */
static Path *
sort_below(BelowJoin *below, Path *path, bool bounded)
{
	JoinAgain	join = {.old = (JoinPath *) path};
	Path	   *result;

	if (IsA(path, ProjectionPath) && path->parent->reloptkind == RELOPT_JOINREL)
		return sort_below(below, ((ProjectionPath *) path)->subpath, bounded);
	if (!IsA(path, NestPath) && !IsA(path, HashPath) && !IsA(path, MergePath))
		return sort_table(below, path->parent, bounded);
	/* Of a semijoin, other paths of the relation repeat values. */
	if (path->param_info != NULL || IsA(join.old->outerjoinpath, UniquePath) ||
		IsA(join.old->innerjoinpath, UniquePath))
		return NULL;
	join.clauses = clauses_of_join(join.old);
	join.swapped = join.old->jointype == JOIN_RIGHT;
	join.type = join.swapped ? JOIN_LEFT : join.old->jointype;
	if (join.type != JOIN_LEFT && join.type != JOIN_INNER)
		return NULL;
	result = join_again(below, &join, bounded);
	join.swapped = true;
	return result || join.type == JOIN_LEFT ? result : join_again(below, &join, bounded);
}

Path *
sort_path_below_join(PlannerInfo *root, Path *path, List *pathkeys, const HpSortBound *bound)
{
	BelowJoin	below = {.root = root,.pathkeys = pathkeys,.bound = bound};
	HpSortBound above = *bound;
	Path	   *result;

	if (bound->exprs == NIL || path->parent->reloptkind != RELOPT_JOINREL ||
		root->parse->hasTargetSRFs || sort_path_may_fail(path->pathtarget->exprs))
		return NULL;
	result = sort_below(&below, path, true);
	if (result == NULL || (bound->kind != GROUP_BOUND_NONE && !below.bounded))
		return NULL;
	if (below.bounded && below.may_miss)
	{
		if (!equal(path->pathtarget->exprs, result->pathtarget->exprs))
			return NULL;
		above.instead = path;
		return sort_path_try(root, result->parent, result, pathkeys, &above, false);
	}
	if (!pathkeys_contained_in(pathkeys, result->pathkeys))
		result = (Path *) create_sort_path(root, result->parent, result, pathkeys, bound->rows);
	return result;
}
