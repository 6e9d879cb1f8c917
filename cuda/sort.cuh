/*-------------------------------------------------------------------------
 *
 * sort.cuh
 *	  The steps of sort.cu that job.cu takes as well.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_SORT_CUH
#define HPSORT_CUDA_SORT_CUH

#include "common/runs.cuh"
#include "distinct/few_distinct.cuh"
#include "partition/partition.cuh"
#include "passes/radix.cuh"

namespace hpsort
{

/* Raises the shared memory limits of all kernels but the passes of sweep.cuh, once per
 * device. */
void		configure_kernels(const HpsortCudaLimits &limits);

void		check_spec(const HpsortCudaSpec *spec);
void		check_verdict(const HpsortCudaVerdict *verdict,
						  const HpsortCudaShape &shape);
HpsortCudaShape shape_of(const HpsortCudaSpec &spec, uint64_t n);
KeyMap		map_of(const HpsortCudaShape &shape, bool descending);

/* The likely work, begun while a sample is on its way: one of the two, if any. */
struct Begun
{
	RadixStart	radix;
	PartitionStart partition;
	/* what the sample said, if there was one: another way may have to be found */
	Sample		sample = {};
	bool		sampled = false;
};

/*
 * Finds what is missing in shape and chooses; may wait for the stream.  What of
 * the likely work was begun meanwhile is in *begun, for the steps below.
 */
HpsortCudaChoice investigate(HpsortCuda *context, cudaStream_t stream,
							 const int32_t *keys, HpsortCudaShape *shape,
							 bool descending, HpsortCudaVerdict *verdict,
							 Begun *begun);
void		settle_bounds(HpsortCuda *context, cudaStream_t stream,
						  const int32_t *keys, HpsortCudaShape *shape);

/*
 * Sorts by *choice, which is changed when FEW_DISTINCT has to give up.  True:
 * runs (ascending) are the result and out is untouched; false: keys are in out
 * (or on their way).  Keys outside the shape's bounds are reported.
 */
bool		sort_into(HpsortCuda *context, cudaStream_t stream,
					  const int32_t *keys, HpsortCudaShape *shape,
					  bool descending, int32_t *out, Runs *runs,
					  HpsortCudaVerdict *verdict, HpsortCudaChoice *choice,
					  Begun *begun);

/*
 * The permutation into rows, by *choice, which is changed when FEW_DISTINCT or
 * MANY_DISTINCT has to give up.  True: runs (ascending) are known as well; false:
 * keys are in sorted_keys, in the permutation's direction, unless it is null.
 */
bool		permute_into(HpsortCuda *context, cudaStream_t stream,
						 const int32_t *keys, HpsortCudaShape *shape,
						 bool descending, int32_t *sorted_keys,
						 uint32_t *rows, Runs *runs, HpsortCudaVerdict *verdict,
						 HpsortCudaChoice *choice, Begun *begun);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_SORT_CUH */
