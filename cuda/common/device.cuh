/*-------------------------------------------------------------------------
 *
 * device.cuh
 *	  Device functions that several regimes share: mapping keys to bins, reading all keys at full
 *	  bandwidth, expanding runs at full bandwidth.
 *
 * Included by kernels only.  Knows keys, runs and blocks of threads, and no regime.
 *
 * Words of the kernels that are in no paper:
 *	phase		how many keys behind a 16-byte boundary an array begins; its head and tail
 *				are the keys before and after its whole vectors
 *	slice		256 bins whose sum is kept, too; a batch is what a block scans at once
 *	crowded		a bucket with more than twice its share of the keys; several blocks work on
 *				it, a segment each
 *	extent		room for keys of a bucket, more than its share
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

/* Returns the bin of a key within the bounds, and for keys outside a number above map.last. */
__device__ __forceinline__ uint32_t
to_bin(const KeyMap &map, int32_t key)
{
	return (static_cast<uint32_t>(key) ^ map.flip) - map.base;
}

/* Returns the key of a bin: the inverse of to_bin(). */
__device__ __forceinline__ int32_t
to_key(const KeyMap &map, uint32_t bin)
{
	return static_cast<int32_t>((bin + map.base) ^ map.flip);
}

/* Reports a key that is outside the bounds. */
__device__ __forceinline__ void
report_outside(HpsortCudaVerdict *verdict, int32_t key)
{
	/* any offender will do, so threads may overwrite each other */
	verdict->key = key;
	verdict->n_outside = 1;
}

/*
 * Programmatic dependent launch (compute capability 9.0 and up): a kernel of launch_behind() may
 * start while the last blocks of the kernel before it are still at work.  It calls this function
 * before it touches memory.  Here it waits for the kernel before it, and then lets the next
 * kernel start.  The next one starts when all blocks have come here or are done.  Therefore
 *
 * - no waiting block ever takes the place of a block that it waits for,
 * - at most two kernels are under way, and none finds in L1 what a kernel three before it read.
 *
 * Every thread must call this, even one that has nothing to do: a later kernel takes the end of
 * this kernel for the end of all kernels before it.
 */
