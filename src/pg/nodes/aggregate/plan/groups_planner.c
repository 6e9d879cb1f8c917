/*
 * groups_planner.c
 *		HpSort Aggregate for PostgreSQL's own aggregates, groups and DISTINCT, the
 *		planner half (see groups_planner.h).
 *
 * The node answers all aggregates of a query or none.  Its paths compete with core's
 * by cost.  Groups come in the order that the query wants of them, if it wants one.
 *
 * In a parallel plan each process has a node that reads its share, below a Gather.  It returns
 * some of the groups, or a partial result of hpsort's own aggregates for core's Finalize Aggregate.
 */
#include "postgres.h"

#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "executor/nodeHash.h"
#include "nodes/extensible.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/typcache.h"

#include "pg/changing_limit.h"
#include "pg/compat.h"
#include "pg/cost_units.h"
#include "pg/guc.h"
#include "pg/nodes/aggregate/plan/aggrefs.h"
#include "pg/nodes/aggregate/plan/groups_planner.h"
#include "pg/nodes/aggregate/plan/input.h"
#include "pg/nodes/aggregate/plan/node.h"
#include "pg/values/values.h"

/* A grouping column or expression, as the query has it. */
typedef struct QueryGroup
{
	Expr	   *expression;		/* of the target */
	Var		   *column;			/* the one column that the expression is of */
	DerivedForm form;			/* how its values are read */
	Oid			type;			/* by whose default operator class it is grouped */
	bool		descending;		/* in the order of the groups */
	bool		nulls_first;	/* in that order, too */
	bool		placed;			/* the order that is wanted has it */
} QueryGroup;

/* What the query asks of the relation. */
typedef struct GroupsQuery
{
	Index		rti;			/* the relation */
	int			ngroups;		/* grouping columns and expressions */
	QueryGroup *groups;
	List	   *aggregates;		/* Aggrefs, different ones */
	List	   *answers;		/* the AggregateAnswer of each */
	List	   *aggregate_filters;	/* for each, the index of its filter; -1: none */
	List	   *filters;		/* different filters */
	List	   *columns;		/* attribute numbers of all columns to be read */
	int			nruns;			/* sources whose values are wanted in order */
	int			nsummaries;		/* sources whose values are added up */
	List	   *pathkeys;		/* the order in which groups come */
	bool		looked_up;		/* the GPU may answer it without rows */
	bool		states;			/* all of it can be answered from states (aggref_has_state) */
	bool		needs_states;	/* some of it is not answered in another way */
} GroupsQuery;

/* --- what is asked */

/* Returns the group that an expression is; NULL if it is none. */
static QueryGroup *
find_group(const GroupsQuery *query, Node *expression)
{
	int			g;

	for (g = 0; g < query->ngroups; g++)
		if (equal(query->groups[g].expression, expression))
			return &query->groups[g];
	return NULL;
}

/*
 * The one column of relation rti that an expression is of, perhaps several times, if
 * the expression's value depends on nothing else for a whole execution; else NULL.
 */
static Var *
column_of_expression(Node *expression, Index rti)
{
	List	   *columns = pull_var_clause(expression, PVC_INCLUDE_AGGREGATES |
										  PVC_INCLUDE_WINDOWFUNCS | PVC_INCLUDE_PLACEHOLDERS);
	Var		   *column = NULL;
	ListCell   *lc;

	foreach(lc, columns)
	{
		Var		   *other = (Var *) lfirst(lc);

		if (!IsA(other, Var) || other->varno != (int) rti || other->varlevelsup != 0 ||
			other->varattno <= 0 || (column && column->varattno != other->varattno))
			return NULL;
		column = other;
	}
	if (column == NULL || column_kind(column->vartype) == COLUMN_KIND_NONE)
		return NULL;
	if (IsA(expression, Var))
		return column;
	return contain_subplans(expression) || expression_returns_set(expression) ||
		contain_volatile_functions(expression) ? NULL : column;
}

