/*-------------------------------------------------------------------------
 *
 * one_block.cu
 *	  RADIX for as many keys as one block holds: one launch, no other block.
 *
 * A sort of a few thousand keys takes a launch, the way to memory and back, and the
 * time in which one SM puts the keys in order: a barrier of the grid would take longer
 * than other SMs could save.  So keys are read once and written once, and are in
 * registers and shared memory in between.  The block finds the bounds, which decide how
 * many passes there are.
 *
 * Each pass is a counting sort by a digit of up to nine bits, as in sweep.cuh:
 * lanes with the same digit find each other by votes, and take their places
 * among their warp's keys by a counter of the warp's own.  32 bits are four passes;
 * CUB's sort of one tile takes six of six bits, because a counter for each thread and
 * digit leaves no room for more.  The issue of instructions bounds the speed, and the
 * votes are half of the instructions: a digit of few bits takes few votes, and the first
 * pass of keys alone takes none (rank_in_any_order).
 *
 * Where the device's shared memory has no room for the keys, small_sort.cu sorts them.
 *
 *-------------------------------------------------------------------------
 */
#include <climits>

#include "passes/small_sort.cuh"
#include "passes/sweep.cuh"

namespace hpsort
{

/* The arguments of a launch, which needs no workspace. */
struct OneBlock
{
	const int32_t *keys;
	uint32_t	n;
	int32_t    *out;			/* sorted keys; null: only rows are wanted */
	uint32_t   *rows;			/* null: only keys are wanted */
	KeyMap		map;
	bool		bounds_known;
	bool		descending;
	HpsortCudaVerdict *verdict;
};

/*
 * A digit may have a bit more than in sweep.cuh where there are threads enough to
 * sum up the counts: 9, 18 and 27 bits then take a pass less.  Counts are halves
 * of words, so that a thread sums up two digits at once.
 */
template <int THREADS>
struct Digit
{
	static constexpr int bits = THREADS >= 256 ? 9 : 8;
	static constexpr int words = (1 << bits) / 2;	/* of counts, for each warp */
};

template <int THREADS, int ITEMS, bool ROWS>
constexpr uint32_t
one_block_bytes()
{
	/* the tile's words, the warps' counts, and 16 bits of each row; see padded() */
	return (THREADS * ITEMS + THREADS * ITEMS / 32) * (4 + (ROWS ? 2 : 0)) +
		THREADS / 32 * Digit<THREADS>::words * 4;
}

/*
 * Where item number at is staged: every 32 items leave one place out.  Where all digits
 * have equally many keys, as in a permutation of 0 .. n - 1, a warp's places are 64 or
 * 128 apart and would all be in one bank: 8.6 us instead of 6.8 at n 4,096, and 10.3
 * where the keys are descending.
 */
__device__ __forceinline__ uint32_t
padded(uint32_t at)
{
	return at + (at >> 5);
}

/* The block's smallest and largest key, to all of its threads. */
template <int WARPS>
__device__ __forceinline__ void
share_bounds(int32_t *lo, int32_t *hi, Bounds *of_warps)
{
	const uint32_t lane = threadIdx.x % 32;

	/* first within each warp; after one barrier every warp joins the warps' bounds */
#pragma unroll
	for (int turn = 0; turn < 2; turn++)
	{
#if __CUDA_ARCH__ >= 800
		*lo = __reduce_min_sync(0xffffffffu, *lo);
		*hi = __reduce_max_sync(0xffffffffu, *hi);
#else
#pragma unroll
		for (int step = 16; step > 0; step /= 2)
		{
			*lo = min(*lo, __shfl_xor_sync(0xffffffffu, *lo, step));
			*hi = max(*hi, __shfl_xor_sync(0xffffffffu, *hi, step));
		}
#endif
		if (turn == 1)
			break;
		if (lane == 0)
			of_warps[threadIdx.x / 32] = {*lo, *hi};
		__syncthreads();
		*lo = of_warps[lane % WARPS].lo;
		*hi = of_warps[lane % WARPS].hi;
	}
}

/*
 * Places of a warp's items among those of its items that have the same digit, in
 * order; counts is the warp's own.  BITS: at least the bits of the mask.  Of the lanes
 * with a digit the highest adds their number to the count: its place among them.
 * Volatile: between __syncwarp()s lanes read what other lanes wrote.
 */
template <int BITS, int ITEMS>
__device__ __forceinline__ void
rank_in_order(const uint32_t (&word)[ITEMS], uint32_t shift, uint32_t mask,
			  volatile uint16_t *counts, uint32_t (&place)[ITEMS])
{
	const uint32_t up_to_this = lanes_up_to_this();

#pragma unroll
	for (int i = 0; i < ITEMS; i++)
	{
		const uint32_t digit = word[i] >> shift & mask;

		place[i] = place_in_order(&counts[digit], lanes_with_bits<BITS>(digit),
								  up_to_this);
	}
}

/*
 * The same in any order, by an atomic instead of votes: 0.9 us less at n 4,864.
 * Enough for the first pass of a sort of keys alone, before which there is no
 * order to be kept.  Lanes with equal digits would queue: one crowd of them is counted by
 * a vote, and two are left to rank_in_order().
 * Whether there are any is judged by an item of each lane, since it decides about
 * speed alone, and by each warp for itself, before it has counted anything: those with the
 * first lane's digit, and with that of the first lane that has another.
 */
template <int ITEMS>
__device__ __forceinline__ bool
rank_in_any_order(const uint32_t (&word)[ITEMS], uint32_t shift, uint32_t mask,
				  uint32_t *counts, uint32_t (&place)[ITEMS])
{
	const uint32_t own = word[0] >> shift & mask;
	uint32_t	crowd = __shfl_sync(0xffffffffu, own, 0);
	uint32_t	same = __ballot_sync(0xffffffffu, own == crowd);
	const uint32_t other = __shfl_sync(0xffffffffu, own,
									   same == 0xffffffffu ? 0 : __ffs(~same) - 1);
	uint32_t	others = __ballot_sync(0xffffffffu, own == other) & ~same;

	if (__popc(same) < __popc(others))
	{
		crowd = other;
		others = same;
		same = __ballot_sync(0xffffffffu, own == crowd);
	}
	if (__popc(others) > 8)
		return false;
	if (__popc(same) > 8)
	{
		const uint32_t before = lanes_up_to_this() >> 1;
		uint32_t	count = 0;

#pragma unroll
		for (int i = 0; i < ITEMS; i++)
		{
			const uint32_t digit = word[i] >> shift & mask;
			const uint32_t half = digit % 2 * 16;

			same = __ballot_sync(0xffffffffu, digit == crowd);
			place[i] = count + __popc(same & before);
			count += __popc(same);
			if (digit != crowd)
				place[i] = atomicAdd(&counts[digit / 2], 1u << half) >> half & 0xffff;
		}
		if (threadIdx.x % 32 == 0)
			atomicAdd(&counts[crowd / 2], count << crowd % 2 * 16);
		return true;
	}
#pragma unroll
	for (int i = 0; i < ITEMS; i++)
	{
		const uint32_t digit = word[i] >> shift & mask;
		const uint32_t half = digit % 2 * 16;

		place[i] = atomicAdd(&counts[digit / 2], 1u << half) >> half & 0xffff;
	}
	return true;
}

/*
 * The tile is padded to its full size with words that sort last in every pass, so
 * that the passes need not test for n.  A pass has four barriers: counts complete;
 * sums of 32 words complete; places complete; words staged.  Staging words in the
 * place of the counts, and not beside them, would need a fifth.
 */
template <int THREADS, int ITEMS, bool ROWS>
__global__ void __launch_bounds__(THREADS, 1)
one_block_kernel(OneBlock sort)
{
	constexpr int warps = THREADS / 32;
	constexpr uint32_t tile = THREADS * ITEMS;
	constexpr int words = Digit<THREADS>::words;
	constexpr int scanners = words / 32;	/* warps that sum up counts */

	static_assert(tile <= 1 << 16, "places and rows have 16 bits");
	static_assert(THREADS >= words, "a thread per word of counts");
	static_assert((tile + tile / 32) % 4 == 0, "counts are cleared 16 bytes at a time");
	extern __shared__ __align__(16) uint32_t memory[];
	__shared__ Bounds of_warps[warps];
	__shared__ uint32_t sums[scanners];
	uint32_t   *staged = memory;
	uint32_t   *counts = staged + tile + tile / 32;
	uint16_t   *staged_rows = reinterpret_cast<uint16_t *>(counts + warps * words);
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t warp = threadIdx.x / 32;
	const uint32_t first = warp * 32 * ITEMS + lane;	/* warp by warp: stable */
	uint32_t   *my_counts = counts + warp * words;
	volatile uint16_t *my_count = reinterpret_cast<uint16_t *>(my_counts);
	KeyMap		map = sort.map;
	uint32_t	word[ITEMS];
	uint32_t	row[ROWS ? ITEMS : 1];

#pragma unroll
	for (int i = 0; i < ITEMS; i++)
	{
		const uint32_t at = first + i * 32;

		word[i] = at < sort.n ? static_cast<uint32_t>(sort.keys[at]) : 0;
		if (ROWS)
			row[i] = at;
	}
	auto		clear_counts = [&] {
#pragma unroll
		for (int i = 0; i < words / 128; i++)
			reinterpret_cast<uint4 *>(my_counts)[i * 32 + lane] = make_uint4(0, 0, 0, 0);
	};

	clear_counts();

	if (!sort.bounds_known)
	{
		int32_t		lo = INT_MAX;
		int32_t		hi = INT_MIN;

#pragma unroll
		for (int i = 0; i < ITEMS; i++)
			if (first + i * 32 < sort.n)
			{
				lo = min(lo, static_cast<int32_t>(word[i]));
				hi = max(hi, static_cast<int32_t>(word[i]));
			}
		share_bounds<warps>(&lo, &hi, of_warps);
		map.base = sort.descending ? ~static_cast<uint32_t>(hi) :
			static_cast<uint32_t>(lo);
		map.last = static_cast<uint32_t>(hi) - static_cast<uint32_t>(lo);
	}

	/* a range of one value: the result is known without a pass */
	if (map.last == 0)
	{
#pragma unroll
		for (int i = 0; i < ITEMS; i++)
		{
			const uint32_t at = first + i * 32;

			if (at >= sort.n)
				continue;
			if (to_bin(map, static_cast<int32_t>(word[i])) != 0)
				report_outside(sort.verdict, static_cast<int32_t>(word[i]));
			if (sort.out != nullptr)
				sort.out[at] = static_cast<int32_t>(word[i]);
			if (ROWS)
				sort.rows[at] = at;
		}
		return;
	}

	const uint32_t range_bits = 32 - __clz(map.last);
	const uint32_t passes = (range_bits + Digit<THREADS>::bits - 1) / Digit<THREADS>::bits;
	const uint32_t bits = (range_bits + passes - 1) / passes;
	const uint32_t mask = (1u << bits) - 1;
	/* this thread's two digits exist */
	const bool	scans = threadIdx.x < words && threadIdx.x * 2 <= mask;

	/* Items behind the end sort last in every pass and are never written.  A key may have
	 * all bits of a digit as well, and the first pass may put such a key behind them: so
	 * their word is the key's, without bits that no pass looks at. */
	const uint32_t padding = 0xffffffffu >> (32 - passes * bits);

#pragma unroll
	for (int i = 0; i < ITEMS; i++)
	{
		const uint32_t bin = to_bin(map, static_cast<int32_t>(word[i]));
		const bool	inside = first + i * 32 < sort.n;

		if (inside && bin > map.last)
			report_outside(sort.verdict, static_cast<int32_t>(word[i]));
		word[i] = inside ? bin : padding;
	}
	/* before the next barrier of the block only this warp uses the counts it has cleared */
	__syncwarp();

	for (uint32_t p = 0; p < passes; p++)
	{
		const uint32_t shift = p * bits;
		uint32_t	place[ITEMS];

		if (ROWS || p > 0 || !rank_in_any_order(word, shift, mask, my_counts, place))
		{
			if (bits <= 6)
				rank_in_order<6>(word, shift, mask, my_count, place);
			else if (bits == 7)
				rank_in_order<7>(word, shift, mask, my_count, place);
			else if (bits == 8)
				rank_in_order<8>(word, shift, mask, my_count, place);
			else
				rank_in_order<9>(word, shift, mask, my_count, place);
		}
		__syncthreads();

		/* two digits a thread, in the halves of a word, which cannot overflow since a
		 * tile has less than 2^16 keys: first the warps' counts are summed, then digits */
		uint32_t	before[warps];
		uint32_t	both = 0;
		uint32_t	inclusive = 0;
		uint32_t	total = 0;

		if (scans)
		{
#pragma unroll
			for (int w = 0; w < warps; w++)
				before[w] = counts[w * words + threadIdx.x];
#pragma unroll
			for (int w = 0; w < warps; w++)
			{
				const uint32_t here = before[w];

				before[w] = both;
				both += here;
			}
			total = (both & 0xffff) + (both >> 16);
		}
		if (threadIdx.x < words)
		{
			inclusive = total;
#pragma unroll
			for (int step = 1; step < 32; step *= 2)
			{
				const uint32_t other = __shfl_up_sync(0xffffffffu, inclusive, step);

				if (lane >= step)
					inclusive += other;
			}
			if (lane == 31)
				sums[warp] = inclusive;
		}
		__syncthreads();
		if (scans)
		{
			uint32_t	start = inclusive - total;

#pragma unroll
			for (uint32_t w = 0; w < scanners; w++)
				start += w < warp ? sums[w] : 0;
			start |= (start + (both & 0xffff)) << 16;
#pragma unroll
			for (int w = 0; w < warps; w++)
				counts[w * words + threadIdx.x] = before[w] + start;
		}
		__syncthreads();
#pragma unroll
		for (int i = 0; i < ITEMS; i++)
		{
			const uint32_t at = padded(place[i] + my_count[word[i] >> shift & mask]);

			staged[at] = word[i];
			if (ROWS)
				staged_rows[at] = static_cast<uint16_t>(row[i]);
		}
		/* other warps are done with these counts since the barrier before */
		__syncwarp();
		clear_counts();
		__syncthreads();
		if (p + 1 == passes)
			break;
#pragma unroll
		for (int i = 0; i < ITEMS; i++)
		{
			/* padded(first + i * 32): 32 items are 33 places */
			word[i] = staged[padded(first) + i * 33];
			if (ROWS)
				row[i] = staged_rows[padded(first) + i * 33];
		}
	}
	/* from shared memory once more, thread by thread: a warp writes 128 bytes in a
	 * piece, which its own words are not */
#pragma unroll
	for (int i = 0; i < ITEMS; i++)
	{
		const uint32_t at = i * THREADS + threadIdx.x;

		if (at < sort.n)
		{
			if (sort.out != nullptr)
				sort.out[at] = to_key(map, staged[padded(at)]);
			if (ROWS)
				sort.rows[at] = staged_rows[padded(at)];
		}
	}
}

/* ---- shapes, and which of them a device has room for ---- */

/*
 * Threads and items of the kernels, the smallest first.  Close steps up to the
 * 4,864 keys that CUB sorts in one block as well: a tile costs what it could hold,
 * whatever is in it.  us, n 4,096 of 32 bits:
 * 256 x 16 / 512 x 8 / 1024 x 4: 12.0 / 11.6 / 12.5; n 12,288: 512 x 24 23.7, and
 * small_sort.cu 25.7, but 29.3 and 26.8 for a permutation.
 */
#define SHAPES(X) \
	X(128, 4) X(256, 4) X(256, 8) X(512, 6) X(512, 8) X(512, 9) X(608, 8) X(512, 16) X(512, 20)

template <int THREADS, int ITEMS, bool ROWS>
static void
configure(const HpsortCudaLimits &limits)
{
	constexpr uint32_t bytes = one_block_bytes<THREADS, ITEMS, ROWS>();

	if (bytes <= regime_shared_bins(&limits) * sizeof(uint32_t))
		check(cudaFuncSetAttribute(reinterpret_cast<const void *>(
									   one_block_kernel<THREADS, ITEMS, ROWS>),
								   cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
			  "set up a kernel");
}

void
configure_one_block(const HpsortCudaLimits &limits)
{
#define X(threads, items) \
	configure<threads, items, true>(limits); \
	configure<threads, items, false>(limits);
	SHAPES(X)
#undef X
}

/* False: too large for this kernel, or for the device. */
template <int THREADS, int ITEMS, bool ROWS>
static bool
launch_if_fits(const HpsortCuda *context, cudaStream_t stream, const OneBlock &sort)
{
	constexpr uint32_t bytes = one_block_bytes<THREADS, ITEMS, ROWS>();

	if (sort.n > THREADS * ITEMS ||
		bytes > regime_shared_bins(&context->limits) * sizeof(uint32_t))
		return false;
	one_block_kernel<THREADS, ITEMS, ROWS><<<1, THREADS, bytes, stream>>>(sort);
	check_launch("sort in one block");
	return true;
}

/* The shapes ascend, so the first that holds n is the best. */
bool
one_block_sort(const SortInput &input, int32_t *out, uint32_t *rows)
{
	OneBlock	sort = {};

	/* a tile has places of 16 bits, so n fits in 32 from here on */
	if (input.n >= 1 << 16)
		return false;
	sort.keys = input.keys;
	sort.n = static_cast<uint32_t>(input.n);
	sort.out = out;
	sort.rows = rows;
	sort.map = input.map();
	sort.bounds_known = input.bounds.lo != INT_MIN || input.bounds.hi != INT_MAX;
	sort.descending = input.descending;
	sort.verdict = input.verdict;
#define X(threads, items) \
	if (rows != nullptr ? \
		launch_if_fits<threads, items, true>(input.context, input.stream, sort) : \
		launch_if_fits<threads, items, false>(input.context, input.stream, sort)) \
		return true;
	SHAPES(X)
#undef X
	return false;
}

} /* namespace hpsort */
