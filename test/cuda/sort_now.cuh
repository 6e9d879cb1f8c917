/*-------------------------------------------------------------------------
 *
 * sort_now.cuh
 *	  The steps that a job takes at its end, from device memory to device memory, for
 *	  tests and benches that want them without the copies of a job.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_TEST_SORT_NOW_CUH
#define HPSORT_TEST_SORT_NOW_CUH

#include "sort.cuh"

/*
 * Sorts n keys, which are within the bounds of spec, on the stream: into out, or their
 * stable permutation into rows; the other one is null.  *verdict is pinned memory, *choice
 * gets what was done.  `without` is RegimeShape's.  Does not wait for the end.
 */
inline HpsortCudaCode
sort_now(HpsortCuda *context, const HpsortCudaSpec &spec, const int32_t *keys, uint64_t n,
		 int32_t *out, uint32_t *rows, cudaStream_t stream, HpsortCudaVerdict *verdict,
		 RegimeChoice *choice, HpsortCudaError *err, uint32_t without = 0)
{
	using namespace hpsort;

	return guarded(err, [&] {
		SortTask	task = {context, stream, keys, shape_of(spec, n),
			spec.descending != 0 && rows != nullptr, verdict};
		SortOutput	output;

		task.shape.wanted = rows != nullptr ? HPSORT_CUDA_PERMUTATION : HPSORT_CUDA_KEYS;
		task.shape.without = without;
		clear_verdict(verdict);
		sort_prepare(&task);
		/* this regime gives runs, as no others do for certain */
		output.keys = task.choice.regime == HPSORT_CUDA_SHARED_HISTOGRAM ? nullptr : out;
		output.rows = rows;
		sort_run(&task, &output);
		if (output.have_runs && rows == nullptr)
			expand_runs(stream, output.runs, n, 0, n, false, out);
		*choice = task.choice;
	});
}

#endif							/* HPSORT_TEST_SORT_NOW_CUH */
