/*-------------------------------------------------------------------------
 *
 * job_read.cu
 *	  Reading a finished job: runs, keys, permutation, in parts.
 *
 * The bodies of the read calls of hpsort_cuda.h, whose comments are the contract.
 *
 *-------------------------------------------------------------------------
 */
#include "job.cuh"

#include <algorithm>
#include <cstring>

using namespace hpsort;

namespace
{

/*
 * Makes the runs of a job that ended with sorted keys.  Called when runs are read and not before:
 * a caller that also wanted keys may never read the runs, which take 12 bytes each.  Runs ascend,
 * so keys that were sorted downwards for a permutation are reversed first, into a second array,
 * which the job's need has room for.
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
	/* from here on keys are expanded from the runs */
	job->sorted.release();
	job->sums.forget();
	job->have_runs = true;
}

/* Fails unless the job is finished, `what` (a bit of spec.wanted) was wanted, and count of `most`
 * elements are there from first on. */
void
check_read(const HpsortCudaJob *job, uint32_t what, uint64_t first,
		   uint64_t count, uint64_t most)
{
	if (!job->finished)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "the job is not finished");
	if (!(job->spec.wanted & what))
		fail(HPSORT_CUDA_BAD_ARGUMENT, "this result was not wanted");
	if (job->groups)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "the keys of groups are not known one by one");
	if (first > most || count > most - first)
		fail(HPSORT_CUDA_BAD_ARGUMENT,
			 "cannot read %llu elements from position %llu, there are %llu",
			 (unsigned long long) count, (unsigned long long) first,
			 (unsigned long long) most);
}

/* Waits for a stream at the end of a scope, so that no work on it outlives an error. */
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
 * Brings count elements to `to`.  produce(at, m, place) puts work on stream compute that writes m
 * elements, from the at-th on, to device memory.  Two slices take turns: one is copied while the
 * other is produced.
 */
template <typename T, typename Produce>
void
deliver(HpsortCudaJob *job, uint64_t count, T *to, Produce produce)
{
	const uint64_t most = REGIME_READ_SLICE / sizeof(T);

	if (count == 0 || to == nullptr)
		return;
	/* two are enough: the bus takes longer for one than the device for the next */
	const uint64_t slice = count < most ? count : most;
	DeviceBuffer slices[2] = {
		DeviceBuffer(job->context, job->compute, slice * sizeof(T), "reading"),
		DeviceBuffer(job->context, job->compute, slice * sizeof(T), "reading")};
	Event		produced[2];
	Event		copied[2];
	/* declared after the slices and so destroyed before them, so that no slice is released while
	 * a copy reads it */
	Settle		settle(job->copy);
	int			turn = 0;

	for (uint64_t at = 0; at < count; at += slice, turn = 1 - turn)
	{
		const uint64_t m = count - at < slice ? count - at : slice;

		check_cancelled(job);
		/* waits until the slice's last copy is done; an event that was never recorded does not
		 * wait */
		copied[turn].make_wait(job->compute);
		produce(at, m, slices[turn].template as<T>());
		produced[turn].record(job->compute);
		produced[turn].make_wait(job->copy);
		check(cudaMemcpyAsync(to + at, slices[turn].template as<T>(),
							  m * sizeof(T), cudaMemcpyDefault, job->copy),
			  "copy the result");
		copied[turn].record(job->copy);
	}
	check(cudaStreamSynchronize(job->copy), "copy the result");
}

/* Copies count elements of an array on the device to `to`, unless that is null. */
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

/* Fails unless keys are there, or runs, in ascending order. */
void
check_ascending(const HpsortCudaJob *job)
{
	check_read(job, HPSORT_CUDA_KEYS | HPSORT_CUDA_RUNS, 0, 0, 0);
	if (job->sorted_descending)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "keys that were sorted downwards for a permutation");
}

/* Fails unless all positions, beyond which the device would read, are below end. */
void
check_positions(const HpsortCudaJob *job, const uint64_t *positions, uint64_t count, uint64_t end)
{
	for (uint64_t i = 0; i < count; i++)
		if (positions[i] >= end)
			fail(HPSORT_CUDA_BAD_ARGUMENT, "no key at position %llu of %llu",
				 (unsigned long long) positions[i], (unsigned long long) job->n);
}

/*
 * Answers count questions about the keys, of which there are some if there are questions.  Both
 * are in host memory, and go in parts of as much memory as reading in order takes.  find(asked, m,
 * found) puts the work on the compute stream that answers m of them in device memory.
 */
template <typename Question, typename Answer, typename Find>
void
answer(HpsortCudaJob *job, const Question *questions, uint64_t count, Answer *answers, Find find)
{
	const uint64_t most = std::min(REGIME_READ_SLICE / sizeof(uint64_t), job->n);
	const uint64_t part = std::min(most, count);

	if (count == 0)
		return;

	DeviceBuffer asked(job->context, job->compute, part * sizeof(Question), "questions");
	DeviceBuffer found(job->context, job->compute, part * sizeof(Answer), "reading");
	Settle		settle(job->compute);

	for (uint64_t at = 0; at < count; at += part)
	{
		const uint64_t m = std::min(part, count - at);

		check_cancelled(job);
		check(cudaMemcpyAsync(asked.as<Question>(), questions + at, m * sizeof(Question),
							  cudaMemcpyHostToDevice, job->compute), "copy questions");
		find(asked.as<Question>(), m, found.as<Answer>());
		check(cudaMemcpyAsync(answers + at, found.as<Answer>(), m * sizeof(Answer),
							  cudaMemcpyDeviceToHost, job->compute), "copy the result");
	}
	check(cudaStreamSynchronize(job->compute), "copy the result");
}

