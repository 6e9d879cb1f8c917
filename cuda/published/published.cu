/*-------------------------------------------------------------------------
 *
 * published.cu
 *	  The table of published algorithms, their refusals, and the functions of published.h.
 *
 * What all algorithms share is here: one table that says what each can do, one refusal made from
 * the table, and one way through a sort.  An algorithm is a function of a Task and knows neither
 * its own limits nor its callers.
 *
 *-------------------------------------------------------------------------
 */
#include "common/bounds.cuh"
#include "published/bucket_bitonic.cuh"
#include "published/published.cuh"
#include "regime.h"

#include <climits>

namespace hpsort
{
namespace published
{

namespace
{

/* Returns the range of the bounds, or of the type if there are no bounds. */
uint64_t
range_of(const HpsortPublishedSpec *spec)
{
	if (!spec->bounds_known)
		return static_cast<uint64_t>(1) << 32;
	return static_cast<uint64_t>(static_cast<int64_t>(spec->hi) - spec->lo) + 1;
}

/* Returns the need of an algorithm, and 256 bytes for finding the bounds.  A need of nearly 2^64
 * means more memory than there is, and must not wrap around to little. */
template <uint64_t (*Need) (uint64_t range, uint64_t n)>
uint64_t
need_by_range(const HpsortPublishedSpec *spec, uint64_t n)
{
	const uint64_t need = Need(range_of(spec), n);

	return need + 256 < need ? need : need + 256;
}

uint64_t
need_bucket_radix(const HpsortPublishedSpec *spec, uint64_t n)
{
	return bucket_radix_need(spec->options, n) + 256;
}

uint64_t
need_comparison_free(const HpsortPublishedSpec *spec, uint64_t n)
{
	(void) n;
	return comparison_free_need(spec->options, range_of(spec)) + 256;
}

uint64_t
need_bitonic(const HpsortPublishedSpec *spec, uint64_t n)
{
	return bucket_bitonic_need(*spec, n);
}

uint64_t
need_radix(const HpsortPublishedSpec *spec, uint64_t n)
{
	return radix_need(spec->payload != 0, n);
}

constexpr uint64_t int_max = INT_MAX;

const char *const kozakai = "Kozakai, Fujimoto, Wada 2021; Kozakai 2022";
const char *const chen = "Chen, Qin, Xie, Zhao, Heng 2009";
const char *const made_anew = "it makes the keys anew from their counts";
const char *const hafeez = "Abdel-hafeez, Gordon-Ross, Abubaker 2018";

/*
 * In the order of the enum.  The four numbers are: stable, distinct keys only, floats, payload.
 * max_n is where 32 bits of the algorithm's counters or positions end, signed or not.  The lists
 * of bucket_bitonic are cut and merged, so it has no end of this kind.
 */
const HpsortPublishedInfo table[] = {
	{"hp", kozakai, "Algorithms 1 and 2", 0, 0, 0, 0, made_anew, int_max,
	 "any bounds; 8 bytes a value of the range, 4 a key",
	 need_by_range<hp_need>},
	{"one_hp", kozakai, "Algorithm 3", 0, 1, 0, 0, made_anew, int_max,
	 "distinct keys, any bounds; 8 bytes a value of the range",
	 need_by_range<one_hp_need>},
	{"zero_compressed_published", kozakai, "Algorithms 4 and 5", 0, 0, 0, 0, made_anew,
	 int_max,
	 "any bounds; 12 bytes a value of the range, 16 a key",
	 need_by_range<zero_compressed_need>},
	{"bucket_radix", "Zhang, Wu 2012", "r = 2^16, s = 2^10, or others", 0, 0, 0, 0,
	 "its partition into buckets forgets the order of equal keys", int_max,
	 "one pass for ranges up to 65536, else two; 10 bytes a key",
	 need_bucket_radix},
	{"comparison_free", hafeez, "GPU method 2", 0, 0, 0, 0, made_anew, UINT32_MAX,
	 "any bounds; 4 bytes a value of the range",
	 need_comparison_free},
	{"comparison_free_onehot", hafeez, "GPU method 1, equations 10 and 11", 1, 0, 0, 1,
	 nullptr, int_max,
	 "any bounds, with or without a payload; 1 byte for each key and value of the range",
	 need_by_range<comparison_free_onehot_need>},
	{"bucket_bitonic", chen, "Algorithms 1 to 3, merge, several GPUs", 0, 0, 1, 1,
	 nullptr, (uint64_t) 1 << 40, "int4 and float4, with or without a payload; 8 bytes a key, "
	 "4 more with a payload", need_bitonic},
	{"radix", "CUB", "DeviceRadixSort", 1, 0, 0, 1, nullptr, UINT32_MAX,
	 "any keys, with or without a payload; 5 bytes a key, 4 more with a payload",
	 need_radix},
};

static_assert(sizeof(table) / sizeof(table[0]) == HPSORT_PUBLISHED_ALGORITHMS,
			  "every algorithm has its row");

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

/* Fails unless an option is 0, or within its bounds and for this algorithm.  step 2: it must be a
 * power of two. */
void
refuse_option(const char *algorithm, const char *option, uint64_t given, bool known,
			  uint64_t least, uint64_t most, int step)
{
	if (given == 0)
		return;
	if (!known)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "%s has no option %s", algorithm, option);
	if (given < least || given > most || (step == 2 && (given & (given - 1)) != 0))
		fail(HPSORT_CUDA_BAD_ARGUMENT, "option %s of %s is %s%llu to %llu, not %llu",
			 option, algorithm, step == 2 ? "a power of two from " : "",
			 (unsigned long long) least, (unsigned long long) most,
			 (unsigned long long) given);
}

/* Fails if an option is not for the algorithm or out of its range. */
void
refuse_options(const HpsortPublishedSpec &spec, const char *name)
{
	const HpsortPublishedOptions &given = spec.options;
	const bool	hp = spec.algorithm <= HPSORT_PUBLISHED_ZERO_COMPRESSED;
	const bool	free = spec.algorithm == HPSORT_PUBLISHED_COMPARISON_FREE;
	const bool	onehot = spec.algorithm == HPSORT_PUBLISHED_COMPARISON_FREE_ONEHOT;
	const bool	radix = spec.algorithm == HPSORT_PUBLISHED_BUCKET_RADIX;
	const bool	bitonic = spec.algorithm == HPSORT_PUBLISHED_BUCKET_BITONIC;

	refuse_option(name, "block_threads", given.block_threads, hp || free, hp ? 32 : 1,
				  1024, 2);
	refuse_option(name, "blocks", given.blocks, free, 1, 65536, 2);
	refuse_option(name, "row_threads", given.row_threads, onehot, 1, 32, 2);
	refuse_option(name, "radix_bits", given.radix_bits, radix, 8, 16, 1);
	refuse_option(name, "rows", given.rows, radix, 32, 65536, 2);
	refuse_option(name, "bucket_most", given.bucket_most, bitonic, 128, 2048, 2);
	refuse_option(name, "slice_expected", given.slice_expected, bitonic, 1,
				  option_or(given.bucket_most, 512), 1);
	if (given.disorder_limit != 0 && !bitonic)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "%s has no option disorder_limit", name);
	if (!(given.disorder_limit >= 0))
		fail(HPSORT_CUDA_BAD_ARGUMENT, "option disorder_limit of %s is above zero", name);
	/* each thread has a slice of the range; threads are numbered in 32 bits */
	if (free)
	{
		const uint64_t workers = (uint64_t) option_or(given.block_threads, 16) *
			option_or(given.blocks, 1024);

		if (workers < 2 || workers > 1u << 22)
			fail(HPSORT_CUDA_BAD_ARGUMENT, "%s works with 2 to %u threads, not %llu",
				 name, 1u << 22, (unsigned long long) workers);
	}
	if (onehot && given.row_threads != 0 && given.row_threads != 1 &&
		given.row_threads != 32)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "option row_threads of %s is 1 or 32, not %u", name,
			 given.row_threads);
	if (radix && spec.bounds_known &&
		(range_of(&spec) - 1) >> 2 * option_or(given.radix_bits, 16) != 0)
		fail(HPSORT_CUDA_BAD_ARGUMENT,
			 "%s with a radix of %u bits sorts ranges of %u bits, not %llu values", name,
			 given.radix_bits, 2 * given.radix_bits, (unsigned long long) range_of(&spec));
}

