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

void		bounds_reset(cudaStream_t stream, Bounds *device);
void		bounds_add(HpsortCuda *context, cudaStream_t stream,
					   const int32_t *keys, uint64_t n, Bounds *device);
/* Reports a key outside the bounds, if there is one. */
void		check_bounds(HpsortCuda *context, cudaStream_t stream,
						 const int32_t *keys, uint64_t n, const Bounds &bounds,
						 HpsortCudaVerdict *verdict);
/* All of it for one array; waits for the stream. */
Bounds		find_bounds(HpsortCuda *context, cudaStream_t stream,
						const int32_t *keys, uint64_t n);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_BOUNDS_CUH */
