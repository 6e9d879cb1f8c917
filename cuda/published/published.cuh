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

#include "common/keys.cuh"
#include "published/published.h"

namespace hpsort
{

class KeptKeys;

namespace published
{

class Shares;

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

/*
 * A word in pinned memory that turns from 0 to something else when the task is
 * to end, for the host and for kernels; null: nobody can stop it.
 */
typedef const volatile uint32_t *StopWord;

__host__ __device__ inline bool
is_stopped(StopWord stop)
{
	return stop != nullptr && *stop != 0;
}

/*
 * One call.  map and range are for algorithms that need bounds.  With
 * input_is_spare keys and payload may be written to, once they have been read.
 */
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

/*
 * Smaller tasks are over in a few ms whatever their keys are (2^22 equal ones,
 * hp on an H100: 3) and do without waits in between, at some 10 us each.
 */
constexpr uint64_t step_least = (uint64_t) 1 << 22;

/*
 * Most elements of a launch whose atomics may all meet on one address: 25 ms
 * on an H100, at 2.7e9 of them a second.
 */
constexpr uint64_t step_elements = (uint64_t) 1 << 26;

/* Elements a thread of its own reads or writes between two looks at StopWord. */
constexpr uint32_t stop_every = 1u << 14;

/*
 * Between two launches: if somebody may stop the task, waits for what has been
 * launched and looks.  Otherwise, as in what is measured, it does not wait.
 */
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

/* launch(first, count) for all of n elements, in steps if need be. */
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
uint64_t	bucket_radix_need(const HpsortPublishedOptions &options, uint64_t n);
uint64_t	comparison_free_need(const HpsortPublishedOptions &options, uint64_t range);
uint64_t	comparison_free_onehot_need(uint64_t range, uint64_t n);
/* own_spare: without input_is_spare. */
uint64_t	bucket_bitonic_need(const HpsortPublishedSpec &spec, uint64_t n,
								bool own_spare = true);
/* The longest pass whose need with input_is_spare is within available bytes;
 * if none is, the shortest that is worth trying. */
uint64_t	bucket_bitonic_pass_keys(const HpsortPublishedSpec &spec, uint64_t n,
									 uint64_t available);
uint64_t	radix_need(bool payload, uint64_t n);

/*
 * Subroutine Prefix-Sums of the H-P papers (Algorithm 1): cub's inclusive sum,
 * with init added to the first element of data beforehand, which changes it.
 * data and sums may be the same.
 */
void		prefix_sums(HpsortCuda *context, cudaStream_t stream, uint32_t *data,
						uint32_t *sums, uint64_t n, uint32_t init = 0);
uint64_t	prefix_sums_need(uint64_t n);

/* An option of HpsortPublishedOptions, or what stands for its 0. */
inline uint32_t
option_or(uint32_t given, uint32_t authors)
{
	return given > 0 ? given : authors;
}

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

/* ---- published.cu, for published_job.cu ---- */

/*
 * Throws what hpsort_published_can() returns; in_use is what the limit (0: not
 * looked at) has to hold besides the need.
 */
void		refuse(const HpsortPublishedSpec *spec, uint64_t n, uint64_t in_use,
				   uint64_t memory_limit);

/* The refusal for want of memory, the same whenever it is found. */
[[noreturn]] void refuse_memory(HpsortPublished algorithm, uint64_t n, uint64_t need,
								uint64_t in_use, uint64_t memory_limit);

/*
 * Finds bounds that are missing, looks at the memory, sorts; does not wait at
 * the end.  task has the stream, keys, n, out, what goes with them, and the spec,
 * whose bounds are completed.
 */
void		sort_on(Task task, HpsortPublishedSpec *spec);

/* Throws what the verdict says, if anything. */
void		check_verdict(const HpsortPublishedVerdict &verdict,
						  const HpsortPublishedSpec &spec);

/* ---- published_job.cu, for job.cu ---- */

/* Throws why spec->algorithm cannot do a job, if so. */
void		published_check_job(HpsortCuda *context, const HpsortCudaSpec *spec);

/* Lets further devices have a part of the keys of a job that is about to get them; not
 * of one that another algorithm than bucket_bitonic sorts. */
void		published_share(const HpsortCudaSpec &job, HpsortCuda *const *contexts,
							int count, Shares *shares);

/* Into how many parts a list was cut, and by how many devices it was sorted. */
struct Cut
{
	uint64_t	parts;
	size_t		devices;
};

/*
 * Sorts the n keys of a job, whose bounds have been found, and waits; they are
 * overwritten.  kept has all of them, or else those that shares has not, and room for
 * all.  rows, if not null, receives the stable permutation.
 */
Cut			published_into(HpsortCuda *context, cudaStream_t stream,
						   const HpsortCudaSpec &job, const Bounds &bounds,
						   const KeptKeys &kept, uint64_t n, int32_t *out,
						   uint32_t *rows, StopWord stop, const Shares &shares);

} /* namespace published */
} /* namespace hpsort */

#endif							/* HPSORT_PUBLISHED_CUH */
