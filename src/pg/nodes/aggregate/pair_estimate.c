/*
 * pair_estimate.c
 *		What pairs of group and value need, for the planner (see pair_estimate.h).
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/datetime.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "pg/column/value.h"
#include "pg/compat.h"
#include "pg/nodes/aggregate/pair_estimate.h"

/* The range of a column of which there are no statistics. */
#define UNKNOWN_RANGE 4294967296.0

/* Widens the range from *lo to *hi, which is empty if *hi is less, by the values in a slot of statistics. */
static void
add_slot(HeapTuple stats, int kind, Oid type, double *lo, double *hi)
{
	AttStatsSlot slot;
	int			i;

	if (!get_attstatsslot(&slot, stats, kind, InvalidOid, ATTSTATSSLOT_VALUES))
		return;
	for (i = 0; i < slot.nvalues; i++)
	{
		double		value = (double) column_value(column_kind(type), slot.values[i]);

		*lo = Min(*lo, value);
		*hi = Max(*hi, value);
	}
	free_attstatsslot(&slot);
}

/* Integers from the smallest value in the statistics of a column to the largest. */
static double
column_range(PlannerInfo *root, Var *column)
{
	VariableStatData stats;
	double		lo = 0;
	double		hi = -1;

	examine_variable(root, (Node *) column, 0, &stats);
	if (HeapTupleIsValid(stats.statsTuple) && column_kind(stats.atttype) != COLUMN_KIND_NONE)
	{
		lo = PG_INT64_MAX;
		hi = PG_INT64_MIN;
		add_slot(stats.statsTuple, STATISTIC_KIND_HISTOGRAM, stats.atttype, &lo, &hi);
		add_slot(stats.statsTuple, STATISTIC_KIND_MCV, stats.atttype, &lo, &hi);
	}
	ReleaseVariableStats(stats);
	return hi < lo ? UNKNOWN_RANGE : hi - lo + 1;
}

double
pair_estimate_range(PlannerInfo *root, Var *column, Node *expression, DerivedForm form)
{
	double		range;
	ColumnKind	kind;

	/* Numbers and places are counted from 0. */
	if (form == DERIVED_NUMBERS || form == DERIVED_RANKS)
		return estimate_num_groups(root, list_make1(column), 1e18, NULL, NULL);
	range = column_range(root, column);
	if (form == DERIVED_NONE)
		return range;

	/* Most expressions of integers are as far apart as what they are computed of; those of timestamps are days. */
	kind = column_kind(exprType(expression));
	if (column_kind_is_wide(column_kind(column->vartype)) && getBaseType(exprType(expression)) == DATEOID)
		range = ceil(range / USECS_PER_DAY) + 1;
	else if (kind == COLUMN_KIND_BOOL)
		range = 2;
	return column_kind_is_wide(kind) ? range : Min(range, UNKNOWN_RANGE);
}

int
pair_estimate_bits(double range)
{
	return range > 1 ? (int) ceil(log2(range)) : 0;
}

Cost
pair_estimate_rows_cost(PlannerInfo *root, double pairs, int ncolumns, double memory_limit)
{
	int			width = (ncolumns + 1) * sizeof(int64);
	int			kilobytes = (int) Min(memory_limit / 1024, MAX_KILOBYTES);

	return compat_cost_tuplesort(root, pairs, width, Max(kilobytes, 64)) + pairs * cpu_tuple_cost;
}
