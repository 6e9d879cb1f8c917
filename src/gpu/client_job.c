/*
 * client_job.c
 *		The GPU service as a SortDevice: one job over a client's connection.
 *
 * Keys are copied into granted chunks, results out of lent ones; while this
 * side copies, the service works on the chunks before.  A job that the service
 * ended with an error leaves the connection usable; anything unexpected closes
 * it (client_fail).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu/client_internal.h"
#include "gpu/copy.h"
#include "sort/algorithms.h"
#include "sort/error.h"
#include "sort/kernels.h"

#define LARGE_PAGE ((uintptr_t) 2 << 20)

typedef struct GpuJob
{
	SortJob		base;
	GpuClient  *client;
	uint64_t	n;				/* keys added */
	uint64_t	announced;		/* keys that the service has heard of, at least n */
	int64_t		filling;		/* the chunk in hand, -1: none */
	uint32_t	filled;			/* keys in it */
	bool		finishing;		/* FINISH is sent */
	bool		finished;		/* and answered */
	bool		failed;
	SortError	error;			/* if failed */
	bool		counted;		/* in the counters */
	uint32_t	reads;			/* readings asked for so far */
	bool		have_result;	/* RESULT of the last of them is in */
	bool		begun;			/* and DATA was taken from it */
	GpuResult	result;
	uint64_t	at;				/* next item of it */
	int64_t		kept;			/* its last chunk, not given back yet, -1: none */
	SortAlgorithm algorithm;	/* that it really was, after finish */
	char		reason[GPU_TEXT_SIZE];
} GpuJob;

void
client_drop_chunks(GpuClient *c)
{
	if (c->held)
		memset(c->held, CHUNK_NOT_HELD, c->chunks);
	c->ngranted = 0;
}

static char *
chunk_memory(const GpuClient *c, uint32_t chunk)
{
	return c->area + (size_t) chunk * c->chunk_bytes;
}

/*
 * The first touch of each page costs a fault; a whole chunk at once costs a
 * fraction of that.  The service prefers to grant chunks that we have seen.
 * Where the kernel cannot (before 5.14), the faults come one by one.
 */
static void
populate(GpuClient *c, uint32_t chunk)
{
	if (c->populated[chunk])
		return;
	c->populated[chunk] = 1;
#ifdef MADV_POPULATE_WRITE
	(void) madvise(chunk_memory(c, chunk), c->chunk_bytes, MADV_POPULATE_WRITE);
#endif
}

static SortStatus
job_failed(GpuJob *job, SortError *err)
{
	*err = job->error;
	return job->error.status;
}

/* The service gave up this job; its chunks are not ours any more. */
static void
take_error(GpuJob *job, const GpuError *e)
{
	GpuClient  *c = job->client;

	if (e->failure == GPU_OK)
		sort_out_of_bounds(&job->error, e->key, job->base.spec.lo, job->base.spec.hi);
	else
	{
		SortAlgorithm forced = job->base.context->algorithm;
		bool		refused = (e->failure == GPU_UNSUPPORTED || e->failure == GPU_NO_MEMORY) &&
			forced != SORT_ALGORITHM_AUTO &&
			!algorithm_runs_on(forced, SORT_DEVICE_CPU, job->base.spec.want);

		/* Nobody else could do what only a GPU's algorithm will not. */
		c->failure = (GpuFailure) e->failure;
		sort_fail(&job->error, refused ? SORT_UNSUPPORTED : SORT_DEVICE_UNAVAILABLE, "%s", e->text);
	}
	job->failed = true;
	job->filling = -1;
	job->kept = -1;
	client_drop_chunks(c);
}

static SortStatus
violation(GpuClient *c, SortError *err, const char *what)
{
	return client_fail(c, err, GPU_PROTOCOL, "bad message from the GPU service: %s", what);
}

static SortStatus
release_chunk(GpuClient *c, uint32_t chunk, SortError *err)
{
	GpuMessage	message;

	c->held[chunk] = CHUNK_NOT_HELD;
	gpu_message_init(&message, GPU_MSG_RELEASE, c->job_number);
	message.body.release.chunk = chunk;
	return client_send(c, &message, true, err);
}

