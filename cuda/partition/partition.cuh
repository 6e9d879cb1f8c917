/*-------------------------------------------------------------------------
 *
 * partition.cuh
 *	  Regime PARTITION: keys go to buckets, and each bucket is sorted by its bins.
 *
 * For sort.cu.  regime_choose() says how many buckets there are, and how many bins (a power of
 * two, 1 << shift) each has.
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

/* How a range is divided: into buckets of 1 << shift bins each. */
struct Division
{
	uint32_t	shift;
	uint32_t	buckets;
};

/*
 * The first step by itself, so that the device does it while the host waits for a sample: keys go
 * to their buckets.  The kernel does nothing if the word at skip (device memory; may be null) is
 * not 0.
 */
struct PartitionStart
{
	bool		begun = false;
	DeviceBuffer memory;

	/* input and division must be the sort's */
	void		begin(const SortInput &input, const Division &division, const uint32_t *skip);
};

/*
 * Writes the sorted keys to out; does not wait.  If a key is outside the bounds, the verdict
 * reports it and out is undefined.  *start is the first step of this sort; if it has not begun,
 * it is done here.
 */
void		partition_sort(const SortInput &input, const Division &division, int32_t *out,
						   PartitionStart *start);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_PARTITION_CUH */
