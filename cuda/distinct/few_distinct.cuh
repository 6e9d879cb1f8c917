/*-------------------------------------------------------------------------
 *
 * few_distinct.cuh
 *	  Regime FEW_DISTINCT: runs by a hash table in shared memory; and the sample of the keys by
 *	  which this regime is chosen.
 *
 * For sort.cu.  Knows keys and runs, and no other regime.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_FEW_DISTINCT_CUH
#define HPSORT_CUDA_FEW_DISTINCT_CUH

#include "common/keys.cuh"
#include "common/runs.cuh"

namespace hpsort
{

/* Raises the shared memory limits of this file's kernels; once per device. */
void		configure_few_distinct(const HpsortCudaLimits &limits);

/* What a sample says of the n > 0 keys that it was taken from. */
struct Sample
{
	uint64_t	distinct;		/* an estimate of the distinct values of all n keys */
	bool		skipped;		/* kernels that read Sampling::skip() did nothing */
};

/*
 * A sample on its way.  The constructor puts its kernels on the stream.  result() waits for them,
 * but not for work that the caller puts on the stream between the two.  Kernels of this work may
 * read skip(), a word in device memory: it is not 0 if the estimate is at most few_most distinct
 * values.
 */
class Sampling
{
public:
	Sampling(const SortInput &input, uint64_t few_most);

	const uint32_t *skip() const { return skip_.as<uint32_t>(); }
	Sample		result();

private:
	uint64_t	n_;
	VerdictSlot report_;
	DeviceBuffer collected_;
	DeviceBuffer skip_;
	Event		taken_;
};

/*
 * Makes the ascending runs of the keys.  Returns false if there are more distinct values than the
 * table holds; then *runs is empty, and the caller takes another regime.  The verdict reports a
 * key outside the bounds.  Waits for the stream.
 */
bool		few_distinct_runs(const SortInput &input, Runs *runs);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_FEW_DISTINCT_CUH */
