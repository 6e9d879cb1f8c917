/*-------------------------------------------------------------------------
 *
 * shared_histogram.cu
 *	  Regime SHARED_HISTOGRAM: all bins fit in a block's shared memory.
 *
 * Kozakai, Fujimoto, Wada, Algorithm 5 (0-compressed H-P), reshaped for one
 * read and one write per key:
 *	- lines 1: every block counts its share of the keys in its own shared
 *	  memory (a conflict-free "sum" write for equal keys of a warp, because
 *	  atomicAdd(&bin, 1) without a result becomes ATOMS.POPC.INC), and adds its
 *	  bins to the common ones once;
 *	- lines 2 to 15: prefix sums and compression to the bins that occur, by
 *	  each block for its own part of the output only;
 *	- lines 16 to 18 (second histogram, prefix sum over n) become expand_block().
 * One cooperative kernel does it all, so that a million keys cost one launch.
 *
 * Beside the bins, sums of slices of 256 bins are kept, so that a block finds
 * the part of the bins that its output comes from without reading them all.
 *
 * Bytes per key: 4 read, 4 written; 4 read only when runs are wanted.
 *
 *-------------------------------------------------------------------------
 */
#include <cooperative_groups.h>

#include "device.cuh"

namespace cg = cooperative_groups;

namespace hpsort
{

using Count64 = unsigned long long;

static constexpr int threads = HistogramTuning::threads;
static constexpr int batch_bins = HistogramTuning::batch;
static constexpr int slice_bins = REGIME_SLICE_BINS;
static constexpr int batch_slices = batch_bins / slice_bins;

static_assert(batch_bins == threads * 4, "a thread scans four bins of a batch");

/* All slices: shared memory holds at most 57 K bins on today's devices. */
static constexpr int max_slices = threads;

/* What one block needs after counting, in the memory that held its bins. */
struct OutputState
{
	uint64_t	slice_starts[max_slices + 1];
	uint64_t	sums[threads / 32];
	__align__(16) uint32_t starts[batch_bins + 4];
};

/* The bins, zeroed, and the keys counted into them; block-wide. */
__device__ __forceinline__ void
clear_bins(uint32_t *bins, uint32_t count)
{
	uint4	   *fours = reinterpret_cast<uint4 *>(bins);

	for (uint32_t i = threadIdx.x; i < (count + 3) / 4; i += blockDim.x)
		fours[i] = make_uint4(0, 0, 0, 0);
}

/* Counts one key; remembers one outside the bounds. */
struct CountKey
{
	const KeyMap &map;
	uint32_t   *bins;
	bool	   &bad;
	int32_t	   &outside;

