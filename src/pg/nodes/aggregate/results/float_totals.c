/*
 * float_totals.c
 *		Results from totals of floats (see float_totals.h).
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"

#include "pg/nodes/aggregate/results/float_totals.h"

int
float_totals_parts(const AggregateAnswer *answer)
{
	if (answer->with)
		return answer->function == AGGREGATE_FUNCTION_COUNT ? 0 : FLOAT_REGRESSION;
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
float_totals_result(const FloatTotals *totals, const AggregateAnswer *answer, FmgrInfo *final,
					bool *isnull)
{
	LOCAL_FCINFO(fcinfo, 1);
	Datum		state[COMPAT_REGRESSION_STATE];
	int			n = 3;
	Datum		result;

	switch (answer->function)
	{
		case AGGREGATE_FUNCTION_MIN:
			return column_datum(answer->kind, totals->of.one.min);
		case AGGREGATE_FUNCTION_MAX:
			return column_datum(answer->kind, totals->of.one.max);
		case AGGREGATE_FUNCTION_SUM:
			return answer->kind == COLUMN_KIND_FLOAT4 ?
				Float4GetDatum((float4) totals->of.one.sum) : Float8GetDatum(totals->of.one.sum);
		default:
			break;
	}
	state[0] = Float8GetDatum((float8) totals->n);
	state[1] = Float8GetDatum(totals->sx);
	state[2] = Float8GetDatum(totals->sxx);
	for (; answer->with && n < COMPAT_REGRESSION_STATE; n++)
		state[n] = Float8GetDatum(totals->of.two[n - 3]);
	InitFunctionCallInfoData(*fcinfo, final, 1, InvalidOid, NULL, NULL);
	fcinfo->args[0].value = PointerGetDatum(construct_array(state, n, FLOAT8OID, sizeof(float8),
															FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
	fcinfo->args[0].isnull = false;
	result = FunctionCallInvoke(fcinfo);
	*isnull = fcinfo->isnull;
	return result;
}
