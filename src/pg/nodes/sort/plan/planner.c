/*
 * planner.c
 *		Offers Custom Scan (HpSort) to the planner wherever core would sort.
 *
 * Paths are offered in four places:
 *
 * - ORDER BY: beside core's sorts, in the upper relation of ordered rows.
 * - Windows, DISTINCT, GROUP BY and ordered aggregates: as sorted paths of the base or join
 *   relation, which core takes as it takes those of an index.
 * - The same clauses where keys, or rows, are computed only above the joins: replace.c offers a
 *   copy of core's path with HpSort in the place of the Sort.
 * - Merge joins: replace.c offers the join again, with inputs sorted by HpSort.
 *
 * Planning must not become slower for queries that have nothing to gain, so
 * every function that nodes/hooks.c calls returns after the cheapest test that tells.
 */
#include "postgres.h"

#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"

#include "pg/changing_limit.h"
#include "pg/compat.h"
#include "pg/guc.h"
#include "pg/nodes/sort/plan/path.h"
#include "pg/resident/source/source.h"
#include "pg/values/values.h"

/* Offers a path of the ordered rows, unless NULL, with the target list that they must have. */
static void
add_ordered_path(PlannerInfo *root, RelOptInfo *ordered_rel, Path *path, PathTarget *target)
{
	if (path == NULL)
		return;
	if (path->pathtarget != target)
		path = apply_projection_to_path(root, ordered_rel, path, target);
	add_path(ordered_rel, path);
}

/* Offers ORDER BY by parallel workers: each sorts its share, and a Gather Merge merges them. */
static void
add_parallel_ordered_path(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *ordered_rel,
						  PathTarget *target)
{
	Path	   *partial;
	Path	   *path;
	HpSortBound bound;

	if (!ordered_rel->consider_parallel || input_rel->partial_pathlist == NIL ||
		limit_may_change(root))
		return;
	partial = (Path *) linitial(input_rel->partial_pathlist);
	if (pathkeys_contained_in(root->sort_pathkeys, partial->pathkeys))
		return;
	bound = sort_path_limit(root, partial->pathtarget);
	path = sort_path_gather(root, ordered_rel,
							sort_path_try(root, ordered_rel, partial, root->sort_pathkeys, &bound,
										  true));
	add_ordered_path(root, ordered_rel, path, target);
}

/*
 * Whether few rows of many are sorted that a table is searched for: where columns are kept, it need
 * not be read.
 */
static bool
may_be_resident(const PlannerInfo *root, const RelOptInfo *rel)
{
	return root->parse->limitCount && IS_SIMPLE_REL(rel) && sort_path_enough_rows(rel->tuples) &&
		rel->cheapest_total_path->pathtype == T_SeqScan && resident_enabled() &&
		resident_keeps_any();
}

/* Offers paths for ORDER BY, after core has offered all of its own. */
static void
add_ordered_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *ordered_rel)
{
	Path	   *input;
	PathTarget *target;

	if (!sort_path_may_map(root->sort_pathkeys) || ordered_rel->pathlist == NIL)
		return;
	input = sort_path_find_input(root, input_rel, ordered_rel);
	if (input == NULL ||
		(!sort_path_enough_rows(input->rows) && !may_be_resident(root, input_rel)))
		return;

	/*
	 * The executor passes a LIMIT above this query on to core's Sort, but not to a custom scan.
	 * HpSort would sort all rows where core's Sort keeps only a few.
	 */
	if (root->parse->limitCount == NULL && root->tuple_fraction >= 1.0 &&
		root->tuple_fraction < input->rows / 2 && hpsort_debug_sort != NODE_FORCE)
		return;

	/* The target of a set operation is not in root->upper_targets. */
	target = ((Path *) linitial(ordered_rel->pathlist))->pathtarget;
	if (!pathkeys_contained_in(root->sort_pathkeys, input->pathkeys) ||
		hpsort_debug_sort == NODE_FORCE)
	{
		HpSortBound bound = sort_path_limit(root, input->pathtarget);

		add_ordered_path(root, ordered_rel,
						 sort_path_try(root, ordered_rel, input, root->sort_pathkeys, &bound,
									   false),
						 target);
		add_ordered_path(root, ordered_rel,
						 sort_path_below_join(root, input, root->sort_pathkeys, &bound), target);
	}
	add_parallel_ordered_path(root, input_rel, ordered_rel, target);
}

/*
 * Whether a path is new: a join of two other relations has been there, and has been sorted, when
 * the hook was called for them.
 */
static bool
is_new(const Path *path, const RelOptInfo *outerrel, const RelOptInfo *innerrel)
{
	const JoinPath *join = (const JoinPath *) path;

	return !(IsA(path, NestPath) || IsA(path, MergePath) || IsA(path, HashPath)) ||
		(bms_equal(join->outerjoinpath->parent->relids, outerrel->relids) &&
		 bms_equal(join->innerjoinpath->parent->relids, innerrel->relids));
}

