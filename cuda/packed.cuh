/*-------------------------------------------------------------------------
 *
 * packed.cuh
 *	  Packed values that stay on a device, and what jobs that keep or read them share.
 *
 * Packed values belong to a context.  Two orders have to hold, between jobs that know
 * nothing of each other:
 *	- values are read after they have been copied to the device.  A job counts its copies,
 *	  and one event stands for all of them (PackedOrigin).  What is known to have been
 *	  copied is found by a comparison; another job's stream waits for the event
 *	  otherwise, once, however many values it is given;
 *	- memory is given back after the kernels that read it.  It is, in the order of a stream
 *	  of the context, which first waits for an event of each job that has been given
 *	  packed values since it last waited (PackedUse).  The host waits for nothing.
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

/* The copies of one job.  It lives as long as the job and the values that it kept. */
struct PackedOrigin
{
	Event		copied;			/* behind the last copy; under PackedShared.lock */
	uint64_t	last = 0;		/* number of that copy; under the same lock */
	std::atomic<uint64_t> done{0};	/* all copies up to this one are known to be done */
};

/* Pinned memory in which a table of parts is made. */
struct PackedStaging
{
	PackedStaging();
	~PackedStaging() { ignore(cudaFreeHost(parts)); }
	PackedStaging(const PackedStaging &) = delete;
	PackedStaging &operator=(const PackedStaging &) = delete;

	PackedPart *parts = nullptr;	/* REGIME_PACKED_PARTS and a sentinel */
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
	std::shared_ptr<PackedOrigin> origin;	/* once it has kept some */
	Event		read;			/* behind the last kernel that reads packed values */
	bool		pending = false;	/* stream frees has not waited for it; under lock */
	std::deque<std::unique_ptr<PackedStaging>> tables;	/* of this job, oldest first */
	Event		table_read[2];	/* of the tables in device memory that take turns */
};

/* What the jobs of a context share. */
struct PackedShared
{
	PackedShared();

	Stream		frees;			/* memory is given back in its order */
	std::mutex	lock;			/* protects what follows */
	std::vector<PackedUse *> uses;
	std::vector<std::unique_ptr<PackedStaging>> idle;
};

/* Frees what is shared; when the context is closed. */
void		packed_close(HpsortCuda *context);

} /* namespace hpsort */

/*
 * The public, opaque packed values.  What adding them to a job looks at is in one cache
 * line: a job is given tens of thousands of them.
 */
struct alignas(64) HpsortCudaPacked
{
	HpsortCuda *context = nullptr;
	const char *values = nullptr;	/* on the device */
	const uint64_t *nulls = nullptr;	/* on the host: a bit for each row; null: none is NULL */
	const uint32_t *nulls_before = nullptr; /* on the host: each word of them */
	hpsort::PackedOrigin *origin = nullptr;
	uint64_t	number = 0;		/* among the copies of its origin */
	uint32_t	n = 0;
	int32_t		base = 0;
	int			width_bits = 0;	/* log2 of the width */
	uint32_t	nnulls = 0;

	std::shared_ptr<hpsort::PackedOrigin> owner;	/* keeps origin */
	std::unique_ptr<uint64_t[]> head;	/* what is before the values; see PackedNulls */
	hpsort::DeviceBuffer memory;
};

#endif							/* HPSORT_CUDA_PACKED_CUH */
