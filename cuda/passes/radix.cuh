/*-------------------------------------------------------------------------
 *
 * radix.cuh
 *	  Regime RADIX: stable passes over the bits of the range.
 *
 * Its first half, which counts the digits of all passes, can be begun before the
 * regime is chosen: sort.cu puts it on the stream while it waits for the answer of
 * a sample.  Most inputs that are sampled need it; where the sample finds few values,
 * the sample's own kernel tells the counting kernel to do nothing.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_RADIX_CUH
#define HPSORT_CUDA_RADIX_CUH

#include "passes/sweep.cuh"

namespace hpsort
{

struct RadixStart
{
	bool		begun = false;
	KeyMap		map = {};
	Sweeps		sweeps;

	/* skip: null, or a word in device memory; if it is not 0 nothing is counted, and
	 * the caller must drop this object */
	void		begin(HpsortCuda *context, cudaStream_t stream,
					  const Bounds &bounds, bool descending, const int32_t *keys,
					  uint64_t n, const uint32_t *skip,
					  HpsortCudaVerdict *verdict);
};

/* Whether the kernels of a sort may overlap as they were compiled. */
bool		sweeps_overlap();

/* Whether a sort of n keys has a first half that can be begun early. */
bool		radix_can_begin(uint64_t n);

/*
 * n keys into out; does not wait.  Keys outside the bounds are reported in *verdict,
 * and out is undefined then.  begun: null, or a first half, which is used if it was
 * begun for these bounds and this direction.
 */
void		radix_sort(HpsortCuda *context, cudaStream_t stream,
					   const Bounds &bounds, bool descending,
					   const int32_t *keys, uint64_t n, int32_t *out,
					   HpsortCudaVerdict *verdict, RadixStart *begun = nullptr);

/*
 * The stable permutation of n < 2^32 keys into rows, and the sorted keys into
 * sorted_keys unless that is null: rows alone are cheaper.
 */
void		radix_permutation(HpsortCuda *context, cudaStream_t stream,
							  const Bounds &bounds, bool descending,
							  const int32_t *keys, uint64_t n,
							  int32_t *sorted_keys, uint32_t *rows,
							  HpsortCudaVerdict *verdict,
							  RadixStart *begun = nullptr);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_RADIX_CUH */
