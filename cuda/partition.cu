/*-------------------------------------------------------------------------
 *
 * partition.cu
 *	  Regime PARTITION: ranges wider than shared memory, keys dense in them.
 *
 * The bucket step of Zhang and Wu (and of Chen et al.) before the histogram:
 *	- count_buckets_kernel counts the buckets, intervals of 2^shift bins each;
 *	- plan_kernel turns the counts into places and a list of work items;
 *	- scatter_kernel moves each key into its bucket, as the low `shift` bits
 *	  only (two bytes).  Keys of a bucket need no order, so a tile ranks them
 *	  by an atomic in shared memory instead of a stable count, and draws places
 *	  from the bucket's cursor.  All blocks write at one place per bucket that
 *	  way, and L2 completes the lines; with a place per bucket and block, which
 *	  needs no cursors, half-filled lines went to memory and came back (548 MB
 *	  written instead of 200, 0.96 ms instead of 0.33);
 *	- bucket_kernel counts a bucket's bins in shared memory, sums them up and
 *	  expands them to the bucket's place of the output, which is its place in
 *	  the partition as well.
 * No atomic touches a bin in global memory, which is what made the published
 * implementations slow, except for crowded buckets: one that holds more than
 * twice its share is cut into segments, counted by several blocks whose
 * bins are added up in memory, and expanded in a second turn.  So a skewed
 * input keeps all SMs busy.
 *
 * Bytes per key: 4 read, 4 + 2 partition, 2 + 4 bucket: 16.
 *
 *-------------------------------------------------------------------------
 */
#include "device.cuh"

namespace hpsort
{

static constexpr int threads = PartitionTuning::threads;

static_assert(threads * PartitionTuning::small_items == REGIME_PARTITION_SMALL_TILE,
			  "regime.c sizes for this tile");

/* A bucket, or a segment of a crowded one. */
struct WorkItem
{
	uint32_t	bucket;			/* first bin is bucket << shift */
	uint32_t	begin;			/* keys, and positions of the output */
	uint32_t	end;
	uint32_t	crowd;			/* 1 + number of the crowded bucket, or 0 */
};

/*
 * Found by plan_kernel, read by the kernels after it.  They are launched before
 * anybody knows it, as wide as it may become: the host is told nothing.
 */
struct Plan
{
	uint32_t	items;
	uint32_t	crowded;
	uint32_t	fullest;		/* the bucket with most keys, if it holds an
								 * eighth of them: worth a shortcut */
	uint32_t	unused;
};

static constexpr uint32_t no_bucket = 0xffffffffu;

/*
 * The buckets' sizes, in one read.  skip: a word that a sample's kernel has written;
 * see sort.cu.  Keys outside the bounds are remembered by a thread and reported once,
 * because the report goes over the bus; nothing counts them, here or later, so all
 * steps agree on how many keys there are.
 */
__global__ void __launch_bounds__(threads, PartitionTuning::blocks)
count_buckets_kernel(const int32_t *keys, uint64_t n, KeyMap map, uint32_t shift,
					 uint32_t buckets, uint32_t *all_counts, const uint32_t *skip,
					 HpsortCudaVerdict *verdict)
{
	if (skip != nullptr && *skip != 0)
		return;

	extern __shared__ __align__(16) uint32_t counts[];
	bool		bad = false;
	int32_t		outside = 0;

	for (uint32_t b = threadIdx.x; b < buckets; b += threads)
		counts[b] = 0;
	__syncthreads();
	for_each_key<HistogramTuning::vectors>(keys, n, [&](int32_t key) {
		const uint32_t bin = to_bin(map, key);

		if (bin <= map.last)
			atomicAdd(&counts[bin >> shift], 1u);
		else
		{
			bad = true;
			outside = key;
		}
	});
	if (bad)
		report_outside(verdict, outside);
	__syncthreads();
	for (uint32_t b = threadIdx.x; b < buckets; b += threads)
		if (counts[b] != 0)
			atomicAdd(&all_counts[b], counts[b]);
}

/*
 * One block: where buckets start, and who works on what.  Two prefix sums over at
 * most 4,096 buckets, a batch of 1,024 at a time; the numbers of items and of
 * crowded buckets go through one sum, as the halves of a word, because a sum is two
 * barriers.  A bucket without keys gets no item.
 */
static constexpr int plan_threads = 1024;

__global__ void __launch_bounds__(plan_threads)
plan_kernel(const uint32_t *counts, uint32_t buckets, uint32_t segment,
			uint64_t n, uint32_t *starts, uint32_t *cursors, WorkItem *items,
			uint32_t most_items, Plan *plan)
{
	__shared__ uint64_t sums[plan_threads / 32];
	__shared__ unsigned long long fullest;

	wait_for_kernel_before();

	uint64_t	keys_before = 0;
	uint64_t	items_before = 0;

	if (threadIdx.x == 0)
		fullest = 0;
	__syncthreads();
	for (uint32_t at = 0; at < buckets; at += plan_threads)
	{
		const uint32_t b = at + threadIdx.x;
		const uint32_t count = b < buckets ? counts[b] : 0;
		const bool	is_crowded = count > segment;
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
			cursors[b] = static_cast<uint32_t>(start);
			if (count > n / 8)
				atomicMax(&fullest, static_cast<unsigned long long>(count) << 32 | b);
			for (uint32_t i = 0; i < parts; i++)
			{
				WorkItem	item;

				item.bucket = b;
				item.begin = static_cast<uint32_t>(start) + i * segment;
				item.end = static_cast<uint32_t>(start) +
					regime_segment_end(count, segment, i);
				item.crowd = is_crowded ?
					1 + static_cast<uint32_t>(packed >> 32) : 0;
				if (static_cast<uint32_t>(packed) + i < most_items)
					items[static_cast<uint32_t>(packed) + i] = item;
			}
		}
	}
	__syncthreads();
	if (threadIdx.x == 0)
	{
		starts[buckets] = static_cast<uint32_t>(keys_before);
		plan->items = static_cast<uint32_t>(items_before);
		plan->crowded = static_cast<uint32_t>(items_before >> 32);
		plan->fullest = fullest == 0 ? no_bucket : static_cast<uint32_t>(fullest);
	}
}

