/*-------------------------------------------------------------------------
 *
 * packed.cuh
 *	  Packed values that stay on a device, and what the jobs that keep or read them share.
 *
 * For packed.cu, and for job.cuh and devices.cu, which own what is declared here.  Packed values
 * belong to a context.  Two orders must hold between jobs that share nothing else:
 *
 * - Values are read after they have been copied to the device.  A job numbers its copies, and one
 *   event stands for all of them (PackedOrigin).  A comparison of numbers shows whether a copy is
 *   known to be done.  If it is not, the reading job's stream waits for the event, once, however
 *   many values the job is given.
 * - Memory is given back after the kernels that read it.  It is given back in the order of a
 *   stream of the context.  This stream first waits for an event of each job that has been given
 *   packed values since the last wait (PackedUse).  The host waits for nothing.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_PACKED_CUH
#define HPSORT_CUDA_PACKED_CUH

#include <deque>
#include <memory>

#include "common/packed_parts.cuh"
#include "context.cuh"

namespace hpsort
{

/* The copies of one job.  It lives as long as the job and the values that the job kept. */
struct PackedOrigin
{
	Event		copied;			/* behind the last copy; protected by PackedShared.lock */
	uint64_t	last = 0;		/* number of the last copy; protected by the same lock */
	std::atomic<uint64_t> done{0};	/* all copies up to this number are known to be done */
};

/* Pinned memory in which the host makes a table of parts. */
struct PackedStaging
{
	PackedStaging();
	~PackedStaging() { ignore(cudaFreeHost(parts)); }
	PackedStaging(const PackedStaging &) = delete;
	PackedStaging &operator=(const PackedStaging &) = delete;

	PackedPart *parts = nullptr;	/* REGIME_PACKED_PARTS parts and a sentinel */
	Event		copied;			/* behind the copy of the table */
};

/* What a job that keeps or reads packed values needs. */
struct PackedUse
{
	explicit PackedUse(PackedShared *of);
	~PackedUse();				/* the job's streams must be idle */
	PackedUse(const PackedUse &) = delete;
	PackedUse &operator=(const PackedUse &) = delete;

	PackedShared *shared;
	std::shared_ptr<PackedOrigin> origin;	/* set once the job has kept values */
	Event		read;			/* behind the last kernel that reads packed values */
	bool		pending = false;	/* the stream `frees` has not waited for read; protected by
									 * lock */
	std::deque<std::unique_ptr<PackedStaging>> tables;	/* this job's tables on their way, oldest
														 * first */
	Event		table_read[2];	/* behind the kernels that read the tables in device memory, which
								 * take turns */
};

/* What the jobs of a context share. */
struct PackedShared
{
	PackedShared();

	Stream		frees;			/* memory is given back in this stream's order */
	std::mutex	lock;			/* protects the fields below */
	std::vector<PackedUse *> uses;
	std::vector<std::unique_ptr<PackedStaging>> idle;
};

} /* namespace hpsort */

/* The public, opaque packed values.  Everything that adding them to a job reads is in one cache
 * line, because a job is given tens of thousands of them. */
struct alignas(64) HpsortCudaPacked
{
	HpsortCudaPacked() : number(0), width_bits(0) {}

	HpsortCuda *context = nullptr;
	const char *values = nullptr;	/* on the device */
	const uint64_t *nulls = nullptr;	/* on the host: a bit for each row; null: no row is NULL */
	const uint32_t *nulls_before = nullptr; /* on the host: the number of NULLs before each word
											 * of nulls */
	hpsort::PackedOrigin *origin = nullptr;
	uint64_t	number : 62;	/* of this copy, among the copies of its origin */
	uint64_t	width_bits : 2;	/* log2 of the width */
	int64_t		base = 0;
	uint32_t	n = 0;
	uint32_t	nnulls = 0;

	std::shared_ptr<hpsort::PackedOrigin> owner;	/* keeps origin alive */
	std::unique_ptr<uint64_t[]> head;	/* the host's copy of what lies before the values on the
										 * device; see PackedNulls */
	hpsort::DeviceBuffer memory;
};

#endif							/* HPSORT_CUDA_PACKED_CUH */
