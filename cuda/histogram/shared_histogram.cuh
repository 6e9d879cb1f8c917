/*-------------------------------------------------------------------------
 *
 * shared_histogram.cuh
 *	  Regime SHARED_HISTOGRAM: a range whose bins fit in one block's shared memory.
 *
 * For sort.cu, which sorts keys, and for jobs that count chunk by chunk (job.cu, packed.cu).  The
 * functions put their work on the stream and do not wait.  Keys outside the bounds are left out,
 * and the verdict reports one of them.
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

/* Raise the shared memory limits of the kernels of shared_histogram.cu and packed_values.cu;
 * once per device. */
void		configure_shared_histogram(const HpsortCudaLimits &limits);

void		configure_packed_values(const HpsortCudaLimits &limits);

/* Makes the ascending runs of the keys.  runs must have been allocated for min(range, n);
 * input.verdict->distinct receives their number. */
void		shared_runs(const SortInput &input, const Runs &runs);

/* The bins of a sort, or of a job that counts its chunks as they arrive and keeps no key.  They
 * have 64 bits, since there may be more than 2^32 keys. */
struct Bins
{
	DeviceBuffer memory;
	KeyMap		map;
	unsigned long long *bins = nullptr;
	unsigned long long *slices = nullptr;	/* sums of REGIME_SLICE_BINS bins each */

	/* allocates and zeroes the bins; key_map must ascend */
	void		allocate(HpsortCuda *context, cudaStream_t stream,
						 const KeyMap &key_map);
	void		add(HpsortCuda *context, cudaStream_t stream,
					const int32_t *keys, uint64_t n, HpsortCudaVerdict *verdict);
	/* counts packed values without unpacking them (packed_values.cu) */
	void		add_packed(HpsortCuda *context, cudaStream_t stream,
						   const PackedTable &table, HpsortCudaVerdict *verdict);
	/* makes runs, which must have been allocated; verdict->distinct receives their number */
	void		compact(HpsortCuda *context, cudaStream_t stream, const Runs &runs,
						HpsortCudaVerdict *verdict);
};

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_SHARED_HISTOGRAM_CUH */
