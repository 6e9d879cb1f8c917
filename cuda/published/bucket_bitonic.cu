/*-------------------------------------------------------------------------
 *
 * bucket_bitonic.cu
 *	  Bucket sort with a bitonic sort of each bucket: one pass.
 *
 * S. Chen, J. Qin, Y. Xie, J. Zhao, P.-A. Heng, "An efficient sorting algorithm
 * with CUDA", 2009, sections II to IV, Algorithms 1 to 3; E = 80 and M = 512 as
 * they chose.  bucket_merge.cu has section V, many_gpus.cu section VI.
 *
 *	1. find the smallest and largest element; equal: done (a flat list)
 *	2. slices of equal width, E elements expected in each; an atomic gives each
 *	   element its place in its slice; prefix sums give the slices' places
 *	3. neighbouring slices join to buckets of at most M elements
 *	4. a block sorts a bucket in shared memory, padded to M elements
 *	5. a slice of more than M elements is a list of its own, from step 1 on
 *
 * A list is nearly sorted when the sum of its steps is less than C = 10 times
 * max - min.  The threads of a block then take elements far apart, because
 * neighbours would queue up for the counter of one slice.
 *
 * What is ours, where the paper is silent:
 *	- step 3 is a loop over all slices; here a thread walks 128 of them, and a
 *	  bucket ends with them (one in fifty is filled less);
 *	- lists of step 5 go together when they are small: few distinct values make
 *	  tens of thousands of them;
 *	- floats are sliced by value, as in the paper, at the first two levels, and
 *	  by their order number below, where every level is sure to split a list;
 *	  infinities and NaNs fall to the outer slices.
 *
 * Not stable: atomics order equal elements.
 *
 * Bytes moved per key: 4 for the extremes (8 with the disorder), 4 + 4 for
 * places, 4 + 4 + 4 + 32 (a sector each) for moving, 8 for sorting; a payload
 * adds 4 + 32 + 8.  Today's hardware (H100, 24e6 int4, 2.1 ms; CUB 0.56): 1.0
 * is moving elements one by one to their slices, which writes 32 bytes for 4,
 * 0.5 the 45 steps of the bitonic network, 0.4 the atomics of the slices, which
 * no longer queue up noticeably on sorted input: the strided way gains nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "bucket_bitonic.cuh"

#include <algorithm>

#include "device.cuh"

namespace hpsort
{
namespace published
{

namespace
{

constexpr uint32_t slice_expected = 80;		/* E */
constexpr uint32_t bucket_most = 512;		/* M */
constexpr double disorder_limit = 10;		/* C */
constexpr unsigned threads = 256;
constexpr uint32_t walk = 128;				/* slices that a thread joins */
constexpr uint32_t by_value_levels = 2;

/* A list of so many elements gets the whole device to itself. */
constexpr uint64_t large_list = 1u << 20;

/* Blocks of a launch over many lists. */
constexpr unsigned most_blocks = 1u << 14;

/* A list to be sorted; extremes in the order asked for. */
struct List
{
	uint64_t	offset;			/* among all elements of the task */
	uint32_t	n;
	uint32_t	slices;
	uint32_t	first_slice;
	uint32_t	lo;
	uint32_t	hi;
	uint32_t	finite_lo;		/* floats: without infinities and NaNs */
	uint32_t	finite_hi;
	uint32_t	by_value;
	uint64_t	scale;			/* slices per step in order, times 2^32 */
	double		start;			/* by value: of the first slice ... */
	double		per_value;		/* ... and slices per unit */
};

struct Bucket
{
	uint64_t	offset;
	uint32_t	n;
	uint32_t	unused;
};

struct Counters
{
	uint32_t	buckets;
	uint32_t	crowded;
	double		disorder;		/* sum of all steps */
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

/* A value that grows in the order asked for. */
__host__ __device__ inline double
value_of(const Order &order, uint32_t ordered)
{
	const uint32_t bits = from_ordered(order, ordered);
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
	return order.flip ? -value : value;
}

/* Never decreases with the element, whatever rounding does. */
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

/* Inclusive sums to the place where a slice starts within its list. */
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
 * Steps 1 and 5's: extremes of each list, by reduction; with disorder (for a
 * single list) also the sum of |a[i] - a[i - 1]|.
 */
