/*-------------------------------------------------------------------------
 *
 * hash.cuh
 *	  A hash table of int32 keys in shared memory, filled while it is used.
 *
 * Slots come in pairs that one 8-byte load reads: with the table a quarter
 * full, 96 % of the keys are in the first pair they look at, so a warp seldom
 * needs a second look.  One slot at a time, nearly every warp did: counting
 * 8,192 distinct values took 1.35 ms; pairs brought that to 0.56, and the vote
 * in for_each_vector() to 0.26 (H100, n 1e8).
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_HASH_CUH
#define HPSORT_CUDA_HASH_CUH

#include <cstdint>

namespace hpsort
{

/*
 * An empty slot.  A key may have this value too: the first slot of the pair
 * that it hashes to is left to it, so that finding `empty` there is finding it,
 * and the common path needs no test for it.
 */
static constexpr uint32_t empty_slot = 0xffffffffu;

/*
 * Multiplicative hashing, scaled to any number of pairs.  Evenly spaced keys
 * spread evenly; folding the upper half in first serves keys that differ only
 * there.
 */
__device__ __forceinline__ uint32_t
pair_of(uint32_t key, uint32_t pairs)
{
	return __umulhi((key ^ key >> 15) * 0x9e3779b1u, pairs);
}

/* The slot of key if it is one of the two, else no_slot. */
static constexpr uint32_t no_slot = 0xffffffffu;

__device__ __forceinline__ uint32_t
slot_in_pair(uint2 found, uint32_t pair, uint32_t key)
{
	return found.x == key ? pair * 2 : found.y == key ? pair * 2 + 1 : no_slot;
}

/*
 * The slot of key, from pair on, taking an empty one if it is not there.
 * taken counts them; at capacity no more are given and no_slot is returned.
 * Threads with the same key try the same slots in the same order, and a slot
 * once taken stays, so a key never gets two.
 */
static __device__ __noinline__ uint32_t
take_slot(uint32_t *slots, uint32_t pairs, uint32_t capacity, uint32_t *taken,
		  uint32_t key, uint32_t pair)
{
	const uint32_t reserved = pair_of(empty_slot, pairs) * 2;

	for (;; pair = pair + 1 == pairs ? 0 : pair + 1)
		for (uint32_t slot = pair * 2; slot < pair * 2 + 2; slot++)
		{
			uint32_t	found = *const_cast<volatile uint32_t *>(&slots[slot]);

			if (slot == reserved)
			{
				if (key == empty_slot)
					return slot;
				continue;
			}
			if (found == empty_slot)
			{
				if (*const_cast<volatile uint32_t *>(taken) >= capacity)
					return no_slot;
				found = atomicCAS(&slots[slot], empty_slot, key);
				if (found == empty_slot)
				{
					atomicAdd(taken, 1u);
					return slot;
				}
			}
			if (found == key)
				return slot;
		}
}

/*
 * The slot of a key that is not in its first pair; no_slot when it is not in
 * the table at all, as far as can be seen without taking a slot.
 */
__device__ __forceinline__ uint32_t
find_slot(const uint2 *table, uint32_t pairs, uint32_t key)
{
	uint32_t	pair = pair_of(key, pairs);

	for (;;)
	{
		pair = pair + 1 == pairs ? 0 : pair + 1;

		const uint2 found = table[pair];
		const uint32_t slot = slot_in_pair(found, pair, key);

		if (slot != no_slot || found.y == empty_slot)
			return slot;
	}
}

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_HASH_CUH */
