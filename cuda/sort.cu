/*-------------------------------------------------------------------------
 *
 * sort.cu
 *	  Sorting from device to device: finds what is not known of the keys, lets
 *	  regime.c choose, and calls the regime.
 *
 *-------------------------------------------------------------------------
 */
#include "sort.cuh"

#include "common/bounds.cuh"
#include "distinct/many_distinct.cuh"
#include "histogram/shared_histogram.cuh"
#include "passes/permutation.cuh"
#include "passes/small_sort.cuh"

#include <climits>

namespace hpsort
{

/* The limits are set for the current device in this process; setting them again, for a
 * second context of the device, changes nothing. */
void
configure_kernels(const HpsortCudaLimits &limits)
{
	configure_shared_histogram(limits);
	configure_few_distinct(limits);
	configure_partition(limits);
	configure_permutation(limits);
	configure_many_distinct(limits);
	configure_one_block(limits);
}

void
check_spec(const HpsortCudaSpec *spec)
{
	if (spec == nullptr)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "no specification");
	if (spec->bounds_known && spec->lo > spec->hi)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "lower bound %d is above upper bound %d",
			 spec->lo, spec->hi);
	if (spec->wanted & ~(HPSORT_CUDA_RUNS | HPSORT_CUDA_KEYS |
						 HPSORT_CUDA_PERMUTATION))
		fail(HPSORT_CUDA_BAD_ARGUMENT, "unknown result wanted");
}

/* To be called only after the stream has come past the kernels that were given the
 * verdict. */
void
check_verdict(const HpsortCudaVerdict *verdict, const HpsortCudaShape &shape)
{
	if (verdict->n_outside != 0)
		fail_outside(verdict->key, shape.lo, shape.hi);
}

HpsortCudaShape
shape_of(const HpsortCudaSpec &spec, uint64_t n)
{
	HpsortCudaShape shape = {};

	shape.n = n;
	shape.wanted = spec.wanted;
	shape.distinct = spec.distinct_hint;
	shape.bounds_known = spec.bounds_known;
	shape.lo = spec.bounds_known ? spec.lo : INT_MIN;
	shape.hi = spec.bounds_known ? spec.hi : INT_MAX;
	return shape;
}

KeyMap
map_of(const HpsortCudaShape &shape, bool descending)
{
	return make_key_map(shape.lo, shape.hi, descending);
}

/*
 * Takes a sample, and while the host waits for it begins the work of the regime that
 * is chosen if most keys differ from each other.
 */
static Sample
sample_and_begin(HpsortCuda *context, cudaStream_t stream, const int32_t *keys,
				 const HpsortCudaShape &shape, bool descending,
				 HpsortCudaVerdict *verdict, Begun *begun)
{
	const HpsortCudaLimits *limits = &context->limits;
	HpsortCudaShape expected = shape;
	HpsortCudaChoice choice;
	const uint64_t few = regime_few_distinct_most(limits, shape.n);
	const uint64_t many = regime_many_most(limits, &shape);
	/* the work is to be skipped where FEW_DISTINCT or MANY_DISTINCT will be chosen, and
	 * where keys without bounds span so few bits that finding their bounds saves a pass */
	Sampling	sampling(context, stream, keys, shape.n, many > few ? many : few,
						 shape.bounds_known ? 1 : SweepTuning::bounds_for_passes_bits);

	expected.distinct = shape.n;
	hpsort_cuda_choose(limits, &expected, &choice);
	if (choice.regime == HPSORT_CUDA_RADIX && radix_can_begin(shape.n))
		begun->radix.begin(context, stream, {shape.lo, shape.hi}, descending, keys,
						   shape.n, sampling.skip(), verdict);
	else if (choice.regime == HPSORT_CUDA_PARTITION)
		begun->partition.begin(context, stream, map_of(shape, descending),
							   choice.shift, choice.buckets, keys, shape.n,
							   sampling.skip(), verdict);

	const Sample sample = sampling.result();

	/* nothing was done, so that a second choice must not take the work for begun */
	if (sample.skipped)
		*begun = Begun();
	return sample;
}

