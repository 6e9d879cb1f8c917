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
 * The stable permutation into rows, n of them.  False: the keys have more than 65,536
 * values, at most 256, or so many rare ones that reading all keys twice would not
 * pay; rows mean nothing, and the caller takes another way.  Keys outside
 * the bounds are reported in *verdict.  Waits for the stream.
 */
bool		many_distinct_permutation(HpsortCuda *context, cudaStream_t stream,
									  const Bounds &bounds, bool descending,
									  const int32_t *keys, uint64_t n, uint32_t *rows,
									  HpsortCudaVerdict *verdict);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_MANY_DISTINCT_CUH */
