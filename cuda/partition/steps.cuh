/*-------------------------------------------------------------------------
 *
 * steps.cuh
 *	  What the steps of regime PARTITION hand to each other.
 *
 * scatter.cu moves keys to their buckets, buckets.cu sorts the buckets, and
 * partition.cu plans that and calls all steps.  Only these three include this file.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_STEPS_CUH
#define HPSORT_CUDA_STEPS_CUH

#include "common/device.cuh"
#include "partition/partition.cuh"

namespace hpsort
{

/* A bucket, or a segment of a crowded one. */
struct WorkItem
{
	uint32_t	bucket;			/* first bin is bucket << shift */
	uint32_t	begin;			/* positions of the output */
	uint32_t	end;
	uint32_t	crowd;			/* 1 + number of the crowded bucket, or 0 */
};

/*
 * Written by plan_kernel and read by the kernels after it.  The host never reads it, and
 * launches these kernels for the most work items that there may be.
 */
struct Plan
{
	uint32_t	items;
	uint32_t	crowded;
	uint32_t	fullest;		/* the bucket with most keys if it holds an
								 * eighth of all; else no_bucket */
	uint32_t	unused;
};

static constexpr uint32_t no_bucket = 0xffffffffu;

/*
 * Where keys go whose buckets have not been counted.  Bucket b has the places b * size to
 * b * size + size - 1, its extent 0.  The keys beyond go to further extents of that size,
 * which are numbered from the number of buckets on as they are taken.  A hash table with
 * linear probing says which bucket has taken which extent: a word is 0, or the owner
 * (a bucket, and which of its extents this is) above the extent's number.  A word that
 * is not 0 never changes, so a search that met a free slot can go on from there.
 */
struct Extents
{
	uint32_t	size;			/* 0: buckets have been counted */
	uint32_t	buckets;
	uint32_t	last_slot;		/* slots are a power of two, and half of them stay 0 */
	uint32_t   *taken;			/* further extents */
	unsigned long long *slots;

	/* not 0, since k is not; at most 4,096 buckets, and fewer further extents */
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
	/* by one thread, once; k is not 0 */
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
	/* the first place of extent k; waits until it has been taken */
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
	uint32_t   *cursors;
	WorkItem   *items;
	Plan	   *plan;
	uint32_t   *crowded_bins;
	Extents		extents = {};	/* of size 0 where buckets are counted first */

	PartitionArrays(const HpsortCuda *context, const DeviceBuffer &memory,
					const Division &division, uint64_t n);
};

template <typename Kernel>
static inline void
allow_shared(Kernel kernel, const HpsortCudaLimits &limits)
{
	check(cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
							   cudaFuncAttributeMaxDynamicSharedMemorySize,
							   regime_shared_bins(&limits) * sizeof(uint32_t)),
		  "set up a kernel");
}

/* ---- scatter.cu ---- */

void		configure_scatter(const HpsortCudaLimits &limits);

/*
 * The first step: scatters keys to buckets that have not been counted, or only counts
 * the keys of each bucket.  Both leave the buckets' sizes in arrays.counts, and leave
 * out keys outside the bounds, one of which they report.
 */
void		scatter_at_once(const SortInput &input, const Division &division,
							const PartitionArrays &arrays, const uint32_t *skip);
void		count_buckets(const SortInput &input, const Division &division,
						  const PartitionArrays &arrays, const uint32_t *skip);

/* After plan_kernel: scatters keys to buckets that have been counted. */
void		scatter_counted(const SortInput &input, const Division &division,
							const PartitionArrays &arrays);

/* ---- buckets.cu ---- */

void		configure_buckets(const HpsortCudaLimits &limits);

/* Sorts the buckets, in two launches where some may be crowded, else in one. */
void		sort_buckets(const SortInput &input, uint32_t shift, uint64_t most_items,
						 bool crowded, const PartitionArrays &arrays, int32_t *out);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_STEPS_CUH */
