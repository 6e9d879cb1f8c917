/*-------------------------------------------------------------------------
 *
 * bucket_lists.cuh
 *	  The kernels of bucket_bitonic.cu: lists, their slices and buckets, and the bitonic sort of a
 *	  bucket.
 *
 * Included by bucket_bitonic.cu only.  All kernels but the last take many lists at once: few
 * distinct values leave tens of thousands of small lists for the next level.  Lists are the
 * grid's second dimension, which holds at most 65,535 blocks and is walked with its stride.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_PUBLISHED_BUCKET_LISTS_CUH
#define HPSORT_PUBLISHED_BUCKET_LISTS_CUH

#include "published/bucket_bitonic.cuh"
#include "common/device.cuh"

namespace hpsort
{
namespace published
{

namespace
{

constexpr unsigned threads = 256;
constexpr uint32_t walk = 128;				/* slices that a thread joins */
constexpr uint32_t by_value_levels = 2;

/* A list of at least this many elements gets the whole device to itself. */
constexpr uint64_t large_list = 1u << 20;

/* Blocks of a launch over many lists. */
constexpr unsigned most_blocks = 1u << 14;

/* A list to be sorted.  Extremes are numbers in the order asked for. */
struct List
{
	uint64_t	offset;			/* of its first element, among all elements of the task */
	uint32_t	n;
	uint32_t	slices;
	uint32_t	first_slice;
	uint32_t	lo;
	uint32_t	hi;
	uint32_t	finite_lo;		/* floats: extremes without infinities and NaNs */
	uint32_t	finite_hi;
	uint32_t	by_value;
	uint32_t	by_payload;		/* keys are equal; the list is ordered by payloads */
	uint64_t	scale;			/* by order number: slices per number, times 2^32 */
	double		start;			/* by value: where the first slice starts */
	double		per_value;		/* by value: slices per unit */
};

/* A bucket to be sorted by the network, or with too many elements a list of the next level. */
struct Bucket
{
	uint64_t	offset;
	uint32_t	n;
	uint32_t	by_payload;		/* as in its list */
};

/* What the kernels of one level count. */
struct Counters
{
	uint32_t	buckets;
	uint32_t	crowded;
	double		disorder;		/* sum of all steps between neighbours */
};

__device__ __forceinline__ uint32_t
warp_min(uint32_t x)
{
	for (int s = 16; s > 0; s /= 2)
		x = min(x, __shfl_xor_sync(0xffffffffu, x, s));
	return x;
}

__device__ __forceinline__ uint32_t
warp_max(uint32_t x)
{
	for (int s = 16; s > 0; s /= 2)
		x = max(x, __shfl_xor_sync(0xffffffffu, x, s));
	return x;
}

/* Returns a value that ascends in the order asked for.  A double holds every int4 and every
 * float4 exactly, and differences of them do not overflow. */
__host__ __device__ inline double
value_of(const Order &order, uint32_t ordered)
{
	const uint32_t bits = number_bits(order, ordered);
	double		value;

#ifdef __CUDA_ARCH__
	value = order.floats ? static_cast<double>(__uint_as_float(bits)) :
		static_cast<double>(static_cast<int32_t>(bits));
#else
	float		f;

	memcpy(&f, &bits, sizeof(f));
	value = order.floats ? static_cast<double>(f) :
		static_cast<double>(static_cast<int32_t>(bits));
#endif
	return order.descending ? -value : value;
}

/* Returns the number by which a list orders its i-th element. */
__device__ __forceinline__ uint32_t
number_of(const Order &order, const List &list, const Elements &elements, uint64_t i)
{
	return list.by_payload ? elements.payload[list.offset + i] :
		to_ordered(order, elements.keys[list.offset + i]);
}

/*
 * Returns the slice of an element.  It never decreases with the element, whatever rounding does;
 * therefore slices can be sorted one by one.  By order number the product fits in 64 bits,
 * because scale times the range is not more than slices times 2^32.
 */
__device__ __forceinline__ uint32_t
slice_of(const Order &order, const List &list, uint32_t ordered)
{
	uint32_t	slice;

	if (!list.by_value)
		return static_cast<uint32_t>(
			(ordered - list.lo) * list.scale >> 32);
	if (ordered <= list.finite_lo)
		return 0;
	if (ordered > list.finite_hi)
		return list.slices - 1;
	slice = static_cast<uint32_t>((value_of(order, ordered) - list.start) *
								  list.per_value);
	return min(slice, list.slices - 1);
}

/* Returns the place where a slice starts within its list.  sums are inclusive and go on over all
 * lists of a launch, whose slices lie one after the other. */
