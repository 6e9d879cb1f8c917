/*-------------------------------------------------------------------------
 *
 * published_now.cuh
 *	  A published algorithm from device memory to device memory, for tests and benches
 *	  that want it without a job, with all options and with a report.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_TEST_PUBLISHED_NOW_CUH
#define HPSORT_TEST_PUBLISHED_NOW_CUH

#include "published/published.cuh"

using hpsort::published::algorithms;

/*
 * Sorts n keys on the stream into out, which does not overlap them.  payload and payload_out
 * are used if spec has a payload.  With a verdict, which is pinned memory, the call does not
 * wait at its end; the caller reads the verdict.  Otherwise the call waits, and a key outside
 * the bounds or a key that occurs twice is an error.  report may be null; it costs two events
 * a phase and a wait.
 */
inline HpsortCudaCode
published_now(HpsortCuda *context, HpsortPublishedSpec spec, const void *keys,
			  const uint32_t *payload, uint64_t n, void *out, uint32_t *payload_out,
			  cudaStream_t stream, HpsortPublishedVerdict *verdict,
			  HpsortPublishedReport *report, HpsortCudaError *err)
{
	using namespace hpsort;

	return guarded(err, [&] {
		DeviceScope scope(context->ordinal);
		VerdictSlot slot(context, stream);
		published::Clock clock(stream, report);
		published::Task task = {};

		task.context = context;
		task.stream = stream;
		task.keys = static_cast<const uint32_t *>(keys);
		task.n = n;
		task.out = static_cast<uint32_t *>(out);
		if (spec.payload)
		{
			task.payload = payload;
			task.payload_out = payload_out;
		}
		task.verdict = verdict ? verdict :
			reinterpret_cast<HpsortPublishedVerdict *>(slot.get());
		memset(task.verdict, 0, sizeof(*task.verdict));
		if (report)
			memset(report, 0, sizeof(*report));
		task.clock = &clock;
		if (n == 0)
			return;
		published::sort_on(task, &spec);
		clock.finish();
		if (verdict == nullptr)
		{
			check(cudaStreamSynchronize(stream), "sort");
			published::check_verdict(*task.verdict, spec);
		}
	});
}

#endif							/* HPSORT_TEST_PUBLISHED_NOW_CUH */
