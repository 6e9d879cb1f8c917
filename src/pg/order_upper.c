/*
 * order_upper.c
 *		Custom Scan (HpSort) in the place of a Sort below windows, DISTINCT and
 *		groups (see order_planner.c).
 *
 * What core has built there is a chain of nodes with one input each, and
 * somewhere a Sort.  The chain is copied down to the Sort, our path takes that
 * one's place, and whatever is cheaper stays.  Core's own are left as they are.
 */
#include "postgres.h"

#include "optimizer/cost.h"
#include "optimizer/pathnode.h"

#include "compat.h"
#include "order_planner.h"

/* Nodes with one input; it is in the same place in all of them. */
typedef struct ChainPath
{
	Path		path;
	Path	   *subpath;
} ChainPath;

/* The size of such a path; 0 for what is no link of such a chain. */
static Size
chain_path_size(const Path *path)
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
			return sizeof(AggPath);
		case T_GroupPath:
			return sizeof(GroupPath);
		case T_GroupingSetsPath:
			return sizeof(GroupingSetsPath);
		case T_WindowAggPath:
			return sizeof(WindowAggPath);
		case T_UpperUniquePath:
			return sizeof(UpperUniquePath);
		case T_ProjectionPath:
			return sizeof(ProjectionPath);
		default:
			return 0;
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
	Size		size = chain_path_size(path);
	Path	   *sub = NULL;
	Path	   *old;
	Path	   *copy;

	if (IsA(path, SortPath))
	{
		/* There may be another sort below: a window over another window. */
		old = ((SortPath *) path)->subpath;
		sub = replace_sorts(root, old);
		copy = order_make_path(root, path->parent, sub ? sub : old, path->pathkeys, false);
		if (copy)
			return copy;
		size = sizeof(SortPath);
	}
	if (size == 0)
		return NULL;
	old = ((ChainPath *) path)->subpath;
	if (!IsA(path, SortPath))
		sub = replace_sorts(root, old);
	if (sub == NULL)
		return NULL;
	copy = (Path *) palloc(size);
	memcpy(copy, path, size);
	((ChainPath *) copy)->subpath = sub;
	copy->total_cost += sub->total_cost - old->total_cost;
	copy->startup_cost += reads_all(path) ? sub->total_cost - old->total_cost
		: sub->startup_cost - old->startup_cost;
	return copy;
}

void
order_replace_sorts(PlannerInfo *root, RelOptInfo *rel)
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
