/*
 * float_totals.h
 *		What sum, avg, min, max, variance and their kin need to know of a group's floats.
 *
 * Sums of floats depend on the order in which values are added.  Here values are added one by one
 * in the order of the rows, in the operations of PostgreSQL's transition functions (float.c), so
 * that results are equal to the last bit, and so are errors of overflow.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_RESULTS_FLOAT_TOTALS_H
#define HPSORT_PG_NODES_AGGREGATE_RESULTS_FLOAT_TOTALS_H

#include <math.h>

#include "utils/float.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/plan/plan.h"

/* Which parts of the totals are wanted, together; the last one alone, of two numbers. */
#define FLOAT_EXTREMES	1		/* min and max */
#define FLOAT_SUM		2		/* of sum() */
#define FLOAT_SQUARES	4		/* of avg, variance and their kin */
#define FLOAT_REGRESSION 8		/* of corr and its kin */

/*
 * Of one number; sums of squares are Youngs and Cramer's, of the differences to the mean.  The
 * parts that are wanted most come first, so that totals may end behind any of them.
 */
typedef struct FloatTotals
{
	int64		n;				/* values added */
	float8		sx;				/* as float8_accum() adds up, or float8_regr_accum() */
	float8		sxx;
	union
	{
		struct
		{
			float8		sum;	/* as sum() adds up, of float4 in single precision */
			int64		min;	/* values as batches hold them; of equal ones the last, as core's */
			int64		max;
		}			one;
		float8		two[COMPAT_REGRESSION_STATE - 3];	/* behind n, sx and sxx in the state of
														 * float8_regr_accum() */
	}			of;
} FloatTotals;

/* Which float8 of its state is which in two. */
typedef enum RegressionTotal
{
	REGRESSION_SY,
	REGRESSION_SYY,
	REGRESSION_SXY,
	REGRESSION_COMMON_X,		/* the value that all have been equal to; NaN: none.  Of PG 19 */
	REGRESSION_COMMON_Y
} RegressionTotal;

/* The sum of no values: adding a value to it gives this value. */
#define FLOAT_NO_SUM (-0.0)

/*
 * Returns the bytes of totals that have the wanted parts; 0: none.  FLOAT_SUM alone is the sum
 * alone, a float8.
 */
static inline size_t
float_totals_size(int parts)
{
	if (parts == FLOAT_SUM)
		return sizeof(float8);
	if (parts & FLOAT_REGRESSION)
		return sizeof(FloatTotals);
	if (parts & FLOAT_EXTREMES)
		return offsetof(FloatTotals, of.one.max) + sizeof(int64);
	if (parts & FLOAT_SUM)
		return offsetof(FloatTotals, of.one.min);
	return parts ? offsetof(FloatTotals, of) : 0;
}

/* Returns which parts an aggregate call of floats wants; 0: none. */
extern int	float_totals_parts(const AggregateAnswer *answer);

/*
 * Returns the result of a call from its totals, of n > 0, in the current memory context.  final is
 * the call's final function in core, if it has one.
 */
extern Datum float_totals_result(const FloatTotals *totals, const AggregateAnswer *answer,
								 FmgrInfo *final, bool *isnull);

/* Returns what sum() is with one more value: the operator + of the type. */
static pg_attribute_always_inline float8
float_sum_of(float8 before, ColumnKind kind, float8 value)
{
	float8		sum = before + value;

	if (kind == COLUMN_KIND_FLOAT4)
		sum = (float4) before + (float4) value;
	if (unlikely(isinf(sum)) && !isinf(before) && !isinf(value))
		float_overflow_error();
	return sum;
}

/* Does what float8_accum() does, in its order. */
static pg_attribute_always_inline void
float_totals_accumulate(FloatTotals *totals, float8 value)
{
	float8		before = (float8) totals->n;
	float8		n = before + 1.0;
	float8		sx = totals->sx + value;
	float8		sxx = totals->sxx;

	if (before > 0.0)
	{
		float8		tmp = value * n - sx;

		sxx += tmp * tmp / (n * before);
		if (unlikely(isinf(sx) || isinf(sxx)))
		{
			if (!isinf(totals->sx) && !isinf(value))
				float_overflow_error();
			sxx = get_float8_nan();
		}
	}
	else if (isnan(value) || isinf(value))
		sxx = get_float8_nan();
	totals->sx = sx;
	totals->sxx = sxx;
}

/* Does what core's function for the smaller, or larger, of two does: of equal ones the second. */
static pg_attribute_always_inline void
float_totals_extremes(FloatTotals *totals, ColumnKind kind, int64 value)
{
	int64		equals = column_value_equals(kind, value);

	if (totals->n == 0 || equals <= column_value_equals(kind, totals->of.one.min))
		totals->of.one.min = value;
	if (totals->n == 0 || equals >= column_value_equals(kind, totals->of.one.max))
		totals->of.one.max = value;
}

