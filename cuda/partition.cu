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
sharing_lanes(uint32_t bucket, uint32_t fullest)
{
	const uint32_t same = __ballot_sync(0xffffffffu, bucket == fullest);
	const uint32_t first = __shfl_sync(0xffffffffu, bucket, 0);
	const uint32_t as_first = __ballot_sync(0xffffffffu, bucket == first);

	return __popc(same) >= many ? same : as_first;
}

/*
 * Where keys of buckets go that nobody has counted: bucket b has the places b * size
 * to b * size + size - 1, and what it has more goes to further extents of that size,
 * behind those of all buckets, taken as they are needed.  numbers[b * buckets + k - 1]
 * is one more than the number of bucket b's extent k, or 0 as long as it has none.
 */
struct Extents
{
	uint32_t	size;			/* 0: buckets have been counted */
	uint32_t	buckets;
	uint32_t   *numbers;
	uint32_t   *taken;

	/* the first place of extent k; it must have been taken */
	__device__ __forceinline__ uint32_t
	begin_of(uint32_t b, uint32_t k) const
	{
		uint32_t	number = 0;

		if (k == 0)
			return b * size;
		while ((number = *const_cast<const volatile uint32_t *>(
					&numbers[b * buckets + k - 1])) == 0)
			;
		return (buckets + number - 1) * size;
	}
	__device__ __forceinline__ void
	take(uint32_t b, uint32_t k) const
	{
		*const_cast<volatile uint32_t *>(&numbers[b * buckets + k - 1]) =
			atomicAdd(taken, 1u) + 1;
	}
};

/*
 * The bucket that most lanes of the warp share.  What many keys of a warp's have in
 * common is found in each tile anew: nobody has counted the buckets, and where keys
 * come clustered it is another one in each tile.
 */
__device__ __forceinline__ uint32_t
most_shared(uint32_t bucket)
{
	uint32_t	best = __popc(__match_any_sync(0xffffffffu, bucket)) << 16 | bucket;

#if __CUDA_ARCH__ >= 800
	best = __reduce_max_sync(0xffffffffu, best);
#else
#pragma unroll
	for (int step = 16; step > 0; step /= 2)
		best = max(best, __shfl_xor_sync(0xffffffffu, best, step));
#endif
	return best & 0xffff;
}

/*
 * The place of this lane's key within its tile and bucket, where lanes that
 * share a bucket take their places with one atomic.
 */
__device__ __forceinline__ uint32_t
take_place(uint32_t *counts, uint32_t bucket, uint32_t fullest)
{
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t same = sharing_lanes(bucket, fullest);

	if (__popc(same) < many)
		return atomicAdd(&counts[bucket], 1u);

	const int	leader = __ffs(same) - 1;
	const bool	shared = same >> lane & 1;
	uint32_t	place = 0;

	if (!shared || lane == leader)
		place = atomicAdd(&counts[bucket], shared ? __popc(same) : 1u);

	const uint32_t base = __shfl_sync(0xffffffffu, place, leader);

	return shared ? base + __popc(same & ((1u << lane) - 1)) : place;
}

/*
 * Moves the keys of one tile to their buckets, by way of shared memory, so
 * that neighbouring threads write to neighbouring places.
 */
/* what is added to places, so that less than a tile can be taken from the first */
static constexpr uint32_t place_bias = 1 << 14;
static constexpr uint32_t is_split = 1u << 31;

/*
 * Further extents.  Whose key has an extent's first place takes it, and others wait
 * until it has a number.  They do not wait for long, and no two for each other: a thread
 * takes what is its before it waits, and nothing but barriers before all of this block's
 * waits lies between its place and that.  A function that is called, so that it takes no
 * registers from what happens nearly always.
 */
static __device__ __forceinline__ void
further_extents(Extents extents, uint32_t *counts, const uint32_t *places,
				uint32_t *split_at, uint32_t *split_to)
{
	for (uint32_t b = threadIdx.x; b < extents.buckets; b += threads)
		if ((counts[b] & is_split) != 0)
		{
			const uint32_t k = split_to[b] / extents.size;
			const uint32_t from = split_to[b] - k * extents.size;

			if (from == 0 || from + split_at[b] > extents.size)
				extents.take(b, from == 0 ? k : k + 1);
		}
	__syncwarp();
	for (uint32_t b = threadIdx.x; b < extents.buckets; b += threads)
		if ((counts[b] & is_split) != 0)
		{
			const uint32_t k = split_to[b] / extents.size;
			const uint32_t from = split_to[b] - k * extents.size;
			const uint32_t room = extents.size - from;
			const uint32_t start = places[b];
			const uint32_t offset = extents.begin_of(b, k) + from - start + place_bias;

			counts[b] = offset;
			if (split_at[b] > room)
			{
				counts[b] = offset | is_split;
				split_at[b] = start + room;
				split_to[b] = extents.begin_of(b, k + 1) - (start + room) + place_bias;
			}
		}
}