/* How the values of a grouping expression are read, if they can be. */
static bool
find_form(QueryGroup *group, const SortGroupClause *clause)
{
	ColumnKind	kind = column_kind(group->type);
	Oid			collation = exprCollation((Node *) group->expression);
	const Var  *column = plain_column(group->expression);

	/* A column may be relabelled as the base type of its domain. */
	if (column && getBaseType(column->vartype) == group->type)
		group->form = DERIVED_NONE;
	else if (kind != COLUMN_KIND_NONE && kind != COLUMN_KIND_ENUM)
		group->form = DERIVED_VALUES;
	else
	{
		group->form = DERIVED_NUMBERS;
		if (!clause->hashable ||
			(OidIsValid(collation) && !get_collation_isdeterministic(collation)))
			return false;
	}
	return clause->eqop == lookup_type_cache(group->type, TYPECACHE_EQ_OPR)->eq_opr;
}

/* Notes the grouping columns; false if one of them is not answered. */
static bool
note_groups(GroupsQuery *query, List *clauses, List *tlist)
{
	ListCell   *lc;

	query->groups = palloc0_array(QueryGroup, list_length(clauses) + 1);
	foreach(lc, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		QueryGroup *group = &query->groups[query->ngroups];

		group->expression = (Expr *) get_sortgroupclause_expr(clause, tlist);
		group->type = getBaseType(exprType((Node *) group->expression));
		group->column = column_of_expression((Node *) group->expression, query->rti);
		if (group->column == NULL || !find_form(group, clause))
			return false;
		if (find_group(query, (Node *) group->expression) == NULL)
			query->ngroups++;
	}
	return true;
}

/* Notes an aggregate; false if it is not answered. */
static bool
note_aggregate(GroupsQuery *query, Aggref *aggref)
{
	AggregateAnswer *answer;
	int			filter = -1;

	if (list_member(query->aggregates, aggref))
		return true;
	answer = palloc_object(AggregateAnswer);
	if (!aggref_answer(aggref, query->rti, answer))
		return false;
	if (aggref->aggfilter)
	{
		ListCell   *lc;

		if (contain_subplans((Node *) aggref->aggfilter) ||
			contain_volatile_functions((Node *) aggref->aggfilter))
			return false;
		foreach(lc, query->filters)
		{
			if (equal(lfirst(lc), aggref->aggfilter))
				filter = foreach_current_index(lc);
		}
		if (filter < 0)
		{
			filter = list_length(query->filters);
			query->filters = lappend(query->filters, aggref->aggfilter);
		}
	}
	if (answer->column)
		query->columns = list_append_unique_int(query->columns, answer->column->varattno);
	query->nruns += answer->needs == AGGREGATE_NEEDS_RUNS;
	query->nsummaries += answer->needs != AGGREGATE_NEEDS_RUNS;
	query->states &= aggref_has_state(answer);
	query->needs_states |= answer->function == AGGREGATE_FUNCTION_HPSORT_KEYS_AGG;
	query->aggregates = lappend(query->aggregates, aggref);
	query->answers = lappend(query->answers, answer);
	query->aggregate_filters = lappend_int(query->aggregate_filters, filter);
	return true;
}

/* Notes the aggregates of an expression; stops at what is neither of them nor of the groups. */
static bool
is_not_answered(Node *node, void *arg)
{
	GroupsQuery *query = (GroupsQuery *) arg;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
		return !note_aggregate(query, (Aggref *) node);
	if (find_group(query, node))
		return false;
	if (IsA(node, Var) || IsA(node, PlaceHolderVar) || IsA(node, GroupingFunc) ||
		IsA(node, SubPlan) || IsA(node, AlternativeSubPlan))
		return true;
	return expression_tree_walker(node, is_not_answered, arg);
}