/*
 * Only the bins that crowded buckets will use: there is room for as many as can be
 * crowded, and uniform keys crowd none.
 */
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

/*
 * Lanes that share the fullest bucket or, unless those are many, the first
 * lane's.  Many lanes in one bucket would queue for its counter.
 */
static constexpr int many = 8;

__device__ __forceinline__ uint32_t
sharing_lanes(uint32_t bucket, bool valid, uint32_t fullest)
{
	const uint32_t same = __ballot_sync(0xffffffffu, valid && bucket == fullest);
	const uint32_t first = __shfl_sync(0xffffffffu, bucket, 0);
	const uint32_t as_first = __ballot_sync(0xffffffffu, valid && bucket == first);

	return __popc(same) >= many ? same : as_first;
}

/*
 * The place of this lane's key within its tile and bucket, where lanes that
 * share a bucket take their places with one atomic.
 */
__device__ __forceinline__ uint32_t
take_place(uint32_t *counts, uint32_t bucket, bool valid, uint32_t fullest)
{
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t same = sharing_lanes(bucket, valid, fullest);

	if (__popc(same) < many)
		return valid ? atomicAdd(&counts[bucket], 1u) : 0;

	const int	leader = __ffs(same) - 1;
	const bool	shared = same >> lane & 1;
	uint32_t	place = 0;

	if (valid && (!shared || lane == leader))
		place = atomicAdd(&counts[bucket], shared ? __popc(same) : 1u);

	const uint32_t base = __shfl_sync(0xffffffffu, place, leader);

	return shared ? base + __popc(same & ((1u << lane) - 1)) : place;
}

/*
 * Moves the keys of one tile to their buckets, by way of shared memory, so
 * that neighbouring threads write to neighbouring places.
 */
