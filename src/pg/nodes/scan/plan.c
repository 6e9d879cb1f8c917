/*
 * plan.c
 *		The planner half of Custom Scan (HpSort Scan): where it is put into a finished plan.
 *
 * A path of it would compete with core's paths of the table, and with those of HpSort and HpSort
 * Aggregate, which take the place of a sequential scan themselves.  A plan that core has finished
 * has a sequential scan where nothing better was found; so that is where the node can be of use,
 * and no plan is worse for it.
 */
#include "postgres.h"

#include <math.h>

#include "access/table.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/plancat.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "pg/compat.h"
#include "pg/cost_units.h"
#include "pg/nodes/scan/scan.h"
#include "pg/pages/pages.h"
#include "pg/plan_tree.h"
#include "pg/resident/source/source.h"
#include "pg/values/values.h"

uint64		scan_node_tables_seen = 0;

/* What is known on the way down a plan. */
typedef struct ScanSearch
{
	const PlannedStmt *stmt;
	double		processes;		/* among which a parallel scan divides its rows here */
	double		part;			/* of its rows that a plan is expected to return here */
	bool		custom;			/* a custom scan is above, which may expect a SeqScan */
	const Plan *inner;			/* of a loop above that wants one row of it for each outer row */
	bool		early;			/* below such an inner side, or in a subplan that is executed for
								 * each row or for EXISTS */
	Bitmapset  *exists;			/* plan_id of subplans for EXISTS */
	Cost		alone;			/* of the node made last, as the only process */
	int			last_id;		/* the largest plan_node_id ... */
	List	   *made;			/* ... and the nodes that have none so far */
} ScanSearch;

/* Returns among how many processes core expects the rows to be divided, with the leader's part. */
static double
divisor(int workers)
{
	double		leader = parallel_leader_participation ? 1.0 - 0.3 * workers : 0;

	return workers + Max(leader, 0);
}

/*
 * What finding out whether a row in its page meets comparisons costs, as a part of what core takes
 * for a row and its filter; and returning it, as a part of cpu_tuple_cost.  Clauses besides are
 * evaluated by core, once for each value while values repeat, which gains nothing on pages.
 */
#define PAGE_CONDITION_COST 0.4
#define RETURNED_ROW_COST 0.5

/*
 * What a page costs beyond reading it, and what a row of it costs, as a part of cpu_tuple_cost, if
 * pages are read one by one because some of their rows pass conditions in memory.  1e6 rows of 100
 * bytes, on 12,500 pages, ms from memory and from pages: a hundredth of the rows 5.7 and 9.0, a
 * twentieth 10.1 and 9.4, a fifth 29 and 16; core takes 42 to 47 (AMD EPYC, PostgreSQL 17).
 */
#define SINGLE_PAGE_COST 40
#define SINGLE_ROW_COST 0.5

/* What a node above a scan would do. */
typedef struct ScanChoice
{
	List	   *conditions;		/* of the filter, of these columns ... */
	List	   *columns;
	bool		compared;		/* ... one of them by more than a value_condition.h */
	List	   *others;			/* the filter's other clauses */
	double		rows;			/* that pass the filter */
	double		part;			/* of the table that is expected to be read */
	bool		resident;		/* resident columns are used */
	Cost		pages;			/* of reading pages ... */
	Cost		cost;			/* ... and all else, of all processes together */
} ScanChoice;

/*
 * Returns how many of a table's rows are expected to meet the conditions: those that pass, before
 * core has reckoned with clauses of which it has no statistics, as it has none of most clauses that
 * are no conditions.
 */
static double
rows_of_conditions(const ScanChoice *choice, double tuples)
{
	double		rows = choice->rows;

	foreach_ptr(const OpExpr, clause, choice->others)
	{
		if (!IsA(clause, OpExpr))
			return tuples;
		switch (get_oprrest(clause->opno))
		{
			case F_EQSEL:
				rows /= DEFAULT_EQ_SEL;
				break;
			case F_NEQSEL:
				rows /= 1 - DEFAULT_EQ_SEL;
				break;
			default:
				rows /= DEFAULT_INEQ_SEL;
		}
	}
	return Min(rows, tuples);
}

/*
 * Sets a choice's cost, and whether resident columns are used.  Pages that have rows which meet the
 * conditions, if only these pages are read, cost between a sequential and a random page, the more
 * the fewer they are, as those of a bitmap heap scan.  Returns false if the node gains nothing, or
 * the table is none for it.
 */