/* kernels read whole words; a null pointer is aligned */
bool
is_misaligned(const void *memory)
{
	return reinterpret_cast<uintptr_t>(memory) & 3;
}

} /* namespace */

/* One text, whether a job finds the want of memory at open or at finish. */
void
refuse_memory(HpsortPublished algorithm, uint64_t n, uint64_t need, uint64_t in_use,
			  uint64_t memory_limit)
{
	Failure		failure = {};

	failure.error.code = HPSORT_CUDA_NO_MEMORY;
	failure.error.need = need;
	snprintf(failure.error.text, sizeof(failure.error.text),
			 "%s needs %llu bytes of gpu memory for %llu keys, %llu of %llu are in use",
			 table[algorithm].name, (unsigned long long) need, (unsigned long long) n,
			 (unsigned long long) in_use, (unsigned long long) memory_limit);
	throw failure;
}

/*
 * Throws if the algorithm cannot sort this at all, or not with the memory left.  memory_limit 0
 * checks the first only.  n 0 checks for any number of keys; a job uses this when it is opened.
 * What can never be sorted is checked before what does not fit at present, because a caller may
 * try the latter again.
 */
void
refuse(const HpsortPublishedSpec *spec, uint64_t n, uint64_t in_use,
	   uint64_t memory_limit)
{
	if (spec == nullptr || spec->algorithm < 0 ||
		spec->algorithm >= HPSORT_PUBLISHED_ALGORITHMS)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "no such algorithm");

	const HpsortPublishedInfo &info = table[spec->algorithm];
	const bool	bitonic = spec->algorithm == HPSORT_PUBLISHED_BUCKET_BITONIC;

	if (spec->type < HPSORT_PUBLISHED_INT4 || spec->type > HPSORT_PUBLISHED_FLOAT4_IMAGE)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "no such type");
	if (spec->type != HPSORT_PUBLISHED_INT4 && !info.floats)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "%s sorts integers only", info.name);
	if (spec->type == HPSORT_PUBLISHED_FLOAT4 && spec->bounds_known)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "bounds are for integers only");
	if (spec->bounds_known && spec->lo > spec->hi)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "lower bound %d is above upper bound %d",
			 spec->lo, spec->hi);
	if (spec->payload && !info.payload)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "%s sorts keys alone, without a payload",
			 info.name);
	if (spec->stable && (!spec->payload || spec->type == HPSORT_PUBLISHED_FLOAT4))
		fail(HPSORT_CUDA_BAD_ARGUMENT,
			 "%s is stable for integers with their row numbers only", info.name);
	if (!bitonic && (spec->nearly_sorted != 0 || spec->pass_keys != 0))
		fail(HPSORT_CUDA_BAD_ARGUMENT,
			 "%s knows neither nearly sorted lists nor several passes", info.name);
	if (spec->distinct && spec->algorithm != HPSORT_PUBLISHED_COMPARISON_FREE_ONEHOT)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "%s has no way of its own for distinct keys",
			 info.name);
	refuse_options(*spec, info.name);
	if (spec->pass_keys > HPSORT_PUBLISHED_PASS_KEYS)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "a pass sorts at most %llu keys",
			 (unsigned long long) HPSORT_PUBLISHED_PASS_KEYS);
	if (n > info.max_n)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "%s sorts at most %llu keys, not %llu",
			 info.name, (unsigned long long) info.max_n, (unsigned long long) n);
	if (memory_limit > 0 && n > 0)
	{
		const uint64_t need = info.need(spec, n);

		if (need > memory_limit || in_use > memory_limit - need)
			refuse_memory(spec->algorithm, n, need, in_use, memory_limit);
	}
}

