/*
 * input.c
 *		The tables and columns that a HpSort Aggregate node is to read (see input.h), and what
 *		it costs to read them.
 */
#include "postgres.h"

#include <float.h>

#include "catalog/pg_class.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/prep.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/spccache.h"

#include "pg/compat.h"
#include "pg/cost_units.h"
#include "pg/guc.h"
#include "pg/nodes/aggregate/plan/input.h"
#include "pg/values/values.h"

/*
 * Returns PostgreSQL's own scan of rel that a path runs, below projections and Gathers; NULL if it
 * runs another.
 */
static const Path *
core_scan(const Path *path, const RelOptInfo *rel)
{
	for (;;)
		switch (path->pathtype)
		{
			case T_SeqScan:
			case T_IndexScan:
			case T_IndexOnlyScan:
			case T_BitmapHeapScan:
			case T_TidScan:
			case T_TidRangeScan:
				return path->parent == rel ? path : NULL;
			case T_Gather:
				path = ((const GatherPath *) path)->subpath;
				break;
			case T_GatherMerge:
				path = ((const GatherMergePath *) path)->subpath;
				break;
			case T_Result:
				if (!IsA(path, ProjectionPath))
					return NULL;
				path = ((const ProjectionPath *) path)->subpath;
				break;
			default:
				return NULL;
		}
}

/* How far apart two costs are that add_path() takes for equal. */
#define FUZZ_FACTOR 1.01

/*
 * Whether the node may read all pages of rel.  paths are the paths of core that
 * aggregate_input_find was given.
 *
 * The node stands for a sequential scan, and is offered where that is one of core's
 * paths.  Core drops a sequential scan that costs more than another path; the node may still
 * be the cheapest, because it saves a sort above the scan.  A sequential scan
 * that is missing although it would cost less, or is disabled, is not
 * wanted: by enable_seqscan, or by an extension with hints for the planner.
 *
 * A table without any scan of core's is not the node's to read: an extension that keeps
 * its rows elsewhere, compressed for example, replaces core's paths by its own.
 */
static bool
may_read_pages(PlannerInfo *root, RelOptInfo *rel, const List *paths)
{
	const Path *seqscan = NULL;
	bool		any = false;
	Cost		cheapest = DBL_MAX;

	foreach_ptr(Path, partial, rel->partial_pathlist)
	{
		const Path *scan = core_scan(partial, rel);

		any = any || scan != NULL;
		if (scan && scan->pathtype == T_SeqScan)
			seqscan = scan;
	}
	foreach_ptr(const Path, path, paths)
	{
		const Path *scan = path->param_info == NULL ? core_scan(path, rel) : NULL;

		if (scan == NULL)
			continue;
		if (scan->pathtype == T_SeqScan)
			seqscan = scan;
		cheapest = Min(cheapest, path->total_cost);
		any = true;
	}
	if (!any || hpsort_debug_aggregate == NODE_FORCE)
		return any;
	if (seqscan == NULL)
	{
		seqscan = create_seqscan_path(root, rel, NULL, 0);
		if (cheapest > seqscan->total_cost * FUZZ_FACTOR)
			return false;
	}
	return !compat_path_is_disabled(seqscan);
}

/* Whether the column reader can read a relation's rows and evaluate its filter. */
static bool
is_readable(PlannerInfo *root, RelOptInfo *rel, const List *paths)
{
	RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);

	if (rte->rtekind != RTE_RELATION || rte->tablesample != NULL ||
		(rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW) ||
		!may_read_pages(root, rel, paths))
		return false;
	foreach_node(RestrictInfo, rinfo, rel->baserestrictinfo)
	{
		/*
		 * Core evaluates a constant clause in a Result above the scan, and EXPLAIN shows a
		 * subplan below it: the node has neither.
		 */
		if (rinfo->pseudoconstant || contain_subplans((Node *) rinfo->clause))
			return false;
	}
	return true;
}

/* Returns the attribute number in relid of column attnum of its ancestor top. */
static AttrNumber
translate_column(PlannerInfo *root, Index relid, Index top, AttrNumber attnum)
{
	AppendRelInfo *appinfo;

	if (relid == top)
		return attnum;
	appinfo = root->append_rel_array[relid];
	attnum = translate_column(root, appinfo->parent_relid, top, attnum);
	return list_nth_node(Var, appinfo->translated_vars, attnum - 1)->varattno;
}

/*
 * Whether the executor may prune partitions of rel by a parameter or the current
 * time, neither of which is known yet.  The node would read all partitions.
 */
