/*-------------------------------------------------------------------------
 *
 * hash.cuh
 *	  A hash table of int32 keys in shared memory, filled while it is used.
 *
 * For few_distinct.cu, which counts by slot, and permutation.cu, which finds ranks by slot.
 *
 * Slots come in pairs; one load of 8 bytes reads both slots of a pair.  While the table is a
 * quarter full, 96 % of the keys are in the first pair that they probe, so a warp seldom needs a
 * second probe.  With single slots nearly every warp needed one.  Counting 8,192 distinct values
 * took 1.35 ms with single slots, 0.56 with pairs, and 0.26 with pairs and the vote in
 * for_each_vector() (H100, n 1e8).
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_HASH_CUH
#define HPSORT_CUDA_HASH_CUH

#include <cstdint>

namespace hpsort
{

/*
 * Content of an empty slot.  A key may have this value, too.  Its slot is reserved: the first
 * slot of the pair that it hashes to, which no other key takes.  Finding `empty` there means
 * finding this key, so the common path has no test for it.
 */
static constexpr uint32_t empty_slot = 0xffffffffu;

/*
 * Returns the pair at which the search for a key begins.  Multiplicative hashing, scaled to any
 * number of pairs: evenly spaced keys spread evenly.  The upper half is folded in first, for keys
 * that differ only there.
 */
__device__ __forceinline__ uint32_t
pair_of(uint32_t key, uint32_t pairs)
{
	return __umulhi((key ^ key >> 15) * 0x9e3779b1u, pairs);
}

/* Returns the slot of key if it is one of the two of this pair, else no_slot. */
static constexpr uint32_t no_slot = 0xffffffffu;

__device__ __forceinline__ uint32_t
slot_in_pair(uint2 found, uint32_t pair, uint32_t key)
{
	return found.x == key ? pair * 2 : found.y == key ? pair * 2 + 1 : no_slot;
}

/*
 * Returns the slot of key, searching from pair on; takes an empty slot if key has none.  Returns
 * no_slot if key has none and *taken, the number of slots taken, is at capacity.  Threads with
 * equal keys probe the same slots in the same order, and a slot once taken stays taken, so a key
 * never gets two slots.
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

/* Returns the slot of a key that is not in its first pair, or no_slot if the key is not in the
 * table.  Takes no slot, so another thread may be about to insert the key. */
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
