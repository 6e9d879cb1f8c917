/*
 * upper.c
 *		Custom Scan (HpSort) in the place of a Sort below windows, DISTINCT and
 *		groups (see upper.h).
 *
 * Core has built a chain of paths with one input each, and one of them, at the
 * end or in between, is a Sort.  A copy of the chain down to the Sort is offered,
 * with HpSort's path in the place of the Sort; add_path() keeps what is cheaper.
 * Core's chain stays as it is.
 */
#include "postgres.h"

#include "optimizer/cost.h"
#include "optimizer/pathnode.h"

#include "pg/compat.h"
#include "pg/nodes/sort/core_paths.h"
#include "pg/nodes/sort/path.h"
#include "pg/nodes/sort/upper.h"

/* A path with one input, which is at the same offset in all kinds of them. */
typedef struct ChainPath
{
	Path		path;
	Path	   *subpath;
} ChainPath;

/* Whether a path is a link of such a chain. */
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

/* Whether a path reads all of its input before it returns anything. */
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

	/* Made first, and then added, because add_path() may free paths of the list. */
	foreach(lc, rel->pathlist)
	{
		Path	   *path = replace_sorts(root, (Path *) lfirst(lc));

		if (path)
			paths = lappend(paths, path);
	}
	foreach(lc, paths)
		add_path(rel, (Path *) lfirst(lc));
}
