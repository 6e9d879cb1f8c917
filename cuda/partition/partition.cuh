/*-------------------------------------------------------------------------
 *
 * partition.cuh
 *	  Regime PARTITION: keys go to buckets, each bucket is sorted by its bins.
 *
 * hpsort_cuda_choose() says how many buckets there are and how many bins (a power
 * of two, 1 << shift) each of them has.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_PARTITION_CUH
#define HPSORT_CUDA_PARTITION_CUH

#include "common/keys.cuh"

namespace hpsort
{

/* Raises the shared memory limits of this regime's kernels; once per device. */
void		configure_partition(const HpsortCudaLimits &limits);

/*
 * The first step by itself, so that the device does it while the host waits for a
 * sample: keys go to their buckets, or are counted by bucket.  Nothing happens where
 * the word at skip (device memory; may be null) is not 0.
 */
struct PartitionStart
{
	bool		begun = false;
	KeyMap		map = {};
	uint32_t	shift = 0;
	uint32_t	buckets = 0;
	DeviceBuffer memory;

	void		begin(HpsortCuda *context, cudaStream_t stream,
					  const KeyMap &key_map, uint32_t bucket_shift,
					  uint32_t bucket_count, const int32_t *keys, uint64_t n,
					  const uint32_t *skip, HpsortCudaVerdict *verdict);
};

/*
 * Keys into out, in the map's direction; does not wait.  Keys outside the map's
 * bounds are reported in *verdict, and out is undefined then.  begun: null, or a
 * first step, which is used if it was made with this map and these buckets.
 */
void		partition_sort(HpsortCuda *context, cudaStream_t stream,
						   const KeyMap &map, uint32_t shift, uint32_t buckets,
						   const int32_t *keys, uint64_t n, int32_t *out,
						   HpsortCudaVerdict *verdict,
						   PartitionStart *begun = nullptr);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_PARTITION_CUH */
