/*-------------------------------------------------------------------------
 *
 * small_sort.cuh
 *	  A radix sort of few keys in one launch, by blocks that wait for each other within the
 *	  kernel.
 *
 * For radix.cu, where regime_choose_kernels() has chosen ONE_LAUNCH.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_SMALL_SORT_CUH
#define HPSORT_CUDA_SMALL_SORT_CUH

#include "common/keys.cuh"

namespace hpsort
{

/*
 * Sorts up to regime_one_launch_most() keys in one launch; does not wait.  If rows is null,
 * writes the sorted keys to out.  Otherwise writes the stable permutation to rows, and the sorted
 * keys to out unless out is null.  If a key is outside the bounds, the verdict reports it and the
 * result is undefined.
 */
void		small_sort(const SortInput &input, int32_t *out, uint32_t *rows);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_SMALL_SORT_CUH */
