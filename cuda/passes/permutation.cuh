/*-------------------------------------------------------------------------
 *
 * permutation.cuh
 *	  The stable permutation by bins or dense ranks, the host side.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_PERMUTATION_CUH
#define HPSORT_CUDA_PERMUTATION_CUH

#include "common/runs.cuh"
#include "passes/sweep.cuh"

namespace hpsort
{

/* Raises the shared memory limits of the kernels; once per device. */
void		configure_permutation(const HpsortCudaLimits &limits);

/* Rows by bins of map, at most 16 bits, in one pass or two of digits of `bits`
 * bits each, whose counts are in *sweeps. */
void		binned_passes(HpsortCuda *context, cudaStream_t stream,
						  const KeyMap &map, uint32_t passes, uint32_t bits,
						  const int32_t *keys, uint64_t n, Sweeps *sweeps,
						  uint32_t *rows);

/* Rows by ranks of at most 16 bits, aligned like the keys, in two passes. */
void		ranked_passes(HpsortCuda *context, cudaStream_t stream,
						  const uint16_t *ranks, uint32_t bits, uint64_t n,
						  Sweeps *sweeps, uint32_t *rows);

/* Stable rows by dense rank among runs (ascending, at most 65,536); narrow:
 * the bins of map, which is ascending, fit in shared memory.  ready: null, or
 * workspace for two passes over n items. */
void		ranked_permutation(HpsortCuda *context, cudaStream_t stream,
							   const KeyMap &map, bool narrow, bool descending,
							   const Runs &runs, const int32_t *keys, uint64_t n,
							   uint32_t *rows, Sweeps *ready = nullptr);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_PERMUTATION_CUH */
