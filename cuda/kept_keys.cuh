/*-------------------------------------------------------------------------
 *
 * kept_keys.cuh
 *	  Keys of a job that lie side by side on one device until they are sorted.
 *
 * For job.cu and packed.cu, and for the further devices of a job that several share
 * (published/shares.cuh), each of which has some of the job's keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_KEPT_KEYS_CUH
#define HPSORT_CUDA_KEPT_KEYS_CUH

#include "common/keys.cuh"

namespace hpsort
{

/* Consecutive keys of a job: the number of the first key, and how many they are. */
struct Piece
{
	uint64_t	first;
	uint64_t	n;
};

/*
 * Keys of a job on one device.  Chunks come on stream copy; their bounds are found on stream
 * compute while the next chunk is on the bus.  Needs the context's device to be current in every
 * call.
 */
class KeptKeys
{
public:
	KeptKeys(HpsortCuda *context, cudaStream_t copy, cudaStream_t compute)
		: context_(context), copy_(copy), compute_(compute) {}

	/* prepares for the first key; if expected is the final number of keys, no key is moved later */
	void		open(uint64_t expected);
	/* makes room for this many keys in all */
	void		reserve(uint64_t keys);
	/* Adds n keys, the first of which is number `first` of the job.  Only puts work on the
	 * streams; copied is recorded behind the last reading of the caller's memory. */
	void		add(const int32_t *keys, uint64_t n, uint64_t first, Event *copied);
	/*
	 * Takes note of n more keys, the first of which is number `first` of the job.  There must be
	 * room for them, and work on stream compute must write them behind the other keys and add
	 * them to bounds().
	 */
	void		note(uint64_t n, uint64_t first);

	/* Corrects the number of all keys to n, after fewer keys than noted were written.  Nobody may
	 * ask for the numbers of these keys (write_rows()). */
	void		end_at(uint64_t n) { n_ = n; }
	bool		has_room(uint64_t keys) const { return keys <= capacity_; }
	Bounds	   *bounds() const { return bounds_.as<Bounds>(); }
	/* returns the bounds of all keys; waits for them */
	Bounds		read_bounds();
	/* writes the keys' numbers in the job to rows, in the order in which the keys lie */
	void		write_rows(cudaStream_t stream, uint32_t *rows) const;
	/* gives the memory back, in the order of stream compute */
	void		release();

	int32_t    *keys() const { return keys_.as<int32_t>(); }
	uint64_t	n() const { return n_; }

private:
	HpsortCuda *context_;
	cudaStream_t copy_;
	cudaStream_t compute_;
	DeviceBuffer keys_;
	uint64_t	n_ = 0;
	uint64_t	capacity_ = 0;
	DeviceBuffer bounds_;
	std::vector<Piece> pieces_;		/* ascending; neighbours are joined */
};

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_KEPT_KEYS_CUH */
