/*
 * combine.c
 *		Multisets of others: +, -, * and restrict().
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/rangetypes.h"

#include "pg/multiset/value.h"

PG_FUNCTION_INFO_V1(hpsort_support_multiset_add);
PG_FUNCTION_INFO_V1(hpsort_support_multiset_subtract);
PG_FUNCTION_INFO_V1(hpsort_support_multiset_scale);
PG_FUNCTION_INFO_V1(hpsort_support_multiset_scale_by);
PG_FUNCTION_INFO_V1(int4multiset_restrict);

/* (int4multiset, int4multiset) returns int4multiset */
Datum
hpsort_support_multiset_add(PG_FUNCTION_ARGS)
{
	MultisetBuilder builder;
	Multiset	a;
	Multiset	b;
	SortError	err;

	multiset_value_open(PG_GETARG_DATUM(0), &a);
	multiset_value_open(PG_GETARG_DATUM(1), &b);
	multiset_builder_begin(&builder);
	multiset_builder_check(&builder, multiset_add(&a, &b, &builder.context, &builder.writer, &err),
						   &err);
	PG_RETURN_BYTEA_P(multiset_builder_end(&builder));
}

/* (int4multiset, int4multiset) returns int4multiset */
Datum
hpsort_support_multiset_subtract(PG_FUNCTION_ARGS)
{
	MultisetBuilder builder;
	MultisetLack lack;
	Multiset	a;
	Multiset	b;
	SortError	err;

	multiset_value_open(PG_GETARG_DATUM(0), &a);
	multiset_value_open(PG_GETARG_DATUM(1), &b);
	multiset_builder_begin(&builder);
	multiset_builder_check(&builder,
						   multiset_subtract(&a, &b, &builder.context, &builder.writer, &lack,
											 &err),
						   &err);
	if (lack.count > 0)
		multiset_fewer_error(lack.count, lack.key);
	PG_RETURN_BYTEA_P(multiset_builder_end(&builder));
}

/* Returns a multiset with all counts multiplied by factor. */
static Datum
scale(Datum datum, int64 factor)
{
	MultisetBuilder builder;
	Multiset	m;
	SortError	err;

	if (factor < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("factor must not be negative")));
	multiset_value_open(datum, &m);
	multiset_builder_begin(&builder);
	multiset_builder_check(&builder,
						   multiset_scale(&m, (uint64) factor, &builder.context, &builder.writer,
										  &err),
						   &err);
	PG_RETURN_BYTEA_P(multiset_builder_end(&builder));
}

/* (int4multiset, int8) returns int4multiset */
Datum
hpsort_support_multiset_scale(PG_FUNCTION_ARGS)
{
	return scale(PG_GETARG_DATUM(0), PG_GETARG_INT64(1));
}

/* (int8, int4multiset) returns int4multiset */
Datum
hpsort_support_multiset_scale_by(PG_FUNCTION_ARGS)
{
	return scale(PG_GETARG_DATUM(1), PG_GETARG_INT64(0));
}

/* Sets *lo and *hi to the inclusive bounds of an int4range.  Returns false if no key is in it. */
static bool
range_bounds(FunctionCallInfo fcinfo, RangeType *range, int32 *lo, int32 *hi)
{
	RangeBound	lower;
	RangeBound	upper;
	int64		first = PG_INT32_MIN;
	int64		last = PG_INT32_MAX;
	bool		empty;

	range_deserialize(range_get_typcache(fcinfo, RangeTypeGetOid(range)), range, &lower, &upper,
					  &empty);
	if (!empty && !lower.infinite)
		first = (int64) DatumGetInt32(lower.val) + (lower.inclusive ? 0 : 1);
	if (!empty && !upper.infinite)
		last = (int64) DatumGetInt32(upper.val) - (upper.inclusive ? 0 : 1);
	*lo = (int32) first;
	*hi = (int32) last;
	return !empty && first <= last;
}

/* restrict(int4multiset, int4range) returns int4multiset */
Datum
int4multiset_restrict(PG_FUNCTION_ARGS)
{
	MultisetBuilder builder;
	Multiset	m;
	SortError	err;
	int32		lo;
	int32		hi;

	multiset_builder_begin(&builder);
	if (range_bounds(fcinfo, PG_GETARG_RANGE_P(1), &lo, &hi))
	{
		multiset_value_open(PG_GETARG_DATUM(0), &m);
		multiset_builder_check(&builder,
							   multiset_restrict(&m, lo, hi, &builder.context, &builder.writer,
												 &err),
							   &err);
	}
	PG_RETURN_BYTEA_P(multiset_builder_end(&builder));
}
