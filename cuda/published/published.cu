/*-------------------------------------------------------------------------
 *
 * published.cu
 *	  The table of published algorithms, their refusals, and one way through a sort.
 *
 * An algorithm is a function of a Task and knows neither its own limits nor its callers.
 *
 *-------------------------------------------------------------------------
 */
#include "published/published.cuh"

#include <climits>

namespace hpsort
{
namespace published
{

namespace
{

/* Returns the range of the bounds, or of the type if there are no bounds. */
uint64_t
range_of(const HpsortPublishedSpec &spec)
{
	if (!spec.bounds_known)
		return static_cast<uint64_t>(1) << 32;
	return static_cast<uint64_t>(static_cast<int64_t>(spec.hi) - spec.lo) + 1;
}

/* Returns the need of an algorithm, and 256 bytes for finding the bounds.  A need of nearly 2^64
 * means more memory than there is, and must not wrap around to little. */
template <uint64_t (*Need) (uint64_t range, uint64_t n)>
uint64_t
need_by_range(const HpsortPublishedSpec &spec, uint64_t n)
{
	const uint64_t need = Need(range_of(spec), n);

	return need + 256 < need ? need : need + 256;
}

constexpr uint64_t int_max = INT_MAX;

const char *const made_anew = "it makes the keys anew from their counts";

/* Calls the task's algorithm; bounds are in spec if they are needed.  The switch has no default,
 * so that the compiler reports an algorithm that is missing. */
void
run(const Task &task)
{
	switch (task.spec->algorithm)
	{
		case HPSORT_PUBLISHED_HP:
			hp_sort(task);
			break;
		case HPSORT_PUBLISHED_ONE_HP:
			one_hp_sort(task);
			break;
		case HPSORT_PUBLISHED_ZERO_COMPRESSED:
			zero_compressed_sort(task);
			break;
		case HPSORT_PUBLISHED_BUCKET_RADIX:
			bucket_radix_sort(task);
			break;
		case HPSORT_PUBLISHED_COMPARISON_FREE:
			comparison_free_sort(task);
			break;
		case HPSORT_PUBLISHED_COMPARISON_FREE_ONEHOT:
			comparison_free_onehot_sort(task);
			break;
		case HPSORT_PUBLISHED_BUCKET_BITONIC:
			bucket_bitonic_sort(task);
			break;
		case HPSORT_PUBLISHED_RADIX:
			radix_peer_sort(task);
			break;
		case HPSORT_PUBLISHED_ALGORITHMS:
			break;
	}
}

/* Returns whether an algorithm needs bounds.  Algorithms that count by value do; the others
 * compare. */
bool
needs_bounds(HpsortPublished algorithm)
{
	return algorithm != HPSORT_PUBLISHED_BUCKET_BITONIC &&
		algorithm != HPSORT_PUBLISHED_RADIX;
}

} /* namespace */

/* max_n is where 32 bits of the algorithm's counters or positions end, signed or not.  The lists
 * of bucket_bitonic are cut and merged, so it has no end of this kind. */
const Info algorithms[] = {
	{"hp", made_anew, int_max, need_by_range<hp_need>},
	{"one_hp", made_anew, int_max, need_by_range<one_hp_need>},
	{"zero_compressed_published", made_anew, int_max, need_by_range<zero_compressed_need>},
	{"bucket_radix", "its partition into buckets forgets the order of equal keys", int_max,
	 [](const HpsortPublishedSpec &spec, uint64_t n) {
		 return bucket_radix_need(spec.options, n) + 256; }},
	{"comparison_free", made_anew, UINT32_MAX, [](const HpsortPublishedSpec &spec, uint64_t) {
		 return comparison_free_need(spec.options, range_of(spec)) + 256; }},
	{"comparison_free_onehot", nullptr, int_max, need_by_range<comparison_free_onehot_need>},
	{"bucket_bitonic", nullptr, (uint64_t) 1 << 40,
	 [](const HpsortPublishedSpec &spec, uint64_t n) { return bucket_bitonic_need(spec, n); }},
	{"radix", nullptr, UINT32_MAX, [](const HpsortPublishedSpec &spec, uint64_t n) {
		 return radix_need(spec.payload, n); }},
};

/* What can never be sorted is refused before what does not fit at present (refuse_memory()),
 * because a caller may try the latter again. */
void
refuse(const HpsortPublishedSpec &spec, uint64_t n)
{
	if (spec.algorithm < 0 || spec.algorithm >= HPSORT_PUBLISHED_ALGORITHMS)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "no such algorithm");

