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

#include "sweep.cuh"

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

/* ---- permutation.cu ---- */

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

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_RADIX_CUH */
