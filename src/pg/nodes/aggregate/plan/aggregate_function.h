/*
 * aggregate_function.h
 *		The aggregate functions that the node knows.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PLAN_AGGREGATE_FUNCTION_H
#define HPSORT_PG_NODES_AGGREGATE_PLAN_AGGREGATE_FUNCTION_H

typedef enum AggregateFunction
{
	AGGREGATE_FUNCTION_NONE,	/* not answered */
	AGGREGATE_FUNCTION_CORE,	/* not known: by its own functions, row by row */

	/* of rows, or of a column's values in any order */
	AGGREGATE_FUNCTION_COUNT_ROWS,	/* count(*) */
	AGGREGATE_FUNCTION_COUNT,
	AGGREGATE_FUNCTION_SUM,
	AGGREGATE_FUNCTION_AVG,
	AGGREGATE_FUNCTION_MIN,
	AGGREGATE_FUNCTION_MAX,

	/* corr, covar_pop, regr_slope and their kin: from the totals of two floats */
	AGGREGATE_FUNCTION_REGRESSION,

	/* from exact moments of integers in any order (results/moments.h) */
	AGGREGATE_FUNCTION_VAR_POP,
	AGGREGATE_FUNCTION_VAR_SAMP,
	AGGREGATE_FUNCTION_STDDEV_POP,
	AGGREGATE_FUNCTION_STDDEV_SAMP,
	AGGREGATE_FUNCTION_BIT_AND,
	AGGREGATE_FUNCTION_BIT_OR,
	AGGREGATE_FUNCTION_BIT_XOR,

	/* of a column's values in order; percentiles with one fraction or an array */
	AGGREGATE_FUNCTION_PERCENTILE_DISC,
	AGGREGATE_FUNCTION_PERCENTILE_DISC_ARRAY,
	AGGREGATE_FUNCTION_PERCENTILE_CONT,
	AGGREGATE_FUNCTION_PERCENTILE_CONT_ARRAY,
	AGGREGATE_FUNCTION_MODE,
	AGGREGATE_FUNCTION_RANK,
	AGGREGATE_FUNCTION_DENSE_RANK,
	AGGREGATE_FUNCTION_PERCENT_RANK,
	AGGREGATE_FUNCTION_CUME_DIST,
	AGGREGATE_FUNCTION_ARRAY_AGG,
	AGGREGATE_FUNCTION_STRING_AGG,

	/* hpsort's own: see aggref_has_state */
	AGGREGATE_FUNCTION_HPSORT_AGG,
	AGGREGATE_FUNCTION_HPSORT_RUNS_AGG,
	AGGREGATE_FUNCTION_HPSORT_KEYS_AGG,
	AGGREGATE_FUNCTION_MULTISET_AGG
} AggregateFunction;

/*
 * Returns which of PostgreSQL's functions this is, whatever its arguments; AGGREGATE_FUNCTION_NONE
 * if it is none that is known.
 */
extern AggregateFunction aggregate_core_function(Oid function);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PLAN_AGGREGATE_FUNCTION_H */
