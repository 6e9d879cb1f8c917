/*
 * float_totals.c
 *		Results from totals of floats (see float_totals.h).
 */
#include "postgres.h"

#include "pg/nodes/aggregate/results/float_totals.h"

int
float_totals_parts(const AggregateAnswer *answer)
{
	if (!column_kind_is_float(answer->kind))
		return 0;
	switch (answer->function)
	{
		case AGGREGATE_FUNCTION_MIN:
		case AGGREGATE_FUNCTION_MAX:
			return FLOAT_EXTREMES;
		case AGGREGATE_FUNCTION_SUM:
			return FLOAT_SUM;
		case AGGREGATE_FUNCTION_AVG:
		case AGGREGATE_FUNCTION_VAR_POP:
		case AGGREGATE_FUNCTION_VAR_SAMP:
		case AGGREGATE_FUNCTION_STDDEV_POP:
		case AGGREGATE_FUNCTION_STDDEV_SAMP:
			return FLOAT_SQUARES;
		default:
			return 0;
	}
}

Datum
float_totals_result(const FloatTotals *totals, const AggregateAnswer *answer, bool *isnull)
{
	float8		n = (float8) totals->n;

	switch (answer->function)
	{
		case AGGREGATE_FUNCTION_MIN:
			return column_datum(answer->kind, totals->min);
		case AGGREGATE_FUNCTION_MAX:
			return column_datum(answer->kind, totals->max);
		case AGGREGATE_FUNCTION_SUM:
			return answer->kind == COLUMN_KIND_FLOAT4 ? Float4GetDatum((float4) totals->sum) :
				Float8GetDatum(totals->sum);
		case AGGREGATE_FUNCTION_AVG:
			return Float8GetDatum(totals->sx / n);
		case AGGREGATE_FUNCTION_VAR_POP:
			return Float8GetDatum(totals->sxx / n);
		case AGGREGATE_FUNCTION_STDDEV_POP:
			return Float8GetDatum(sqrt(totals->sxx / n));
		default:
			break;
	}
	/* Of a sample of one value they are not defined. */
	*isnull = totals->n <= 1;
	if (*isnull)
		return (Datum) 0;
	return Float8GetDatum(answer->function == AGGREGATE_FUNCTION_VAR_SAMP ?
						  totals->sxx / (n - 1.0) : sqrt(totals->sxx / (n - 1.0)));
}