__global__ void __launch_bounds__(threads)
extremes_kernel(Order order, const uint32_t *keys, List *lists, uint32_t n_lists,
				bool disorder, Counters *counters)
{
	for (uint32_t l = blockIdx.y; l < n_lists; l += gridDim.y)
	{
		List	   *list = lists + l;
		const uint32_t *from = keys + list->offset;
		const uint64_t n = list->n;
		uint32_t	lo = UINT32_MAX;
		uint32_t	hi = 0;
		uint32_t	finite_lo = UINT32_MAX;
		uint32_t	finite_hi = 0;
		double		sum = 0;

		for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * threads + threadIdx.x;
			 i < n; i += static_cast<uint64_t>(gridDim.x) * threads)
		{
			const uint32_t bits = from[i];
			const uint32_t u = to_ordered(order, bits);
			const bool	finite = !order.floats || is_finite_float(bits);

			lo = min(lo, u);
			hi = max(hi, u);
			if (finite)
			{
				finite_lo = min(finite_lo, u);
				finite_hi = max(finite_hi, u);
			}
			if (disorder && i > 0 && finite &&
				(!order.floats || is_finite_float(from[i - 1])))
				sum += fabs(value_of(order, u) -
							value_of(order, to_ordered(order, from[i - 1])));
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
 * Algorithm 1, slice division.  strided: the element's index is blockCount *
 * threadId + blockId instead of blockDim * blockId + threadId.
 */
__global__ void __launch_bounds__(threads)
slice_kernel(Order order, const uint32_t *keys, const List *lists, uint32_t n_lists,
			 bool strided, uint32_t *slice_sizes, uint32_t *offset_in_slice)
{
	for (uint32_t l = blockIdx.y; l < n_lists; l += gridDim.y)
	{
		const List	list = lists[l];
		const uint32_t blocks = (list.n + threads - 1) / threads;

		for (uint32_t b = blockIdx.x; b < blocks; b += gridDim.x)
		{
			const uint64_t i = strided ?
				static_cast<uint64_t>(blocks) * threadIdx.x + b :
				static_cast<uint64_t>(threads) * b + threadIdx.x;

			if (i < list.n)
			{
				const uint32_t u = to_ordered(order, keys[list.offset + i]);

				offset_in_slice[list.offset + i] =
					atomicAdd(&slice_sizes[list.first_slice +
										   slice_of(order, list, u)], 1);
			}
		}
	}
}

/*
 * Algorithm 2, slice merge, by threads that walk `walk` slices each.  Buckets
 * of fewer than two elements are in order and are not listed.
 */
__global__ void __launch_bounds__(threads)
join_kernel(const List *lists, uint32_t n_lists, const uint32_t *slice_sizes,
			const uint32_t *sums, Bucket *buckets, Bucket *crowded,
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
					const Bucket bucket = {offset, size, 0};

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

/* Algorithm 3. */
__global__ void __launch_bounds__(threads)
move_to_slices_kernel(Order order, Elements from, const List *lists,
					  uint32_t n_lists, const uint32_t *sums,
					  const uint32_t *offset_in_slice, Elements to)
{
	for (uint32_t l = blockIdx.y; l < n_lists; l += gridDim.y)
	{
		const List	list = lists[l];

		for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * threads + threadIdx.x;
			 i < list.n; i += static_cast<uint64_t>(gridDim.x) * threads)
		{
			const uint32_t bits = from.keys[list.offset + i];
			const uint32_t s = slice_of(order, list, to_ordered(order, bits));
			const uint64_t at = list.offset + slice_start(sums, list, s) +
				offset_in_slice[list.offset + i];

			to.keys[at] = bits;
			if (from.payload)
				to.payload[at] = from.payload[list.offset + i];
		}
	}
}

/* Lists of a deeper level go back to where they were. */
__global__ void __launch_bounds__(threads)
copy_lists_kernel(Elements from, const List *lists, uint32_t n_lists, Elements to)
{
	for (uint32_t l = blockIdx.y; l < n_lists; l += gridDim.y)
	{
		const uint64_t offset = lists[l].offset;
		const uint64_t n = lists[l].n;

		for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * threads + threadIdx.x;
			 i < n; i += static_cast<uint64_t>(gridDim.x) * threads)
		{
			to.keys[offset + i] = from.keys[offset + i];
			if (from.payload)
				to.payload[offset + i] = from.payload[offset + i];
		}
	}
}

/*
 * Section IV.  T holds an element: its order number, above its payload if it
 * has one, so that padding (all ones) is never written in place of an element.
 */
template <typename T>
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
			/* the pair of this thread: i without bit j, and with it */
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

namespace
{

/* Blocks for elements in x, lists in y. */
dim3
grid_for(uint64_t elements, uint32_t n_lists)
{
	uint64_t	x = (elements / n_lists + threads - 1) / threads;
	const uint32_t y = n_lists < most_blocks ? n_lists : most_blocks;

	/* a single list gets a thread for each element, as published */
	if (n_lists > 1 && x > most_blocks / y)
		x = most_blocks / y;
	return dim3(static_cast<unsigned>(x > 0 ? x : 1), y);
}

/* Slices by order number: exact, and lo and hi never fall into the same. */
void
slice_by_order(List *list)
{
	const uint64_t range = static_cast<uint64_t>(list->hi) - list->lo + 1;

	list->by_value = 0;
	list->scale = (static_cast<uint64_t>(list->slices) << 32) / range;
}

/*
 * Slices by value: stepWidth = (max - min) E / n.  For int4 both are the same.
 * A difference too small for a division leaves it to the order.
 */
void
slice_by_value(const Order &order, List *list)
{
	const double first = value_of(order, list->finite_lo);
	const double last = value_of(order, list->finite_hi);

	list->by_value = 1;
	list->start = first;
	list->per_value = list->slices / (last - first);
	if (!(list->per_value < 1e300))
		slice_by_order(list);
}

/* What all levels of a pass share. */
struct Pass
{
	const Task &task;
	Order		order;
	Spare	   *spare;
	uint64_t	first;			/* of the task's elements */
	uint64_t	n;
	Elements	out;			/* of the pass */
	DeviceBuffer offsets;		/* offsetInSlice, allocated once */
	DeviceBuffer counters_memory;
	Counters   *counters;
	uint32_t	lo;				/* extremes of all elements */
	uint32_t	hi;
};

template <typename T>
void
copy_in(cudaStream_t stream, T *to, const std::vector<T> &from)
{
	check(cudaMemcpyAsync(to, from.data(), from.size() * sizeof(T),
						  cudaMemcpyHostToDevice, stream), "set the lists");
}

template <typename T>
void
copy_out(cudaStream_t stream, std::vector<T> *to, const T *from)
{
	if (!to->empty())
		check(cudaMemcpyAsync(to->data(), from, to->size() * sizeof(T),
							  cudaMemcpyDeviceToHost, stream), "read the lists");
	check(cudaStreamSynchronize(stream), "read the lists");
}

List
new_list(uint64_t offset, uint32_t n)
{
	List		list = {};

	list.offset = offset;
	list.n = n;
	list.lo = list.finite_lo = UINT32_MAX;
	return list;
}

uint64_t
elements_of(const std::vector<List> &lists)
{
	uint64_t	n = 0;

	for (const List &list : lists)
		n += list.n;
	return n;
}

/* Bounds of what join_kernel lists: two neighbours exceed M, or a walk ends. */
uint64_t
buckets_bound(uint64_t elements, uint64_t slices, uint64_t n_lists)
{
	return 2 * elements / bucket_most + slices / walk + 2 * n_lists + 1;
}

uint64_t
crowded_bound(uint64_t elements)
{
	return elements / bucket_most + 1;
}

/*
 * The extremes of lists in from; flat ones are dropped, being sorted.  At level
 * 0 the disorder is looked at as well, unless it is known.
 */
bool
find_extremes(Pass *pass, const Elements &from, uint32_t level, List *device,
			  std::vector<List> *lists)
{
	const cudaStream_t stream = pass->task.stream;
	const int	known = pass->task.spec->nearly_sorted;
	const bool	disorder = level == 0 && known == 0;
	std::vector<Counters> counters(1);
	bool		nearly = level == 0 && known > 0;

	pass->task.clock->phase("extremes");
	zero(stream, pass->counters, sizeof(Counters));
	copy_in(stream, device, *lists);

	/* by reduction: a few blocks per SM, each over many elements */
	const uint32_t n_lists = static_cast<uint32_t>(lists->size());
	dim3		grid = grid_for(elements_of(*lists), n_lists);

	grid.x = std::min(grid.x, pass->task.context->limits.sms * 8);
	extremes_kernel<<<grid, threads, 0, stream>>>(pass->order, from.keys, device,
												 n_lists, disorder,
												 pass->counters);
	check_launch("find the extremes");
	copy_out(stream, lists, device);
	if (level == 0)
	{
		pass->lo = lists->front().lo;
		pass->hi = lists->front().hi;
	}
	if (disorder)
	{
		const List &list = lists->front();

		copy_out(stream, &counters, pass->counters);
		nearly = list.finite_lo < list.finite_hi &&
			counters[0].disorder <
			disorder_limit * (value_of(pass->order, list.finite_hi) -
							  value_of(pass->order, list.finite_lo));
	}
	lists->erase(std::remove_if(lists->begin(), lists->end(), [](const List &list) {
		return list.lo == list.hi;
	}), lists->end());
	return nearly;
}

/*
 * Steps 1 to 4 for lists that lie in from, at the same places as in the output;
 * crowded receives what is left for the next level.
 */
void
sort_lists(Pass *pass, const Elements &from, uint32_t level,
		   std::vector<List> lists, std::vector<Bucket> *crowded)
{
	const Task &task = pass->task;
	const cudaStream_t stream = task.stream;
	DeviceBuffer lists_memory(task.context, stream, lists.size() * sizeof(List),
							  "lists");
	List	   *device = lists_memory.as<List>();
	const bool	nearly = find_extremes(pass, from, level, device, &lists);
	uint64_t	elements;
	uint64_t	slices = 0;

	if (lists.empty())
		return;
	if (level == 0 && task.clock->report())
		task.clock->report()->nearly_sorted = nearly;
	for (List &list : lists)
	{
		list.slices = std::max(2u, list.n / slice_expected);
		list.first_slice = static_cast<uint32_t>(slices);
		slices += list.slices;
		if (pass->order.floats && level < by_value_levels &&
			list.finite_lo < list.finite_hi)
			slice_by_value(pass->order, &list);
		else
			slice_by_order(&list);
	}
	elements = elements_of(lists);

	const uint32_t n_lists = static_cast<uint32_t>(lists.size());
	const uint64_t most_buckets = buckets_bound(elements, slices, n_lists);
	const uint64_t most_crowded = crowded_bound(elements);
	DeviceBuffer memory(task.context, stream,
						2 * array_bytes(slices, 4) +
						array_bytes(most_buckets, sizeof(Bucket)) +
						array_bytes(most_crowded, sizeof(Bucket)),
						"slices and buckets");
	Carver		carver(memory);
	uint32_t   *slice_sizes = carver.take<uint32_t>(slices);
	uint32_t   *sums = carver.take<uint32_t>(slices);
	Bucket	   *buckets = carver.take<Bucket>(most_buckets);
	Bucket	   *crowded_buckets = carver.take<Bucket>(most_crowded);
	uint32_t   *offset_in_slice = pass->offsets.as<uint32_t>();
	const dim3	grid = grid_for(elements, n_lists);
	const Elements to = level == 0 ? pass->out : pass->spare->get().from(pass->first);
	std::vector<Counters> counters(1);

	task.clock->phase("slice division");
	copy_in(stream, device, lists);
	zero(stream, slice_sizes, slices * sizeof(uint32_t));
	slice_kernel<<<grid, threads, 0, stream>>>(pass->order, from.keys, device,
											  n_lists, nearly, slice_sizes,
											  offset_in_slice);
	check_launch("divide into slices");
	prefix_sums(task.context, stream, slice_sizes, sums, slices);
	task.clock->phase("slice merge");
	join_kernel<<<grid_for(slices / walk + 1, n_lists), threads, 0, stream>>>
		(device, n_lists, slice_sizes, sums, buckets, crowded_buckets,
		 pass->counters);
	check_launch("merge slices to buckets");
	task.clock->phase("move");
	move_to_slices_kernel<<<grid, threads, 0, stream>>>(pass->order, from, device,
													   n_lists, sums,
													   offset_in_slice, to);
	check_launch("move elements to their slices");
	if (level > 0)
	{
		copy_lists_kernel<<<grid, threads, 0, stream>>>(to, device, n_lists,
													   pass->out);
		check_launch("copy lists");
	}
	copy_out(stream, &counters, pass->counters);
	if (counters[0].buckets > 0)
	{
		task.clock->phase("bitonic sort");
		if (pass->out.payload)
			bitonic_kernel<uint64_t><<<counters[0].buckets, bucket_most / 2, 0,
				stream>>>(pass->order, buckets, pass->out);
		else
			bitonic_kernel<uint32_t><<<counters[0].buckets, bucket_most / 2, 0,
				stream>>>(pass->order, buckets, pass->out);
		check_launch("sort buckets");
	}

	std::vector<Bucket> found(counters[0].crowded);

	copy_out(stream, &found, crowded_buckets);
	crowded->insert(crowded->end(), found.begin(), found.end());
}

/* Elements as a const task has them; nothing writes through this. */
Elements
input_of(const Task &task)
{
	return {const_cast<uint32_t *>(task.keys),
		const_cast<uint32_t *>(task.payload)};
}

} /* namespace */

/* List tables and buckets of the first level are the largest. */
uint64_t
bitonic_pass_need(uint64_t n)
{
	const uint64_t lists = crowded_bound(n);
	const uint64_t slices = n / slice_expected + 2 * lists;

	return array_bytes(n, 4) + array_bytes(1, sizeof(Counters)) +
		array_bytes(lists, sizeof(List)) + 2 * array_bytes(slices, 4) +
		array_bytes(buckets_bound(n, slices, lists), sizeof(Bucket)) +
		array_bytes(lists, sizeof(Bucket)) + prefix_sums_need(slices);
}

void
bitonic_pass(const Task &task, uint64_t first, uint64_t n, Spare *spare,
			 uint32_t *lo, uint32_t *hi)
{
	const Elements in = input_of(task).from(first);
	Pass		pass = {task, order_of(*task.spec), spare, first, n,
		Elements{task.out, task.payload_out}.from(first),
		DeviceBuffer(task.context, task.stream, n * 4, "places in slices"),
		DeviceBuffer(task.context, task.stream, sizeof(Counters), "counters"),
		nullptr, 0, 0};
	std::vector<Bucket> crowded;
	std::vector<List> lists(1, new_list(0, static_cast<uint32_t>(n)));
	uint32_t	level = 0;

	pass.counters = pass.counters_memory.as<Counters>();

	sort_lists(&pass, in, level, lists, &crowded);
	*lo = pass.lo;
	*hi = pass.hi;
	if (pass.lo == pass.hi)
	{
		/* flat: nothing was moved */
		check(cudaMemcpyAsync(pass.out.keys, in.keys, n * 4,
							  cudaMemcpyDeviceToDevice, task.stream),
			  "copy the keys");
		if (in.payload)
			check(cudaMemcpyAsync(pass.out.payload, in.payload, n * 4,
								  cudaMemcpyDeviceToDevice, task.stream),
				  "copy the payload");
	}
	while (!crowded.empty())
	{
		std::vector<List> small;
		std::vector<Bucket> next;

		level++;
		if (task.clock->report() && task.clock->report()->rounds < level)
			task.clock->report()->rounds = level;
		for (const Bucket &bucket : crowded)
			if (bucket.n < large_list)
				small.push_back(new_list(bucket.offset, bucket.n));
			else
				sort_lists(&pass, pass.out, level,
						   {new_list(bucket.offset, bucket.n)}, &next);
		if (!small.empty())
			sort_lists(&pass, pass.out, level, small, &next);
		crowded.swap(next);
	}
}

} /* namespace published */
} /* namespace hpsort */