	__device__ __forceinline__ void
	operator()(int32_t key) const
	{
		const uint32_t bin = to_bin(map, key);

		if (bin <= map.last)
			atomicAdd(&bins[bin], 1u);
		else
		{
			bad = true;
			outside = key;
		}
	}
};

/*
 * Tiles drawn from a common counter, one by one, whoever is free first: SMs do
 * not read or write at the same speed, and with equal shares the slowest is
 * 4 % behind when reading, 8 % when writing (H100).  The next tile is asked for
 * while one is being worked on.
 */
template <typename Work>
__device__ __forceinline__ void
draw_tiles(uint32_t *next_tile, uint32_t tiles, Work work)
{
	__shared__ uint32_t drawn[2];
	int			turn = 0;

	__syncthreads();
	if (threadIdx.x == 0)
		drawn[0] = atomicAdd(next_tile, 1u);
	__syncthreads();
	while (drawn[turn] < tiles)
	{
		if (threadIdx.x == 0)
			drawn[1 - turn] = atomicAdd(next_tile, 1u);
		work(drawn[turn]);
		turn = 1 - turn;
		__syncthreads();
	}
}

/*
 * Adds the bins and slice sums to the common ones.  Blocks start at different
 * slices, so that they do not queue for the same words.
 *
 * Blocks of a cluster (sm_90 on) add their bins up among themselves first, each
 * for its share of the slices: atomics on L2 are what limits this step, and
 * reading a neighbour's shared memory is cheaper.
 */
template <typename Count>
__device__ __forceinline__ void
flush_bins(uint32_t *bins, uint32_t count, Count *all_bins, Count *all_slices)
{
	const uint32_t slices = (count + slice_bins - 1) / slice_bins;
	const uint32_t lane = threadIdx.x % 32;
	uint32_t	crew = 1;
	uint32_t	rank = 0;

#if __CUDA_ARCH__ >= 900
	cg::cluster_group cluster = cg::this_cluster();

	crew = cluster.num_blocks();
	rank = cluster.block_rank();
	if (crew > 1)
		cluster.sync();
#endif

	const uint32_t turn = static_cast<uint32_t>(
		static_cast<uint64_t>(blockIdx.x / crew * crew) * slices / gridDim.x);

	for (uint32_t i = threadIdx.x / 32 * crew + rank; i < slices;
		 i += blockDim.x / 32 * crew)
	{
		const uint32_t slice = i + turn < slices ? i + turn : i + turn - slices;
		uint32_t	value[slice_bins / 32];
		uint32_t	sum = 0;

#pragma unroll
		for (uint32_t j = 0; j < slice_bins / 32; j++)
		{
			const uint32_t bin = slice * slice_bins + j * 32 + lane;

			value[j] = bin < count ? bins[bin] : 0;
		}
#if __CUDA_ARCH__ >= 900
		for (uint32_t r = 1; r < crew; r++)
		{
			const uint32_t *other =
				cluster.map_shared_rank(bins, (rank + r) % crew);

#pragma unroll
			for (uint32_t j = 0; j < slice_bins / 32; j++)
			{
				const uint32_t bin = slice * slice_bins + j * 32 + lane;

				value[j] += bin < count ? other[bin] : 0;
			}
		}
#endif
#pragma unroll
		for (uint32_t j = 0; j < slice_bins / 32; j++)
		{
			if (value[j] != 0)
				atomicAdd(&all_bins[slice * slice_bins + j * 32 + lane],
						  static_cast<Count>(value[j]));
			sum += value[j];
		}
		sum = warp_sum(sum);
		if (lane == 0 && sum != 0)
			atomicAdd(&all_slices[slice], static_cast<Count>(sum));
	}
}

/* Exclusive prefix sums of the slices, and their total, in shared memory. */
template <typename Count>
__device__ __forceinline__ void
scan_slices(const Count *all_slices, uint32_t slices, OutputState *state)
{
	uint64_t	value = threadIdx.x < slices ?
		static_cast<uint64_t>(__ldcg(&all_slices[threadIdx.x])) : 0;
	uint64_t	total;

	value = block_exclusive_sum<threads>(value, state->sums, &total);
	if (threadIdx.x < slices)
		state->slice_starts[threadIdx.x] = value;
	if (threadIdx.x == 0)
		state->slice_starts[slices] = total;
	__syncthreads();
}

/* Four bins of a batch, straight from L2: other SMs wrote them. */
template <typename Count>
__device__ __forceinline__ void
load_four(const Count *all_bins, uint32_t bin, uint32_t padded, Count four[4])
{
	/* bins are padded to whole slices, and so is this thread's load */
#pragma unroll
	for (int i = 0; i < 4; i++)
		four[i] = 0;
	if (bin >= padded)
		return;
	if (sizeof(Count) == 4)
	{
		const uint4 v = __ldcg(reinterpret_cast<const uint4 *>(all_bins + bin));

		four[0] = v.x;
		four[1] = v.y;
		four[2] = v.z;
		four[3] = v.w;
	}
	else
	{
		const ulonglong2 v =
			__ldcg(reinterpret_cast<const ulonglong2 *>(all_bins + bin));
		const ulonglong2 w =
			__ldcg(reinterpret_cast<const ulonglong2 *>(all_bins + bin) + 1);

		four[0] = v.x;
		four[1] = v.y;
		four[2] = w.x;
		four[3] = w.y;
	}
}

/*
 * Positions [begin, end) of the output, by way of the batches of bins that they
 * come from.  Empty bins stay in the way of the search, which costs less than
 * compacting them; whole empty slices are skipped.
 */
template <typename Count>
__device__ __forceinline__ void
expand_part(const Count *all_bins, uint32_t slices, const KeyMap &map,
			int32_t *out, uint64_t begin, uint64_t end, OutputState *state)
{
	/* positions below count from this 16-byte boundary */
	const uint32_t phase = static_cast<uint32_t>(
		reinterpret_cast<uintptr_t>(out + begin) % 16 / 4);
	const uint64_t base = begin - phase;
	const uint32_t limit = static_cast<uint32_t>(end - base);
	/* what lies outside this part becomes empty */
	auto		cut = [&](uint64_t position) {
		return position <= begin ? phase : position >= end ? limit :
			static_cast<uint32_t>(position - base);
	};
	uint32_t	slice = last_at_or_before<uint64_t>(state->slice_starts, 0u,
													slices - 1, begin);

	for (;;)
	{
		const uint64_t batch_start = state->slice_starts[slice];
		const uint32_t first_bin = slice * slice_bins;
		Count		four[4];
		Count		batch_total;

		load_four(all_bins, first_bin + threadIdx.x * 4, slices * slice_bins, four);

		const uint64_t position = batch_start + block_exclusive_sum<threads>(
			four[0] + four[1] + four[2] + four[3],
			reinterpret_cast<Count *>(state->sums), &batch_total);
		uint4		cuts;

		cuts.x = cut(position);
		cuts.y = cut(position + four[0]);
		cuts.z = cut(position + four[0] + four[1]);
		cuts.w = cut(position + four[0] + four[1] + four[2]);
		reinterpret_cast<uint4 *>(state->starts)[threadIdx.x] = cuts;
		if (threadIdx.x == 0)
			state->starts[batch_bins] = cut(batch_start + batch_total);
		__syncthreads();
		expand_block(out + begin - phase, state->starts[0],
					 state->starts[batch_bins], state->starts, batch_bins,
					 [&](uint32_t j) { return to_key(map, first_bin + j); });
		__syncthreads();
		if (batch_start + batch_total >= end)
			break;

		/* go on behind this batch, past slices without keys */
		slice += batch_slices;
		while (slice < slices &&
			   state->slice_starts[slice + 1] == state->slice_starts[slice])
			slice++;
	}
}

/*
 * This block's parts of the output: an equal share of its 16-byte vectors, or
 * of most of them, and then tiles.
 */
template <typename Count>
__device__ __forceinline__ void
expand_bins(const Count *all_bins, const Count *all_slices, uint32_t count,
			const KeyMap &map, uint64_t n, int32_t *out, uint32_t *next_tile,
			OutputState *state)
{
	constexpr uint32_t tile = HistogramTuning::expand_tile;
	const uint32_t slices = (count + slice_bins - 1) / slice_bins;
	/* one batch, and 32-bit positions: its prefix sums serve all parts */
	const bool	single = slices <= batch_slices && sizeof(Count) == 4;
	const uint32_t phase =
		static_cast<uint32_t>(reinterpret_cast<uintptr_t>(out) % 16 / 4);
	uint64_t	total;

	if (single)
	{
		Count		four[4];
		Count		all;

		load_four(all_bins, threadIdx.x * 4, slices * slice_bins, four);

		const uint32_t start = phase + static_cast<uint32_t>(
			block_exclusive_sum<threads>(four[0] + four[1] + four[2] + four[3],
										 reinterpret_cast<Count *>(state->sums),
										 &all));

		reinterpret_cast<uint4 *>(state->starts)[threadIdx.x] = make_uint4(
			start, start + four[0], start + four[0] + four[1],
			start + four[0] + four[1] + four[2]);
		if (threadIdx.x == 0)
			state->starts[batch_bins] = phase + all;
		__syncthreads();
		total = all;
	}
	else
	{
		scan_slices(all_slices, slices, state);
		total = state->slice_starts[slices];
	}

	auto		part = [&](uint64_t begin, uint64_t end) {
		if (begin >= end)
			return;
		if (single)
			expand_block(out - phase, static_cast<uint32_t>(begin) + phase,
						 static_cast<uint32_t>(end) + phase, state->starts,
						 batch_bins, [&](uint32_t j) { return to_key(map, j); });
		else
			expand_part(all_bins, slices, map, out, begin, end, state);
	};
	const uint64_t head = min(static_cast<uint64_t>(misaligned(out)), total);
	const uint64_t vectors = (total - head) / 4;
	const uint64_t dealt = n < HistogramTuning::dynamic_min_n ? vectors :
		vectors / 8 * HistogramTuning::eighths;
	uint64_t	begin;
	uint64_t	end;

	block_span(dealt, &begin, &end);
	part(blockIdx.x == 0 ? 0 : head + begin * 4, head + end * 4);
	if (blockIdx.x == gridDim.x - 1 && dealt == vectors)
		part(head + vectors * 4, total);
	if (dealt < vectors)
	{
		const uint64_t first = head + dealt * 4;
		const uint32_t tiles = static_cast<uint32_t>((total - first - 1) / tile) + 1;

		draw_tiles(next_tile, tiles, [&](uint32_t drawn) {
			const uint64_t at = first + static_cast<uint64_t>(drawn) * tile;

			part(at, min(at + tile, total));
		});
	}
}

/*
 * One batch of bins to runs: the paper's C and iC.  The number of runs before
 * it is counted again by every block; that is cheaper than waiting for others,
 * since all bins are in L2 and few.
 */
template <typename Count>
__device__ __forceinline__ void
compact_batch(const Count *all_bins, const Count *all_slices, uint32_t count,
			  const KeyMap &map, uint32_t batch, int32_t *run_keys,
			  uint64_t *counts, uint64_t *starts, HpsortCudaVerdict *verdict,
			  OutputState *state)
{
	const uint32_t slices = (count + slice_bins - 1) / slice_bins;
	const uint32_t padded = slices * slice_bins;
	const uint32_t bin = batch * batch_bins + threadIdx.x * 4;
	uint32_t	occurs = 0;
	uint32_t	runs_before;
	uint32_t	runs_here;
	Count		keys_here;
	Count		four[4];

	/* this sum is wanted by all threads, and of all threads */
	for (uint32_t b = 0; b < batch; b++)
	{
		load_four(all_bins, b * batch_bins + threadIdx.x * 4, padded, four);
		occurs += (four[0] != 0) + (four[1] != 0) + (four[2] != 0) + (four[3] != 0);
	}
	(void) block_exclusive_sum<threads>(
		occurs, reinterpret_cast<uint32_t *>(state->sums), &runs_before);
	scan_slices(all_slices, slices, state);

	load_four(all_bins, bin, padded, four);
	occurs = (four[0] != 0) + (four[1] != 0) + (four[2] != 0) + (four[3] != 0);

	uint32_t	at = runs_before + block_exclusive_sum<threads>(
		occurs, reinterpret_cast<uint32_t *>(state->sums), &runs_here);
	uint64_t	position = state->slice_starts[batch * batch_slices] +
		block_exclusive_sum<threads>(four[0] + four[1] + four[2] + four[3],
									 reinterpret_cast<Count *>(state->sums),
									 &keys_here);

#pragma unroll
	for (int i = 0; i < 4; i++)
		if (four[i] != 0)
		{
			run_keys[at] = to_key(map, bin + i);
			if (counts != nullptr)
				counts[at] = four[i];
			if (starts != nullptr)
				starts[at] = position;
			position += four[i];
			at++;
		}
	if (bin < padded && bin + batch_bins >= padded && threadIdx.x == 0)
	{
		const uint64_t distinct = runs_before + runs_here;

		verdict->distinct = distinct;
		if (starts != nullptr)
			starts[distinct] = state->slice_starts[slices];
	}
}

/*
 * The whole sort.  Zeroing the common bins is overlapped with counting by the
 * two halves of a grid barrier; only the second barrier is waited for.
 */
template <typename Count, bool RUNS>
__global__ void __launch_bounds__(threads, 1)
shared_kernel(const int32_t *keys, uint64_t n, KeyMap map, Count *all_bins,
			  int32_t *out, uint64_t *counts, uint64_t *starts,
			  HpsortCudaVerdict *verdict)
{
	extern __shared__ __align__(16) char memory[];
	uint32_t   *bins = reinterpret_cast<uint32_t *>(memory);
	OutputState *state = reinterpret_cast<OutputState *>(memory);
	const uint32_t count = map.last + 1;
	const uint32_t slices = (count + slice_bins - 1) / slice_bins;
	Count	   *all_slices = all_bins + slices * slice_bins;
	/* bins, slices, and two numbers of tiles to be drawn */
	const uint32_t words = slices * slice_bins + slices + 2;
	uint32_t   *next_count = reinterpret_cast<uint32_t *>(all_slices + slices);
	uint32_t   *next_expand = next_count + sizeof(Count) / sizeof(uint32_t);
	cg::grid_group grid = cg::this_grid();
	int32_t		outside = 0;

	for (uint32_t i = blockIdx.x * threads + threadIdx.x; i < words;
		 i += gridDim.x * threads)
		all_bins[i] = 0;

	auto		token = grid.barrier_arrive();

	clear_bins(bins, count);
	__syncthreads();

	/* most of the keys in equal shares, the rest to who is free first */
	constexpr uint32_t tile = threads * HistogramTuning::vectors;
	const KeyVectors all(keys, n);
	const uint64_t dealt = n < HistogramTuning::dynamic_min_n ? all.count :
		all.count / 8 * HistogramTuning::eighths;
	bool		bad = false;
	CountKey	use = {map, bins, bad, outside};
	OneByOne<HistogramTuning::vectors, CountKey> use_vectors = {use};
	uint64_t	begin;
	uint64_t	end;

	block_span(dealt, &begin, &end);
	for_each_vector<HistogramTuning::vectors>(all.vectors, begin, end, use_vectors,
											  NeverStop());
	all.for_each_end(keys, n, use);
	grid.barrier_wait(std::move(token));
	if (dealt < all.count)
	{
		const uint32_t tiles =
			static_cast<uint32_t>((all.count - dealt - 1) / tile) + 1;

		draw_tiles(next_count, tiles, [&](uint32_t drawn) {
			const uint64_t at = dealt + static_cast<uint64_t>(drawn) * tile;

			for_each_vector<HistogramTuning::vectors>(
				all.vectors, at, min(at + tile, all.count), use_vectors,
				NeverStop());
		});
	}
	__syncthreads();
	if (bad)
		report_outside(verdict, outside);
	flush_bins(bins, count, all_bins, all_slices);
	grid.sync();

	if (RUNS)
	{
		for (uint32_t batch = blockIdx.x; batch * batch_bins < count;
			 batch += gridDim.x)
		{
			compact_batch(all_bins, all_slices, count, map, batch, out, counts,
						  starts, verdict, state);
			__syncthreads();
		}
	}
	else
		expand_bins(all_bins, all_slices, count, map, n, out, next_expand, state);
}

/* Counting alone: a chunk of a job. */
__global__ void __launch_bounds__(threads, 1)
count_kernel(const int32_t *keys, uint64_t n, KeyMap map, Count64 *all_bins,
			 Count64 *all_slices, HpsortCudaVerdict *verdict)
{
	extern __shared__ __align__(16) char memory[];
	uint32_t   *bins = reinterpret_cast<uint32_t *>(memory);
	const uint32_t count = map.last + 1;
	int32_t		outside = 0;
	bool		bad = false;

	clear_bins(bins, count);
	__syncthreads();
	for_each_key<HistogramTuning::vectors>(
		keys, n, CountKey{map, bins, bad, outside});
	if (bad)
		report_outside(verdict, outside);
	__syncthreads();
	flush_bins(bins, count, all_bins, all_slices);
}

/* The bins of a job, when all its chunks have been counted. */
__global__ void __launch_bounds__(threads, 1)
compact_kernel(KeyMap map, const Count64 *all_bins, const Count64 *all_slices,
			   int32_t *run_keys, uint64_t *starts, HpsortCudaVerdict *verdict)
{
	extern __shared__ __align__(16) char memory[];

	compact_batch(all_bins, all_slices, map.last + 1, map, blockIdx.x, run_keys,
				  nullptr, starts, verdict,
				  reinterpret_cast<OutputState *>(memory));
}

/* The bins, and later in their place the state of the output. */
static size_t
shared_need(uint32_t bins)
{
	size_t		need = (static_cast<size_t>(bins) + 3) / 4 * 16;

	return need > sizeof(OutputState) ? need : sizeof(OutputState);
}

/*
 * Blocks for n keys: no more than one per SM, and fewer when a block would
 * spend more time on its bins than on its keys.
 */
static uint32_t
blocks_for(const HpsortCuda *context, uint64_t n, uint32_t bins)
{
	uint64_t	least = static_cast<uint64_t>(threads) * 4 + bins / 8;
	uint64_t	blocks = (n + least - 1) / least;

	if (blocks < 1)
		blocks = 1;
	return blocks < context->limits.sms ?
		static_cast<uint32_t>(blocks) : context->limits.sms;
}

template <typename Kernel>
static void
allow_shared(Kernel kernel, const HpsortCudaLimits &limits)
{
	/* kernels with static shared memory have less room for the dynamic one */
	check(cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
							   cudaFuncAttributeMaxDynamicSharedMemorySize,
							   regime_shared_bins(&limits) * sizeof(uint32_t) + 1024),
		  "set up a kernel");
}

