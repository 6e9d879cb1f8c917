/*
 * float_image_test.c
 *		Images of floats: in PostgreSQL's order, and one to one; and which numbers
 *		are equal.
 */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "sort/float_image.h"

static const uint32_t special4[] = {
	0, 1, 0x80000000, 0x80000001, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF,
	0xFF7FFFFF, 0xFF800000, 0xFF800001, 0xFFC00000, 0xFFFFFFFF, 0x3F800000, 0xBF800000
};

/* As PostgreSQL compares: NaNs are equal, and larger than all others. */
static int
compare(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (a > b) - (a < b);
}

static double
float4_number(uint32_t bits)
{
	float		number;

	memcpy(&number, &bits, sizeof(number));
	return number;
}

static double
float8_number(uint64_t bits)
{
	double		number;

	memcpy(&number, &bits, sizeof(number));
	return number;
}

static uint32_t
random4(void)
{
	return unit_below(2) ? special4[unit_below(lengthof(special4))] : (uint32_t) unit_random();
}

/* Special numbers of float4 have the same first bits and last ones as those of float8. */
static uint64_t
random8(void)
{
	uint64_t	bits = unit_random();

	switch (unit_below(6))
	{
		case 0:
			return bits & UINT64_C(1) << 63;
		case 1:
			return (bits & UINT64_C(1) << 63) | FLOAT8_INFINITY;
		case 2:
			return bits | FLOAT8_INFINITY;
		case 3:
			return (bits & UINT64_C(1) << 63) | FLOAT8_INFINITY | (bits & 1);
		default:
			return bits;
	}
}

static void
test_float4(void **state)
{
	(void) state;
	for (int i = 0; i < 100000; i++)
	{
		uint32_t	a = random4();
		uint32_t	b = random4();
		int			order = compare(float4_number(a), float4_number(b));
		uint32_t	image_a = float4_image(a);
		uint32_t	image_b = float4_image(b);

		assert_int_equal(float4_image_bits(image_a), a);
		assert_int_equal(float4_key_bits(float4_key(a)), a);
		assert_int_equal(image_a < image_b, float4_key(a) < float4_key(b));
		if (order != 0)
			assert_int_equal(image_a < image_b, order < 0);
		assert_int_equal(float4_equals(a) == float4_equals(b), order == 0);
		if (order != 0)
			assert_int_equal(float4_image(float4_equals(a)) < float4_image(float4_equals(b)), order < 0);
	}
}

static void
test_float8(void **state)
{
	(void) state;
	for (int i = 0; i < 100000; i++)
	{
		uint64_t	a = random8();
		uint64_t	b = random8();
		int			order = compare(float8_number(a), float8_number(b));
		uint64_t	image_a = float8_image(a);
		uint64_t	image_b = float8_image(b);

		assert_true(float8_image_bits(image_a) == a);
		if (order != 0)
			assert_int_equal(image_a < image_b, order < 0);
		assert_int_equal(float8_equals(a) == float8_equals(b), order == 0);
		if (order != 0)
			assert_int_equal(float8_image(float8_equals(a)) < float8_image(float8_equals(b)), order < 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_float4),
		cmocka_unit_test(test_float8),
	};

	unit_seed("float_image_test");
	return cmocka_run_group_tests_name("float_image", tests, NULL, NULL);
}
