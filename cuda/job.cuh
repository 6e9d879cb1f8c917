/*-------------------------------------------------------------------------
 *
 * job.cuh
 *	  The state of a job.
 *
 * For job.cu, which adds keys and sorts; packed.cu, which adds packed values and rows; and
 * job_read.cu, which reads results.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_JOB_CUH
#define HPSORT_CUDA_JOB_CUH

#include <deque>
#include <memory>

#include "common/runs.cuh"
#include "common/sums.cuh"
#include "histogram/packed_rows.cuh"
#include "histogram/shared_histogram.cuh"
#include "kept_keys.cuh"
#include "packed.cuh"
#include "published/shares.cuh"

namespace hpsort
{

/* One of the buffers that chunks pass through in turn.  counted is recorded behind the kernel
 * that reads the buffer's latest chunk. */
struct RingSlot
{
	DeviceBuffer memory;
	Event		counted;
};

/* Keys of a job that are counted as they come, and forgotten. */
struct CountedKeys
{
	Bins		bins;
	RingSlot	ring[HPSORT_CUDA_CHUNKS_IN_FLIGHT];
	uint32_t	next_slot = 0;
};

/* A call of hpsort_cuda_job_add() whose keys may still be read: until all is copied. */
struct Added
{
	uint64_t	number;
	Event		copied;
	std::vector<Event> elsewhere;	/* behind the copies to further devices */

	bool is_done()
	{
		for (Event &event : elsewhere)
			if (!event.is_done())
				return false;
		return copied.is_done();
	}
	void wait()
	{
		for (Event &event : elsewhere)
			event.wait();
		copied.wait();
	}
};

/* What a job knows of the rows that are added to it. */
struct RowsUse
{
	HpsortCudaRows layout;
	DeviceBuffer memory;		/* a RowCounts, and the ranges behind it */
	uint64_t	first;			/* keys of the job that are not keys of rows */
	uint64_t	next;			/* these and the rows added, whether they have passed or not */

	RowCounts  *counts() const { return memory.as<RowCounts>(); }
	HpsortCudaRange *ranges() const { return reinterpret_cast<HpsortCudaRange *>(counts() + 1); }
};

/* Waits until all rows have been made keys, and corrects the job's number of keys.  Fails with
 * OUT_OF_BOUNDS if a row had a value outside the layout. */
void		settle_rows(HpsortCudaJob *job);

} /* namespace hpsort */

/* A job.  Members are destroyed from the last to the first.  The streams come first, because the
 * buffers give their memory back in the streams' order. */
struct HpsortCudaJob
{
	HpsortCudaJob(HpsortCuda *of, const HpsortCudaSpec &wanted)
		: context(of), spec(wanted), verdict(of, compute), stop_slot(of, compute),
		  kept(of, copy, compute) {}

	/* pinned; not 0 once the job is cancelled; read by kernels of published algorithms */
	uint32_t   *stop_word() { return reinterpret_cast<uint32_t *>(stop_slot.get()); }

	HpsortCuda *context;
	HpsortCudaSpec spec;
	hpsort::Stream		copy;
	hpsort::Stream		compute;
	hpsort::VerdictSlot verdict;
	std::atomic<bool> cancelled{false};
	hpsort::VerdictSlot stop_slot;	/* memory of stop_word() */
	bool		counting = false;	/* the mode; false: keeping (see job.cu) */
	bool		finished = false;
	bool		failed = false;	/* an add() or finish() has failed half-way */
	uint64_t	n = 0;			/* keys; while rows with conditions are added, the most that there
								 * can be */
	uint64_t	number = 0;		/* of the last add() */
	std::deque<hpsort::Added> added;
	uint64_t	consumed = 0;

	/* counting */
	hpsort::CountedKeys counted;

	/* packed values that the job kept or was given; empty without them */
	std::unique_ptr<hpsort::PackedUse> packed;

	/* how rows become keys; null: there are no rows */
	std::unique_ptr<hpsort::RowsUse> row_keys;

	/* counting, of a layout with a grain: the job has no other bins; else null */
	std::unique_ptr<hpsort::KeyGroups> groups;

	/* keeping mode: all keys, or, where a published algorithm shares the job among devices, the
	 * keys that no further device has */
	hpsort::KeptKeys kept;
	hpsort::published::Shares shares;

	/* the result */
	bool		have_runs = false;
	hpsort::Runs		runs;
	hpsort::DeviceBuffer sorted;		/* keys in order, if there are no runs */
	bool		sorted_descending = false;
	hpsort::KeySums		sums;	/* of the runs, or of the keys in order */
	hpsort::DeviceBuffer rows;
};

namespace hpsort
{

/* Fails with CANCELLED if the job was cancelled.  Called between steps; no kernel on its way is
 * interrupted. */
inline void
check_cancelled(const HpsortCudaJob *job)
{
	if (job->cancelled.load())
		fail(HPSORT_CUDA_CANCELLED, "cancelled");
}

/* Runs body for a call on a job, with the job's device current.  Returns the call's code; a
 * cancelled job gives CANCELLED. */
template <typename Body>
HpsortCudaCode
job_call(HpsortCudaJob *job, HpsortCudaError *err, Body body)
{
	return guarded(err, [&] {
		DeviceScope scope(job->context->ordinal);

		check_cancelled(job);
		body();
	});
}

/*
 * Does what job_call() does, for calls that change a job.  A job that is finished or has failed is
 * refused.  After an error half-way, the bins may hold other keys than n says and buffers may be
 * gone, so the job has failed.  BAD_ARGUMENT is the exception: it is found before anything has
 * changed.  With retry, NO_MEMORY is the other one: body sets job->failed itself if it has changed
 * the job.
 */
template <typename Body>
HpsortCudaCode
job_change(HpsortCudaJob *job, HpsortCudaError *err, bool retry, Body body)
{
	const HpsortCudaCode code = job_call(job, err, [&] {
		if (job->failed)
			fail(HPSORT_CUDA_BAD_ARGUMENT, "the job has failed");
		if (job->finished)
			fail(HPSORT_CUDA_BAD_ARGUMENT, "the job is finished");
		body();
	});

	if (code != HPSORT_CUDA_OK && code != HPSORT_CUDA_BAD_ARGUMENT &&
		!(retry && code == HPSORT_CUDA_NO_MEMORY))
		job->failed = true;
	return code;
}

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_JOB_CUH */
