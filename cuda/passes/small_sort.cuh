/*-------------------------------------------------------------------------
 *
 * small_sort.cuh
 *	  A radix sort of few keys in one launch, by blocks that wait for each other
 *	  within the kernel.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_SMALL_SORT_CUH
#define HPSORT_CUDA_SMALL_SORT_CUH

#include "common/keys.cuh"

namespace hpsort
{

/*
 * One launch of up to regime_one_launch_most() keys, no wait.  rows null: sorted keys
 * into out.  Else the stable permutation into rows, and sorted keys into out unless
 * that is null.  A key outside the bounds is reported, and the result is undefined
 * then.
 */
void		small_sort(const SortInput &input, int32_t *out, uint32_t *rows);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_SMALL_SORT_CUH */
