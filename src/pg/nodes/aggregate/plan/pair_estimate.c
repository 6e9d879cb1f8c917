/*
 * pair_estimate.c
 *		What pairs of group and value need, for the planner (see groups_cost.h).
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/value.h"
#include "optimizer/optimizer.h"
#include "utils/datetime.h"
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
 * Bytes for each group that has a place in the window, and for each source of values beside that,
 * about what aggregation_parts.c needs.
 */
#define WINDOW_GROUP_BYTES	8.0
#define WINDOW_SOURCE_BYTES	16.0

/* The range of a column of which there are no statistics. */
#define UNKNOWN_RANGE 4294967296.0

/* The range of a column of floats of which there are no statistics: of numbers from 1e-9 to 1e9. */
#define UNKNOWN_FLOAT_RANGE (UNKNOWN_RANGE * UNKNOWN_RANGE / 64)

/* Returns how many integers a column spans, from its least value to its largest. */
static double
column_range(PlannerInfo *root, const Var *column)
{
	ColumnDomain domain = column_domain(column->vartype, column->vartypmod);
	ColumnRange range;
	double		values;

	if (!column_statistics_range(root, column, &range))
		return domain.kind == COLUMN_KIND_FLOAT8 ? UNKNOWN_FLOAT_RANGE : UNKNOWN_RANGE;
	switch (domain.kind)
	{
		case COLUMN_KIND_FLOAT4:
			values = (double) column_value(domain.kind, Float4GetDatum((float4) range.hi)) -
				(double) column_value(domain.kind, Float4GetDatum((float4) range.lo));
			break;
		case COLUMN_KIND_FLOAT8:
			values = (double) column_value(domain.kind, Float8GetDatum(range.hi)) -
				(double) column_value(domain.kind, Float8GetDatum(range.lo));
			break;
		case COLUMN_KIND_NUMERIC:
			values = (range.hi - range.lo) * pow(10, domain.unit.scale);
			break;
		default:
			values = range.hi - range.lo;
	}
	return values + 1;
}

/*
 * Returns how many integers there are from the smallest to the largest value of an expression that
 * is read in this form.
 */
static double
expression_range(PlannerInfo *root, Expr *expression, DerivedForm form)
{
	List	   *columns = expression_columns(expression);
	const Var  *column = linitial(columns);
	double		range;
	ColumnKind	kind;

	/* Numbers and places are counted from 0. */
	if (derived_form_has_numbers(form) || form == DERIVED_RANKS)
		return estimate_num_groups(root, columns, 1e18, NULL, NULL);
	if (form == DERIVED_NULLS)
		return 1;
	range = list_length(columns) == 1 &&
		column_value_kind(column->vartype, column->vartypmod) != COLUMN_KIND_NONE ?
		column_range(root, column) : UNKNOWN_RANGE;
	if (form == DERIVED_NONE || form == DERIVED_EQUAL)
		return range;

	/*
	 * Most expressions of integers are as far apart as what they are computed of; those of
	 * timestamps are days.
	 */
	kind = column_kind(exprType((Node *) expression));
	if (column_kind_is_wide(column_kind(column->vartype)) &&
		getBaseType(exprType((Node *) expression)) == DATEOID)
		range = ceil(range / USECS_PER_DAY) + 1;
	else if (kind == COLUMN_KIND_BOOL)
		range = 2;
	return column_kind_is_wide(kind) ? range : Min(range, UNKNOWN_RANGE);
}

static int
bits_of_range(double range)
{
	return range > 1 ? (int) ceil(log2(range)) : 0;
}

void
pair_estimate_add_group(PairEstimate *groups, PlannerInfo *root, Expr *expression, DerivedForm form)
{
	double		range = expression_range(root, expression, form);

	groups->ncolumns++;
	groups->bits += bits_of_range(range);
	groups->places *= range;
}

bool
pair_estimate_is_wide(const PairEstimate *groups, PlannerInfo *root, Var *column)
{
	return groups->bits + bits_of_range(expression_range(root, (Expr *) column, DERIVED_NONE)) > 64;
}

/* Returns the cost of pairs as rows of core's tuplesort, whose memory is in bytes. */
static Cost
rows_cost(PlannerInfo *root, double pairs, int ncolumns, double memory)
{
	int			width = (ncolumns + 1) * sizeof(int64);
	int			kilobytes = (int) Min(memory / 1024, MAX_KILOBYTES);

	return compat_cost_tuplesort(root, pairs, width, Max(kilobytes, 64)) + cost_of_rows(pairs);
}