void
configure_shared_histogram(const HpsortCudaLimits &limits)
{
	if (sizeof(OutputState) > regime_shared_bins(&limits) * sizeof(uint32_t))
		fail(HPSORT_CUDA_NO_DEVICE, "the device has too little shared memory");
	allow_shared(shared_kernel<uint32_t, false>, limits);
	allow_shared(shared_kernel<uint32_t, true>, limits);
	allow_shared(shared_kernel<Count64, false>, limits);
	allow_shared(shared_kernel<Count64, true>, limits);
	allow_shared(count_kernel, limits);
	allow_shared(compact_kernel, limits);
}

template <typename Count, bool RUNS>
static void
launch_shared(HpsortCuda *context, cudaStream_t stream, KeyMap map,
			  const int32_t *keys, uint64_t n, int32_t *out, uint64_t *counts,
			  uint64_t *starts, HpsortCudaVerdict *verdict)
{
	uint64_t	range = static_cast<uint64_t>(map.last) + 1;
	DeviceBuffer memory(context, stream,
						regime_bins_bytes(range, sizeof(Count)), "the histogram");
	Count	   *all_bins = memory.as<Count>();
	void	   *arguments[] = {&keys, &n, &map, &all_bins, &out, &counts,
		&starts, &verdict};

	cudaLaunchAttribute attributes[2];
	cudaLaunchConfig_t config = {};
	uint32_t	blocks = blocks_for(context, n, map.last + 1);
	uint32_t	crew = 1;

	/* clusters only where atomics weigh, and all blocks still fit at once */
	if (n < HistogramTuning::dynamic_min_n)
	{
		if (range >= HistogramTuning::crew_min_bins)
			crew = HistogramTuning::crew;
	}
	else if (range >= HistogramTuning::large_crew_min_bins)
		crew = HistogramTuning::large_crew;
	if (context->crew_blocks < crew || blocks < crew)
		crew = 1;
	if (crew > 1)
	{
		if (blocks > context->crew_blocks)
			blocks = context->crew_blocks;
		blocks = blocks / crew * crew;
	}
	attributes[0].id = cudaLaunchAttributeCooperative;
	attributes[0].val.cooperative = 1;
	attributes[1].id = cudaLaunchAttributeClusterDimension;
	attributes[1].val.clusterDim.x = crew;
	attributes[1].val.clusterDim.y = 1;
	attributes[1].val.clusterDim.z = 1;
	config.gridDim = dim3(blocks);
	config.blockDim = dim3(threads);
	config.dynamicSmemBytes = shared_need(map.last + 1);
	config.stream = stream;
	config.attrs = attributes;
	config.numAttrs = crew > 1 ? 2 : 1;
	check(cudaLaunchKernelExC(&config,
							  reinterpret_cast<const void *>(
								  &shared_kernel<Count, RUNS>), arguments),
		  "launch the shared histogram");
}

