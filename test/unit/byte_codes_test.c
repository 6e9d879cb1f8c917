/*
 * byte_codes_test.c
 *		Codes of keys whose bytes take few values: in the order of the keys, different
 *		for different keys, and no more of them than the bytes make.
 */
#include "unit.h"

#include <stdlib.h>

#include "sort/byte_codes.h"

#define MOST_KEYS 2000

static int
compare_keys(const void *a, const void *b)
{
	uint64_t	left = *(const uint64_t *) a;
	uint64_t	right = *(const uint64_t *) b;

	return left < right ? -1 : left > right;
}

/* How many of n keys are different without their last so many bits. */
static size_t
count_leading(uint64_t *keys, size_t n, int bits)
{
	size_t		different = 1;

	qsort(keys, n, sizeof(uint64_t), compare_keys);
	for (size_t i = 1; i < n && bits < 64; i++)
		different += keys[i] >> bits != keys[i - 1] >> bits;
	return different;
}

/* n random keys with most values or fewer at each place; *product is set to the codes there are. */
static void
make_keys(uint64_t *keys, size_t n, unsigned most, unsigned __int128 *product)
{
	for (size_t i = 0; i < n; i++)
		keys[i] = 0;
	*product = 1;
	for (int place = 0; place < BYTE_CODES_PLACES; place++)
	{
		unsigned	values = 1 + unit_random() % most;
		uint8_t		value[256];
		char		seen[256] = {0};
		unsigned	different = 0;

		for (unsigned k = 0; k < values; k++)
			value[k] = (uint8_t) unit_random();
		for (size_t i = 0; i < n; i++)
		{
			uint8_t		byte = value[unit_random() % values];

			keys[i] = keys[i] << 8 | byte;
			different += !seen[byte];
			seen[byte] = 1;
		}
		*product *= different;
	}
}

static void
test_codes(void **state)
{
	uint64_t	keys[MOST_KEYS];
	ByteCodes	codes;

	(void) state;
	for (int round = 0; round < 300; round++)
	{
		size_t		n = 1 + unit_random() % MOST_KEYS;
		size_t		some = unit_random() % n;
		unsigned __int128 product;

		make_keys(keys, n, round % 3 == 0 ? 3 : round % 3 == 1 ? 40 : 256, &product);
		byte_codes_begin(&codes);
		byte_codes_see(&codes, keys, some);
		byte_codes_see(&codes, keys + some, n - some);
		for (size_t i = 0; i <= 64; i += 1 + unit_random() % 8)
			assert_true(byte_codes_leading(&codes, (int) i) >= (double) count_leading(keys, n, (int) i));
		assert_true(byte_codes_leading(&codes, 0) == (double) product && byte_codes_leading(&codes, 64) == 1);
		byte_codes_number(&codes);
		assert_true(codes.last == (uint64_t) (product - 1));
		qsort(keys, n, sizeof(uint64_t), compare_keys);
		for (size_t i = 0; i < n; i++)
		{
			assert_true(byte_code(&codes, keys[i]) <= codes.last);
			if (i > 0)
				assert_true((keys[i - 1] < keys[i]) == (byte_code(&codes, keys[i - 1]) < byte_code(&codes, keys[i])));
		}
	}
}

/* All values of a place, the least and the largest key. */
static void
test_extremes(void **state)
{
	uint64_t	keys[256];
	ByteCodes	codes;
	uint64_t	key = UINT64_MAX;

	(void) state;
	byte_codes_begin(&codes);
	byte_codes_see(&codes, &key, 1);
	byte_codes_number(&codes);
	assert_true(codes.last == 0 && byte_code(&codes, key) == 0);

	for (int i = 0; i < 256; i++)
		keys[i] = (uint64_t) i * UINT64_C(0x0101010101010101);
	byte_codes_begin(&codes);
	byte_codes_see(&codes, keys, 256);
	byte_codes_number(&codes);
	assert_true(codes.last == UINT64_MAX);
	for (int i = 0; i < 256; i++)
		assert_true(byte_code(&codes, keys[i]) == keys[i]);
}

/* Hexadecimal digits, whose leading bits take few values. */
static void
test_leading(void **state)
{
	static const char digits[] = "0123456789abcdef";
	ByteCodes	codes;

	(void) state;
	byte_codes_begin(&codes);
	for (int i = 0; i < 16; i++)
	{
		uint64_t	key = (uint64_t) digits[i] * UINT64_C(0x0101010101010101);

		byte_codes_see(&codes, &key, 1);
	}
	assert_true(byte_codes_leading(&codes, 0) == 4294967296.0);
	assert_true(byte_codes_leading(&codes, 16) == 16777216.0);

	/* without the last three bits: 0 to 7, 8 and 9, a to f */
	assert_true(byte_codes_leading(&codes, 19) == 1048576.0 * 3);
	assert_true(byte_codes_leading(&codes, 22) == 1048576.0 * 2);
	assert_true(byte_codes_leading(&codes, 23) == 1048576.0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_codes),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_leading),
	};

	unit_seed("byte_codes_test");
	return cmocka_run_group_tests_name("byte_codes", tests, NULL, NULL);
}
