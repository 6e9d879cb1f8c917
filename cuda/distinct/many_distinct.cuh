/*-------------------------------------------------------------------------
 *
 * many_distinct.cuh
 *	  Regime MANY_DISTINCT: a permutation by dense ranks of up to 65,536 values.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_MANY_DISTINCT_CUH
#define HPSORT_CUDA_MANY_DISTINCT_CUH

#include "common/keys.cuh"

namespace hpsort
{

/* Raises the shared memory limits of this file's kernels; once per device. */
void		configure_many_distinct(const HpsortCudaLimits &limits);

/*
 * The stable permutation into rows.  False: the keys have more than 65,536 values, at
 * most 256, or so many rare ones that reading all keys twice would not pay; rows mean
 * nothing, and the caller takes another way.  Keys outside the bounds are reported.
 * Waits for the stream.
 */
bool		many_distinct_permutation(const SortInput &input, uint32_t *rows);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_MANY_DISTINCT_CUH */
