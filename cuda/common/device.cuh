/*-------------------------------------------------------------------------
 *
 * device.cuh
 *	  Device functions that several regimes are made of: mapping keys to bins,
 *	  reading all keys at full bandwidth, expanding runs at full bandwidth.
 *
 * Words of the kernels that are in no paper:
 *	phase		how many keys behind a 16-byte boundary an array begins; its head
 *				and tail are the keys before and after its whole vectors
 *	dealt		given out beforehand in equal shares; what is drawn instead goes
 *				tile by tile to the block that is free first
 *	slice		256 bins whose sum is kept too; a batch is what a block scans at once
 *	crew		the blocks of a cluster, which add their bins up among themselves
 *	crowded		a bucket with more than twice its share of the keys, worked on by
 *				several blocks, a segment each; the fullest is the largest bucket
 *	extent		room for keys of a bucket that has not been counted, more than its share
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_DEVICE_CUH
#define HPSORT_CUDA_DEVICE_CUH

#include <cstdint>

#include "common/keys.cuh"
#include "regime.h"
#include "tuning.cuh"

namespace hpsort
{

__device__ __forceinline__ uint32_t
to_bin(const KeyMap &map, int32_t key)
{
	return (static_cast<uint32_t>(key) ^ map.flip) - map.base;
}

__device__ __forceinline__ int32_t
to_key(const KeyMap &map, uint32_t bin)
{
	return static_cast<int32_t>((bin + map.base) ^ map.flip);
}

__device__ __forceinline__ void
report_outside(HpsortCudaVerdict *verdict, int32_t key)
{
	/* any offender will do, so threads may overwrite each other */
	verdict->key = key;
	verdict->n_outside = 1;
}

/*
 * Programmatic dependent launch (compute capability 9.0 and up): a kernel of
 * launch_behind() may start while the last blocks of the one before it are still
 * at work.  It waits here before it touches memory, and then lets the next one
 * start, which happens once all its blocks have come here or are done: no waiting
 * block ever takes the place of one that it waits for, and no more than two
 * kernels are under way, so that none finds in L1 what one three before it read.
 * Every thread must call this, even if it has nothing to do: a later kernel takes
 * the end of this one for the end of all before it.
 */
__device__ __forceinline__ void
wait_for_kernel_before()
{
#if __CUDA_ARCH__ >= 900
	cudaGridDependencySynchronize();
	cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/*
 * Asks L2 for what a block that starts later will read; one thread calls it.  Nothing
 * waits for it, and whole 16 bytes within the given bytes alone are asked for.
 */
__device__ __forceinline__ void
prefetch_later(const void *from, uint32_t bytes)
{
#if __CUDA_ARCH__ >= 900
	const uint32_t skip = (16u - (reinterpret_cast<uintptr_t>(from) & 15u)) & 15u;

	if (bytes >= skip + 16)
		asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" : :
					 "l"(static_cast<const char *>(from) + skip),
					 "r"((bytes - skip) & ~15u) : "memory");
#endif
}

/* Half as many blocks later as are at work together. */
__device__ __forceinline__ uint32_t
blocks_later(uint32_t blocks_per_sm)
{
	uint32_t	sms;

	asm("mov.u32 %0, %%nsmid;" : "=r"(sms));
	return sms * blocks_per_sm / 2;
}

/* Keys before the first one on a 16-byte boundary. */
__device__ __forceinline__ uint32_t
misaligned(const void *memory)
{
	return ((16u - (reinterpret_cast<uintptr_t>(memory) & 15u)) & 15u) / 4u;
}

/* This block's share of total things, in one piece: sizes differ by one. */
__device__ __forceinline__ void
block_span(uint64_t total, uint64_t *begin, uint64_t *end)
{
	uint64_t	each = total / gridDim.x;
	uint64_t	more = total % gridDim.x;
	uint64_t	block = blockIdx.x;

	*begin = each * block + (block < more ? block : more);
	*end = *begin + each + (block < more ? 1 : 0);
}

