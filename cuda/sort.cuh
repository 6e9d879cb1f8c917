/*-------------------------------------------------------------------------
 *
 * sort.cuh
 *	  One sort of keys in device memory, in two steps: sort_prepare() chooses a regime, sort_run()
 *	  calls it.
 *
 * For job.cu, which takes both steps when a job's keys are complete.  Knows regimes and their
 * families, and neither jobs nor hosts.
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

/* Raises the shared memory limits of all kernels but the passes of sweep.cuh.  To be called once
 * per device, with the device current. */
void		configure_kernels(const HpsortCudaLimits &limits);

/* Returns the shape of n keys of a specification.  Bounds that it does not state are the
 * bounds of int32. */
RegimeShape shape_of(const HpsortCudaSpec &spec, uint64_t n);

/* One sort.  The caller sets the first group of fields, sort_prepare() the second.  The task owns
 * device memory, which it gives back in the stream's order. */
struct SortTask
{
	HpsortCuda *context;
	cudaStream_t stream;
	const int32_t *keys;		/* shape.n keys in device memory */
	RegimeShape	shape;			/* with the keys' own bounds */
	bool		descending;
	HpsortCudaVerdict *verdict;	/* gets a key outside the bounds, if there is one */

	/* what was done in the end: a regime that gives up is replaced */
	RegimeChoice choice = {};
	/* work begun while the sample was on its way; at most one of the two has any */
	RadixStart	radix = {};
	PartitionStart partition = {};

	SortInput input() const
	{
		return {context, stream, keys, shape.n, {shape.lo, shape.hi}, descending, verdict};
	}
	Division division() const { return {choice.shift, choice.buckets}; }
};

/* Where the result goes: device memory of the caller, for shape.n elements each. */
struct SortOutput
{
	int32_t    *keys = nullptr;	/* null: not wanted, or wanted as runs */
	uint32_t   *rows = nullptr;	/* the stable permutation; null: not wanted */
	/* set by sort_run(): the result is these runs, which ascend; keys is untouched */
	bool		have_runs = false;
	Runs		runs;
};

/* Chooses a regime.  If a sample of the keys can change the choice, takes one and waits for it. */
void		sort_prepare(SortTask *task);

/*
 * Sorts by the task's choice.  If output->rows is null, output->keys may be null only if the
 * choice is SHARED_HISTOGRAM, which then gives runs.  A permutation has less than 2^32 rows; its
 * keys are in the task's direction.  If keys are outside the bounds, the verdict reports one of
 * them and the result is undefined.  Does not wait for the end; waits on the way where the choice
 * depends on the keys.
 */
void		sort_run(SortTask *task, SortOutput *output);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_SORT_CUH */
