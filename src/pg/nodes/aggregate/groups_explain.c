/*
 * groups_explain.c
 *		EXPLAIN of HpSort Aggregate: groups and aggregates, the tables that are read, and with
 *		ANALYZE what the last execution did.
 */
#include "postgres.h"

#include "commands/explain.h"
#include "utils/ruleutils.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/groups_state.h"
#include "sort/algorithms.h"

/* Returns the texts of the expressions of the scan tuple, from column from to column to - 1. */
static List *
deparse_columns(const GroupsState *node, List *context, int from, int to, ExplainState *es)
{
	const CustomScan *scan = (const CustomScan *) node->css.ss.ps.plan;
	bool		prefix = compat_explain_prefix(es);
	List	   *result = NIL;

	for (int i = from; i < to; i++)
	{
		Node	   *expression = (Node *) list_nth_node(TargetEntry, scan->custom_scan_tlist,
														i)->expr;

		result = lappend(result, deparse_expression(expression, context, prefix, false));
	}
	return result;
}

/* Shows the grouping columns, of each set where there are several, as core does. */
static void
explain_groups(const GroupsState *node, List *context, ExplainState *es)
{
	const CustomScan *scan = (const CustomScan *) node->css.ss.ps.plan;
	List	   *columns = deparse_columns(node, context, 0, node->ngroups, es);

	if (node->sets == NULL)
	{
		if (node->ngroups > 0)
			ExplainPropertyList("Group Key", columns, es);
		return;
	}
	ExplainOpenGroup("Grouping Sets", "Grouping Sets", false, es);
	foreach_ptr(const List, grouped, (List *) list_nth(scan->custom_private, GROUPS_PLAN_SETS))
	{
		List	   *set = NIL;

		foreach_int(column, grouped)
			set = lappend(set, list_nth(columns, column));
		ExplainOpenGroup("Grouping Set", NULL, true, es);
		if (set == NIL && es->format == EXPLAIN_FORMAT_TEXT)
			ExplainPropertyText("Group Key", "()", es);
		else
			ExplainPropertyList("Group Key", set, es);
		ExplainCloseGroup("Grouping Set", NULL, true, es);
	}
	ExplainCloseGroup("Grouping Sets", "Grouping Sets", false, es);
}

/* Shows by which algorithm, and in VERBOSE why, the values of each source were put in order. */
static void
explain_sorted(const GroupsState *node, ExplainState *es)
{
	List	   *algorithms = NIL;
	List	   *reasons = NIL;

	for (int s = 0; s < node->nvalue_sources; s++)
	{
		const SorterStats *stats = &node->done.stats[s];
		char		reason[256];

		if (node->done.sorted[s] == PAIRS_NOT_SORTED)
			continue;
		if (node->done.sorted[s] != PAIRS_SORTED)
		{
			algorithms = lappend(algorithms, node->done.sorted[s] == PAIRS_SORTED_BY_CORE ?
								 "tuplesort" : psprintf("%s on %s",
														sort_algorithm_name(SORT_ALGORITHM_RADIX),
														sort_device_name(SORT_DEVICE_CPU)));
			reasons = lappend(reasons, "a group and a value need more than 64 bits");
			continue;
		}
		algorithms = lappend(algorithms, psprintf("%s on %s",
												  sort_algorithm_name(stats->plan.algorithm),
												  sort_device_name(stats->plan.device)));
		plan_explain(&stats->plan, false, reason, sizeof(reason));
		reasons = lappend(reasons, pstrdup(reason));
	}
	if (algorithms != NIL)
		ExplainPropertyList("Algorithm", algorithms, es);
	if (reasons != NIL && es->verbose)
		ExplainPropertyList("Reason", reasons, es);
}

static void
explain_done(const GroupsState *node, ExplainState *es)
{
	const GroupsTotals *totals = &node->done.totals;

	ExplainPropertyInteger("Keys", NULL, totals->rows, es);
	if (node->ngroups > 0)
		ExplainPropertyInteger("Groups", NULL, totals->groups, es);
	explain_sorted(node, es);
	ExplainPropertyInteger("Memory", "kB", (int64) ((totals->memory + 1023) / 1024), es);
	if (totals->disk > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyInteger("Disk", "kB", (int64) ((totals->disk + 1023) / 1024), es);
}

void
groups_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GroupsState *node = (GroupsState *) css;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, css->ss.ps.plan, ancestors);

	explain_groups(node, context, es);
	if (node->noutputs > 0)
		ExplainPropertyList("Aggregates",
							deparse_columns(node, context, node->ngroups,
											node->ngroups + node->noutputs, es), es);
	groups_star_explain(node, context, es);
	aggregate_sources_explain(&node->sources, ancestors, es);
	if (es->analyze && node->done.done)
		explain_done(node, es);
}