SortStatus
client_job_message(GpuClient *c, const GpuMessage *message, SortError *err)
{
	GpuJob	   *job = (GpuJob *) c->job;

	switch (message->header.type)
	{
		case GPU_MSG_GRANT:
			{
				uint32_t	chunk = message->body.grant.chunk;

				if (job->failed)
					return SORT_OK;
				if (c->held[chunk] != CHUNK_NOT_HELD)
					return violation(c, err, "chunk granted twice");
				c->held[chunk] = CHUNK_GRANTED;
				c->granted[c->ngranted++] = chunk;
				/* Crossed our FINISH on the way; the service knows. */
				return SORT_OK;
			}
		case GPU_MSG_FINISHED:
			if (!job->finishing || job->finished)
				return violation(c, err, "result that was not asked for");
			if (message->body.finished.n != job->n)
				return violation(c, err, "wrong number of keys");
			job->finished = true;
			job->algorithm = (SortAlgorithm) message->body.finished.algorithm;
			memcpy(job->reason, message->body.finished.reason, sizeof(job->reason));
			return SORT_OK;
		case GPU_MSG_RESULT:
			if (!job->finished || message->body.result.read > job->reads)
				return violation(c, err, "result that was not asked for");
			if (message->body.result.read < job->reads)
				return SORT_OK;
			if (job->have_result)
				return violation(c, err, "second result");
			if (message->body.result.form == GPU_FORM_RUNS
				? message->body.result.items > job->n
				: message->body.result.items != job->n)
				return violation(c, err, "wrong number of results");
			job->result = message->body.result;
			job->have_result = true;
			job->begun = false;
			job->at = 0;
			return SORT_OK;
		case GPU_MSG_DATA:
			{
				const GpuData *data = &message->body.data;

				if (job->failed)
					return SORT_OK;
				if (!job->finished || data->read > job->reads)
					return violation(c, err, "result that was not asked for");
				if (c->held[data->chunk] != CHUNK_NOT_HELD)
					return violation(c, err, "chunk lent twice");
				/* of a reading that was given up for another */
				if (data->read < job->reads)
					return release_chunk(c, data->chunk, err);
				return violation(c, err, "result out of turn");
			}
		case GPU_MSG_ERROR:
			if (!job->failed)
				take_error(job, &message->body.error);
			return SORT_OK;
		default:
			return violation(c, err, "out of turn");
	}
}

/* Handles one message: waits for it, or (unless null) says whether one had come. */
static SortStatus
handle_message(GpuJob *job, bool *came, SortError *err)
{
	GpuMessage	message;
	bool		got = false;
	SortStatus	status = client_receive(job->client, came == NULL, &message, &got, err);

	if (status == SORT_OK && got)
		status = client_job_message(job->client, &message, err);
	if (status == SORT_OK && job->failed)
		return job_failed(job, err);
	if (came)
		*came = got;
	return status;
}

/* ------------------------------------------------------------------------
 * Keys in
 * ------------------------------------------------------------------------
 */

