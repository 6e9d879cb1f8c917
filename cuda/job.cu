/*-------------------------------------------------------------------------
 *
 * job.cu
 *	  Jobs: keys arrive in chunks and are sorted at the end.
 *
 * The bodies of the job calls of hpsort_cuda.h that open, add, sort and close; job_read.cu reads
 * results, packed.cu adds packed values.
 *
 * A job has two streams.  On stream copy chunks come to the device.  On stream compute they are
 * counted, or their bounds are found, as soon as they are there.  The mode of a job is chosen
 * when it is opened:
 *
 * - counting: bounds given, narrow range, no permutation wanted.  Chunks go through a ring of
 *   buffers into 64-bit bins and are forgotten.
 *   Rows of a layout with a grain are added up by groups instead (KeyGroups).
 * - keeping: all keys are kept side by side (kept_keys.cu) and sorted in finish.  If a published
 *   algorithm is asked for, it sorts (published/published_job.cu), and the keys may be on several
 *   devices (published/shares.cu).
 *
 * Either mode ends with runs, or with keys in order from which runs can be made.
 *
 *-------------------------------------------------------------------------
 */
#include "job.cuh"

#include "distinct/few_distinct.cuh"
#include "published/published.cuh"
#include "sort.cuh"

#include <algorithm>
#include <memory>

using namespace hpsort;

namespace
{

/* Fails with BAD_ARGUMENT if the specification breaks its contract. */
void
check_spec(const HpsortCudaSpec *spec)
{
	if (spec == nullptr)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "no specification");
	if (spec->bounds_known && spec->lo > spec->hi)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "lower bound %d is above upper bound %d",
			 spec->lo, spec->hi);
	if (spec->wanted == 0)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "nothing is wanted");
	if (spec->wanted & ~(HPSORT_CUDA_RUNS | HPSORT_CUDA_KEYS |
						 HPSORT_CUDA_PERMUTATION))
		fail(HPSORT_CUDA_BAD_ARGUMENT, "unknown result wanted");
}

/* Copies n keys to the next buffer of the ring, and counts them there. */
void
count_piece(HpsortCudaJob *job, const int32_t *keys, uint64_t n)
{
	RingSlot   &slot = job->counted.ring[job->counted.next_slot];
	const uint64_t bytes = n * sizeof(int32_t);
	Event		copied;

	job->counted.next_slot = (job->counted.next_slot + 1) % HPSORT_CUDA_CHUNKS_IN_FLIGHT;
	/* a wait of the stream: the host runs ahead, as far as the driver queues work */
	slot.counted.make_wait(job->copy);
	/* released on stream copy, though stream compute read it last: copy has just been
	 * made to wait for that */
	if (slot.memory.bytes() < bytes)
	{
		slot.memory.release_on(job->copy);
		slot.memory = DeviceBuffer(job->context, job->copy, bytes, "a chunk");
	}
	check(cudaMemcpyAsync(slot.memory.as<int32_t>(), keys, bytes,
						  cudaMemcpyDefault, job->copy), "copy a chunk");
	copied.record(job->copy);
	copied.make_wait(job->compute);
	job->counted.bins.add(job->context, job->compute, slot.memory.as<int32_t>(), n,
				  job->verdict.get());
	slot.counted.record(job->compute);
}

/*
 * Adds keys in counting mode.  They go through the ring in pieces of at most HPSORT_CUDA_CHUNK_MAX
 * bytes, so that one large array needs no more device memory than many small ones.  copied is
 * recorded behind the last reading of the caller's memory.
 */
void
add_counting(HpsortCudaJob *job, const int32_t *keys, uint64_t n, Event *copied)
{
	const uint64_t most = HPSORT_CUDA_CHUNK_MAX / sizeof(int32_t);

	for (uint64_t at = 0; at < n; at += most)
	{
		check_cancelled(job);
		count_piece(job, keys + at, n - at < most ? n - at : most);
	}
	copied->record(job->copy);
}

/*
 * Adds keys in keeping mode: the keys go behind the earlier ones.  If several devices share the
 * job, keys go to the devices in pieces; the first device has room for all keys in the end, when
 * it merges them.
 */
void
add_keeping(HpsortCudaJob *job, const int32_t *keys, uint64_t n, Added *entry)
{
	const uint64_t most = job->shares.empty() ? n : published::Shares::piece;

	for (uint64_t at = 0; at < n; at += most)
	{
		const uint64_t m = std::min(most, n - at);

		check_cancelled(job);
		if (!job->shares.take(keys + at, m, job->kept.n(), job->n + at,
							  &entry->elsewhere))
			job->kept.add(keys + at, m, job->n + at, &entry->copied);
	}
}

