/*-------------------------------------------------------------------------
 *
 * shares.cuh
 *	  The keys of a job that further devices have.  Each device takes chunks as they come, and
 *	  sorts its keys at the end (many_gpus.cu).
 *
 * For job.cu and published_job.cu.
 *
 * S. Chen, J. Qin, Y. Xie, J. Zhao, P.-A. Heng 2009, section VI, cuts a list that is in host
 * memory already.  A job's keys come chunk by chunk, and only for some jobs it is known how many
 * will come.  So each piece of a chunk goes to the device that has the fewest keys, and every
 * device's bus is at work while keys come.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_PUBLISHED_SHARES_CUH
#define HPSORT_PUBLISHED_SHARES_CUH

#include <memory>

#include "kept_keys.cuh"
#include "published/spec.h"

namespace hpsort
{
namespace published
{

/* One device's share.  Streams come first, as in HpsortCudaJob. */
struct Share
{
	explicit Share(HpsortCuda *of) : context(of), kept(of, copy, compute) {}

	HpsortCuda *context;
	Stream		copy;
	Stream		compute;
	KeptKeys	kept;
	bool		full = false;	/* no room was found; takes no more keys */
};

/* The shares of all devices but the job's own, whose keys the job has.  Memory and streams belong
 * to their devices; each function makes these devices current where it must. */
class Shares
{
public:
	/* the longest piece, in keys.  One device's bus is not idle for long while another has its
	 * piece (2 MB, some 40 us), and starting a copy takes a tenth of this. */
	static constexpr uint64_t piece = 1u << 19;

	Shares() = default;
	~Shares() { close(); }
	Shares(const Shares &) = delete;
	Shares &operator=(const Shares &) = delete;

	/* Prepares for the first key.  At least expected keys are to come (0: unknown).  A device
	 * that has no room for its part of them is left out. */
	void		open(HpsortCuda *const *contexts, int count,
					 const HpsortPublishedSpec &spec, uint64_t expected);
	/*
	 * Offers the next n keys of a job that has `total` keys, of which its own device has `own`.
	 * Returns false if the keys are for its own device.  Otherwise adds to copied an event behind
	 * the copy, as KeptKeys::add() records it.
	 */
	bool		take(const int32_t *keys, uint64_t n, uint64_t own, uint64_t total,
					 std::vector<Event> *copied);
	/* gives all memory back, behind the work that uses it */
	void		close();
	/* widens bounds by the keys of all shares; waits for them */
	void		widen(Bounds *bounds);

	bool		empty() const { return shares_.empty(); }
	/* returns the shares that have keys */
	std::vector<Share *> used() const;

private:
	std::vector<std::unique_ptr<Share>> shares_;
	uint64_t	from_ = 0;		/* number of the job's first key that a share may take */
};

} /* namespace published */
} /* namespace hpsort */

#endif							/* HPSORT_PUBLISHED_SHARES_CUH */
