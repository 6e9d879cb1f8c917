/*
 * planner.c
 *		Custom Scan (HpSort Aggregate), the planner's half (see exec.h): where it
 *		can be used, and what it costs.
 *
 * It competes with core's paths for the same aggregation: a selective WHERE is
 * still an index scan's.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_class.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/prep.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "pg/column/parallel.h"
#include "pg/column/reader.h"
#include "pg/compat.h"
#include "pg/functions/aggregates.h"
#include "pg/guc.h"
#include "pg/nodes/aggregate/exec.h"
#include "pg/nodes/aggregate/query_exec.h"

/*
 * What reading a row costs, in cpu_tuple_cost, which stands for a row of a
 * sequential scan and of what it then does anyway.  1e7 rows of 60 bytes, in
 * memory: sum(x) 24 ns a row; the reader 4 ns, with a filter that all rows pass
 * 15 ns besides the filter's own cost (AMD EPYC, Zen 5, PostgreSQL 18).
 */
#define READ_ROW_COST		0.2
#define FILTER_ROW_COST		0.6

static create_upper_paths_hook_type previous_upper_paths_hook = NULL;

/* --- our aggregates */

/*
 * Whether a function is this one of ours.  Its symbol is compared first: what
 * other libraries there are is not to be loaded by looking at them.
 */
