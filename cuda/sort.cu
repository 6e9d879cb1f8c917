/*-------------------------------------------------------------------------
 *
 * sort.cu
 *	  Device to device: finds out what is not known, asks regime.c, and calls
 *	  the regime.  job.cu uses the same steps for keys that it has collected.
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

/* Attributes belong to a device and a process; setting them twice is harmless. */
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

/* The caller's contract, as far as it can be checked without looking at keys. */
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

/*
 * What the kernels reported, as an error.  To be asked for only when the stream has
 * come past them; shape has the bounds that they were given.
 */
void
check_verdict(const HpsortCudaVerdict *verdict, const HpsortCudaShape &shape)
{
	if (verdict->n_outside != 0)
		fail_outside(verdict->key, shape.lo, shape.hi);
}

/* What is known at the start; unknown bounds are those of the type. */
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

/* Bins count from the end that comes first in the output. */
KeyMap
map_of(const HpsortCudaShape &shape, bool descending)
{
	return make_key_map(shape.lo, shape.hi, descending);
}

/*
 * Takes a sample, and begins meanwhile what will be needed if it says nothing new: if
 * most keys turn out to be different.
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
	/* the digits of values that will be ranked are not those of the keys, and digits of
	 * keys without bounds are not worth counting where bounds would save a pass; where
	 * they are given there is nothing to be saved */
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

	/* nothing was counted: it must not pass for begun, should the other way turn out
	 * to be closed */
	if (sample.skipped)
		*begun = Begun();
	return sample;
}

/*
 * Whether the keys' own bounds could change anything: the narrowest that there can
 * be are those of the sample.  shape has its number of distinct values already.  Ranks
 * need no bounds, but bins are better where there are as few of them.
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
 * The sample first: if few values are found, the bounds are not needed at all;
 * if it spans more than any other regime can take, neither.
 *
 * Every answer from the device is a time in which it does nothing, 20 us and more; so
 * what will most likely be needed is put on the stream before the answer is waited
 * for, and what turns out not to be needed has been told so by the sample itself.
 * Below the thresholds of tuning.cuh and regime.c nothing is asked at all: small_sort.cu
 * finds the bounds without telling the host, where an answer would cost more than it
 * saves (n 1e4: 0.045 ms), and from there on passes leave out by themselves what keys
 * have in common (sweep.cuh).
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
		/* told that most keys are different: sort them all, whatever their bounds; that
		 * values are few: they are found without bounds */
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

/* The bounds of the keys, into shape, as if the caller had given them; waits for
 * the stream. */
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
 * After FEW_DISTINCT or MANY_DISTINCT has given up: the next choice.  Where there are
 * more values than the first holds, though a sample saw few, a larger sample would most
 * likely miss some as well, so that neither is chosen then.  The bounds, which both did
 * without, may open the way to bins.
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
	/* else nobody could tell why it took longer than others like it */
	snprintf(choice.reason, sizeof(choice.reason), "values not as estimated: %.120s",
			 next.reason);
	return choice;
}

/*
 * The one switch over regimes.  FEW_DISTINCT is tried first because it alone can
 * turn out to be wrong, and leaves nothing behind when it does.  PUBLISHED does not
 * come here: a job that asks for a paper's algorithm goes to cuda/published itself.
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
			/* of no use any more, as bounds were found since; the need of a partition
			 * does not count both */
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
 * Dense ranks where a table holds the distinct values, and all of them are found; a
 * sort of (key, row) pairs else.  Nothing scattered by atomics may be used here: the
 * order of equal keys is part of the result.
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
	/* workspace of the passes, cleared while the host hears how many runs there are:
	 * 13 MB at n 1e8, of which the passes see nothing this way.  For two of them,
	 * because whether one will do is not known before */
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
		/* such a key has no bin, so that the runs are not those of all rows */
		if (verdict->n_outside != 0)
			return false;
		runs->distinct = verdict->distinct;
		ranked_permutation(context, stream, map, true, descending, *runs, keys,
						   shape->n, rows, &sweeps);
		return true;
	}
	/* what a way that is given up has taken goes back before the next one takes its
	 * own: no need counts both */
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

/* Misuse that would be a fault on the device, and end the process's context.
 * Kernels use 16-byte accesses but find the 16-byte boundaries themselves. */
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
 * With a verdict of the caller's, nothing waits at the end; with none, a slot
 * of the context's serves, and has to be read before it is given back.
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

		/* first: what owns memory gives it back on this device's stream */
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
			/* else the output is undefined, and nobody will read it */
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
 * A range that does not fit is refused rather than sorted some other way: the caller
 * sized run_keys and run_counts by it.  One kernel, and never a wait.
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

/*
 * Rows are 32-bit, which permute_into() checks before anything is launched.  The
 * verdict is cleared by the host before the first kernel that could write to it.
 */
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
		/* without bounds of the caller's there is nothing that could be reported:
		 * the slot goes back unread, and the result is in the stream's order */
		if (spec->bounds_known && verdict == nullptr)
		{
			check(cudaStreamSynchronize(stream), "permute");
			check_verdict(to, shape);
		}
	});
}
