/*
 * numeric_sum.h
 *		Sums of 128 bits as numeric, and variances of exact sums.
 */
#ifndef HPSORT_PG_NUMERIC_SUM_H
#define HPSORT_PG_NUMERIC_SUM_H

/* Returns the numeric that a sum of 128 bits becomes in core: without fraction digits. */
extern Datum numeric_from_sum(__int128 sum);

/*
 * Returns the variance of n values with this sum and sum of squares, numerics without fraction
 * digits, as numeric_stddev_internal of core's numeric.c computes it: of a sample, which has two
 * values at least, or of a population, which has one.  A variance of 0 has no fraction digits.
 */
extern Datum numeric_variance(Datum n, Datum sum, Datum squares, bool sample);

/*
 * Returns the standard deviation, the square root of a variance, as core does: with as many
 * fraction digits as the variance has.
 */
extern Datum numeric_deviation(Datum variance);

#endif							/* HPSORT_PG_NUMERIC_SUM_H */