/*
 * Calls use(keys, valid) with the int4s [begin, end) of vectors, VECTORS of
 * them per thread and round; bit i of valid says whether the i-th is there.
 * Block-uniform; a warp for which stop() holds leaves between two rounds.
 *
 * VECTORS loads are issued before the first is used; one block of 1024 threads
 * then has 64 kB in flight at 4, twice what an H100's SM needs.  The last,
 * partial round is issued at once as well: a loop would pay a memory latency
 * per turn, which shows at n = 1e7.  Streaming loads: no key is read twice.
 *
 * The vote at the end of a round also brings the warp's lanes together again.
 * Without it, lanes that fall behind in use() stay behind, their loads come
 * apart, and the keys are read from memory nearly twice (measured: 761 of 400
 * MB, in the regime FEW_DISTINCT).
 */
template <int VECTORS, typename Use, typename Stop>
__device__ __forceinline__ void
for_each_vector(const int4 *__restrict__ vectors, uint64_t begin, uint64_t end,
				Use use, Stop stop)
{
	constexpr uint32_t all = (1u << VECTORS) - 1;
	uint64_t	at = begin + threadIdx.x;
	uint32_t	valid = 0;
	int4		r[VECTORS];

	for (; begin + VECTORS * blockDim.x <= end; begin += VECTORS * blockDim.x)
	{
#pragma unroll
		for (int i = 0; i < VECTORS; i++)
			r[i] = __ldcs(vectors + at + i * blockDim.x);
		use(r, all);
		at += VECTORS * blockDim.x;
		if (__any_sync(0xffffffffu, stop()))
			return;
	}
	if (begin >= end)
		return;
#pragma unroll
	for (int i = 0; i < VECTORS; i++)
	{
		r[i] = make_int4(0, 0, 0, 0);
		if (at + i * blockDim.x < end)
		{
			r[i] = __ldcs(vectors + at + i * blockDim.x);
			valid |= 1u << i;
		}
	}
	use(r, valid);
	__syncwarp();
}

/* An array of keys as 16-byte vectors and what is left at its two ends. */
struct KeyVectors
{
	const int4 *vectors;
	uint64_t	count;
	uint32_t	head;			/* keys before the first vector */
	uint32_t	tail;			/* and behind the last one */

	__device__ __forceinline__
	KeyVectors(const int32_t *keys, uint64_t n)
	{
		head = misaligned(keys);
		if (head > n)
			head = static_cast<uint32_t>(n);
		vectors = reinterpret_cast<const int4 *>(keys + head);
		count = (n - head) / 4;
		tail = static_cast<uint32_t>(n - head - count * 4);
	}
	/* by the last block, whose share is never the larger one */
	template <typename UseOne>
	__device__ __forceinline__ void
	for_each_end(const int32_t *keys, uint64_t n, UseOne use_one) const
	{
		if (blockIdx.x != gridDim.x - 1)
			return;
		if (threadIdx.x < head)
			use_one(keys[threadIdx.x]);
		if (threadIdx.x < tail)
			use_one(keys[n - tail + threadIdx.x]);
	}
};

/* All keys: this block's share of the vectors, and the ends one by one. */
template <int VECTORS, typename Use, typename UseOne, typename Stop>
__device__ __forceinline__ void
for_each_batch(const int32_t *__restrict__ keys, uint64_t n, Use use,
			   UseOne use_one, Stop stop)
{
	const KeyVectors all(keys, n);
	uint64_t	begin;
	uint64_t	end;

	block_span(all.count, &begin, &end);
	for_each_vector<VECTORS>(all.vectors, begin, end, use, stop);
	all.for_each_end(keys, n, use_one);
}

/* Makes use(keys, valid) of use(key). */
template <int VECTORS, typename Use>
struct OneByOne
{
	Use		   &use;

	__device__ __forceinline__ void
	operator()(const int4 (&r)[VECTORS], uint32_t valid) const
	{
#pragma unroll
		for (int i = 0; i < VECTORS; i++)
			if (valid >> i & 1)
			{
				use(r[i].x);
				use(r[i].y);
				use(r[i].z);
				use(r[i].w);
			}
	}
};