/*
 * Whether the keys' own bounds could change the choice, or save RADIX a pass.  The
 * keys' bounds are at least as wide as the sample's, with which the choice is tried.
 * shape must have the number of distinct values.  MANY_DISTINCT needs no bounds, but
 * where bins fit they are better than ranks.
 */
static bool
bounds_may_help(const HpsortCudaLimits *limits, const HpsortCudaShape &shape,
				const Sample &sample)
{
	HpsortCudaShape narrowest = shape;
	HpsortCudaChoice without;
	HpsortCudaChoice choice;

	hpsort_cuda_choose(limits, &shape, &without);
	if (without.regime != HPSORT_CUDA_RADIX && without.regime != HPSORT_CUDA_MANY_DISTINCT)
		return false;
	narrowest.bounds_known = 1;
	narrowest.lo = sample.bounds.lo;
	narrowest.hi = sample.bounds.hi;
	hpsort_cuda_choose(limits, &narrowest, &choice);
	return choice.regime != without.regime ||
		(choice.regime == HPSORT_CUDA_RADIX &&
		 choice.bits <= SweepTuning::bounds_for_passes_bits &&
		 shape.n >= SweepTuning::bounds_for_passes_min_n);
}

/*
 * The sample comes before the bounds: they are not needed if few values are found, nor
 * if the sample spans more than the other regimes take.
 *
 * While the host waits for an answer the device would do nothing, for 20 us and more.
 * So the work that will most likely be needed is put on the stream before the wait, and
 * looks at the sample's word whether to do anything.  Below the thresholds of tuning.cuh
 * and regime.c the host asks nothing, as the wait would cost more than the answer saves
 * (n 1e4: 0.045 ms): small_sort.cu finds the bounds on the device, and above its sizes
 * passes leave themselves out where all keys have the same digit (sweep.cuh).
 */
HpsortCudaChoice
investigate(HpsortCuda *context, cudaStream_t stream, const int32_t *keys,
			HpsortCudaShape *shape, bool descending, HpsortCudaVerdict *verdict,
			Begun *begun)
{
	const HpsortCudaLimits *limits = &context->limits;
	HpsortCudaChoice choice;
	bool		find = !shape->bounds_known && shape->n >= SweepTuning::bounds_min_n;

	if (hpsort_cuda_wants_sample(limits, shape))
	{
		const Sample sample = sample_and_begin(context, stream, keys, *shape,
											   descending, verdict, begun);

		shape->distinct = sample.distinct;
		find = find && bounds_may_help(limits, *shape, sample);
		begun->sample = sample;
		begun->sampled = true;
	}
	else if (shape->distinct > 0)
	{
		/* by the caller's hint most keys differ, so that RADIX is right whatever their
		 * bounds are; or values are few, and are found without bounds */
		hpsort_cuda_choose(limits, shape, &choice);
		if (shape->distinct >= shape->n / 2 ||
			choice.regime == HPSORT_CUDA_FEW_DISTINCT ||
			choice.regime == HPSORT_CUDA_MANY_DISTINCT)
			find = false;
	}
	if (find)
		settle_bounds(context, stream, keys, shape);
	hpsort_cuda_choose(limits, shape, &choice);
	return choice;
}

void
settle_bounds(HpsortCuda *context, cudaStream_t stream, const int32_t *keys,
			  HpsortCudaShape *shape)
{
	const Bounds found = find_bounds(context, stream, keys, shape->n);

	shape->lo = found.lo;
	shape->hi = found.hi;
	shape->bounds_known = 1;
}

/*
 * The next choice after FEW_DISTINCT or MANY_DISTINCT has given up.  Neither of them is
 * chosen again: where FEW_DISTINCT met more values than the sample told, the larger
 * sample of MANY_DISTINCT would most likely miss some as well.  Neither has looked for
 * bounds, with which bins or a partition may become possible.
 */
