/*-------------------------------------------------------------------------
 *
 * element.cuh
 *	  Elements of bucket_bitonic: keys as unsigned numbers in the order asked for.
 *
 * For the files of bucket_bitonic.  Keys stay in memory with their own bits and are mapped when
 * they are loaded.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_PUBLISHED_ELEMENT_CUH
#define HPSORT_PUBLISHED_ELEMENT_CUH

#include "published/spec.h"

namespace hpsort
{
namespace published
{

/* The order of keys, and what their bits mean. */
struct Order
{
	bool		floats;			/* keys stand for floats (HpsortPublishedSpec.float_images) */
	uint32_t	mask;			/* the bits that differ between a key and its number in order */
	bool		descending;
	bool		stable;			/* payloads decide the order of equal keys */
};

/* Returns the order that a specification asks for. */
inline Order
order_of(const HpsortPublishedSpec &spec)
{
	return {spec.float_images, spec.descending ? 0x7fffffffu : 0x80000000u, spec.descending,
		spec.stable};
}

/* Returns the number whose unsigned order is the order asked for. */
__host__ __device__ inline uint32_t
to_ordered(const Order &order, uint32_t key)
{
	return key ^ order.mask;
}

/* Returns the key: the inverse of to_ordered(). */
__host__ __device__ inline uint32_t
from_ordered(const Order &order, uint32_t ordered)
{
	return ordered ^ order.mask;
}

/*
 * Returns the bits of the number that a key is or stands for.  The order number of a float's image
 * is what the usual mapping of floats gives (all bits of negative numbers are complemented, the
 * sign bit of others is set), less the number of NaNs with a sign.  The mapping has these NaNs
 * below -infinity; the subtraction, modulo 2^32, puts them above infinity, where PostgreSQL has
 * all NaNs.
 */
__host__ __device__ inline uint32_t
number_bits(const Order &order, uint32_t ordered)
{
	constexpr uint32_t signed_nans = 0x007fffffu;
	const uint32_t bits = (from_ordered(order, ordered) ^ 0x80000000u) + signed_nans;

	if (!order.floats)
		return from_ordered(order, ordered);
	return bits & 0x80000000u ? bits & 0x7fffffffu : ~bits;
}

/* Returns whether a key is neither infinite nor NaN (an exponent of all ones). */
__host__ __device__ inline bool
is_finite(const Order &order, uint32_t key)
{
	return !order.floats ||
		(number_bits(order, to_ordered(order, key)) & 0x7f800000u) != 0x7f800000u;
}

} /* namespace published */
} /* namespace hpsort */

#endif							/* HPSORT_PUBLISHED_ELEMENT_CUH */
