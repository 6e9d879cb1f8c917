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
 * One kernel counts and another makes the runs.  A job that counts its chunks as they come launches
 * the first one for each chunk; a sort launches both once.
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
 * Counts keys.
 *
 * One block of 1,024 threads per SM: two smaller ones would each have half of the bins, or the
 * same bins twice to be added up.  Loads in flight keep memory busy here, not occupancy (see
 * for_each_vector()).  The bins are dynamic shared memory, whose size depends on the range, so
 * that a narrow range leaves L1 to the keys.
 *
 * An ordinary launch, because chunks of several jobs may be counted at the same time; cooperative
 * kernels that fill the device cannot run side by side.
 */
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

/* Makes runs of the bins when all keys have been counted. */
__global__ void __launch_bounds__(histogram_threads, 1)
compact_kernel(KeyMap map, const Count64 *all_bins, const Count64 *all_slices,
			   int32_t *run_keys, uint64_t *starts, HpsortCudaVerdict *verdict)
{
	extern __shared__ __align__(16) char memory[];

	wait_for_kernel_before();
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
	allow_shared(count_kernel, bins_allowance(limits));
	allow_shared(compact_kernel, bins_allowance(limits));
}

/* Algorithm 5, lines 1 to 15: C, as starts, and iC. */
void
shared_runs(const SortInput &input, const Runs &runs)
{
	Bins		bins;

	bins.allocate(input.context, input.stream, input.ascending_map());
	bins.add(input.context, input.stream, input.keys, input.n, input.verdict);
	bins.compact(input.context, input.stream, runs, input.verdict);
}

/* The bins have 64 bits because the number of keys is not known when a job is opened.  A block
 * adds to them once for each chunk. */
void
Bins::allocate(HpsortCuda *context, cudaStream_t stream, const KeyMap &key_map)
{
	uint64_t	range = static_cast<uint64_t>(key_map.last) + 1;
	uint64_t	slice_count = (range + slice_bins - 1) / slice_bins;

	map = key_map;
	memory = DeviceBuffer(context, stream, regime_bins_bytes(range), "the histogram");
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
Bins::compact(HpsortCuda *context, cudaStream_t stream, const Runs &runs,
			  HpsortCudaVerdict *verdict)
{
	launch_behind(context, stream, compact_kernel, map.last / batch_bins + 1, histogram_threads,
				  sizeof(OutputState), "compact the bins", map, bins, slices, runs.keys,
				  runs.starts, verdict);
}

} /* namespace hpsort */
