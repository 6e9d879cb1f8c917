/*-------------------------------------------------------------------------
 *
 * radix.cuh
 *	  The first half of a radix sort, for who begins it before it is chosen.
 *
 * sort.cu takes a sample and has to wait for its answer.  Meanwhile the device
 * counts digits, which is what most inputs need that get as far as a sample;
 * the sample's own kernel tells it not to when few values were found.
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

	/* skip: a word on the device, other than 0 when this is not wanted; or null */
	void		begin(HpsortCuda *context, cudaStream_t stream,
					  const Bounds &bounds, bool descending, const int32_t *keys,
					  uint64_t n, const uint32_t *skip,
					  HpsortCudaVerdict *verdict);
};

/* Whether the kernels of a sort may overlap as they are compiled. */
bool		sweeps_overlap();

/* Whether a sort of n keys has a first half that can be begun early. */
bool		radix_can_begin(uint64_t n);

/*
 * Keys outside the bounds are reported; the output is undefined then.  begun:
 * null, or what was begun already; it is used if it is for these bounds.
 */
void		radix_sort(HpsortCuda *context, cudaStream_t stream,
					   const Bounds &bounds, bool descending,
					   const int32_t *keys, uint64_t n, int32_t *out,
					   HpsortCudaVerdict *verdict, RadixStart *begun = nullptr);
/* Stable; sorted_keys may be null when only the rows are wanted. */
void		radix_permutation(HpsortCuda *context, cudaStream_t stream,
							  const Bounds &bounds, bool descending,
							  const int32_t *keys, uint64_t n,
							  int32_t *sorted_keys, uint32_t *rows,
							  HpsortCudaVerdict *verdict,
							  RadixStart *begun = nullptr);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_RADIX_CUH */
