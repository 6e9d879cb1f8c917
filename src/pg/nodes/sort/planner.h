/*
 * planner.h
 *		The planner's side of Custom Scan (HpSort).
 */
#ifndef HPSORT_PG_NODES_SORT_PLANNER_H
#define HPSORT_PG_NODES_SORT_PLANNER_H

#include "postgres.h"

#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

#include "pg/guc.h"

/* --- for nodes/hooks.c */

/* The quick way out: whether plans may have the node at all. */
static inline bool
sort_node_enabled(void)
{
	return hpsort_enable_sort && hpsort_debug_sort != NODE_FORBID;
}

/* Likewise, for sort_node_upper_paths: the final rows are never sorted. */
static inline bool
sort_node_wants_upper(UpperRelationKind stage)
{
	return stage != UPPERREL_FINAL && sort_node_enabled();
}

/*
 * For create_upper_paths_hook, set_rel_pathlist_hook (where the query wants its
 * rows in some order) and set_join_pathlist_hook: these offer the node beside
 * core's paths.
 */
extern void sort_node_upper_paths(PlannerInfo *root, UpperRelationKind stage,
								  RelOptInfo *input_rel, RelOptInfo *output_rel);
extern void sort_node_scan_paths(PlannerInfo *root, RelOptInfo *rel);
extern void sort_node_join_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
								 RelOptInfo *innerrel, JoinPathExtraData *extra);

/*
 * plan.c: finishes a plan that has such a node.  The number of nodes that were
 * ever put into a plan tells planner_hook whether there may be one: nested or
 * failed planning also counts, and then there may be none.
 */
extern uint64 sort_node_plans_made;
extern void sort_node_finish_plan(PlannedStmt *stmt);

/* --- among the files of this node */

/* plan.c: the plan of such a path. */
extern const CustomPathMethods sort_path_methods;

/* What the cost of a sort depends on. */
typedef struct HpSortCostInput
{
	double		rows;
	int			width;			/* bytes of a row, as planned */
	int			nmapped;
	bool		narrow;			/* one mapped key of at most 32 bits */
	double		range;			/* values that the mapped keys can have */
	double		groups;			/* of equal ones, if keys are left to core's
								 * comparison; else 0 */
	bool		key_only;
	double		limit;			/* rows wanted; < 0: all */
	double		order;			/* how much the rows come in order of the first
								 * key, up or down: 0 (or not known) to 1 */
} HpSortCostInput;

/* Costs beyond the input's: until the first row, and for returning all. */
extern void sort_path_cost(const HpSortCostInput *input, Cost *startup, Cost *run);

/*
 * How much the rows of a path come in order of an expression: by the column's
 * statistics, where they are read as they lie in the table.  Looked up only
 * where it makes a difference: if they are more than work_mem holds.
 */
extern double sort_path_input_order(PlannerInfo *root, const Path *path, Node *expression);

/* The quick way out: whether it is worth a look to sort this by us. */
extern bool sort_path_is_promising(const List *pathkeys, const Path *subpath);

/*
 * A path that sorts all rows of subpath; NULL where it cannot, or would not
 * pay.  partial: of each worker its share.
 */
extern Path *sort_path_make(PlannerInfo *root, RelOptInfo *rel, Path *subpath, List *pathkeys,
							 bool partial);

/* paths.c: a copy of a path; NULL for a kind of which the size is not known. */
extern Path *sort_path_copy(const Path *path);

/*
 * The cheapest of these paths that needs no parameters, and, if pathkeys are
 * given, that is not in their order; NULL if there is none.
 */
extern Path *sort_path_cheapest(List *paths, List *pathkeys);

/*
 * Remembers the cheapest path of a relation that ORDER BY may have to sort, while
 * its list holds no other relation's paths; replaces what was remembered.
 */
extern void sort_path_remember_input(PlannerInfo *root, RelOptInfo *rel);

/*
 * The cheapest path of input_rel for ORDER BY to sort, after core has put its own
 * into ordered_rel; NULL if none is known.  It is in no relation's list, or in
 * input_rel's alone, so that nothing frees it.
 */
extern Path *sort_path_find_input(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *ordered_rel);

/*
 * upper.c: for each path of an upper relation that sorts first, another
 * one that does so by us.
 */
extern void sort_path_replace_sorts(PlannerInfo *root, RelOptInfo *rel);

/* join.c: likewise for each merge join of these two that sorts an input. */
extern void sort_path_replace_merge_sorts(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
									  RelOptInfo *innerrel, JoinPathExtraData *extra);

/* Fewer rows are not worth a look. */
#define SORT_PATH_MIN_ROWS 1000.0

#endif							/* HPSORT_PG_NODES_SORT_PLANNER_H */