static bool
estimate(Relation rel, ScanChoice *choice)
{
	ResidentQuestion question = {.columns = choice->columns,.filtered = true};
	BlockNumber pages;
	double		tuples;
	double		all_visible;
	double		rows;
	double		random_cost;
	double		page_cost;
	double		part;
	double		share;
	Cost		single_pages;
	Cost		in_memory;
	QualCost	conditions;
	QualCost	others;

	if (!heap_format_is_heap(rel))
		return false;
	estimate_rel_size(rel, NULL, &pages, &tuples, &all_visible);
	if (tuples * choice->part < SCAN_MIN_ROWS)
		return false;
	get_tablespace_page_costs(rel->rd_rel->reltablespace, &random_cost, &page_cost);
	cost_qual_eval(&conditions, choice->conditions, NULL);
	cost_qual_eval(&others, choice->others, NULL);
	choice->pages = pages * page_cost;
	choice->cost = tuples * (cpu_tuple_cost + conditions.per_tuple);
	if (choice->compared)
		choice->cost = cost_of_rows(tuples * (1 + conditions.per_tuple / cpu_tuple_cost) *
									PAGE_CONDITION_COST);

	/* What part of the pages has any of the rows, if these are anywhere. */
	rows = rows_of_conditions(choice, tuples);
	part = 1 - pow(1 - rows / tuples, tuples / Max(pages, 1));
	share = resident_estimate(RelationGetRelid(rel), &question, tuples).share;
	single_pages = (1 - share) * choice->pages +
		share * part * pages * (random_cost - (random_cost - page_cost) * sqrt(part));
	in_memory = (1 - share) * choice->cost +
		share * cost_of_rows(tuples * RESIDENT_CONDITION_COST * list_length(choice->columns) +
							 part * pages * SINGLE_PAGE_COST + rows * SINGLE_ROW_COST);
	choice->resident = single_pages + in_memory < choice->pages + choice->cost;
	if (choice->resident)
	{
		choice->pages = single_pages;
		choice->cost = in_memory;
	}
	choice->cost += rows * others.per_tuple + cost_of_rows(choice->rows * RETURNED_ROW_COST);
	return choice->resident || choice->compared;
}

/* Whether the node is put above a scan, and how. */
static bool
choose(ScanSearch *search, SeqScan *seq, ScanChoice *choice)
{
	const Plan *plan = &seq->scan.plan;
	double		processes = plan->parallel_aware ? search->processes : 1;
	bool		force = hpsort_debug_scan == NODE_FORCE;
	Relation	rel;
	bool		gains;

	*choice = (ScanChoice)
	{
		.rows = plan->plan_rows * processes,.part = search->part,
			.resident = true,.cost = plan->total_cost * processes
	};
	if (plan->qual == NIL || contain_subplans((Node *) plan->qual) ||
		(!force && plan->total_cost * search->part < SCAN_MIN_ROWS * cpu_tuple_cost))
		return false;
	choice->conditions = filter_conditions_divide(plan->qual, &choice->others, &choice->columns,
												  &choice->compared);
	if (choice->conditions == NIL)
		return false;
	if (!force)
	{
		rel = table_open(rt_fetch(seq->scan.scanrelid, search->stmt->rtable)->relid, NoLock);
		gains = estimate(rel, choice);
		table_close(rel, NoLock);
		if (!gains)
			return false;
	}
	search->alone = choice->pages + choice->cost;
	choice->cost = choice->pages + choice->cost / processes;
	return true;
}

/* Returns the node above a scan, without its plan_node_id. */
static CustomScan *
make_node(SeqScan *seq, const ScanChoice *choice)
{
	CustomScan *scan = makeNode(CustomScan);
	Plan	   *plan = &scan->scan.plan;
	Plan	   *child = &seq->scan.plan;
	List	   *conditions = NIL;

	for (int i = 0; i < list_length(child->qual); i++)
		if (list_member_ptr(choice->conditions, list_nth(child->qual, i)))
			conditions = lappend_int(conditions, i);
	plan->startup_cost = Min(child->startup_cost, choice->cost);
	plan->total_cost = choice->cost;
	plan->plan_rows = child->plan_rows;
	plan->plan_width = child->plan_width;
	plan->parallel_aware = child->parallel_aware;
	plan->parallel_safe = child->parallel_safe;
	plan->extParam = bms_copy(child->extParam);
	plan->allParam = bms_copy(child->allParam);
	plan->lefttree = child;
	foreach_node(TargetEntry, entry, child->targetlist)
	{
		TargetEntry *returned = flatCopyTargetEntry(entry);

		/* INSERT finds the constants that stand for dropped columns. */
		if (!IsA(entry->expr, Const))
			returned->expr = (Expr *) makeVarFromTargetEntry(INDEX_VAR, entry);
		plan->targetlist = lappend(plan->targetlist, returned);
		scan->custom_scan_tlist = lappend(scan->custom_scan_tlist, flatCopyTargetEntry(entry));
	}
	plan_refer_to_child(scan);
	scan->custom_private = list_make2(conditions, makeInteger(choice->resident));
	scan->flags = CUSTOMPATH_SUPPORT_BACKWARD_SCAN;
	scan->custom_relids = bms_make_singleton(seq->scan.scanrelid);
	scan->methods = &scan_node_scan_methods;
	return scan;
}

/* Whether a Gather returns its child's columns as they are, and nothing else is its own. */
static bool
only_gathers(const Gather *gather)
{
	if (gather->single_copy || gather->plan.qual != NIL ||
		list_length(gather->plan.targetlist) != list_length(gather->plan.lefttree->targetlist))
		return false;
	foreach_node(TargetEntry, entry, gather->plan.targetlist)
	{
		const Var  *var = (const Var *) entry->expr;

		if (!IsA(var, Var) || var->varno != OUTER_VAR || var->varattno != entry->resno)
			return false;
	}
	return true;
}