static bool
is_function(Oid oid, PGFunction address, const char *symbol)
{
	HeapTuple	tuple;
	Datum		source;
	bool		isnull;
	bool		same;
	FmgrInfo	flinfo;

	/* None of ours is among those PostgreSQL has itself. */
	if (oid < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(oid));
	if (!HeapTupleIsValid(tuple))
		return false;
	source = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull);
	same = ((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId && !isnull &&
		strcmp(TextDatumGetCString(source), symbol) == 0;
	ReleaseSysCache(tuple);
	if (!same)
		return false;
	fmgr_info(oid, &flinfo);
	return flinfo.fn_addr == address;
}

AggregateKind
aggregate_kind(const Aggref *aggref)
{
	AggregateKind	kind = AGGREGATE_NONE;
	HeapTuple	tuple;
	Oid			transition;

	if (aggref->aggfnoid < FirstNormalObjectId || aggref->aggtranstype != INTERNALOID)
		return AGGREGATE_NONE;
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
	if (!HeapTupleIsValid(tuple))
		return AGGREGATE_NONE;
	transition = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggtransfn;
	if (is_function(transition, hpsort_agg_transfn, "hpsort_agg_transfn") ||
		is_function(transition, hpsort_agg_transfn_int2, "hpsort_agg_transfn_int2") ||
		is_function(transition, hpsort_agg_transfn_int8, "hpsort_agg_transfn_int8"))
	{
		Oid			final = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggfinalfn;

		if (is_function(final, hpsort_agg_finalfn, "hpsort_agg_finalfn"))
			kind = AGGREGATE_ARRAY;
		else if (is_function(final, hpsort_runs_agg_finalfn, "hpsort_runs_agg_finalfn"))
			kind = AGGREGATE_RUNS;
	}
	ReleaseSysCache(tuple);
	return kind;
}

Var *
aggregate_column(Node *arg)
{
	/* int2 becomes int4 by a function, a domain by a relabel. */
	if (IsA(arg, FuncExpr) && ((FuncExpr *) arg)->funcid == F_INT4_INT2)
		arg = linitial(((FuncExpr *) arg)->args);
	while (IsA(arg, RelabelType))
		arg = (Node *) ((RelabelType *) arg)->arg;
	return IsA(arg, Var) ? (Var *) arg : NULL;
}

Var *
aggregate_argument(const Aggref *aggref)
{
	return aggregate_column((Node *) linitial_node(TargetEntry, aggref->args)->expr);
}

/*
 * Whether an aggregate can be computed from a column of relation rti alone:
 * nothing but ours, of all rows, with bounds and direction that do not depend
 * on the row.
 */
static bool
is_answered(const Aggref *aggref, Index rti)
{
	ListCell   *lc;
	Var		   *column;

	if (aggregate_kind(aggref) == AGGREGATE_NONE || aggref->aggorder != NIL ||
		aggref->aggdistinct != NIL || aggref->aggfilter != NULL || aggref->agglevelsup != 0)
		return false;
	column = aggregate_argument(aggref);
	if (column == NULL || column->varno != rti || column->varlevelsup != 0 || column->varattno <= 0)
		return false;
	/* A relabel may hide any type of four bytes, such as oid. */
	if (get_typlen(column->vartype) != sizeof(int32) && !column_type_is_key(column->vartype))
		return false;
	for_each_from(lc, aggref->args, 1)
	{
		Node	   *arg = (Node *) lfirst_node(TargetEntry, lc)->expr;

		if (!IsA(arg, Const) &&
			!(IsA(arg, Param) && ((Param *) arg)->paramkind == PARAM_EXTERN))
			return false;
	}
	return true;
}

/* All aggregates of the target and HAVING, if the node answers each; else NIL. */
static List *
answered_aggregates(PathTarget *target, Node *having, Index rti)
{
	List	   *nodes;
	List	   *result = NIL;
	ListCell   *lc;

	/* Most queries have others, which need not be collected. */
	foreach(lc, target->exprs)
		if (IsA(lfirst(lc), Aggref) && aggregate_kind(lfirst_node(Aggref, lc)) == AGGREGATE_NONE)
			return NIL;
	nodes = list_concat(pull_var_clause((Node *) target->exprs,
										PVC_INCLUDE_AGGREGATES | PVC_INCLUDE_PLACEHOLDERS),
						pull_var_clause(having,
										PVC_INCLUDE_AGGREGATES | PVC_INCLUDE_PLACEHOLDERS));
	foreach(lc, nodes)
	{
		Node	   *node = lfirst(lc);

		if (!IsA(node, Aggref) || !is_answered((Aggref *) node, rti))
			return NIL;
		result = list_append_unique(result, node);
	}
	return result;
}

/* --- the tables to read */

/* Whether a path is PostgreSQL's own way to read rel. */
static bool
is_core_scan(const Path *path, const RelOptInfo *rel)
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
				return path->parent == rel;
			case T_Gather:
				path = ((const GatherPath *) path)->subpath;
				break;
			case T_GatherMerge:
				path = ((const GatherMergePath *) path)->subpath;
				break;
			case T_Result:
				if (!IsA(path, ProjectionPath))
					return false;
				path = ((const ProjectionPath *) path)->subpath;
				break;
			default:
				return false;
		}
}

/*
 * Whether the rows of rel are those of its table.  Extensions that keep them
 * elsewhere, compressed for example, replace core's paths by their own.  paths
 * are those of rel that have not been freed.
 */
static bool
is_core_table(const RelOptInfo *rel, const List *paths)
{
	ListCell   *lc;

	foreach(lc, paths)
		if (is_core_scan((Path *) lfirst(lc), rel))
			return true;
	foreach(lc, rel->partial_pathlist)
		if (is_core_scan((Path *) lfirst(lc), rel))
			return true;
	return false;
}

/* Whether a relation's rows can be read, and its filter evaluated, by us. */
static bool
is_readable(PlannerInfo *root, RelOptInfo *rel, const List *paths)
{
	RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);
	ListCell   *lc;

	if (rte->rtekind != RTE_RELATION || rte->tablesample != NULL ||
		(rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW) ||
		!is_core_table(rel, paths))
		return false;
	foreach(lc, rel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		/* Constants make a Result of the scan; subplans are shown below it. */
		if (rinfo->pseudoconstant || contain_subplans((Node *) rinfo->clause))
			return false;
	}
	return true;
}