template <int ITEMS>
__global__ void __launch_bounds__(threads, PartitionTuning::blocks)
scatter_kernel(const int32_t *__restrict__ keys, uint64_t n, KeyMap map,
			   uint32_t shift, uint32_t buckets, uint32_t *cursors,
			   const Plan *plan, uint16_t *residues)
{
	constexpr uint32_t tile = threads * ITEMS;
	extern __shared__ __align__(16) uint32_t memory[];
	__shared__ uint32_t sums[threads / 32];

	wait_for_kernel_before();

	uint32_t   *staged = memory;				/* a tile's bins */
	uint32_t   *counts = memory + tile;			/* keys of each bucket */
	uint32_t   *places = counts + buckets;		/* where it starts in staged */
	const uint64_t begin = static_cast<uint64_t>(blockIdx.x) * tile;
	const uint32_t m = static_cast<uint32_t>(min(static_cast<uint64_t>(tile),
												 n - begin));
	const uint32_t fullest = plan->fullest;
	uint32_t	bin[ITEMS];
	uint32_t	place[ITEMS / 2];

	/* before the keys are asked for, so that the barrier below waits for both */
	for (uint32_t b = threadIdx.x; b < buckets; b += threads)
		counts[b] = 0;

	/* keys of an aligned, full tile come 16 bytes at a time */
	if (m == tile && misaligned(keys) == 0)
	{
		const int4 *vectors = reinterpret_cast<const int4 *>(keys + begin);

#pragma unroll
		for (int i = 0; i < ITEMS; i += 4)
		{
			const int4	four = __ldcs(vectors + i / 4 * threads + threadIdx.x);

			bin[i] = to_bin(map, four.x);
			bin[i + 1] = to_bin(map, four.y);
			bin[i + 2] = to_bin(map, four.z);
			bin[i + 3] = to_bin(map, four.w);
		}
	}
	else
	{
#pragma unroll
		for (int i = 0; i < ITEMS; i++)
		{
			const uint32_t at = i * threads + threadIdx.x;

			/* beyond the end: like a key outside, which is dropped */
			bin[i] = at < m ? to_bin(map, __ldcs(keys + begin + at)) : 0xffffffffu;
		}
	}
	__syncthreads();

	/*
	 * Random keys: one atomic each, all in flight together.  Whether a warp's
	 * keys crowd is judged by some of them; it decides about speed alone.
	 */
	bool		crowd = false;

#pragma unroll
	for (int i = 0; i < ITEMS; i += ITEMS / 4)
		crowd = crowd || __popc(sharing_lanes(bin[i] >> shift, bin[i] <= map.last,
											  fullest)) >= many;
	if (!crowd)
	{
#pragma unroll
		for (int i = 0; i < ITEMS; i += 2)
		{
			uint32_t	p[2];

			p[0] = bin[i] <= map.last ? atomicAdd(&counts[bin[i] >> shift], 1u) : 0;
			p[1] = bin[i + 1] <= map.last ?
				atomicAdd(&counts[bin[i + 1] >> shift], 1u) : 0;
			/* a tile has at most 2^14 places: two of them share a register */
			place[i / 2] = p[0] | p[1] << 16;
		}
	}
	else
	{
#pragma unroll
		for (int i = 0; i < ITEMS; i += 2)
		{
			place[i / 2] = take_place(counts, bin[i] >> shift, bin[i] <= map.last,
									  fullest);
			place[i / 2] |= take_place(counts, bin[i + 1] >> shift,
									   bin[i + 1] <= map.last, fullest) << 16;
		}
	}
	__syncthreads();

	/* counts, which were the buckets' sizes in this tile, become targets: a bucket's
	 * place in memory less that in staged, so that adding an item's place in staged
	 * gives where it goes */
	uint32_t	before = 0;

	for (uint32_t at = 0; at < buckets; at += threads)
	{
		const uint32_t b = at + threadIdx.x;
		const uint32_t count = b < buckets ? counts[b] : 0;
		uint32_t	target = 0;
		uint32_t	total;

		/* asked for first: the sum hides some of its way to L2 and back */
		if (count > 0)
			target = atomicAdd(&cursors[b], count);

		const uint32_t start =
			before + block_exclusive_sum<threads>(count, sums, &total);

		before += total;
		if (b < buckets)
		{
			places[b] = start;
			counts[b] = target - start;
		}
	}
	/* targets and places are complete: now keys move, each to a place that no other
	 * has, in the order of buckets and in none within them */
	__syncthreads();
#pragma unroll
	for (int i = 0; i < ITEMS; i++)
		if (bin[i] <= map.last)
			staged[places[bin[i] >> shift] + (place[i / 2] >> i % 2 * 16 & 0xffff)] =
				bin[i];
	__syncthreads();

	const uint32_t mask = (1u << shift) - 1;

	/*
	 * before is now the number of keys staged.  Neighbouring threads write to
	 * neighbouring places but for a tile's last key of a bucket: 32 keys a bucket are
	 * 64 bytes, two sectors.  Not streaming: other blocks complete the lines in L2.
	 */
#pragma unroll 8
	for (uint32_t i = threadIdx.x; i < before; i += threads)
	{
		const uint32_t value = staged[i];

		residues[counts[value >> shift] + i] = static_cast<uint16_t>(value & mask);
	}
}