/*
 * Adds to a sum of squares, unless all values have been equal in a version that looks for this.  Of
 * products it is enough that all X, or all Y, have been equal, and none NaN or infinite.
 */
static pg_attribute_always_inline float8
regression_add(float8 sum, bool differ, float8 product)
{
	return differ || COMPAT_REGRESSION_STATE == 6 ? sum + product : sum;
}

/* Does what float8_regr_accum() does, in its order. */
static pg_attribute_always_inline void
float_totals_regression(FloatTotals *totals, float8 y, float8 x)
{
	float8	   *two = totals->of.two;
	float8		before = (float8) totals->n;
	float8		n = before + 1.0;
	float8		sx = totals->sx + x;
	float8		sy = two[REGRESSION_SY] + y;

	if (before > 0.0)
	{
		float8		dx = x * n - sx;
		float8		dy = y * n - sy;
		float8		scale = 1.0 / (n * before);
		float8		dxy = dx * dy * scale;
		bool		xs = true;
		bool		ys = true;
		float8		sxx;
		float8		syy;
		float8		sxy;

#if COMPAT_REGRESSION_STATE > 6
		if (x != two[REGRESSION_COMMON_X] || isnan(x))
			two[REGRESSION_COMMON_X] = get_float8_nan();
		if (y != two[REGRESSION_COMMON_Y] || isnan(y))
			two[REGRESSION_COMMON_Y] = get_float8_nan();
		xs = isnan(two[REGRESSION_COMMON_X]);
		ys = isnan(two[REGRESSION_COMMON_Y]);
#endif
		sxx = regression_add(totals->sxx, xs, dx * dx * scale);
		syy = regression_add(two[REGRESSION_SYY], ys, dy * dy * scale);
		sxy = regression_add(two[REGRESSION_SXY], (xs && ys) || isnan(dxy), dxy);
		if (unlikely(isinf(sx) || isinf(sxx) || isinf(sy) || isinf(syy) || isinf(sxy)))
		{
			bool		finite_x = !isinf(totals->sx) && !isinf(x);
			bool		finite_y = !isinf(two[REGRESSION_SY]) && !isinf(y);

			if (((isinf(sx) || isinf(sxx)) && finite_x) ||
				((isinf(sy) || isinf(syy)) && finite_y) ||
				(isinf(sxy) && finite_x && finite_y))
				float_overflow_error();
			sxx = isinf(sxx) ? get_float8_nan() : sxx;
			syy = isinf(syy) ? get_float8_nan() : syy;
			sxy = isinf(sxy) ? get_float8_nan() : sxy;
		}
		totals->sxx = sxx;
		two[REGRESSION_SYY] = syy;
		two[REGRESSION_SXY] = sxy;
	}
	else
	{
		if (isnan(x) || isinf(x))
			totals->sxx = two[REGRESSION_SXY] = get_float8_nan();
		if (isnan(y) || isinf(y))
			two[REGRESSION_SYY] = two[REGRESSION_SXY] = get_float8_nan();
#if COMPAT_REGRESSION_STATE > 6
		two[REGRESSION_COMMON_X] = x;
		two[REGRESSION_COMMON_Y] = y;
#endif
	}
	totals->sx = sx;
	two[REGRESSION_SY] = sy;
	totals->n++;
}

/* Returns the number that a batch holds. */
static pg_attribute_always_inline float8
float_number(ColumnKind kind, int64 value)
{
	Datum		datum = column_datum(kind, value);

	return kind == COLUMN_KIND_FLOAT4 ? DatumGetFloat4(datum) : DatumGetFloat8(datum);
}

/* Returns a sum, which is FLOAT_NO_SUM at first, and a value, as a batch holds it. */
static pg_attribute_always_inline float8
float_sum_add(float8 sum, ColumnKind kind, int64 value)
{
	return float_sum_of(sum, kind, float_number(kind, value));
}

/*
 * Adds a value, as a batch holds it, to the wanted parts.  *totals is zeros at first.  kind and
 * parts are constants where a loop calls the function, so that the compiler makes a loop for each.
 */
static pg_attribute_always_inline void
float_totals_add(FloatTotals *totals, ColumnKind kind, int parts, int64 value)
{
	float8		number = float_number(kind, value);

	if (parts & FLOAT_EXTREMES)
		float_totals_extremes(totals, kind, value);
	if (parts & FLOAT_SUM)
		totals->of.one.sum = float_sum_of(totals->n == 0 ? FLOAT_NO_SUM : totals->of.one.sum, kind,
										  number);
	if (parts & FLOAT_SQUARES)
		float_totals_accumulate(totals, number);
	totals->n++;
}

#endif							/* HPSORT_PG_NODES_AGGREGATE_RESULTS_FLOAT_TOTALS_H */
