/*-------------------------------------------------------------------------
 *
 * permutation.cuh
 *	  The stable permutation by bins or dense ranks of at most 16 bits, in one pass or two.
 *
 * For sort.cu, which has the keys' runs, and radix.cu, which has counted digits.  The functions
 * put their work on the stream and do not wait.  *sweeps holds where the digits of each pass
 * begin, and gives its memory back in the stream's order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_PERMUTATION_CUH
#define HPSORT_CUDA_PERMUTATION_CUH

#include "common/runs.cuh"
#include "passes/sweep.cuh"

namespace hpsort
{

/* Raises the shared memory limits of this file's kernels; once per device. */
void		configure_permutation(const HpsortCudaLimits &limits);

/* Writes the stable permutation by the keys' bins to rows, in one or two passes over digits of
 * `bits` bits.  The digits must have been counted into *sweeps. */
void		binned_passes(const SortInput &input, uint32_t passes, uint32_t bits,
						  Sweeps *sweeps, uint32_t *rows);

/*
 * Writes the stable permutation by bins, or by dense ranks among the runs, to rows.  runs are
 * these keys' runs, at most 65,536.  narrow says that the bins fit in shared memory, and so in
 * 16 bits.  *sweeps is workspace for two passes.
 */
void		ranked_permutation(const SortInput &input, bool narrow, const Runs &runs,
							   uint32_t *rows, Sweeps *sweeps);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_PERMUTATION_CUH */
