/*-------------------------------------------------------------------------
 *
 * rank_tables.cuh
 *	  The two tables that tell the rank of a key among up to 65,536 values: one
 *	  in shared memory, by buckets, and one in L2, by hashing.
 *
 * many_distinct.cu fills them and looks ranks up in one of them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_RANK_TABLES_CUH
#define HPSORT_CUDA_RANK_TABLES_CUH

#include "common/device.cuh"
#include "common/hash.cuh"

namespace hpsort
{

static constexpr uint32_t most_values = REGIME_MANY_VALUES;
static constexpr uint32_t rank_pairs = REGIME_MANY_SLOTS / 2;
static constexpr uint32_t groups = most_values / REGIME_MANY_GROUP;

static constexpr uint32_t no_rank = 0xffffffffu;

/*
 * Buckets of equal width over the range of the values, as many as 16 bits number: what
 * a bucket does not tell of a value are 16 bits at most.
 */
struct Buckets
{
	uint32_t	lo;				/* smallest value */
	uint32_t	span;			/* largest less smallest */
	uint32_t	shift;
};

/* In device memory, zeroed at the start. */
struct ValueState
{
	uint32_t	taken;			/* slots of the sample's table */
	uint32_t	listed;
	uint32_t	rare;			/* values that were met but once */
	uint32_t	given_up;		/* not 0: a value found no slot near enough */
	uint32_t	empty_met;		/* how often, up to 2, the key that marks empty slots */
	uint32_t	empty_rank;		/* its rank less no_rank: no_rank itself is 0 */
	uint32_t	by_hash;		/* not 0: a group of buckets has too many values */
	Buckets		buckets;
};

/*
 * A group's word says where the values of its buckets are: the number of values before
 * the group (16 bits), and how many more there are up to the end of each of its buckets
 * (6 bits each).
 */
static constexpr uint32_t group_most = 63;
static constexpr uint32_t first_shift = 48;
static constexpr uint32_t end_bits = 6;
static_assert(REGIME_MANY_GROUP * end_bits == first_shift, "a word is full");

/* Where a bucket's values are among all values in order; places are ranks. */
struct Places
{
	uint32_t	begin;
	uint32_t	end;
};

__device__ __forceinline__ Places
places_of(uint64_t group, uint32_t bucket)
{
	const uint32_t first = static_cast<uint32_t>(group >> first_shift);
	/* a bucket begins where the one before it ends; before the first one come zeros */
	const uint32_t both = static_cast<uint32_t>(
		group << end_bits >> bucket % REGIME_MANY_GROUP * end_bits);

	return {first + (both & group_most), first + (both >> end_bits & group_most)};
}

/* How many of the values, which ascend, are in buckets before the given one. */
__device__ __forceinline__ uint32_t
values_before(const int32_t *sorted, uint32_t distinct, const Buckets &buckets,
			  uint32_t bucket)
{
	uint32_t	begin = 0;
	uint32_t	end = distinct;

	while (begin < end)
	{
		const uint32_t middle = (begin + end) / 2;

		if ((static_cast<uint32_t>(sorted[middle]) - buckets.lo) >> buckets.shift < bucket)
			begin = middle + 1;
		else
			end = middle;
	}
	return begin;
}

/*
 * A table in which ranks are looked up has
 *	Found						what the first look brings
 *	first(key)					that look; those of several keys are under way at once
 *	rank(found, key)			the rank, or no_rank: key is not among the values
 */

/*
 * The table in shared memory.  No value is stored whole: its bucket tells its upper bits,
 * and rest[] has the others.
 */
struct BucketTable
{
	using Found = uint64_t;
	const uint64_t *groups;
	const uint16_t *rest;
	Buckets		buckets;
	uint32_t	flip;			/* ranks are turned round: the largest, else 0 */
	uint32_t	mask;

	/* keys beyond the values' range go to the last bucket, where rank() refuses them */
	__device__ __forceinline__ uint32_t
	bucket_of(uint32_t key) const
	{
		return min(key - buckets.lo, buckets.span) >> buckets.shift;
	}
	__device__ __forceinline__ Found
	first(uint32_t key) const
	{
		return groups[bucket_of(key) / REGIME_MANY_GROUP];
	}
	/* by halving: most buckets have one value or two, and 63 take 6 steps */
	__device__ __forceinline__ uint32_t
	rank(Found found, uint32_t key) const
	{
		const uint32_t wanted = (key - buckets.lo) & mask;
		Places		places = places_of(found, bucket_of(key));

		if (key - buckets.lo > buckets.span || places.begin >= places.end)
			return no_rank;
		while (places.end - places.begin > 1)
		{
			const uint32_t middle = (places.begin + places.end) / 2;

			if (rest[middle] <= wanted)
				places.begin = middle;
			else
				places.end = middle;
		}
		if (rest[places.begin] != wanted)
			return no_rank;
		return flip != 0 ? flip - places.begin : places.begin;
	}
};

/* The rank of a key whose first pair of slots is full of others; or no_rank. */
static __device__ __noinline__ uint32_t
rank_behind(const uint4 *table, uint32_t key, const ValueState *state)
{
	uint32_t	pair = pair_of(key, rank_pairs);

	if (key == empty_slot)
		return state->empty_rank + no_rank;
	for (;;)
	{
		pair = pair + 1 == rank_pairs ? 0 : pair + 1;

		const uint4 two = __ldg(&table[pair]);

		if (two.x == key)
			return two.y;
		if (two.z == key)
			return two.w;
		/* a free slot: the key would have been put there */
		if (two.z == empty_slot)
			return no_rank;
	}
}

/*
 * The table in L2.  It is too large for L1, so each key reads a sector of 32 bytes from
 * L2, which bounds the speed (3.2 GB for 1e8 keys).
 */
struct HashTable
{
	using Found = uint4;
	const uint4 *table;
	const ValueState *state;

	__device__ __forceinline__ Found
	first(uint32_t key) const
	{
		return __ldg(&table[pair_of(key, rank_pairs)]);
	}
	/* an empty slot has rank no_rank, so that the key equal to empty_slot, found there,
	 * goes on to rank_behind() */
	__device__ __forceinline__ uint32_t
	rank(const Found &two, uint32_t key) const
	{
		const uint32_t found = two.x == key ? two.y : two.z == key ? two.w : no_rank;

		if (found != no_rank || (two.z == empty_slot && key != empty_slot))
			return found;
		return rank_behind(table, key, state);
	}
};

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_RANK_TABLES_CUH */
