/*-------------------------------------------------------------------------
 *
 * kept_keys.cuh
 *	  Keys of a job that lie side by side on one device until they are sorted.
 *
 * For job.cu, and for the other devices of a job that several share
 * (published/shares.cuh): those have some of its keys each.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_KEPT_KEYS_CUH
#define HPSORT_CUDA_KEPT_KEYS_CUH

#include "common/keys.cuh"

namespace hpsort
{

/* Consecutive keys of a job: the number of the first one, and how many. */
struct Piece
{
	uint64_t	first;
	uint64_t	n;
};

/*
 * Chunks come on stream copy, and their bounds are found on stream compute while the
 * next chunk is on the bus.  All functions want the context's device to be current.
 */
class KeptKeys
{
public:
	KeptKeys(HpsortCuda *context, cudaStream_t copy, cudaStream_t compute)
		: context_(context), copy_(copy), compute_(compute) {}

	/* Before the first key; if expected is right, no key is moved later. */
	void		open(uint64_t expected);
	/* Room for so many keys in all. */
	void		reserve(uint64_t keys);
	/*
	 * n keys more, which begin with the job's first-th.  Only puts work on the streams;
	 * copied is recorded behind the last reading of the caller's memory.
	 */
	void		add(const int32_t *keys, uint64_t n, uint64_t first, Event *copied);
	/*
	 * Notes n keys more, which begin with the job's first-th, for which there is room, and which
	 * work on stream compute writes behind the others and adds to bounds().
	 */
	void		note(uint64_t n, uint64_t first);

	/*
	 * Of those noted last, there are fewer: n keys in all.  Nobody wants the numbers of such keys.
	 */
	void		end_at(uint64_t n) { n_ = n; }
	bool		has_room(uint64_t keys) const { return keys <= capacity_; }
	Bounds	   *bounds() const { return bounds_.as<Bounds>(); }
	/* Of all keys; waits for them. */
	Bounds		read_bounds();
	/* The keys' numbers in the job, in the order in which the keys lie. */
	void		write_rows(cudaStream_t stream, uint32_t *rows) const;
	/* Gives the memory back, in the order of stream compute. */
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
	std::vector<Piece> pieces_;		/* ascending; neighbours are one */
};

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_KEPT_KEYS_CUH */
