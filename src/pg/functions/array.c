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

#include "pg/functions/functions.h"
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

/* What a function is called with. */
typedef struct ArrayArgument
{
	ArrayType  *array;
	SortOrder	order;
	int			n;				/* elements that are not NULL */
	int			nulls;			/* elements that are NULL */
	const int32 *keys;			/* these elements; of a float4[] their images */
	SortContext context;		/* of the sort, in the current memory context */
} ArrayArgument;

/*
 * Takes the array, the first argument, and the order, the arguments from number order on.  Returns
 * false if one of them is NULL that must not be: the result is NULL.
 */
static bool
get_argument(FunctionCallInfo fcinfo, int order, ArrayArgument *arg)
{
	if (PG_ARGISNULL(0) || PG_ARGISNULL(order))
		return false;
	arg->array = array_arg(PG_GETARG_DATUM(0));
	arg->order = sort_order_from_args(fcinfo, order);
	arg->keys = array_keys(arg->array, &arg->n, &arg->nulls);
	pg_sort_context(&arg->context, CurrentMemoryContext);
	return true;
}

/*
 * Puts images (float_image.h) in the place of a float4[]'s numbers, in new memory.  With of_equals
 * all numbers that PostgreSQL takes for equal have one image, so that the numbers cannot be made
 * of the images again.  An error if the algorithm in force sorts integers only.
 */
static void
take_images(ArrayArgument *arg, bool of_equals)
{
	const uint32 *numbers = (const uint32 *) arg->keys;
	SortAlgorithm algorithm = arg->context.algorithm;
	int32	   *images;

	arg->context.floats = true;
	if (algorithm != SORT_ALGORITHM_AUTO && !algorithm_info(algorithm)->floats)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("algorithm \"%s\" sorts integers only",
						sort_algorithm_name(algorithm)),
				 errhint("Set hpsort.algorithm to \"auto\", or see hpsort_algorithms().")));
	images = palloc(Max(arg->n, 1) * sizeof(int32));
	for (int i = 0; i < arg->n;)
	{
		int			end = arg->n - i < CHECK_EVERY ? arg->n : i + CHECK_EVERY;

		CHECK_FOR_INTERRUPTS();
		if (of_equals)
			for (; i < end; i++)
				images[i] = float4_key(float4_equals(numbers[i]));
		else
			for (; i < end; i++)
				images[i] = float4_key(numbers[i]);
	}
	arg->keys = images;
}

/* --- in order */

/*
 * Returns the keys in order, as a new int4[], or the array itself.  A key that is not between lo
 * and hi is an error. function is a literal, for hpsort_last().
 */
static ArrayType *
sort_array(const ArrayArgument *arg, const char *function, int32 lo, int32 hi)
{
	SortError	err;
	Sorter		sorter;
	ArrayType  *result = arg->array;
	int32	   *out;

	/* Nothing is to be ordered or checked: the argument is the result. */
	if (arg->n + arg->nulls < 2 && lo == PG_INT32_MIN && hi == PG_INT32_MAX)
		return result;

	sorter_init(&sorter, &arg->context, lo, hi);
	pg_sort_check(sorter_add_array(&sorter, arg->keys, arg->n, &err), &err);
	pg_sort_check(sorter_finish(&sorter, SORT_WANT_KEYS, &err), &err);
	if (arg->n + arg->nulls > 0)
	{
		result = int4_array_make(arg->n, arg->nulls, ARR_LBOUND(arg->array)[0],
								 arg->order.nulls_first, &out);
		pg_sort_check(sorter_read_keys(&sorter, arg->order.descending, out, &err), &err);
		last_sort_record(function, &sorter, out, arg->nulls);
	}
	sorter_reset(&sorter);
	return result;
}

/* hpsort(keys int4[], descending bool, nulls_first bool) returns int4[]: the elements in order */
Datum
hpsort(PG_FUNCTION_ARGS)
{
	ArrayArgument arg;

	if (!get_argument(fcinfo, 1, &arg))
		PG_RETURN_NULL();
	PG_RETURN_ARRAYTYPE_P(sort_array(&arg, "hpsort", PG_INT32_MIN, PG_INT32_MAX));
}

/*
 * hpsort(keys int4[], lo int4, hi int4, descending bool, nulls_first bool) returns int4[]: the
 * elements in order.  A key that is not between lo and hi is an error.
 */