/*
 * How many blocks the device holds at once when they come in clusters, larger
 * ones or smaller ones.  GPCs whose number of SMs is no multiple of the crew
 * leave some SMs out.
 */
uint32_t
shared_crew_blocks(const HpsortCudaLimits &limits)
{
	cudaLaunchAttribute attribute;
	cudaLaunchConfig_t config = {};
	int			clusters = 0;

	attribute.id = cudaLaunchAttributeClusterDimension;
	attribute.val.clusterDim.x = HistogramTuning::large_crew;
	attribute.val.clusterDim.y = 1;
	attribute.val.clusterDim.z = 1;
	config.gridDim = dim3(limits.sms / HistogramTuning::large_crew *
						  HistogramTuning::large_crew);
	config.blockDim = dim3(threads);
	config.dynamicSmemBytes = regime_shared_bins(&limits) * sizeof(uint32_t);
	config.attrs = &attribute;
	config.numAttrs = 1;
	if (cudaOccupancyMaxActiveClusters(
			&clusters, reinterpret_cast<const void *>(&shared_kernel<uint32_t, false>),
			&config) != cudaSuccess)
	{
		/* no clusters before sm_90 */
		(void) cudaGetLastError();
		return 0;
	}
	return static_cast<uint32_t>(clusters) * HistogramTuning::large_crew;
}