/* The end of counting mode.  All chunks but the last few have been counted by then, so one small
 * kernel is left, whatever n is. */
void
finish_counting(HpsortCudaJob *job)
{
	const uint64_t range = static_cast<uint64_t>(job->counted.bins.map.last) + 1;

	job->runs.allocate(job->context, job->compute,
					   range < job->n ? range : job->n);
	job->counted.bins.compact(job->context, job->compute, job->runs, job->verdict.get());
	check(cudaStreamSynchronize(job->compute), "count the keys");
	if (job->verdict->n_outside != 0)
		fail_outside(job->verdict->key, job->spec.lo, job->spec.hi);
	job->runs.distinct = job->verdict->distinct;
	job->have_runs = true;
	/* released here and not with the job: reading needs the runs alone */
	for (RingSlot &slot : job->counted.ring)
		slot.memory.release_on(job->compute);
	job->counted.bins.memory.release();
}

/* The end of keeping mode if spec.algorithm names a published algorithm. */
void
sort_as_published(HpsortCudaJob *job, const Bounds &found, RegimeChoice *choice)
{
	const HpsortPublished algorithm = static_cast<HpsortPublished>(
		job->spec.algorithm - HPSORT_PUBLISHED_JOB(0));
	const bool	permute = job->spec.wanted & HPSORT_CUDA_PERMUTATION;
	published::Cut cut;
	int			length;

	job->sorted = DeviceBuffer(job->context, job->compute,
							   job->n * sizeof(int32_t), "sorted keys");
	if (permute)
	{
		job->rows = DeviceBuffer(job->context, job->compute,
								 job->n * sizeof(uint32_t), "row numbers");
		job->sorted_descending = job->spec.descending != 0;
	}
	cut = published::published_into(job->context, job->compute, job->spec, found,
									job->kept, job->n, job->sorted.as<int32_t>(),
									permute ? job->rows.as<uint32_t>() : nullptr,
									job->stop_word(), job->shares);
	choice->regime = HPSORT_CUDA_PUBLISHED;
	length = snprintf(choice->reason, sizeof(choice->reason),
					  "%s as published, range %lld",
					  published::algorithms[algorithm].name,
					  static_cast<long long>(found.hi) - found.lo + 1);
	if (cut.parts > 1)
		length += snprintf(choice->reason + length, sizeof(choice->reason) - length,
						   ", in %llu parts that were merged",
						   static_cast<unsigned long long>(cut.parts));
	if (cut.devices > 1)
		snprintf(choice->reason + length, sizeof(choice->reason) - length,
				 ", on %zu gpus", cut.devices);
	/* published algorithms also sort the keys, though only the rows may be wanted */
	if (!(job->spec.wanted & (HPSORT_CUDA_KEYS | HPSORT_CUDA_RUNS)))
		job->sorted.release();
}

/* Returns the bounds of all keys that were added; waits.  Fails if a key is outside the bounds of
 * the specification. */
Bounds
read_bounds(HpsortCudaJob *job)
{
	Bounds		found = job->kept.read_bounds();

	job->shares.widen(&found);
	/* if any key is outside the bounds, the smallest or the largest one is */
	if (job->spec.bounds_known &&
		(found.lo < job->spec.lo || found.hi > job->spec.hi))
		fail_outside(found.lo < job->spec.lo ? found.lo : found.hi,
					 job->spec.lo, job->spec.hi);
	return found;
}

/* Returns the task of sorting a job's keys.  The keys' own bounds, found while the keys arrived,
 * are at least as narrow as the bounds given and may lead to a better regime. */
SortTask
task_of(HpsortCudaJob *job, const Bounds &found)
{
	RegimeShape shape = shape_of(job->spec, job->n);

	shape.lo = found.lo;
	shape.hi = found.hi;
	/* keys without rows are sorted upwards, because runs are made of them */
	return {job->context, job->compute, job->kept.keys(), shape,
		job->spec.descending != 0 && (job->spec.wanted & HPSORT_CUDA_PERMUTATION) != 0,
		job->verdict.get()};
}

/*
 * Sorts in the engine's own way.  If the regime gives runs, the job keeps the runs and not the
 * keys: runs are smaller, and keys in either direction and at any positions can be expanded from
 * them.
 */
