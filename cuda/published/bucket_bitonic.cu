/*-------------------------------------------------------------------------
 *
 * bucket_bitonic.cu
 *	  Bucket sort with a bitonic sort of each bucket: one pass.
 *
 * S. Chen, J. Qin, Y. Xie, J. Zhao, P.-A. Heng, "An efficient sorting algorithm with CUDA",
 * 2009, sections II to IV, Algorithms 1 to 3.  E = 80, M = 512 and C = 10, as they chose, unless
 * others are given.  bucket_merge.cu has section V, many_gpus.cu section VI.
 *
 *	1. Find the smallest and largest element.  If they are equal, the list is flat: done.
 *	2. Make slices of equal width, E elements expected in each.  An atomic gives each element
 *	   its place in its slice; prefix sums give the slices' places.
 *	3. Join neighbouring slices to buckets of at most M elements.
 *	4. A block sorts a bucket in shared memory, padded to M elements.
 *	5. A slice of more than M elements is a list of its own, from step 1 on.
 *
 * A list is nearly sorted if the sum of its steps is less than C times max - min.  The threads of
 * a block then take elements far apart, because neighbours would queue up for the counter of one
 * slice.
 *
 * What is ours, where the paper is silent:
 *
 * - Step 3 is a loop over all slices; here a thread walks 128 of them, and a bucket ends with
 *   them (one in fifty is filled less).
 * - Small lists of step 5 are sorted together: few distinct values make tens of thousands of
 *   them.
 * - Floats are sliced by value at the first two levels, as in the paper.  Below, they are sliced
 *   by order number, so that every level is sure to split a list.  Infinities and NaNs fall to
 *   the outer slices.
 * - Where the order is to be stable (payloads are row numbers), equal keys are ordered by
 *   payload: in a bucket the network compares both, and a flat list from the second level on is
 *   sorted once more, by payload alone.
 *
 * Without a stable order, atomics decide the order of equal elements.
 *
 * Bytes moved per key: 4 for the extremes (8 with the disorder), 4 + 4 for places, 4 + 4 + 4 + 32
 * (a sector each) for moving, 8 for sorting; a payload adds 4 + 32 + 8.  On an H100, 24e6 int4
 * take 2.1 ms (CUB 0.56):
 *	1.0	moving elements one by one to their slices, which writes 32 bytes for 4
 *	0.5	the 45 steps of the bitonic network
 *	0.4	the atomics of the slices, which do not queue up noticeably on sorted input: the strided
 *		way gains nothing
 *
 *-------------------------------------------------------------------------
 */
#include "published/bucket_lists.cuh"

#include <algorithm>

