/*
 * explain.c
 *		What EXPLAIN says of Custom Scan (HpSort).
 *
 * EXPLAIN shows Sort Key, as for a Sort.  With ANALYZE it also shows the method and the space, in
 * properties named as a Sort's, and what the sort has found out about the keys.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/typcache.h"

#include "pg/column/column.h"
#include "pg/compat.h"
#include "pg/nodes/sort/exec/exec.h"
#include "pg/nodes/sort/plan/plan.h"
#include "pg/nodes/sort/store/store.h"
#include "pg/values/values.h"
#include "sort/algorithms.h"

/* Indents a line of text output: core's ExplainIndentText is private before PostgreSQL 18. */
static void
indent(ExplainState *es)
{
	appendStringInfoSpaces(es->str, es->indent * 2);
}

/* Appends the options of ORDER BY behind the expression, as core's EXPLAIN does for a Sort. */
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

/* Prints which rows of each group are kept.  The first ngroup keys are the group. */
static void
explain_group_bound(const CustomScan *scan, List *context, List *keys, ExplainState *es)
{
	List	   *numbers = (List *) list_nth(scan->custom_private, HPSORT_PLAN_NUMBERS);
	const char *counted[] = {"", "row_number", "rank", "dense_rank"};
	GroupBoundKind kind = list_nth_int(numbers, HPSORT_PLAN_GROUP_KIND);
	Node	   *value;
	char	   *text;
	int			ngroup;

	if (kind == GROUP_BOUND_NONE)
		return;
	ngroup = list_nth_int(numbers, HPSORT_PLAN_GROUP_KEYS);
	if (ngroup > 0)
		ExplainPropertyList("Group Key", list_copy_head(keys, ngroup), es);
	value = (Node *) linitial(scan->custom_exprs);
	if (IsA(value, Const) && !((Const *) value)->constisnull)
		text = psprintf(INT64_FORMAT, column_value(column_builtin_kind(exprType(value)),
												   ((Const *) value)->constvalue));

	else
		text = deparse_expression(value, context, false, false);
	text = psprintf("%s %s %s", counted[kind],
					list_nth_int(numbers, HPSORT_PLAN_GROUP_EXCLUSIVE) ? "<" : "<=", text);

	ExplainPropertyText("First of Group", text, es);
}

static void
explain_keys(const Plan *plan, const KeyColumns *keys, List *ancestors, ExplainState *es)
{
	List	   *context = set_deparse_context_plan(es->deparse_cxt, (Plan *) plan, ancestors);
	bool		prefix = compat_explain_prefix(es);
	List	   *result = NIL;
	List	   *columns = NIL;

	for (int i = 0; i < keys->nkeys; i++)
	{
		const KeyColumn *key = &keys->keys[i];
		TargetEntry *target = get_tle_by_resno(plan->targetlist, key->attno);
		StringInfoData buf;

		if (target == NULL)
			elog(ERROR, "no tlist entry for key %d", key->attno);
		initStringInfo(&buf);
		appendStringInfoString(&buf, deparse_expression((Node *) target->expr, context, prefix,
														true));
		columns = lappend(columns, pstrdup(buf.data));
		append_sort_options(&buf, (Node *) target->expr, key);
		result = lappend(result, buf.data);
	}
	ExplainPropertyList("Sort Key", result, es);
	explain_group_bound((const CustomScan *) plan, context, columns, es);
}

/*
 * Returns true if the user may learn something about the values of the keys, as their range.
 * Users of a view have no right to know the range of a column that the view sorts by and does not
 * select. Row security needs no test: its conditions are below every sort.
 */
static bool
may_tell_values(const PlanState *node)
{
	foreach_oid(user, compat_check_as_users(node->state->es_plannedstmt))
	{
		if (!has_privs_of_role(GetUserId(), user))
			return false;
	}
	return true;
}

static const char *
rows_where(RowsWhere rows)
{
	switch (rows)
	{
		case ROWS_IN_PLACE:
			return "in place";
		case ROWS_COPIED_NOT_CACHED:
			return "copied (not in shared buffers)";
		case ROWS_COPIED_PINS:
			return "copied (too few buffers to pin)";
		case ROWS_COPIED_WORK_MEM:
			return "copied (work_mem)";
		default:
			return "copied";
	}
}

