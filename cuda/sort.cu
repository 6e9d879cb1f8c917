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
	configure_packed_values(limits);
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

/* Makes the keys' runs by bins or by a table of values, and waits for their number.  Returns false
 * if there are more values than the table holds. */
static bool
make_runs(SortTask *task, Runs *runs)
{
	const SortInput input = task->input();
	const uint64_t range = regime_range(&task->shape);

	if (task->choice.regime == HPSORT_CUDA_FEW_DISTINCT)
		return few_distinct_runs(input, runs);
	runs->allocate(task->context, task->stream, range < input.n ? range : input.n);
	shared_runs(input, *runs);
	check(cudaStreamSynchronize(task->stream), "find the runs");
	runs->distinct = task->verdict->distinct;
	return true;
}

/* Makes the keys' runs, and by them rows if rows are wanted: by bins, or by dense ranks of few
 * values.  Returns false if make_runs() does. */
static bool
sort_by_runs(SortTask *task, SortOutput *output)
{
	const SortInput input = task->input();
	Sweeps		sweeps;

	/* for two passes, because the number of runs decides whether one is enough */
	if (output->rows != nullptr)
		sweeps.allocate(task->context, task->stream, input.n, 2);
	output->have_runs = make_runs(task, &output->runs);
	/* a key outside the bounds has no bin, so the runs lack its row */
	if (output->have_runs && output->rows != nullptr && task->verdict->n_outside == 0)
		ranked_permutation(input, task->choice.regime == HPSORT_CUDA_SHARED_HISTOGRAM,
						   output->runs, output->rows, &sweeps);
	return output->have_runs;
}

/*
 * Only FEW_DISTINCT may give up; then another regime is chosen.  It has released its memory before
 * the next one is called, so no need counts both.  PARTITION makes no rows: it scatters keys by
 * atomics, and the order of equal keys is part of the result.  PUBLISHED never comes here: job.cu
 * calls cuda/published for a job that names a paper's algorithm.
 */
void
sort_run(SortTask *task, SortOutput *output)
{
	for (;;)
	{
		switch (task->choice.regime)
		{
			case HPSORT_CUDA_SHARED_HISTOGRAM:
			case HPSORT_CUDA_FEW_DISTINCT:
				if (sort_by_runs(task, output))
					return;
				think_again(task);
				break;
			case HPSORT_CUDA_PARTITION:
				partition_sort(task->input(), task->division(), output->keys, &task->partition);
				return;
			case HPSORT_CUDA_RADIX:
				if (output->rows != nullptr)
					radix_permutation(task->input(), task->choice, output->keys, output->rows,
									  &task->radix);
				else
					radix_sort(task->input(), task->choice, output->keys, &task->radix);
				return;
			case HPSORT_CUDA_NOTHING:
			case HPSORT_CUDA_PUBLISHED:
				return;
		}
	}
}

} /* namespace hpsort */
