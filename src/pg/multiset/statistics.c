/*
 * statistics.c
 *		sum(), avg(), variance(), stddev() and mode() of a multiset: digit for digit
 *		what PostgreSQL's aggregates return of its keys.
 *
 * Sums are of 128 bits.  Sums and their quotients become numeric by PostgreSQL's own functions,
 * in the steps of numeric_stddev_internal() in its numeric.c.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/fmgrprotos.h"

#include "pg/multiset/value.h"
#include "pg/numeric_sum.h"

PG_FUNCTION_INFO_V1(int4multiset_sum_of);
PG_FUNCTION_INFO_V1(int4multiset_avg);
PG_FUNCTION_INFO_V1(int4multiset_variance);
PG_FUNCTION_INFO_V1(int4multiset_stddev);
PG_FUNCTION_INFO_V1(int4multiset_mode);

/*
 * A multiset's number of keys, sum, and sum of squares.  None overflows: 2^63 keys have squares
 * of 2^62.
 */
typedef struct Sums
{
	uint64		n;
	__int128	sum;
	__int128	squares;
} Sums;

/* Sets *sums to the sums of the keys of a datum, each as often as it occurs. */
static void
add_up(Datum datum, Sums *sums)
{
	MultisetReader reader;

	multiset_reader_open(&reader, datum);
	memset(sums, 0, sizeof(*sums));
	sums->n = reader.m.total;
	while (multiset_reader_next(&reader))
		for (uint32 i = 0; i < reader.block.n; i++)
		{
			int64		key = reader.block.keys[i];
			int64		count = (int64) reader.block.counts[i];

			sums->sum += (__int128) key * count;
			sums->squares += (__int128) (key * key) * count;
		}
}

/* sum(int4multiset) returns int8; NULL of an empty one.  A sum that is no bigint is an error. */
Datum
int4multiset_sum_of(PG_FUNCTION_ARGS)
{
	Sums		sums;

	add_up(PG_GETARG_DATUM(0), &sums);
	if (sums.n == 0)
		PG_RETURN_NULL();
	if (sums.sum < PG_INT64_MIN || sums.sum > PG_INT64_MAX)
		multiset_bigint_error();
	PG_RETURN_INT64((int64) sums.sum);
}

/* avg(int4multiset) returns numeric: the mean of all keys; NULL of an empty one */
Datum
int4multiset_avg(PG_FUNCTION_ARGS)
{
	Sums		sums;

	add_up(PG_GETARG_DATUM(0), &sums);
	if (sums.n == 0)
		PG_RETURN_NULL();
	return DirectFunctionCall2(numeric_div, numeric_from_sum(sums.sum), numeric_from_sum(sums.n));
}

/* Returns the variance or the standard deviation of a sample; NULL of fewer than two keys. */
static Datum
sample_spread(FunctionCallInfo fcinfo, bool deviation)
{
	Sums		sums;
	Datum		variance;

	add_up(PG_GETARG_DATUM(0), &sums);
	if (sums.n < 2)
		PG_RETURN_NULL();
	variance = numeric_variance(numeric_from_sum(sums.n), numeric_from_sum(sums.sum),
								numeric_from_sum(sums.squares), true);
	return deviation ? numeric_deviation(variance) : variance;
}

/* variance(int4multiset) returns numeric */
Datum
int4multiset_variance(PG_FUNCTION_ARGS)
{
	return sample_spread(fcinfo, false);
}

/* stddev(int4multiset) returns numeric */
Datum
int4multiset_stddev(PG_FUNCTION_ARGS)
{
	return sample_spread(fcinfo, true);
}

/* mode(int4multiset) returns int4: of the most frequent the smallest; NULL of an empty one */
Datum
int4multiset_mode(PG_FUNCTION_ARGS)
{
	MultisetReader reader;
	uint64		most = 0;
	int32		mode = 0;

	multiset_reader_open(&reader, PG_GETARG_DATUM(0));
	if (reader.m.total == 0)
		PG_RETURN_NULL();
	while (multiset_reader_next(&reader))
		for (uint32 i = 0; i < reader.block.n; i++)
			if (reader.block.counts[i] > most)
			{
				most = reader.block.counts[i];
				mode = reader.block.keys[i];
			}
	PG_RETURN_INT32(mode);
}
