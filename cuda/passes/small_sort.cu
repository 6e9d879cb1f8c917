/*-------------------------------------------------------------------------
 *
 * small_sort.cu
 *	  RADIX for few keys: digits and all passes in one kernel.
 *
 * Up to some hundred thousand keys launches take most of a sort's time, not bytes:
 * CUB's sort of 32 bits is seven launches.  Here each block of one cooperative kernel
 * reads its tile, and the blocks make the passes with two barriers of the grid each.
 * All data stays in L2; the barriers, the table of counts that every block reads, and
 * shared memory bound the speed.
 *
 *-------------------------------------------------------------------------
 */
#include <cooperative_groups.h>

#include "passes/small_sort.cuh"
#include "passes/sweep.cuh"

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
	uint32_t   *bins_home;		/* keys between two passes, as bins: out, where */
	uint32_t   *bins_away;		/* there is one, and the other array */
	uint32_t   *rows_away;
	uint32_t   *counts;			/* of each block and digit */
	KeyMap		map;
	HpsortCudaVerdict *verdict;
};

/*
 * ITEMS keys a thread: tiles are as small as possible while there are at most
 * SmallTuning::few_blocks of them, and one for each SM; with more blocks each would read
 * more counts than keys.  One block of 1,024 threads an SM, because a barrier of the grid
 * takes longer with more blocks.
 *
 * Keys stay in registers until their first pass; between two passes they are in L2,
 * where any SM may have written them, and are loaded past L1.
 *
 * A pass has two barriers of the grid: after the first all counts are written and may
 * be summed up, after the second all items are written and may be read.  The second
 * also keeps the next pass's counts from overwriting counts that a slow block still
 * reads, so that one table serves all passes.
 */