/* Returns HpSort over a copy of path; NULL if path is NULL, old, in order, or cannot be sorted. */
static Path *
make_sorted_path(PlannerInfo *root, RelOptInfo *rel, Path *path, const RelOptInfo *outerrel,
				 const RelOptInfo *innerrel, List *pathkeys, bool partial)
{
	if (path == NULL || !is_new(path, outerrel, innerrel) ||
		pathkeys_contained_in(pathkeys, path->pathkeys))
		return NULL;
	path = sort_path_copy(path);
	return path ? sort_path_try(root, rel, path, pathkeys, NULL, partial) : NULL;
}

/* Offers the rows of a relation sorted by pathkeys, serially and by workers. */
static void
add_sorted_paths(PlannerInfo *root, RelOptInfo *rel, const RelOptInfo *outerrel,
				 const RelOptInfo *innerrel, List *pathkeys)
{
	Path	   *path = make_sorted_path(root, rel, sort_path_cheapest(rel->pathlist, NIL), outerrel,
										innerrel, pathkeys, false);

	if (path)
		add_path(rel, path);
	if (!rel->consider_parallel || rel->partial_pathlist == NIL)
		return;
	path = make_sorted_path(root, rel, (Path *) linitial(rel->partial_pathlist), outerrel, innerrel,
							pathkeys, true);
	if (path)
		add_partial_path(rel, path);
}

/*
 * Returns true if something other than ORDER BY wants the rows of the query in order.  For
 * DISTINCT it returns false if the target list must be computed for all rows (computed.c): above a
 * sorted relation it would be computed for the rows that are read, below core's Sort for all.
 */
static bool
wants_order_below(PlannerInfo *root, const RelOptInfo *rel)
{
	if (root->query_pathkeys == NIL)
		return false;
	/* DISTINCT comes before ORDER BY, and may want the order of ORDER BY. */
	if (root->parse->distinctClause != NIL)
		return !sort_path_must_compute(root, rel, root->processed_tlist);
	return root->query_pathkeys != root->sort_pathkeys;
}

/*
 * Returns true if a set operation wants the rows in order, and they have few different values.
 * HpSort is not offered then.  Core takes all rows of a UNION to be different, so that it expects
 * a hash table larger than memory and would prefer sorted rows to a hash table that is small.
 */
static bool
has_few_for_set_operation(PlannerInfo *root, RelOptInfo *rel)
{
	List	   *pathkeys = compat_setop_pathkeys(root);

	if (pathkeys == NIL || pathkeys != root->query_pathkeys || hpsort_debug_sort == NODE_FORCE)
		return false;
	return expression_groups(root, get_tlist_exprs(root->processed_tlist, false), rel->rows) <
		rel->rows / 2;
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
				(root->group_pathkeys != NIL && sort_path_may_map(root->group_pathkeys)))
				sort_path_replace_sorts(root, input_rel, output_rel);
			break;
		case UPPERREL_DISTINCT:
			if ((root->distinct_pathkeys != NIL && sort_path_may_map(root->distinct_pathkeys)) ||
				(root->sort_pathkeys != NIL && sort_path_may_map(root->sort_pathkeys)))
				sort_path_replace_sorts(root, input_rel, output_rel);
			break;
		case UPPERREL_WINDOW:
			sort_path_replace_sorts(root, input_rel, output_rel);
			break;
		case UPPERREL_SETOP:
			break;
		default:
			return;
	}
	if (root->sort_pathkeys != NIL && sort_path_may_map(root->sort_pathkeys))
		sort_path_remember_input(root, output_rel);
}

/*
 * Offers sorted paths of the relation that has all tables of the query: a base relation, or a join
 * of two relations.  The query must want its rows in an order whose first key may be mapped.
 */
static void
add_scan_join_paths(PlannerInfo *root, RelOptInfo *rel, const RelOptInfo *outerrel,
					const RelOptInfo *innerrel)
{
	if (!sort_path_enough_rows(rel->rows) || IS_DUMMY_REL(rel))
		return;
	if (wants_order_below(root, rel) && !has_few_for_set_operation(root, rel))
		add_sorted_paths(root, rel, outerrel, innerrel, root->query_pathkeys);
	if (root->query_pathkeys == root->sort_pathkeys)
		sort_path_remember_input(root, rel);
}

void
sort_node_scan_paths(PlannerInfo *root, RelOptInfo *rel)
{
	if (rel->reloptkind == RELOPT_BASEREL && bms_equal(rel->relids, root->all_baserels))
		add_scan_join_paths(root, rel, NULL, NULL);
}

void
sort_node_join_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
					 RelOptInfo *innerrel, JoinPathExtraData *extra)
{
	if (sort_path_enough_rows(outerrel->rows) || sort_path_enough_rows(innerrel->rows))
		sort_path_replace_merge_sorts(root, joinrel, outerrel, innerrel, extra);

	/* Called for each pair of relations that makes up the join; the last call sees all paths. */
	if (root->query_pathkeys != NIL && joinrel->reloptkind == RELOPT_JOINREL &&
		bms_is_subset(root->all_baserels, joinrel->relids) &&
		sort_path_may_map(root->query_pathkeys))
		add_scan_join_paths(root, joinrel, outerrel, innerrel);
}
