/*
 * array.c
 *		hpsort(int4[] ...), hpsort_float4(), hpsort_order() and
 *		hpsort_order_float4(): arrays to arrays.
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
#include "sort/float_image.h"

PG_FUNCTION_INFO_V1(hpsort);
PG_FUNCTION_INFO_V1(hpsort_bounds);
PG_FUNCTION_INFO_V1(hpsort_float4);
PG_FUNCTION_INFO_V1(hpsort_order);
PG_FUNCTION_INFO_V1(hpsort_order_float4);

/* Elements handled between two checks for interrupts. */
#define CHECK_EVERY (1 << 20)

/*
 * Returns a sorted copy of an array of int4, in the current memory context.  A key that is not
 * between lo and hi is an error.
 */
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

	/* Nothing is to be ordered or checked: the argument is the result. */
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
 * Makes *context one for keys that are images of numbers (float_image.h).  An error if the
 * algorithm in force sorts integers only.
 */
static void
float4_context(SortContext *context)
{
	pg_sort_context(context, CurrentMemoryContext);
	context->floats = true;
	if (context->algorithm != SORT_ALGORITHM_AUTO && !algorithm_info(context->algorithm)->floats)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("algorithm \"%s\" sorts integers only",
						sort_algorithm_name(context->algorithm)),
				 errhint("Set hpsort.algorithm to \"auto\", or see hpsort_algorithms().")));
}

/*
 * Returns the images of n numbers in a new block.  With of_equals all numbers that PostgreSQL
 * takes for equal have one image, so that the numbers cannot be made of the images again.
 */
static int32 *
float4_images(const uint32 *numbers, int n, bool of_equals)
{
	int32	   *images = palloc(Max(n, 1) * sizeof(int32));
	int			i;

	for (i = 0; i < n;)
	{
		int			end = n - i < CHECK_EVERY ? n : i + CHECK_EVERY;

		CHECK_FOR_INTERRUPTS();
		if (of_equals)
			for (; i < end; i++)
				images[i] = float4_key(float4_equals(numbers[i]));
		else
			for (; i < end; i++)
				images[i] = float4_key(numbers[i]);
	}
	return images;
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

	float4_context(&context);
	images = float4_images(numbers, n, false);
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
			((uint32 *) out)[i] = float4_key_bits(out[i]);
	}
	PG_RETURN_ARRAYTYPE_P(result);
}

/*
 * Turns positions among the keys, which out has, into positions in the array.  Positions of
 * NULLs are put before or behind them. out has room for n keys and the NULLs.
 */
static void
order_among_nulls(ArrayType *array, int n, int nulls, bool nulls_first, int32 *out)
{
	const uint8 *bitmap = ARR_NULLBITMAP(array);
	int32	   *key_places = out + (nulls_first ? nulls : 0);
	int32	   *null_places = nulls_first ? out : out + n;
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

/*
 * Returns the stable sorting permutation of an array, as a new array. keys are its n keys, or
 * their images; nulls is how many NULLs it has besides.
 */
static ArrayType *
order_array(const char *function, ArrayType *array, const int32 *keys, int n, int nulls,
			SortOrder order,
			const SortContext *context)
{
	SortError	err;
	Sorter		sorter;
	int32	   *out;
	ArrayType  *result = int4_array_make((int64) n + nulls, 0, 1, false, &out);

	if (n + nulls == 0)
		return result;
	sorter_init(&sorter, context, PG_INT32_MIN, PG_INT32_MAX);
	pg_sort_check(sorter_add_array(&sorter, keys, n, &err), &err);
	pg_sort_check(sorter_finish(&sorter, SORT_WANT_PERMUTATION, &err), &err);
	pg_sort_check(sorter_read_permutation(&sorter, order.descending, 1,
										  (uint32 *) out + (order.nulls_first ? nulls : 0), &err),
				  &err);
	last_sort_record(function, &sorter, NULL, nulls);
	sorter_reset(&sorter);
	if (nulls > 0)
		order_among_nulls(array, n, nulls, order.nulls_first, out);
	return result;
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

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	array = array_arg(PG_GETARG_DATUM(0));
	order = sort_order_from_args(fcinfo, 1);
	keys = int4_array_keys(array, &n, &nulls);
	pg_sort_context(&context, CurrentMemoryContext);
	PG_RETURN_ARRAYTYPE_P(order_array("hpsort_order", array, keys, n, nulls, order, &context));
}

/*
 * hpsort_order_float4(keys float4[], descending bool, nulls_first bool) returns int4[]
 *
 * Numbers that PostgreSQL takes for equal keep their order: 0 and -0, all NaNs.
 */
Datum
hpsort_order_float4(PG_FUNCTION_ARGS)
{
	ArrayType  *array;
	ArrayType  *result;
	SortOrder	order;
	int			n;
	int			nulls;
	const uint32 *numbers;
	int32	   *images;
	SortContext context;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	array = array_arg(PG_GETARG_DATUM(0));
	order = sort_order_from_args(fcinfo, 1);
	numbers = (const uint32 *) array_keys(array, FLOAT4OID, &n, &nulls);
	float4_context(&context);
	images = float4_images(numbers, n, true);
	result = order_array("hpsort_order_float4", array, images, n, nulls, order, &context);
	if (n + nulls > 0)
		last_sort_forget_bounds();
	pfree(images);
	PG_RETURN_ARRAYTYPE_P(result);
}
