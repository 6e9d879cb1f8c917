/*
 * client_device.c
 *		The GPU service as a SortDevice (see client.h): the beginning of a job, its keys, and its
 *		end.
 *
 * Keys are copied into granted chunks.  While this side copies, the service works
 * on the chunks before.
 */
#include "gpu/client.h"

#include <string.h>

#include "gpu/client_job.h"
#include "gpu/copy.h"
#include "sort/error.h"

SortStatus
gpu_client_open(GpuClient *c, const SortContext *context, const SortJobSpec *spec,
				SortJob **result, SortError *err)
{
	const SortAllocator *a = &context->allocator;
	uint32_t	capacity;
	GpuJob	   *job;
	GpuMessage	message;
	SortStatus	status;

	*result = NULL;
	if (c == NULL)
		return sort_fail(err, SORT_DEVICE_UNAVAILABLE, "no connection to the GPU service");
	if (!gpu_client_is_usable(c))
		return client_refuse(c, err, c->failure == GPU_OK ? GPU_LOST : c->failure,
							 "no connection to the GPU service");
	if (c->job)
		return client_refuse(c, err, GPU_RESOURCES, "connection to the GPU service is in use");
	job = a->alloc(a->arena, sizeof(GpuJob));
	if (job == NULL)
		return client_no_memory(c, err);
	memset(job, 0, sizeof(GpuJob));
	sort_job_init(&job->base, &gpu_client_device, context, spec);
	job->client = c;
	capacity = gpu_chunk_items(GPU_FORM_KEYS, c->area.chunk_bytes);
	job->announced = spec->n / capacity + (spec->n % capacity > 0);
	job->filling = -1;
	job->rows.ncolumns = 1;
	c->failure = GPU_OK;
	c->job = job;
	c->job_number++;

	gpu_message_init(&message, GPU_MSG_OPEN, c->job_number);
	message.body.open.n = spec->n;
	message.body.open.lo = spec->lo;
	message.body.open.hi = spec->hi;
	message.body.open.want = spec->want;
	message.body.open.descending = spec->descending;
	message.body.open.algorithm = context->algorithm;
	message.body.open.floats = context->floats;
	message.body.open.look_up = spec->look_up;

	/*
	 * The service shall say that there is no chunk before the wait timeout is over, after which
	 * it would be taken for dead.
	 */
	message.body.open.wait_ms = c->wait_timeout_ms > 0 ? c->wait_timeout_ms / 4 * 3 + 1 : 0;
	status = client_send(c, &message, err);
	if (status != SORT_OK)
	{
		c->job = NULL;
		a->release(a->arena, job);
		return status;
	}
	*result = &job->base;
	return SORT_OK;
}

static SortStatus
gpu_open(const SortContext *context, const SortJobSpec *spec, SortJob **result, SortError *err)
{
	return gpu_client_open(context->gpu->arg, context, spec, result, err);
}

/* Copies keys into the chunk that is being filled, or into one that it begins; returns how many. */
static uint32_t
fill_chunk(GpuJob *job, const int32_t *keys, size_t n, SortStatus *status, SortError *err)
{
	GpuClient  *c = job->client;
	uint32_t	room = gpu_chunk_items(GPU_FORM_KEYS, c->area.chunk_bytes);
	uint32_t	chunk;

	if (job->filling < 0)
	{
		*status = client_begin_chunk(job, &chunk, err);
		if (*status != SORT_OK)
			return 0;
		job->filling = chunk;
		job->filled = 0;
	}
	room -= job->filled;
	if (n > room)
		n = room;
	copy_to_shared(client_chunk_memory(c, (uint32_t) job->filling) +
				   job->filled * sizeof(int32_t), keys, n * sizeof(int32_t));
	job->filled += (uint32_t) n;
	job->n += n;
	if (n == room)
		*status = client_submit_keys(job, err);
	return (uint32_t) n;
}

/*
 * Unless the spec says that more keys follow, the next add may be far away: the last chunk is
 * handed over as it is, so that the job holds none.
 */
