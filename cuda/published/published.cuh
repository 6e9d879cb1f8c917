/*-------------------------------------------------------------------------
 *
 * published.cuh
 *	  What the published algorithms share: the task that they are given, their subroutines, and
 *	  the clock that times their phases.
 *
 * For the files of cuda/published.  An algorithm is one function in a file of its own.  It puts
 * its work on the task's stream, takes memory by DeviceBuffer, throws Failure, and reports keys
 * outside the bounds in the verdict.  It knows neither jobs nor callers; published.cu and
 * published_job.cu do everything else.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_PUBLISHED_CUH
#define HPSORT_PUBLISHED_CUH

#include "common/keys.cuh"
#include "published/published.h"

namespace hpsort
{

class KeptKeys;

namespace published
{

class Shares;

/* Times phases by events if there is a report.  phase() ends one phase and begins the next.  A
 * name may come again; its times are added up. */
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
	/* ends the last phase, waits, and fills the report */
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

/* A word in pinned memory that the host sets to a value other than 0 when the task is to end.
 * Host and kernels read it.  null: nobody can stop the task. */
typedef const volatile uint32_t *StopWord;

/* Returns whether the task is to end. */
__host__ __device__ inline bool
is_stopped(StopWord stop)
{
	return stop != nullptr && *stop != 0;
}

/* One call of an algorithm.  map and range are set for algorithms that need bounds.  With
 * input_is_spare, the algorithm may overwrite keys and payload once it has read them. */
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
	bool		input_is_spare;
	HpsortPublishedVerdict *verdict;
	Clock	   *clock;
	StopWord	stop;
};

/* Tasks of fewer elements end within a few ms whatever their keys are (2^22 equal keys by hp on
 * an H100: 3), and so do without the waits of step(), some 10 us each. */
constexpr uint64_t step_least = (uint64_t) 1 << 22;

/* Most elements of a launch whose atomics may all meet at one address: 25 ms on an H100, at 2.7e9
 * of them a second. */
constexpr uint64_t step_elements = (uint64_t) 1 << 26;

/* Elements that one thread reads or writes between two readings of StopWord. */
constexpr uint32_t stop_every = 1u << 14;

/* Called between two launches.  If somebody may stop the task, waits for what has been launched,
 * and throws if the task is to end.  If nobody may, as when sorts are measured, it does nothing. */
inline void
step(const Task &task)
{
	if (task.stop == nullptr)
		return;
	if (task.n + task.range >= step_least)
		check(cudaStreamSynchronize(task.stream), "sort");
	if (is_stopped(task.stop))
		fail(HPSORT_CUDA_CANCELLED, "cancelled");
}

/* Calls launch(first, count) for all of n elements: at once if nobody may stop the task, else in
 * steps. */
template <typename Launch>
void
in_steps(const Task &task, uint64_t n, Launch launch)
{
	const uint64_t most = task.stop != nullptr ? step_elements : n;

	for (uint64_t at = 0; at < n; at += most)
	{
		if (at > 0)
			step(task);
		launch(at, n - at < most ? n - at : most);
	}
}

/* The algorithms.  task.n must not be 0. */
void		hp_sort(const Task &task);
void		one_hp_sort(const Task &task);
void		zero_compressed_sort(const Task &task);
void		bucket_radix_sort(const Task &task);
void		comparison_free_sort(const Task &task);
void		comparison_free_onehot_sort(const Task &task);
void		bucket_bitonic_sort(const Task &task);
void		radix_peer_sort(const Task &task);

/* Return upper bounds, in bytes, of what the algorithms need besides keys and result. */
uint64_t	hp_need(uint64_t range, uint64_t n);
uint64_t	one_hp_need(uint64_t range, uint64_t n);
uint64_t	zero_compressed_need(uint64_t range, uint64_t n);
uint64_t	bucket_radix_need(const HpsortPublishedOptions &options, uint64_t n);
uint64_t	comparison_free_need(const HpsortPublishedOptions &options, uint64_t range);
uint64_t	comparison_free_onehot_need(uint64_t range, uint64_t n);
/* own_spare: the task does not have input_is_spare */
uint64_t	bucket_bitonic_need(const HpsortPublishedSpec &spec, uint64_t n,
								bool own_spare = true);
