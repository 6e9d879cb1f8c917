/*
 * client_results.c
 *		Reading a job's results out of chunks (see client_job.h).
 *
 * While this side copies out of one chunk, the service fills the next.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <string.h>
#include <sys/mman.h>

#include "gpu/client_job.h"
#include "gpu/copy.h"
#include "sort/error.h"
#include "sort/kernels/kernels.h"

#define LARGE_PAGE ((uintptr_t) 2 << 20)

/* Begins the reading of the result, which must be of that kind; nothing is read twice. */
static SortStatus
begin_reading(GpuJob *job, SortWant want, SortError *err)
{
	if (job->failed)
		return client_job_failed(job, err);
	if (!job->finished || job->base.spec.look_up || job->base.spec.want != want ||
		job->result.begun)
		return client_refuse(job->client, err, GPU_UNSUPPORTED, "job has no such result");
	job->result.begun = true;
	return SORT_OK;
}

/* Waits for the next part of the result, which lies in chunk data->chunk. */
static SortStatus
next_data(GpuJob *job, GpuChunk *data, SortError *err)
{
	const JobResult *result = &job->result;
	GpuClient  *c = job->client;
	SortStatus	status = sort_interrupted(job->base.context) ? client_cancelled(c, err) :
	client_next_lent(job, data, err);

	if (status != SORT_OK)
		return status;
	if (data->count > result->items - result->at ||
		data->count > gpu_chunk_items(result->form, c->area.chunk_bytes))
		return client_violation(c, err, "result out of turn");
	client_populate(c, data->chunk);
	return SORT_OK;
}

/* The part of the result in data is read. */
static SortStatus
done_with_data(GpuJob *job, const GpuChunk *data, SortError *err)
{
	JobResult  *result = &job->result;
	GpuClient  *c = job->client;

	result->at += data->count;
	job->counters.bytes_received += (uint64_t) data->count *
		(result->form == SORT_WANT_RUNS ? sizeof(uint64_t) + sizeof(int32_t) : sizeof(int32_t));
	if (result->at < result->items)
		return client_release_chunk(c, data->chunk, err);

	/* CLOSE, which follows, gives the last one back. */
	client_count_job(job);
	return SORT_OK;
}

/*
 * Counts and keys of the runs in a chunk.  The service can write to a chunk at any
 * time: a caller that needs values to stay as they were checked checks a copy.
 */
static void
runs_in_chunk(const GpuClient *c, const GpuChunk *data, const uint64_t **counts,
			  const int32_t **keys)
{
	*counts = (const uint64_t *) client_chunk_memory(c, data->chunk);
	*keys = (const int32_t *) (*counts + data->count);
}

/* Expands runs that come ascending, from the end of out if descending. */
static SortStatus
expand_runs(GpuJob *job, bool descending, int32_t *out, SortError *err)
{
	GpuClient  *c = job->client;
	uint64_t	done = 0;

	while (job->result.at < job->result.items)
	{
		GpuChunk	data;
		const uint64_t *counts;
		const int32_t *keys;
		SortStatus	status = next_data(job, &data, err);
		uint32_t	i;

		if (status != SORT_OK)
			return status;
		runs_in_chunk(c, &data, &counts, &keys);
		for (i = 0; i < data.count; i++)
		{
			uint64_t	count = __atomic_load_n(&counts[i], __ATOMIC_RELAXED);

			if (count > job->n - done)
				return client_violation(c, err, "wrong counts");
			kernel_fill(descending ? out + (job->n - done - count) : out + done, count, keys[i]);
			done += count;
		}
		status = done_with_data(job, &data, err);
		if (status != SORT_OK)
			return status;
	}
	return done == job->n ? SORT_OK : client_violation(c, err, "wrong counts");
}

/*
 * Asks for large pages where results will be written.  That is mostly memory that
 * was never touched, and on virtual machines the faults of its small pages cost
 * more than the copying: 2.5 us each on the H100 host, 25 ms for 1e7 keys.
 */
