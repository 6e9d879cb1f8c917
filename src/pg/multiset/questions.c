/*
 * questions.c
 *		Questions about a multiset that few of its bytes answer: how many keys, the
 *		nth, how many are below one, and percentile_disc(), percentile_cont() and
 *		median().  A stored value is read by slices.
 *
 * Percentiles have the results, NULLs and errors of PostgreSQL's aggregates over the keys.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"

#include "pg/fraction.h"
#include "pg/multiset/value.h"

PG_FUNCTION_INFO_V1(int4multiset_cardinality);
PG_FUNCTION_INFO_V1(int4multiset_distinct_count);
PG_FUNCTION_INFO_V1(int4multiset_min);
PG_FUNCTION_INFO_V1(int4multiset_max);
PG_FUNCTION_INFO_V1(int4multiset_nth);
PG_FUNCTION_INFO_V1(int4multiset_rank);
PG_FUNCTION_INFO_V1(int4multiset_cume_dist);
PG_FUNCTION_INFO_V1(int4multiset_count_of);
PG_FUNCTION_INFO_V1(int4multiset_count_between);
PG_FUNCTION_INFO_V1(hpsort_support_multiset_contains);
PG_FUNCTION_INFO_V1(int4multiset_percentile_disc);
PG_FUNCTION_INFO_V1(int4multiset_percentile_disc_array);
PG_FUNCTION_INFO_V1(int4multiset_percentile_cont);
PG_FUNCTION_INFO_V1(int4multiset_percentile_cont_array);
PG_FUNCTION_INFO_V1(int4multiset_median);

/* Where a key is among those of a multiset. */
typedef struct Rank
{
	uint64		below;			/* keys below it */
	uint64		equal;			/* keys equal to it */
	uint64		total;			/* keys in all */
} Rank;

/* Returns where a key is in argument 0, a multiset, whether it has the key or not. */
static Rank
rank_of(FunctionCallInfo fcinfo, int32 key)
{
	MultisetSlices slices;
	SortError	err;
	Rank		rank;

	multiset_value_open_sliced(PG_GETARG_DATUM(0), &slices);
	pg_sort_check(multiset_rank(&slices.m, key, &rank.below, &rank.equal, &err), &err);
	rank.total = slices.m.total;
	return rank;
}

/*
 * Returns the key of argument 0 at a position in order, from 0 on; NULL where there is none.
 * LAST_POSITION is the last one's.
 */
#define LAST_POSITION (-1)

static Datum
key_at(FunctionCallInfo fcinfo, int64 position)
{
	MultisetSlices slices;
	SortError	err;
	int32		key;

	multiset_value_open_sliced(PG_GETARG_DATUM(0), &slices);
	if (position == LAST_POSITION)
		position = (int64) slices.m.total - 1;
	if (position < 0 || (uint64) position >= slices.m.total)
		PG_RETURN_NULL();
	pg_sort_check(multiset_nth(&slices.m, (uint64) position, &key, &err), &err);
	PG_RETURN_INT32(key);
}

/* cardinality(int4multiset) returns int8: how many keys there are, each as often as it occurs */
Datum
int4multiset_cardinality(PG_FUNCTION_ARGS)
{
	MultisetSlices slices;

	multiset_value_open_sliced(PG_GETARG_DATUM(0), &slices);
	PG_RETURN_INT64((int64) slices.m.total);
}

/* distinct_count(int4multiset) returns int8: how many different keys there are */
Datum
int4multiset_distinct_count(PG_FUNCTION_ARGS)
{
	MultisetSlices slices;

	multiset_value_open_sliced(PG_GETARG_DATUM(0), &slices);
	PG_RETURN_INT64((int64) slices.m.len);
}

/* min(int4multiset) returns int4: the smallest key; NULL of an empty one */
Datum
int4multiset_min(PG_FUNCTION_ARGS)
{
	return key_at(fcinfo, 0);
}

/* max(int4multiset) returns int4: the largest key; NULL of an empty one */
Datum
int4multiset_max(PG_FUNCTION_ARGS)
{
	return key_at(fcinfo, LAST_POSITION);
}

/* nth(int4multiset, n int8) returns int4: the nth in order, from 1; NULL where there is none */
Datum
int4multiset_nth(PG_FUNCTION_ARGS)
{
	int64		n = PG_GETARG_INT64(1);

	if (n < 1)
		PG_RETURN_NULL();
	return key_at(fcinfo, n - 1);
}

/* (int4multiset, x int4) returns int8: the rank that x would have */
Datum
int4multiset_rank(PG_FUNCTION_ARGS)
{
	Rank		rank = rank_of(fcinfo, PG_GETARG_INT32(1));

	if (rank.below == PG_INT64_MAX)
		multiset_bigint_error();
	PG_RETURN_INT64((int64) rank.below + 1);
}

/*
 * (int4multiset, x int4) returns float8: x counts as one more row, as in PostgreSQL's
 * hypothetical sets
 */
Datum
int4multiset_cume_dist(PG_FUNCTION_ARGS)
{
	Rank		rank = rank_of(fcinfo, PG_GETARG_INT32(1));

	PG_RETURN_FLOAT8((double) (rank.below + rank.equal + 1) / (double) (rank.total + 1));
}

/* count_of(int4multiset, x int4) returns int8: how often x occurs */
Datum
int4multiset_count_of(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64((int64) rank_of(fcinfo, PG_GETARG_INT32(1)).equal);
}

/* (int4multiset, x int4) returns bool: the operator @>, whether x occurs */
Datum
hpsort_support_multiset_contains(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(rank_of(fcinfo, PG_GETARG_INT32(1)).equal > 0);
}

