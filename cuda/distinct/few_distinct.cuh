/*-------------------------------------------------------------------------
 *
 * few_distinct.cuh
 *	  Regime FEW_DISTINCT, the host side: runs by a hash table in shared memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_FEW_DISTINCT_CUH
#define HPSORT_CUDA_FEW_DISTINCT_CUH

#include <functional>

#include "common/keys.cuh"
#include "common/runs.cuh"

namespace hpsort
{

/* Raises the shared memory limits of the kernels; once per device. */
void		configure_few_distinct(const HpsortCudaLimits &limits);

/* What a sample of n > 0 keys says. */
struct Sample
{
	uint64_t	distinct;		/* an estimate */
	Bounds		bounds;			/* all keys' bounds are at least as wide */
	bool		skipped;		/* the kernels behind it were told to skip */
};

/*
 * Taking one: the constructor puts it on the stream, result() waits for it, and
 * for nothing that was put there in between.  skip() is a word on the device for
 * the kernels in between: not 0 when at most few_most values were found, or when
 * the sample spans no more than 2^narrow_bits.
 */
class Sampling
{
public:
	Sampling(HpsortCuda *context, cudaStream_t stream, const int32_t *keys,
			 uint64_t n, uint64_t few_most, uint32_t narrow_bits);
	~Sampling();
	Sampling(const Sampling &) = delete;
	Sampling &operator=(const Sampling &) = delete;

	const uint32_t *skip() const { return skip_.as<uint32_t>(); }
	Sample		result();

private:
	uint64_t	n_;
	VerdictSlot report_;
	DeviceBuffer collected_;
	DeviceBuffer skip_;
	cudaEvent_t taken_ = nullptr;
};

/* The same with nothing in between. */
Sample		take_sample(HpsortCuda *context, cudaStream_t stream,
						const int32_t *keys, uint64_t n);

/* The runs, ascending; map is too; false: too many distinct values, nothing
 * done.  Keys outside map's bounds are reported.  Waits for the stream, except
 * for what meanwhile() puts there. */
bool		few_distinct_runs(HpsortCuda *context, cudaStream_t stream,
							  const KeyMap &map, const int32_t *keys, uint64_t n,
							  Runs *runs, HpsortCudaVerdict *verdict,
							  const std::function<void()> &meanwhile = nullptr);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_FEW_DISTINCT_CUH */
