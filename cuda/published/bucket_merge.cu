/*-------------------------------------------------------------------------
 *
 * bucket_merge.cu
 *	  bucket_bitonic for lists of any length: the merge of sorted lists, and cut, sort, merge.
 *
 * S. Chen, J. Qin, Y. Xie, J. Zhao, P.-A. Heng 2009, section V.  Two levels of task
 * division:
 *
 * - A list is cut into segments of N = 2048 elements, one for each block.  The first element of
 *   each segment is looked up in the other list by binary search (the pivots).
 * - Within a segment each thread has four elements in a row.  It finds the place of the first one
 *   in the other list between the segment's two pivots by binary search, and of the other three
 *   by going on from there.
 *
 * In the paper, the threads that hold A also move the elements of B that lie between theirs; if
 * the lists were cut from a sorted one, the last thread moves all of B.  Here B's elements find
 * their places in A by the same steps, so that each thread moves its own four.  Going on turns
 * into a binary search after eight elements.
 *
 * Of equal elements, the one of the list that was cut off first goes first.  If the order is to be
 * stable and payloads are row numbers, the smaller payload goes first: several devices have rows
 * of a job in turn.
 *
 * Bytes moved per element and level of merging: 4 read, 4 searched, 4 written, and as many for a
 * payload; log2(parts) levels.  On an H100, 64e6 int4 in four parts take 8 % longer than in one
 * pass.
 *
 *-------------------------------------------------------------------------
 */
#include "published/bucket_bitonic.cuh"

#include <algorithm>