/* 32-bit bins halve the atomics' bytes; 64-bit ones are for n beyond 2^32. */
void
shared_sort(HpsortCuda *context, cudaStream_t stream, const KeyMap &map,
			const int32_t *keys, uint64_t n, int32_t *out,
			HpsortCudaVerdict *verdict)
{
	/* positions and a few more must fit */
	if (n <= UINT32_MAX - 8)
		launch_shared<uint32_t, false>(context, stream, map, keys, n, out,
									   nullptr, nullptr, verdict);
	else
		launch_shared<Count64, false>(context, stream, map, keys, n, out,
									  nullptr, nullptr, verdict);
}

void
shared_runs(HpsortCuda *context, cudaStream_t stream, const KeyMap &map,
			const int32_t *keys, uint64_t n, int32_t *run_keys,
			uint64_t *counts, uint64_t *starts, HpsortCudaVerdict *verdict)
{
	if (n <= UINT32_MAX)
		launch_shared<uint32_t, true>(context, stream, map, keys, n, run_keys,
									  counts, starts, verdict);
	else
		launch_shared<Count64, true>(context, stream, map, keys, n, run_keys,
									 counts, starts, verdict);
}

/*
 * Bins of a job: 64-bit, because nobody knows at the start how many keys will
 * come, and never flushed more often than once per chunk and block.
 */
