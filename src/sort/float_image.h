/*
 * float_image.h
 *		float4 and float8 as integers in PostgreSQL's order, in which NaN of either
 *		sign is last.
 *
 * An image is an unsigned integer.  The bits of a negative number count downwards, so
 * all of them are inverted, and of other numbers the sign bit.  That makes NaNs with a
 * negative sign the smallest images; subtracting their number wraps them round to the
 * largest.  The mapping is one to one: every number comes back with the bits that it
 * had, -0 and NaNs included.
 */
#ifndef HPSORT_FLOAT_IMAGE_H
#define HPSORT_FLOAT_IMAGE_H

#include <stdint.h>
#include <string.h>

#define FLOAT4_SIGN (UINT32_C(1) << 31)
#define FLOAT8_SIGN (UINT64_C(1) << 63)
#define FLOAT4_INFINITY UINT32_C(0x7F800000)
#define FLOAT8_INFINITY UINT64_C(0x7FF0000000000000)
#define FLOAT4_NEGATIVE_NANS ((UINT32_C(1) << 23) - 1)
#define FLOAT8_NEGATIVE_NANS ((UINT64_C(1) << 52) - 1)

/*
 * From the bits of a number to its image, without a branch, which would be mispredicted half of the
 * time.
 */
static inline uint32_t
float4_image(uint32_t bits)
{
	return (bits ^ ((uint32_t) ((int32_t) bits >> 31) | FLOAT4_SIGN)) - FLOAT4_NEGATIVE_NANS;
}

static inline uint64_t
float8_image(uint64_t bits)
{
	return (bits ^ ((uint64_t) ((int64_t) bits >> 63) | FLOAT8_SIGN)) - FLOAT8_NEGATIVE_NANS;
}

/* ... and back. */
static inline uint32_t
float4_image_bits(uint32_t image)
{
	image += FLOAT4_NEGATIVE_NANS;
	return image ^ (image & FLOAT4_SIGN ? FLOAT4_SIGN : UINT32_MAX);
}

static inline uint64_t
float8_image_bits(uint64_t image)
{
	image += FLOAT8_NEGATIVE_NANS;
	return image ^ (image & FLOAT8_SIGN ? FLOAT8_SIGN : UINT64_MAX);
}

/* The image of a float4 as an int4, in the same order: a sorter's key; and back. */
static inline int32_t
float4_key(uint32_t bits)
{
	return (int32_t) (float4_image(bits) ^ FLOAT4_SIGN);
}

static inline uint32_t
float4_key_bits(int32_t key)
{
	return float4_image_bits((uint32_t) key ^ FLOAT4_SIGN);
}

/* The image of a float8 as an int8. */
static inline int64_t
float8_key(uint64_t bits)
{
	return (int64_t) (float8_image(bits) ^ FLOAT8_SIGN);
}

static inline uint64_t
float8_key_bits(int64_t key)
{
	return float8_image_bits((uint64_t) key ^ FLOAT8_SIGN);
}

/* The bits that stand for all numbers that PostgreSQL takes for equal: both zeros, all NaNs. */
static inline uint32_t
float4_equals(uint32_t bits)
{
	if ((bits & ~FLOAT4_SIGN) > FLOAT4_INFINITY)
		return FLOAT4_INFINITY | 1;
	return bits == FLOAT4_SIGN ? 0 : bits;
}

static inline uint64_t
float8_equals(uint64_t bits)
{
	if ((bits & ~FLOAT8_SIGN) > FLOAT8_INFINITY)
		return FLOAT8_INFINITY | 1;
	return bits == FLOAT8_SIGN ? 0 : bits;
}

/* Keys that stand for the keys of all numbers that PostgreSQL takes for equal. */
static inline int32_t
float4_key_equals(int32_t key)
{
	const int32_t zero = float4_key(0);
	const int32_t nan = float4_key(FLOAT4_INFINITY) + 1;

	return key == zero - 1 ? zero : key < nan ? key : nan;
}

static inline int64_t
float8_key_equals(int64_t key)
{
	const int64_t zero = float8_key(0);
	const int64_t nan = float8_key(FLOAT8_INFINITY) + 1;

	return key == zero - 1 ? zero : key < nan ? key : nan;
}

#endif							/* HPSORT_FLOAT_IMAGE_H */
