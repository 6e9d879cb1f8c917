/*-------------------------------------------------------------------------
 *
 * scatter.cu
 *	  Keys to buckets: the bucket step of Zhang and Wu 2012 (and of Chen et al. 2009).
 *
 * A tile's keys are brought into the order of buckets in shared memory, so that neighbouring
 * threads write to neighbouring places.  Only a key's low `shift` bits are moved, in two bytes;
 * the place of these bytes says which bucket they belong to.
 *
 * Keys of a bucket need no order.  A tile therefore ranks them by an atomic in shared memory
 * instead of a stable count, and draws places from the bucket's cursor.  So all blocks write at
 * one place of each bucket, and L2 completes the lines.  With a place for each bucket and block,
 * which needs no cursors, half-filled lines went to memory and came back (548 MB written instead
 * of 200, 0.96 ms instead of 0.33).
 *
 * Each bucket has room for a little more than its share, an extent, and takes further extents when
 * the first is full (steps.cuh).  So nobody counts the buckets beforehand, and keys are read once.
 *
 *-------------------------------------------------------------------------
 */
#include "partition/steps.cuh"

namespace hpsort
{

static constexpr int threads = PartitionTuning::threads;

static_assert(threads * PartitionTuning::items == REGIME_PARTITION_TILE &&
			  threads * PartitionTuning::small_items == REGIME_PARTITION_SMALL_TILE,
			  "regime.c sizes for these tiles");

/*
 * Returns the lanes whose key is in the fullest bucket.  If these are fewer than `many`, returns
 * the lanes whose key is in the first lane's bucket.  Many lanes in one bucket would queue for
 * its counter.
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

/* Returns the place of this lane's key within its tile and bucket.  Lanes that share a bucket
 * take their places with one atomic. */
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
 * Loads the bins of a tile's keys, all loads in flight together.  A bin is above map.last for a
 * key outside the bounds, and 0xffffffff where there is no key.  keys are the tile's m keys; with
 * `aligned` they begin on a 16-byte boundary.
 */
template <int ITEMS>
__device__ __forceinline__ void
load_bins(const int32_t *__restrict__ keys, uint32_t m, bool aligned, const KeyMap &map,
		  uint32_t (&bin)[ITEMS])
{
	/* keys of an aligned, full tile come 16 bytes at a time */
	if (m == threads * ITEMS && aligned)
	{
		const int4 *vectors = reinterpret_cast<const int4 *>(keys);

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

			/* beyond the end: like a key outside the bounds, which is dropped */
			bin[i] = at < m ? to_bin(map, __ldcs(keys + at)) : 0xffffffffu;
		}
	}
}

/* Returns the bucket that most lanes of the warp share.  Each tile finds it anew, because clustered
 * keys share another bucket in each tile. */
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

/* A target is the place of a bucket's first key, less this key's place in the tile; target_bias
 * keeps it from being negative.  is_split marks buckets whose keys go to two extents. */
static constexpr uint32_t target_bias = 1 << 14;
static constexpr uint32_t is_split = 1u << 31;

/*
 * Finds targets in further extents, for buckets whose counts are marked is_split.  splits[b] is
 * the first place of the tile's keys, counted from the bucket's begin.  If the keys reach into
 * the next extent, places[b] becomes where in the tile the next extent begins, and splits[b] its
 * target.
 *
 * The thread that has drawn an extent's first place takes the extent; threads with later places
 * wait until the extent has a number.  The wait is short, and no two threads wait for each other:
 * a block that has drawn places is running, and a thread takes its own extents before it waits,
 * with nothing but barriers of the block in between.
 */
__device__ __forceinline__ void
further_extents(const Extents &extents, uint32_t *counts, uint32_t *places,
				uint32_t *splits)
{
	for (uint32_t b = threadIdx.x; b < extents.buckets; b += threads)
		if ((counts[b] & is_split) != 0)
		{
			const uint32_t k = splits[b] / extents.size;
			const uint32_t from = splits[b] - k * extents.size;

			if (from == 0)
				extents.take(b, k);
			else if (from + (counts[b] & ~is_split) > extents.size)
				extents.take(b, k + 1);
		}
	__syncwarp();
	for (uint32_t b = threadIdx.x; b < extents.buckets; b += threads)
		if ((counts[b] & is_split) != 0)
		{
			const uint32_t count = counts[b] & ~is_split;
			const uint32_t k = splits[b] / extents.size;
			const uint32_t from = splits[b] - k * extents.size;
			const uint32_t room = extents.size - from;
			const uint32_t start = places[b];

			counts[b] = extents.begin_of(b, k) + from - start + target_bias;
			if (count > room)
			{
				counts[b] |= is_split;
				places[b] = start + room;
				splits[b] = extents.begin_of(b, k + 1) - (start + room) + target_bias;
			}
		}
}

/* Reads a tile that has keys outside the bounds again, and reports one of them for each warp,
 * because the report goes over the bus. */