/* What column attnum of top is in its descendant relid; 0 if it is none. */
static AttrNumber
translate_column(PlannerInfo *root, Index relid, Index top, AttrNumber attnum)
{
	AppendRelInfo *appinfo;
	Node	   *node;

	if (relid == top)
		return attnum;
	appinfo = root->append_rel_array[relid];
	attnum = translate_column(root, appinfo->parent_relid, top, attnum);
	if (attnum == 0)
		return 0;
	node = list_nth(appinfo->translated_vars, attnum - 1);
	return node && IsA(node, Var) ? ((Var *) node)->varattno : 0;
}

/* Whether a relation descends from top. */
static bool
is_descendant(PlannerInfo *root, Index relid, Index top)
{
	while (relid != top)
	{
		AppendRelInfo *appinfo = root->append_rel_array[relid];

		if (appinfo == NULL)
			return false;
		relid = appinfo->parent_relid;
	}
	return true;
}

static bool
has_param(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, Param) || expression_tree_walker(node, has_param, context);
}

/*
 * Whether the executor may prune partitions of rel once it knows a parameter,
 * or the time: we would read them all.
 */
static bool
may_prune_later(const RelOptInfo *rel)
{
	Bitmapset  *key = NULL;
	ListCell   *lc;
	int			i;

	if (!enable_partition_pruning || rel->part_scheme == NULL || rel->nparts < 2)
		return false;
	for (i = 0; i < rel->part_scheme->partnatts; i++)
		pull_varattnos((Node *) rel->partexprs[i], rel->relid, &key);
	foreach(lc, rel->baserestrictinfo)
	{
		Node	   *clause = (Node *) lfirst_node(RestrictInfo, lc)->clause;
		Bitmapset  *columns = NULL;

		pull_varattnos(clause, rel->relid, &columns);
		if (bms_overlap(columns, key) &&
			(has_param(clause, NULL) || contain_mutable_functions(clause)))
			return true;
	}
	return false;
}

/*
 * The tables that rel stands for: itself, or those that inherit from it and
 * were neither pruned nor excluded.  NIL if one of them cannot be read so.
 */
