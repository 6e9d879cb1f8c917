/*-------------------------------------------------------------------------
 *
 * runs.cuh
 *	  Runs on the device: made from sorted keys, expanded to keys, searched.
 *
 * For the regimes that count (histogram, distinct) and for job_read.cu, which reads results.
 * Knows keys and runs in order, and neither jobs nor regimes.  Unless it says otherwise, a
 * function only puts work on the stream; its arrays, all in device memory, must stay until the
 * stream has come past this work.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_RUNS_CUH
#define HPSORT_CUDA_RUNS_CUH

#include "context.cuh"

namespace hpsort
{

/* Runs, ordered by key.  Run i has the key keys[i] and occupies positions starts[i] to starts[i +
 * 1] - 1 of the sorted keys; its count is the difference of the two starts. */
struct Runs
{
	DeviceBuffer memory;
	int32_t    *keys = nullptr;
	uint64_t   *starts = nullptr;	/* distinct + 1 of them */
	uint64_t	distinct = 0;

	/* allocates memory for at most `most` runs and sets distinct to 0; the caller sets distinct
	 * as soon as it is known */
	void		allocate(HpsortCuda *context, cudaStream_t stream, uint64_t most);
};

/*
 * Writes positions [first, first + count) of the total sorted keys to out.  With descending, the
 * positions count in the keys in reverse order.  out needs no more than the 4-byte alignment
 * of a key.
 */
void		expand_runs(cudaStream_t stream, const Runs &runs, uint64_t total,
						uint64_t first, uint64_t count, bool descending,
						int32_t *out);

/* Writes the counts of runs [first, first + count) to counts. */
void		run_counts(cudaStream_t stream, const Runs &runs, uint64_t first,
					   uint64_t count, uint64_t *counts);

/* Writes positions [first, first + count) of n keys, read from the last to the first, to out. */
void		reverse_keys(cudaStream_t stream, const int32_t *keys, uint64_t n,
						 uint64_t first, uint64_t count, int32_t *out);

/* Writes the keys at count positions of the ascending order to out.  Each position is below
 * total. */
void		runs_at(cudaStream_t stream, const Runs &runs, uint64_t total,
					const uint64_t *positions, uint64_t count, int32_t *out);

/* Writes the keys at count positions of the ascending order of n sorted keys to out.  With
 * reversed, the keys lie in descending order. */
void		keys_at(cudaStream_t stream, const int32_t *keys, uint64_t n, bool reversed,
					const uint64_t *positions, uint64_t count, int32_t *out);

/* For each of the count keys of others: writes to out how many keys are smaller.  runs_below()
 * counts the keys of runs, keys_below() counts n ascending keys. */
void		runs_below(cudaStream_t stream, const Runs &runs, const int32_t *others,
					   uint64_t count, uint64_t *out);
void		keys_below(cudaStream_t stream, const int32_t *keys, uint64_t n,
					   const int32_t *others, uint64_t count, uint64_t *out);

/* Makes the runs of n ascending keys.  Allocates *runs, which belongs to the caller.  Waits for
 * the stream once, for the number of runs. */
void		encode_runs(HpsortCuda *context, cudaStream_t stream,
						const int32_t *sorted, uint64_t n, Runs *runs);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_RUNS_CUH */
