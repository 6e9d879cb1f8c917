/*-------------------------------------------------------------------------
 *
 * published.cuh
 *	  What the published algorithms share: the task they are given, their
 *	  subroutines, and the clock that times their phases.
 *
 * Each algorithm is one function in a file of its own.  It puts its work on
 * the task's stream, takes memory by DeviceBuffer, throws Failure, and reports
 * keys outside the bounds in the verdict; published.cu does the rest.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_PUBLISHED_CUH
#define HPSORT_PUBLISHED_CUH

#include "kernels.cuh"
#include "published.h"

namespace hpsort
{
namespace published
{

/*
 * Times phases by events, when asked to: phase() ends one and begins the next.
 * The same name may come again; its times are added up.
 */
class Clock
{
public:
	Clock(cudaStream_t stream, HpsortPublishedReport *report)
		: stream_(stream), report_(report) {}
	~Clock()
	{
		for (Mark &mark : marks_)
			ignore(cudaEventDestroy(mark.event));
	}
	Clock(const Clock &) = delete;
	Clock &operator=(const Clock &) = delete;

	void phase(const char *name)
	{
		Mark		mark = {name, nullptr};

		if (report_ == nullptr)
			return;
		check(cudaEventCreate(&mark.event), "create an event");
		marks_.push_back(mark);
		check(cudaEventRecord(mark.event, stream_), "record an event");
	}
	/* Ends the last phase, waits, and fills the report. */
	void finish();

	HpsortPublishedReport *report() { return report_; }

private:
	struct Mark
	{
		const char *name;
		cudaEvent_t event;
	};

	cudaStream_t stream_;
	HpsortPublishedReport *report_;
	std::vector<Mark> marks_;
};

/* One call.  map and range are for algorithms that need bounds. */
struct Task
{
	HpsortCuda *context;
	cudaStream_t stream;
	const HpsortPublishedSpec *spec;
	KeyMap		map;
	uint64_t	range;
	const uint32_t *keys;		/* bits of int4 or float4 */
	const uint32_t *payload;
	uint64_t	n;
	uint32_t   *out;
	uint32_t   *payload_out;
	HpsortPublishedVerdict *verdict;
	Clock	   *clock;
};

/* Algorithms; n > 0. */
void		hp_sort(const Task &task);
void		one_hp_sort(const Task &task);
void		zero_compressed_sort(const Task &task);
void		bucket_radix_sort(const Task &task);
void		comparison_free_sort(const Task &task);
void		comparison_free_onehot_sort(const Task &task);
void		bucket_bitonic_sort(const Task &task);
void		radix_peer_sort(const Task &task);

/* What they need besides keys and result, in bytes; an upper bound. */
uint64_t	hp_need(uint64_t range, uint64_t n);
uint64_t	one_hp_need(uint64_t range, uint64_t n);
uint64_t	zero_compressed_need(uint64_t range, uint64_t n);
uint64_t	bucket_radix_need(uint64_t range, uint64_t n);
uint64_t	comparison_free_need(uint64_t range, uint64_t n);
uint64_t	comparison_free_onehot_need(uint64_t range, uint64_t n);
uint64_t	bucket_bitonic_need(bool payload, uint64_t pass_keys, uint64_t n);
uint64_t	radix_need(uint64_t n);

/*
 * Subroutine Prefix-Sums of the H-P papers (Algorithm 1): cub's inclusive sum,
 * with init added to the first element of data beforehand, which changes it.
 * data and sums may be the same.
 */
void		prefix_sums(HpsortCuda *context, cudaStream_t stream, uint32_t *data,
						uint32_t *sums, uint64_t n, uint32_t init = 0);
uint64_t	prefix_sums_need(uint64_t n);

/* An array rounded up as Carver and DeviceBuffer do. */
inline uint64_t
array_bytes(uint64_t count, uint64_t size)
{
	return (count * size + 255) / 256 * 256;
}

inline void
zero(cudaStream_t stream, void *memory, uint64_t bytes)
{
	check(cudaMemsetAsync(memory, 0, bytes, stream), "zero memory");
}

/* Blocks for one thread per thing. */
inline unsigned
blocks_for_each(uint64_t things, unsigned threads)
{
	return static_cast<unsigned>((things + threads - 1) / threads);
}

/* For jobs (job.cu): throws why spec->algorithm cannot do a job, if so. */
void		published_check_job(const HpsortCudaSpec *spec);

/* Likewise: sorts keys whose bounds have been found, and waits. */
void		published_into(HpsortCuda *context, cudaStream_t stream,
						   HpsortPublished algorithm, const Bounds &bounds,
						   bool descending, const int32_t *keys, uint64_t n,
						   int32_t *out);

} /* namespace published */
} /* namespace hpsort */

#endif							/* HPSORT_PUBLISHED_CUH */