	const Info &info = algorithms[spec.algorithm];

	if (spec.payload && info.no_rows != nullptr)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "%s cannot return a permutation: %s", info.name,
			 info.no_rows);
	if (n > info.max_n)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "%s sorts at most %llu keys, not %llu",
			 info.name, (unsigned long long) info.max_n, (unsigned long long) n);
}

/* One text, whether a job finds the want of memory at open or at finish. */
void
refuse_memory(HpsortCuda *context, HpsortPublished algorithm, uint64_t n, uint64_t need)
{
	const uint64_t limit = context->limit.load();
	uint64_t	used;

	hpsort_cuda_memory(context, &used, nullptr, 0);
	/* no sum of used and need, which could wrap around */
	if (need > limit || used > limit - need)
		fail(HPSORT_CUDA_NO_MEMORY,
			 "%s needs %llu bytes of gpu memory for %llu keys, %llu of %llu are in use",
			 algorithms[algorithm].name, (unsigned long long) need, (unsigned long long) n,
			 (unsigned long long) used, (unsigned long long) limit);
}

/* Bounds come first: they are the caller's promise, and a duplicate only tells of what was
 * sorted. */
void
check_verdict(const HpsortPublishedVerdict &verdict, const HpsortPublishedSpec &spec)
{
	if (verdict.keys.n_outside != 0)
		fail_outside(verdict.keys.key, spec.lo, spec.hi);
	if (verdict.n_duplicate != 0)
		fail_key(HPSORT_CUDA_DUPLICATE, verdict.duplicate,
				 "key %d occurs more than once, and %s sorts distinct keys only",
				 verdict.duplicate, algorithms[spec.algorithm].name);
}

/* Every sort comes this way: bounds, if they are needed and not given; whether it fits; the
 * algorithm. */
void
sort_on(Task task, HpsortPublishedSpec *spec)
{
	if (!spec->bounds_known && needs_bounds(spec->algorithm))
	{
		task.clock->phase("bounds");

		const Bounds found = find_bounds(task.context, task.stream,
										 reinterpret_cast<const int32_t *>(task.keys),
										 task.n);

		spec->lo = found.lo;
		spec->hi = found.hi;
		spec->bounds_known = true;
	}
	/* The range is known here, and with it the number of bins.  The need is checked before
	 * anything else is launched.  Spare input saves a list, which the table does not know. */
	refuse(*spec, task.n);
	refuse_memory(task.context, spec->algorithm, task.n, task.input_is_spare ?
				  bucket_bitonic_need(*spec, task.n, false) :
				  algorithms[spec->algorithm].need(*spec, task.n));
	task.spec = spec;
	task.map = make_key_map(spec->lo, spec->hi, spec->descending);
	task.range = range_of(*spec);
	run(task);
}

/* Adds up what each phase took.  A phase that comes again, as with several passes, is one line.
 * This is the only wait for the device that a report costs, and it is after all launches. */
void
Clock::finish()
{
	if (report_ == nullptr || marks_.empty())
		return;
	/* a mark without a name ends the last phase */
	phase("");
	check(cudaEventSynchronize(marks_.back().event), "wait for the phases");
	for (size_t i = 0; i + 1 < marks_.size(); i++)
	{
		float		ms;
		uint32_t	p = 0;

		check(cudaEventElapsedTime(&ms, marks_[i].event, marks_[i + 1].event),
			  "time a phase");
		while (p < report_->phases && strcmp(report_->phase[p], marks_[i].name) != 0)
			p++;
		if (p == HPSORT_PUBLISHED_PHASES)
			continue;			/* more phases than the report has room for */
		if (p == report_->phases)
		{
			report_->phase[p] = marks_[i].name;
			report_->phase_ms[p] = 0;
			report_->phases++;
		}
		report_->phase_ms[p] += ms;
	}
}

} /* namespace published */
} /* namespace hpsort */

using namespace hpsort;
using namespace hpsort::published;

extern "C" int
hpsort_published_by_name(const char *name, HpsortPublished *algorithm)
{
	for (int i = 0; i < HPSORT_PUBLISHED_ALGORITHMS; i++)
		if (strcmp(algorithms[i].name, name) == 0)
		{
			*algorithm = static_cast<HpsortPublished>(i);
			return 1;
		}
	return 0;
}