void
sort_kept(HpsortCudaJob *job, const Bounds &found, RegimeChoice *choice)
{
	const bool	permute = job->spec.wanted & HPSORT_CUDA_PERMUTATION;
	const bool	need_order = job->spec.wanted & (HPSORT_CUDA_KEYS | HPSORT_CUDA_RUNS);
	SortTask	task = task_of(job, found);
	SortOutput	output;

	sort_prepare(&task);
	check_cancelled(job);
	/* Memory for keys in order, unless the regime is certain to give runs; released below if the
	 * regime has given runs. */
	if (need_order && task.choice.regime != HPSORT_CUDA_SHARED_HISTOGRAM)
	{
		job->sorted = DeviceBuffer(job->context, job->compute,
								   job->n * sizeof(int32_t), "sorted keys");
		output.keys = job->sorted.as<int32_t>();
	}
	if (permute)
	{
		job->rows = DeviceBuffer(job->context, job->compute,
								 job->n * sizeof(uint32_t), "row numbers");
		output.rows = job->rows.as<uint32_t>();
		job->sorted_descending = job->spec.descending != 0;
	}
	sort_run(&task, &output);
	check(cudaStreamSynchronize(job->compute), "sort");
	job->have_runs = output.have_runs;
	job->runs = std::move(output.runs);
	if (job->have_runs)
		job->sorted.release();
	*choice = task.choice;
}

/* The end of keeping mode. */
void
finish_keeping(HpsortCudaJob *job, RegimeChoice *choice)
{
	/* If several devices have keys, this is the list for the merge of all.  It comes before the
	 * bounds are read, which waits for the keys that this moves. */
	job->kept.reserve(job->n);

	const Bounds found = read_bounds(job);

	check_cancelled(job);
	if (job->spec.algorithm != 0)
		sort_as_published(job, found, choice);
	else
		sort_kept(job, found, choice);
	job->kept.release();
	job->shares.close();
}

} /* namespace */

/*
 * The job's need is checked before anything is allocated, so that a service can refuse a job at
 * once and not half-way through its keys.  The need is not reserved, because it is an upper bound
 * that most jobs stay far below.
 */
extern "C" HpsortCudaCode
hpsort_cuda_job_open(HpsortCuda *context, const HpsortCudaSpec *spec,
					 HpsortCudaJob **result, HpsortCudaError *err)
{
	*result = nullptr;
	return guarded(err, [&] {
		RegimeShape shape;
		RegimeChoice choice;
		uint64_t	used;
		uint64_t	need;
		const uint64_t limit = context->limit.load();	/* another thread may set it */

		check_spec(spec);
		if (spec->algorithm != 0)
			published::published_check_job(context, spec);
		need = regime_job_need(&context->limits, spec, spec->n_hint);
		hpsort_cuda_memory(context, &used, nullptr, 0);
		/* no sum of used and need, which could wrap around */
		if (spec->algorithm == 0 && spec->n_hint > 0 &&
			(need > limit || used > limit - need))
			fail(HPSORT_CUDA_NO_MEMORY,
				 "a job of %llu keys needs up to %llu bytes of gpu memory, "
				 "%llu of %llu are in use", (unsigned long long) spec->n_hint,
				 (unsigned long long) need, (unsigned long long) used,
				 (unsigned long long) limit);

		DeviceScope scope(context->ordinal);
		std::unique_ptr<HpsortCudaJob> job(new HpsortCudaJob(context, *spec));

		/* whether bins fit does not depend on n */
		shape = shape_of(*spec, spec->n_hint > 0 ? spec->n_hint : 1);
		regime_choose(&context->limits, &shape, &choice);
		job->counting = spec->algorithm == 0 &&
			choice.regime == HPSORT_CUDA_SHARED_HISTOGRAM &&
			!(spec->wanted & HPSORT_CUDA_PERMUTATION);
		if (job->counting)
			job->counted.bins.allocate(context, job->compute,
							   make_key_map(shape.lo, shape.hi, false));
		else
			job->kept.open(spec->n_hint);
		*result = job.release();
	});
}