static SortStatus
gpu_open(const SortContext *context, const SortJobSpec *spec, SortJob **result, SortError *err)
{
	const SortAllocator *a = &context->allocator;
	GpuClientRef *ref = context->gpu->arg;
	GpuClient  *c = ref->client;
	GpuJob	   *job;
	GpuMessage	message;
	SortStatus	status;

	*result = NULL;
	if (c == NULL || !gpu_client_is_usable(c))
	{
		if (c && c->failure == GPU_OK)
			c->failure = GPU_LOST;
		return sort_fail(err, SORT_DEVICE_UNAVAILABLE, "no connection to the GPU service");
	}
	if (c->job_open)
		return sort_fail(err, SORT_DEVICE_UNAVAILABLE, "connection to the GPU service is in use");
	job = a->alloc(a->arena, sizeof(GpuJob));
	if (job == NULL)
		return sort_no_memory(err);
	memset(job, 0, sizeof(GpuJob));
	sort_job_init(&job->base, &gpu_client_device, context, spec);
	job->client = c;
	job->announced = spec->n;
	job->filling = -1;
	job->kept = -1;
	c->failure = GPU_OK;
	c->job = &job->base;
	c->job_open = true;
	c->job_number++;

	gpu_message_init(&message, GPU_MSG_OPEN, c->job_number);
	message.body.open.n = spec->n;
	message.body.open.lo = spec->lo;
	message.body.open.hi = spec->hi;
	message.body.open.want = spec->want;
	message.body.open.descending = spec->descending;
	message.body.open.algorithm = context->algorithm;

	/*
	 * The service answers that there is no chunk before we give it up as
	 * dead, so that one is not taken for the other.
	 */
	message.body.open.wait_ms = c->wait_timeout_ms > 0 ? c->wait_timeout_ms / 4 * 3 + 1 : 0;
	status = client_send(c, &message, true, err);
	if (status != SORT_OK)
	{
		c->job = NULL;
		c->job_open = false;
		a->release(a->arena, job);
		return status;
	}
	*result = &job->base;
	return SORT_OK;
}

static SortStatus
submit(GpuJob *job, SortError *err)
{
	GpuClient  *c = job->client;
	GpuMessage	message;

	gpu_message_init(&message, GPU_MSG_ADD, c->job_number);
	message.body.add.chunk = (uint32_t) job->filling;
	message.body.add.count = job->filled;
	c->held[job->filling] = CHUNK_NOT_HELD;
	c->counters.bytes_sent += job->filled * sizeof(int32_t);
	job->filling = -1;
	return client_send(c, &message, true, err);
}

/* Takes a granted chunk into hand, waiting for one if there is none. */
static SortStatus
begin_chunk(GpuJob *job, SortError *err)
{
	GpuClient  *c = job->client;

	while (c->ngranted == 0)
	{
		SortStatus	status = handle_message(job, NULL, err);

		if (status != SORT_OK)
			return status;
	}
	job->filling = c->granted[--c->ngranted];
	job->filled = 0;
	populate(c, (uint32_t) job->filling);
	return SORT_OK;
}

/* Sees to it that the service knows of n keys more, to grant chunks for them. */
static SortStatus
announce(GpuJob *job, size_t n, SortError *err)
{
	GpuMessage	message;

	if (n <= job->announced - job->n)
		return SORT_OK;
	gpu_message_init(&message, GPU_MSG_WANT, job->client->job_number);
	message.body.want.keys = n - (job->announced - job->n);
	job->announced += message.body.want.keys;
	return client_send(job->client, &message, true, err);
}

/*
 * At the end of an add.  Nobody knows when the next comes: unless keys are still
 * to follow at once, the last chunk goes as it is, and none is left here.
 */
static SortStatus
pause_adding(GpuJob *job, SortError *err)
{
	SortStatus	status;
	bool		came;

	do
		status = handle_message(job, &came, err);
	while (status == SORT_OK && came);
	if (status == SORT_OK && job->filling >= 0 && job->n == job->announced)
		status = submit(job, err);
	return status;
}

static SortStatus
gpu_add(SortJob *base, const int32_t *keys, size_t n, SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	GpuClient  *c = job->client;
	const uint32_t capacity = gpu_chunk_items(GPU_FORM_KEYS, c->chunk_bytes);
	SortStatus	status;

	if (job->failed)
		return job_failed(job, err);
	status = announce(job, n, err);
	if (status != SORT_OK)
		return status;
	while (n > 0)
	{
		uint32_t	part;

		if (job->filling < 0)
			status = begin_chunk(job, err);
		if (status != SORT_OK)
			return status;
		part = capacity - job->filled;
		if (part > n)
			part = (uint32_t) n;
		copy_to_shared(chunk_memory(c, (uint32_t) job->filling) + job->filled * sizeof(int32_t),
					   keys, part * sizeof(int32_t));
		job->filled += part;
		job->n += part;
		keys += part;
		n -= part;
		if (job->filled == capacity)
			status = submit(job, err);
		if (status != SORT_OK)
			return status;
		if (sort_interrupted(job->base.context))
			return client_cancelled(c, err);
	}
	return pause_adding(job, err);
}