namespace hpsort
{
namespace published
{

namespace
{

/* Returns the grid: blocks for elements in x, lists in y. */
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

/* Slices a list by order number.  This is exact, and lo and hi never fall into one slice. */
void
slice_by_order(List *list)
{
	const uint64_t range = static_cast<uint64_t>(list->hi) - list->lo + 1;

	list->by_value = 0;
	list->scale = (static_cast<uint64_t>(list->slices) << 32) / range;
}

/*
 * Slices a list by value: stepWidth = (max - min) E / n.  For int4, value and order number give
 * the same slices.  If the difference is too small for a division, the list is sliced by order
 * number.
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
	Shape		shape;
	Order		order;
	Spare	   *spare;
	uint64_t	first;			/* the pass's first element among the task's */
	uint64_t	n;
	Elements	out;			/* the pass's part of the output */
	DeviceBuffer offsets;		/* offsetInSlice, allocated once */
	DeviceBuffer counters_memory;
	Counters   *counters;
	uint32_t	lo;				/* extremes of all elements */
	uint32_t	hi;
};

/* Returns the list of a bucket with too many elements; extremes are not known yet. */
List
new_list(const Bucket &bucket)
{
	List		list = {};

	list.offset = bucket.offset;
	list.n = bucket.n;
	list.by_payload = bucket.by_payload;
	list.lo = list.finite_lo = UINT32_MAX;
	return list;
}

/* Returns the number of elements of all lists. */
uint64_t
elements_of(const std::vector<List> &lists)
{
	uint64_t	n = 0;

	for (const List &list : lists)
		n += list.n;
	return n;
}

/* Bound on the buckets that join_kernel lists: a bucket ends where two neighbours exceed M, or
 * with a walk. */
uint64_t
buckets_bound(const Shape &shape, uint64_t elements, uint64_t slices, uint64_t n_lists)
{
	return 2 * elements / shape.bucket_most + slices / walk + 2 * n_lists + 1;
}

/* Bound on the crowded slices of a number of elements. */
uint64_t
crowded_bound(const Shape &shape, uint64_t elements)
{
	return elements / shape.bucket_most + 1;
}

/* Step 4 for all buckets of a launch. */
template <typename T>
void
sort_buckets(const Shape &shape, cudaStream_t stream, const Order &order,
			 const Bucket *buckets, uint32_t n, const Elements &out)
{
	const unsigned pairs = shape.bucket_most / 2;

	switch (shape.bucket_most)
	{
		case 128:
			bitonic_kernel<T, 128><<<n, pairs, 0, stream>>>(order, buckets, out);
			break;
		case 256:
			bitonic_kernel<T, 256><<<n, pairs, 0, stream>>>(order, buckets, out);
			break;
		case 512:
			bitonic_kernel<T, 512><<<n, pairs, 0, stream>>>(order, buckets, out);
			break;
		case 1024:
			bitonic_kernel<T, 1024><<<n, pairs, 0, stream>>>(order, buckets, out);
			break;
		default:
			bitonic_kernel<T, 2048><<<n, pairs, 0, stream>>>(order, buckets, out);
			break;
	}
	check_launch("sort buckets");
}

/*
 * Finds the extremes of the lists in from.  At level 0 this is the input, and the disorder is
 * measured, too, unless it is known.  Flat lists are sorted and are dropped from lists; if their
 * payloads must be put in order, they are added to ties.  Returns whether the list of level 0 is
 * nearly sorted.
 */
bool
find_extremes(Pass *pass, const Elements &from, uint32_t level, List *device,
			  std::vector<List> *lists, std::vector<Bucket> *ties)
{
	const cudaStream_t stream = pass->task.stream;
	const int	known = pass->task.spec->nearly_sorted;
	const bool	disorder = level == 0 && known == 0;
	std::vector<Counters> counters(1);
	bool		nearly = level == 0 && known > 0;

	pass->task.clock->phase("extremes");
	zero(stream, pass->counters, sizeof(Counters));
	copy_in(stream, device, *lists, "set the lists");

	/* by reduction: a few blocks per SM, each over many elements */
	const uint32_t n_lists = static_cast<uint32_t>(lists->size());
	dim3		grid = grid_for(elements_of(*lists), n_lists);

	grid.x = std::min(grid.x, pass->task.context->limits.sms * 8);
	extremes_kernel<<<grid, threads, 0, stream>>>(pass->order, from, device, n_lists,
												 disorder, pass->counters);
	check_launch("find the extremes");
	copy_out(stream, lists, device, "read the lists");
	if (level == 0)
	{
		pass->lo = lists->front().lo;
		pass->hi = lists->front().hi;
	}
	if (disorder)
	{
		const List &list = lists->front();

		copy_out(stream, &counters, pass->counters, "read the lists");
		if (list.finite_lo < list.finite_hi)
		{
			const double degree = counters[0].disorder /
				(value_of(pass->order, list.finite_hi) -
				 value_of(pass->order, list.finite_lo));

			nearly = degree < pass->shape.disorder_limit;
			if (pass->task.clock->report())
				pass->task.clock->report()->disorder = degree;
		}
	}
	if (pass->task.spec->stable && level > 0)
		for (const List &list : *lists)
			if (list.lo == list.hi && !list.by_payload)
				ties->push_back({list.offset, list.n, 1});
	lists->erase(std::remove_if(lists->begin(), lists->end(), [](const List &list) {
		return list.lo == list.hi;
	}), lists->end());
	return nearly;
}

/* Steps 1 to 4 for lists that lie in from, at the same places as in the output.  crowded receives
 * the lists of the next level. */
void
sort_lists(Pass *pass, const Elements &from, uint32_t level,
		   std::vector<List> lists, std::vector<Bucket> *crowded)
{
	const Task &task = pass->task;
	const cudaStream_t stream = task.stream;
	DeviceBuffer lists_memory(task.context, stream, lists.size() * sizeof(List),
							  "lists");
	List	   *device = lists_memory.as<List>();
	const bool	nearly = find_extremes(pass, from, level, device, &lists, crowded);
	uint64_t	elements;
	uint64_t	slices = 0;

	if (lists.empty())
		return;
	if (level == 0 && task.clock->report())
		task.clock->report()->nearly_sorted = nearly;
	for (List &list : lists)
	{
		list.slices = std::max(2u, list.n / pass->shape.slice_expected);
		list.first_slice = static_cast<uint32_t>(slices);
		slices += list.slices;
		if (pass->order.floats && level < by_value_levels && !list.by_payload &&
			list.finite_lo < list.finite_hi)
			slice_by_value(pass->order, &list);
		else
			slice_by_order(&list);
	}
	elements = elements_of(lists);

	const uint32_t n_lists = static_cast<uint32_t>(lists.size());
	const uint64_t most_buckets = buckets_bound(pass->shape, elements, slices, n_lists);
	const uint64_t most_crowded = crowded_bound(pass->shape, elements);
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
	copy_in(stream, device, lists, "set the lists");
	zero(stream, slice_sizes, slices * sizeof(uint32_t));
	/* equal elements queue up here, so a long list goes in steps */
	in_steps(task, n_lists == 1 ? elements : 1, [&](uint64_t at, uint64_t count) {
		const uint32_t first = static_cast<uint32_t>(at / threads);
		const uint32_t blocks = blocks_for_each(count, threads);
		const dim3	part = n_lists == 1 ? dim3(blocks) : grid;

		slice_kernel<<<part, threads, 0, stream>>>(
			pass->order, from, device, n_lists, nearly, first,
			n_lists == 1 ? first + blocks : UINT32_MAX, slice_sizes,
			offset_in_slice);
		check_launch("divide into slices");
	});
	prefix_sums(task.context, stream, slice_sizes, sums, slices);
	task.clock->phase("slice merge");
	join_kernel<<<grid_for(slices / walk + 1, n_lists), threads, 0, stream>>>
		(device, n_lists, pass->shape.bucket_most, slice_sizes, sums, buckets,
		 crowded_buckets, pass->counters);
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
	copy_out(stream, &counters, pass->counters, "read the lists");
	if (counters[0].buckets > 0)
	{
		task.clock->phase("bitonic sort");
		if (pass->out.payload)
			sort_buckets<uint64_t>(pass->shape, stream, pass->order, buckets,
								   counters[0].buckets, pass->out);
		else
			sort_buckets<uint32_t>(pass->shape, stream, pass->order, buckets,
								   counters[0].buckets, pass->out);
	}

	std::vector<Bucket> found(counters[0].crowded);

	copy_out(stream, &found, crowded_buckets, "read the lists");
	crowded->insert(crowded->end(), found.begin(), found.end());
}

/* Returns the elements of a const task; nothing writes through the result. */
Elements
input_of(const Task &task)
{
	return {const_cast<uint32_t *>(task.keys),
		const_cast<uint32_t *>(task.payload)};
}

} /* namespace */

/* The list tables and buckets of the first level are the largest. */
uint64_t
bitonic_pass_need(const HpsortPublishedOptions &options, uint64_t n)
{
	const Shape shape(options);
	const uint64_t lists = crowded_bound(shape, n);
	const uint64_t slices = n / shape.slice_expected + 2 * lists;

	return array_bytes(n, 4) + array_bytes(1, sizeof(Counters)) +
		array_bytes(lists, sizeof(List)) + 2 * array_bytes(slices, 4) +
		array_bytes(buckets_bound(shape, n, slices, lists), sizeof(Bucket)) +
		array_bytes(lists, sizeof(Bucket)) + prefix_sums_need(slices);
}

void
bitonic_pass(const Task &task, uint64_t first, uint64_t n, Spare *spare,
			 uint32_t *lo, uint32_t *hi)
{
	const Elements in = input_of(task).from(first);
	Pass		pass = {task, Shape(task.spec->options), order_of(*task.spec), spare,
		first, n,
		Elements{task.out, task.payload_out}.from(first),
		DeviceBuffer(task.context, task.stream, n * 4, "places in slices"),
		DeviceBuffer(task.context, task.stream, sizeof(Counters), "counters"),
		nullptr, 0, 0};
	std::vector<Bucket> crowded;
	std::vector<List> lists(1, new_list({0, static_cast<uint32_t>(n), 0}));
	uint32_t	level = 0;

	pass.counters = pass.counters_memory.as<Counters>();

	sort_lists(&pass, in, level, lists, &crowded);
	*lo = pass.lo;
	*hi = pass.hi;
	/* flat: nothing was moved */
	if (pass.lo == pass.hi)
		copy_elements(task.stream, pass.out, in, n);
	while (!crowded.empty())
	{
		std::vector<List> small;
		std::vector<Bucket> next;

		step(task);
		level++;
		if (task.clock->report() && task.clock->report()->rounds < level)
			task.clock->report()->rounds = level;
		for (const Bucket &bucket : crowded)
			if (bucket.n < large_list)
				small.push_back(new_list(bucket));
			else
				sort_lists(&pass, pass.out, level, {new_list(bucket)}, &next);
		if (!small.empty())
			sort_lists(&pass, pass.out, level, small, &next);
		crowded.swap(next);
	}
}

} /* namespace published */
} /* namespace hpsort */
