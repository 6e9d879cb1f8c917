/*
 * plan_check.c
 *		Whether a column may be read from its tables' pages (see plan_check.h),
 *		by planning the query that would read it otherwise.
 *
 * Some extensions keep the rows of a table elsewhere, compressed or on other
 * servers, and leave a table behind whose pages hold few of its rows or none.
 * Such an extension replaces the table when a query is analyzed or planned.  How
 * it does so need not be known: if the plan of SELECT attribute FROM rel is a
 * scan, without a filter, of the very tables and columns that would be read by
 * pages, both ways return the same rows.
 */
#include "postgres.h"

#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
#include "optimizer/optimizer.h"
#include "parser/parser.h"
#include "parser/parsetree.h"
#include "tcop/tcopprot.h"
#include "utils/memutils.h"

#include "pg/column/plan_check.h"
#include "pg/compat.h"

/* The sources that a plan has to scan, and which of them have been found in it. */
typedef struct PlanCheck
{
	PlannedStmt *stmt;
	const ColumnSource *sources;
	int			nsources;
	int			next;			/* the source probably scanned next */
	Bitmapset  *found;
} PlanCheck;

/* Whether a scan returns, without a filter, the column of a source not yet found; notes it. */
static bool
check_scan(PlanCheck *check, const Scan *scan, List *index_tlist)
{
	RangeTblEntry *rte = rt_fetch(scan->scanrelid, check->stmt->rtable);
	Node	   *column;
	int			i;

	if (scan->plan.qual != NIL || rte->rtekind != RTE_RELATION ||
		list_length(scan->plan.targetlist) != 1)
		return false;
	column = (Node *) linitial_node(TargetEntry, scan->plan.targetlist)->expr;
	if (index_tlist != NIL && IsA(column, Var) && ((Var *) column)->varno == INDEX_VAR)
		column = (Node *) list_nth_node(TargetEntry, index_tlist,
										((Var *) column)->varattno - 1)->expr;
	if (!IsA(column, Var) || ((Var *) column)->varno != scan->scanrelid)
		return false;

	/* An Append has its tables in the order of the sources. */
	for (i = 0; i < check->nsources; i++)
	{
		int			source = (check->next + i) % check->nsources;

		if (RelationGetRelid(check->sources[source].rel) != rte->relid)
			continue;
		check->next = source + 1;
		if (((Var *) column)->varattno != check->sources[source].attnum ||
			bms_is_member(source, check->found))
			return false;
		check->found = bms_add_member(check->found, source);
		return true;
	}
	return false;
}

/* Whether a plan tree consists of such scans, appended to each other. */
static bool
check_plan(PlanCheck *check, const Plan *plan)
{
	List	   *children = NIL;
	ListCell   *lc;

	switch (nodeTag(plan))
	{
		case T_SeqScan:
			return check_scan(check, (const Scan *) plan, NIL);
		case T_IndexScan:
			return ((const IndexScan *) plan)->indexqual == NIL &&
				check_scan(check, (const Scan *) plan, NIL);
		case T_IndexOnlyScan:
			return ((const IndexOnlyScan *) plan)->indexqual == NIL &&
				check_scan(check, (const Scan *) plan, ((const IndexOnlyScan *) plan)->indextlist);
		case T_BitmapHeapScan:
			return ((const BitmapHeapScan *) plan)->bitmapqualorig == NIL &&
				check_scan(check, (const Scan *) plan, NIL);
		case T_Append:
			children = ((const Append *) plan)->appendplans;
			break;
		case T_MergeAppend:
			children = ((const MergeAppend *) plan)->mergeplans;
			break;
		case T_Result:
			/* A partitioned table without partitions. */
			return plan->lefttree == NULL && check->nsources == 0;
		default:
			return false;
	}
	if (plan->qual != NIL)
		return false;
	foreach(lc, children)
		if (!check_plan(check, (Plan *) lfirst(lc)))
			return false;
	return true;
}

bool
column_plan_scans(const char *query, const ColumnSource *sources, int nsources)
{
	MemoryContext memory = AllocSetContextCreate(CurrentMemoryContext, "hpsort column plan",
												 ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(memory);
	RawStmt    *raw = linitial_node(RawStmt, raw_parser(query, RAW_PARSE_DEFAULT));
	List	   *queries = pg_analyze_and_rewrite_fixedparams(raw, query, NULL, 0, NULL);
	bool		plain = false;

	if (list_length(queries) == 1 && linitial_node(Query, queries)->commandType == CMD_SELECT)
	{
		PlanCheck	check = {.sources = sources, .nsources = nsources};

		check.stmt = compat_planner(linitial_node(Query, queries), query, 0, NULL);
		plain = check.stmt->commandType == CMD_SELECT && check.stmt->subplans == NIL &&
			check_plan(&check, check.stmt->planTree) && bms_num_members(check.found) == nsources;
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(memory);
	return plain;
}
