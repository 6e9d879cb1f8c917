/*-------------------------------------------------------------------------
 *
 * bounds.cuh
 *	  Smallest and largest key of an array on the device.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_BOUNDS_CUH
#define HPSORT_CUDA_BOUNDS_CUH

#include "common/keys.cuh"

namespace hpsort
{

/*
 * A job's way, chunk by chunk: bounds_reset() makes *device (device memory) the
 * bounds of no keys, each bounds_add() widens it by n more keys.  Both only put
 * work on the stream.
 */
void		bounds_reset(cudaStream_t stream, Bounds *device);
void		bounds_add(HpsortCuda *context, cudaStream_t stream,
					   const int32_t *keys, uint64_t n, Bounds *device);

/* The bounds of one array of n > 0 keys; waits for the stream. */
Bounds		find_bounds(HpsortCuda *context, cudaStream_t stream,
						const int32_t *keys, uint64_t n);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_BOUNDS_CUH */
