/*
 * numeric_unit.c
 *		Numerics of few digits as integers (see numeric_unit.h).
 *
 * A stored numeric is a header, of 16 bits or 32, and digits of base 10,000, without zeros behind
 * the last one.  PostgreSQL keeps this format to itself (numeric.c), but has not changed it since
 * version 9.1, because tables of pg_upgrade have it.
 */
#include "postgres.h"

#include <float.h>

#include "access/detoast.h"
#include "catalog/pg_type.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "pg/compat.h"
#include "pg/numeric_sum.h"
#include "pg/values/numeric_unit.h"

/* Decimal digits of an integer, and of a stored digit. */
#define MOST_DIGITS 18
#define STORED_DIGITS 4

/* The header's first 16 bits.  Bits 14 and 15 are the sign, or say what the others are. */
#define HEADER_KIND		0xC000
#define HEADER_NEGATIVE	0x4000
#define HEADER_SHORT	0x8000
#define HEADER_SPECIAL	0xC000
#define HEADER_NAN		0xC000
#define HEADER_DSCALE	0x3FFF	/* of a long header */

/* Of a short header, which has no more. */
#define SHORT_NEGATIVE	0x2000
#define SHORT_DSCALE	0x1F80
#define SHORT_DSCALE_SHIFT	7
#define SHORT_WEIGHT	0x007F	/* signed */

static const int64 powers[MOST_DIGITS + 1] = {
	INT64CONST(1),
	INT64CONST(10),
	INT64CONST(100),
	INT64CONST(1000),
	INT64CONST(10000),
	INT64CONST(100000),
	INT64CONST(1000000),
	INT64CONST(10000000),
	INT64CONST(100000000),
	INT64CONST(1000000000),
	INT64CONST(10000000000),
	INT64CONST(100000000000),
	INT64CONST(1000000000000),
	INT64CONST(10000000000000),
	INT64CONST(100000000000000),
	INT64CONST(1000000000000000),
	INT64CONST(10000000000000000),
	INT64CONST(100000000000000000),
	INT64CONST(1000000000000000000)
};

/* The typmod has the precision in its upper half, and the scale, signed, in its lower 11 bits. */
bool
numeric_unit_find(Oid type, int32 typmod, NumericUnit *unit)
{
	int			precision;
	int			scale;

	if (type != NUMERICOID)
		type = getBaseTypeAndTypmod(type, &typmod);
	if (type != NUMERICOID || typmod < (int32) VARHDRSZ)
		return false;
	typmod -= VARHDRSZ;
	precision = (typmod >> 16) & 0xFFFF;
	scale = ((typmod & 0x7FF) ^ 1024) - 1024;
	/* Values of numeric(3,-2) are whole hundreds, of up to five digits. */
	if (scale < 0)
		precision -= scale;
	unit->digits = (int16) Min(precision, MOST_DIGITS + 1);
	unit->scale = (int16) Max(scale, 0);
	return precision <= MOST_DIGITS && scale <= MOST_DIGITS;
}

int64
numeric_unit_nan(NumericUnit unit)
{
	return powers[unit.digits];
}

pg_noreturn static void
complain_about_value(NumericUnit unit)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("stored numeric does not fit the type of its column"),
			 errdetail("The type has %d digits, %d of them after the decimal point.",
					   (int) unit.digits, (int) unit.scale)));
}

/* Returns a stored digit, at whichever address. */
static inline uint64
digit_at(const char *digits, int i)
{
	uint16		digit;

	memcpy(&digit, digits + i * sizeof(digit), sizeof(digit));
	return digit;
}

/* Returns a stored digit without one to three of its decimal digits. */
static inline uint64
cut_digit(uint64 digit, int cut)
{
	return cut == 1 ? digit / 10 : cut == 2 ? digit / 100 : digit / 1000;
}

/* Returns the integer of digits, the first of which is a multiple of 10,000^weight. */
static pg_attribute_always_inline int64
integer_of_digits(NumericUnit unit, const char *digits, int ndigits, int weight)
{
	/* Decimal digits before the unit, and zeros to append to the last stored digit. */
	int			most = STORED_DIGITS * (weight + 1) + unit.scale;
	int			zeros = most - STORED_DIGITS * ndigits;
	unsigned	__int128 value = 0;
	uint64		narrow = 0;
	int			i;

	if (ndigits == 0)
		return 0;
	/* The first digit may have up to three leading zeros, the last one as many behind it. */
	if (most > MOST_DIGITS + STORED_DIGITS || zeros <= -STORED_DIGITS || zeros > MOST_DIGITS)
		complain_about_value(unit);
	if (unlikely(most > MOST_DIGITS))
	{
		for (i = 0; i < ndigits; i++)
			value = value * 10000 + digit_at(digits, i);
		if (zeros >= 0)
			value *= (uint64) powers[zeros];
		else
			value /= (uint64) powers[-zeros];
		if (value >= (uint64) powers[unit.digits])
			complain_about_value(unit);
		return (int64) value;
	}
	/* It has 64 bits for certain, and needs no division. */
	for (i = 0; i < ndigits - 1; i++)
		narrow = narrow * 10000 + digit_at(digits, i);
	if (zeros >= 0)
		narrow = (narrow * 10000 + digit_at(digits, i)) * (uint64) powers[zeros];
	else
		narrow = narrow * (uint64) powers[STORED_DIGITS + zeros] +
			cut_digit(digit_at(digits, i), -zeros);
	if (narrow >= (uint64) powers[unit.digits])
		complain_about_value(unit);
	return (int64) narrow;
}

