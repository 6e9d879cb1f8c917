/*
 * aggregate_function.c
 *		PostgreSQL's aggregate functions by their OIDs (see aggregate_function.h).
 */
#include "postgres.h"

#include "utils/fmgroids.h"

#include "pg/nodes/aggregate/plan/aggregate_function.h"

/* Does what aggregate_core_function does for functions of values in order. */
static AggregateFunction
core_ordered_function(Oid function)
{
	switch (function)
	{
		case F_PERCENTILE_DISC_FLOAT8_ANYELEMENT:
			return AGGREGATE_FUNCTION_PERCENTILE_DISC;
		case F_PERCENTILE_DISC__FLOAT8_ANYELEMENT:
			return AGGREGATE_FUNCTION_PERCENTILE_DISC_ARRAY;
		case F_PERCENTILE_CONT_FLOAT8_FLOAT8:
		case F_PERCENTILE_CONT_FLOAT8_INTERVAL:
			return AGGREGATE_FUNCTION_PERCENTILE_CONT;
		case F_PERCENTILE_CONT__FLOAT8_FLOAT8:
		case F_PERCENTILE_CONT__FLOAT8_INTERVAL:
			return AGGREGATE_FUNCTION_PERCENTILE_CONT_ARRAY;
		case F_MODE:
			return AGGREGATE_FUNCTION_MODE;
		case F_RANK_ANY:
			return AGGREGATE_FUNCTION_RANK;
		case F_DENSE_RANK_ANY:
			return AGGREGATE_FUNCTION_DENSE_RANK;
		case F_PERCENT_RANK_ANY:
			return AGGREGATE_FUNCTION_PERCENT_RANK;
		case F_CUME_DIST_ANY:
			return AGGREGATE_FUNCTION_CUME_DIST;
		case F_ARRAY_AGG_ANYNONARRAY:
			return AGGREGATE_FUNCTION_ARRAY_AGG;
		case F_STRING_AGG_TEXT_TEXT:
		case F_STRING_AGG_BYTEA_BYTEA:
			return AGGREGATE_FUNCTION_STRING_AGG;
		default:
			return AGGREGATE_FUNCTION_NONE;
	}
}

/* Returns which of PostgreSQL's functions of moments this is, or of the functions above. */
static AggregateFunction
core_moments_function(Oid function)
{
	switch (function)
	{
		case F_VAR_POP_INT2:
		case F_VAR_POP_INT4:
		case F_VAR_POP_INT8:
		case F_VAR_POP_FLOAT4:
		case F_VAR_POP_FLOAT8:
		case F_VAR_POP_NUMERIC:
			return AGGREGATE_FUNCTION_VAR_POP;
		case F_VAR_SAMP_INT2:
		case F_VAR_SAMP_INT4:
		case F_VAR_SAMP_INT8:
		case F_VAR_SAMP_FLOAT4:
		case F_VAR_SAMP_FLOAT8:
		case F_VAR_SAMP_NUMERIC:
		case F_VARIANCE_INT2:
		case F_VARIANCE_INT4:
		case F_VARIANCE_INT8:
		case F_VARIANCE_FLOAT4:
		case F_VARIANCE_FLOAT8:
		case F_VARIANCE_NUMERIC:
			return AGGREGATE_FUNCTION_VAR_SAMP;
		case F_STDDEV_POP_INT2:
		case F_STDDEV_POP_INT4:
		case F_STDDEV_POP_INT8:
		case F_STDDEV_POP_FLOAT4:
		case F_STDDEV_POP_FLOAT8:
		case F_STDDEV_POP_NUMERIC:
			return AGGREGATE_FUNCTION_STDDEV_POP;
		case F_STDDEV_SAMP_INT2:
		case F_STDDEV_SAMP_INT4:
		case F_STDDEV_SAMP_INT8:
		case F_STDDEV_SAMP_FLOAT4:
		case F_STDDEV_SAMP_FLOAT8:
		case F_STDDEV_SAMP_NUMERIC:
		case F_STDDEV_INT2:
		case F_STDDEV_INT4:
		case F_STDDEV_INT8:
		case F_STDDEV_FLOAT4:
		case F_STDDEV_FLOAT8:
		case F_STDDEV_NUMERIC:
			return AGGREGATE_FUNCTION_STDDEV_SAMP;
		case F_BIT_AND_INT2:
		case F_BIT_AND_INT4:
		case F_BIT_AND_INT8:
			return AGGREGATE_FUNCTION_BIT_AND;
		case F_BIT_OR_INT2:
		case F_BIT_OR_INT4:
		case F_BIT_OR_INT8:
			return AGGREGATE_FUNCTION_BIT_OR;
		case F_BIT_XOR_INT2:
		case F_BIT_XOR_INT4:
		case F_BIT_XOR_INT8:
			return AGGREGATE_FUNCTION_BIT_XOR;
		default:
			return core_ordered_function(function);
	}
}