static HpsortCudaChoice
think_again(HpsortCuda *context, cudaStream_t stream, const int32_t *keys,
			HpsortCudaRegime given_up, HpsortCudaShape *shape, const Begun *begun)
{
	HpsortCudaChoice next;
	HpsortCudaChoice choice;

	shape->given_up |= 1u << given_up | 1u << HPSORT_CUDA_MANY_DISTINCT;
	hpsort_cuda_choose(&context->limits, shape, &next);
	if (next.regime == HPSORT_CUDA_RADIX && !shape->bounds_known &&
		(begun == nullptr || !begun->sampled ||
		 bounds_may_help(&context->limits, *shape, begun->sample)))
	{
		settle_bounds(context, stream, keys, shape);
		hpsort_cuda_choose(&context->limits, shape, &next);
	}
	choice = next;
	/* the reason tells why this sort took longer than others of its shape */
	snprintf(choice.reason, sizeof(choice.reason), "values not as estimated: %.120s",
			 next.reason);
	return choice;
}

/*
 * FEW_DISTINCT comes before the switch because it alone may give up, and another regime
 * is chosen then.  PUBLISHED never comes here: job.cu calls cuda/published for a job
 * that names a paper's algorithm.
 */
bool
sort_into(HpsortCuda *context, cudaStream_t stream, const int32_t *keys,
		  HpsortCudaShape *shape, bool descending, int32_t *out,
		  Runs *runs, HpsortCudaVerdict *verdict, HpsortCudaChoice *choice,
		  Begun *begun)
{
	if (choice->regime == HPSORT_CUDA_FEW_DISTINCT)
	{
		if (few_distinct_runs(context, stream, map_of(*shape, false), keys, shape->n,
							  runs, verdict))
			return true;
		*choice = think_again(context, stream, keys, choice->regime, shape, begun);
	}
	switch (choice->regime)
	{
		case HPSORT_CUDA_SHARED_HISTOGRAM:
			shared_sort(context, stream, map_of(*shape, descending), keys,
						shape->n, out, verdict);
			break;
		case HPSORT_CUDA_PARTITION:
			/* begun before bounds were found, and of no use now; hpsort_cuda_sort_need()
			 * does not count its memory beside a partition's */
			if (begun)
				begun->radix = RadixStart();
			partition_sort(context, stream, map_of(*shape, descending),
						   choice->shift, choice->buckets, keys, shape->n, out,
						   verdict, begun ? &begun->partition : nullptr);
			break;
		case HPSORT_CUDA_RADIX:
			radix_sort(context, stream, {shape->lo, shape->hi}, descending, keys,
					   shape->n, out, verdict, begun ? &begun->radix : nullptr);
			break;
		case HPSORT_CUDA_NOTHING:
		case HPSORT_CUDA_FEW_DISTINCT:
		case HPSORT_CUDA_MANY_DISTINCT:
		case HPSORT_CUDA_PUBLISHED:
			break;
	}
	return false;
}

/*
 * By bins or dense ranks where a table holds all distinct values; else by a sort of
 * (key, row) pairs.  PARTITION and every other way that scatters keys by atomics is
 * out: the order of equal keys is part of the result.
 */
