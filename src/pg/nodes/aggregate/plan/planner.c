/*
 * planner.c
 *		Custom Scan (HpSort Aggregate), the planner half (see node.h): its paths, and what becomes
 *		of one that core takes.
 *
 * The node answers all aggregates of a query or none.  Its paths compete with core's by cost, so
 * that a selective WHERE is still answered by an index scan.  Groups come in the order that the
 * query wants of them, if it wants one.
 *
 * In a parallel plan each process has a node that reads its share, below a Gather.  It returns
 * some of the groups, or a partial result of hpsort's own aggregates for core's Finalize Aggregate.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/plancat.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/typcache.h"

#include "pg/changing_limit.h"
#include "pg/compat.h"
#include "pg/cost_units.h"
#include "pg/guc.h"
#include "pg/nodes/aggregate/plan/aggrefs.h"
#include "pg/nodes/aggregate/plan/expressions.h"
#include "pg/nodes/aggregate/plan/groups_cost.h"
#include "pg/nodes/aggregate/plan/groups_query.h"
#include "pg/nodes/aggregate/plan/input.h"
#include "pg/nodes/aggregate/plan/node.h"
#include "pg/nodes/aggregate/plan/planner.h"
#include "pg/nodes/aggregate/plan/star.h"
#include "pg/values/values.h"

/* --- the plan */

/* Adds to *list the parameters of an expression that another node of the plan sets. */
static bool
note_params(Node *node, void *list)
{
	List	  **params = (List **) list;

	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		*params = list_append_unique(*params, node);
	return expression_tree_walker(node, note_params, list);
}

/*
 * Makes the plan node of a path that core has chosen.  tlist is what the node returns, and
 * custom_plans the plans of the path's scans.  clauses is empty: an upper relation has none.
 */
static Plan *
plan_groups(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
			List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);

	foreach_ptr(Expr, expr, list_nth(path->custom_private, GROUPS_PATH_EXPRESSIONS))
		scan->custom_scan_tlist = lappend(scan->custom_scan_tlist,
										  makeTargetEntry(copyObject(expr),
														  list_length(scan->custom_scan_tlist) + 1,
														  NULL, false));
	scan->scan.plan.qual = list_nth(path->custom_private, GROUPS_PATH_HAVING);
	scan->custom_exprs = list_copy(list_nth(path->custom_private, GROUPS_PATH_DIVIDED));
	/* Core looks for the parameters on which a node depends here, not in its scan tuple. */
	note_params(list_nth(path->custom_private, GROUPS_PATH_EXPRESSIONS), &scan->custom_exprs);
	scan->scan.plan.targetlist = tlist;
	/* EXPLAIN names a table of its own, but not a tree of tables. */
	if (list_length(list_nth(path->custom_private, GROUPS_PLAN_TABLE_COLUMNS)) == 1)
		scan->scan.scanrelid = ((Scan *) linitial(custom_plans))->scanrelid;
	scan->flags = path->flags;
	scan->custom_plans = custom_plans;
	scan->custom_private = list_copy_head(path->custom_private, GROUPS_PLAN_Count);
	scan->methods = &aggregate_scan_methods;
	return (Plan *) scan;
}

static const CustomPathMethods path_methods = {
	.CustomName = "HpSort Aggregate",
	.PlanCustomPath = plan_groups,
};

/* --- paths */