List *
aggregate_node_find_tables(PlannerInfo *root, RelOptInfo *rel, const List *paths)
{
	List	   *tables = NIL;
	Index		i;

	if (!planner_rt_fetch(rel->relid, root)->inh)
		return is_readable(root, rel, paths) ? list_make1(rel) : NIL;
	if (root->append_rel_array == NULL)
		return NIL;
	for (i = 1; i < root->simple_rel_array_size; i++)
	{
		RelOptInfo *child = root->simple_rel_array[i];

		if (child == NULL || !is_descendant(root, i, rel->relid) || IS_DUMMY_REL(child))
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

/* columns, then what they are in each of the tables; NIL if they are not there. */
List *
aggregate_node_list_columns(PlannerInfo *root, RelOptInfo *rel, List *tables, List *columns)
{
	List	   *result = list_make1(columns);
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, tables)
	{
		RelOptInfo *table = (RelOptInfo *) lfirst(lc);
		List	   *own = NIL;

		foreach(lc2, columns)
		{
			AttrNumber	attnum = translate_column(root, table->relid, rel->relid, lfirst_int(lc2));

			if (attnum <= 0)
				return NIL;
			own = lappend_int(own, attnum);
		}
		result = lappend(result, own);
	}
	return result;
}

/* --- the path */

/* Plan tree nodes and what else the executor's half wants. */
static Plan *
plan_aggregate(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
			List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	List	   *having = lsecond(path->custom_private);
	List	   *aggregates;
	ListCell   *lc;

	aggregates = list_concat(pull_var_clause((Node *) path->path.pathtarget->exprs,
											 PVC_INCLUDE_AGGREGATES),
							 pull_var_clause((Node *) having, PVC_INCLUDE_AGGREGATES));
	foreach(lc, aggregates)
		scan->custom_scan_tlist = add_to_flat_tlist(scan->custom_scan_tlist,
													list_make1(lfirst(lc)));
	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = having;
	/* A table of its own is named in EXPLAIN; a tree of tables is not. */
	if (list_length(custom_plans) == 1)
		scan->scan.scanrelid = ((Scan *) linitial(custom_plans))->scanrelid;
	scan->flags = path->flags;
	scan->custom_plans = custom_plans;
	scan->custom_private = linitial(path->custom_private);
	scan->methods = &aggregate_node_scan_methods;
	return (Plan *) scan;
}

static const CustomPathMethods aggregate_node_path_methods = {
	.CustomName = "HpSort Aggregate",
	.PlanCustomPath = plan_aggregate,
};

Cost
aggregate_node_scan_tables(PlannerInfo *root, CustomPath *path, List *tables, int workers)
{
	Cost		total = 0;
	ListCell   *lc;

	foreach(lc, tables)
	{
		RelOptInfo *table = (RelOptInfo *) lfirst(lc);
		Path	   *scan = create_seqscan_path(root, table, NULL, workers);
		double		share = table->baserestrictinfo != NIL ? FILTER_ROW_COST : READ_ROW_COST;
		double		rows = table->tuples;

		path->custom_paths = lappend(path->custom_paths, scan);
		compat_add_disabled_nodes(&path->path, scan);
		/* The workers share the rows as core thinks that they do. */
		if (workers > 0 && table->rows > 0)
			rows *= scan->rows / table->rows;
		total += scan->total_cost - (1 - share) * cpu_tuple_cost * rows;
	}
	return total;
}

/*
 * A path that reads tables, with that many workers (0: none), into target.
 * costs are those of the aggregates.
 */
static CustomPath *
make_path(PlannerInfo *root, RelOptInfo *parent, PathTarget *target, List *tables, List *columns,
		  List *having, int workers, const AggClauseCosts *costs)
{
	CustomPath *path = makeNode(CustomPath);
	Cost		total = aggregate_node_scan_tables(root, path, tables, workers);

	path->path.pathtype = T_CustomScan;
	path->path.parent = parent;
	path->path.pathtarget = target;
	path->path.parallel_aware = workers > 0;
	path->path.parallel_safe = parent->consider_parallel;
	path->path.parallel_workers = workers;
	path->path.rows = 1;

	/* Transitions are a count each, far below what a function call costs. */
	total += costs->finalCost.startup + costs->finalCost.per_tuple + target->cost.startup;
	path->path.startup_cost = total;
	path->path.total_cost = total + target->cost.per_tuple + cpu_tuple_cost;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_private = list_make2(columns, having);
	path->methods = &aggregate_node_path_methods;
	return path;
}

/*
 * Core's Finalize Aggregate over Gather over our partial one, if core itself
 * has made partial paths of these rows.
 */
static Path *
make_parallel_path(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
				   List *tables, List *columns, List *having, GroupPathExtraData *extra)
{
	RelOptInfo *partial_rel;
	Path	   *path;
	RelOptInfo	rel = *input_rel;
	double		pages = 0;
	double		rows;
	int			workers;
	ListCell   *lc;

	if (!grouped_rel->consider_parallel || input_rel->partial_pathlist == NIL ||
		(extra->flags & GROUPING_CAN_PARTIAL_AGG) == 0 || !extra->partial_costs_set)
		return NULL;
	partial_rel = fetch_upper_rel(root, UPPERREL_PARTIAL_GROUP_AGG, grouped_rel->relids);
	if (partial_rel->reltarget->exprs == NIL)
		return NULL;

	/* All tables are read like one large one. */
	rel.rel_parallel_workers = 0;
	foreach(lc, tables)
	{
		RelOptInfo *table = (RelOptInfo *) lfirst(lc);

		pages += table->pages;
		rel.rel_parallel_workers = column_parallel_setting(rel.rel_parallel_workers,
														   table->rel_parallel_workers);
	}
	workers = compute_parallel_worker(&rel, pages, -1, max_parallel_workers_per_gather);
	if (workers <= 0)
		return NULL;
	path = (Path *) make_path(root, partial_rel, partial_rel->reltarget, tables, columns, NIL,
							  workers, &extra->agg_partial_costs);
	rows = workers;
	path = (Path *) create_gather_path(root, partial_rel, path, partial_rel->reltarget, NULL,
									   &rows);
	return (Path *) create_agg_path(root, grouped_rel, path, grouped_rel->reltarget, AGG_PLAIN,
									AGGSPLIT_FINAL_DESERIAL, NIL, having,
									&extra->agg_final_costs, 1);
}

static void
add_aggregate_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
				 GroupPathExtraData *extra)
{
	List	   *having = (List *) extra->havingQual;
	List	   *tables;
	List	   *aggregates;
	List	   *columns = NIL;
	ListCell   *lc;
	AggClauseCosts costs;
	Path	   *serial;
	Path	   *parallel;

	/* The aggregates first: most queries have others. */
	aggregates = answered_aggregates(grouped_rel->reltarget, (Node *) having, input_rel->relid);
	if (aggregates == NIL)
		return;
	tables = aggregate_node_find_tables(root, input_rel, input_rel->pathlist);
	if (tables == NIL)
		return;
	foreach(lc, aggregates)
		columns = list_append_unique_int(columns,
										 aggregate_argument(lfirst_node(Aggref, lc))->varattno);
	columns = aggregate_node_list_columns(root, input_rel, tables, columns);
	if (columns == NIL)
		return;

	MemSet(&costs, 0, sizeof(costs));
	get_agg_clause_costs(root, AGGSPLIT_SIMPLE, &costs);
	serial = (Path *) make_path(root, grouped_rel, grouped_rel->reltarget, tables, columns, having,
								0, &costs);
	parallel = make_parallel_path(root, input_rel, grouped_rel, tables, columns, having, extra);
	if (hpsort_debug_aggregate == NODE_FORCE)
		grouped_rel->pathlist = NIL;
	add_path(grouped_rel, serial);
	if (parallel)
		add_path(grouped_rel, parallel);
}