static void
expect_results(void *out, uint64_t bytes)
{
	uintptr_t	from = ((uintptr_t) out + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
	uintptr_t	to = ((uintptr_t) out + bytes) & ~(LARGE_PAGE - 1);

	if (to > from)
		(void) madvise((void *) from, to - from, MADV_HUGEPAGE);
}

/* Copies keys, and reverses them if they come in the other direction. */
static SortStatus
copy_keys(GpuJob *job, bool descending, int32_t *out, SortError *err)
{
	GpuClient  *c = job->client;
	bool		turn = descending != job->base.spec.descending;

	while (job->result.at < job->result.items)
	{
		GpuChunk	data;
		const int32_t *keys;
		SortStatus	status = next_data(job, &data, err);

		if (status != SORT_OK)
			return status;
		keys = (const int32_t *) client_chunk_memory(c, data.chunk);
		if (turn)
		{
			int32_t    *to = out + (job->n - job->result.at - data.count);
			uint32_t	i;

			for (i = 0; i < data.count; i++)
				to[i] = keys[data.count - 1 - i];
		}
		else
			memcpy(out + job->result.at, keys, data.count * sizeof(int32_t));
		status = done_with_data(job, &data, err);
		if (status != SORT_OK)
			return status;
	}
	return SORT_OK;
}

SortStatus
client_read_keys(SortJob *base, bool descending, int32_t *out, SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	SortStatus	status = begin_reading(job, SORT_WANT_KEYS, err);

	if (status != SORT_OK)
		return status;
	expect_results(out, job->n * sizeof(int32_t));
	return job->result.form == SORT_WANT_RUNS ? expand_runs(job, descending, out, err)
		: copy_keys(job, descending, out, err);
}

SortStatus
client_read_runs(SortJob *base, Runs *runs, SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	const SortAllocator *a = &job->base.context->allocator;
	GpuClient  *c = job->client;
	SortStatus	status = begin_reading(job, SORT_WANT_RUNS, err);
	Runs		mine = {0};
	uint64_t	n = 0;

	if (status != SORT_OK || job->result.items == 0)
		return status;
	if (!runs_reserve(&mine, (size_t) job->result.items, a))
		status = client_no_memory(c, err);
	while (status == SORT_OK && job->result.at < job->result.items)
	{
		GpuChunk	data;
		const uint64_t *counts;
		const int32_t *keys;
		size_t		i;

		status = next_data(job, &data, err);
		if (status != SORT_OK)
			break;
		runs_in_chunk(c, &data, &counts, &keys);
		memcpy(mine.keys + mine.len, keys, data.count * sizeof(int32_t));
		memcpy(mine.counts + mine.len, counts, data.count * sizeof(uint64_t));
		for (i = mine.len; i < mine.len + data.count && status == SORT_OK; i++)
		{
			if (mine.counts[i] == 0 || mine.counts[i] > job->n - n ||
				(i > 0 && mine.keys[i] <= mine.keys[i - 1]))
				status = client_violation(c, err, "wrong runs");
			else
				n += mine.counts[i];
		}
		mine.len += data.count;
		if (status == SORT_OK)
			status = done_with_data(job, &data, err);
	}
	if (status == SORT_OK && n != job->n)
		status = client_violation(c, err, "wrong runs");
	/* The usual list is empty, and gets this one as it is. */
	if (status == SORT_OK && runs->len == 0)
	{
		Runs		empty = *runs;

		*runs = mine;
		mine = empty;
	}
	else if (status == SORT_OK && !runs_merge(runs, mine.keys, mine.counts, mine.len, a))
		status = client_no_memory(c, err);
	runs_release(&mine, a);
	return status;
}

SortStatus
client_read_permutation(SortJob *base, bool descending, uint32_t first, uint32_t *out,
						SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	GpuClient  *c = job->client;
	SortStatus	status = begin_reading(job, SORT_WANT_PERMUTATION, err);

	if (status == SORT_OK && descending != job->base.spec.descending)
		return client_refuse(c, err, GPU_UNSUPPORTED,
							 "job was not opened for a permutation in this direction");
	expect_results(out, job->n * sizeof(uint32_t));
	while (status == SORT_OK && job->result.at < job->result.items)
	{
		GpuChunk	data;
		const uint32_t *rows;

		status = next_data(job, &data, err);
		if (status != SORT_OK)
			break;
		rows = (const uint32_t *) client_chunk_memory(c, data.chunk);
		if (!copy_rows_from_shared(out + job->result.at, rows, data.count, job->n, first))
			return client_violation(c, err, "wrong rows");
		status = done_with_data(job, &data, err);
	}
	return status;
}