void
Bins::allocate(HpsortCuda *context, cudaStream_t stream, const KeyMap &key_map)
{
	uint64_t	range = static_cast<uint64_t>(key_map.last) + 1;
	uint64_t	slice_count = (range + slice_bins - 1) / slice_bins;

	map = key_map;
	memory = DeviceBuffer(context, stream,
						  regime_bins_bytes(range, sizeof(Count64)),
						  "the histogram");
	bins = memory.as<Count64>();
	slices = bins + slice_count * slice_bins;
	check(cudaMemsetAsync(bins, 0, memory.bytes(), stream), "clear the bins");
}

void
Bins::add(HpsortCuda *context, cudaStream_t stream, const int32_t *keys,
		  uint64_t n, HpsortCudaVerdict *verdict)
{
	count_kernel<<<blocks_for(context, n, map.last + 1), threads,
		shared_need(map.last + 1), stream>>>(keys, n, map, bins, slices, verdict);
	check_launch("count a chunk");
}

void
Bins::compact(cudaStream_t stream, const Runs &runs, HpsortCudaVerdict *verdict)
{
	compact_kernel<<<map.last / batch_bins + 1, threads, sizeof(OutputState),
		stream>>>(map, bins, slices, runs.keys, runs.starts, verdict);
	check_launch("compact the bins");
}

} /* namespace hpsort */