struct NeverStop
{
	__device__ __forceinline__ bool operator()() const { return false; }
};

template <int VECTORS, typename Use>
__device__ __forceinline__ void
for_each_key(const int32_t *__restrict__ keys, uint64_t n, Use use)
{
	for_each_batch<VECTORS>(keys, n, OneByOne<VECTORS, Use>{use}, use,
							NeverStop());
}

/* Largest j in [lo, hi] with starts[j] <= position; starts[lo] must be. */
template <typename Start>
__device__ __forceinline__ uint32_t
last_at_or_before(const Start *starts, uint32_t lo, uint32_t hi, Start position)
{
	while (lo < hi)
	{
		uint32_t	middle = lo + (hi - lo + 1) / 2;

		if (starts[middle] <= position)
			lo = middle;
		else
			hi = middle - 1;
	}
	return lo;
}

/*
 * Writes positions [first, end) of out, a block together, from m runs in
 * shared memory: run j covers positions starts[j] to starts[j + 1] - 1 and its
 * key is key_of(j).  starts[0] <= first, starts[m] >= end; runs may be empty.
 * out must be aligned to 16 bytes; nothing outside [first, end) is written.
 * end is at most REGIME_POSITIONS_MAX and what aligns out, 3.
 *
 * Output-centric: a warp takes a tile of outputs and searches for the first
 * and last run in it.  Long runs are then a plain fill, which is what makes
 * the expansion run at the speed of memset; otherwise each lane searches for
 * its own 16 bytes among the tile's runs.  No thread ever walks over output
 * that another one writes, so one long run is not a bottleneck (as it is in
 * the paper's scatter followed by a prefix sum over n).
 */
template <typename KeyOf>
__device__ __forceinline__ void
expand_block(int32_t *__restrict__ out, uint32_t first, uint32_t end,
			 const uint32_t *starts, uint32_t m, KeyOf key_of)
{
	constexpr uint32_t tile = ExpandTuning::warp_tile;
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t warps = blockDim.x / 32;

	static_assert(REGIME_POSITIONS_MAX + 3 + tile <= UINT32_MAX,
				  "the end of the last tile must fit in 32 bits");

	if (first >= end || m == 0)
		return;

	const uint32_t tiles_end = (end - 1) / tile + 1;

	for (uint32_t t = first / tile + threadIdx.x / 32; t < tiles_end; t += warps)
	{
		const uint32_t from = max(t * tile, first);
		const uint32_t to = min(t * tile + tile, end);
		const bool	whole = to - from == tile;
		const uint32_t j0 = last_at_or_before(starts, 0u, m - 1, from);
		uint32_t	j1 = j0;

		if (starts[j0 + 1] < to)
			j1 = last_at_or_before(starts, j0 + 1, m - 1, to - 1);

		if (j0 == j1 && whole)
		{
			const int32_t key = key_of(j0);
			const int4	four = make_int4(key, key, key, key);

#pragma unroll
			for (uint32_t c = 0; c < tile / 128; c++)
				__stcs(reinterpret_cast<int4 *>(out + t * tile) + c * 32 + lane,
					   four);
			continue;
		}
#pragma unroll
		for (uint32_t c = 0; c < tile / 128; c++)
		{
			/* the lanes' searches take different times; their store is one */
			__syncwarp();

			const uint32_t p = t * tile + c * 128 + lane * 4;
			int32_t		four[4];
			uint32_t	j;

			if (p >= to || p + 4 <= from)
				continue;
			j = last_at_or_before(starts, j0, j1, max(p, from));
			four[0] = four[1] = four[2] = four[3] = key_of(j);
			/* most vectors lie within one run */
			if (starts[j + 1] < p + 4)
			{
#pragma unroll
				for (uint32_t e = 1; e < 4; e++)
				{
					/* a step usually does; the search is for empty bins */
					if (j < j1 && starts[j + 1] <= p + e)
					{
						j++;
						if (j < j1 && starts[j + 1] <= p + e)
							j = last_at_or_before(starts, j + 1, j1, p + e);
					}
					four[e] = key_of(j);
				}
			}
			if (p >= from && p + 4 <= to)
				__stcs(reinterpret_cast<int4 *>(out + p),
					   make_int4(four[0], four[1], four[2], four[3]));
			else
			{
#pragma unroll
				for (uint32_t e = 0; e < 4; e++)
					if (p + e >= from && p + e < to)
						out[p + e] = four[e];
			}
		}
	}
}

