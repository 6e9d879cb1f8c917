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

/*
 * One launch of up to regime_one_launch_most() keys, no wait.  rows null: sorted keys
 * into out.  Else the stable permutation into rows, and sorted keys into out unless
 * that is null.  A key outside the bounds is reported, and the result is undefined
 * then.
 */
void		small_sort(const SortInput &input, int32_t *out, uint32_t *rows);

/* ---- one_block.cu ---- */

/* Raises the shared memory limits of its kernels; once per device. */
void		configure_one_block(const HpsortCudaLimits &limits);

/*
 * What small_sort() does, by one block and without workspace.  False: there are more
 * keys than a block holds on this device, and nothing was done.
 */
bool		one_block_sort(const SortInput &input, int32_t *out, uint32_t *rows);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_SMALL_SORT_CUH */