static List *
describe_groups(const GroupsQuery *query)
{
	List	   *groups = NIL;

	for (int g = 0; g < query->ngroups; g++)
	{
		const QueryGroup *group = &query->groups[g];

		groups = lappend_int(groups, group->read);
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
	List	   *lookups = NIL;
	bool		gpu;

	for (int g = 0; g < query->ngroups; g++)
		expressions = lappend(expressions, query->groups[g].output);
	expressions = list_concat(expressions, query->aggregates);
	expressions = list_concat(expressions, query->grouping_calls);
	expressions = list_concat(expressions, query->divided);
	foreach_ptr(StarLookup, lookup, query->lookups)
	{
		lookups = lappend(lookups, star_describe(query, lookup));
		expressions = list_concat(expressions, star_expressions(query, lookup));
	}
	foreach_node(RestrictInfo, rinfo, query->conditions)
		expressions = lappend(expressions, rinfo->clause);

	if (query->lookups != NIL)
	{
		/* EXPLAIN names the relations that a node is said to scan. */
		RelOptInfo *named = palloc_object(RelOptInfo);

		*named = *rel;
		named->relids = input->rel->relids;
		rel = named;
	}
	path->path.pathtype = T_CustomScan;
	path->path.parent = rel;
	path->path.pathtarget = target;
	path->path.parallel_safe = rel->consider_parallel;
	path->path.parallel_aware = workers > 0;
	path->path.parallel_workers = workers;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	gpu = query->jobs && workers == 0 && aggregate_input_resident_part(input, true) > 0;
	path->custom_private =
		list_concat(list_make5(input->columns, query->reads, input->table_columns,
							   describe_groups(query), query->aggregate_filters),
					list_make5(query->sets, query->groupings, makeBoolean(query->partial),
							   makeBoolean(!groups_query_wants_order(query)), lookups));
	path->custom_private =
		list_concat(path->custom_private,
					list_make5(makeInteger(list_length(query->conditions)), makeBoolean(gpu),
							   having, expressions, query->divided_exprs));
	path->methods = &path_methods;
	return path;
}

/*
 * Returns the number of sources of values, or rows, of which each is a job's: pairs of a column and
 * a FILTER, and all rows.  Sets *values to the columns' indexes.
 */
static int
count_jobs(const GroupsQuery *query, Bitmapset **values)
{
	List	   *jobs = NIL;
	bool		all = false;	/* one of them is without a FILTER */
	ListCell   *lc;
	ListCell   *lc2;

	forboth(lc, query->answers, lc2, query->aggregate_filters)
	{
		const AggregateAnswer *answer = lfirst(lc);
		int			column = -1;

		if (answer->column)
		{
			for (column = 0; list_nth_int(query->columns, column) != answer->column->varattno;)
				column++;
			*values = bms_add_member(*values, column);
		}
		else if (lfirst_int(lc2) == GROUPS_NO_FILTER)
			continue;
		all |= lfirst_int(lc2) == GROUPS_NO_FILTER;
		jobs = list_append_unique(jobs, list_make2_int(column, lfirst_int(lc2)));
	}
	return list_length(jobs) + !all;
}

/*
 * Sets *mapped to the indexes of the columns that are keys of lookups; false unless a GPU can have
 * all of these as maps (groups_maps.h).
 */
static bool
find_maps(const GroupsQuery *query, Bitmapset **mapped)
{
	foreach_ptr(const StarLookup, lookup, query->lookups)
	{
		const Var  *key = plain_column(linitial(linitial_node(OpExpr, lookup->clauses)->args));

		if (lookup->jointype == JOIN_RIGHT || lookup->many || lookup->nparts > 1 ||
			list_length(lookup->clauses) > 1 || !lookup->integers || key == NULL)
			return false;
		foreach_int(attno, query->columns)
		{
			if (attno == key->varattno)
				*mapped = bms_add_member(*mapped, foreach_current_index(attno));
		}
	}
	return query->conditions == NIL;
}

/* Returns the index of a column among those that are read by their values or numbers; -1: none. */
static int
find_read(const GroupsQuery *query, const Var *column)
{
	for (int c = 0; c < list_length(query->columns); c++)
		if (list_nth_int(query->columns, c) == column->varattno &&
			list_nth_int(query->reads, c) != READ_DATUMS)
			return c;
	return -1;
}

/*
 * Returns the index of the only column that is read of which an expression is computed, perhaps by
 * a lookup, if values that no row has may be put into the expression; else -1.
 */
static int
find_base(const GroupsQuery *query, const QueryGroup *group)
{
	int			base = -1;

	if (column_kind_is_float(column_kind(group->type)) ||
		(group->form == DERIVED_NUMBERS && !expression_equal_is_identical(group->expression)) ||
		!expression_may_be_tried(group->expression))
		return -1;
	foreach_node(Var, input, group->columns)
	{
		const Var  *column = input;
		int			c;

		foreach_ptr(const StarLookup, lookup, query->lookups)
		{
			if (bms_is_member(input->varno, lookup->path->parent->relids))
				column = plain_column(linitial(linitial_node(OpExpr, lookup->clauses)->args));
		}
		c = column ? find_read(query, column) : -1;
		if (c < 0 || (base >= 0 && c != base))
			return -1;
		base = c;
	}
	return base;
}

/*
 * Sets *read to the indexes of the grouping columns that are read, and adds the columns of
 * expressions to *mapped; false if a GPU cannot have these.
 */
static bool
find_grouped(const GroupsQuery *query, Bitmapset **read, Bitmapset **mapped)
{
	for (int g = 0; g < query->ngroups; g++)
	{
		const QueryGroup *group = &query->groups[g];
		const Var  *column = plain_column(group->expression);
		bool		plain = group->form == DERIVED_NONE || group->form == DERIVED_RANKS;
		int			c;

		if (column && (Index) column->varno != query->rti)
			continue;
		c = plain ? find_read(query, column) : find_base(query, group);
		if (c < 0 || group->read == READ_EQUAL)
			return false;
		if (plain)
			*read = bms_add_member(*read, c);
		else
			*mapped = bms_add_member(*mapped, c);
	}
	return true;
}

/*
 * Returns the jobs of a GPU by which positions among keys in order can answer all of the query (see
 * groups_lookup.c), NULL if they cannot.  A part of its share of the memory must be enough, at some
 * 50 bytes a group and job.
 */
static const ResidentJobs *
find_jobs(const GroupsQuery *query, const RelOptInfo *fact, double ngroups)
{
	ResidentJobs *jobs = palloc0_object(ResidentJobs);
	Bitmapset  *values = NULL;
	Bitmapset  *mapped = NULL;
	Bitmapset  *fields = NULL;
	bool		all;			/* a sum may be of all values of a column */

	if (query->derived_filters != NIL || query->sets != NIL || !find_maps(query, &mapped) ||
		!find_grouped(query, &fields, &mapped))
		return NULL;
	/* These are added up in memory in less time than the GPU takes. */
	all = query->ngroups == 0 && list_length(query->columns) == 1 && query->filters == NIL &&
		fact->baserestrictinfo == NIL;
	foreach_ptr(const AggregateAnswer, answer, query->answers)
	{
		if (answer->form != DERIVED_NONE || answer->read == READ_EQUAL ||
			!aggref_is_looked_up(answer, query->ngroups > 0) ||
			(all && (answer->function == AGGREGATE_FUNCTION_SUM ||
					 answer->function == AGGREGATE_FUNCTION_AVG)))
			return NULL;
		jobs->ordered |= answer->needs == AGGREGATE_NEEDS_RUNS;
	}
	jobs->n = count_jobs(query, &values);
	jobs->values = values;
	jobs->mapped = mapped;
	/* A column that is both of a group and a value is not in a key twice. */
	return list_length(query->columns) ==
		bms_num_members(bms_union(fields, mapped)) + bms_num_members(values) &&
		ngroups * (10 + 50 * jobs->n) <=
		groups_budget(query, false).lookup / (jobs->n > 1 ? 3 : 2) ? jobs : NULL;
}

/* Whether a column is read for nothing but count(DISTINCT), no look-up among it. */
static bool
is_only_counted(const GroupsQuery *query, const Var *column)
{
	for (int g = 0; g < query->ngroups; g++)
		if (list_member(query->groups[g].columns, column))
			return false;
	foreach_ptr(const StarLookup, lookup, query->lookups)
	{
		if (list_member(pull_var_clause((Node *) lookup->clauses, 0),
						column))
			return false;
	}
	foreach_ptr(const AggregateAnswer, answer, query->arguments)
	{
		if (answer->argument == NULL ||
			!list_member(expression_columns(answer->argument), column))
			continue;
		if (answer->function != AGGREGATE_FUNCTION_COUNT || !answer->distinct ||
			answer->form != DERIVED_NONE)
			return false;
	}
	return true;
}

/*
 * Has integers of count(DISTINCT) that are wide, and few beside their range, be read as numbers: if
 * a pair of group and value needs more than 64 bits.  A number takes the bits of their count.
 */
static void
number_wide_values(PlannerInfo *root, GroupsQuery *query)
{
	PairEstimate pairs = groups_pair_estimate(root, query);

	foreach_ptr(AggregateAnswer, answer, query->answers)
	{
		ListCell   *column;
		ListCell   *read;

		if (answer->function != AGGREGATE_FUNCTION_COUNT || !answer->distinct ||
			answer->form != DERIVED_NONE || answer->read != READ_VALUES ||
			answer->kind != COLUMN_KIND_INT8 ||
			!pair_estimate_is_wide(&pairs, root, answer->column) ||
			!is_only_counted(query, answer->column))
			continue;
		answer->read = READ_IDENTICAL;
		query->value_numbers = true;
		forboth(column, query->columns, read, query->reads)
		{
			if (lfirst_int(column) == answer->column->varattno)
				lfirst_int(read) = READ_IDENTICAL;
		}
	}
}

/* Nodes below a Gather that share rows and groups; NULL if their number of rows may change. */
static Path *
make_parallel_path(PlannerInfo *root, const GroupsQuery *query, RelOptInfo *input_rel,
				   RelOptInfo *output_rel, PathTarget *target, const AggregateInput *input,
				   int workers, Node *having, double ngroups, double rows)
{
	CustomPath *path;
	double		processes;

	if (limit_may_change(root))
		return NULL;

	path = make_path(query, output_rel, target, input, workers, having);
	groups_cost_reading(root, query, input, path, ngroups, workers);
	path->path.startup_cost += groups_exchange_cost(root, query, ngroups, input_rel->rows, workers);
	processes = workers + (parallel_leader_participation ? 1 : 0);
	groups_cost(path, query, ngroups / processes, clamp_row_est(rows / processes));
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

	if ((extra->flags & GROUPING_CAN_PARTIAL_AGG) == 0 || !extra->partial_costs_set)
		return NULL;
	rel = fetch_upper_rel(root, UPPERREL_PARTIAL_GROUP_AGG, output_rel->relids);
	if (rel->reltarget->exprs == NIL)
		return NULL;

	partial.aggregates = rel->reltarget->exprs;
	path = make_path(&partial, rel, rel->reltarget, input, workers, NULL);
	groups_cost_reading(root, &partial, input, path, 1, workers);
	groups_cost(path, &partial, 1, 1);
	rows = workers;
	gather = (Path *) create_gather_path(root, rel, &path->path, rel->reltarget, NULL, &rows);
	return (Path *) create_agg_path(root, output_rel, gather, output_rel->reltarget, AGG_PLAIN,
									AGGSPLIT_FINAL_DESERIAL, NIL, (List *) extra->havingQual,
									&extra->agg_final_costs, 1);
}

/*
 * Sets the aggregates of *partial to those of query as partial calls; false if one of them cannot
 * be put together by core of what the node returns.
 */
static bool
make_partial_aggregates(const GroupsQuery *query, GroupsQuery *partial)
{
	ListCell   *lc;
	ListCell   *lc2;

	partial->aggregates = NIL;
	if (query->divided != NIL)
		return false;
	forboth(lc, query->aggregates, lc2, query->answers)
	{
		Aggref	   *aggref = copyObject(lfirst_node(Aggref, lc));

		if (!aggref_is_partial(aggref, lfirst(lc2)))
			return false;
		mark_partial_aggref(aggref, AGGSPLIT_INITIAL_SERIAL);
		partial->aggregates = lappend(partial->aggregates, aggref);
	}
	return true;
}

/*
 * Core's Finalize Aggregate, or for DISTINCT a hash aggregation, over Gather over nodes that return
 * the groups of their shares of the rows; NULL if core does not put groups together by hashing.
 * extra is NULL for DISTINCT.
 */
static Path *
make_partial_groups_path(PlannerInfo *root, const GroupsQuery *query, RelOptInfo *input_rel,
						 RelOptInfo *output_rel, PathTarget *target, const AggregateInput *input,
						 int workers, const GroupPathExtraData *extra, double ngroups)
{
	GroupsQuery partial = *query;
	RelOptInfo *rel = output_rel;
	List	   *clauses = extra ? compat_group_clause(root) : compat_distinct_clause(root);
	PathTarget *partial_target = target;
	CustomPath *path;
	Path	   *gather;
	double		processes = workers + (parallel_leader_participation ? 1 : 0);
	double		groups;
	double		rows;

	if (limit_may_change(root) || !enable_hashagg || clauses == NIL ||
		!grouping_is_hashable(clauses) || !make_partial_aggregates(query, &partial))
		return NULL;
	if (extra)
	{
		if ((extra->flags & GROUPING_CAN_PARTIAL_AGG) == 0 || !extra->partial_costs_set)
			return NULL;
		rel = fetch_upper_rel(root, UPPERREL_PARTIAL_GROUP_AGG, output_rel->relids);
		partial_target = rel->reltarget;
		if (partial_target->exprs == NIL || !groups_query_computes(query, partial_target->exprs))
			return NULL;
	}

	partial.partial = true;
	path = make_path(&partial, rel, partial_target, input, workers, NULL);
	groups = Min(ngroups, input_rel->rows / processes);
	groups_cost_reading(root, &partial, input, path, groups, workers);
	groups_cost(path, &partial, groups, clamp_row_est(groups));
	rows = clamp_row_est(groups * processes);
	gather = (Path *) create_gather_path(root, rel, &path->path, partial_target, NULL, &rows);
	return (Path *) create_agg_path(root, output_rel, gather, target, AGG_HASHED,
									extra ? AGGSPLIT_FINAL_DESERIAL : AGGSPLIT_SIMPLE, clauses,
									extra ? (List *) extra->havingQual : NIL,
									extra ? &extra->agg_final_costs : NULL, ngroups);
}

/*
 * Offers the node for the groups (UPPERREL_GROUP_AGG) or the different rows (UPPERREL_DISTINCT) of
 * input_rel, a base relation or a star join, if it answers all that is asked of them: adds paths to
 * output_rel beside core's.  extra is what core knows of groups; NULL for different rows.
 */
static void
add_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
		  RelOptInfo *output_rel, const GroupPathExtraData *extra)
{
	GroupsQuery query = {.root = root,.states = true};
	Star		star = {.fact = input_rel};
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
	if (output_rel->pathlist == NIL ||
		(input_rel->reloptkind == RELOPT_JOINREL && !star_find(&star, root, input_rel)))
		return;
	query.rti = star.fact->relid;
	query.lookups = star.lookups;
	query.conditions = star.conditions;
	query.repeated = star.many != NULL;
	query.matched = input_rel->rows / Max(star.fact->rows, 1);
	if (!query.repeated)
		query.matched = Min(query.matched, 1);
	if (!groups_query_note(stage, target, having, &query) || !star_adds_rows(&query))
		return;

	if (query.ngroups > 0 && query.nruns > 0)
		number_wide_values(root, &query);

	/* Core's own estimates, but for expressions. */
	rows = ((Path *) linitial(output_rel->pathlist))->rows;
	if (having != NULL && query.ngroups > 0)
		selectivity = Max(clauselist_selectivity(root, (List *) having, 0, JOIN_INNER, NULL), 1e-6);
	ngroups = groups_count(root, &query, rows / selectivity, input_rel->rows);
	if (groups_are_derived(&query) && query.sets == NIL)
		rows = clamp_row_est(Min(rows, ngroups * selectivity));
	if (!star_fits(&query) || !groups_core_states_fit(&query, ngroups) ||
		!groups_fit_beside_parts(root, &query, ngroups, Max(input_rel->rows, 1)))
		return;
	query.jobs = find_jobs(&query, star.fact, ngroups);
	if (!aggregate_input_find(&input, root, star.fact, star.fact->pathlist, query.columns,
							  query.filters, query.jobs))
		return;

	serial = make_path(&query, output_rel, target, &input, 0, having);
	groups_cost_reading(root, &query, &input, serial, ngroups, 0);
	if (query.sets != NIL && (groups_query_reads_each_set(&query) ||
							  !groups_numbers_fit(root, &query, input_rel->rows)))
		serial->path.startup_cost += (list_length(query.sets) - 1) *
			(serial->path.startup_cost - aggregate_input_cached_cost(&input));
	else
		serial->path.startup_cost += groups_sets_cost(root, &query, ngroups,
													  Max(input_rel->rows, 1));
	groups_cost(serial, &query, ngroups, rows);
	serial->path.pathkeys = query.pathkeys;
	if (output_rel->consider_parallel && input_rel->partial_pathlist != NIL &&
		query.sets == NIL && star_is_parallel(&query))
		workers = Max(aggregate_input_workers(&input, star.fact), 0);
	if (workers == 0)
		parallel = NULL;
	else if (query.states)
		parallel = make_partial_path(root, &query, output_rel, &input, workers, extra);
	else if (groups_query_is_serial(&query) || !groups_numbers_fit(root, &query, input_rel->rows))
		parallel = make_partial_groups_path(root, &query, input_rel, output_rel, target, &input,
											workers, extra, ngroups);
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

/* --- the hook */

/*
 * The quick way out, without an allocation: false if an aggregate of a target is of a function that
 * is not answered.
 */
static bool
may_be_answered(const PathTarget *target)
{
	foreach_ptr(const Node, node, target->exprs)
	{
		if (IsA(node, Aggref) && !aggref_may_be_answered((const Aggref *) node))
			return false;
	}
	return true;
}

void
aggregate_node_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
						   RelOptInfo *output_rel, void *extra)
{
	if (may_be_answered(stage == UPPERREL_DISTINCT ? root->upper_targets[stage]
						: output_rel->reltarget) &&
		!IS_DUMMY_REL(input_rel) && (stage == UPPERREL_DISTINCT || extra != NULL))
		add_paths(root, stage, input_rel, output_rel,
				  stage == UPPERREL_DISTINCT ? NULL : (GroupPathExtraData *) extra);
}
