/*-------------------------------------------------------------------------
 *
 * small_sort.cuh
 *	  A radix sort of few keys in one launch: by one block (one_block.cu), or by
 *	  blocks that wait for each other within the kernel (small_sort.cu).
 *
 * Given the bounds of int32, both find the keys' own bounds on the device.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_SMALL_SORT_CUH
#define HPSORT_CUDA_SMALL_SORT_CUH

#include "common/keys.cuh"

namespace hpsort
{

/* ---- small_sort.cu ---- */

/* Most keys that small_sort() takes on this device. */
uint64_t	small_most(const HpsortCuda *context);

/*
 * One launch, no wait.  rows null: sorted keys into out.  Else the stable permutation
 * into rows, and sorted keys into out unless that is null.  Keys outside the bounds
 * are reported in *verdict, and the result is undefined then.
 */
void		small_sort(HpsortCuda *context, cudaStream_t stream,
					   const Bounds &bounds, bool descending,
					   const int32_t *keys, uint64_t n, int32_t *out,
					   uint32_t *rows, HpsortCudaVerdict *verdict);

/* ---- one_block.cu ---- */

/* Raises the shared memory limits of its kernels; once per device. */
void		configure_one_block(const HpsortCudaLimits &limits);

/*
 * What small_sort() does, by one block and without workspace.  False: n is more than
 * a block holds on this device, and nothing was done.
 */
bool		one_block_sort(HpsortCuda *context, cudaStream_t stream,
						   const Bounds &bounds, bool descending,
						   const int32_t *keys, uint64_t n, int32_t *out,
						   uint32_t *rows, HpsortCudaVerdict *verdict);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_SMALL_SORT_CUH */
