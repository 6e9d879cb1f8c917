/*-------------------------------------------------------------------------
 *
 * partition.cuh
 *	  What the steps of regime PARTITION hand to each other.
 *
 * partition.cu is the host's side of all steps and plans the last one,
 * partition_scatter.cu moves keys to their buckets, partition_buckets.cu sorts
 * the buckets.  Nobody else includes this.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_PARTITION_CUH
#define HPSORT_CUDA_PARTITION_CUH

#include "device.cuh"

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
 * Found by plan_kernel, read by the kernels after it.  They are launched before
 * anybody knows it, as wide as it may become: the host is told nothing.
 */
struct Plan
{
	uint32_t	items;
	uint32_t	crowded;
	uint32_t	fullest;		/* the bucket with most keys, if it holds an
								 * eighth of them: worth a shortcut */
	uint32_t	unused;
};

static constexpr uint32_t no_bucket = 0xffffffffu;

/*
 * Where keys of buckets go that nobody has counted: bucket b has the places b * size
 * to b * size + size - 1, and what it has more goes to further extents of that size,
 * behind those of all buckets, taken as they are needed.  numbers[b * buckets + k - 1]
 * is one more than the number of bucket b's extent k, or 0 as long as it has none.
 */
struct Extents
{
	uint32_t	size;			/* 0: buckets have been counted */
	uint32_t	buckets;
	uint32_t   *numbers;
	uint32_t   *taken;

	/* the first place of extent k; it must have been taken, or be about to */
	__device__ __forceinline__ uint32_t
	begin_of(uint32_t b, uint32_t k) const
	{
		uint32_t	number = 0;

		if (k == 0)
			return b * size;
		while ((number = *const_cast<const volatile uint32_t *>(
					&numbers[b * buckets + k - 1])) == 0)
			;
		return (buckets + number - 1) * size;
	}
	__device__ __forceinline__ void
	take(uint32_t b, uint32_t k) const
	{
		*const_cast<volatile uint32_t *>(&numbers[b * buckets + k - 1]) =
			atomicAdd(taken, 1u) + 1;
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
	Extents		extents = {};
	uint32_t	zeroed;			/* words from counts on */

	PartitionArrays(const DeviceBuffer &memory, uint32_t shift, uint32_t buckets,
					uint64_t n);
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

/* ---- partition_scatter.cu ---- */

void		configure_scatter(const HpsortCudaLimits &limits);

/*
 * The first step, which nothing is launched before: keys to buckets that nobody has
 * counted, or counts.  Either leaves the buckets' sizes in arrays.counts, and leaves
 * keys outside the bounds out.
 */
void		scatter_at_once(cudaStream_t stream, const KeyMap &map, uint32_t shift,
							uint32_t buckets, const int32_t *keys, uint64_t n,
							const PartitionArrays &arrays, const uint32_t *skip,
							HpsortCudaVerdict *verdict);
void		count_buckets(const HpsortCuda *context, cudaStream_t stream,
						  const KeyMap &map, uint32_t shift, uint32_t buckets,
						  const int32_t *keys, uint64_t n,
						  const PartitionArrays &arrays, const uint32_t *skip,
						  HpsortCudaVerdict *verdict);

/* Keys to buckets whose places are known: behind plan_kernel. */
void		scatter_counted(const HpsortCuda *context, cudaStream_t stream,
							const KeyMap &map, uint32_t shift, uint32_t buckets,
							const int32_t *keys, uint64_t n,
							const PartitionArrays &arrays);

/* Shared memory that scatter_at_once() needs. */
uint64_t	scatter_at_once_bytes(uint32_t buckets);

/* ---- partition_buckets.cu ---- */

void		configure_buckets(const HpsortCudaLimits &limits);

/* Both turns of the buckets; the second only where some may be crowded. */
void		sort_buckets(const HpsortCuda *context, cudaStream_t stream,
						 const KeyMap &map, uint32_t shift, uint64_t most_items,
						 bool crowded, const PartitionArrays &arrays, int32_t *out);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_PARTITION_CUH */
