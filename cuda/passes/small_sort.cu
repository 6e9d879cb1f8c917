/*-------------------------------------------------------------------------
 *
 * small_sort.cu
 *	  RADIX for few keys: digits and all passes in one kernel.
 *
 * Up to some hundred thousand keys, launches and not bytes take most of a sort's time: CUB's sort
 * of 32 bits is seven launches.  Here each block of one cooperative kernel reads its tile, and
 * the blocks make the passes with two barriers of the grid each.  All data stays in L2.  The
 * barriers, the table of counts that every block reads, and shared memory bound the speed.
 *
 *-------------------------------------------------------------------------
 */
#include <cooperative_groups.h>

#include "passes/radix.cuh"

namespace hpsort
{

namespace cg = cooperative_groups;

static constexpr int threads = SmallTuning::threads;
static constexpr int warps = threads / 32;

/* parts in which a block adds up the other blocks' counts of a digit */
static constexpr int parts = threads / sweep_digits;

/* The arguments of a launch.  Arrays other than keys, out and rows are workspace. */
struct SmallSort
{
	const int32_t *keys;
	uint32_t	n;
	int32_t    *out;			/* sorted keys; null: only rows are wanted */
	uint32_t   *rows;
	uint32_t   *bins_home;		/* bins between two passes: out, if it is not null */
	uint32_t   *bins_away;		/* the other array of bins */
	uint32_t   *rows_away;
	uint32_t   *counts;			/* for each block and digit */
	KeyMap		map;
	HpsortCudaVerdict *verdict;
};

/* One pass: its digit, and where keys and rows come from and go to. */
struct SmallPass
{
	uint32_t	shift;
	uint32_t	mask;
	bool		last;			/* keys go to out, not as bins */
	const uint32_t *bins_from;
	uint32_t   *bins_to;
	const uint32_t *rows_from;
	uint32_t   *rows_to;

	__device__ __forceinline__ uint32_t digit(uint32_t bin) const { return bin >> shift & mask; }
};

/* What a block has in shared memory. */
template <int ITEMS>
struct SmallShared
{
	/* the counters are needed until every item has its place, and the staged items only then */
	union
	{
		uint32_t	bins[warps][sweep_digits];
		__align__(16) uint32_t staged[threads * ITEMS];
	};
	uint32_t	part_totals[parts][sweep_digits];
	uint32_t	part_before[parts][sweep_digits];
	uint32_t	offsets[sweep_digits];
	uint32_t	sums[warps];
};

/* The steps of a block, in the order in which the kernel calls them.  All threads call each of
 * them.  A thread's own arrays are passed by reference, so that they are registers. */
template <int ITEMS, bool ROWS>
struct SmallSteps
{
	static constexpr uint32_t tile = threads * ITEMS;
	static constexpr int row_items = ROWS ? ITEMS : 1;

	const SmallSort &sort;
	SmallShared<ITEMS> &shared;
	uint32_t	lane;
	uint32_t	warp;
	uint32_t	first;			/* this thread's first item in the tile; its items are 32 apart */
	uint32_t	begin;			/* the tile's first item */
	uint32_t	m;				/* number of the tile's items */

	/* Loads keys as bins.  Items behind the end sort last in every pass and are never written. */
	__device__ __forceinline__ void
	load_keys(uint32_t (&word)[ITEMS], uint32_t (&row)[row_items]) const
	{
#pragma unroll
		for (int i = 0; i < ITEMS; i++)
		{
			const uint32_t at = first + i * 32;

			word[i] = at < m ? static_cast<uint32_t>(sort.keys[begin + at]) : 0;
			if (ROWS)
				row[i] = begin + at;
		}
#pragma unroll
		for (int i = 0; i < ITEMS; i++)
		{
			const uint32_t bin = to_bin(sort.map, static_cast<int32_t>(word[i]));
			const bool	inside = first + i * 32 < m;

			if (inside && bin > sort.map.last)
				report_outside(sort.verdict, static_cast<int32_t>(word[i]));
			word[i] = inside ? bin : 0xffffffffu;
		}
	}

