/*-------------------------------------------------------------------------
 *
 * keys.cuh
 *	  What every kernel family is given: keys, their bounds, and how a key becomes a bin.
 *
 * Included by all families.  Knows no family and no regime.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_KEYS_CUH
#define HPSORT_CUDA_KEYS_CUH

#include "context.cuh"

namespace hpsort
{

/*
 * Maps keys to bins 0 .. last in the order wanted, and back: bin = (key ^ flip) - base, modulo
 * 2^32 (to_bin() and to_key() in device.cuh).  flip is 0 for an ascending order.  For a
 * descending one flip complements all bits, which reverses the order of int32; kernels therefore
 * need no code for descending keys.
 */
struct KeyMap
{
	uint32_t	flip;
	uint32_t	base;
	uint32_t	last;			/* range - 1 */
};

/* Returns the map of keys within lo to hi, both inclusive. */
inline KeyMap
make_key_map(int32_t lo, int32_t hi, bool descending)
{
	KeyMap		map;

	map.flip = descending ? ~0u : 0u;
	map.base = descending ? ~static_cast<uint32_t>(hi) : static_cast<uint32_t>(lo);
	map.last = static_cast<uint32_t>(hi) - static_cast<uint32_t>(lo);
	return map;
}

/* Smallest and largest key, both inclusive. */
struct Bounds
{
	int32_t		lo;
	int32_t		hi;
};

/*
 * The bounds of keys that arrive chunk by chunk.  bounds_reset() sets *device, in device memory,
 * to the bounds of no keys: lo is INT_MAX, hi INT_MIN.  bounds_add() widens *device by the n
 * keys.  Both only put work on the stream; neither waits.
 */
void		bounds_reset(cudaStream_t stream, Bounds *device);
void		bounds_add(HpsortCuda *context, cudaStream_t stream,
					   const int32_t *keys, uint64_t n, Bounds *device);

/* Returns the bounds of n > 0 keys in device memory.  Waits for the stream. */
Bounds		find_bounds(HpsortCuda *context, cudaStream_t stream,
						const int32_t *keys, uint64_t n);

/* Input of a regime: the keys to be sorted and the order wanted.  Regimes put their work on the
 * stream, so keys and verdict must stay until the stream has come past it. */
struct SortInput
{
	HpsortCuda *context;
	cudaStream_t stream;
	const int32_t *keys;		/* n keys in device memory */
	uint64_t	n;
	Bounds		bounds;
	bool		descending;
	HpsortCudaVerdict *verdict;	/* gets a key outside the bounds, if there is one */

	KeyMap		map() const { return make_key_map(bounds.lo, bounds.hi, descending); }
	KeyMap		ascending_map() const { return make_key_map(bounds.lo, bounds.hi, false); }
};

/* Returns how many blocks share n keys: one for every keys_each keys (fewer are not worth
 * starting a block for), and at most per_sm for each SM (more do not read faster). */
inline uint32_t
grid_blocks(const HpsortCuda *context, uint64_t n, uint64_t keys_each, uint32_t per_sm)
{
	const uint64_t blocks = n > 0 ? (n - 1) / keys_each + 1 : 1;
	const uint64_t most = static_cast<uint64_t>(context->limits.sms) * per_sm;

	return static_cast<uint32_t>(blocks < most ? blocks : most);
}

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_KEYS_CUH */
