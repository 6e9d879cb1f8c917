/*-------------------------------------------------------------------------
 *
 * element.cuh
 *	  Elements of bucket_bitonic: int4 and float4 as unsigned numbers in the
 *	  order asked for.
 *
 * Keys stay in memory with their own bits and are mapped when loaded, so that
 * -0 and the payloads of NaNs come out as they went in.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_PUBLISHED_ELEMENT_CUH
#define HPSORT_PUBLISHED_ELEMENT_CUH

#include <cstdint>

#include "published/published.h"

namespace hpsort
{
namespace published
{

struct Order
{
	bool		floats;			/* keys are the bits of floats */
	bool		numbers;		/* they are, or stand for, floats */
	uint32_t	flip;			/* all ones for descending */
	bool		stable;			/* payloads tell the order of equal keys */
};

inline Order
order_of(const HpsortPublishedSpec &spec)
{
	return {spec.type == HPSORT_PUBLISHED_FLOAT4,
		spec.type != HPSORT_PUBLISHED_INT4, spec.descending ? ~0u : 0u,
		spec.stable != 0};
}

/*
 * Floats: the usual mapping (negative numbers complemented, sign bit of the
 * others set) puts NaNs with a sign below -infinity; PostgreSQL has all NaNs
 * above infinity.  Turning the circle by their number (2^23 - 1) takes them
 * there, and leaves a bijection.
 */
static constexpr uint32_t signed_nans = 0x007fffffu;

__host__ __device__ inline uint32_t
to_ordered(const Order &order, uint32_t bits)
{
	if (!order.floats)
		return bits ^ 0x80000000u ^ order.flip;
	bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
	return (bits - signed_nans) ^ order.flip;
}

__host__ __device__ inline uint32_t
from_ordered(const Order &order, uint32_t ordered)
{
	uint32_t	bits = ordered ^ order.flip;

	if (!order.floats)
		return bits ^ 0x80000000u;
	bits += signed_nans;
	return bits & 0x80000000u ? bits & 0x7fffffffu : ~bits;
}

/*
 * The bits of the number that a key is or stands for.  An image is made so that it has
 * the order number of its float.
 */
__host__ __device__ inline uint32_t
number_bits(const Order &order, uint32_t ordered)
{
	return from_ordered({order.numbers, order.numbers, order.flip, false}, ordered);
}

/* Neither infinite nor NaN, whose exponent is all ones; of a key as it is in memory. */
__host__ __device__ inline bool
is_finite(const Order &order, uint32_t key)
{
	return !order.numbers ||
		(number_bits(order, to_ordered(order, key)) & 0x7f800000u) != 0x7f800000u;
}

} /* namespace published */
} /* namespace hpsort */

#endif							/* HPSORT_PUBLISHED_ELEMENT_CUH */
