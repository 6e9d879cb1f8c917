/*
 * array.c
 *		hpsort(int4[] ...), hpsort_float4() and hpsort_order(): arrays to arrays.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"

#include "pg/functions/arguments.h"
#include "pg/int4_array.h"
#include "pg/last_sort.h"
#include "pg/sort_context.h"
#include "sort/algorithms.h"

PG_FUNCTION_INFO_V1(hpsort);
PG_FUNCTION_INFO_V1(hpsort_bounds);
PG_FUNCTION_INFO_V1(hpsort_float4);
PG_FUNCTION_INFO_V1(hpsort_order);

/* Elements handled between two checks for interrupts. */
#define CHECK_EVERY (1 << 20)

/* The sorted copy of an array, whose keys are checked against the bounds. */
static ArrayType *
sort_array(ArrayType *array, int32 lo, int32 hi, SortOrder order)
{
	int			n;
	int			nulls;
	const int32 *keys = int4_array_keys(array, &n, &nulls);
	SortContext context;
	SortError	err;
	Sorter		sorter;
	ArrayType  *result;
	int32	   *out;

	/* There is nothing to order: the argument is the result. */
	if (n + nulls < 2 && lo == PG_INT32_MIN && hi == PG_INT32_MAX)
		return array;

	pg_sort_context(&context, CurrentMemoryContext);
	sorter_init(&sorter, &context, lo, hi);
	pg_sort_check(sorter_add_array(&sorter, keys, n, &err), &err);
	pg_sort_check(sorter_finish(&sorter, SORT_WANT_KEYS, &err), &err);
	if (n + nulls == 0)
		result = array;
	else
	{
		result = int4_array_make(n, nulls, ARR_LBOUND(array)[0], order.nulls_first, &out);
		pg_sort_check(sorter_read_keys(&sorter, order.descending, out, &err), &err);
		last_sort_record("hpsort", &sorter, out, nulls);
	}
	sorter_reset(&sorter);
	return result;
}

/* hpsort(keys int4[], descending bool, nulls_first bool) returns int4[] */
Datum
hpsort(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	PG_RETURN_ARRAYTYPE_P(sort_array(array_arg(PG_GETARG_DATUM(0)), PG_INT32_MIN, PG_INT32_MAX,
									 sort_order_from_args(fcinfo, 1)));
}

/* hpsort(keys int4[], lo int4, hi int4, descending bool, nulls_first bool) returns int4[] */
Datum
hpsort_bounds(PG_FUNCTION_ARGS)
{
	int32		lo;
	int32		hi;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(3))
		PG_RETURN_NULL();
	sort_bounds_from_args(fcinfo, 1, &lo, &hi);
	PG_RETURN_ARRAYTYPE_P(sort_array(array_arg(PG_GETARG_DATUM(0)), lo, hi,
									 sort_order_from_args(fcinfo, 3)));
}

/*
 * float4 as integers in PostgreSQL's order, in which NaN of either sign is last.
 * The bits of a negative number count downwards, so they are inverted.  That makes
 * NaNs with a negative sign the smallest images; subtracting NEGATIVE_NANS wraps
 * them round to the largest.  The mapping is one to one: every number comes back
 * with the bits that it had, -0 and NaNs included.
 */
#define NEGATIVE_NANS UINT32_C(0x7FFFFF)

static inline int32
float4_image(uint32 bits)
{
	return (int32) ((bits >> 31 ? bits ^ UINT32_C(0x7FFFFFFF) : bits) - NEGATIVE_NANS);
}

static inline uint32
float4_bits(int32 image)
{
	uint32		bits = (uint32) image + NEGATIVE_NANS;

	return bits >> 31 ? bits ^ UINT32_C(0x7FFFFFFF) : bits;
}

/*
 * hpsort_float4(keys float4[], descending bool, nulls_first bool) returns float4[]
 *
 * Not an overload of hpsort(): an untyped '{2,1}' or $1 would be ambiguous.
 */
