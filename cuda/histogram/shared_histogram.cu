/*-------------------------------------------------------------------------
 *
 * shared_histogram.cu
 *	  Regime SHARED_HISTOGRAM: all bins fit in a block's shared memory.
 *
 * Kozakai, Fujimoto, Wada 2021, Algorithm 5 (0-compressed H-P), reshaped to read each key once:
 *
 * - Line 1: every block counts its share of the keys in its own shared memory and adds its bins
 *   to the common ones once.  Equal keys of a warp do not conflict (the paper's "sum" write),
 *   because atomicAdd(&bin, 1) without a result becomes ATOMS.POPC.INC.
 * - Lines 2 to 15: prefix sums and compression to the bins that occur, by each block for its own
 *   batch of bins.
 * - Lines 16 to 18 (second histogram, prefix sum over n) become expand_block(), in runs.cu, when
 *   keys are read.
 *
 * One cooperative kernel makes the runs, so that a million keys cost one launch.
 *
 * Beside the bins, the sums of slices of 256 bins are kept, so that a block finds where the runs
 * of its batch begin without adding up the bins before them.
 *
 *-------------------------------------------------------------------------
 */
#include "histogram/shared_bins.cuh"
#include "histogram/shared_histogram.cuh"

namespace hpsort
{

/*
 * Makes runs of keys.  The two halves of a grid barrier overlap zeroing the common bins with
 * counting; all blocks wait for each other only at the second barrier.
 *
 * One block of 1,024 threads per SM: two smaller ones would each have half of the bins, or the
 * same bins twice to be added up.  Loads in flight keep memory busy here, not occupancy (see
 * for_each_vector()).
 *
 * A block's bins are dead when they have been flushed, and the OutputState takes their place.
 * Both are the kernel's dynamic shared memory, whose size depends on the range, so that a narrow
 * range leaves L1 to the keys.
 */
template <typename Count>
__global__ void __launch_bounds__(histogram_threads, 1)
shared_kernel(const int32_t *keys, uint64_t n, KeyMap map, Count *all_bins,
			  int32_t *run_keys, uint64_t *starts, HpsortCudaVerdict *verdict)
{
	extern __shared__ __align__(16) char memory[];
	uint32_t   *bins = reinterpret_cast<uint32_t *>(memory);
	OutputState *state = reinterpret_cast<OutputState *>(memory);
	const uint32_t count = map.last + 1;
	const uint32_t slices = (count + slice_bins - 1) / slice_bins;
	Count	   *all_slices = all_bins + slices * slice_bins;
	/* bins, slices, and the counter of tiles to be drawn */
	const uint32_t words = slices * slice_bins + slices + 1;
	uint32_t   *next_count = reinterpret_cast<uint32_t *>(all_slices + slices);
	cg::grid_group grid = cg::this_grid();
	int32_t		outside = 0;

	/* a memset instead would be one more launch */
	for (uint32_t i = blockIdx.x * histogram_threads + threadIdx.x; i < words;
		 i += gridDim.x * histogram_threads)
		all_bins[i] = 0;

	/* The common bins must be zeroed before any block adds to them.  A block adds after it has
	 * read its keys; by then all blocks have long arrived here. */
	auto		token = grid.barrier_arrive();

	clear_bins(bins, count);
	__syncthreads();

	/* most of the keys in equal shares, all others to the blocks that are free first */
	constexpr uint32_t tile = histogram_threads * HistogramTuning::vectors;
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
	/* no position of a run is known before the last key is counted; this barrier takes 1 to 2 us */
	grid.sync();
	for (uint32_t batch = blockIdx.x; batch * batch_bins < count; batch += gridDim.x)
	{
		compact_batch(all_bins, all_slices, count, map, batch, run_keys, starts, verdict, state);
		__syncthreads();
	}
}

/* Counts a chunk of a job.  An ordinary launch, because chunks of several jobs may be counted at
 * the same time; cooperative kernels that fill the device cannot run side by side. */
__global__ void __launch_bounds__(histogram_threads, 1)
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

/* Makes runs of a job's bins when all its chunks have been counted. */
__global__ void __launch_bounds__(histogram_threads, 1)
compact_kernel(KeyMap map, const Count64 *all_bins, const Count64 *all_slices,
			   int32_t *run_keys, uint64_t *starts, HpsortCudaVerdict *verdict)
{
	extern __shared__ __align__(16) char memory[];

	compact_batch(all_bins, all_slices, map.last + 1, map, blockIdx.x, run_keys, starts,
				  verdict, reinterpret_cast<OutputState *>(memory));
}

/* Returns the shared memory of the kernels: the bins, and later in their place the OutputState. */
static size_t
shared_need(uint32_t bins)
{
	const size_t need = (static_cast<size_t>(bins) + 3) / 4 * 16;

	return need > sizeof(OutputState) ? need : sizeof(OutputState);
}

void
configure_shared_histogram(const HpsortCudaLimits &limits)
{
	if (sizeof(OutputState) > regime_shared_bins(&limits) * sizeof(uint32_t))
		fail(HPSORT_CUDA_NO_DEVICE, "the device has too little shared memory");
	allow_shared(shared_kernel<uint32_t>, bins_allowance(limits));
	allow_shared(shared_kernel<Count64>, bins_allowance(limits));
	allow_shared(count_kernel, bins_allowance(limits));
	allow_shared(compact_kernel, bins_allowance(limits));
}

/* Launches shared_kernel with common bins of type Count. */
template <typename Count>
static void
launch_shared(SortInput input, const Runs &runs)
{
	const HpsortCuda *context = input.context;
	const uint64_t n = input.n;
	KeyMap		map = input.ascending_map();
	const uint64_t range = static_cast<uint64_t>(map.last) + 1;
	DeviceBuffer memory(input.context, input.stream,
						regime_bins_bytes(range, sizeof(Count)), "the histogram");
	Count	   *all_bins = memory.as<Count>();
	int32_t    *run_keys = runs.keys;
	uint64_t   *starts = runs.starts;
	/* their addresses are taken: all are this function's copies */
	void	   *arguments[] = {&input.keys, &input.n, &map, &all_bins, &run_keys, &starts,
		&input.verdict};

	cudaLaunchAttribute attributes[2];
	cudaLaunchConfig_t config = {};
	uint32_t	blocks = histogram_blocks(context, n, map.last + 1);
	uint32_t	crew = 1;

	/* clusters only where adding to the common bins takes long, and where all blocks still fit on
	 * the device at once */
	if (n < HistogramTuning::dynamic_min_n)
	{
		if (range >= HistogramTuning::crew_min_bins &&
			n >= HistogramTuning::crew_min_n)
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
	/* The grid barrier needs all blocks on the device at once.  The driver refuses a cooperative
	 * launch that has too many; any other launch would hang. */
	attributes[0].id = cudaLaunchAttributeCooperative;
	attributes[0].val.cooperative = 1;
	attributes[1].id = cudaLaunchAttributeClusterDimension;
	attributes[1].val.clusterDim.x = crew;
	attributes[1].val.clusterDim.y = 1;
	attributes[1].val.clusterDim.z = 1;
	config.gridDim = dim3(blocks);
	config.blockDim = dim3(histogram_threads);
	config.dynamicSmemBytes = shared_need(map.last + 1);
	config.stream = input.stream;
	config.attrs = attributes;
	config.numAttrs = crew > 1 ? 2 : 1;
	check(cudaLaunchKernelExC(&config,
							  reinterpret_cast<const void *>(
								  &shared_kernel<Count>), arguments),
		  "launch the shared histogram");
}

/* The answer holds for the larger crew; smaller ones fit, too.  GPCs whose number of SMs is no
 * multiple of the crew leave some SMs out. */
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
	config.blockDim = dim3(histogram_threads);
	config.dynamicSmemBytes = regime_shared_bins(&limits) * sizeof(uint32_t);
	config.attrs = &attribute;
	config.numAttrs = 1;
	if (cudaOccupancyMaxActiveClusters(
			&clusters, reinterpret_cast<const void *>(&shared_kernel<uint32_t>),
			&config) != cudaSuccess)
	{
		/* no clusters before sm_90 */
		(void) cudaGetLastError();
		return 0;
	}
	return static_cast<uint32_t>(clusters) * HistogramTuning::large_crew;
}

/* Algorithm 5, lines 1 to 15: C, as starts, and iC.  32-bit common bins halve the atomics'
 * bytes; from 2^32 keys on a count may need 64 bits. */
void
shared_runs(const SortInput &input, const Runs &runs)
{
	if (input.n <= UINT32_MAX)
		launch_shared<uint32_t>(input, runs);
	else
		launch_shared<Count64>(input, runs);
}

/* The bins have 64 bits because the number of keys is not known when a job is opened.  A block
 * adds to them once for each chunk. */
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

/* One launch; keys must stay until the stream has come past it. */
void
Bins::add(HpsortCuda *context, cudaStream_t stream, const int32_t *keys,
		  uint64_t n, HpsortCudaVerdict *verdict)
{
	count_kernel<<<histogram_blocks(context, n, map.last + 1), histogram_threads,
		shared_need(map.last + 1), stream>>>(keys, n, map, bins, slices, verdict);
	check_launch("count a chunk");
}

/* One block for each batch of 4,096 bins.  No block waits for another (see compact_batch()). */
void
Bins::compact(cudaStream_t stream, const Runs &runs, HpsortCudaVerdict *verdict)
{
	compact_kernel<<<map.last / batch_bins + 1, histogram_threads, sizeof(OutputState),
		stream>>>(map, bins, slices, runs.keys, runs.starts, verdict);
	check_launch("compact the bins");
}

} /* namespace hpsort */
