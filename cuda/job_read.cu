/*-------------------------------------------------------------------------
 *
 * job_read.cu
 *	  Reading a finished job: runs, keys, permutation, in parts.
 *
 *-------------------------------------------------------------------------
 */
#include "job.cuh"

using namespace hpsort;

namespace
{

/*
 * Runs from sorted keys, when they are asked for: not before, because a caller who
 * wanted keys as well may never ask, and they need 12 bytes for each.  Runs ascend,
 * so keys that were sorted the other way for a permutation are turned first; a job's
 * need has room for a second array of them here.
 */
void
need_runs(HpsortCudaJob *job)
{
	if (job->have_runs)
		return;
	if (job->sorted_descending)
	{
		DeviceBuffer turned(job->context, job->compute,
							job->n * sizeof(int32_t), "sorted keys");

		reverse_keys(job->compute, job->sorted.as<int32_t>(), job->n, 0, job->n,
					 turned.as<int32_t>());
		job->sorted = std::move(turned);
		job->sorted_descending = false;
	}
	encode_runs(job->context, job->compute, job->sorted.as<int32_t>(), job->n,
				&job->runs);
	check(cudaStreamSynchronize(job->compute), "find the runs");
	/* keys come from the runs from now on */
	job->sorted.release();
	job->have_runs = true;
	job->result.distinct = job->runs.distinct;
}

/* A part to be read must exist, and must have been asked for at the start. */
void
check_read(const HpsortCudaJob *job, uint32_t what, uint64_t first,
		   uint64_t count, uint64_t most)
{
	if (!job->finished)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "the job is not finished");
	if (!(job->spec.wanted & what))
		fail(HPSORT_CUDA_BAD_ARGUMENT, "this result was not wanted");
	if (first > most || count > most - first)
		fail(HPSORT_CUDA_BAD_ARGUMENT,
			 "cannot read %llu elements from position %llu, there are %llu",
			 (unsigned long long) count, (unsigned long long) first,
			 (unsigned long long) most);
}

/* Waits for a stream at the end of a scope: nothing outlives an error. */
class Settle
{
public:
	explicit Settle(cudaStream_t stream) : stream_(stream) {}
	~Settle() { ignore(cudaStreamSynchronize(stream_)); }
	Settle(const Settle &) = delete;
	Settle &operator=(const Settle &) = delete;

private:
	cudaStream_t stream_;
};

/*
 * Brings count elements to `to`.  produce(at, m, place) puts the work on the
 * compute stream that writes m elements, from the at-th of them on, to device
 * memory.  For host memory two slices take turns: one is copied while the
 * other is produced.
 */
template <typename T, typename Produce>
void
deliver(HpsortCudaJob *job, uint64_t count, T *to, Produce produce)
{
	const uint64_t most = REGIME_READ_SLICE / sizeof(T);

	if (count == 0 || to == nullptr)
		return;
	/* into the caller's memory at once, without a slice */
	if (is_on_device(job, to))
	{
		produce(0, count, to);
		check(cudaStreamSynchronize(job->compute), "read the result");
		return;
	}

	/* two slices: the bus takes longer for one than the device for the next */
	const uint64_t slice = count < most ? count : most;
	DeviceBuffer slices[2] = {
		DeviceBuffer(job->context, job->compute, slice * sizeof(T), "reading"),
		DeviceBuffer(job->context, job->compute, slice * sizeof(T), "reading")};
	Event		produced[2];
	Event		copied[2];
	/* behind the slices, and so destroyed before them: an error leaves no copy from
	 * memory that has been given back */
	Settle		settle(job->copy);
	int			turn = 0;

	for (uint64_t at = 0; at < count; at += slice, turn = 1 - turn)
	{
		const uint64_t m = count - at < slice ? count - at : slice;

		check_cancelled(job);
		/* the slice is free when its last copy is done; never recorded: at once */
		copied[turn].make_wait(job->compute);
		produce(at, m, slices[turn].template as<T>());
		produced[turn].record(job->compute);
		produced[turn].make_wait(job->copy);
		check(cudaMemcpyAsync(to + at, slices[turn].template as<T>(),
							  m * sizeof(T), cudaMemcpyDeviceToHost, job->copy),
			  "copy the result");
		copied[turn].record(job->copy);
	}
	check(cudaStreamSynchronize(job->copy), "copy the result");
}

/* The same for an array that is there already. */
template <typename T>
void
deliver_array(HpsortCudaJob *job, const T *from, uint64_t count, T *to)
{
	if (count == 0 || to == nullptr)
		return;
	check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDefault,
						  job->compute), "copy the result");
	check(cudaStreamSynchronize(job->compute), "copy the result");
}

} /* namespace */

/* Exact: it may have to make the runs first, and then waits for them. */
extern "C" HpsortCudaCode
hpsort_cuda_job_distinct(HpsortCudaJob *job, uint64_t *distinct,
						 HpsortCudaError *err)
{
	return job_call(job, err, [&] {
		check_read(job, HPSORT_CUDA_RUNS, 0, 0, 0);
		need_runs(job);
		*distinct = job->runs.distinct;
	});
}

/* Keys and counts separately: callers want them as two arrays, or one only. */
extern "C" HpsortCudaCode
hpsort_cuda_job_read_runs(HpsortCudaJob *job, uint64_t first, uint64_t count,
						  int32_t *keys, uint64_t *counts, HpsortCudaError *err)
{
	return job_call(job, err, [&] {
		/* whether runs were wanted at all, before they are made; then, how many */
		check_read(job, HPSORT_CUDA_RUNS, 0, 0, 0);
		need_runs(job);
		check_read(job, HPSORT_CUDA_RUNS, first, count, job->runs.distinct);
		deliver_array(job, job->runs.keys + first, count, keys);
		deliver(job, count, counts, [&](uint64_t at, uint64_t m, uint64_t *place) {
			run_counts(job->compute, job->runs, first + at, m, place);
		});
	});
}

/*
 * Expanded at the last moment, straight into device memory or slice by slice on
 * the way to host memory: the sorted keys of a job with runs exist nowhere else.
 */
extern "C" HpsortCudaCode
hpsort_cuda_job_read_keys(HpsortCudaJob *job, uint64_t first, uint64_t count,
						  int descending, int32_t *keys, HpsortCudaError *err)
{
	return job_call(job, err, [&] {
		const bool	down = descending != 0;

		check_read(job, HPSORT_CUDA_KEYS, first, count, job->n);
		if (job->have_runs)
			deliver(job, count, keys,
					[&](uint64_t at, uint64_t m, int32_t *place) {
						expand_runs(job->compute, job->runs, job->n, first + at,
									m, down, place);
					});
		else if (job->sorted_descending == down)
			deliver_array(job, job->sorted.as<int32_t>() + first, count, keys);
		else
			deliver(job, count, keys,
					[&](uint64_t at, uint64_t m, int32_t *place) {
						reverse_keys(job->compute, job->sorted.as<int32_t>(),
									 job->n, first + at, m, place);
					});
	});
}

/* In the direction that was asked for at the start: equal keys keep their order in
 * either, so one cannot be read from the other. */
extern "C" HpsortCudaCode
hpsort_cuda_job_read_permutation(HpsortCudaJob *job, uint64_t first,
								 uint64_t count, uint32_t *rows,
								 HpsortCudaError *err)
{
	return job_call(job, err, [&] {
		check_read(job, HPSORT_CUDA_PERMUTATION, first, count, job->n);
		deliver_array(job, job->rows.as<uint32_t>() + first, count, rows);
	});
}
