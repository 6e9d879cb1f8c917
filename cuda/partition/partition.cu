/*-------------------------------------------------------------------------
 *
 * partition.cu
 *	  Regime PARTITION: ranges wider than shared memory, keys dense in them.
 *
 * The bucket step of Zhang and Wu 2012 (and of Chen et al. 2009) before the histogram:
 *
 * - Keys are moved to buckets, intervals of 2^shift bins each (scatter.cu).
 * - plan_kernel turns the buckets' sizes into places and a list of work items.
 * - Each bucket is sorted by its bins (buckets.cu).  A bucket that holds more than twice its
 *   share (and more than 24,576 keys) is crowded and becomes several items.
 *
 * Memory traffic of a key in bytes: 4 read, 2 written, 2 read, 4 written, 12 in all.
 *
 *-------------------------------------------------------------------------
 */
#include "partition/partition.cuh"
#include "partition/steps.cuh"

namespace hpsort
{

/*
 * Finds where buckets start, and makes the list of work items, in one block.  It takes two prefix
 * sums over at most 4,096 buckets, a batch of 1,024 at a time.  The numbers of items and of
 * crowded buckets are summed as the halves of one word, because a sum takes two barriers.  A
 * bucket without keys gets no item.
 */
static constexpr int plan_threads = 1024;

__global__ void __launch_bounds__(plan_threads)
plan_kernel(const uint32_t *counts, uint32_t buckets, uint32_t crowd,
			uint32_t segment, uint32_t *starts, WorkItem *items, uint32_t most_items,
			Plan *plan)
{
	constexpr uint32_t all_lanes = 0xffffffffu;
	__shared__ uint64_t sums[plan_threads / 32];

	wait_for_kernel_before();

	uint64_t	keys_before = 0;
	uint64_t	items_before = 0;

	for (uint32_t at = 0; at < buckets; at += plan_threads)
	{
		const uint32_t b = at + threadIdx.x;
		const uint32_t count = b < buckets ? counts[b] : 0;
		const bool	is_crowded = count > crowd;
		const uint32_t parts = is_crowded ? (count - 1) / segment + 1 : count > 0;
		/* items in the low half; crowded buckets above them */
		uint64_t	packed = parts + (static_cast<uint64_t>(is_crowded) << 32);
		uint64_t	start = count;
		uint64_t	keys_total;
		uint64_t	items_total;

		start = block_exclusive_sum<plan_threads>(start, sums, &keys_total);
		packed = block_exclusive_sum<plan_threads>(packed, sums, &items_total);
		start += keys_before;
		packed += items_before;
		keys_before += keys_total;
		items_before += items_total;
		if (b < buckets)
		{
			starts[b] = static_cast<uint32_t>(start);
			if (parts > 0 && !is_crowded && static_cast<uint32_t>(packed) < most_items)
				items[static_cast<uint32_t>(packed)] = {
					b, static_cast<uint32_t>(start), static_cast<uint32_t>(start) + count, 0};
		}
		/* a crowded bucket may have hundreds of segments, so a whole warp lists them */
		for (uint32_t left = __ballot_sync(all_lanes, is_crowded); left != 0; left &= left - 1)
		{
			const int	whose = __ffs(left) - 1;
			const uint32_t bucket = __shfl_sync(all_lanes, b, whose);
			const uint32_t keys = __shfl_sync(all_lanes, count, whose);
			const uint32_t begin = __shfl_sync(all_lanes, static_cast<uint32_t>(start), whose);
			const uint64_t first = __shfl_sync(all_lanes, packed, whose);
			const uint32_t crowded = 1 + static_cast<uint32_t>(first >> 32);

			for (uint32_t i = threadIdx.x % 32; i <= (keys - 1) / segment; i += 32)
				if (static_cast<uint32_t>(first) + i < most_items)
					items[static_cast<uint32_t>(first) + i] = {
						bucket, begin + i * segment, begin + min((i + 1) * segment, keys),
						crowded};
		}
	}
	if (threadIdx.x == 0)
	{
		starts[buckets] = static_cast<uint32_t>(keys_before);
		plan->items = static_cast<uint32_t>(items_before);
		plan->crowded = static_cast<uint32_t>(items_before >> 32);
	}
}

/* Clears the bins in memory of the crowded buckets.  There is room for as many as may be crowded;
 * with uniform keys, none is. */
__global__ void
clear_crowded_kernel(const Plan *plan, uint32_t shift, uint32_t *bins)
{
	wait_for_kernel_before();

	const uint64_t words = static_cast<uint64_t>(plan->crowded) << shift;
	const uint64_t step = static_cast<uint64_t>(gridDim.x) * blockDim.x;

	for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
		 i < words; i += step)
		bins[i] = 0;
}

