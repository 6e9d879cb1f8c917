/*-------------------------------------------------------------------------
 *
 * small_sort.cuh
 *	  A radix sort of few keys in one kernel: of one block (one_block.cu), or of
 *	  as many as wait for each other (small_sort.cu).
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_SMALL_SORT_CUH
#define HPSORT_CUDA_SMALL_SORT_CUH

#include "common/keys.cuh"

namespace hpsort
{

/* ---- small_sort.cu ---- */

/* Most keys that it takes on this device. */
uint64_t	small_most(const HpsortCuda *context);
/* One launch, no wait.  rows null: keys into out; else rows, and keys unless out
 * is null.  Bounds of the whole type are found on the device. */
void		small_sort(HpsortCuda *context, cudaStream_t stream,
					   const Bounds &bounds, bool descending,
					   const int32_t *keys, uint64_t n, int32_t *out,
					   uint32_t *rows, HpsortCudaVerdict *verdict);

/* ---- one_block.cu ---- */

/* Raises the shared memory limits of the kernels; once per device. */
void		configure_one_block(const HpsortCudaLimits &limits);

/* The same as small_sort() in one block without workspace; false: n is too large
 * for that, nothing done. */
bool		one_block_sort(HpsortCuda *context, cudaStream_t stream,
						   const Bounds &bounds, bool descending,
						   const int32_t *keys, uint64_t n, int32_t *out,
						   uint32_t *rows, HpsortCudaVerdict *verdict);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_SMALL_SORT_CUH */
