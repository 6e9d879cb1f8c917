/*
 * star_cost.c
 *		What star joins cost (see star_cost.h).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/selfuncs.h"

#include "pg/compat.h"
#include "pg/cost_units.h"
#include "pg/nodes/aggregate/plan/expressions.h"
#include "pg/nodes/aggregate/plan/star_cost.h"
#include "pg/values/values.h"

/*
 * In cpu_tuple_cost, which is to groups_cost.c what it is here: a row of a dimension put into the
 * look-up, which takes what core takes to put it into a hash join's table (80 ns of 450,000 rows)
 * and says 1.25 for; a key that is not of integers and is looked up for the first time; a row whose
 * key is known or of integers, by an array in the CPU's caches, and in memory; a row whose key the
 * scan tests, by a bit for each key.
 */
#define LOOKUP_BUILD_COST	1.5
#define LOOKUP_KEY_COST		6.0
#define LOOKUP_ROW_COST		0.1
#define LOOKUP_MISS_COST	0.3
#define LOOKUP_TEST_COST	0.05

/* From so many rows of a dimension on, arrays by key are not in the CPU's caches. */
#define LOOKUP_CACHED_ROWS	50000.0

/*
 * Returns how many keys of some rows are looked for: those of one column, or of an expression of
 * one, once for each value, or block of values, that occurs.
 */
static double
count_keys(PlannerInfo *root, const StarLookup *lookup, double rows)
{
	Node	   *key = linitial(linitial_node(OpExpr, lookup->clauses)->args);
	List	   *columns = expression_columns((Expr *) key);
	double		nkeys;

	if (list_length(lookup->clauses) > 1 || list_length(columns) > 1)
		return rows;
	nkeys = estimate_num_groups(root, columns, Max(rows, 1), NULL, NULL);
	return plain_column(key) ? nkeys :
		Min(nkeys, expression_blocks_most(root, key, rows));
}

Cost
star_lookup_cost(PlannerInfo *root, const StarLookup *lookup, const Path *plan, double rows)
{
	double		nkeys = count_keys(root, lookup, rows);

	return plan->total_cost +
		cost_of_rows(LOOKUP_BUILD_COST * plan->rows +
					 (lookup->integers ? 0 : LOOKUP_KEY_COST * nkeys) +
					 rows * (nkeys > LOOKUP_CACHED_ROWS ? LOOKUP_MISS_COST : LOOKUP_ROW_COST));
}

/* Whether the scan of the fact tests the keys of a lookup, each column by itself. */
static bool
is_tested(const StarLookup *lookup)
{
	foreach_node(OpExpr, clause, lookup->clauses)
	{
		if (plain_column(linitial(clause->args)) == NULL)
			return false;
	}
	return (lookup->jointype == JOIN_INNER || lookup->jointype == JOIN_SEMI) &&
		lookup->nparts == 1 && lookup->integers;
}

double
star_part_left(const GroupsQuery *query)
{
	double		part = 1;

	foreach_ptr(const StarLookup, lookup, query->lookups)
	{
		if (!is_tested(lookup))
			continue;
		/* A key is one of all rows of its relation, of which conditions leave some. */
		foreach_node(OpExpr, clause, lookup->clauses)
		{
			const Var  *key = plain_column(lsecond(clause->args));
			double		keys = find_base_rel(query->root, key->varno)->tuples;

			if (keys > lookup->path->rows)
				part *= lookup->path->rows / keys;
		}
	}
	return Max(part, Min(query->matched, 1));
}

/* A row of the fact written once for each row that it has, and each of its values. */
#define REPEATED_ROW_COST	0.1
#define REPEATED_VALUE_COST	0.05

/* The columns of a joined row put where core evaluates a condition, in cpu_tuple_cost. */
#define CONDITION_ROW_COST	0.5

/*
 * What conditions cost, row by row: of rows of the fact those are evaluated that have a place in
 * all lookups.
 */
static Cost
conditions_cost(const GroupsQuery *query, double rows)
{
	PlannerInfo *root = query->root;
	double		selectivity;
	double		joined;
	QualCost	cost;

	if (query->conditions == NIL)
		return 0;
	selectivity = clauselist_selectivity(root, query->conditions, 0, JOIN_INNER, NULL);
	joined = rows * query->matched / Max(selectivity, 1e-6);
	if (!query->repeated)
		joined = Min(joined, rows);
	cost_qual_eval(&cost, query->conditions, root);
	return cost.startup + joined * cost.per_tuple + cost_of_rows(joined * CONDITION_ROW_COST);
}

/*
 * A row of a dimension that is divided, written, and read each time that its part is, and a row of
 * the fact whose cell is not there, written and read again, in cpu_tuple_cost: 6e6 rows and 1.5e6
 * or 8e5 of a dimension, in 4 to 16 parts, take up to 0.75 s more than without parts, where core's
 * sum(x) takes 50 ns a row.  Parts are in the CPU's caches where the whole is not.
 */
#define PART_ROW_COST		1.0
#define CELL_ROW_COST		1.0

/* Returns what writing bytes to files costs, or reading them. */
static Cost
file_cost(double bytes)
{
	return bytes / BLCKSZ * seq_page_cost;
}

/*
 * What it costs that lookups are divided: a part of each is read for each combination of parts of
 * those before it.
 */
static Cost
parts_cost(const GroupsQuery *query, double rows)
{
	double		row = list_length(query->columns) * sizeof(int64);
	Cost		total = 0;
	double		ncells = 1;
	double		elsewhere;

	foreach_ptr(const StarLookup, lookup, query->lookups)
	{
		double		width = lookup->path->pathtarget->width + SizeofMinimalTupleHeader;

		if (lookup->nparts == 1)
			continue;
		total += (1 + ncells) * (cost_of_rows(PART_ROW_COST * lookup->path->rows) +
								 file_cost(lookup->path->rows * width)) +
			(ncells - 1) * cost_of_rows(LOOKUP_BUILD_COST * lookup->path->rows);
		ncells *= lookup->nparts;
	}
	elsewhere = rows * (1 - 1 / ncells);
	return total + cost_of_rows(CELL_ROW_COST * elsewhere) + 2 * file_cost(elsewhere * row);
}

Cost
star_cost(const GroupsQuery *query, CustomPath *path, double rows, double part)
{
	const RelOptInfo *fact = find_base_rel(query->root, query->rti);
	Cost		total = 0;

	foreach_ptr(const StarLookup, lookup, query->lookups)
	{
		Path	   *plan = path->path.parallel_aware ? lookup->safe_path : lookup->path;

		path->custom_paths = lappend(path->custom_paths, plan);
		/* It may have workers of its own. */
		path->path.parallel_safe &= plan->parallel_safe;
		compat_add_disabled_nodes(&path->path, compat_disabled_nodes(plan));
		total += star_lookup_cost(query->root, lookup, plan, rows * part);
		if (is_tested(lookup))
			total += cost_of_rows(LOOKUP_TEST_COST * rows * fact->tuples / Max(fact->rows, 1));
	}
	if (query->repeated)
		total += cost_of_rows(rows * query->matched *
							  (REPEATED_ROW_COST +
							   REPEATED_VALUE_COST * list_length(query->columns)));
	return total + parts_cost(query, rows) + conditions_cost(query, rows);
}
