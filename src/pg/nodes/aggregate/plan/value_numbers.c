/*
 * value_numbers.c
 *		What numbers of aggregates' values cost, for the planner (see groups_cost.h).
 */
#include "postgres.h"

#include "optimizer/optimizer.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "pg/compat.h"
#include "pg/cost_units.h"
#include "pg/nodes/aggregate/plan/aggrefs.h"
#include "pg/nodes/aggregate/plan/expressions.h"
#include "pg/nodes/aggregate/plan/groups_cost.h"
#include "pg/values/values.h"

/*
 * In cpu_tuple_cost (2e6 rows of 90 bytes, where core's sum(x) takes 40 ns a row, 1.25 units;
 * PostgreSQL 17, a loaded virtual machine).  The pair of a value and its group takes 30 to 100 ns.
 * A value without a number, whose order does not matter, is written, read and looked for once
 * more: half of what a sort of the table's rows takes by a value of 12 bytes.  Otherwise pairs are
 * rows of a tuplesort, which take two to three times that.
 */
#define VALUE_PAIR_COST		2.5
#define VALUE_LATE_COST		6.0
#define KEPT_VALUES_FACTOR	2.5
#define VALUE_FOUND_COST	0.4 /* as of groups (groups_cost.c) */
#define VALUE_NEW_COST		6.0

/* The cost of sorting a number of values in memory of this size, in bytes. */
static Cost
sort_cost(PlannerInfo *root, double values, double width, size_t memory)
{
	int			kilobytes = (int) Min(memory / 1024, MAX_KILOBYTES);

	return compat_cost_tuplesort(root, Max(values, 2), (int) Min(width, 8192),
								 Max(kilobytes, 64));
}

/* Whether one of some answers wants the order of values. */
static bool
wants_ranks(const List *answers, Expr *values)
{
	foreach_ptr(const AggregateAnswer, answer, answers)
	{
		if (answer->ranks && aggref_has_numbers(answer) && equal(aggref_values(answer), values))
			return true;
	}
	return false;
}

/*
 * Returns the cost of numbering and sorting values, those of a column or an expression once, and
 * sets *bytes to what their dictionaries need, and *memory to what they may have.
 */
static Cost
numbering_cost(PlannerInfo *root, const List *answers, double rows, const MemoryBudget *budget,
			   double *bytes, double *memory)
{
	List	   *numbered = NIL;
	Cost		total = 0;

	*bytes = 0;
	foreach_ptr(const AggregateAnswer, answer, answers)
	{
		double		values;
		double		width;

		if (!aggref_has_numbers(answer) || list_member(numbered, aggref_values(answer)))
			continue;
		numbered = lappend(numbered, aggref_values(answer));
		values = expression_groups(root, list_make1(aggref_values(answer)), rows);
		width = expression_width(root, aggref_values(answer));
		*bytes += values * (width + DICTIONARY_VALUE_BYTES);
		total += cost_of_rows(rows * VALUE_FOUND_COST + values * VALUE_NEW_COST);
		if (wants_ranks(answers, aggref_values(answer)))
			total += sort_cost(root, values, width, budget->limit);
	}
	*memory = (double) budget->dictionary * list_length(numbered);
	return total;
}

/* Returns the cost of some rows' values of a source, for which there is no memory. */
static Cost
refused_cost(PlannerInfo *root, const List *answers, Expr *values, double rows,
			 const MemoryBudget *budget)
{
	/* Beside the value a row has the group, and what comes before and behind a tuple. */
	double		width = expression_width(root, values) + 4 * sizeof(int64);

	if (wants_ranks(answers, values))
		return KEPT_VALUES_FACTOR * sort_cost(root, rows, width, budget->aggregation);
	return cost_of_rows(rows * VALUE_LATE_COST) + 2 * rows * width / BLCKSZ * seq_page_cost;
}

/*
 * The pairs of a value and its group, of which min and max have as many as there are runs, are
 * beside what core does for these: a comparison.  Other aggregates are sorted by core, too.
 */
Cost
value_numbers_cost(PlannerInfo *root, const List *answers, const List *filters, double ngroups,
				   double rows, const MemoryBudget *budget)
{
	double		bytes;
	double		memory;
	Cost		total;
	List	   *sources = NIL;
	ListCell   *lc;
	ListCell   *lc2;

	rows = Max(rows, 1);
	total = numbering_cost(root, answers, rows, budget, &bytes, &memory);
	forboth(lc, answers, lc2, filters)
	{
		const AggregateAnswer *answer = lfirst(lc);
		List	   *source;

		if (answer->ranks && (answer->function == AGGREGATE_FUNCTION_MIN ||
							  answer->function == AGGREGATE_FUNCTION_MAX))
		{
			double		values = expression_groups(root, list_make1(answer->argument), rows);

			total += cost_of_rows(Min(values * ngroups, rows) * VALUE_PAIR_COST);
		}
		if (!aggref_has_numbers(answer))
			continue;
		source = list_make2(aggref_values(answer), makeInteger(lfirst_int(lc2)));
		if (bytes > memory && !list_member(sources, source))
			total += refused_cost(root, answers, aggref_values(answer),
								  rows * (1 - memory / bytes), budget);
		sources = lappend(sources, source);
	}
	return total;
}