static SortStatus
gpu_finish(SortJob *base, SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	GpuClient  *c = job->client;
	SortStatus	status = SORT_OK;
	GpuMessage	message;

	if (job->failed)
		return job_failed(job, err);
	if (job->filling >= 0 && job->filled > 0)
		status = submit(job, err);
	if (status != SORT_OK)
		return status;

	/* What is read first is asked for in the same breath. */
	gpu_message_init(&message, GPU_MSG_FINISH, c->job_number);
	message.body.read.form = job->base.spec.want == SORT_WANT_PERMUTATION ? GPU_FORM_PERMUTATION :
		job->base.spec.want == SORT_WANT_RUNS ? GPU_FORM_RUNS : GPU_FORM_BEST;
	message.body.read.descending = job->base.spec.descending;
	job->finishing = true;
	job->reads = 1;
	status = client_send(c, &message, true, err);
	while (status == SORT_OK && !job->finished)
		status = handle_message(job, NULL, err);

	/* Chunks granted too late for keys went back with the FINISH. */
	while (c->ngranted > 0)
		c->held[c->granted[--c->ngranted]] = CHUNK_NOT_HELD;
	if (job->filling >= 0)
		c->held[job->filling] = CHUNK_NOT_HELD;
	job->filling = -1;
	return status;
}

/* ------------------------------------------------------------------------
 * Results out
 * ------------------------------------------------------------------------
 */

/* Whether the result on its way, if any, can still serve as one of form. */
static bool
result_serves(const GpuJob *job, GpuForm form)
{
	if (!job->have_result || job->begun)
		return false;
	return form == GPU_FORM_BEST
		? job->result.form == GPU_FORM_KEYS || job->result.form == GPU_FORM_RUNS
		: job->result.form == form;
}

/* Makes job->result a result of that form, asking for it if need be. */
static SortStatus
need_result(GpuJob *job, GpuForm form, bool descending, SortError *err)
{
	GpuClient  *c = job->client;

	if (job->failed)
		return job_failed(job, err);
	while (job->reads == 1 && !job->have_result)
	{
		SortStatus	status = handle_message(job, NULL, err);

		if (status != SORT_OK)
			return status;
	}
	if (!result_serves(job, form))
	{
		GpuMessage	message;
		SortStatus	status = SORT_OK;

		if (job->kept >= 0)
			status = release_chunk(c, (uint32_t) job->kept, err);
		job->kept = -1;
		if (status != SORT_OK)
			return status;
		gpu_message_init(&message, GPU_MSG_READ, c->job_number);
		message.body.read.form = form;
		message.body.read.descending = descending;
		job->reads++;
		job->have_result = false;
		status = client_send(c, &message, true, err);
		while (status == SORT_OK && !job->have_result)
			status = handle_message(job, NULL, err);
		if (status != SORT_OK)
			return status;
		if (!result_serves(job, form))
			return violation(c, err, "result of another form");
	}
	job->begun = true;
	return SORT_OK;
}

/* Waits for the next part of the result, which lies in chunk data->chunk. */
static SortStatus
next_data(GpuJob *job, GpuData *data, SortError *err)
{
	GpuClient  *c = job->client;

	for (;;)
	{
		GpuMessage	message;
		bool		got;
		SortStatus	status;

		if (sort_interrupted(job->base.context))
			return client_cancelled(c, err);
		status = client_receive(c, true, &message, &got, err);
		if (status != SORT_OK)
			return status;
		if (message.header.type != GPU_MSG_DATA || message.body.data.read != job->reads)
		{
			status = client_job_message(c, &message, err);
			if (status != SORT_OK)
				return status;
			if (job->failed)
				return job_failed(job, err);
			continue;
		}
		*data = message.body.data;
		if (c->held[data->chunk] != CHUNK_NOT_HELD)
			return violation(c, err, "chunk lent twice");
		if (data->first != job->at || data->count > job->result.items - job->at ||
			data->count > gpu_chunk_items(job->result.form, c->chunk_bytes))
			return violation(c, err, "result out of turn");
		c->held[data->chunk] = CHUNK_LENT;
		populate(c, data->chunk);
		return SORT_OK;
	}
}