/*
 * Puts the node below a Gather in its place, if that is cheaper than starting processes for it
 * alone, and taking their rows.  alone is the node's cost then.  The statement is still executed in
 * parallel mode, which only forbids what no parallel plan does.
 */
static void
leave_out_gather(Plan **plan, Cost alone)
{
	Gather	   *gather = (Gather *) *plan;
	CustomScan *scan = (CustomScan *) gather->plan.lefttree;
	Plan	   *seq;

	if (scan == NULL || !IsA(scan, CustomScan) || scan->methods != &scan_node_scan_methods)
		return;
	seq = scan->scan.plan.lefttree;
	if (!seq->parallel_aware || !only_gathers(gather) ||
		alone >= scan->scan.plan.total_cost + gather->plan.total_cost - seq->total_cost)
		return;
	seq->parallel_aware = scan->scan.plan.parallel_aware = false;
	seq->plan_rows = scan->scan.plan.plan_rows = gather->plan.plan_rows;
	scan->scan.plan.total_cost = alone;
	for (int i = 0; i < list_length(gather->plan.targetlist); i++)
	{
		TargetEntry *entry = list_nth(gather->plan.targetlist, i);
		TargetEntry *own = list_nth(scan->scan.plan.targetlist, i);
		Expr	   *expr = own->expr;

		*own = *entry;
		own->expr = expr;
	}
	scan->scan.plan.initPlan = gather->plan.initPlan;
	scan->scan.plan.extParam = gather->plan.extParam;
	scan->scan.plan.allParam = gather->plan.allParam;
	*plan = &scan->scan.plan;
}

/* Returns what part of its child's rows is asked for of a plan of which this part is. */
static double
part_of_child(const Plan *plan, double part)
{
	switch (nodeTag(plan))
	{
		case T_Limit:
			return part * Min(plan->plan_rows / Max(plan->lefttree->plan_rows, 1), 1);
		case T_Append:
		case T_Gather:
		case T_LockRows:
		case T_ProjectSet:
		case T_Result:
		case T_SubqueryScan:
			return part;
		default:
			return 1;
	}
}

/* Returns the inner side of a loop that ends with its first row; NULL if a plan is none. */
static const Plan *
inner_of_one_row(const Plan *plan)
{
	const Join *join = (const Join *) plan;

	if (IsA(plan, NestLoop) && (join->inner_unique || join->jointype == JOIN_SEMI ||
								join->jointype == JOIN_ANTI))
		return plan->righttree;
	return NULL;
}

/* A PlanVisit: puts the node where it is of use in a plan, and notes the largest plan_node_id. */
static void
search_plan(Plan **plan, void *arg)
{
	ScanSearch *search = (ScanSearch *) arg;
	const ScanSearch above = *search;
	ScanChoice	choice;

	search->last_id = Max(search->last_id, (*plan)->plan_node_id);
	search->early = above.early || *plan == above.inner;
	foreach_node(SubPlan, subplan, (*plan)->initPlan)
	{
		if (subplan->subLinkType == EXISTS_SUBLINK)
			search->exists = bms_add_member(search->exists, subplan->plan_id);
	}
	if (IsA(*plan, SeqScan))
	{
		if (!search->early && !above.custom && choose(search, (SeqScan *) *plan, &choice))
		{
			*plan = (Plan *) make_node((SeqScan *) *plan, &choice);
			search->made = lappend(search->made, *plan);
		}
	}
	else
	{
		search->custom = IsA(*plan, CustomScan);
		search->inner = inner_of_one_row(*plan);
		search->part = part_of_child(*plan, above.part);
		if (IsA(*plan, Gather))
			search->processes = divisor(((Gather *) *plan)->num_workers);
		else if (IsA(*plan, GatherMerge))
			search->processes = divisor(((GatherMerge *) *plan)->num_workers);
		plan_visit_children(*plan, search_plan, arg);
		if (IsA(*plan, Gather))
			leave_out_gather(plan, search->alone);
	}
	search->custom = above.custom;
	search->inner = above.inner;
	search->early = above.early;
	search->part = above.part;
	search->processes = above.processes;
}

void
scan_node_finish_plan(PlannedStmt *stmt)
{
	ScanSearch	search = {.stmt = stmt,.processes = 1,.part = 1};

	search_plan(&stmt->planTree, &search);

	/* A subplan is in the list behind those that it has itself. */
	for (int id = list_length(stmt->subplans); id > 0; id--)
	{
		ListCell   *cell = list_nth_cell(stmt->subplans, id - 1);
		const Plan *plan = (const Plan *) lfirst(cell);

		if (plan == NULL)
			continue;
		search.early = !bms_is_empty(plan->extParam) || bms_is_member(id, search.exists);
		search_plan((Plan **) &lfirst(cell), &search);
	}
	foreach_ptr(Plan, plan, search.made)
		plan->plan_node_id = ++search.last_id;
}