static bool
may_prune_later(const RelOptInfo *rel)
{
	Bitmapset  *key = NULL;

	if (!enable_partition_pruning || rel->part_scheme == NULL || rel->nparts < 2)
		return false;
	for (int i = 0; i < rel->part_scheme->partnatts; i++)
		pull_varattnos((Node *) rel->partexprs[i], rel->relid, &key);
	foreach_node(RestrictInfo, rinfo, rel->baserestrictinfo)
	{
		Node	   *clause = (Node *) rinfo->clause;
		Bitmapset  *columns = NULL;

		pull_varattnos(clause, rel->relid, &columns);
		if (bms_overlap(columns, key) &&
			(!bms_is_empty(pull_paramids((Expr *) clause)) || contain_mutable_functions(clause)))
			return true;
	}
	return false;
}

/* Returns the tables that rel stands for; NIL if one of them cannot be read. */
static List *
find_tables(PlannerInfo *root, RelOptInfo *rel, const List *paths)
{
	List	   *tables = NIL;

	if (!planner_rt_fetch(rel->relid, root)->inh)
		return is_readable(root, rel, paths) ? list_make1(rel) : NIL;
	if (root->append_rel_array == NULL)
		return NIL;
	for (Index i = 1; i < root->simple_rel_array_size; i++)
	{
		RelOptInfo *child = root->simple_rel_array[i];

		if (child == NULL || IS_DUMMY_REL(child) ||
			(child != rel && !bms_equal(child->top_parent_relids, rel->relids)))
			continue;
		if (planner_rt_fetch(i, root)->inh)
		{
			if (hpsort_debug_aggregate != NODE_FORCE && may_prune_later(child))
				return NIL;
			continue;
		}
		if (!is_readable(root, child, child->pathlist))
			return NIL;
		tables = lappend(tables, child);
	}
	return tables;
}

/* Returns, for each of the tables, a list of the numbers that columns of rel have in it. */
static List *
translate_columns(PlannerInfo *root, RelOptInfo *rel, List *tables, List *columns)
{
	List	   *result = NIL;

	foreach_ptr(RelOptInfo, table, tables)
	{
		List	   *own = NIL;

		foreach_int(column, columns)
			own = lappend_int(own, translate_column(root, table->relid, rel->relid,
													column));
		result = lappend(result, own);
	}
	return result;
}

/* Returns the filters as a target of a table's scan, in whose columns they are. */
static PathTarget *
target_of_filters(const AggregateInput *input, PlannerInfo *root, RelOptInfo *table)
{
	PathTarget *target = create_empty_pathtarget();

	foreach_ptr(Node, filter, input->filters)
	{
		if (table != input->rel)
			filter = adjust_appendrel_attrs_multilevel(root, filter, table, input->rel);
		add_column_to_pathtarget(target, (Expr *) filter, 0);
	}
	return target;
}

/*
 * Estimates how much of each table is resident, with the columns that WHERE and FILTER compare.  A
 * table with a condition that resident rows cannot be asked counts as not resident.
 */
static ResidentEstimate *
estimate_residents(PlannerInfo *root, const AggregateInput *input, const ResidentJobs *jobs)
{
	ResidentEstimate *residents = palloc0_array(ResidentEstimate, list_length(input->tables));
	ResidentTables all = {.ntables = list_length(input->tables)};

	for (int t = 0; t < list_length(input->tables); t++)
	{
		RelOptInfo *table = (RelOptInfo *) list_nth(input->tables, t);
		List	   *columns = (List *) list_nth(input->table_columns, t);
		ResidentQuestion question = {
			.columns = list_copy(columns),
			.nkeys = list_length(columns),
			.filtered = table->baserestrictinfo != NIL || input->filters != NIL,
			.jobs = jobs,
			.all = jobs && all.ntables > 1 ? &all : NULL
		};

		if (!filter_conditions_columns(table->baserestrictinfo, &question.columns) ||
			!filter_conditions_columns(target_of_filters(input, root, table)->exprs,
									   &question.columns))
			continue;
		residents[t] = resident_estimate(planner_rt_fetch(table->relid, root)->relid, &question,
										 table->tuples);
	}
	if (all.ncolumns > 0 && resident_tables_pay(&all, list_length(input->columns), jobs))
		for (int t = 0; t < all.ntables; t++)
			residents[t].gpu |= residents[t].together;
	return residents;
}

bool
aggregate_input_find(AggregateInput *input, PlannerInfo *root, RelOptInfo *rel, const List *paths,
					 List *columns, List *filters, const ResidentJobs *jobs)
{
	input->columns = columns;
	input->rel = rel;
	input->filters = filters;
	input->tables = find_tables(root, rel, paths);
	input->table_columns = translate_columns(root, rel, input->tables, columns);
	if (input->table_columns == NIL)
		return false;
	input->residents = estimate_residents(root, input, jobs);
	return true;
}