static SortStatus
done_with_data(GpuJob *job, const GpuData *data, SortError *err)
{
	GpuClient  *c = job->client;

	job->at += data->count;
	c->counters.bytes_received += (uint64_t) data->count *
		(job->result.form == GPU_FORM_RUNS ? sizeof(uint64_t) + sizeof(int32_t) : sizeof(int32_t));
	if (job->at < job->result.items)
		return release_chunk(c, data->chunk, err);

	/* The last one: in the usual case CLOSE takes it back. */
	job->kept = data->chunk;
	if (!job->counted)
	{
		job->counted = true;
		c->counters.jobs++;
		c->counters.keys += job->n;
	}
	return SORT_OK;
}

/*
 * Counts and keys of the runs in a chunk.  The service can write to a chunk at
 * any time, so whoever must trust what was checked takes a copy first, and
 * checks that.
 */
static void
runs_in_chunk(const GpuClient *c, const GpuData *data, const uint64_t **counts,
			  const int32_t **keys)
{
	*counts = (const uint64_t *) chunk_memory(c, data->chunk);
	*keys = (const int32_t *) (*counts + data->count);
}

/* Expands runs that come ascending, from the end of out if descending. */
static SortStatus
expand_runs(GpuJob *job, bool descending, int32_t *out, SortError *err)
{
	GpuClient  *c = job->client;
	uint64_t	done = 0;

	while (job->at < job->result.items)
	{
		GpuData		data;
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
				return violation(c, err, "wrong counts");
			kernel_fill(descending ? out + (job->n - done - count) : out + done, count, keys[i]);
			done += count;
		}
		status = done_with_data(job, &data, err);
		if (status != SORT_OK)
			return status;
	}
	return done == job->n ? SORT_OK : violation(c, err, "wrong counts");
}

/*
 * Where results go to is mostly memory that nobody has touched yet, and on
 * virtual machines the faults of its pages cost more than the copying: 2.5 us
 * each on the H100 host, 25 ms for 1e7 keys.  Large pages need few of them.
 */
static void
expect_results(void *out, uint64_t bytes)
{
	uintptr_t	from = ((uintptr_t) out + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
	uintptr_t	to = ((uintptr_t) out + bytes) & ~(LARGE_PAGE - 1);

	if (to > from)
		(void) madvise((void *) from, to - from, MADV_HUGEPAGE);
}

/* Copies keys; turned round if they come in the other direction. */
static SortStatus
copy_keys(GpuJob *job, bool descending, int32_t *out, SortError *err)
{
	GpuClient  *c = job->client;
	bool		turn = descending != (job->result.descending != 0);

	while (job->at < job->result.items)
	{
		GpuData		data;
		const int32_t *keys;
		SortStatus	status = next_data(job, &data, err);

		if (status != SORT_OK)
			return status;
		keys = (const int32_t *) chunk_memory(c, data.chunk);
		if (turn)
		{
			int32_t    *to = out + (job->n - job->at - data.count);
			uint32_t	i;

			for (i = 0; i < data.count; i++)
				to[i] = keys[data.count - 1 - i];
		}
		else
			memcpy(out + job->at, keys, data.count * sizeof(int32_t));
		status = done_with_data(job, &data, err);
		if (status != SORT_OK)
			return status;
	}
	return SORT_OK;
}

static SortStatus
gpu_read_keys(SortJob *base, bool descending, int32_t *out, SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	SortStatus	status = need_result(job, GPU_FORM_BEST, descending, err);

	if (status != SORT_OK)
		return status;
	expect_results(out, job->n * sizeof(int32_t));
	return job->result.form == GPU_FORM_RUNS ? expand_runs(job, descending, out, err)
		: copy_keys(job, descending, out, err);
}

static SortStatus
gpu_read_runs(SortJob *base, Runs *runs, SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	const SortAllocator *a = &job->base.context->allocator;
	GpuClient  *c = job->client;
	SortStatus	status = need_result(job, GPU_FORM_RUNS, false, err);
	Runs		mine = {0};
	uint64_t	n = 0;

	if (status != SORT_OK || job->result.items == 0)
		return status;
	if (!runs_reserve(&mine, (size_t) job->result.items, a))
		status = sort_no_memory(err);
	while (status == SORT_OK && job->at < job->result.items)
	{
		GpuData		data;
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
				status = violation(c, err, "wrong runs");
			else
				n += mine.counts[i];
		}
		mine.len += data.count;
		if (status == SORT_OK)
			status = done_with_data(job, &data, err);
	}
	if (status == SORT_OK && n != job->n)
		status = violation(c, err, "wrong runs");
	if (status == SORT_OK && !runs_merge(runs, mine.keys, mine.counts, mine.len, a))
		status = sort_no_memory(err);
	runs_release(&mine, a);
	return status;
}

