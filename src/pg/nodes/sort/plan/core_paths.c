/*
 * core_paths.c
 *		Core's paths as inputs of HpSort's: copies of them, and the path whose rows ORDER BY
 *		sorts.
 *
 * A path belongs to the relation in whose list it is.  add_path() frees a path
 * that it refuses, and one that a new path makes useless, but for IndexPaths.
 * Three rules keep that memory out of hpsort's paths:
 *
 * - A path below another path is used as it is: add_path() frees no path to which
 *   a path in a list points.  Paths of a finished relation stay in its list; the
 *   only path that core adds later, to partitions, is a Gather, where the target
 *   list cannot be computed by workers.  A Gather is not parallel safe, and
 *   add_path() lets it replace no path that is, as all of such a partition are.
 * - A path of a list to which more paths are added is used as a copy.
 * - A list of paths that may also be in the list of the next relation is not read
 *   at all.  create_ordered_paths() puts the input's paths that are in order
 *   already into the list of ordered rows as they are, and grouping_planner() does
 *   so with every path of the last relation but one.  add_path() then frees paths
 *   of the next list, and the input's list, its cheapest_total_path included,
 *   keeps pointers to freed memory.
 *
 * By the last rule the cheapest path of ORDER BY's input cannot be read from its
 * list when core has made its own sorts.  It is found below core's Sort, if
 * the Sort is still in the list of ordered rows.  If a cheaper path has replaced
 * the Sort, the copy is used that sort_path_remember_input() has made while the
 * list held the input's paths alone.
 */
#include "postgres.h"

#include "optimizer/pathnode.h"

#include "pg/compat.h"
#include "pg/guc.h"
#include "pg/nodes/sort/plan/path.h"

/* Sizes of the kinds of paths; a CustomPath may be the beginning of something larger. */
#define KIND(type) {T_##type, sizeof(type)}
static const struct
{
	NodeTag		tag;
	Size		size;
}			kinds[] = {

	KIND(Path),
	KIND(IndexPath),
	KIND(BitmapHeapPath),
	KIND(TidPath),
	KIND(TidRangePath),
	KIND(SubqueryScanPath),
	KIND(ForeignPath),
	KIND(AppendPath),
	KIND(MergeAppendPath),
	KIND(GatherPath),
	KIND(GatherMergePath),
	KIND(NestPath),
	KIND(MergePath),
	KIND(HashPath),
	KIND(ProjectionPath),
	KIND(SortPath),
	KIND(IncrementalSortPath),
	KIND(GroupPath),
	KIND(AggPath),
	KIND(GroupingSetsPath),
	KIND(WindowAggPath),
	KIND(UpperUniquePath),
	KIND(SetOpPath),
	KIND(RecursiveUnionPath)
};

Path *
sort_path_copy(const Path *path)
{
	for (int i = 0; i < lengthof(kinds); i++)
		if (kinds[i].tag == nodeTag(path))
			return (Path *) memcpy(palloc(kinds[i].size), path, kinds[i].size);
	return NULL;
}

Path *
sort_path_cheapest(List *paths, List *pathkeys)
{
	Path	   *cheapest = NULL;

	foreach_ptr(Path, path, paths)
	{
		if (path->param_info == NULL &&
			(cheapest == NULL || compare_path_costs(path, cheapest, TOTAL_COST) < 0) &&
			!(pathkeys != NIL && pathkeys_contained_in(pathkeys, path->pathkeys)))
			cheapest = path;
	}
	return cheapest;
}

/*
 * Returns hpsort's own upper relation, in which the copy is kept; NULL if there is none yet.  Core
 * finds upper relations by their stage and their relids: core's relation of ordered rows has no
 * relids, hpsort's has some.
 */
static RelOptInfo *
memory_of(PlannerInfo *root)
{
	foreach_node(RelOptInfo, rel, root->upper_rels[UPPERREL_ORDERED])
	{
		if (!bms_is_empty(rel->relids))
			return rel;
	}
	return NULL;
}

void
sort_path_remember_input(PlannerInfo *root, RelOptInfo *rel)
{
	RelOptInfo *memory = memory_of(root);
	Path	   *path;

	/*
	 * The genetic join search makes relations in memory that it frees.  If functions in the
	 * target list return sets, core puts further paths above the ones that are in the list.
	 */
	if (compat_in_genetic_join_search(root) || root->parse->hasTargetSRFs)
		return;
	path = sort_path_cheapest(rel->pathlist, root->sort_pathkeys);
	if (path == NULL && hpsort_debug_sort == NODE_FORCE)
		path = sort_path_cheapest(rel->pathlist, NIL);
	if (memory == NULL)
		memory = fetch_upper_rel(root, UPPERREL_ORDERED, bms_make_singleton(0));
	memory->cheapest_total_path = path ? sort_path_copy(path) : NULL;
}

/* Returns what sort_path_remember_input() has remembered of a relation, or NULL. */
static Path *
remembered_input(PlannerInfo *root, RelOptInfo *input_rel)
{
	RelOptInfo *memory = memory_of(root);
	Path	   *path = memory ? memory->cheapest_total_path : NULL;

	if (path == NULL || path->parent != input_rel)
		return NULL;

	/* Core gives tables and joins their final target after their hooks have been called. */
	if ((input_rel->reloptkind == RELOPT_BASEREL || input_rel->reloptkind == RELOPT_JOINREL) &&
		!equal(path->pathtarget->exprs, input_rel->reltarget->exprs))
		path = (Path *) create_projection_path(root, input_rel, path, input_rel->reltarget);
	return path;
}

Path *
sort_path_find_input(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *ordered_rel)
{
	Path	   *input = NULL;
	Path	   *remembered = remembered_input(root, input_rel);

	foreach_ptr(Path, path, ordered_rel->pathlist)
	{
		/* A Sort cannot project: a projection may be above it. */
		if (IsA(path, ProjectionPath))
			path = ((ProjectionPath *) path)->subpath;
		if (!IsA(path, SortPath) && !IsA(path, IncrementalSortPath))
			continue;
		path = ((SortPath *) path)->subpath;
		if (path->param_info == NULL &&
			(input == NULL || compare_path_costs(path, input, TOTAL_COST) < 0))
			input = path;
	}
	if (input == NULL || (remembered && compare_path_costs(remembered, input, TOTAL_COST) < 0))
		input = remembered;
	return input;
}