/*
 * Counts residues into bins, eight at a time: step 2 of the bucket method, where a
 * bucket's histogram fits in shared memory.  Streaming loads: nobody reads a residue
 * twice, and what is written next needs the room in L2.
 */
template <int bucket_threads>
__device__ __forceinline__ void
count_residues(const uint16_t *__restrict__ residues, uint32_t m, uint32_t *bins)
{
	constexpr int vectors = 4;
	uint32_t	head = static_cast<uint32_t>(
		((16 - reinterpret_cast<uintptr_t>(residues) % 16) % 16) / 2);

	head = min(head, m);

	const uint4 *eights = reinterpret_cast<const uint4 *>(residues + head);
	const uint32_t count = (m - head) / 8;
	const uint32_t tail = m - head - count * 8;
	auto		use = [&](uint32_t two) {
		atomicAdd(&bins[two & 0xffff], 1u);
		atomicAdd(&bins[two >> 16], 1u);
	};

	for (uint32_t at = threadIdx.x; at < count; at += vectors * bucket_threads)
	{
		uint4		r[vectors];

#pragma unroll
		for (int i = 0; i < vectors; i++)
			if (at + i * bucket_threads < count)
				r[i] = __ldcs(eights + at + i * bucket_threads);
#pragma unroll
		for (int i = 0; i < vectors; i++)
			if (at + i * bucket_threads < count)
			{
				use(r[i].x);
				use(r[i].y);
				use(r[i].z);
				use(r[i].w);
			}
	}
	if (threadIdx.x < head)
		atomicAdd(&bins[residues[threadIdx.x]], 1u);
	if (threadIdx.x < tail)
		atomicAdd(&bins[residues[m - tail + threadIdx.x]], 1u);
}

/*
 * Counts to starts, in place: exclusive prefix sums plus base.  Four bins a thread,
 * so that 2^14 of them are eight rounds of 512 threads, and one word more behind the
 * last: expand_block() wants to know where that one ends.
 */
template <int bucket_threads>
__device__ __forceinline__ void
scan_bins(uint32_t *bins, uint32_t count, uint32_t base, uint32_t *sums)
{
	uint4	   *fours = reinterpret_cast<uint4 *>(bins);

	for (uint32_t at = 0; at < count / 4; at += bucket_threads)
	{
		const uint32_t i = at + threadIdx.x;
		uint4		four = i < count / 4 ? fours[i] : make_uint4(0, 0, 0, 0);
		uint32_t	start;
		uint32_t	total;

		start = base + block_exclusive_sum<bucket_threads>(
			four.x + four.y + four.z + four.w, sums, &total);
		if (i < count / 4)
			fours[i] = make_uint4(start, start + four.x, start + four.x + four.y,
								  start + four.x + four.y + four.z);
		base += total;
	}
	if (threadIdx.x == 0)
		bins[count] = base;
	__syncthreads();
}

/*
 * SECOND = false: counts an item's bins, and expands them unless the item is
 * a segment of a crowded bucket.  SECOND = true: expands the segments, from
 * the sums of their bins.
 *
 * A bucket's keys come to lie where its residues lay, so an item needs to know of no
 * other one: that is what makes the partition's order the output's.  Three blocks an
 * SM at 2^14 bins: while one waits at a barrier, the others count or write.
 */