Datum
hpsort_bounds(PG_FUNCTION_ARGS)
{
	ArrayArgument arg;
	int32		lo;
	int32		hi;

	if (!get_argument(fcinfo, 3, &arg))
		PG_RETURN_NULL();
	sort_bounds_from_args(fcinfo, 1, &lo, &hi);
	PG_RETURN_ARRAYTYPE_P(sort_array(&arg, "hpsort", lo, hi));
}

/*
 * hpsort_float4(keys float4[], descending bool, nulls_first bool) returns float4[]
 *
 * Not an overload of hpsort(): an untyped '{2,1}' or $1 would be ambiguous.
 */
Datum
hpsort_float4(PG_FUNCTION_ARGS)
{
	ArrayArgument arg;
	ArrayType  *result;
	int32	   *out;

	if (!get_argument(fcinfo, 1, &arg))
		PG_RETURN_NULL();
	if (arg.n + arg.nulls < 2)
		PG_RETURN_ARRAYTYPE_P(arg.array);
	take_images(&arg, false);
	result = sort_array(&arg, "hpsort_float4", PG_INT32_MIN, PG_INT32_MAX);
	result->elemtype = FLOAT4OID;
	pfree((void *) arg.keys);
	out = (int32 *) ARR_DATA_PTR(result);
	for (int i = 0; i < arg.n;)
	{
		int			end = arg.n - i < CHECK_EVERY ? arg.n : i + CHECK_EVERY;

		CHECK_FOR_INTERRUPTS();
		for (; i < end; i++)
			((uint32 *) out)[i] = float4_key_bits(out[i]);
	}
	PG_RETURN_ARRAYTYPE_P(result);
}

/* --- positions in order */

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

	for (int i = 0; i < n + nulls; i++)
	{
		if (bitmap[i / 8] & (1 << (i % 8)))
			position[key++] = i + 1;
		else
			null_places[null++] = i + 1;
		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
	for (int i = 0; i < n; i++)
	{
		key_places[i] = position[key_places[i] - 1];
		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
	pfree(position);
}

/*
 * Returns the stable sorting permutation of the array, as a new array: positions count from 1
 * whatever the array's lower bound. function is a literal, for hpsort_last().
 */
static ArrayType *
order_array(const ArrayArgument *arg, const char *function)
{
	int			n = arg->n;
	int			nulls = arg->nulls;
	SortError	err;
	Sorter		sorter;
	int32	   *out;
	ArrayType  *result = int4_array_make((int64) n + nulls, 0, 1, false, &out);

	if (n + nulls == 0)
		return result;
	sorter_init(&sorter, &arg->context, PG_INT32_MIN, PG_INT32_MAX);
	pg_sort_check(sorter_add_array(&sorter, arg->keys, n, &err), &err);
	pg_sort_check(sorter_finish(&sorter, SORT_WANT_PERMUTATION, &err), &err);
	pg_sort_check(sorter_read_permutation(&sorter, arg->order.descending, 1,
										  (uint32 *) out + (arg->order.nulls_first ? nulls : 0),
										  &err),
				  &err);
	last_sort_record(function, &sorter, NULL, nulls);
	sorter_reset(&sorter);
	if (nulls > 0)
		order_among_nulls(arg->array, n, nulls, arg->order.nulls_first, out);
	return result;
}

/*
 * hpsort_order(keys int4[], descending bool, nulls_first bool) returns int4[]: the positions, from
 * 1 on, of the elements in order; equal elements keep their order
 */
Datum
hpsort_order(PG_FUNCTION_ARGS)
{
	ArrayArgument arg;

	if (!get_argument(fcinfo, 1, &arg))
		PG_RETURN_NULL();
	PG_RETURN_ARRAYTYPE_P(order_array(&arg, "hpsort_order"));
}

/*
 * hpsort_order_float4(keys float4[], descending bool, nulls_first bool) returns int4[]
 *
 * Numbers that PostgreSQL takes for equal keep their order: 0 and -0, all NaNs.
 */
Datum
hpsort_order_float4(PG_FUNCTION_ARGS)
{
	ArrayArgument arg;
	ArrayType  *result;

	if (!get_argument(fcinfo, 1, &arg))
		PG_RETURN_NULL();
	take_images(&arg, true);
	result = order_array(&arg, "hpsort_order_float4");
	pfree((void *) arg.keys);
	PG_RETURN_ARRAYTYPE_P(result);
}
