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

/* A reading of the whole result. */
typedef struct Reading
{
	GpuJob	   *job;
	bool		descending;		/* the direction of keys that is wanted */
	uint32_t	first;			/* what the position of the first key added is called */
	void	   *out;			/* room for all keys or positions; NULL: runs are read */
	Runs		runs;			/* room for all */
	uint64_t	done;			/* keys that the runs read so far count */
} Reading;

/*
 * Takes a part of the result, count items in a chunk; false if they are impossible.  The service
 * can write to a chunk at any time: what must stay as it was checked is copied first.
 */
typedef bool (*TakePart) (Reading *r, const void *chunk, uint32_t count);

/* TakePart of runs: appends them; checks that keys ascend, and counts against the job's keys. */
static bool
take_runs(Reading *r, const void *chunk, uint32_t count)
{
	const uint64_t *counts = chunk;
	Runs	   *runs = &r->runs;
	size_t		i = runs->len;

	memcpy(runs->keys + i, counts + count, count * sizeof(int32_t));
	memcpy(runs->counts + i, counts, count * sizeof(uint64_t));
	runs->len += count;
	for (; i < runs->len; i++)
	{
		if (runs->counts[i] == 0 || runs->counts[i] > r->job->n - r->done ||
			(i > 0 && runs->keys[i] <= runs->keys[i - 1]))
			return false;
		r->done += runs->counts[i];
	}
	return true;
}

/*
 * TakePart of keys that come as ascending runs: expands each into out, from its end if descending.
 * Each count is loaded once, before it is checked, because the service could change it.
 */
static bool
expand_runs(Reading *r, const void *chunk, uint32_t count)
{
	const uint64_t *counts = chunk;
	const int32_t *keys = (const int32_t *) (counts + count);
	const uint64_t n = r->job->n;
	int32_t    *out = r->out;

	for (uint32_t i = 0; i < count; i++)
	{
		uint64_t	length = __atomic_load_n(&counts[i], __ATOMIC_RELAXED);

		if (length > n - r->done)
			return false;
		kernel_fill(r->descending ? out + (n - r->done - length) : out + r->done, length, keys[i]);
		r->done += length;
	}
	return true;
}

/* TakePart of keys as keys: copies them, reversed if they travel in the other direction. */
static bool
take_keys(Reading *r, const void *chunk, uint32_t count)
{
	const GpuJob *job = r->job;
	const int32_t *keys = chunk;
	int32_t    *out = r->out;

	if (r->descending == job->base.spec.descending)
		memcpy(out + job->result.at, keys, count * sizeof(int32_t));
	else
	{
		out += job->n - job->result.at - count;
		for (uint32_t i = 0; i < count; i++)
			out[i] = keys[count - 1 - i];
	}
	return true;
}

/* TakePart of positions: copies them, adds first, and checks that there is a key at each. */
static bool
take_positions(Reading *r, const void *chunk, uint32_t count)
{
	return copy_rows_from_shared((uint32_t *) r->out + r->job->result.at, chunk, count, r->job->n,
								 r->first);
}

/*
 * Begins the only reading of the result, which must be of that kind.  Fails, and leaves the
 * connection as it is, if there is none or if it has been read.
 */
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

/*
 * Waits for each part of the result in turn, has it taken, and gives its chunk back.  Looks for
 * interrupts before each part.  Fails, and closes the connection, if parts do not add up to the
 * result.
 */
static SortStatus
read_parts(Reading *r, TakePart take, SortError *err)
{
	GpuJob	   *job = r->job;
	JobResult  *result = &job->result;
	GpuClient  *c = job->client;
	const bool	runs = result->form == SORT_WANT_RUNS;

	if (r->out)
		expect_results(r->out, job->n * sizeof(int32_t));
	while (result->at < result->items)
	{
		GpuChunk	data;
		SortStatus	status = sort_interrupted(job->base.context) ? client_cancelled(c, err) :
		client_next_lent(job, &data, err);

		if (status != SORT_OK)
			return status;
		if (data.count > result->items - result->at ||
			data.count > gpu_chunk_items(result->form, c->area.chunk_bytes))
			return client_violation(c, err, "result out of turn");
		client_populate(c, data.chunk);
		if (!take(r, client_chunk_memory(c, data.chunk), data.count))
			return client_violation(c, err, "wrong result");
		result->at += data.count;
		job->counters.bytes_received += (uint64_t) data.count *
			(runs ? sizeof(uint64_t) + sizeof(int32_t) : sizeof(int32_t));

		/* CLOSE, which follows, gives the last one back. */
		if (result->at == result->items)
			client_count_job(job);
		else if (client_release_chunk(c, data.chunk, err) != SORT_OK)
			return err->status;
	}
	return !runs || r->done == job->n ? SORT_OK : client_violation(c, err, "wrong result");
}

SortStatus
client_read_keys(SortJob *base, bool descending, int32_t *out, SortError *err)
{
	Reading		r = {.job = (GpuJob *) base,.descending = descending,.out = out};
	SortStatus	status = begin_reading(r.job, SORT_WANT_KEYS, err);

	return status != SORT_OK ? status :
		read_parts(&r, r.job->result.form == SORT_WANT_RUNS ? expand_runs : take_keys, err);
}

SortStatus
client_read_runs(SortJob *base, Runs *runs, SortError *err)
{
	const SortAllocator *a = &base->context->allocator;
	Reading		r = {.job = (GpuJob *) base};
	Runs	   *mine = &r.runs;
	SortStatus	status = begin_reading(r.job, SORT_WANT_RUNS, err);

	if (status != SORT_OK || r.job->result.items == 0)
		return status;
	status = runs_reserve(mine, (size_t) r.job->result.items, a) ?
		read_parts(&r, take_runs, err) : client_no_memory(r.job->client, err);

	/* The usual list is empty, and gets this one as it is. */
	if (status == SORT_OK && runs->len == 0)
	{
		Runs		empty = *runs;

		*runs = *mine;
		*mine = empty;
	}
	else if (status == SORT_OK && !runs_merge(runs, mine->keys, mine->counts, mine->len, a))
		status = client_no_memory(r.job->client, err);
	runs_release(mine, a);
	return status;
}

SortStatus
client_read_permutation(SortJob *base, bool descending, uint32_t first, uint32_t *out,
						SortError *err)
{
	Reading		r = {.job = (GpuJob *) base,.first = first,.out = out};
	SortStatus	status = begin_reading(r.job, SORT_WANT_PERMUTATION, err);

	if (status == SORT_OK && descending != base->spec.descending)
		return client_refuse(r.job->client, err, GPU_UNSUPPORTED,
							 "job was not opened for a permutation in this direction");
	return status == SORT_OK ? read_parts(&r, take_positions, err) : status;
}
