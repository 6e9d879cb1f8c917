/*
 * percentiles.c
 *		percentile_disc(), percentile_cont() and median() of a multiset, with the
 *		results, NULLs and errors of PostgreSQL's aggregates over its keys.
 *
 * A fraction looks at one block or two, so that a stored value is read by slices.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"

#include "pg/fraction.h"
#include "pg/multiset/value.h"

PG_FUNCTION_INFO_V1(int4multiset_percentile_disc);
PG_FUNCTION_INFO_V1(int4multiset_percentile_disc_array);
PG_FUNCTION_INFO_V1(int4multiset_percentile_cont);
PG_FUNCTION_INFO_V1(int4multiset_percentile_cont_array);
PG_FUNCTION_INFO_V1(int4multiset_median);

/* The percentile_disc of a multiset that is not empty. */
static int32
percentile_disc(const Multiset *m, double fraction)
{
	SortError	err;
	int32		key;

	pg_sort_check(multiset_nth(m, (uint64) fraction_row(fraction, (int64) m->total), &key, &err),
				  &err);
	return key;
}

/* The percentile_cont of a multiset that is not empty. */
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

/* (int4multiset, fraction float8) returns int4 */
Datum
int4multiset_percentile_disc(PG_FUNCTION_ARGS)
{
	double		fraction = PG_GETARG_FLOAT8(1);
	MultisetSlices slices;

	fraction_check(fraction);
	multiset_value_open_sliced(PG_GETARG_DATUM(0), &slices);
	if (slices.m.total == 0)
		PG_RETURN_NULL();
	PG_RETURN_INT32(percentile_disc(&slices.m, fraction));
}

/* Returns the percentile_cont of argument 0; NULL if it is empty. */
static Datum
continuous(FunctionCallInfo fcinfo, double fraction)
{
	MultisetSlices slices;

	fraction_check(fraction);
	multiset_value_open_sliced(PG_GETARG_DATUM(0), &slices);
	if (slices.m.total == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(percentile_cont(&slices.m, fraction));
}

/* (int4multiset, fraction float8) returns float8 */
Datum
int4multiset_percentile_cont(PG_FUNCTION_ARGS)
{
	return continuous(fcinfo, PG_GETARG_FLOAT8(1));
}

/* (int4multiset) returns float8 */
Datum
int4multiset_median(PG_FUNCTION_ARGS)
{
	return continuous(fcinfo, 0.5);
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
	int			i;

	multiset_value_open_sliced(PG_GETARG_DATUM(0), &slices);
	if (slices.m.total == 0)
		PG_RETURN_NULL();
	array = PG_GETARG_ARRAYTYPE_P(1);
	deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &elements,
					  &nulls, &n);
	if (n == 0)
		PG_RETURN_ARRAYTYPE_P(construct_empty_array(type));
	for (i = 0; i < n; i++)
		if (!nulls[i])
			fraction_check(DatumGetFloat8(elements[i]));
	for (i = 0; i < n; i++)
	{
		if (nulls[i])
			continue;
		elements[i] = is_continuous
			? Float8GetDatum(percentile_cont(&slices.m, DatumGetFloat8(elements[i])))
			: Int32GetDatum(percentile_disc(&slices.m, DatumGetFloat8(elements[i])));
	}
	PG_RETURN_ARRAYTYPE_P(construct_md_array(elements, nulls, ARR_NDIM(array), ARR_DIMS(array),
											 ARR_LBOUND(array), type,
											 is_continuous ? sizeof(float8) : sizeof(int32),
											 is_continuous ? FLOAT8PASSBYVAL : true,
											 is_continuous ? TYPALIGN_DOUBLE : TYPALIGN_INT));
}

/* (int4multiset, fractions float8[]) returns int4[] */
Datum
int4multiset_percentile_disc_array(PG_FUNCTION_ARGS)
{
	return fractions(fcinfo, false);
}

/* (int4multiset, fractions float8[]) returns float8[] */
Datum
int4multiset_percentile_cont_array(PG_FUNCTION_ARGS)
{
	return fractions(fcinfo, true);
}
