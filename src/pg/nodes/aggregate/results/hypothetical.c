/*
 * hypothetical.c
 *		Hypothetical-set functions (see hypothetical.h).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/lsyscache.h"

#include "pg/nodes/aggregate/results/hypothetical.h"
#include "pg/nodes/aggregate/results/rights.h"

void
hypothetical_row_take(HypotheticalRow *row, Datum argument, SortSupport compare,
					  const int64 *values, const int64 *counts, size_t nruns)
{
	row->distinct += (int64) nruns;
	for (size_t i = 0; i < nruns && !row->isnull; i++)
	{
		int			result = compare ?
		ApplySortComparator((Datum) values[i], false, argument, false, compare) :
		(values[i] > row->value) - (values[i] < row->value);

		if (result == 0 && (compare || !row->no_peers))
			row->peers = counts[i];
		if (result >= 0)
			return;
		row->below += counts[i];
		row->distinct_below++;
	}
}

/* Sets what is before the argument, and how many its peers are.  NULLs are rows, too. */
static void
count_before(const HypotheticalRow *row, const AggregateAnswer *answer, const GroupCounts *counts,
			 int64 *rows, int64 *distinct, int64 *peers)
{
	bool		peer = row->peers > 0;

	if (row->isnull)
	{
		*rows = answer->nulls_first ? 0 : counts->values;
		*distinct = answer->nulls_first ? 0 : row->distinct;
		*peers = counts->nulls;
		return;
	}
	*peers = row->peers;
	*rows = row->below;
	*distinct = row->distinct_below;
	if (answer->descending)
	{
		*rows = counts->values - row->below - row->peers;
		*distinct = row->distinct - row->distinct_below - (peer ? 1 : 0);
	}
	if (answer->nulls_first)
	{
		*rows += counts->nulls;
		*distinct += counts->nulls > 0 ? 1 : 0;
	}
}

/* Checks the right to the type's equality, which core's dense_rank calls where there is a row. */
static void
check_equality(HypotheticalRow *row, const Aggref *aggref)
{
	const SortGroupClause *order = linitial_node(SortGroupClause, aggref->aggorder);

	if (!row->equality_checked)
		aggregate_check_function(get_opcode(order->eqop), GetUserId());
	row->equality_checked = true;
}

void
hypothetical_row_set(HypotheticalRow *row, const ColumnDomain *domain, Oid type, Datum value)
{
	ColumnKind	kind = column_read_kind(type);

	row->no_peers = false;
	/* A numeric of any scale may be between two values of the column's. */
	if (domain->kind == COLUMN_KIND_NUMERIC)
		row->value = numeric_unit_ceil(domain->unit, value, &row->no_peers);
	else
		row->value = column_value(kind, value);
	if (column_kind_is_float(kind))
		row->value = column_value_equals(kind, row->value);
	if (domain->labels)
		row->value = enum_label_rank(domain->labels, (Oid) row->value, &row->no_peers);
}

Datum
hypothetical_row_value(HypotheticalRow *row, const Aggref *aggref, const AggregateAnswer *answer,
					   const GroupCounts *counts)
{
	int64		total = counts->values + counts->nulls;
	int64		rows;
	int64		distinct;
	int64		peers;

	count_before(row, answer, counts, &rows, &distinct, &peers);
	switch (answer->function)
	{
		case AGGREGATE_FUNCTION_RANK:
			return Int64GetDatum(rows + 1);
		case AGGREGATE_FUNCTION_DENSE_RANK:
			if (total > 0)
				check_equality(row, aggref);
			return Int64GetDatum(distinct + 1);
		case AGGREGATE_FUNCTION_PERCENT_RANK:
			return Float8GetDatum(total == 0 ? 0 : (double) rows / (double) total);
		default:
			/* The row itself is among the rows up to its last peer. */
			return Float8GetDatum((double) (rows + peers + 1) / (double) (total + 1));
	}
}
