/*-------------------------------------------------------------------------
 *
 * partition.cuh
 *	  Regime PARTITION, the host side: buckets first, then bins of each bucket.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_PARTITION_CUH
#define HPSORT_CUDA_PARTITION_CUH

#include "common/keys.cuh"

namespace hpsort
{

/* Raises the shared memory limits of the kernels; once per device. */
void		configure_partition(const HpsortCudaLimits &limits);

/*
 * The first step, for who takes a sample meanwhile: keys in their buckets, or the
 * buckets' counts, unless the word at skip, on the device, is not 0 (null: there is
 * none).
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

/* begun: null, or the first step; it is used if it was made for these buckets. */
void		partition_sort(HpsortCuda *context, cudaStream_t stream,
						   const KeyMap &map, uint32_t shift, uint32_t buckets,
						   const int32_t *keys, uint64_t n, int32_t *out,
						   HpsortCudaVerdict *verdict,
						   PartitionStart *begun = nullptr);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_PARTITION_CUH */