AggregateFunction
aggregate_core_function(Oid function)
{
	switch (function)
	{
		case F_COUNT_:
			return AGGREGATE_FUNCTION_COUNT_ROWS;
		case F_COUNT_ANY:
		case F_REGR_COUNT:
			return AGGREGATE_FUNCTION_COUNT;
		case F_CORR:
		case F_COVAR_POP:
		case F_COVAR_SAMP:
		case F_REGR_AVGX:
		case F_REGR_AVGY:
		case F_REGR_INTERCEPT:
		case F_REGR_R2:
		case F_REGR_SLOPE:
		case F_REGR_SXX:
		case F_REGR_SXY:
		case F_REGR_SYY:
			return AGGREGATE_FUNCTION_REGRESSION;
		case F_SUM_INT2:
		case F_SUM_INT4:
		case F_SUM_INT8:
		case F_SUM_FLOAT4:
		case F_SUM_FLOAT8:
		case F_SUM_NUMERIC:
			return AGGREGATE_FUNCTION_SUM;
		case F_AVG_INT2:
		case F_AVG_INT4:
		case F_AVG_INT8:
		case F_AVG_FLOAT4:
		case F_AVG_FLOAT8:
		case F_AVG_NUMERIC:
			return AGGREGATE_FUNCTION_AVG;
		case F_MIN_INT2:
		case F_MIN_INT4:
		case F_MIN_INT8:
		case F_MIN_FLOAT4:
		case F_MIN_FLOAT8:
		case F_MIN_NUMERIC:
		case F_MIN_OID:
		case F_MIN_ANYENUM:
		case F_MIN_DATE:
		case F_MIN_TIME:
		case F_MIN_TIMESTAMP:
		case F_MIN_TIMESTAMPTZ:
		case F_MIN_TEXT:
		case F_MIN_BPCHAR:
		case F_MIN_INET:
		case F_MIN_MONEY:
		case F_MIN_PG_LSN:
		case F_MIN_TID:
		case F_MIN_TIMETZ:
		case F_MIN_XID8:
#ifdef F_MIN_BYTEA
		case F_MIN_BYTEA:
#endif
		case F_BOOL_AND:
		case F_EVERY:
			return AGGREGATE_FUNCTION_MIN;
		case F_MAX_INT2:
		case F_MAX_INT4:
		case F_MAX_INT8:
		case F_MAX_FLOAT4:
		case F_MAX_FLOAT8:
		case F_MAX_NUMERIC:
		case F_MAX_OID:
		case F_MAX_ANYENUM:
		case F_MAX_DATE:
		case F_MAX_TIME:
		case F_MAX_TIMESTAMP:
		case F_MAX_TIMESTAMPTZ:
		case F_MAX_TEXT:
		case F_MAX_BPCHAR:
		case F_MAX_INET:
		case F_MAX_MONEY:
		case F_MAX_PG_LSN:
		case F_MAX_TID:
		case F_MAX_TIMETZ:
		case F_MAX_XID8:
#ifdef F_MAX_BYTEA
		case F_MAX_BYTEA:
#endif
		case F_BOOL_OR:
			return AGGREGATE_FUNCTION_MAX;
		default:
			return core_moments_function(function);
	}
}