bool
permute_into(HpsortCuda *context, cudaStream_t stream, const int32_t *keys,
			 HpsortCudaShape *shape, bool descending, int32_t *sorted_keys,
			 uint32_t *rows, Runs *runs, HpsortCudaVerdict *verdict,
			 HpsortCudaChoice *choice, Begun *begun)
{
	if (shape->n > UINT32_MAX)
		fail(HPSORT_CUDA_BAD_ARGUMENT,
			 "a permutation numbers at most 4294967295 rows, not %llu",
			 (unsigned long long) shape->n);
	/* workspace of the passes, 13 MB at n 1e8, cleared while the host waits for the number
	 * of runs.  For two passes, because that number decides whether one is enough */
	auto		prepare = [&](Sweeps *sweeps) {
		sweeps->allocate(context, stream, shape->n, 2);
	};

	if (choice->regime == HPSORT_CUDA_SHARED_HISTOGRAM)
	{
		const KeyMap map = map_of(*shape, false);
		Sweeps		sweeps;
		Event		known;
		const uint64_t bins = static_cast<uint64_t>(map.last) + 1;

		runs->allocate(context, stream, bins < shape->n ? bins : shape->n);
		shared_runs(context, stream, map, keys, shape->n, runs->keys, nullptr,
					runs->starts, verdict);
		known.record(stream);
		prepare(&sweeps);
		known.wait("find the runs");
		/* a key outside the bounds has no bin, so that the runs lack its row */
		if (verdict->n_outside != 0)
			return false;
		runs->distinct = verdict->distinct;
		ranked_permutation(context, stream, map, true, descending, *runs, keys,
						   shape->n, rows, &sweeps);
		return true;
	}
	/* a regime that gives up releases its memory before the next one is called: no need
	 * counts both */
	if (choice->regime == HPSORT_CUDA_FEW_DISTINCT)
	{
		Sweeps		sweeps;

		if (few_distinct_runs(context, stream, map_of(*shape, false), keys, shape->n,
							  runs, verdict, [&] { prepare(&sweeps); }))
		{
			if (verdict->n_outside == 0)
				ranked_permutation(context, stream, map_of(*shape, false), false,
								   descending, *runs, keys, shape->n, rows, &sweeps);
			return true;
		}
	}
	else if (choice->regime == HPSORT_CUDA_MANY_DISTINCT &&
			 many_distinct_permutation(context, stream, {shape->lo, shape->hi}, descending,
									   keys, shape->n, rows, verdict))
		return false;
	if (choice->regime != HPSORT_CUDA_RADIX)
	{
		*choice = think_again(context, stream, keys, choice->regime, shape, begun);
		if (choice->regime != HPSORT_CUDA_RADIX)
			return permute_into(context, stream, keys, shape, descending,
								sorted_keys, rows, runs, verdict, choice, begun);
	}
	radix_permutation(context, stream, {shape->lo, shape->hi}, descending, keys,
					  shape->n, sorted_keys, rows, verdict,
					  begun ? &begun->radix : nullptr);
	return false;
}

} /* namespace hpsort */

using namespace hpsort;

/* Refuses what would be a fault on the device and end the process's context.  4 bytes are
 * enough: kernels that read 16 bytes at once find the boundaries themselves. */
static void
check_arrays(const void *keys, const void *out, uint64_t n)
{
	if (n == 0)
		return;
	if (keys == nullptr || out == nullptr)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "no keys or no place for the result");
	if ((reinterpret_cast<uintptr_t>(keys) | reinterpret_cast<uintptr_t>(out)) & 3)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "keys are not aligned to 4 bytes");
}

/*
 * With a verdict of the caller's, nothing waits at the end.  Without one the kernels
 * report to a slot of the context's, which is read here, after a wait.
 */