/* Returns when the work is on the streams, which read the caller's memory. */
extern "C" HpsortCudaCode
hpsort_cuda_job_add(HpsortCudaJob *job, const int32_t *keys, uint64_t n,
					uint64_t *number, HpsortCudaError *err)
{
	return job_change(job, err, false, [&] {
		if (job->row_keys)
			fail(HPSORT_CUDA_BAD_ARGUMENT, "keys behind those of rows");
		if (n > 0 && (keys == nullptr || reinterpret_cast<uintptr_t>(keys) & 3))
			fail(HPSORT_CUDA_BAD_ARGUMENT, "no keys, or not aligned to 4 bytes");

		Added		entry;

		/* one event for all pieces of the call */
		entry.number = job->number + 1;
		if (n == 0)
			entry.copied.record(job->copy);
		else if (job->counting)
			add_counting(job, keys, n, &entry.copied);
		else
			add_keeping(job, keys, n, &entry);
		job->added.push_back(std::move(entry));
		job->number++;
		job->n += n;
		if (number)
			*number = job->number;
	});
}

/* Declared in published/published.h, for jobs that a published algorithm sorts.  The contexts
 * belong to the caller, who closes them after the job. */
extern "C" HpsortCudaCode
hpsort_published_job_share(HpsortCudaJob *job, HpsortCuda *const *contexts, int count,
						   HpsortCudaError *err)
{
	return job_call(job, err, [&] {
		if (job->number > 0 || job->finished || count < 0 ||
			(count > 0 && contexts == nullptr))
			fail(HPSORT_CUDA_BAD_ARGUMENT, "the job has keys already, or no devices");
		if (job->spec.algorithm != 0)
			published::published_share(job->spec, contexts, count, &job->shares);
	});
}

/* Events complete in the order of adding, so the first one that is pending ends the search. */
extern "C" HpsortCudaCode
hpsort_cuda_job_consumed(HpsortCudaJob *job, int wait, uint64_t *number,
						 HpsortCudaError *err)
{
	return job_call(job, err, [&] {
		while (!job->added.empty())
		{
			Added	   &oldest = job->added.front();

			if (wait)
				oldest.wait();
			else if (!oldest.is_done())
				break;
			job->consumed = oldest.number;
			job->added.pop_front();
		}
		if (number)
			*number = job->consumed;
	});
}

/* Counting and empty jobs report the choice made here.  finish_keeping() replaces it by its own
 * choice, made from the keys' bounds. */
extern "C" HpsortCudaCode
hpsort_cuda_job_finish(HpsortCudaJob *job, HpsortCudaResult *result,
					   HpsortCudaError *err)
{
	return job_change(job, err, false, [&] {
		if (job->row_keys)
			settle_rows(job);

		RegimeShape shape = shape_of(job->spec, job->n);
		RegimeChoice choice;

		if ((job->spec.wanted & HPSORT_CUDA_PERMUTATION) && job->n > UINT32_MAX)
			fail(HPSORT_CUDA_BAD_ARGUMENT,
				 "a permutation numbers at most 4294967295 rows, not %llu",
				 (unsigned long long) job->n);
		regime_choose(&job->context->limits, &shape, &choice);
		if (job->groups)
		{
			job->groups->read(job->compute);
			choice.regime = HPSORT_CUDA_SHARED_HISTOGRAM;
			snprintf(choice.reason, sizeof(choice.reason), "sums by %u groups",
					 job->groups->groups());
		}
		/* no runs, so that reading needs no special case for empty jobs */
		else if (job->n == 0)
		{
			job->runs.allocate(job->context, job->compute, 0);
			job->have_runs = true;
		}
		else if (job->counting)
			finish_counting(job);
		else
			finish_keeping(job, &choice);
		check_cancelled(job);
		job->finished = true;
		if (result)
		{
			result->n = job->n;
			result->distinct = job->have_runs ? job->runs.distinct : 0;
			result->regime = choice.regime;
			snprintf(result->reason, sizeof(result->reason), "%s", choice.reason);
		}
	});
}

/*
 * Sets two flags.  The job's own thread reads the first between its steps; long kernels read the
 * second while they run.  The second is in pinned memory, which the device reads over the bus, so
 * that no stream is needed to set it.
 */
extern "C" void
hpsort_cuda_job_cancel(HpsortCudaJob *job)
{
	job->cancelled.store(true);
	__atomic_store_n(job->stop_word(), 1, __ATOMIC_RELEASE);
}

/* Does not use job_call(), which refuses cancelled jobs. */
extern "C" void
hpsort_cuda_job_close(HpsortCudaJob *job)
{
	if (job == nullptr)
		return;
	(void) guarded(nullptr, [&] {
		DeviceScope scope(job->context->ordinal);

		/* until then the streams use pinned memory of the caller and of the verdict */
		ignore(cudaStreamSynchronize(job->copy));
		ignore(cudaStreamSynchronize(job->compute));
		delete job;
	});
}
