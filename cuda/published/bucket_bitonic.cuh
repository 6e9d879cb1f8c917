/*-------------------------------------------------------------------------
 *
 * bucket_bitonic.cuh
 *	  The parts of bucket_bitonic: the order of elements, the sort of one pass, the merge of two
 *	  lists, several devices.
 *
 * Keys stay in memory with their own bits and are mapped to unsigned numbers in the order asked for
 * when they are loaded.
 *
 * For bucket_bitonic.cu, bucket_merge.cu, many_gpus.cu and the callers of these in published*.cu.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_PUBLISHED_BUCKET_BITONIC_CUH
#define HPSORT_PUBLISHED_BUCKET_BITONIC_CUH

#include <functional>

#include "published/published.cuh"
#include "published/shares.cuh"

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

/* Keys and their payload, which is null if there is none. */
struct Elements
{
	uint32_t   *keys;
	uint32_t   *payload;

	/* returns the elements from this offset on */
	Elements	from(uint64_t offset) const
	{
		return {keys + offset, payload ? payload + offset : nullptr};
	}
};

/* Copies n elements from one place of the device to another. */
inline void
copy_elements(cudaStream_t stream, const Elements &to, const Elements &from, uint64_t n)
{
	check(cudaMemcpyAsync(to.keys, from.keys, n * 4, cudaMemcpyDeviceToDevice, stream),
		  "copy the keys");
	if (from.payload)
		check(cudaMemcpyAsync(to.payload, from.payload, n * 4, cudaMemcpyDeviceToDevice, stream),
			  "copy the payload");
}

/* The parameters: the authors' choice, or the caller's. */
struct Shape
{
	explicit Shape(const HpsortPublishedOptions &options)
		: slice_expected(option_or(options.slice_expected, 80)),
		  bucket_most(option_or(options.bucket_most, 512)),
		  disorder_limit(options.disorder_limit > 0 ? options.disorder_limit : 10) {}

	uint32_t	slice_expected; /* E */
	uint32_t	bucket_most;	/* M */
	double		disorder_limit; /* C */
};

/* Memory for a second list of the task's length, taken at its first use: most inputs need none
 * besides the output.  If the task has input_is_spare, it is the input's memory. */
class Spare
{
public:
	Spare(const Task &task) : task_(task) {}
	Elements get();
	/* returns the bytes of a second list */
	static uint64_t need(bool payload, uint64_t n);

private:
	const Task &task_;
	DeviceBuffer memory_;
	Elements	elements_ = {};
};

/* Sorts task.keys[first, first + n) into the same places of the output.  n is at most 2^31.  *lo
 * and *hi receive the extreme keys as numbers in order (to_ordered()). */
void		bitonic_pass(const Task &task, uint64_t first, uint64_t n, Spare *spare,
						 uint32_t *lo, uint32_t *hi);
uint64_t	bitonic_pass_need(const HpsortPublishedOptions &options, uint64_t n);

/* Merges two sorted lists into out, on the stream.  a and b are kept. */
void		merge_lists(HpsortCuda *context, cudaStream_t stream, const Order &order,
						const Elements &a, uint64_t a_n, const Elements &b,
						uint64_t b_n, const Elements &out);
uint64_t	merge_need(uint64_t a_n, uint64_t b_n);

/*
 * Merges sorted parts, which lie side by side in one, two by two.  Part i ends at ends[i].  other
 * is as large as one.  Calls between() before each merge.  Returns where the result is: one or
 * other.
 */
Elements	merge_parts(HpsortCuda *context, cudaStream_t stream, const Order &order,
						const Elements &one, const Elements &other,
						std::vector<uint64_t> ends,
						const std::function<void()> &between);

/* Merges sorted parts of the task's output, where the result then is. */
void		merge_output(const Task &task, const Elements &other,
						 const std::vector<uint64_t> &ends);

/* ---- many_gpus.cu ---- */

/*
 * Does what sort_on() does for a task with input_is_spare whose n keys are on several devices.
 * The first `own` keys are where the task says; others have the rest.  Each device sorts its keys
 * if it has room for this.  task.keys must have room for all keys.  Waits.  Returns how many
 * devices have sorted.
 */
size_t		sort_shared(const Task &task, const HpsortPublishedSpec *spec,
						uint64_t own, const std::vector<Share *> &others);

} /* namespace published */
} /* namespace hpsort */

#endif							/* HPSORT_PUBLISHED_BUCKET_BITONIC_CUH */