extern "C" HpsortCudaCode
hpsort_cuda_sort(HpsortCuda *context, const HpsortCudaSpec *spec,
				 const int32_t *keys, uint64_t n, int32_t *out, void *stream_,
				 HpsortCudaVerdict *verdict, HpsortCudaChoice *choice,
				 HpsortCudaError *err)
{
	return guarded(err, [&] {
		cudaStream_t stream = static_cast<cudaStream_t>(stream_);
		HpsortCudaChoice made;
		HpsortCudaShape shape;

		check_spec(spec);
		check_arrays(keys, out, n);

		/* declared before all that owns device memory, which is released in it */
		DeviceScope scope(context->ordinal);
		Begun		begun;
		Runs		runs;
		VerdictSlot slot(context, stream);
		HpsortCudaVerdict *to = verdict ? verdict : slot.get();

		clear_verdict(to);
		shape = shape_of(*spec, n);
		shape.wanted = HPSORT_CUDA_KEYS | HPSORT_CUDA_AT_ONCE;
		made = investigate(context, stream, keys, &shape, spec->descending != 0, to,
						   &begun);
		if (sort_into(context, stream, keys, &shape, spec->descending != 0, out,
					  &runs, to, &made, &begun))
		{
			/* with a key outside the bounds the output is undefined, whatever is in it */
			to->distinct = runs.distinct;
			if (to->n_outside == 0)
				expand_runs(stream, runs, n, 0, n, spec->descending != 0, out);
		}
		if (choice)
			*choice = made;
		if (verdict == nullptr)
		{
			check(cudaStreamSynchronize(stream), "sort");
			check_verdict(to, shape);
		}
	});
}

/*
 * A range whose bins do not fit is refused: the caller has sized run_keys and run_counts
 * by the range, and this call never waits.
 */
extern "C" HpsortCudaCode
hpsort_cuda_runs(HpsortCuda *context, const HpsortCudaSpec *spec,
				 const int32_t *keys, uint64_t n, int32_t *run_keys,
				 uint64_t *run_counts, void *stream, HpsortCudaVerdict *verdict,
				 HpsortCudaError *err)
{
	return guarded(err, [&] {
		HpsortCudaShape shape;
		HpsortCudaChoice choice;

		check_spec(spec);
		check_arrays(keys, run_keys, n);
		if (verdict == nullptr)
			fail(HPSORT_CUDA_BAD_ARGUMENT, "no verdict");
		clear_verdict(verdict);
		if (n == 0)
			return;
		shape = shape_of(*spec, n);
		hpsort_cuda_choose(&context->limits, &shape, &choice);
		if (choice.regime != HPSORT_CUDA_SHARED_HISTOGRAM)
			fail(HPSORT_CUDA_BAD_ARGUMENT,
				 "runs from device to device need bounds of at most %u bins",
				 regime_shared_bins(&context->limits));

		DeviceScope scope(context->ordinal);

		shared_runs(context, static_cast<cudaStream_t>(stream),
					map_of(shape, false), keys, n, run_keys, run_counts, nullptr,
					verdict);
	});
}

/* permute_into() refuses more rows than 32 bits number before anything is launched. */
extern "C" HpsortCudaCode
hpsort_cuda_permutation(HpsortCuda *context, const HpsortCudaSpec *spec,
						const int32_t *keys, uint64_t n, uint32_t *rows,
						void *stream_, HpsortCudaVerdict *verdict,
						HpsortCudaChoice *choice, HpsortCudaError *err)
{
	return guarded(err, [&] {
		cudaStream_t stream = static_cast<cudaStream_t>(stream_);
		HpsortCudaChoice made;
		HpsortCudaShape shape;

		check_spec(spec);
		check_arrays(keys, rows, n);

		DeviceScope scope(context->ordinal);
		Begun		begun;
		Runs		runs;
		VerdictSlot slot(context, stream);
		HpsortCudaVerdict *to = verdict ? verdict : slot.get();

		clear_verdict(to);
		shape = shape_of(*spec, n);
		shape.wanted = HPSORT_CUDA_PERMUTATION | HPSORT_CUDA_AT_ONCE;
		made = investigate(context, stream, keys, &shape, spec->descending != 0,
						   to, &begun);
		if (n > 0)
			(void) permute_into(context, stream, keys, &shape,
								spec->descending != 0, nullptr, rows, &runs, to,
								&made, &begun);
		if (choice)
			*choice = made;
		/* without bounds of the caller's no key can be reported, and nothing waits: the
		 * rows are complete in the stream's order */
		if (spec->bounds_known && verdict == nullptr)
		{
			check(cudaStreamSynchronize(stream), "permute");
			check_verdict(to, shape);
		}
	});
}