/* Keys outside the bounds: which of them is reported, does not matter. */
static __device__ __forceinline__ void
report_all_outside(const int32_t *keys, uint32_t m, KeyMap map, HpsortCudaVerdict *verdict)
{
	for (uint32_t i = threadIdx.x; i < m; i += threads)
		if (to_bin(map, keys[i]) > map.last)
			report_outside(verdict, keys[i]);
}

template <int ITEMS, bool COUNTED>
__global__ void __launch_bounds__(threads, PartitionTuning::blocks)
scatter_kernel(const int32_t *__restrict__ keys, uint64_t n, KeyMap map,
			   uint32_t shift, uint32_t buckets, uint32_t *cursors,
			   const Plan *plan, uint16_t *residues, Extents extents,
			   const uint32_t *skip, HpsortCudaVerdict *verdict)
{
	constexpr uint32_t tile = threads * ITEMS;
	constexpr uint32_t bias = COUNTED ? 0 : place_bias;
	/* words asked for before the first is waited for */
	constexpr int together = 8;
	extern __shared__ __align__(16) uint32_t memory[];
	__shared__ uint32_t sums[threads / 32];

	static_assert(tile <= place_bias, "of a tile's size at least");
	wait_for_kernel_before();
	if (!COUNTED && skip != nullptr && *skip != 0)
		return;

	uint32_t   *staged = memory;				/* a tile's bins */
	uint32_t   *counts = memory + tile;			/* keys of each bucket */
	uint32_t   *places = counts + buckets + 1;	/* where it starts in staged */
	uint32_t   *split_at = places + buckets + 1;	/* two extents: where the second one */
	uint32_t   *split_to = split_at + buckets;	/* begins in staged, and its target */
	const uint64_t begin = static_cast<uint64_t>(blockIdx.x) * tile;
	const uint32_t m = static_cast<uint32_t>(min(static_cast<uint64_t>(tile),
												 n - begin));
	uint32_t	fullest = COUNTED ? plan->fullest : no_bucket;
	uint32_t	bin[ITEMS];
	uint32_t	place[ITEMS / 2];

	/* before the keys are asked for, so that the barrier below waits for both */
	for (uint32_t b = threadIdx.x; b <= buckets; b += threads)
		counts[b] = 0;

	/*
	 * What is no key of these bounds gets a bucket of its own, behind all others, and
	 * is left out when they are written: no step in between has to ask what is one,
	 * and each of them asks for all its words before it waits for the first.
	 */
	const uint32_t none = buckets << shift;

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
#pragma unroll
		for (int i = 0; i < ITEMS; i++)
			bin[i] = bin[i] > map.last ? none : bin[i];
	}
	else
	{
#pragma unroll
		for (int i = 0; i < ITEMS; i++)
		{
			const uint32_t at = i * threads + threadIdx.x;

			bin[i] = at < m ? to_bin(map, __ldcs(keys + begin + at)) : none;
			bin[i] = bin[i] > map.last ? none : bin[i];
		}
	}

	__syncthreads();

	/*
	 * Random keys: one atomic each, all in flight together.  Whether a warp's
	 * keys crowd is judged by some of them; it decides about speed alone.
	 */
	bool		crowd = false;

	if (!COUNTED)
		fullest = most_shared(bin[0] >> shift);