/* count_between(int4multiset, lo int4, hi int4) returns int8; lo and hi are included */
Datum
int4multiset_count_between(PG_FUNCTION_ARGS)
{
	int32		lo = PG_GETARG_INT32(1);
	int32		hi = PG_GETARG_INT32(2);
	MultisetSlices slices;
	SortError	err;
	uint64		below_lo;
	uint64		below_hi;
	uint64		equal;

	if (lo > hi)
		PG_RETURN_INT64(0);
	multiset_value_open_sliced(PG_GETARG_DATUM(0), &slices);
	pg_sort_check(multiset_rank(&slices.m, lo, &below_lo, &equal, &err), &err);
	pg_sort_check(multiset_rank(&slices.m, hi, &below_hi, &equal, &err), &err);
	PG_RETURN_INT64((int64) (below_hi + equal - below_lo));
}

/* --- percentiles */

/* Returns the percentile_disc of a multiset that is not empty; fraction has been checked. */
static int32
percentile_disc(const Multiset *m, double fraction)
{
	SortError	err;
	int32		key;

	pg_sort_check(multiset_nth(m, (uint64) fraction_row(fraction, (int64) m->total), &key, &err),
				  &err);
	return key;
}

/*
 * Returns the percentile_cont of a multiset that is not empty; fraction has been checked.  Both
 * rows between which it interpolates are in one block or in two neighbours.
 */
static float8
percentile_cont(const Multiset *m, double fraction)
{
	MultisetBlock block;
	SortError	err;
	int64		first;
	int64		second;
	double		proportion = fraction_rows(fraction, (int64) m->total, &first, &second);
	uint64		seen;
	uint32		run;
	int32		key;
	int32		next;

	pg_sort_check(multiset_find_position(m, (uint64) first, &block, &err), &err);
	seen = block.before + block.counts[0];
	for (run = 0; seen <= (uint64) first; seen += block.counts[run])
		run++;
	key = next = block.keys[run];
	/* The next row has the same key, or the next run's, which may be in the next block. */
	if (second != first && seen <= (uint64) second)
	{
		if (++run == block.n)
		{
			pg_sort_check(multiset_read_block(m, block.number + 1, &block, &err), &err);
			run = 0;
		}
		next = block.keys[run];
	}
	return fraction_between(key, next, proportion);
}

/* Returns a percentile of a multiset that is not empty, as a float8 or a key. */
static Datum
percentile(const Multiset *m, double fraction, bool is_continuous)
{
	return is_continuous ? Float8GetDatum(percentile_cont(m, fraction)) :
		Int32GetDatum(percentile_disc(m, fraction));
}

/* Returns a percentile of argument 0; NULL if that is empty. */
static Datum
one_percentile(FunctionCallInfo fcinfo, double fraction, bool is_continuous)
{
	MultisetSlices slices;

	fraction_check(fraction);
	multiset_value_open_sliced(PG_GETARG_DATUM(0), &slices);
	if (slices.m.total == 0)
		PG_RETURN_NULL();
	return percentile(&slices.m, fraction, is_continuous);
}

/* percentile_disc(int4multiset, fraction float8) returns int4; NULL of an empty one */
Datum
int4multiset_percentile_disc(PG_FUNCTION_ARGS)
{
	return one_percentile(fcinfo, PG_GETARG_FLOAT8(1), false);
}

/* percentile_cont(int4multiset, fraction float8) returns float8; NULL of an empty one */
Datum
int4multiset_percentile_cont(PG_FUNCTION_ARGS)
{
	return one_percentile(fcinfo, PG_GETARG_FLOAT8(1), true);
}

/* median(int4multiset) returns float8: percentile_cont of 0.5 */
Datum
int4multiset_median(PG_FUNCTION_ARGS)
{
	return one_percentile(fcinfo, 0.5, true);
}

/*
 * Returns the percentiles of argument 0, in an array of the shape of that of the fractions,
 * argument 1.  Fractions are looked at only if there are keys, as in PostgreSQL's aggregates.
 */
static Datum
fractions(FunctionCallInfo fcinfo, bool is_continuous)
{
	Oid			type = is_continuous ? FLOAT8OID : INT4OID;
	MultisetSlices slices;
	ArrayType  *array;
	Datum	   *elements;
	bool	   *nulls;
	int			n;

	multiset_value_open_sliced(PG_GETARG_DATUM(0), &slices);
	if (slices.m.total == 0)
		PG_RETURN_NULL();
	array = PG_GETARG_ARRAYTYPE_P(1);
	deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &elements,
					  &nulls, &n);
	if (n == 0)
		PG_RETURN_ARRAYTYPE_P(construct_empty_array(type));
	for (int i = 0; i < n; i++)
		if (!nulls[i])
			fraction_check(DatumGetFloat8(elements[i]));
	for (int i = 0; i < n; i++)
		if (!nulls[i])
			elements[i] = percentile(&slices.m, DatumGetFloat8(elements[i]), is_continuous);
	PG_RETURN_ARRAYTYPE_P(construct_md_array(elements, nulls, ARR_NDIM(array), ARR_DIMS(array),
											 ARR_LBOUND(array), type,
											 is_continuous ? sizeof(float8) : sizeof(int32),
											 is_continuous ? FLOAT8PASSBYVAL : true,
											 is_continuous ? TYPALIGN_DOUBLE : TYPALIGN_INT));
}

/* percentile_disc(int4multiset, fractions float8[]) returns int4[]; NULL for a NULL */
Datum
int4multiset_percentile_disc_array(PG_FUNCTION_ARGS)
{
	return fractions(fcinfo, false);
}

/* percentile_cont(int4multiset, fractions float8[]) returns float8[]; NULL for a NULL */
Datum
int4multiset_percentile_cont_array(PG_FUNCTION_ARGS)
{
	return fractions(fcinfo, true);
}