template <bool SECOND, int bucket_threads>
__global__ void __launch_bounds__(bucket_threads)
bucket_kernel(const Plan *plan, const WorkItem *items, const uint32_t *starts,
			  const uint16_t *residues, KeyMap map, uint32_t shift,
			  uint32_t *crowded_bins, int32_t *out)
{
	extern __shared__ __align__(16) uint32_t bins[];
	__shared__ uint32_t scan_sums[bucket_threads / 32];
	const uint32_t count = 1u << shift;

	wait_for_kernel_before();
	if (blockIdx.x >= plan->items)
		return;

	const WorkItem item = items[blockIdx.x];
	const uint32_t bucket_start = starts[item.bucket];
	uint32_t   *sums = crowded_bins +
		(static_cast<uint64_t>(item.crowd - (item.crowd != 0)) << shift);

	if (SECOND)
	{
		if (item.crowd == 0)
			return;
		for (uint32_t i = threadIdx.x; i < count / 4; i += bucket_threads)
			reinterpret_cast<uint4 *>(bins)[i] =
				reinterpret_cast<const uint4 *>(sums)[i];
		__syncthreads();
	}
	else
	{
		for (uint32_t i = threadIdx.x; i < count / 4; i += bucket_threads)
			reinterpret_cast<uint4 *>(bins)[i] = make_uint4(0, 0, 0, 0);
		__syncthreads();
		count_residues<bucket_threads>(residues + item.begin, item.end - item.begin, bins);
		__syncthreads();
		if (item.crowd != 0)
		{
			/* the segments of one bucket are few: atomics on words of their own */
			for (uint32_t i = threadIdx.x; i < count; i += bucket_threads)
				if (bins[i] != 0)
					atomicAdd(&sums[i], bins[i]);
			return;
		}
	}

	/* positions count from the 16-byte boundary before the bucket's place, so that
	 * starts have 32 bits and vectors are aligned; neighbours share at most one */
	int32_t    *place = out + bucket_start;
	const uint32_t phase =
		static_cast<uint32_t>(reinterpret_cast<uintptr_t>(place) % 16 / 4);
	const uint32_t first_bin = item.bucket << shift;

	scan_bins<bucket_threads>(bins, count, phase, scan_sums);
	expand_block(place - phase, item.begin - bucket_start + phase,
				 item.end - bucket_start + phase, bins, count,
				 [&](uint32_t bin) { return to_key(map, first_bin + bin); });
}

template <typename Kernel>
static void
allow_shared(Kernel kernel, const HpsortCudaLimits &limits)
{
	check(cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
							   cudaFuncAttributeMaxDynamicSharedMemorySize,
							   regime_shared_bins(&limits) * sizeof(uint32_t)),
		  "set up a kernel");
}

void
configure_partition(const HpsortCudaLimits &limits)
{
	allow_shared(count_buckets_kernel, limits);
	allow_shared(scatter_kernel<PartitionTuning::items>, limits);
	allow_shared(scatter_kernel<PartitionTuning::small_items>, limits);
	allow_shared(bucket_kernel<false, PartitionTuning::bucket_threads>, limits);
	allow_shared(bucket_kernel<true, PartitionTuning::bucket_threads>, limits);
	allow_shared(bucket_kernel<false, PartitionTuning::wide_threads>, limits);
	allow_shared(bucket_kernel<true, PartitionTuning::wide_threads>, limits);
}

/*
 * The arrays of a partition in its one piece of memory; the same for both steps,
 * which is why they are cut twice rather than kept.
 */
struct PartitionArrays
{
	uint16_t   *residues;
	uint32_t   *counts;
	uint32_t   *starts;
	uint32_t   *cursors;
	WorkItem   *items;
	Plan	   *plan;
	uint32_t   *crowded_bins;

	PartitionArrays(const DeviceBuffer &memory, uint32_t shift, uint32_t buckets,
					uint64_t n)
	{
		Carver		carver(memory);

		residues = carver.take<uint16_t>(n);
		counts = carver.take<uint32_t>(buckets);
		starts = carver.take<uint32_t>(buckets + 1);
		cursors = carver.take<uint32_t>(buckets);
		items = carver.take<WorkItem>(regime_partition_items(n, buckets));
		plan = carver.take<Plan>(1);
		crowded_bins = carver.take<uint32_t>(regime_partition_crowded(n, buckets) <<
											 shift);
	}
};

/* Both turns of the buckets; blocks that find no item return at once. */
template <int THREADS>
static void
sort_buckets(const HpsortCuda *context, cudaStream_t stream, uint64_t most_items,
			 bool crowded, const PartitionArrays &arrays, const KeyMap &map, uint32_t shift,
			 int32_t *out)
{
	const uint32_t blocks = static_cast<uint32_t>(most_items);
	const size_t bytes = ((static_cast<size_t>(1) << shift) + 4) * sizeof(uint32_t);

	launch_behind(context, stream, bucket_kernel<false, THREADS>, blocks, THREADS, bytes,
				  "sort the buckets", arrays.plan, arrays.items, arrays.starts,
				  arrays.residues, map, shift, arrays.crowded_bins, out);
	if (crowded)
		launch_behind(context, stream, bucket_kernel<true, THREADS>, blocks, THREADS,
					  bytes, "expand the crowded buckets", arrays.plan, arrays.items,
					  arrays.starts, arrays.residues, map, shift,
					  arrays.crowded_bins, out);
}

