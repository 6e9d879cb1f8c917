/*-------------------------------------------------------------------------
 *
 * shared_histogram.cuh
 *	  Regime SHARED_HISTOGRAM: a range whose bins fit in one block's shared memory.
 *
 * The functions put their work on the stream and do not wait.  Keys outside the
 * bounds are left out and one of them is reported.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_SHARED_HISTOGRAM_CUH
#define HPSORT_CUDA_SHARED_HISTOGRAM_CUH

#include "common/keys.cuh"
#include "common/packed_parts.cuh"
#include "common/runs.cuh"

namespace hpsort
{

/* Raises the shared memory limits of this file's kernels; once per device. */
void		configure_shared_histogram(const HpsortCudaLimits &limits);

void		configure_packed_histogram(const HpsortCudaLimits &limits);

/* Blocks that fit on the device at once when they come in clusters; 0: it has none. */
uint32_t	shared_crew_blocks(const HpsortCudaLimits &limits);

/* Keys into runs, which ascend: counted and compacted in one kernel.  runs have been
 * allocated for min(range, n); input.verdict->distinct receives their number. */
void		shared_runs(const SortInput &input, const Runs &runs);

/*
 * The bins of a job that counts its chunks as they arrive and keeps no key; of 64
 * bits, since a job may have more than 2^32 keys.
 */
struct Bins
{
	DeviceBuffer memory;
	KeyMap		map;
	unsigned long long *bins = nullptr;
	unsigned long long *slices = nullptr;	/* sums of REGIME_SLICE_BINS bins each */

	/* zeroed; key_map must ascend */
	void		allocate(HpsortCuda *context, cudaStream_t stream,
						 const KeyMap &key_map);
	void		add(HpsortCuda *context, cudaStream_t stream,
					const int32_t *keys, uint64_t n, HpsortCudaVerdict *verdict);
	/* packed_histogram.cu: of packed values, which are not unpacked before */
	void		add_packed(HpsortCuda *context, cudaStream_t stream,
						   const PackedTable &table, HpsortCudaVerdict *verdict);
	/* into runs that have been allocated; verdict->distinct says how many */
	void		compact(cudaStream_t stream, const Runs &runs,
						HpsortCudaVerdict *verdict);
};

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_SHARED_HISTOGRAM_CUH */
