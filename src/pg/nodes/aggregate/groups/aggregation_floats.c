/*
 * aggregation_floats.c
 *		Totals of floats, which are added up in the order of the rows (see aggregation.h).
 *
 * Groups in the window have their totals in an array.  The values of other groups are rows of a
 * core tuplesort, with their number among the rows that have come, so that they are added up group
 * by group, in the order in which they came, when they are read.
 */
#include "postgres.h"

#include "pg/nodes/aggregate/groups/aggregation_state.h"

/* Values that are read of a tuplesort, or of a batch as floats, at once. */
#define BLOCK_VALUES 256

/*
 * Adds values to totals of size bytes; kind and parts are constants, so that each loop asks nothing
 * of a row.
 */
static pg_attribute_always_inline void
add_values(char *totals, size_t size, const uint32 *groups, const ColumnBatch *batch,
		   const uint16 *rows, int nrows, ColumnKind kind, int parts)
{
	for (int i = 0; i < nrows; i++)
	{
		int			row = rows ? rows[i] : i;
		int64		value = kind == COLUMN_KIND_FLOAT4 ? batch->keys[row] : batch->wide[row];
		char	   *at = totals + (groups ? groups[row] : 0) * size;

		if (parts == FLOAT_SUM)
			*(float8 *) at = float_sum_add(*(float8 *) at, kind, value);
		else
			float_totals_add((FloatTotals *) at, kind, parts, value);
	}
}

/* Sets floats to the numbers of rows first, first + 1 and so on of some rows; NULL: of all. */
static void
read_floats(const ColumnDomain *domain, const ColumnBatch *batch, const uint16 *rows, int first,
			int n, float8 *floats)
{
	if (batch->keys && domain->kind != COLUMN_KIND_FLOAT4)
		for (int i = 0; i < n; i++)
			floats[i] = (float8) batch->keys[rows ? rows[first + i] : first + i];
	else
		for (int i = 0; i < n; i++)
			floats[i] = column_domain_float8(domain,
											 column_batch_value(batch, rows ? rows[first + i] :
																first + i));
}

/* Adds pairs of numbers, Y and X, to totals. */
static void
add_pairs(FloatTotals *totals, const uint32 *groups, const ValueSource *source,
		  const ColumnBatch *batches, const uint16 *rows, int nrows)
{
	float8		y[BLOCK_VALUES];
	float8		x[BLOCK_VALUES];

	for (int first = 0; first < nrows; first += BLOCK_VALUES)
	{
		int			n = Min(nrows - first, BLOCK_VALUES);

		read_floats(&source->domains[0], &batches[source->column], rows, first, n, y);
		read_floats(&source->domains[1], &batches[source->with], rows, first, n, x);
		for (int i = 0; i < n; i++)
		{
			int			row = rows ? rows[first + i] : first + i;

			float_totals_regression(&totals[groups ? groups[row] : 0], y[i], x[i]);
		}
	}
}

void
aggregation_add_floats(Aggregation *aggregation, int s, const ColumnBatch *batches,
					   const uint16 *rows, int nrows)
{
	const ValueSource *source = &aggregation->sources[s];
	const ColumnBatch *batch = &batches[source->column];
	char	   *totals = aggregation->values[s].parts[PART_FLOATS];
	const uint32 *groups = aggregation->groups;
	ColumnKind	kind = source->kind;
	int			parts = source->float_parts;
	size_t		size = float_totals_size(parts);

	if (parts == FLOAT_REGRESSION)
		add_pairs((FloatTotals *) totals, groups, source, batches, rows, nrows);
	else if (kind == COLUMN_KIND_FLOAT8 && parts == FLOAT_SUM)
		add_values(totals, size, groups, batch, rows, nrows, COLUMN_KIND_FLOAT8, FLOAT_SUM);
	else if (kind == COLUMN_KIND_FLOAT8 && parts == FLOAT_SQUARES)
		add_values(totals, size, groups, batch, rows, nrows, COLUMN_KIND_FLOAT8, FLOAT_SQUARES);
	else if (kind == COLUMN_KIND_FLOAT8)
		add_values(totals, size, groups, batch, rows, nrows, COLUMN_KIND_FLOAT8, parts);
	else
		add_values(totals, size, groups, batch, rows, nrows, COLUMN_KIND_FLOAT4, parts);
}

