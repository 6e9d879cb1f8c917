/*-------------------------------------------------------------------------
 *
 * steps.cuh
 *	  What the steps of regime PARTITION hand to each other.
 *
 * scatter.cu moves keys to their buckets, buckets.cu sorts the buckets, and partition.cu plans
 * and calls all steps.  Only these three include this file.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_STEPS_CUH
#define HPSORT_CUDA_STEPS_CUH

#include "common/device.cuh"
#include "partition/partition.cuh"

namespace hpsort
{

/* A bucket, or a segment of a crowded bucket. */
struct WorkItem
{
	uint32_t	bucket;			/* its first bin is bucket << shift */
	uint32_t	begin;			/* positions [begin, end) of the output */
	uint32_t	end;
	uint32_t	crowd;			/* 1 + number of the crowded bucket; 0: not crowded */
};

/* The plan of a sort, written by plan_kernel and read by the kernels after it.  The host never
 * reads it; it launches these kernels for the most work items that there may be. */
struct Plan
{
	uint32_t	items;
	uint32_t	crowded;
};

/*
 * Where keys go before anybody knows how many a bucket has.  A bucket b begins with the places b *
 * size to b * size + size - 1, its extent 0.  When an extent is full, the bucket takes a further
 * one of the same size.  Further extents are numbered from the number of buckets on, in the order
 * in which they are taken.
 *
 * A hash table with linear probing says which bucket has taken which extent.  A word is 0, or the
 * owner (a bucket, and which of its extents this is) above the extent's number.  A word that is
 * not 0 never changes, so a search that meets a free slot can wait there and go on.
 */
struct Extents
{
	uint32_t	size;			/* places of an extent */
	uint32_t	buckets;
	uint32_t	last_slot;		/* number of slots - 1; a power of two, of which half stay 0 */
	uint32_t   *taken;			/* number of further extents taken */
	unsigned long long *slots;

	/* the owner part of a word for extent k > 0 of bucket b, which is never 0; there are at most
	 * 4,096 buckets, and fewer further extents */
	__device__ __forceinline__ static uint32_t
	owner(uint32_t b, uint32_t k)
	{
		return k << 12 | b;
	}
	__device__ __forceinline__ uint32_t
	first_slot(uint32_t owner) const
	{
		return owner * 0x9e3779b1u >> 16 & last_slot;
	}
	/* takes extent k > 0 of bucket b; one thread calls this once */
	__device__ __forceinline__ void
	take(uint32_t b, uint32_t k) const
	{
		const uint32_t whose = owner(b, k);
		const unsigned long long word = static_cast<unsigned long long>(whose) << 32 |
			(buckets + atomicAdd(taken, 1u));
		uint32_t	slot = first_slot(whose);

		while (atomicCAS(&slots[slot], 0ull, word) != 0)
			slot = (slot + 1) & last_slot;
	}
	/* returns the first place of extent k, and waits until the extent has been taken */
	__device__ __forceinline__ uint32_t
	begin_of(uint32_t b, uint32_t k) const
	{
		const uint32_t whose = owner(b, k);
		uint32_t	slot = first_slot(whose);
		unsigned long long word;

		if (k == 0)
			return b * size;
		while ((word = *const_cast<const volatile unsigned long long *>(&slots[slot])) >>
			   32 != whose)
			if (word != 0)
				slot = (slot + 1) & last_slot;
		return static_cast<uint32_t>(word) * size;
	}
};

/* The arrays of a partition, in its one piece of memory (partition.cu). */
struct PartitionArrays
{
	uint16_t   *residues;
	uint32_t   *counts;
	uint32_t   *starts;
	WorkItem   *items;
	Plan	   *plan;
	uint32_t   *crowded_bins;
	Extents		extents;

	PartitionArrays(const HpsortCuda *context, const DeviceBuffer &memory,
					const Division &division, uint64_t n);
};

/* Returns the bytes of dynamic shared memory that kernels may have. */
inline uint64_t
partition_allowance(const HpsortCudaLimits &limits)
{
	return regime_shared_bins(&limits) * sizeof(uint32_t);
}

/* ---- scatter.cu ---- */

void		configure_scatter(const HpsortCudaLimits &limits);

/* The first step: scatters keys to buckets, and leaves the buckets' sizes in arrays.counts.  Leaves
 * out keys outside the bounds, one of which the verdict reports. */
void		scatter(const SortInput &input, const Division &division,
					const PartitionArrays &arrays, const uint32_t *skip);

/* ---- buckets.cu ---- */

void		configure_buckets(const HpsortCudaLimits &limits);

/* Writes the sorted keys of all buckets to out.  One launch, and a second one if `crowded` says
 * that buckets may be crowded. */
void		sort_buckets(const SortInput &input, uint32_t shift, uint64_t most_items,
						 bool crowded, const PartitionArrays &arrays, int32_t *out);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_STEPS_CUH */
