/*-------------------------------------------------------------------------
 *
 * shared_histogram.cuh
 *	  Regime SHARED_HISTOGRAM, the host side: all bins in shared memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_SHARED_HISTOGRAM_CUH
#define HPSORT_CUDA_SHARED_HISTOGRAM_CUH

#include "common/keys.cuh"
#include "common/runs.cuh"

namespace hpsort
{

/* Raises the shared memory limits of the kernels; once per device. */
void		configure_shared_histogram(const HpsortCudaLimits &limits);

/* Blocks that fit at once when they come in clusters; 0: no clusters. */
uint32_t	shared_crew_blocks(const HpsortCudaLimits &limits);

/* Everything in one kernel: count, prefix sums, expand. */
void		shared_sort(HpsortCuda *context, cudaStream_t stream,
						const KeyMap &map, const int32_t *keys, uint64_t n,
						int32_t *out, HpsortCudaVerdict *verdict);

/* Count and compact in one kernel; verdict->distinct gets the number of runs.
 * counts or starts may be null. */
void		shared_runs(HpsortCuda *context, cudaStream_t stream,
						const KeyMap &map, const int32_t *keys, uint64_t n,
						int32_t *run_keys, uint64_t *counts, uint64_t *starts,
						HpsortCudaVerdict *verdict);

/* For jobs: bins of 64 bits that live from chunk to chunk. */
struct Bins
{
	DeviceBuffer memory;
	KeyMap		map;
	unsigned long long *bins = nullptr;
	unsigned long long *slices = nullptr;

	void		allocate(HpsortCuda *context, cudaStream_t stream,
						 const KeyMap &key_map);
	void		add(HpsortCuda *context, cudaStream_t stream,
					const int32_t *keys, uint64_t n, HpsortCudaVerdict *verdict);
	void		compact(cudaStream_t stream, const Runs &runs,
						HpsortCudaVerdict *verdict);
};

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_SHARED_HISTOGRAM_CUH */
