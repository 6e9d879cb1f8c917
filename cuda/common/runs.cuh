/*-------------------------------------------------------------------------
 *
 * runs.cuh
 *	  Runs on the device, from them to keys and counts, and from sorted keys to
 *	  them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_RUNS_CUH
#define HPSORT_CUDA_RUNS_CUH

#include "context.cuh"

namespace hpsort
{

/* Runs on the device: keys[i] occupies starts[i] to starts[i + 1] - 1. */
struct Runs
{
	DeviceBuffer memory;
	int32_t    *keys = nullptr;
	uint64_t   *starts = nullptr;	/* distinct + 1 of them */
	uint64_t	distinct = 0;

	void		allocate(HpsortCuda *context, cudaStream_t stream, uint64_t most);
};

/* Positions [first, first + count) of the keys in the order asked for. */
void		expand_runs(cudaStream_t stream, const Runs &runs, uint64_t total,
						uint64_t first, uint64_t count, bool descending,
						int32_t *out);
/* counts[i] of runs [first, first + count) from their starts. */
void		run_counts(cudaStream_t stream, const Runs &runs, uint64_t first,
					   uint64_t count, uint64_t *counts);
/* Positions [first, first + count) of sorted keys[n] read backwards. */
void		reverse_keys(cudaStream_t stream, const int32_t *keys, uint64_t n,
						 uint64_t first, uint64_t count, int32_t *out);
/* Sorted keys to runs; waits for the stream. */
void		encode_runs(HpsortCuda *context, cudaStream_t stream,
						const int32_t *sorted, uint64_t n, Runs *runs);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_RUNS_CUH */
