/*-------------------------------------------------------------------------
 *
 * runs.cuh
 *	  Runs on the device: expanded to keys, and made from sorted keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_RUNS_CUH
#define HPSORT_CUDA_RUNS_CUH

#include "context.cuh"

namespace hpsort
{

/*
 * Runs by where they begin in the sorted keys, not by counts: keys[i] occupies
 * positions starts[i] to starts[i + 1] - 1.  Keys ascend.
 */
struct Runs
{
	DeviceBuffer memory;
	int32_t    *keys = nullptr;
	uint64_t   *starts = nullptr;	/* distinct + 1 of them */
	uint64_t	distinct = 0;

	/* for at most `most` runs; distinct is set by the caller once it is known */
	void		allocate(HpsortCuda *context, cudaStream_t stream, uint64_t most);
};

/*
 * Positions [first, first + count) of the total sorted keys into out, device
 * memory of any 4-byte alignment; descending: of the keys in reverse order.
 */
void		expand_runs(cudaStream_t stream, const Runs &runs, uint64_t total,
						uint64_t first, uint64_t count, bool descending,
						int32_t *out);

/* The counts of runs [first, first + count) into device memory. */
void		run_counts(cudaStream_t stream, const Runs &runs, uint64_t first,
					   uint64_t count, uint64_t *counts);

/* Positions [first, first + count) of the n keys read from the last to the first. */
void		reverse_keys(cudaStream_t stream, const int32_t *keys, uint64_t n,
						 uint64_t first, uint64_t count, int32_t *out);

/* The keys at count positions of the ascending order, all below total, into device memory. */
void		runs_at(cudaStream_t stream, const Runs &runs, uint64_t total,
					const uint64_t *positions, uint64_t count, int32_t *out);

/* The same of n keys that are in order, or in the opposite one. */
void		keys_at(cudaStream_t stream, const int32_t *keys, uint64_t n, bool reversed,
					const uint64_t *positions, uint64_t count, int32_t *out);

/*
 * How many keys of the runs, and of n ascending keys, are smaller than each of count others, into
 * device memory.
 */
void		runs_below(cudaStream_t stream, const Runs &runs, const int32_t *others,
					   uint64_t count, uint64_t *out);
void		keys_below(cudaStream_t stream, const int32_t *keys, uint64_t n,
					   const int32_t *others, uint64_t count, uint64_t *out);

/* The runs of n ascending keys; waits for the stream. */
void		encode_runs(HpsortCuda *context, cudaStream_t stream,
						const int32_t *sorted, uint64_t n, Runs *runs);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_RUNS_CUH */