/*
 * Widens *bounds by those of a block of THREADS, each thread's being lo and hi (lo > hi:
 * of no keys).  Per thread, per warp, per block: one pair of atomics per block is left.
 */
template <int THREADS>
__device__ __forceinline__ void
widen_bounds(int32_t lo, int32_t hi, Bounds *bounds)
{
	/* __reduce_min_sync would need sm_80; once per thread it does not matter */
#pragma unroll
	for (int step = 16; step > 0; step /= 2)
	{
		lo = min(lo, __shfl_xor_sync(0xffffffffu, lo, step));
		hi = max(hi, __shfl_xor_sync(0xffffffffu, hi, step));
	}

	/* sixteen pairs: one thread is done with them before a second round of shuffles
	 * would be, and the kernel waits for memory anyway */
	__shared__ int32_t warp_lo[THREADS / 32];
	__shared__ int32_t warp_hi[THREADS / 32];

	if (threadIdx.x % 32 == 0)
	{
		warp_lo[threadIdx.x / 32] = lo;
		warp_hi[threadIdx.x / 32] = hi;
	}
	__syncthreads();
	if (threadIdx.x == 0)
	{
		for (int i = 1; i < THREADS / 32; i++)
		{
			lo = min(lo, warp_lo[i]);
			hi = max(hi, warp_hi[i]);
		}
		if (lo <= hi)
		{
			atomicMin(&bounds->lo, lo);
			atomicMax(&bounds->hi, hi);
		}
	}
}

/* Sum over a warp; 32-bit sums only (shares of a block stay below 2^32). */
__device__ __forceinline__ uint32_t
warp_sum(uint32_t x)
{
#pragma unroll
	for (int step = 16; step > 0; step /= 2)
		x += __shfl_xor_sync(0xffffffffu, x, step);
	return x;
}

/*
 * Exclusive prefix sum over a block of THREADS, and its total.  One barrier on
 * the way: each warp sums up the warps before it by itself.  sums must hold a
 * word per warp, and may be used again after a barrier (one is at the end).
 * cub::BlockScan takes more steps in a row with 32 warps: with it, and with the
 * slices scanned even where one batch holds all bins, bringing the bins back
 * took 4.6 us instead of 1.4 (H100, n 1e6, range 1,000).
 */
template <int THREADS, typename T>
__device__ __forceinline__ T
block_exclusive_sum(T value, T *sums, T *total)
{
	constexpr int warps = THREADS / 32;
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t warp = threadIdx.x / 32;
	T			inclusive = value;

#pragma unroll
	for (int step = 1; step < 32; step *= 2)
	{
		const T		other = __shfl_up_sync(0xffffffffu, inclusive, step);

		if (lane >= step)
			inclusive += other;
	}
	if (lane == 31)
		sums[warp] = inclusive;
	__syncthreads();

	T			warp_total = lane < warps ? sums[lane] : 0;

#pragma unroll
	for (int step = 1; step < warps; step *= 2)
	{
		const T		other = __shfl_up_sync(0xffffffffu, warp_total, step);

		if (lane >= step)
			warp_total += other;
	}

	const T		before = __shfl_sync(0xffffffffu, warp_total, (warp + 31) % 32);

	*total = __shfl_sync(0xffffffffu, warp_total, warps - 1);
	__syncthreads();
	return inclusive - value + (warp > 0 ? before : 0);
}

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_DEVICE_CUH */