Datum
hpsort_float4(PG_FUNCTION_ARGS)
{
	ArrayType  *array;
	SortOrder	order;
	int			n;
	int			nulls;
	int			i;
	const uint32 *numbers;
	int32	   *images;
	int32	   *out;
	SortContext context;
	SortError	err;
	Sorter		sorter;
	ArrayType  *result;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	array = array_arg(PG_GETARG_DATUM(0));
	order = sort_order_from_args(fcinfo, 1);
	numbers = (const uint32 *) array_keys(array, FLOAT4OID, &n, &nulls);
	if (n + nulls < 2)
		PG_RETURN_ARRAYTYPE_P(array);

	pg_sort_context(&context, CurrentMemoryContext);
	if (context.algorithm != SORT_ALGORITHM_AUTO && !algorithm_info(context.algorithm)->floats)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("algorithm \"%s\" sorts integers only",
						sort_algorithm_name(context.algorithm)),
				 errhint("Set hpsort.algorithm to \"auto\", or see hpsort_algorithms().")));
	images = palloc(Max(n, 1) * sizeof(int32));
	for (i = 0; i < n;)
	{
		int			end = n - i < CHECK_EVERY ? n : i + CHECK_EVERY;

		CHECK_FOR_INTERRUPTS();
		for (; i < end; i++)
			images[i] = float4_image(numbers[i]);
	}
	sorter_init(&sorter, &context, PG_INT32_MIN, PG_INT32_MAX);
	pg_sort_check(sorter_add_array(&sorter, images, n, &err), &err);
	pg_sort_check(sorter_finish(&sorter, SORT_WANT_KEYS, &err), &err);
	result = int4_array_make(n, nulls, ARR_LBOUND(array)[0], order.nulls_first, &out);
	result->elemtype = FLOAT4OID;
	pg_sort_check(sorter_read_keys(&sorter, order.descending, out, &err), &err);
	last_sort_record("hpsort_float4", &sorter, out, nulls);
	last_sort_forget_bounds();
	sorter_reset(&sorter);
	pfree(images);
	for (i = 0; i < n;)
	{
		int			end = n - i < CHECK_EVERY ? n : i + CHECK_EVERY;

		CHECK_FOR_INTERRUPTS();
		for (; i < end; i++)
			((uint32 *) out)[i] = float4_bits(out[i]);
	}
	PG_RETURN_ARRAYTYPE_P(result);
}

/*
 * hpsort_order(keys int4[], descending bool, nulls_first bool) returns int4[]
 *
 * Positions count from 1 whatever the array's lower bound.
 */
Datum
hpsort_order(PG_FUNCTION_ARGS)
{
	ArrayType  *array;
	SortOrder	order;
	int			n;
	int			nulls;
	const int32 *keys;
	SortContext context;
	SortError	err;
	Sorter		sorter;
	ArrayType  *result;
	int32	   *out;
	int32	   *key_places;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	array = array_arg(PG_GETARG_DATUM(0));
	order = sort_order_from_args(fcinfo, 1);
	keys = int4_array_keys(array, &n, &nulls);

	result = int4_array_make((int64) n + nulls, 0, 1, false, &out);
	if (n + nulls == 0)
		PG_RETURN_ARRAYTYPE_P(result);
	key_places = out + (order.nulls_first ? nulls : 0);

	pg_sort_context(&context, CurrentMemoryContext);
	sorter_init(&sorter, &context, PG_INT32_MIN, PG_INT32_MAX);
	pg_sort_check(sorter_add_array(&sorter, keys, n, &err), &err);
	pg_sort_check(sorter_finish(&sorter, SORT_WANT_PERMUTATION, &err), &err);
	pg_sort_check(sorter_read_permutation(&sorter, order.descending, 1,
										  (uint32 *) key_places, &err), &err);
	last_sort_record("hpsort_order", &sorter, NULL, nulls);
	sorter_reset(&sorter);

	if (nulls > 0)
	{
		/* Positions among the keys become positions in the array. */
		const uint8 *bitmap = ARR_NULLBITMAP(array);
		int32	   *null_places = order.nulls_first ? out : out + n;
		int32	   *position = (int32 *) palloc(Max(n, 1) * sizeof(int32));
		int			key = 0;
		int			null = 0;
		int			i;

		for (i = 0; i < n + nulls; i++)
		{
			if (bitmap[i / 8] & (1 << (i % 8)))
				position[key++] = i + 1;
			else
				null_places[null++] = i + 1;
			if (i % CHECK_EVERY == 0)
				CHECK_FOR_INTERRUPTS();
		}
		for (i = 0; i < n; i++)
		{
			key_places[i] = position[key_places[i] - 1];
			if (i % CHECK_EVERY == 0)
				CHECK_FOR_INTERRUPTS();
		}
		pfree(position);
	}
	PG_RETURN_ARRAYTYPE_P(result);
}
