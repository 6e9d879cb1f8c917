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
#include "histogram/packed_rows.cuh"
#include "histogram/shared_histogram.cuh"
#include "passes/permutation.cuh"
#include "passes/small_sort.cuh"

#include <climits>
#include <cstring>

namespace hpsort
{

/* The limits are set for the current device in this process; setting them again, for a
 * second context of the device, changes nothing. */
void
configure_kernels(const HpsortCudaLimits &limits)
{
	configure_shared_histogram(limits);
	configure_packed_histogram(limits);
	configure_packed_rows(limits);
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
	shape.without = spec.without;
	shape.bounds_known = spec.bounds_known;
	shape.lo = spec.bounds_known ? spec.lo : INT_MIN;
	shape.hi = spec.bounds_known ? spec.hi : INT_MAX;
	return shape;
}

/*
 * Takes a sample, and while the host waits for it begins the work of the regime that
 * is chosen if most keys differ from each other.
 */
static void
sample_and_begin(SortTask *task)
{
	const HpsortCudaLimits *limits = &task->context->limits;
	const SortInput input = task->input();
	HpsortCudaShape expected = task->shape;
	const uint64_t few = regime_few_distinct_most(limits, &task->shape);
	const uint64_t many = regime_many_most(limits, &task->shape);
	/* the work is to be skipped where FEW_DISTINCT or MANY_DISTINCT will be chosen, and
	 * where keys without bounds span so few bits that finding their bounds saves a pass */
	Sampling	sampling(input, many > few ? many : few,
						 task->shape.bounds_known ? 1 : REGIME_FEWER_PASSES_BITS);

	expected.distinct = task->shape.n;
	hpsort_cuda_choose(limits, &expected, &task->choice);
	if (task->choice.regime == HPSORT_CUDA_RADIX && radix_can_begin(task->choice))
		task->radix.begin(input, task->choice, sampling.skip());
	else if (task->choice.regime == HPSORT_CUDA_PARTITION)
		task->partition.begin(input, task->division(), sampling.skip());

	task->sample = sampling.result();
	task->sampled = true;
	task->shape.distinct = task->sample.distinct;
	/* nothing was done, so that a second choice must not take the work for begun */
	if (task->sample.skipped)
	{
		task->radix = RadixStart();
		task->partition = PartitionStart();
	}
}

static bool
wants_bounds(const SortTask *task)
{
	return regime_wants_bounds(&task->context->limits, &task->shape, task->sampled,
							   task->sample.bounds.lo, task->sample.bounds.hi);
}

/* Puts the keys' own bounds into the shape, and chooses by them; waits for the stream. */
static void
settle_bounds(SortTask *task)
{
	const Bounds found = find_bounds(task->context, task->stream, task->keys,
									 task->shape.n);

	task->shape.lo = found.lo;
	task->shape.hi = found.hi;
	task->shape.bounds_known = 1;
	hpsort_cuda_choose(&task->context->limits, &task->shape, &task->choice);
	/* of no use now; hpsort_cuda_sort_need() does not count its memory beside a
	 * partition's */
	if (task->choice.regime != HPSORT_CUDA_RADIX)
		task->radix = RadixStart();
}

/*
 * The sample comes before the bounds: they are not needed if few values are found, nor
 * if the sample spans more than the other regimes take.
 *
 * While the host waits for an answer the device would do nothing, for 20 us and more.
 * So the work that will most likely be needed is put on the stream before the wait, and
 * looks at the sample's word whether to do anything.  Below the thresholds of regime.c
 * the host asks nothing, as the wait would cost more than the answer saves (n 1e4:
 * 0.045 ms): small_sort.cu finds the bounds on the device, and above its sizes passes
 * leave themselves out where all keys have the same digit (sweep.cuh).
 */
void
sort_prepare(SortTask *task)
{
	const HpsortCudaLimits *limits = &task->context->limits;

	if (hpsort_cuda_wants_sample(limits, &task->shape))
		sample_and_begin(task);
	hpsort_cuda_choose(limits, &task->shape, &task->choice);
	if (wants_bounds(task))
		settle_bounds(task);
}

/*
 * The next choice after FEW_DISTINCT or MANY_DISTINCT has given up.  Neither of them is
 * chosen again: where FEW_DISTINCT met more values than the sample told, the larger
 * sample of MANY_DISTINCT would most likely miss some as well.  Neither has looked for
 * bounds, with which bins or a partition may become possible.
 */
static void
think_again(SortTask *task)
{
	HpsortCudaChoice *choice = &task->choice;
	char		reason[sizeof(choice->reason)];

	task->shape.without |= HPSORT_CUDA_WITHOUT(choice->regime) |
		HPSORT_CUDA_WITHOUT(HPSORT_CUDA_MANY_DISTINCT);
	hpsort_cuda_choose(&task->context->limits, &task->shape, choice);
	if (choice->regime == HPSORT_CUDA_RADIX && !task->shape.bounds_known &&
		(!task->sampled || wants_bounds(task)))
		settle_bounds(task);
	/* the reason tells why this sort took longer than others of its shape */
	snprintf(reason, sizeof(reason), "values not as estimated: %.120s", choice->reason);
	memcpy(choice->reason, reason, sizeof(reason));
}

/*
 * FEW_DISTINCT comes before the switch because it alone may give up, and another regime
 * is chosen then.  PUBLISHED never comes here: job.cu calls cuda/published for a job
 * that names a paper's algorithm.
 */
static void
sort_keys(SortTask *task, SortOutput *output)
{
	if (task->choice.regime == HPSORT_CUDA_FEW_DISTINCT)
	{
		output->have_runs = few_distinct_runs(task->input(), &output->runs);
		if (output->have_runs)
			return;
		think_again(task);
	}

	const SortInput input = task->input();

	switch (task->choice.regime)
	{
		case HPSORT_CUDA_SHARED_HISTOGRAM:
			if (output->keys != nullptr)
				shared_sort(input, output->keys);
			else
			{
				const uint64_t range = regime_range(&task->shape);

				output->runs.allocate(task->context, task->stream,
									  range < input.n ? range : input.n);
				shared_runs(input, output->runs.keys, nullptr, output->runs.starts);
				check(cudaStreamSynchronize(task->stream), "find the runs");
				output->runs.distinct = task->verdict->distinct;
				output->have_runs = true;
			}
			break;
		case HPSORT_CUDA_PARTITION:
			partition_sort(input, task->division(), output->keys, &task->partition);
			break;
		case HPSORT_CUDA_RADIX:
			radix_sort(input, task->choice, output->keys, &task->radix);
			break;
		case HPSORT_CUDA_NOTHING:
		case HPSORT_CUDA_FEW_DISTINCT:
		case HPSORT_CUDA_MANY_DISTINCT:
		case HPSORT_CUDA_PUBLISHED:
			break;
	}
}

/* Rows by bins of shared memory, and the keys' runs, by which a bin may become a rank. */
static void
permute_by_bins(SortTask *task, SortOutput *output)
{
	const SortInput input = task->input();
	const uint64_t bins = regime_range(&task->shape);
	Runs	   *runs = &output->runs;
	Sweeps		sweeps;
	Event		known;

	runs->allocate(task->context, task->stream, bins < input.n ? bins : input.n);
	shared_runs(input, runs->keys, nullptr, runs->starts);
	known.record(task->stream);
	/* workspace of the passes, 13 MB at n 1e8, cleared while the host waits for the number
	 * of runs.  For two passes, because that number decides whether one is enough */
	sweeps.allocate(task->context, task->stream, input.n, 2);
	known.wait("find the runs");
	output->have_runs = true;
	runs->distinct = task->verdict->distinct;
	/* a key outside the bounds has no bin, so that the runs lack its row */
	if (task->verdict->n_outside == 0)
		ranked_permutation(input, true, *runs, output->rows, &sweeps);
}

/* Rows by dense ranks of few values, and the keys' runs.  False: there are more values
 * than the table holds. */
static bool
permute_by_values(SortTask *task, SortOutput *output)
{
	const SortInput input = task->input();
	Sweeps		sweeps;

	output->have_runs = few_distinct_runs(input, &output->runs, [&] {
		sweeps.allocate(task->context, task->stream, input.n, 2);
	});
	if (output->have_runs && task->verdict->n_outside == 0)
		ranked_permutation(input, false, output->runs, output->rows, &sweeps);
	return output->have_runs;
}

/*
 * By bins or dense ranks where a table holds all distinct values; else by a sort of
 * (key, row) pairs.  PARTITION and every other way that scatters keys by atomics is
 * out: the order of equal keys is part of the result.  A regime that gives up has
 * released its memory before the next one is called: no need counts both.
 */
static void
permute(SortTask *task, SortOutput *output)
{
	for (;;)
	{
		switch (task->choice.regime)
		{
			case HPSORT_CUDA_SHARED_HISTOGRAM:
				permute_by_bins(task, output);
				return;
			case HPSORT_CUDA_FEW_DISTINCT:
				if (permute_by_values(task, output))
					return;
				break;
			case HPSORT_CUDA_MANY_DISTINCT:
				if (many_distinct_permutation(task->input(), output->rows))
					return;
				break;
			case HPSORT_CUDA_RADIX:
				radix_permutation(task->input(), task->choice, output->keys, output->rows,
								  &task->radix);
				return;
			case HPSORT_CUDA_NOTHING:
				return;
			case HPSORT_CUDA_PARTITION:
			case HPSORT_CUDA_PUBLISHED:
				break;
		}
		think_again(task);
	}
}

void
sort_run(SortTask *task, SortOutput *output)
{
	if (output->rows == nullptr)
		sort_keys(task, output);
	else if (task->shape.n > UINT32_MAX)
		fail(HPSORT_CUDA_BAD_ARGUMENT,
			 "a permutation numbers at most 4294967295 rows, not %llu",
			 (unsigned long long) task->shape.n);
	else
		permute(task, output);
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
 * What hpsort_cuda_sort() and hpsort_cuda_permutation() have in common.  With a verdict
 * of the caller's, nothing waits at the end.  Without one the kernels report to a slot
 * of the context's, which is read here, after a wait.
 */
static void
sort_at_once(SortTask *task, SortOutput *output, bool settle, HpsortCudaVerdict *verdict,
			 HpsortCudaChoice *choice)
{
	VerdictSlot slot(task->context, task->stream);

	task->verdict = verdict ? verdict : slot.get();
	clear_verdict(task->verdict);
	sort_prepare(task);
	sort_run(task, output);
	if (choice)
		*choice = task->choice;
	/* with a key outside the bounds the output is undefined, whatever is in it */
	if (output->have_runs && output->keys != nullptr)
	{
		task->verdict->distinct = output->runs.distinct;
		if (task->verdict->n_outside == 0)
			expand_runs(task->stream, output->runs, task->shape.n, 0, task->shape.n,
						task->descending, output->keys);
	}
	if (settle && verdict == nullptr)
	{
		check(cudaStreamSynchronize(task->stream), "sort");
		check_verdict(task->verdict, task->shape);
	}
}

/* All keys are there, and what is wanted is written where it is wanted. */
static HpsortCudaShape
shape_at_once(const HpsortCudaSpec &spec, uint64_t n, uint32_t wanted)
{
	HpsortCudaShape shape = shape_of(spec, n);

	shape.wanted = wanted | HPSORT_CUDA_AT_ONCE;
	return shape;
}

extern "C" HpsortCudaCode
hpsort_cuda_sort(HpsortCuda *context, const HpsortCudaSpec *spec,
				 const int32_t *keys, uint64_t n, int32_t *out, void *stream,
				 HpsortCudaVerdict *verdict, HpsortCudaChoice *choice,
				 HpsortCudaError *err)
{
	return guarded(err, [&] {
		check_spec(spec);
		check_arrays(keys, out, n);

		/* declared before all that owns device memory, which is released in it */
		DeviceScope scope(context->ordinal);
		SortTask	task = {context, static_cast<cudaStream_t>(stream), keys,
			shape_at_once(*spec, n, HPSORT_CUDA_KEYS), spec->descending != 0, nullptr};
		SortOutput	output;

		output.keys = out;
		sort_at_once(&task, &output, true, verdict, choice);
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
		check_spec(spec);
		check_arrays(keys, run_keys, n);
		if (verdict == nullptr)
			fail(HPSORT_CUDA_BAD_ARGUMENT, "no verdict");
		clear_verdict(verdict);
		if (n == 0)
			return;

		SortTask	task = {context, static_cast<cudaStream_t>(stream), keys,
			shape_of(*spec, n), false, verdict};

		hpsort_cuda_choose(&context->limits, &task.shape, &task.choice);
		if (task.choice.regime != HPSORT_CUDA_SHARED_HISTOGRAM)
			fail(HPSORT_CUDA_BAD_ARGUMENT,
				 "runs from device to device need bounds of at most %u bins",
				 regime_shared_bins(&context->limits));

		DeviceScope scope(context->ordinal);

		shared_runs(task.input(), run_keys, run_counts, nullptr);
	});
}

/* Without bounds of the caller's no key can be reported, and nothing waits: the rows are
 * complete in the stream's order. */
extern "C" HpsortCudaCode
hpsort_cuda_permutation(HpsortCuda *context, const HpsortCudaSpec *spec,
						const int32_t *keys, uint64_t n, uint32_t *rows,
						void *stream, HpsortCudaVerdict *verdict,
						HpsortCudaChoice *choice, HpsortCudaError *err)
{
	return guarded(err, [&] {
		check_spec(spec);
		check_arrays(keys, rows, n);

		DeviceScope scope(context->ordinal);
		SortTask	task = {context, static_cast<cudaStream_t>(stream), keys,
			shape_at_once(*spec, n, HPSORT_CUDA_PERMUTATION), spec->descending != 0,
			nullptr};
		SortOutput	output;

		output.rows = rows;
		sort_at_once(&task, &output, spec->bounds_known != 0, verdict, choice);
	});
}