#pragma unroll
	for (int i = 0; i < ITEMS; i += ITEMS / 4)
		crowd = crowd || __popc(sharing_lanes(bin[i] >> shift, fullest)) >= many;
	if (!crowd)
	{
		/* a tile has at most 2^14 places: two of them share a register */
#pragma unroll
		for (int i = 0; i < ITEMS; i += 2)
		{
			const uint32_t even = atomicAdd(&counts[bin[i] >> shift], 1u);
			const uint32_t odd = atomicAdd(&counts[bin[i + 1] >> shift], 1u);

			place[i / 2] = even | odd << 16;
		}
	}
	else
	{
#pragma unroll
		for (int i = 0; i < ITEMS; i += 2)
		{
			place[i / 2] = take_place(counts, bin[i] >> shift, fullest);
			place[i / 2] |= take_place(counts, bin[i + 1] >> shift, fullest) << 16;
		}
	}
	__syncthreads();

	/* more that are no keys of these bounds than there are places behind the last */
	if (!COUNTED && counts[buckets] != tile - m)
		report_all_outside(keys + begin, m, map, verdict);

	/* counts, which were the buckets' sizes in this tile, become targets: a bucket's
	 * place in memory less that in staged, so that adding an item's place in staged
	 * gives where it goes */
	uint32_t	before = 0;
	bool		beyond = false;

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
		if (COUNTED)
		{
			if (b < buckets)
			{
				places[b] = start;
				counts[b] = target - start;
			}
			continue;
		}

		/* the bucket's own extent, which random keys do not fill */
		if (b < buckets)
		{
			const bool	over = count > 0 && target + count > extents.size;

			places[b] = start;
			counts[b] = over ? is_split : b * extents.size + target - start + place_bias;
			if (over)
			{
				split_at[b] = count;
				split_to[b] = target;
				beyond = true;
			}
		}
	}
	/* targets and places are complete: now keys move, each to a place that no other
	 * has, in the order of buckets and in none within them */
	if (threadIdx.x == 0)
		places[buckets] = before;
	if (COUNTED)
		__syncthreads();
	else
		beyond = __syncthreads_or(beyond);
	if (!COUNTED && beyond)
		further_extents(extents, counts, places, split_at, split_to);
#pragma unroll
	for (int i = 0; i < ITEMS; i += together)
	{
		uint32_t	to[together];

#pragma unroll
		for (int j = 0; j < together; j++)
			to[j] = places[bin[i + j] >> shift];
#pragma unroll
		for (int j = 0; j < together; j++)
			staged[to[j] + (place[(i + j) / 2] >> j % 2 * 16 & 0xffff)] = bin[i + j];
	}
	__syncthreads();

	const uint32_t mask = (1u << shift) - 1;

	/*
	 * before is now the number of keys staged.  Neighbouring threads write to
	 * neighbouring places but for a tile's last key of a bucket: 32 keys a bucket are
	 * 64 bytes, two sectors.  Not streaming: other blocks complete the lines in L2.
	 */
	if (!COUNTED && beyond)
	{
		for (uint32_t i = threadIdx.x; i < before; i += threads)
		{
			const uint32_t value = staged[i];
			const uint32_t b = value >> shift;
			uint32_t	target = counts[b];

			if ((target & is_split) != 0)
				target = i < split_at[b] ? target & ~is_split : split_to[b];
			residues[target + i - bias] = static_cast<uint16_t>(value & mask);
		}
		return;
	}
	if (before == tile)
	{
#pragma unroll
		for (int i = 0; i < ITEMS; i += together)
		{
			uint32_t	value[together];

#pragma unroll
			for (int j = 0; j < together; j++)
				value[j] = staged[(i + j) * threads + threadIdx.x];
#pragma unroll
			for (int j = 0; j < together; j++)
				residues[counts[value[j] >> shift] + (i + j) * threads + threadIdx.x -
						 bias] = static_cast<uint16_t>(value[j] & mask);
		}
		return;
	}
	for (uint32_t i = threadIdx.x; i < before; i += threads)
	{
		const uint32_t value = staged[i];

		residues[counts[value >> shift] + i - bias] = static_cast<uint16_t>(value & mask);
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

/* Threads that an SM shall hold: with 40 registers each, as extents would have them, a
 * block less would fit on an H100; other devices hold fewer anyway. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
static constexpr int threads_wanted = 2048;
#else
static constexpr int threads_wanted = 1024;
#endif

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
__global__ void __launch_bounds__(bucket_threads, threads_wanted / bucket_threads)
bucket_kernel(const Plan *plan, const WorkItem *items, const uint32_t *starts,
			  const uint16_t *residues, KeyMap map, uint32_t shift,
			  uint32_t *crowded_bins, int32_t *out, Extents extents)
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
		if (extents.size == 0)
			count_residues<bucket_threads>(residues + item.begin, item.end - item.begin,
										   bins);
		else
		{
			/* one extent, but for buckets with more keys than others */
			uint32_t	at = item.begin - bucket_start;
			const uint32_t end = item.end - bucket_start;

			while (at < end)
			{
				const uint32_t k = at / extents.size;
				const uint32_t from = at - k * extents.size;
				const uint32_t m = min(extents.size - from, end - at);

				count_residues<bucket_threads>(
					residues + extents.begin_of(item.bucket, k) + from, m, bins);
				at += m;
			}
		}
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
	allow_shared(scatter_kernel<PartitionTuning::items, true>, limits);
	allow_shared(scatter_kernel<PartitionTuning::small_items, true>, limits);
	allow_shared(scatter_kernel<PartitionTuning::items, false>, limits);
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
	Extents		extents = {};
	uint32_t	zeroed;			/* words from counts on */

	PartitionArrays(const DeviceBuffer &memory, uint32_t shift, uint32_t buckets,
					uint64_t n)
	{
		Carver		carver(memory);

		const uint64_t extent = regime_partition_extent(n, buckets);

		residues = carver.take<uint16_t>(
			extent == 0 ? n : 2 * n + n / 16 + static_cast<uint64_t>(buckets) * 128);
		zeroed = extent == 0 ? buckets : buckets + buckets * buckets + 1;
		counts = carver.take<uint32_t>(zeroed);
		if (extent != 0)
			extents = {static_cast<uint32_t>(extent), buckets, counts + buckets,
				counts + buckets + buckets * buckets};
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
				  arrays.residues, map, shift, arrays.crowded_bins, out,
				  arrays.extents);
	if (crowded)
		launch_behind(context, stream, bucket_kernel<true, THREADS>, blocks, THREADS,
					  bytes, "expand the crowded buckets", arrays.plan, arrays.items,
					  arrays.starts, arrays.residues, map, shift,
					  arrays.crowded_bins, out, arrays.extents);
}