void
configure_partition(const HpsortCudaLimits &limits)
{
	configure_scatter(limits);
	configure_buckets(limits);
}

/* PartitionStart::begin() and partition_sort() both cut the same memory by this. */
PartitionArrays::PartitionArrays(const HpsortCuda *context, const DeviceBuffer &memory,
								 const Division &division, uint64_t n)
{
	const uint32_t buckets = division.buckets;
	const uint64_t extent = regime_partition_extent(&context->limits, n, buckets);
	const uint64_t slots = regime_partition_slots(n, extent);
	Carver		carver(memory);

	residues = carver.take<uint16_t>((buckets + regime_partition_further(n, extent)) * extent);
	extents.size = static_cast<uint32_t>(extent);
	extents.buckets = buckets;
	extents.last_slot = static_cast<uint32_t>(slots - 1);
	extents.slots = carver.take<unsigned long long>(slots);
	/* one more, for the number of further extents; the cleared memory ends here */
	counts = carver.take<uint32_t>(buckets + 1);
	extents.taken = counts + buckets;
	starts = carver.take<uint32_t>(buckets + 1);
	items = carver.take<WorkItem>(regime_partition_items(n, buckets));
	plan = carver.take<Plan>(1);
	crowded_bins = carver.take<uint32_t>(regime_partition_crowded(n, buckets) << division.shift);
}

void
PartitionStart::begin(const SortInput &input, const Division &division, const uint32_t *skip)
{
	HpsortCuda *context = input.context;

	memory = DeviceBuffer(context, input.stream,
						  regime_partition_bytes(&context->limits, input.n, division.shift,
												 division.buckets),
						  "a partition");

	const PartitionArrays arrays(context, memory, division, input.n);
	void	   *first = arrays.extents.slots;

	check(cudaMemsetAsync(first, 0, reinterpret_cast<char *>(arrays.counts + division.buckets + 1) -
						  static_cast<char *>(first), input.stream),
		  "clear the bucket counts");
	scatter(input, division, arrays, skip);
	begun = true;
}

/*
 * Five launches; two fewer where n is so small that no bucket can be crowded.  Every step leaves
 * out keys outside the bounds, so that the places add up even if there are some.
 */
void
partition_sort(const SortInput &input, const Division &division, int32_t *out,
			   PartitionStart *start)
{
	HpsortCuda *context = input.context;
	const cudaStream_t stream = input.stream;
	const uint64_t n = input.n;
	const uint32_t buckets = division.buckets;
	const uint32_t shift = division.shift;
	const uint64_t crowd = regime_partition_crowd(n, buckets);
	const uint64_t segment = regime_partition_segment(n, buckets, shift);
	const uint64_t most_items = regime_partition_items(n, buckets);
	const bool	crowded = regime_partition_crowded(n, buckets) > 0;

	if (!start->begun)
		start->begin(input, division, nullptr);

	const PartitionArrays arrays(context, start->memory, division, n);

	launch_behind(context, stream, plan_kernel, 1, plan_threads, 0,
				  "plan the buckets", arrays.counts, buckets, crowd, segment, arrays.starts,
				  arrays.items, most_items, arrays.plan);
	if (crowded)
		launch_behind(context, stream, clear_crowded_kernel, context->limits.sms, 1024,
					  0, "clear the bins", arrays.plan, shift, arrays.crowded_bins);
	sort_buckets(input, shift, most_items, crowded, arrays, out);
}

} /* namespace hpsort */