static SortStatus
gpu_add(SortJob *base, const int32_t *keys, size_t n, SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	GpuClient  *c = job->client;
	uint32_t	capacity;
	SortStatus	status;

	if (job->failed)
		return client_job_failed(job, err);
	if (job->rows.layout)
		return client_refuse(c, err, GPU_UNSUPPORTED, "keys cannot follow those of rows");
	capacity = gpu_chunk_items(GPU_FORM_KEYS, c->area.chunk_bytes);
	status = client_announce(job, ((job->filling >= 0 ? job->filled : 0) + n + capacity - 1) /
							 capacity, err);
	while (n > 0 && status == SORT_OK)
	{
		uint32_t	part = fill_chunk(job, keys, n, &status, err);

		keys += part;
		n -= part;
		if (status == SORT_OK && sort_interrupted(job->base.context))
			return client_cancelled(c, err);
	}
	if (status == SORT_OK)
		status = client_job_handle_all(job, err);
	if (status == SORT_OK && job->n >= base->spec.n)
		status = client_submit_keys(job, err);
	return status;
}

static SortStatus
gpu_finish(SortJob *base, SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	GpuClient  *c = job->client;
	SortStatus	status;
	GpuMessage	message;

	if (job->failed)
		return client_job_failed(job, err);
	status = client_submit_keys(job, err);
	if (status == SORT_OK)
		status = client_send_gathered(job, err);
	if (status != SORT_OK)
		return status;
	gpu_message_init(&message, GPU_MSG_FINISH, c->job_number);
	job->finishing = true;
	job->announced = 0;			/* FINISH ends what was announced before */
	status = client_send(c, &message, err);
	if (status == SORT_OK && job->base.spec.look_up)
		status = client_announce(job, 1, err);	/* for the first questions */
	while (status == SORT_OK && !job->finished)
		status = client_job_handle(job, NULL, err);

	/* FINISH has given back the chunks that were granted for what has not come. */
	while (c->area.ngranted > 0)
		c->area.held[c->area.granted[--c->area.ngranted]] = CHUNK_NOT_HELD;
	if (status == SORT_OK && job->base.spec.look_up)
		client_count_job(job);
	return status;
}

void
gpu_client_end_job(GpuClient *c)
{
	GpuJob	   *job = c->job;

	if (job == NULL)
		return;
	if (c->fd >= 0)
	{
		GpuMessage	message;
		SortError	err;

		client_drop_chunks(c);
		gpu_message_init(&message, GPU_MSG_CLOSE, c->job_number);

		/*
		 * While the service sorts it reads no messages, but notices the end of the connection;
		 * closing a job must not wait for the service.
		 */
		if ((job->finishing && !job->finished && !job->failed) ||
			c->out_len + gpu_message_size(&message) > sizeof(c->out))
			(void) client_cancelled(c, &err);
		else
			(void) client_send(c, &message, &err);
	}
	c->job = NULL;
	job->client = NULL;
	job->failed = true;
	sort_fail(&job->error, SORT_DEVICE_UNAVAILABLE, "job has ended");
	if (c->hooks.closed)
		c->hooks.closed(c->hooks.arg, &job->counters);
}

static void
gpu_close(SortJob *base)
{
	GpuJob	   *job = (GpuJob *) base;
	const SortAllocator *a;

	if (job == NULL)
		return;
	if (job->client)
		gpu_client_end_job(job->client);
	a = &job->base.context->allocator;
	if (job->gathered.bytes)
		a->release(a->arena, job->gathered.bytes);
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
	.open = gpu_open,
	.add = gpu_add,
	.keep_extent = client_keep_extent,
	.set_rows = client_set_rows,
	.add_rows = client_add_rows,
	.look_up = client_look_up,
	.finish = gpu_finish,
	.read_keys = client_read_keys,
	.read_runs = client_read_runs,
	.read_permutation = client_read_permutation,
	.describe = gpu_describe,
	.close = gpu_close,
};