	/* Loads what other SMs have written in this launch, past L1. */
	__device__ __forceinline__ void
	load_again(const SmallPass &pass, uint32_t (&word)[ITEMS], uint32_t (&row)[row_items]) const
	{
#pragma unroll
		for (int i = 0; i < ITEMS; i++)
		{
			const uint32_t at = first + i * 32;

			word[i] = at < m ? __ldcg(pass.bins_from + begin + at) : 0xffffffffu;
			if (ROWS)
				row[i] = at < m ? __ldcg(pass.rows_from + begin + at) : 0;
		}
	}

	/* Writes where each warp's first item of each digit goes to shared.bins, and the tile's
	 * counts to memory, for which the other blocks wait.  Returns the count of the thread's
	 * digit, or 0. */
	__device__ __forceinline__ uint32_t
	count(const SmallPass &pass, const uint32_t (&word)[ITEMS]) const
	{
		uint32_t   *bins = shared.bins[warp];
		uint32_t	total = 0;

#pragma unroll
		for (int i = 0; i < sweep_digits / 32; i += 4)
			reinterpret_cast<uint4 *>(bins)[i / 4 * 32 + lane] = make_uint4(0, 0, 0, 0);
		__syncwarp();
#pragma unroll
		for (int i = 0; i < ITEMS; i++)
			atomicAdd(&bins[pass.digit(word[i])], 1u);
		__syncthreads();
		if (threadIdx.x < sweep_digits)
		{
#pragma unroll 8
			for (int w = 0; w < warps; w++)
			{
				const uint32_t here = shared.bins[w][threadIdx.x];

				shared.bins[w][threadIdx.x] = total;
				total += here;
			}
			/* items behind the end, which all have the highest digit, are no keys; the last block
			 * takes them out of its counts */
			__stcg(&sort.counts[blockIdx.x * sweep_digits + threadIdx.x],
				   total - (threadIdx.x == pass.mask ? tile - m : 0));
		}
		return total;
	}

	/* Puts the keys in the order of their digits in shared memory, warp by warp and item by item
	 * in the order of the tile, which makes the pass stable. */
	__device__ __forceinline__ void
	rank(const SmallPass &pass, const uint32_t (&word)[ITEMS], uint32_t (&place)[ITEMS]) const
	{
		const uint32_t up_to_this = lanes_up_to_this();
		volatile uint32_t *counters = shared.bins[warp];

#pragma unroll
		for (int i = 0; i < ITEMS; i++)
		{
			const uint32_t digit = pass.digit(word[i]);
			const uint32_t same = lanes_with(digit);

			place[i] = shared.offsets[digit] +
				place_in_order(&counters[digit], same, up_to_this);
		}
		__syncthreads();
#pragma unroll
		for (int i = 0; i < ITEMS; i++)
			shared.staged[place[i]] = word[i];
	}

	/*
	 * Finds where the tile's items of each digit go, when all blocks have counted, and writes it
	 * to shared.offsets.  exclusive is where the thread's digit begins in the tile; it is
	 * subtracted, so that a position in the tile plus the offset is the target.  Four threads a
	 * digit each add up a quarter of the blocks: at most 33 loads from L2, eight under way at a
	 * time.
	 */
	__device__ __forceinline__ void
	find_offsets(uint32_t exclusive) const
	{
		const uint32_t digit = threadIdx.x % sweep_digits;
		const uint32_t part = threadIdx.x / sweep_digits;
		uint32_t	total = 0;
		uint32_t	before = 0;
		uint32_t	unused;

#pragma unroll 8
		for (uint32_t b = part; b < gridDim.x; b += parts)
		{
			const uint32_t here = __ldcg(&sort.counts[b * sweep_digits + digit]);

			total += here;
			before += b < blockIdx.x ? here : 0;
		}
		shared.part_totals[part][digit] = total;
		shared.part_before[part][digit] = before;
		__syncthreads();
		total = 0;
		before = 0;
		if (threadIdx.x < sweep_digits)
		{
#pragma unroll
			for (int j = 0; j < parts; j++)
			{
				total += shared.part_totals[j][threadIdx.x];
				before += shared.part_before[j][threadIdx.x];
			}
		}
		total = block_exclusive_sum<threads>(total, shared.sums, &unused);
		if (threadIdx.x < sweep_digits)
			shared.offsets[threadIdx.x] = total + before - exclusive;
		__syncthreads();
	}