/* All rows of one table or tree of them: everything else is not for us. */
static inline bool
is_for_us(const Query *parse, UpperRelationKind stage, const RelOptInfo *input_rel)
{
	return ((stage == UPPERREL_GROUP_AGG && parse->hasAggs) || stage == UPPERREL_FINAL) &&
		parse->groupClause == NIL && input_rel->rtekind == RTE_RELATION &&
		input_rel->reloptkind == RELOPT_BASEREL && parse->groupingSets == NIL &&
		hpsort_enable_aggregate && hpsort_enable_column_reader && hpsort_debug_aggregate != NODE_FORBID;
}

static pg_noinline void
aggregate_node_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
			 RelOptInfo *output_rel, void *extra)
{
	if (IS_DUMMY_REL(input_rel) || extra == NULL)
		return;
	if (stage == UPPERREL_FINAL)
		aggregate_query_path(root, input_rel, output_rel);
	else
		add_aggregate_paths(root, input_rel, output_rel, (GroupPathExtraData *) extra);
}

/* Every query comes by, most of them several times: calls are jumps where they can be. */
static void
aggregate_node_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
				   RelOptInfo *output_rel, void *extra)
{
	if (likely(!is_for_us(root->parse, stage, input_rel)))
	{
		if (previous_upper_paths_hook)
			previous_upper_paths_hook(root, stage, input_rel, output_rel, extra);
		return;
	}
	if (previous_upper_paths_hook)
		previous_upper_paths_hook(root, stage, input_rel, output_rel, extra);
	aggregate_node_paths(root, stage, input_rel, output_rel, extra);
}

void
aggregate_node_install(void)
{
	RegisterCustomScanMethods(&aggregate_node_scan_methods);
	previous_upper_paths_hook = create_upper_paths_hook;
	create_upper_paths_hook = aggregate_node_upper_paths;
	aggregate_query_install();
}
