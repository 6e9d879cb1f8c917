/*-------------------------------------------------------------------------
 *
 * sums.cuh
 *	  KeySums: sums of sorted keys on the device, from the first key to any position.
 *
 * For job_read.cu.  Knows keys and runs in order, and neither jobs nor regimes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_SUMS_CUH
#define HPSORT_CUDA_SUMS_CUH

#include "context.cuh"

namespace hpsort
{

/*
 * Sorted keys, as elements: n > 0 keys, or n runs, of which run i occupies positions starts[i] to
 * starts[i + 1] - 1.
 */
struct SummedKeys
{
	const int32_t *keys;
	const uint64_t *starts;		/* null: each key is an element */
	uint64_t	n;
};

/*
 * The sum before each of many positions is at most a stretch of elements away from a sum that is
 * known.  These are made of all keys in one pass, when they are asked for first, and stay until
 * forget().
 */
class KeySums
{
public:
	/*
	 * Puts work on the stream that writes to out the sum of the keys before each of count
	 * positions, modulo 2^64.  No position is above the number of keys, and all arrays are in
	 * device memory.  keys are the same in each call until forget().
	 */
	void		read(HpsortCuda *context, cudaStream_t stream, const SummedKeys &keys,
					 const uint64_t *positions, uint64_t count, uint64_t *out);
	void		forget() { before_.release(); }

private:
	DeviceBuffer before_;		/* the sum before each stretch, and of all keys */
};

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_SUMS_CUH */