/*
 * Bytes of a pair in a table (pairs/pair_table.c), and of a group.  What a pair costs more than one
 * of 64 bits, and a group, in cpu_tuple_cost: 3e6 rows, percentiles of a float8 by 1,000 groups
 * 190 ms, of a float4 130 (AMD EPYC, one loaded core of a virtual machine, PostgreSQL 17).
 */
#define TABLE_PAIR_BYTES	20.0
#define TABLE_GROUP_BYTES	256.0
#define TABLE_PAIR_COST		0.5
#define TABLE_GROUP_COST	20.0

/* What a pair costs more that is written and merged, and the memory from which on it is. */
#define TABLE_WRITTEN_COST	1.0
#define TABLE_LEAST_BYTES	(1024.0 * 1024)

/*
 * Returns the cost of pairs in a table, in a memory in bytes, or as rows where groups take most of
 * it.
 */
static Cost
table_cost(PlannerInfo *root, const PairEstimate *groups, double pairs, double memory)
{
	double		ngroups = Min(groups->places, groups->ngroups);
	double		left = memory - ngroups * TABLE_GROUP_BYTES;
	Cost		cost = cost_of_rows(pairs * TABLE_PAIR_COST + ngroups * TABLE_GROUP_COST);

	if (pairs * TABLE_PAIR_BYTES <= left)
		return cost;
	if (left < Max(memory / 2, TABLE_LEAST_BYTES))
		return rows_cost(root, pairs, groups->ncolumns, memory);
	return cost + cost_of_rows(pairs * TABLE_WRITTEN_COST) +
		2 * pairs * sizeof(int64) / BLCKSZ * seq_page_cost;
}

bool
pair_estimate_has_window(const PairEstimate *groups, const List *answers,
						 const MemoryBudget *budget)
{
	double		memory = budget->aggregation * ARRAYS_PART;

	foreach_ptr(const AggregateAnswer, answer, answers)
	{
		if (answer->needs == AGGREGATE_NEEDS_RUNS)
			memory = budget->aggregation * ARRAYS_PART_BESIDE_RUNS;
	}
	return groups->places * (WINDOW_GROUP_BYTES + list_length(answers) * WINDOW_SOURCE_BYTES) <=
		memory;
}

/*
 * Pairs are made of values that are put in order, and where groups have no place in the window of
 * all other values, too: if all possible groups need more than half of the aggregation's memory.
 */
Cost
pair_estimate_wide_cost(const PairEstimate *groups, PlannerInfo *root, const List *answers,
						const List *filters, double rows, const MemoryBudget *budget)
{
	double		memory = budget->aggregation;
	bool		has_window = pair_estimate_has_window(groups, answers, budget);
	List	   *sources = NIL;
	int			nwide = 0;
	ListCell   *lc;
	ListCell   *lc2;

	forboth(lc, answers, lc2, filters)
	{
		const AggregateAnswer *answer = lfirst(lc);
		List	   *source = list_make2(answer->argument, makeInteger(lfirst_int(lc2)));
		int			bits;

		if (answer->function == AGGREGATE_FUNCTION_CORE)
			continue;
		if ((has_window && answer->needs != AGGREGATE_NEEDS_RUNS) ||
			(answer->argument == NULL && lfirst_int(lc2) == GROUPS_NO_FILTER) ||
			list_member(sources, source))
			continue;
		sources = lappend(sources, source);
		/* Beside pairs, these are rows of a tuplesort. */
		nwide += !has_window && aggref_adds_floats(answer);
		bits = 1;
		if (aggref_has_numbers(answer))
			bits = bits_of_range(estimate_num_groups(root, list_make1(answer->argument), rows, NULL,
													 NULL));
		else if (answer->argument && answer->read == READ_VALUES)
			bits = bits_of_range(expression_range(root, answer->argument, answer->form));
		nwide += groups->bits + bits > 64;
	}
	/* Without sources of values, rows outside of the window are pairs of a group alone. */
	if (sources == NIL && !has_window)
		nwide += groups->bits > 64;
	if (nwide == 0)
		return 0;
	/* Groups without a place in the window are many. */
	return nwide * (has_window ? table_cost(root, groups, rows, memory / nwide) :
					rows_cost(root, rows, groups->ncolumns, memory / nwide));
}
