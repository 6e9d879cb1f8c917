/*
 * aggregate_function.c
 *		PostgreSQL's aggregate functions by their OIDs (see aggregate_function.h).
 */
#include "postgres.h"

#include "utils/fmgroids.h"

#include "pg/nodes/aggregate/plan/aggregate_function.h"

/* After case: the aggregates of a name that take these types. */
#define OF_INTEGERS(name) F_##name##_INT2: case F_##name##_INT4: case F_##name##_INT8
#define OF_NUMBERS(name) \
	OF_INTEGERS(name): \
	case F_##name##_FLOAT4: case F_##name##_FLOAT8: case F_##name##_NUMERIC

/* After case: all of min, or of max, that are known. */
#define OF_ORDERED(name) \
	OF_NUMBERS(name): \
	case F_##name##_OID: case F_##name##_ANYENUM: case F_##name##_TEXT: \
	case F_##name##_BPCHAR: case F_##name##_DATE: case F_##name##_TIME: \
	case F_##name##_TIMETZ: case F_##name##_TIMESTAMP: case F_##name##_TIMESTAMPTZ: \
	case F_##name##_INET: case F_##name##_MONEY: case F_##name##_PG_LSN: \
	case F_##name##_TID: case F_##name##_XID8

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
		case OF_NUMBERS(SUM):
			return AGGREGATE_FUNCTION_SUM;
		case OF_NUMBERS(AVG):
			return AGGREGATE_FUNCTION_AVG;
		case OF_ORDERED(MIN):
#ifdef F_MIN_BYTEA
		case F_MIN_BYTEA:
#endif
		case F_BOOL_AND:
		case F_EVERY:
			return AGGREGATE_FUNCTION_MIN;
		case OF_ORDERED(MAX):
#ifdef F_MAX_BYTEA
		case F_MAX_BYTEA:
#endif
		case F_BOOL_OR:
			return AGGREGATE_FUNCTION_MAX;
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
		case OF_NUMBERS(VAR_POP):
			return AGGREGATE_FUNCTION_VAR_POP;
		case OF_NUMBERS(VAR_SAMP):
		case OF_NUMBERS(VARIANCE):
			return AGGREGATE_FUNCTION_VAR_SAMP;
		case OF_NUMBERS(STDDEV_POP):
			return AGGREGATE_FUNCTION_STDDEV_POP;
		case OF_NUMBERS(STDDEV_SAMP):
		case OF_NUMBERS(STDDEV):
			return AGGREGATE_FUNCTION_STDDEV_SAMP;
		case OF_INTEGERS(BIT_AND):
			return AGGREGATE_FUNCTION_BIT_AND;
		case OF_INTEGERS(BIT_OR):
			return AGGREGATE_FUNCTION_BIT_OR;
		case OF_INTEGERS(BIT_XOR):
			return AGGREGATE_FUNCTION_BIT_XOR;
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
