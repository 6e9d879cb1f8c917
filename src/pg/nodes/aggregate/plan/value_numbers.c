/*
 * value_numbers.c
 *		What numbers of aggregates' values cost, for the planner (see groups_planner.h).
 */
#include "postgres.h"

#include "executor/nodeHash.h"
#include "optimizer/optimizer.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "pg/compat.h"
#include "pg/cost_units.h"
#include "pg/nodes/aggregate/plan/aggrefs.h"
#include "pg/nodes/aggregate/plan/groups_planner.h"
#include "pg/values/values.h"

/*
 * In cpu_tuple_cost (2e6 rows of 90 bytes, where core's sum(x) takes 40 ns a row, 1.25 units;
 * PostgreSQL 17, a loaded virtual machine).  A text of 10 bytes is found among 1,000 in 10 ns, and
 * among 350,000 in 40; a new one takes 200.  The pair of a value and its group takes 30 to 100.
 * Where values have no numbers, pairs are rows of a tuplesort, which take two to three times what a
 * sort of the table's rows does.
 */
#define VALUE_FOUND_COST	0.5
#define VALUE_NEW_COST		6.0
#define VALUE_PAIR_COST		2.5
#define KEPT_VALUES_FACTOR	2.5

/* Bytes that a value takes beside itself. */
#define VALUE_BYTES			40.0

/* Returns how many bytes a column's values have on average. */
static double
value_width(PlannerInfo *root, const Var *column)
{
	const RelOptInfo *rel = find_base_rel(root, column->varno);
	int32		width = rel->attr_widths[column->varattno - rel->min_attr];

	return width > 0 ? width : get_typavgwidth(column->vartype, column->vartypmod);
}

/* The cost of sorting a number of values, whose comparison is that of a type. */
static Cost
sort_cost(PlannerInfo *root, double values, double width)
{
	int			kilobytes = (int) Min(get_hash_memory_limit() / 1024, MAX_KILOBYTES);

	return compat_cost_tuplesort(root, Max(values, 2), (int) Min(width, 8192),
								 Max(kilobytes, 64));
}

/*
 * The pairs of a value and its group, of which min and max have so many as there are runs, are
 * beside what core does for these: a comparison.  Other aggregates are sorted by core, too.
 */
Cost
value_numbers_cost(PlannerInfo *root, const List *answers, const List *filters, double ngroups,
				   double rows)
{
	double		memory = get_hash_memory_limit() / 2.0;
	double		bytes = 0;
	double		width_of_rows = 0;
	Cost		total = 0;
	List	   *sources = NIL;
	List	   *columns = NIL;
	ListCell   *lc;
	ListCell   *lc2;

	forboth(lc, answers, lc2, filters)
	{
		const AggregateAnswer *answer = lfirst(lc);
		double		values;
		double		width;
		List	   *source;

		if (!aggref_has_numbers(answer))
			continue;
		values = estimate_num_groups(root, list_make1(answer->column), Max(rows, 1), NULL, NULL);
		width = value_width(root, answer->column);
		if (answer->function == AGGREGATE_FUNCTION_MIN ||
			answer->function == AGGREGATE_FUNCTION_MAX)
			total += cost_of_rows(Min(values * ngroups, rows) * VALUE_PAIR_COST);
		source = list_make2_int(answer->column->varattno, lfirst_int(lc2));
		if (!list_member(sources, source))
			width_of_rows += width + 4 * sizeof(int64);
		sources = list_append_unique(sources, source);
		if (list_member_int(columns, answer->column->varattno))
			continue;
		columns = lappend_int(columns, answer->column->varattno);
		bytes += values * (width + VALUE_BYTES);
		total += cost_of_rows(rows * VALUE_FOUND_COST + values * VALUE_NEW_COST);
		if (answer->ranks)
			total += sort_cost(root, values, width);
	}
	if (bytes > memory)
		total += KEPT_VALUES_FACTOR * sort_cost(root, rows * (1 - memory / bytes), width_of_rows);
	return total;
}
