/*-------------------------------------------------------------------------
 *
 * bounds.cuh
 *	  Smallest and largest key of an array on the device.
 *
 * For jobs and packed keys that keep their keys (kept_keys.cu), and for the published algorithms.
 * Knows nothing of regimes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_BOUNDS_CUH
#define HPSORT_CUDA_BOUNDS_CUH

#include "common/keys.cuh"

namespace hpsort
{

/*
 * The bounds of keys that arrive chunk by chunk.  bounds_reset() sets *device, in device memory,
 * to the bounds of no keys: lo is INT_MAX, hi INT_MIN.  bounds_add() widens *device by the n
 * keys.  Both only put work on the stream; neither waits.
 */
void		bounds_reset(cudaStream_t stream, Bounds *device);
void		bounds_add(HpsortCuda *context, cudaStream_t stream,
					   const int32_t *keys, uint64_t n, Bounds *device);

/* Returns the bounds of n > 0 keys in device memory.  Waits for the stream. */
Bounds		find_bounds(HpsortCuda *context, cudaStream_t stream,
						const int32_t *keys, uint64_t n);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_BOUNDS_CUH */
