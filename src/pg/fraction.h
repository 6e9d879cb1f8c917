/*
 * fraction.h
 *		Which rows percentile_disc() and percentile_cont() ask for, and what
 *		percentile_cont() makes of two of them: PostgreSQL's own arithmetic.
 *
 * Rows are numbered from 0, in order; n is how many there are, at least one.
 */
#ifndef HPSORT_PG_FRACTION_H
#define HPSORT_PG_FRACTION_H

#include <math.h>

/* Raises an error unless a fraction is between 0 and 1. */
static inline void
fraction_check(double fraction)
{
	if (fraction < 0 || fraction > 1 || isnan(fraction))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("percentile value %g is not between 0 and 1", fraction)));
}

/* Returns the row of percentile_disc. */
static inline int64
fraction_row(double fraction, int64 n)
{
	double		row = ceil(fraction * n);

	/* n may have been rounded up beyond 2^53. */
	if (row >= n)
		return n - 1;
	return Max((int64) row, 1) - 1;
}

/*
 * Sets *first and *second to the rows between which percentile_cont interpolates.  Returns how
 * far the result is from the first value to the second: 0 where the rows are the same.
 */
static inline double
fraction_rows(double fraction, int64 n, int64 *first, int64 *second)
{
	double		row = fraction * (n - 1);

	if (row >= n - 1)
	{
		*first = *second = n - 1;
		return 0;
	}
	*first = (int64) floor(row);
	*second = (int64) ceil(row);
	return *first == *second ? 0 : row - *first;
}

/*
 * Returns the value between two values, in the operations of percentile_cont and in their
 * order.
 */
static inline float8
fraction_between(float8 first, float8 second, double proportion)
{
	return proportion == 0 ? first : first + (proportion * (second - first));
}

#endif							/* HPSORT_PG_FRACTION_H */
