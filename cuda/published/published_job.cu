/*-------------------------------------------------------------------------
 *
 * published_job.cu
 *	  Jobs that sort with a published algorithm: what they need, what they cannot do, and the sort
 *	  itself.
 *
 * For job.cu.  A job differs from a sort of keys that others own (test/cuda/published_now.cuh) in
 * three ways:
 *
 * - Somebody may cancel it.
 * - Its keys are its own, so that bucket_bitonic may use them as its second list.
 * - bucket_bitonic cuts the list if memory is short (bucket_merge.cu).
 *
 *-------------------------------------------------------------------------
 */
#include "kept_keys.cuh"
#include "published/bucket_bitonic.cuh"
#include "published/published.cuh"
#include "regime.h"

#include <algorithm>

namespace hpsort
{
namespace published
{

static_assert(sizeof(HpsortPublishedVerdict) <= VerdictSlot::bytes,
			  "a verdict fits its slot");

namespace
{

bool
is_bitonic(const HpsortPublishedSpec &spec)
{
	return spec.algorithm == HPSORT_PUBLISHED_BUCKET_BITONIC;
}

/*
 * Returns what a job asks for, as far as it is known before its keys are.  Keys are sorted
 * upwards whatever was asked for, because reading them backwards is free.  A permutation is
 * sorted in the job's direction: equal keys keep their order in both directions, so neither
 * permutation is the other one read backwards.
 */
HpsortPublishedSpec
spec_of_job(const HpsortCudaSpec &job)
{
	HpsortPublishedSpec spec = {};

	spec.algorithm = static_cast<HpsortPublished>(job.algorithm - HPSORT_PUBLISHED_JOB(0));
	spec.float_images = job.float_images != 0;
	/* a range of one if the bounds are not known: a need for 2^32 would refuse what may fit */
	spec.lo = job.bounds_known ? job.lo : 0;
	spec.hi = job.bounds_known ? job.hi : 0;
	spec.bounds_known = true;
	if (job.wanted & HPSORT_CUDA_PERMUTATION)
	{
		spec.descending = job.descending != 0;
		spec.payload = true;
		spec.stable = true;
	}
	return spec;
}

/* Returns the memory of sorting: the keys as they came and in order (both twice with row
 * numbers), and what sorting takes, in passes as long as available bytes allow. */
uint64_t
sorting_need(const HpsortPublishedSpec &spec, uint64_t n, uint64_t available)
{
	const uint64_t lists = array_bytes(n, 4) * (spec.payload ? 4 : 2);

	if (!is_bitonic(spec))
		return lists + algorithms[spec.algorithm].need(spec, n);
	HpsortPublishedSpec passes = spec;

	passes.pass_keys = bucket_bitonic_pass_keys(spec, n, available);
	return lists + bucket_bitonic_need(passes, n, false);
}

/* Returns the memory of making runs of sorted keys that hardly repeat. */
uint64_t
runs_need(uint64_t n)
{
	return 2 * array_bytes(n, 4) + regime_runs_bytes(n) + n / 256 + 65536;
}

/* Memory of slices on their way to the host. */
constexpr uint64_t reading_need = 2 * REGIME_READ_SLICE * 3 + 65536;

} /* namespace */

uint64_t
job_need(const HpsortCudaSpec &job, uint64_t n)
{
	return std::max(sorting_need(spec_of_job(job), n, UINT64_MAX), runs_need(n)) +
		reading_need;
}

/* The job wants keys beside the runs, so runs are made only if there is room.  Only
 * bucket_bitonic has a choice: with no memory available, it takes its shortest passes. */
uint64_t
job_least(const HpsortCudaSpec &job, uint64_t n)
{
	const HpsortPublishedSpec spec = spec_of_job(job);
	const uint64_t keys = array_bytes(n, 4);
	const uint64_t slices = 2 * std::min<uint64_t>(keys, REGIME_READ_SLICE);

	if (!is_bitonic(spec) || job.wanted == HPSORT_CUDA_RUNS)
		return job_need(job, n);
	return std::max(sorting_need(spec, n, 0), keys * (spec.payload ? 2 : 1) + slices) +
		65536;
}

/* At open: fails if the job can never be done, or does not fit even in the shortest passes. */
void
published_check_job(HpsortCuda *context, const HpsortCudaSpec *job)
{
	const HpsortPublishedSpec spec = spec_of_job(*job);

	refuse(spec, job->n_hint);
	/* finish checks a number of keys that is not known here */
	if (job->n_hint > 0)
		refuse_memory(context, spec.algorithm, job->n_hint, job_least(*job, job->n_hint));
}

void
published_share(const HpsortCudaSpec &job, HpsortCuda *const *contexts, int count,
				Shares *shares)
{
	const HpsortPublishedSpec spec = spec_of_job(job);

	if (is_bitonic(spec))
		shares->open(contexts, count, spec, job.n_hint);
}

KeptTask::KeptTask(HpsortCuda *context, cudaStream_t stream, const KeptKeys &kept, uint64_t n,
				   uint32_t *out, uint32_t *rows)
	: slot(context, stream), clock(stream, nullptr)
{
	task.context = context;
	task.stream = stream;
	task.keys = reinterpret_cast<uint32_t *>(kept.keys());
	task.n = n;
	task.out = out;
	if (rows != nullptr)
	{
		numbers = DeviceBuffer(context, stream, n * sizeof(uint32_t), "row numbers");
		kept.write_rows(stream, numbers.as<uint32_t>());
		task.payload = numbers.as<uint32_t>();
		task.payload_out = rows;
	}
	task.verdict = reinterpret_cast<HpsortPublishedVerdict *>(slot.get());
	memset(task.verdict, 0, sizeof(*task.verdict));
	task.clock = &clock;
}

Cut
published_into(HpsortCuda *context, cudaStream_t stream, const HpsortCudaSpec &job,
			   const Bounds &bounds, const KeptKeys &kept, uint64_t n, int32_t *out,
			   uint32_t *rows, StopWord stop, const Shares &shares)
{
	const std::vector<Share *> others = shares.used();
	HpsortPublishedSpec spec = spec_of_job(job);
	KeptTask	keys(context, stream, kept, n, reinterpret_cast<uint32_t *>(out), rows);
	Task	   &task = keys.task;
	Cut			cut = {1, 1};

	/* The keys' own bounds: a job has read all keys, and promised bounds may be wider. */
	spec.lo = bounds.lo;
	spec.hi = bounds.hi;
	task.stop = stop;
	if (is_bitonic(spec))
	{
		const uint64_t limit = context->limit.load();
		const uint64_t own = kept.n();
		uint64_t	used;

		cut.devices = others.size() + 1;
		/* computed here and not at open: other jobs have come and gone between */
		hpsort_cuda_memory(context, &used, nullptr, 0);
		spec.pass_keys = bucket_bitonic_pass_keys(spec, own,
												  used < limit ? limit - used : 0);
		cut.parts = (own + spec.pass_keys - 1) / spec.pass_keys;
		task.input_is_spare = true;
	}
	if (cut.devices > 1)
	{
		const size_t shares = cut.devices;

		cut.devices = sort_shared(task, &spec, kept.n(), others);
		/* each further device has one part; parts that were left to this device are cut as its
		 * own is */
		cut.parts = cut.parts * (shares - cut.devices + 1) + cut.devices - 1;
	}
	else
		sort_on(task, &spec);
	check(cudaStreamSynchronize(stream), "sort");
	/* the output of stopped kernels must not be used */
	if (is_stopped(stop))
		fail(HPSORT_CUDA_CANCELLED, "cancelled");
	check_verdict(*task.verdict, spec);
	return cut;
}

} /* namespace published */
} /* namespace hpsort */
