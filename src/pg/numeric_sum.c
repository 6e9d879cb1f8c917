/*
 * numeric_sum.c
 *		Sums of 128 bits as numeric (see numeric_sum.h).
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
