/*-------------------------------------------------------------------------
 *
 * radix.cuh
 *	  Regime RADIX: stable passes over the bits of the range.
 *
 * For sort.cu.  The first half of the regime, which counts the digits of all passes, can begin
 * before the regime is chosen: sort.cu puts it on the stream while it waits for a sample.  Most
 * inputs that are sampled need it.  If the sample finds few values, its kernel sets a word that
 * makes the counting kernel do nothing.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_RADIX_CUH
#define HPSORT_CUDA_RADIX_CUH

#include "passes/sweep.cuh"

namespace hpsort
{

/* The first half of a sort by passes: the counts of all digits. */
struct RadixStart
{
	bool		begun = false;
	KeyMap		map = {};
	Sweeps		sweeps;

	/* puts the counting on the stream.  input and choice must be the sort's.  skip is
	 * null, or a word in device memory; if the word is not 0, nothing is counted, and the caller
	 * must drop this object. */
	void		begin(const SortInput &input, const RegimeChoice &choice,
					  const uint32_t *skip);
};

/* Returns whether the kernels of a sort may overlap, by what they were compiled for. */
bool		sweeps_overlap();

/* Returns whether the kernels of a choice of RADIX have a first half that can begin early. */
bool		radix_can_begin(const RegimeChoice &choice);

/*
 * Writes the sorted keys to out by the kernels of the choice; does not wait.  If a key is outside
 * the bounds, the verdict reports it and out is undefined.  *start is the first half of this
 * sort; if it has not begun, it is done here.
 */
void		radix_sort(const SortInput &input, const RegimeChoice &choice,
					   int32_t *out, RadixStart *start);

/* Writes the stable permutation of less than 2^32 keys to rows, and the sorted keys to
 * sorted_keys.  sorted_keys may be null, and must be null if the choice is for rows alone. */
void		radix_permutation(const SortInput &input, const RegimeChoice &choice,
							  int32_t *sorted_keys, uint32_t *rows,
							  RadixStart *start);

/* ---- small_sort.cu, for radix.cu ---- */

/*
 * Sorts up to regime_one_launch_most() keys in one launch; does not wait.  If rows is null,
 * writes the sorted keys to out.  Otherwise writes the stable permutation to rows, and the sorted
 * keys to out unless out is null.  If a key is outside the bounds, the verdict reports it and the
 * result is undefined.
 */
void		small_sort(const SortInput &input, int32_t *out, uint32_t *rows);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_RADIX_CUH */
