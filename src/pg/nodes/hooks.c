/*
 * hooks.c
 *		The planner hooks that all custom scan nodes share (see README.md), and the start
 *		of the executor's (place_rows.h).
 *
 * Each hook first calls the hook that was set before it, and then each node in turn.  Planning of
 * queries that no node touches must not become slower, so that inline tests of the nodes come
 * before each call of a node.  upper_paths_hook, which every query passes several times, makes
 * these tests before it calls the previous hook, so that it can end with that call if all fail.
 */
#include "postgres.h"

#include "nodes/extensible.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/plan/plan.h"
#include "pg/nodes/hooks.h"
#include "pg/nodes/scan/scan.h"
#include "pg/nodes/sort/exec/place_rows.h"
#include "pg/nodes/sort/plan/plan.h"

static planner_hook_type prev_planner_hook = NULL;
static create_upper_paths_hook_type prev_upper_paths_hook = NULL;
static set_rel_pathlist_hook_type prev_rel_pathlist_hook = NULL;
static set_join_pathlist_hook_type prev_join_pathlist_hook = NULL;

/* Paths above scans and joins: the groups, windows, order and final rows of a query. */
static void
upper_paths_hook(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
				 RelOptInfo *output_rel, void *extra)
{
	bool		sort = sort_node_wants_upper(stage);
	bool		aggregate = aggregate_node_wants_upper(root, stage, input_rel);

	if (likely(!sort && !aggregate))
	{
		if (prev_upper_paths_hook)
			prev_upper_paths_hook(root, stage, input_rel, output_rel, extra);
		return;
	}
	if (prev_upper_paths_hook)
		prev_upper_paths_hook(root, stage, input_rel, output_rel, extra);
	if (sort)
		sort_node_upper_paths(root, stage, input_rel, output_rel);
	if (aggregate)
		aggregate_node_upper_paths(root, stage, input_rel, output_rel, extra);
}

/*
 * Offers sorted paths of a base relation, if no other module's hook comes after this one.  A later
 * hook may throw all paths away and make others, as extensions for planner hints do, so that a path
 * made here could be over a path that the later hook has freed.
 */
static void
rel_pathlist_hook(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	if (prev_rel_pathlist_hook)
		prev_rel_pathlist_hook(root, rel, rti, rte);
	scan_node_see_table(rel);
	if (set_rel_pathlist_hook == rel_pathlist_hook && root->query_pathkeys != NIL &&
		sort_node_enabled() && sort_path_may_map(root->query_pathkeys))
		sort_node_scan_paths(root, rel);
}

/* Paths of a join. */
static void
join_pathlist_hook(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
				   RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	if (prev_join_pathlist_hook)
		prev_join_pathlist_hook(root, joinrel, outerrel, innerrel, jointype, extra);
	if (sort_node_enabled())
		sort_node_join_paths(root, joinrel, outerrel, innerrel, extra);
}

/* Before and after a whole query is planned. */
static PlannedStmt *
planning_hook(Query *parse, const char *query_string, int options, ParamListInfo params
			  COMPAT_PLANNER_EXPLAIN_PARAMETER)
{
	uint64		sort_plans = sort_node_plans_made;
	uint64		tables = scan_node_tables_seen;
	PlannedStmt *result;

	if (prev_planner_hook)
		result = prev_planner_hook(parse, query_string, options,
								   params COMPAT_PLANNER_EXPLAIN_ARGUMENT);
	else
		result = standard_planner(parse, query_string, options,
								  params COMPAT_PLANNER_EXPLAIN_ARGUMENT);
	if (unlikely(sort_node_plans_made != sort_plans))
		sort_node_finish_plan(result);
	if (unlikely(scan_node_tables_seen != tables))
		scan_node_finish_plan(result);
	return result;
}

void
nodes_init(void)
{
	RegisterCustomScanMethods(&sort_node_scan_methods);
	RegisterCustomScanMethods(&aggregate_scan_methods);
	RegisterCustomScanMethods(&scan_node_scan_methods);

	prev_planner_hook = planner_hook;
	planner_hook = planning_hook;
	prev_upper_paths_hook = create_upper_paths_hook;
	create_upper_paths_hook = upper_paths_hook;
	prev_rel_pathlist_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = rel_pathlist_hook;
	prev_join_pathlist_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = join_pathlist_hook;
	place_rows_init();
}
