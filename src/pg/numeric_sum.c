/*
 * numeric_sum.c
 *		Sums of 128 bits as numeric, and variances of them (see numeric_sum.h).
 */
#include "postgres.h"

#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "pg/numeric_sum.h"

/*
 * A sum of more than 64 bits is put together of parts.  They have no fraction digits, and
 * neither has the result.
 */
Datum
numeric_from_sum(__int128 sum)
{
	Datum		base;
	Datum		numeric;
	Datum		low;

	if (sum >= PG_INT64_MIN && sum <= PG_INT64_MAX)
		return NumericGetDatum(int64_to_numeric((int64) sum));
	base = NumericGetDatum(int64_to_numeric(INT64CONST(1) << 32));
	numeric = NumericGetDatum(int64_to_numeric((int64) (sum >> 64)));
	numeric = DirectFunctionCall2(numeric_mul, numeric, base);
	numeric = DirectFunctionCall2(numeric_add, numeric,
								  NumericGetDatum(int64_to_numeric((int64) ((uint64) sum >> 32))));
	numeric = DirectFunctionCall2(numeric_mul, numeric, base);
	low = NumericGetDatum(int64_to_numeric((int64) ((uint64) sum & 0xFFFFFFFF)));
	return DirectFunctionCall2(numeric_add, numeric, low);
}

/* (N * sum of squares - square of sum) / (N * (N - 1)), or N * N, rounded as numeric_div rounds. */
Datum
numeric_variance(Datum n, Datum sum, Datum squares, bool sample)
{
	Datum		zero = numeric_from_sum(0);
	Datum		others = sample ? DirectFunctionCall2(numeric_sub, n, numeric_from_sum(1)) : n;
	Datum		numerator = DirectFunctionCall2(numeric_sub,
												DirectFunctionCall2(numeric_mul, n, squares),
												DirectFunctionCall2(numeric_mul, sum, sum));

	if (DatumGetInt32(DirectFunctionCall2(numeric_cmp, numerator, zero)) <= 0)
		return zero;
	return DirectFunctionCall2(numeric_div, numerator, DirectFunctionCall2(numeric_mul, n, others));
}

/*
 * numeric_sqrt() returns at least as many.  Where it returns more, its last digit was rounded
 * already.  Rounding once more may go up from just below a half, and then the result is one too
 * large in its last digit.  The square of what is half a digit less shows whether it has.
 */
Datum
numeric_deviation(Datum variance)
{
	Datum		scale = DirectFunctionCall1(numeric_scale, variance);
	Datum		root;
	Datum		digit;
	Datum		below;

	if (DatumGetInt32(DirectFunctionCall2(numeric_cmp, variance, numeric_from_sum(0))) == 0)
		return variance;
	root = DirectFunctionCall2(numeric_round, DirectFunctionCall1(numeric_sqrt, variance), scale);

	/* 10 to the power of -scale. */
	digit = NumericGetDatum(int64_div_fast_to_numeric(1, DatumGetInt32(scale)));
	below = DirectFunctionCall2(numeric_sub, root,
								DirectFunctionCall2(numeric_mul, digit,
													NumericGetDatum(int64_div_fast_to_numeric(5,
																							  1))));
	if (DatumGetInt32(DirectFunctionCall2(numeric_cmp,
										  DirectFunctionCall2(numeric_mul, below, below),
										  variance)) > 0)
		root = DirectFunctionCall2(numeric_sub, root, digit);
	return root;
}