/* Bounds come first: they are the caller's promise, and a duplicate only tells of what was
 * sorted. */
void
check_verdict(const HpsortPublishedVerdict &verdict, const HpsortPublishedSpec &spec)
{
	if (verdict.keys.n_outside != 0)
		fail_outside(verdict.keys.key, spec.lo, spec.hi);
	if (verdict.n_duplicate != 0)
	{
		Failure		failure = {};

		failure.error.code = HPSORT_CUDA_DUPLICATE;
		failure.error.key = verdict.duplicate;
		snprintf(failure.error.text, sizeof(failure.error.text),
				 "key %d occurs more than once, and %s sorts distinct keys only",
				 verdict.duplicate, table[spec.algorithm].name);
		throw failure;
	}
}

/* Every sort, a caller's or a job's, comes this way: bounds, if they are needed and not given;
 * whether it fits; the algorithm. */
void
sort_on(Task task, HpsortPublishedSpec *spec)
{
	uint64_t	used;

	if (!spec->bounds_known && needs_bounds(spec->algorithm))
	{
		task.clock->phase("bounds");

		const Bounds found = find_bounds(task.context, task.stream,
										 reinterpret_cast<const int32_t *>(task.keys),
										 task.n);

		spec->lo = found.lo;
		spec->hi = found.hi;
		spec->bounds_known = 1;
	}
	/* The range is known here, and with it the number of bins.  The need is checked before
	 * anything else is launched. */
	hpsort_cuda_memory(task.context, &used, nullptr, 0);
	if (task.input_is_spare)
	{
		/* its need is less by a list, which the table's row does not show */
		const uint64_t limit = task.context->limit.load();
		const uint64_t need = bucket_bitonic_need(*spec, task.n, false);

		refuse(spec, task.n, used, 0);
		if (need > limit || used > limit - need)
			refuse_memory(spec->algorithm, task.n, need, used, limit);
	}
	else
		refuse(spec, task.n, used, task.context->limit.load());
	task.spec = spec;
	task.map = make_key_map(spec->lo, spec->hi, spec->descending != 0);
	task.range = range_of(spec);
	if (!spec->payload)
		task.payload = task.payload_out = nullptr;
	run(task);
}

