/*
 * moments.h
 *		ValueMoments: what variances and aggregates of bits need to know of a group's values.
 *
 * Sums and squares are exact, so that a variance has core's digits.  A square of an int8 has up to
 * 126 bits, and their sum up to 190.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_RESULTS_MOMENTS_H
#define HPSORT_PG_NODES_AGGREGATE_RESULTS_MOMENTS_H

#include "pg/nodes/aggregate/plan/plan.h"

/* Aligned as palloc aligns memory, which is less than C would. */
typedef unsigned __int128 ValueSquares pg_attribute_aligned (MAXIMUM_ALIGNOF);

/* Of no values all members are 0. */
typedef struct ValueMoments
{
	ValueSquares squares;		/* their sum, modulo 2^128 */
	uint64		carries;		/* the sum divided by 2^128 */
	uint64		ones;			/* bits that are 1 in one of the values at least */
	uint64		zeros;			/* bits that are 0 in one of them */
	uint64		odd;			/* bits that are 1 in an odd number of them */
} ValueMoments;

/* Adds one value. */
static pg_attribute_always_inline void
value_moments_put(ValueMoments *moments, int64 value)
{
	ValueSquares square = (ValueSquares) ((__int128) value * value);

	moments->squares += square;
	moments->carries += moments->squares < square;
	moments->ones |= (uint64) value;
	moments->zeros |= ~(uint64) value;
	moments->odd ^= (uint64) value;
}

/* Adds runs; without counts, each value once. */
extern void value_moments_add(ValueMoments *moments, const int64 *values, const int64 *counts,
							  size_t nruns);

/* Adds what is known of other values. */
extern void value_moments_combine(ValueMoments *moments, const ValueMoments *other);

/* Returns what bit_and, bit_or or bit_xor of one value at least is. */
extern int64 value_moments_bits(const ValueMoments *moments, AggregateFunction function);

/*
 * Returns a variance or standard deviation, of n > 0 values with this sum, as core computes it from
 * exact sums; NULL if a sample is of one value.  Values are integers, or numerics in units of
 * 10^-scale.
 */
extern Datum value_moments_variance(const ValueMoments *moments, AggregateFunction function,
									int64 n, __int128 sum, int scale, bool *isnull);

#endif							/* HPSORT_PG_NODES_AGGREGATE_RESULTS_MOMENTS_H */