void
PartitionStart::begin(HpsortCuda *context, cudaStream_t stream,
					  const KeyMap &key_map, uint32_t bucket_shift,
					  uint32_t bucket_count, const int32_t *keys, uint64_t n,
					  const uint32_t *skip, HpsortCudaVerdict *verdict)
{
	map = key_map;
	shift = bucket_shift;
	buckets = bucket_count;
	memory = DeviceBuffer(context, stream, regime_partition_bytes(n, shift, buckets),
						  "a partition");

	const PartitionArrays arrays(memory, shift, buckets, n);

	check(cudaMemsetAsync(arrays.counts, 0, buckets * sizeof(uint32_t), stream),
		  "clear the bucket counts");
	count_buckets_kernel<<<context->limits.sms * PartitionTuning::blocks, threads,
		buckets * sizeof(uint32_t), stream>>>
		(keys, n, map, shift, buckets, arrays.counts, skip, verdict);
	check_launch("count the buckets");
	begun = true;
}

/*
 * Six launches, four where no bucket can be crowded, and no wait.  Keys outside the
 * bounds are left out of every step alike, so the places still add up when there are
 * some.
 */
void
partition_sort(HpsortCuda *context, cudaStream_t stream, const KeyMap &map,
			   uint32_t shift, uint32_t buckets, const int32_t *keys, uint64_t n,
			   int32_t *out, HpsortCudaVerdict *verdict, PartitionStart *begun)
{
	const uint64_t segment = regime_partition_segment(n, buckets);
	const uint64_t most_items = regime_partition_items(n, buckets);
	const uint64_t crowded = regime_partition_crowded(n, buckets);
	const uint64_t room = static_cast<uint64_t>(
		regime_shared_bins(&context->limits)) * sizeof(uint32_t);
	constexpr uint32_t tile = threads * PartitionTuning::items;
	uint64_t	shared = (tile + 2 * buckets) * sizeof(uint32_t);
	PartitionStart mine;
	PartitionStart *start = begun != nullptr && begun->begun &&
		begun->map.flip == map.flip && begun->map.base == map.base &&
		begun->map.last == map.last && begun->shift == shift &&
		begun->buckets == buckets ? begun : &mine;

	if (!start->begun)
		start->begin(context, stream, map, shift, buckets, keys, n, nullptr, verdict);

	const PartitionArrays arrays(start->memory, shift, buckets, n);

	launch_behind(context, stream, plan_kernel, 1, plan_threads, 0,
				  "plan the buckets", arrays.counts, buckets, segment, n,
				  arrays.starts, arrays.cursors, arrays.items, most_items, arrays.plan);
	if (crowded > 0)
		launch_behind(context, stream, clear_crowded_kernel, context->limits.sms, 1024,
					  0, "clear the bins", arrays.plan, shift, arrays.crowded_bins);
	if (shared <= room)
		launch_behind(context, stream, scatter_kernel<PartitionTuning::items>,
					  static_cast<uint32_t>((n - 1) / tile + 1), threads, shared,
					  "scatter the keys", keys, n, map, shift, buckets,
					  arrays.cursors, arrays.plan, arrays.residues);
	else
	{
		shared = (REGIME_PARTITION_SMALL_TILE + 2 * buckets) * sizeof(uint32_t);
		launch_behind(context, stream, scatter_kernel<PartitionTuning::small_items>,
					  static_cast<uint32_t>((n - 1) / REGIME_PARTITION_SMALL_TILE + 1),
					  threads, shared, "scatter the keys", keys, n, map, shift,
					  buckets, arrays.cursors, arrays.plan, arrays.residues);
	}
	/* one block an SM should have all the threads it can */
	if (shift > PartitionTuning::wide_shift)
		sort_buckets<PartitionTuning::wide_threads>(
			context, stream, most_items, crowded > 0, arrays, map, shift, out);
	else
		sort_buckets<PartitionTuning::bucket_threads>(
			context, stream, most_items, crowded > 0, arrays, map, shift, out);
}

} /* namespace hpsort */
