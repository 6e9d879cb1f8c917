/*-------------------------------------------------------------------------
 *
 * many_distinct.cuh
 *	  Regime MANY_DISTINCT, the host side: a permutation by dense ranks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_MANY_DISTINCT_CUH
#define HPSORT_CUDA_MANY_DISTINCT_CUH

#include "common/keys.cuh"

namespace hpsort
{

/* Raises the shared memory limits of the kernels; once per device. */
void		configure_many_distinct(const HpsortCudaLimits &limits);

/* By dense ranks of up to 65,536 values; false: there are more, or some may have been
 * missed, and rows mean nothing.  Waits for the stream. */
bool		many_distinct_permutation(HpsortCuda *context, cudaStream_t stream,
									const Bounds &bounds, bool descending,
									const int32_t *keys, uint64_t n, uint32_t *rows,
									HpsortCudaVerdict *verdict);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_MANY_DISTINCT_CUH */