template <int ITEMS, bool ROWS>
__global__ void __launch_bounds__(threads, 1)
small_sort_kernel(SmallSort sort)
{
	constexpr uint32_t tile = threads * ITEMS;

	/* counters are done with when every item knows its place, and not before */
	union Shared
	{
		uint32_t	bins[warps][sweep_digits];
		uint32_t	staged[tile];
	};
	__shared__ __align__(16) Shared shared;
	__shared__ uint32_t part_totals[parts][sweep_digits];
	__shared__ uint32_t part_before[parts][sweep_digits];
	__shared__ uint32_t offsets[sweep_digits];
	__shared__ uint32_t sums[warps];
	const cg::grid_group grid = cg::this_grid();
	const KeyMap map = sort.map;
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t warp = threadIdx.x / 32;
	const uint32_t first = warp * 32 * ITEMS + lane;	/* in the tile */
	const uint32_t begin = blockIdx.x * tile;
	const uint32_t m = min(tile, sort.n - begin);
	uint32_t	word[ITEMS];
	uint32_t	row[ROWS ? ITEMS : 1];
	uint32_t	place[ITEMS];

#pragma unroll
	for (int i = 0; i < ITEMS; i++)
	{
		const uint32_t at = first + i * 32;

		word[i] = at < m ? static_cast<uint32_t>(sort.keys[begin + at]) : 0;
		if (ROWS)
			row[i] = begin + at;
	}

	/* bits are dealt evenly: fewer digits make longer stretches */
	const uint32_t range_bits = max(32 - __clz(map.last), 1);
	const uint32_t passes = (range_bits + sweep_bits - 1) / sweep_bits;
	const uint32_t bits = (range_bits + passes - 1) / passes;
	const uint32_t mask = (1u << bits) - 1;

	/* what is behind the end sorts last in every pass, and is never written */
#pragma unroll
	for (int i = 0; i < ITEMS; i++)
	{
		const uint32_t bin = to_bin(map, static_cast<int32_t>(word[i]));
		const bool	inside = first + i * 32 < m;

		if (inside && bin > map.last)
			report_outside(sort.verdict, static_cast<int32_t>(word[i]));
		word[i] = inside ? bin : 0xffffffffu;
	}

	for (uint32_t p = 0; p < passes; p++)
	{
		const uint32_t shift = p * bits;
		const bool	last = p + 1 == passes;
		/* to and fro, so that the last pass ends in out and rows */
		const bool	home = (passes - p) % 2 == 1;
		const uint32_t *bins_from = home ? sort.bins_away : sort.bins_home;
		uint32_t   *bins_to = home ? sort.bins_home : sort.bins_away;
		const uint32_t *rows_from = home ? sort.rows_away : sort.rows;
		uint32_t   *rows_to = home ? sort.rows : sort.rows_away;
		uint32_t   *bins = shared.bins[warp];
		uint32_t	count = 0;

		if (p > 0)
		{
#pragma unroll
			for (int i = 0; i < ITEMS; i++)
			{
				const uint32_t at = first + i * 32;

				/* written by other SMs in this launch: past L1 */
				word[i] = at < m ? __ldcg(bins_from + begin + at) : 0xffffffffu;
				if (ROWS)
					row[i] = at < m ? __ldcg(rows_from + begin + at) : 0;
			}
		}
#pragma unroll
		for (int i = 0; i < sweep_digits / 32; i += 4)
			reinterpret_cast<uint4 *>(bins)[i / 4 * 32 + lane] = make_uint4(0, 0, 0, 0);
		__syncwarp();
		/* counted first and ranked later, because the other blocks wait for the counts */
#pragma unroll
		for (int i = 0; i < ITEMS; i++)
			atomicAdd(&bins[word[i] >> shift & mask], 1u);
		__syncthreads();

		/* a thread per digit: where each warp's first item of it goes */
		if (threadIdx.x < sweep_digits)
		{
#pragma unroll 8
			for (int w = 0; w < warps; w++)
			{
				const uint32_t here = shared.bins[w][threadIdx.x];

				shared.bins[w][threadIdx.x] = count;
				count += here;
			}
			/* items behind the end, which all have the highest digit, are no keys: the
			 * last block takes them out of its counts */
			__stcg(&sort.counts[blockIdx.x * sweep_digits + threadIdx.x],
				   count - (threadIdx.x == mask ? tile - m : 0));
		}

		/* arrive as early as possible; the wait comes later */
		auto		token = grid.barrier_arrive();
		uint32_t	unused;
		/* from here to the wait: all work on this tile alone, which takes longer than
		 * the barrier */
		const uint32_t exclusive = block_exclusive_sum<threads>(count, sums, &unused);

		if (threadIdx.x < sweep_digits)
			offsets[threadIdx.x] = exclusive;
		__syncthreads();

		const uint32_t up_to_this = lanes_up_to_this();
		volatile uint32_t *counters = bins;

		/* warp by warp and item by item in the order of the tile, which is what makes
		 * the pass stable */
#pragma unroll
		for (int i = 0; i < ITEMS; i++)
		{
			const uint32_t digit = word[i] >> shift & mask;
			const uint32_t same = lanes_with(digit);
			place[i] = offsets[digit] + place_in_order(&counters[digit], same, up_to_this);
		}
		__syncthreads();
#pragma unroll
		for (int i = 0; i < ITEMS; i++)
			shared.staged[place[i]] = word[i];

		const uint32_t digit = threadIdx.x % sweep_digits;
		const uint32_t part = threadIdx.x / sweep_digits;
		uint32_t	total = 0;
		uint32_t	before = 0;

		/* four threads a digit, each a quarter of the blocks: at most 33 loads from
		 * L2, eight under way at a time */
		grid.barrier_wait(std::move(token));
#pragma unroll 8
		for (uint32_t b = part; b < gridDim.x; b += parts)
		{
			const uint32_t here = __ldcg(&sort.counts[b * sweep_digits + digit]);

			total += here;
			before += b < blockIdx.x ? here : 0;
		}
		part_totals[part][digit] = total;
		part_before[part][digit] = before;
		__syncthreads();
		total = 0;
		before = 0;
		if (threadIdx.x < sweep_digits)
		{
#pragma unroll
			for (int j = 0; j < parts; j++)
			{
				total += part_totals[j][threadIdx.x];
				before += part_before[j][threadIdx.x];
			}
		}
		total = block_exclusive_sum<threads>(total, sums, &unused);
		/* minus the place in the tile: position in it + offset is the target */
		if (threadIdx.x < sweep_digits)
			offsets[threadIdx.x] = total + before - exclusive;
		__syncthreads();

		/* kept for the rows, whose digits are not with them */
		uint32_t	target[ITEMS];

#pragma unroll
		for (int i = 0; i < ITEMS; i++)
		{
			const uint32_t at = i * threads + threadIdx.x;

			target[i] = 0;
			if (at < m)
			{
				const uint32_t bin = shared.staged[at];

				target[i] = offsets[bin >> shift & mask] + at;
				if (!last)
					__stcg(bins_to + target[i], bin);
				else if (!ROWS || sort.out != nullptr)
					sort.out[target[i]] = to_key(map, bin);
			}
		}
		/* rows go the same way through the same memory, once all keys have left it */
		if (ROWS)
		{
			__syncthreads();
#pragma unroll
			for (int i = 0; i < ITEMS; i++)
				shared.staged[place[i]] = row[i];
			__syncthreads();
#pragma unroll
			for (int i = 0; i < ITEMS; i++)
				if (i * threads + threadIdx.x < m)
					__stcg(&rows_to[target[i]], shared.staged[i * threads + threadIdx.x]);
		}
		if (!last)
			grid.sync();
	}
}

static_assert(threads * SmallTuning::most_items == REGIME_ONE_LAUNCH_TILE,
			  "what a block of the largest tiles holds");

/* A cooperative launch, which the driver refuses if not all blocks fit on the device at
 * once. */
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

	/* as few keys a thread as make at most few blocks; with 8, the grid holds
	 * regime_one_launch_most() keys: a block for each SM, as the kernel waits for its whole
	 * grid, and counts[] are for so many blocks */
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
