/*-------------------------------------------------------------------------
 *
 * published.cuh
 *	  What the published algorithms share: their table, the task that they are given, their
 *	  subroutines, and the clock that times their phases.
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
#include "published/spec.h"

/* Where kernels of a published algorithm report what they find, in pinned memory. */
struct HpsortPublishedVerdict
{
	HpsortCudaVerdict keys;		/* n_outside and key */
	uint32_t	n_duplicate;	/* one_hp: > 0 if a key occurs twice */
	int32_t		duplicate;		/* one of the keys that occur twice */
};

/* Times of the phases that the papers' figures show, and which way a sort took. */
#define HPSORT_PUBLISHED_PHASES 8
struct HpsortPublishedReport
{
	uint32_t	phases;
	const char *phase[HPSORT_PUBLISHED_PHASES];
	double		phase_ms[HPSORT_PUBLISHED_PHASES];
	uint32_t	rounds;			/* bucket_radix: choices of pivots in all passes; bucket_bitonic:
								 * levels of recursion */
	uint32_t	repaired;		/* bucket_radix: groups too disordered for insertion */
	bool		nearly_sorted;	/* bucket_bitonic: taken as nearly sorted, and so divided by the
								 * strided way */
	double		disorder;		/* bucket_bitonic: the disorder degree, if it was measured */
};

namespace hpsort
{

class KeptKeys;

namespace published
{

class Shares;

/* One row of the table of algorithms. */
struct Info
{
	const char *name;			/* as in SQL */
	const char *no_rows;		/* why it gives no permutation; null: it moves a payload, which may
								 * be row numbers */
	uint64_t	max_n;			/* most keys */

	/* Returns an upper bound of the device memory in bytes besides keys and result.  Without
	 * bounds the range counts as 2^32. */
	uint64_t	(*need) (const HpsortPublishedSpec &spec, uint64_t n);
};

/* The table of all algorithms, in the order of the enum. */
extern const Info algorithms[HPSORT_PUBLISHED_ALGORITHMS];

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

/* Copies a host's vector to the device; the vector must stay until the stream has come past it.
 * what: for the error's text. */
template <typename T>
void
copy_in(cudaStream_t stream, T *to, const std::vector<T> &from, const char *what)
{
	check(cudaMemcpyAsync(to, from.data(), from.size() * sizeof(T),
						  cudaMemcpyHostToDevice, stream), what);
}

/* Copies from the device to a host's vector of the wanted size; waits. */
template <typename T>
void
copy_out(cudaStream_t stream, std::vector<T> *to, const T *from, const char *what)
{
	if (!to->empty())
		check(cudaMemcpyAsync(to->data(), from, to->size() * sizeof(T),
							  cudaMemcpyDeviceToHost, stream), what);
	check(cudaStreamSynchronize(stream), what);
}

/* Returns the number of blocks for one thread per thing. */
inline unsigned
blocks_for_each(uint64_t things, unsigned threads)
{
	return static_cast<unsigned>((things + threads - 1) / threads);
}

/* ---- published.cu, for published_job.cu and many_gpus.cu ---- */

/* Throws if the algorithm can never sort n keys. */
void		refuse(const HpsortPublishedSpec &spec, uint64_t n);

/* Throws NO_MEMORY if need, besides what is in use, exceeds the context's limit. */
void		refuse_memory(HpsortCuda *context, HpsortPublished algorithm, uint64_t n,
						  uint64_t need);

/*
 * Sorts: finds bounds that are missing, checks the memory, calls the algorithm.  Does not wait at
 * the end.  task must have the stream, keys, n, out and their payloads.  Bounds that were found
 * are added to spec.
 */
void		sort_on(Task task, HpsortPublishedSpec *spec);

/* A task, and what it needs while it is sorted: keys of a job, which lie on a device, and their
 * numbers as the payload. */
struct KeptTask
{
	/* out, and rows unless it is null, have room for n elements; kept has the first keys of n */
	KeptTask(HpsortCuda *context, cudaStream_t stream, const KeptKeys &kept, uint64_t n,
			 uint32_t *out, uint32_t *rows);

	VerdictSlot slot;
	Clock		clock;
	DeviceBuffer numbers;
	Task		task = {};
};

/* Throws what the verdict reports, if anything. */
void		check_verdict(const HpsortPublishedVerdict &verdict,
						  const HpsortPublishedSpec &spec);

/* ---- published_job.cu, for job.cu ---- */

/* Throws if spec->algorithm cannot do the job, with the reason. */
void		published_check_job(HpsortCuda *context, const HpsortCudaSpec *spec);

/*
 * Return device memory in bytes of a job of n keys with spec.algorithm.
 *
 * need is the upper bound that regime_job_need() is for all other jobs.  If the bounds are
 * not known, the range counts as 1: finish checks what the sort really takes before anything is
 * sorted.  least is what the job cannot do without: a job of bucket_bitonic that gets less than
 * its need cuts its list, sorts the parts one by one and merges them.
 */
uint64_t	job_need(const HpsortCudaSpec &spec, uint64_t n);
uint64_t	job_least(const HpsortCudaSpec &spec, uint64_t n);

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
