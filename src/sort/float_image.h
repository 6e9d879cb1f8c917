/*
 * float_image.h
 *		float4 as integers in PostgreSQL's order, in which NaN of either sign is
 *		last.
 *
 * The bits of a negative number count downwards, so they are inverted.  That makes
 * NaNs with a negative sign the smallest images; subtracting NEGATIVE_NANS wraps
 * them round to the largest.  The mapping is one to one: every number comes back
 * with the bits that it had, -0 and NaNs included.
 */
#ifndef HPSORT_FLOAT_IMAGE_H
#define HPSORT_FLOAT_IMAGE_H

#include <stdint.h>
#include <string.h>

#define FLOAT_IMAGE_NEGATIVE_NANS UINT32_C(0x7FFFFF)

static inline int32_t
float_image(uint32_t bits)
{
	return (int32_t) ((bits >> 31 ? bits ^ UINT32_C(0x7FFFFFFF) : bits) - FLOAT_IMAGE_NEGATIVE_NANS);
}

static inline uint32_t
float_image_bits(int32_t image)
{
	uint32_t	bits = (uint32_t) image + FLOAT_IMAGE_NEGATIVE_NANS;

	return bits >> 31 ? bits ^ UINT32_C(0x7FFFFFFF) : bits;
}

/* The same image for numbers that PostgreSQL takes for equal: both zeros, all NaNs. */
static inline int32_t
float_image_of_equals(uint32_t bits)
{
	if ((bits & UINT32_C(0x7FFFFFFF)) > UINT32_C(0x7F800000))
		return INT32_MAX;
	return float_image(bits == UINT32_C(0x80000000) ? 0 : bits);
}

static inline float
float_image_value(int32_t image)
{
	uint32_t	bits = float_image_bits(image);
	float		value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

#endif							/* HPSORT_FLOAT_IMAGE_H */
