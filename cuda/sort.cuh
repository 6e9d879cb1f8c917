/*-------------------------------------------------------------------------
 *
 * sort.cuh
 *	  One sort of keys in device memory, in two steps: a regime is chosen, by a sample of
 *	  the keys if that may pay, and called.
 *
 * Jobs (job.cu) take these steps at their end.
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

/* Fails with OUT_OF_BOUNDS if a key was reported; shape has the bounds. */
void		check_verdict(const HpsortCudaVerdict *verdict,
						  const RegimeShape &shape);

/* What spec says of n keys; bounds that it does not give are those of int32. */
RegimeShape shape_of(const HpsortCudaSpec &spec, uint64_t n);

/*
 * The caller sets the first group.  The second is filled by sort_prepare().  The task
 * owns device memory, which is given back in the stream's order.
 */
struct SortTask
{
	HpsortCuda *context;
	cudaStream_t stream;
	const int32_t *keys;		/* shape.n of them, in device memory */
	RegimeShape	shape;			/* with the keys' own bounds */
	bool		descending;
	HpsortCudaVerdict *verdict;	/* gets a key outside the bounds, if there is one */

	/* what has been done in the end: a regime that has to give up is replaced */
	RegimeChoice choice = {};
	/* work that was begun while the sample was on its way; one of them at most */
	RadixStart	radix = {};
	PartitionStart partition = {};

	SortInput input() const
	{
		return {context, stream, keys, shape.n, {shape.lo, shape.hi}, descending, verdict};
	}
	Division division() const { return {choice.shift, choice.buckets}; }
};

/* Where the result goes; device memory of the caller's, for shape.n elements each. */
struct SortOutput
{
	int32_t    *keys = nullptr;	/* null: not wanted, or wanted as runs */
	uint32_t   *rows = nullptr;	/* the stable permutation; null: not wanted */
	/* set by sort_run(): the result is these runs, which ascend, and keys is untouched */
	bool		have_runs = false;
	Runs		runs;
};

/* Takes a sample of the keys if that can change the choice, and chooses; waits for the
 * sample. */
void		sort_prepare(SortTask *task);

/*
 * Sorts by the task's choice.  Where output->rows is null, output->keys may be null only
 * if the choice is SHARED_HISTOGRAM, which gives runs then.  Keys of a permutation are
 * in the task's direction.  Keys outside the bounds are reported, and the result is
 * undefined then.  Waits where the choice depends on the keys, not for the end.
 */
void		sort_run(SortTask *task, SortOutput *output);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_SORT_CUH */