namespace hpsort
{
namespace published
{

namespace
{

constexpr uint32_t segment = 2048;		/* N */
constexpr uint32_t thread_elements = 4;
constexpr unsigned threads = segment / thread_elements;
constexpr uint32_t linear_steps = 8;

/* A pass of this length needs half a megabyte: shorter ones are not worth another merge. */
constexpr uint64_t shortest_pass = 1u << 16;

uint64_t
segments(uint64_t n)
{
	return (n + segment - 1) / segment;
}

/* The list in which an element of another list is to be placed. */
struct Other
{
	const uint32_t *keys;
	const uint32_t *payload;	/* null unless payloads decide the order of equal keys */
	bool		equal_first;	/* otherwise: whether equal keys of this list go first */
};

/* Returns whether the list's i-th element goes before an element of the other list with key u. */
__device__ __forceinline__ bool
goes_before(const Order &order, const Other &other, uint64_t i, uint32_t u,
			uint32_t payload)
{
	const uint32_t v = to_ordered(order, other.keys[i]);

	if (v != u)
		return v < u;
	return other.payload ? other.payload[i] < payload : other.equal_first;
}

/* Returns how many of the list's elements go before an element of the other list; it lies within
 * low to high. */
__device__ __forceinline__ uint64_t
rank_of(const Order &order, const Other &other, uint64_t low, uint64_t high,
		uint32_t u, uint32_t payload)
{
	while (low < high)
	{
		const uint64_t middle = low + (high - low) / 2;

		if (goes_before(order, other, middle, u, payload))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

} /* namespace */

/* Finds the pivots: the rank in the other list of each segment's first element.  One more at the
 * end serves the last segment. */
__global__ void __launch_bounds__(256)
pivots_kernel(Order order, Elements mine, uint64_t n, Other other, uint64_t other_n,
			  uint64_t *pivots)
{
	const uint64_t s = static_cast<uint64_t>(blockIdx.x) * 256 + threadIdx.x;
	const uint64_t count = (n + segment - 1) / segment;

	if (s < count)
		pivots[s] = rank_of(order, other, 0, other_n,
							to_ordered(order, mine.keys[s * segment]),
							other.payload ? mine.payload[s * segment] : 0);
	else if (s == count)
		pivots[s] = other_n;
}

/*
 * Places the elements of a segment of mine.  A position in the result is the position in the
 * element's own list plus the rank in the other.  No two elements get the same place, provided
 * that equal_first is true for exactly one of the lists, or that no payload occurs twice; so
 * nobody has to test whether a place is taken.
 */
__global__ void __launch_bounds__(threads)
place_kernel(Order order, Elements mine, uint64_t n, Other other,
			 const uint64_t *pivots, Elements out)
{
	__shared__ uint32_t part[segment];
	const uint64_t first = static_cast<uint64_t>(blockIdx.x) * segment;
	const uint32_t count =
		static_cast<uint32_t>(n - first < segment ? n - first : segment);
	const uint64_t end = pivots[blockIdx.x + 1];
	uint64_t	rank = pivots[blockIdx.x];
	uint32_t	i = threadIdx.x * thread_elements;

	for (uint32_t k = threadIdx.x; k < count; k += threads)
		part[k] = mine.keys[first + k];
	__syncthreads();
	for (uint32_t e = 0; e < thread_elements && i < count; e++, i++)
	{
		const uint32_t bits = part[i];
		const uint32_t payload = mine.payload ? mine.payload[first + i] : 0;
		const uint32_t u = to_ordered(order, bits);
		uint32_t	steps = e == 0 ? linear_steps : 0;

		for (; steps < linear_steps && rank < end; steps++, rank++)
			if (!goes_before(order, other, rank, u, payload))
				break;
		if (steps == linear_steps)
			rank = rank_of(order, other, rank, end, u, payload);
		out.keys[first + i + rank] = bits;
		if (mine.payload)
			out.payload[first + i + rank] = payload;
	}
}

uint64_t
merge_need(uint64_t a_n, uint64_t b_n)
{
	return array_bytes(segments(a_n) + 1, 8) + array_bytes(segments(b_n) + 1, 8);
}

/* Of equal elements, the one of a goes first, or the smaller payload if the order is stable.  Both
 * orders agree if a came first in the list that was cut. */
void
merge_lists(HpsortCuda *context, cudaStream_t stream, const Order &order,
			const Elements &a, uint64_t a_n, const Elements &b, uint64_t b_n,
			const Elements &out)
{
	DeviceBuffer memory(context, stream, merge_need(a_n, b_n), "pivots");
	Carver		carver(memory);
	uint64_t   *a_pivots = carver.take<uint64_t>(segments(a_n) + 1);
	uint64_t   *b_pivots = carver.take<uint64_t>(segments(b_n) + 1);

	auto		place = [&](const Elements &mine, uint64_t n, const Elements &with,
							uint64_t other_n, bool equal_first, uint64_t *pivots) {
		const Other other = {with.keys, order.stable ? with.payload : nullptr,
			equal_first};

		if (n == 0)
			return;
		pivots_kernel<<<blocks_for_each(segments(n) + 1, 256), 256, 0, stream>>>
			(order, mine, n, other, other_n, pivots);
		check_launch("find the pivots");
		place_kernel<<<static_cast<unsigned>(segments(n)), threads, 0, stream>>>
			(order, mine, n, other, pivots, out);
		check_launch("merge");
	};

	place(a, a_n, b, b_n, false, a_pivots);
	place(b, b_n, a, a_n, true, b_pivots);
}

/* An odd part out is copied along, as a merge with nothing.  Only neighbours are merged, so that
 * equal elements stay in the order of the parts. */
Elements
merge_parts(HpsortCuda *context, cudaStream_t stream, const Order &order,
			const Elements &one, const Elements &other, std::vector<uint64_t> ends,
			const std::function<void()> &between)
{
	Elements	from = one;
	Elements	to = other;

	while (ends.size() > 1)
	{
		std::vector<uint64_t> next;
		uint64_t	start = 0;

		for (size_t i = 0; i < ends.size(); i += 2)
		{
			const uint64_t middle = ends[i];
			const uint64_t end = i + 1 < ends.size() ? ends[i + 1] : middle;

			between();
			merge_lists(context, stream, order, from.from(start), middle - start,
						from.from(middle), end - middle, to.from(start));
			next.push_back(end);
			start = end;
		}
		ends.swap(next);
		std::swap(from, to);
	}
	return from;
}

void
merge_output(const Task &task, const Elements &other, const std::vector<uint64_t> &ends)
{
	const Elements out = {task.out, task.payload_out};

	task.clock->phase("merge");

	const Elements result = merge_parts(task.context, task.stream, order_of(*task.spec),
										out, other, ends, [&] { step(task); });

	/* after an odd number of rounds the result is in other */
	if (result.keys != out.keys)
		copy_elements(task.stream, out, result, task.n);
}

Elements
Spare::get()
{
	if (task_.input_is_spare)
		return {const_cast<uint32_t *>(task_.keys),
			const_cast<uint32_t *>(task_.payload)};
	if (elements_.keys == nullptr)
	{
		const bool	payload = task_.payload != nullptr;

		memory_ = DeviceBuffer(task_.context, task_.stream, need(payload, task_.n),
							   "a second list");

		Carver		carver(memory_);

		elements_.keys = carver.take<uint32_t>(task_.n);
		elements_.payload = payload ? carver.take<uint32_t>(task_.n) : nullptr;
	}
	return elements_;
}

uint64_t
Spare::need(bool payload, uint64_t n)
{
	return array_bytes(n, 4) * (payload ? 2 : 1);
}

uint64_t
bucket_bitonic_need(const HpsortPublishedSpec &spec, uint64_t n, bool own_spare)
{
	const uint64_t pass_keys = spec.pass_keys > 0 ? spec.pass_keys :
		HPSORT_PUBLISHED_PASS_KEYS;
	const uint64_t pass = bitonic_pass_need(spec.options, std::min(n, pass_keys));
	const uint64_t merge = n > pass_keys ? merge_need(n, n) : 0;

	return (own_spare ? Spare::need(spec.payload != 0, n) : 0) + std::max(pass, merge);
}

/* Makes as few parts as possible: each doubling is one more merge of everything. */
uint64_t
bucket_bitonic_pass_keys(const HpsortPublishedSpec &spec, uint64_t n,
						 uint64_t available)
{
	HpsortPublishedSpec tried = spec;
	uint64_t	parts = (n + HPSORT_PUBLISHED_PASS_KEYS - 1) / HPSORT_PUBLISHED_PASS_KEYS;

	for (parts = parts > 0 ? parts : 1;; parts *= 2)
	{
		const uint64_t pass = (n + parts - 1) / parts;

		tried.pass_keys = pass > 0 ? pass : 1;
		if (pass <= shortest_pass ||
			bucket_bitonic_need(tried, n, false) <= available)
			return tried.pass_keys;
	}
}

/*
 * Lists of more than pass_keys elements are cut into parts of equal length, which are sorted one
 * by one and merged two by two.  The sort of each part finds its extremes, so the bounds are
 * checked here.
 */
void
bucket_bitonic_sort(const Task &task)
{
	const Order order = order_of(*task.spec);
	const uint64_t most = task.spec->pass_keys ? task.spec->pass_keys :
		HPSORT_PUBLISHED_PASS_KEYS;
	const uint64_t parts = (task.n + most - 1) / most;
	Spare		spare(task);
	std::vector<uint64_t> ends;
	uint64_t	start = 0;

	for (uint64_t part = 0; part < parts; part++)
	{
		const uint64_t n = task.n / parts + (part < task.n % parts ? 1 : 0);
		uint32_t	lo;
		uint32_t	hi;

		step(task);
		bitonic_pass(task, start, n, &spare, &lo, &hi);
		start += n;
		ends.push_back(start);
		if (task.spec->bounds_known)
			for (uint32_t ordered : {lo, hi})
			{
				const int32_t key = static_cast<int32_t>(from_ordered(order, ordered));

				if (key < task.spec->lo || key > task.spec->hi)
				{
					task.verdict->keys.key = key;
					task.verdict->keys.n_outside = 1;
				}
			}
	}
	if (parts > 1)
		merge_output(task, spare.get(), ends);
}

} /* namespace published */
} /* namespace hpsort */
