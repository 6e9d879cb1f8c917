/*
 * equal_runs.c
 *		Runs of equal floats as one run (see equal_runs.h).
 */
#include "postgres.h"

#include "pg/nodes/aggregate/results/equal_runs.h"

size_t
equal_runs_merge(EqualRun *run, ColumnKind kind, bool stand_in, const int64 *values,
				 const int64 *counts, size_t nruns, int64 *merged, int64 *merged_counts)
{
	size_t		n = 0;
	size_t		i;

	for (i = 0; i < nruns; i++)
	{
		int64		equals = column_value_equals(kind, values[i]);

		if (run->count > 0 && column_value_equals(kind, run->value) == equals)
		{
			run->count += counts[i];
			continue;
		}
		if (run->count > 0)
		{
			merged[n] = run->value;
			merged_counts[n++] = run->count;
		}
		run->value = stand_in ? equals : values[i];
		run->count = counts[i];
	}
	return n;
}

bool
array_elements_of(const ColumnDomain *domain, const int64 *values, size_t n, int64 *elements)
{
	size_t		i;

	if (domain->labels)
		for (i = 0; i < n; i++)
			elements[i] = enum_label_at(domain->labels, (int) values[i]);
	else if (domain->kind == COLUMN_KIND_FLOAT8)
		for (i = 0; i < n; i++)
			elements[i] = (int64) float8_key_bits(values[i]);
	else if (domain->kind == COLUMN_KIND_FLOAT4)
		for (i = 0; i < n; i++)
			elements[i] = float4_key_bits((int32) values[i]);
	else
		return false;
	return true;
}