/* Returns the longest pass whose need with input_is_spare is within available bytes, or the
 * shortest one worth trying if there is none. */
uint64_t	bucket_bitonic_pass_keys(const HpsortPublishedSpec &spec, uint64_t n,
									 uint64_t available);
uint64_t	radix_need(bool payload, uint64_t n);

/*
 * Subroutine Prefix-Sums of the H-P papers (Algorithm 1): CUB's inclusive sums of data to sums,
 * which may be the same array.  init is added to the first element of data before, which changes
 * data.
 */
void		prefix_sums(HpsortCuda *context, cudaStream_t stream, uint32_t *data,
						uint32_t *sums, uint64_t n, uint32_t init = 0);
uint64_t	prefix_sums_need(uint64_t n);

/* Returns an option of HpsortPublishedOptions, or the authors' choice if it is 0. */
inline uint32_t
option_or(uint32_t given, uint32_t authors)
{
	return given > 0 ? given : authors;
}

/* Returns the bytes of an array, rounded up as Carver and DeviceBuffer do. */
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

/* Returns the number of blocks for one thread per thing. */
inline unsigned
blocks_for_each(uint64_t things, unsigned threads)
{
	return static_cast<unsigned>((things + threads - 1) / threads);
}

/* ---- published.cu, for published_job.cu ---- */

/* Throws what hpsort_published_can() would return.  in_use is what memory_limit (0: not checked)
 * must hold besides the need. */
void		refuse(const HpsortPublishedSpec *spec, uint64_t n, uint64_t in_use,
				   uint64_t memory_limit);

/* Throws NO_MEMORY; one text, wherever the want of memory is found. */
[[noreturn]] void refuse_memory(HpsortPublished algorithm, uint64_t n, uint64_t need,
								uint64_t in_use, uint64_t memory_limit);

/*
 * Sorts: finds bounds that are missing, checks the memory, calls the algorithm.  Does not wait at
 * the end.  task must have the stream, keys, n, out and their payloads.  Bounds that were found
 * are added to spec.
 */
void		sort_on(Task task, HpsortPublishedSpec *spec);

/* Throws what the verdict reports, if anything. */
void		check_verdict(const HpsortPublishedVerdict &verdict,
						  const HpsortPublishedSpec &spec);

/* ---- published_job.cu, for job.cu ---- */

/* Throws if spec->algorithm cannot do the job, with the reason. */
void		published_check_job(HpsortCuda *context, const HpsortCudaSpec *spec);

/* Lets further devices have a part of the keys of a job that is about to get them.  Does nothing
 * unless bucket_bitonic sorts the job. */
void		published_share(const HpsortCudaSpec &job, HpsortCuda *const *contexts,
							int count, Shares *shares);

/* Into how many parts a list was cut, and how many devices sorted them. */
struct Cut
{
	uint64_t	parts;
	size_t		devices;
};

/*
 * Sorts the n keys of a job, whose bounds have been found, into out, and waits.  The keys are
 * overwritten.  kept has all keys, or the keys that shares does not have, and has room for all.
 * If rows is not null, it receives the stable permutation.  Returns how the list was cut.
 */
Cut			published_into(HpsortCuda *context, cudaStream_t stream,
						   const HpsortCudaSpec &job, const Bounds &bounds,
						   const KeptKeys &kept, uint64_t n, int32_t *out,
						   uint32_t *rows, StopWord stop, const Shares &shares);

} /* namespace published */
} /* namespace hpsort */

#endif							/* HPSORT_PUBLISHED_CUH */