/* The group that a path key is of; NULL if it is of none, or not of the type's own order. */
static QueryGroup *
group_of_pathkey(GroupsQuery *query, PathKey *pathkey)
{
	int			g;

	for (g = 0; g < query->ngroups; g++)
	{
		QueryGroup *group = &query->groups[g];
		TypeCacheEntry *entry;
		ListCell   *lc;
		Oid			sortop = InvalidOid;
		Oid			type = group->type;

		if (group->placed)
			continue;
		if (column_kind(type) == COLUMN_KIND_ENUM)
			type = ANYENUMOID;
		foreach(lc, pathkey->pk_eclass->ec_members)
		{
			EquivalenceMember *member = lfirst_node(EquivalenceMember, lc);

			if (equal(member->em_expr, group->expression))
				sortop = compat_pathkey_sortop(pathkey, type);
		}
		if (!OidIsValid(sortop))
			continue;
		entry = lookup_type_cache(group->type, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
		if (sortop != entry->lt_opr && sortop != entry->gt_opr)
			return NULL;
		group->descending = sortop == entry->gt_opr;
		group->nulls_first = pathkey->pk_nulls_first;
		return group;
	}
	return NULL;
}

/*
 * Whether a group is the number of a value.  Each process gives numbers in its own order, and
 * what there is no memory for is left to another pass: these groups are in no order.
 */
static bool
has_numbers(const GroupsQuery *query)
{
	int			g;

	for (g = 0; g < query->ngroups; g++)
		if (query->groups[g].form == DERIVED_NUMBERS)
			return true;
	return false;
}

/*
 * Whether one of n groups is the column of which another group is: rows that are alike in the
 * column are alike in what is computed from it, which need not be a group, then, but is computed
 * for each group that is returned.
 */
static bool
is_determined(const QueryGroup *groups, int n, const QueryGroup *group)
{
	int			g;

	for (g = 0; g < n; g++)
		if (IsA(groups[g].expression, Var) && !IsA(group->expression, Var) &&
			groups[g].column->varattno == group->column->varattno)
			return true;
	return false;
}

/*
 * Drops the numbers of values that other groups determine: numbers would be in no order, and known
 * to one process only.
 */
static void
drop_determined_numbers(GroupsQuery *query)
{
	int			n = 0;
	int			g;

	for (g = 0; g < query->ngroups; g++)
		if (query->groups[g].form != DERIVED_NUMBERS ||
			!is_determined(query->groups, query->ngroups, &query->groups[g]))
			query->groups[n++] = query->groups[g];
	query->ngroups = n;
}

/*
 * Puts the groups in the order that is wanted of them, as far as it is one of groups, without
 * groups that others determine.  One that is wanted in the order before the column that determines
 * it stays.
 */
static void
order_groups(PlannerInfo *root, GroupsQuery *query)
{
	QueryGroup *ordered = palloc0_array(QueryGroup, query->ngroups + 1);
	int			n = 0;
	int			g;
	ListCell   *lc;

	drop_determined_numbers(query);
	if (has_numbers(query))
		return;
	foreach(lc, root->sort_pathkeys != NIL ? root->sort_pathkeys : root->query_pathkeys)
	{
		PathKey    *pathkey = lfirst_node(PathKey, lc);
		QueryGroup *group = group_of_pathkey(query, pathkey);

		if (group == NULL)
			break;
		group->placed = true;
		/* The labels of an enum are read as OIDs, which are in another order. */
		if (column_kind(group->type) == COLUMN_KIND_ENUM)
			group->form = DERIVED_RANKS;
		if (!is_determined(ordered, n, group))
			ordered[n++] = *group;
		query->pathkeys = lappend(query->pathkeys, pathkey);
	}
	for (g = 0; g < query->ngroups; g++)
		if (!query->groups[g].placed && !is_determined(query->groups, query->ngroups,
													   &query->groups[g]))
			ordered[n++] = query->groups[g];
	query->groups = ordered;
	query->ngroups = n;
}

/*
 * What is asked of the groups or different rows of a relation; false if the node does
 * not answer all of it.
 */
static bool
note_query(PlannerInfo *root, UpperRelationKind stage, PathTarget *target, Node *having,
		   GroupsQuery *query)
{
	List	   *clauses;
	int			g;

	if (stage == UPPERREL_DISTINCT)
		clauses = compat_distinct_clause(root);
	else
	{
		clauses = compat_group_clause(root);
		/* Groups by constants alone are not the one group that there is without any. */
		if (clauses == NIL && root->parse->groupClause != NIL)
			return false;
	}
	if (!note_groups(query, clauses, root->processed_tlist) ||
		is_not_answered((Node *) target->exprs, query) || is_not_answered(having, query) ||
		(query->ngroups == 0 && query->aggregates == NIL))
		return false;
	for (g = 0; g < query->ngroups; g++)
		query->columns = list_append_unique_int(query->columns,
												query->groups[g].column->varattno);
	order_groups(root, query);
	query->states &= query->ngroups == 0 && query->filters == NIL;
	return query->states || !query->needs_states;
}

/* --- the paths */

/*
 * What is done with a row that has been read, in cpu_tuple_cost, beside its reading
 * (see input.c).  1e7 rows of 60 bytes, in memory, where core's sum(x) takes 38 ns a row,
 * 1.25 units: a further column 0.5 ns; count(*) by x 3; sum, min and max of y by x 3 more; y
 * put in order 5 where it is counted, 15 to 25 with x where both are sorted (AMD EPYC,
 * Zen 4, PostgreSQL 18).
 */
#define COLUMN_ROW_COST		0.02	/* a further column read */
#define GROUP_ROW_COST		0.1 /* a grouping column */
#define SUMMARY_ROW_COST	0.1 /* a value added up */
#define RUNS_ROW_COST		0.5 /* a value put in order */
#define DERIVED_ROW_COST	0.1 /* an expression's value found in its memo */

/*
 * What is left of that where rows are resident, and groups and values so few that they are counted
 * in memory: 4e6 rows, core's sum(x) 70 ns a row: sum of y by x 3 ns, of two columns by a third 5,
 * percentiles of x by 6 groups 6 (AMD EPYC, two loaded cores of a virtual machine, PostgreSQL 17).
 * Of a single column that is counted as it lies packed in memory nothing is left.
 */
#define RESIDENT_WORK_PART	0.2

/* Bytes that a group takes in the arrays by group. */
#define GROUP_BYTES			64.0

/*
 * Setting up the node, in cpu_tuple_cost: it takes as long as core's Agg does, within
 * some microseconds, and is cheaper than that from 100 rows on.
 */
#define STARTUP_COST		50.0

static List *
describe_groups(const GroupsQuery *query, const AggregateInput *input)
{
	List	   *groups = NIL;
	int			g;

	for (g = 0; g < query->ngroups; g++)
	{
		const QueryGroup *group = &query->groups[g];
		int			column = 0;

		while (list_nth_int(input->columns, column) != group->column->varattno)
			column++;
		groups = lappend_int(groups, column);
		groups = lappend_int(groups, group->form);
		groups = lappend_int(groups, group->descending);
		groups = lappend_int(groups, group->nulls_first);
	}
	return groups;
}

/* Returns a path of the node without its cost; workers is 0 for a path that is not parallel. */
static CustomPath *
make_path(const GroupsQuery *query, RelOptInfo *rel, PathTarget *target,
		  const AggregateInput *input, int workers, Node *having)
{
	CustomPath *path = makeNode(CustomPath);
	List	   *expressions = NIL;
	int			g;

	for (g = 0; g < query->ngroups; g++)
		expressions = lappend(expressions, query->groups[g].expression);
	expressions = list_concat(expressions, query->aggregates);

	path->path.pathtype = T_CustomScan;
	path->path.parent = rel;
	path->path.pathtarget = target;
	path->path.parallel_safe = rel->consider_parallel;
	path->path.parallel_aware = workers > 0;
	path->path.parallel_workers = workers;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_private = list_make5(input->columns, input->table_columns,
									  describe_groups(query, input), query->aggregate_filters,
									  having);
	path->custom_private = lappend(path->custom_private, expressions);
	path->methods = &groups_path_methods;
	return path;
}

/*
 * The cost of evaluating grouping expressions: once for each different value, or block of values,
 * of their columns.
 */
static Cost
derived_cost(PlannerInfo *root, const GroupsQuery *query, double rows)
{
	Cost		total = 0;
	int			g;

	for (g = 0; g < query->ngroups; g++)
	{
		const QueryGroup *group = &query->groups[g];
		QualCost	cost;
		double		values;

		if (group->form == DERIVED_NONE)
			continue;
		values = estimate_num_groups(root, list_make1(group->column), Max(rows, 1), NULL, NULL);
		values = Min(values, expression_blocks_most(root, (Node *) group->expression, rows));
		cost_qual_eval_node(&cost, (Node *) group->expression, root);
		total += cost.startup + values * (cost.per_tuple + cpu_operator_cost) +
			cost_of_rows(rows * DERIVED_ROW_COST);
	}
	return total;
}

/* Whether groups are of expressions, so that rows are needed. */
static bool
has_derived(const GroupsQuery *query)
{
	int			g;

	for (g = 0; g < query->ngroups; g++)
		if (query->groups[g].form != DERIVED_NONE)
			return true;
	return false;
}

/*
 * How many groups there are before HAVING, where core's estimate is core_groups: no more than the
 * bounds of expressions allow.
 */
static double
count_groups(PlannerInfo *root, const GroupsQuery *query, double core_groups, double rows)
{
	List	   *expressions = NIL;
	int			g;

	if (!has_derived(query))
		return core_groups;
	for (g = 0; g < query->ngroups; g++)
		expressions = lappend(expressions, query->groups[g].expression);
	return Min(core_groups, expression_groups(root, expressions, Max(rows, 1)));
}

/*
 * Whether positions among keys that the GPU has put in order can answer all of the query (see
 * groups_lookup.c), for which a part of the memory must be enough: some 60 bytes a group.
 */
static bool
is_looked_up(const GroupsQuery *query, double ngroups)
{
	List	   *values = NIL;
	ListCell   *lc;
	int			g;

	for (g = 0; g < query->ngroups; g++)
		if (query->groups[g].form != DERIVED_NONE && query->groups[g].form != DERIVED_RANKS)
			return false;
	if (query->filters != NIL || ngroups * 60 > get_hash_memory_limit() / 4)
		return false;
	foreach(lc, query->answers)
	{
		const AggregateAnswer *answer = lfirst(lc);

		if (!aggref_is_looked_up(answer, query->ngroups > 0))
			return false;
		if (answer->column)
			values = list_append_unique_int(values, answer->column->varattno);
	}
	return list_length(values) <= 1 &&
		list_length(query->columns) == query->ngroups + list_length(values);
}

/*
 * How many different values of all groups that many rows have, of the sources whose values are
 * wanted in order.
 */
static double
count_runs(PlannerInfo *root, const GroupsQuery *query, double ngroups, double rows,
		   double processes)
{
	double		runs = 0;
	ListCell   *lc;

	foreach(lc, query->answers)
	{
		const AggregateAnswer *answer = lfirst(lc);
		double		values;

		if (answer->needs != AGGREGATE_NEEDS_RUNS)
			continue;
		values = estimate_num_groups(root, list_make1(answer->column), rows, NULL, NULL);
		/* Each process may have met all values of all groups. */
		runs += Min(values * ngroups * processes, rows);
	}
	return runs;
}

/*
 * What part of the work on a row that has been read is left where the row is resident, if there
 * are so many runs.
 */
static double
resident_work_part(const GroupsQuery *query, double ngroups, double rows, double runs)
{
	if (runs > query->nruns * rows / 2 || ngroups * GROUP_BYTES > get_hash_memory_limit())
		return 1;
	return list_length(query->columns) == 1 && query->filters == NIL &&
		(query->ngroups == 0 || query->nruns == 0) &&
		runs < rows / 100 ? 0 : RESIDENT_WORK_PART;
}

/* What it costs that the pairs of group and value of some of the sources need more than 64 bits. */
static Cost
wide_pairs_cost(PlannerInfo *root, const GroupsQuery *query, double rows)
{
	PairEstimate pairs = {.places = 1};
	int			g;

	for (g = 0; g < query->ngroups; g++)
		pair_estimate_add_group(&pairs, root, query->groups[g].column,
								(Node *) query->groups[g].expression,
								query->groups[g].form);
	return pair_estimate_wide_cost(&pairs, root, query->answers, query->aggregate_filters, rows);
}

/* Sets the cost of reading and keeping the rows that one process reads. */
static void
cost_reading(PlannerInfo *root, const GroupsQuery *query, const AggregateInput *input,
			 CustomPath *path, double ngroups, int workers)
{
	Cost		total = aggregate_input_scan(input, root, path, workers);
	double		resident = aggregate_input_resident_part(input, false);
	double		rows = 0;
	double		runs;
	double		share;
	double		disk;
	ListCell   *lc;

	/* A state takes a count for each row, far below what a function call costs. */
	if (query->states)
	{
		path->path.startup_cost = total;
		return;
	}
	foreach(lc, path->custom_paths)
		rows += ((Path *) lfirst(lc))->rows;
	/* Runs of the GPU's are few beside the rows that they stand for; derived values need rows. */
	if (workers == 0 && (query->looked_up || !has_derived(query)))
	{
		double		gpu = aggregate_input_resident_part(input, true);

		rows *= 1 - gpu;
		resident = gpu < 1 ? (resident - gpu) / (1 - gpu) : 0;
	}
	runs = count_runs(root, query, ngroups, Max(rows, 1), 1);
	share = Max(list_length(query->columns) - 1, 0) * COLUMN_ROW_COST +
		query->ngroups * GROUP_ROW_COST + query->nsummaries * SUMMARY_ROW_COST +
		query->nruns * RUNS_ROW_COST;
	share *= 1 - resident * (1 - resident_work_part(query, ngroups, rows, runs));
	total += derived_cost(root, query, rows);
	total += cost_of_rows(rows * share + STARTUP_COST);
	foreach(lc, query->filters)
	{
		QualCost	cost;

		cost_qual_eval_node(&cost, (Node *) lfirst(lc), root);
		total += cost.startup + rows * (cost.per_tuple + cpu_operator_cost);
	}
	/* With workers: the time of all, no more than one process takes that sorts otherwise. */
	total += wide_pairs_cost(root, query, workers > 0 ? input->rel->rows : rows);
	/* Values that repeat are counted. */
	disk = Min(rows * sizeof(int64) * query->nruns, runs * 2 * sizeof(int64));
	if (disk > get_hash_memory_limit())
		total += 2 * disk / BLCKSZ * seq_page_cost;
	path->path.startup_cost = total;
}

/* Adds the cost of returning the groups. */
static void
cost_groups(CustomPath *path, const GroupsQuery *query, double ngroups, double rows)
{
	const PathTarget *target = path->path.pathtarget;

	path->path.rows = rows;
	path->path.startup_cost += target->cost.startup;
	path->path.total_cost = path->path.startup_cost + rows * target->cost.per_tuple +
		ngroups * (cpu_tuple_cost + list_length(query->aggregates) * cpu_operator_cost);
}

/*
 * What it costs a process to write a group, and a run, for the others, and to put together what
 * they have written, in cpu_tuple_cost.  2e7 rows, 1 to 8 workers (Intel Xeon, 16 cores, PostgreSQL
 * 18, sum(x) 40 ns a row): 150 and 62 ns a group, 15 and 19 ns a run.
 */
#define EXCHANGE_GROUP_COST	5.0
#define TELL_RUN_COST		0.4
#define MERGE_RUN_COST		0.5

/* What each of several processes does for the others, until all groups have been returned. */
static Cost
exchange_cost(PlannerInfo *root, const GroupsQuery *query, double ngroups, double rows, int workers)
{
	double		processes = workers + (parallel_leader_participation ? 1 : 0);
	double		runs = count_runs(root, query, ngroups, rows, processes);

	/* A group is put together by one process. */
	return cost_of_rows(EXCHANGE_GROUP_COST * Min(ngroups, rows / processes) +
						TELL_RUN_COST * runs / processes +
						MERGE_RUN_COST * runs / Min(processes, Max(ngroups, 1)));
}

/* Nodes below a Gather that share rows and groups; NULL if there are no workers for it. */
static Path *
make_parallel_path(PlannerInfo *root, const GroupsQuery *query, RelOptInfo *input_rel,
				   RelOptInfo *output_rel, PathTarget *target, const AggregateInput *input,
				   int workers, Node *having, double ngroups, double rows)
{
	CustomPath *path;
	double		processes;

	if (workers == 0 || has_numbers(query) || limit_may_change(root))
		return NULL;

	path = make_path(query, output_rel, target, input, workers, having);
	cost_reading(root, query, input, path, ngroups, workers);
	path->path.startup_cost += exchange_cost(root, query, ngroups, input_rel->rows, workers);
	processes = workers + (parallel_leader_participation ? 1 : 0);
	cost_groups(path, query, ngroups / processes, clamp_row_est(rows / processes));
	path->path.pathkeys = query->pathkeys;
	if (query->pathkeys != NIL)
		return (Path *) create_gather_merge_path(root, output_rel, &path->path, target,
												 query->pathkeys, NULL, &rows);
	return (Path *) create_gather_path(root, output_rel, &path->path, target, NULL, &rows);
}

/*
 * Core's Finalize Aggregate over Gather over a node whose aggregates are partial; NULL unless core
 * itself has made partial paths of these rows.
 */
static Path *
make_partial_path(PlannerInfo *root, const GroupsQuery *query,
				  RelOptInfo *output_rel, const AggregateInput *input, int workers,
				  const GroupPathExtraData *extra)
{
	GroupsQuery partial = *query;
	RelOptInfo *rel;
	CustomPath *path;
	Path	   *gather;
	double		rows;

	if (workers == 0 || (extra->flags & GROUPING_CAN_PARTIAL_AGG) == 0 ||
		!extra->partial_costs_set)
		return NULL;
	rel = fetch_upper_rel(root, UPPERREL_PARTIAL_GROUP_AGG, output_rel->relids);
	if (rel->reltarget->exprs == NIL)
		return NULL;

	partial.aggregates = rel->reltarget->exprs;
	path = make_path(&partial, rel, rel->reltarget, input, workers, NULL);
	cost_reading(root, &partial, input, path, 1, workers);
	cost_groups(path, &partial, 1, 1);
	rows = workers;
	gather = (Path *) create_gather_path(root, rel, &path->path, rel->reltarget, NULL, &rows);
	return (Path *) create_agg_path(root, output_rel, gather, output_rel->reltarget, AGG_PLAIN,
									AGGSPLIT_FINAL_DESERIAL, NIL, (List *) extra->havingQual,
									&extra->agg_final_costs, 1);
}

void
groups_planner_add_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
						 RelOptInfo *output_rel, const GroupPathExtraData *extra)
{
	GroupsQuery query = {.rti = input_rel->relid,.states = true};
	AggregateInput input;
	PathTarget *target;
	Node	   *having = extra ? extra->havingQual : NULL;
	CustomPath *serial;
	Path	   *parallel;
	bool		whole;
	int			workers = 0;
	double		selectivity = 1;
	double		ngroups;
	double		rows;

	target = stage == UPPERREL_DISTINCT ? root->upper_targets[UPPERREL_DISTINCT] :
		output_rel->reltarget;
	if (output_rel->pathlist == NIL || !note_query(root, stage, target, having, &query))
		return;

	/* Core's own estimates, but for expressions. */
	rows = ((Path *) linitial(output_rel->pathlist))->rows;
	if (having != NULL && query.ngroups > 0)
		selectivity = Max(clauselist_selectivity(root, (List *) having, 0, JOIN_INNER, NULL), 1e-6);
	ngroups = count_groups(root, &query, rows / selectivity, input_rel->rows);
	if (has_derived(&query))
		rows = clamp_row_est(Min(rows, ngroups * selectivity));
	query.looked_up = is_looked_up(&query, ngroups);
	if (!aggregate_input_find(&input, root, input_rel, input_rel->pathlist, query.columns,
							  query.filters, query.looked_up))
		return;

	serial = make_path(&query, output_rel, target, &input, 0, having);
	cost_reading(root, &query, &input, serial, ngroups, 0);
	cost_groups(serial, &query, ngroups, rows);
	serial->path.pathkeys = query.pathkeys;
	if (output_rel->consider_parallel && input_rel->partial_pathlist != NIL)
		workers = Max(aggregate_input_workers(&input, input_rel), 0);
	if (query.states)
		parallel = make_partial_path(root, &query, output_rel, &input, workers, extra);
	else
		parallel = make_parallel_path(root, &query, input_rel, output_rel, target, &input, workers,
									  having, ngroups, rows);

	/*
	 * The column functions read all pages of a table, with workers where it is large enough. In
	 * costs, which are for pages on disk, an index-only scan is less than the pages of a wide
	 * table, and workers do not share them.
	 */
	whole = query.needs_states && input_rel->baserestrictinfo == NIL;
	if (hpsort_debug_aggregate == NODE_FORCE || whole)
		output_rel->pathlist = NIL;
	if (parallel == NULL || !whole)
		add_path(output_rel, &serial->path);
	if (parallel)
		add_path(output_rel, parallel);
}
