/*
 * questions.c
 *		Questions about a multiset that few of its bytes answer: how many keys, the
 *		nth, how many are below one.  A stored value is read by slices.
 */
#include "postgres.h"

#include "fmgr.h"

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

/* Returns how many keys are below a key, and sets *equal to how many equal it. */
static uint64
rank_of(const Multiset *m, int32 key, uint64 *equal)
{
	SortError	err;
	uint64		below = 0;

	*equal = 0;
	if (m->total > 0)
		pg_sort_check(multiset_rank(m, key, &below, equal, &err), &err);
	return below;
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

/* (int4multiset) returns int8 */
Datum
int4multiset_cardinality(PG_FUNCTION_ARGS)
{
	MultisetSlices slices;

	multiset_value_open_sliced(PG_GETARG_DATUM(0), &slices);
	PG_RETURN_INT64((int64) slices.m.total);
}

/* (int4multiset) returns int8 */
Datum
int4multiset_distinct_count(PG_FUNCTION_ARGS)
{
	MultisetSlices slices;

	multiset_value_open_sliced(PG_GETARG_DATUM(0), &slices);
	PG_RETURN_INT64((int64) slices.m.len);
}

/* (int4multiset) returns int4; NULL of an empty one */
Datum
int4multiset_min(PG_FUNCTION_ARGS)
{
	return key_at(fcinfo, 0);
}

/* (int4multiset) returns int4; NULL of an empty one */
Datum
int4multiset_max(PG_FUNCTION_ARGS)
{
	return key_at(fcinfo, LAST_POSITION);
}

/* (int4multiset, n int8) returns int4; NULL where there is none */
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
	MultisetSlices slices;
	uint64		below;
	uint64		equal;

	multiset_value_open_sliced(PG_GETARG_DATUM(0), &slices);
	below = rank_of(&slices.m, PG_GETARG_INT32(1), &equal);
	if (below == PG_INT64_MAX)
		multiset_bigint_error();
	PG_RETURN_INT64((int64) below + 1);
}

/*
 * (int4multiset, x int4) returns float8: x counts as one more row, as in PostgreSQL's
 * hypothetical sets
 */
Datum
int4multiset_cume_dist(PG_FUNCTION_ARGS)
{
	MultisetSlices slices;
	uint64		below;
	uint64		equal;

	multiset_value_open_sliced(PG_GETARG_DATUM(0), &slices);
	below = rank_of(&slices.m, PG_GETARG_INT32(1), &equal);
	PG_RETURN_FLOAT8((double) (below + equal + 1) / (double) (slices.m.total + 1));
}

/* (int4multiset, x int4) returns int8 */
Datum
int4multiset_count_of(PG_FUNCTION_ARGS)
{
	MultisetSlices slices;
	uint64		equal;

	multiset_value_open_sliced(PG_GETARG_DATUM(0), &slices);
	rank_of(&slices.m, PG_GETARG_INT32(1), &equal);
	PG_RETURN_INT64((int64) equal);
}

/* (int4multiset, lo int4, hi int4) returns int8 */
Datum
int4multiset_count_between(PG_FUNCTION_ARGS)
{
	int32		lo = PG_GETARG_INT32(1);
	int32		hi = PG_GETARG_INT32(2);
	MultisetSlices slices;
	uint64		below_lo;
	uint64		below_hi;
	uint64		equal;

	if (lo > hi)
		PG_RETURN_INT64(0);
	multiset_value_open_sliced(PG_GETARG_DATUM(0), &slices);
	below_lo = rank_of(&slices.m, lo, &equal);
	below_hi = rank_of(&slices.m, hi, &equal);
	PG_RETURN_INT64((int64) (below_hi + equal - below_lo));
}

/* (int4multiset, x int4) returns bool */
Datum
hpsort_support_multiset_contains(PG_FUNCTION_ARGS)
{
	MultisetSlices slices;
	uint64		equal;

	multiset_value_open_sliced(PG_GETARG_DATUM(0), &slices);
	rank_of(&slices.m, PG_GETARG_INT32(1), &equal);
	PG_RETURN_BOOL(equal > 0);
}