__device__ __forceinline__ void
report_any_outside(const int32_t *keys, uint32_t m, const KeyMap &map,
				   HpsortCudaVerdict *verdict)
{
	bool		bad = false;
	int32_t		outside = 0;

	for (uint32_t i = threadIdx.x; i < m; i += threads)
		if (to_bin(map, keys[i]) > map.last)
		{
			bad = true;
			outside = keys[i];
		}

	const uint32_t all_bad = __ballot_sync(0xffffffffu, bad);

	if (bad && threadIdx.x % 32 == __ffs(all_bad) - 1)
		report_outside(verdict, outside);
}

/* Words that a thread loads before it waits for the first. */
static constexpr int together = 8;

/*
 * Finds each key's place among the tile's keys of its bucket, two places to a register, as a tile
 * has at most 2^14 places.  counts become the numbers of these keys; m is the number of the tile's
 * keys.
 *
 * The normal case is random keys: one atomic each, all in flight together.  Keys of a warp that
 * crowd in one bucket take places by take_place() instead.  A sample of the keys decides; it
 * affects speed alone.  In a tile that is not full, rows of items that do not exist get no place,
 * for they would queue for one counter.
 */
template <int ITEMS>
__device__ __forceinline__ void
place_keys(const uint32_t (&bin)[ITEMS], uint32_t m, uint32_t shift, uint32_t *counts,
		   uint32_t (&place)[ITEMS / 2])
{
	const uint32_t fullest = most_shared(bin[0] >> shift);
	bool		crowd = m < threads * ITEMS;

#pragma unroll
	for (int i = 0; i < ITEMS; i += ITEMS / 4)
		crowd = crowd || __popc(sharing_lanes(bin[i] >> shift, fullest)) >= many;
	if (!crowd)
	{
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
			place[i / 2] = 0;
			if (i * threads < m)
				place[i / 2] = take_place(counts, bin[i] >> shift, fullest);
			if ((i + 1) * threads < m)
				place[i / 2] |= take_place(counts, bin[i + 1] >> shift, fullest) << 16;
		}
	}
}

/*
 * counts are the buckets' sizes in this tile and become targets (target_bias); places become
 * where the buckets start in the tile.  *staged receives the number of keys in the tile.  Returns
 * whether keys of this thread's buckets go beyond a bucket's own extent, which random keys do not
 * fill; these buckets are left to further_extents().
 */
__device__ __forceinline__ bool
draw_targets(const Extents &extents, uint32_t *cursors, uint32_t *counts, uint32_t *places,
			 uint32_t *splits, uint32_t *sums, uint32_t *staged)
{
	uint32_t	before = 0;
	bool		beyond = false;

	for (uint32_t at = 0; at < extents.buckets; at += threads)
	{
		const uint32_t b = at + threadIdx.x;
		const uint32_t count = b < extents.buckets ? counts[b] : 0;
		uint32_t	target = 0;
		uint32_t	total;

		/* issued first: the sum hides part of its way to L2 and back */
		if (count > 0)
			target = atomicAdd(&cursors[b], count);

		const uint32_t start =
			before + block_exclusive_sum<threads>(count, sums, &total);

		before += total;
		if (b < extents.buckets)
		{
			places[b] = start;
			counts[b] = b * extents.size + target - start + target_bias;
			if (count > 0 && target + count > extents.size)
			{
				counts[b] = count | is_split;
				splits[b] = target;
				beyond = true;
			}
		}
	}
	*staged = before;
	return beyond;
}

/* Moves keys within shared memory, each to a place that no other key has, in the order of
 * buckets, and in no order within a bucket. */
template <int ITEMS>
__device__ __forceinline__ void
stage_keys(const uint32_t (&bin)[ITEMS], const uint32_t (&place)[ITEMS / 2], uint32_t m,
		   uint32_t none, uint32_t shift, const uint32_t *places, uint32_t *staged)
{
	if (m < threads * ITEMS)
	{
#pragma unroll
		for (int i = 0; i < ITEMS; i++)
			if (bin[i] != none)
				staged[places[bin[i] >> shift] + (place[i / 2] >> i % 2 * 16 & 0xffff)] =
					bin[i];
		return;
	}
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
}

/*
 * Writes the m keys staged to memory, at target_of(bucket, place in the tile).  Neighbouring
 * threads write to neighbouring places, except at a tile's last key of a bucket: 32 keys of a
 * bucket are 64 bytes, two sectors.  Stores are not streaming, because other blocks complete the
 * lines in L2.
 */
template <int ITEMS, typename TargetOf>
__device__ __forceinline__ void
write_residues(const uint32_t *staged, uint32_t m, uint32_t shift, uint16_t *residues,
			   TargetOf target_of)
{
	const uint32_t mask = (1u << shift) - 1;

	if (m == threads * ITEMS)
	{
#pragma unroll
		for (int i = 0; i < ITEMS; i += together)
		{
			uint32_t	value[together];
			uint32_t	to[together];

#pragma unroll
			for (int j = 0; j < together; j++)
				value[j] = staged[(i + j) * threads + threadIdx.x];
#pragma unroll
			for (int j = 0; j < together; j++)
				to[j] = target_of(value[j] >> shift, (i + j) * threads + threadIdx.x);
#pragma unroll
			for (int j = 0; j < together; j++)
				residues[to[j] + (i + j) * threads + threadIdx.x - target_bias] =
					static_cast<uint16_t>(value[j] & mask);
		}
		return;
	}
	for (uint32_t i = threadIdx.x; i < m; i += threads)
	{
		const uint32_t value = staged[i];

		residues[target_of(value >> shift, i) + i - target_bias] =
			static_cast<uint16_t>(value & mask);
	}
}

