/*
 * upper.c
 *		Custom Scan (HpSort) in the place of a Sort below windows, DISTINCT and
 *		groups (see planner.c).
 *
 * What core has built there is a chain of nodes with one input each, and
 * somewhere a Sort.  The chain is copied down to the Sort, our path takes that
 * one's place, and whatever is cheaper stays.  Core's own are left as they are.
 */
#include "postgres.h"

#include "optimizer/cost.h"
#include "optimizer/pathnode.h"

#include "pg/compat.h"
#include "pg/nodes/sort/core_paths.h"
#include "pg/nodes/sort/path.h"
#include "pg/nodes/sort/upper.h"

/* Nodes with one input; it is in the same place in all of them. */
typedef struct ChainPath
{
	Path		path;
	Path	   *subpath;
} ChainPath;

/* Whether a path is a link of such a chain; a Sort is its end, or one. */
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

/* Whether a node reads all of its input before it returns anything. */
static bool
reads_all(const Path *path)
{
	return IsA(path, SortPath) ||
		(IsA(path, AggPath) && ((const AggPath *) path)->aggstrategy != AGG_SORTED);
}

/* A copy of path with every Sort replaced that can be; NULL if none can. */
static Path *
replace_sorts(PlannerInfo *root, Path *path)
{
	Path	   *sub;
	Path	   *old;
	Path	   *copy;

	if (!is_chain_link(path))
		return NULL;

	/* Below a Sort there may be another one: a window over another window. */
	old = ((ChainPath *) path)->subpath;
	sub = replace_sorts(root, old);
	if (IsA(path, SortPath))
	{
		copy = sort_path_try(root, path->parent, sub ? sub : old, path->pathkeys, false);
		if (copy)
			return copy;
	}
	if (sub == NULL)
		return NULL;
	copy = sort_path_copy(path);
	((ChainPath *) copy)->subpath = sub;
	copy->total_cost += sub->total_cost - old->total_cost;
	copy->startup_cost += reads_all(path) ? sub->total_cost - old->total_cost
		: sub->startup_cost - old->startup_cost;
	return copy;
}

void
sort_path_replace_sorts(PlannerInfo *root, RelOptInfo *rel)
{
	List	   *paths = NIL;
	ListCell   *lc;

	/* First all, then add: that may free what is in the list. */
	foreach(lc, rel->pathlist)
	{
		Path	   *path = replace_sorts(root, (Path *) lfirst(lc));

		if (path)
			paths = lappend(paths, path);
	}
	foreach(lc, paths)
		add_path(rel, (Path *) lfirst(lc));
}