/* --- cost */

/*
 * What reading a row costs, in cpu_tuple_cost, which stands for a row of a
 * sequential scan and for what is done with it in any case.  1e7 rows of 60
 * bytes, in memory: sum(x) 24 ns a row; the reader 4 ns, with a filter that all
 * rows pass 15 ns besides the filter's own cost (AMD EPYC, Zen 5, PostgreSQL 18).
 */
#define READ_ROW_COST		0.2
#define FILTER_ROW_COST		0.6

Cost
aggregate_input_scan(const AggregateInput *input, PlannerInfo *root, CustomPath *path, int workers,
					 double part)
{
	Cost		total = 0;

	if (workers > 0)
		total += RESIDENT_SETUP_FACTOR * parallel_setup_cost *
			aggregate_input_resident_part(input, false);
	for (int t = 0; t < list_length(input->tables); t++)
	{
		RelOptInfo *table = (RelOptInfo *) list_nth(input->tables, t);
		const ResidentEstimate *resident = &input->residents[t];
		Cost		pages;
		Cost		in_memory;
		Path	   *scan = create_seqscan_path(root, table, NULL, workers);
		double		share = READ_ROW_COST;
		double		rows = table->tuples;

		if (input->filters != NIL)
			scan->pathtarget = target_of_filters(input, root, table);
		path->custom_paths = lappend(path->custom_paths, scan);
		compat_add_disabled_nodes(&path->path, compat_disabled_nodes(scan));
		/* A worker's share of the rows, by core's estimate. */
		if (workers > 0 && table->rows > 0)
			rows *= scan->rows / table->rows;
		pages = scan->total_cost - cpu_tuple_cost * rows;
		if (table->baserestrictinfo != NIL)
		{
			share += (FILTER_ROW_COST - READ_ROW_COST) * part;
			pages -= table->baserestrictcost.per_tuple * rows * (1 - part);
		}
		pages += cost_of_rows(share * rows);
		if (resident->gpu && workers == 0)
			in_memory = cpu_tuple_cost * rows * RESIDENT_GPU_ROW_COST;
		else
			in_memory = cost_of_rows(scan->rows * RESIDENT_ROW_COST +
									 rows * RESIDENT_CONDITION_COST *
									 (list_length(table->baserestrictinfo) +
									  list_length(input->filters)));
		total += (1 - resident->share) * pages + resident->share * in_memory;
	}
	return total;
}

Cost
aggregate_input_cached_cost(const AggregateInput *input)
{
	Cost		cost = 0;
	double		pages = 0;

	for (int t = 0; t < list_length(input->tables); t++)
	{
		const RelOptInfo *table = (const RelOptInfo *) list_nth(input->tables, t);
		double		page_cost;

		get_tablespace_page_costs(table->reltablespace, NULL, &page_cost);
		cost += (1 - input->residents[t].share) * table->pages * page_cost;
		pages += table->pages;
	}
	return pages <= effective_cache_size ? cost : 0;
}

double
aggregate_input_resident_part(const AggregateInput *input, bool gpu)
{
	double		resident = 0;
	double		rows = 0;

	for (int t = 0; t < list_length(input->tables); t++)
	{
		RelOptInfo *table = (RelOptInfo *) list_nth(input->tables, t);

		rows += table->rows;
		if (!gpu || input->residents[t].gpu)
			resident += input->residents[t].share * table->rows;
	}
	return rows > 0 ? resident / rows : 0;
}

/*
 * The storage parameter parallel_workers of several tables that are read like one: the
 * largest number set.  It is -1, the planner's choice, if no number is set but some
 * table leaves the choice open, and 0, no workers, only if every table sets that.
 * so_far is the result for the tables before, 0 at first; setting is the next table's.
 */
static int
combine_settings(int so_far, int setting)
{
	if (so_far == 0 || setting == 0)
		return so_far == 0 ? setting : so_far;
	return Max(so_far, setting);
}

int
aggregate_input_workers(const AggregateInput *input, const RelOptInfo *input_rel)
{
	RelOptInfo	rel = *input_rel;
	double		pages = 0;

	rel.rel_parallel_workers = 0;
	foreach_ptr(RelOptInfo, table, input->tables)
	{
		pages += table->pages;
		rel.rel_parallel_workers = combine_settings(rel.rel_parallel_workers,
													table->rel_parallel_workers);
	}
	return compute_parallel_worker(&rel, pages, -1, max_parallel_workers_per_gather);
}
