/*-------------------------------------------------------------------------
 *
 * shares.cuh
 *	  The keys of a job that further devices have: each takes chunks as they
 *	  come, and sorts what it has at the end (many_gpus.cu).
 *
 * S. Chen, J. Qin, Y. Xie, J. Zhao, P.-A. Heng 2009, section VI, cuts a list that
 * is in host memory already.  A job's keys come chunk by chunk, and how many there
 * will be is known for some jobs only; so a piece of a chunk goes to the device that
 * has the fewest keys, and every device's bus is at work while they come.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_PUBLISHED_SHARES_CUH
#define HPSORT_PUBLISHED_SHARES_CUH

#include <memory>

#include "kept_keys.cuh"
#include "published/published.h"

namespace hpsort
{
namespace published
{

/* One device's.  Streams come first, as in HpsortCudaJob. */
struct Share
{
	explicit Share(HpsortCuda *of) : context(of), kept(of, copy, compute) {}

	HpsortCuda *context;
	Stream		copy;
	Stream		compute;
	KeptKeys	kept;
	bool		full = false;	/* no room was found: takes no more */
};

/*
 * Those of all devices but the job's own, whose keys are the job's.  Memory and streams
 * belong to their devices, each of which is made current where need be.
 */
class Shares
{
public:
	/* the longest piece, in keys: one device's bus is not idle for long while another
	 * has its piece (2 MB, some 40 us), and starting a copy takes a tenth of that */
	static constexpr uint64_t piece = 1u << 19;

	Shares() = default;
	~Shares() { close(); }
	Shares(const Shares &) = delete;
	Shares &operator=(const Shares &) = delete;

	/*
	 * Before the first key.  expected keys are to come, or more (0: nobody knows).  A
	 * device that has no room for its part of them is left out.
	 */
	void		open(HpsortCuda *const *contexts, int count,
					 const HpsortPublishedSpec &spec, uint64_t expected);
	/*
	 * Offers the next keys of a job that has `total` of them by now, of which its own
	 * device has `own`.  False: they are for its own device.  copied gets an event
	 * more, as in KeptKeys::add().
	 */
	bool		take(const int32_t *keys, uint64_t n, uint64_t own, uint64_t total,
					 std::vector<Event> *copied);
	/* Gives all memory back, behind what is at work. */
	void		close();
	/* Waits for all work, and ignores its errors: the caller has one. */
	void		settle();
	/* Makes bounds as wide as these keys need; waits for them. */
	void		widen(Bounds *bounds);
	/* Whether a device among them reads unpinned host memory without staging. */
	bool		read_pageable() const;

	bool		empty() const { return shares_.empty(); }
	/* those that have keys */
	std::vector<Share *> used() const;

private:
	std::vector<std::unique_ptr<Share>> shares_;
	uint64_t	from_ = 0;		/* keys of the job before which none are taken */
};

} /* namespace published */
} /* namespace hpsort */

#endif							/* HPSORT_PUBLISHED_SHARES_CUH */
