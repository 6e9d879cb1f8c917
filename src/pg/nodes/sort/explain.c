/*
 * explain.c
 *		What EXPLAIN says of Custom Scan (HpSort).
 *
 * Sort Key always, as a Sort shows it; with ANALYZE the method and the space,
 * in the properties of a Sort, and what was known of the keys.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/typcache.h"

#include "pg/compat.h"
#include "pg/nodes/sort/exec.h"
#include "sort/algorithms.h"

/* Starts a line of text output; core keeps its own function private before 18. */
static void
indent(ExplainState *es)
{
	appendStringInfoSpaces(es->str, es->indent * 2);
}

/* Whatever ORDER BY said beyond the expression; as core's EXPLAIN. */
static void
append_sort_options(StringInfo buf, Node *expression, const KeyColumn *key)
{
	Oid			type = exprType(expression);
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	bool		reverse = false;

	if (OidIsValid(key->collation) && key->collation != get_typcollation(type))
	{
		char	   *name = get_collation_name(key->collation);

		if (name == NULL)
			elog(ERROR, "cache lookup failed for collation %u", key->collation);
		appendStringInfo(buf, " COLLATE %s", quote_identifier(name));
	}
	if (key->sortop == entry->gt_opr)
	{
		appendStringInfoString(buf, " DESC");
		reverse = true;
	}
	else if (key->sortop != entry->lt_opr)
	{
		char	   *name = get_opname(key->sortop);

		if (name == NULL)
			elog(ERROR, "cache lookup failed for operator %u", key->sortop);
		appendStringInfo(buf, " USING %s", name);
		(void) get_equality_op_for_ordering_op(key->sortop, &reverse);
	}
	if (key->nulls_first && !reverse)
		appendStringInfoString(buf, " NULLS FIRST");
	else if (!key->nulls_first && reverse)
		appendStringInfoString(buf, " NULLS LAST");
}

static void
explain_keys(HpSortState *state, List *ancestors, ExplainState *es)
{
	Plan	   *plan = state->css.ss.ps.plan;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, plan, ancestors);
	bool		prefix = compat_explain_prefix(es);
	List	   *result = NIL;
	int			i;

	for (i = 0; i < state->keys->nkeys; i++)
	{
		const KeyColumn *key = &state->keys->keys[i];
		TargetEntry *target = get_tle_by_resno(plan->targetlist, key->attno);
		StringInfoData buf;

		if (target == NULL)
			elog(ERROR, "no tlist entry for key %d", key->attno);
		initStringInfo(&buf);
		appendStringInfoString(&buf, deparse_expression((Node *) target->expr, context, prefix, true));
		append_sort_options(&buf, (Node *) target->expr, key);
		result = lappend(result, buf.data);
	}
	ExplainPropertyList("Sort Key", result, es);
}

static void
explain_stats(const HpSortStats *stats, ExplainState *es)
{
	const char *type = stats->on_disk ? "Disk" : "Memory";
	int64		space = (int64) ((stats->space + 1023) / 1024);
	StringInfoData method;
	char		reason[256];

	initStringInfo(&method);
	if (stats->bounded)
		appendStringInfoString(&method, "top-N ");
	appendStringInfoString(&method, sort_algorithm_name(stats->plan.algorithm));
	if (stats->compared)
		appendStringInfoString(&method, " and comparison");
	plan_explain(&stats->plan, reason, sizeof(reason));

	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		indent(es);
		appendStringInfo(es->str, "Sort Method: %s on %s  %s: " INT64_FORMAT "kB\n", method.data,
						 sort_device_name(stats->plan.device), type, space);
		indent(es);
		appendStringInfo(es->str, "Keys: " UINT64_FORMAT, stats->keys);
		if (stats->range > 0)
			appendStringInfo(es->str, "  Range: %.0f", stats->range);
		if (stats->distinct > 0)
			appendStringInfo(es->str, "  Distinct: " UINT64_FORMAT, stats->distinct);
		if (stats->partitions > 0)
			appendStringInfo(es->str, "  Partitions: %d", stats->partitions);
		if (stats->from_column)
			appendStringInfoString(es->str, "  Read: column");
		appendStringInfoChar(es->str, '\n');
		if (es->verbose)
		{
			indent(es);
			appendStringInfo(es->str, "Reason: %s\n", reason);
		}
	}
	else
	{
		ExplainPropertyText("Sort Method", method.data, es);
		ExplainPropertyText("Sort Device", sort_device_name(stats->plan.device), es);
		ExplainPropertyInteger("Sort Space Used", "kB", space, es);
		ExplainPropertyText("Sort Space Type", type, es);
		ExplainPropertyUInteger("Keys", NULL, stats->keys, es);
		if (stats->range > 0)
			ExplainPropertyFloat("Range", NULL, stats->range, 0, es);
		if (stats->distinct > 0)
			ExplainPropertyUInteger("Distinct", NULL, stats->distinct, es);
		if (stats->partitions > 0)
			ExplainPropertyInteger("Partitions", NULL, stats->partitions, es);
		ExplainPropertyText("Read", stats->from_column ? "column" : "rows", es);
		ExplainPropertyText("Reason", reason, es);
	}
	pfree(method.data);
}

void
sort_node_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	HpSortState *state = (HpSortState *) node;
	int			i;

	explain_keys(state, ancestors, es);
	if (!es->analyze)
		return;
	if (state->stats.valid)
		explain_stats(&state->stats, es);
	if (state->shared == NULL)
		return;

	/* What core says per worker is private to it; here is ours. */
	if (es->format != EXPLAIN_FORMAT_TEXT)
		ExplainOpenGroup("Sort Workers", "Sort Workers", false, es);
	for (i = 0; i < state->shared->nworkers; i++)
	{
		if (!state->shared->workers[i].valid)
			continue;
		if (es->format == EXPLAIN_FORMAT_TEXT)
		{
			indent(es);
			appendStringInfo(es->str, "Worker %d:\n", i);
			es->indent++;
			explain_stats(&state->shared->workers[i], es);
			es->indent--;
		}
		else
		{
			ExplainOpenGroup("Worker", NULL, true, es);
			ExplainPropertyInteger("Worker Number", NULL, i, es);
			explain_stats(&state->shared->workers[i], es);
			ExplainCloseGroup("Worker", NULL, true, es);
		}
	}
	if (es->format != EXPLAIN_FORMAT_TEXT)
		ExplainCloseGroup("Sort Workers", "Sort Workers", false, es);
}