/*
 * Moves the keys of one tile to their buckets' extents.  When all blocks are done, cursors are
 * the buckets' sizes.  skip is null, or a word that a sample's kernel has written; if the word is
 * not 0, the kernel does nothing.
 *
 * Keys outside the bounds get a bucket of their own, behind all others, which is not written.  So
 * no step in between tests for them, and each step issues all its loads before it waits for the
 * first.  Only the last tile, if it is not full, tests which of its items exist: the missing ones
 * would queue for one counter.
 */
template <int ITEMS>
__global__ void __launch_bounds__(threads, PartitionTuning::blocks)
scatter_kernel(const int32_t *__restrict__ keys, uint64_t n, KeyMap map, uint32_t shift,
			   uint32_t *cursors, uint16_t *residues, Extents extents, const uint32_t *skip,
			   HpsortCudaVerdict *verdict)
{
	constexpr uint32_t tile = threads * ITEMS;
	extern __shared__ __align__(16) uint32_t memory[];
	__shared__ uint32_t sums[threads / 32];

	static_assert(tile <= target_bias, "no place in a tile may be larger");
	wait_for_kernel_before();
	if (skip != nullptr && *skip != 0)
		return;

	const uint32_t buckets = extents.buckets;
	const uint32_t none = buckets << shift;
	uint32_t   *staged = memory;				/* a tile's bins */
	uint32_t   *counts = memory + tile;			/* keys of each bucket */
	uint32_t   *places = counts + buckets + 1;	/* where the bucket starts in staged */
	uint32_t   *splits = places + buckets + 1;	/* where its second extent starts;
												 * further_extents() */
	const uint64_t begin = static_cast<uint64_t>(blockIdx.x) * tile;
	const uint32_t m = static_cast<uint32_t>(min(static_cast<uint64_t>(tile),
												 n - begin));
	uint32_t	bin[ITEMS];
	uint32_t	place[ITEMS / 2];

	/* before the keys are loaded, so that the barrier below waits for both */
	for (uint32_t b = threadIdx.x; b <= buckets; b += threads)
		counts[b] = 0;
	load_bins<ITEMS>(keys + begin, m, misaligned(keys) == 0, map, bin);
#pragma unroll
	for (int i = 0; i < ITEMS; i++)
		bin[i] = bin[i] > map.last ? none : bin[i];
	__syncthreads();

	place_keys<ITEMS>(bin, m, shift, counts, place);
	__syncthreads();

	uint32_t	n_staged;
	bool		beyond = draw_targets(extents, cursors, counts, places, splits, sums, &n_staged);

	if (threadIdx.x == 0)
		places[buckets] = n_staged;
	/* places are complete */
	beyond = __syncthreads_or(beyond);
	stage_keys<ITEMS>(bin, place, m, none, shift, places, staged);
	__syncthreads();

	/* more items in the extra bucket than padding: some keys are outside the bounds */
	if (counts[buckets] != (threads - m % threads) % threads)
		report_any_outside(keys + begin, m, map, verdict);

	if (!beyond)
	{
		write_residues<ITEMS>(staged, n_staged, shift, residues,
							  [&](uint32_t b, uint32_t) { return counts[b]; });
		return;
	}
	further_extents(extents, counts, places, splits);
	__syncthreads();
	write_residues<ITEMS>(staged, n_staged, shift, residues, [&](uint32_t b, uint32_t i) {
		const uint32_t target = counts[b];

		if ((target & is_split) == 0)
			return target;
		return i < places[b] ? target & ~is_split : splits[b];
	});
}

void
configure_scatter(const HpsortCudaLimits &limits)
{
	const uint64_t bytes = partition_allowance(limits);

	allow_shared(scatter_kernel<PartitionTuning::items>, bytes);
	allow_shared(scatter_kernel<PartitionTuning::small_items>, bytes);
}

void
scatter(const SortInput &input, const Division &division, const PartitionArrays &arrays,
		const uint32_t *skip)
{
	const uint64_t n = input.n;
	const uint32_t tile = regime_partition_tile(&input.context->limits, n, division.buckets);
	const auto	kernel = tile == REGIME_PARTITION_TILE ?
		scatter_kernel<PartitionTuning::items> :
		scatter_kernel<PartitionTuning::small_items>;

	kernel<<<static_cast<uint32_t>((n - 1) / tile + 1), threads,
		regime_partition_words(tile, division.buckets) * sizeof(uint32_t), input.stream>>>
		(input.keys, n, input.map(), division.shift, arrays.counts, arrays.residues,
		 arrays.extents, skip, input.verdict);
	check_launch("scatter the keys");
}

} /* namespace hpsort */