/* Returns the integer of a value whose bytes, behind the varlena's header, are these. */
static pg_attribute_always_inline int64
integer_of_bytes(NumericUnit unit, const char *bytes, int size)
{
	uint16		header;
	int16		weight;
	int			dscale;
	bool		negative;
	int64		value;

	memcpy(&header, bytes, sizeof(header));
	if ((header & HEADER_KIND) == HEADER_SHORT)
	{
		dscale = (header & SHORT_DSCALE) >> SHORT_DSCALE_SHIFT;
		weight = (int16) (((header & SHORT_WEIGHT) ^ 0x40) - 0x40);
		negative = (header & SHORT_NEGATIVE) != 0;
		bytes += sizeof(header);
		size -= sizeof(header);
	}
	else if ((header & HEADER_KIND) == HEADER_SPECIAL)
	{
		if (header != HEADER_NAN)
			complain_about_value(unit);
		return powers[unit.digits];
	}
	else
	{
		dscale = header & HEADER_DSCALE;
		negative = (header & HEADER_KIND) == HEADER_NEGATIVE;
		memcpy(&weight, bytes + sizeof(header), sizeof(weight));
		bytes += sizeof(header) + sizeof(weight);
		size -= sizeof(header) + sizeof(weight);
	}
	if (dscale != unit.scale)
		complain_about_value(unit);
	value = integer_of_digits(unit, bytes, size / (int) sizeof(int16), weight);
	return negative ? -value : value;
}

int64
numeric_unit_value(NumericUnit unit, const char *stored)
{
	struct varlena *whole;
	int64		value;

	if (likely(VARATT_IS_SHORT(stored)))
		return integer_of_bytes(unit, VARDATA_SHORT(stored),
								VARSIZE_SHORT(stored) - VARHDRSZ_SHORT);
	if (!VARATT_IS_EXTENDED(stored))
		return integer_of_bytes(unit, VARDATA(stored), VARSIZE(stored) - VARHDRSZ);
	/* Few digits are never compressed, nor stored out of line. */
	whole = detoast_attr((struct varlena *) unconstify(char *, stored));
	value = integer_of_bytes(unit, VARDATA(whole), VARSIZE(whole) - VARHDRSZ);
	pfree(whole);
	return value;
}

/* Compares as a btree's operator class does. */
static int
numeric_cmp_to(Datum a, Datum b)
{
	return DatumGetInt32(DirectFunctionCall2(numeric_cmp, a, b));
}

int64
numeric_unit_ceil(NumericUnit unit, Datum value, bool *between)
{
	Datum		most = NumericGetDatum(int64_to_numeric(powers[unit.digits]));
	Datum		integer;

	*between = true;
	if (numeric_is_nan(DatumGetNumeric(value)))
	{
		*between = false;
		return powers[unit.digits];
	}
	/* Of a value that is too large already, the product may be too large for a numeric. */
	if (numeric_cmp_to(value, most) < 0 &&
		numeric_cmp_to(DirectFunctionCall1(numeric_uminus, value), most) < 0)
		value = DirectFunctionCall2(numeric_mul, value,
									NumericGetDatum(int64_to_numeric(powers[unit.scale])));
	if (numeric_cmp_to(value, most) >= 0)
		return powers[unit.digits];
	if (numeric_cmp_to(DirectFunctionCall1(numeric_uminus, value), most) >= 0)
		return -powers[unit.digits];
	integer = DirectFunctionCall1(numeric_ceil, value);
	*between = !DatumGetBool(DirectFunctionCall2(numeric_eq, integer, value));
	return DatumGetInt64(DirectFunctionCall1(numeric_int8, integer));
}

Datum
numeric_unit_datum(NumericUnit unit, int64 value)
{
	if (value == powers[unit.digits])
		return DirectFunctionCall3(numeric_in, CStringGetDatum("NaN"),
								   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
	return NumericGetDatum(int64_div_fast_to_numeric(value, unit.scale));
}

float8
numeric_unit_float8(NumericUnit unit, int64 value)
{
	/* Both are exact up to 2^53 and 10^22, so that the quotient is the nearest float8. */
	if (value >= -(INT64CONST(1) << DBL_MANT_DIG) && value <= INT64CONST(1) << DBL_MANT_DIG &&
		value != powers[unit.digits])
		return (float8) value / (float8) powers[unit.scale];
	return DatumGetFloat8(DirectFunctionCall1(numeric_float8, numeric_unit_datum(unit, value)));
}

Datum
numeric_unit_sum(NumericUnit unit, __int128 sum)
{
	if (sum >= PG_INT64_MIN && sum <= PG_INT64_MAX)
		return NumericGetDatum(int64_div_fast_to_numeric((int64) sum, unit.scale));
	return DirectFunctionCall2(numeric_mul, numeric_from_sum(sum),
							   NumericGetDatum(int64_div_fast_to_numeric(1, unit.scale)));
}