	/* Writes keys from shared memory to where they go, and then rows by the same places.  The
	 * targets are kept for the rows, whose digits are not with them. */
	__device__ __forceinline__ void
	write(const SmallPass &pass, const uint32_t (&row)[row_items],
		  const uint32_t (&place)[ITEMS]) const
	{
		uint32_t	target[ITEMS];

#pragma unroll
		for (int i = 0; i < ITEMS; i++)
		{
			const uint32_t at = i * threads + threadIdx.x;

			target[i] = 0;
			if (at < m)
			{
				const uint32_t bin = shared.staged[at];

				target[i] = shared.offsets[pass.digit(bin)] + at;
				if (!pass.last)
					__stcg(pass.bins_to + target[i], bin);
				else if (!ROWS || sort.out != nullptr)
					sort.out[target[i]] = to_key(sort.map, bin);
			}
		}
		if (!ROWS)
			return;
		__syncthreads();
#pragma unroll
		for (int i = 0; i < ITEMS; i++)
			shared.staged[place[i]] = row[i];
		__syncthreads();
#pragma unroll
		for (int i = 0; i < ITEMS; i++)
			if (i * threads + threadIdx.x < m)
				__stcg(&pass.rows_to[target[i]], shared.staged[i * threads + threadIdx.x]);
	}
};

/*
 * Sorts with ITEMS keys a thread.
 *
 * Tiles are as small as possible while there are at most SmallTuning::few_blocks of them, and at
 * most one for each SM; with more blocks, each would read more counts than keys.  There is one
 * block of 1,024 threads an SM, because a barrier of the grid takes longer with more blocks.
 *
 * Keys stay in registers until their first pass.  Between two passes they are in L2, where any SM
 * may have written them, and are loaded past L1.
 *
 * A pass has two barriers of the grid.  After the first, all counts are written and may be summed
 * up.  After the second, all items are written and may be read.  The second also keeps the next
 * pass's counts from overwriting counts that a slow block still reads, so that one table serves
 * all passes.
 */
template <int ITEMS, bool ROWS>
__global__ void __launch_bounds__(threads, 1)
small_sort_kernel(SmallSort sort)
{
	using Steps = SmallSteps<ITEMS, ROWS>;

	__shared__ __align__(16) SmallShared<ITEMS> shared;
	const cg::grid_group grid = cg::this_grid();
	const uint32_t begin = blockIdx.x * Steps::tile;
	const Steps steps = {sort, shared, threadIdx.x % 32, threadIdx.x / 32,
		threadIdx.x / 32 * 32 * ITEMS + threadIdx.x % 32, begin,
		min(Steps::tile, sort.n - begin)};
	/* bits are dealt evenly: fewer digits make longer stretches */
	const uint32_t range_bits = max(32 - __clz(sort.map.last), 1);
	const uint32_t passes = (range_bits + sweep_bits - 1) / sweep_bits;
	const uint32_t bits = (range_bits + passes - 1) / passes;
	uint32_t	word[ITEMS];
	uint32_t	row[Steps::row_items];
	uint32_t	place[ITEMS];

	steps.load_keys(word, row);
	for (uint32_t p = 0; p < passes; p++)
	{
		/* to and fro, so that the last pass ends in out and rows */
		const bool	home = (passes - p) % 2 == 1;
		const SmallPass pass = {p * bits, (1u << bits) - 1, p + 1 == passes,
			home ? sort.bins_away : sort.bins_home, home ? sort.bins_home : sort.bins_away,
			home ? sort.rows_away : sort.rows, home ? sort.rows : sort.rows_away};
		uint32_t	unused;

		if (p > 0)
			steps.load_again(pass, word, row);

		const uint32_t count = steps.count(pass, word);
		/* The block arrives as early as possible.  From here to the wait, all work is on this
		 * tile alone and takes longer than the barrier. */
		auto		token = grid.barrier_arrive();
		const uint32_t exclusive = block_exclusive_sum<threads>(count, shared.sums, &unused);

		if (threadIdx.x < sweep_digits)
			shared.offsets[threadIdx.x] = exclusive;
		__syncthreads();
		steps.rank(pass, word, place);
		grid.barrier_wait(std::move(token));
		steps.find_offsets(exclusive);
		steps.write(pass, row, place);
		if (!pass.last)
			grid.sync();
	}
}

static_assert(threads * SmallTuning::most_items == REGIME_ONE_LAUNCH_TILE,
			  "what a block of the largest tiles holds");

/* A cooperative launch, which the driver refuses if not all blocks fit on the device at once. */
template <int ITEMS>
static void
launch_small(cudaStream_t stream, SmallSort *sort)
{
	cudaLaunchAttribute attribute;
	cudaLaunchConfig_t config = {};
	void	   *arguments[] = {sort};

	attribute.id = cudaLaunchAttributeCooperative;
	attribute.val.cooperative = 1;
	config.gridDim = dim3((sort->n + threads * ITEMS - 1) / (threads * ITEMS));
	config.blockDim = dim3(threads);
	config.stream = stream;
	config.attrs = &attribute;
	config.numAttrs = 1;
	check(cudaLaunchKernelExC(&config, sort->rows != nullptr ?
							  reinterpret_cast<const void *>(
								  &small_sort_kernel<ITEMS, true>) :
							  reinterpret_cast<const void *>(
								  &small_sort_kernel<ITEMS, false>), arguments),
		  "launch the sort of few keys");
}

void
small_sort(const SortInput &input, int32_t *out, uint32_t *rows)
{
	const cudaStream_t stream = input.stream;
	const uint64_t n = input.n;
	const uint64_t sms = input.context->limits.sms;
	const uint64_t arrays = 1 + (rows != nullptr ? 1 : 0) + (out == nullptr ? 1 : 0);
	/* the carver rounds each array up to 256 bytes */
	DeviceBuffer workspace(input.context, stream,
						   arrays * (n * sizeof(uint32_t) + 256) +
						   sms * sweep_digits * sizeof(uint32_t) + 256,
						   "a sort of few keys");
	Carver		carver(workspace);
	SmallSort	sort = {};

	sort.keys = input.keys;
	sort.n = static_cast<uint32_t>(n);
	sort.out = out;
	sort.rows = rows;
	/* out is free until the last pass, and serves the others for bins */
	sort.bins_away = carver.take<uint32_t>(n);
	sort.bins_home = out != nullptr ? reinterpret_cast<uint32_t *>(out) :
		carver.take<uint32_t>(n);
	sort.rows_away = rows != nullptr ? carver.take<uint32_t>(n) : nullptr;
	sort.counts = carver.take<uint32_t>(sms * sweep_digits);
	sort.map = input.map();
	sort.verdict = input.verdict;

	const uint64_t few = SmallTuning::few_blocks < sms ? SmallTuning::few_blocks : sms;

	/* The fewest keys a thread that need no more than few blocks.  With 8, the grid holds
	 * regime_one_launch_most() keys: at most one block for each SM, as the kernel waits for its
	 * whole grid; counts[] has room for this many blocks. */
	if (n <= few * threads)
		launch_small<1>(stream, &sort);
	else if (n <= few * 2 * threads)
		launch_small<2>(stream, &sort);
	else if (n <= few * 4 * threads)
		launch_small<4>(stream, &sort);
	else
		launch_small<8>(stream, &sort);
}

} /* namespace hpsort */