/* Prints a number, in text on the current line. */
static void
explain_number(const char *name, double value, ExplainState *es)
{
	if (es->format == EXPLAIN_FORMAT_TEXT)
		appendStringInfo(es->str, "  %s: %.0f", name, value);
	else
		ExplainPropertyFloat(name, NULL, value, 0, es);
}

/* Prints what is known of the keys and of the rows. */
static void
explain_counts(const RowSortStats *stats, bool values, ExplainState *es)
{
	if (values && stats->sorted.range > 0)
		explain_number("Range", stats->sorted.range, es);
	if (values && stats->sorted.distinct > 0)
		explain_number("Distinct", stats->sorted.distinct, es);
	if (values && stats->groups > 0)
		explain_number("Groups", stats->groups, es);
	if (values && stats->by_group && !stats->on_disk)
		explain_number("Kept", stats->kept, es);
	if (stats->segments > 0)
		explain_number("Segments", stats->segments, es);
}

/* Prints the lines of one process. */
static void
explain_stats(const RowSortStats *stats, bool values, ExplainState *es)
{
	const SortPlan *plan = &stats->sorted.plan;
	const char *type = stats->on_disk ? "Disk" : "Memory";
	int64		space = (int64) ((stats->space + 1023) / 1024);
	char	   *method = psprintf("%s%s%s", stats->bounded ? "top-N " :
								  stats->groups > 0 ? "top-N by group " : "",
								  sort_algorithm_name(plan->algorithm),
								  stats->sorted.compared ? " and comparison" : "");
	char		reason[256];

	plan_explain(plan, values, reason, sizeof(reason));
	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		indent(es);
		appendStringInfo(es->str, "Sort Method: %s on %s  %s: " INT64_FORMAT "kB\n", method,
						 sort_device_name(plan->device), type, space);
		indent(es);
		appendStringInfo(es->str, "Keys: " UINT64_FORMAT, stats->keys);
		explain_counts(stats, values, es);
		if (stats->from_column)
			appendStringInfoString(es->str, "  Read: column");
		if (stats->rows != ROWS_COPIED)
			appendStringInfo(es->str, "  Rows: %s", rows_where(stats->rows));
		appendStringInfoChar(es->str, '\n');
		if (es->verbose)
			ExplainPropertyText("Reason", reason, es);
	}
	else
	{
		ExplainPropertyText("Sort Method", method, es);
		ExplainPropertyText("Sort Device", sort_device_name(plan->device), es);
		ExplainPropertyInteger("Sort Space Used", "kB", space, es);
		ExplainPropertyText("Sort Space Type", type, es);
		ExplainPropertyUInteger("Keys", NULL, stats->keys, es);
		explain_counts(stats, values, es);
		ExplainPropertyText("Read", stats->from_column ? "column" : "rows", es);
		ExplainPropertyText("Rows", rows_where(stats->rows), es);
		ExplainPropertyText("Reason", reason, es);
	}
	column_blocks_explain(&stats->blocks, es);
	pfree(method);
}

void
sort_node_explain(PlanState *node, const KeyColumns *keys, const RowSortStats *stats,
				  const HpSortShared *shared, List *ancestors, ExplainState *es)
{
	bool		values;

	explain_keys(node->plan, keys, ancestors, es);
	if (!es->analyze)
		return;
	values = may_tell_values(node);
	if (stats->valid)
		explain_stats(stats, values, es);
	if (shared == NULL)
		return;

	/* Core has a place in its output for each worker, but keeps it to itself. */
	if (es->format != EXPLAIN_FORMAT_TEXT)
		ExplainOpenGroup("Sort Workers", "Sort Workers", false, es);
	for (int i = 0; i < shared->nworkers; i++)
	{
		if (!shared->workers[i].valid)
			continue;
		if (es->format == EXPLAIN_FORMAT_TEXT)
		{
			indent(es);
			appendStringInfo(es->str, "Worker %d:\n", i);
			es->indent++;
			explain_stats(&shared->workers[i], values, es);
			es->indent--;
		}
		else
		{
			ExplainOpenGroup("Worker", NULL, true, es);
			ExplainPropertyInteger("Worker Number", NULL, i, es);
			explain_stats(&shared->workers[i], values, es);
			ExplainCloseGroup("Worker", NULL, true, es);
		}
	}
	if (es->format != EXPLAIN_FORMAT_TEXT)
		ExplainCloseGroup("Sort Workers", "Sort Workers", false, es);
}