/* What a large tile needs: its bins, and what is known of each bucket. */
static uint64_t
scatter_bytes(uint32_t buckets, bool counted)
{
	return (threads * PartitionTuning::items + 2 +
			static_cast<uint64_t>(counted ? 2 : 4) * buckets) * sizeof(uint32_t);
}

/* Whether keys go to their buckets without these having been counted. */
static bool
scatters_at_once(const HpsortCuda *context, uint64_t n, uint32_t buckets)
{
	return regime_partition_extent(n, buckets) != 0 &&
		scatter_bytes(buckets, false) <=
		regime_shared_bins(&context->limits) * sizeof(uint32_t);
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

	check(cudaMemsetAsync(arrays.counts, 0, arrays.zeroed * sizeof(uint32_t), stream),
		  "clear the bucket counts");
	if (scatters_at_once(context, n, buckets))
	{
		constexpr uint32_t tile = threads * PartitionTuning::items;

		scatter_kernel<PartitionTuning::items, false>
			<<<static_cast<uint32_t>((n - 1) / tile + 1), threads,
			scatter_bytes(buckets, false), stream>>>
			(keys, n, map, shift, buckets, arrays.counts, nullptr, arrays.residues,
			 arrays.extents, skip, verdict);
		check_launch("scatter the keys");
		begun = true;
		return;
	}
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
	uint64_t	shared = scatter_bytes(buckets, true);
	const bool	at_once = scatters_at_once(context, n, buckets);
	PartitionStart mine;
	PartitionStart *start = begun != nullptr && begun->begun &&
		begun->map.flip == map.flip && begun->map.base == map.base &&
		begun->map.last == map.last && begun->shift == shift &&
		begun->buckets == buckets ? begun : &mine;

	if (!start->begun)
		start->begin(context, stream, map, shift, buckets, keys, n, nullptr, verdict);

	PartitionArrays arrays(start->memory, shift, buckets, n);

	if (!at_once)
		arrays.extents.size = 0;
	launch_behind(context, stream, plan_kernel, 1, plan_threads, 0,
				  "plan the buckets", arrays.counts, buckets, segment, n,
				  arrays.starts, arrays.cursors, arrays.items, most_items, arrays.plan);
	if (crowded > 0)
		launch_behind(context, stream, clear_crowded_kernel, context->limits.sms, 1024,
					  0, "clear the bins", arrays.plan, shift, arrays.crowded_bins);
	if (at_once)
		;						/* that is done already */
	else if (shared <= room)
		launch_behind(context, stream, scatter_kernel<PartitionTuning::items, true>,
					  static_cast<uint32_t>((n - 1) / tile + 1), threads, shared,
					  "scatter the keys", keys, n, map, shift, buckets,
					  arrays.cursors, arrays.plan, arrays.residues, arrays.extents,
					  nullptr, verdict);
	else
	{
		shared = (REGIME_PARTITION_SMALL_TILE + 2 * buckets + 2) * sizeof(uint32_t);
		launch_behind(context, stream, scatter_kernel<PartitionTuning::small_items, true>,
					  static_cast<uint32_t>((n - 1) / REGIME_PARTITION_SMALL_TILE + 1),
					  threads, shared, "scatter the keys", keys, n, map, shift,
					  buckets, arrays.cursors, arrays.plan, arrays.residues,
					  arrays.extents, nullptr, verdict);
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
