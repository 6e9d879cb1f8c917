/*-------------------------------------------------------------------------
 *
 * sort.cu
 *	  Sorting keys in device memory: takes a sample where it may pay, lets regime.c choose, and
 *	  calls the regime.
 *
 *-------------------------------------------------------------------------
 */
#include "sort.cuh"

#include "histogram/packed_rows.cuh"
#include "histogram/shared_histogram.cuh"
#include "passes/permutation.cuh"

#include <climits>
#include <cstring>

namespace hpsort
{

/* The limits belong to the current device in this process.  Setting them again, for a second
 * context of the device, changes nothing. */
void
configure_kernels(const HpsortCudaLimits &limits)
{
	configure_shared_histogram(limits);
	configure_packed_histogram(limits);
	configure_packed_rows(limits);
	configure_few_distinct(limits);
	configure_partition(limits);
	configure_permutation(limits);
}

RegimeShape
shape_of(const HpsortCudaSpec &spec, uint64_t n)
{
	RegimeShape shape = {};

	shape.n = n;
	shape.wanted = spec.wanted;
	shape.counted = spec.counted;
	shape.lo = spec.bounds_known ? spec.lo : INT_MIN;
	shape.hi = spec.bounds_known ? spec.hi : INT_MAX;
	return shape;
}

/* Takes a sample.  While the host waits for it, begins the work of the regime that is chosen if
 * most keys differ. */
static void
sample_and_begin(SortTask *task)
{
	const HpsortCudaLimits *limits = &task->context->limits;
	const SortInput input = task->input();
	RegimeShape expected = task->shape;
	/* kernels skip the work where FEW_DISTINCT will be chosen */
	Sampling	sampling(input, regime_few_distinct_most(limits, &task->shape));

	expected.distinct = task->shape.n;
	regime_choose(limits, &expected, &task->choice);
	if (task->choice.regime == HPSORT_CUDA_RADIX && radix_can_begin(task->choice))
		task->radix.begin(input, task->choice, sampling.skip());
	else if (task->choice.regime == HPSORT_CUDA_PARTITION)
		task->partition.begin(input, task->division(), sampling.skip());

	const Sample sample = sampling.result();

	task->shape.distinct = sample.distinct;
	/* the kernels have skipped the work, so it must not count as begun */
	if (sample.skipped)
	{
		task->radix = RadixStart();
		task->partition = PartitionStart();
	}
}

/*
 * Without work, the device would be idle while the host waits for the sample, for 20 us and more.
 * The work that will most likely be needed is therefore put on the stream before the wait; its
 * kernels read the sample's verdict and do nothing if the work is not needed.
 */
void
sort_prepare(SortTask *task)
{
	const HpsortCudaLimits *limits = &task->context->limits;

	if (regime_wants_sample(limits, &task->shape))
		sample_and_begin(task);
	regime_choose(limits, &task->shape, &task->choice);
}

/* Chooses again after FEW_DISTINCT has given up. */
static void
think_again(SortTask *task)
{
	RegimeChoice *choice = &task->choice;
	char		reason[sizeof(choice->reason)];

	task->shape.without |= HPSORT_CUDA_WITHOUT(choice->regime);
	regime_choose(&task->context->limits, &task->shape, choice);
	/* the reason says why this sort took longer than others of its shape */
	snprintf(reason, sizeof(reason), "values not as estimated: %.120s", choice->reason);
	memcpy(choice->reason, reason, sizeof(reason));
}

/*
 * FEW_DISTINCT comes before the switch because only FEW_DISTINCT may give up; then another regime
 * is chosen.  PUBLISHED never comes here: job.cu calls cuda/published for a job that names a
 * paper's algorithm.
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
			{
				const uint64_t range = regime_range(&task->shape);

				output->runs.allocate(task->context, task->stream,
									  range < input.n ? range : input.n);
				shared_runs(input, output->runs);
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
		case HPSORT_CUDA_PUBLISHED:
			break;
	}
}

/* Makes rows by bins of shared memory, and the keys' runs; by the runs a bin may become a rank. */
static void
permute_by_bins(SortTask *task, SortOutput *output)
{
	const SortInput input = task->input();
	const uint64_t bins = regime_range(&task->shape);
	Runs	   *runs = &output->runs;
	Sweeps		sweeps;
	Event		known;

	runs->allocate(task->context, task->stream, bins < input.n ? bins : input.n);
	shared_runs(input, *runs);
	known.record(task->stream);
	/* The workspace of the passes, 13 MB at n 1e8, is cleared while the host waits for the number
	 * of runs.  It is for two passes, because the number of runs decides whether one is enough. */
	sweeps.allocate(task->context, task->stream, input.n, 2);
	known.wait("find the runs");
	output->have_runs = true;
	runs->distinct = task->verdict->distinct;
	/* a key outside the bounds has no bin, so the runs lack its row */
	if (task->verdict->n_outside == 0)
		ranked_permutation(input, true, *runs, output->rows, &sweeps);
}

/* Makes rows by dense ranks of few values, and the keys' runs.  Returns false if there are more
 * values than the table holds. */
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
 * Makes rows by bins or dense ranks if a table holds all distinct values, else by a sort of (key,
 * row) pairs.  PARTITION and every other regime that scatters keys by atomics is out: the order
 * of equal keys is part of the result.  A regime that gives up has released its memory before the
 * next one is called, so no need counts both.
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
	else
		permute(task, output);
}

} /* namespace hpsort */
