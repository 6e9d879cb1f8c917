/*-------------------------------------------------------------------------
 *
 * element.cuh
 *	  Elements of bucket_bitonic: int4 and float4 as unsigned numbers in the order asked for.
 *
 * For the files of bucket_bitonic.  Keys stay in memory with their own bits and are mapped when
 * they are loaded, so that -0 and the payloads of NaNs come out as they went in.
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

/* The order of keys, and what their bits mean. */
struct Order
{
	bool		floats;			/* keys are the bits of floats */
	bool		numbers;		/* keys are floats or stand for floats */
	uint32_t	flip;			/* all ones for a descending order */
	bool		stable;			/* payloads decide the order of equal keys */
};

/* Returns the order that a specification asks for. */
inline Order
order_of(const HpsortPublishedSpec &spec)
{
	return {spec.type == HPSORT_PUBLISHED_FLOAT4,
		spec.type != HPSORT_PUBLISHED_INT4, spec.descending ? ~0u : 0u,
		spec.stable != 0};
}

/*
 * Floats have the usual mapping: all bits of negative numbers are complemented, the sign bit of
 * others is set.  It puts NaNs with a sign below -infinity, but PostgreSQL has all NaNs above
 * infinity.  Subtracting the number of NaNs with a sign (2^23 - 1), modulo 2^32, puts them there,
 * and the mapping stays one to one.
 */
static constexpr uint32_t signed_nans = 0x007fffffu;

/* Returns the number whose unsigned order is the order asked for. */
__host__ __device__ inline uint32_t
to_ordered(const Order &order, uint32_t bits)
{
	if (!order.floats)
		return bits ^ 0x80000000u ^ order.flip;
	bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
	return (bits - signed_nans) ^ order.flip;
}

/* Returns the key's bits: the inverse of to_ordered(). */
__host__ __device__ inline uint32_t
from_ordered(const Order &order, uint32_t ordered)
{
	uint32_t	bits = ordered ^ order.flip;

	if (!order.floats)
		return bits ^ 0x80000000u;
	bits += signed_nans;
	return bits & 0x80000000u ? bits & 0x7fffffffu : ~bits;
}

/* Returns the bits of the number that a key is or stands for.  An image has the order number of
 * its float. */
__host__ __device__ inline uint32_t
number_bits(const Order &order, uint32_t ordered)
{
	return from_ordered({order.numbers, order.numbers, order.flip, false}, ordered);
}

/* Returns whether a key, as it is in memory, is neither infinite nor NaN (an exponent of all
 * ones). */
__host__ __device__ inline bool
is_finite(const Order &order, uint32_t key)
{
	return !order.numbers ||
		(number_bits(order, to_ordered(order, key)) & 0x7f800000u) != 0x7f800000u;
}

} /* namespace published */
} /* namespace hpsort */

#endif							/* HPSORT_PUBLISHED_ELEMENT_CUH */
