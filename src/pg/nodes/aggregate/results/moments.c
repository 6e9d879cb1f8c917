/*
 * moments.c
 *		ValueMoments (see moments.h): their sums, and what aggregates make of them.
 */
#include "postgres.h"

#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "pg/nodes/aggregate/results/moments.h"
#include "pg/numeric_sum.h"

/* Adds to the sum of squares a number below 2^192: high * 2^128 + low. */
static void
add_squares(ValueMoments *moments, uint64 high, ValueSquares low)
{
	moments->squares += low;
	moments->carries += high + (moments->squares < low);
}

void
value_moments_add(ValueMoments *moments, const int64 *values, const int64 *counts, size_t nruns)
{
	for (size_t i = 0; i < nruns; i++)
	{
		uint64		value = (uint64) values[i];
		uint64		count = counts ? (uint64) counts[i] : 1;
		ValueSquares square = (ValueSquares) ((__int128) values[i] * values[i]);
		ValueSquares low = (ValueSquares) (uint64) square * count;
		ValueSquares high = (square >> 64) * count;

		add_squares(moments, (uint64) (high >> 64), high << 64);
		add_squares(moments, 0, low);
		moments->ones |= value;
		moments->zeros |= ~value;
		if (count & 1)
			moments->odd ^= value;
	}
}

void
value_moments_combine(ValueMoments *moments, const ValueMoments *other)
{
	add_squares(moments, other->carries, other->squares);
	moments->ones |= other->ones;
	moments->zeros |= other->zeros;
	moments->odd ^= other->odd;
}

int64
value_moments_bits(const ValueMoments *moments, AggregateFunction function)
{
	if (function == AGGREGATE_FUNCTION_BIT_AND)
		return (int64) ~moments->zeros;
	return (int64) (function == AGGREGATE_FUNCTION_BIT_OR ? moments->ones : moments->odd);
}

/* Returns the sum of squares as numeric: 96 bits, and what is above them. */
static Datum
sum_of_squares(const ValueMoments *moments)
{
	__int128	unit = (__int128) 1 << 96;
	ValueSquares high = (ValueSquares) moments->carries << 32 | moments->squares >> 96;
	Datum		low = numeric_from_sum((__int128) moments->squares & (unit - 1));

	if (high == 0)
		return low;
	return DirectFunctionCall2(numeric_add, low,
							   DirectFunctionCall2(numeric_mul, numeric_from_sum((__int128) high),
												   numeric_from_sum(unit)));
}

/* Returns a numeric without fraction digits times 10^-scale, with scale fraction digits. */
static Datum
in_units(Datum sum, int scale)
{
	if (scale == 0)
		return sum;
	return DirectFunctionCall2(numeric_mul, sum,
							   NumericGetDatum(int64_div_fast_to_numeric(1, scale)));
}

Datum
value_moments_variance(const ValueMoments *moments, AggregateFunction function, int64 n,
					   __int128 sum, int scale, bool *isnull)
{
	bool		sample = function == AGGREGATE_FUNCTION_VAR_SAMP ||
	function == AGGREGATE_FUNCTION_STDDEV_SAMP;
	Datum		variance;

	*isnull = sample && n == 1;
	if (*isnull)
		return (Datum) 0;
	variance = numeric_variance(numeric_from_sum(n), in_units(numeric_from_sum(sum), scale),
								in_units(sum_of_squares(moments), 2 * scale), sample);
	if (function == AGGREGATE_FUNCTION_VAR_POP || function == AGGREGATE_FUNCTION_VAR_SAMP)
		return variance;
	return numeric_deviation(variance);
}
