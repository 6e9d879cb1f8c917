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

	/* input and choice: those that the sort will be given.  skip: null, or a word in device
	 * memory; if it is not 0 nothing is counted, and the caller must drop this object */
	void		begin(const SortInput &input, const RegimeChoice &choice,
					  const uint32_t *skip);
};

/* Whether the kernels of a sort may overlap as they were compiled. */
bool		sweeps_overlap();

/* Whether the kernels of a choice of RADIX have a first half that can be begun early. */
bool		radix_can_begin(const RegimeChoice &choice);

/*
 * Keys into out, by the kernels of the choice; does not wait.  A key outside the
 * bounds is reported, and out is undefined then.  *start: the first half of this sort,
 * which is made here if it has not begun.
 */
void		radix_sort(const SortInput &input, const RegimeChoice &choice,
					   int32_t *out, RadixStart *start);

/*
 * The stable permutation of less than 2^32 keys into rows, and the sorted keys into
 * sorted_keys unless that is null, as it must be where the choice is for rows alone.
 */
void		radix_permutation(const SortInput &input, const RegimeChoice &choice,
							  int32_t *sorted_keys, uint32_t *rows,
							  RadixStart *start);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_RADIX_CUH */