__device__ __forceinline__ void
wait_for_kernel_before()
{
#if __CUDA_ARCH__ >= 900
	cudaGridDependencySynchronize();
	cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* Prefetches memory into L2 for a block that starts later; one thread calls it.  Nothing waits
 * for the prefetch.  Only whole 16-byte units within the given bytes are fetched. */
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

/* Returns how many blocks ahead to prefetch: half as many as run at the same time. */
__device__ __forceinline__ uint32_t
blocks_later(uint32_t blocks_per_sm)
{
	uint32_t	sms;

	asm("mov.u32 %0, %%nsmid;" : "=r"(sms));
	return sms * blocks_per_sm / 2;
}

/* Returns how many keys lie before the first one on a 16-byte boundary, 0 to 3. */
__device__ __forceinline__ uint32_t
misaligned(const void *memory)
{
	return ((16u - (reinterpret_cast<uintptr_t>(memory) & 15u)) & 15u) / 4u;
}

/* Returns this block's contiguous share [*begin, *end) of total things.  Shares differ by at most
 * one. */
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
 * Calls use(keys, valid) with the int4s [begin, end) of vectors, VECTORS of them per thread and
 * round.  Bit i of valid says whether keys[i] is within the span.  begin and end must be equal in
 * all threads of the block.  A warp leaves between two rounds if stop() holds in one of its
 * threads.
 *
 * All VECTORS loads are issued before the first is used: with VECTORS 4, one block of 1024
 * threads has 64 kB in flight, twice what an H100's SM needs.  The last, partial round also
 * issues its loads at once; a loop would pay one memory latency per turn, which shows at n = 1e7.
 * Loads are streaming, since no key is read twice.
 *
 * The vote at the end of a round brings the warp's lanes together again.  Without it, lanes that
 * fall behind in use() stay behind, their loads come apart, and the keys are read from memory
 * nearly twice (measured: 761 MB instead of 400, in the regime FEW_DISTINCT).
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

/* An array of keys as 16-byte vectors, and the keys at its two ends that are in none. */
struct KeyVectors
{
	const int4 *vectors;
	uint64_t	count;
	uint32_t	head;			/* keys before the first vector */
	uint32_t	tail;			/* keys behind the last one */

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
	/*
	 * calls use_one(key) for both ends; the last block does, as its share is never the larger one
	 */
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

/* Calls use(keys, valid) for this block's share of the vectors, and use_one(key) for its share of
 * the ends.  stop() is for_each_vector()'s. */
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

/* Adapts use(key) to the form use(keys, valid) of for_each_vector(). */
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

/* The stop() of callers that read all keys. */
struct NeverStop
{
	__device__ __forceinline__ bool operator()() const { return false; }
};

/* Calls use(key) for each key of this block's share. */
template <int VECTORS, typename Use>
__device__ __forceinline__ void
for_each_key(const int32_t *__restrict__ keys, uint64_t n, Use use)
{
	for_each_batch<VECTORS>(keys, n, OneByOne<VECTORS, Use>{use}, use,
							NeverStop());
}

/* Returns the largest j in [lo, hi] with starts[j] <= position.  starts[lo] must not be above
 * position. */
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
 * Writes positions [first, end) of out from m runs in shared memory; all threads of a block call
 * it together.  Run j has the key key_of(j) and covers positions starts[j] to starts[j + 1] - 1;
 * runs may be empty.  Needs:
 *
 * - starts[0] <= first and starts[m] >= end
 * - out aligned to 16 bytes
 * - end at most UINT32_MAX - ExpandTuning::warp_tile, for the end of the last tile has 32 bits
 *
 * Nothing outside [first, end) is written.
 *
 * The work is divided by outputs, not by runs.  A warp takes a tile of outputs and searches for
 * the first and the last run in it.  If the tile lies within one run, it is a plain fill, which
 * runs at the speed of memset.  Otherwise each lane searches for its own 16 bytes among the
 * tile's runs.  No thread walks over output that another one writes, so one long run is no
 * bottleneck, as it is in the paper's scatter followed by a prefix sum over n.
 */
template <typename KeyOf>
__device__ __forceinline__ void
expand_block(int32_t *__restrict__ out, uint32_t first, uint32_t end,
			 const uint32_t *starts, uint32_t m, KeyOf key_of)
{
	constexpr uint32_t tile = ExpandTuning::warp_tile;
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t warps = blockDim.x / 32;

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
			/* the lanes' searches take different times; they store together */
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
					/* one step usually reaches the run; the search passes over empty bins */
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
 * Widens *bounds by the bounds of a block of THREADS threads, each of which passes its own lo and
 * hi; lo > hi means no keys.  Reduces within the thread's warp, then within the block, so that
 * one pair of atomics per block is left.  All threads of the block must call it.
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

	/* at most 32 pairs: one thread is done with them before a second round of shuffles would be,
	 * and the kernel waits for memory anyway */
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

/* Returns the sum of x over a warp, in every lane. */
template <typename T>
__device__ __forceinline__ T
warp_sum(T x)
{
#pragma unroll
	for (int step = 16; step > 0; step /= 2)
		x += __shfl_xor_sync(0xffffffffu, x, step);
	return x;
}

/*
 * Returns the exclusive prefix sum of value over a block of THREADS, and sets *total to the sum.
 * sums must hold one word per warp; it may be used again after the call, which ends with a
 * barrier.  There is one more barrier on the way: each warp sums up the warps before it by
 * itself.
 *
 * cub::BlockScan takes more dependent steps with 32 warps.  With it, and with slices scanned even
 * where one batch holds all bins, bringing the bins back took 4.6 us instead of 1.4 (H100, n 1e6,
 * range 1,000).
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