void
aggregation_make_outside_floats(Aggregation *aggregation, int s)
{
	MemoryContext old = MemoryContextSwitchTo(aggregation->memory);

	aggregation->values[s].outside = pair_rows_make(NULL, aggregation->columns,
													aggregation->ncolumns, NULL,
													aggregation->sorter_limit);
	MemoryContextSwitchTo(old);
}

void
aggregation_add_outside_floats(Aggregation *aggregation, int s, const ColumnBatch *batches,
							   const uint16 *rows, int nrows)
{
	SourceValues *values = &aggregation->values[s];
	const ValueSource *source = &aggregation->sources[s];
	const ColumnBatch *batch = &batches[source->column];
	GroupValues group;

	if (nrows == 0)
		return;
	group = group_values_make(aggregation->ncolumns);
	for (int i = 0; i < nrows; i++)
	{
		group_values_of_row(aggregation->columns, aggregation->ncolumns, batches, rows[i], &group);
		/* In place of a count of values that are in order: the value itself, or Y and then X. */
		pair_rows_add(values->outside, &group, PAIR_MARKERS,
					  Int64GetDatum(values->noutside++), column_batch_value(batch, rows[i]));
		if (source->float_parts == FLOAT_REGRESSION)
			pair_rows_add(values->outside, &group, PAIR_MARKERS,
						  Int64GetDatum(values->noutside++),
						  column_batch_value(&batches[source->with], rows[i]));
	}
	group_values_free(&group);
}

/* Moves the rows of a source to the next group. */
static void
next_outside(SourceValues *values)
{
	int64		markers[PAIR_MARKERS];

	values->outside_group = pair_rows_next_group(values->outside, markers);
}

void
aggregation_open_floats(Aggregation *aggregation)
{
	for (int s = 0; s < aggregation->nsources; s++)
		if (aggregation->values[s].outside)
		{
			pair_rows_finish(aggregation->values[s].outside);
			next_outside(&aggregation->values[s]);
		}
}

/* Adds up the values of the group that is read, which have come in this order. */
static void
add_outside(Aggregation *aggregation, int s)
{
	const ValueSource *source = &aggregation->sources[s];
	SourceValues *values = &aggregation->values[s];
	uint64		numbers[BLOCK_VALUES];
	uint64		floats[BLOCK_VALUES];
	float8		y = 0;
	size_t		n;

	memset(&values->group_totals, 0, sizeof(FloatTotals));
	if (values->outside == NULL || values->outside_group == NULL ||
		group_values_compare(aggregation->columns, aggregation->ncolumns, values->outside_group,
							 &aggregation->at.group) != 0)
		return;
	while ((n = pair_rows_runs(values->outside, numbers, floats, BLOCK_VALUES)) > 0)
		for (size_t i = 0; i < n; i++)
		{
			if (source->float_parts != FLOAT_REGRESSION)
				float_totals_add(&values->group_totals, source->kind, source->float_parts,
								 (int64) floats[i]);
			else if (numbers[i] % 2 == 0)
				y = column_domain_float8(&source->domains[0], (int64) floats[i]);
			else
				float_totals_regression(&values->group_totals, y,
										column_domain_float8(&source->domains[1],
															 (int64) floats[i]));
		}
	next_outside(values);
}

const FloatTotals *
aggregation_float_totals(Aggregation *aggregation, int s, int64 n)
{
	SourceValues *values = &aggregation->values[s];
	int			parts = aggregation->sources[s].float_parts;
	size_t		size = float_totals_size(parts);
	const char *at = (const char *) values->parts[PART_FLOATS] + aggregation->at.number * size;

	if (!aggregation->at.inside)
		add_outside(aggregation, s);
	else if (parts == FLOAT_SUM)
	{
		values->group_totals.n = n;
		values->group_totals.of.one.sum = *(const float8 *) at;
	}
	else
		memcpy(&values->group_totals, at, size);
	return &values->group_totals;
}