static SortStatus
gpu_read_permutation(SortJob *base, bool descending, uint32_t first, uint32_t *out, SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	GpuClient  *c = job->client;
	SortStatus	status;

	if (job->failed)
		return job_failed(job, err);
	if (job->base.spec.want != SORT_WANT_PERMUTATION || descending != job->base.spec.descending)
	{
		c->failure = GPU_UNSUPPORTED;
		return sort_fail(err, SORT_DEVICE_UNAVAILABLE,
						 "job was not opened for a permutation in this direction");
	}
	status = need_result(job, GPU_FORM_PERMUTATION, descending, err);
	expect_results(out, job->n * sizeof(uint32_t));
	while (status == SORT_OK && job->at < job->result.items)
	{
		GpuData		data;

		status = next_data(job, &data, err);
		if (status != SORT_OK)
			break;
		if (!copy_rows_from_shared(out + job->at, (const uint32_t *) chunk_memory(c, data.chunk),
								   data.count, job->n, first))
			return violation(c, err, "wrong rows");
		status = done_with_data(job, &data, err);
	}
	return status;
}

static void
gpu_close(SortJob *base)
{
	GpuJob	   *job = (GpuJob *) base;
	GpuClient  *c;
	const SortAllocator *a;

	if (job == NULL)
		return;
	c = job->client;
	a = &job->base.context->allocator;
	if (c->fd >= 0)
	{
		GpuMessage	message;
		SortError	err;

		client_drop_chunks(c);
		gpu_message_init(&message, GPU_MSG_CLOSE, c->job_number);

		/*
		 * A service at work does not look for messages, but for the end of the
		 * connection.  It must not be waited for either.
		 */
		if ((job->finishing && !job->finished && !job->failed) ||
			c->out_len + gpu_message_size(&message) > sizeof(c->out))
			(void) client_cancelled(c, &err);
		else
			(void) client_send(c, &message, true, &err);
	}
	c->job = NULL;
	c->job_open = false;
	a->release(a->arena, job);
}

static const char *
gpu_describe(const SortJob *base, SortAlgorithm *algorithm)
{
	const GpuJob *job = (const GpuJob *) base;

	if (job->algorithm != SORT_ALGORITHM_AUTO)
		*algorithm = job->algorithm;
	return job->reason;
}

const SortDevice gpu_client_device = {
	.kind = SORT_DEVICE_GPU,
	.add_copies = true,
	.open = gpu_open,
	.add = gpu_add,
	.finish = gpu_finish,
	.read_keys = gpu_read_keys,
	.read_runs = gpu_read_runs,
	.read_permutation = gpu_read_permutation,
	.describe = gpu_describe,
	.close = gpu_close,
};