/* Returns how many keys come before the group that begins with a key, which need not be there. */
uint64_t
keys_before(const KeyGroups &groups, int32_t key)
{
	const int64_t distance = static_cast<int64_t>(key) - static_cast<int32_t>(groups.map.base);

	if (distance < 0)
		return 0;
	if (distance > groups.map.last)
		return groups.keys_before.back();
	if (distance & ((INT64_C(1) << groups.bits) - 1))
		fail(HPSORT_CUDA_BAD_ARGUMENT, "no group begins with %d", key);
	return groups.keys_before[static_cast<size_t>(distance) >> groups.bits];
}

/* Returns the sum of the keys before a position, where a group begins or ends. */
uint64_t
sum_before(const KeyGroups &groups, uint64_t position)
{
	const std::vector<uint64_t> &before = groups.keys_before;
	const auto	found = std::lower_bound(before.begin(), before.end(), position);

	if (found == before.end() || *found != position)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "no group begins or ends at position %llu",
			 (unsigned long long) position);
	return groups.sums_before[static_cast<size_t>(found - before.begin())];
}

} /* namespace */

/* Exact; makes the runs first if they are not there, and waits for them. */
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

/* Keys and counts go to two arrays, either of which may be null. */
extern "C" HpsortCudaCode
hpsort_cuda_job_read_runs(HpsortCudaJob *job, uint64_t first, uint64_t count,
						  int32_t *keys, uint64_t *counts, HpsortCudaError *err)
{
	return job_call(job, err, [&] {
		/* checked twice: the number of runs is known only after they are made */
		check_read(job, HPSORT_CUDA_RUNS, 0, 0, 0);
		need_runs(job);
		check_read(job, HPSORT_CUDA_RUNS, first, count, job->runs.distinct);
		deliver_array(job, job->runs.keys + first, count, keys);
		deliver(job, count, counts, [&](uint64_t at, uint64_t m, uint64_t *place) {
			run_counts(job->compute, job->runs, first + at, m, place);
		});
	});
}

/* The sorted keys of a job with runs are not in memory: they are expanded here, into the caller's
 * device memory or slice by slice on the way to host memory. */
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

/* Reads in parts of as much memory as reading in order takes. */
extern "C" HpsortCudaCode
hpsort_cuda_job_read_at(HpsortCudaJob *job, const uint64_t *positions, uint64_t count,
						int32_t *keys, HpsortCudaError *err)
{
	return job_call(job, err, [&] {
		check_read(job, HPSORT_CUDA_KEYS | HPSORT_CUDA_RUNS, 0, 0, job->n);
		check_positions(job, positions, count, job->n);
		answer(job, positions, count, keys,
			   [&](const uint64_t *where, uint64_t m, int32_t *found) {
				   if (job->have_runs)
					   runs_at(job->compute, job->runs, job->n, where, m, found);
				   else
					   keys_at(job->compute, job->sorted.as<int32_t>(), job->n,
							   job->sorted_descending, where, m, found);
			   });
	});
}

/* Reads in parts, as hpsort_cuda_job_read_at() does. */
extern "C" HpsortCudaCode
hpsort_cuda_job_read_below(HpsortCudaJob *job, const int32_t *keys, uint64_t count,
						   uint64_t *positions, HpsortCudaError *err)
{
	return job_call(job, err, [&] {
		if (job->groups && job->finished)
		{
			for (uint64_t i = 0; i < count; i++)
				positions[i] = keys_before(*job->groups, keys[i]);
			return;
		}
		check_ascending(job);
		if (job->n == 0)
		{
			memset(positions, 0, count * sizeof(uint64_t));
			return;
		}
		answer(job, keys, count, positions,
			   [&](const int32_t *others, uint64_t m, uint64_t *found) {
				   if (job->have_runs)
					   runs_below(job->compute, job->runs, others, m, found);
				   else
					   keys_below(job->compute, job->sorted.as<int32_t>(), job->n, others, m,
								  found);
			   });
	});
}

/* Reads in parts, as hpsort_cuda_job_read_at() does. */
extern "C" HpsortCudaCode
hpsort_cuda_job_read_sums(HpsortCudaJob *job, const uint64_t *positions, uint64_t count,
						  uint64_t *sums, HpsortCudaError *err)
{
	return job_call(job, err, [&] {
		if (job->groups && job->finished)
		{
			for (uint64_t i = 0; i < count; i++)
				sums[i] = sum_before(*job->groups, positions[i]);
			return;
		}
		check_ascending(job);
		check_positions(job, positions, count, job->n + 1);
		if (job->n == 0)
		{
			memset(sums, 0, count * sizeof(uint64_t));
			return;
		}

		const SummedKeys keys = job->have_runs ?
			SummedKeys{job->runs.keys, job->runs.starts, job->runs.distinct} :
			SummedKeys{job->sorted.as<int32_t>(), nullptr, job->n};

		answer(job, positions, count, sums,
			   [&](const uint64_t *where, uint64_t m, uint64_t *found) {
				   job->sums.read(job->context, job->compute, keys, where, m, found);
			   });
	});
}

/* In spec.descending's direction only: equal keys keep their order in both directions, so neither
 * permutation is the other one reversed. */
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