/* Adds up what each phase took.  A phase that comes again, as with several passes, is one line.
 * This is the only wait for the device that a report costs, and it is after all launches. */
void
Clock::finish()
{
	if (report_ == nullptr)
		return;
	if (marks_.empty())
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

extern "C" const HpsortPublishedInfo *
hpsort_published_algorithms(int *count)
{
	if (count)
		*count = HPSORT_PUBLISHED_ALGORITHMS;
	return table;
}

extern "C" int
hpsort_published_by_name(const char *name, HpsortPublished *algorithm)
{
	for (int i = 0; i < HPSORT_PUBLISHED_ALGORITHMS; i++)
		if (strcmp(table[i].name, name) == 0)
		{
			*algorithm = static_cast<HpsortPublished>(i);
			return 1;
		}
	return 0;
}

/* Without a device; nothing is in use. */
extern "C" HpsortCudaCode
hpsort_published_can(const HpsortPublishedSpec *spec, uint64_t n,
					 uint64_t memory_limit, HpsortCudaError *err)
{
	return guarded(err, [&] { refuse(spec, n, 0, memory_limit); });
}

/* What the algorithms have in common is here and in sort_on(), which jobs use, too. */
extern "C" HpsortCudaCode
hpsort_published_sort(HpsortCuda *context, const HpsortPublishedSpec *given,
					  const void *keys, const uint32_t *payload, uint64_t n,
					  void *out, uint32_t *payload_out, void *stream_,
					  HpsortPublishedVerdict *verdict,
					  HpsortPublishedReport *report, HpsortCudaError *err)
{
	return guarded(err, [&] {
		cudaStream_t stream = static_cast<cudaStream_t>(stream_);

		/* Arguments come first; sort_on() checks the memory when the range is known. */
		refuse(given, n, 0, 0);
		if (n > 0 && (keys == nullptr || out == nullptr ||
					  (given->payload &&
					   (payload == nullptr || payload_out == nullptr))))
			fail(HPSORT_CUDA_BAD_ARGUMENT, "no keys or no place for the result");
		if (is_misaligned(keys) || is_misaligned(out) || is_misaligned(payload) ||
			is_misaligned(payload_out))
			fail(HPSORT_CUDA_BAD_ARGUMENT, "keys are not aligned to 4 bytes");

		DeviceScope scope(context->ordinal);
		HpsortPublishedSpec spec = *given;
		/* a verdict of the caller leaves the call asynchronous */
		VerdictSlot slot(context, stream);
		HpsortPublishedVerdict *to = verdict ? verdict :
			reinterpret_cast<HpsortPublishedVerdict *>(slot.get());
		Clock		clock(stream, report);
		Task		task = {};

		/* cleared even if there are no keys: the caller reads them in any case */
		memset(to, 0, sizeof(*to));
		if (report)
			memset(report, 0, sizeof(*report));
		if (n == 0)
			return;
		task.context = context;
		task.stream = stream;
		task.keys = static_cast<const uint32_t *>(keys);
		task.payload = payload;
		task.n = n;
		task.out = static_cast<uint32_t *>(out);
		task.payload_out = payload_out;
		task.verdict = to;
		task.clock = &clock;
		sort_on(task, &spec);
		clock.finish();
		if (verdict == nullptr)
		{
			check(cudaStreamSynchronize(stream), "sort");
			check_verdict(*to, spec);
		}
	});
}

/* Chen et al. 2009, section V: a step of bucket_bitonic, for callers with lists of their own.
 * The lists are not written to; const is cast away because Elements serves lists and results. */
extern "C" HpsortCudaCode
hpsort_published_merge(HpsortCuda *context, const HpsortPublishedSpec *spec,
					   const void *a, const uint32_t *a_payload, uint64_t a_n,
					   const void *b, const uint32_t *b_payload, uint64_t b_n,
					   void *out, uint32_t *out_payload, void *stream,
					   HpsortCudaError *err)
{
	return guarded(err, [&] {
		auto		elements = [&](const void *keys, const uint32_t *payload,
								   uint64_t n) {
			if (n > 0 && (keys == nullptr || (spec->payload && payload == nullptr)))
				fail(HPSORT_CUDA_BAD_ARGUMENT, "a list is missing");
			if (is_misaligned(keys) || is_misaligned(payload))
				fail(HPSORT_CUDA_BAD_ARGUMENT, "keys are not aligned to 4 bytes");
			return Elements{static_cast<uint32_t *>(const_cast<void *>(keys)),
				spec->payload ? const_cast<uint32_t *>(payload) : nullptr};
		};

		/* merging needs no bounds, and no memory to be checked beforehand */
		refuse(spec, 0, 0, 0);
		if (spec->algorithm != HPSORT_PUBLISHED_BUCKET_BITONIC)
			fail(HPSORT_CUDA_BAD_ARGUMENT,
				 "of the published algorithms only bucket_bitonic merges");

		DeviceScope scope(context->ordinal);

		merge_lists(context, static_cast<cudaStream_t>(stream), order_of(*spec),
					elements(a, a_payload, a_n), a_n, elements(b, b_payload, b_n),
					b_n, elements(out, out_payload, a_n + b_n));
	});
}