__device__ __forceinline__ uint32_t
slice_start(const uint32_t *sums, const List &list, uint32_t slice)
{
	const uint32_t first = list.first_slice;

	if (slice == 0)
		return 0;
	return sums[first + slice - 1] - (first > 0 ? sums[first - 1] : 0);
}

} /* namespace */

/*
 * Steps 1 and 5: the extremes of each list, by reduction.  With disorder (for a single list),
 * also the sum of |a[i] - a[i - 1]|.  This sum is rounded in the order in which warps add to it,
 * and may differ from run to run; it affects speed alone.
 */
__global__ void __launch_bounds__(threads)
extremes_kernel(Order order, Elements from, List *lists, uint32_t n_lists,
				bool disorder, Counters *counters)
{
	for (uint32_t l = blockIdx.y; l < n_lists; l += gridDim.y)
	{
		List	   *list = lists + l;
		const uint32_t *keys = from.keys + list->offset;
		const uint64_t n = list->n;
		uint32_t	lo = UINT32_MAX;
		uint32_t	hi = 0;
		uint32_t	finite_lo = UINT32_MAX;
		uint32_t	finite_hi = 0;
		double		sum = 0;

		for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * threads + threadIdx.x;
			 i < n; i += static_cast<uint64_t>(gridDim.x) * threads)
		{
			const uint32_t u = number_of(order, *list, from, i);
			const bool	finite = is_finite(order, keys[i]);

			lo = min(lo, u);
			hi = max(hi, u);
			if (finite)
			{
				finite_lo = min(finite_lo, u);
				finite_hi = max(finite_hi, u);
			}
			if (disorder && i > 0 && finite && is_finite(order, keys[i - 1]))
				sum += fabs(value_of(order, u) -
							value_of(order, to_ordered(order, keys[i - 1])));
		}
		__syncwarp();
		lo = warp_min(lo);
		hi = warp_max(hi);
		finite_lo = warp_min(finite_lo);
		finite_hi = warp_max(finite_hi);
		if (disorder)
			for (int s = 16; s > 0; s /= 2)
				sum += __shfl_xor_sync(0xffffffffu, sum, s);
		if (threadIdx.x % 32 == 0)
		{
			if (lo <= hi)
			{
				atomicMin(&list->lo, lo);
				atomicMax(&list->hi, hi);
			}
			if (finite_lo <= finite_hi)
			{
				atomicMin(&list->finite_lo, finite_lo);
				atomicMax(&list->finite_hi, finite_hi);
			}
			if (disorder && sum > 0)
				atomicAdd(&counters->disorder, sum);
		}
	}
}

/*
 * Algorithm 1, slice division.  With strided, the element's index is blockCount * threadId +
 * blockId instead of blockDim * blockId + threadId.  A launch does the blocks from first_block
 * on.  The atomic's result is the element's place in its slice, which move_to_slices_kernel()
 * needs.
 */
__global__ void __launch_bounds__(threads)
slice_kernel(Order order, Elements from, const List *lists, uint32_t n_lists,
			 bool strided, uint32_t first_block, uint32_t end_block,
			 uint32_t *slice_sizes, uint32_t *offset_in_slice)
{
	for (uint32_t l = blockIdx.y; l < n_lists; l += gridDim.y)
	{
		const List	list = lists[l];
		const uint32_t blocks = (list.n + threads - 1) / threads;
		const uint32_t end = min(blocks, end_block);

		for (uint32_t b = first_block + blockIdx.x; b < end; b += gridDim.x)
		{
			const uint64_t i = strided ?
				static_cast<uint64_t>(blocks) * threadIdx.x + b :
				static_cast<uint64_t>(threads) * b + threadIdx.x;

			if (i < list.n)
			{
				const uint32_t u = number_of(order, list, from, i);

				offset_in_slice[list.offset + i] =
					atomicAdd(&slice_sizes[list.first_slice +
										   slice_of(order, list, u)], 1);
			}
		}
	}
}

/*
 * Algorithm 2, slice merge, by threads that walk `walk` slices each.  Buckets of fewer than two
 * elements are in order and are not listed.  Behind the last slice of a walk comes a slice that
 * does not fit, so that the last bucket is listed, too.
 */
