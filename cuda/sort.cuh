/*-------------------------------------------------------------------------
 *
 * sort.cuh
 *	  The steps of a sort: what is known of the keys, the choice of a regime, the
 *	  regime itself.  The calls of sort.cu take them, and so do jobs (job.cu).
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

/* Fails with BAD_ARGUMENT if the specification breaks its contract. */
void		check_spec(const HpsortCudaSpec *spec);

/* Fails with OUT_OF_BOUNDS if a key was reported; shape has the bounds. */
void		check_verdict(const HpsortCudaVerdict *verdict,
						  const HpsortCudaShape &shape);

/* What spec says of n keys; bounds that it does not give are those of int32. */
HpsortCudaShape shape_of(const HpsortCudaSpec &spec, uint64_t n);
KeyMap		map_of(const HpsortCudaShape &shape, bool descending);

/* Work that was begun while a sample was on its way: of radix and partition one at
 * most; and what the sample said, for a second choice if the first fails. */
struct Begun
{
	RadixStart	radix;
	PartitionStart partition;
	Sample		sample = {};
	bool		sampled = false;
};

/*
 * Looks at the keys for what *shape lacks (distinct values, bounds) as far as that
 * can change the choice, and chooses; may wait for the stream.  *begun is for
 * sort_into() or permute_into().
 */
HpsortCudaChoice investigate(HpsortCuda *context, cudaStream_t stream,
							 const int32_t *keys, HpsortCudaShape *shape,
							 bool descending, HpsortCudaVerdict *verdict,
							 Begun *begun);

/* Puts the keys' own bounds into *shape; waits for the stream. */
void		settle_bounds(HpsortCuda *context, cudaStream_t stream,
						  const int32_t *keys, HpsortCudaShape *shape);

/*
 * Sorts by *choice, which is changed when FEW_DISTINCT has to give up.  True: the
 * result is *runs, which ascend, and out is untouched.  False: the stream writes
 * the sorted keys to out.  Keys outside the shape's bounds are reported in
 * *verdict.  begun: null, or what investigate() began for these keys.
 */
bool		sort_into(HpsortCuda *context, cudaStream_t stream,
					  const int32_t *keys, HpsortCudaShape *shape,
					  bool descending, int32_t *out, Runs *runs,
					  HpsortCudaVerdict *verdict, HpsortCudaChoice *choice,
					  Begun *begun);

/*
 * The stable permutation into rows, by *choice, which is changed when FEW_DISTINCT or
 * MANY_DISTINCT has to give up.  True: the keys' runs, which ascend, are in *runs as
 * well.  False: the sorted keys are in sorted_keys, in the permutation's direction,
 * unless it is null.  The other parameters are those of sort_into().
 */
bool		permute_into(HpsortCuda *context, cudaStream_t stream,
						 const int32_t *keys, HpsortCudaShape *shape,
						 bool descending, int32_t *sorted_keys,
						 uint32_t *rows, Runs *runs, HpsortCudaVerdict *verdict,
						 HpsortCudaChoice *choice, Begun *begun);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_SORT_CUH */