__global__ void __launch_bounds__(threads)
join_kernel(const List *lists, uint32_t n_lists, uint32_t bucket_most,
			const uint32_t *slice_sizes, const uint32_t *sums, Bucket *buckets, Bucket *crowded,
			Counters *counters)
{
	for (uint32_t l = blockIdx.y; l < n_lists; l += gridDim.y)
	{
		const List	list = lists[l];
		const uint32_t walks = (list.slices + walk - 1) / walk;

		for (uint32_t w = blockIdx.x * threads + threadIdx.x; w < walks;
			 w += gridDim.x * threads)
		{
			const uint32_t end = min((w + 1) * walk, list.slices);
			uint64_t	offset = list.offset + slice_start(sums, list, w * walk);
			uint32_t	size = 0;

			for (uint32_t s = w * walk; s <= end; s++)
			{
				const uint32_t more =
					s < end ? slice_sizes[list.first_slice + s] : bucket_most + 1;

				if (size != 0 && size + more > bucket_most)
				{
					const Bucket bucket = {offset, size, list.by_payload};

					if (size > bucket_most)
						crowded[atomicAdd(&counters->crowded, 1)] = bucket;
					else if (size > 1)
						buckets[atomicAdd(&counters->buckets, 1)] = bucket;
					offset += size;
					size = 0;
				}
				size += more;
			}
		}
	}
}

/* Calls use(list, i) for each element i of each list. */
template <typename Use>
__device__ __forceinline__ void
for_each_element(const List *lists, uint32_t n_lists, Use use)
{
	for (uint32_t l = blockIdx.y; l < n_lists; l += gridDim.y)
	{
		const List	list = lists[l];

		for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * threads + threadIdx.x;
			 i < list.n; i += static_cast<uint64_t>(gridDim.x) * threads)
			use(list, i);
	}
}

/* Writes an element to place `to_at`, with its payload if it has one. */
__device__ __forceinline__ void
move_element(const Elements &from, uint64_t from_at, const Elements &to, uint64_t to_at)
{
	to.keys[to_at] = from.keys[from_at];
	if (from.payload)
		to.payload[to_at] = from.payload[from_at];
}

/* Algorithm 3.  Computes an element's slice again: storing it would take as many bytes as the key
 * has. */
__global__ void __launch_bounds__(threads)
move_to_slices_kernel(Order order, Elements from, const List *lists,
					  uint32_t n_lists, const uint32_t *sums,
					  const uint32_t *offset_in_slice, Elements to)
{
	for_each_element(lists, n_lists, [&](const List &list, uint64_t i) {
		const uint32_t s = slice_of(order, list, number_of(order, list, from, i));

		move_element(from, list.offset + i, to,
					 list.offset + slice_start(sums, list, s) + offset_in_slice[list.offset + i]);
	});
}

/* Copies lists of a deeper level back to where they were. */
__global__ void __launch_bounds__(threads)
copy_lists_kernel(Elements from, const List *lists, uint32_t n_lists, Elements to)
{
	for_each_element(lists, n_lists, [&](const List &list, uint64_t i) {
		move_element(from, list.offset + i, to, list.offset + i);
	});
}

/*
 * Section IV: the bitonic sort of a bucket.  T holds an element: its order number, above its
 * payload if it has one.  So padding (all ones) is never written in place of an element, and
 * equal keys end in the order of their payloads.  In a step each thread has a pair of elements
 * that no other thread touches; therefore one barrier a step is enough.  bucket_most is M, a
 * compile-time constant, so that the network is unrolled.
 */
template <typename T, uint32_t bucket_most>
__global__ void __launch_bounds__(bucket_most / 2)
bitonic_kernel(Order order, const Bucket *buckets, Elements elements)
{
	__shared__ T part[bucket_most];
	const Bucket bucket = buckets[blockIdx.x];
	const Elements here = {elements.keys + bucket.offset,
		elements.payload ? elements.payload + bucket.offset : nullptr};
	constexpr bool pairs = sizeof(T) == 8;

	for (uint32_t i = threadIdx.x; i < bucket_most; i += blockDim.x)
	{
		T			element = ~static_cast<T>(0);

		if (i < bucket.n)
		{
			element = to_ordered(order, here.keys[i]);
			if constexpr (pairs)
				element = element << 32 | here.payload[i];
		}
		part[i] = element;
	}
	for (uint32_t k = 2; k <= bucket_most; k *= 2)
		for (uint32_t j = k / 2; j > 0; j /= 2)
		{
			/* the pair of this thread: i without bit j, and i with bit j */
			const uint32_t i = 2 * threadIdx.x - (threadIdx.x & (j - 1));

			__syncthreads();

			const T		a = part[i];
			const T		b = part[i + j];

			if ((a > b) == ((i & k) == 0))
			{
				part[i] = b;
				part[i + j] = a;
			}
		}
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < bucket.n; i += blockDim.x)
	{
		const T		element = part[i];

		if constexpr (pairs)
		{
			here.keys[i] = from_ordered(order, static_cast<uint32_t>(element >> 32));
			here.payload[i] = static_cast<uint32_t>(element);
		}
		else
			here.keys[i] = from_ordered(order, element);
	}
}

} /* namespace published */
} /* namespace hpsort */

#endif							/* HPSORT_PUBLISHED_BUCKET_LISTS_CUH */
